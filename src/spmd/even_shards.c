// even-shards, one-mesh: shardings of values inside a program that can be cut as they are.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "propagate/edits.h"
#include "propagate/sharding_passes.h"
#include "propagate/symbol_names.h"
#include "factor/shardings.h"
#include "resolve/cut_build.h"
#include "spmd/fallbacks.h"
#include "spmd/spmd_passes.h"
#include "verify/sdy_checks.h"

// ---- even shards ----

typedef struct even_walk {
  tsr_ir *ir;
  tsr_arena scratch;  // of one value
  const tsr_op *entry;
  int64_t *changes;
} even_walk;

// The type of a tensor whose dims are padded where that is of use: not those of a single element,
// and not where three quarters of the devices would have padding only.
static tsr_status padded_type(even_walk *w, const tsr_op *op, const tsr_type *type,
                              const tsr_attr *sharding, const tsr_type **out_type) {
  int64_t dims[TSR_MAX_RANK];
  const tsr_tensor_sharding *cut = NULL;
  *out_type = type;
  tsr_arena_reset(&w->scratch);
  TSR_TRY(tsr_cut_of_attr(&w->scratch, w->ir, op, sharding, &cut));
  if (!cut || !tsr_type_is_static(type) || type->rank > TSR_MAX_RANK) return NULL;
  for (int d = 0; d < type->rank; d++) {
    const int64_t size = type->dims[d], shards = tsr_cut_count(cut, d);
    const int64_t padded = tsr_even_size(size, shards);
    dims[d] = size > 1 && size > shards / 4 && padded > 0 ? padded : size;
  }
  *out_type = tsr_type_tensor(w->ir, type->element, type->rank, dims, NULL);
  TSR_NEED(*out_type);
  return NULL;
}

// The sharding without the axes that padding is no use for, or without all that do not divide the
// tensor (`even`); `changed` says whether it had such.
static tsr_status useful_axes(even_walk *w, const tsr_op *op, const tsr_type *type, bool even,
                              const tsr_attr **sharding, bool *changed) {
  const tsr_attr *old = *sharding;
  const tsr_type *padded = type;
  *changed = false;
  if (!old) return NULL;
  if (!even) TSR_TRY(padded_type(w, op, type, old, &padded));
  TSR_TRY(tsr_sharding_even(w->ir, op, padded, sharding));
  *changed = !tsr_attr_equal(old, *sharding);
  *w->changes += *changed;
  return NULL;
}

static tsr_status make_even_func(even_walk *w, tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  const tsr_ir_block *body = tsr_func_body(func);
  bool changed = false;
  for (int i = 0; body && i < body->arg_count; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_value_sharding(w->ir, body->args[i], &sharding));
    TSR_TRY(useful_axes(w, func, body->args[i]->type, false, &sharding, &changed));
    if (changed) TSR_TRY(tsr_value_sharding_set(w->ir, body->args[i], sharding));
  }
  for (int i = 0; i < type->count - type->input_count; i++) {
    const tsr_attr *sharding = tsr_func_result_sharding(func, i);
    TSR_TRY(useful_axes(w, func, type->types[type->input_count + i], false, &sharding, &changed));
    if (changed) TSR_TRY(tsr_func_result_sharding_set(w->ir, func, i, sharding));
  }
  return NULL;
}

// Whether a value is made by moving elements, and goes nowhere but to the results of the program,
// whose shardings are even: its operands are gathered instead, which are no more in general.
static bool is_result_of_moves(const even_walk *w, const tsr_op *op, const tsr_value *value) {
  switch (op->info->id) {
    case TSR_OP_BROADCAST_IN_DIM:
    case TSR_OP_CONCATENATE:
    case TSR_OP_CONSTANT:
    case TSR_OP_IOTA:
    case TSR_OP_PAD:
    case TSR_OP_RESHAPE:
    case TSR_OP_REVERSE:
    case TSR_OP_SLICE:
    case TSR_OP_TRANSPOSE:
      break;
    default:
      return false;
  }
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (!tsr_op_is(use->user, TSR_OP_FUNC_RETURN) || tsr_op_parent(use->user) != w->entry)
      return false;
  return value->uses != NULL;
}

static tsr_status make_even(tsr_op *op, void *context) {
  even_walk *w = context;
  if (tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;  // even, by its verifier
  if (tsr_op_is(op, TSR_OP_FUNC)) return make_even_func(w, op);
  for (int i = 0; i < op->result_count; i++) {
    tsr_value *result = tsr_op_result(op, i);
    const tsr_attr *sharding = NULL;
    bool changed = false;
    TSR_TRY(tsr_value_sharding(w->ir, result, &sharding));
    TSR_TRY(
        useful_axes(w, op, result->type, is_result_of_moves(w, op, result), &sharding, &changed));
    if (changed) TSR_TRY(tsr_value_sharding_set(w->ir, result, sharding));
  }
  return NULL;
}

tsr_status tsr_pass_even_shards(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  even_walk w = {.ir = ir, .entry = tsr_ir_entry(ir), .changes = changes};
  (void)options;
  tsr_status status = tsr_op_walk(ir->module, make_even, &w);
  tsr_arena_deinit(&w.scratch);
  return status;
}

// ---- arguments ----

// Shardy drops the axes of arguments that do not divide them when it propagates.
tsr_status tsr_pass_note_uneven(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_op *entry = tsr_ir_entry(ir);
  const tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  (void)options;
  (void)changes;
  for (int i = 0; body && i < body->arg_count; i++) {
    const tsr_attr *sharding = tsr_dict_find(tsr_func_arg_attrs(entry, i), "sdy.sharding");
    if (sharding && body->args[i]->type->kind == TSR_TYPE_TENSOR)
      TSR_TRY(tsr_spmd_fallback_uneven(ir, entry, i, body->args[i]->type, sharding));
  }
  return NULL;
}

// ---- one mesh ----

// A mesh of the program: where its axes end, in devices that follow each other.
typedef struct mesh_axes {
  const char *name;
  const tsr_attr *mesh;
} mesh_axes;

typedef struct joining {
  tsr_ir *ir;
  mesh_axes *meshes;
  int count;
  int64_t devices;
  int64_t *borders;  // all of them, the largest first: devices in one step along the axes before
  int border_count;
  const tsr_attr *symbol;  // of the new mesh
} joining;

static int64_t device_count(const tsr_attr *mesh) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  int64_t count = 1;
  for (int64_t i = 0; i < axes->count; i++)
    count = tsr_saturated_multiply(count, tsr_sdy_axis_size(mesh, (int)i));
  return count;
}

static tsr_status find_meshes(joining *j) {
  const tsr_ir_block *body = j->ir->module->regions[0].first;
  int most = 0;
  for (const tsr_op *op = body->first; op; op = op->next) most += tsr_op_is(op, TSR_OP_SDY_MESH);
  j->meshes = calloc((size_t)most + 1, sizeof *j->meshes);
  if (!j->meshes) return tsr_fail(NO_MEMORY, "%d meshes", most);
  for (const tsr_op *op = body->first; op; op = op->next) {
    const tsr_attr *mesh = tsr_op_is(op, TSR_OP_SDY_MESH) ? tsr_op_attr(op, "mesh") : NULL;
    if (!mesh || !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) continue;
    j->meshes[j->count++] = (mesh_axes){tsr_op_symbol(op), mesh};
  }
  return NULL;
}

static bool is_alike(const joining *j) {
  for (int i = 1; i < j->count; i++)
    if (!tsr_attr_equal(j->meshes[i].mesh, j->meshes[0].mesh)) return false;
  return true;
}

static int by_size(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x < y) - (x > y);
}

// The axes of the new mesh end wherever one of the old axes, or a part of one that a sharding has,
// may: each must divide the one before.
static tsr_status find_borders(joining *j) {
  int most = 2;
  for (int i = 0; i < j->count; i++)
    most += (int)tsr_attr_field(j->meshes[i].mesh, TSR_SDY_MESH_AXES)->count;
  j->borders = calloc((size_t)most, sizeof *j->borders);
  if (!j->borders) return tsr_fail(NO_MEMORY, "axes of a mesh");
  j->devices = device_count(j->meshes[0].mesh);
  for (int i = 0; i < j->count; i++) {
    const tsr_attr *mesh = j->meshes[i].mesh;
    int64_t rest = device_count(mesh);
    if (rest != j->devices || tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS)))
      return tsr_fail(UNSUPPORTED,
                      "mesh \"%s\" has other devices, or in another order, than mesh \"%s\": a "
                      "program that uses both is not partitioned",
                      j->meshes[i].name, j->meshes[0].name);
    for (int64_t k = 0; k < tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count; k++) {
      j->borders[j->border_count++] = rest;
      rest /= tsr_sdy_axis_size(mesh, (int)k);
    }
  }
  j->borders[j->border_count++] = 1;
  qsort(j->borders, (size_t)j->border_count, sizeof *j->borders, by_size);
  int count = 0;
  for (int i = 0; i < j->border_count; i++)
    if (!count || j->borders[count - 1] != j->borders[i]) j->borders[count++] = j->borders[i];
  j->border_count = count;
  for (int i = 1; i < count; i++)
    if (j->borders[i - 1] % j->borders[i])
      return tsr_fail(UNSUPPORTED,
                      "the meshes of the program have no axes in common: %lld and "
                      "%lld devices in a row",
                      (long long)j->borders[i - 1], (long long)j->borders[i]);
  return NULL;
}

static const tsr_attr *new_axis_name(tsr_ir *ir, int index) {
  char name[24] = "axis_";
  int length = 5;
  for (int scale = 1000; scale; scale /= 10)
    if (index >= scale || scale == 1) name[length++] = (char)('0' + index / scale % 10);
  return tsr_attr_string(ir, name, (size_t)length);
}

static tsr_status make_mesh(joining *j) {
  tsr_ir_block *body = j->ir->module->regions[0].first;
  const int count = j->border_count - 1;
  const tsr_attr **axes = tsr_ir_alloc(j->ir, ((size_t)count + 1) * sizeof *axes);
  tsr_symbol_namer namer = {.ir = j->ir};
  const char *name = NULL;
  TSR_NEED(axes);
  for (int i = 0; i < count; i++) {
    const tsr_attr *const fields[] = {new_axis_name(j->ir, i),
                                      tsr_attr_i64(j->ir, j->borders[i] / j->borders[i + 1])};
    TSR_NEED(fields[0] && fields[1] ? j : NULL);
    axes[i] = tsr_attr_record(j->ir, TSR_RECORD_SDY_MESH_AXIS, fields);
    TSR_NEED(axes[i]);
  }
  TSR_TRY(tsr_symbol_name_unused(&namer, "one_mesh", &name));
  const tsr_attr *const mesh[] = {tsr_attr_array(j->ir, axes, count),
                                  tsr_attr_ints(j->ir, NULL, 0)};
  TSR_NEED(mesh[0] && mesh[1] ? j : NULL);
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(j->ir, "mesh", 4), tsr_attr_record(j->ir, TSR_RECORD_SDY_MESH, mesh)},
      {tsr_ir_name(j->ir, "sym_name", 8), tsr_attr_string(j->ir, name, strlen(name))}};
  TSR_NEED(attrs[0].name && attrs[0].attr && attrs[1].name && attrs[1].attr ? j : NULL);
  tsr_op *op =
      tsr_op_create(j->ir, &(tsr_op_parts){.id = TSR_OP_SDY_MESH, .attrs = attrs, .attr_count = 2});
  TSR_NEED(op);
  tsr_op_insert_before(body->first, op);
  j->symbol = tsr_attr_symbol(j->ir, name, strlen(name));
  TSR_NEED(j->symbol);
  return NULL;
}

// A part of an old axis, as whole axes of the new mesh and a part of the last one.
static tsr_status add_parts(joining *j, const tsr_attr *mesh, const tsr_sdy_part *part,
                            const tsr_attr *new_mesh, tsr_sdy_parts *out) {
  int64_t top = j->devices;
  for (int i = 0; i < part->axis; i++) top /= tsr_sdy_axis_size(mesh, i);
  int64_t from = top / part->pre, end = from / part->size;
  for (int i = 0; i + 1 < j->border_count && from > end; i++) {
    const int64_t high = j->borders[i], low = j->borders[i + 1];
    if (from <= low || from > high) continue;
    const int64_t to = end > low ? end : low;
    if (high % from || from % to || to % low)
      return tsr_fail(UNSUPPORTED, "a part of an axis of mesh \"%s\" has no counterpart",
                      j->meshes[0].name);
    tsr_sdy_parts_append(new_mesh, out, tsr_part_of(new_mesh, i, high / from, from / to));
    from = to;
  }
  return NULL;
}

static tsr_status move_axes(joining *j, tsr_arena *arena, const tsr_attr *mesh,
                            const tsr_attr *new_mesh, tsr_sdy_parts *axes) {
  tsr_sdy_parts moved = {
      tsr_arena_zeros(arena, ((size_t)axes->count + 1) * ((size_t)j->border_count + 1),
                      sizeof *moved.items),
      0};
  TSR_NEED(moved.items);
  for (int64_t i = 0; i < axes->count; i++)
    TSR_TRY(add_parts(j, mesh, &axes->items[i], new_mesh, &moved));
  *axes = moved;
  return NULL;
}

static tsr_status move_sharding(void *context, tsr_op *op, const tsr_attr *sharding,
                                const tsr_attr **out_sharding) {
  joining *j = context;
  const tsr_attr *mesh = tsr_sdy_mesh_of(j->ir, op, sharding);
  const tsr_op *target = tsr_ir_find_symbol(j->ir, j->symbol->bytes);
  tsr_arena arena = {0};
  tsr_tensor_sharding *read = NULL;
  *out_sharding = sharding;
  if (!mesh || !target || !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) return NULL;
  const tsr_attr *new_mesh = tsr_op_attr(target, "mesh");
  tsr_status status = tsr_sharding_read(&arena, mesh, sharding, &read);
  tsr_dim_sharding *dims =
      status ? NULL : tsr_arena_zeros(&arena, (size_t)read->rank + 1, sizeof *dims);
  for (int d = 0; dims && d < read->rank && !status; d++) {
    dims[d] = read->dims[d];
    status = move_axes(j, &arena, mesh, new_mesh, &dims[d].axes);
  }
  if (dims && !status) status = move_axes(j, &arena, mesh, new_mesh, &read->replicated);
  if (dims && !status) status = move_axes(j, &arena, mesh, new_mesh, &read->unreduced);
  if (dims && !status) {
    read->dims = dims;
    read->mesh = new_mesh;
    read->mesh_ref = j->symbol;
    *out_sharding = tsr_sharding_attr(j->ir, read);
  }
  tsr_arena_deinit(&arena);
  if (!status && !dims) return tsr_fail(NO_MEMORY, "a sharding");
  return status;
}

// Manual axes are names of a mesh, which shardings of manual computations keep.
static tsr_status refuse_manual(tsr_op *op, void *context) {
  (void)context;
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  return tsr_fail(UNSUPPORTED, "%s: a program of several meshes with manual axes", op->name);
}

tsr_status tsr_pass_one_mesh(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  joining j = {.ir = ir};
  (void)options;
  tsr_status status = find_meshes(&j);
  if (!status && !is_alike(&j)) {
    status = tsr_op_walk(ir->module, refuse_manual, NULL);
    if (!status) status = find_borders(&j);
    if (!status) status = make_mesh(&j);
    if (!status) status = tsr_shardings_change(ir, move_sharding, &j, changes);
  }
  free(j.meshes);
  free(j.borders);
  return status;
}
