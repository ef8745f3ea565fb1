// The program as lists: every op that runs on its own, every value with what a device holds of it.
//
// Bodies of reductions, sorts and scatters are part of their op: they are scalar code.
#include <string.h>

#include "base/arithmetic.h"
#include "preflight/preflight.h"

// ---- what a device holds ----

int64_t tsr_flight_local_dim(const tsr_flight_value *value, int dim) {
  const int64_t size = value->value->type->dims[dim];
  if (!value->sharding || dim >= value->sharding->rank) return size;
  const int64_t shards = tsr_parts_size(&value->sharding->dims[dim].axes);
  return size / shards + (size % shards != 0);
}

int64_t tsr_flight_local_count(const tsr_flight_value *value) {
  int64_t count = 1;
  if (value->value->type->kind != TSR_TYPE_TENSOR) return 0;
  for (int i = 0; i < value->value->type->rank; i++)
    count = tsr_saturated_multiply(count, tsr_flight_local_dim(value, i));
  return count;
}

// A bool takes a byte, other narrow types are packed.
static int64_t element_bits(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  if (element->kind == TSR_TYPE_COMPLEX) return 2 * tsr_type_bits(element->element);
  if (element->kind == TSR_TYPE_QUANT) return tsr_type_bits(element->quant->storage);
  if (element->kind != TSR_TYPE_INTEGER && element->kind != TSR_TYPE_FLOAT) return 64;
  return element->dtype == TSR_BOOL ? 8 : tsr_type_bits(element);
}

static int64_t local_bytes(const tsr_flight_value *value) {
  const int64_t count = tsr_flight_local_count(value);
  const int64_t bits = count ? element_bits(value->value->type) : 0;
  const int64_t all = tsr_saturated_multiply(count, bits);
  return all == INT64_MAX ? INT64_MAX / 8 : all / 8 + (all % 8 != 0);
}

// ---- lists ----

static bool runs_regions(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_MODULE:
    case TSR_OP_FUNC:
    case TSR_OP_IF:
    case TSR_OP_ASYNC_START:
      return true;
    default:
      return tsr_is_data_flow_op(op->info->id);
  }
}

static tsr_status add_value(tsr_preflight *flight, tsr_value *value) {
  tsr_flight_value *values =
      tsr_arena_grow(&flight->arena, flight->values, flight->value_count, sizeof *values);
  TSR_NEED(values);
  flight->values = values;
  tsr_flight_value *row = &values[flight->value_count++];
  *row = (tsr_flight_value){.value = value, .sharding = tsr_sharding_of(&flight->table, value)};
  row->bytes = local_bytes(row);
  return NULL;
}

static tsr_status add_op(tsr_preflight *flight, tsr_op *op, int64_t parent, int64_t function) {
  tsr_flight_op *ops = tsr_arena_grow(&flight->arena, flight->ops, flight->op_count, sizeof *ops);
  TSR_NEED(ops);
  flight->ops = ops;
  const int64_t own = flight->op_count++;
  if (op->info->id == TSR_OP_FUNC) function = own;
  ops[own] = (tsr_flight_op){
      .op = op, .parent = parent, .function = function, .trips = 1, .scope = -1, .reshard = -1};
  for (int i = 0; i < op->result_count; i++) TSR_TRY(add_value(flight, tsr_op_result(op, i)));
  if (!runs_regions(op)) return NULL;
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next) {
      for (int a = 0; a < block->arg_count; a++) TSR_TRY(add_value(flight, block->args[a]));
      for (tsr_op *inner = block->first; inner; inner = inner->next)
        TSR_TRY(add_op(flight, inner, own, function));
    }
  return NULL;
}

// From here on marks are those of the lists. The table's shardings are read, its slots are not.
static tsr_status mark_all(tsr_preflight *flight) {
  tsr_block_marks_clear(flight->ir->module->regions[0].first);
  for (int64_t i = 0; i < flight->op_count; i++) flight->ops[i].op->mark = (uint32_t)i + 1;
  for (int64_t i = 0; i < flight->value_count; i++) flight->values[i].value->mark = (uint32_t)i + 1;
  return NULL;
}

tsr_status tsr_flight_flatten(tsr_preflight *flight) {
  const tsr_ir_block *body = flight->ir->module->regions[0].first;
  TSR_TRY(tsr_sharding_table_init(flight->ir, &flight->table));
  for (tsr_op *op = body->first; op; op = op->next)
    if (op->info->id == TSR_OP_FUNC) TSR_TRY(add_op(flight, op, -1, flight->op_count));
  TSR_TRY(mark_all(flight));
  const tsr_op *entry = tsr_ir_entry(flight->ir);
  if (!entry || !tsr_func_body(entry))
    return tsr_fail(NOT_FOUND, "the program has no function @main with a body");
  flight->entry = tsr_flight_index(entry);
  return NULL;
}
