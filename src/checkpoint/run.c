// Doing a transform. The order of its steps is what makes the result be there whole or not at all:
//
//   1. the journal is made and locked, then the folder beside the destination; only when both are
//      there does the journal get its first line: from then on the job can be resumed
//   2. files get their size and headers, and windows are written; now and then files are brought to
//      the disk, and then the journal is told what is in them
//   3. with all windows written and the source unchanged, the index is; then the journal's last
//      line says what will take the destination's place
//   4. it does, in one step; what is left is removed, the journal last
//
// A job that is resumed finds out from the journal in which of these it was stopped.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/least.h"
#include "checkpoint/hash.h"
#include "checkpoint/journal.h"
#include "checkpoint/transform.h"

static const int64_t sync_interval = INT64_C(1) << 30;  // bytes written between two flushes

typedef struct running {
  tsr_transform *t;
  tsr_journal *journal;
  tsr_progress *progress;
  void **buffers;  // one for each worker; NULL until needed
  pthread_mutex_t lock;
  int64_t unflushed;  // bytes written since the journal was
  bool sync;
  bool begun;      // the folder and the journal are this job's
  bool replaces;   // what is at the destination
  bool finished;   // the result is at the destination
  bool kept;       // some of what is written is worth resuming
  bool lost;       // something that was written is not on the disk
  bool worthless;  // what is written is of a source that has changed
} running;

// Of two failures, the one that came first.
static tsr_status first_of(tsr_status first, tsr_status second) {
  if (!first) return second;
  tsr_status_free(second);
  return first;
}

// ---- blocks ----

typedef struct block_range {
  int64_t first;
  int count;
} block_range;

static block_range blocks_of(const tsr_transform *t, const tsr_window *w) {
  const int64_t block = tsr_block_elements(t->views.items[w->tensor]->dtype);
  return (block_range){t->first_block[w->tensor] + w->first / block,
                       (int)((w->count + block - 1) / block)};
}

static tsr_status found_blocks(void *context, int64_t first, int count, const tsr_hash128 *hashes,
                               int hash_count) {
  running *run = context;
  tsr_transform *t = run->t;
  const int64_t all = t->first_block[t->views.count];
  if (first < 0 || count < 1 || count > all || first > all - count) return NULL;
  if (hash_count != (t->blocks ? count : 0)) return NULL;  // done again
  if (t->blocks) memcpy(t->blocks + first, hashes, sizeof *hashes * (size_t)count);
  memset(t->done + first, 1, (size_t)count);
  run->kept = true;
  return NULL;
}

static tsr_status make_tables(tsr_transform *t) {
  const size_t all = (size_t)t->first_block[t->views.count] + 1;
  t->done = calloc(all, 1);
  const bool wanted = tsr_target_digest(t->target) != TSR_DIGEST_NONE;
  if (wanted) t->blocks = calloc(all, sizeof *t->blocks);
  if (t->done && (t->blocks || !wanted)) return NULL;
  return tsr_fail(NO_MEMORY, "a table of %zu blocks", all);
}

static tsr_hash128 digest(const tsr_transform *t, const void *bytes, int64_t length) {
  if (tsr_target_digest(t->target) == TSR_DIGEST_HASH) return tsr_block_hash(bytes, length);
  return (tsr_hash128){.low = tsr_zip_crc(0, bytes, length)};
}

static void hash_window(const tsr_transform *t, const tsr_window *w, const char *buffer) {
  const tsr_view *view = t->views.items[w->tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  const block_range blocks = blocks_of(t, w);
  for (int i = 0; i < blocks.count && t->blocks; i++) {
    const int64_t some = tsr_least(block, w->count - i * block);
    t->blocks[blocks.first + i] =
        digest(t, buffer + tsr_view_bytes(view, i * block), tsr_view_bytes(view, some));
  }
}

static tsr_status finish_hashes(tsr_transform *t) {
  const int64_t count = t->views.count;
  if (tsr_target_digest(t->target) != TSR_DIGEST_HASH) return NULL;
  tsr_hash128 *hashes = calloc((size_t)count + 1, sizeof *hashes);
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++)
    hashes[i] = tsr_blocks_hash(t->views.items[i], t->blocks + t->first_block[i]);
  tsr_status status = tsr_target_add_hashes(t->target, &t->views, hashes);
  free(hashes);
  return status;
}

// Of a whole tensor, from those of its blocks.
static uint32_t join_crcs(const tsr_transform *t, int64_t tensor) {
  const tsr_view *view = t->views.items[tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  const tsr_hash128 *blocks = t->blocks + t->first_block[tensor];
  uint32_t crc = 0;
  for (int64_t at = 0; at < view->elements; at += block) {
    const int64_t bytes = tsr_view_bytes(view, tsr_least(block, view->elements - at));
    crc = tsr_zip_crc_join(crc, (uint32_t)blocks[at / block].low, bytes);
  }
  return crc;
}

static tsr_status finish_archive(const tsr_transform *t) {
  const int64_t count = t->views.count;
  if (tsr_target_digest(t->target) != TSR_DIGEST_CRC) return NULL;
  uint32_t *crcs = calloc((size_t)count + 1, sizeof *crcs);
  if (!crcs) return tsr_fail(NO_MEMORY, "checksums of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) crcs[i] = join_crcs(t, i);
  tsr_status status = tsr_target_end_archive(t->target, crcs, !t->options.no_sync);
  free(crcs);
  return status;
}

// ---- windows ----

// What the journal says is written must be on the disk. After a sync that failed, the next one may
// succeed though the data are lost: then nothing more goes into the journal.
static tsr_status flush(running *run) {
  const tsr_store *store = run->t->target->store;
  for (int i = 0; i < store->file_count && run->sync; i++) {
    int fd = -1;
    TSR_TRY(tsr_files_take(store->files, i, &fd));
    tsr_status status = tsr_io_sync(fd, store->paths[i]);
    tsr_files_give_back(store->files, i);
    if (status) run->lost = true;
    if (status) return status;
  }
  run->unflushed = 0;
  return tsr_journal_flush(run->journal, run->sync);
}

static tsr_status finish_window(running *run, const tsr_window *w, int64_t bytes) {
  const block_range blocks = blocks_of(run->t, w);
  const tsr_hash128 *hashes = run->t->blocks ? run->t->blocks + blocks.first : NULL;
  pthread_mutex_lock(&run->lock);
  tsr_status status =
      tsr_journal_add(run->journal, blocks.first, blocks.count, hashes, hashes ? blocks.count : 0);
  run->kept = true;
  run->unflushed += bytes;
  if (!status && run->unflushed >= sync_interval) status = flush(run);
  pthread_mutex_unlock(&run->lock);
  return status;
}

static tsr_status move_window(const tsr_transform *t, const tsr_window *w, void *buffer) {
  const tsr_view *view = t->views.items[w->tensor];
  tsr_box_index *index = NULL;
  if (w->count > 0) ((char *)buffer)[tsr_view_bytes(view, w->count) - 1] = 0;
  TSR_TRY(tsr_view_read(view, w->first, w->count, buffer));
  hash_window(t, w, buffer);
  TSR_TRY(tsr_box_index_create(t->target->store->tensors[w->tensor].layout, &index));
  tsr_status status =
      tsr_store_write_range(t->target->store, w->tensor, index, w->first, w->count, buffer);
  tsr_box_index_destroy(index);
  return tsr_note(status, "tensor \"%s\"", view->name);
}

static bool is_done(const tsr_transform *t, const tsr_window *w) {
  const block_range blocks = blocks_of(t, w);
  return !memchr(t->done + blocks.first, 0, (size_t)blocks.count);
}

static tsr_status do_window(void *context, int64_t index, int worker) {
  running *run = context;
  const tsr_transform *t = run->t;
  const tsr_window w = tsr_transform_window(t, index);
  const int64_t bytes = tsr_view_bytes(t->views.items[w.tensor], w.count);
  if (!is_done(t, &w)) {
    if (!run->buffers[worker]) run->buffers[worker] = malloc((size_t)t->buffer_bytes + 1);
    if (!run->buffers[worker])
      return tsr_fail(NO_MEMORY, "a window of %lld bytes", (long long)t->buffer_bytes);
    TSR_TRY(move_window(t, &w, run->buffers[worker]));
    TSR_TRY(finish_window(run, &w, bytes));
  }
  if (!tsr_progress_add(run->progress, bytes))
    return tsr_fail(CANCELLED, "cancelled; what is written stays for resuming");
  return NULL;
}

static tsr_status run_windows(running *run) {
  tsr_transform *t = run->t;
  tsr_pool *pool = NULL;
  run->buffers = calloc((size_t)t->certificate.workers, sizeof *run->buffers);
  if (!run->buffers) return tsr_fail(NO_MEMORY, "buffers");
  tsr_status status = tsr_pool_create(t->certificate.workers, &pool);
  if (!status) status = tsr_pool_run(pool, t->certificate.windows, do_window, run);
  tsr_pool_destroy(pool);
  for (int i = 0; i < t->certificate.workers; i++) free(run->buffers[i]);
  free(run->buffers);
  return status;
}

// What the windows add up to: every element once, however often it is stored.
static int64_t total_bytes(const tsr_transform *t) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < t->views.count; i++)
    bytes += tsr_view_bytes(t->views.items[i], t->views.items[i]->elements);
  return bytes;
}

// ---- files ----

// Files with their size and their headers; what a job before wrote of them stays.
static tsr_status begin_files(const running *run) {
  const tsr_transform *t = run->t;
  const tsr_store *store = t->target->store;
  for (int i = 0; i < store->file_count; i++) {
    const tsr_safetensors_file *plan = &t->target->files[i].plan;
    int fd = -1;
    TSR_TRY(tsr_files_take(store->files, i, &fd));
    tsr_status status = tsr_io_reserve(fd, store->paths[i], plan->size);
    if (!status) status = tsr_io_write(fd, store->paths[i], plan->header, plan->length, 0);
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
  status = first_of(status, tsr_io_close(fd, tsr_text_string(&path)));
  tsr_text_deinit(&path);
  return status;
}

// Whether every file of the job is there with its size. Otherwise someone has been at them, or the
// job was stopped before its first window: then nothing in the journal counts.
static tsr_status find_files(const tsr_transform *t, bool *out_there) {
  *out_there = true;
  for (int i = 0; i < t->target->store->file_count && *out_there; i++) {
    struct stat info;
    TSR_TRY(tsr_io_look(t->target->store->paths[i], out_there, &info));
    if (*out_there) *out_there = info.st_size == t->target->files[i].plan.size;
  }
  return NULL;
}

// ---- the job ----

static tsr_status start_anew(running *run) {
  tsr_transform *t = run->t;
  if (!run->replaces) TSR_TRY(tsr_work_check_free(&t->work));
  memset(t->done, 0, (size_t)t->first_block[t->views.count] + 1);
  run->kept = false;
  TSR_TRY(tsr_journal_clear(run->journal));
  run->begun = true;
  TSR_TRY(tsr_work_begin(&t->work, run->sync));
  return tsr_journal_begin(run->journal, t->job, run->replaces, run->sync);
}

// Goes on with the job that was stopped, as far as it got.
static tsr_status go_on(running *run) {
  const tsr_transform *t = run->t;
  tsr_journal_state state;
  tsr_mark mark;
  bool there = false;
  TSR_TRY(tsr_journal_read(run->journal, t->job, found_blocks, run, &state));
  run->replaces = state.replaces;
  TSR_TRY(tsr_work_is_done(&t->work, &state.committed, &run->finished));
  if (run->finished) return NULL;
  // What was to take the destination's place must still be what lies beside it.
  TSR_TRY(tsr_work_mark(&t->work, &mark));
  const bool moved = state.committed.inode && mark.inode != state.committed.inode;
  if (state.begun && !moved) TSR_TRY(find_files(t, &there));
  if (!there) return start_anew(run);
  run->begun = true;
  return NULL;
}

static tsr_status begin(running *run) {
  tsr_transform *t = run->t;
  TSR_TRY(make_tables(t));
  TSR_TRY(tsr_target_open(t->target, t->work.partial));
  t->target->store->files->sends = run->sync;
  TSR_TRY(tsr_journal_open(t->work.journal, &run->journal));
  run->replaces = t->options.existing == TSR_EXISTING_REPLACE;
  if (t->options.existing == TSR_EXISTING_RESUME) return go_on(run);
  if (t->options.existing == TSR_EXISTING_REFUSE && !tsr_journal_is_empty(run->journal))
    return tsr_fail(ALREADY_THERE, "%s: an unfinished job left it there; resume it, or replace it",
                    t->work.journal);
  return start_anew(run);
}

static tsr_status write_windows(running *run) {
  const tsr_transform *t = run->t;
  const double interval = t->options.progress_interval > 0 ? t->options.progress_interval : 0.1;
  TSR_TRY(begin_files(run));
  TSR_TRY(tsr_progress_create("write", "B", total_bytes(t), interval, t->options.progress,
                              t->options.progress_context, &run->progress));
  tsr_status status = run_windows(run);
  tsr_progress_finish(run->progress);
  if (!status) return flush(run);
  // What the other workers have done is kept for whoever resumes; the failure is what counts.
  if (!run->lost && !t->target->store->files->lost) tsr_status_free(flush(run));
  return status;
}

static tsr_status write_all(running *run) {
  tsr_transform *t = run->t;
  TSR_TRY(write_windows(run));
  tsr_status status = tsr_stamps_check(t->stamps, t->source->store);
  if (status) run->worthless = tsr_status_cause(status) == TSR_CAUSE_SOURCE_CHANGED;
  if (status) return status;
  TSR_TRY(tsr_extras_copy(&t->extras, t->work.partial, run->sync));
  TSR_TRY(finish_hashes(t));
  TSR_TRY(finish_archive(t));
  TSR_TRY(write_index(t));
  return run->sync ? tsr_io_sync_folder(t->work.partial) : NULL;
}

static tsr_status commit(running *run) {
  const tsr_transform *t = run->t;
  tsr_mark mark;
  TSR_TRY(tsr_work_mark(&t->work, &mark));
  TSR_TRY(tsr_journal_commit(run->journal, &mark, run->sync));
  TSR_TRY(tsr_work_commit(&t->work, run->replaces, run->sync));
  run->finished = true;
  return NULL;
}

// Closes the files. Without syncs there is no telling what a close that failed has lost.
static tsr_status close_files(running *run) {
  const tsr_files *files = run->t->target->store->files;
  const bool lost = run->lost || (files && files->lost);
  tsr_status status = tsr_store_close_files(run->t->target->store);
  if ((status || lost) && !run->sync) run->worthless = true;
  return status;
}

// Removes what is of no use: all that lies beside a result, or nothing worth resuming.
static tsr_status tidy(running *run, tsr_status status) {
  const bool useless = run->finished || (run->begun && (!run->kept || run->worthless));
  tsr_journal *journal = run->journal;
  if (!journal) return status;
  if (useless) {
    tsr_status removed = tsr_work_remove(&run->t->work);
    if (removed) {
      if (run->finished) removed = tsr_note(removed, "the result is there, but beside it");
      status = first_of(status, removed);
      return first_of(status, tsr_journal_close(journal));
    }
  }
  if (useless || tsr_journal_is_empty(journal))
    return first_of(status, tsr_journal_remove(journal));
  return first_of(status, tsr_journal_close(journal));
}

tsr_status tsr_transform_run(tsr_transform *transform) {
  running run = {.t = transform, .sync = !transform->options.no_sync};
  if (transform->ran) return tsr_fail(BAD_ARGUMENT, "a transform runs once");
  transform->ran = true;
  if (pthread_mutex_init(&run.lock, NULL)) return tsr_fail(NO_MEMORY, "a lock");
  tsr_status status = begin(&run);
  if (!status && !run.finished) status = write_all(&run);
  status = first_of(status, close_files(&run));
  if (!status && !run.finished) status = commit(&run);
  status = tidy(&run, status);
  pthread_mutex_destroy(&run.lock);
  return status;
}
