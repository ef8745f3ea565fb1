// The JSON form, and the property that every notation and JSON read back what they wrote.
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "spec/random_specs.h"
#include "spec/spec_internal.h"
#include "support/test.h"
#include "tessera/spec.h"

static tsr_status from_json(const char *text, tsr_spec **out_spec) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_parse(text, strlen(text), &doc));
  tsr_status status = tsr_spec_from_json(tsr_json_root(doc), out_spec);
  tsr_json_destroy(doc);
  return status;
}

static void to_json(const tsr_spec *spec, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_spec_to_json(spec, &writer);
}

static void json_is_a_list_of_entries_or_a_text(void **state) {
  (void)state;
  static const struct {
    const char *json, *shown, *back;
  } cases[] = {
      {"[]", "()", "[]"},
      {"[null]", "_", "[null]"},
      {"[\"x\", null, [\"a\", \"b\"]]", "x, _, a+b", "[\"x\",null,[\"a\",\"b\"]]"},
      {"[{\"unconstrained\": true}, {\"unconstrained\": false}]", "?, _",
       "[{\"unconstrained\":true},null]"},
      {"[[{\"unconstrained\": true}]]", "?", "[{\"unconstrained\":true}]"},
      {"[[\"x\"], [], \"\", [null]]", "x, _, _, _", "[\"x\",null,null,null]"},
      {"[[\"x\", null]]", "x+_", "[[\"x\",null]]"},
      {"\"x;y\"", "x;y", "\"x;y\""},
      {"\"P('x')\"", "x", "[\"x\"]"},
      {"\"x@1\"", "x@1", "\"x@1\""},
      {"\"x+?\"", "x+?", "\"x+?\""},
      {"\"x | reduced=y\"", "x | reduced=y", "\"x | reduced=y\""},
      {"\"x | mesh=m\"", "x | mesh=m", "\"x | mesh=m\""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spec *spec = NULL;
    tsr_text shown = TSR_TEXT_EMPTY, back = TSR_TEXT_EMPTY;
    assert_ok(from_json(cases[i].json, &spec));
    assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &shown));
    assert_string_equal(tsr_text_string(&shown), cases[i].shown);
    to_json(spec, &back);
    assert_string_equal(tsr_text_string(&back), cases[i].back);
    tsr_spec_release(spec);
    tsr_text_deinit(&shown);
    tsr_text_deinit(&back);
  }
}

static void wrong_json_says_what_was_found(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  assert_fails(from_json("{}", &spec), JSON_KIND, "spec: wanted an array of entries, found object");
  assert_fails(tsr_spec_from_json(NULL, &spec), JSON_KIND,
               "spec: wanted an array of entries, found nothing");
  assert_fails_with(from_json("[\"x\", 3]", &spec), JSON_KIND, "entry 1: axis");
  assert_fails_with(from_json("[{}]", &spec), JSON_KIND, "unconstrained");
  assert_fails(from_json("[[\"x\", [\"y\"]]]", &spec), NESTED_TUPLE,
               "entry 0: a group inside a group, wanted an axis");
  assert_fails_with(from_json("[\"a\\u0000b\"]", &spec), SYNTAX, "zero byte");
  assert_fails_with(from_json("\"x,\"", &spec), SYNTAX,
                    "spec: column 3: expected an axis, found the end");
}

// The spec without its mesh's name, which JAX's form leaves out.
static tsr_spec *unnamed(const tsr_spec *spec) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec *copy = NULL;
  desc.mesh_name = NULL;
  assert_ok(tsr_spec_create(&desc, &copy));
  return copy;
}

// Whether the form has words for the spec; if so, reads back what it prints.
static bool reads_back(const tsr_spec *spec, tsr_spec_form form) {
  tsr_text text = TSR_TEXT_EMPTY, again = TSR_TEXT_EMPTY;
  tsr_status status = tsr_spec_print(spec, form, &text);
  const tsr_cause cause = tsr_status_cause(status);
  tsr_status_free(status);
  if (cause == TSR_CAUSE_NONE) {
    tsr_spec *back = NULL;
    tsr_spec *wanted = form == TSR_FORM_JAX ? unnamed(spec) : tsr_spec_retain(spec);
    assert_ok(tsr_spec_parse(tsr_text_string(&text), TSR_FORM_ANY, &back));
    assert_true(tsr_spec_equal(back, wanted));
    assert_true(tsr_spec_hash(back) == tsr_spec_hash(wanted));
    assert_ok(tsr_spec_print(back, form, &again));
    assert_string_equal(tsr_text_string(&text), tsr_text_string(&again));
    tsr_spec_release(back);
    tsr_spec_release(wanted);
  } else {
    assert_int_equal(cause, TSR_CAUSE_NOT_EXPRESSIBLE);
    assert_int_not_equal(form, TSR_FORM_SHORT);
  }
  tsr_text_deinit(&text);
  tsr_text_deinit(&again);
  return cause == TSR_CAUSE_NONE;
}

static void json_reads_back(const tsr_spec *spec) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_spec *back = NULL;
  to_json(spec, &text);
  assert_ok(from_json(tsr_text_string(&text), &back));
  assert_true(tsr_spec_equal(back, spec));
  tsr_spec_release(back);
  tsr_text_deinit(&text);
}

static void every_form_reads_back_what_it_wrote(void **state) {
  (void)state;
  test_random random = {20};
  int expressible[TSR_FORM_SHARDY + 1] = {0};
  for (int i = 0; i < 10000; i++) {
    tsr_spec *spec = test_random_spec(&random);
    for (int form = TSR_FORM_ANY; form <= TSR_FORM_SHARDY; form++)
      expressible[form] += reads_back(spec, (tsr_spec_form)form);
    json_reads_back(spec);
    tsr_spec_release(spec);
  }
  // Each form must have had its share, or the property says nothing.
  assert_int_equal(expressible[TSR_FORM_SHORT], 10000);
  assert_true(expressible[TSR_FORM_JAX] > 1000);
  assert_true(expressible[TSR_FORM_SHARDY] > 1000);
}

static tsr_status read_json(void *context) {
  (void)context;
  tsr_spec *spec = NULL;
  TSR_TRY(from_json("[\"x\", [\"y\", \"z\"]]", &spec));
  tsr_spec_release(spec);
  spec = NULL;
  TSR_TRY(from_json("\"x;y\"", &spec));
  tsr_text text = TSR_TEXT_EMPTY;
  to_json(spec, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  tsr_spec_release(spec);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(read_json, NULL);
}

SUITE(spec_json, TEST(json_is_a_list_of_entries_or_a_text), TEST(wrong_json_says_what_was_found),
      TEST(every_form_reads_back_what_it_wrote), TEST(running_out_of_memory_is_reported))
