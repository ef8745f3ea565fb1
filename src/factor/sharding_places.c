// Where a program keeps the sharding of a value: on ops, arguments, results, edges.
#include <stdlib.h>
#include <string.h>

#include "factor/shardings.h"
#include "factor/sharding_lists.h"
#include "verify/sdy_checks.h"

// ---- edges ----

bool tsr_is_data_flow_op(tsr_op_id id) {
  switch (id) {
    case TSR_OP_WHILE:
    case TSR_OP_CASE:
    case TSR_OP_OPTIMIZATION_BARRIER:
    case TSR_OP_SDY_MANUAL_COMPUTATION:
    case TSR_OP_SDY_NAMED_COMPUTATION:
      return true;
    default:
      return false;
  }
}

tsr_op *tsr_edge_of(const tsr_value *owner) {
  const tsr_use *use = owner->uses;
  const bool alone = use && !use->next;
  return alone && use->user->info->id == TSR_OP_SDY_DATA_FLOW_EDGE ? use->user : NULL;
}

static tsr_op *owner_of(const tsr_value *value) {
  return value->def ? value->def : tsr_block_parent(value->block);
}

// Only the arguments of a while stand for its results; other targets have edges of their own.
tsr_value *tsr_edge_owner(tsr_value *target) {
  tsr_op *op = owner_of(target);
  if (target->def || op->info->id != TSR_OP_WHILE) return target;
  return target->index < op->result_count ? tsr_op_result(op, target->index) : target;
}

tsr_value *tsr_shardable(tsr_value *value) {
  tsr_op *op = owner_of(value);
  if (!op) return NULL;
  if (tsr_is_data_flow_op(op->info->id)) {
    tsr_value *owner = tsr_edge_owner(value);
    tsr_op *edge = tsr_edge_of(owner);
    if (edge) return tsr_op_result(edge, 0);
    return value->def ? value : owner;
  }
  if (value->def || op->info->id == TSR_OP_FUNC) return value;
  // The body of an async op sees its operands.
  if (op->info->id == TSR_OP_ASYNC_START && value->index < op->operand_count)
    return tsr_op_operand(op, value->index);
  return NULL;
}

// ---- attributes ----

static tsr_status set_attr(tsr_ir *ir, tsr_op *op, const char *name, const tsr_attr *attr) {
  const char *kept = tsr_ir_name(ir, name, strlen(name));
  TSR_NEED(kept);
  TSR_NEED(tsr_op_set_attr(ir, op, kept, attr));
  return NULL;
}

// The attribute of an op that has the sharding of its one result; NULL = it has a list.
static const char *single_name(tsr_op_id id) {
  switch (id) {
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
    case TSR_OP_SDY_RESHARD:
    case TSR_OP_SDY_DATA_FLOW_EDGE:
      return "sharding";
    default:
      return id >= TSR_OP_SDY_ALL_GATHER && id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED
                 ? "out_sharding"
                 : NULL;
  }
}

tsr_sharding_list tsr_sharding_list_of(tsr_value *value) {
  tsr_op *op = owner_of(value);
  tsr_sharding_list list = {.op = op, .name = "sdy.sharding", .kind = TSR_SHARDINGS_OF_OP};
  if (!value->def) {
    const bool func = op->info->id == TSR_OP_FUNC;
    list.kind = func ? TSR_SHARDINGS_IN_DICTS : TSR_SHARDINGS_OF_OP;
    list.name = func ? "arg_attrs" : "in_shardings";
    list.block = value->block;
    list.count = value->block->arg_count;
    return list;
  }
  const char *single = single_name(op->info->id);
  list.count = op->result_count;
  if (single) {
    list.name = single;
    list.kind = TSR_SHARDINGS_SINGLE;
  } else if (op->info->id == TSR_OP_SDY_MANUAL_COMPUTATION ||
             op->info->id == TSR_OP_SDY_NAMED_COMPUTATION) {
    list.name = "out_shardings";
  }
  return list;
}

tsr_sharding_list tsr_sharding_list_of_results(tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  return (tsr_sharding_list){.op = func,
                             .name = "res_attrs",
                             .kind = TSR_SHARDINGS_IN_DICTS,
                             .count = type ? type->count - type->input_count : 0};
}

// `dict` (or NULL) with its sharding replaced; NULL removes it.
static tsr_status dict_with(tsr_ir *ir, const tsr_attr *dict, const tsr_attr *sharding,
                            const tsr_attr **out_dict) {
  const int64_t count = dict ? dict->count : 0;
  tsr_named_attr *entries = tsr_ir_alloc(ir, sizeof *entries * ((size_t)count + 1));
  const char *name = tsr_ir_name(ir, "sdy.sharding", strlen("sdy.sharding"));
  int64_t kept = 0;
  TSR_NEED(entries && name);
  for (int64_t i = 0; i < count; i++)
    if (strcmp(dict->entries[i].name, name)) entries[kept++] = dict->entries[i];
  if (sharding) entries[kept++] = (tsr_named_attr){name, sharding};
  *out_dict = tsr_attr_dict(ir, entries, kept);
  TSR_NEED(*out_dict);
  return NULL;
}

static tsr_status write_dicts(tsr_ir *ir, const tsr_sharding_list *list,
                              const tsr_attr *const *shardings) {
  const tsr_attr *old = tsr_op_attr(list->op, list->name);
  const tsr_attr **dicts = tsr_ir_alloc(ir, sizeof *dicts * ((size_t)list->count + 1));
  TSR_NEED(dicts);
  for (int i = 0; i < list->count; i++)
    TSR_TRY(dict_with(ir, old && i < old->count ? old->items[i] : NULL, shardings[i], &dicts[i]));
  const tsr_attr *attr = tsr_attr_array(ir, dicts, list->count);
  TSR_NEED(attr);
  return set_attr(ir, list->op, list->name, attr);
}

tsr_status tsr_sharding_list_write(tsr_ir *ir, const tsr_sharding_list *list,
                                   const tsr_attr *const *shardings) {
  if (list->kind == TSR_SHARDINGS_IN_DICTS) return write_dicts(ir, list, shardings);
  if (list->kind == TSR_SHARDINGS_SINGLE) return set_attr(ir, list->op, list->name, shardings[0]);
  const tsr_attr *array = tsr_attr_array(ir, shardings, list->count);
  TSR_NEED(array);
  const tsr_attr *attr = tsr_attr_record(ir, TSR_RECORD_SDY_SHARDINGS, &array);
  TSR_NEED(attr);
  return set_attr(ir, list->op, list->name, attr);
}

// ---- one at a time ----

static const tsr_attr *sharding_in(const tsr_attr *dict) {
  const tsr_attr *attr = tsr_dict_find(dict, "sdy.sharding");
  const bool fits = attr && tsr_attr_has_form(attr, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDING);
  return fits ? attr : NULL;
}

const tsr_attr *tsr_sharding_in_dicts(const tsr_attr *dicts, int index) {
  return dicts && index < dicts->count ? sharding_in(dicts->items[index]) : NULL;
}

const tsr_attr *tsr_func_result_sharding(const tsr_op *func, int index) {
  return sharding_in(tsr_func_result_attrs(func, index));
}

// An SDY_SHARDING without axes, all dims open, on the mesh of another one.
static const tsr_attr *open_like(tsr_ir *ir, const tsr_attr *sharding, const tsr_type *type) {
  const int rank = type->kind == TSR_TYPE_TENSOR || type->kind == TSR_TYPE_BUFFER ? type->rank : 0;
  const tsr_attr *none = tsr_attr_array(ir, NULL, 0);
  const tsr_attr *dim_fields[] = {none, tsr_attr_bool(ir, false), NULL};
  if (!none || !dim_fields[1]) return NULL;
  const tsr_attr *dim = tsr_attr_record(ir, TSR_RECORD_SDY_DIM, dim_fields);
  const tsr_attr **dims = tsr_ir_alloc(ir, sizeof *dims * ((size_t)rank + 1));
  if (!dim || !dims) return NULL;
  for (int i = 0; i < rank; i++) dims[i] = dim;
  const tsr_attr *fields[] = {tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH),
                              tsr_attr_array(ir, dims, rank), none, none,
                              tsr_attr_enum(ir, TSR_ENUM_SDY_REDUCTION, TSR_SDY_REDUCTION_SUM)};
  if (!fields[1] || !fields[4]) return NULL;
  return tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields);
}

static const tsr_type *type_in(const tsr_sharding_list *list, int index) {
  return list->block ? list->block->args[index]->type : tsr_op_result(list->op, index)->type;
}

// One entry of a list replaced; entries that are missing become open, as all are there or none.
static tsr_status set_listed(tsr_ir *ir, const tsr_sharding_list *list, int index,
                             const tsr_attr *attr) {
  const tsr_attr *old = tsr_op_attr(list->op, list->name);
  const bool listed = old && tsr_attr_has_form(old, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDINGS);
  const tsr_attr *entries = listed ? tsr_attr_field(old, TSR_SDY_SHARDINGS_LIST) : NULL;
  if (!attr) return set_attr(ir, list->op, list->name, NULL);
  const tsr_attr **items = tsr_ir_alloc(ir, sizeof *items * ((size_t)list->count + 1));
  TSR_NEED(items);
  for (int i = 0; i < list->count; i++) {
    items[i] = entries && i < entries->count ? entries->items[i] : NULL;
    if (i == index) items[i] = attr;
    if (!items[i]) items[i] = open_like(ir, attr, type_in(list, i));
    TSR_NEED(items[i]);
  }
  return tsr_sharding_list_write(ir, list, items);
}

// Only the dictionary of this one is made again.
static tsr_status set_in_dict(tsr_ir *ir, const tsr_sharding_list *list, int index,
                              const tsr_attr *attr) {
  const tsr_attr *old = tsr_op_attr(list->op, list->name), *empty = NULL;
  if (tsr_attr_equal(tsr_sharding_in_dicts(old, index), attr)) return NULL;
  const tsr_attr **dicts = malloc(sizeof *dicts * ((size_t)list->count + 1));
  tsr_status status = dicts ? dict_with(ir, NULL, NULL, &empty) : tsr_fail(NO_MEMORY, "shardings");
  for (int i = 0; !status && i < list->count; i++)
    dicts[i] = old && i < old->count ? old->items[i] : empty;
  if (!status) status = dict_with(ir, dicts[index], attr, &dicts[index]);
  const tsr_attr *made = status ? NULL : tsr_attr_array(ir, dicts, list->count);
  if (!status && !made) status = tsr_fail(NO_MEMORY, "shardings");
  free(dicts);
  return status ? status : set_attr(ir, list->op, list->name, made);
}

tsr_status tsr_value_sharding_set(tsr_ir *ir, tsr_value *value, const tsr_attr *attr) {
  const tsr_sharding_list list = tsr_sharding_list_of(value);
  if (list.kind == TSR_SHARDINGS_IN_DICTS) return set_in_dict(ir, &list, value->index, attr);
  if (list.kind == TSR_SHARDINGS_SINGLE) return tsr_sharding_list_write(ir, &list, &attr);
  return set_listed(ir, &list, value->index, attr);
}

tsr_status tsr_func_result_sharding_set(tsr_ir *ir, tsr_op *func, int index, const tsr_attr *attr) {
  const tsr_sharding_list list = tsr_sharding_list_of_results(func);
  return set_in_dict(ir, &list, index, attr);
}
