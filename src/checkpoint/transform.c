// A transform is a list of windows: runs of elements of one tensor, in its row-major order. A
// worker takes a window, reads it from wherever its elements lie, and writes it to wherever they
// go. Windows are whole blocks of the logical hash and do not depend on each other, so that any
// order will do and a journal of those that are done is all that is needed to go on.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "checkpoint/budget.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/extras.h"
#include "checkpoint/hash.h"
#include "checkpoint/journal.h"
#include "checkpoint/select.h"
#include "checkpoint/target.h"
#include "checkpoint/work.h"
#include "tessera/transform.h"

static const int64_t default_file_size = 5000000000;
static const int64_t store_memory = 5 << 18;            // of writing through a store
static const int64_t sync_interval = INT64_C(1) << 30;  // bytes written between two flushes
enum { MOST_BLOCKS = 8 };                               // of a window

struct tsr_transform {
  const tsr_checkpoint *source;  // shared
  tsr_transform_options options;
  tsr_transform_certificate certificate;
  tsr_views views;
  tsr_target *target;
  tsr_work work;
  tsr_extras extras;
  int64_t *first_window;     // owned: of each tensor, and one past the last
  int64_t *window_elements;  // owned: of each tensor's windows but its last
  int64_t *first_block;      // owned: of each tensor in `blocks`, and one past the last
  tsr_hash128 *blocks;       // owned: hashes, while it runs; NULL where no format keeps them
  unsigned char *done;       // owned: of each window, while it runs
  int64_t buffer_bytes;
  tsr_hash128 job;
  bool ran;
};

// ---- windows ----

static int64_t memory_of(const tsr_view *view, int64_t elements) {
  return tsr_view_bytes(view, elements) + tsr_view_memory(view, elements) + store_memory;
}

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// The least memory that any window of any tensor needs.
static int64_t least_memory(const tsr_views *views) {
  int64_t least = store_memory;
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    const int64_t needed =
        memory_of(view, at_most(view->elements, tsr_block_elements(view->dtype)));
    if (needed > least) least = needed;
  }
  return least;
}

static tsr_status choose_workers(tsr_transform *t) {
  const int64_t tables = t->views.count * 512 + t->certificate.source_files * 256;
  tsr_budget budget;
  TSR_TRY(tsr_budget_init(&budget, t->options.max_memory, tables, least_memory(&t->views),
                          t->options.jobs));
  t->certificate.workers = budget.workers;
  t->buffer_bytes = budget.worker_bytes;
  return NULL;
}

static int64_t choose_window(const tsr_transform *t, const tsr_view *view) {
  const int64_t block = tsr_block_elements(view->dtype);
  int blocks = MOST_BLOCKS;
  while (blocks > 1 && memory_of(view, blocks * block) > t->buffer_bytes) blocks--;
  return blocks * block;
}

static tsr_status make_windows(tsr_transform *t) {
  const int64_t count = t->views.count;
  int64_t largest = 0, peak = 0;
  t->first_window = malloc(sizeof *t->first_window * (size_t)(count + 1));
  t->window_elements = malloc(sizeof *t->window_elements * (size_t)(count + 1));
  if (!t->first_window || !t->window_elements)
    return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  t->first_window[0] = 0;
  for (int64_t i = 0; i < count; i++) {
    const tsr_view *view = t->views.items[i];
    const int64_t elements = choose_window(t, view), some = at_most(elements, view->elements);
    t->window_elements[i] = elements;
    t->first_window[i + 1] = t->first_window[i] + (view->elements + elements - 1) / elements;
    if (tsr_view_bytes(view, some) > largest) largest = tsr_view_bytes(view, some);
    if (memory_of(view, some) > peak) peak = memory_of(view, some);
  }
  t->buffer_bytes = largest;
  t->certificate.windows = t->first_window[count];
  t->certificate.peak_memory = peak * t->certificate.workers;
  return NULL;
}

static int64_t tensor_of_window(const tsr_transform *t, int64_t window) {
  int64_t low = 0, high = t->views.count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (t->first_window[middle + 1] <= window)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

typedef struct window {
  int64_t tensor, first, count;
} window;

static window window_at(const tsr_transform *t, int64_t index) {
  const int64_t tensor = tensor_of_window(t, index), elements = t->window_elements[tensor];
  const int64_t first = (index - t->first_window[tensor]) * elements;
  return (window){tensor, first, at_most(elements, t->views.items[tensor]->elements - first)};
}

// ---- deciding ----

static tsr_status make_views(const tsr_checkpoint *source, const tsr_transform_options *options,
                             tsr_views *out_views) {
  const tsr_copies copies = options->trust_copies ? TSR_COPIES_TRUSTED : TSR_COPIES_COMPARED;
  TSR_TRY(tsr_views_of(source, copies, out_views));
  return tsr_views_select(out_views, options);
}

tsr_status tsr_transform_tree(const tsr_checkpoint *source, const tsr_transform_options *options,
                              tsr_tree **out_tree) {
  const tsr_transform_options none = {.size = sizeof none};
  tsr_views views = {0};
  tsr_status status = make_views(source, options ? options : &none, &views);
  if (!status) status = tsr_views_tree(&views, out_tree);
  tsr_views_deinit(&views);
  return status;
}

static tsr_status choose_format(tsr_transform *t) {
  tsr_transform_options *options = &t->options;
  if (options->format == TSR_FORMAT_ANY)
    options->format = options->plan ? TSR_FORMAT_TESSERA : TSR_FORMAT_FOLDER;
  const bool cut = options->format == TSR_FORMAT_RANKS || options->format == TSR_FORMAT_TESSERA;
  if (cut && (!options->plan || !tsr_plan_mesh(options->plan)))
    return tsr_fail(PLAN_REQUIRED, "format \"%s\" needs a plan with a mesh",
                    tsr_checkpoint_format_name(options->format));
  if (!cut && options->plan)
    return tsr_fail(BAD_ARGUMENT, "a plan was given, but format \"%s\" stores tensors whole",
                    tsr_checkpoint_format_name(options->format));
  return NULL;
}

static tsr_status make_target(tsr_transform *t) {
  tsr_target_options options = {
      .format = t->options.format,
      .plan = t->options.plan,
      .max_file_size = t->options.max_file_size ? t->options.max_file_size : default_file_size};
  options.metadata_count = tsr_checkpoint_metadata(t->source, &options.metadata);
  return tsr_target_create(&t->views, &options, &t->target);
}

static int64_t stored_bytes(const tsr_store *store) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < store->count; i++) {
    const int64_t shards = tsr_layout_shard_count(store->tensors[i].layout);
    for (int64_t s = 0; s < shards; s++)
      bytes += tsr_store_part_bytes(store, i, s) * store->tensors[i].copies;
  }
  return bytes;
}

static int64_t bytes_read(const tsr_views *views) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < views->count; i++) bytes += tsr_view_bytes_read(views->items[i]);
  return bytes;
}

// What would be read if copies were not compared.
static tsr_status find_least_read(tsr_transform *t) {
  tsr_transform_options options = t->options;
  tsr_views views = {0};
  options.trust_copies = true;
  tsr_status status = make_views(t->source, &options, &views);
  if (!status) t->certificate.least_read = bytes_read(&views);
  tsr_views_deinit(&views);
  return status;
}

static void certify(tsr_transform *t) {
  tsr_transform_certificate *c = &t->certificate;
  c->tensors = t->views.count;
  c->files = t->target->file_count;
  c->bytes_read = bytes_read(&t->views);
  c->bytes_written = tsr_target_bytes(t->target);
  c->least_written = stored_bytes(t->target->store);
  c->extras = t->extras.count;
  c->extra_bytes = tsr_extras_bytes(&t->extras);
  c->bytes_free = tsr_work_bytes_free(&t->work);
}

static tsr_status check_disk(const tsr_transform *t) {
  const tsr_transform_certificate *c = &t->certificate;
  int64_t needed = c->bytes_written + c->extra_bytes;
  if (t->options.existing != TSR_EXISTING_REFUSE) needed -= tsr_work_bytes_there(&t->work);
  if (c->bytes_free < 0 || needed <= c->bytes_free) return NULL;
  return tsr_fail(DISK_FULL, "%s: %lld bytes are needed, but only %lld are free", t->work.path,
                  (long long)needed, (long long)c->bytes_free);
}

// ---- which job it is ----

static void hash_source(const tsr_transform *t, tsr_text *out) {
  const tsr_store *store = t->source->store;
  for (int i = 0; i < store->file_count; i++) {
    struct stat info = {0};
    if (stat(store->paths[i], &info)) info.st_size = -1;
    tsr_text_addf(out, "%s %lld %lld.%09ld\n", store->paths[i], (long long)info.st_size,
                  (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
  }
}

static tsr_status hash_job(tsr_transform *t) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer json;
  hash_source(t, &text);
  for (int i = 0; i < t->target->file_count; i++) {
    const tsr_target_file *file = &t->target->files[i];
    tsr_text_addf(&text, "%s ", file->name);
    tsr_hash128_print(tsr_block_hash(file->plan.header, file->plan.length), &text);
    tsr_text_add_char(&text, '\n');
  }
  for (int64_t i = 0; i < t->views.count; i++)
    tsr_text_addf(&text, "%lld ", (long long)t->window_elements[i]);
  tsr_json_writer_init(&json, &text, 0);
  if (t->options.plan) tsr_plan_to_json(t->options.plan, &json);
  tsr_status status = tsr_text_check(&text);
  if (!status) t->job = tsr_block_hash(text.data, (int64_t)text.length);
  tsr_text_deinit(&text);
  return status;
}

static tsr_status decide(tsr_transform *t, const char *path) {
  t->certificate.source_files = t->source->store->file_count;
  TSR_TRY(choose_format(t));
  TSR_TRY(tsr_work_init(&t->work, path, t->options.format == TSR_FORMAT_FILE, t->options.existing));
  TSR_TRY(tsr_work_check_apart(&t->work, t->source));
  TSR_TRY(make_views(t->source, &t->options, &t->views));
  if (t->options.format != TSR_FORMAT_FILE && !t->options.no_extras)
    TSR_TRY(tsr_extras_find(t->source, &t->extras));
  TSR_TRY(make_target(t));
  TSR_TRY(choose_workers(t));
  TSR_TRY(make_windows(t));
  TSR_TRY(find_least_read(t));
  certify(t);
  TSR_TRY(check_disk(t));
  return hash_job(t);
}

tsr_status tsr_transform_create(const tsr_checkpoint *source, const char *path,
                                const tsr_transform_options *options,
                                tsr_transform **out_transform) {
  tsr_transform *t = calloc(1, sizeof *t);
  if (!t) return tsr_fail(NO_MEMORY, "a transform");
  t->source = tsr_checkpoint_retain(source);
  if (options) t->options = *options;
  if (t->options.plan) tsr_plan_retain(t->options.plan);
  tsr_status status = decide(t, path);
  if (status)
    tsr_transform_destroy(t);
  else
    *out_transform = t;
  return status;
}

void tsr_transform_destroy(tsr_transform *transform) {
  if (!transform) return;
  tsr_status_free(tsr_target_close(transform->target));  // a run closes it and says what it says
  tsr_work_deinit(&transform->work);
  tsr_extras_deinit(&transform->extras);
  tsr_views_deinit(&transform->views);
  tsr_plan_release(transform->options.plan);
  tsr_checkpoint_release(transform->source);
  free(transform->first_window);
  free(transform->window_elements);
  free(transform->first_block);
  free(transform->blocks);
  free(transform->done);
  free(transform);
}

const tsr_transform_certificate *tsr_transform_certificate_of(const tsr_transform *transform) {
  return &transform->certificate;
}

const char *tsr_transform_file(const tsr_transform *transform, int file) {
  return transform->target->files[file].name;
}

int64_t tsr_transform_file_bytes(const tsr_transform *transform, int file) {
  return transform->target->files[file].plan.size;
}

const char *tsr_transform_extra(const tsr_transform *transform, int extra) {
  return transform->extras.items[extra].name;
}

// ---- running ----

typedef struct running {
  tsr_transform *t;
  tsr_journal *journal;
  tsr_progress *progress;
  void **buffers;  // one for each worker; NULL until needed
  pthread_mutex_t lock;
  int64_t unflushed;  // bytes written since the journal was
} running;

// Where the hashes of a window's blocks stand, and how many they are; none where none are kept.
static tsr_hash128 *blocks_of(const tsr_transform *t, const window *w, int *out_count) {
  const int64_t block = tsr_block_elements(t->views.items[w->tensor]->dtype);
  *out_count = t->blocks ? (int)((w->count + block - 1) / block) : 0;
  return t->blocks ? t->blocks + t->first_block[w->tensor] + w->first / block : NULL;
}

static tsr_status found_window(void *context, int64_t index, const tsr_hash128 *blocks, int count) {
  tsr_transform *t = context;
  int wanted = 0;
  if (index < 0 || index >= t->certificate.windows) return NULL;
  const window w = window_at(t, index);
  tsr_hash128 *kept = blocks_of(t, &w, &wanted);
  if (count != wanted) return NULL;  // done again
  if (count) memcpy(kept, blocks, sizeof *blocks * (size_t)count);
  t->done[index] = 1;
  return NULL;
}

static tsr_status begin_hashes(tsr_transform *t) {
  const int64_t count = t->views.count;
  if (t->options.format != TSR_FORMAT_TESSERA) return NULL;
  t->first_block = calloc((size_t)count + 1, sizeof *t->first_block);
  if (!t->first_block) return tsr_fail(NO_MEMORY, "a list of tensors");
  for (int64_t i = 0; i < count; i++)
    t->first_block[i + 1] = t->first_block[i] + tsr_block_count(t->views.items[i]);
  t->blocks = calloc((size_t)t->first_block[count] + 1, sizeof *t->blocks);
  return t->blocks ? NULL : tsr_fail(NO_MEMORY, "hashes of blocks");
}

static void hash_window(const tsr_transform *t, const window *w, const char *buffer) {
  const tsr_view *view = t->views.items[w->tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  int count = 0;
  tsr_hash128 *kept = blocks_of(t, w, &count);
  for (int i = 0; i < count; i++) {
    const int64_t some = at_most(block, w->count - i * block);
    kept[i] = tsr_block_hash(buffer + tsr_view_bytes(view, i * block), tsr_view_bytes(view, some));
  }
}

static tsr_status finish_hashes(tsr_transform *t) {
  const int64_t count = t->views.count;
  if (!t->blocks) return NULL;
  tsr_hash128 *hashes = calloc((size_t)count + 1, sizeof *hashes);
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++)
    hashes[i] = tsr_blocks_hash(t->views.items[i], t->blocks + t->first_block[i]);
  tsr_status status = tsr_target_add_hashes(t->target, &t->views, hashes);
  free(hashes);
  return status;
}

// What the journal says is written must be on the disk.
static tsr_status flush(running *run) {
  const bool sync = !run->t->options.no_sync;
  const tsr_store *store = run->t->target->store;
  for (int i = 0; i < store->file_count && sync; i++) {
    int fd = -1;
    TSR_TRY(tsr_files_take(store->files, i, &fd));
    tsr_status status = tsr_io_sync(fd, store->paths[i]);
    tsr_files_give_back(store->files, i);
    if (status) return status;
  }
  run->unflushed = 0;
  return tsr_journal_flush(run->journal, sync);
}

static tsr_status finish_window(running *run, int64_t index, const window *w, int64_t bytes) {
  int count = 0;
  const tsr_hash128 *blocks = blocks_of(run->t, w, &count);
  pthread_mutex_lock(&run->lock);
  tsr_status status = tsr_journal_add(run->journal, index, blocks, count);
  run->unflushed += bytes;
  if (!status && run->unflushed >= sync_interval) status = flush(run);
  pthread_mutex_unlock(&run->lock);
  return status;
}

static tsr_status move_window(const tsr_transform *t, const window *w, void *buffer) {
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

static tsr_status do_window(void *context, int64_t index, int worker) {
  running *run = context;
  const tsr_transform *t = run->t;
  const window w = window_at(t, index);
  const int64_t bytes = tsr_view_bytes(t->views.items[w.tensor], w.count);
  if (!t->done[index]) {
    if (!run->buffers[worker]) run->buffers[worker] = malloc((size_t)t->buffer_bytes + 1);
    if (!run->buffers[worker])
      return tsr_fail(NO_MEMORY, "a window of %lld bytes", (long long)t->buffer_bytes);
    TSR_TRY(move_window(t, &w, run->buffers[worker]));
    TSR_TRY(finish_window(run, index, &w, bytes));
  }
  if (!tsr_progress_add(run->progress, bytes))
    return tsr_fail(CANCELLED, "cancelled; what is written stays for resuming");
  return NULL;
}

// Files with their size and their headers; what a job before wrote of them stays.
static tsr_status begin_files(const tsr_transform *t) {
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
  return NULL;
}

// Of two failures, the one that came first.
static tsr_status first_of(tsr_status first, tsr_status second) {
  if (!first) return second;
  tsr_status_free(second);
  return first;
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

static tsr_status run_all(running *run) {
  tsr_transform *t = run->t;
  TSR_TRY(tsr_work_begin(&t->work, t->options.existing));
  TSR_TRY(tsr_target_open(t->target, t->work.partial));
  TSR_TRY(begin_hashes(t));
  TSR_TRY(tsr_journal_open(t->work.journal, t->job, t->options.existing == TSR_EXISTING_RESUME,
                           found_window, t, &run->journal));
  TSR_TRY(begin_files(t));
  const double interval = t->options.progress_interval > 0 ? t->options.progress_interval : 0.1;
  TSR_TRY(tsr_progress_create("write", "B", total_bytes(t), interval, t->options.progress,
                              t->options.progress_context, &run->progress));
  tsr_status status = run_windows(run);
  tsr_progress_finish(run->progress);
  if (status) {
    // What the other workers have done is kept for whoever resumes; the failure is what counts.
    tsr_status_free(flush(run));
    return status;
  }
  TSR_TRY(flush(run));
  TSR_TRY(tsr_extras_copy(&t->extras, t->work.partial, !t->options.no_sync));
  TSR_TRY(finish_hashes(t));
  return write_index(t);
}

tsr_status tsr_transform_run(tsr_transform *transform) {
  running run = {.t = transform};
  if (transform->ran) return tsr_fail(BAD_ARGUMENT, "a transform runs once");
  transform->ran = true;
  transform->done = calloc((size_t)transform->certificate.windows + 1, 1);
  if (!transform->done || pthread_mutex_init(&run.lock, NULL))
    return tsr_fail(NO_MEMORY, "a list of windows");
  tsr_status status = run_all(&run);
  status = first_of(status, tsr_journal_close(run.journal));
  status = first_of(status, tsr_store_close_files(transform->target->store));
  pthread_mutex_destroy(&run.lock);
  return status ? status : tsr_work_commit(&transform->work, !transform->options.no_sync);
}
