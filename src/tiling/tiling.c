// Tilings as values: lifetime, equality, and the text that XLA prints.
#include "tiling/tiling.h"

#include <stdlib.h>

#include "base/text_internal.h"
#include "tiling/tiling_internal.h"
#include "tessera/compat/hlo.h"
#include "tessera/status.h"
#include "tessera/text.h"

// ---- lifetime ----

tsr_status tsr_tiling_new(tsr_tiling_kind kind, tsr_tiling **out_tiling) {
  tsr_tiling *tiling = calloc(1, sizeof *tiling);
  if (!tiling) return tsr_fail(NO_MEMORY, "tiling");
  tiling->kind = kind;
  *out_tiling = tiling;
  return NULL;
}

tsr_status tsr_tiling_give(tsr_status status, tsr_tiling *tiling, tsr_tiling **out_tiling) {
  if (status)
    tsr_tiling_release(tiling);
  else
    *out_tiling = tiling;
  return status;
}

void tsr_tiling_release(const tsr_tiling *tiling) {
  tsr_tiling *mutable = (tsr_tiling *)tiling;
  if (!mutable) return;
  for (int i = 0; i < mutable->element_count; i++) tsr_tiling_release(mutable->elements[i]);
  free(mutable->tiles.devices);
  tsr_arena_deinit(&mutable->memory);
  free(mutable);
}

tsr_tiling_kind tsr_tiling_kind_of(const tsr_tiling *tiling) { return tiling->kind; }

int tsr_tiling_element_count(const tsr_tiling *tiling) { return tiling->element_count; }

const tsr_tiling *tsr_tiling_element(const tsr_tiling *tiling, int index) {
  return index >= 0 && index < tiling->element_count ? tiling->elements[index] : NULL;
}

// ---- equality ----

bool tsr_tiling_equal(const tsr_tiling *a, const tsr_tiling *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->group != b->group || a->group_id != b->group_id) return false;
  if (a->device != b->device || a->element_count != b->element_count) return false;
  for (int i = 0; i < a->element_count; i++)
    if (!tsr_tiling_equal(a->elements[i], b->elements[i])) return false;
  return a->kind != TSR_TILING_TILED || tsr_tiles_equal(&a->tiles, &b->tiles);
}

// ---- text ----

static void print_list(const int64_t *values, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add_char(out, ',');
    tsr_text_add_int(out, values[i]);
  }
}

static void print_devices(const int32_t *devices, int64_t count, tsr_text *out) {
  for (int64_t i = 0; i < count; i++) {
    if (i) tsr_text_add_char(out, ',');
    tsr_text_add_int(out, devices[i]);
  }
}

// `<=[sizes]T(order)`: the digits by falling stride, and the position of each digit among them.
static void print_digits(const tsr_digits *digits, tsr_text *out) {
  int64_t sizes[TSR_MAX_DIGITS] = {1}, order[TSR_MAX_DIGITS];
  for (int i = 0; i < digits->count; i++) {
    order[i] = 0;
    for (int j = 0; j < digits->count; j++) order[i] += digits->at[j].stride > digits->at[i].stride;
    sizes[order[i]] = digits->at[i].size;
  }
  tsr_text_add(out, "<=[");
  print_list(sizes, digits->count ? digits->count : 1, out);
  tsr_text_add_char(out, ']');
  if (digits->count < 2) return;
  tsr_text_add(out, "T(");
  print_list(order, digits->count, out);
  tsr_text_add_char(out, ')');
}

static const char *const subgroup_names[] = {
    [TSR_SUBGROUP_REPLICATED] = "replicated",
    [TSR_SUBGROUP_MANUAL] = "manual",
    [TSR_SUBGROUP_UNREDUCED] = "unreduced",
};

static void print_subgroups(const tsr_tiles *tiles, tsr_text *out) {
  if (tiles->subgroup_count == 1 && tiles->subgroups[0] == TSR_SUBGROUP_REPLICATED) {
    tsr_text_add(out, " last_tile_dim_replicate");
    return;
  }
  for (int i = 0; i < tiles->subgroup_count; i++) {
    tsr_text_add(out, i ? ", " : " last_tile_dims={");
    tsr_text_add(out, subgroup_names[tiles->subgroups[i]]);
  }
  if (tiles->subgroup_count) tsr_text_add_char(out, '}');
}

static void print_tiles(const tsr_tiles *tiles, tsr_text *out) {
  tsr_text_add(out, "devices=[");
  print_list(tiles->dims, tiles->dim_count, out);
  tsr_text_add_char(out, ']');
  if (tiles->devices)
    print_devices(tiles->devices, tiles->device_count, out);
  else
    print_digits(&tiles->digits, out);
  print_subgroups(tiles, out);
}

// A single entry has no braces of its own.
static void print_metadata(const tsr_tiling *tiling, tsr_text *out) {
  if (!tiling->metadata_count) return;
  const bool list = tiling->metadata_count > 1;
  tsr_text_add(out, " metadata={");
  for (int i = 0; i < tiling->metadata_count; i++) {
    if (i) tsr_text_add(out, ", ");
    if (list) tsr_text_add_char(out, '{');
    tsr_text_add(out, tiling->metadata[i]);
    if (list) tsr_text_add_char(out, '}');
  }
  tsr_text_add_char(out, '}');
}

// XLA numbers every fifth element in a comment.
static void print_elements(const tsr_tiling *tiling, tsr_text *out) {
  for (int i = 0; i < tiling->element_count; i++) {
    if (i) tsr_text_add(out, ", ");
    if (i && i % 5 == 0) tsr_text_addf(out, "/*index=%d*/", i);
    tsr_tiling_print(tiling->elements[i], out);
  }
}

static void print_body(const tsr_tiling *tiling, tsr_text *out) {
  switch (tiling->kind) {
    case TSR_TILING_REPLICATED:
      tsr_text_add(out, "replicated");
      break;
    case TSR_TILING_MANUAL:
      tsr_text_add(out, "manual");
      break;
    case TSR_TILING_UNKNOWN:
      tsr_text_add(out, "unknown");
      break;
    case TSR_TILING_UNREDUCED:
      tsr_text_add(out, "unreduced");
      break;
    case TSR_TILING_MAXIMAL:
      tsr_text_addf(out, "maximal device=%lld", (long long)tiling->device);
      break;
    case TSR_TILING_TILED:
      print_tiles(&tiling->tiles, out);
      break;
    case TSR_TILING_TUPLE:
      print_elements(tiling, out);
      break;
  }
}

void tsr_tiling_print(const tsr_tiling *tiling, tsr_text *out) {
  static const char *const groups[] = {
      [TSR_GROUP_AS] = " shard_as ", [TSR_GROUP_LIKE] = " shard_like "};
  tsr_text_add_char(out, '{');
  print_body(tiling, out);
  if (tiling->group) {
    tsr_text_add(out, groups[tiling->group]);
    tsr_text_add_int(out, tiling->group_id);
  }
  print_metadata(tiling, out);
  tsr_text_add_char(out, '}');
}
