// Ops that exchange data with neighbours: Shardy leaves them as they are (permutation factors), and
// the partitioner of XLA makes collective-permutes of them.
//
// A convolution or window along a dim that is cut needs the border of its neighbours: one element
// less than the window. A slice, a pad or a reverse moves up to all that a device holds.
#include "base/arithmetic.h"
#include "factor/rule.h"
#include "preflight/preflight.h"

// The window of an op along a dim of its input, in elements; -1 = the op has none.
static int64_t window_of(const tsr_op *op, int dim) {
  if (op->info->id == TSR_OP_REDUCE_WINDOW || op->info->id == TSR_OP_SELECT_AND_SCATTER) {
    const tsr_attr *sizes = tsr_op_attr(op, "window_dimensions");
    const tsr_attr *dilations = tsr_op_attr(op, "window_dilations");
    const int64_t size = dim < tsr_attr_int_count(sizes) ? tsr_attr_int_at(sizes, dim) : 1;
    const int64_t dilation =
        dim < tsr_attr_int_count(dilations) ? tsr_attr_int_at(dilations, dim) : 1;
    return tsr_saturated_multiply(size - 1, dilation) + 1;
  }
  if (op->info->id != TSR_OP_CONVOLUTION) return -1;
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *dilations = tsr_op_attr(op, "rhs_dilation");
  if (!numbers || numbers->kind != TSR_ATTR_RECORD) return -1;
  const tsr_attr *input = tsr_attr_field(numbers, TSR_CONV_INPUT_SPATIAL);
  const tsr_attr *kernel = tsr_attr_field(numbers, TSR_CONV_KERNEL_SPATIAL);
  for (int64_t i = 0; i < tsr_attr_int_count(input); i++) {
    if (tsr_attr_int_at(input, i) != dim) continue;
    const int64_t size = tsr_operand_type(op, 1)->dims[tsr_attr_int_at(kernel, i)];
    const int64_t dilation = i < tsr_attr_int_count(dilations) ? tsr_attr_int_at(dilations, i) : 1;
    return tsr_saturated_multiply(size - 1, dilation) + 1;
  }
  return -1;
}

static int64_t border_bytes(const tsr_preflight *flight, const tsr_op *op, int dim) {
  const tsr_flight_value *in = tsr_flight_value_of(flight, tsr_op_operand(op, 0));
  const tsr_flight_value *out = tsr_flight_value_of(flight, tsr_op_result(op, 0));
  const int64_t window = window_of(op, dim), size = tsr_flight_local_dim(in, dim);
  if (window < 0) return tsr_least(in->bytes, out->bytes);
  return size ? in->bytes / size * tsr_least(window - 1, size) : 0;
}

// The first place of the first operand whose factor is a permutation and whose dim is cut.
static const tsr_rule_place *cut_place(const tsr_preflight *flight, const tsr_op *op,
                                       const tsr_op_rule *rule) {
  const tsr_tensor_sharding *sharding =
      tsr_flight_value_of(flight, tsr_op_operand(op, 0))->sharding;
  for (int i = 0; sharding && i < rule->place_count; i++) {
    const tsr_rule_place *place = &rule->places[i];
    if (place->tensor > 0) break;
    if (rule->factors[place->factor].kind == TSR_FACTOR_PERMUTATION &&
        sharding->dims[place->dim].axes.count)
      return place;
  }
  return NULL;
}

tsr_status tsr_flight_find_border(const tsr_preflight *flight, tsr_arena *arena, const tsr_op *op,
                                  tsr_flight_border *out_border) {
  const tsr_op_rule *rule = NULL;
  *out_border = (tsr_flight_border){.dim = -1};
  switch (op->info->id) {
    case TSR_OP_CONVOLUTION:
    case TSR_OP_REDUCE_WINDOW:
    case TSR_OP_SELECT_AND_SCATTER:
    case TSR_OP_SLICE:
    case TSR_OP_PAD:
    case TSR_OP_REVERSE:
    case TSR_OP_CONCATENATE:
      break;
    default:
      return NULL;
  }
  TSR_TRY(tsr_rule_of(arena, op, TSR_RULE_PLAIN, &rule));
  const tsr_rule_place *place = rule ? cut_place(flight, op, rule) : NULL;
  if (!place) return NULL;
  const tsr_tensor_sharding *sharding =
      tsr_flight_value_of(flight, tsr_op_operand(op, 0))->sharding;
  *out_border = (tsr_flight_border){.dim = place->dim,
                                    .mesh = sharding->mesh,
                                    .axes = sharding->dims[place->dim].axes,
                                    .bytes = border_bytes(flight, op, place->dim)};
  return NULL;
}
