// What a failure carries: a message for people, a cause and a code for programs, and the notes that
// callers added on its way up.
#include <stdio.h>
#include <tessera/tessera.h>

static tsr_status load_mesh(const char *text) {
  TSR_OWN(mesh, mesh);
  TSR_TRY_NOTE(tsr_mesh_parse(text, NULL, &mesh), "the mesh of the job");
  TSR_OWN(layout, layout);
  return tsr_layout_from_text(mesh, "data, model", TSR_SHAPE(6, 16), &layout);
}

static void report(tsr_status status) {
  printf("%s\n  cause %s, code %d\n", tsr_status_text(status),
         tsr_cause_slug(tsr_status_cause(status)), (int)tsr_status_code(status));
  if (tsr_status_cause(status) == TSR_CAUSE_INDIVISIBLE) printf("  (a policy could help)\n");
  tsr_status_free(status);
}

int main(void) {
  report(load_mesh("data=4,model="));
  report(load_mesh("data=4,modle=2"));
  report(load_mesh("data=4,model=2"));
  report(tsr_fail(BAD_ARGUMENT, "a program's own failure, about \"%s\"", "something"));
  return tsr_status_exit(load_mesh("data=2,model=2"));
}
