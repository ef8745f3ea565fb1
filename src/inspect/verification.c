// The result of a comparison: its rows, totals and texts.
#include <assert.h>
#include <stdlib.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "inspect/verify_tensors.h"
#include "inspect/verify_internal.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/tree.h"

static const struct {
  const char *name, *text;
} verdicts[TSR_VERDICT_COUNT] = {
#define X(id, word, text) [TSR_VERDICT_##id] = {word, text},
    TSR_VERDICTS(X)
#undef X
};

const char *tsr_verdict_name(tsr_verdict verdict) {
  return (unsigned)verdict < TSR_VERDICT_COUNT ? verdicts[verdict].name : NULL;
}
const char *tsr_verdict_text(tsr_verdict verdict) {
  return (unsigned)verdict < TSR_VERDICT_COUNT ? verdicts[verdict].text : NULL;
}

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
  const tsr_verify_row *r = tsr_verification_at(verification, row);
  if (!r) return;
  const tsr_tensor *tensors[2];
  for (int w = 0; w < 2; w++)
    tensors[w] = r->tensors[w] < 0 ? NULL : tsr_tree_at(verification->trees[w], r->tensors[w]);
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

tsr_status tsr_verification_make_rows(tsr_verification *result) {
  const int64_t counts[2] = {tsr_tree_count(result->trees[0]), tsr_tree_count(result->trees[1])};
  result->rows = calloc((size_t)(counts[0] + counts[1]) + 1, sizeof *result->rows);
  if (!result->rows) return tsr_fail(NO_MEMORY, "a list of tensors");
  for (int64_t i = 0; i < counts[0]; i++) {
    const char *name = tsr_tree_at(result->trees[0], i)->path;
    const int64_t other = tsr_tree_find(result->trees[1], name);
    result->rows[result->count++] =
        (tsr_verify_row){.name = name,
                         .tensors = {i, other},
                         .first = -1,
                         .verdict = other < 0 ? TSR_VERDICT_ONLY_IN_FIRST : TSR_VERDICT_SAME};
  }
  for (int64_t i = 0; i < counts[1]; i++) {
    const char *name = tsr_tree_at(result->trees[1], i)->path;
    if (tsr_tree_find(result->trees[0], name) >= 0) continue;
    result->rows[result->count++] = (tsr_verify_row){
        .name = name, .tensors = {-1, i}, .first = -1, .verdict = TSR_VERDICT_ONLY_IN_SECOND};
  }
  return NULL;
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

const tsr_verify_row *tsr_verification_at(const tsr_verification *verification, int64_t row) {
  return row >= 0 && row < tsr_verification_count(verification) ? &verification->rows[row] : NULL;
}

int64_t tsr_verification_total(const tsr_verification *verification, tsr_verdict verdict) {
  return (unsigned)verdict < TSR_VERDICT_COUNT ? verification->totals[verdict] : 0;
}

int64_t tsr_verification_bytes_read(const tsr_verification *verification) {
  return verification->bytes_read;
}
