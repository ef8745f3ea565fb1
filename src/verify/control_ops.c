// Control flow, values that are not tensors, and transfers: if, case, while, async_start and
// async_done, tuples, send, recv, infeed, outfeed, ids of processes.
#include "verify/group_checks.h"
#include "verify/region_checks.h"

// The return of the only block of a region; its operands are what the region gives.
tsr_status tsr_region_return(const tsr_op *op, int region, const char *constraint,
                             const tsr_op **out_return) {
  const tsr_ir_block *block = tsr_only_block(op, region);
  TSR_ASK(block, op, constraint, "region %d has %d blocks, expected 1", region,
          op->regions[region].block_count);
  const tsr_op *end = tsr_block_terminator(block);
  TSR_ASK(end && end->info->id == TSR_OP_RETURN, op, constraint,
          "region %d does not end with stablehlo.return", region);
  *out_return = end;
  return NULL;
}

// ---- if and case

typedef struct branch_rules {
  const char *inputs, *outputs, *results;
} branch_rules;

static const branch_rules if_rules = {"C1", "C2", "C3"}, case_rules = {"C2", "C3", "C4"};

static tsr_status check_branch(const tsr_op *op, const branch_rules *rules, int index) {
  const tsr_op *first = NULL, *end = NULL;
  TSR_TRY(tsr_region_return(op, 0, rules->outputs, &first));
  TSR_TRY(tsr_region_return(op, index, rules->outputs, &end));
  TSR_ASK(end->block->arg_count == 0, op, rules->inputs,
          "branch %d has %d arguments, expected none", index, end->block->arg_count);
  TSR_ASK(end->operand_count == first->operand_count, op, rules->outputs,
          "branch %d returns %d values, expected %d as branch 0", index, end->operand_count,
          first->operand_count);
  for (int i = 0; i < end->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(end, i), *wanted = tsr_operand_type(first, i);
    TSR_ASK(tsr_types_match(type, wanted), op, rules->outputs,
            "branch %d returns %s at %d, expected %s as branch 0", index, SHOW_TYPE(type), i,
            SHOW_TYPE(wanted));
  }
  return NULL;
}

static tsr_status check_branches(const tsr_op *op, const branch_rules *rules) {
  for (int i = 0; i < op->region_count; i++) TSR_TRY(check_branch(op, rules, i));
  return NULL;
}

// The least specific type that the branches return at `index`.
static tsr_status infer_branch_result(tsr_ir *ir, const tsr_op *op, const branch_rules *rules,
                                      int index, tsr_result_types *out) {
  tsr_result_types types = {.ir = ir};
  const tsr_type *merged = NULL;
  for (int i = 0; i < op->region_count; i++) {
    const tsr_op *end = tsr_block_terminator(op->regions[i].first);
    TSR_TRY(tsr_results_add(&types, tsr_operand_type(end, index)));
  }
  TSR_TRY(tsr_merge_types(ir, op, rules->results, types.types, types.count, true, &merged));
  return tsr_results_add(out, merged);
}

static tsr_status infer_branches(tsr_ir *ir, const tsr_op *op, const branch_rules *rules,
                                 tsr_result_types *out) {
  const tsr_op *end = tsr_block_terminator(op->regions[0].first);
  for (int i = 0; i < end->operand_count; i++) TSR_TRY(infer_branch_result(ir, op, rules, i, out));
  return NULL;
}

tsr_status tsr_verify_if(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_branches(op, &if_rules);
}

tsr_status tsr_infer_if(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_branches(ir, op, &if_rules, out);
}

tsr_status tsr_verify_case(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *index = tsr_operand_type(op, 0);
  (void)ir;
  TSR_ASK(tsr_is_scalar(index) && index->dtype == TSR_I32, op, "I1",
          "index is %s, expected tensor<i32>", SHOW_TYPE(index));
  TSR_ASK(op->region_count > 0, op, "C1", "there are no branches");
  return check_branches(op, &case_rules);
}

tsr_status tsr_infer_case(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_branches(ir, op, &case_rules, out);
}

// ---- while

static tsr_status check_loop_args(const tsr_op *op, int region, const char *constraint) {
  const tsr_ir_block *block = op->regions[region].first;
  TSR_ASK(block->arg_count == op->operand_count, op, constraint,
          "region %d has %d arguments, expected %d as there are operands", region, block->arg_count,
          op->operand_count);
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_type *type = block->args[i]->type, *wanted = tsr_operand_type(op, i);
    TSR_ASK(tsr_types_match(type, wanted), op, constraint,
            "argument %d of region %d is %s, expected %s as the operand", i, region,
            SHOW_TYPE(type), SHOW_TYPE(wanted));
  }
  return NULL;
}

static tsr_status check_condition(const tsr_op *op) {
  const tsr_op *end = NULL;
  TSR_TRY(tsr_region_return(op, 0, "C1", &end));
  TSR_TRY(check_loop_args(op, 0, "C1"));
  TSR_ASK(end->operand_count == 1, op, "C1", "cond returns %d values, expected 1",
          end->operand_count);
  const tsr_type *type = tsr_operand_type(end, 0);
  TSR_ASK(tsr_is_scalar(type) && tsr_is_pred(type), op, "C1",
          "cond returns %s, expected tensor<i1>", SHOW_TYPE(type));
  return NULL;
}

tsr_status tsr_verify_while(tsr_ir *ir, const tsr_op *op) {
  const tsr_op *end = NULL;
  (void)ir;
  TSR_TRY(check_condition(op));
  TSR_TRY(tsr_region_return(op, 1, "C2", &end));
  TSR_TRY(check_loop_args(op, 1, "C2"));
  TSR_ASK(end->operand_count == op->operand_count, op, "C2",
          "body returns %d values, expected %d as there are operands", end->operand_count,
          op->operand_count);
  for (int i = 0; i < end->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(end, i), *wanted = tsr_operand_type(op, i);
    TSR_ASK(tsr_types_match(type, wanted), op, "C2",
            "body returns %s at %d, expected %s as the operand", SHOW_TYPE(type), i,
            SHOW_TYPE(wanted));
  }
  return NULL;
}

tsr_status tsr_infer_operand_types(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(tsr_results_add(out, tsr_operand_type(op, i)));
  return NULL;
}

// ---- async

static bool may_be_async(tsr_op_id id) {
  static const tsr_op_id ids[] = {TSR_OP_ALL_GATHER,           TSR_OP_ALL_REDUCE,
                                  TSR_OP_ALL_TO_ALL,           TSR_OP_COLLECTIVE_PERMUTE,
                                  TSR_OP_COLLECTIVE_BROADCAST, TSR_OP_COLLECTIVE_REDUCE,
                                  TSR_OP_DYNAMIC_SLICE,        TSR_OP_DYNAMIC_UPDATE_SLICE,
                                  TSR_OP_REDUCE_SCATTER,       TSR_OP_SLICE};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    if (ids[i] == id) return true;
  return false;
}

tsr_status tsr_verify_async_start(tsr_ir *ir, const tsr_op *op) {
  const tsr_op *end = NULL;
  (void)ir;
  TSR_TRY(tsr_region_return(op, 0, "C1", &end));
  const tsr_ir_block *block = end->block;
  TSR_ASK(block->first != end && block->first->next == end, op, "C1",
          "body does not have a single op and a return");
  TSR_ASK(may_be_async(block->first->info->id), op, "C2",
          "body has %s, expected a collective or a slice", block->first->name);
  TSR_ASK(block->arg_count == op->operand_count, op, "C3",
          "body has %d arguments, expected %d as there are operands", block->arg_count,
          op->operand_count);
  for (int i = 0; i < block->arg_count; i++) {
    const tsr_type *type = block->args[i]->type, *wanted = tsr_operand_type(op, i);
    TSR_ASK(type == wanted, op, "C3", "argument %d of body is %s, expected %s", i, SHOW_TYPE(type),
            SHOW_TYPE(wanted));
  }
  TSR_ASK(end->operand_count == 1, op, "C4", "body returns %d values, expected 1",
          end->operand_count);
  return NULL;
}

tsr_status tsr_infer_async_start(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_op *end = tsr_block_terminator(op->regions[0].first);
  const tsr_type *type = tsr_operand_type(end, 0);
  return tsr_results_add(out, tsr_type_tuple(ir, TSR_TYPE_FUTURE, &type, 1));
}

tsr_status tsr_verify_async_done(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  (void)ir;
  TSR_ASK(type->kind == TSR_TYPE_FUTURE && type->count == 1, op, "I1",
          "operand is %s, expected a future of one type", SHOW_TYPE(type));
  return NULL;
}

tsr_status tsr_infer_async_done(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  return tsr_results_add(out, tsr_operand_type(op, 0)->types[0]);
}

// ---- tuples

tsr_status tsr_infer_tuple(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  tsr_result_types types = {.ir = ir};
  TSR_TRY(tsr_infer_operand_types(ir, op, &types));
  return tsr_results_add(out, tsr_type_tuple(ir, TSR_TYPE_TUPLE, types.types, types.count));
}

tsr_status tsr_verify_get_tuple_element(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const int64_t index = tsr_op_int(op, "index", 0);
  (void)ir;
  TSR_ASK(type->kind == TSR_TYPE_TUPLE, op, "I1", "operand is %s, expected a tuple",
          SHOW_TYPE(type));
  TSR_ASK(index >= 0 && index < type->count, op, "C1",
          "index is %lld, expected 0 or more and less than %d, the size of the tuple",
          (long long)index, type->count);
  return NULL;
}

tsr_status tsr_infer_get_tuple_element(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  return tsr_results_add(out, tsr_operand_type(op, 0)->types[tsr_op_int(op, "index", 0)]);
}

// ---- transfers

// The types of a channel.
enum { DEVICE_TO_DEVICE = 1, DEVICE_TO_HOST = 2, HOST_TO_DEVICE = 3 };

// All but the last operand are tensors; the last is a token.
static tsr_status check_inputs(const tsr_op *op) {
  const int last = op->operand_count - 1;
  for (int i = 0; i <= last; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    const unsigned wanted = i == last ? TSR_TOKEN : TSR_TENSOR_AXIS;
    TSR_ASK(tsr_type_fits(type, wanted), op, i == last ? "I2" : "I1",
            "operand %d is %s, expected a %s", i, SHOW_TYPE(type), i == last ? "token" : "tensor");
  }
  return NULL;
}

static tsr_status check_outputs(const tsr_op *op, const char *some, const char *tensors,
                                const char *token) {
  const int last = op->result_count - 1;
  TSR_ASK(last >= 0, op, some, "there are no results, expected a token");
  for (int i = 0; i < last; i++) {
    const tsr_type *type = tsr_op_result(op, i)->type;
    TSR_ASK(tsr_type_fits(type, TSR_TENSOR_AXIS | TSR_STATIC), op, tensors,
            "result %d is %s, expected a tensor of known shape", i, SHOW_TYPE(type));
  }
  const tsr_type *type = tsr_op_result(op, last)->type;
  TSR_ASK(type->kind == TSR_TYPE_TOKEN, op, token, "the last result is %s, expected a token",
          SHOW_TYPE(type));
  return NULL;
}

static tsr_status check_channel(const tsr_op *op, const char *constraint, int64_t host_type) {
  const bool host = tsr_op_flag(op, "is_host_transfer");
  const int64_t wanted = host ? host_type : DEVICE_TO_DEVICE;
  const int64_t type = tsr_record_int(tsr_op_attr(op, "channel_handle"), TSR_CHANNEL_TYPE);
  const tsr_attr *pairs = tsr_op_attr(op, "source_target_pairs");
  TSR_ASK(type == wanted, op, constraint,
          "channel_type is %lld, expected %lld as is_host_transfer is %s", (long long)type,
          (long long)wanted, host ? "true" : "false");
  return pairs ? tsr_check_pairs(op, pairs) : NULL;
}

tsr_status tsr_verify_send(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_inputs(op));
  return check_channel(op, "C5", DEVICE_TO_HOST);
}

tsr_status tsr_verify_recv(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  TSR_TRY(check_channel(op, "C5", HOST_TO_DEVICE));
  return check_outputs(op, "C2", "C3", "C4");
}

tsr_status tsr_verify_outfeed(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_inputs(op);
}

tsr_status tsr_infer_token(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)op;
  return tsr_results_add(out, tsr_type_simple(ir, TSR_TYPE_TOKEN));
}

static tsr_status check_layout(const tsr_op *op, const tsr_attr *layout) {
  TSR_ASK(layout->count == op->result_count - 1, op, "C2",
          "layout has %lld entries, expected %d, one for each tensor", (long long)layout->count,
          op->result_count - 1);
  for (int64_t i = 0; i < layout->count; i++) {
    const tsr_attr *dims = layout->items[i];
    TSR_ASK(dims->kind == TSR_ATTR_ARRAY, op, "C2", "layout %lld is %s, expected an array",
            (long long)i, SHOW_ATTR(dims));
    for (int64_t j = 0; j < dims->count; j++)
      TSR_ASK(dims->items[j]->kind == TSR_ATTR_INTEGER, op, "C2",
              "layout %lld has %s, expected integers", (long long)i, SHOW_ATTR(dims->items[j]));
  }
  return NULL;
}

tsr_status tsr_verify_infeed(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *layout = tsr_op_attr(op, "layout");
  (void)ir;
  TSR_TRY(check_outputs(op, "C1", "C2", "C3"));
  return layout ? check_layout(op, layout) : NULL;
}

tsr_status tsr_infer_process_id(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)op;
  return tsr_results_add(out, tsr_type_shaped(ir, TSR_U32, 0, NULL));
}
