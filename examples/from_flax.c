// flax.core.spmd in C: rules for logical axes set for a while, combined with those of a variable,
// the spec they give, and a value put on the mesh by it.
#include <stdio.h>
#include <tessera/compat/constrain.h>
#include <tessera/compat/flax_rules.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/compat/scope.h>
#include <tessera/tessera.h>

// composite_rules and from_sharding_rules; names without a rule stay as they are.
static tsr_status compose(const tsr_logical_rules *of_variable, const tsr_logical_names *names) {
  TSR_OWN(logical_rules, all);
  TSR_TRY(tsr_logical_compose(tsr_logical_current(), of_variable, &all));
  tsr_logical_names mapped;
  TSR_TRY(tsr_logical_from_sharding_rules(names, all, &mapped));
  printf("mapped:");
  for (int i = 0; i < mapped.count; i++)
    printf(" %s", mapped.items[i].count ? mapped.items[i].names[0] : "None");
  printf("\n");
  tsr_logical_names_deinit(&mapped);
  return NULL;
}

// get_pspec: the rules in scope and those of the variable.
static tsr_status print_pspec(const tsr_logical_rules *of_variable,
                              const tsr_logical_names *names) {
  TSR_OWN(spec, spec);
  TSR_OWN(text, text);
  TSR_TRY(tsr_logical_get_pspec(names, of_variable, &spec));
  TSR_TRY(tsr_spec_print(spec, TSR_FORM_JAX, &text));
  printf("get_pspec: %s\n", tsr_text_string(&text));
  return NULL;
}

// shard_value: constrains on a mesh of Auto axes, reshards on one of Explicit axes.
static tsr_status shard(tsr_comm *comm, const tsr_mesh *mesh, const tsr_logical_rules *of_variable,
                        const tsr_logical_names *names) {
  static const float zeros[8 * 16];
  tsr_shard_action action;
  TSR_OWN(array, value);
  TSR_OWN(array, sharded);
  TSR_OWN(sharding, sharding);
  TSR_OWN(text, text);
  TSR_TRY(tsr_logical_shard_value(names, of_variable, mesh, &action, &sharding));
  TSR_TRY(tsr_array_put(comm, mesh, "()", TSR_SHAPE(8, 16), TSR_F32, zeros, &value));
  TSR_TRY(tsr_array_shard_value(value, names, of_variable, mesh, NULL, &sharded, NULL));
  tsr_array_print(sharded, &text);
  printf("%s: %s\n", action == TSR_SHARD_RESHARD ? "resharded" : "constrained",
         tsr_text_string(&text));
  return NULL;
}

static tsr_status use_rules(tsr_comm *comm, const tsr_mesh *mesh) {
  const tsr_logical_entry entries[] = {TSR_LOGICAL_NAME("batch"), TSR_LOGICAL_NAME("embed")};
  const tsr_logical_names names = {2, entries, NULL};
  TSR_OWN(logical_rules, of_variable);
  TSR_TRY(tsr_logical_rules_parse("embed -> model\n", "variable", &of_variable));
  TSR_TRY(compose(of_variable, &names));
  TSR_TRY(print_pspec(of_variable, &names));
  return shard(comm, mesh, of_variable, &names);
}

static tsr_status run(void) {
  tsr_scope scope;
  TSR_OWN(mesh, mesh);
  TSR_OWN(comm, comm);
  TSR_OWN(logical_rules, rules);
  TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
  TSR_TRY(tsr_comm_create(tsr_mesh_device_count(mesh), NULL, &comm));
  TSR_TRY(tsr_logical_rules_parse("batch -> data\n", "training", &rules));
  TSR_TRY(tsr_logical_enter(rules, &scope));  // with logical_axis_rules(rules):
  tsr_status status = use_rules(comm, mesh);
  tsr_scope_leave(scope);
  printf("rules after it: %s\n", tsr_logical_current() ? "some" : "none");
  return status;
}

int main(void) { return tsr_status_exit(run()); }
