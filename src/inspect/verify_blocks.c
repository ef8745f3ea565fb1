// A worker reads a block of a tensor from both sides and records what differs. Records are joined
// in the order of blocks, so the result does not depend on timing.
//
// Blocks are those of the logical hash. Where views allow it, they are read and compared in pieces
// that fit into the processor's caches.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress_internal.h"
#include "element/convert_internal.h"
#include "inspect/verify_tensors.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

enum { PIECES = 8 };

// The record of one block.
struct tsr_verify_block {
  tsr_errors errors;
  tsr_sums sums[2];
  tsr_hash128 hashes[2];
  char *message;  // owned: replicas differ
};

struct tsr_verify_worker {
  void *buffers[2];        // owned; NULL until needed
  tsr_hasher *hashers[2];  // owned; the same
};

// ---- workers ----

tsr_status tsr_verify_make_workers(tsr_verify_job *job) {
  job->own = calloc((size_t)job->workers.budget.workers, sizeof *job->own);
  return job->own ? NULL : tsr_fail(NO_MEMORY, "buffers");
}

void tsr_verify_free_workers(tsr_verify_job *job) {
  for (int i = 0; job->own && i < job->workers.budget.workers; i++) {
    for (int w = 0; w < 2; w++) {
      free(job->own[i].buffers[w]);
      tsr_hasher_destroy(job->own[i].hashers[w]);
    }
  }
  free(job->own);
}

static tsr_status equip(tsr_verify_worker *worker, int which) {
  if (!worker->buffers[which]) worker->buffers[which] = malloc(TSR_BLOCK_BYTES);
  if (!worker->hashers[which]) worker->hashers[which] = tsr_hasher_create();
  return worker->buffers[which] && worker->hashers[which]
             ? NULL
             : tsr_fail(NO_MEMORY, "a block of a tensor");
}

// ---- blocks ----

static int64_t block_elements(const tsr_verify_job *job, int64_t row) {
  const int64_t a = tsr_block_elements(tsr_verify_view(job, row, 0)->dtype);
  const int64_t b = tsr_block_elements(tsr_verify_view(job, row, 1)->dtype);
  return a < b ? a : b;
}

static tsr_status make_blocks(tsr_verify_job *job) {
  const int64_t count = job->result->count;
  job->first_block[0] = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t blocks = 0;
    if (job->reads[i]) {
      const int64_t size = block_elements(job, i);
      blocks = (tsr_verify_view(job, i, 0)->elements + size - 1) / size;
    }
    job->first_block[i + 1] = job->first_block[i] + blocks;
  }
  job->blocks = calloc((size_t)job->first_block[count] + 1, sizeof *job->blocks);
  return job->blocks ? NULL : tsr_fail(NO_MEMORY, "a list of blocks");
}

static void free_blocks(tsr_verify_job *job) {
  for (int64_t i = 0; job->blocks && i < job->first_block[job->result->count]; i++)
    free(job->blocks[i].message);
  free(job->blocks);
  job->blocks = NULL;
}

int64_t tsr_verify_block_memory(const tsr_verify_job *job) {
  int64_t blocks[2] = {0};
  for (int w = 0; w < 2; w++)
    for (int64_t i = 0; i < job->views[w].count; i++)
      blocks[w] += tsr_block_count(job->views[w].items[i]);
  return (blocks[0] > blocks[1] ? blocks[0] : blocks[1]) * (int64_t)sizeof *job->blocks;
}

// Buffers of both sides, and one for hashing a tensor alone.
int64_t tsr_verify_worker_memory(const tsr_verify_job *job) {
  const int64_t first = tsr_block_memory(&job->views[0]), second = tsr_block_memory(&job->views[1]);
  return 3 * (int64_t)TSR_BLOCK_BYTES + (first > second ? first : second);
}

// ---- one block ----

// A block that is being compared.
typedef struct block_compare {
  tsr_verify_job *job;
  tsr_verify_worker *worker;
  tsr_verify_block *block;
  const tsr_view *views[2];
  int reads;
  bool one_type;
  bool apart;  // some piece differs, so each side has its own hash
} block_compare;

// Replicas that differ are recorded, and the comparison goes on.
static tsr_status read_side(const block_compare *l, int which, int64_t first, int64_t count) {
  const tsr_view *view = l->views[which];
  const int64_t bytes = tsr_view_bytes(view, count);
  char *buffer = l->worker->buffers[which];
  buffer[bytes - 1] = 0;  // bits past the last element
  tsr_status status = tsr_view_read(view, first, count, buffer);
  if (status && tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) {
    if (!l->block->message) l->block->message = strdup(tsr_status_text(status));
    tsr_status_free(status);
    status = l->block->message ? NULL : tsr_fail(NO_MEMORY, "a message");
  }
  if (!status && !tsr_progress_add(l->job->workers.progress, bytes))
    return tsr_fail(CANCELLED, "cancelled");
  return status;
}

// As long as both sides are equal, one hash serves both.
static void hash_both(block_compare *l, bool equal, int64_t bytes) {
  tsr_hasher *const *hashers = l->worker->hashers;
  if (!equal && !l->apart) tsr_hasher_copy(hashers[1], hashers[0]);
  l->apart = l->apart || !equal;
  tsr_hasher_add(hashers[0], l->worker->buffers[0], bytes);
  if (l->apart) tsr_hasher_add(hashers[1], l->worker->buffers[1], bytes);
}

// `at` counts from the beginning of the block.
static void compare_piece(block_compare *l, int64_t at, int64_t count, int64_t bytes) {
  const tsr_dtype dtypes[2] = {l->views[0]->dtype, l->views[1]->dtype};
  const void *const buffers[2] = {l->worker->buffers[0], l->worker->buffers[1]};
  assert(buffers[0] && buffers[1]);
  const bool equal = l->one_type && !memcmp(buffers[0], buffers[1], (size_t)bytes);
  if (!equal) {
    tsr_errors errors;
    tsr_errors_find(dtypes, buffers, count, &l->job->options, &errors);
    tsr_errors_join(&l->block->errors, &errors, at);
  }
  if (l->one_type && l->job->options.hashes) hash_both(l, equal, bytes);
}

static tsr_status compare_sides(block_compare *l, int64_t first, int64_t at, int64_t count) {
  int64_t bytes = 0;
  for (int w = 0; w < 2; w++) {
    if (!(l->reads & (1 << w))) continue;
    TSR_TRY(read_side(l, w, first + at, count));
    bytes = tsr_view_bytes(l->views[w], count);
    if (l->job->options.stats)
      tsr_sums_add(&l->block->sums[w], l->views[w]->dtype, l->worker->buffers[w], count);
    if (l->reads != TSR_READ_BOTH)
      tsr_hasher_add(l->worker->hashers[w], l->worker->buffers[w], bytes);
  }
  if (l->reads == TSR_READ_BOTH) compare_piece(l, at, count, bytes);
  return NULL;
}

static tsr_status start_block(block_compare *l) {
  l->block->errors = (tsr_errors){.first = -1};
  for (int w = 0; w < 2; w++) {
    l->block->sums[w] = (tsr_sums)TSR_SUMS_EMPTY;
    if (!(l->reads & (1 << w))) continue;
    TSR_TRY(equip(l->worker, w));
    tsr_hasher_reset(l->worker->hashers[w]);
  }
  return NULL;
}

static void end_block(block_compare *l) {
  for (int w = 0; w < 2; w++) {
    if (!(l->reads & (1 << w))) continue;
    const bool shared = l->reads == TSR_READ_BOTH && w == 1 && !l->apart;
    l->block->hashes[w] = shared ? l->block->hashes[0] : tsr_hasher_digest(l->worker->hashers[w]);
  }
}

static tsr_status do_block(void *context, int64_t index, int worker) {
  tsr_verify_job *job = context;
  const int64_t row = tsr_owner_of(job->first_block, job->result->count, index),
                size = block_elements(job, row);
  block_compare l = {.job = job,
                     .worker = &job->own[worker],
                     .block = &job->blocks[index],
                     .views = {tsr_verify_view(job, row, 0), tsr_verify_view(job, row, 1)},
                     .reads = job->reads[row],
                     .one_type = tsr_verify_one_type(job, row)};
  const int64_t first = (index - job->first_block[row]) * size;
  const int64_t left = l.views[0]->elements - first, end = left < size ? left : size;
  const bool in_pieces = l.views[0]->in_pieces && l.views[1]->in_pieces;
  const int64_t piece = in_pieces ? size / PIECES / 8 * 8 : size;
  TSR_TRY(start_block(&l));
  for (int64_t at = 0; at < end; at += piece)
    TSR_TRY(compare_sides(&l, first, at, end - at < piece ? end - at : piece));
  end_block(&l);
  return NULL;
}

// ---- joining ----

static tsr_status hash_row(const tsr_verify_job *job, int64_t row, int which) {
  tsr_verify_row *r = &job->result->rows[row];
  const int64_t first = job->first_block[row], count = job->first_block[row + 1] - first;
  tsr_hash128 *hashes = malloc(sizeof *hashes * (size_t)(count + 1));
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld blocks", (long long)count);
  for (int64_t i = 0; i < count; i++) hashes[i] = job->blocks[first + i].hashes[which];
  r->hashes[which] = tsr_blocks_hash(tsr_verify_view(job, row, which), hashes);
  r->hashed[which] = true;
  free(hashes);
  return NULL;
}

static tsr_status take_value(const tsr_verify_job *job, int64_t row, int which) {
  tsr_verify_row *r = &job->result->rows[row];
  const tsr_view *view = tsr_verify_view(job, row, which);
  char element[16] = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_view_read(view, r->first, 1, element));
  tsr_element_print(view->dtype, element, 0, &text);
  r->values[which] =
      text.failed ? NULL : tsr_arena_copy(&job->result->arena, text.data, text.length);
  tsr_text_deinit(&text);
  return r->values[which] ? NULL : tsr_fail(NO_MEMORY, "a value");
}

static tsr_status join_blocks(const tsr_verify_job *job, int64_t row) {
  tsr_verify_row *r = &job->result->rows[row];
  const int64_t size = block_elements(job, row);
  tsr_sums sums[2] = {TSR_SUMS_EMPTY, TSR_SUMS_EMPTY};
  tsr_errors errors = {.first = -1};
  for (int64_t i = job->first_block[row]; i < job->first_block[row + 1]; i++) {
    const tsr_verify_block *b = &job->blocks[i];
    tsr_errors_join(&errors, &b->errors, (i - job->first_block[row]) * size);
    for (int w = 0; w < 2; w++) tsr_sums_join(&sums[w], &b->sums[w]);
    if (b->message && !r->message) TSR_TRY(tsr_verify_take_message(job, r, b->message));
  }
  r->differing = errors.differing;
  r->first = errors.first;
  r->absolute = errors.absolute;
  r->relative = errors.relative;
  for (int w = 0; w < 2 && job->options.stats; w++) r->stats[w] = tsr_sums_stats(&sums[w]);
  const bool hashed = job->reads[row] != TSR_READ_BOTH || job->options.hashes;
  for (int w = 0; w < 2; w++)
    if ((job->reads[row] & (1 << w)) && tsr_verify_one_type(job, row) && hashed)
      TSR_TRY(hash_row(job, row, w));
  if (r->message) return NULL;
  if (r->differing) r->verdict = TSR_VERDICT_VALUES;
  for (int w = 0; w < 2 && r->first >= 0; w++) TSR_TRY(take_value(job, row, w));
  return NULL;
}

tsr_status tsr_verify_pass(tsr_verify_job *job) {
  tsr_status status = make_blocks(job);
  if (!status)
    status = tsr_pool_run(job->workers.pool, job->first_block[job->result->count], do_block, job);
  for (int64_t i = 0; i < job->result->count && !status; i++)
    if (job->reads[i]) status = join_blocks(job, i);
  free_blocks(job);
  return status;
}
