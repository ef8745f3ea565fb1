// Proof of copies. A copy is right if every place it writes and the place it reads are the same
// element. Copies are complete if they write as many places as there are elements and none twice.
//
// Both are checked run by run: the layout's runs map a place to its element, and give the number of
// places after it that continue. The proof is independent of how copies are made.
#include "transfer/copy_check.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "element/copy_runs.h"
#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/index_blocks.h"
#include "transfer/transfer_internal.h"

// ---- from a place in a buffer to the element there ----

// The index along a dimension at place `local`; -1 if there is none.
static int64_t find_index(const tsr_run_list *runs, int64_t local, int64_t *out_length) {
  for (int i = 0; i < runs->count; i++) {
    const tsr_run *run = &runs->items[i];
    const int64_t past = local - run->local;
    if (past < 0 || past / run->local_step >= run->count) continue;
    const int64_t block = past / run->local_step, at = past % run->local_step;
    if (at >= run->length) continue;
    *out_length = run->length - at;
    return run->global + block * run->step + at;
  }
  return -1;
}

// The last block that starts at or before a place.
static const tsr_block *find_block(const tsr_blocks *blocks, int64_t place) {
  int64_t low = 0, high = blocks->count;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (blocks->items[middle].offset <= place)
      low = middle;
    else
      high = middle;
  }
  return high > low ? &blocks->items[low] : NULL;
}

// The row-major number of the element at a place (-1 for padding), and the number of places from
// there on that hold the elements after it.
static int64_t find_element(const tsr_blocks *blocks, int64_t place, int64_t *out_length) {
  const tsr_layout *layout = blocks->layout;
  const tsr_block *block = find_block(blocks, place);
  if (!block) return -1;
  int64_t rest = place - block->offset, element = 0;
  *out_length = 1;
  for (int d = 0; d < layout->rank; d++) {
    const int64_t index = find_index(&block->runs[d], rest / block->strides[d], out_length);
    if (index < 0) return -1;
    element = element * layout->dims[d] + index;
    rest %= block->strides[d];
  }
  return element;
}

// ---- one copy ----

typedef struct element_run {
  int64_t at, length;
} element_run;

typedef struct proof {
  const tsr_copy_plan *plan;
  int64_t target, device;
  tsr_blocks to, from;   // of the target, and of the last source
  element_run *written;  // owned
  int64_t count, capacity;
  int64_t elements;
} proof;

static tsr_status note_written(proof *p, int64_t at, int64_t length) {
  element_run *last = p->count ? &p->written[p->count - 1] : NULL;
  if (last && last->at + last->length == at) {
    last->length += length;
    return NULL;
  }
  element_run *written = tsr_grow(p->written, p->count, &p->capacity, sizeof *written);
  if (!written) return tsr_fail(NO_MEMORY, "%lld stretches of copies", (long long)p->count);
  p->written = written;
  written[p->count++] = (element_run){at, length};
  return NULL;
}

static tsr_status check_stretch(proof *p, const tsr_copy *copy, int64_t from, int64_t to) {
  for (int64_t at = 0, length = 0; at < copy->length; at += length) {
    int64_t in_target = 0, in_source = 0;
    const int64_t wanted = find_element(&p->to, to + at, &in_target);
    const int64_t given = find_element(&p->from, from + at, &in_source);
    if (wanted < 0 || wanted != given)
      return tsr_fail(BROKEN_PLAN,
                      "place %lld of device %lld is element %lld, but place %lld of device %lld, "
                      "which is copied there, is element %lld",
                      (long long)(to + at), (long long)copy->target, (long long)wanted,
                      (long long)(from + at), (long long)copy->source, (long long)given);
    length = in_target < in_source ? in_target : in_source;
  }
  return note_written(p, to, copy->length);
}

// Whether a copy stays inside a buffer of so many elements.
static bool lies_within(const tsr_copy *copy, bool source, int64_t elements) {
  int64_t end = source ? copy->from : copy->to;
  if (end < 0 || copy->length < 1) return false;
  if (__builtin_add_overflow(end, copy->length, &end)) return false;
  for (int i = 0; i < copy->loop_count; i++) {
    const int64_t step = source ? copy->loops[i].from : copy->loops[i].to;
    int64_t past = 0;
    if (copy->loops[i].count < 1 || step < 0 ||
        __builtin_mul_overflow(copy->loops[i].count - 1, step, &past) ||
        __builtin_add_overflow(end, past, &end))
      return false;
  }
  return end <= elements;
}

static tsr_status open_source(proof *p, const tsr_copy *copy) {
  const tsr_copy_plan *plan = p->plan;
  const int64_t position = tsr_layout_device_find(plan->from, copy->source);
  if (copy->target != p->device || position < 0)
    return tsr_fail(
        BROKEN_PLAN,
        "a copy from device %lld to device %lld, wanted a device of the source and device %lld",
        (long long)copy->source, (long long)copy->target, (long long)p->device);
  const int64_t shard = tsr_layout_shard(plan->from, position);
  if (tsr_source_group(plan, position) % plan->terms != tsr_layout_term(plan->to, p->target))
    return tsr_fail(BROKEN_PLAN, "device %lld holds another term of the sum than device %lld",
                    (long long)copy->source, (long long)copy->target);
  if (!lies_within(copy, true, tsr_layout_buffer_elements(plan->from, shard)) ||
      !lies_within(copy, false, tsr_layout_buffer_elements(plan->to, p->to.shard)))
    return tsr_fail(BROKEN_PLAN, "a copy from device %lld to device %lld reaches past a buffer",
                    (long long)copy->source, (long long)copy->target);
  if (p->from.layout && p->from.shard == shard) return NULL;
  tsr_blocks_deinit(&p->from);
  return tsr_blocks_init(&p->from, plan->from, shard);
}

// Copies that overlap themselves might never end.
static tsr_status count_elements(proof *p, const tsr_copy *copy) {
  int64_t elements = copy->length;
  for (int i = 0; i < copy->loop_count; i++)
    elements = tsr_saturated_multiply(elements, copy->loops[i].count);
  p->elements = tsr_saturated_add(p->elements, elements);
  const int64_t wanted = tsr_layout_shard_elements(p->plan->to, p->to.shard);
  if (p->elements <= wanted) return NULL;
  return tsr_fail(BROKEN_PLAN, "device %lld gets more elements than the %lld it has",
                  (long long)p->device, (long long)wanted);
}

static tsr_status check_copy(proof *p, const tsr_copy *copy) {
  int64_t turns[TSR_MAX_RANK] = {0}, from = copy->from, to = copy->to;
  TSR_TRY(open_source(p, copy));
  TSR_TRY(count_elements(p, copy));
  do {
    TSR_TRY(check_stretch(p, copy, from, to));
  } while (tsr_copy_next_run(copy, turns, &from, &to));
  return NULL;
}

// ---- solving ----

static int by_place(const void *left, const void *right) {
  const element_run *a = left, *b = right;
  return (a->at > b->at) - (a->at < b->at);
}

static tsr_status check_written(proof *p) {
  if (p->count > 1) qsort(p->written, (size_t)p->count, sizeof *p->written, by_place);
  for (int64_t i = 1; i < p->count; i++)
    if (p->written[i - 1].at + p->written[i - 1].length > p->written[i].at)
      return tsr_fail(BROKEN_PLAN, "place %lld of device %lld is written twice",
                      (long long)p->written[i].at, (long long)p->device);
  const int64_t wanted = tsr_layout_shard_elements(p->plan->to, p->to.shard);
  if (p->elements == wanted) return NULL;
  return tsr_fail(BROKEN_PLAN, "device %lld gets %lld elements, but has %lld", (long long)p->device,
                  (long long)p->elements, (long long)wanted);
}

tsr_status tsr_check_copies(const tsr_copy_plan *plan, int64_t target,
                            const tsr_copy_list *copies) {
  proof p = {.plan = plan,
             .target = target,
             .device = tsr_layout_device_at(plan->to, target),
             .to = TSR_BLOCKS_EMPTY,
             .from = TSR_BLOCKS_EMPTY};
  tsr_copy copy;
  tsr_status status = tsr_blocks_init(&p.to, plan->to, tsr_layout_shard(plan->to, target));
  for (int64_t i = 0; i < copies->count && !status; i++) {
    tsr_copy_list_get(copies, i, &copy);
    status = check_copy(&p, &copy);
  }
  if (!status) status = check_written(&p);
  tsr_blocks_deinit(&p.to);
  tsr_blocks_deinit(&p.from);
  free(p.written);
  return status;
}

tsr_status tsr_copy_plan_check(const tsr_copy_plan *plan) {
  const int64_t devices = tsr_layout_device_count(plan->to);
  TSR_TRY(tsr_layout_check_listed(devices, "devices"));
  for (int64_t p = 0; p < devices; p++) {
    tsr_copies copies;
    TSR_TRY(tsr_copies_init_into(&copies, plan, p));
    tsr_status status = tsr_check_copies(plan, p, tsr_copies_list(&copies));
    tsr_copies_deinit(&copies);
    TSR_TRY(status);
  }
  return NULL;
}
