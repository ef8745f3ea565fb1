// Scan: a loop over the leading dimension of its inputs, written as JAX writes it: a while op that
// carries a counter, the carries and the outputs, reads slices of the inputs and writes slices of
// the outputs.
//
// The types of the outputs are known when the body is built, so the loop grows while it is made:
// the body first, with counter and carries; then one more argument, operand and result for each
// output, and the condition last.
#include "base/sized.h"
#include "builder/builder_internal.h"

typedef struct scan_loop {
  tsr_builder *builder;
  const tsr_node *inputs;
  int carry_count, input_count, output_count;
  tsr_build_fn *body;
  void *context;
  int64_t length;
  bool reverse;
  tsr_op *op;
  tsr_node zero;   // i32, outside of the loop
  tsr_node index;  // of this step, inside
  tsr_node next;   // the counter of the next step
  tsr_node *step;  // the body's new carries, then slices of outputs
} scan_loop;

// ---- before the loop ----

static tsr_status find_length(scan_loop *loop, int64_t wanted) {
  loop->length = wanted;
  for (int i = 0; i < loop->input_count; i++) {
    const tsr_type *type = tsr_builder_tensor(loop->builder, loop->inputs[i], i);
    if (!type) return NULL;
    const int64_t size = type->rank ? type->dims[0] : 0;
    if (type->rank == 0) return tsr_fail(CONSTRAINT, "input %d is a scalar", i);
    if (loop->length && size != loop->length)
      return tsr_fail(CONSTRAINT, "input %d has %lld steps, expected %lld", i, (long long)size,
                      (long long)loop->length);
    loop->length = size;
  }
  if (loop->length < 1 || loop->length > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "%lld steps, expected 1 to %d", (long long)loop->length,
                    (int)INT32_MAX);
  return NULL;
}

static tsr_status create_loop(scan_loop *loop, const tsr_node *carries,
                              const tsr_type ***out_types) {
  tsr_builder *builder = loop->builder;
  const int count = 1 + loop->carry_count;
  tsr_value **values = tsr_ir_alloc(builder->ir, sizeof *values * (size_t)count);
  const tsr_type **types = tsr_ir_alloc(builder->ir, sizeof *types * (size_t)count);
  TSR_NEED(values && types ? values : NULL);
  for (int i = 0; i < count; i++) {
    TSR_TRY(tsr_builder_value(builder, i ? carries[i - 1] : loop->zero, i ? i - 1 : 0, &values[i]));
    types[i] = values[i]->type;
  }
  const tsr_op_parts parts = {
      .id = TSR_OP_WHILE, .operand_count = count, .operands = values, .region_count = 2};
  loop->op = tsr_op_create(builder->ir, &parts);
  TSR_NEED(loop->op);
  tsr_op_append(builder->open->block, loop->op);
  *out_types = types;
  return NULL;
}

// ---- the body ----

// x[index], without the leading dimension.
static tsr_node slice_of(const scan_loop *loop, tsr_node x) {
  tsr_node starts[TSR_MAX_RANK];
  tsr_shape sizes = tsr_build_shape_of(loop->builder, x);
  for (int i = 0; i < sizes.rank; i++) starts[i] = i ? loop->zero : loop->index;
  sizes.dims[0] = 1;
  return tsr_build_squeeze(loop->builder, tsr_build_dynamic_slice(loop->builder, x, starts, &sizes),
                           0);
}

// The counter counts up; a reverse loop reads and writes from the end.
static void build_step(tsr_builder *builder, const tsr_node *args, tsr_node *results,
                       void *context) {
  scan_loop *loop = context;
  loop->index = args[0];
  if (loop->reverse) {
    const tsr_node last = tsr_build_scalar(builder, TSR_I32, (double)(loop->length - 1));
    loop->index = tsr_build_subtract(builder, last, args[0]);
  }
  const int carries = loop->carry_count;
  const size_t bytes = sizeof(tsr_node) * (size_t)(carries + loop->input_count + 1);
  tsr_node *given = tsr_ir_alloc(builder->ir, bytes);
  if (!given) {
    (void)tsr_builder_keep(builder, tsr_fail(NO_MEMORY, "memory of a program"));
    return;
  }
  for (int i = 0; i < carries; i++) given[i] = args[1 + i];
  for (int i = 0; i < loop->input_count; i++) given[carries + i] = slice_of(loop, loop->inputs[i]);
  tsr_builder_run(builder, loop->body, given, results, loop->context);
  const tsr_node one = tsr_build_scalar(builder, TSR_I32, 1);
  loop->next = tsr_build_add(builder, args[0], one);
}

static tsr_status check_step(const scan_loop *loop, const tsr_type *const *types) {
  for (int i = 0; i < loop->carry_count; i++) {
    tsr_value *value = NULL;
    TSR_TRY_NOTE(tsr_builder_value(loop->builder, loop->step[i], i, &value), "results of the body");
    if (value->type != types[1 + i])
      return tsr_note(
          tsr_fail_types(CONSTRAINT, "the body makes and gets", value->type, types[1 + i]),
          "carry %d", i);
  }
  return NULL;
}

static tsr_status build_body(scan_loop *loop, const tsr_type *const *types, tsr_ir_block **out) {
  tsr_builder *builder = loop->builder;
  tsr_ir_block *block = tsr_block_append(builder->ir, &loop->op->regions[1]);
  TSR_NEED(block);
  const int count = loop->carry_count + loop->output_count;
  loop->step = tsr_ir_alloc(builder->ir, sizeof *loop->step * (size_t)(count + 1));
  TSR_NEED(loop->step);
  const tsr_builder_region region = {.build = build_step,
                                     .context = loop,
                                     .args = types,
                                     .arg_count = 1 + loop->carry_count,
                                     .result_count = count,
                                     .own = true};
  *out = block;
  return tsr_builder_fill(builder, block, &region, TSR_OP_UNKNOWN, loop->step);
}

// ---- the outputs ----

// Zeros for all steps, made before the loop.
static tsr_node make_buffer(const scan_loop *loop, tsr_node slice) {
  tsr_builder *builder = loop->builder;
  const tsr_shape one = tsr_build_shape_of(builder, slice);
  tsr_shape all = {.rank = one.rank + 1, .dims = {loop->length}};
  if (all.rank > TSR_MAX_RANK) all.rank = TSR_MAX_RANK + 1;  // refused as a shape
  for (int i = 1; i < all.rank && i < TSR_MAX_RANK; i++) all.dims[i] = one.dims[i - 1];
  const tsr_node zeros = tsr_build_splat(builder, tsr_build_dtype_of(builder, slice), &all, 0);
  if (builder->failure) return TSR_NO_NODE;
  tsr_op *op = builder->values[zeros.id - 1]->def;
  tsr_op_unlink(op);
  tsr_op_insert_before(loop->op, op);
  return zeros;
}

static tsr_node update(const scan_loop *loop, tsr_node buffer, tsr_node slice) {
  tsr_builder *builder = loop->builder;
  tsr_node starts[TSR_MAX_RANK];
  tsr_shape shape = tsr_build_shape_of(builder, buffer);
  for (int i = 0; i < shape.rank; i++) starts[i] = i ? loop->zero : loop->index;
  if (shape.rank) shape.dims[0] = 1;
  return tsr_build_dynamic_update(builder, buffer, tsr_build_reshape(builder, slice, &shape),
                                  starts);
}

// One more operand of the loop and argument of its body; `*slice` becomes the new buffer.
static tsr_status add_output(scan_loop *loop, tsr_ir_block *body, tsr_value **operand,
                             tsr_node *slice) {
  tsr_builder *builder = loop->builder;
  tsr_ir_block *outside = builder->open->block;
  builder->open->block = body;
  const tsr_type *type = tsr_builder_tensor(builder, *slice, loop->carry_count);
  builder->open->block = outside;
  const tsr_node buffer = type ? make_buffer(loop, *slice) : TSR_NO_NODE;
  if (builder->failure) return NULL;
  *operand = builder->values[buffer.id - 1];
  tsr_value *arg = tsr_block_add_arg(builder->ir, body, (*operand)->type, NULL);
  TSR_NEED(arg);
  const tsr_node inside = tsr_builder_add_value(builder, arg);
  builder->open->block = body;
  *slice = update(loop, inside, *slice);
  builder->open->block = outside;
  return NULL;
}

static tsr_status add_outputs(scan_loop *loop, tsr_ir_block *body) {
  tsr_builder *builder = loop->builder;
  const int before = 1 + loop->carry_count, count = before + loop->output_count;
  tsr_value **operands = tsr_ir_alloc(builder->ir, sizeof *operands * (size_t)count);
  TSR_NEED(operands);
  for (int i = 0; i < before; i++) operands[i] = tsr_op_operand(loop->op, i);
  for (int i = 0; i < loop->output_count && !builder->failure; i++)
    TSR_TRY_NOTE(add_output(loop, body, &operands[before + i], &loop->step[loop->carry_count + i]),
                 "output %d", i);
  if (builder->failure) return NULL;
  TSR_NEED(tsr_op_set_operands(builder->ir, loop->op, operands, count) ? operands : NULL);
  return NULL;
}

// ---- the end ----

static tsr_status end_body(scan_loop *loop, tsr_ir_block *body) {
  tsr_builder *builder = loop->builder;
  const int count = loop->carry_count + loop->output_count;
  tsr_node *all = tsr_ir_alloc(builder->ir, sizeof *all * (size_t)(count + 1));
  TSR_NEED(all);
  all[0] = loop->next;
  for (int i = 0; i < count; i++) all[1 + i] = loop->step[i];
  tsr_ir_block *outside = builder->open->block;
  builder->open->block = body;
  const tsr_status status = tsr_builder_terminate(builder, body, TSR_OP_RETURN, all, count + 1);
  builder->open->block = outside;
  return status;
}

static void build_condition(tsr_builder *builder, const tsr_node *args, tsr_node *results,
                            void *context) {
  const scan_loop *loop = context;
  const tsr_node length = tsr_build_scalar(builder, TSR_I32, (double)loop->length);
  results[0] = tsr_build_compare(builder, "LT", args[0], length);
}

static tsr_status add_condition(scan_loop *loop, const tsr_ir_block *body) {
  tsr_builder *builder = loop->builder;
  const tsr_type **types = tsr_ir_alloc(builder->ir, sizeof *types * (size_t)(body->arg_count + 1));
  tsr_ir_block *block = tsr_block_append(builder->ir, &loop->op->regions[0]);
  TSR_NEED(types && block ? types : NULL);
  for (int i = 0; i < body->arg_count; i++) types[i] = body->args[i]->type;
  const tsr_builder_region region = {.build = build_condition,
                                     .context = loop,
                                     .args = types,
                                     .arg_count = body->arg_count,
                                     .result_count = 1,
                                     .own = true};
  return tsr_builder_fill(builder, block, &region, TSR_OP_RETURN, NULL);
}

static tsr_status build_loop(scan_loop *loop, const tsr_node *carries) {
  tsr_builder *builder = loop->builder;
  const tsr_type **types = NULL;
  tsr_ir_block *body = NULL;
  TSR_TRY(create_loop(loop, carries, &types));
  TSR_TRY(build_body(loop, types, &body));
  if (builder->failure) return NULL;
  tsr_ir_block *outside = builder->open->block;
  builder->open->block = body;
  const tsr_status status = check_step(loop, types);
  builder->open->block = outside;
  TSR_TRY(status);
  TSR_TRY(add_outputs(loop, body));
  if (builder->failure) return NULL;
  TSR_TRY(end_body(loop, body));
  TSR_TRY(add_condition(loop, body));
  const tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_WHILE, NULL, 0);
  return builder->failure ? NULL : tsr_builder_add_results(&draft, loop->op);
}

static void scan(scan_loop *loop, const tsr_node *carries, const tsr_scan_options *given,
                 tsr_node *out_results) {
  tsr_builder *builder = loop->builder;
  tsr_scan_options options;
  if (!tsr_builder_keep(builder, tsr_sized_read(tsr_scan_options, given, &options)) ||
      !tsr_builder_given(builder, "carries", carries, loop->carry_count, 0) ||
      !tsr_builder_given(builder, "inputs", loop->inputs, loop->input_count, 0) ||
      !tsr_builder_keep(builder, find_length(loop, options.length)))
    return;
  loop->reverse = options.reverse;
  loop->zero = tsr_build_scalar(builder, TSR_I32, 0);
  if (builder->failure || !tsr_builder_keep(builder, build_loop(loop, carries)) || !loop->op)
    return;
  for (int i = 1; i < loop->op->result_count; i++)
    out_results[i - 1] = tsr_builder_add_value(builder, &loop->op->results[i]);
}

void tsr_build_scan(tsr_builder *builder, const tsr_node *carries, int carry_count,
                    const tsr_node *inputs, int input_count, int output_count, tsr_build_fn *body,
                    void *context, const tsr_scan_options *options, tsr_node *out_results) {
  const bool counts = carry_count >= 0 && output_count >= 0 && output_count <= TSR_BUILDER_LIST &&
                      carry_count <= TSR_BUILDER_LIST;
  const int count = counts ? carry_count + output_count : -1;
  if (!tsr_builder_enter_all(builder, "scan", out_results, count)) return;
  scan_loop loop = {.builder = builder,
                    .inputs = inputs,
                    .carry_count = carry_count,
                    .input_count = input_count,
                    .output_count = output_count,
                    .body = body,
                    .context = context};
  scan(&loop, carries, options, out_results);
  tsr_builder_leave_all(builder, out_results, count);
}
