// pad-uneven: dims that their axes do not divide are padded at their end, in all values that are
// cut so. A reshard from whole dims pads them, one to whole dims trims them; everything after this
// pass sees dims that are divided.
//
// What the padding holds is not known, and must not reach elements inside: an op that treats the
// indices of a dim one by one runs as it is; one that combines them gets the padding masked, with
// what changes nothing; one that moves elements moves them by the sizes that were. A table says
// which op is served in which dims, and how; other dims were gathered before (gather-uneven).
#include "spmd/pad_uneven.h"

#include <string.h>

#include "base/arithmetic.h"
#include "factor/rule_build.h"
#include "localize/exchange.h"
#include "propagate/edits.h"
#include "resolve/padding.h"
#include "spmd/spmd_passes.h"
#include "verify/verify.h"

// ---- which dims ----

static const tsr_type *type_of_tensor(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_operand_type(op, tensor)
                                    : op->results[tensor - op->operand_count].type;
}

// The factor that is all of a dim; -1 = it has several.
static int factor_of_dim(const tsr_op_rule *rule, int tensor, int dim) {
  const int first = tsr_rule_dim(rule, tensor, dim);
  return tsr_rule_dim(rule, tensor, dim + 1) == first + 1 ? rule->places[first].factor : -1;
}

// Whether a factor is all of each dim that has it, and these are of one size.
static bool is_of_whole_dims(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  int64_t size = -1;
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    const tsr_type *type = type_of_tensor(op, place->tensor);
    if (factor_of_dim(rule, place->tensor, place->dim) != factor) return false;
    if (type->kind != TSR_TYPE_TENSOR || (size >= 0 && type->dims[place->dim] != size))
      return false;
    size = type->dims[place->dim];
  }
  return true;
}

static bool is_in_result(const tsr_op_rule *rule, int factor) {
  const tsr_rule_place *last = &rule->places[rule->uses[rule->used[factor + 1] - 1]];
  return last->tensor >= rule->operand_count;
}

typedef bool serve_fn(const tsr_op *op, const tsr_op_rule *rule, int factor);

// The indices of the dim are treated one by one.
static bool serves_passed(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  return rule->factors[factor].kind == TSR_FACTOR_PASS && is_of_whole_dims(op, rule, factor) &&
         is_in_result(rule, factor);
}

static bool serves_summed(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  return serves_passed(op, rule, factor) ||
         (rule->factors[factor].kind == TSR_FACTOR_REDUCTION && is_of_whole_dims(op, rule, factor));
}

// Dims that a reduction keeps, and others where initial values may be met again: partition-rules
// has looked at its body, and asks for whole dims otherwise.
static bool serves_reduced(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  if (is_in_result(rule, factor)) return serves_passed(op, rule, factor);
  return rule->factors[factor].kind != TSR_FACTOR_NEED_REPLICATION;
}

static bool serves_moved(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  (void)op;
  return rule->factors[factor].kind == TSR_FACTOR_PERMUTATION ||
         rule->factors[factor].kind == TSR_FACTOR_PASS;
}

static bool serves_joined(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  return serves_passed(op, rule, factor) || (rule->factors[factor].kind == TSR_FACTOR_PERMUTATION &&
                                             op->operand_count <= TSR_MOST_JOINED);
}

static bool serves_windows(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  return rule->factors[factor].kind == TSR_FACTOR_PERMUTATION || serves_passed(op, rule, factor);
}

// A sliced dim that the result does not have is looked at by all devices.
static bool serves_sliced(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  return rule->factors[factor].kind == TSR_FACTOR_PASS && is_of_whole_dims(op, rule, factor);
}

// Dims of updates that are combined: their indices are marked as outside, if they can be.
static bool serves_scattered(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  const tsr_type *indices = tsr_operand_type(op, op->result_count);
  const int64_t at =
      tsr_attr_field(tsr_op_attr(op, "scatter_dimension_numbers"), TSR_SCATTER_INDEX_VECTOR_DIM)
          ->integer;
  if (serves_passed(op, rule, factor)) return true;
  return rule->factors[factor].kind == TSR_FACTOR_REDUCTION && is_of_whole_dims(op, rule, factor) &&
         indices->element->sign != TSR_UNSIGNED && (at == indices->rank || indices->dims[at] > 0);
}

// Whether a factor is a part of the windows of a convolution.
static bool is_in_windows(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  const tsr_attr *dims =
      tsr_attr_field(tsr_op_attr(op, "dimension_numbers"), TSR_CONV_KERNEL_SPATIAL);
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    if (place->tensor == 1 && tsr_ints_have(dims, place->dim)) return true;
  }
  return false;
}

// Groups of features are no whole dims of all tensors.
static bool serves_convolved(const tsr_op *op, const tsr_op_rule *rule, int factor) {
  const bool grouped =
      tsr_op_int(op, "feature_group_count", 1) > 1 || tsr_op_int(op, "batch_group_count", 1) > 1;
  if (rule->factors[factor].kind == TSR_FACTOR_PERMUTATION) return true;
  return !grouped && !is_in_windows(op, rule, factor) && serves_summed(op, rule, factor);
}

// ---- reshards ----

static int64_t common_multiple(int64_t a, int64_t b) {
  return tsr_saturated_multiply(a / tsr_gcd(a, b), b);
}

// Pads or trims a value at the ends of its dims.
static tsr_value *resize(tsr_padding *p, tsr_site *site, tsr_value *x, const tsr_type *type,
                         const tsr_attr *sharding) {
  const tsr_type *whole = tsr_padding_whole(p, x);
  const bool zeros = tsr_padding_is_zeros(p, x) || !tsr_is_padded(p, x);
  bool grows = false;
  if (x->type == type) return x;
  for (int d = 0; d < type->rank; d++) grows |= type->dims[d] > x->type->dims[d];
  tsr_value *made = NULL;
  if (grows) {
    tsr_value *zero = tsr_site_zeros(site, tsr_site_scalar(site, type));
    made = tsr_site_pad_end(site, x, zero, type);
  } else {
    made = tsr_site_slice(site, x, NULL, type->dims);
  }
  made = tsr_site_shard(site, made, sharding);
  if (made && !site->failure) site->failure = tsr_padding_record(p, made, whole, zeros);
  return site->failure ? NULL : made;
}

// A reshard moves tensors whose dims are divided by the shards before it and after it: the operand
// is padded to such a size, and what comes out is trimmed.
static tsr_status pad_reshard(tsr_padding *p, tsr_op *op) {
  int64_t dims[TSR_MAX_RANK];
  tsr_value *from = tsr_op_operand(op, 0), *to = tsr_op_result(op, 0);
  const tsr_type *whole = tsr_padding_whole(p, from);
  const tsr_tensor_sharding *in = NULL, *out = NULL;
  const tsr_attr *before = NULL, *after = NULL;
  TSR_TRY(tsr_cut_of_value(&p->scratch, p->ir, from, &in));
  TSR_TRY(tsr_cut_of_value(&p->scratch, p->ir, to, &out));
  TSR_TRY(tsr_sharding_get(p->ir, from, &before));
  TSR_TRY(tsr_sharding_get(p->ir, to, &after));
  for (int d = 0; d < whole->rank; d++) {
    const int64_t shards =
        common_multiple(in ? tsr_cut_count(in, d) : 1, out ? tsr_cut_count(out, d) : 1);
    dims[d] = tsr_even_size(whole->dims[d], shards);
    if (dims[d] < 0)
      return tsr_fail(TOO_LARGE, "dimension %d of size %lld is too large to be padded", d,
                      (long long)whole->dims[d]);
  }
  const tsr_type *moved = tsr_type_tensor(p->ir, whole->element, whole->rank, dims, NULL);
  TSR_NEED(moved);
  tsr_site site = tsr_padding_site(p, op);
  tsr_value *x = resize(p, &site, from, moved, before);
  if (site.failure) return site.failure;
  const bool zeros = tsr_padding_is_zeros(p, x);
  tsr_op_set_operand(op, 0, x);
  if (to->type == moved) {
    p->records[to->mark].zeros = zeros;
    return NULL;
  }
  // What the users see is trimmed; the reshard itself keeps the larger type.
  const tsr_type *trimmed = to->type;
  site.place = op->next;
  to->type = moved;
  TSR_TRY(tsr_padding_record(p, to, whole, zeros));
  tsr_value *made = resize(p, &site, to, trimmed, after);
  if (site.failure) return site.failure;
  tsr_uses_move(to, made, made->def);
  made->def->mark = 1;  // the walk comes to it next
  return NULL;
}

// ---- sums ----

// Of vectors and matrices: the last dim of the first by the first dim of the second.
static tsr_status pad_old_product(tsr_padding *p, tsr_op *op) {
  const tsr_attr *last = tsr_attr_i64(p->ir, tsr_operand_type(op, 0)->rank - 1);
  const tsr_attr *first = tsr_attr_i64(p->ir, 0);
  TSR_NEED(last && first ? op : NULL);
  TSR_TRY(tsr_padding_mask_zeros(p, op, 0, NULL, last));
  return tsr_padding_mask_zeros(p, op, 1, NULL, first);
}

// ---- windows ----

// By how much a dim of a value is padded.
static int64_t added(const tsr_padding *p, const tsr_value *value, int64_t dim) {
  return value->type->dims[dim] - tsr_padding_whole(p, value)->dims[dim];
}

// The pairs of padding of an op of windows, with room for one more pair each.
static tsr_status set_window_padding(tsr_padding *p, tsr_op *op, const int64_t *pairs, int count) {
  const int64_t shape[] = {count, 2};
  const tsr_type *type = tsr_type_shaped(p->ir, TSR_I64, 2, shape);
  int64_t *bytes = tsr_ir_alloc(p->ir, (2 * (size_t)count + 1) * sizeof *bytes);
  TSR_NEED(type && bytes ? op : NULL);
  for (int i = 0; i < 2 * count; i++) bytes[i] = pairs[i];
  const tsr_attr *attr = tsr_attr_dense(p->ir, type, bytes, 2 * (size_t)count * sizeof *bytes);
  TSR_NEED(attr);
  return tsr_op_attr_set(p->ir, op, "padding", attr);
}

// The last windows of the padded result need as much more of the operand: `grown` is what the
// operand has more of already, with its gaps.
static int64_t more_padding(int64_t high, int64_t grown, int64_t windows, int64_t stride) {
  return high - grown + windows * stride;
}

static tsr_status pad_convolution_windows(tsr_padding *p, tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *inputs = tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL);
  const tsr_attr *outputs = tsr_attr_field(dims, TSR_CONV_OUTPUT_SPATIAL);
  const int count = (int)tsr_attr_int_count(inputs);
  int64_t pairs[2 * TSR_MAX_RANK];
  bool changed = false;
  for (int i = 0; i < count; i++) {
    const int64_t in = added(p, tsr_op_operand(op, 0), tsr_attr_int_at(inputs, i));
    const int64_t out = added(p, tsr_op_result(op, 0), tsr_attr_int_at(outputs, i));
    const int64_t high = tsr_list_number(op, "padding", 2 * i + 1, 0);
    pairs[2 * i] = tsr_list_number(op, "padding", 2 * i, 0);
    pairs[2 * i + 1] = more_padding(high, in * tsr_list_number(op, "lhs_dilation", i, 1), out,
                                    tsr_list_number(op, "window_strides", i, 1));
    changed |= pairs[2 * i + 1] != high;
  }
  return changed ? set_window_padding(p, op, pairs, count) : NULL;
}

static tsr_status pad_convolution(tsr_padding *p, tsr_op *op) {
  const tsr_attr *dims = tsr_op_attr(op, "dimension_numbers");
  TSR_TRY(tsr_padding_mask_zeros(p, op, 0, tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL),
                                 tsr_attr_field(dims, TSR_CONV_INPUT_FEATURE)));
  TSR_TRY(
      tsr_padding_mask_zeros(p, op, 1, NULL, tsr_attr_field(dims, TSR_CONV_KERNEL_INPUT_FEATURE)));
  return pad_convolution_windows(p, op);
}

// Whether a dim of `size` is reduced cumulatively: each window begins, or ends, where the dim does.
static bool is_running(const tsr_op *op, int dim, int64_t size, const int64_t *pair) {
  const bool whole = (pair[0] == size - 1 && !pair[1]) || (pair[1] == size - 1 && !pair[0]);
  return whole && tsr_list_number(op, "window_dimensions", dim, 1) == size &&
         tsr_list_number(op, "window_strides", dim, 1) == 1 &&
         tsr_list_number(op, "window_dilations", dim, 1) == 1 &&
         tsr_list_number(op, "base_dilations", dim, 1) == 1;
}

// Operands are masked with the initial values, which are what lies outside of them anyway. A
// cumulative reduction stays one: its windows grow with the dim.
static tsr_status pad_windows(tsr_padding *p, tsr_op *op) {
  const tsr_type *whole = tsr_padding_whole(p, tsr_op_operand(op, 0));
  int64_t pairs[2 * TSR_MAX_RANK], sizes[TSR_MAX_RANK];
  bool masked[TSR_MAX_RANK] = {false};
  for (int d = 0; d < whole->rank; d++) {
    const int64_t in = added(p, tsr_op_operand(op, 0), d), out = added(p, tsr_op_result(op, 0), d);
    int64_t *pair = pairs + (ptrdiff_t)2 * d;
    for (int k = 0; k < 2; k++) pair[k] = tsr_list_number(op, "padding", 2 * d + k, 0);
    sizes[d] = tsr_list_number(op, "window_dimensions", d, 1);
    masked[d] =
        sizes[d] > 1 || pair[0] || pair[1] || tsr_list_number(op, "window_strides", d, 1) > 1;
    if (is_running(op, d, whole->dims[d], pair) && in == out) {
      sizes[d] += in;
      pair[pair[0] ? 0 : 1] += in;
    } else {
      pair[1] = more_padding(pair[1], in * tsr_list_number(op, "base_dilations", d, 1), out,
                             tsr_list_number(op, "window_strides", d, 1));
    }
  }
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_padding_mask(p, op, i, tsr_op_operand(op, op->result_count + i), masked, false));
  TSR_TRY(tsr_padding_ints(p, op, "window_dimensions", sizes, whole->rank));
  return set_window_padding(p, op, pairs, whole->rank);
}

// ---- elements that move ----

// Sizes in a list of an op's: those of dims of `value` that are padded.
static tsr_status pad_sizes(tsr_padding *p, tsr_op *op, const char *name, const tsr_value *value) {
  int64_t sizes[TSR_MAX_RANK];
  for (int d = 0; d < value->type->rank; d++)
    sizes[d] = tsr_attr_int_at(tsr_op_attr(op, name), d) + added(p, value, d);
  return tsr_padding_ints(p, op, name, sizes, value->type->rank);
}

// The largest number of an integer type, or `limit` if that is smaller.
static int64_t index_limit(const tsr_type *type, int64_t limit) {
  const tsr_type *element = tsr_type_element(type);
  const int bits = tsr_type_bits(element) - (element->sign != TSR_UNSIGNED);
  return bits >= 63 || limit < INT64_C(1) << bits ? limit : (INT64_C(1) << bits) - 1;
}

// Starts of slices are moved back such that slices end inside the whole dim, not the padded one:
// `first` is the operand that has the start of dim 0, slices are of the sizes of `slice`.
static tsr_status hold_starts(tsr_padding *p, tsr_op *op, int first, const tsr_value *slice) {
  const tsr_type *whole = tsr_padding_whole(p, tsr_op_operand(op, 0));
  const tsr_type *taken = tsr_padding_whole(p, slice);
  tsr_site site = tsr_padding_site(p, op);
  for (int d = 0; d < whole->rank; d++) {
    tsr_value *start = tsr_op_operand(op, first + d);
    if (!added(p, tsr_op_operand(op, 0), d) || taken->dims[d] == whole->dims[d]) continue;
    const int64_t limit = index_limit(start->type, whole->dims[d] - taken->dims[d]);
    tsr_value *last = tsr_site_number(&site, start->type, (double)limit);
    start = tsr_site_binary(&site, TSR_OP_MINIMUM, start, last);
    if (site.failure) return site.failure;
    TSR_NEED(start);
    tsr_op_set_operand(op, first + d, start);
  }
  return NULL;
}

static tsr_status pad_dynamic_slice(tsr_padding *p, tsr_op *op) {
  TSR_TRY(hold_starts(p, op, 1, tsr_op_result(op, 0)));
  return pad_sizes(p, op, "slice_sizes", tsr_op_result(op, 0));
}

static tsr_status pad_dynamic_update(tsr_padding *p, tsr_op *op) {
  return hold_starts(p, op, 2, tsr_op_operand(op, 1));
}

// The last start of a slice along each dim that indices choose, in a list of their type.
static tsr_value *last_starts(tsr_padding *p, tsr_site *site, const tsr_op *op,
                              const tsr_type *indices) {
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *map = tsr_attr_field(numbers, TSR_GATHER_START_INDEX_MAP);
  const int64_t at = tsr_attr_field(numbers, TSR_GATHER_INDEX_VECTOR_DIM)->integer;
  const tsr_type *whole = tsr_padding_whole(p, tsr_op_operand(op, 0));
  const int64_t count = tsr_attr_int_count(map);
  const size_t width = tsr_type_element_bytes(indices->element);
  char *bytes = tsr_ir_alloc(p->ir, (size_t)count * width + 1);
  const bool listed = at < indices->rank;
  const tsr_type *type = tsr_type_tensor(p->ir, indices->element, listed, &count, NULL);
  if (!bytes || !type) {
    site->failure = tsr_fail(NO_MEMORY, "memory of a program");
    return NULL;
  }
  for (int64_t i = 0; i < count; i++) {
    const int64_t dim = tsr_attr_int_at(map, i);
    const int64_t last = index_limit(
        indices, whole->dims[dim] - tsr_attr_int_at(tsr_op_attr(op, "slice_sizes"), dim));
    memcpy(bytes + (size_t)i * width, &last, width);  // little-endian: the low bytes come first
  }
  const tsr_site_attr value = {"value", tsr_attr_dense(p->ir, type, bytes, (size_t)count * width)};
  tsr_value *list = tsr_site_add(site, TSR_OP_CONSTANT, type, NULL, 0, &value, 1);
  return tsr_site_broadcast(site, list, indices, &at);
}

// Indices are held inside the whole dims, as those of slices; whole dims stay whole.
static tsr_status pad_gather(tsr_padding *p, tsr_op *op) {
  int64_t sizes[TSR_MAX_RANK];
  const tsr_value *from = tsr_op_operand(op, 0);
  const tsr_type *whole = tsr_padding_whole(p, from);
  bool chosen = false;
  for (int d = 0; d < whole->rank; d++) {
    sizes[d] = tsr_attr_int_at(tsr_op_attr(op, "slice_sizes"), d);
    if (sizes[d] == whole->dims[d])
      sizes[d] = from->type->dims[d];
    else
      chosen |= added(p, from, d) > 0;
  }
  if (chosen) {
    tsr_value *indices = tsr_op_operand(op, 1);
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(p->ir, indices, &sharding));
    tsr_site site = tsr_padding_site(p, op);
    tsr_value *last = tsr_site_shard(&site, last_starts(p, &site, op, indices->type), sharding);
    tsr_value *held = tsr_site_binary(&site, TSR_OP_MINIMUM, indices, last);
    held = tsr_site_shard(&site, held, sharding);
    if (site.failure) return site.failure;
    TSR_NEED(held);
    TSR_TRY(tsr_padding_record(p, held, tsr_padding_whole(p, indices), false));
    tsr_op_set_operand(op, 1, held);
  }
  return tsr_padding_ints(p, op, "slice_sizes", sizes, whole->rank);
}

// Updates at the padded indices fall outside of the operand, which leaves them out.
static tsr_status pad_scatter(tsr_padding *p, tsr_op *op) {
  const int indices = op->result_count;
  tsr_site site = tsr_padding_site(p, op);
  if (!tsr_is_padded(p, tsr_op_operand(op, indices))) return NULL;
  const tsr_type *scalar = tsr_site_scalar(&site, tsr_operand_type(op, indices));
  tsr_value *outside = scalar ? tsr_site_number(&site, scalar, -1) : NULL;
  if (site.failure) return site.failure;
  TSR_NEED(outside);
  return tsr_padding_mask(p, op, indices, outside, NULL, false);
}

static tsr_status pad_pad(tsr_padding *p, tsr_op *op) {
  const tsr_value *in = tsr_op_operand(op, 0), *out = tsr_op_result(op, 0);
  int64_t high[TSR_MAX_RANK];
  bool masked[TSR_MAX_RANK] = {false};
  for (int d = 0; d < in->type->rank; d++) {
    const int64_t old = tsr_attr_int_at(tsr_op_attr(op, "edge_padding_high"), d);
    const int64_t gaps = tsr_attr_int_at(tsr_op_attr(op, "interior_padding"), d);
    high[d] = more_padding(old, added(p, in, d) * (gaps + 1), added(p, out, d), 1);
    masked[d] = old > 0;  // the operand's padding is where the op's own was
  }
  TSR_TRY(tsr_padding_mask(p, op, 0, tsr_op_operand(op, 1), masked, false));
  return tsr_padding_ints(p, op, "edge_padding_high", high, in->type->rank);
}

// A slice takes as much more as its result is padded by. Where the operand ends before, the dim is
// shifted to its start and padded first.
static tsr_status pad_slice(tsr_padding *p, tsr_op *op) {
  int64_t starts[TSR_MAX_RANK], limits[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  int64_t low[TSR_MAX_RANK] = {0}, high[TSR_MAX_RANK] = {0}, dims[TSR_MAX_RANK];
  tsr_value *x = tsr_op_operand(op, 0);
  const tsr_type *to = tsr_op_result(op, 0)->type;
  const int rank = to->rank;
  bool shifted = false;
  for (int d = 0; d < rank; d++) {
    starts[d] = tsr_attr_int_at(tsr_op_attr(op, "start_indices"), d);
    strides[d] = tsr_attr_int_at(tsr_op_attr(op, "strides"), d);
    limits[d] = tsr_attr_int_at(tsr_op_attr(op, "limit_indices"), d);
    dims[d] = x->type->dims[d];
    if (!added(p, x, d) && !added(p, tsr_op_result(op, 0), d)) continue;
    limits[d] = to->dims[d] ? starts[d] + (to->dims[d] - 1) * strides[d] + 1 : starts[d];
    if (limits[d] <= dims[d]) continue;
    shifted = true;
    low[d] = -starts[d];
    high[d] = starts[d] + to->dims[d] * strides[d] - dims[d];
    dims[d] = limits[d] = to->dims[d] * strides[d];
    starts[d] = 0;
  }
  if (shifted) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(p->ir, x, &sharding));
    tsr_site site = tsr_padding_site(p, op);
    tsr_value *zero = tsr_site_zeros(&site, tsr_site_scalar(&site, x->type));
    const tsr_type *type = tsr_site_sized(&site, x->type, dims);
    x = tsr_site_shard(&site, tsr_site_pad(&site, x, zero, type, low, high, NULL), sharding);
    if (site.failure) return site.failure;
    TSR_NEED(x);
    tsr_op_set_operand(op, 0, x);
  }
  TSR_TRY(tsr_padding_ints(p, op, "start_indices", starts, rank));
  return tsr_padding_ints(p, op, "limit_indices", limits, rank);
}

// Where an operand of a concatenation begins in the result, and the sharding that all pieces get.
typedef struct join_place {
  int dim;
  int64_t start;
  const tsr_attr *sharding;  // of the result
  const tsr_type *type;
} join_place;

// An operand at its place in a tensor of the size of the result.
static tsr_value *place_operand(tsr_padding *p, tsr_site *site, tsr_value *x,
                                const join_place *at) {
  int64_t low[TSR_MAX_RANK] = {0}, high[TSR_MAX_RANK] = {0};
  const tsr_attr *sharding = NULL;
  site->failure = tsr_sharding_get(p->ir, x, &sharding);
  if (site->failure) return NULL;
  low[at->dim] = at->start;
  high[at->dim] = at->type->dims[at->dim] - at->start - x->type->dims[at->dim];
  tsr_value *zero = tsr_site_zeros(site, tsr_site_scalar(site, at->type));
  tsr_value *made = tsr_site_pad(site, x, zero, at->type, low, high, NULL);
  made = tsr_site_shard(site, made, sharding);
  if (tsr_sharding_is_equivalent(sharding, at->sharding)) return made;
  const tsr_site_attr attr = {"sharding", at->sharding};
  return tsr_site_add(site, TSR_OP_SDY_RESHARD, at->type, &made, 1, &attr, 1);
}

// What comes before the place, and from there on what the operand has.
static tsr_value *join_pieces(tsr_padding *p, tsr_site *site, tsr_value *before, tsr_value *after,
                              const join_place *at) {
  const bool large = at->type->dims[at->dim] > INT32_MAX;
  const tsr_type *word = tsr_type_integer(p->ir, large ? 64 : 32, TSR_SIGNLESS);
  const tsr_type *indices = word ? tsr_site_retyped(site, at->type, word) : NULL;
  const tsr_site_attr dim = {"iota_dimension", tsr_attr_i64(p->ir, at->dim)};
  tsr_value *index = tsr_site_add(site, TSR_OP_IOTA, indices, NULL, 0, &dim, 1);
  tsr_value *start = tsr_site_integer(site, large ? 64 : 32, at->start);
  index = tsr_site_shard(site, index, at->sharding);
  start = tsr_site_shard(site, tsr_site_broadcast(site, start, indices, NULL), at->sharding);
  tsr_value *chosen = tsr_site_compare(site, index, start, TSR_DIRECTION_LT);
  tsr_value *const operands[] = {tsr_site_shard(site, chosen, at->sharding), before, after};
  tsr_value *made = tsr_site_add(site, TSR_OP_SELECT, at->type, operands, 3, NULL, 0);
  return tsr_site_shard(site, made, at->sharding);
}

// A concatenation along a padded dim: each operand is moved to its place, and covers the padding of
// the one before it.
static tsr_status pad_concatenation(tsr_padding *p, tsr_op *op) {
  tsr_value *result = tsr_op_result(op, 0), *joined = NULL;
  join_place at = {.dim = (int)tsr_op_int(op, "dimension", 0), .type = result->type};
  bool padded = added(p, result, at.dim) > 0;
  for (int i = 0; i < op->operand_count; i++) padded |= added(p, tsr_op_operand(op, i), at.dim) > 0;
  if (!padded) return NULL;
  TSR_TRY(tsr_sharding_get(p->ir, result, &at.sharding));
  tsr_site site = tsr_padding_site(p, op);
  for (int i = 0; i < op->operand_count; i++) {
    tsr_value *x = tsr_op_operand(op, i), *piece = place_operand(p, &site, x, &at);
    joined = joined ? join_pieces(p, &site, joined, piece, &at) : piece;
    if (site.failure) return site.failure;
    TSR_NEED(joined);
    at.start += tsr_padding_whole(p, x)->dims[at.dim];
  }
  TSR_TRY(tsr_padding_record(p, joined, tsr_padding_whole(p, result), false));
  tsr_value_replace(result, joined);
  tsr_op_erase(op);
  return NULL;
}

// ---- padding that stays zeros ----

static tsr_status keep_zeros(tsr_padding *p, tsr_op *op) {
  const tsr_value *result = tsr_op_result(op, 0);
  if (result->mark) p->records[result->mark].zeros = tsr_padding_is_zeros(p, tsr_op_operand(op, 0));
  return NULL;
}

// ---- the table ----

typedef tsr_status pad_fn(tsr_padding *p, tsr_op *op);
// Ops that compute elements one by one are served too, as they are.
static const struct {
  tsr_op_id id;
  serve_fn *serves;
  pad_fn *pad;  // NULL = the op needs nothing but its padded types
} uneven_ops[] = {
    {TSR_OP_SELECT, serves_passed, NULL},
    {TSR_OP_CLAMP, serves_passed, NULL},
    {TSR_OP_CONVERT, serves_passed, keep_zeros},
    {TSR_OP_TRANSPOSE, serves_passed, keep_zeros},
    {TSR_OP_RESHAPE, serves_passed, keep_zeros},
    {TSR_OP_BROADCAST_IN_DIM, serves_passed, NULL},
    {TSR_OP_BITCAST_CONVERT, serves_passed, NULL},
    {TSR_OP_REVERSE, serves_passed, NULL},
    {TSR_OP_CONCATENATE, serves_joined, pad_concatenation},
    {TSR_OP_SORT, serves_passed, NULL},
    {TSR_OP_CHLO_TOP_K, serves_passed, NULL},
    {TSR_OP_FFT, serves_passed, NULL},
    {TSR_OP_CHOLESKY, serves_passed, NULL},
    {TSR_OP_TRIANGULAR_SOLVE, serves_passed, NULL},
    {TSR_OP_BATCH_NORM_INFERENCE, serves_passed, NULL},
    {TSR_OP_SELECT_AND_SCATTER, serves_passed, NULL},
    {TSR_OP_SCATTER, serves_scattered, pad_scatter},
    {TSR_OP_DYNAMIC_UPDATE_SLICE, serves_passed, pad_dynamic_update},
    {TSR_OP_DYNAMIC_SLICE, serves_sliced, pad_dynamic_slice},
    {TSR_OP_GATHER, serves_summed, pad_gather},
    {TSR_OP_DOT_GENERAL, serves_summed, tsr_padding_mask_product},
    {TSR_OP_DOT, serves_summed, pad_old_product},
    {TSR_OP_REDUCE, serves_reduced, tsr_padding_mask_reduction},
    {TSR_OP_CONVOLUTION, serves_convolved, pad_convolution},
    {TSR_OP_REDUCE_WINDOW, serves_windows, pad_windows},
    {TSR_OP_PAD, serves_moved, pad_pad},
    {TSR_OP_SLICE, serves_moved, pad_slice},
    {TSR_OP_SDY_RESHARD, NULL, pad_reshard},
};
enum { UNEVEN_OPS = sizeof uneven_ops / sizeof *uneven_ops };

static int row_of(const tsr_op *op) {
  for (int i = 0; i < UNEVEN_OPS; i++)
    if (tsr_op_is(op, uneven_ops[i].id)) return i;
  return -1;
}

bool tsr_uneven_is_served(const tsr_op *op, const tsr_op_rule *rule, int tensor, int dim) {
  const int row = row_of(op), factor = factor_of_dim(rule, tensor, dim);
  serve_fn *serves = row >= 0 ? uneven_ops[row].serves : NULL;
  if (factor < 0) return false;
  if (!serves && op->info->traits & TSR_TRAIT_ELEMENTWISE) serves = serves_passed;
  return serves && serves(op, rule, factor);
}

// ---- the pass ----

static tsr_status pad_value(tsr_padding *p, tsr_value *value, bool *padded) {
  const tsr_type *even = NULL;
  if (value->type->kind != TSR_TYPE_TENSOR) return NULL;
  TSR_TRY(tsr_padding_even(p, value, value->type, &even));
  if (even == value->type) return NULL;
  *padded = true;
  if (tsr_op_is(value->def, TSR_OP_CONSTANT) || tsr_op_is(value->def, TSR_OP_SDY_CONSTANT))
    return tsr_padding_constant(p, value->def);
  return tsr_padding_set(p, value, even, false);
}

// Arguments of its blocks come before what uses them, results after.
static tsr_status pad_values(tsr_padding *p, tsr_op *op, bool *padded) {
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int k = 0; k < block->arg_count; k++) TSR_TRY(pad_value(p, block->args[k], padded));
  for (int i = 0; i < op->result_count; i++) TSR_TRY(pad_value(p, tsr_op_result(op, i), padded));
  for (int i = 0; i < op->operand_count; i++) *padded |= tsr_is_padded(p, tsr_op_operand(op, i));
  return NULL;
}

// The types of functions are those of their arguments and of their results' shardings.
static tsr_status pad_function(tsr_padding *p, tsr_op *func, bool *padded) {
  const tsr_type *type = tsr_func_type(func);
  const tsr_ir_block *body = tsr_func_body(func);
  const int inputs = type->input_count, results = type->count - inputs;
  const tsr_type **types = tsr_ir_alloc(p->ir, ((size_t)type->count + 1) * sizeof *types);
  TSR_NEED(types);
  for (int i = 0; i < type->count; i++) {
    const tsr_tensor_sharding *cut = NULL;
    types[i] = i < inputs && body ? body->args[i]->type : type->types[i];
    if (i < inputs) continue;
    TSR_TRY(tsr_cut_of_attr(&p->scratch, p->ir, func, tsr_func_result_sharding(func, i - inputs),
                            &cut));
    TSR_TRY(tsr_even_type(p->ir, types[i], cut, &types[i]));
    *padded |= types[i] != type->types[i];
  }
  if (!*padded) return NULL;
  const tsr_type *made = tsr_type_function(p->ir, types, inputs, types + inputs, results);
  const tsr_attr *attr = made ? tsr_attr_type(p->ir, made) : NULL;
  TSR_NEED(attr);
  return tsr_op_attr_set(p->ir, func, "function_type", attr);
}

static tsr_status visit_uneven(tsr_op *op, void *context) {
  tsr_padding *p = context;
  bool padded = false;
  const int row = row_of(op);
  tsr_arena_reset(&p->scratch);
  if (op->mark) return NULL;
  TSR_TRY(pad_values(p, op, &padded));
  if (tsr_op_is(op, TSR_OP_FUNC)) return pad_function(p, op, &padded);
  return padded && row >= 0 && uneven_ops[row].pad ? uneven_ops[row].pad(p, op) : NULL;
}

tsr_status tsr_pass_pad_uneven(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const int64_t before = *changes;
  tsr_padding p = {.ir = ir, .changes = changes};
  (void)options;
  tsr_block_marks_clear(ir->module->regions[0].first);
  tsr_status status = tsr_op_walk(ir->module, visit_uneven, &p);
  tsr_padding_end(&p);
  if (!status && *changes != before)
    status = tsr_note(tsr_verify(ir, "the padded program"), "dimensions were padded");
  return status;
}
