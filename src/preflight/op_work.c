// What each op computes and what it reads and writes, on one device.
//
// Products and convolutions, reductions and elementwise ops are counted by their local shapes. A
// compiler fuses elementwise ops: a value that only such ops make and read takes no memory and no
// traffic. Every other value is written once, and read once by each op that is not fused and once
// by all fused ops together. An op takes the longer of computing and moving.
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"

// ---- what is fused ----

static bool is_fused(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_CONSTANT:
    case TSR_OP_SDY_CONSTANT:
    case TSR_OP_IOTA:
    case TSR_OP_BROADCAST:
    case TSR_OP_BROADCAST_IN_DIM:
    case TSR_OP_RESHAPE:
    case TSR_OP_BITCAST_CONVERT:
    case TSR_OP_SLICE:
    case TSR_OP_PAD:
    case TSR_OP_REVERSE:
    case TSR_OP_TRANSPOSE:
    case TSR_OP_CONCATENATE:
    case TSR_OP_DYNAMIC_SLICE:
    case TSR_OP_SDY_ALL_SLICE:
      return true;
    default:
      return (op->info->traits & TSR_TRAIT_ELEMENTWISE) && !tsr_flight_is_collective(op);
  }
}

// Reads like a fused op, but writes its result.
static bool ends_fusion(const tsr_op *op) {
  return op->info->id == TSR_OP_REDUCE || op->info->id == TSR_OP_DYNAMIC_UPDATE_SLICE;
}

// The op in the list that a use belongs to: bodies of reductions stand for their op.
static const tsr_op *user_of(const tsr_use *use) {
  const tsr_op *op = use->user;
  while (op && !op->mark) op = tsr_op_parent(op);
  return op;
}

static bool is_stored(const tsr_flight_value *value) {
  const tsr_op *def = value->value->def;
  const tsr_op_id id = def ? def->info->id : TSR_OP_UNKNOWN;
  if (!def || !is_fused(def)) return true;
  if (id == TSR_OP_CONSTANT || id == TSR_OP_SDY_CONSTANT || id == TSR_OP_IOTA) return false;
  for (const tsr_use *use = value->value->uses; use; use = use->next) {
    const tsr_op *user = user_of(use);
    if (user && !is_fused(user) && !ends_fusion(user)) return true;
  }
  return false;
}

// ---- arithmetic ----

static double elements(const tsr_preflight *flight, const tsr_value *value) {
  return (double)tsr_flight_local_count(tsr_flight_value_of(flight, value));
}

static double listed_size(const tsr_flight_value *value, const tsr_attr *dims) {
  double size = 1;
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    size *= (double)tsr_flight_local_dim(value, (int)tsr_attr_int_at(dims, i));
  return size;
}

static double dot_flops(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dot_dimension_numbers");
  const tsr_flight_value *left = tsr_flight_value_of(flight, tsr_op_operand(op, 0));
  const tsr_attr *dims = numbers && numbers->kind == TSR_ATTR_RECORD
                             ? tsr_attr_field(numbers, TSR_DOT_LHS_CONTRACTING)
                             : NULL;
  const int rank = left->value->type->rank;
  const double inner = dims   ? listed_size(left, dims)
                       : rank ? (double)tsr_flight_local_dim(left, rank - 1)
                              : 1;
  return 2 * elements(flight, tsr_op_result(op, 0)) * inner;
}

// Each output element takes the kernel's elements of one output feature.
static double conv_flops(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_flight_value *kernel = tsr_flight_value_of(flight, tsr_op_operand(op, 1));
  const tsr_attr *feature = numbers && numbers->kind == TSR_ATTR_RECORD
                                ? tsr_attr_field(numbers, TSR_CONV_KERNEL_OUTPUT_FEATURE)
                                : NULL;
  const double features = feature ? (double)tsr_flight_local_dim(kernel, (int)feature->integer) : 1;
  const double all = (double)tsr_flight_local_count(kernel);
  return 2 * elements(flight, tsr_op_result(op, 0)) * (features > 0 ? all / features : all);
}

static bool is_product(tsr_op_id id) {
  return id == TSR_OP_DOT || id == TSR_OP_DOT_GENERAL || id == TSR_OP_EINSUM ||
         id == TSR_OP_CONVOLUTION || id == TSR_OP_CHLO_RAGGED_DOT;
}

static bool moves_only(tsr_op_id id) {
  return id == TSR_OP_CONSTANT || id == TSR_OP_SDY_CONSTANT || id == TSR_OP_IOTA ||
         id == TSR_OP_CONVERT || id == TSR_OP_SDY_RESHARD || id == TSR_OP_SDY_SHARDING_CONSTRAINT;
}

static double flops_of(const tsr_preflight *flight, const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_DOT:
    case TSR_OP_DOT_GENERAL:
    case TSR_OP_CHLO_RAGGED_DOT:
      return dot_flops(flight, op);
    case TSR_OP_CONVOLUTION:
      return conv_flops(flight, op);
    case TSR_OP_REDUCE:
    case TSR_OP_REDUCE_WINDOW:
    case TSR_OP_SORT:
      return op->operand_count ? elements(flight, tsr_op_operand(op, 0)) : 0;
    default:
      if (!(op->info->traits & TSR_TRAIT_ELEMENTWISE) || moves_only(op->info->id)) return 0;
      return op->result_count && !tsr_flight_is_collective(op)
                 ? elements(flight, tsr_op_result(op, 0))
                 : 0;
  }
}

// ---- time ----

static double peak_of(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_flight_device *device = &flight->device;
  if (!is_product(op->info->id) || !op->operand_count) return device->vector;
  const size_t bytes = tsr_type_element_bytes(tsr_type_element(tsr_operand_type(op, 0)));
  return device->flops[bytes <= 1 ? 0 : bytes <= 2 ? 1 : bytes <= 4 ? 2 : 3];
}

// Ops that only lead to others, and views, cost nothing themselves.
static bool is_free(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_FUNC:
    case TSR_OP_CALL:
    case TSR_OP_WHILE:
    case TSR_OP_CASE:
    case TSR_OP_IF:
    case TSR_OP_OPTIMIZATION_BARRIER:
    case TSR_OP_SDY_MANUAL_COMPUTATION:
    case TSR_OP_SDY_NAMED_COMPUTATION:
    case TSR_OP_GET_TUPLE_ELEMENT:
    case TSR_OP_TUPLE:
      return true;
    default:
      return (op->info->traits & TSR_TRAIT_TERMINATES) != 0;
  }
}

// A slice is read, not the whole that it is cut from; an update writes only its part.
static double read_bytes(const tsr_preflight *flight, const tsr_op *op, int operand) {
  const tsr_op_id id = op->info->id;
  if (operand == 0 && (id == TSR_OP_DYNAMIC_SLICE || id == TSR_OP_SLICE || id == TSR_OP_GATHER))
    return (double)tsr_flight_value_of(flight, tsr_op_result(op, 0))->bytes;
  if (operand == 0 && (id == TSR_OP_DYNAMIC_UPDATE_SLICE || id == TSR_OP_SCATTER)) return 0;
  return (double)tsr_flight_value_of(flight, tsr_op_operand(op, operand))->bytes;
}

static double written_bytes(const tsr_preflight *flight, const tsr_op *op, int result) {
  const tsr_op_id id = op->info->id;
  if (id == TSR_OP_DYNAMIC_UPDATE_SLICE)
    return (double)tsr_flight_value_of(flight, tsr_op_operand(op, 1))->bytes;
  return (double)tsr_flight_value_of(flight, tsr_op_result(op, result))->bytes;
}

// Of the fused users of a value in one block only the newest use counts.
static bool is_first_reader(const tsr_op *op, const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next) {
    const tsr_op *user = user_of(use);
    if (user == op) return true;
    if (user && (is_fused(user) || ends_fusion(user))) return false;
  }
  return true;
}

static double traffic_of(const tsr_preflight *flight, const tsr_op *op) {
  const bool fused = is_fused(op) || ends_fusion(op);
  double sum = 0;
  if (is_free(op)) return 0;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    if (!value->mark || !tsr_flight_value_of(flight, value)->stored) continue;
    if (!fused || is_first_reader(op, value)) sum += read_bytes(flight, op, i);
  }
  for (int i = 0; i < op->result_count; i++)
    if (tsr_flight_value_of(flight, tsr_op_result(op, i))->stored)
      sum += written_bytes(flight, op, i);
  return sum;
}

static void count_op(tsr_preflight *flight, tsr_flight_op *op) {
  const tsr_flight_device *device = &flight->device;
  op->flops = flops_of(flight, op->op);
  op->traffic = traffic_of(flight, op->op);
  flight->info.flops += op->flops * (double)op->times;
  flight->info.traffic += op->traffic * (double)op->times;
  if (op->reshard >= 0 && flight->reshards[op->reshard].cause != TSR_FLIGHT_BORDER) return;
  const double peak = peak_of(flight, op->op);
  const double compute = peak > 0 ? op->flops / peak : 0;
  const double move = device->bandwidth > 0 ? op->traffic / device->bandwidth : 0;
  op->seconds = compute > move ? compute : move;
  flight->info.compute_seconds += op->seconds * (double)op->times;
}

void tsr_flight_count_work(tsr_preflight *flight) {
  for (int64_t i = 0; i < flight->value_count; i++)
    flight->values[i].stored = is_stored(&flight->values[i]);
  for (int64_t i = 0; i < flight->op_count; i++)
    if (flight->ops[i].times) count_op(flight, &flight->ops[i]);
}
