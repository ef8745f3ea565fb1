// One spec in the words of several projects, and a spec mended so that it fits a tensor.
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status show(const char *label, const tsr_spec *spec, tsr_spec_form form) {
  TSR_OWN(text, text);
  TSR_TRY(tsr_spec_print(spec, form, &text));
  printf("%-12s %s\n", label, tsr_text_string(&text));
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, spec);
  TSR_OWN(spec, fitting);
  TSR_OWN(changes, changes);
  TSR_OWN(text, reasons);
  TSR_TRY(tsr_mesh_parse("data=2,fsdp=2,tp=2", NULL, &mesh));
  TSR_TRY(tsr_spec_parse("P('data', ('fsdp', 'tp'))", TSR_FORM_JAX, &spec));
  TSR_TRY(show("short", spec, TSR_FORM_SHORT));
  TSR_TRY(show("jax", spec, TSR_FORM_JAX));
  TSR_TRY(show("shardy", spec, TSR_FORM_SHARDY));

  // Four shards of the second dimension do not divide 10.
  TSR_TRY(tsr_spec_correct(spec, mesh, TSR_SHAPE(8, 10), NULL, &fitting, &changes));
  TSR_TRY(show("for (8, 10)", fitting, TSR_FORM_JAX));
  tsr_changes_print(&changes, &reasons);
  printf("%s", tsr_text_string(&reasons));
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
