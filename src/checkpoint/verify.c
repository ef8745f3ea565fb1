// Two checkpoints are compared by views, so that neither format nor layout is known here. Tensors
// are cut in the blocks of the logical hash; a worker takes a block, reads it from both sides and
// says what it saw. What was seen is put together in the order of the blocks, so that the result
// does not depend on who was faster.
#include "tessera/verify.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint/budget.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/elements.h"
#include "checkpoint/hash.h"
#include "checkpoint/scan.h"
#include "checkpoint/select.h"
#include "tessera/convert.h"

struct tsr_verification {
  int64_t count, bytes_read;
  tsr_verify_row *rows;  // owned
  int64_t totals[TSR_VERDICT_COUNT];
  tsr_tree *trees[2];  // owned
  tsr_arena arena;     // values and messages
};

// What a worker saw of one block.
typedef struct block {
  tsr_errors errors;
  tsr_sums sums[2];
  tsr_hash128 hashes[2];
  char *message;  // owned: copies differ
} block;

typedef struct job {
  tsr_verification *result;
  tsr_verify_options options;
  tsr_tolerance tolerance;
  const tsr_checkpoint *sides[2];
  tsr_views views[2];
  const tsr_hash128 *known[2];  // of each view; NULL = not stored, or not believed
  unsigned char *reads;         // owned: of each row, bit `w` = side w is read block by block
  int64_t *first_block;         // owned: of each row, and one past the last
  block *blocks;                // owned
  void **buffers;               // owned: two for each worker
  tsr_pool *pool;
  tsr_budget budget;
  tsr_progress *progress;
} job;

enum { FIRST = 1, SECOND = 2, BOTH = 3, BLOCK_BYTES = 4 << 20 };

// ---- words ----

static const struct {
  const char *name, *text;
} verdicts[TSR_VERDICT_COUNT] = {
#define X(id, word, text) [TSR_VERDICT_##id] = {word, text},
    TSR_VERDICTS(X)
#undef X
};

const char *tsr_verdict_name(tsr_verdict verdict) { return verdicts[verdict].name; }
const char *tsr_verdict_text(tsr_verdict verdict) { return verdicts[verdict].text; }

static void print_tensor(const tsr_tensor *tensor, tsr_text *out) {
  assert(tensor);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_text_addf(out, "%s", tsr_dtype_name(tensor->dtype, TSR_NAMES_OWN));
  tsr_shape_print(&shape, out);
}

static void print_values(const tsr_verify_row *row, const tsr_tensor *tensor, tsr_text *out) {
  tsr_shape index = tsr_tensor_shape(tensor);
  int64_t left = row->first;
  tsr_text_addf(out, ": %lld of %lld elements", (long long)row->differing,
                (long long)tsr_tensor_elements(tensor));
  for (int d = index.rank - 1; d >= 0; d--) {
    const int64_t size = index.dims[d];
    index.dims[d] = left % size;
    left /= size;
  }
  tsr_text_add(out, ", first at ");
  tsr_shape_print(&index, out);
  tsr_text_addf(out, ": %s and %s", row->values[0], row->values[1]);
}

void tsr_verification_print_row(const tsr_verification *verification, int64_t row, tsr_text *out) {
  const tsr_verify_row *r = &verification->rows[row];
  const tsr_tensor *tensors[2];
  for (int w = 0; w < 2; w++)
    tensors[w] = r->tensors[w] < 0 ? NULL : tsr_tree_tensor(verification->trees[w], r->tensors[w]);
  tsr_text_addf(out, "\"%s\": %s", r->name, tsr_verdict_text(r->verdict));
  if (r->verdict == TSR_VERDICT_SHAPES || r->verdict == TSR_VERDICT_DTYPES) {
    tsr_text_add(out, ": ");
    print_tensor(tensors[0], out);
    tsr_text_add(out, " and ");
    print_tensor(tensors[1], out);
  }
  if (r->verdict == TSR_VERDICT_VALUES) print_values(r, tensors[0], out);
  if (r->message) tsr_text_addf(out, ": %s", r->message);
}

// ---- rows ----

static tsr_status make_rows(tsr_verification *result) {
  const int64_t counts[2] = {tsr_tree_count(result->trees[0]), tsr_tree_count(result->trees[1])};
  result->rows = calloc((size_t)(counts[0] + counts[1]) + 1, sizeof *result->rows);
  if (!result->rows) return tsr_fail(NO_MEMORY, "a list of tensors");
  for (int64_t i = 0; i < counts[0]; i++) {
    const char *name = tsr_tree_tensor(result->trees[0], i)->path;
    const int64_t other = tsr_tree_find(result->trees[1], name);
    result->rows[result->count++] =
        (tsr_verify_row){.name = name,
                         .tensors = {i, other},
                         .first = -1,
                         .verdict = other < 0 ? TSR_VERDICT_ONLY_IN_FIRST : TSR_VERDICT_SAME};
  }
  for (int64_t i = 0; i < counts[1]; i++) {
    const char *name = tsr_tree_tensor(result->trees[1], i)->path;
    if (tsr_tree_find(result->trees[0], name) >= 0) continue;
    result->rows[result->count++] = (tsr_verify_row){
        .name = name, .tensors = {-1, i}, .first = -1, .verdict = TSR_VERDICT_ONLY_IN_SECOND};
  }
  return NULL;
}

static const tsr_view *view_of(const job *j, int64_t row, int which) {
  const int64_t tensor = j->result->rows[row].tensors[which];
  return tensor < 0 ? NULL : j->views[which].items[tensor];
}

// Whether doubles can stand for the elements of both.
static bool comparable(tsr_dtype a, tsr_dtype b) {
  const bool complex = tsr_dtype_get(a)->kind == TSR_CLASS_COMPLEX;
  return complex == (tsr_dtype_get(b)->kind == TSR_CLASS_COMPLEX);
}

// What names, types and shapes tell without reading.
static void compare_kinds(const job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  const tsr_view *a = view_of(j, row, 0), *b = view_of(j, row, 1);
  if (!a || !b) return;
  const bool same_type =
      a->dtype == b->dtype || (j->options.tolerant && comparable(a->dtype, b->dtype));
  if (!tsr_shape_equal(&a->shape, &b->shape))
    r->verdict = TSR_VERDICT_SHAPES;
  else if (!same_type)
    r->verdict = TSR_VERDICT_DTYPES;
}

static void take_known(const job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  for (int w = 0; w < 2; w++) {
    if (r->tensors[w] < 0 || !j->known[w]) continue;
    r->hashes[w] = j->known[w][r->tensors[w]];
    r->hashed[w] = true;
  }
}

// The sides that are read block by block: both, unless a hash that is believed stands for one.
static unsigned char choose_reads(const job *j, int64_t row) {
  const tsr_verify_row *r = &j->result->rows[row];
  if (r->verdict != TSR_VERDICT_SAME) return 0;
  const bool one_type = view_of(j, row, 0)->dtype == view_of(j, row, 1)->dtype;
  if (j->options.stats || !one_type || (!r->hashed[0] && !r->hashed[1])) return BOTH;
  if (r->hashed[0] && r->hashed[1]) return tsr_hash128_equal(r->hashes[0], r->hashes[1]) ? 0 : BOTH;
  return r->hashed[0] ? SECOND : FIRST;
}

// ---- blocks ----

static int64_t block_elements(const job *j, int64_t row) {
  const int64_t a = tsr_block_elements(view_of(j, row, 0)->dtype);
  const int64_t b = tsr_block_elements(view_of(j, row, 1)->dtype);
  return a < b ? a : b;
}

static tsr_status make_blocks(job *j) {
  const int64_t count = j->result->count;
  j->first_block[0] = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t blocks = 0;
    if (j->reads[i]) {
      const int64_t size = block_elements(j, i);
      blocks = (view_of(j, i, 0)->elements + size - 1) / size;
    }
    j->first_block[i + 1] = j->first_block[i] + blocks;
  }
  j->blocks = calloc((size_t)j->first_block[count] + 1, sizeof *j->blocks);
  return j->blocks ? NULL : tsr_fail(NO_MEMORY, "a list of blocks");
}

static void free_blocks(job *j) {
  for (int64_t i = 0; j->blocks && i < j->first_block[j->result->count]; i++)
    free(j->blocks[i].message);
  free(j->blocks);
  j->blocks = NULL;
}

static int64_t row_of_block(const job *j, int64_t index) {
  int64_t low = 0, high = j->result->count - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (j->first_block[middle + 1] <= index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Reads one side. Copies that differ are something to tell, not a reason to stop.
static tsr_status read_side(job *j, const tsr_view *view, int64_t first, int64_t count,
                            void *buffer, char **out_message) {
  const int64_t bytes = tsr_view_bytes(view, count);
  ((char *)buffer)[bytes - 1] = 0;  // bits past the last element are no part of it
  tsr_status status = tsr_view_read(view, first, count, buffer);
  if (status && tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) {
    free(*out_message);
    *out_message = strdup(tsr_status_text(status));
    tsr_status_free(status);
    status = *out_message ? NULL : tsr_fail(NO_MEMORY, "a message");
  }
  if (!status && !tsr_progress_add(j->progress, bytes)) return tsr_fail(CANCELLED, "cancelled");
  return status;
}

static tsr_status take_buffer(job *j, int worker, int which, void **out_buffer) {
  void **buffer = &j->buffers[2 * worker + which];
  if (!*buffer) *buffer = malloc(BLOCK_BYTES);
  if (!*buffer) return tsr_fail(NO_MEMORY, "a block of a tensor");
  *out_buffer = *buffer;
  return NULL;
}

static void compare_block(const job *j, const tsr_dtype dtypes[2], const void *const bytes[2],
                          int64_t count, int64_t length, block *b) {
  const bool one_type = dtypes[0] == dtypes[1];
  assert(bytes[0] && bytes[1]);
  const bool equal = one_type && !memcmp(bytes[0], bytes[1], (size_t)length);
  if (!equal) tsr_errors_find(dtypes, bytes, count, &j->tolerance, &b->errors);
  if (!one_type || !j->options.hashes) return;
  b->hashes[0] = tsr_block_hash(bytes[0], length);
  b->hashes[1] = equal ? b->hashes[0] : tsr_block_hash(bytes[1], length);
}

static tsr_status do_block(void *context, int64_t index, int worker) {
  job *j = context;
  block *b = &j->blocks[index];
  const int64_t row = row_of_block(j, index), size = block_elements(j, row);
  const int64_t first = (index - j->first_block[row]) * size;
  const int64_t left = view_of(j, row, 0)->elements - first, count = left < size ? left : size;
  void *bytes[2] = {NULL, NULL};
  tsr_dtype dtypes[2];
  int64_t length = 0;
  b->errors.first = -1;
  for (int w = 0; w < 2; w++) {
    const tsr_view *view = view_of(j, row, w);
    dtypes[w] = view->dtype;
    b->sums[w] = (tsr_sums)TSR_SUMS_EMPTY;
    if (!(j->reads[row] & (1 << w))) continue;
    TSR_TRY(take_buffer(j, worker, w, &bytes[w]));
    TSR_TRY(read_side(j, view, first, count, bytes[w], &b->message));
    length = tsr_view_bytes(view, count);
    if (j->options.stats) tsr_sums_add(&b->sums[w], dtypes[w], bytes[w], count);
    if (j->reads[row] != BOTH) b->hashes[w] = tsr_block_hash(bytes[w], length);
  }
  if (j->reads[row] == BOTH) compare_block(j, dtypes, (const void *const *)bytes, count, length, b);
  return NULL;
}

// ---- putting together ----

static tsr_status hash_row(const job *j, int64_t row, int which) {
  tsr_verify_row *r = &j->result->rows[row];
  const int64_t first = j->first_block[row], count = j->first_block[row + 1] - first;
  tsr_hash128 *hashes = malloc(sizeof *hashes * (size_t)(count + 1));
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld blocks", (long long)count);
  for (int64_t i = 0; i < count; i++) hashes[i] = j->blocks[first + i].hashes[which];
  r->hashes[which] = tsr_blocks_hash(view_of(j, row, which), hashes);
  r->hashed[which] = true;
  free(hashes);
  return NULL;
}

static tsr_status take_value(const job *j, int64_t row, int which) {
  tsr_verify_row *r = &j->result->rows[row];
  const tsr_view *view = view_of(j, row, which);
  char element[16] = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_view_read(view, r->first, 1, element));
  tsr_element_print(view->dtype, element, 0, &text);
  r->values[which] = text.failed ? NULL : tsr_arena_copy(&j->result->arena, text.data, text.length);
  tsr_text_deinit(&text);
  return r->values[which] ? NULL : tsr_fail(NO_MEMORY, "a value");
}

static void join_errors(tsr_verify_row *r, const tsr_errors *errors, int64_t offset) {
  if (r->first < 0 && errors->first >= 0) r->first = offset + errors->first;
  r->differing += errors->differing;
  if (errors->absolute > r->absolute) r->absolute = errors->absolute;
  if (errors->relative > r->relative) r->relative = errors->relative;
}

static tsr_status take_message(const job *j, tsr_verify_row *r, const char *message) {
  r->message = tsr_arena_copy(&j->result->arena, message, strlen(message));
  r->verdict = TSR_VERDICT_COPIES;
  return r->message ? NULL : tsr_fail(NO_MEMORY, "a message");
}

static tsr_status join_blocks(const job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  const int64_t size = block_elements(j, row);
  tsr_sums sums[2] = {TSR_SUMS_EMPTY, TSR_SUMS_EMPTY};
  for (int64_t i = j->first_block[row]; i < j->first_block[row + 1]; i++) {
    const block *b = &j->blocks[i];
    join_errors(r, &b->errors, (i - j->first_block[row]) * size);
    for (int w = 0; w < 2; w++) tsr_sums_join(&sums[w], &b->sums[w]);
    if (b->message && !r->message) TSR_TRY(take_message(j, r, b->message));
  }
  for (int w = 0; w < 2 && j->options.stats; w++) r->stats[w] = tsr_sums_stats(&sums[w]);
  const bool one_type = view_of(j, row, 0)->dtype == view_of(j, row, 1)->dtype;
  for (int w = 0; w < 2; w++)
    if ((j->reads[row] & (1 << w)) && one_type && (j->reads[row] != BOTH || j->options.hashes))
      TSR_TRY(hash_row(j, row, w));
  if (r->message) return NULL;
  if (r->differing) r->verdict = TSR_VERDICT_VALUES;
  for (int w = 0; w < 2 && r->first >= 0; w++) TSR_TRY(take_value(j, row, w));
  return NULL;
}

// Rows whose one side was hashed and is not what the other's hash says are read again, both sides,
// for the elements that differ.
static int64_t choose_again(job *j) {
  int64_t again = 0;
  for (int64_t i = 0; i < j->result->count; i++) {
    const tsr_verify_row *r = &j->result->rows[i];
    const bool one_side = j->reads[i] == FIRST || j->reads[i] == SECOND;
    const bool differs = one_side && !r->message && !tsr_hash128_equal(r->hashes[0], r->hashes[1]);
    j->reads[i] = differs ? BOTH : 0;
    again += differs;
  }
  return again;
}

static tsr_status run_pass(job *j) {
  tsr_status status = make_blocks(j);
  if (!status) status = tsr_pool_run(j->pool, j->first_block[j->result->count], do_block, j);
  for (int64_t i = 0; i < j->result->count && !status; i++)
    if (j->reads[i]) status = join_blocks(j, i);
  free_blocks(j);
  return status;
}

// Hashes and statistics of tensors that have no counterpart of their kind.
static tsr_status look_apart(const job *j, int64_t row) {
  tsr_verify_row *r = &j->result->rows[row];
  for (int w = 0; w < 2; w++) {
    const tsr_view *view = view_of(j, row, w);
    if (!view) continue;
    const bool alone = r->verdict != TSR_VERDICT_SAME && r->verdict != TSR_VERDICT_VALUES;
    if (j->options.hashes && !r->hashed[w]) {
      TSR_TRY(tsr_view_hash(view, j->pool, NULL, &r->hashes[w]));
      r->hashed[w] = true;
    }
    if (j->options.stats && alone) TSR_TRY(tsr_view_stats(view, j->pool, &r->stats[w]));
  }
  return NULL;
}

static tsr_status look_at_rest(const job *j) {
  for (int64_t i = 0; i < j->result->count; i++) {
    tsr_verify_row *r = &j->result->rows[i];
    if (r->message) continue;
    tsr_status status = look_apart(j, i);
    if (status && tsr_status_cause(status) == TSR_CAUSE_COPIES_DIFFER) {
      const tsr_status copies = status;
      status = take_message(j, r, tsr_status_text(copies));
      tsr_status_free(copies);
    }
    if (status) return status;
  }
  return NULL;
}

// ---- the whole ----

static int64_t memory_of_reading(const tsr_views *views) {
  int64_t most = 0;
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    const int64_t size = tsr_block_elements(view->dtype);
    const int64_t memory = tsr_view_memory(view, view->elements < size ? view->elements : size);
    if (memory > most) most = memory;
  }
  return most;
}

static int64_t memory_of_tables(const job *j) {
  int64_t bytes = j->result->count * (int64_t)sizeof(tsr_verify_row), blocks[2] = {0};
  for (int w = 0; w < 2; w++) {
    bytes += tsr_budget_checkpoint(j->sides[w]);
    bytes += tsr_budget_views(&j->views[w], w == 0 ? j->options.map : NULL);
    for (int64_t i = 0; i < j->views[w].count; i++)
      blocks[w] += tsr_block_count(j->views[w].items[i]);
  }
  return bytes + (blocks[0] > blocks[1] ? blocks[0] : blocks[1]) * (int64_t)sizeof(block);
}

static tsr_status prepare(job *j) {
  tsr_verification *result = j->result;
  for (int w = 0; w < 2; w++) TSR_TRY(tsr_views_tree(&j->views[w], &result->trees[w]));
  TSR_TRY(make_rows(result));
  j->reads = calloc((size_t)result->count + 1, 1);
  j->first_block = calloc((size_t)result->count + 1, sizeof *j->first_block);
  if (!j->reads || !j->first_block) return tsr_fail(NO_MEMORY, "a list of tensors");
  for (int64_t i = 0; i < result->count; i++) {
    compare_kinds(j, i);
    take_known(j, i);
    j->reads[i] = choose_reads(j, i);
    for (int w = 0; w < 2; w++)
      if (j->reads[i] & (1 << w)) result->bytes_read += tsr_view_bytes_read(view_of(j, i, w));
  }
  const int64_t a = memory_of_reading(&j->views[0]), b = memory_of_reading(&j->views[1]);
  TSR_TRY(tsr_budget_init(&j->budget, j->options.max_memory, memory_of_tables(j),
                          3 * BLOCK_BYTES + (a > b ? a : b), j->options.jobs));
  j->buffers = calloc(2 * (size_t)j->budget.workers, sizeof *j->buffers);
  if (!j->buffers) return tsr_fail(NO_MEMORY, "buffers");
  return tsr_pool_create(j->budget.workers, &j->pool);
}

static tsr_status run(job *j) {
  TSR_TRY(prepare(j));
  const double interval = j->options.progress_interval > 0 ? j->options.progress_interval : 0.1;
  TSR_TRY(tsr_progress_create("verify", "B", j->result->bytes_read, interval, j->options.progress,
                              j->options.progress_context, &j->progress));
  tsr_status status = run_pass(j);
  if (!status && choose_again(j)) status = run_pass(j);
  if (!status) status = look_at_rest(j);
  tsr_progress_finish(j->progress);
  for (int64_t i = 0; i < j->result->count; i++) j->result->totals[j->result->rows[i].verdict]++;
  return status;
}

static void deinit(job *j) {
  for (int w = 0; w < 2; w++) tsr_views_deinit(&j->views[w]);
  for (int i = 0; j->buffers && i < 2 * j->budget.workers; i++) free(j->buffers[i]);
  tsr_pool_destroy(j->pool);
  free(j->buffers);
  free(j->reads);
  free(j->first_block);
}

// What the map makes of the first side takes its place; hashes are stored of what it was.
static tsr_status map_first(job *j, const tsr_checkpoint *first) {
  tsr_views made = {0};
  TSR_TRY(tsr_mapping_check_source(j->options.map, first));
  TSR_TRY(tsr_views_map(&j->views[0], j->options.map, &made));
  j->views[0] = made;
  j->known[0] = NULL;
  return NULL;
}

tsr_status tsr_checkpoint_verify(const tsr_checkpoint *first, const tsr_checkpoint *second,
                                 const tsr_verify_options *options,
                                 tsr_verification **out_verification) {
  job j = {.result = calloc(1, sizeof *j.result), .sides = {first, second}};
  if (!j.result) return tsr_fail(NO_MEMORY, "a comparison");
  if (options) j.options = *options;
  j.tolerance = (tsr_tolerance){
      .exact = !j.options.tolerant, .absolute = j.options.absolute, .relative = j.options.relative};
  const tsr_copies copies = j.options.trust_copies ? TSR_COPIES_TRUSTED : TSR_COPIES_COMPARED;
  tsr_status status = NULL;
  for (int w = 0; w < 2 && !status; w++) {
    status = tsr_views_of(j.sides[w], copies, &j.views[w]);
    if (j.options.trust_hashes) j.known[w] = j.sides[w]->hashes;
  }
  if (!status && j.options.map) status = map_first(&j, first);
  if (!status) status = run(&j);
  deinit(&j);
  if (status)
    tsr_verification_destroy(j.result);
  else
    *out_verification = j.result;
  return status;
}

void tsr_verification_destroy(tsr_verification *verification) {
  if (!verification) return;
  for (int w = 0; w < 2; w++) tsr_tree_release(verification->trees[w]);
  tsr_arena_deinit(&verification->arena);
  free(verification->rows);
  free(verification);
}

bool tsr_verification_equal(const tsr_verification *verification) {
  return verification->totals[TSR_VERDICT_SAME] == verification->count;
}

int64_t tsr_verification_count(const tsr_verification *verification) { return verification->count; }

const tsr_verify_row *tsr_verification_row(const tsr_verification *verification, int64_t row) {
  return &verification->rows[row];
}

int64_t tsr_verification_total(const tsr_verification *verification, tsr_verdict verdict) {
  return verification->totals[verdict];
}

int64_t tsr_verification_bytes_read(const tsr_verification *verification) {
  return verification->bytes_read;
}

const tsr_tree *tsr_verification_tree(const tsr_verification *verification, int which) {
  return verification->trees[which];
}
