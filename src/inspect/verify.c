// Two checkpoints are compared by views, so format and layout do not matter here. Names, dtypes,
// shapes and trusted hashes are compared first; they decide which tensors must be read.
#include "inspect/verify_tensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "job/job_limits.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "view/select.h"
#include "view/tensor_hash.h"

// ---- rows ----

const tsr_view *tsr_verify_view(const tsr_verify_job *j, int64_t row, int which) {
  const int64_t tensor = j->result->rows[row].tensors[which];
  const tsr_views *views = &j->views[which];
  return tensor < 0 ? NULL : views->items[tensor];
}

bool tsr_verify_one_type(const tsr_verify_job *j, int64_t row) {
  return tsr_verify_view(j, row, 0)->dtype == tsr_verify_view(j, row, 1)->dtype;
}

// Whether both can be compared as doubles.
static bool comparable(tsr_dtype a, tsr_dtype b) {
  const bool complex = tsr_dtype_info_of(a)->kind == TSR_CLASS_COMPLEX;
  return complex == (tsr_dtype_info_of(b)->kind == TSR_CLASS_COMPLEX);
}

static void compare_kinds(const tsr_verify_job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  const tsr_view *a = tsr_verify_view(j, row, 0), *b = tsr_verify_view(j, row, 1);
  if (!a || !b) return;
  const bool same_type =
      a->dtype == b->dtype || (j->options.tolerant && comparable(a->dtype, b->dtype));
  if (!tsr_shape_equal(&a->shape, &b->shape))
    r->verdict = TSR_VERDICT_SHAPES;
  else if (!same_type)
    r->verdict = TSR_VERDICT_DTYPES;
}

static void take_known(const tsr_verify_job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  for (int w = 0; w < 2; w++) {
    if (r->tensors[w] < 0 || !j->known[w]) continue;
    r->hashes[w] = j->known[w][r->tensors[w]];
    r->hashed[w] = true;
  }
}

// Both sides are read unless a trusted hash stands for one.
static unsigned char choose_reads(const tsr_verify_job *j, int64_t row) {
  const tsr_verify_row *r = &j->result->rows[row];
  if (r->verdict != TSR_VERDICT_SAME) return 0;
  if (j->options.stats || !tsr_verify_one_type(j, row) || (!r->hashed[0] && !r->hashed[1]))
    return TSR_READ_BOTH;
  if (r->hashed[0] && r->hashed[1])
    return tsr_hash128_equal(r->hashes[0], r->hashes[1]) ? 0 : TSR_READ_BOTH;
  return r->hashed[0] ? TSR_READ_SECOND : TSR_READ_FIRST;
}

tsr_status tsr_verify_take_message(const tsr_verify_job *j, tsr_verify_row *r,
                                   const char *message) {
  r->message = tsr_arena_copy(&j->result->arena, message, strlen(message));
  r->verdict = TSR_VERDICT_COPIES;
  return r->message ? NULL : tsr_fail(NO_MEMORY, "a message");
}

// If one side was hashed and differs from the trusted hash of the other, both are read again to
// find the elements that differ.
static int64_t choose_again(tsr_verify_job *j) {
  int64_t again = 0;
  for (int64_t i = 0; i < j->result->count; i++) {
    const tsr_verify_row *r = &j->result->rows[i];
    const bool one_side = j->reads[i] == TSR_READ_FIRST || j->reads[i] == TSR_READ_SECOND;
    const bool differs = one_side && !r->message && !tsr_hash128_equal(r->hashes[0], r->hashes[1]);
    j->reads[i] = differs ? TSR_READ_BOTH : 0;
    again += differs;
  }
  return again;
}

// Hashes and statistics of tensors that cannot be compared.
static tsr_status measure_alone(const tsr_verify_job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  for (int w = 0; w < 2; w++) {
    const tsr_view *view = tsr_verify_view(j, row, w);
    if (!view) continue;
    const bool alone = r->verdict != TSR_VERDICT_SAME && r->verdict != TSR_VERDICT_VALUES;
    if (j->options.hashes && !r->hashed[w]) {
      TSR_TRY(tsr_view_hash(view, j->workers.pool, NULL, &r->hashes[w]));
      r->hashed[w] = true;
    }
    if (j->options.stats && alone) TSR_TRY(tsr_view_stats(view, j->workers.pool, &r->stats[w]));
  }
  return NULL;
}

static tsr_status measure_rest(const tsr_verify_job *j) {
  for (int64_t i = 0; i < j->result->count; i++) {
    tsr_verify_row *r = &j->result->rows[i];
    if (r->message) continue;
    tsr_status status = measure_alone(j, i);
    if (status && tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) {
      const tsr_status copies = status;
      status = tsr_verify_take_message(j, r, tsr_status_text(copies));
      tsr_status_free(copies);
    }
    if (status) return status;
  }
  return NULL;
}

// ---- the whole ----

static int64_t memory_of_tables(const tsr_verify_job *j) {
  int64_t bytes = j->result->count * (int64_t)sizeof(tsr_verify_row);
  for (int w = 0; w < 2; w++) {
    bytes += tsr_budget_checkpoint(j->sides[w]);
    bytes += tsr_budget_views(&j->views[w], w == j->options.mapped ? j->options.map : NULL);
  }
  return bytes + tsr_verify_block_memory(j);
}

static tsr_status prepare(tsr_verify_job *j) {
  tsr_verification *result = j->result;
  for (int w = 0; w < 2; w++) TSR_TRY(tsr_views_tree(&j->views[w], &result->trees[w]));
  TSR_TRY(tsr_verification_make_rows(result));
  j->reads = calloc((size_t)result->count + 1, 1);
  j->first_block = calloc((size_t)result->count + 1, sizeof *j->first_block);
  if (!j->reads || !j->first_block) return tsr_fail(NO_MEMORY, "a list of tensors");
  for (int64_t i = 0; i < result->count; i++) {
    compare_kinds(j, i);
    take_known(j, i);
    j->reads[i] = choose_reads(j, i);
    for (int w = 0; w < 2; w++)
      if (j->reads[i] & (1 << w)) result->bytes_read += tsr_verify_view(j, i, w)->bytes_read;
  }
  const tsr_job_limits limits = TSR_JOB_LIMITS_OF(
      &j->options, tsr_budget_jobs(j->sides[0], tsr_budget_jobs(j->sides[1], j->options.jobs)));
  TSR_TRY(tsr_job_workers_start(&j->workers, &limits, memory_of_tables(j),
                                tsr_verify_worker_memory(j), "verify", result->bytes_read));
  return tsr_verify_make_workers(j);
}

static tsr_status run(tsr_verify_job *j) {
  TSR_TRY(prepare(j));
  tsr_status status = tsr_verify_pass(j);
  if (!status && choose_again(j)) status = tsr_verify_pass(j);
  if (!status) status = measure_rest(j);
  for (int64_t i = 0; i < j->result->count; i++) j->result->totals[j->result->rows[i].verdict]++;
  return status;
}

static void deinit(tsr_verify_job *j) {
  for (int w = 0; w < 2; w++) tsr_views_deinit(&j->views[w]);
  tsr_verify_free_workers(j);
  tsr_job_workers_stop(&j->workers);
  free(j->reads);
  free(j->first_block);
}

// Replaces a side by the result of the map. Stored hashes are of its source, so they do not apply.
static tsr_status map_side(tsr_verify_job *j, int64_t which) {
  tsr_views made = {0};
  if (which != 0 && which != 1)
    return tsr_fail(BAD_ARGUMENT, "the map is for checkpoint %lld, wanted 0 or 1",
                    (long long)which);
  TSR_TRY(tsr_mapping_check_source(j->options.map, j->sides[which]));
  TSR_TRY(tsr_views_map(&j->views[which], j->options.map, &made));
  j->views[which] = made;
  j->known[which] = NULL;
  return NULL;
}

static tsr_status read_options(const tsr_verify_options *given, tsr_verify_options *out) {
  TSR_TRY(tsr_sized_read(tsr_verify_options, given, out));
  TSR_TRY(tsr_replicas_choose(out->replicas, TSR_REPLICAS_COMPARE, &out->replicas));
  TSR_TRY(tsr_job_limits_check(&TSR_JOB_LIMITS_OF(out, out->jobs)));
  if (out->tolerant && !(out->absolute >= 0 && out->relative >= 0))
    return tsr_fail(BAD_ARGUMENT, "tolerances of %g and %g, wanted 0 or more", out->absolute,
                    out->relative);
  return NULL;
}

tsr_status tsr_checkpoint_verify(const tsr_checkpoint *first, const tsr_checkpoint *second,
                                 const tsr_verify_options *options,
                                 tsr_verification **out_verification) {
  tsr_verify_job j = {.result = calloc(1, sizeof *j.result), .sides = {first, second}};
  if (!j.result) return tsr_fail(NO_MEMORY, "a comparison");
  tsr_status status = read_options(options, &j.options);
  if (!status)
    status = tsr_budget_check(&TSR_JOB_LIMITS_OF(&j.options, j.options.jobs),
                              tsr_budget_source_least(first) + tsr_budget_source_least(second));
  for (int w = 0; w < 2 && !status; w++) {
    status = tsr_views_of(j.sides[w], j.options.replicas, &j.views[w]);
    if (j.options.trust_hashes) j.known[w] = j.sides[w]->hashes;
  }
  if (!status && j.options.map) status = map_side(&j, j.options.mapped);
  if (!status) status = run(&j);
  deinit(&j);
  if (status)
    tsr_verification_destroy(j.result);
  else
    *out_verification = j.result;
  return status;
}
