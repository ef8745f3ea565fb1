// linen's mapping: order of rules, axes that are taken, reasons, fallbacks, and the rules in scope.
#include <string.h>

#include "base/scope.h"
#include "rules/entries.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

static tsr_spec *map(const char *names, const char *rules) {
  tsr_logical_names list = names_of(names);
  tsr_logical_rules *made = rules_of(rules);
  tsr_spec *spec = NULL;
  assert_ok(tsr_logical_to_mesh_axes(&list, made, &spec, NULL));
  tsr_logical_names_deinit(&list);
  tsr_logical_rules_release(made);
  return spec;
}

static void the_first_rule_that_fits_wins(void **state) {
  (void)state;
  static const struct {
    const char *names, *rules, *wanted;
  } cases[] = {
      {"[]", "[['a','x']]", "()"},
      {"['a']", "[]", "_"},
      {"['a']", "null", "_"},
      {"['a']", "[['a','x'],['a','y']]", "x"},
      {"['a',null,'b']", "[['b','y'],['a','x']]", "x, _, y"},
      // By the order of the rules, not of the dimensions.
      {"['mlp','embed']", "[['embed','model'],['mlp','model'],['mlp','data']]", "data, model"},
      {"['a','b']", "[['a','x'],['b','x']]", "x, _"},
      {"['a','b']", "[['b','x'],['a','x']]", "_, x"},
      // A group is taken whole or not at all.
      {"['a','b']", "[['a','x'],['b',['x','y']],['b','y']]", "x, y"},
      {"['a','b']", "[['a',['x','y']],['b','y'],['b','z']]", "x+y, z"},
      // Nothing closes a name; so does an empty group. Nothing is never taken.
      {"['a']", "[['a',null],['a','x']]", "_"},
      {"['a']", "[['a',[]],['a','x']]", "_"},
      {"['a','b']", "[['a',null],['b',null]]", "_, _"},
      {"['a','b']", "[['a',['x',null]],['b',['y',null]]]", "x+_, y+_"},
      {"['a','b']", "[['a',{'unconstrained':true}],['b',{'unconstrained':true}]]", "?, ?"},
      // Entries that are no names stay, and their axes are taken.
      {"[['x','y'],'a',{'unconstrained':true}]", "[['a','y'],['a','z']]", "x+y, z, ?"},
      {"[['a'],'b']", "[['a','x'],['b','y']]", "a, y"},
      {"[null,null]", "[['a','x']]", "_, _"},
      // A rule may repeat an axis: that is found when bound.
      {"['a']", "[['a',['x','x']]]", "x+x"},
      {"['a']", "[['a',['x']]]", "x"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_spec(map(cases[i].names, cases[i].rules), cases[i].wanted);
}

static void no_names_have_no_spec(void **state) {
  (void)state;
  tsr_spec *spec = (tsr_spec *)state;
  assert_ok(tsr_logical_to_mesh_axes(NULL, NULL, &spec, NULL));
  assert_null(spec);
}

static void a_name_twice_is_refused(void **state) {
  (void)state;
  tsr_logical_names names = names_of("['a','b',null,null,'b']");
  tsr_logical_rules *rules = rules_of("[['a','x']]");
  tsr_spec *spec = NULL;
  assert_fails(tsr_logical_to_mesh_axes(&names, rules, &spec, NULL), DUPLICATE_LOGICAL_NAME,
               "dimensions 1 and 4 are both called \"b\", wanted a name for each");
  assert_fails(tsr_logical_param_axes("enc/w", &names, rules, &spec, NULL), PARAM_AXES_FAILED,
               "parameter \"enc/w\": dimensions 1 and 4 are both called \"b\", wanted a name for "
               "each");
  assert_null(spec);
  tsr_logical_names_deinit(&names);
  tsr_logical_rules_release(rules);
}

static void parameters_are_mapped_by_path(void **state) {
  (void)state;
  const tsr_logical_entry a = TSR_LOGICAL_NAME("a");
  tsr_logical_rules *rules = rules_of("[['a','x']]");
  tsr_spec *spec = NULL;
  assert_ok(tsr_logical_param_axes("p", &(tsr_logical_names){1, &a, NULL}, rules, &spec, NULL));
  assert_spec(spec, "x");
  assert_ok(tsr_logical_param_axes("p", NULL, rules, &spec, NULL));
  assert_null(spec);
  tsr_logical_rules_release(rules);
}

static void reasons_name_rules_and_takers(void **state) {
  (void)state;
  tsr_logical_names names = names_of("['a','b','c',null]");
  tsr_logical_rules *rules = rules_of("[['a','x'],['b','x'],['b',['z','x']],['b','y'],['d','z']]");
  tsr_logical_reason reasons[4];
  tsr_spec *spec = NULL;
  assert_ok(tsr_logical_to_mesh_axes(&names, rules, &spec, reasons));
  assert_spec(spec, "x, y, _, _");
  static const tsr_logical_reason wanted[] = {{0, -1, -1}, {3, 1, 0}, {-1, -1, -1}, {-1, -1, -1}};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(reasons[i].rule, wanted[i].rule);
    assert_int_equal(reasons[i].passed, wanted[i].passed);
    assert_int_equal(reasons[i].blocked_by, wanted[i].blocked_by);
  }
  tsr_logical_names_deinit(&names);
  tsr_logical_rules_release(rules);
}

// In a PartitionSpec of logical names a group of one is a name.
static void specs_of_names_are_mapped(void **state) {
  (void)state;
  tsr_logical_rules *rules = rules_of("[['data','x']]");
  tsr_spec *names = NULL, *spec = NULL;
  assert_ok(tsr_spec_parse("P(('data',), ('x', 'y'), None)", TSR_FORM_JAX, &names));
  assert_ok(tsr_logical_to_mesh(names, rules, &spec));
  assert_spec(spec, "_, x+y, _");
  tsr_spec_release(names);
  assert_ok(tsr_spec_parse("x;y", TSR_FORM_SHORT, &names));
  assert_fails_with(tsr_logical_to_mesh(names, rules, &spec), NOT_EXPRESSIBLE, "nested stages");
  tsr_spec_release(names);
  tsr_logical_rules_release(rules);
}

// ---- by another algorithm ----

// The definition, word by word: the set of axes used so far is gathered anew for each rule.
static bool rule_fits(const tsr_logical_entry *found, const bool *settled, int count,
                      const tsr_logical_entry *entry) {
  for (int d = 0; d < count; d++)
    for (int i = 0; settled[d] && i < found[d].count; i++)
      for (int j = 0; j < entry->count; j++)
        if (!strcmp(found[d].names[i], entry->names[j])) return false;
  return true;
}

static void axes_serve_one_dimension_and_no_free_rule_is_left(void **state) {
  (void)state;
  static const char *const words[] = {"a", "b", "c", "d", "e"}, *const axes[] = {"x", "y", "z"};
  test_random random = {11};
  for (int round = 0; round < 2000; round++) {
    tsr_logical_rule list[8];
    const char *pairs[8][2];
    const int rules = (int)test_random_range(&random, 0, 8);
    for (int i = 0; i < rules; i++) {
      for (int j = 0; j < 2; j++) pairs[i][j] = axes[test_random_range(&random, 0, 2)];
      const int64_t size = test_random_range(&random, 0, 2);
      list[i] = (tsr_logical_rule){.name = words[test_random_range(&random, 0, 4)]};
      list[i].entry = (tsr_logical_entry){size ? TSR_ENTRY_GROUP : TSR_ENTRY_NONE, (int)size,
                                          size ? pairs[i] : NULL};
    }
    // Three different names, in a random rotation.
    const char *names[3];
    const int start = (int)test_random_range(&random, 0, 4);
    for (int d = 0; d < 3; d++) names[d] = words[(start + d) % 5];
    tsr_logical_names logical;
    tsr_logical_rules *made = NULL;
    tsr_spec *spec = NULL;
    tsr_logical_reason reasons[3];
    assert_ok(tsr_logical_names_of(names, 3, &logical));
    assert_ok(tsr_logical_rules_create(list, rules, &made));
    assert_ok(tsr_logical_to_mesh_axes(&logical, made, &spec, reasons));
    // The same by the definition.
    tsr_logical_entry found[3] = {{0}};
    bool settled[3] = {false};
    for (int i = 0; i < rules; i++)
      for (int d = 0; d < 3; d++)
        if (!strcmp(list[i].name, names[d]) && !settled[d] &&
            rule_fits(found, settled, 3, &list[i].entry)) {
          found[d] = list[i].entry;
          settled[d] = true;
          assert_int_equal(reasons[d].rule, i);
        }
    tsr_spec *wanted = NULL;
    assert_ok(tsr_logical_names_to_spec(&(tsr_logical_names){3, found, NULL}, &wanted));
    assert_true(tsr_spec_equal(spec, wanted));
    for (int d = 0; d < 3; d++) assert_true(settled[d] == (reasons[d].rule >= 0));
    tsr_spec_release(spec);
    tsr_spec_release(wanted);
    tsr_logical_names_deinit(&logical);
    tsr_logical_rules_release(made);
  }
}

// ---- constraints ----

static void check_constraint(const char *names, const char *rules, const char *mesh_text,
                             tsr_fallback fallback, const char *wanted) {
  tsr_logical_names list = names_of(names);
  tsr_logical_rules *made = rules_of(rules);
  tsr_mesh *mesh = NULL;
  tsr_sharding *sharding = NULL;
  if (mesh_text) assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  tsr_status status = tsr_logical_constrain(&list, made, mesh, fallback, &sharding);
  if (status)
    assert_message(status, wanted);
  else
    assert_spec(sharding ? tsr_spec_retain(tsr_sharding_spec(sharding)) : NULL, wanted);
  tsr_status_free(status);
  tsr_sharding_release(sharding);
  tsr_mesh_release(mesh);
  tsr_logical_names_deinit(&list);
  tsr_logical_rules_release(made);
}

static void constraints_fall_back_in_three_ways(void **state) {
  (void)state;
  const char *mesh = "x=2,y=4", *rules = "[['a','x'],['b','x'],['heads','y']]";
  check_constraint("['a','q']", rules, mesh, TSR_FALLBACK_UNSHARDED, "x, _");
  check_constraint("['a','q']", rules, mesh, TSR_FALLBACK_NO_CONSTRAINT, "none");
  check_constraint("['a','q']", rules, mesh, TSR_FALLBACK_RAISE,
                   "dimension 1: no rule for logical axis \"q\"");
  check_constraint("['head']", rules, mesh, TSR_FALLBACK_RAISE,
                   "dimension 0: no rule for logical axis \"head\"; did you mean \"heads\"?");
  check_constraint("['a','b']", rules, mesh, TSR_FALLBACK_RAISE,
                   "dimension 1: no rule is left for logical axis \"b\": rule 1 maps it to x, "
                   "which dimension 0 has taken");
  check_constraint("['a','b']", rules, mesh, TSR_FALLBACK_NO_CONSTRAINT, "none");
  check_constraint("['a','heads']", rules, mesh, TSR_FALLBACK_RAISE, "x, y");
  check_constraint("[null]", rules, mesh, TSR_FALLBACK_RAISE, "_");
}

static void constraints_need_rules_and_a_mesh(void **state) {
  (void)state;
  tsr_sharding *sharding = NULL;
  tsr_logical_rules *rules = rules_of("[['a','x']]");
  check_constraint("['a','a']", "[]", "x=2", TSR_FALLBACK_RAISE, "none");
  check_constraint("['a']", "[['a','x']]", NULL, TSR_FALLBACK_RAISE, "none");
  // Names are looked at even without a mesh.
  check_constraint("['b']", "[['a','x']]", NULL, TSR_FALLBACK_RAISE,
                   "dimension 0: no rule for logical axis \"b\"");
  check_constraint("['a','a']", "[['a','x']]", NULL, TSR_FALLBACK_UNSHARDED,
                   "dimensions 0 and 1 are both called \"a\", wanted a name for each");
  assert_ok(tsr_logical_constrain(NULL, rules, NULL, TSR_FALLBACK_RAISE, &sharding));
  assert_null(sharding);
  tsr_logical_rules_release(rules);
}

static void constraints_are_bound_to_the_mesh(void **state) {
  (void)state;
  check_constraint("['a']", "[['a','z']]", "x=2", TSR_FALLBACK_RAISE,
                   "dimension 0: axis \"z\" is not in mesh {x=2}");
  check_constraint("['a']", "[['a',['x','x']]]", "x=2", TSR_FALLBACK_RAISE,
                   "axis \"x\" is used twice in dimension 0");
  check_constraint("['a']", "[['a','x']]", "x=2:explicit", TSR_FALLBACK_RAISE,
                   "dimension 0 is constrained to axis \"x\", which is explicit, wanted auto");
  check_constraint("['a']", "[['a','y']]", "x=2:manual,y=2", TSR_FALLBACK_RAISE, "y");
}

// ---- scopes ----

static void rules_in_scope_serve_calls_without(void **state) {
  (void)state;
  tsr_logical_rules *outer = rules_of("[['a','x']]"), *inner = rules_of("[['a','y']]");
  tsr_mesh *mesh = NULL;
  tsr_scope first, second, third, fourth;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  assert_null(tsr_logical_current());
  assert_ok(tsr_logical_enter(outer, &first));
  assert_spec(map("['a']", "null"), "x");
  assert_ok(tsr_logical_enter(inner, &second));
  assert_spec(map("['a']", "null"), "y");
  assert_ok(tsr_logical_set(outer));
  assert_spec(map("['a']", "null"), "x");
  assert_ok(tsr_logical_enter(NULL, &third));
  assert_spec(map("['a']", "null"), "_");
  assert_ok(tsr_mesh_enter(mesh, &fourth));
  tsr_scope_leave(third);
  assert_null(tsr_mesh_current());
  // Leaving the outer scope leaves the inner one, and what was set in it.
  tsr_scope_leave(first);
  assert_null(tsr_logical_current());
  assert_ok(tsr_logical_enter(outer, &first));
  assert_ok(tsr_mesh_enter(mesh, &second));
  const tsr_logical_entry a = TSR_LOGICAL_NAME("a");
  assert_ok(tsr_logical_constrain(&(tsr_logical_names){1, &a, NULL}, NULL, NULL, TSR_FALLBACK_RAISE,
                                  &sharding));
  assert_spec(tsr_spec_retain(tsr_sharding_spec(sharding)), "x");
  tsr_sharding_release(sharding);
  tsr_scope_leave(first);
  tsr_logical_rules_release(outer);
  tsr_logical_rules_release(inner);
  tsr_mesh_release(mesh);
}

static void rules_set_outside_scopes_last(void **state) {
  (void)state;
  tsr_logical_rules *rules = rules_of("[['a','x']]");
  assert_ok(tsr_logical_set(rules));
  tsr_logical_rules_release(rules);
  tsr_scope_leave(tsr_scope_mark());
  assert_spec(map("['a']", "null"), "x");
  assert_ok(tsr_logical_set(NULL));
  assert_null(tsr_logical_current());
}

// ---- memory ----

typedef struct sweep {
  tsr_logical_names names;
  tsr_logical_rules *rules;
  tsr_mesh *mesh;
} sweep;

static tsr_status map_all(void *context) {
  sweep *in = context;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_scope scope;
  const tsr_scope mark = tsr_scope_mark();
  tsr_status status = tsr_logical_enter(in->rules, &scope);
  if (!status) status = tsr_logical_set(in->rules);
  if (!status) status = tsr_logical_param_axes("p", &in->names, NULL, &spec, NULL);
  if (!status)
    status =
        tsr_logical_constrain(&in->names, in->rules, in->mesh, TSR_FALLBACK_UNSHARDED, &sharding);
  tsr_spec *again = NULL;
  if (!status) status = tsr_logical_to_mesh(spec, NULL, &again);
  tsr_scope_leave(mark);
  tsr_spec_release(spec);
  tsr_spec_release(again);
  tsr_sharding_release(sharding);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  sweep in = {.names = names_of("['a','b',null]"), .rules = rules_of("[['b',['x','y']]]")};
  assert_ok(tsr_mesh_parse("x=2,y=2", NULL, &in.mesh));
  test_allocation_sweep(map_all, &in);
  tsr_mesh_release(in.mesh);
  tsr_logical_names_deinit(&in.names);
  tsr_logical_rules_release(in.rules);
}

SUITE(logical_map, TEST(the_first_rule_that_fits_wins), TEST(no_names_have_no_spec),
      TEST(a_name_twice_is_refused), TEST(parameters_are_mapped_by_path),
      TEST(reasons_name_rules_and_takers), TEST(specs_of_names_are_mapped),
      TEST(axes_serve_one_dimension_and_no_free_rule_is_left),
      TEST(constraints_fall_back_in_three_ways), TEST(constraints_need_rules_and_a_mesh),
      TEST(constraints_are_bound_to_the_mesh), TEST(rules_in_scope_serve_calls_without),
      TEST(rules_set_outside_scopes_last), TEST(running_out_of_memory_is_a_status))
