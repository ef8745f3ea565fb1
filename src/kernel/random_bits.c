// Random bits by counters. Element by element the bits are those of XLA on a CPU, which fixes the
// order of the words that a counter gives, how the counter moves on, and what a Philox state of two
// words means: its key is also the upper half of its counter.
#include "kernel/random_bits.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "element/convert_elements.h"

enum { BLOCK = 64, BLOCKS_OF_TASK = 256 };  // counters of a block; a task takes about 100 us

typedef struct random_words {
  uint32_t of[4][BLOCK];
} random_words;
__extension__ typedef unsigned __int128 unsigned_128;

#define TARGET
#define NAMED(name) name##_plain
#include "kernel/random_blocks.inc"
#undef TARGET
#undef NAMED

#if defined __x86_64__
#define TARGET __attribute__((target("avx2")))
#define NAMED(name) name##_avx2
#include "kernel/random_blocks.inc"
#undef TARGET
#undef NAMED
#endif

static void hash_block(bool philox, uint64_t key, unsigned_128 counter, random_words *words) {
#if defined __x86_64__
  if (__builtin_cpu_supports("avx2")) {
    if (philox)
      philox_avx2(key, counter, words);
    else
      threefry_avx2(key, (uint64_t)counter, words);
    return;
  }
#endif
  if (philox)
    philox_plain(key, counter, words);
  else
    threefry_plain(key, (uint64_t)counter, words);
}

// ---- states ----

typedef struct random_state {
  uint64_t key;
  unsigned_128 counter;
} random_state;

static random_state read_state(const tsr_random_bits *bits, const char *bytes) {
  uint64_t words[3] = {0};
  memcpy(words, bytes, sizeof *words * (size_t)bits->state_words);
  if (!bits->philox) return (random_state){words[0], words[1]};
  const uint64_t high = bits->state_words == 3 ? words[2] : words[0];
  return (random_state){words[0], (unsigned_128)high << 64 | words[1]};
}

static int64_t counters_of(const tsr_random_bits *bits) {
  if (bits->philox) return (bits->count * (bits->bytes == 8 ? 2 : 1) + 3) / 4;
  return bits->bytes == 8 ? bits->count : bits->outer * ((bits->split + 1) / 2) * bits->inner;
}

static void write_state(const tsr_random_bits *bits, random_state state, char *out) {
  const unsigned_128 next = state.counter + (uint64_t)counters_of(bits);
  const uint64_t words[3] = {state.key, (uint64_t)next, (uint64_t)(next >> 64)};
  memcpy(out, words, sizeof *words * (size_t)bits->state_words);
}

// ---- elements ----

static void put_word(const tsr_random_bits *bits, char *out, int64_t index, uint32_t word) {
  const uint32_t kept = ((word & bits->mask) ^ bits->sign) - bits->sign;
  if (bits->bytes == 4)
    memcpy(out + index * 4, &kept, 4);
  else if (bits->bytes == 2)
    memcpy(out + index * 2, &kept, 2);
  else
    out[index] = (char)kept;
}

static void put_wide(char *out, int64_t index, uint32_t low, uint32_t high) {
  const uint64_t wide = (uint64_t)high << 32 | low;
  memcpy(out + index * 8, &wide, sizeof wide);
}

// The words of a Philox counter follow each other.
static void put_philox(const tsr_random_bits *bits, const random_words *words, int64_t first,
                       int64_t length, char *out) {
  const int64_t each = bits->bytes == 8 ? 2 : 4;
  const int64_t end = tsr_least((first + length) * each, bits->count);
  for (int64_t i = first * each; i < end; i++) {
    const int64_t counter = i / each - first, word = i % each;
    if (bits->bytes == 8)
      put_wide(out, i, words->of[2 * word][counter], words->of[2 * word + 1][counter]);
    else
      put_word(bits, out, i, words->of[word][counter]);
  }
}

// The two words of a Threefry counter are neighbours along the split dim.
static void put_threefry(const tsr_random_bits *bits, const random_words *words, int64_t first,
                         int64_t length, char *out) {
  const int64_t half = (bits->split + 1) / 2;
  for (int64_t i = 0; i < length; i++) {
    const int64_t counter = first + i;
    if (bits->bytes == 8) {
      put_wide(out, counter, words->of[0][i], words->of[1][i]);
      continue;
    }
    const int64_t inner = counter % bits->inner, row = counter / bits->inner;
    const int64_t at = row % half * 2, start = row / half * bits->split + at;
    put_word(bits, out, start * bits->inner + inner, words->of[0][i]);
    if (at + 1 < bits->split)
      put_word(bits, out, (start + 1) * bits->inner + inner, words->of[1][i]);
  }
}

typedef struct bits_run {
  const tsr_random_bits *bits;
  random_state state;
  char *out;
} bits_run;

static tsr_status run_bits(void *context, int64_t index, int worker) {
  (void)worker;
  const bits_run *run = context;
  const int64_t task = (int64_t)BLOCKS_OF_TASK * BLOCK;
  const int64_t end = tsr_least((index + 1) * task, counters_of(run->bits));
  random_words words;
  for (int64_t first = index * task; first < end; first += BLOCK) {
    const int64_t length = tsr_least(BLOCK, end - first);
    hash_block(run->bits->philox, run->state.key, run->state.counter + (uint64_t)first, &words);
    if (run->bits->philox)
      put_philox(run->bits, &words, first, length, run->out);
    else
      put_threefry(run->bits, &words, first, length, run->out);
  }
  return NULL;
}

void tsr_random_bits_split(tsr_random_bits *bits, int rank, const int64_t *dims) {
  int at = -1;
  for (int i = 0; i < rank && at < 0; i++)
    if (dims[i] % 2 == 0) at = i;
  for (int i = 0, even = at >= 0; i < rank && !even; i++)
    if (at < 0 || dims[i] > dims[at]) at = i;
  bits->outer = bits->split = bits->inner = 1;
  for (int i = 0; i < rank; i++)
    *(i < at ? &bits->outer : i == at ? &bits->split : &bits->inner) *= dims[i];
}

tsr_status tsr_random_bits_run(const void *description, const tsr_kernel_call *call) {
  const tsr_random_bits *bits = description;
  bits_run run = {bits, read_state(bits, call->inputs[0]), call->outputs[1]};
  write_state(bits, run.state, call->outputs[0]);
  const int64_t task = (int64_t)BLOCKS_OF_TASK * BLOCK, counters = counters_of(bits);
  return tsr_pool_run(call->pool, (counters + task - 1) / task, run_bits, &run);
}

// ---- distributions ----

static double unit(uint32_t high, uint32_t low) {
  return (double)((uint64_t)high << 21 | low >> 11) * 0x1p-53;
}

static void put_integer(const tsr_random_numbers *numbers, const tsr_kernel_call *call,
                        int64_t index, uint64_t word) {
  const int64_t bytes = (tsr_dtype_info_of(numbers->dtype)->bits + 7) / 8;
  const bool is_signed = tsr_dtype_info_of(numbers->dtype)->kind == TSR_CLASS_SIGNED;
  int64_t bounds[2] = {0};
  for (int i = 0; i < 2; i++) {
    memcpy(&bounds[i], call->inputs[i], (size_t)bytes);
    const int unused = (int)(64 - 8 * bytes);
    if (is_signed) bounds[i] = (int64_t)((uint64_t)bounds[i] << unused) >> unused;
  }
  const uint64_t range = (uint64_t)bounds[1] - (uint64_t)bounds[0];
  const uint64_t value = (uint64_t)bounds[0] + (range ? word % range : 0);
  memcpy(call->outputs[0] + index * bytes, &value, (size_t)bytes);
}

static void put_float(const tsr_random_numbers *numbers, const tsr_kernel_call *call, int64_t index,
                      const uint32_t *words) {
  const int64_t bytes = (tsr_dtype_info_of(numbers->dtype)->bits + 7) / 8;
  double a = 0, b = 0, again = 0;
  tsr_convert_run(numbers->dtype, call->inputs[0], 0, TSR_F64, &a, 0, 1);
  tsr_convert_run(numbers->dtype, call->inputs[1], 0, TSR_F64, &b, 0, 1);
  char *out = call->outputs[0] + index * bytes;
  const double u = unit(words[0], words[1]), v = unit(words[2], words[3]);
  double value = a + (b - a) * u;
  if (numbers->normal) value = a + b * sqrt(-2 * log1p(-u)) * cos(6.283185307179586 * v);
  memset(out, 0, (size_t)bytes);
  tsr_convert_run(TSR_F64, &value, 0, numbers->dtype, out, 0, 1);
  if (numbers->normal) return;
  // Rounding may reach the upper bound, which is not among the numbers.
  tsr_convert_run(numbers->dtype, out, 0, TSR_F64, &again, 0, 1);
  if (again >= b) tsr_convert_run(TSR_F64, &a, 0, numbers->dtype, out, 0, 1);
}

tsr_status tsr_random_numbers_run(const void *description, const tsr_kernel_call *call) {
  const tsr_random_numbers *numbers = description;
  const uint64_t run = atomic_fetch_add(&numbers->runs[call->lane], 1);
  const bool is_float = tsr_dtype_info_of(numbers->dtype)->kind == TSR_CLASS_FLOAT;
  const uint64_t key = numbers->key ^ (uint64_t)call->lane << 32;
  random_words words;
  for (int64_t i = 0; i < numbers->count; i++) {
    if (i % BLOCK == 0) hash_block(true, key, (unsigned_128)run << 64 | (uint64_t)i, &words);
    uint32_t own[4];
    for (int w = 0; w < 4; w++) own[w] = words.of[w][i % BLOCK];
    if (is_float)
      put_float(numbers, call, i, own);
    else
      put_integer(numbers, call, i, (uint64_t)own[1] << 32 | own[0]);
  }
  return NULL;
}
