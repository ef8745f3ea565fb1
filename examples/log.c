// What the library has to say goes to the program's own log, not to stderr: here the corrections of
// specs, which the variable LOG_SHARDING_MOVE asks for.
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

// One line at a time, from the thread that has something to say.
static void take(void *context, const char *line) {
  printf("line %d: %s\n", ++*(int *)context, line);
}

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, spec);
  TSR_OWN(spec, fitting);
  TSR_TRY(tsr_mesh_parse("data=2,model=4", NULL, &mesh));
  TSR_TRY(tsr_spec_parse("data, model, pipe", TSR_FORM_ANY, &spec));
  return tsr_spec_correct(spec, mesh, TSR_SHAPE(8, 10, 4), NULL, &fitting, NULL);
}

int main(void) {
  int lines = 0;
  tsr_log_set(take, &lines);
  tsr_status status = run();
  tsr_log_set(NULL, NULL);  // `lines` is about to go
  return tsr_status_exit(status);
}
