// The reading of one rank: a worker takes a job, gathers the runs of its windows for all buffers of
// the rank, and reads them in file order.
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pool_internal.h"
#include "base/progress_internal.h"
#include "element/copy_runs.h"
#include "load/load.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"

typedef struct load_reader {
  tsr_load *load;
  tsr_load_tasks tasks;
  tsr_batch *batches;  // owned: of each worker; without files until used
  int batch_count;
  char **boxes;  // owned: of each worker, a box of a tensor that a map makes
  tsr_progress *progress;
} load_reader;

// ---- stored tensors ----

typedef struct run_target {
  load_reader *r;
  tsr_batch *batch;
  const tsr_load_tensor *t;
  char *data;
  int64_t offset;  // of the box in the buffer, in elements
} run_target;

static tsr_status gather_copy(void *context, const tsr_copy *copy) {
  const run_target *to = context;
  const tsr_store *store = to->r->load->checkpoint->store;
  const tsr_shard_place *place =
      tsr_store_place_to_read(store, to->t->view->origin, copy->source, -1);
  if (place->file < 0)
    return tsr_fail(NOT_FOUND, "no file holds shard %lld", (long long)copy->source);
  tsr_batch_run run = {.file = place->file,
                       .offset = place->offset,
                       .stored = store->tensors[to->t->view->origin].dtype,
                       .dtype = to->t->view->dtype,
                       .from = copy->from,
                       .to = copy->to + to->offset,
                       .length = copy->length,
                       .data = to->data,
                       .name = to->t->view->name};
  int64_t turns[TSR_MAX_RANK] = {0};
  atomic_store_explicit(&to->r->load->touched[place->file], true, memory_order_relaxed);
  do {
    TSR_TRY(tsr_batch_add(to->batch, &run));
  } while (tsr_copy_next_run(copy, turns, &run.from, &run.to));
  return NULL;
}

static tsr_status gather_piece(load_reader *r, tsr_batch *batch, const tsr_load_tensor *t,
                               const tsr_load_slot *slot, const tsr_piece *piece) {
  run_target to = {.r = r, .batch = batch, .t = t, .data = slot->data, .offset = piece->offset};
  return tsr_box_copies_into(t->index, piece->ranges, piece->strides, TSR_BOX_OWNERS, gather_copy,
                             &to);
}

// ---- tensors made by a map ----

static tsr_status read_piece(load_reader *r, int worker, const tsr_load_tensor *t,
                             const tsr_load_slot *slot, const tsr_piece *piece) {
  const int bits = tsr_dtype_info_of(t->view->dtype)->bits;
  const tsr_copy copy = tsr_load_piece_copy(piece, t->view->shape.rank, true);
  tsr_batch *batch = &r->batches[worker];
  const int64_t bytes = tsr_view_bytes(t->view, tsr_copy_elements(&copy));
  batch->bytes_wanted += bytes;
  batch->runs.bytes_moved += bytes;
  if (copy.loop_count == 0 && bits % 8 == 0)
    return tsr_view_read_box(t->view, piece->ranges, slot->data + copy.to * (bits / 8));
  char **box = &r->boxes[worker];
  if (!*box) *box = malloc((size_t)r->load->window_bytes + 16);
  if (!*box) return tsr_fail(NO_MEMORY, "%lld bytes to read", (long long)r->load->window_bytes);
  TSR_TRY(tsr_view_read_box(t->view, piece->ranges, *box));
  tsr_copy_run(&copy, bits, *box, slot->data);
  return NULL;
}

// ---- jobs ----

static tsr_status read_slot(load_reader *r, int worker, const tsr_load_tensor *t,
                            const tsr_load_slot *slot, const tsr_range *box) {
  tsr_pieces pieces;
  tsr_piece piece;
  tsr_status status = NULL;
  TSR_TRY(tsr_pieces_init(&pieces, t->layout, slot->shard));
  while (!status && tsr_load_next_piece(t, slot, &pieces, box, &piece))
    status = t->view->direct ? gather_piece(r, &r->batches[worker], t, slot, &piece)
                             : read_piece(r, worker, t, slot, &piece);
  tsr_pieces_deinit(&pieces);
  return status;
}

static tsr_status do_task(load_reader *r, int worker, const tsr_load_task *task) {
  const tsr_load_windows *w = &r->tasks.windows[task->windows];
  const tsr_load_tensor *t = &r->load->tensors[w->tensor];
  tsr_range box[TSR_MAX_RANK];
  for (int64_t i = task->first; i < task->first + task->count; i++) {
    tsr_load_window(w, t->view->shape.rank, i, box);
    TSR_TRY_NOTE(tsr_batch_make_room(&r->batches[worker], w->runs), "tensor \"%s\"", t->view->name);
    for (int64_t s = 0; s < t->slot_count; s++)
      TSR_TRY_NOTE(read_slot(r, worker, t, &t->slots[s], box), "tensor \"%s\"", t->view->name);
  }
  return NULL;
}

static tsr_status start_batch(load_reader *r, tsr_batch *batch) {
  if (batch->runs.files) return NULL;
  batch->runs.files = r->load->checkpoint->store->files;
  batch->scratch_bytes = r->load->window_bytes;
  batch->allow_overflow = r->load->options.allow_overflow;
  return tsr_batch_init(batch);
}

static tsr_status do_job(void *context, int64_t index, int worker) {
  load_reader *r = context;
  tsr_batch *batch = &r->batches[worker];
  int64_t bytes = 0;
  TSR_TRY(start_batch(r, batch));
  for (int64_t i = r->tasks.firsts[index]; i < r->tasks.firsts[index + 1]; i++) {
    TSR_TRY(do_task(r, worker, &r->tasks.items[i]));
    bytes += r->tasks.items[i].bytes;
  }
  TSR_TRY(tsr_batch_drain(batch));
  if (tsr_progress_add(r->progress, bytes)) return NULL;
  return tsr_fail(CANCELLED, "the load was cancelled");
}

static tsr_status start(load_reader *r, const int64_t *tensors, int64_t count) {
  tsr_load *load = r->load;
  const int64_t files = tsr_checkpoint_file_count(load->checkpoint);
  r->batch_count = load->pool ? tsr_pool_workers(load->pool) : 1;
  r->batches = calloc((size_t)r->batch_count, sizeof *r->batches);
  r->boxes = calloc((size_t)r->batch_count, sizeof *r->boxes);
  if (!load->touched) load->touched = calloc((size_t)files + 1, sizeof *load->touched);
  if (!r->batches || !r->boxes || !load->touched)
    return tsr_fail(NO_MEMORY, "%d workers", r->batch_count);
  return tsr_load_tasks_init(&r->tasks, load, tensors, count);
}

static void finish(load_reader *r) {
  tsr_load_report *report = &r->load->report;
  for (int i = 0; i < r->batch_count && r->batches; i++) {
    const tsr_batch *batch = &r->batches[i];
    report->bytes_wanted += batch->bytes_wanted;
    report->bytes_read += batch->runs.bytes_moved;
    report->calls += batch->runs.calls;
    report->lost_elements += batch->overflows;
    tsr_batch_deinit(&r->batches[i]);
    if (r->boxes) free(r->boxes[i]);
  }
  tsr_load_tasks_deinit(&r->tasks);
  free(r->batches);
  free(r->boxes);
}

tsr_status tsr_load_read(tsr_load *load, const int64_t *tensors, int64_t count,
                         tsr_progress *progress) {
  load_reader r = {.load = load, .progress = progress};
  tsr_status status = start(&r, tensors, count);
  if (!status) status = tsr_pool_run(load->pool, r.tasks.job_count, do_job, &r);
  finish(&r);
  int64_t lost = 0;
  for (int64_t i = 0; i < load->views.count; i++) lost += tsr_view_overflows(load->views.items[i]);
  load->report.lost_elements += lost - load->overflows_before;
  load->overflows_before = lost;
  load->report.files = 0;
  for (int64_t i = 0; i < tsr_checkpoint_file_count(load->checkpoint) && load->touched; i++)
    load->report.files += atomic_load(&load->touched[i]);
  return status;
}
