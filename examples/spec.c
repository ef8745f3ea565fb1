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

static void print_line(world *w, const char *title) {
  printf("%-8s%s\n", title, tsr_text_string(&w->text));
  tsr_text_clear(&w->text);
}

static tsr_status print_form(world *w, const char *title, tsr_spec_form form) {
  TSR_TRY(tsr_spec_print(w->spec, form, &w->text));
  print_line(w, title);
  return NULL;
}

static tsr_status translate(world *w) {
  TSR_TRY(tsr_mesh_parse("data=2,fsdp=2,tp=2", NULL, &w->mesh));
  TSR_TRY(tsr_spec_parse("P('data', ('fsdp', 'tp'))", TSR_FORM_JAX, &w->spec));
  TSR_TRY(tsr_sharding_bind(w->mesh, w->spec, false, &w->sharding));
  TSR_TRY(tsr_tiling_from_sharding(w->sharding, 2, &w->tiling));

  TSR_TRY(print_form(w, "short", TSR_FORM_SHORT));
  TSR_TRY(print_form(w, "jax", TSR_FORM_JAX));
  TSR_TRY(print_form(w, "shardy", TSR_FORM_SHARDY));
  tsr_tiling_print(w->tiling, &w->text);
  print_line(w, "xla");
  return NULL;
}

static tsr_status mend(world *w) {
  // Four shards of the second dimension do not divide 10.
  TSR_TRY(tsr_spec_correct(w->spec, w->mesh, TSR_SHAPE(8, 10), NULL, &w->fitting, &w->changes));
  TSR_TRY(tsr_spec_print(w->fitting, TSR_FORM_JAX, &w->text));
  printf("\n");
  print_line(w, "for (8, 10): ");
  tsr_changes_print(&w->changes, &w->text);
  printf("%s", tsr_text_string(&w->text));
  return NULL;
}

int main(void) {
  world w = {0};
  tsr_status status = translate(&w);
  if (!status) status = mend(&w);
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
