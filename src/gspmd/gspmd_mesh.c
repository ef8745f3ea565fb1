// All shardings of a program, and the axes that the borders of their digits cut the devices into.
#include "gspmd/gspmd_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"

// ---- texts ----

static int by_text(const void *a, const void *b) {
  const tsr_attr *x = ((const tsr_gspmd_text *)a)->attr, *y = ((const tsr_gspmd_text *)b)->attr;
  if (x->length != y->length) return x->length < y->length ? -1 : 1;
  return memcmp(x->bytes, y->bytes, x->length);
}

static tsr_status add_text(tsr_gspmd *gspmd, const tsr_attr *attr) {
  if (!attr) return NULL;
  if (attr->kind != TSR_ATTR_STRING)
    return tsr_fail(CONSTRAINT, "%s is not a string", TSR_GSPMD_SHARDING);
  tsr_gspmd_text *texts =
      tsr_grow(gspmd->texts, gspmd->count, &gspmd->capacity, sizeof *gspmd->texts);
  TSR_NEED(texts);
  gspmd->texts = texts;
  texts[gspmd->count++] = (tsr_gspmd_text){attr, NULL};
  return NULL;
}

static tsr_status add_dicts(tsr_gspmd *gspmd, const tsr_attr *dicts) {
  if (!dicts || dicts->kind != TSR_ATTR_ARRAY) return NULL;
  for (int64_t i = 0; i < dicts->count; i++)
    if (dicts->items[i]->kind == TSR_ATTR_DICT)
      TSR_TRY(add_text(gspmd, tsr_dict_find(dicts->items[i], TSR_GSPMD_SHARDING)));
  return NULL;
}

static tsr_status collect(tsr_op *op, void *context) {
  tsr_gspmd *gspmd = context;
  TSR_TRY(add_text(gspmd, tsr_op_attr(op, TSR_GSPMD_SHARDING)));
  if (op->info->id != TSR_OP_FUNC) return NULL;
  TSR_TRY(add_dicts(gspmd, tsr_op_attr(op, "arg_attrs")));
  return add_dicts(gspmd, tsr_op_attr(op, "res_attrs"));
}

// Texts are zero-ended in memory, so a zero inside would end one early.
static tsr_status parse(tsr_gspmd_text *text) {
  if (strlen(text->attr->bytes) != text->attr->length)
    return tsr_fail(SYNTAX, "%s has a zero byte", TSR_GSPMD_SHARDING);
  return tsr_tiling_parse(text->attr->bytes, &text->tiling);
}

static tsr_status parse_all(tsr_gspmd *gspmd) {
  int64_t kept = 0;
  if (gspmd->count) qsort(gspmd->texts, (size_t)gspmd->count, sizeof *gspmd->texts, by_text);
  for (int64_t i = 0; i < gspmd->count; i++)
    if (!kept || by_text(&gspmd->texts[kept - 1], &gspmd->texts[i]))
      gspmd->texts[kept++] = gspmd->texts[i];
  gspmd->count = kept;
  for (int64_t i = 0; i < kept; i++) TSR_TRY(parse(&gspmd->texts[i]));
  return NULL;
}

const tsr_tiling *tsr_gspmd_tiling(const tsr_gspmd *gspmd, const tsr_attr *text) {
  const tsr_gspmd_text key = {text, NULL};
  const tsr_gspmd_text *found =
      bsearch(&key, gspmd->texts, (size_t)gspmd->count, sizeof *gspmd->texts, by_text);
  return found ? found->tiling : NULL;
}

// ---- all tiles ----

typedef tsr_status tiles_visit(tsr_gspmd *gspmd, const tsr_tiles *tiles, void *context);

static tsr_status visit_tiling(tsr_gspmd *gspmd, const tsr_tiling *tiling, tiles_visit *visit,
                               void *context) {
  if (tiling->kind == TSR_TILING_TILED) return visit(gspmd, &tiling->tiles, context);
  for (int i = 0; i < tiling->element_count; i++) {
    const tsr_tiling *element = tiling->elements[i];
    if (element->kind == TSR_TILING_TUPLE)
      return tsr_fail(UNSUPPORTED, "a sharding of a tuple inside a tuple");
    if (element->kind == TSR_TILING_TILED) TSR_TRY(visit(gspmd, &element->tiles, context));
  }
  return NULL;
}

static tsr_status visit_tiles(tsr_gspmd *gspmd, tiles_visit *visit, void *context) {
  for (int64_t i = 0; i < gspmd->count; i++)
    TSR_TRY(visit_tiling(gspmd, gspmd->texts[i].tiling, visit, context));
  return NULL;
}

static tsr_status count_devices(tsr_gspmd *gspmd, const tsr_tiles *tiles, void *context) {
  (void)context;
  if (gspmd->device_count && gspmd->device_count != tiles->device_count)
    return tsr_fail(UNSUPPORTED, "shardings of %lld and of %lld devices in one program",
                    (long long)gspmd->device_count, (long long)tiles->device_count);
  gspmd->device_count = tiles->device_count;
  for (int64_t i = 0; tiles->devices && i < tiles->device_count; i++)
    if (tiles->devices[i] >= tiles->device_count)
      return tsr_fail(UNSUPPORTED, "a sharding of %lld devices with device %d",
                      (long long)tiles->device_count, (int)tiles->devices[i]);
  return NULL;
}

// ---- the order of devices ----

static int by_number(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

// The list of a sharding in the order of the mesh. Replicas ascend in that order: which of them
// comes first says nothing.
static tsr_status list_of(const tsr_gspmd *gspmd, const tsr_tiles *tiles, tsr_tiles *out) {
  *out = *tiles;
  TSR_TRY(tsr_tiles_new_list(tiles->device_count, &out->devices));
  for (int64_t n = 0; n < tiles->device_count; n++) {
    const int64_t device = tsr_tiles_device(tiles, n);
    out->devices[n] = gspmd->places ? gspmd->places[device] : (int32_t)device;
  }
  const bool replicas = tiles->subgroup_count &&
                        tiles->subgroups[tiles->subgroup_count - 1] == TSR_SUBGROUP_REPLICATED;
  const int64_t size = replicas ? tiles->dims[tiles->dim_count - 1] : 1;
  for (int64_t n = 0; size > 1 && n < tiles->device_count; n += size)
    qsort(out->devices + n, (size_t)size, sizeof *out->devices, by_number);
  return NULL;
}

tsr_status tsr_gspmd_digits(const tsr_gspmd *gspmd, const tsr_tiles *tiles, tsr_digits *out_digits,
                            int *out_first, bool *out_fit) {
  tsr_digits digits = tiles->digits;
  *out_fit = true;
  if (tiles->devices || gspmd->places) {
    tsr_tiles list = {0};
    int64_t number = 0, wanted = 0;
    TSR_TRY(list_of(gspmd, tiles, &list));
    *out_fit = !list.devices[0] && tsr_digits_follow(&list, &digits, &number, &wanted);
    free(list.devices);
  }
  if (*out_fit)
    *out_fit = tsr_digits_split(&digits, tiles->dims, tiles->dim_count, out_digits, out_first);
  return NULL;
}

static tsr_status check_digits(tsr_gspmd *gspmd, const tsr_tiles *tiles, void *context) {
  tsr_digits digits;
  int first[TSR_MAX_TILE_DIMS + 1];
  bool fits = true;
  TSR_TRY(tsr_gspmd_digits(gspmd, tiles, &digits, first, &fits));
  if (!fits) *(bool *)context = false;
  return NULL;
}

static tsr_status take_order(tsr_gspmd *gspmd, const tsr_tiles *tiles) {
  free(gspmd->places);
  gspmd->places = NULL;
  gspmd->devices = tiles->devices;
  TSR_TRY(tsr_tiles_new_list(gspmd->device_count, &gspmd->places));
  for (int64_t n = 0; n < gspmd->device_count; n++) gspmd->places[tiles->devices[n]] = (int32_t)n;
  return NULL;
}

enum { MOST_ORDERS = 16 };

// Tries the order of a list, where no order is known yet that all shardings fit.
typedef struct order_search {
  int tried;
  bool found;
} order_search;

static tsr_status try_order(tsr_gspmd *gspmd, const tsr_tiles *tiles, void *context) {
  order_search *search = context;
  if (search->found || !tiles->devices || search->tried++ >= MOST_ORDERS) return NULL;
  TSR_TRY(take_order(gspmd, tiles));
  search->found = true;
  return visit_tiles(gspmd, check_digits, &search->found);
}

static tsr_status find_order(tsr_gspmd *gspmd) {
  order_search search = {.found = true};
  TSR_TRY(visit_tiles(gspmd, check_digits, &search.found));
  if (!search.found) TSR_TRY(visit_tiles(gspmd, try_order, &search));
  if (search.found) return NULL;
  return tsr_fail(UNSUPPORTED, "no order of %lld devices is a mesh for all shardings",
                  (long long)gspmd->device_count);
}

// ---- axes ----

typedef struct border_list {
  int count;
  int64_t at[2 * TSR_MAX_DIGITS + 2];  // falling
} border_list;

// More borders than digits can have do not divide one another.
static void add_border(border_list *borders, int64_t border) {
  int place = 0;
  while (place < borders->count && borders->at[place] > border) place++;
  if (place < borders->count && borders->at[place] == border) return;
  if (borders->count == 2 * TSR_MAX_DIGITS + 2) return;
  memmove(borders->at + place + 1, borders->at + place,
          sizeof *borders->at * (size_t)(borders->count - place));
  borders->at[place] = border;
  borders->count++;
}

static tsr_status add_borders(tsr_gspmd *gspmd, const tsr_tiles *tiles, void *context) {
  tsr_digits digits;
  int first[TSR_MAX_TILE_DIMS + 1];
  bool fits = true;
  TSR_TRY(tsr_gspmd_digits(gspmd, tiles, &digits, first, &fits));
  for (int i = 0; i < digits.count; i++) {
    add_border(context, digits.at[i].stride);
    add_border(context, digits.at[i].stride * digits.at[i].size);
  }
  return NULL;
}

static tsr_status cut_axes(tsr_gspmd *gspmd) {
  border_list borders = {0};
  add_border(&borders, 1);
  add_border(&borders, gspmd->device_count);
  TSR_TRY(visit_tiles(gspmd, add_borders, &borders));
  for (int i = 0; i + 1 < borders.count; i++) {
    if (borders.at[i] % borders.at[i + 1])
      return tsr_fail(UNSUPPORTED,
                      "shardings that cut %lld devices into runs of %lld and of %lld have no mesh "
                      "in common",
                      (long long)gspmd->device_count, (long long)borders.at[i],
                      (long long)borders.at[i + 1]);
    gspmd->sizes[gspmd->axis_count] = borders.at[i] / borders.at[i + 1];
    gspmd->strides[gspmd->axis_count++] = borders.at[i + 1];
  }
  return NULL;
}

static const tsr_attr *axis_attr(tsr_ir *ir, int index, int64_t size) {
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_text_addf(&name, "_axis_%d", index);
  const char *text = name.failed ? NULL : tsr_text_string(&name);
  const tsr_attr *const fields[] = {text ? tsr_attr_string(ir, text, strlen(text)) : NULL,
                                    tsr_attr_i64(ir, size)};
  tsr_text_deinit(&name);
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_MESH_AXIS, fields) : NULL;
}

static const tsr_attr *ids_attr(const tsr_gspmd *gspmd) {
  if (!gspmd->devices) return tsr_attr_ints(gspmd->ir, NULL, 0);
  int64_t *ids = tsr_ir_alloc(gspmd->ir, sizeof *ids * (size_t)gspmd->device_count);
  for (int64_t i = 0; ids && i < gspmd->device_count; i++) ids[i] = gspmd->devices[i];
  return ids ? tsr_attr_ints(gspmd->ir, ids, gspmd->device_count) : NULL;
}

static tsr_status make_mesh(tsr_gspmd *gspmd) {
  const tsr_attr *axes[TSR_MAX_DIGITS];
  for (int i = 0; i < gspmd->axis_count; i++) {
    axes[i] = axis_attr(gspmd->ir, i, gspmd->sizes[i]);
    TSR_NEED(axes[i]);
  }
  const tsr_attr *const fields[] = {tsr_attr_array(gspmd->ir, axes, gspmd->axis_count),
                                    ids_attr(gspmd)};
  gspmd->mesh =
      fields[0] && fields[1] ? tsr_attr_record(gspmd->ir, TSR_RECORD_SDY_MESH, fields) : NULL;
  TSR_NEED(gspmd->mesh);
  return NULL;
}

// Without tiles, the devices are as many as the module says.
static tsr_status find_mesh(tsr_gspmd *gspmd) {
  TSR_TRY(visit_tiles(gspmd, count_devices, NULL));
  if (gspmd->device_count)
    TSR_TRY(find_order(gspmd));
  else
    gspmd->device_count = tsr_op_int(gspmd->ir->module, "mhlo.num_partitions", 1);
  if (gspmd->device_count < 1)
    return tsr_fail(CONSTRAINT, "mhlo.num_partitions is %lld", (long long)gspmd->device_count);
  TSR_TRY(cut_axes(gspmd));
  return make_mesh(gspmd);
}

tsr_status tsr_gspmd_init(tsr_gspmd *gspmd, tsr_ir *ir) {
  *gspmd = (tsr_gspmd){.ir = ir};
  TSR_TRY(tsr_op_walk(ir->module, collect, gspmd));
  TSR_TRY(parse_all(gspmd));
  return gspmd->count ? find_mesh(gspmd) : NULL;
}

void tsr_gspmd_deinit(tsr_gspmd *gspmd) {
  for (int64_t i = 0; i < gspmd->count; i++) tsr_tiling_release(gspmd->texts[i].tiling);
  free(gspmd->texts);
  free(gspmd->places);
  tsr_arena_deinit(&gspmd->arena);
}
