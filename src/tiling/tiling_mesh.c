// Reads XLA's newer text of a sharding over a named mesh: Shardy's notation with the mesh in it.
//
//   {mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], unreduced={'y':(2)2}}
//
// The result is a plain tiling, so printing it loses names and open dimensions. device_ids other
// than 0, 1, 2, ... renumber the devices of the tiles.
#include <stdlib.h>
#include <string.h>

#include "spec/forms.h"
#include "spec/sharding_internal.h"
#include "spec/spec_builder.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tiling/tiling_internal.h"
#include "tiling/tiling_metadata.h"
#include "tiling/tiling_text.h"

typedef struct named_tiling {
  tsr_tiling *tiling;
  tsr_spec_builder builder;
  int axis_count;
  tsr_axis axes[TSR_MAX_AXES];
  tsr_tiles ids;  // dim_count 0 = 0, 1, 2, ...
} named_tiling;

// ---- the mesh ----

static tsr_status parse_name(tsr_cursor *cursor, named_tiling *n, const char **out_name) {
  const char quote = tsr_cursor_peek(cursor);
  if (quote != '\'' && quote != '"') return tsr_cursor_expected(cursor, "a name in quotes");
  const char *start = ++cursor->at;
  while (*cursor->at && *cursor->at != quote) cursor->at++;
  const size_t length = (size_t)(cursor->at - start);
  TSR_TRY(tsr_cursor_expect(cursor, quote));
  return tsr_spec_builder_name(&n->builder, start, length, out_name);
}

// Axes are explicit, so that they may be unreduced, unless the text makes them manual.
static tsr_status parse_axes(tsr_cursor *cursor, named_tiling *n) {
  TSR_TRY(tsr_cursor_expect(cursor, '['));
  do {
    if (n->axis_count == TSR_MAX_AXES)
      return tsr_fail(TOO_LARGE, "a mesh of more than %d axes", TSR_MAX_AXES);
    tsr_axis *axis = &n->axes[n->axis_count++];
    axis->type = TSR_AXIS_EXPLICIT;
    TSR_TRY(parse_name(cursor, n, &axis->name));
    TSR_TRY(tsr_cursor_expect(cursor, '='));
    TSR_TRY(tsr_cursor_int(cursor, &axis->size));
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, ']');
}

static tsr_status count_ids(named_tiling *n) {
  n->ids.device_count = 1;
  for (int i = 0; i < n->axis_count; i++)
    if (n->axes[i].size < 1 ||
        __builtin_mul_overflow(n->ids.device_count, n->axes[i].size, &n->ids.device_count) ||
        n->ids.device_count > INT32_MAX)
      return tsr_fail(TOO_LARGE, "a mesh of more than %d devices", INT32_MAX);
  n->ids.dim_count = 1;
  return NULL;
}

// device_ids=([4,2]T(1,0)) or device_ids=(0,2,1,3), after the word.
static tsr_status parse_ids(tsr_cursor *cursor, named_tiling *n) {
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  TSR_TRY(count_ids(n));
  if (tsr_cursor_peek(cursor) == '[')
    TSR_TRY(tsr_tiles_parse_iota(cursor, &n->ids));
  else
    TSR_TRY(tsr_tiles_parse_list(cursor, &n->ids));
  for (int64_t i = 0; n->ids.devices && i < n->ids.device_count; i++)
    if (n->ids.devices[i] >= n->ids.device_count)
      return tsr_fail(SYNTAX, "device %d in a mesh of %lld", n->ids.devices[i],
                      (long long)n->ids.device_count);
  return tsr_cursor_expect(cursor, ')');
}

// ---- axes in use ----

// 'x' or 'x':(1)2.
static tsr_status parse_ref(tsr_cursor *cursor, named_tiling *n, tsr_axis_ref *out) {
  *out = (tsr_axis_ref){.pre = 1};
  TSR_TRY(parse_name(cursor, n, &out->name));
  if (!tsr_cursor_take(cursor, ':')) return NULL;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  TSR_TRY(tsr_cursor_int(cursor, &out->pre));
  TSR_TRY(tsr_cursor_expect(cursor, ')'));
  TSR_TRY(tsr_cursor_int(cursor, &out->size));
  if (out->pre < 1 || out->size < 1)
    return tsr_fail(BAD_SUB_AXIS, "sub-axis '%s':(%lld)%lld, expected numbers of 1 or more",
                    out->name, (long long)out->pre, (long long)out->size);
  return NULL;
}

// Marks the axis manual in the mesh, and replicated in the spec so that nothing else uses it.
static tsr_status add_manual(named_tiling *n, const tsr_axis_ref *ref) {
  if (ref->size)
    return tsr_fail(UNSUPPORTED, "a sub-axis of \"%s\" is manual, expected the whole axis",
                    ref->name);
  for (int i = 0; i < n->axis_count; i++)
    if (!strcmp(n->axes[i].name, ref->name)) n->axes[i].type = TSR_AXIS_MANUAL;
  return tsr_spec_builder_member(&n->builder, TSR_SET_REPLICATED, ref);
}

static tsr_status add_unreduced(named_tiling *n, const tsr_axis_ref *ref) {
  return tsr_spec_builder_member(&n->builder, TSR_SET_UNREDUCED, ref);
}

static tsr_status add_replicated(named_tiling *n, const tsr_axis_ref *ref) {
  return tsr_spec_builder_member(&n->builder, TSR_SET_REPLICATED, ref);
}

typedef tsr_status add_fn(named_tiling *n, const tsr_axis_ref *ref);

static tsr_status add_all(named_tiling *n, add_fn *add) {
  for (int i = 0; i < n->axis_count; i++) TSR_TRY(add(n, &(tsr_axis_ref){n->axes[i].name, 1, 0}));
  return NULL;
}

static tsr_status parse_set(tsr_cursor *cursor, named_tiling *n, add_fn *add) {
  TSR_TRY(tsr_cursor_expect(cursor, '{'));
  if (tsr_cursor_take(cursor, '}')) return NULL;
  do {
    tsr_axis_ref ref;
    TSR_TRY(parse_ref(cursor, n, &ref));
    TSR_TRY(add(n, &ref));
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, '}');
}

// {'x', 'y', ?}
static tsr_status parse_dim(tsr_cursor *cursor, named_tiling *n) {
  bool cut = false;
  TSR_TRY(tsr_cursor_expect(cursor, '{'));
  TSR_TRY(tsr_spec_builder_dim(&n->builder));
  if (tsr_cursor_take(cursor, '}')) return NULL;
  do {
    tsr_axis_ref ref;
    if (tsr_cursor_take(cursor, '?')) break;
    TSR_TRY(parse_ref(cursor, n, &ref));
    if (!cut) TSR_TRY(tsr_spec_builder_stage(&n->builder));
    cut = true;
    TSR_TRY(tsr_spec_builder_axis(&n->builder, &ref));
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, '}');
}

static tsr_status parse_dims(tsr_cursor *cursor, named_tiling *n) {
  if (tsr_cursor_take(cursor, ']')) return NULL;
  do {
    TSR_TRY(parse_dim(cursor, n));
  } while (tsr_cursor_take(cursor, ','));
  return tsr_cursor_expect(cursor, ']');
}

// ---- the rest ----

// unreduced, unreduced={'x'}, unreduced=max{'x'} or unreduced=max.
static tsr_status parse_unreduced(tsr_cursor *cursor, named_tiling *n) {
  if (!tsr_cursor_take(cursor, '=')) return add_all(n, add_unreduced);
  const bool named_reduction = tsr_read_reduction(cursor, &n->builder.reduction);
  if (named_reduction && tsr_cursor_peek(cursor) != '{') return add_all(n, add_unreduced);
  return parse_set(cursor, n, add_unreduced);
}

// replicated or manual, alone or with their axes.
static tsr_status parse_axis_set(tsr_cursor *cursor, named_tiling *n, add_fn *add) {
  return tsr_cursor_take(cursor, '=') ? parse_set(cursor, n, add) : add_all(n, add);
}

static tsr_status parse_attribute(tsr_cursor *cursor, named_tiling *n) {
  tsr_tiling *tiling = n->tiling;
  if (tsr_cursor_take(cursor, '[')) return parse_dims(cursor, n);
  if (tsr_cursor_take_word(cursor, "replicated")) return parse_axis_set(cursor, n, add_replicated);
  if (tsr_cursor_take_word(cursor, "manual")) return parse_axis_set(cursor, n, add_manual);
  if (tsr_cursor_take_word(cursor, "unreduced")) return parse_unreduced(cursor, n);
  if (!tsr_cursor_take_word(cursor, "metadata"))
    return tsr_cursor_expected(cursor, "dimensions or a set of axes");
  if (tiling->metadata_count) return tsr_fail(SYNTAX, "metadata= is given twice");
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  return tsr_metadata_parse(cursor, &tiling->memory, &tiling->metadata, &tiling->metadata_count);
}

static tsr_status parse_named(tsr_cursor *cursor, named_tiling *n) {
  TSR_TRY(parse_axes(cursor, n));
  TSR_TRY(tsr_cursor_expect(cursor, ','));
  if (tsr_cursor_take_word(cursor, "device_ids")) {
    TSR_TRY(parse_ids(cursor, n));
    TSR_TRY(tsr_cursor_expect(cursor, ','));
  }
  do {
    TSR_TRY(parse_attribute(cursor, n));
  } while (tsr_cursor_take(cursor, ','));
  return NULL;
}

// ---- what it means ----

// Renumbers the devices of `tiles`, which are mesh positions, by `ids`. Counted ids give counted
// tiles if possible.
static tsr_status renumber(tsr_tiles *tiles, const tsr_tiles *ids) {
  if (!ids->dim_count) return NULL;
  int32_t *devices = NULL;
  TSR_TRY(tsr_tiles_new_list(tiles->device_count, &devices));
  for (int64_t i = 0; i < tiles->device_count; i++)
    devices[i] = (int32_t)tsr_tiles_device(ids, tsr_tiles_device(tiles, i));
  tiles->devices = devices;
  int64_t number = 0, wanted = 0;
  if (ids->devices || !tsr_digits_follow(tiles, &tiles->digits, &number, &wanted)) return NULL;
  free(devices);
  tiles->devices = NULL;
  return NULL;
}

static tsr_status bind_named(named_tiling *n, tsr_sharding **out_sharding) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  const tsr_mesh_desc desc = {
      .size = sizeof desc, .axis_count = n->axis_count, .axes = n->axes, .abstract = true};
  tsr_status status = tsr_mesh_create(&desc, &mesh);
  if (!status) status = tsr_spec_builder_finish(&n->builder, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, out_sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status translate(named_tiling *n) {
  tsr_sharding *sharding = NULL;
  TSR_TRY(bind_named(n, &sharding));
  const int rank = tsr_sharding_dim_count(sharding);
  tsr_status status = tsr_tiling_fill(n->tiling, sharding, rank);
  if (!status && n->tiling->kind == TSR_TILING_TILED) status = renumber(&n->tiling->tiles, &n->ids);
  tsr_sharding_release(sharding);
  if (status || n->tiling->kind != TSR_TILING_TILED) return status;
  return tsr_tiles_normalise(&n->tiling->tiles, &n->tiling->kind);
}

tsr_status tsr_tiling_parse_mesh(tsr_cursor *cursor, tsr_tiling *tiling) {
  named_tiling n = {.tiling = tiling, .builder = TSR_SPEC_BUILDER_EMPTY};
  tsr_status status = parse_named(cursor, &n);
  if (!status) status = translate(&n);
  tsr_spec_builder_deinit(&n.builder);
  free(n.ids.devices);
  return status;
}

tsr_status tsr_tiling_parse_maximal_mesh(tsr_cursor *cursor, tsr_tiling *tiling) {
  TSR_TRY(tsr_cursor_expect(cursor, '['));
  if (!tsr_cursor_take_word(cursor, "device_id")) return tsr_cursor_expected(cursor, "device_id");
  TSR_TRY(tsr_cursor_expect(cursor, '='));
  TSR_TRY(tsr_cursor_int(cursor, &tiling->device));
  return tsr_cursor_expect(cursor, ']');
}
