// Forms: positions of elements as linear functions of the indices of a group's space.
#include "lower/fuse_space.h"

#include <stdlib.h>
#include <string.h>

#include "lower/lower_reduce.h"

bool tsr_form_equal(const tsr_form *a, const tsr_form *b) {
  return a->offset == b->offset && !memcmp(a->coeff, b->coeff, sizeof a->coeff);
}

tsr_form tsr_form_row_major(const tsr_fuse_space *space, int first, int end) {
  tsr_form form = {0};
  int64_t stride = 1;
  for (int i = end - 1; i >= first; i--) {
    if (space->dims[i] > 1) form.coeff[i] = stride;
    stride *= space->dims[i];
  }
  return form;
}

// ---- splits ----

bool tsr_space_split(tsr_fuse_space *space, tsr_fuse_split split) {
  if (space->rank == TSR_TILE_RANK) return false;
  for (int i = space->rank; i > split.dim + 1; i--) space->dims[i] = space->dims[i - 1];
  space->dims[split.dim + 1] = split.inner;
  space->dims[split.dim] /= split.inner;
  space->rank++;
  return true;
}

// `rank` is the one before the split.
void tsr_form_split(tsr_form *form, int rank, tsr_fuse_split split) {
  for (int i = rank; i > split.dim + 1; i--) form->coeff[i] = form->coeff[i - 1];
  form->coeff[split.dim + 1] = form->coeff[split.dim];
  form->coeff[split.dim] *= split.inner;
}

// ---- digits ----

bool tsr_form_radix_of(const tsr_type *type, tsr_form_radix *out_digits) {
  if (type->rank > TSR_FORM_DIGITS) return false;
  out_digits->count = type->rank;
  int64_t stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) {
    out_digits->sizes[d] = type->dims[d];
    out_digits->strides[d] = stride;
    stride *= type->dims[d];
  }
  return true;
}

// The digit that a step of `coeff` positions changes; -1 = none.
static int digit_of(const tsr_form_radix *digits, int64_t coeff) {
  for (int d = 0; d < digits->count; d++)
    if (digits->sizes[d] > 1 && digits->strides[d] <= llabs(coeff)) return d;
  return -1;
}

// Gives the term of one dim of the space to its digit.
static bool place_term(const tsr_fuse_space *space, const tsr_form *form, int dim,
                       const tsr_form_radix *digits, tsr_form *forms, tsr_fuse_split *out_split) {
  const int64_t coeff = form->coeff[dim];
  if (coeff == 0) return true;
  const int d = digit_of(digits, coeff);
  if (d < 0 || coeff % digits->strides[d] != 0) return false;
  const int64_t step = coeff / digits->strides[d], size = digits->sizes[d];
  forms[d].coeff[dim] = step;
  if (llabs(step) <= (size - 1) / (space->dims[dim] - 1)) return true;
  const int64_t inner = size / llabs(step);
  if (size % llabs(step) != 0 || inner < 2 || inner >= space->dims[dim] ||
      space->dims[dim] % inner != 0)
    return false;
  *out_split = (tsr_fuse_split){dim, inner};
  return false;
}

// The digits of the first element: the position of an element that exists.
static bool place_offset(int64_t offset, const tsr_form_radix *digits, tsr_form *forms) {
  if (offset < 0) return false;
  for (int d = 0; d < digits->count; d++) {
    if (digits->sizes[d] < 2) continue;
    forms[d].offset = offset / digits->strides[d];
    offset %= digits->strides[d];
  }
  return offset == 0;
}

// Whether a digit stays in its range at all indices, so that nothing is carried to the next one.
static bool stays(const tsr_fuse_space *space, const tsr_form *form, int64_t size) {
  int64_t least = form->offset, most = form->offset;
  for (int i = 0; i < space->rank; i++) {
    const int64_t range = form->coeff[i] * (space->dims[i] - 1);
    *(range < 0 ? &least : &most) += range;
  }
  return least >= 0 && most < size;
}

bool tsr_form_digits(const tsr_fuse_space *space, const tsr_form *form,
                     const tsr_form_radix *digits, tsr_form *out_forms, tsr_fuse_split *out_split) {
  out_split->dim = -1;
  for (int d = 0; d < digits->count; d++) out_forms[d] = (tsr_form){0};
  for (int i = 0; i < space->rank; i++)
    if (!place_term(space, form, i, digits, out_forms, out_split)) return false;
  if (!place_offset(form->offset, digits, out_forms)) return false;
  for (int d = 0; d < digits->count; d++)
    if (!stays(space, &out_forms[d], digits->sizes[d])) return false;
  return true;
}

// ---- through ops that move elements ----

static void add_scaled(tsr_form *sum, const tsr_form *form, int64_t scale) {
  sum->offset += form->offset * scale;
  for (int i = 0; i < TSR_TILE_RANK; i++) sum->coeff[i] += form->coeff[i] * scale;
}

// The forms of the result's dims become one of the operand's positions; `to` has the operand's
// strides.
typedef void through_fn(const tsr_op *op, const tsr_form *dims, const tsr_form_radix *to,
                        tsr_form *out_form);

static void through_broadcast(const tsr_op *op, const tsr_form *dims, const tsr_form_radix *to,
                              tsr_form *out_form) {
  const tsr_attr *map = tsr_op_attr(op, "broadcast_dimensions");
  for (int d = 0; d < to->count; d++)
    if (to->sizes[d] != 1) add_scaled(out_form, &dims[tsr_attr_int_at(map, d)], to->strides[d]);
}

static void through_transpose(const tsr_op *op, const tsr_form *dims, const tsr_form_radix *to,
                              tsr_form *out_form) {
  const tsr_attr *permutation = tsr_op_attr(op, "permutation");
  for (int d = 0; d < to->count; d++)
    add_scaled(out_form, &dims[d], to->strides[tsr_attr_int_at(permutation, d)]);
}

static void through_slice(const tsr_op *op, const tsr_form *dims, const tsr_form_radix *to,
                          tsr_form *out_form) {
  const tsr_attr *starts = tsr_op_attr(op, "start_indices"), *steps = tsr_op_attr(op, "strides");
  for (int d = 0; d < to->count; d++) {
    out_form->offset += tsr_attr_int_at(starts, d) * to->strides[d];
    add_scaled(out_form, &dims[d], tsr_attr_int_at(steps, d) * to->strides[d]);
  }
}

static void through_reverse(const tsr_op *op, const tsr_form *dims, const tsr_form_radix *to,
                            tsr_form *out_form) {
  const tsr_attr *reversed = tsr_op_attr(op, "dimensions");
  for (int d = 0; d < to->count; d++) {
    bool backward = false;
    for (int64_t i = 0; i < tsr_attr_int_count(reversed); i++)
      backward = backward || tsr_attr_int_at(reversed, i) == d;
    if (backward) out_form->offset += (to->sizes[d] - 1) * to->strides[d];
    add_scaled(out_form, &dims[d], backward ? -to->strides[d] : to->strides[d]);
  }
}

static const struct {
  bool moves;
  through_fn *through;  // NULL: positions stay
} movers[TSR_OP_COUNT] = {
    [TSR_OP_RESHAPE] = {true, NULL},
    [TSR_OP_BROADCAST_IN_DIM] = {true, through_broadcast},
    [TSR_OP_TRANSPOSE] = {true, through_transpose},
    [TSR_OP_SLICE] = {true, through_slice},
    [TSR_OP_REVERSE] = {true, through_reverse},
    [TSR_OP_CAST] = {true, NULL},
    [TSR_OP_SDY_SHARDING_CONSTRAINT] = {true, NULL},
    [TSR_OP_SDY_RESHARD] = {true, NULL},
    [TSR_OP_SDY_DATA_FLOW_EDGE] = {true, NULL},
    [TSR_OP_SDY_FUNC_DATA_FLOW_EDGE] = {true, NULL},
    [TSR_OP_SDY_PROPAGATION_BARRIER] = {true, NULL},
};

// A reduction over dims of 1 that changes no element.
static bool reduces_nothing(const tsr_op *op) {
  const tsr_reduce_plan plan = tsr_reduce_plan_of(op);
  return plan.way == TSR_REDUCE_NOTHING && tsr_is_identity(tsr_op_operand(op, 1), plan.op);
}

bool tsr_op_only_moves(const tsr_op *op) {
  if (op->info->id == TSR_OP_REDUCE) return reduces_nothing(op);
  if (!movers[op->info->id].moves || op->operand_count != 1 || op->result_count != 1) return false;
  const tsr_type *from = tsr_operand_type(op, 0), *to = op->results[0].type;
  return tsr_type_runs(from) && tsr_type_runs(to) && from->dtype == to->dtype &&
         tsr_type_element_count(to) > 0 &&
         (movers[op->info->id].through ||
          tsr_type_element_count(from) == tsr_type_element_count(to));
}

bool tsr_form_through(const tsr_fuse_space *space, const tsr_op *op, const tsr_form *form,
                      tsr_form *out_form, tsr_fuse_split *out_split) {
  through_fn *through = movers[op->info->id].through;
  tsr_form_radix from, to;
  tsr_form dims[TSR_FORM_DIGITS], result = {0};
  out_split->dim = -1;
  if (!through) {
    *out_form = *form;
    return true;
  }
  if (!tsr_form_radix_of(op->results[0].type, &from) ||
      !tsr_form_radix_of(tsr_operand_type(op, 0), &to) ||
      !tsr_form_digits(space, form, &from, dims, out_split))
    return false;
  through(op, dims, &to, &result);
  *out_form = result;
  return true;
}

// ---- reductions ----

static bool reduces_dim(const tsr_op *op, int dim) {
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++)
    if (tsr_attr_int_at(dims, i) == dim) return true;
  return false;
}

// Neighbouring dims of one kind are joined: kept and reduced ones by turns, `sizes[i]` reduced for
// odd i. False: there are more than three parts.
static bool join_dims(const tsr_op *op, int64_t sizes[4], int *out_count) {
  const tsr_type *type = tsr_operand_type(op, 0);
  int part = 0;
  for (int i = 0; i < 4; i++) sizes[i] = 1;
  for (int d = 0; d < type->rank; d++) {
    if (type->dims[d] == 1) continue;
    if (reduces_dim(op, d) != (part & 1)) part++;
    if (part > 2) return false;
    sizes[part] *= type->dims[d];
  }
  *out_count = part + 1;
  return true;
}

tsr_reduce_plan tsr_reduce_plan_of(const tsr_op *op) {
  tsr_reduce_plan plan = {.way = TSR_REDUCE_OTHERWISE, .op = TSR_TILE_OP_COUNT};
  if (op->info->id != TSR_OP_REDUCE || op->operand_count != 2 || op->result_count != 1 ||
      !tsr_type_runs(tsr_operand_type(op, 0)) || !tsr_type_runs(op->results[0].type) ||
      tsr_operand_type(op, 0)->dtype != op->results[0].type->dtype)
    return plan;
  plan.op = tsr_region_single(&op->regions[0]);
  int64_t sizes[4];
  int parts = 0;
  if (!tsr_tile_op_reduces(plan.op) || tsr_type_element_count(tsr_operand_type(op, 0)) < 1 ||
      !join_dims(op, sizes, &parts))
    return plan;
  plan.batch = parts == 3 ? sizes[0] : 1;
  plan.outer = parts == 3 ? sizes[1] : sizes[0];
  plan.row = parts == 3 ? sizes[2] : sizes[1];
  plan.way = parts == 3 ? TSR_REDUCE_FOLD : parts == 2 ? TSR_REDUCE_ROWS : TSR_REDUCE_NOTHING;
  return plan;
}
