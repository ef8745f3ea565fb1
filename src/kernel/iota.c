// Counting and recasting bits. Both are rare on large tensors by themselves: fusions count inside
// of their loops, and equal widths are views.
#include "kernel/iota.h"

#include <string.h>

#include "base/arithmetic.h"
#include "element/convert_elements.h"
#include "element/packed_bits.h"

enum { BLOCK = 256, TASK = 64 << 10 };  // elements

static int64_t tasks_of(int64_t elements) { return (elements + TASK - 1) / TASK; }

// The sign of a number of a few bits, in the whole byte.
static uint8_t extended(uint8_t bits, int width) {
  const uint8_t sign = (uint8_t)(1 << (width - 1));
  return (uint8_t)((bits ^ sign) - sign);
}

// ---- iota ----

// Numbers as elements in the memory of a run, where narrow ones take a byte each.
static void put_numbers(tsr_dtype dtype, const int64_t *numbers, int64_t count, char *to) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  if (bits >= 8) {
    tsr_convert_run(TSR_I64, numbers, 0, dtype, to, 0, count);
    return;
  }
  uint8_t packed[BLOCK], *codes = (uint8_t *)to;
  tsr_convert_run(TSR_I64, numbers, 0, dtype, packed, 0, count);
  tsr_unpack(bits, packed, 0, count, codes);
  if (tsr_dtype_info_of(dtype)->kind == TSR_CLASS_SIGNED)
    for (int64_t i = 0; i < count; i++) codes[i] = extended(codes[i], bits);
}

typedef struct iota_work {
  const tsr_iota *iota;
  char *target;
} iota_work;

static tsr_status count_task(void *context, int64_t task, int worker) {
  (void)worker;
  const iota_work *work = context;
  const tsr_iota *iota = work->iota;
  const int64_t width = (tsr_dtype_info_of(iota->dtype)->bits + 7) / 8;
  const int64_t end = tsr_least((task + 1) * TASK, iota->elements);
  int64_t numbers[BLOCK], at = task * TASK, number = at / iota->inner % iota->count;
  int64_t same = at % iota->inner;  // elements of this number that stand before
  while (at < end) {
    const int64_t block = tsr_least(BLOCK, end - at);
    for (int64_t i = 0; i < block; i++) {
      numbers[i] = number;
      if (++same < iota->inner) continue;
      same = 0;
      if (++number == iota->count) number = 0;
    }
    put_numbers(iota->dtype, numbers, block, work->target + at * width);
    at += block;
  }
  return NULL;
}

tsr_status tsr_iota_run(const void *description, const tsr_kernel_call *call) {
  iota_work work = {description, call->outputs[0]};
  return tsr_pool_run(call->pool, tasks_of(work.iota->elements), count_task, &work);
}

// ---- bitcast ----

typedef struct bitcast_work {
  const tsr_bitcast *cast;
  const uint8_t *source;
  uint8_t *target;
} bitcast_work;

// Result element `at` out of bytes that hold `from_bits` each, or are parts of wider elements.
static void cast_element(const bitcast_work *work, int64_t at) {
  const tsr_bitcast *cast = work->cast;
  const int unit = (int)tsr_least(tsr_least(cast->from_bits, cast->to_bits), 8);
  const int from_step = (int)tsr_least(cast->from_bits, 8);
  const int to_step = (int)tsr_least(cast->to_bits, 8);
  uint8_t *to = work->target + at * ((cast->to_bits + 7) / 8);
  for (int bit = 0; bit < cast->to_bits; bit += unit) {
    const int64_t place = at * cast->to_bits + bit;
    const uint8_t bits =
        (uint8_t)((work->source[place / from_step] >> (place % from_step)) & ((1 << unit) - 1));
    if (bit % to_step == 0) to[bit / to_step] = 0;
    to[bit / to_step] = (uint8_t)(to[bit / to_step] | bits << bit % to_step);
  }
  if (cast->is_signed && cast->to_bits < 8) *to = extended(*to, cast->to_bits);
}

static tsr_status cast_task(void *context, int64_t task, int worker) {
  (void)worker;
  const bitcast_work *work = context;
  const int64_t end = tsr_least((task + 1) * TASK, work->cast->elements);
  for (int64_t at = task * TASK; at < end; at++) cast_element(work, at);
  return NULL;
}

tsr_status tsr_bitcast_run(const void *description, const tsr_kernel_call *call) {
  bitcast_work work = {description, (const uint8_t *)call->inputs[0], (uint8_t *)call->outputs[0]};
  return tsr_pool_run(call->pool, tasks_of(work.cast->elements), cast_task, &work);
}
