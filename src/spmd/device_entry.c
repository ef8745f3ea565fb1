// lanes: the program of one device becomes a function, and the entry a manual computation over all
// axes that calls it: it takes and gives whole tensors, and runs on any number of virtual devices.
#include <string.h>

#include "base/arithmetic.h"
#include "propagate/edits.h"
#include "propagate/symbol_names.h"
#include "resolve/cut_build.h"
#include "spmd/spmd_passes.h"

typedef struct lanes_run {
  tsr_ir *ir;
  tsr_arena arena;
  tsr_op *local;           // the function of one device
  const tsr_op *mesh;      // sdy.mesh
  const tsr_type *type;    // of the function
  const tsr_type **types;  // of the entry: whole tensors
  const tsr_attr **cuts;   // shardings of all of them
} lanes_run;

// The mesh of the devices: the first one whose devices are in plain order, else the first one.
// Others are orders of the same devices, for single values.
static const tsr_op *find_mesh(const tsr_ir *ir) {
  const tsr_op *first = NULL;
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next) {
    if (!tsr_op_is(op, TSR_OP_SDY_MESH)) continue;
    const tsr_attr *mesh = tsr_op_attr(op, "mesh");
    if (!tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count) continue;
    if (!tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS))) return op;
    if (!first) first = op;
  }
  return first;
}

// The whole type of an argument or result; tensors without a sharding are the same everywhere.
static tsr_status fill_whole(lanes_run *r, int index, const tsr_attr *sharding) {
  const tsr_type *type = r->type->types[index];
  const tsr_tensor_sharding *cut = NULL;
  int64_t dims[TSR_MAX_RANK];
  r->types[index] = type;
  if (type->kind != TSR_TYPE_TENSOR || type->rank > TSR_MAX_RANK || !tsr_type_is_static(type))
    return tsr_fail(UNSUPPORTED, "function \"%s\": argument or result %d does not run on lanes",
                    tsr_op_symbol(r->local), index);
  TSR_TRY(tsr_cut_of_attr(&r->arena, r->ir, r->local, sharding, &cut));
  const char *name = tsr_op_symbol(r->mesh);
  r->cuts[index] = sharding;
  if (!cut) {
    const tsr_attr *symbol = tsr_attr_symbol(r->ir, name, strlen(name));
    r->cuts[index] = symbol ? tsr_sharding_bare(r->ir, symbol, type->rank, true) : NULL;
    TSR_NEED(r->cuts[index]);
    return NULL;
  }
  for (int d = 0; d < type->rank; d++) {
    dims[d] = tsr_saturated_multiply(type->dims[d], tsr_cut_count(cut, d));
    if (dims[d] == INT64_MAX) return tsr_fail(TOO_LARGE, "dimension %d is too large", d);
  }
  r->types[index] = tsr_type_tensor(r->ir, type->element, type->rank, dims, NULL);
  TSR_NEED(r->types[index]);
  return NULL;
}

static tsr_status fill_types(lanes_run *r) {
  const int inputs = r->type->input_count;
  r->types = tsr_ir_alloc(r->ir, ((size_t)r->type->count + 1) * sizeof *r->types);
  r->cuts = tsr_ir_alloc(r->ir, ((size_t)r->type->count + 1) * sizeof *r->cuts);
  TSR_NEED(r->types && r->cuts ? r : NULL);
  for (int i = 0; i < r->type->count; i++)
    TSR_TRY(fill_whole(r, i,
                       i < inputs ? tsr_dict_find(tsr_func_arg_attrs(r->local, i), "sdy.sharding")
                                  : tsr_func_result_sharding(r->local, i - inputs)));
  return NULL;
}

static const tsr_attr *all_axes(const lanes_run *r) {
  const tsr_attr *axes = tsr_attr_field(tsr_op_attr(r->mesh, "mesh"), TSR_SDY_MESH_AXES);
  const tsr_attr **names = tsr_ir_alloc(r->ir, ((size_t)axes->count + 1) * sizeof *names);
  if (!names) return NULL;
  for (int64_t i = 0; i < axes->count; i++)
    names[i] = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME);
  const tsr_attr *list = tsr_attr_array(r->ir, names, axes->count);
  return list ? tsr_attr_record(r->ir, TSR_RECORD_SDY_MANUAL_AXES, &list) : NULL;
}

// Arguments of a block; NULL without memory.
static tsr_value **add_args(tsr_ir *ir, tsr_ir_block *block, const tsr_type *const *types,
                            int count) {
  tsr_value **args = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *args);
  for (int i = 0; args && i < count; i++) {
    args[i] = tsr_block_add_arg(ir, block, types[i], NULL);
    if (!args[i]) return NULL;
  }
  return args;
}

static tsr_value **results_of(tsr_ir *ir, tsr_op *op) {
  tsr_value **values =
      op ? tsr_ir_alloc(ir, ((size_t)op->result_count + 1) * sizeof *values) : NULL;
  for (int i = 0; values && i < op->result_count; i++) values[i] = tsr_op_result(op, i);
  return values;
}

static tsr_status fill_body(lanes_run *r, tsr_site *site, tsr_ir_block *block) {
  const int inputs = r->type->input_count, results = r->type->count - inputs;
  const char *name = tsr_op_symbol(r->local);
  site->block = block;
  tsr_value **args = add_args(r->ir, block, r->types, inputs);
  TSR_NEED(args);
  for (int i = 0; i < inputs; i++)  // their names
    args[i]->location = tsr_func_body(r->local)->args[i]->location;
  const tsr_site_attr attrs[] = {
      {"in_shardings", tsr_shardings_attr(r->ir, r->cuts, inputs)},
      {"manual_axes", all_axes(r)},
      {"out_shardings", tsr_shardings_attr(r->ir, r->cuts + inputs, results)}};
  tsr_op *manual = tsr_site_op(site, TSR_OP_SDY_MANUAL_COMPUTATION, args, inputs, r->types + inputs,
                               results, 1, attrs, 3);
  tsr_ir_block *inner = manual ? tsr_block_append(r->ir, &manual->regions[0]) : NULL;
  tsr_value **inside = inner ? add_args(r->ir, inner, r->type->types, inputs) : NULL;
  if (site->failure) return site->failure;
  TSR_NEED(inside);
  site->block = inner;
  const tsr_site_attr callee = {"callee", tsr_attr_symbol(r->ir, name, strlen(name))};
  tsr_op *call = tsr_site_op(site, TSR_OP_CALL, inside, inputs, r->type->types + inputs, results, 0,
                             &callee, 1);
  tsr_value **values = results_of(r->ir, call), **whole = results_of(r->ir, manual);
  if (site->failure) return site->failure;
  TSR_NEED(values && whole ? r : NULL);
  tsr_site_op(site, TSR_OP_SDY_RETURN, values, results, NULL, 0, 0, NULL, 0);
  site->block = block;
  tsr_site_op(site, TSR_OP_FUNC_RETURN, whole, results, NULL, 0, 0, NULL, 0);
  return site->failure;
}

// The entry takes over the name, and what callers see of arguments and results.
static tsr_status make_entry(lanes_run *r) {
  const int inputs = r->type->input_count, results = r->type->count - inputs;
  tsr_symbol_namer namer = {.ir = r->ir};
  const char *name = NULL;
  const tsr_attr *own = tsr_op_attr(r->local, "sym_name");
  const tsr_attr *visibility = tsr_op_attr(r->local, "sym_visibility");
  const tsr_type *type = tsr_type_function(r->ir, r->types, inputs, r->types + inputs, results);
  TSR_NEED(type);
  TSR_TRY(tsr_symbol_name_unused(&namer, "device_main", &name));
  const tsr_attr *renamed = tsr_attr_string(r->ir, name, strlen(name));
  const tsr_attr *hidden = tsr_attr_string(r->ir, "private", 7);
  TSR_NEED(renamed && hidden ? r : NULL);
  tsr_site_attr attrs[6] = {{"function_type", tsr_attr_type(r->ir, type)}, {"sym_name", own}};
  int count = 2;
  static const char *const kept[] = {"arg_attrs", "res_attrs"};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (tsr_op_attr(r->local, kept[i]))
      attrs[count++] = (tsr_site_attr){kept[i], tsr_op_attr(r->local, kept[i])};
  if (visibility) attrs[count++] = (tsr_site_attr){"sym_visibility", visibility};
  TSR_TRY(tsr_op_attr_set(r->ir, r->local, "sym_name", renamed));
  TSR_TRY(tsr_op_attr_set(r->ir, r->local, "sym_visibility", hidden));
  tsr_site site = {.ir = r->ir, .place = r->local};
  tsr_op *entry = tsr_site_op(&site, TSR_OP_FUNC, NULL, 0, NULL, 0, 1, attrs, count);
  tsr_ir_block *block = entry ? tsr_block_append(r->ir, &entry->regions[0]) : NULL;
  if (site.failure) return site.failure;
  TSR_NEED(block);
  return fill_body(r, &site, block);
}

tsr_status tsr_pass_lanes(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  lanes_run r = {.ir = ir, .local = tsr_ir_entry(ir), .mesh = find_mesh(ir)};
  (void)options;
  if (!r.local || !r.mesh || !tsr_func_body(r.local)) return NULL;
  r.type = tsr_func_type(r.local);
  tsr_status status = fill_types(&r);
  if (!status) status = make_entry(&r);
  tsr_arena_deinit(&r.arena);
  ++*changes;
  return status;
}

// ---- the table ----

static const tsr_pass passes[] = {
#define PASS(name, function, options, summary) {name, tsr_pass_##function, options, summary},
#define PASS_OPTION(...)
#include "spmd/spmd_passes.def"
#undef PASS
#undef PASS_OPTION
};

tsr_pass_table tsr_spmd_passes(void) {
  return (tsr_pass_table){passes, sizeof passes / sizeof *passes, NULL, 0};
}
