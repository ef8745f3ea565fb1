// One sharding in the words of several projects, and a spec mended so that it fits a tensor.
#include <stdio.h>
#include <tessera/tessera.h>

typedef struct world {
  tsr_mesh *mesh;
  tsr_spec *spec, *fitting;
  tsr_sharding *sharding;
  tsr_tiling *tiling;
  tsr_changes changes;
  tsr_text text;
} world;

static tsr_status translate(world *w) {
  TSR_TRY(tsr_mesh_parse("data=2,fsdp=2,tp=2", NULL, &w->mesh));
  TSR_TRY(tsr_spec_parse("P('data', ('fsdp', 'tp'))", TSR_FORM_JAX, &w->spec));
  TSR_TRY(tsr_sharding_bind(w->mesh, w->spec, false, &w->sharding));
  TSR_TRY(tsr_tiling_from_sharding(w->sharding, 2, &w->tiling));

  tsr_text_add(&w->text, "short   ");
  TSR_TRY(tsr_spec_print(w->spec, TSR_FORM_SHORT, &w->text));
  tsr_text_add(&w->text, "\njax     ");
  TSR_TRY(tsr_spec_print(w->spec, TSR_FORM_JAX, &w->text));
  tsr_text_add(&w->text, "\nshardy  ");
  TSR_TRY(tsr_spec_print(w->spec, TSR_FORM_SHARDY, &w->text));
  tsr_text_add(&w->text, "\nxla     ");
  tsr_tiling_print(w->tiling, &w->text);
  tsr_text_add(&w->text, "\n");
  return NULL;
}

static tsr_status mend(world *w) {
  // Four shards of the second dimension do not divide 10.
  TSR_TRY(tsr_spec_correct(w->spec, w->mesh, TSR_SHAPE(8, 10), NULL, &w->fitting, &w->changes));
  tsr_text_add(&w->text, "\nfor (8, 10): ");
  TSR_TRY(tsr_spec_print(w->fitting, TSR_FORM_JAX, &w->text));
  tsr_text_add(&w->text, "\n");
  tsr_changes_print(&w->changes, &w->text);
  return tsr_text_check(&w->text);
}

int main(void) {
  world w = {0};
  tsr_status status = translate(&w);
  if (!status) status = mend(&w);
  if (!status) fputs(tsr_text_string(&w.text), stdout);
  tsr_text_deinit(&w.text);
  tsr_changes_deinit(&w.changes);
  tsr_tiling_release(w.tiling);
  tsr_sharding_release(w.sharding);
  tsr_spec_release(w.fitting);
  tsr_spec_release(w.spec);
  tsr_mesh_release(w.mesh);
  if (!status) return 0;
  fprintf(stderr, "%s\n", tsr_status_text(status));
  tsr_status_free(status);
  return 1;
}
