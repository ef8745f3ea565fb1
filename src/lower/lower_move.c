// Ops that move elements to places known when the program is compiled. Each is one or a few strided
// copies, so an op only states strides and offsets.
#include "kernel/iota.h"
#include "lower/copy_parts.h"
#include "simplify/evaluator.h"

int tsr_element_bytes(const tsr_type *type) {
  return (int)tsr_type_element_bytes(tsr_type_element(type));
}

static tsr_status check_rank(tsr_lowering *lowering, const tsr_op *op, const tsr_value *value) {
  TSR_TRY(tsr_check_runs(lowering, value));
  if (value->type->rank < TSR_MAX_RANK) return NULL;
  return tsr_fail(UNSUPPORTED, "%s: a tensor of %d dimensions, at most %d run",
                  tsr_op_title(lowering, op), value->type->rank, TSR_MAX_RANK - 1);
}

tsr_status tsr_check_ranks(tsr_lowering *lowering, const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(check_rank(lowering, op, tsr_op_operand(op, i)));
  for (int i = 0; i < op->result_count; i++) TSR_TRY(check_rank(lowering, op, &op->results[i]));
  return NULL;
}

tsr_copy tsr_copy_over(const tsr_type *dims, const tsr_type *from, const tsr_type *to) {
  int64_t from_strides[TSR_MAX_RANK] = {0}, to_strides[TSR_MAX_RANK] = {0};
  tsr_copy copy = {.length = 1, .loop_count = dims->rank};
  if (from) tsr_strides_of(from, from_strides);
  tsr_strides_of(to, to_strides);
  for (int d = 0; d < dims->rank; d++)
    copy.loops[d] = (tsr_copy_loop){dims->dims[d], from_strides[d], to_strides[d]};
  return copy;
}

tsr_copy tsr_copy_whole(const tsr_type *type) {
  return (tsr_copy){.length = tsr_type_element_count(type)};
}

bool tsr_is_one_run(const tsr_type *whole, const tsr_type *piece) {
  int i = 0;
  while (i < piece->rank && piece->dims[i] == 1) i++;
  for (i++; i < piece->rank; i++)
    if (piece->dims[i] != whole->dims[i]) return false;
  return true;
}

tsr_copy_part *tsr_copy_parts_create(tsr_lowering *lowering, int64_t part_count) {
  return tsr_lower_alloc(lowering, part_count, sizeof(tsr_copy_part));
}

tsr_status tsr_lower_copies(tsr_lowering *lowering, tsr_op *op, tsr_copy_part *parts,
                            int part_count) {
  tsr_value *result = &op->results[0];
  const int width = tsr_element_bytes(result->type);
  const int64_t count = tsr_type_element_count(result->type);
  int slot = -1;
  if (count == 0) return tsr_slot_create(lowering, result, &slot);
  int kept = 0;
  for (int i = 0; i < part_count; i++)
    if (tsr_copy_elements(&parts[i].copy)) parts[kept++] = parts[i];
  const tsr_strided_copies copies = tsr_copies_plan(width, parts, kept);
  if (kept == 1 && parts[0].copy.length == count)
    return tsr_slot_view(lowering, result, tsr_op_operand(op, parts[0].input),
                         parts[0].copy.from * width);
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, tsr_copies_run, &copies, sizeof copies, &step);
}

// ---- one copy ----

// A copy over the indices of the result; the caller sets how it reads operand 0.
static tsr_status start_copy(tsr_lowering *lowering, const tsr_op *op, tsr_copy_part **out_part) {
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_copy_part *part = tsr_copy_parts_create(lowering, 1);
  TSR_NEED(part);
  part->copy = tsr_copy_over(op->results[0].type, NULL, op->results[0].type);
  *out_part = part;
  return NULL;
}

tsr_status tsr_lower_broadcast(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *dims = tsr_op_attr(op, "broadcast_dimensions");
  tsr_copy_part *part = NULL;
  TSR_TRY(start_copy(lowering, op, &part));
  int64_t strides[TSR_MAX_RANK];
  tsr_strides_of(operand, strides);
  for (int d = 0; d < operand->rank; d++)
    if (operand->dims[d] != 1) part->copy.loops[tsr_attr_int_at(dims, d)].from = strides[d];
  return tsr_lower_copies(lowering, op, part, 1);
}

tsr_status tsr_lower_transpose(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *permutation = tsr_op_attr(op, "permutation");
  tsr_copy_part *part = NULL;
  TSR_TRY(start_copy(lowering, op, &part));
  int64_t strides[TSR_MAX_RANK];
  tsr_strides_of(operand, strides);
  for (int d = 0; d < operand->rank; d++)
    part->copy.loops[d].from = strides[tsr_attr_int_at(permutation, d)];
  return tsr_lower_copies(lowering, op, part, 1);
}

tsr_status tsr_lower_slice(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  const tsr_attr *starts = tsr_op_attr(op, "start_indices"), *steps = tsr_op_attr(op, "strides");
  tsr_copy_part *part = NULL;
  TSR_TRY(start_copy(lowering, op, &part));
  int64_t strides[TSR_MAX_RANK];
  tsr_strides_of(operand, strides);
  for (int d = 0; d < operand->rank; d++) {
    part->copy.from += tsr_attr_int_at(starts, d) * strides[d];
    // A step that is never taken may be of any size.
    if (result->dims[d] > 1) part->copy.loops[d].from = tsr_attr_int_at(steps, d) * strides[d];
  }
  return tsr_lower_copies(lowering, op, part, 1);
}

tsr_status tsr_lower_reverse(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  tsr_copy_part *part = NULL;
  TSR_TRY(start_copy(lowering, op, &part));
  part->copy = tsr_copy_over(operand, operand, operand);
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    tsr_copy_loop *loop = &part->copy.loops[tsr_attr_int_at(dims, i)];
    part->copy.from += (loop->count - 1) * loop->from;
    loop->from = -loop->from;
  }
  return tsr_lower_copies(lowering, op, part, 1);
}

// ---- several copies ----

tsr_status tsr_lower_concatenate(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *result = op->results[0].type;
  const int64_t dim = tsr_op_int(op, "dimension", 0);
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_copy_part *parts = tsr_copy_parts_create(lowering, op->operand_count);
  TSR_NEED(parts);
  int64_t at = 0;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *operand = tsr_operand_type(op, i);
    parts[i] = (tsr_copy_part){.input = i, .copy = tsr_copy_over(operand, operand, result)};
    parts[i].copy.to = at * parts[i].copy.loops[dim].to;
    at += operand->dims[dim];
  }
  return tsr_lower_copies(lowering, op, parts, op->operand_count);
}

// How one dimension of the result of a pad is made: element `first` + i of the operand, i less than
// `count`, stands at `at` + i * `step`; all other places are padding.
typedef struct padded_dim {
  int64_t first, count, at, step;
} padded_dim;

// Edges may be negative, so elements of the operand may be missing. The sizes of the result are
// right, but edges and steps may be of any size.
static padded_dim pad_dim(const tsr_op *op, int d) {
  __extension__ typedef __int128 wide;
  const int64_t size = tsr_operand_type(op, 0)->dims[d], space = op->results[0].type->dims[d];
  const wide low = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_low"), d);
  const wide step = (wide)tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), d) + 1;
  const wide first = low < 0 ? (-low + step - 1) / step : 0;
  wide end = low < space ? (space - 1 - low) / step + 1 : 0;
  end = end > size ? size : end;
  if (first >= end) return (padded_dim){.step = 1};
  const bool single = end - first == 1;  // its step does not matter
  return (padded_dim){(int64_t)first, (int64_t)(end - first), (int64_t)(low + first * step),
                      single ? 1 : (int64_t)step};
}

// A box of padding: dims before `dim` where the operand stands, `count` by `gap` places of `dim`
// from `at` on, all of the dims after it.
static void add_padding(const tsr_type *result, const padded_dim *dims, int dim, int64_t at,
                        int64_t count, int64_t gap, tsr_copy_part *part) {
  tsr_copy copy = tsr_copy_over(result, NULL, result);
  copy.to = at * copy.loops[dim].to;
  for (int d = 0; d < dim; d++) {
    copy.to += dims[d].at * copy.loops[d].to;
    copy.loops[d].count = dims[d].count;
    copy.loops[d].to *= dims[d].step;
  }
  const int64_t stride = copy.loops[dim].to;
  for (int d = result->rank; d > dim; d--) copy.loops[d] = copy.loops[d - 1];
  copy.loops[dim] = (tsr_copy_loop){count, 0, dims[dim].step * stride};
  copy.loops[dim + 1] = (tsr_copy_loop){gap, 0, stride};
  copy.loop_count++;
  *part = (tsr_copy_part){.input = 1, .copy = copy};
}

// The padding of dimension `dim`: before the operand, after it, between its elements.
static int pad_around(const tsr_type *result, const padded_dim *dims, int dim,
                      tsr_copy_part *parts) {
  const padded_dim *d = &dims[dim];
  const int64_t end = d->count ? d->at + (d->count - 1) * d->step + 1 : 0;
  int count = 0;
  add_padding(result, dims, dim, 0, 1, d->at, &parts[count++]);
  add_padding(result, dims, dim, end, 1, result->dims[dim] - end, &parts[count++]);
  if (d->count > 1)
    add_padding(result, dims, dim, d->at + 1, d->count - 1, d->step - 1, &parts[count++]);
  return count;
}

tsr_status tsr_lower_pad(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *operand = tsr_operand_type(op, 0), *result = op->results[0].type;
  TSR_TRY(tsr_check_ranks(lowering, op));
  tsr_copy_part *parts = tsr_copy_parts_create(lowering, 3 * (int64_t)operand->rank + 1);
  TSR_NEED(parts);
  tsr_copy copy = tsr_copy_over(operand, operand, result);
  padded_dim dims[TSR_MAX_RANK];
  int count = 1;
  for (int d = 0; d < operand->rank; d++) {
    dims[d] = pad_dim(op, d);
    tsr_copy_loop *loop = &copy.loops[d];
    copy.from += dims[d].first * loop->from;
    copy.to += dims[d].at * loop->to;
    *loop = (tsr_copy_loop){dims[d].count, loop->from, loop->to * dims[d].step};
    count += pad_around(result, dims, d, parts + count);
  }
  parts[0].copy = copy;
  return tsr_lower_copies(lowering, op, parts, count);
}

// ---- numbers and bits ----

tsr_status tsr_lower_iota(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  const int64_t dim = tsr_op_int(op, "iota_dimension", 0);
  int slot = -1;
  TSR_TRY(tsr_check_ranks(lowering, op));
  if (tsr_type_element_count(type) == 0) return tsr_slot_create(lowering, &op->results[0], &slot);
  tsr_iota iota = {type->dtype, 1, type->dims[dim], tsr_type_element_count(type)};
  for (int64_t d = dim + 1; d < type->rank; d++) iota.inner *= type->dims[d];
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, tsr_iota_run, &iota, sizeof iota, &step);
}

tsr_status tsr_lower_bitcast(tsr_lowering *lowering, tsr_op *op) {
  tsr_value *operand = tsr_op_operand(op, 0), *result = &op->results[0];
  tsr_scalar_type from, to;
  TSR_TRY(tsr_check_ranks(lowering, op));
  if (!tsr_scalar_type_of(operand->type, &from) || !tsr_scalar_type_of(result->type, &to))
    return tsr_lower_none(lowering, op);
  // Bytes are numbered as bits are, the low ones first.
  if (from.bits >= 8 && to.bits >= 8) return tsr_slot_view(lowering, result, operand, 0);
  if (operand->type->dtype == result->type->dtype)
    return tsr_slot_view(lowering, result, operand, 0);
  const tsr_bitcast cast = {from.bits, to.bits, to.kind == TSR_CLASS_SIGNED,
                            tsr_type_element_count(result->type)};
  tsr_schedule_step *step = NULL;
  return tsr_lower_kernel(lowering, op, tsr_bitcast_run, &cast, sizeof cast, &step);
}
