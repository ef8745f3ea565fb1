// chlo.ragged_dot: a dot_general with one dim that falls into groups of sizes known when it runs.
//
//   free:         [b, m, k] and [g, b, k, n], groups of m, give [b, m, n]
//   contracting:  [b, m, k] and [b, k, n],    groups of k, give [g, b, m, n]
//   batching:     groups of b have no effect: a dot_general
#include "base/arithmetic.h"
#include "kernel/ragged_dot.h"
#include "lower/copy_parts.h"
#include "lower/dot_lower.h"
#include "simplify/evaluator.h"

typedef struct ragged_operands {
  const tsr_type *left, *right, *result;
  int64_t left_strides[TSR_MAX_RANK], right_strides[TSR_MAX_RANK], result_strides[TSR_MAX_RANK];
  const tsr_attr *left_batch, *right_batch, *left_contract, *right_contract;
  int64_t ragged, group;  // dims of left and right; -1 = none
  int next;               // dim of the result
} ragged_operands;

static bool lists(const tsr_attr *dims, int64_t dim) {
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    if (tsr_attr_int_at(dims, i) == dim) return true;
  return false;
}

static ragged_operands operands_of(const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "ragged_dot_dimension_numbers");
  const tsr_attr *group = tsr_attr_field(numbers, TSR_RAGGED_DOT_RHS_GROUP);
  ragged_operands out = {
      .left = tsr_operand_type(op, 0),
      .right = tsr_operand_type(op, 1),
      .result = op->results[0].type,
      .left_batch = tsr_attr_field(numbers, TSR_RAGGED_DOT_LHS_BATCHING),
      .right_batch = tsr_attr_field(numbers, TSR_RAGGED_DOT_RHS_BATCHING),
      .left_contract = tsr_attr_field(numbers, TSR_RAGGED_DOT_LHS_CONTRACTING),
      .right_contract = tsr_attr_field(numbers, TSR_RAGGED_DOT_RHS_CONTRACTING),
      .ragged = tsr_attr_int_at(tsr_attr_field(numbers, TSR_RAGGED_DOT_LHS_RAGGED), 0),
      .group = tsr_attr_int_count(group) ? tsr_attr_int_at(group, 0) : -1,
  };
  tsr_strides_of(out.left, out.left_strides);
  tsr_strides_of(out.right, out.right_strides);
  tsr_strides_of(out.result, out.result_strides);
  return out;
}

static void init_walks(tsr_gemm *gemm) {
  tsr_gemm_walk *walks[] = {&gemm->left.batch,   &gemm->left.rows,   &gemm->left.depth,
                            &gemm->right.batch,  &gemm->right.rows,  &gemm->right.depth,
                            &gemm->result.batch, &gemm->result.rows, &gemm->result.columns};
  for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) tsr_gemm_walk_init(walks[i]);
}

static void add_batch(tsr_gemm *gemm, int64_t size, int64_t left, int64_t right, int64_t result) {
  tsr_gemm_walk_add(&gemm->left.batch, size, left);
  tsr_gemm_walk_add(&gemm->right.batch, size, right);
  tsr_gemm_walk_add(&gemm->result.batch, size, result);
}

static void add_batching(ragged_operands *o, tsr_gemm *gemm) {
  for (int64_t i = 0; i < tsr_attr_int_count(o->left_batch); i++) {
    const int64_t left = tsr_attr_int_at(o->left_batch, i);
    const int64_t right = tsr_attr_int_at(o->right_batch, i);
    add_batch(gemm, o->left->dims[left], o->left_strides[left], o->right_strides[right],
              o->result_strides[o->next++]);
  }
}

static void add_depth(const ragged_operands *o, tsr_ragged_dot *out) {
  for (int64_t i = 0; i < tsr_attr_int_count(o->left_contract); i++) {
    const int64_t left = tsr_attr_int_at(o->left_contract, i);
    const int64_t right = tsr_attr_int_at(o->right_contract, i);
    if (out->depth && left == o->ragged) {
      out->right_stride = o->right_strides[right];
      continue;
    }
    tsr_gemm_walk_add(&out->gemm.left.depth, o->left->dims[left], o->left_strides[left]);
    tsr_gemm_walk_add(&out->gemm.right.depth, o->left->dims[left], o->right_strides[right]);
  }
}

// Free dims of the left side. With groups of rows those besides the dim of the groups are a batch;
// gives how many products share the sizes that come before that dim.
static int64_t add_left(ragged_operands *o, tsr_ragged_dot *out) {
  int64_t after = 1;
  for (int d = 0; d < o->left->rank; d++) {
    if (lists(o->left_batch, d) || lists(o->left_contract, d)) continue;
    const int64_t size = o->left->dims[d], stride = o->result_strides[o->next++];
    if (d == o->ragged) {
      out->result_stride = stride;
    } else if (out->depth) {
      tsr_gemm_walk_add(&out->gemm.left.rows, size, o->left_strides[d]);
      tsr_gemm_walk_add(&out->gemm.result.rows, size, stride);
    } else {
      add_batch(&out->gemm, size, o->left_strides[d], 0, stride);
      if (d > o->ragged) after *= size;
    }
  }
  return after;
}

static void add_right(ragged_operands *o, tsr_gemm *gemm) {
  for (int d = 0; d < o->right->rank; d++) {
    if (lists(o->right_batch, d) || lists(o->right_contract, d) || d == o->group) continue;
    tsr_gemm_walk_add(&gemm->right.rows, o->right->dims[d], o->right_strides[d]);
    tsr_gemm_walk_add(&gemm->result.columns, o->right->dims[d], o->result_strides[o->next++]);
  }
}

static tsr_status set_groups(tsr_lowering *lowering, const tsr_op *op, int64_t after,
                             tsr_ragged_dot *out) {
  const tsr_type *sizes = tsr_operand_type(op, 2);
  out->size_type = sizes->dtype;
  out->groups = sizes->dims[sizes->rank - 1];
  int64_t rows = 1;
  for (int i = 0; i + 1 < sizes->rank; i++) rows *= sizes->dims[i];
  if (sizes->rank == 1) return NULL;
  out->products_each = out->depth ? 1 : after;
  if (rows * out->products_each == out->gemm.left.batch.count) return NULL;
  return tsr_fail(UNSUPPORTED, "%s: group sizes that differ along a contracting dimension",
                  tsr_op_title(lowering, op));
}

// Groups of the batch: each product is as without groups.
static tsr_status lower_batch(tsr_lowering *lowering, tsr_op *op, ragged_operands *o,
                              tsr_ragged_dot *dot) {
  tsr_gemm *gemm = &dot->gemm;
  dot->depth = true;  // rows are the free dims
  add_batching(o, gemm);
  add_depth(o, dot);
  add_left(o, dot);
  add_right(o, gemm);
  gemm->panels_only = false;
  tsr_value *inputs[] = {tsr_op_operand(op, 0), tsr_op_operand(op, 1), tsr_op_operand(op, 2)};
  tsr_schedule_step *step = NULL;
  return tsr_note(tsr_lower_gemm(lowering, op, inputs, 3, gemm, &step), "in %s",
                  tsr_op_title(lowering, op));
}

tsr_status tsr_lower_ragged_dot(tsr_lowering *lowering, tsr_op *op) {
  TSR_TRY(tsr_check_ranks(lowering, op));
  ragged_operands o = operands_of(op);
  tsr_ragged_dot dot = {.gemm = {.left = {.input = 0, .dtype = o.left->dtype},
                                 .right = {.input = 1, .dtype = o.right->dtype},
                                 .result = {.dtype = o.result->dtype},
                                 .panels_only = true},
                        .size = o.left->dims[o.ragged],
                        .left_stride = o.left_strides[o.ragged],
                        .result_bytes = tsr_type_bytes(o.result)};
  init_walks(&dot.gemm);
  if (lists(o.left_batch, o.ragged)) return lower_batch(lowering, op, &o, &dot);
  dot.depth = lists(o.left_contract, o.ragged);
  if (dot.depth)
    dot.result_stride = o.result_strides[o.next++];
  else
    dot.right_stride = o.right_strides[o.group];
  add_batching(&o, &dot.gemm);
  add_depth(&o, &dot);
  const int64_t after = add_left(&o, &dot);
  add_right(&o, &dot.gemm);
  TSR_TRY(set_groups(lowering, op, after, &dot));
  tsr_gemm all = dot.gemm;  // the type and kernels, and whether elements multiply
  TSR_TRY_NOTE(tsr_gemm_plan(&all), "in %s", tsr_op_title(lowering, op));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_ragged_dot_run, &dot, sizeof dot, &step));
  step->scratch_bytes = tsr_gemm_most_scratch(&all);
  step->flops = tsr_saturated_multiply(all.flops, dot.size);
  return NULL;
}
