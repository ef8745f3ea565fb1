// The names of one tensor's dimensions: copies, JSON, specs, and axes that come and go.
#include <string.h>

#include "json/json.h"
#include "rules/entries.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/flax_rules.h"

static void names_round_trip_through_json(void **state) {
  (void)state;
  static const char *const cases[] = {
      "[]",           "[null]",      "['a']", "['a',null,'b']", "[[],['x'],['x','y']]",
      "[['x',null]]", "[[null]]",    "['']",  "['a','a']",      "[{'unconstrained':true}]",
      "['_','None']", "['\\u00e9']",
  };
  for (size_t i = 0; i + 1 < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i]);
    assert_names(&names, cases[i]);
  }
  tsr_logical_names names = names_of("['a',{'unconstrained':false}]");
  assert_names(&names, "['a',null]");
}

static void names_are_copied(void **state) {
  (void)state;
  char name[] = "embed";
  const char *list[] = {name, NULL, ""};
  tsr_logical_names names, copy;
  assert_ok(tsr_logical_names_of(list, 3, &names));
  strcpy(name, "other");
  assert_ok(tsr_logical_names_init(&copy, names.items, names.count));
  assert_names(&names, "['embed',null,null]");
  assert_names(&copy, "['embed',null,null]");
  assert_ok(tsr_logical_names_of(NULL, 0, &names));
  assert_names(&names, "[]");
}

static void lists_are_checked(void **state) {
  (void)state;
  static tsr_logical_entry many[4097];
  const tsr_logical_entry broken = {TSR_ENTRY_GROUP, -1, NULL};
  tsr_logical_names names = {0};
  assert_ok(tsr_logical_names_init(&names, many, 4096));
  tsr_logical_names_deinit(&names);
  assert_fails(tsr_logical_names_init(&names, many, 4097), TOO_LARGE,
               "a list of 4097 entries, wanted at most 4096");
  assert_fails(tsr_logical_names_init(&names, NULL, 1), BAD_ARGUMENT, "a list of 1 entries");
  assert_fails(tsr_logical_names_init(&names, &broken, 1), BAD_ARGUMENT,
               "entry 0: an entry of -1 names");
  assert_fails(tsr_logical_names_of(NULL, 1, &names), BAD_ARGUMENT, "a list of 1 names");
  json_text text = json_of("['a',3]");
  assert_fails(tsr_logical_names_from_json(tsr_json_root(text.doc), &names), JSON_KIND,
               "entry 1: axis: wanted a string, found 3");
  assert_fails(tsr_logical_names_from_json(NULL, &names), JSON_KIND,
               "names: wanted an array, found nothing");
  json_free(&text);
}

// ---- text ----

static void names_round_trip_through_text(void **state) {
  (void)state;
  static const struct {
    const char *text, *json, *printed;  // NULL = as it was
  } cases[] = {
      {"batch, _, embed", "['batch',null,'embed']", NULL},
      {" batch ,None,  embed , ", "['batch',null,'embed']", "batch, _, embed"},
      {"data+model, ?, (x), ()", "[['data','model'],{'unconstrained':true},['x'],[]]", NULL},
      {"()", "[]", NULL},
      {"(),", "[[]]", NULL},
      {"_", "[null]", NULL},
      {"a, a", "['a','a']", NULL},
      {"\"a b\", \"_\"", "['a b','_']", NULL},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = {0};
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_logical_names_parse(cases[i].text, &names));
    tsr_logical_names_print(&names, &text);
    assert_string_equal(tsr_text_string(&text),
                        cases[i].printed ? cases[i].printed : cases[i].text);
    assert_names(&names, cases[i].json);
    tsr_text_deinit(&text);
  }
}

static void texts_that_are_no_names_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "an empty text; no names are written ()"},
      {"a, , b", "a mesh axis"},
      {"a b", "names: column 3: expected \",\" or the end, found \"b\""},
      {"a, (b", "names: column 6: expected \")\", found the end"},
      {"a, 3", "a mesh axis"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = {.count = 77};
    assert_fails_with(tsr_logical_names_parse(cases[i].text, &names), SYNTAX, cases[i].message);
    assert_int_equal(names.count, 77);
  }
}

static void names_as_text_become_a_spec_as_text(void **state) {
  (void)state;
  tsr_logical_rules *rules = NULL;
  tsr_text spec = TSR_TEXT_EMPTY;
  assert_ok(tsr_logical_rules_parse("batch -> data\nembed -> fsdp+tp\nmlp -> tp\nkv -> _\n", "test",
                                    &rules));
  static const char *const cases[][2] = {{"batch, _, embed", "data, _, fsdp+tp"},
                                         {"mlp, embed", "_, fsdp+tp"},
                                         {"kv, batch", "_, data"},
                                         {"unknown", "_"},
                                         {"()", "()"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text_clear(&spec);
    assert_ok(tsr_logical_to_spec_text(cases[i][0], rules, &spec));
    assert_string_equal(tsr_text_string(&spec), cases[i][1]);
  }
  assert_fails_with(tsr_logical_to_spec_text("batch, batch", rules, &spec), DUPLICATE_LOGICAL_NAME,
                    "names \"batch, batch\": ");
  assert_fails_with(tsr_logical_to_spec_text("batch,,", rules, &spec), SYNTAX,
                    "names \"batch,,\": ");
  assert_string_equal(tsr_text_string(&spec), "()");  // untouched
  tsr_text_deinit(&spec);
  tsr_logical_rules_release(rules);
}

static tsr_status map_text(void *context) {
  tsr_text spec = TSR_TEXT_EMPTY;
  tsr_status status = tsr_logical_to_spec_text("batch, x+y, (z), embed", context, &spec);
  tsr_text_deinit(&spec);
  return status;
}

// ---- specs ----

static void names_become_specs_as_in_jax(void **state) {
  (void)state;
  static const struct {
    const char *names, *spec, *back;
  } cases[] = {
      {"[]", "()", "[]"},
      {"['x',null]", "x, _", "['x',null]"},
      {"[[],['x'],['x','y']]", "_, x, x+y", "[null,'x',['x','y']]"},
      {"[{'unconstrained':true},'']", "?, _", "[{'unconstrained':true},null]"},
      {"[['x',null]]", "x+_", "[['x',null]]"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i].names), back;
    tsr_spec *spec = NULL;
    assert_ok(tsr_logical_names_to_spec(&names, &spec));
    assert_ok(tsr_logical_names_from_spec(spec, &back));
    assert_spec(spec, cases[i].spec);
    assert_names(&back, cases[i].back);
    tsr_logical_names_deinit(&names);
  }
}

static void specs_that_are_no_lists_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *spec, *reason;
  } cases[] = {
      {"x | replicated=y", "sets and mesh names"},
      {"x | mesh=m", "sets and mesh names"},
      {"x@1", "priorities"},
      {"x+?", "dimensions that are cut and open"},
      {"x;y", "nested stages"},
      {"x/cyclic(2)", "cuts other than even ones"},
      {"x:(1)2", "sub-axes"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spec *spec = NULL;
    tsr_logical_names names = {0};
    assert_ok(tsr_spec_parse(cases[i].spec, TSR_FORM_SHORT, &spec));
    assert_fails_with(tsr_logical_names_from_spec(spec, &names), NOT_EXPRESSIBLE, cases[i].reason);
    tsr_spec_release(spec);
  }
}

// ---- axes that come and go ----

static void axes_are_added_as_python_inserts(void **state) {
  (void)state;
  static const struct {
    const char *names;
    int64_t index;
    const char *name, *wanted;
  } cases[] = {
      {"[]", 0, "l", "['l']"},
      {"['a','b']", 0, "l", "['l','a','b']"},
      {"['a','b']", 1, "l", "['a','l','b']"},
      {"['a','b']", 2, "l", "['a','b','l']"},
      {"['a','b']", 4, "l", "['a','b',null,null,'l']"},
      {"['a','b']", -1, "l", "['a','l','b']"},
      {"['a','b']", -2, "l", "['l','a','b']"},
      {"['a','b']", -9, "l", "['l','a','b']"},
      {"['a']", INT64_MIN, NULL, "[null,'a']"},
      {"[]", 2, NULL, "[null,null,null]"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i].names), more;
    assert_ok(tsr_logical_add_axis(&names, cases[i].index, cases[i].name, &more));
    assert_names(&more, cases[i].wanted);
    tsr_logical_names_deinit(&names);
  }
  tsr_logical_names none = {0}, more;
  assert_fails(tsr_logical_add_axis(&none, INT64_MAX, "a", &more), TOO_LARGE,
               "an axis at position 9223372036854775807, wanted one below 4096");
}

static void removing_wants_the_right_name(void **state) {
  (void)state;
  tsr_logical_names names = names_of("['a',null,['x','y']]"), less = {0};
  assert_ok(tsr_logical_remove_axis(&names, 0, "a", &less));
  assert_names(&less, "[null,['x','y']]");
  assert_ok(tsr_logical_remove_axis(&names, -2, NULL, &less));
  assert_names(&less, "['a',['x','y']]");
  assert_fails(tsr_logical_remove_axis(&names, 0, "b", &less), AXIS_NAME_MISMATCH,
               "axis 0 is called a, not b");
  assert_fails(tsr_logical_remove_axis(&names, -1, "x", &less), AXIS_NAME_MISMATCH,
               "axis -1 is called x+y, not x");
  assert_fails(tsr_logical_remove_axis(&names, 1, "", &less), AXIS_NAME_MISMATCH,
               "axis 1 is called _, not \"\"");
  assert_fails(tsr_logical_remove_axis(&names, 3, "a", &less), INDEX_OUT_OF_RANGE,
               "axis 3 of 3 names");
  assert_fails(tsr_logical_remove_axis(&names, -4, "a", &less), INDEX_OUT_OF_RANGE,
               "axis -4 of 3 names");
  assert_fails(tsr_logical_remove_axis(&names, INT64_MIN, "a", &less), INDEX_OUT_OF_RANGE,
               "axis -9223372036854775808 of 3 names");
  tsr_logical_names_deinit(&names);
}

static void removing_undoes_adding(void **state) {
  (void)state;
  test_random random = {7};
  for (int round = 0; round < 500; round++) {
    static const char *const words[] = {"a", "b", NULL, "c"};
    const char *list[6];
    const int count = (int)test_random_range(&random, 0, 6);
    for (int i = 0; i < count; i++) list[i] = words[test_random_range(&random, 0, 3)];
    tsr_logical_names names, more, less;
    assert_ok(tsr_logical_names_of(list, count, &names));
    const int64_t index = test_random_range(&random, 0, count);
    assert_ok(tsr_logical_add_axis(&names, index, "layers", &more));
    assert_int_equal(more.count, count + 1);
    assert_ok(tsr_logical_remove_axis(&more, index, "layers", &less));
    assert_int_equal(less.count, count);
    for (int i = 0; i < count; i++) {
      assert_int_equal(less.items[i].kind, names.items[i].kind);
      if (names.items[i].kind == TSR_ENTRY_NAME)
        assert_string_equal(less.items[i].names[0], names.items[i].names[0]);
    }
    tsr_logical_names_deinit(&names);
    tsr_logical_names_deinit(&more);
    tsr_logical_names_deinit(&less);
  }
}

// ---- memory ----

static tsr_status make_names(void *context) {
  tsr_logical_names names = {0}, more = {0}, less = {0}, back = {0};
  tsr_spec *spec = NULL;
  tsr_status status =
      tsr_logical_names_from_json(tsr_json_root(((json_text *)context)->doc), &names);
  if (!status) status = tsr_logical_add_axis(&names, 1, "l", &more);
  if (!status) status = tsr_logical_remove_axis(&more, 1, "l", &less);
  if (!status) status = tsr_logical_names_to_spec(&less, &spec);
  if (!status) status = tsr_logical_names_from_spec(spec, &back);
  tsr_logical_names_deinit(&names);
  tsr_logical_names_deinit(&more);
  tsr_logical_names_deinit(&less);
  tsr_logical_names_deinit(&back);
  tsr_spec_release(spec);
  return status;
}

static tsr_status make_of(void *context) {
  tsr_logical_names names = {0};
  tsr_status status = tsr_logical_names_of(context, 2, &names);
  tsr_logical_names_deinit(&names);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  json_text text = json_of("['a',null,['x','y'],{'unconstrained':true}]");
  test_allocation_sweep(make_names, &text);
  test_allocation_sweep(make_of, (const char *[]){"a", "b"});
  tsr_logical_rules *rules = NULL;
  assert_ok(tsr_logical_rules_parse("batch -> data\n", "test", &rules));
  test_allocation_sweep(map_text, rules);
  tsr_logical_rules_release(rules);
  json_free(&text);
}

SUITE(logical_names, TEST(names_round_trip_through_json), TEST(names_are_copied),
      TEST(lists_are_checked), TEST(names_round_trip_through_text),
      TEST(texts_that_are_no_names_are_refused), TEST(names_as_text_become_a_spec_as_text),
      TEST(names_become_specs_as_in_jax), TEST(specs_that_are_no_lists_are_refused),
      TEST(axes_are_added_as_python_inserts), TEST(removing_wants_the_right_name),
      TEST(removing_undoes_adding), TEST(running_out_of_memory_is_a_status))
