// The largest elements of rows. Elements whose keys are below the k-th best so far are kept in a
// buffer; when it is full, it is sorted, all but the best k are dropped, and the bound tightens. A
// chunk of keys without any below the bound, which is most of them, costs one pass of vectors.
#include "reduce/top_k.h"

#include <string.h>

#include "reduce/sort_items.h"

enum {
  CHUNK = 256,
  SLACK = 512,             // items beyond 2 k that the buffer has room for
  TASK_ELEMENTS = 1 << 15  // about
};

static bool is_wide(const tsr_top_k *top) { return tsr_key_bits(top->order.dtype) > 32; }

// Items of the buffer. Wide keys are all kept and sorted.
static int64_t capacity_of(const tsr_top_k *top) {
  const bool all = is_wide(top) || top->k > (top->length - SLACK) / 2;
  return all ? top->length : 2 * top->k + SLACK;
}

static int64_t buffer_bytes(const tsr_top_k *top) {
  return capacity_of(top) *
         (int64_t)(is_wide(top) ? sizeof(tsr_sort_wide) : sizeof(tsr_sort_narrow));
}

int64_t tsr_top_k_scratch_bytes(const tsr_top_k *top) {
  return 2 * buffer_bytes(top) + TSR_SORT_DIGITS * (int64_t)sizeof(uint32_t);
}

static tsr_sort_space space_at(const tsr_top_k *top, char *scratch) {
  const int64_t bytes = buffer_bytes(top);
  return (tsr_sort_space){.items = scratch,
                          .spare = scratch + bytes,
                          .counts = (uint32_t *)(void *)(scratch + 2 * bytes),
                          .blocks = 1};
}

// ---- narrow keys ----

// Whether any of a chunk of keys is below a bound. Signed comparisons, which every processor has
// for vectors.
static bool any_below(const uint32_t *keys, uint32_t bound) {
  const uint32_t half = 0x80000000;
  const int32_t limit = (int32_t)(bound ^ half);
  int32_t found = 0;
  for (int i = 0; i < CHUNK; i++) found |= -(int32_t)((int32_t)(keys[i] ^ half) < limit);
  return found != 0;
}

typedef struct top_buffer {
  tsr_sort_space space;
  int64_t count, capacity, k;
  uint64_t bound;  // keys must be below
  int bits;
} top_buffer;

static tsr_status tighten(top_buffer *b) {
  const tsr_sort_narrow *items = b->space.items;
  TSR_TRY(tsr_sort_narrow_items(&b->space, b->count, b->bits));
  if (b->count < b->k) return NULL;
  b->count = b->k;
  b->bound = items[b->k - 1] >> 32;
  return NULL;
}

static tsr_status keep_narrow(top_buffer *b, const uint32_t *keys, int64_t count, int64_t first) {
  tsr_sort_narrow *items = b->space.items;
  if (count == CHUNK && b->bound <= UINT32_MAX && !any_below(keys, (uint32_t)b->bound)) return NULL;
  for (int64_t i = 0; i < count; i++) {
    if (keys[i] >= b->bound) continue;
    if (b->count == b->capacity) {
      TSR_TRY(tighten(b));
      if (keys[i] >= b->bound) continue;
    }
    items[b->count++] = (uint64_t)keys[i] << 32 | (uint64_t)(first + i);
  }
  return NULL;
}

static tsr_status best_narrow(const tsr_top_k *top, const char *row, top_buffer *b) {
  b->count = 0;
  b->bound = (uint64_t)1 << 32;
  for (int64_t i = 0; i < top->length; i += CHUNK) {
    uint32_t keys[CHUNK];
    const int64_t count = top->length - i < CHUNK ? top->length - i : CHUNK;
    tsr_keys_narrow(&top->order, row + i * top->element_bytes, top->element_bytes, count, keys);
    TSR_TRY(keep_narrow(b, keys, count, i));
  }
  return tighten(b);
}

// ---- wide keys ----

static tsr_status best_wide(const tsr_top_k *top, const char *row, top_buffer *b) {
  tsr_sort_wide *items = b->space.items;
  for (int64_t i = 0; i < top->length; i++) {
    tsr_keys_wide(&top->order, row + i * top->element_bytes, top->element_bytes, 1, &items[i].key);
    items[i].place = (uint64_t)i;
  }
  return tsr_sort_wide_items(&b->space, top->length, b->bits);
}

// ---- rows ----

typedef struct top_run {
  const tsr_top_k *top;
  const tsr_kernel_call *call;
} top_run;

static void write_row(const top_run *r, const top_buffer *b, int64_t row) {
  const tsr_top_k *top = r->top;
  const bool wide = is_wide(top);
  const int64_t bytes = top->element_bytes;
  const char *from = r->call->inputs[0] + row * top->length * bytes;
  char *values = top->values < 0 ? NULL : r->call->outputs[top->values] + row * top->k * bytes;
  char *places = top->places < 0 ? NULL : r->call->outputs[top->places] + row * top->k * 4;
  for (int64_t i = 0; i < top->k; i++) {
    const int32_t place = wide ? (int32_t)((const tsr_sort_wide *)b->space.items)[i].place
                               : (int32_t)(uint32_t)((const tsr_sort_narrow *)b->space.items)[i];
    if (values) memcpy(values + i * bytes, from + place * bytes, (size_t)bytes);
    if (places) memcpy(places + i * 4, &place, sizeof place);
  }
}

static int64_t rows_of_task(const tsr_top_k *top) {
  return top->length < TASK_ELEMENTS ? TASK_ELEMENTS / top->length : 1;
}

static tsr_status top_some(void *context, int64_t task, int worker) {
  const top_run *r = context;
  const tsr_top_k *top = r->top;
  const int64_t each = rows_of_task(top);
  const int64_t end = (task + 1) * each < top->rows ? (task + 1) * each : top->rows;
  top_buffer b = {.space = space_at(top, tsr_kernel_scratch(r->call, worker)),
                  .capacity = capacity_of(top),
                  .k = top->k,
                  .bits = is_wide(top) ? 64 : 32};
  for (int64_t row = task * each; row < end; row++) {
    const char *from = r->call->inputs[0] + row * top->length * top->element_bytes;
    TSR_TRY(is_wide(top) ? best_wide(top, from, &b) : best_narrow(top, from, &b));
    write_row(r, &b, row);
  }
  return NULL;
}

tsr_status tsr_top_k_run(const void *description, const tsr_kernel_call *call) {
  const tsr_top_k *top = description;
  if (!top->rows || !top->k) return NULL;
  const int64_t each = rows_of_task(top), tasks = (top->rows + each - 1) / each;
  top_run r = {top, call};
  return tsr_pool_run(tasks > 1 ? call->pool : NULL, tasks, top_some, &r);
}
