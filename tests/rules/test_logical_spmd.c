// flax.core.spmd's mapping, beside linen's, and what it does to a value on a mesh.
#include "base/scope.h"
#include "rules/entries.h"
#include "support/test.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

static void the_last_rule_wins_and_nothing_is_checked(void **state) {
  (void)state;
  static const struct {
    const char *names, *rules, *wanted;
  } cases[] = {
      {"[]", "[['a','x']]", "[]"},
      {"['a','b']", "[]", "['a','b']"},
      {"['a']", "[['a','x'],['a','y']]", "['y']"},
      {"['a','a','b']", "[['a','x'],['b','x']]", "['x','x','x']"},
      {"['a',['a','b'],null,{'unconstrained':true}]", "[['a',['x']]]",
       "[['x'],['a','b'],null,{'unconstrained':true}]"},
      {"['a']", "[['a',null]]", "[null]"},
      {"['']", "[['','x']]", "['']"},  // an empty name is none
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i].names), mapped;
    tsr_logical_rules *rules = rules_of(cases[i].rules);
    assert_ok(tsr_logical_from_sharding_rules(&names, rules, &mapped));
    assert_names(&mapped, cases[i].wanted);
    tsr_logical_names_deinit(&names);
    tsr_logical_rules_release(rules);
  }
}

static void the_two_mappings_differ(void **state) {
  (void)state;
  static const struct {
    const char *names, *rules, *linen, *core;
  } cases[] = {
      {"['embed']", "[['embed','model'],['embed','data']]", "model", "data"},
      {"['mlp','heads']", "[['mlp','model'],['heads','model']]", "model, _", "model, model"},
      {"['free']", "[['a','x']]", "_", "free"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i].names);
    tsr_logical_rules *rules = rules_of(cases[i].rules);
    tsr_spec *linen = NULL, *core = NULL;
    assert_ok(tsr_logical_to_mesh_axes(&names, rules, &linen, NULL));
    assert_ok(tsr_logical_get_pspec(&names, rules, &core));
    assert_spec(linen, cases[i].linen);
    assert_spec(core, cases[i].core);
    tsr_logical_names_deinit(&names);
    tsr_logical_rules_release(rules);
  }
}

static void rules_in_scope_join_those_given(void **state) {
  (void)state;
  tsr_logical_rules *scope_rules = rules_of("[['a','x'],['a','y']]"),
                    *more = rules_of("[['b','z']]"), *other = rules_of("[['a','q']]");
  tsr_logical_names names = names_of("['a','b','c']");
  tsr_spec *spec = NULL;
  tsr_scope scope;
  assert_ok(tsr_logical_get_pspec(&names, NULL, &spec));
  assert_spec(spec, "a, b, c");
  assert_ok(tsr_logical_enter(scope_rules, &scope));
  assert_ok(tsr_logical_get_pspec(&names, NULL, &spec));
  assert_spec(spec, "y, b, c");
  assert_ok(tsr_logical_get_pspec(&names, more, &spec));
  assert_spec(spec, "y, z, c");
  assert_fails(tsr_logical_get_pspec(&names, other, &spec), CONFLICTING_RULES,
               "logical axis \"a\" is mapped to y and to q");
  tsr_scope_leave(scope);
  tsr_logical_names_deinit(&names);
  tsr_logical_rules_release(scope_rules);
  tsr_logical_rules_release(more);
  tsr_logical_rules_release(other);
}

// ---- values on a mesh ----

static const struct {
  const char *names, *mesh;
  tsr_cause cause;
  const char *wanted;  // the spec, or the message
  tsr_shard_action action;
} values[] = {
    {"[]", NULL, TSR_CAUSE_NONE, "none", TSR_SHARD_NOTHING},
    {"['a']", "x=2,y=2", TSR_CAUSE_NONE, "x", TSR_SHARD_CONSTRAIN},
    {"['a',null]", "x=2:explicit,y=2:explicit", TSR_CAUSE_NONE, "x, _", TSR_SHARD_RESHARD},
    {"['a']", NULL, TSR_CAUSE_NO_MESH_ACTIVE, "no mesh is active; enter one with tsr_mesh_enter",
     TSR_SHARD_NOTHING},
    {"['a']", "x=2,y=2:explicit", TSR_CAUSE_MIXED_AXIS_TYPES,
     "of the mesh's axes 1 are auto, 1 explicit and 0 manual, wanted all explicit or all auto",
     TSR_SHARD_NOTHING},
    {"['a']", "x=2,y=2:manual", TSR_CAUSE_MIXED_AXIS_TYPES,
     "of the mesh's axes 1 are auto, 0 explicit and 1 manual, wanted all explicit or all auto",
     TSR_SHARD_NOTHING},
    {"['a']", "x=2:manual,y=2:manual", TSR_CAUSE_MIXED_AXIS_TYPES,
     "all axes of the mesh are manual, wanted all explicit or all auto", TSR_SHARD_NOTHING},
    // The spec is looked at before the types.
    {"['q']", "x=2,y=2:explicit", TSR_CAUSE_UNKNOWN_MESH_AXIS,
     "dimension 0: axis \"q\" is not in mesh {x=2, y=2:explicit}", TSR_SHARD_NOTHING},
    {"['a','x']", "x=2,y=2", TSR_CAUSE_DUPLICATE_MESH_AXIS,
     "axis \"x\" is used twice: in dimension 0 and in 1", TSR_SHARD_NOTHING},
    {"[{'unconstrained':true}]", "x=2:explicit", TSR_CAUSE_UNCONSTRAINED_NEEDS_AUTO_AXIS, NULL,
     TSR_SHARD_NOTHING},
};

static void values_are_placed_by_the_types_of_axes(void **state) {
  (void)state;
  tsr_logical_rules *rules = rules_of("[['a','x']]");
  for (size_t i = 0; i < COUNT_OF(values); i++) {
    tsr_logical_names names = names_of(values[i].names);
    tsr_mesh *mesh = NULL;
    tsr_sharding *sharding = NULL;
    tsr_shard_action action = TSR_SHARD_NOTHING;
    if (values[i].mesh) assert_ok(tsr_mesh_parse(values[i].mesh, NULL, &mesh));
    tsr_status status = tsr_logical_shard_value(&names, rules, mesh, &action, &sharding);
    assert_int_equal(tsr_status_cause(status), values[i].cause);
    if (status && values[i].wanted) assert_message(status, values[i].wanted);
    if (!status)
      assert_spec(sharding ? tsr_spec_retain(tsr_sharding_spec(sharding)) : NULL, values[i].wanted);
    assert_int_equal(action, values[i].action);
    tsr_status_free(status);
    tsr_sharding_release(sharding);
    tsr_mesh_release(mesh);
    tsr_logical_names_deinit(&names);
  }
  tsr_logical_rules_release(rules);
}

static void the_current_mesh_serves_and_one_without_axes_does_not(void **state) {
  (void)state;
  const tsr_logical_entry entries[] = {TSR_LOGICAL_NAME("x"), TSR_LOGICAL_NONE};
  tsr_mesh *mesh = NULL, *empty = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shard_action action = TSR_SHARD_NOTHING;
  tsr_scope scope;
  assert_ok(tsr_mesh_parse("x=2", NULL, &mesh));
  assert_ok(tsr_mesh_create(&(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc)}, &empty));
  assert_ok(tsr_mesh_enter(mesh, &scope));
  assert_ok(tsr_logical_shard_value(&(tsr_logical_names){1, entries, NULL}, NULL, NULL, &action,
                                    &sharding));
  assert_int_equal(action, TSR_SHARD_CONSTRAIN);
  tsr_sharding_release(sharding);
  tsr_scope_leave(scope);
  assert_fails(tsr_logical_shard_value(&(tsr_logical_names){1, &entries[1], NULL}, NULL, empty,
                                       &action, &sharding),
               MIXED_AXIS_TYPES, "the mesh has no axes, wanted some, all explicit or auto");
  assert_ok(tsr_logical_shard_value(NULL, NULL, NULL, &action, &sharding));
  assert_null(sharding);
  tsr_mesh_release(mesh);
  tsr_mesh_release(empty);
}

// ---- memory ----

typedef struct sweep {
  tsr_logical_names names;
  tsr_logical_rules *rules;
  tsr_mesh *mesh;
} sweep;

static tsr_status map_all(void *context) {
  sweep *in = context;
  tsr_logical_names mapped = {0};
  tsr_sharding *sharding = NULL;
  tsr_shard_action action;
  tsr_scope scope;
  const tsr_scope mark = tsr_scope_mark();
  tsr_status status = tsr_logical_enter(in->rules, &scope);
  if (!status) status = tsr_logical_from_sharding_rules(&in->names, in->rules, &mapped);
  if (!status)
    status = tsr_logical_shard_value(&in->names, in->rules, in->mesh, &action, &sharding);
  tsr_scope_leave(mark);
  tsr_logical_names_deinit(&mapped);
  tsr_sharding_release(sharding);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  sweep in = {.names = names_of("['a',null]"), .rules = rules_of("[['a',['x','y']]]")};
  assert_ok(tsr_mesh_parse("x=2,y=2", NULL, &in.mesh));
  test_allocation_sweep(map_all, &in);
  tsr_mesh_release(in.mesh);
  tsr_logical_names_deinit(&in.names);
  tsr_logical_rules_release(in.rules);
}

SUITE(logical_spmd, TEST(the_last_rule_wins_and_nothing_is_checked), TEST(the_two_mappings_differ),
      TEST(rules_in_scope_join_those_given), TEST(values_are_placed_by_the_types_of_axes),
      TEST(the_current_mesh_serves_and_one_without_axes_does_not),
      TEST(running_out_of_memory_is_a_status))
