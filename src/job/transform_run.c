// Running a transform. The order of steps makes the result appear whole or not at all:
//
//   1. create and lock the journal, then create the folder beside the destination; then write the
//      journal's first line: from now on the job can be resumed
//   2. give files their size and headers, and write windows; at intervals sync the files, then add
//      the written windows to the journal
//   3. with all windows written and the source unchanged, write the index; then the journal's last
//      line says what will replace the destination
//   4. rename the result in one step; remove what is left, the journal last
//
// A resumed job learns from the journal in which step it was stopped.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arithmetic.h"
#include "base/io.h"
#include "base/progress_internal.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "format/format.h"
#include "job/job_limits.h"
#include "job/transform_run.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

static const int64_t sync_interval = INT64_C(1) << 30;  // bytes written between two flushes

// ---- blocks ----

static tsr_status found_blocks(void *context, tsr_journal_kind kind, int64_t first, int count,
                               const tsr_hash128 *hashes, int hash_count) {
  tsr_transform_state *run = context;
  tsr_transform *t = run->t;
  const int64_t all = t->first_block[t->source.views.count];
  if (kind == TSR_JOURNAL_READ)
    return t->source.hashes && hash_count == 1
               ? tsr_source_hashes_restore(t->source.hashes, first, *hashes)
               : NULL;
  if (first < 0 || count < 1 || count > all || first > all - count) return NULL;
  if (hash_count != (t->blocks ? count : 0)) return NULL;  // done again
  if (t->blocks) memcpy(t->blocks + first, hashes, sizeof *hashes * (size_t)count);
  memset(t->done + first, 1, (size_t)count);
  run->resumable = true;
  return NULL;
}

static tsr_status make_tables(tsr_transform *t) {
  const size_t all = (size_t)t->first_block[t->source.views.count] + 1;
  t->done = calloc(all, 1);
  const bool wanted = t->target->format->digest != NULL;
  if (wanted) t->blocks = calloc(all, sizeof *t->blocks);
  if (t->done && (t->blocks || !wanted)) return NULL;
  return tsr_fail(NO_MEMORY, "a table of %zu blocks", all);
}

// ---- digests ----

tsr_block_range tsr_transform_blocks(const tsr_transform *t, const tsr_window *w) {
  const int64_t block = tsr_block_elements(t->source.views.items[w->tensor]->dtype);
  return (tsr_block_range){t->first_block[w->tensor] + w->first / block,
                           (int)((w->count + block - 1) / block)};
}

// The stored tensor that equals a view and whose blocks are hashed as they are read; -1 = none.
static int64_t find_hashed(const tsr_transform *t, const tsr_view *view) {
  if (t->target->format->digest != tsr_block_hash) return -1;
  const int64_t origin = tsr_job_source_hashed(&t->source, view);
  if (origin < 0) return -1;
  return view->dtype == tsr_source_hashes_dtype(t->source.hashes, origin) ? origin : -1;
}

// Digests each block of a window, if the format wants that.
static void digest_blocks(const tsr_transform *t, const tsr_window *w, const char *buffer) {
  const tsr_view *view = t->source.views.items[w->tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  const tsr_block_range blocks = tsr_transform_blocks(t, w);
  const int64_t hashed = t->blocks ? find_hashed(t, view) : -1;
  for (int i = 0; i < blocks.count && t->blocks; i++) {
    const int64_t some = tsr_least(block, w->count - i * block);
    tsr_hash128 *out = &t->blocks[blocks.first + i];
    if (hashed >= 0 && tsr_source_hashes_block(t->source.hashes, hashed, w->first / block + i, out))
      continue;
    *out = t->target->format->digest(buffer + tsr_view_bytes(view, i * block),
                                     tsr_view_bytes(view, some));
  }
}

// ---- windows ----

// Blocks in the journal must be on the disk. After a failed sync the next one may succeed although
// data are lost, so nothing more goes into the journal.
tsr_status tsr_transform_state_flush(tsr_transform_state *run) {
  const tsr_store *store = run->t->target->store;
  for (int i = 0; i < store->file_count && run->sync; i++) {
    int fd = -1;
    TSR_TRY(tsr_files_take(store->files, i, &fd));
    tsr_status status = tsr_io_sync(fd, store->paths[i]);
    tsr_files_give_back(store->files, i);
    if (status) run->sync_failed = true;
    if (status) return status;
  }
  run->unflushed = 0;
  return run->journal ? tsr_journal_flush(run->journal, run->sync) : NULL;
}

// Source blocks go into the journal before the blocks written from them.
static tsr_status add_read_blocks(tsr_transform_state *run) {
  tsr_source_hashes *hashes = run->t->source.hashes;
  int64_t block = 0;
  tsr_hash128 hash;
  while (hashes && tsr_source_hashes_next(hashes, &block, &hash))
    TSR_TRY(tsr_journal_add(run->journal, TSR_JOURNAL_READ, block, 1, &hash, 1));
  return NULL;
}

// Arrays are gone with their process, so a save has no blocks in its journal.
static tsr_status finish_window(tsr_transform_state *run, const tsr_window *w, int64_t bytes) {
  const tsr_block_range blocks = tsr_transform_blocks(run->t, w);
  const tsr_hash128 *hashes = run->t->blocks ? run->t->blocks + blocks.first : NULL;
  tsr_status status = NULL;
  pthread_mutex_lock(&run->lock);
  if (run->t->source.resumable) {
    status = add_read_blocks(run);
    if (!status)
      status = tsr_journal_add(run->journal, TSR_JOURNAL_WRITTEN, blocks.first, blocks.count,
                               hashes, hashes ? blocks.count : 0);
    run->resumable = true;
  }
  run->unflushed += bytes;
  if (!status && run->unflushed >= sync_interval) status = tsr_transform_state_flush(run);
  pthread_mutex_unlock(&run->lock);
  return status;
}

// Windows come tensor by tensor, so that an index mostly serves the next one too.
static tsr_status find_index(const tsr_transform *t, tsr_window_worker *worker, int64_t tensor) {
  if (worker->index && worker->tensor == tensor) return NULL;
  tsr_box_index_destroy(worker->index);
  worker->index = NULL;
  worker->tensor = tensor;
  return tsr_box_index_create(t->target->store->tensors[tensor].layout, &worker->index);
}

static tsr_status move_window(const tsr_transform *t, const tsr_window *w,
                              tsr_window_worker *worker) {
  const tsr_view *view = t->source.views.items[w->tensor];
  char *buffer = worker->buffer;
  if (w->count > 0) buffer[tsr_view_bytes(view, w->count) - 1] = 0;
  TSR_TRY(tsr_view_read(view, w->first, w->count, buffer));
  digest_blocks(t, w, buffer);
  TSR_TRY(find_index(t, worker, w->tensor));
  return tsr_note(
      tsr_store_write_range(t->target->store, w->tensor, worker->index, w->first, w->count, buffer),
      "tensor \"%s\"", view->name);
}

static bool is_done(const tsr_transform *t, const tsr_window *w) {
  const tsr_block_range blocks = tsr_transform_blocks(t, w);
  return !memchr(t->done + blocks.first, 0, (size_t)blocks.count);
}

typedef struct writing {
  tsr_transform_state *run;
  const int64_t *windows;
} writing;

static tsr_status do_window(void *context, int64_t index, int worker) {
  const writing *some = context;
  tsr_transform_state *run = some->run;
  const tsr_transform *t = run->t;
  const tsr_window w = tsr_transform_window(t, some->windows ? some->windows[index] : index);
  const int64_t bytes = tsr_view_bytes(t->source.views.items[w.tensor], w.count);
  if (!is_done(t, &w)) {
    tsr_window_worker *own = &run->workers[worker];
    if (!own->buffer) own->buffer = malloc((size_t)t->buffer_bytes + 1);
    if (!own->buffer)
      return tsr_fail(NO_MEMORY, "a window of %lld bytes", (long long)t->buffer_bytes);
    TSR_TRY(move_window(t, &w, own));
    TSR_TRY(finish_window(run, &w, bytes));
  }
  if (tsr_progress_add(run->progress, bytes)) return NULL;
  return tsr_fail(CANCELLED, "the %s was cancelled%s", t->source.job,
                  t->source.resumable ? "; what is written stays for resuming" : "");
}

tsr_status tsr_transform_state_write(tsr_transform_state *run, const int64_t *windows,
                                     int64_t count) {
  return tsr_pool_run(run->pool, count, do_window, &(writing){run, windows});
}

tsr_status tsr_transform_state_expect(tsr_transform_state *run, int64_t bytes) {
  const tsr_transform_options *options = &run->t->options;
  return tsr_job_limits_report(&TSR_JOB_LIMITS_OF(options, options->jobs), "write", bytes,
                               &run->progress);
}

// ---- files ----

// Gives files their size and headers; windows of an earlier job stay.
static tsr_status begin_files(const tsr_transform_state *run) {
  const tsr_transform *t = run->t;
  const tsr_store *store = t->target->store;
  for (int i = 0; i < store->file_count; i++) {
    const tsr_target_file *file = &t->target->files[i];
    int fd = -1;
    TSR_TRY(tsr_files_take(store->files, i, &fd));
    tsr_status status = tsr_io_reserve(fd, store->paths[i], file->size);
    if (!status) status = tsr_io_write(fd, store->paths[i], file->header, file->header_bytes, 0);
    tsr_files_give_back(store->files, i);
    if (status) return status;
  }
  return run->sync ? tsr_io_sync_folder(t->work.partial) : NULL;
}

static tsr_status write_index(const tsr_transform *t) {
  const tsr_text *index = &t->target->index;
  tsr_text path = TSR_TEXT_EMPTY;
  int fd = -1;
  if (!index->length) return NULL;
  tsr_text_addf(&path, "%s/%s", t->work.partial, t->target->index_name);
  tsr_status status = tsr_text_check(&path);
  if (!status) status = tsr_io_create(tsr_text_string(&path), &fd);
  if (!status) status = tsr_io_reserve(fd, tsr_text_string(&path), 0);
  if (!status)
    status = tsr_io_write(fd, tsr_text_string(&path), index->data, (int64_t)index->length, 0);
  if (!status && !t->options.no_sync) status = tsr_io_sync(fd, tsr_text_string(&path));
  status = tsr_status_first(status, tsr_io_close(fd, tsr_text_string(&path)));
  tsr_text_deinit(&path);
  return status;
}

// Whether every file exists with its size. Otherwise files were changed, or the job was stopped
// before its first window: then the journal is void.
static tsr_status find_files(const tsr_transform *t, bool *out_there) {
  *out_there = true;
  for (int i = 0; i < t->target->store->file_count && *out_there; i++) {
    struct stat info;
    TSR_TRY(tsr_io_look(t->target->store->paths[i], out_there, &info));
    if (*out_there) *out_there = info.st_size == t->target->files[i].size;
  }
  return NULL;
}

// ---- the job ----

static tsr_status start_over(tsr_transform_state *run) {
  tsr_transform *t = run->t;
  if (!run->replaces) TSR_TRY(tsr_work_check_free(&t->work));
  memset(t->done, 0, (size_t)t->first_block[t->source.views.count] + 1);
  if (t->source.hashes) tsr_source_hashes_clear(t->source.hashes);
  run->resumable = run->resumed = false;
  TSR_TRY(tsr_journal_clear(run->journal));
  run->begun = true;
  TSR_TRY(tsr_work_begin(&t->work, run->sync));
  return tsr_journal_begin(run->journal, t->job, run->replaces, run->sync);
}

static tsr_status go_on(tsr_transform_state *run) {
  const tsr_transform *t = run->t;
  tsr_journal_state state;
  tsr_mark mark;
  bool there = false;
  TSR_TRY(tsr_journal_read(run->journal, t->job, found_blocks, run, &state));
  run->replaces = state.replaces;
  TSR_TRY(tsr_work_is_done(&t->work, &state.committed, &run->finished));
  if (run->finished) return NULL;
  // The result must still be the one that the journal committed.
  TSR_TRY(tsr_work_mark(t->work.result, &mark));
  const bool moved = state.committed.inode && mark.inode != state.committed.inode;
  if (state.begun && !moved) TSR_TRY(find_files(t, &there));
  if (!there) return start_over(run);
  run->begun = true;
  run->resumed = run->resumable;
  return NULL;
}

tsr_status tsr_transform_state_join(tsr_transform_state *run) {
  TSR_TRY(tsr_target_open(run->t->target, run->t->work.partial));
  run->t->target->store->files->early_sync = run->sync;
  return NULL;
}

static tsr_status begin(tsr_transform_state *run) {
  const tsr_transform *t = run->t;
  TSR_TRY(tsr_transform_state_join(run));
  TSR_TRY(tsr_journal_open(t->work.journal, &run->journal));
  run->replaces = t->options.existing == TSR_EXISTING_REPLACE;
  if (t->options.existing == TSR_EXISTING_RESUME) return go_on(run);
  if (t->options.existing == TSR_EXISTING_REFUSE && !tsr_journal_is_empty(run->journal))
    return tsr_work_refuse_left(t->work.journal);
  return start_over(run);
}

static void release(tsr_transform_state *run) {
  tsr_progress_finish(run->progress);
  tsr_pool_destroy(run->pool);
  for (int i = 0; i < run->t->certificate.workers && run->workers; i++) {
    free(run->workers[i].buffer);
    tsr_box_index_destroy(run->workers[i].index);
  }
  free(run->workers);
  pthread_mutex_destroy(&run->lock);
}

tsr_status tsr_transform_state_init(tsr_transform_state *run, tsr_transform *transform) {
  const int workers = transform->certificate.workers;
  *run = (tsr_transform_state){.t = transform, .sync = !transform->options.no_sync};
  if (transform->ran) return tsr_fail(BAD_ARGUMENT, "a %s runs once", transform->source.job);
  transform->ran = true;
  if (pthread_mutex_init(&run->lock, NULL)) return tsr_fail(NO_MEMORY, "a lock");
  run->workers = calloc((size_t)workers, sizeof *run->workers);
  tsr_status status = run->workers ? make_tables(transform) : tsr_fail(NO_MEMORY, "buffers");
  if (!status) status = tsr_pool_create(workers, &run->pool);
  if (status) release(run);
  return status;
}

tsr_status tsr_transform_state_begin(tsr_transform_state *run) {
  TSR_TRY(begin(run));
  return run->finished ? NULL : begin_files(run);
}

tsr_status tsr_transform_state_finish(tsr_transform_state *run) {
  tsr_transform *t = run->t;
  tsr_status status = tsr_job_source_check(&t->source);
  if (status) run->useless = tsr_status_cause(status) == TSR_CAUSE_SOURCE_CHANGED;
  if (status) return status;
  TSR_TRY(tsr_extras_copy(&t->extras, t->work.partial, run->sync));
  const tsr_target_end end = {&t->source.views, t->blocks, t->first_block, run->sync};
  if (t->target->format->end) TSR_TRY(t->target->format->end(t->target, &end));
  TSR_TRY(write_index(t));
  return run->sync ? tsr_io_sync_folder(t->work.partial) : NULL;
}

tsr_status tsr_transform_state_commit(tsr_transform_state *run) {
  const tsr_transform *t = run->t;
  tsr_mark mark;
  TSR_TRY(tsr_work_mark(t->work.result, &mark));
  TSR_TRY(tsr_journal_commit(run->journal, &mark, run->sync));
  TSR_TRY(tsr_work_commit(&t->work, run->replaces, run->sync));
  run->finished = true;
  return NULL;
}

// Without syncs, a failed close may have lost any data.
tsr_status tsr_transform_state_close(tsr_transform_state *run) {
  const tsr_files *files = run->t->target->store->files;
  const bool lost = run->sync_failed || (files && files->write_failed);
  tsr_status status = tsr_store_close_files(run->t->target->store);
  if ((status || lost) && !run->sync) run->useless = true;
  return status;
}

// Removes the folder and the journal after success, and if there is nothing to resume.
static tsr_status tidy(tsr_transform_state *run, tsr_status status) {
  const bool remove = run->finished || (run->begun && (!run->resumable || run->useless));
  tsr_journal *journal = run->journal;
  if (!journal) return status;
  if (remove) {
    tsr_status removed = tsr_work_remove(&run->t->work);
    if (removed) {
      if (run->finished) removed = tsr_note(removed, "the result is in place, but");
      status = tsr_status_first(status, removed);
      return tsr_status_first(status, tsr_journal_close(journal));
    }
  }
  if (remove || tsr_journal_is_empty(journal))
    return tsr_status_first(status, tsr_journal_remove(journal));
  return tsr_status_first(status, tsr_journal_close(journal));
}

tsr_status tsr_transform_state_end(tsr_transform_state *run, tsr_status status) {
  status = tidy(run, status);
  release(run);
  return status;
}

// ---- all of them ----

static tsr_status write_all(tsr_transform_state *run) {
  const tsr_transform *t = run->t;
  TSR_TRY(tsr_transform_state_expect(run, tsr_views_bytes(&t->source.views)));
  tsr_status status = tsr_transform_state_write(run, NULL, t->certificate.windows);
  tsr_progress_finish(run->progress);
  run->progress = NULL;
  if (!status) return tsr_transform_state_flush(run);
  // A job with a damaged source is not resumed.
  if (tsr_status_cause(status) == TSR_CAUSE_SOURCE_DAMAGED) run->useless = true;
  // Keep the windows of other workers for resuming; the first failure is reported.
  if (!run->sync_failed && !t->target->store->files->write_failed)
    tsr_status_free(tsr_transform_state_flush(run));
  return status;
}

tsr_status tsr_transform_run(tsr_transform *transform) {
  tsr_transform_state run;
  TSR_TRY(tsr_transform_state_init(&run, transform));
  tsr_status status = tsr_transform_state_begin(&run);
  if (!status && !run.finished) status = write_all(&run);
  if (!status && !run.finished) status = tsr_transform_state_finish(&run);
  status = tsr_status_first(status, tsr_transform_state_close(&run));
  if (!status && !run.finished) status = tsr_transform_state_commit(&run);
  if (!status) status = tsr_transform_make_report(transform, run.resumed);
  return tsr_transform_state_end(&run, status);
}
