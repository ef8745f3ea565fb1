// What each device holds of the arguments and results, read from the partitioned program; and which
// result takes the memory of which argument.
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "insight/insight.h"
#include "ir/ir.h"
#include "partitioned/donations.h"
#include "partitioned/partitioned.h"
#include "program/program_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/own.h"

// ---- meshes ----

static bool in_plain_order(const tsr_mesh *mesh) {
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_device_at(mesh, i) != i) return false;
  return true;
}

// The mesh of the lanes, as the pass "lanes" chooses it: the first in plain order, else the first.
static tsr_status find_mesh(const tsr_program *program, tsr_mesh **out_mesh) {
  tsr_mesh *first = NULL;
  for (int64_t i = 0; i < tsr_program_mesh_count(program); i++) {
    tsr_mesh *mesh = NULL;
    tsr_status status = tsr_program_mesh_at(program, i, &mesh);
    if (status) {
      tsr_mesh_release(first);
      return status;
    }
    const bool plain = tsr_mesh_axis_count(mesh) && in_plain_order(mesh);
    if (plain || (!first && tsr_mesh_axis_count(mesh))) {
      tsr_mesh_release(first);
      first = mesh;
      if (plain) break;
    } else {
      tsr_mesh_release(mesh);
    }
  }
  *out_mesh = first;
  return first ? NULL : tsr_fail(NO_MESH_ACTIVE, "the program has no mesh, and none was given");
}

// Whether a mesh has the devices of another one in the same order, and its axes; axes of size one
// may be missing there.
static bool covers(const tsr_mesh *mesh, const tsr_mesh *other) {
  const int64_t count = tsr_mesh_device_count(mesh);
  int at = 0;
  if (count != tsr_mesh_device_count(other)) return false;
  for (int64_t i = 0; i < count; i++)
    if (tsr_mesh_device_at(mesh, i) != tsr_mesh_device_at(other, i)) return false;
  for (int i = 0; i < tsr_mesh_axis_count(other); i++, at++) {
    const tsr_axis *axis = tsr_mesh_axis_at(other, i);
    while (at < tsr_mesh_axis_count(mesh) && strcmp(tsr_mesh_axis_at(mesh, at)->name, axis->name))
      at++;
    if (at == tsr_mesh_axis_count(mesh) || tsr_mesh_axis_at(mesh, at)->size != axis->size)
      return false;
  }
  return true;
}

// The mesh that a value's spec is on: the program's own where it is another one than the lanes'.
static tsr_status mesh_of_value(const tsr_program *program, const tsr_mesh *lanes,
                                const tsr_program_value *value, tsr_mesh **out_mesh) {
  tsr_mesh *own = NULL;
  for (int64_t i = 0; value->mesh && !own && i < tsr_program_mesh_count(program); i++)
    if (!strcmp(tsr_program_mesh_name(program, i), value->mesh))
      TSR_TRY(tsr_program_mesh_at(program, i, &own));
  if (!own || covers(lanes, own)) {
    tsr_mesh_release(own);
    own = tsr_mesh_retain(lanes);
  }
  *out_mesh = own;
  return NULL;
}

// ---- layouts ----

static tsr_status layout_on(const tsr_mesh *mesh, const tsr_spec *spec, const tsr_shape *shape,
                            tsr_layout **out_layout) {
  TSR_OWN(sharding, sharding);
  TSR_TRY(tsr_sharding_bind(mesh, spec, false, &sharding));
  return tsr_layout_create(sharding, shape, TSR_POLICY_ERROR, out_layout);
}

static tsr_status layout_of(const tsr_program *program, const tsr_mesh *lanes,
                            const tsr_program_value *value, const tsr_spec **out_spec,
                            tsr_layout **out_layout) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, none);
  if (value->dtype == TSR_DTYPE_NONE)
    return tsr_fail(UNSUPPORTED, "%s is %s; only tensors lie on devices", value->name, value->type);
  if (!value->spec && value->sharding)
    return tsr_fail(UNSUPPORTED, "%s: no spec expresses %s", value->name, value->sharding);
  if (!value->spec) TSR_TRY(tsr_spec_parse("()", TSR_FORM_SHORT, &none));
  const tsr_spec *spec = value->spec ? value->spec : none;
  TSR_TRY(mesh_of_value(program, lanes, value, &mesh));
  TSR_TRY_NOTE(layout_on(mesh, spec, &value->shape, out_layout), "%s", value->name);
  if (out_spec) *out_spec = tsr_spec_retain(spec);
  return NULL;
}

// ---- values ----

// Of the shard of one device; all are alike.
static int64_t shard_bytes(const tsr_layout *layout, tsr_dtype dtype) {
  tsr_shape shape;
  int64_t count = 0;
  tsr_status status = NULL;
  if (tsr_layout_shard_shape(layout, 0, &shape)) status = tsr_shape_count(&shape, &count);
  tsr_status_free(status);  // the whole tensor was counted before
  return tsr_saturated_multiply(count, tsr_dtype_info_of(dtype)->bits) / 8;
}

static tsr_status keep_path(tsr_arena *arena, const char *name, const char **out_path) {
  TSR_OWN(text, path);
  tsr_argument_path_print(name, &path);
  TSR_TRY(tsr_text_check(&path));
  *out_path = tsr_arena_copy(arena, tsr_text_string(&path), path.length);
  TSR_NEED(*out_path);
  return NULL;
}

typedef tsr_status value_at_fn(const tsr_program *, int64_t, int64_t, tsr_program_value *);

static tsr_status read_values(tsr_partitioned *p, value_at_fn *value_at, int64_t count,
                              tsr_partitioned_value **out_values, int64_t *out_bytes) {
  const int64_t entry = tsr_program_entry(p->entry);
  tsr_partitioned_value *values = tsr_arena_zeros(&p->arena, (size_t)count + 1, sizeof *values);
  TSR_NEED(values);
  *out_values = values;
  for (int64_t i = 0; i < count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    tsr_layout *layout = NULL;
    TSR_TRY(value_at(p->entry, entry, i, &value));
    TSR_TRY(layout_of(p->entry, p->mesh, &value, &values[i].spec, &layout));
    values[i].size = sizeof *values;
    values[i].name = value.name;
    values[i].dtype = value.dtype;
    values[i].layout = layout;
    values[i].donated = value.donated;
    values[i].aliased = value.aliased;
    TSR_TRY(keep_path(&p->arena, value.name, &values[i].path));
    *out_bytes += shard_bytes(layout, value.dtype);
  }
  return NULL;
}

// ---- donated memory ----

static tsr_status is_like(const tsr_partitioned_value *a, const tsr_partitioned_value *b,
                          bool *out_like) {
  const tsr_shape x = tsr_layout_shape(a->layout), y = tsr_layout_shape(b->layout);
  *out_like = false;
  if (a->dtype != b->dtype || !tsr_shape_equal(&x, &y)) return NULL;
  return tsr_layout_equivalent(a->layout, b->layout, out_like);
}

// An alias that the program has stays where both lie alike.
static tsr_status keep_alias(tsr_partitioned *p, tsr_partitioned_value *argument, int64_t index) {
  const int64_t to = argument->aliased;
  bool like = false;
  argument->aliased = -1;
  if (to < 0 || to >= p->info.result_count || p->results[to].aliased >= 0) return NULL;
  TSR_TRY(is_like(argument, &p->results[to], &like));
  if (!like) return NULL;
  argument->aliased = to;
  p->results[to].aliased = index;
  return NULL;
}

// The first result that lies as a donated argument does takes its memory, as in JAX.
static tsr_status find_alias(tsr_partitioned *p, tsr_partitioned_value *argument, int64_t index) {
  for (int64_t i = 0; i < p->info.result_count && argument->aliased < 0; i++) {
    bool like = false;
    if (p->results[i].aliased >= 0) continue;
    TSR_TRY(is_like(argument, &p->results[i], &like));
    if (!like) continue;
    argument->aliased = i;
    p->results[i].aliased = index;
  }
  return NULL;
}

static tsr_status write_donations(tsr_partitioned *p) {
  tsr_ir *ir = tsr_program_copy_ir(p->entry);
  if (!ir) return tsr_fail(NO_MEMORY, "program %s", tsr_program_path(p->entry));
  const int64_t count = p->info.argument_count;
  tsr_donation *donations = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *donations);
  for (int64_t i = 0; donations && i < count; i++)
    donations[i] = (tsr_donation){p->arguments[i].donated, p->arguments[i].aliased};
  tsr_program *written = NULL;
  tsr_status status = donations ? tsr_donations_write(ir, tsr_ir_entry(ir), donations)
                                : tsr_fail(NO_MEMORY, "donated arguments");
  if (status) {
    tsr_ir_destroy(ir);
    return status;
  }
  TSR_TRY(tsr_program_wrap(ir, tsr_program_path(p->entry), TSR_PROGRAM_BUILT, &written));
  // Values point to names of the program before, whose texts must stay.
  tsr_program_release(p->named_values);
  p->named_values = p->entry;
  p->entry = written;
  return NULL;
}

static tsr_status settle_donations(tsr_partitioned *p) {
  for (int64_t i = 0; i < p->info.argument_count; i++) TSR_TRY(keep_alias(p, &p->arguments[i], i));
  for (int64_t i = 0; i < p->info.argument_count; i++) {
    tsr_partitioned_value *argument = &p->arguments[i];
    if (argument->donated && argument->aliased < 0) TSR_TRY(find_alias(p, argument, i));
  }
  return write_donations(p);
}

// ---- all ----

// The caller's mesh, or the program's as it was: partitioning drops axes of size one.
static tsr_status take_mesh(tsr_partitioned *p, const tsr_mesh *given) {
  TSR_OWN(mesh, lanes);
  TSR_OWN(mesh, whole);
  TSR_TRY(find_mesh(p->entry, &lanes));
  if (!given && tsr_program_mesh_count(p->whole)) TSR_TRY(find_mesh(p->whole, &whole));
  const tsr_mesh *wanted = given ? given : whole;
  p->mesh = tsr_mesh_retain(wanted && covers(wanted, lanes) ? wanted : lanes);
  return NULL;
}

tsr_status tsr_partitioned_read(tsr_partitioned *partitioned, const tsr_mesh *given) {
  tsr_partitioned *p = partitioned;
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  TSR_TRY(take_mesh(p, given));
  TSR_TRY(tsr_program_function_at(p->entry, tsr_program_entry(p->entry), &function));
  p->info.size = sizeof p->info;
  p->info.mesh = p->mesh;
  p->info.device_count = tsr_mesh_device_count(p->mesh);
  p->info.argument_count = function.argument_count;
  p->info.result_count = function.result_count;
  TSR_TRY(read_values(p, tsr_program_argument, function.argument_count, &p->arguments,
                      &p->info.argument_bytes));
  TSR_TRY(read_values(p, tsr_program_result, function.result_count, &p->results,
                      &p->info.result_bytes));
  return settle_donations(p);
}

static tsr_status check_values(const tsr_program *program, const tsr_mesh *lanes, int64_t entry,
                               value_at_fn *value_at, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    TSR_OWN(layout, layout);
    TSR_TRY(value_at(program, entry, i, &value));
    if (value.spec) TSR_TRY(layout_of(program, lanes, &value, NULL, &layout));
  }
  return NULL;
}

tsr_status tsr_partition_check(const tsr_program *whole) {
  const int64_t entry = tsr_program_entry(whole);
  tsr_program_function function = TSR_PROGRAM_FUNCTION;
  TSR_OWN(mesh, lanes);
  if (!tsr_program_mesh_count(whole)) return NULL;  // in XLA's older form
  TSR_TRY(find_mesh(whole, &lanes));
  TSR_TRY(tsr_program_function_at(whole, entry, &function));
  TSR_TRY(check_values(whole, lanes, entry, tsr_program_argument, function.argument_count));
  return check_values(whole, lanes, entry, tsr_program_result, function.result_count);
}
