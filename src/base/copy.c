// Copies are done run by run: a counter over the loops, outermost slowest, and a memcpy inside.
#include "tessera/copy.h"

#include <string.h>

int64_t tsr_copy_elements(const tsr_copy *copy) {
  int64_t elements = copy->length;
  for (int i = 0; i < copy->loop_count; i++) elements *= copy->loops[i].count;
  return elements;
}

// ---- fewer loops ----

static void drop_loop(tsr_copy *copy, int index) {
  copy->loop_count--;
  for (int i = index; i < copy->loop_count; i++) copy->loops[i] = copy->loops[i + 1];
}

// Whether loop `index` goes on where one pass of the loop inside it (or of the run) ends.
static bool continues(const tsr_copy *copy, int index) {
  const tsr_copy_loop *loop = &copy->loops[index];
  if (index == copy->loop_count - 1) return loop->from == copy->length && loop->to == copy->length;
  const tsr_copy_loop *inner = loop + 1;
  return loop->from == inner->from * inner->count && loop->to == inner->to * inner->count;
}

void tsr_copy_simplify(tsr_copy *copy) {
  if (tsr_copy_elements(copy) == 0) {
    copy->length = 0;
    copy->loop_count = 0;
    return;
  }
  for (int i = copy->loop_count - 1; i >= 0; i--) {
    if (copy->loops[i].count == 1) {
      drop_loop(copy, i);
    } else if (continues(copy, i)) {
      if (i == copy->loop_count - 1)
        copy->length *= copy->loops[i].count;
      else
        copy->loops[i + 1].count *= copy->loops[i].count;
      drop_loop(copy, i);
    }
  }
}

// ---- doing it ----

static int bit_at(const unsigned char *bytes, int64_t bit) {
  return bytes[bit / 8] >> (bit % 8) & 1;
}

static void put_bit(unsigned char *bytes, int64_t bit, int value) {
  const unsigned char mask = (unsigned char)(1U << (bit % 8));
  bytes[bit / 8] = (unsigned char)(value ? bytes[bit / 8] | mask : bytes[bit / 8] & ~mask);
}

static void copy_bits(const void *source, int64_t from, void *target, int64_t to, int64_t count) {
  if (from % 8 == 0 && to % 8 == 0) {
    const int64_t bytes = count / 8;
    memcpy((char *)target + to / 8, (const char *)source + from / 8, (size_t)bytes);
    from += bytes * 8, to += bytes * 8, count -= bytes * 8;
  }
  for (int64_t i = 0; i < count; i++) put_bit(target, to + i, bit_at(source, from + i));
}

void tsr_copy_run(const tsr_copy *copy, int bits, const void *source, void *target) {
  int64_t turns[TSR_MAX_RANK] = {0}, from = copy->from, to = copy->to;
  if (tsr_copy_elements(copy) == 0) return;
  for (;;) {
    copy_bits(source, from * bits, target, to * bits, copy->length * bits);
    int i = copy->loop_count - 1;
    for (; i >= 0; i--) {
      const tsr_copy_loop *loop = &copy->loops[i];
      from += loop->from, to += loop->to;
      if (++turns[i] < loop->count) break;
      from -= loop->from * loop->count, to -= loop->to * loop->count;
      turns[i] = 0;
    }
    if (i < 0) return;
  }
}
