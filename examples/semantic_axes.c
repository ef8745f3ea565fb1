// Dimensions named by what they mean in a transformer. The same names are cut differently in
// training and when one token is decoded at a time.
#include <stdio.h>
#include <tessera/compat/eformer_axes.h>
#include <tessera/tessera.h>

static tsr_status show(const tsr_axes *axes, const char *name) {
  tsr_mode mode;
  const tsr_logical_entry names[] = {TSR_LOGICAL_NAME("__BATCH__"),
                                     TSR_LOGICAL_NAME("__QUERY_LENGTH__"),
                                     TSR_LOGICAL_NAME("__HEAD__"), TSR_LOGICAL_NAME("_")};
  const tsr_logical_names of = {4, names, NULL};
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  TSR_TRY(tsr_mode_parse(name, &mode));
  TSR_TRY(tsr_axes_resolve_spec(axes, NULL, &of, mode, &spec));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  printf("%-18s %s\n", name, tsr_text_string(&text));
  return NULL;
}

static tsr_status run(void) {
  const tsr_field_value given[] = {
      {.field = TSR_FIELD_TENSOR_PARALLEL, .entry = TSR_LOGICAL_NAME("mdl")},  // heads follow it
      {.field = TSR_FIELD_DECODE_BATCH, .entry = TSR_LOGICAL_NAME("dp")}};
  TSR_OWN(axes, axes);
  TSR_TRY(tsr_axes_create(given, 2, &axes));
  TSR_TRY(show(axes, "__train__"));
  return show(axes, "__autoregressive__");
}

int main(void) { return tsr_status_exit(run()); }
