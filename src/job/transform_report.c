// The report of a finished transform: overflows of casts, and tensors compared with hashes.
#include <stdlib.h>
#include <string.h>

#include "job/transform.h"
#include "tessera/checkpoint/transform.h"

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
