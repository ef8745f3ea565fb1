// A transform is a list of windows: runs of elements of one tensor in row-major order. A worker
// takes a window, reads it from the source and writes it to the destination. Windows are whole
// blocks of the logical hash and independent of each other, so a journal of finished windows is all
// that resuming needs.
#include "job/transform.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "format/format.h"
#include "job/job_limits.h"
#include "job/transform_internal.h"
#include "json/json.h"
#include "map/map.h"
#include "plan/plan_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "tessera/plan.h"
#include "tessera/tree.h"
#include "view/select.h"
#include "view/tensor_hash.h"

static const int64_t default_file_size = 5000000000;
static const int64_t store_memory = 5 << 18;  // of writing through a store
enum { MOST_BLOCKS = 8 };                     // of a window

// ---- windows ----

static int64_t memory_of(const tsr_view *view, int64_t elements) {
  return tsr_view_bytes(view, elements) + tsr_view_memory(view, elements) + store_memory;
}

// Blocks of a cast tensor that are whole blocks of the stored one: fewer would be read in pieces
// that cannot be compared with its hash. 1 where no hash is compared.
static int blocks_together(const tsr_transform *t, const tsr_view *view) {
  const int64_t origin = tsr_view_is_cast(view) ? tsr_job_source_hashed(&t->source, view) : -1;
  if (origin < 0) return 1;
  const int64_t stored = tsr_block_elements(tsr_source_hashes_dtype(t->source.hashes, origin));
  const int64_t blocks = stored / tsr_gcd(stored, tsr_block_elements(view->dtype));
  return blocks > TSR_JOURNAL_BLOCKS ? 1 : (int)blocks;  // of 6 bits: they never meet
}

// Memory of the smallest windows, of the tensor that needs most.
static int64_t least_memory(const tsr_transform *t, bool together) {
  int64_t least = store_memory;
  for (int64_t i = 0; i < t->source.views.count; i++) {
    const tsr_view *view = t->source.views.items[i];
    const int blocks = together ? blocks_together(t, view) : 1;
    const int64_t needed =
        memory_of(view, tsr_least(view->elements, blocks * tsr_block_elements(view->dtype)));
    if (needed > least) least = needed;
  }
  return least;
}

// A flag and a hash for each block, and the journal's lines, which wait until a GiB is written: at
// most one for each block, and one for each tensor's end.
static int64_t memory_of_blocks(const tsr_transform *t) {
  const int64_t lines = t->source.views.count + 256;
  int64_t blocks = 0;
  for (int64_t i = 0; i < t->source.views.count; i++)
    blocks += tsr_block_count(t->source.views.items[i]);
  return blocks * (int64_t)(1 + sizeof(tsr_hash128)) + lines * 128;
}

static tsr_status choose_workers(tsr_transform *t) {
  const int64_t tables =
      t->source.table_memory + tsr_budget_target(t->target) + memory_of_blocks(t);
  const tsr_job_limits limits = TSR_JOB_LIMITS_OF(&t->options, t->source.jobs);
  tsr_budget budget;
  // Prefer fewer workers to a source that is not compared, and that to failing.
  tsr_status status = tsr_budget_init(&budget, &limits, tables, least_memory(t, true));
  if (tsr_status_cause(status) == TSR_CAUSE_DOES_NOT_FIT) {
    tsr_status_free(status);
    status = tsr_budget_init(&budget, &limits, tables, least_memory(t, false));
  }
  TSR_TRY(status);
  t->certificate.workers = budget.workers;
  t->certificate.table_memory = tables;
  t->buffer_bytes = budget.worker_bytes;
  return NULL;
}

// Checks lower bounds before views and a destination are made. With patterns or a map, the size of
// the destination is not known yet.
static tsr_status check_memory(const tsr_transform_options *options, const tsr_checkpoint *source) {
  const int64_t ranks = options->plan ? tsr_mesh_device_count(tsr_plan_mesh(options->plan)) : 0;
  int64_t tables = tsr_budget_source_least(source);
  if (!options->map && !options->include_count && !options->exclude_count)
    tables = tsr_saturated_add(tables, tsr_budget_target_least(source, options->format, ranks));
  return tsr_budget_check(&TSR_JOB_LIMITS_OF(options, options->jobs), tables);
}

static int64_t choose_window(const tsr_transform *t, const tsr_view *view) {
  const int64_t block = tsr_block_elements(view->dtype);
  const int together = blocks_together(t, view);
  const int most = t->source.small_windows ? 1 : MOST_BLOCKS;
  int blocks = together > most ? together : most;
  while (blocks > 1 && memory_of(view, blocks * block) > t->buffer_bytes) blocks--;
  if (blocks > together) blocks -= blocks % together;
  return blocks * block;
}

static tsr_status make_windows(tsr_transform *t) {
  const int64_t count = t->source.views.count;
  int64_t largest = 0, peak = 0;
  t->first_window = malloc(sizeof *t->first_window * (size_t)(count + 1));
  t->first_block = malloc(sizeof *t->first_block * (size_t)(count + 1));
  t->window_elements = malloc(sizeof *t->window_elements * (size_t)(count + 1));
  if (!t->first_window || !t->first_block || !t->window_elements)
    return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  t->first_window[0] = t->first_block[0] = 0;
  for (int64_t i = 0; i < count; i++) {
    const tsr_view *view = t->source.views.items[i];
    const int64_t elements = choose_window(t, view), some = tsr_least(elements, view->elements);
    t->window_elements[i] = elements;
    t->first_window[i + 1] = t->first_window[i] + (view->elements + elements - 1) / elements;
    t->first_block[i + 1] = t->first_block[i] + tsr_block_count(view);
    if (tsr_view_bytes(view, some) > largest) largest = tsr_view_bytes(view, some);
    if (memory_of(view, some) > peak) peak = memory_of(view, some);
  }
  t->buffer_bytes = largest;
  t->certificate.windows = t->first_window[count];
  t->certificate.peak_memory = t->certificate.table_memory + peak * t->certificate.workers;
  return NULL;
}

tsr_window tsr_transform_window(const tsr_transform *t, int64_t index) {
  const int64_t tensor = tsr_owner_of(t->first_window, t->source.views.count, index);
  const int64_t elements = t->window_elements[tensor];
  const int64_t first = (index - t->first_window[tensor]) * elements;
  return (tsr_window){tensor, first,
                      tsr_least(elements, t->source.views.items[tensor]->elements - first)};
}

// ---- deciding ----

tsr_status tsr_transform_check_options(tsr_transform_options *options) {
  TSR_TRY(tsr_checkpoint_check_format(options->format));
  if ((unsigned)options->existing > TSR_EXISTING_RESUME)
    return tsr_fail(BAD_ARGUMENT, "%d is not one of tsr_existing, wanted 0 to %d",
                    (int)options->existing, TSR_EXISTING_RESUME);
  TSR_TRY(tsr_replicas_choose(options->replicas, TSR_REPLICAS_COMPARE, &options->replicas));
  TSR_TRY(tsr_job_limits_check(&TSR_JOB_LIMITS_OF(options, options->jobs)));
  if (options->max_file_size < 0)
    return tsr_fail(BAD_ARGUMENT, "max_file_size is %lld bytes, wanted 0 or more",
                    (long long)options->max_file_size);
  return tsr_selection_check(&TSR_SELECTION_OF(options));
}

tsr_status tsr_transform_tree(const tsr_checkpoint *source, const tsr_transform_options *options,
                              tsr_tree **out_tree) {
  tsr_transform_options read;
  TSR_TRY(tsr_sized_read(tsr_transform_options, options, &read));
  TSR_TRY(tsr_transform_check_options(&read));
  return tsr_selection_tree(source, &TSR_SELECTION_OF(&read), out_tree);
}

static tsr_status choose_format(tsr_transform *t) {
  tsr_transform_options *options = &t->options;
  if (options->format == TSR_FORMAT_ANY)
    options->format = tsr_format_default(options->plan != NULL);
  const tsr_format_ops *format = tsr_format_row(options->format);
  if (format->cannot_write) return tsr_fail(BAD_ARGUMENT, "%s", format->cannot_write);
  if (format->needs_plan && (!options->plan || !tsr_plan_mesh(options->plan)))
    return tsr_fail(PLAN_REQUIRED, "format \"%s\" needs a plan with a mesh", format->name);
  if (!format->needs_plan && options->plan)
    return tsr_fail(BAD_ARGUMENT, "a plan was given, but format \"%s\" stores tensors whole",
                    format->name);
  return NULL;
}

static tsr_status make_target(tsr_transform *t) {
  const tsr_target_options options = {
      .format = t->options.format,
      .plan = t->options.plan,
      .max_file_size = t->options.max_file_size ? t->options.max_file_size : default_file_size,
      .metadata = t->source.metadata,
      .metadata_count = t->source.metadata_count};
  return tsr_target_create(&t->source.views, &options, &t->target);
}

static int64_t stored_bytes(const tsr_store *store) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < store->count; i++) {
    const int64_t shards = tsr_layout_shard_count(store->tensors[i].layout);
    for (int64_t s = 0; s < shards; s++)
      bytes += tsr_store_shard_bytes(store, i, s) * store->tensors[i].copies;
  }
  return bytes;
}

static void certify(tsr_transform *t) {
  tsr_transform_certificate *c = &t->certificate;
  c->tensors = t->source.views.count;
  c->files = t->target->file_count;
  c->source_files = tsr_job_source_files(&t->source);
  for (int64_t i = 0; i < c->tensors; i++) {
    c->bytes_read += t->source.views.items[i]->bytes_read;
    c->least_read += t->source.views.items[i]->least_read;
  }
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

// ---- identity ----

static tsr_status hash_job(tsr_transform *t) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer json;
  tsr_job_source_print(&t->source, &text);
  tsr_target_describe(t->target, &text);
  tsr_json_writer_init(&json, &text, 0);
  if (t->options.plan) tsr_plan_to_json(t->options.plan, &json);
  if (t->options.map) tsr_mapping_describe(t->options.map, &text);
  tsr_status status = tsr_text_check(&text);
  if (!status) t->job = tsr_block_hash(text.data, (int64_t)text.length);
  tsr_text_deinit(&text);
  return status;
}

// With the source and the destination known: files, windows, memory, disk.
static tsr_status decide(tsr_transform *t) {
  TSR_TRY(make_target(t));
  TSR_TRY(choose_workers(t));
  TSR_TRY(make_windows(t));
  certify(t);
  TSR_TRY(check_disk(t));
  return hash_job(t);
}

static tsr_transform *make(const tsr_transform_options *options) {
  tsr_transform *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->options = *options;
  if (t->options.plan) tsr_plan_retain(t->options.plan);
  tsr_mapping_retain(t->options.map);
  return t;
}

static tsr_status decide_checkpoint(tsr_transform *t, const tsr_checkpoint *source,
                                    const char *path) {
  TSR_TRY(tsr_transform_check_options(&t->options));
  TSR_TRY(choose_format(t));
  const char *single = tsr_format_row(t->options.format)->single_name;
  if (!single && !t->options.no_extras) TSR_TRY(tsr_extras_find(source, &t->extras));
  TSR_TRY(tsr_work_init(&t->work, path, single, &t->extras));
  TSR_TRY(tsr_work_check_apart(&t->work, source));
  TSR_TRY(tsr_work_check_before(&t->work, t->options.existing));
  TSR_TRY(check_memory(&t->options, source));
  TSR_TRY(tsr_job_source_init(&t->source, source, &t->options));
  return decide(t);
}

static tsr_status give(tsr_transform *t, tsr_status status, tsr_transform **out_transform) {
  if (status)
    tsr_transform_destroy(t);
  else
    *out_transform = t;
  return status;
}

tsr_status tsr_transform_create(const tsr_checkpoint *source, const char *path,
                                const tsr_transform_options *options,
                                tsr_transform **out_transform) {
  tsr_transform_options read;
  TSR_TRY(tsr_sized_read(tsr_transform_options, options, &read));
  tsr_transform *t = make(&read);
  if (!t) return tsr_fail(NO_MEMORY, "a transform");
  return give(t, decide_checkpoint(t, source, path), out_transform);
}

tsr_status tsr_transform_of(tsr_job_source *source, const char *path,
                            const tsr_transform_options *options, tsr_transform **out_transform) {
  tsr_transform *t = make(options);
  if (!t) {
    tsr_job_source_deinit(source);
    return tsr_fail(NO_MEMORY, "a transform");
  }
  t->source = *source;
  *source = (tsr_job_source){0};
  tsr_status status = choose_format(t);
  if (!status)
    status = tsr_work_init(&t->work, path, tsr_format_row(t->options.format)->single_name, NULL);
  if (!status) status = tsr_work_check_before(&t->work, t->options.existing);
  if (!status) status = decide(t);
  return give(t, status, out_transform);
}

// ---- the report of a finished transform ----

static int by_losses(const void *left, const void *right) {
  const tsr_cast_loss *a = left, *b = right;
  if (a->elements != b->elements) return a->elements < b->elements ? 1 : -1;
  return strcmp(a->tensor, b->tensor);
}

static tsr_status find_losses(tsr_transform *t) {
  tsr_transform_report *report = &t->report;
  for (int64_t i = 0; i < t->source.views.count; i++)
    report->loss_count += tsr_view_overflows(t->source.views.items[i]) > 0;
  if (report->loss_count == 0) return NULL;
  t->losses = malloc(sizeof *t->losses * (size_t)report->loss_count);
  if (!t->losses)
    return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)report->loss_count);
  int64_t count = 0;
  for (int64_t i = 0; i < t->source.views.count; i++) {
    const int64_t lost = tsr_view_overflows(t->source.views.items[i]);
    if (lost) t->losses[count++] = (tsr_cast_loss){t->source.views.items[i]->name, lost};
    report->lost_elements += lost;
  }
  qsort(t->losses, (size_t)count, sizeof *t->losses, by_losses);
  report->losses = t->losses;
  return NULL;
}

tsr_status tsr_transform_make_report(tsr_transform *transform, bool resumed) {
  const tsr_source_checked checked = tsr_source_hashes_count(transform->source.hashes);
  transform->report = (tsr_transform_report){
      .resumed = resumed, .checked = checked.checked, .unchecked = checked.unchecked};
  return find_losses(transform);
}

const tsr_transform_report *tsr_transform_report_of(const tsr_transform *transform) {
  return &transform->report;
}

// ---- life ----

void tsr_transform_destroy(tsr_transform *transform) {
  if (!transform) return;
  tsr_status_free(tsr_target_close(transform->target));  // the run has reported errors
  tsr_work_deinit(&transform->work);
  tsr_extras_deinit(&transform->extras);
  tsr_job_source_deinit(&transform->source);
  free(transform->losses);
  tsr_plan_release(transform->options.plan);
  tsr_mapping_release(transform->options.map);
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

static bool has_file(const tsr_transform *transform, int64_t file) {
  return file >= 0 && file < transform->target->file_count;
}

const char *tsr_transform_file_at(const tsr_transform *transform, int64_t file) {
  return has_file(transform, file) ? transform->target->files[file].name : NULL;
}

int64_t tsr_transform_file_bytes(const tsr_transform *transform, int64_t file) {
  return has_file(transform, file) ? transform->target->files[file].size : 0;
}

const char *tsr_transform_index(const tsr_transform *transform, int64_t *out_bytes) {
  *out_bytes = transform->target->index_bytes;
  return transform->target->index_name;
}

const char *tsr_transform_extra_at(const tsr_transform *transform, int64_t extra) {
  if (extra < 0 || extra >= transform->extras.count) return NULL;
  return transform->extras.items[extra].name;
}
