// A mesh and logical rules that are in force for a while: functions that are given none take those
// of the scope, on this thread and until it is left.
#include <stdio.h>
#include <tessera/compat/flax_rules.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/compat/scope.h>
#include <tessera/tessera.h>

// Deep inside a program, where no mesh is at hand.
static tsr_status show(const char *when) {
  const tsr_logical_entry names[] = {TSR_LOGICAL_NAME("batch"), TSR_LOGICAL_NAME("embed")};
  const tsr_logical_names of = {2, names, NULL};
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  TSR_TRY(tsr_logical_to_mesh_axes(&of, NULL, &spec, NULL));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  const tsr_mesh *mesh = tsr_mesh_current();
  printf("%-7s %s%s\n", when, tsr_text_string(&text), mesh ? "" : " (no mesh)");
  return NULL;
}

static tsr_status run(void) {
  tsr_scope outer, inner;
  TSR_OWN(mesh, mesh);
  TSR_OWN(logical_rules, rules);
  TSR_OWN(logical_rules, other);
  TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
  TSR_TRY(tsr_logical_rules_parse("batch -> data\nembed -> model\n", "example", &rules));
  TSR_TRY(tsr_logical_rules_parse("batch -> data+model\n", "example", &other));
  TSR_TRY(show("before"));
  TSR_TRY(tsr_mesh_enter(mesh, &outer));
  tsr_status status = tsr_logical_enter(rules, &inner);
  if (!status) status = show("outer");
  if (!status) status = tsr_logical_enter(other, &inner);
  if (!status) status = show("inner");
  tsr_scope_leave(outer);  // and with it all that were entered since
  TSR_TRY(status);
  return show("after");
}

int main(void) { return tsr_status_exit(run()); }
