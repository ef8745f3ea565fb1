// A group becomes a tile program and a step.
#include "base/arithmetic.h"
#include "kernel/gemm.h"
#include "lower/dot_lower.h"
#include "lower/fuse_group.h"
#include "lower/lower_reduce.h"
#include "lower/slice_view.h"

typedef struct group_emitter {
  tsr_lowering *lowering;
  const tsr_fuse_group *group;
  tsr_tile_program *program;
  int values[TSR_FUSE_NODES];     // of the program, by node; -2 = not yet
  unsigned dims[TSR_FUSE_NODES];  // bits of the dims of the space that the node depends on
  int inputs[TSR_FUSE_INPUTS], outputs[TSR_FUSE_NODES];  // slots
  int input_nodes[TSR_FUSE_INPUTS], output_nodes[TSR_FUSE_NODES];
  int input_count, output_count;
  bool by_blocks;  // an input has one form
} group_emitter;

enum { NOT_YET = -2 };

static unsigned dims_of_form(const tsr_fuse_group *group, const tsr_form *form) {
  unsigned dims = 0;
  for (int i = 0; i < group->space.rank; i++)
    if (form->coeff[i] != 0) dims |= 1u << i;
  return dims;
}

static unsigned all_dims(const tsr_fuse_group *group) {
  const bool one = group->space.rank == 1 && group->space.dims[0] == 1;
  return one ? 0 : (1u << group->space.rank) - 1;
}

static unsigned row_dims(const tsr_fuse_group *group) {
  return all_dims(group) & ~((1u << (group->space.rank - group->row_dims)) - 1);
}

// ---- nodes ----

static int add_input(group_emitter *e, int slot, int node) {
  const tsr_fuse_node *nodes = e->group->nodes;
  int index = 0;
  while (index < e->input_count &&
         (e->inputs[index] != slot ||
          (e->by_blocks && !tsr_form_equal(&nodes[e->input_nodes[index]].form, &nodes[node].form))))
    index++;
  if (index < e->input_count) return index;
  e->inputs[index] = slot;
  e->input_nodes[index] = node;
  return e->input_count++;
}

static tsr_status emit_load(group_emitter *e, int index, int *out_value) {
  const tsr_fuse_node *node = &e->group->nodes[index];
  int slot = -1;
  TSR_TRY(tsr_slot_of(e->lowering, node->value, &slot));
  *out_value = tsr_tile_load(e->program, add_input(e, slot, index), node->value->type->dtype,
                             node->form.coeff, node->form.offset);
  return NULL;
}

// An index along several dims is a sum of integers, converted once.
static int emit_iota(group_emitter *e, const tsr_fuse_node *node) {
  const tsr_dtype dtype = node->value->type->dtype;
  const tsr_form *form = &node->form;
  int terms = 0, last = 0, sum = -1;
  for (int i = 0; i < e->group->space.rank; i++) {
    if (form->coeff[i] == 0) continue;
    last = i;
    terms++;
  }
  if (terms < 2) return tsr_tile_index(e->program, dtype, last, form->offset, form->coeff[last]);
  const bool narrow = tsr_type_element_count(node->value->type) < INT32_MAX;
  for (int i = 0; i < e->group->space.rank; i++) {
    if (form->coeff[i] == 0) continue;
    const int term = tsr_tile_index(e->program, narrow ? TSR_I32 : TSR_I64, i,
                                    sum < 0 ? form->offset : 0, form->coeff[i]);
    sum = sum < 0 ? term : tsr_tile_apply(e->program, TSR_TILE_ADD, (int[]){sum, term});
  }
  return tsr_tile_convert(e->program, dtype, sum);
}

// A value for each index, if a reduction or a store is to count it as often.
static int spread(group_emitter *e, int node) {
  if (e->dims[node] == all_dims(e->group)) return e->values[node];
  return tsr_tile_spread_out(e->program, e->values[node]);
}

static int emit_rows(group_emitter *e, const tsr_fuse_node *node) {
  const tsr_tile_op op = tsr_region_single(&node->value->def->regions[0]);
  const int reduced = tsr_tile_reduce(e->program, op, spread(e, node->in[0]));
  if (tsr_is_identity(tsr_op_operand(node->value->def, 1), op)) return reduced;
  return tsr_tile_apply(e->program, op, (int[]){e->values[node->in[1]], reduced});
}

// A reduction over dims of 1 is its op once.
static int emit_compute(group_emitter *e, const tsr_fuse_node *node, const int *operands) {
  const tsr_op *op = node->value->def;
  if (op->info->id != TSR_OP_REDUCE) return tsr_tile_add_op(e->program, op, operands);
  return tsr_tile_apply(e->program, tsr_region_single(&op->regions[0]),
                        (int[]){operands[1], operands[0]});
}

static int operand_count(const tsr_fuse_node *node) {
  switch (node->kind) {
    case TSR_NODE_COMPUTE:
    case TSR_NODE_ROWS:
      return node->value->def->operand_count;
    case TSR_NODE_FOLD:
      return 1;
    default:
      return 0;
  }
}

static tsr_status refuse_op(group_emitter *e, const tsr_fuse_node *node) {
  TSR_TRY(tsr_tile_finish(e->program));  // why there is no value, if it knows
  return tsr_fail(UNSUPPORTED, "%s: the op has no code for its types",
                  tsr_op_title(e->lowering, node->value->def));
}

// Groups have at most TSR_FUSE_NODES nodes, which bounds the recursion.
static tsr_status emit_node(group_emitter *e, int index) {
  if (e->values[index] != NOT_YET) return NULL;
  const tsr_fuse_node *node = &e->group->nodes[index];
  int operands[3] = {-1, -1, -1};
  unsigned dims = dims_of_form(e->group, &node->form);
  for (int i = 0; i < operand_count(node); i++) {
    TSR_TRY(emit_node(e, node->in[i]));
    operands[i] = e->values[node->in[i]];
    dims = i ? dims | e->dims[node->in[i]] : e->dims[node->in[i]];
  }
  int value = -1;
  switch (node->kind) {
    case TSR_NODE_LOAD:
      TSR_TRY(emit_load(e, index, &value));
      break;
    case TSR_NODE_IOTA:
      value = emit_iota(e, node);
      break;
    case TSR_NODE_ROWS:
      value = emit_rows(e, node);
      dims &= ~row_dims(e->group);
      break;
    case TSR_NODE_FOLD:
      value = spread(e, node->in[0]);
      break;
    default:
      value = node->kind == TSR_NODE_SPLAT
                  ? tsr_tile_add_splat(e->program, tsr_op_splat(node->value->def))
                  : emit_compute(e, node, operands);
  }
  e->values[index] = value;
  e->dims[index] = dims;
  return value < 0 ? refuse_op(e, node) : NULL;
}

// ---- outputs ----

static tsr_status emit_output(group_emitter *e, int index) {
  const tsr_fuse_node *node = &e->group->nodes[index];
  const int output = e->output_count++;
  TSR_TRY(emit_node(e, index));
  e->output_nodes[output] = index;
  if (node->kind == TSR_NODE_FOLD) {
    tsr_tile_fold(e->program, tsr_region_single(&node->value->def->regions[0]), e->values[index],
                  output);
    return NULL;
  }
  const bool whole = dims_of_form(e->group, &node->form) == all_dims(e->group);
  tsr_tile_store(e->program, whole ? spread(e, index) : e->values[index], output, node->form.coeff,
                 node->form.offset);
  return NULL;
}

static tsr_status emit_group(group_emitter *e) {
  const tsr_fuse_group *group = e->group;
  for (int i = 0; i < group->node_count; i++) e->values[i] = NOT_YET;
  for (int i = 0; i < group->node_count; i++)
    if (group->nodes[i].stored) TSR_TRY(emit_output(e, i));
  return tsr_tile_finish(e->program);
}

// ---- memory that an output may take ----

static int base_of(const tsr_lowering *lowering, int slot) {
  const tsr_slot *slots = lowering->schedule->slots;
  while (slots[slot].kind == TSR_SLOT_VIEW) slot = slots[slot].base;
  return slot;
}

// Folds read a tile after its stores.
static bool is_folded(const group_emitter *e, int load) {
  for (int i = 0; i < e->group->node_count; i++)
    if (e->group->nodes[i].kind == TSR_NODE_FOLD && e->values[i] == e->values[load]) return true;
  return false;
}

// Whether all that is read of the memory of an input is read with one form.
static bool is_read_as(group_emitter *e, int input, const tsr_form *form) {
  for (int i = 0; i < e->group->node_count; i++) {
    const tsr_fuse_node *node = &e->group->nodes[i];
    if (node->kind != TSR_NODE_LOAD || e->values[i] == NOT_YET) continue;
    const int slot = (int)node->value->mark;
    if (base_of(e->lowering, slot) != base_of(e->lowering, e->inputs[input])) continue;
    if (slot != e->inputs[input] || !tsr_form_equal(&node->form, form) || is_folded(e, i))
      return false;
  }
  return true;
}

// The inputs whose memory an output may take.
static uint64_t inputs_for(group_emitter *e, int output) {
  const tsr_fuse_node *node = &e->group->nodes[e->output_nodes[output]];
  const tsr_slot *slots = e->lowering->schedule->slots;
  uint64_t inputs = 0;
  if (node->kind == TSR_NODE_FOLD || dims_of_form(e->group, &node->form) != all_dims(e->group))
    return 0;
  for (int i = 0; i < e->input_count; i++)
    if (slots[e->inputs[i]].bytes == tsr_type_bytes(node->value->type) &&
        is_read_as(e, i, &node->form))
      inputs |= TSR_INPUT(i);
  return inputs;
}

static tsr_status add_step(group_emitter *e) {
  const tsr_fuse_group *group = e->group;
  tsr_schedule_step *step = NULL;
  tsr_tile_program *program = e->program;
  e->program = NULL;
  TSR_TRY(tsr_lower_tile(e->lowering, group->nodes[e->output_nodes[e->output_count - 1]].value->def,
                         program, e->inputs, e->input_count, e->outputs, e->output_count, &step));
  step->op_count = 0;
  for (int i = 0; i < group->node_count; i++) step->op_count += group->nodes[i].member;
  for (int i = 0; i < e->output_count; i++) step->overwrites[i] = inputs_for(e, i);
  return NULL;
}

static tsr_status emit_program(group_emitter *e) {
  const tsr_fuse_group *group = e->group;
  tsr_tile_space space = {.rank = group->space.rank,
                          .row_dims = group->row_dims ? group->row_dims : 1,
                          .batch_dims = group->batch_dims > 0 ? group->batch_dims : 0,
                          .by_blocks = e->by_blocks};
  for (int i = 0; i < space.rank; i++) space.dims[i] = group->space.dims[i];
  e->program = tsr_tile_create(&space);
  TSR_NEED(e->program);
  TSR_TRY(emit_group(e));
  for (int i = 0; i < e->output_count; i++)
    TSR_TRY(tsr_slot_create(e->lowering, group->nodes[e->output_nodes[i]].value, &e->outputs[i]));
  return NULL;
}

// ---- groups on blocks of a product ----

static tsr_gemm_argument argument_of(const group_emitter *e, int node, int index) {
  const tsr_fuse_node *of = &e->group->nodes[node];
  const int64_t bytes = tsr_gemm_element_bytes(of->value->type->dtype), *coeff = of->form.coeff;
  const int column = e->group->space.rank - 1;
  return (tsr_gemm_argument){.index = index,
                             .batch = coeff[TSR_BATCH_COEFF] * bytes,
                             .row = column ? coeff[0] * bytes : 0,
                             .column = coeff[column] * bytes};
}

static void destroy_product(void *description) {
  tsr_tile_destroy(((const tsr_gemm *)description)->epilogue->program);
}

// What the program reads and writes, as inputs and outputs of the step, which reads `count`
// already.
static tsr_status set_arguments(group_emitter *e, const tsr_block_group *blocks, int *inputs,
                                int count, tsr_gemm_epilogue *epilogue) {
  tsr_gemm_argument *in = tsr_lower_alloc(e->lowering, e->input_count, sizeof *in);
  tsr_gemm_argument *out = tsr_lower_alloc(e->lowering, e->output_count, sizeof *out);
  TSR_NEED(in && out ? in : NULL);
  for (int i = 1; i < e->input_count; i++) {
    inputs[count + i - 1] = e->inputs[i];
    in[i - 1] = argument_of(e, e->input_nodes[i], count + i - 1);
  }
  for (int i = 0; i < e->output_count; i++) {
    out[i] = argument_of(e, e->output_nodes[i], i);
    if (e->output_nodes[i] == blocks->output) epilogue->product = i;
  }
  epilogue->input_count = e->input_count - 1;
  epilogue->output_count = e->output_count;
  epilogue->inputs = in;
  epilogue->outputs = out;
  return NULL;
}

// The step of the product becomes that of both. No output takes the memory of an input: tiles of
// the product are made while others are done.
static tsr_status extend_step(group_emitter *e, const tsr_block_group *blocks) {
  tsr_schedule_step *step = blocks->step;
  tsr_lowering *lowering = e->lowering;
  const int count = step->input_count + e->input_count - 1;
  tsr_gemm *gemm = tsr_lower_alloc(lowering, 2, sizeof *gemm), *joined = gemm + 1;
  tsr_gemm_epilogue *epilogue = tsr_lower_alloc(lowering, 1, sizeof *epilogue);
  int *inputs = tsr_lower_alloc(lowering, count, sizeof *inputs);
  int *outputs = tsr_lower_alloc(lowering, e->output_count, sizeof *outputs);
  uint64_t *overwrites = tsr_lower_alloc(lowering, e->output_count, sizeof *overwrites);
  TSR_NEED(gemm && epilogue && inputs && outputs && overwrites ? gemm : NULL);
  for (int i = 0; i < step->input_count; i++) inputs[i] = step->inputs[i];
  for (int i = 0; i < e->output_count; i++) outputs[i] = e->outputs[i];
  TSR_TRY(set_arguments(e, blocks, inputs, step->input_count, epilogue));
  epilogue->scratch = (step->scratch_bytes + 63) / 64 * 64;
  epilogue->program = e->program;
  *gemm = *(const tsr_gemm *)step->description;
  gemm->epilogue = epilogue;
  if (gemm->joined) *joined = *gemm->joined, joined->epilogue = epilogue, gemm->joined = joined;
  lowering->schedule->slots[blocks->slot].value = NULL;  // nothing finds the product any more
  tsr_lower_postpone(lowering, step);
  step->description = gemm;
  step->destroy = destroy_product;
  e->program = NULL;
  step->scratch_bytes = epilogue->scratch + tsr_tile_scratch_bytes(epilogue->program);
  step->inputs = inputs, step->outputs = outputs, step->overwrites = overwrites;
  step->input_count = count, step->output_count = e->output_count;
  return NULL;
}

// What a step on blocks costs; the product itself does not go through memory.
static void count_step(group_emitter *e, const tsr_block_group *blocks, int64_t flops) {
  tsr_schedule_step *step = blocks->step;
  const tsr_slot *slots = e->lowering->schedule->slots;
  step->flops = tsr_saturated_add(step->flops, flops);
  step->bytes = 0;
  for (int i = 0; i < step->input_count; i++)
    step->bytes = tsr_saturated_add(step->bytes, slots[step->inputs[i]].bytes);
  for (int i = 0; i < step->output_count; i++)
    step->bytes = tsr_saturated_add(step->bytes, slots[step->outputs[i]].bytes);
  for (int i = 0; i < e->group->node_count; i++) step->op_count += e->group->nodes[i].member;
}

static tsr_status lower_on_blocks(group_emitter *e, const tsr_block_group *blocks) {
  e->by_blocks = true;
  e->group = &blocks->group;
  for (int i = 0; i < e->group->node_count; i++)  // the product is the first input
    if (e->group->nodes[i].kind == TSR_NODE_LOAD &&
        (int)e->group->nodes[i].value->mark == blocks->slot &&
        tsr_value_has_slot(e->lowering, e->group->nodes[i].value))
      add_input(e, blocks->slot, i);
  TSR_TRY(emit_program(e));
  const tsr_gemm_result *result = &((const tsr_gemm *)blocks->step->description)->result;
  const int64_t ops =
      tsr_tile_flops(e->program) /
      (e->group->space.dims[0] * (e->group->space.rank > 1 ? e->group->space.dims[1] : 1));
  TSR_TRY(extend_step(e, blocks));
  count_step(e, blocks,
             tsr_saturated_multiply(
                 ops, result->batch.count * result->rows.count * result->columns.count));
  return NULL;
}

// ---- steps that are no groups ----

tsr_status tsr_lower_fusion(tsr_lowering *lowering, const tsr_fusion *fusion) {
  tsr_op *first = fusion->ops[0];
  if (!fusion->group && fusion->count == 2)
    return tsr_lower_dot_into(lowering, first, fusion->ops[1]);
  if (!fusion->group && first->info->id == TSR_OP_REDUCE)  // it changes no element
    return tsr_slot_view(lowering, &first->results[0], tsr_op_operand(first, 0), 0);
  if (!fusion->group && first->info->id == TSR_OP_DYNAMIC_SLICE)
    return tsr_lower_slice_view(lowering, first);
  if (!fusion->group) {
    int slot = -1;
    TSR_TRY(tsr_slot_create(lowering, &first->results[0], &slot));
    return tsr_lower_fill(lowering, first, slot);
  }
  group_emitter emitter = {.lowering = lowering, .group = fusion->group};
  tsr_block_group blocks;
  const bool follows = tsr_group_follows_product(lowering, fusion->group, &blocks);
  tsr_status status = follows ? lower_on_blocks(&emitter, &blocks) : emit_program(&emitter);
  if (!status && !follows) status = add_step(&emitter);
  tsr_tile_destroy(emitter.program);
  return status;
}
