// Strided copies shared among workers.
//
// Task t of n does the t-th share of every part. Shares are whole iterations of the outer loops, so
// the parts of a concatenation along an inner dimension meet in the same piece of the target while
// it is in cache, and lines of the target are written by one worker.
#include "kernel/strided_copies.h"

#include "base/arithmetic.h"

enum {
  TASK_BYTES = 512 << 10,     // about 100 us
  LEAST_SPLIT = 1 << 20,      // less is done by the time that a worker is awake
  STREAMED_BYTES = 32 << 20,  // larger than what the caches keep
  ELEMENT_COST = 16,          // bytes of a long run that take as long as a run of one element
  LINES = 64,                 // iterations that make whole cache lines
  TRANSPOSED_LINES = 256      // the same, and good use of pages
};

// What a part costs, in bytes of long runs.
static int64_t cost_of(const tsr_copy *copy, int element_bytes, bool transposed) {
  const int64_t elements = tsr_copy_elements(copy), run = copy->length * element_bytes;
  if (transposed) return tsr_saturated_multiply(2, elements * element_bytes);
  return run && run < ELEMENT_COST ? tsr_saturated_multiply(elements / copy->length, ELEMENT_COST)
                                   : elements * element_bytes;
}

// ---- transposes ----

static void move_last(tsr_copy *copy, int index) {
  const tsr_copy_loop loop = copy->loops[index];
  for (int i = index; i + 1 < copy->loop_count; i++) copy->loops[i] = copy->loops[i + 1];
  copy->loops[copy->loop_count - 1] = loop;
}

// Whether one loop is contiguous in the source and another in the target. Moves these innermost,
// the longer one outside, where it is split.
static bool order_transpose(tsr_copy *copy, int element_bytes) {
  enum { WIDEST = 8 };  // runs in bytes that transposes are written for
  int line = -1, across = -1;
  if (copy->length * element_bytes > WIDEST) return false;
  for (int i = 0; i < copy->loop_count; i++) {
    const tsr_copy_loop *loop = &copy->loops[i];
    if (loop->to == copy->length && loop->from != 0 && loop->from != -copy->length) line = i;
    if (loop->from == copy->length && loop->to != copy->length) across = i;
  }
  if (line < 0 || across < 0) return false;
  const bool along = copy->loops[line].count > copy->loops[across].count;
  const int first = along ? line : across, second = along ? across : line;
  move_last(copy, first);
  move_last(copy, second - (first < second));
  return true;
}

// ---- tasks ----

// The elements of one pass of loop `first` and those inside.
static int64_t volume(const tsr_copy *copy, int first) {
  int64_t elements = copy->length;
  for (int i = first; i < copy->loop_count; i++) elements *= copy->loops[i].count;
  return elements;
}

// The elements of a share: about `elements` / `tasks`, in whole iterations of as many inner loops
// as fit.
static int64_t chunk_of(const tsr_copy *copy, int64_t tasks, bool transposed) {
  const int64_t elements = tsr_copy_elements(copy);
  if (!elements || tasks < 1) return 0;
  const int64_t share = (elements + tasks - 1) / tasks;
  const int most = copy->loop_count - transposed;
  int inner = most;
  while (inner > 0 && volume(copy, inner - 1) <= share) inner--;
  int64_t unit = inner == copy->loop_count && copy->length > share ? 1 : volume(copy, inner);
  if (transposed && inner == most)
    unit = tsr_saturated_multiply(unit, TRANSPOSED_LINES);
  else if (share / LINES >= unit)
    unit *= LINES;
  return tsr_saturated_multiply(share / unit + (share % unit != 0), unit);
}

tsr_strided_copies tsr_copies_plan(int element_bytes, tsr_copy_part *parts, int part_count) {
  int64_t cost = 0, elements = 0;
  for (int i = 0; i < part_count; i++) {
    tsr_copy *copy = &parts[i].copy;
    tsr_copy_simplify(copy);
    cost =
        tsr_saturated_add(cost, cost_of(copy, element_bytes, order_transpose(copy, element_bytes)));
    elements += tsr_copy_elements(copy);
  }
  tsr_strided_copies copies = {element_bytes, part_count, parts, 1, TSR_STORES_CACHED};
  if (!elements) copies.tasks = 0;
  if (cost >= LEAST_SPLIT) copies.tasks = cost / TASK_BYTES;
  if (elements * element_bytes >= STREAMED_BYTES) copies.stores = TSR_STORES_STREAMED;
  for (int i = 0; i < part_count; i++)
    parts[i].chunk =
        chunk_of(&parts[i].copy, copies.tasks, order_transpose(&parts[i].copy, element_bytes));
  return copies;
}

typedef struct copies_in_work {
  const tsr_strided_copies *copies;
  const char *const *inputs;
  char *target;
} copies_in_work;

static tsr_status copy_share(void *context, int64_t task, int worker) {
  (void)worker;
  const copies_in_work *work = context;
  const tsr_strided_copies *copies = work->copies;
  for (int i = 0; i < copies->part_count; i++) {
    const tsr_copy_part *part = &copies->parts[i];
    const int64_t elements = tsr_copy_elements(&part->copy),
                  begin = tsr_saturated_multiply(task, part->chunk);
    if (begin >= elements) continue;
    tsr_copy_run_range(
        &part->copy, begin, tsr_least(tsr_saturated_add(begin, part->chunk), elements),
        8 * copies->element_bytes, work->inputs[part->input], work->target, copies->stores);
  }
  return NULL;
}

tsr_status tsr_copies_apply(const tsr_strided_copies *copies, const char *const *inputs,
                            char *target, tsr_pool *pool) {
  copies_in_work work = {copies, inputs, target};
  if (copies->tasks <= 1) return copy_share(&work, 0, 0);
  return tsr_pool_run(pool, copies->tasks, copy_share, &work);
}

tsr_status tsr_copies_run(const void *description, const tsr_kernel_call *call) {
  return tsr_copies_apply(description, call->inputs, call->outputs[0], call->pool);
}
