// Shardings as text, without making attributes: a propagation is read by any threads.
#include "base/text_internal.h"
#include "insight/insight.h"
#include "syntax/syntax.h"
#include "tessera/spec.h"

static void print_dim(const tsr_tensor_sharding *sharding, int dim, bool open, tsr_text *out) {
  const tsr_dim_sharding *d = &sharding->dims[dim];
  tsr_sdy_parts_print(sharding->mesh, &d->axes, out);
  if (!open || out->failed) return;
  if (!d->closed) {
    out->length--;  // the brace
    tsr_text_add(out, d->axes.count ? ", ?}" : "?}");
  }
  if (d->priority >= 0) tsr_text_addf(out, "p%lld", (long long)d->priority);
}

static void print_set(const tsr_tensor_sharding *sharding, const char *name,
                      const tsr_sdy_parts *parts, tsr_text *out) {
  if (!parts->count) return;
  tsr_text_addf(out, ", %s=", name);
  tsr_sdy_parts_print(sharding->mesh, parts, out);
}

void tsr_tensor_sharding_print(const tsr_tensor_sharding *sharding, bool open, tsr_text *out) {
  if (!sharding) return;
  tsr_text_add(out, "#sdy.sharding<");
  tsr_attr_print(sharding->mesh_ref, out);
  tsr_text_add(out, ", [");
  for (int i = 0; i < sharding->rank; i++) {
    if (i) tsr_text_add(out, ", ");
    print_dim(sharding, i, open, out);
  }
  tsr_text_add_char(out, ']');
  print_set(sharding, "replicated", &sharding->replicated, out);
  print_set(sharding, "unreduced", &sharding->unreduced, out);
  tsr_text_add_char(out, '>');
}

void tsr_slot_sharding_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out) {
  const tsr_tensor_sharding *sharding = propagation->places[slot].last;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_spec *spec = NULL;
  if (!sharding) {
    tsr_text_add_char(out, '-');
    return;
  }
  tsr_tensor_sharding_print(sharding, false, &text);
  tsr_status status = tsr_spec_parse(tsr_text_string(&text), TSR_FORM_SHARDY, &spec);
  if (!status) status = tsr_spec_print(spec, TSR_FORM_SHORT, out);
  if (status) tsr_text_add(out, tsr_text_string(&text));  // specs cannot express it
  out->failed |= text.failed || tsr_status_code(status) == TSR_CODE_NO_MEMORY;
  tsr_status_free(status);
  tsr_spec_release(spec);
  tsr_text_deinit(&text);
}
