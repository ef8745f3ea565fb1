// Semantic axes as JSON: what was given reads back as the same axes, all fields given are the same
// value, and every known list resolves.
#include <assert.h>
#include <stdint.h>

#include "json/json.h"
#include "rules/axes_internal.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tsr_axes *read(const char *bytes, size_t length) {
  tsr_json_doc *doc = NULL;
  tsr_axes *axes = NULL;
  tsr_status status = tsr_json_parse(bytes, length, &doc);
  if (!status) status = tsr_axes_replace_json(NULL, tsr_json_root(doc), &axes);
  assert((status == NULL) == (axes != NULL));
  tsr_status_free(status);
  tsr_json_destroy(doc);
  return axes;
}

static void check_reads_back(const tsr_axes *axes, bool only_given) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 0);
  if (only_given)
    tsr_axes_to_json(axes, true, &writer);
  else
    tsr_axes_to_json(axes, false, &writer);
  tsr_axes *again = read(text.data, text.length);
  assert(again && tsr_axes_equal(axes, again) && tsr_axes_hash(axes) == tsr_axes_hash(again));
  tsr_axes_release(again);
  tsr_text_deinit(&text);
}

static void check_resolves(const tsr_axes *axes) {
  const tsr_dynamic_axes *list = NULL;
  for (int i = 0; (list = tsr_dynamic_axes_at(i)); i++) {
    tsr_spec *spec = NULL;
    tsr_status status = tsr_axes_resolve_request(
        axes, NULL,
        &(tsr_axes_request){
            .size = sizeof(tsr_axes_request), .dynamic = list, .shape = TSR_SHAPE(4, 1, 8, 8)},
        &spec);
    // Only more axes than a spec can have are refused.
    assert(status ? tsr_status_cause(status) == TSR_CAUSE_TOO_LARGE
                  : tsr_spec_desc_of(spec)->dim_count == list->count);
    tsr_status_free(status);
    tsr_spec_release(spec);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_axes *axes = read((const char *)data, size);
  if (!axes) return 0;
  check_reads_back(axes, true);
  check_reads_back(axes, false);
  check_resolves(axes);
  tsr_axes_release(axes);
  return 0;
}
