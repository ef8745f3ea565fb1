// Windows bound the memory of a worker. Tasks are sorted by their place in the files and joined to
// jobs that are worth a worker's while.
#include "load/load.h"

#include <assert.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/grow.h"
#include "element/copy_internal.h"
#include "layout/layout_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

// ---- pieces ----

// Start of a piece along a dimension of the buffer.
static int64_t local_start(const tsr_load_tensor *t, const tsr_load_slot *slot,
                           const tsr_piece *piece) {
  tsr_shape buffer;
  tsr_layout_buffer_shape(t->layout, slot->shard, &buffer);
  return piece->offset / piece->strides[slot->dim] % buffer.dims[slot->dim];
}

static bool clip(tsr_piece *piece, int dim, tsr_range range) {
  tsr_range *held = &piece->ranges[dim];
  if (range.lo > held->lo) {
    piece->offset += (range.lo - held->lo) * piece->strides[dim];
    held->lo = range.lo;
  }
  if (range.hi < held->hi) held->hi = range.hi;
  return held->lo < held->hi;
}

static bool clip_range(const tsr_load_tensor *t, const tsr_load_slot *slot, tsr_piece *piece) {
  if (slot->dim < 0) return slot->range.lo < slot->range.hi;
  const int64_t shift = piece->ranges[slot->dim].lo - local_start(t, slot, piece);
  return clip(piece, slot->dim, (tsr_range){slot->range.lo + shift, slot->range.hi + shift});
}

bool tsr_load_next_piece(const tsr_load_tensor *t, const tsr_load_slot *slot, tsr_pieces *pieces,
                         const tsr_range *box, tsr_piece *out_piece) {
  const int rank = tsr_layout_rank(t->layout);
  while (tsr_pieces_next(pieces, out_piece)) {
    if (slot->owned_only && !out_piece->owned) continue;
    bool met = clip_range(t, slot, out_piece);
    for (int d = 0; d < rank && box && met; d++) met = clip(out_piece, d, box[d]);
    if (met) return true;
  }
  return false;
}

static int64_t piece_elements(const tsr_piece *piece, int rank) {
  int64_t elements = 1;
  for (int d = 0; d < rank; d++) elements *= piece->ranges[d].hi - piece->ranges[d].lo;
  return elements;
}

tsr_copy tsr_load_piece_copy(const tsr_piece *piece, int rank, bool dense) {
  tsr_copy copy = {
      .from = dense ? 0 : piece->offset, .to = piece->offset, .length = 1, .loop_count = rank};
  int64_t stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    const int64_t size = piece->ranges[d].hi - piece->ranges[d].lo, step = piece->strides[d];
    copy.loops[d] = (tsr_copy_loop){size, dense ? stride : step, step};
    stride *= size;
  }
  tsr_copy_simplify(&copy);
  return copy;
}

tsr_status tsr_load_slot_elements(const tsr_load_tensor *t, const tsr_load_slot *slot,
                                  int64_t *out_elements) {
  tsr_pieces pieces;
  tsr_piece piece;
  *out_elements = 0;
  TSR_TRY(tsr_pieces_init(&pieces, t->layout, slot->shard));
  while (tsr_load_next_piece(t, slot, &pieces, NULL, &piece))
    *out_elements += piece_elements(&piece, tsr_layout_rank(t->layout));
  tsr_pieces_deinit(&pieces);
  return NULL;
}

// ---- windows ----

static int64_t size_of(tsr_range range) {
  assert(range.lo < range.hi);  // a hull of something
  return range.hi - range.lo;
}

// About how many runs a piece is in its file: dimensions that are whole on both sides continue the
// run of the dimension before them.
static int64_t piece_runs(const tsr_load_tensor *t, const tsr_shape *stored,
                          const tsr_piece *piece) {
  const tsr_shape *whole = &t->view->shape;
  int64_t runs = 1;
  int d = whole->rank - 1;
  for (; d >= 0; d--) {
    const int64_t held = size_of(piece->ranges[d]);
    if (stored->dims[d] < held) runs *= (held + stored->dims[d] - 1) / stored->dims[d];
    if (held < whole->dims[d] || stored->dims[d] < whole->dims[d]) break;
  }
  for (d--; d >= 0; d--) runs = tsr_saturated_multiply(runs, size_of(piece->ranges[d]));
  return runs;
}

// The bounding box of what is read, its elements and runs.
static tsr_status find_hull(const tsr_load *load, const tsr_load_tensor *t, tsr_load_windows *w,
                            int64_t *out_elements, int64_t *out_runs) {
  const int rank = tsr_layout_rank(t->layout);
  tsr_shape stored = t->view->shape;
  tsr_piece piece;
  *out_elements = *out_runs = 0;
  if (t->view->direct)
    tsr_layout_shard_shape(tsr_checkpoint_layout(load->checkpoint, t->view->origin), 0, &stored);
  for (int d = 0; d < rank; d++) w->hull[d] = (tsr_range){INT64_MAX, 0};
  for (int64_t i = 0; i < t->slot_count; i++) {
    tsr_pieces pieces;
    TSR_TRY(tsr_pieces_init(&pieces, t->layout, t->slots[i].shard));
    while (tsr_load_next_piece(t, &t->slots[i], &pieces, NULL, &piece)) {
      *out_elements += piece_elements(&piece, rank);
      *out_runs = tsr_saturated_add(*out_runs, piece_runs(t, &stored, &piece));
      for (int d = 0; d < rank; d++) {
        if (piece.ranges[d].lo < w->hull[d].lo) w->hull[d].lo = piece.ranges[d].lo;
        if (piece.ranges[d].hi > w->hull[d].hi) w->hull[d].hi = piece.ranges[d].hi;
      }
    }
    tsr_pieces_deinit(&pieces);
  }
  return NULL;
}

// Windows of about so many elements.
static void cut_windows(tsr_load_windows *w, int rank, int64_t most) {
  int64_t inner = 1;
  w->dim = 0;
  for (int d = 1; d < rank; d++) inner *= size_of(w->hull[d]);
  while (w->dim < rank - 1 && inner > most) inner /= size_of(w->hull[++w->dim]);
  const int64_t size = rank ? size_of(w->hull[w->dim]) : 1;
  w->rows = most / inner > 1 ? most / inner : 1;
  if (w->rows > size) w->rows = size;
  w->along = (size + w->rows - 1) / w->rows;
  w->count = w->along;
  for (int d = 0; d < w->dim; d++) w->count *= size_of(w->hull[d]);
}

void tsr_load_window(const tsr_load_windows *w, int rank, int64_t index, tsr_range *out_box) {
  int64_t outer = index / w->along;
  for (int d = 0; d < rank; d++) out_box[d] = w->hull[d];
  if (rank == 0) return;
  tsr_range *cut = &out_box[w->dim];
  cut->lo += index % w->along * w->rows;
  if (cut->lo + w->rows < cut->hi) cut->hi = cut->lo + w->rows;
  for (int d = w->dim - 1; d >= 0; d--) {
    out_box[d].lo += outer % size_of(w->hull[d]);
    out_box[d].hi = out_box[d].lo + 1;
    outer /= size_of(w->hull[d]);
  }
}

static tsr_status make_windows(const tsr_load *load, int64_t tensor, tsr_load_windows *w) {
  const tsr_load_tensor *t = &load->tensors[tensor];
  const int rank = tsr_layout_rank(t->layout);
  int64_t elements = 0, runs = 0, hull = 1;
  *w = (tsr_load_windows){.tensor = tensor};
  TSR_TRY(find_hull(load, t, w, &elements, &runs));
  if (elements == 0) return NULL;
  w->bytes = tsr_load_stored_bytes(load, t, elements);
  int64_t most = load->window_bytes * 8 / tsr_dtype_info_of(t->view->dtype)->bits;
  // All runs of a window are gathered before they are read; otherwise gaps between the runs of one
  // device would be read again for the next.
  const int64_t gathered = tsr_saturated_multiply(elements / runs, TSR_MOST_READS);
  if (t->view->direct && runs > TSR_MOST_READS && gathered < most) most = gathered;
  // Gaps between pieces are not read, so a window may span more.
  for (int d = 0; d < rank; d++) hull *= size_of(w->hull[d]);
  if (t->view->direct)
    most = tsr_saturated_multiply(most, hull / elements > 1 ? hull / elements : 1);
  cut_windows(w, rank, most);
  w->runs = (runs + w->count - 1) / w->count;
  return NULL;
}

// ---- tasks ----

static tsr_status take_place(void *context, const tsr_copy *copy) {
  *(tsr_copy *)context = *copy;
  return NULL;
}

// Where the first element of a box is stored; for a tensor that a map makes, where its first source
// begins.
static tsr_status find_place(const tsr_load *load, const tsr_load_tensor *t, const tsr_range *box,
                             tsr_load_task *task) {
  const tsr_store *store = load->checkpoint->store;
  const int rank = t->view->shape.rank;
  tsr_range corner[TSR_MAX_RANK];
  tsr_copy copy = {0};
  if (t->view->origin < 0) return NULL;
  for (int d = 0; d < rank; d++) corner[d] = (tsr_range){box[d].lo, box[d].lo + 1};
  if (t->view->direct) TSR_TRY(tsr_box_copies(t->index, corner, TSR_BOX_OWNERS, take_place, &copy));
  const tsr_shard_place *place = tsr_store_place_to_read(store, t->view->origin, copy.source, -1);
  task->file = place->file;
  task->offset = place->offset + tsr_load_stored_bytes(load, t, copy.from);
  return NULL;
}

static tsr_status add_task(tsr_load_tasks *tasks, const tsr_load *load, int64_t windows,
                           int64_t first, int64_t count) {
  const tsr_load_windows *w = &tasks->windows[windows];
  const tsr_load_tensor *t = &load->tensors[w->tensor];
  tsr_load_task task = {.windows = windows, .first = first, .count = count};
  tsr_range box[TSR_MAX_RANK];
  task.bytes = w->bytes / w->count * count;
  if (first + count == w->count) task.bytes += w->bytes % w->count;
  tsr_load_window(w, tsr_layout_rank(t->layout), first, box);
  TSR_TRY(find_place(load, t, box, &task));
  void *items = tsr_grow(tasks->items, tasks->count, &tasks->capacity, sizeof *tasks->items);
  if (!items) return tsr_fail(NO_MEMORY, "%lld tasks", (long long)tasks->count + 1);
  tasks->items = items;
  tasks->items[tasks->count++] = task;
  return NULL;
}

// Workers must not write to the same byte, so one worker reads all of a tensor with elements
// narrower than a byte.
static tsr_status add_tasks(tsr_load_tasks *tasks, const tsr_load *load, int64_t windows) {
  const tsr_load_windows *w = &tasks->windows[windows];
  const bool narrow = tsr_dtype_info_of(load->tensors[w->tensor].view->dtype)->bits % 8 != 0;
  const int64_t step = narrow ? w->count : 1;
  for (int64_t first = 0; first < w->count; first += step)
    TSR_TRY(add_task(tasks, load, windows, first, step));
  return NULL;
}

static int by_place(const void *left, const void *right) {
  const tsr_load_task *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
  if (a->windows != b->windows) return a->windows < b->windows ? -1 : 1;
  return (a->first > b->first) - (a->first < b->first);
}

// Joins consecutive tasks until a job has `least_bytes`.
static tsr_status make_jobs(tsr_load_tasks *tasks, int64_t least_bytes) {
  int64_t bytes = 0;
  tasks->firsts = malloc(sizeof *tasks->firsts * (size_t)(tasks->count + 1));
  if (!tasks->firsts) return tsr_fail(NO_MEMORY, "%lld jobs", (long long)tasks->count);
  for (int64_t i = 0; i < tasks->count; i++) {
    if (i == 0 || bytes >= least_bytes) {
      tasks->firsts[tasks->job_count++] = i;
      bytes = 0;
    }
    bytes += tasks->items[i].bytes;
  }
  tasks->firsts[tasks->job_count] = tasks->count;
  return NULL;
}

static tsr_status fill_tasks(tsr_load_tasks *tasks, const tsr_load *load, const int64_t *tensors,
                             int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    TSR_TRY_NOTE(make_windows(load, tensors[i], &tasks->windows[i]), "tensor \"%s\"",
                 load->tensors[tensors[i]].view->name);
    TSR_TRY(add_tasks(tasks, load, i));
  }
  if (tasks->count) qsort(tasks->items, (size_t)tasks->count, sizeof *tasks->items, by_place);
  return make_jobs(tasks, load->window_bytes);
}

tsr_status tsr_load_tasks_init(tsr_load_tasks *tasks, const tsr_load *load, const int64_t *tensors,
                               int64_t count) {
  *tasks = (tsr_load_tasks){.windows = calloc((size_t)count + 1, sizeof *tasks->windows)};
  tsr_status status = tasks->windows ? fill_tasks(tasks, load, tensors, count)
                                     : tsr_fail(NO_MEMORY, "%lld tensors", (long long)count);
  if (status) tsr_load_tasks_deinit(tasks);
  return status;
}

void tsr_load_tasks_deinit(tsr_load_tasks *tasks) {
  free(tasks->windows);
  free(tasks->items);
  free(tasks->firsts);
  *tasks = (tsr_load_tasks){0};
}
