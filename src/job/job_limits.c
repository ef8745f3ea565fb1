// Every job has the same limits and keeps them in the same way: tables first, then as many workers
// as fit beside them.
#include "job/job_limits.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/pool_internal.h"
#include "element/shape_internal.h"
#include "format/format.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "map/map.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/tree.h"

static const int64_t default_memory = INT64_C(1) << 30;
static const double default_interval = 0.1;
// The program and its libraries, stacks, lists that do not grow with the model, and what malloc
// keeps back.
static const int64_t base_memory = INT64_C(16) << 20;
// What a job that will be refused may take to say exactly how much it needs.
static const int64_t little_memory = INT64_C(64) << 20;

tsr_status tsr_job_limits_check(const tsr_job_limits *limits) {
  if (limits->jobs < 0) return tsr_fail(BAD_ARGUMENT, "jobs is %d, wanted 0 or more", limits->jobs);
  if (limits->max_memory < 0)
    return tsr_fail(BAD_ARGUMENT, "max_memory is %lld bytes, wanted 0 or more",
                    (long long)limits->max_memory);
  return NULL;
}

tsr_status tsr_job_limits_report(const tsr_job_limits *limits, const char *job, int64_t bytes,
                                 tsr_progress **out_progress) {
  const double interval =
      limits->progress_interval > 0 ? limits->progress_interval : default_interval;
  return tsr_progress_create(job, "B", bytes, interval, limits->progress, limits->progress_context,
                             out_progress);
}

// ---- memory ----

static int64_t memory_of(const tsr_job_limits *limits) {
  return limits->max_memory ? limits->max_memory : default_memory;
}

static tsr_status refuse(int64_t memory, int64_t needed, int64_t tables) {
  return tsr_fail(DOES_NOT_FIT,
                  "%lld bytes of memory are too little: at least %lld are needed, of which tables "
                  "take %lld",
                  (long long)memory, (long long)needed, (long long)tables);
}

tsr_status tsr_budget_check(const tsr_job_limits *limits, int64_t tables) {
  const int64_t memory = memory_of(limits), needed = tsr_saturated_add(base_memory, tables);
  if (needed <= (memory < little_memory ? little_memory : memory)) return NULL;
  return refuse(memory, needed, tables);
}

tsr_status tsr_budget_init(tsr_budget *budget, const tsr_job_limits *limits, int64_t tables,
                           int64_t least) {
  const int64_t memory = memory_of(limits), left = memory - base_memory - tables;
  const int64_t fit = left / least;
  if (fit < 1) return refuse(memory, base_memory + tables + least, tables);
  const int wanted = limits->jobs > 0 ? limits->jobs : tsr_cpu_count();
  budget->workers = wanted < fit ? wanted : (int)fit;
  budget->worker_bytes = left / budget->workers;
  return NULL;
}

// ---- workers ----

tsr_status tsr_job_workers_start(tsr_job_workers *workers, const tsr_job_limits *limits,
                                 int64_t tables, int64_t least, const char *job, int64_t bytes) {
  *workers = (tsr_job_workers){0};
  TSR_TRY(tsr_budget_init(&workers->budget, limits, tables, least));
  TSR_TRY(tsr_pool_create(workers->budget.workers, &workers->pool));
  return tsr_job_limits_report(limits, job, bytes, &workers->progress);
}

void tsr_job_workers_stop(tsr_job_workers *workers) {
  tsr_progress_finish(workers->progress);
  tsr_pool_destroy(workers->pool);
}

// ---- memory of tables ----

// Tables grow with the tensors, their shards and their names. Counting every allocation would be
// exact and unreadable. These are bytes for one of each kind, measured on models of 100,000 tensors
// and rounded up, overhead of malloc included.
enum {
  SOURCE_WHOLE = 480,  // bytes of a tensor: of the tree and the store
  SOURCE_CUT = 900,    // with its layout, in the plan
  SOURCE_PART = 24,    // of each shard of it
  SOURCE_FILE = 512,
  INDEX_SHARD = 128,   // of each shard of a dimension, in a box index
  VIEW = 480,          // with its box index, of a tensor that is not cut
  CAST = 360,          // besides the view that is cast
  MAPPED = 600,        // besides its view
  MAPPED_PIECE = 96,   // of its pieces
  TARGET_WHOLE = 440,  // windows and hashes too
  TARGET_CUT = 1200,
  TARGET_SHARD = 64,
  TARGET_FILE = 1024,
  HEADER = 48,  // besides the name, in a file
  NAMES = 4     // copies kept of each tensor name, on both sides
};

// Of box indices that views keep. VIEW covers those of tensors that are not cut.
static int64_t index_memory(const tsr_checkpoint *checkpoint) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < checkpoint->store->count; i++) {
    const tsr_layout *layout = checkpoint->store->tensors[i].layout;
    if (tsr_tensor_bytes(tsr_tree_at(checkpoint->tree, i)) < TSR_INDEX_KEPT_FROM) continue;
    for (int d = 0; d < layout->rank && layout->kind == TSR_LAYOUT_GRID; d++)
      bytes += tsr_layout_cut(layout, d).shards * INDEX_SHARD;
  }
  return bytes;
}

int64_t tsr_budget_checkpoint(const tsr_checkpoint *checkpoint) {
  const tsr_store *store = checkpoint->store;
  return (checkpoint->plan ? index_memory(checkpoint) : 0) +
         store->count * (checkpoint->plan ? SOURCE_CUT : SOURCE_WHOLE) +
         store->place_count * SOURCE_PART + store->file_count * SOURCE_FILE;
}

int64_t tsr_budget_views(const tsr_views *views, const tsr_mapping *map) {
  int64_t bytes = views->count * VIEW;
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    bytes += NAMES * (int64_t)strlen(view->name) + (tsr_view_is_cast(view) ? CAST : 0);
  }
  if (!map) return bytes;
  for (int64_t i = 0; i < map->count; i++)
    bytes += MAPPED + map->items[i].piece_count * MAPPED_PIECE;
  for (int64_t i = 0; i < tsr_tree_count(map->source); i++)
    bytes += VIEW + NAMES * (int64_t)strlen(tsr_tree_at(map->source, i)->path);
  return bytes;
}

int64_t tsr_budget_target(const tsr_target *target) {
  const tsr_store *store = target->store;
  int64_t bytes = store->count * (target->plan ? TARGET_CUT : TARGET_WHOLE) +
                  store->place_count * TARGET_SHARD + target->file_count * TARGET_FILE +
                  target->index_bytes + target->state_bytes;
  for (int i = 0; i < target->file_count; i++) bytes += target->files[i].header_bytes;
  return bytes;
}

int64_t tsr_budget_source_least(const tsr_checkpoint *checkpoint) {
  return tsr_budget_checkpoint(checkpoint) + checkpoint->store->count * VIEW;
}

// A file for each rank holds a shard of every tensor, and its name in the header.
int64_t tsr_budget_target_least(const tsr_checkpoint *checkpoint, tsr_checkpoint_format format,
                                int64_t ranks) {
  const int64_t count = checkpoint->store->count;
  int64_t shards = count * (TARGET_SHARD + HEADER);
  for (int64_t i = 0; i < count; i++)
    shards += (int64_t)strlen(tsr_tree_at(checkpoint->tree, i)->path);
  if (tsr_format_row(format)->stores_replicas) shards = tsr_saturated_multiply(shards, ranks);
  return tsr_saturated_add(count * (ranks ? TARGET_CUT : TARGET_WHOLE), shards);
}

int tsr_budget_jobs(const tsr_checkpoint *checkpoint, int jobs) {
  return checkpoint->store->packed ? 1 : jobs;
}
