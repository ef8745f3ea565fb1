// Ops are drafted, then added at the open place: operands resolved, regions built by the caller's
// functions, types of results inferred, the op checked. What an op asks of its operands is known
// to the room verify only; here a failure gets the number of the call.
#include <string.h>

#include "builder/builder_internal.h"
#include "verify/verify.h"

tsr_builder_op tsr_builder_draft(tsr_builder *builder, tsr_op_id id, const tsr_node *operands,
                                 int count) {
  return (tsr_builder_op){
      .builder = builder, .id = id, .operands = operands, .operand_count = count, .type_count = -1};
}

void tsr_builder_attr(tsr_builder_op *draft, const char *name, const tsr_attr *attr) {
  tsr_builder *builder = draft->builder;
  const char *key = tsr_ir_name(builder->ir, name, strlen(name));
  if (!key || !attr)
    (void)tsr_builder_keep(builder, tsr_fail(NO_MEMORY, "memory of a program"));
  else
    draft->attrs[draft->attr_count++] = (tsr_named_attr){key, attr};
}

void tsr_builder_ints(tsr_builder_op *draft, const char *name, const tsr_shape *list) {
  tsr_builder_attr(draft, name, tsr_attr_ints(draft->builder->ir, list->dims, list->rank));
}

void tsr_builder_int(tsr_builder_op *draft, const char *name, int64_t value) {
  tsr_builder_attr(draft, name, tsr_attr_i64(draft->builder->ir, value));
}

// ---- regions ----

tsr_status tsr_builder_terminate(tsr_builder *builder, tsr_ir_block *block, tsr_op_id id,
                                 const tsr_node *nodes, int count) {
  tsr_value **values = tsr_ir_alloc(builder->ir, sizeof *values * (size_t)(count + 1));
  TSR_NEED(values);
  for (int i = 0; i < count; i++)
    TSR_TRY_NOTE(tsr_builder_value(builder, nodes[i], i, &values[i]), "results of a region");
  tsr_op *op = tsr_op_create(builder->ir,
                             &(tsr_op_parts){.id = id, .operand_count = count, .operands = values});
  TSR_NEED(op);
  tsr_op_append(block, op);
  return NULL;
}

static tsr_status add_args(tsr_builder *builder, tsr_ir_block *block,
                           const tsr_builder_region *region, tsr_node *out_nodes) {
  for (int i = 0; i < region->arg_count; i++) {
    tsr_value *arg = tsr_block_add_arg(builder->ir, block, region->args[i], NULL);
    TSR_NEED(arg);
    out_nodes[i] = tsr_builder_add_value(builder, arg);
  }
  return NULL;
}

void tsr_builder_run(tsr_builder *builder, tsr_build_fn *build, const tsr_node *args,
                     tsr_node *results, void *context) {
  const tsr_builder_calls calls = builder->calls;
  builder->calls.depth = 0;
  if (!builder->failure) build(builder, args, results, context);
  builder->calls = calls;
}

static tsr_status fill(tsr_builder *builder, tsr_ir_block *block, const tsr_builder_region *region,
                       tsr_op_id terminator, tsr_node *results) {
  tsr_node *args = tsr_ir_alloc(builder->ir, sizeof *args * (size_t)(region->arg_count + 1));
  TSR_NEED(args);
  TSR_TRY(add_args(builder, block, region, args));
  const tsr_builder_function *open = builder->open;
  if (region->own)
    region->build(builder, args, results, region->context);
  else
    tsr_builder_run(builder, region->build, args, results, region->context);
  if (builder->failure) return NULL;
  if (builder->open != open || builder->open->block != block)
    return tsr_fail(BAD_ARGUMENT, "the function of a region leaves another place open");
  return terminator == TSR_OP_UNKNOWN
             ? NULL
             : tsr_builder_terminate(builder, block, terminator, results, region->result_count);
}

tsr_status tsr_builder_fill(tsr_builder *builder, tsr_ir_block *block,
                            const tsr_builder_region *region, tsr_op_id terminator,
                            tsr_node *out_values) {
  if (builder->nesting == TSR_BUILDER_NESTING)
    return tsr_fail(TOO_LARGE, "regions are nested more than %d deep", TSR_BUILDER_NESTING);
  const size_t bytes = sizeof(tsr_node) * (size_t)(region->result_count + 1);
  tsr_node *results = out_values ? out_values : tsr_ir_alloc(builder->ir, bytes);
  TSR_NEED(results);
  for (int i = 0; i < region->result_count; i++) results[i] = TSR_NO_NODE;
  tsr_ir_block *outside = builder->open->block;
  builder->open->block = block;
  builder->nesting++;
  const tsr_status status = fill(builder, block, region, terminator, results);
  builder->nesting--;
  builder->open->block = outside;
  return status;
}

static tsr_status fill_regions(const tsr_builder_op *draft, tsr_op *op) {
  const tsr_op_id end = strncmp(op->name, "sdy.", 4) ? TSR_OP_RETURN : TSR_OP_SDY_RETURN;
  for (int i = 0; i < draft->region_count && !draft->builder->failure; i++) {
    tsr_ir_block *block = tsr_block_append(draft->builder->ir, &op->regions[i]);
    TSR_NEED(block);
    TSR_TRY(tsr_builder_fill(draft->builder, block, &draft->regions[i], end, NULL));
  }
  return NULL;
}

// ---- ops ----

static tsr_status create(const tsr_builder_op *draft, tsr_op **out_op) {
  tsr_builder *builder = draft->builder;
  const int count = draft->operand_count;
  tsr_value **operands = tsr_ir_alloc(builder->ir, sizeof *operands * (size_t)(count + 1));
  TSR_NEED(operands);
  for (int i = 0; i < count; i++)
    TSR_TRY(tsr_builder_value(builder, draft->operands[i], i, &operands[i]));
  *out_op = tsr_op_create(builder->ir, &(tsr_op_parts){.id = draft->id,
                                                       .operand_count = count,
                                                       .operands = operands,
                                                       .attr_count = draft->attr_count,
                                                       .attrs = draft->attrs,
                                                       .region_count = draft->region_count});
  TSR_NEED(*out_op);
  tsr_op_append(builder->open->block, *out_op);
  return NULL;
}

static tsr_status find_types(const tsr_builder_op *draft, const tsr_op *op,
                             tsr_inferred *out_types) {
  if (draft->type_count >= 0) {
    *out_types = (tsr_inferred){(const tsr_type **)draft->types, draft->type_count};
    return NULL;
  }
  TSR_TRY(tsr_infer_op(draft->builder->ir, op, out_types));
  if (out_types->count < 0)
    return tsr_fail(BAD_ARGUMENT,
                    "%s: types of results do not follow from the operands, expected "
                    "to be given",
                    op->name);
  return NULL;
}

// The results come last: their types follow from operands, attributes and regions.
tsr_status tsr_builder_add_results(const tsr_builder_op *draft, tsr_op *op) {
  tsr_inferred found = {0};
  TSR_TRY(find_types(draft, op, &found));
  tsr_value *results =
      tsr_arena_zeros(&draft->builder->ir->arena, (size_t)found.count + 1, sizeof *results);
  TSR_NEED(results);
  for (int i = 0; i < found.count; i++)
    results[i] = (tsr_value){.type = found.types[i], .def = op, .index = i};
  op->results = results;
  op->result_count = found.count;
  return tsr_verify_op(draft->builder->ir, op);
}

static tsr_status emit(const tsr_builder_op *draft, int count, tsr_op **out_op) {
  TSR_TRY(create(draft, out_op));
  TSR_TRY(fill_regions(draft, *out_op));
  if (draft->builder->failure) return NULL;
  TSR_TRY(tsr_builder_add_results(draft, *out_op));
  if (count >= 0 && (*out_op)->result_count != count)
    return tsr_fail(BAD_ARGUMENT, "%s has %d results, expected %d", (*out_op)->name,
                    (*out_op)->result_count, count);
  return NULL;
}

tsr_node tsr_builder_emit(const tsr_builder_op *draft, tsr_node *out_results, int count) {
  tsr_builder *builder = draft->builder;
  tsr_op *op = NULL;
  if (builder->failure || !tsr_builder_keep(builder, emit(draft, count, &op)) || !op)
    return TSR_NO_NODE;
  tsr_node first = TSR_NO_NODE;
  for (int i = 0; i < op->result_count; i++) {
    const tsr_node node = tsr_builder_add_value(builder, &op->results[i]);
    if (i == 0) first = node;
    if (out_results) out_results[i] = node;
  }
  return first;
}

tsr_node tsr_builder_emit_one(const tsr_builder_op *draft) {
  return tsr_builder_emit(draft, NULL, 1);
}

tsr_node tsr_builder_emit_shaped(tsr_builder_op *draft, tsr_dtype dtype, const tsr_shape *shape) {
  const tsr_type *type = NULL;
  if (!tsr_builder_keep(draft->builder, tsr_builder_type(draft->builder, dtype, shape, &type)))
    return TSR_NO_NODE;
  draft->type_count = 1;
  draft->types = &type;
  const tsr_node result = tsr_builder_emit_one(draft);
  draft->types = NULL;
  return result;
}
