// Whatever the JSON: no crash; a plan that comes out of it is written and read back as itself, to
// the same bytes, and every row of it can be explained.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "tessera/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_status read_plan(const char *bytes, size_t length, tsr_plan **out) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(bytes, length, &doc));
  tsr_status status = tsr_plan_from_json(tsr_json_root(doc), out);
  tsr_json_destroy(doc);
  return status;
}

static char *write_plan(const tsr_plan *plan) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  char *taken = NULL;
  tsr_json_writer_init(&writer, &text, 2);
  tsr_plan_to_json(plan, &writer);
  tsr_status status = tsr_text_take(&text, &taken);
  assert(!status);
  return taken;
}

static void check_round_trip(const tsr_plan *plan) {
  tsr_plan *again = NULL;
  char *first = write_plan(plan);
  tsr_status status = read_plan(first, strlen(first), &again);
  assert(!status && tsr_plan_equal(plan, again));
  char *second = write_plan(again);
  assert(!strcmp(first, second));
  free(second);
  free(first);
  tsr_plan_release(again);
}

static void check_rows(const tsr_plan *plan) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_status got = tsr_plan_at(plan, i, &row);
    assert(!got);
    assert(row.bytes_per_device >= 0);
    assert(row.bytes_per_device <= tsr_tensor_bytes(row.tensor));
    bytes += row.bytes_per_device;
    // A pattern may be too slow for a path, which is an error and no fault.
    tsr_status status = tsr_plan_explain(plan, i, &text);
    assert(text.length);
    tsr_status_free(status);
    tsr_text_deinit(&text);
  }
  assert(bytes == tsr_plan_bytes_per_device(plan));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_plan *plan = NULL;
  tsr_status status = read_plan((const char *)data, size, &plan);
  if (status) {
    assert(*tsr_status_text(status) && !plan);
    tsr_status_free(status);
    return 0;
  }
  check_round_trip(plan);
  check_rows(plan);
  tsr_plan_release(plan);
  return 0;
}
