// Copies within one process, divided among its workers.
//
// The copies of all arrays are sorted by target and laid end to end; task t does the t-th range of
// that sequence. So a large copy is split among workers, many small ones are done together, and
// neighbouring tasks write neighbouring memory.
//
// Two workers must not write to one byte. So elements narrower than a byte are split at multiples
// of 8, and copies into one buffer are *tied* if one of their runs does not start and end on a
// byte: the worker of the first does all of them.
#include <stdlib.h>

#include "comm/threads/threads.h"
#include "element/copy_internal.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/transport.h"
#include "tessera/status.h"

enum { TASK_BYTES = 256 << 10, CUT = 64 /* elements: 64 of them fill whole bytes */ };

typedef struct placed_copy {
  const tsr_copy *copy;
  const void *source;
  char *target;
  int bits;
  bool tied;           // to the item before it
  bool loose;          // all its runs start and end on bytes
  int64_t begin, end;  // its range in the sequence, in bytes
} placed_copy;

typedef struct copy_work {
  placed_copy *items;
  int64_t count;
  int64_t bytes;
  tsr_copy_stores stores;
} copy_work;

// ---- the sequence ----

static bool on_bytes(int64_t elements, int bits) { return elements * bits % 8 == 0; }

static bool is_loose(const tsr_copy *copy, int bits) {
  if (bits % 8 == 0) return true;
  if (!on_bytes(copy->to, bits) || !on_bytes(copy->length, bits)) return false;
  for (int i = 0; i < copy->loop_count; i++) {
    if (!on_bytes(copy->loops[i].to, bits)) return false;
  }
  return true;
}

static int by_place(const void *left, const void *right) {
  const placed_copy *a = left, *b = right;
  if (a->target != b->target) return (uintptr_t)a->target < (uintptr_t)b->target ? -1 : 1;
  return (a->copy->to > b->copy->to) - (a->copy->to < b->copy->to);
}

static bool same_place(const placed_copy *a, const placed_copy *b) {
  const tsr_copy *x = a->copy, *y = b->copy;
  if (a->target != b->target || a->bits != b->bits || x->to != y->to || x->length != y->length ||
      x->loop_count != y->loop_count)
    return false;
  for (int i = 0; i < x->loop_count; i++) {
    if (x->loops[i].count != y->loops[i].count || x->loops[i].to != y->loops[i].to) return false;
  }
  return true;
}

static int64_t add_array(const tsr_comm *comm, const tsr_exchange *array, placed_copy *items) {
  int64_t count = 0;
  for (int64_t i = 0; i < array->copy_count; i++) {
    const tsr_copy *copy = &array->copies[i];
    const int64_t from = tsr_comm_local_index(comm, copy->source);
    const int64_t to = tsr_comm_local_index(comm, copy->target);
    if (from < 0 || to < 0 || !tsr_copy_elements(copy)) continue;
    items[count++] = (placed_copy){.copy = copy,
                                   .source = array->in[from],
                                   .target = array->out[to],
                                   .bits = array->bits,
                                   .loose = is_loose(copy, array->bits)};
  }
  return count;
}

// Planners list copies by target, so sorting is rarely needed.
static void sort_items(placed_copy *items, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    if (by_place(&items[i - 1], &items[i]) <= 0) continue;
    qsort(items, (size_t)count, sizeof *items, by_place);
    return;
  }
}

static void drop_repeated(copy_work *w) {
  int64_t kept = 0;
  for (int64_t i = 0; i < w->count; i++) {
    if (kept && same_place(&w->items[kept - 1], &w->items[i])) continue;
    w->items[kept++] = w->items[i];
  }
  w->count = kept;
}

// Ties the items of a buffer if one of them is not loose, and lays all end to end.
static void lay_out(copy_work *w) {
  for (int64_t first = 0, end; first < w->count; first = end) {
    bool loose = true;
    for (end = first; end < w->count && w->items[end].target == w->items[first].target; end++)
      loose = loose && w->items[end].loose;
    for (int64_t i = first; i < end; i++) {
      placed_copy *it = &w->items[i];
      it->loose = loose;
      it->tied = !loose && i > first;
      it->begin = w->bytes;
      it->end = w->bytes += (tsr_copy_elements(it->copy) * it->bits + 7) / 8;
    }
  }
}

// ---- tasks ----

// The first item that ends after a place in the sequence.
static int64_t find_item(const copy_work *w, int64_t place) {
  int64_t low = 0, high = w->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (w->items[middle].end <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The element of an item at a place in the sequence, rounded to where a task may start.
static int64_t element_at(const placed_copy *it, int64_t place) {
  if (place <= it->begin) return 0;
  if (place >= it->end) return tsr_copy_elements(it->copy);
  return (place - it->begin) * 8 / it->bits / CUT * CUT;
}

static void run_item(const placed_copy *it, int64_t begin, int64_t end, tsr_copy_stores stores) {
  tsr_copy_run_range(it->copy, begin, end, it->bits, it->source, it->target, stores);
}

static tsr_status do_task(void *context, int64_t index, int worker) {
  (void)worker;
  const copy_work *w = context;
  const int64_t begin = index * TASK_BYTES, end = begin + TASK_BYTES;
  for (int64_t i = find_item(w, begin); i < w->count && w->items[i].begin < end; i++) {
    const placed_copy *it = &w->items[i];
    if (it->loose) {
      run_item(it, element_at(it, begin), element_at(it, end), w->stores);
    } else if (!it->tied && it->begin >= begin) {
      do run_item(&w->items[i], 0, tsr_copy_elements(w->items[i].copy), w->stores);
      while (i + 1 < w->count && w->items[i + 1].tied && ++i);
    }
  }
  return NULL;
}

tsr_status tsr_engine_copy_here(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count) {
  int64_t most = 0;
  for (int64_t i = 0; i < array_count; i++) most += arrays[i].copy_count;
  if (!most) return NULL;
  copy_work w = {.items = malloc(sizeof *w.items * (size_t)most)};
  if (!w.items) return tsr_fail(NO_MEMORY, "%lld copies", (long long)most);
  for (int64_t i = 0; i < array_count; i++)
    w.count += add_array(comm, &arrays[i], w.items + w.count);
  sort_items(w.items, w.count);
  drop_repeated(&w);
  lay_out(&w);
  w.stores = tsr_threads_stores(w.bytes);
  const int64_t tasks = (w.bytes + TASK_BYTES - 1) / TASK_BYTES;
  tsr_status status = tsr_pool_run(tsr_comm_pool(comm), tasks, do_task, &w);
  free(w.items);
  return status;
}
