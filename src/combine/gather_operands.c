// gather-operands: a product or convolution over a dim that is sharded in one operand only. Shardy
// slices the other operand, which all devices hold, and reduces the products. Gathering the first
// operand moves less where it is smaller than two results.
#include "base/arithmetic.h"
#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/cut_values.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "simplify/rewriter.h"

typedef struct split_product {
  tsr_op *reduce, *product, *slice;
  int sharded;                    // the operand to be gathered; the other one is sliced
  int64_t dims[2][TSR_MAX_RANK];  // of both operands that are summed over, in pairs
  int64_t pairs;
} split_product;

// What an operand keeps of its axes, and what goes, for each dim.
typedef struct operand_axes {
  tsr_sdy_parts kept[TSR_MAX_RANK], gone[TSR_MAX_RANK];
} operand_axes;

static void find_pairs(split_product *p) {
  const tsr_attr *numbers = tsr_op_attr(p->product, "dot_dimension_numbers");
  if (tsr_op_is(p->product, TSR_OP_CONVOLUTION)) {
    numbers = tsr_op_attr(p->product, "dimension_numbers");
    p->dims[0][0] = tsr_attr_field(numbers, TSR_CONV_INPUT_FEATURE)->integer;
    p->dims[1][0] = tsr_attr_field(numbers, TSR_CONV_KERNEL_INPUT_FEATURE)->integer;
    p->pairs = 1;
    return;
  }
  const tsr_attr *const lists[] = {tsr_attr_field(numbers, TSR_DOT_LHS_CONTRACTING),
                                   tsr_attr_field(numbers, TSR_DOT_RHS_CONTRACTING)};
  p->pairs = tsr_attr_int_count(lists[0]);
  for (int64_t i = 0; i < 2 * p->pairs; i++)
    p->dims[i % 2][i / 2] = tsr_attr_int_at(lists[i % 2], i / 2);
}

static bool find_product(tsr_op *reduce, split_product *out) {
  tsr_op *product = tsr_op_operand(reduce, 0)->def;
  if (!tsr_op_is(product, TSR_OP_DOT_GENERAL) && !tsr_op_is(product, TSR_OP_CONVOLUTION))
    return false;
  if (!tsr_value_has_one_use(tsr_op_result(product, 0)) ||
      tsr_reduction_of(reduce) != TSR_SDY_REDUCTION_SUM)
    return false;
  for (int i = 0; i < 2; i++) {
    tsr_op *slice = tsr_op_operand(product, i)->def;
    if (!tsr_op_is(slice, TSR_OP_SDY_ALL_SLICE) ||
        tsr_operand_type(product, 0)->rank > TSR_MAX_RANK ||
        tsr_operand_type(product, 1)->rank > TSR_MAX_RANK)
      continue;
    *out = (split_product){.reduce = reduce, .product = product, .slice = slice, .sharded = 1 - i};
    find_pairs(out);
    return true;
  }
  return false;
}

// Takes axes off the end of a list: `out_rest` is what is left. False if they are not its end.
static bool take_end(tsr_arena *arena, const tsr_attr *mesh, const tsr_sdy_parts *list,
                     const tsr_sdy_parts *end, tsr_sdy_parts *out_rest) {
  if (!tsr_parts_minus(arena, mesh, list, end, out_rest)) return false;
  if (tsr_parts_size(out_rest) * tsr_parts_size(end) != tsr_parts_size(list)) return false;
  if (out_rest->count && tsr_parts_prefix(out_rest, list) == TSR_PREFIX_NOT) return false;
  if (end->count <= 1) return true;
  const tsr_sdy_parts tail = {list->items + list->count - end->count, end->count};
  return end->count <= list->count && tsr_sdy_parts_equal(&tail, end);
}

// The axes that a pair of dims is summed along: all that one of them has, and the minor ones of the
// other, which may have those of groups before. `out_size` becomes 0 where it is otherwise.
static void read_pair(tsr_arena *arena, const split_product *p, int64_t pair,
                      const tsr_tensor_sharding *whole, const tsr_tensor_sharding *sliced,
                      operand_axes *gathered, operand_axes *cut, int64_t *out_size) {
  const int64_t to = p->dims[p->sharded][pair], from = p->dims[1 - p->sharded][pair];
  const tsr_sdy_parts *a = &whole->dims[to].axes, *b = &sliced->dims[from].axes;
  const tsr_sdy_parts *summed = tsr_parts_size(a) <= tsr_parts_size(b) ? a : b;
  tsr_sdy_parts left = {NULL, 0};
  gathered->gone[to] = *summed;
  *out_size = tsr_saturated_multiply(*out_size, tsr_parts_size(summed));
  if (!take_end(arena, whole->mesh, a, summed, &gathered->kept[to]) ||
      !take_end(arena, whole->mesh, b, summed, &left) ||
      !take_end(arena, whole->mesh, &cut->gone[from], summed, &cut->kept[from]))
    *out_size = 0;
  cut->gone[from] = cut->kept[from];  // what it is sliced along still
  cut->kept[from] = left;
}

// The axes of both operands once the product is not split. `out_size` is the number of parts of the
// sum; 0 = it is split otherwise than along these axes.
static tsr_status read_axes(tsr_arena *arena, tsr_ir *ir, const split_product *p,
                            operand_axes *gathered, operand_axes *cut, int64_t *out_size) {
  const tsr_attr *lists =
      tsr_attr_field(tsr_op_attr(p->slice, "slicing_axes"), TSR_SDY_AXIS_LISTS_LISTS);
  const tsr_tensor_sharding *whole = NULL, *sliced = NULL;
  tsr_sdy_parts reduced;
  *out_size = 0;
  TSR_TRY(tsr_cut_of_value(arena, ir, tsr_op_operand(p->product, p->sharded), &whole));
  TSR_TRY(tsr_cut_of_value(arena, ir, tsr_op_result(p->slice, 0), &sliced));
  if (!whole || !sliced) return NULL;
  for (int d = 0; d < whole->rank; d++) gathered->kept[d] = whole->dims[d].axes;
  for (int d = 0; d < sliced->rank; d++) {
    cut->kept[d] = sliced->dims[d].axes;
    TSR_TRY(tsr_sdy_parts_make(arena, sliced->mesh,
                               tsr_attr_field(lists->items[d], TSR_SDY_AXIS_LIST_AXES),
                               &cut->gone[d]));
  }
  int64_t size = 1;
  for (int64_t i = 0; i < p->pairs; i++)
    read_pair(arena, p, i, whole, sliced, gathered, cut, &size);
  TSR_TRY(tsr_sdy_parts_make(arena, whole->mesh,
                             tsr_attr_field(tsr_reduced_axes(p->reduce), TSR_SDY_AXIS_LIST_AXES),
                             &reduced));
  if (size > 1 && size == tsr_parts_size(&reduced)) *out_size = size;
  return NULL;
}

// A collective before the product that leaves `x` with other axes.
static tsr_status add_move(tsr_rewriter *r, tsr_arena *arena, const split_product *p, tsr_value *x,
                           const tsr_tensor_sharding *cut, const operand_axes *axes, bool gathers,
                           tsr_value **out) {
  tsr_tensor_sharding *copy = tsr_sharding_copy(arena, cut);
  tsr_dim_sharding *dims =
      copy ? tsr_arena_zeros(arena, (size_t)cut->rank + 1, sizeof *dims) : NULL;
  TSR_NEED(dims);
  for (int d = 0; d < cut->rank; d++) {
    dims[d] = cut->dims[d];
    dims[d].axes = axes->kept[d];
  }
  copy->dims = dims;
  const tsr_collective_parts parts = {
      .id = gathers ? TSR_OP_SDY_ALL_GATHER : TSR_OP_SDY_ALL_SLICE,
      .name = gathers ? "gathering_axes" : "slicing_axes",
      .axes = tsr_axis_lists_attr(r->ir, cut->mesh, axes->gone, cut->rank),
      .sharding = tsr_sharding_attr(r->ir, copy)};
  tsr_op *made = tsr_collective_create(r->ir, p->product, x, &parts);
  TSR_NEED(made);
  tsr_op_insert_before(p->product, made);
  *out = tsr_op_result(made, 0);
  return NULL;
}

static tsr_status gather_operand(tsr_rewriter *r, tsr_arena *arena, const split_product *p,
                                 const operand_axes *gathered, const operand_axes *cut) {
  const tsr_tensor_sharding *whole = NULL, *sliced = NULL;
  tsr_value *operand = tsr_op_operand(p->product, p->sharded), *other = tsr_op_operand(p->slice, 0);
  bool slices = false;
  TSR_TRY(tsr_cut_of_value(arena, r->ir, operand, &whole));
  TSR_TRY(tsr_cut_of_value(arena, r->ir, tsr_op_result(p->slice, 0), &sliced));
  TSR_TRY(add_move(r, arena, p, operand, whole, gathered, true, &operand));
  for (int d = 0; d < sliced->rank; d++) slices |= cut->gone[d].count > 0;
  if (slices) TSR_TRY(add_move(r, arena, p, other, sliced, cut, false, &other));
  tsr_op_set_operand(p->product, p->sharded, operand);
  tsr_op_set_operand(p->product, 1 - p->sharded, other);
  if (!tsr_op_result(p->slice, 0)->uses)
    TSR_TRY(tsr_rewriter_replace(r, p->slice, tsr_op_operand(p->slice, 0)));
  return tsr_rewriter_replace(r, p->reduce, tsr_op_result(p->product, 0));
}

static tsr_status choose(tsr_rewriter *r, tsr_arena *arena, const split_product *p) {
  operand_axes gathered = {0}, cut = {0};
  int64_t size = 0, operand = 0, result = 0;
  TSR_TRY(read_axes(arena, r->ir, p, &gathered, &cut, &size));
  if (!size) return NULL;
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_operand(p->product, p->sharded), &operand));
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_result(p->product, 0), &result));
  if (operand > INT64_MAX / size || operand * (size - 1) / 2 >= result) return NULL;
  return gather_operand(r, arena, p, &gathered, &cut);
}

static tsr_status visit_reduce(tsr_rewriter *r, tsr_op *op) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  split_product product;
  if (!find_product(op, &product)) return NULL;
  tsr_status status = choose(r, &arena, &product);
  tsr_arena_deinit(&arena);
  return status;
}

// ---- dynamic slices ----

// The sharded dims that a dynamic slice takes a part of, as bits.
static uint32_t cut_dims(const tsr_op *slice, const tsr_tensor_sharding *cut) {
  uint32_t dims = 0;
  for (int d = 0; d < cut->rank; d++)
    if (cut->dims[d].axes.count &&
        tsr_operand_type(slice, 0)->dims[d] != slice->results[0].type->dims[d])
      dims |= UINT32_C(1) << d;
  return dims;
}

static bool is_slice_of(const tsr_use *use, const tsr_op *first, const tsr_tensor_sharding *cut,
                        uint32_t dims) {
  return tsr_op_is(use->user, TSR_OP_DYNAMIC_SLICE) && use == &use->user->operands[0] &&
         use->user->block == first->block && cut_dims(use->user, cut) == dims;
}

// What each of the slices would reduce: twice its result.
static tsr_status bytes_of_slices(tsr_ir *ir, const tsr_op *first, const tsr_tensor_sharding *cut,
                                  uint32_t dims, int64_t *out_bytes) {
  *out_bytes = 0;
  for (const tsr_use *use = tsr_op_operand(first, 0)->uses; use; use = use->next) {
    int64_t bytes = 0;
    if (!is_slice_of(use, first, cut, dims)) continue;
    TSR_TRY(tsr_cut_bytes(ir, tsr_op_result(use->user, 0), &bytes));
    *out_bytes = tsr_saturated_add(*out_bytes, tsr_saturated_multiply(2, bytes));
  }
  return NULL;
}

static tsr_status gather_sliced(tsr_rewriter *r, tsr_arena *arena, tsr_op *first,
                                const tsr_tensor_sharding *cut, uint32_t dims) {
  tsr_value *whole = tsr_op_operand(first, 0);
  tsr_sdy_parts lists[TSR_MAX_RANK] = {{NULL, 0}};
  tsr_tensor_sharding *copy = tsr_sharding_copy(arena, cut);
  tsr_dim_sharding *made =
      copy ? tsr_arena_zeros(arena, (size_t)cut->rank + 1, sizeof *made) : NULL;
  TSR_NEED(made);
  for (int d = 0; d < cut->rank; d++) {
    made[d] = cut->dims[d];
    if (!(dims >> d & 1)) continue;
    lists[d] = cut->dims[d].axes;
    made[d].axes.count = 0;
  }
  copy->dims = made;
  const tsr_collective_parts parts = {
      .id = TSR_OP_SDY_ALL_GATHER,
      .name = "gathering_axes",
      .axes = tsr_axis_lists_attr(r->ir, cut->mesh, lists, cut->rank),
      .sharding = tsr_sharding_attr(r->ir, copy)};
  tsr_op *gather = tsr_collective_create(r->ir, first, whole, &parts);
  TSR_NEED(gather);
  tsr_op_insert_after_value(whole, gather);
  for (tsr_use *use = whole->uses, *next = NULL; use; use = next) {
    next = use->next;
    if (is_slice_of(use, first, cut, dims))
      tsr_op_set_operand(use->user, 0, tsr_op_result(gather, 0));
  }
  r->changes++;
  return NULL;
}

// Several slices of one value at places that are known in the run only.
static tsr_status choose_sliced(tsr_rewriter *r, tsr_arena *arena, tsr_op *op) {
  const tsr_tensor_sharding *cut = NULL;
  int64_t shards = 1, local = 0, slices = 0;
  if (tsr_operand_type(op, 0)->rank > TSR_MAX_RANK) return NULL;
  TSR_TRY(tsr_cut_of_value(arena, r->ir, tsr_op_operand(op, 0), &cut));
  const uint32_t dims = cut ? cut_dims(op, cut) : 0;
  if (!dims) return NULL;
  for (int d = 0; d < cut->rank; d++)
    if (dims >> d & 1) shards = tsr_saturated_multiply(shards, tsr_cut_count(cut, d));
  TSR_TRY(tsr_cut_bytes(r->ir, tsr_op_operand(op, 0), &local));
  TSR_TRY(bytes_of_slices(r->ir, op, cut, dims, &slices));
  if (tsr_saturated_multiply(shards - 1, local) >= slices) return NULL;
  return gather_sliced(r, arena, op, cut, dims);
}

static tsr_status visit_slice(tsr_rewriter *r, tsr_op *op) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = choose_sliced(r, &arena, op);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_status tsr_pass_gather_operands(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  static const tsr_rewrite_rule rules[] = {{TSR_OP_SDY_ALL_REDUCE, visit_reduce},
                                           {TSR_OP_DYNAMIC_SLICE, visit_slice}};
  const tsr_rewrite_set set = TSR_REWRITE_SET(rules);
  return tsr_rewrite(ir, options, &set, 1, changes);
}
