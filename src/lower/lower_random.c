// Random bits and numbers.
#include "kernel/random_bits.h"
#include "lower/lowering.h"

tsr_status tsr_lower_rng_bit_generator(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *state = tsr_operand_type(op, 0), *type = tsr_op_result(op, 1)->type;
  const bool philox = tsr_op_int(op, "rng_algorithm", 0) != TSR_RNG_ALGORITHM_THREE_FRY;
  const int64_t words = tsr_type_element_count(state);
  if (state->dtype != TSR_U64 || words < 2 || words > (philox ? 3 : 2))
    return tsr_fail(UNSUPPORTED, "%s: its state must be tensor<2xui64>%s",
                    tsr_op_title(lowering, op), philox ? " or tensor<3xui64>" : "");
  const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
  if (!tsr_type_runs(type) || info->kind == TSR_CLASS_BOOL || info->kind == TSR_CLASS_COMPLEX)
    return tsr_fail(UNSUPPORTED, "%s: its elements must be integers or floats",
                    tsr_op_title(lowering, op));
  tsr_random_bits bits = {.philox = philox,
                          .state_words = (int)words,
                          .bytes = (info->bits + 7) / 8,
                          .mask = info->bits >= 32 ? UINT32_MAX : (1u << info->bits) - 1,
                          .count = tsr_type_element_count(type)};
  if (info->sub_byte && info->kind == TSR_CLASS_SIGNED) bits.sign = 1u << (info->bits - 1);
  tsr_random_bits_split(&bits, type->rank, type->dims);
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_kernel(lowering, op, tsr_random_bits_run, &bits, sizeof bits, &step));
  step->flops = bits.count;
  return NULL;
}

// Ops have keys by their place in the schedule, so that each has numbers of its own.
tsr_status tsr_lower_rng(tsr_lowering *lowering, tsr_op *op) {
  const tsr_type *type = tsr_op_result(op, 0)->type;
  if (!tsr_type_runs(type) || tsr_dtype_info_of(type->dtype)->kind == TSR_CLASS_COMPLEX)
    return tsr_fail(UNSUPPORTED, "%s: its elements must be integers or floats",
                    tsr_op_title(lowering, op));
  tsr_random_numbers numbers = {
      .normal = tsr_op_int(op, "rng_distribution", 1) == TSR_RNG_DISTRIBUTION_NORMAL,
      .dtype = type->dtype,
      .count = tsr_type_element_count(type),
      .key = (uint64_t)lowering->schedule->slot_count,
      .runs = tsr_lower_alloc(lowering, lowering->lanes, sizeof *numbers.runs)};
  TSR_NEED(numbers.runs);
  tsr_schedule_step *step = NULL;
  tsr_value *inputs[] = {tsr_op_operand(op, 0), tsr_op_operand(op, 1)};
  return tsr_lower_kernel_on(lowering, op, inputs, 2, tsr_random_numbers_run, &numbers,
                             sizeof numbers, &step);
}
