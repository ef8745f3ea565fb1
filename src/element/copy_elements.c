// Copies as descriptions: simplified, split into ranges, and carried out by the kernels as boxes of
// bytes, or of bits if runs do not start and end on bytes.
#include "element/copy_internal.h"
#include "element/copy_kernels.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

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

// Whether loop `index` continues where one pass of its inner loop (or the run) ends.
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

// A copy in progress: a tsr_copy whose first loop may have fewer iterations.
typedef struct copy_box {
  int64_t from, to, length;
  const tsr_copy_loop *loops;
  int loop_count;
  int64_t turns;  // of the first loop
} copy_box;

typedef struct buffers {
  int bits;
  const char *source;
  char *target;
  tsr_copy_stores stores;
} buffers;

// Runs that are not whole bytes: one after the other.
static void run_bits(const copy_box *b, const buffers *on) {
  int64_t done[TSR_MAX_RANK] = {0}, from = b->from, to = b->to;
  for (;;) {
    tsr_copy_bits(on->source, from * on->bits, on->target, to * on->bits, b->length * on->bits);
    int i = b->loop_count - 1;
    for (; i >= 0; i--) {
      const tsr_copy_loop *loop = &b->loops[i];
      const int64_t turns = i ? loop->count : b->turns;
      from += loop->from, to += loop->to;
      if (++done[i] < turns) break;
      from -= loop->from * turns, to -= loop->to * turns;
      done[i] = 0;
    }
    if (i < 0) return;
  }
}

static bool is_whole(int64_t elements, int bits) { return elements * bits % 8 == 0; }

// Whether every run starts and ends on a byte, on both sides.
static bool is_in_bytes(const copy_box *b, int bits) {
  if (bits % 8 == 0) return true;
  if (!is_whole(b->from, bits) || !is_whole(b->to, bits) || !is_whole(b->length, bits))
    return false;
  for (int i = 0; i < b->loop_count; i++) {
    if (!is_whole(b->loops[i].from, bits) || !is_whole(b->loops[i].to, bits)) return false;
  }
  return true;
}

static void run_box(const copy_box *b, const buffers *on) {
  if (!is_in_bytes(b, on->bits)) {
    run_bits(b, on);
    return;
  }
  tsr_byte_box bytes;
  bytes.source = on->source + b->from * on->bits / 8;
  bytes.target = on->target + b->to * on->bits / 8;
  bytes.stores = on->stores;
  bytes.run = b->length * on->bits / 8;
  bytes.loop_count = b->loop_count;
  for (int i = 0; i < b->loop_count; i++) {
    const tsr_copy_loop *loop = &b->loops[i];
    bytes.loops[i] = (tsr_copy_loop){i ? loop->count : b->turns, loop->from * on->bits / 8,
                                     loop->to * on->bits / 8};
  }
  tsr_copy_bytes(&bytes);
}

// Iteration `index` of the first loop.
static copy_box turn_of(const copy_box *b, int64_t index) {
  return (copy_box){.from = b->from + index * b->loops[0].from,
                    .to = b->to + index * b->loops[0].to,
                    .length = b->length,
                    .loops = b->loops + 1,
                    .loop_count = b->loop_count - 1,
                    .turns = b->loop_count > 1 ? b->loops[1].count : 1};
}

// The end of an iteration, whole iterations, the beginning of one.
static void run_range(const copy_box *b, int64_t begin, int64_t end, const buffers *on) {
  if (begin >= end) return;
  if (!b->loop_count) {
    const copy_box run = {.from = b->from + begin, .to = b->to + begin, .length = end - begin};
    run_box(&run, on);
    return;
  }
  int64_t volume = b->length;
  for (int i = 1; i < b->loop_count; i++) volume *= b->loops[i].count;
  int64_t first = begin / volume;
  const int64_t last = end / volume;
  if (begin % volume) {
    const copy_box head = turn_of(b, first);
    run_range(&head, begin % volume, first < last ? volume : end % volume, on);
    first++;
  }
  if (first < last) {
    copy_box whole = *b;
    whole.from += first * b->loops[0].from;
    whole.to += first * b->loops[0].to;
    whole.turns = last - first;
    run_box(&whole, on);
  }
  if (first <= last && end % volume) {
    const copy_box tail = turn_of(b, last);
    run_range(&tail, 0, end % volume, on);
  }
}

void tsr_copy_run_range(const tsr_copy *copy, int64_t begin, int64_t end, int bits,
                        const void *source, void *target, tsr_copy_stores stores) {
  const copy_box whole = {.from = copy->from,
                          .to = copy->to,
                          .length = copy->length,
                          .loops = copy->loops,
                          .loop_count = copy->loop_count,
                          .turns = copy->loop_count ? copy->loops[0].count : 1};
  const buffers on = {bits, source, target, stores};
  run_range(&whole, begin, end, &on);
  if (stores == TSR_STORES_STREAMED) tsr_copy_fence();
}

void tsr_copy_run(const tsr_copy *copy, int bits, const void *source, void *target) {
  tsr_copy_run_range(copy, 0, tsr_copy_elements(copy), bits, source, target, TSR_STORES_CACHED);
}
