// The three notations: what each reads, how it prints, what it refuses and how it says so.
#include <string.h>

#include "spec/spec_internal.h"
#include "support/test.h"
#include "tessera/spec.h"

static tsr_status convert(const char *text, tsr_spec_form from, tsr_spec_form to, tsr_text *out) {
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_parse(text, from, &spec));
  tsr_status status = tsr_spec_print(spec, to, out);
  tsr_spec_release(spec);
  return status;
}

static void assert_converts(const char *text, tsr_spec_form from, tsr_spec_form to,
                            const char *wanted) {
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(convert(text, from, to, &out));
  assert_string_equal(tsr_text_string(&out), wanted);
  tsr_text_deinit(&out);
}

static void short_texts_print_as_written(void **state) {
  (void)state;
  static const char *const texts[] = {
      "()",
      "_",
      "data, _, fsdp+tp",
      "?",
      "x+?",
      "x:(2)4",
      "x@1, ?@0, _@7",
      "dp;tp",
      "dp;tp+?@3",
      "dp/sizes(3,3,2)",
      "tp/cyclic(64);dp",
      "tp/parts(q:4096/128, k:512/128*2, v:512/128*2)",
      "tp/parts(8, 4*2, \"a b\":3/3)",
      "tp/cyclic(9223372036854775807)+?",
      "x+_",
      "_ | unreduced=x+y reduced=z replicated=w:(1)2",
      "() | unreduced=max(x) mesh=other",
      "_ | unreduced=max",
      "\"my axis\"+\"_\"+\"None\"+\"1\"",
      "\"a\\\"b\\\\c\\nd\\te\\rf\\x01\\x7f\"",
      "\"\xC3\xA9\" | mesh=\"a mesh\"",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    assert_converts(texts[i], TSR_FORM_ANY, TSR_FORM_SHORT, texts[i]);
}

static void white_space_and_synonyms_are_free(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } cases[] = {
      {" x \t,\n None ,y + z ; w / cyclic ( 4 ) + ? @ 1 | reduced = a + b ",
       "x, _, y+z;w/cyclic(4)+?@1 | reduced=a+b"},
      {"(  )", "()"},
      {"\"x\"", "x"},
      {"x | mesh=mesh", "x"},
      {"x | unreduced=sum(y)", "x | unreduced=y"},
      {"x|mesh=m unreduced=y", "x | unreduced=y mesh=m"},
      {"tp/parts(a:4/1*1)", "tp/parts(a:4)"},
      {"\"\\x78\"", "x"},
      {"\xC3\xA9+my-axis.1/cyclic(2)", "\"\xC3\xA9\"+\"my-axis.1\"/cyclic(2)"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_converts(cases[i].text, TSR_FORM_ANY, TSR_FORM_SHORT, cases[i].wanted);
}

static void jax_texts_print_as_python_does(void **state) {
  (void)state;
  static const char *const texts[] = {
      "P()",
      "P(None,)",
      "P('x',)",
      "P('x', None, ('a', 'b'))",
      "P(UNCONSTRAINED, 'x')",
      "P(('x', None), (None, None))",
      "P('x', unreduced={'y', 'z'})",
      "P(unreduced={'y'}, reduced={'z'})",
      "P(None, reduced={'a', 'b', 'c'})",
      "P(\"a'b\", 'a\"b', 'a\\'\"b', 'a\\\\b', '\\n\\t\\r\\x01\\x7f\xC3\xA9\\u200b\\U000e0001')",
      "P('\\xa0\\xad',)",
      "P('\xF0\x9F\x99\x82',)",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    assert_converts(texts[i], TSR_FORM_ANY, TSR_FORM_JAX, texts[i]);
}

static void jax_texts_are_read_as_people_write_them(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } cases[] = {
      {"PartitionSpec('x', (\"a\", 'b'), )", "P('x', ('a', 'b'))"},
      {"jax.sharding.PartitionSpec ( ['a','b'] )", "P(('a', 'b'),)"},
      {"jax.P(P.UNCONSTRAINED, PartitionSpec.UNCONSTRAINED,UNCONSTRAINED)",
       "P(UNCONSTRAINED, UNCONSTRAINED, UNCONSTRAINED)"},
      {"P((UNCONSTRAINED,), [P.UNCONSTRAINED])", "P(UNCONSTRAINED, UNCONSTRAINED)"},
      {"P('x', unreduced=frozenset({'y'}), reduced=set())", "P('x', unreduced={'y'})"},
      {"P('x', reduced={'z',}, unreduced={\"y\"},)", "P('x', unreduced={'y'}, reduced={'z'})"},
      {"P(unreduced=set({}))", "P()"},
      {"P('\\x41\\u00e9\\U0001f642\\a\\b\\f\\v\\'')",
       "P(\"A\xC3\xA9\xF0\x9F\x99\x82\\x07\\x08\\x0c\\x0b'\",)"},
      {"P(('x',), (), [])", "P('x', None, None)"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_converts(cases[i].text, TSR_FORM_ANY, TSR_FORM_JAX, cases[i].wanted);
}

static void shardy_texts_print_as_mlir_does(void **state) {
  (void)state;
  static const char *const texts[] = {
      "#sdy.sharding<@mesh, []>",
      "#sdy.sharding<@mesh, [{}, {?}, {\"x\"}, {\"x\", ?}]>",
      ("#sdy.sharding<@mesh, [{\"x\", ?}, {}p1, {\"y\":(1)2}], replicated={\"z\"}, "
       "unreduced={\"w\"}>"),
      "#sdy.sharding<@mesh, [{\"x\":(2)4, \"y\"}p0, {?}p12], unreduced=max{\"a\":(2)2, \"b\"}>",
      "#sdy.sharding<@\"my mesh\", []>",
      "#sdy.sharding<@a.b$c_1, []>",
      "#sdy.sharding<@\"1a\", []>",
      "#sdy.sharding<@\"my-mesh\", []>",
      "#sdy.sharding<@mesh, [{\"a\\22b\\\\c\\0A\\09\\C3\\A9\"}]>",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    assert_converts(texts[i], TSR_FORM_ANY, TSR_FORM_SHARDY, texts[i]);
}

static void shardy_texts_are_read_in_every_form(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } cases[] = {
      {"<@m,[{\"x\",?}p2]>", "x+?@2 | mesh=m"},
      {" < @mesh , [ { \"a\\\"b\\n\\t\" } p1 ], unreduced = min { \"z\" }, replicated={\"y\"} > ",
       "\"a\\\"b\\n\\t\"@1 | unreduced=min(z) replicated=y"},
      {"#sdy.sharding<@\"mesh\", [{\"x\", \"x\"}], replicated={\"y\", \"y\"}>",
       "x+x | replicated=y"},
      {"<@mesh, [], unreduced=sum{\"x\"}>", "() | unreduced=x"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_converts(cases[i].text, TSR_FORM_ANY, TSR_FORM_SHORT, cases[i].wanted);
}

static void notations_translate_where_both_have_words(void **state) {
  (void)state;
  static const struct {
    const char *shown, *jax, *shardy;
  } cases[] = {
      {"data, _, fsdp+tp", "P('data', None, ('fsdp', 'tp'))",
       "#sdy.sharding<@mesh, [{\"data\"}, {}, {\"fsdp\", \"tp\"}]>"},
      {"?", "P(UNCONSTRAINED,)", "#sdy.sharding<@mesh, [{?}]>"},
      {"_ | unreduced=x", "P(None, unreduced={'x'})",
       "#sdy.sharding<@mesh, [{}], unreduced={\"x\"}>"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    assert_converts(cases[i].jax, TSR_FORM_ANY, TSR_FORM_SHORT, cases[i].shown);
    assert_converts(cases[i].shardy, TSR_FORM_ANY, TSR_FORM_SHORT, cases[i].shown);
    assert_converts(cases[i].shown, TSR_FORM_ANY, TSR_FORM_JAX, cases[i].jax);
    assert_converts(cases[i].shown, TSR_FORM_ANY, TSR_FORM_SHARDY, cases[i].shardy);
  }
}

static void what_a_notation_lacks_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tsr_spec_form form;
    const char *message;
  } cases[] = {
      {"x;y", TSR_FORM_JAX, "JAX's notation has no nested stages"},
      {"x/cyclic(4)", TSR_FORM_JAX, "JAX's notation has no cuts other than even ones"},
      {"x:(2)4", TSR_FORM_JAX, "JAX's notation has no sub-axes"},
      {"_ | unreduced=x:(1)2", TSR_FORM_JAX, "JAX's notation has no sub-axes"},
      {"_ | reduced=x:(1)2", TSR_FORM_JAX, "JAX's notation has no sub-axes"},
      {"x+?", TSR_FORM_JAX, "JAX's notation has no dimensions that are cut and open"},
      {"x@1", TSR_FORM_JAX, "JAX's notation has no priorities"},
      {"_ | replicated=x", TSR_FORM_JAX, "JAX's notation has no explicitly replicated axes"},
      {"_ | unreduced=max(x)", TSR_FORM_JAX, "JAX's notation has no reductions other than sum"},
      {"\"\xFF\"", TSR_FORM_JAX, "JAX's notation has no names that are not UTF-8"},
      {"\"\xC3\"", TSR_FORM_JAX, "JAX's notation has no names that are not UTF-8"},
      {"_ | reduced=\"\xED\xA0\x80\"", TSR_FORM_JAX,
       "JAX's notation has no names that are not UTF-8"},
      {"x;y", TSR_FORM_SHARDY, "Shardy's notation has no nested stages"},
      {"x/sizes(1,2)", TSR_FORM_SHARDY, "Shardy's notation has no cuts other than even ones"},
      {"_ | reduced=x", TSR_FORM_SHARDY, "Shardy's notation has no reduced axes"},
      {"x+_", TSR_FORM_SHARDY, "Shardy's notation has no None inside a group"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text out = TSR_TEXT_EMPTY;
    assert_fails(convert(cases[i].text, TSR_FORM_SHORT, cases[i].form, &out), NOT_EXPRESSIBLE,
                 cases[i].message);
    assert_int_equal(out.length, 0);
    tsr_text_deinit(&out);
  }
}

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} wrong_texts[] = {
    {"", TSR_CAUSE_SYNTAX, "spec: column 1: the text is empty; the empty spec is written ()"},
    {"data, )", TSR_CAUSE_SYNTAX, "spec: column 7: expected an axis, found \")\""},
    {"data,", TSR_CAUSE_SYNTAX, "spec: column 6: expected an axis, found the end"},
    {"(x)", TSR_CAUSE_SYNTAX, "spec: column 2: expected \")\", found \"x\""},
    {"(Shard(dim=0), Replicate())", TSR_CAUSE_SYNTAX,
     "PyTorch's placements name no axes; reading them needs a mesh"},
    {"x y", TSR_CAUSE_SYNTAX, "spec: column 3: expected the end, found \"y\""},
    {"x?", TSR_CAUSE_SYNTAX, NULL},
    {"x+", TSR_CAUSE_SYNTAX, NULL},
    {"?+x", TSR_CAUSE_SYNTAX, "spec: column 2: expected the end, found \"+\""},
    {"x+?+y", TSR_CAUSE_SYNTAX, NULL},
    {"x;", TSR_CAUSE_SYNTAX, NULL},
    {"x@y", TSR_CAUSE_SYNTAX, "spec: column 3: expected a priority, found \"y\""},
    {"x@9999999999", TSR_CAUSE_TOO_LARGE, NULL},
    {"x@99999999999999999999", TSR_CAUSE_OVERFLOW, NULL},
    {"x:2", TSR_CAUSE_SYNTAX, NULL},
    {"x:(0)2", TSR_CAUSE_BAD_SUB_AXIS,
     "spec: column 6: sub-axis (0)2, expected numbers of 1 or more"},
    {"x:(2)0", TSR_CAUSE_BAD_SUB_AXIS, NULL},
    {"x/blocks(2)", TSR_CAUSE_SYNTAX,
     "spec: column 3: expected sizes, cyclic or parts, found \"blocks\""},
    {"x/cyclic", TSR_CAUSE_SYNTAX, NULL},
    {"x/cyclic(0)", TSR_CAUSE_BAD_CUT,
     "dimension 0: cyclic blocks of 0 elements, wanted 1 or more"},
    {"x/cyclic(4", TSR_CAUSE_SYNTAX, NULL},
    {"x/sizes()", TSR_CAUSE_SYNTAX, "spec: column 9: expected a size, found \")\""},
    {"x/sizes(-1)", TSR_CAUSE_SYNTAX, NULL},
    {"x/parts(q)", TSR_CAUSE_SYNTAX, NULL},
    {"x/parts(q:1/0)", TSR_CAUSE_BAD_CUT, NULL},
    {"_/cyclic(2)", TSR_CAUSE_BAD_CUT, "dimension 0: a cut names no axis"},
    {"x |", TSR_CAUSE_SYNTAX,
     "spec: column 4: expected unreduced, reduced, replicated or mesh, found the end"},
    {"x | reduced=y reduced=z", TSR_CAUSE_SYNTAX, "spec: column 15: \"reduced\" is given twice"},
    {"x | unreduced=_", TSR_CAUSE_BAD_ARGUMENT, "the unreduced axes include None, wanted names"},
    {"x | unreduced=max(y", TSR_CAUSE_SYNTAX, NULL},
    {"\"x", TSR_CAUSE_SYNTAX, "spec: column 1: the string has no closing quote"},
    {"\"\"", TSR_CAUSE_SYNTAX, "spec: column 3: the axis has no name"},
    {"\"\\q\"", TSR_CAUSE_SYNTAX,
     "spec: column 2: expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"},
    {"\"\\", TSR_CAUSE_SYNTAX, NULL},
    {"\"\\xg0\"", TSR_CAUSE_SYNTAX, NULL},
    {"\"\\x00\"", TSR_CAUSE_SYNTAX, "spec: column 1: the name has a zero byte"},
    {"x@\xC3\xA9, x", TSR_CAUSE_SYNTAX, "spec: column 3: expected a priority, found \"é\""},
    {"8", TSR_CAUSE_SYNTAX, "spec: column 1: expected an axis, found \"8\""},
    {"\"\xC3\xA9\", )", TSR_CAUSE_SYNTAX, "spec: column 6: expected an axis, found \")\""},
    {"P('x', ('y', ('z',)))", TSR_CAUSE_NESTED_TUPLE,
     "spec: column 14: a group inside a group, expected an axis"},
    {"P([['x']])", TSR_CAUSE_NESTED_TUPLE, NULL},
    {"P(x)", TSR_CAUSE_SYNTAX, NULL},
    {"P('x'", TSR_CAUSE_SYNTAX, "spec: column 6: expected \")\", found the end"},
    {"P('x') y", TSR_CAUSE_SYNTAX, NULL},
    {"P('x', 3)", TSR_CAUSE_SYNTAX,
     "spec: column 8: expected an axis in quotes, None, UNCONSTRAINED or a group, found \"3\""},
    {"P(('x', 3))", TSR_CAUSE_SYNTAX, NULL},
    {"P(('x', UNCONSTRAINED))", TSR_CAUSE_UNSUPPORTED, NULL},
    {"P(unreduced={'x'}, 'y')", TSR_CAUSE_SYNTAX, NULL},
    {"P(unreduced={'x'}, unreduced={'y'})", TSR_CAUSE_SYNTAX, NULL},
    {"P(unreduced={None})", TSR_CAUSE_SYNTAX, NULL},
    {"P(unreduced={''})", TSR_CAUSE_BAD_ARGUMENT, NULL},
    {"P(unreduced='x')", TSR_CAUSE_SYNTAX, NULL},
    {"P(unreduced={'x')", TSR_CAUSE_SYNTAX, NULL},
    {"P('\\ud800')", TSR_CAUSE_SYNTAX, NULL},
    {"P('\\U00110000')", TSR_CAUSE_SYNTAX, NULL},
    {"P('\\q')", TSR_CAUSE_SYNTAX, NULL},
    {"P('x)", TSR_CAUSE_SYNTAX, NULL},
    {"P.x('y')", TSR_CAUSE_SYNTAX, NULL},
    {"#sdy.sharding_per_value<[]>", TSR_CAUSE_SYNTAX, NULL},
    {"<mesh<[\"x\"=2]>, [{\"x\"}]>", TSR_CAUSE_UNSUPPORTED, NULL},
    {"<@1a, []>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m []>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{?, \"x\"}]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{x}]>", TSR_CAUSE_SYNTAX, "spec: column 8: expected an axis in quotes, found \"x\""},
    {"<@m, [{\"x\"},]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{\"\"}]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{\"x\"}p01]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{\"x\"}p]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [{\"x\"}p9999999999]>", TSR_CAUSE_TOO_LARGE, NULL},
    {"<@m, [{\"\\G\"}]>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [], replicated={}>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [], reduced={\"x\"}>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, [], replicated={\"x\"}, replicated={\"y\"}>", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, []", TSR_CAUSE_SYNTAX, NULL},
    {"<@m, []> x", TSR_CAUSE_SYNTAX, NULL},
};

static void wrong_texts_say_where(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(wrong_texts); i++) {
    tsr_spec *spec = NULL;
    tsr_status status = tsr_spec_parse(wrong_texts[i].text, TSR_FORM_ANY, &spec);
    if (tsr_status_cause(status) != wrong_texts[i].cause)
      print_error("text: %s\nsays: %s\n", wrong_texts[i].text, tsr_status_text(status));
    assert_int_equal(tsr_status_cause(status), wrong_texts[i].cause);
    if (wrong_texts[i].message) assert_message(status, wrong_texts[i].message);
    assert_null(spec);
    tsr_status_free(status);
  }
}

static void a_form_can_be_asked_for(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  assert_fails_with(tsr_spec_parse("x", TSR_FORM_JAX, &spec), SYNTAX, "P(...)");
  assert_fails_with(tsr_spec_parse("x", TSR_FORM_SHARDY, &spec), SYNTAX,
                    "spec: column 1: expected \"<\", found \"x\"");
  assert_fails_with(tsr_spec_parse("P('x')", TSR_FORM_SHORT, &spec), SYNTAX, "column 2");
  assert_fails_with(tsr_spec_parse("x", (tsr_spec_form)9, &spec), BAD_ARGUMENT, "9 is not a form");
  assert_ok(tsr_spec_parse("P", TSR_FORM_ANY, &spec));  // an axis of that name
  tsr_text out = TSR_TEXT_EMPTY;
  assert_fails_with(tsr_spec_print(spec, (tsr_spec_form)9, &out), BAD_ARGUMENT, "9 is not a form");
  tsr_spec_release(spec);
}

static void long_texts_show_only_the_place(void **state) {
  (void)state;
  char text[2001];
  memset(text, 'x', 2000);
  text[1000] = ')';
  text[2000] = '\0';
  tsr_spec *spec = NULL;
  tsr_status status = tsr_spec_parse(text, TSR_FORM_SHORT, &spec);
  assert_message(status, "spec: column 1001: expected the end, found \")\"");
  tsr_status_free(status);
}

static tsr_status parse_and_print(void *context) {
  const char *text = context;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  tsr_text out = TSR_TEXT_EMPTY;
  tsr_status status = tsr_spec_print(spec, TSR_FORM_SHORT, &out);
  tsr_text_deinit(&out);
  tsr_spec_release(spec);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  static const char *const texts[] = {
      "\"a b\"+y+?@1, z/parts(q:4, 5), w/sizes(1,2) | unreduced=max(v) mesh=m",
      "P('x', ('y', 'z'), unreduced={'w'}, reduced={'v'})",
      "<@\"m m\", [{\"x\":(2)4}], replicated={\"y\"}, unreduced={\"w\"}>"};
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    test_allocation_sweep(parse_and_print, (void *)(uintptr_t)texts[i]);
}

SUITE(spec_text, TEST(short_texts_print_as_written), TEST(white_space_and_synonyms_are_free),
      TEST(jax_texts_print_as_python_does), TEST(jax_texts_are_read_as_people_write_them),
      TEST(shardy_texts_print_as_mlir_does), TEST(shardy_texts_are_read_in_every_form),
      TEST(notations_translate_where_both_have_words), TEST(what_a_notation_lacks_is_refused),
      TEST(wrong_texts_say_where), TEST(a_form_can_be_asked_for),
      TEST(long_texts_show_only_the_place), TEST(running_out_of_memory_is_reported))
