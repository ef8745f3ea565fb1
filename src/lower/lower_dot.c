// dot_general as a product of matrices in batches: dims are put in walks, so no form of it, and no
// transpose before it, needs a copy. Groups that follow a product (of a convolution too) and read
// it index by index run on its blocks.
#include "base/arithmetic.h"
#include "lower/copy_parts.h"
#include "lower/dot_lower.h"
#include "simplify/evaluator.h"

// An operand, where it lies: the stride of each of its dims.
typedef struct dot_operand {
  tsr_value *value;  // whose memory is read
  const tsr_type *type;
  int64_t strides[TSR_MAX_RANK];
  const tsr_attr *batching, *contracting;
} dot_operand;

bool tsr_dot_absorbs(const tsr_use *use, const tsr_op *producer) {
  return use->user->info->id == TSR_OP_DOT_GENERAL && producer->info->id == TSR_OP_TRANSPOSE;
}

// Follows transposes that have no memory of their own.
static void read_operand(const tsr_lowering *lowering, tsr_value *value, dot_operand *out) {
  int dims[TSR_MAX_RANK];
  const int rank = value->type->rank;
  out->type = value->type;
  for (int i = 0; i < rank; i++) dims[i] = i;
  while (value->def && value->def->info->id == TSR_OP_TRANSPOSE &&
         !tsr_value_has_slot(lowering, value)) {
    const tsr_attr *permutation = tsr_op_attr(value->def, "permutation");
    for (int i = 0; i < rank; i++) dims[i] = (int)tsr_attr_int_at(permutation, dims[i]);
    value = tsr_op_operand(value->def, 0);
  }
  int64_t strides[TSR_MAX_RANK] = {0};
  tsr_strides_of(value->type, strides);
  for (int i = 0; i < rank; i++) out->strides[i] = strides[dims[i]];
  out->value = value;
}

static bool lists(const tsr_attr *dims, int64_t dim) {
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    if (tsr_attr_int_at(dims, i) == dim) return true;
  return false;
}

static void add_listed(const dot_operand *operand, const tsr_attr *dims, tsr_gemm_walk *walk) {
  tsr_gemm_walk_init(walk);
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int64_t dim = tsr_attr_int_at(dims, i);
    tsr_gemm_walk_add(walk, operand->type->dims[dim], operand->strides[dim]);
  }
}

static tsr_gemm_side side_of(const dot_operand *operand, int input) {
  tsr_gemm_side side = {.input = input, .dtype = operand->type->dtype};
  add_listed(operand, operand->batching, &side.batch);
  add_listed(operand, operand->contracting, &side.depth);
  tsr_gemm_walk_init(&side.rows);
  for (int d = 0; d < operand->type->rank; d++)
    if (!lists(operand->batching, d) && !lists(operand->contracting, d))
      tsr_gemm_walk_add(&side.rows, operand->type->dims[d], operand->strides[d]);
  return side;
}

// Adds the next `count` dims of the result, from `*dim` on, to a walk.
static void add_result_dims(const tsr_type *type, const int64_t *strides, int count, int *dim,
                            tsr_gemm_walk *walk) {
  tsr_gemm_walk_init(walk);
  for (int i = 0; i < count; i++, (*dim)++)
    tsr_gemm_walk_add(walk, type->dims[*dim], strides[*dim]);
}

static int free_dims(const dot_operand *operand) {
  return operand->type->rank - (int)tsr_attr_int_count(operand->batching) -
         (int)tsr_attr_int_count(operand->contracting);
}

// The dims of the result: batch, rows, columns. Elements that lie side by side make a row.
static void set_result(tsr_gemm *gemm, const tsr_type *type, const int64_t *strides,
                       const dot_operand *left, const dot_operand *right) {
  int dim = 0;
  gemm->result.dtype = type->dtype;
  add_result_dims(type, strides, (int)tsr_attr_int_count(left->batching), &dim,
                  &gemm->result.batch);
  add_result_dims(type, strides, free_dims(left), &dim, &gemm->result.rows);
  add_result_dims(type, strides, free_dims(right), &dim, &gemm->result.columns);
  const tsr_gemm_walk rows = gemm->result.rows, columns = gemm->result.columns;
  const tsr_gemm_side side = gemm->left;
  if (rows.rank == 0 || rows.strides[rows.rank - 1] != 1 || columns.rank == 0 ||
      columns.strides[columns.rank - 1] == 1)
    return;
  gemm->result.rows = columns;
  gemm->result.columns = rows;
  gemm->left = gemm->right;
  gemm->right = side;
}

// ---- steps of products ----

// The most classes of a step that read the same memory of an input.
static tsr_status most_alike(tsr_lowering *lowering, const tsr_lane_classes *step,
                             const tsr_lane_classes *input, int *out_most) {
  int *counts = tsr_lower_alloc(lowering, tsr_class_count(input), sizeof *counts);
  TSR_NEED(counts);
  *out_most = 0;
  for (int i = 0; i < tsr_class_count(step); i++) {
    const int count = ++counts[tsr_class_of(input, tsr_class_lane(step, i))];
    if (count > *out_most) *out_most = count;
  }
  return NULL;
}

// Weights that several devices have alike are packed once for all of them.
static tsr_status join_classes(tsr_lowering *lowering, const tsr_lane_classes *classes,
                               const tsr_value *right, tsr_gemm *gemm) {
  int alike = 0;
  TSR_TRY(most_alike(lowering, classes, tsr_value_classes(lowering, right), &alike));
  tsr_gemm *joined = alike > 1 ? tsr_lower_alloc(lowering, 1, sizeof *joined) : NULL;
  if (alike < 2) return NULL;
  TSR_NEED(joined);
  if (tsr_gemm_plan_joined(gemm, alike, joined)) gemm->joined = joined;
  return NULL;
}

tsr_status tsr_lower_gemm(tsr_lowering *lowering, tsr_op *written, tsr_value *const *inputs,
                          int input_count, tsr_gemm *gemm, tsr_schedule_step **out_step) {
  TSR_TRY(tsr_gemm_plan(gemm));
  TSR_TRY(join_classes(lowering, tsr_value_classes(lowering, &written->results[0]),
                       inputs[gemm->right.input], gemm));
  TSR_TRY(tsr_lower_kernel_on(lowering, written, inputs, input_count, tsr_gemm_run, gemm,
                              sizeof *gemm, out_step));
  tsr_schedule_step *step = *out_step;
  const tsr_gemm *joined = gemm->joined ? gemm->joined : gemm;
  step->run_calls = tsr_gemm_run_calls;
  step->scratch_bytes = gemm->scratch_bytes;
  if (joined->scratch_bytes > step->scratch_bytes) step->scratch_bytes = joined->scratch_bytes;
  step->temp_bytes = gemm->temp_bytes;
  if (joined->temp_bytes > step->temp_bytes) step->temp_bytes = joined->temp_bytes;
  step->flops = gemm->flops;
  return NULL;
}

// Lowers a product whose result `written` holds, with a stride for each dim of the product.
static tsr_status lower_product(tsr_lowering *lowering, tsr_op *op, tsr_op *written,
                                const int64_t *strides) {
  TSR_TRY(tsr_check_ranks(lowering, op));
  const tsr_attr *numbers = tsr_op_attr(op, "dot_dimension_numbers");
  dot_operand left = {.batching = tsr_attr_field(numbers, TSR_DOT_LHS_BATCHING),
                      .contracting = tsr_attr_field(numbers, TSR_DOT_LHS_CONTRACTING)};
  dot_operand right = {.batching = tsr_attr_field(numbers, TSR_DOT_RHS_BATCHING),
                       .contracting = tsr_attr_field(numbers, TSR_DOT_RHS_CONTRACTING)};
  read_operand(lowering, tsr_op_operand(op, 0), &left);
  read_operand(lowering, tsr_op_operand(op, 1), &right);
  tsr_gemm gemm = {.left = side_of(&left, 0), .right = side_of(&right, 1)};
  set_result(&gemm, op->results[0].type, strides, &left, &right);
  tsr_value *inputs[] = {left.value, right.value};
  tsr_schedule_step *step = NULL;
  TSR_TRY_NOTE(tsr_lower_gemm(lowering, written, inputs, 2, &gemm, &step), "in %s",
               tsr_op_title(lowering, op));
  step->op = op;
  return NULL;
}

tsr_status tsr_lower_dot_general(tsr_lowering *lowering, tsr_op *op) {
  int64_t strides[TSR_MAX_RANK] = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_strides_of(op->results[0].type, strides);
  return lower_product(lowering, op, op, strides);
}

tsr_status tsr_lower_dot_into(tsr_lowering *lowering, tsr_op *op, tsr_op *transpose) {
  const tsr_attr *permutation = tsr_op_attr(transpose, "permutation");
  int64_t strides[TSR_MAX_RANK] = {0}, moved[TSR_MAX_RANK] = {0};
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_strides_of(transpose->results[0].type, strides);
  for (int i = 0; i < transpose->results[0].type->rank; i++)
    moved[tsr_attr_int_at(permutation, i)] = strides[i];
  return lower_product(lowering, op, transpose, moved);
}

// ---- epilogues ----

static const tsr_fuse_node *node_of(const tsr_fuse_group *group, const tsr_value *value) {
  for (int i = 0; i < group->node_count; i++)
    if (group->nodes[i].value == value && group->nodes[i].kind != TSR_NODE_LOAD)
      return &group->nodes[i];
  return NULL;
}

// Whether only a group reads a value, maybe through ops that it reads through or computes again.
static bool is_read_by(const tsr_fuse_group *group, const tsr_value *value, int most) {
  for (const tsr_use *use = value->uses; use; use = use->next) {
    const tsr_op *user = use->user;
    const tsr_fuse_node *node = user->result_count == 1 ? node_of(group, &user->results[0]) : NULL;
    if (node && node->member) continue;
    if (!most || (!node && !tsr_op_only_moves(user))) return false;
    if (!is_read_by(group, &user->results[0], most - 1)) return false;
  }
  return true;
}

static int base_slot(const tsr_lowering *lowering, int slot) {
  const tsr_slot *slots = lowering->schedule->slots;
  while (slots[slot].kind == TSR_SLOT_VIEW) slot = slots[slot].base;
  return slot;
}

static bool is_donated(const tsr_lowering *lowering, const tsr_value *value) {
  if (!tsr_value_has_slot(lowering, value)) return false;  // a constant
  const tsr_slot *slot = &lowering->schedule->slots[base_slot(lowering, (int)value->mark)];
  return slot->kind == TSR_SLOT_ARGUMENT && slot->donated;
}

// Whether a group loads the product as it lies, and no memory that an output should rather take.
static bool reads_as_it_lies(const tsr_lowering *lowering, const tsr_fuse_group *group,
                             const tsr_value *product) {
  const tsr_form whole = tsr_form_row_major(&group->space, 0, group->space.rank);
  const int slot = (int)product->mark;
  int loads = 0, most_loads = 0;
  for (int i = 0; i < group->node_count; i++) {
    const tsr_fuse_node *node = &group->nodes[i];
    if (node->kind != TSR_NODE_LOAD) continue;
    const bool is_whole = tsr_form_equal(&node->form, &whole);
    most_loads++;
    if (node->value == product && !is_whole) return false;
    if (node->value == product) loads++;
    if (node->value != product && is_whole && is_donated(lowering, node->value)) return false;
    if (node->value != product && tsr_value_has_slot(lowering, node->value) &&
        base_slot(lowering, (int)node->value->mark) == slot)
      return false;
  }
  return loads == 1 && most_loads <= TSR_FUSE_INPUTS && most_loads <= TSR_GEMM_ARGUMENTS;
}

// The node that takes the memory of the product; -1 = none. All outputs must be whole.
static int output_for(const tsr_fuse_group *group, tsr_dtype dtype) {
  const tsr_form whole = tsr_form_row_major(&group->space, 0, group->space.rank);
  int found = -1, outputs = 0;
  for (int i = 0; i < group->node_count; i++) {
    const tsr_fuse_node *node = &group->nodes[i];
    if (node->kind == TSR_NODE_IOTA || node->kind == TSR_NODE_ROWS || node->kind == TSR_NODE_FOLD)
      return -1;
    if (!node->stored) continue;
    if (!tsr_form_equal(&node->form, &whole) || outputs++ == TSR_GEMM_ARGUMENTS) return -1;
    if (found < 0 && node->value->type->dtype == dtype) found = i;
  }
  return found;
}

// The first of the last dims that have `count` indices, one of them split if need be; -1 = none.
static int cut_dims(tsr_fuse_group *group, int64_t count) {
  const int64_t *dims = group->space.dims;
  int64_t inner = 1;
  int dim = group->space.rank;
  while (dim > 0 && inner < count) inner *= dims[--dim];
  if (inner == count) return dim;
  const int64_t rest = inner / dims[dim], part = count / rest;
  if (inner < count || count % rest || dims[dim] % part ||
      !tsr_group_split(group, (tsr_fuse_split){dim, part}))
    return -1;
  return dim + 1;
}

// The coefficient of dims `first` to before `end`, counted as one.
static bool join_coeffs(const tsr_fuse_space *space, const tsr_form *form, int first, int end,
                        int64_t *out_coeff) {
  int64_t wanted = end > first ? form->coeff[end - 1] : 0;
  *out_coeff = wanted;
  for (int i = end - 1; i >= first; i--)
    if (form->coeff[i] != wanted || __builtin_mul_overflow(wanted, space->dims[i], &wanted))
      return false;
  return true;
}

// The forms of a group over the blocks of a product; false where one is not linear in its rows.
static bool cut_in_blocks(tsr_fuse_group *group, const tsr_gemm *gemm) {
  const int64_t rows = gemm->result.rows.count, columns = gemm->result.columns.count;
  cut_dims(group, columns);
  const int row = cut_dims(group, rows * columns), column = cut_dims(group, columns);
  if (row < 0 || column < 0) return false;
  for (int i = 0; i < group->node_count; i++) {
    tsr_form *form = &group->nodes[i].form, joined = {.offset = form->offset};
    int64_t *next = joined.coeff;
    if (!join_coeffs(&group->space, form, 0, row, &joined.coeff[TSR_BATCH_COEFF]) ||
        !join_coeffs(&group->space, form, row, column, next) ||
        !join_coeffs(&group->space, form, column, group->space.rank, rows > 1 ? next + 1 : next))
      return false;
    *form = joined;
  }
  int64_t block_rows = 1, block_columns = 1;
  tsr_gemm_largest_block(gemm, &block_rows, &block_columns);
  group->space = (tsr_fuse_space){1, {block_columns}};
  if (rows > 1) group->space = (tsr_fuse_space){2, {block_rows, block_columns}};
  return true;
}

// Measured: on results that leave the caches, blocks save a tenth of a short product; on those of
// some megabytes they cost a twentieth, since what else is read comes in short pieces.
static bool gains_by_blocks(const tsr_gemm *gemm) {
  enum { LARGE_RESULT = 32 << 20 };
  const int64_t count = gemm->result.batch.count * gemm->result.rows.count;
  return gemm->tasks == 1 ||
         count * gemm->result.columns.count * tsr_gemm_element_bytes(gemm->result.dtype) >=
             LARGE_RESULT;
}

// The last product of the list. Behind it are at most a few small groups, so that what it reads
// lives hardly longer if it runs after them.
static tsr_schedule_step *last_product(const tsr_lowering *lowering) {
  enum { MOST_BETWEEN = 4, SMALL_STEP = 1 << 16 };
  tsr_schedule_step *step = lowering->list->last;
  for (int i = 0; step && step->run != tsr_gemm_run; i++, step = step->previous)
    if (step->run != tsr_tile_run || step->bytes > SMALL_STEP || i == MOST_BETWEEN) return NULL;
  return step;
}

bool tsr_group_follows_product(tsr_lowering *lowering, const tsr_fuse_group *group,
                               tsr_block_group *out_blocks) {
  tsr_schedule_step *step = last_product(lowering);
  if (!step || step->classes != group->classes) return false;
  const tsr_gemm *gemm = step->description;
  const tsr_value *product = lowering->schedule->slots[step->outputs[0]].value;
  *out_blocks = (tsr_block_group){.step = step, .slot = step->outputs[0], .group = *group};
  tsr_fuse_group *blocks = &out_blocks->group;
  if (!product || !tsr_gemm_takes_epilogue(gemm) || gemm->result.columns.count < 2 ||
      !gains_by_blocks(gemm) || !reads_as_it_lies(lowering, group, product) ||
      !is_read_by(group, product, 4))
    return false;
  out_blocks->output = output_for(group, gemm->result.dtype);
  if (out_blocks->output < 0) return false;
  blocks->nodes = tsr_lower_alloc(lowering, group->node_count, sizeof *blocks->nodes);
  blocks->node_capacity = group->node_count;
  if (!blocks->nodes) return false;
  for (int i = 0; i < group->node_count; i++) blocks->nodes[i] = group->nodes[i];
  return cut_in_blocks(blocks, gemm);
}
