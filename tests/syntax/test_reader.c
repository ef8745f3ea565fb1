// Tokens, aliases, places and the smaller readers that ops are read with.
#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "syntax/reader.h"
#include "syntax/syntax.h"
#include "syntax/writer.h"

typedef struct opened {
  tsr_ir *ir;
  tsr_reader reader;
} opened;

static opened open_text(const char *text) {
  opened o = {.ir = tsr_ir_create()};
  tsr_reader_init(&o.reader, o.ir, "test.mlir", text, strlen(text));
  return o;
}

static void close_text(opened *o) {
  tsr_reader_deinit(&o->reader);
  tsr_ir_destroy(o->ir);
}

static void tokens_are_those_of_mlir(void **state) {
  (void)state;
  static const struct {
    tsr_token_kind kind;
    const char *text;
  } wanted[] = {
      {TSR_TOKEN_VALUE, "%0"},      {TSR_TOKEN_HASH, "#1"},
      {TSR_TOKEN_SIGN, "="},        {TSR_TOKEN_STRING, "\"a\\\"b\""},
      {TSR_TOKEN_SIGN, "("},        {TSR_TOKEN_VALUE, "%a-b$.c"},
      {TSR_TOKEN_SIGN, ")"},        {TSR_TOKEN_SIGN, "->"},
      {TSR_TOKEN_WORD, "tensor"},   {TSR_TOKEN_SIGN, "<"},
      {TSR_TOKEN_INTEGER, "4"},     {TSR_TOKEN_WORD, "x8xf32"},
      {TSR_TOKEN_SIGN, ">"},        {TSR_TOKEN_SYMBOL, "@main"},
      {TSR_TOKEN_SIGN, "::"},       {TSR_TOKEN_SYMBOL, "@\"a b\""},
      {TSR_TOKEN_BLOCK, "^bb0"},    {TSR_TOKEN_SIGN, ":"},
      {TSR_TOKEN_BANG, "!quant.u"}, {TSR_TOKEN_FLOAT, "1.5e-3"},
      {TSR_TOKEN_FLOAT, "1."},      {TSR_TOKEN_INTEGER, "0xFF"},
      {TSR_TOKEN_INTEGER, "0"},     {TSR_TOKEN_WORD, "xg"},
      {TSR_TOKEN_INTEGER, "1"},     {TSR_TOKEN_WORD, "e5"},
      {TSR_TOKEN_SIGN, "..."},      {TSR_TOKEN_SIGN, "{-#"},
      {TSR_TOKEN_SIGN, "#-}"},      {TSR_TOKEN_SIGN, "-"},
      {TSR_TOKEN_WRONG, "&"},       {TSR_TOKEN_END, ""},
  };
  opened o = open_text(
      "%0#1 = \"a\\\"b\"(%a-b$.c) -> tensor<4x8xf32> // comment\n"
      "@main::@\"a b\" ^bb0: !quant.u 1.5e-3 1. 0xFF 0xg 1e5 ... {-# #-} - & // end");
  for (size_t i = 0; i < COUNT_OF(wanted); i++) {
    assert_int_equal(o.reader.token.kind, wanted[i].kind);
    assert_true(tsr_token_is(&o.reader.token, wanted[i].text));
    tsr_next(&o.reader);
  }
  close_text(&o);
}

static void taking_moves_only_where_it_fits(void **state) {
  (void)state;
  opened o = open_text("a ( -5 [1, -2] true \"x\\0A\" @\"q r\" 99999999999999999999");
  const char *word = NULL, *bytes = NULL, *name = NULL;
  const int64_t *list = NULL;
  int64_t number = 0, count = 0;
  size_t length = 0;
  bool flag = false;
  assert_false(tsr_take_word(&o.reader, "b"));
  assert_ok(tsr_read_word(&o.reader, "a word", &word));
  assert_ptr_equal(word, tsr_ir_name(o.ir, "a", 1));
  assert_false(tsr_take_sign(&o.reader, ")"));
  assert_ok(tsr_expect_sign(&o.reader, "("));
  assert_ok(tsr_read_int(&o.reader, "a number", &number));
  assert_int_equal(number, -5);
  assert_ok(tsr_read_int_list(&o.reader, &list, &count));
  assert_int_equal(count, 2);
  assert_int_equal(list[1], -2);
  assert_ok(tsr_read_bool(&o.reader, &flag));
  assert_true(flag);
  assert_ok(tsr_read_string(&o.reader, "a string", &bytes, &length));
  assert_int_equal(length, 2);
  assert_string_equal(bytes, "x\n");
  assert_ok(tsr_read_symbol_name(&o.reader, &name));
  assert_string_equal(name, "q r");
  assert_fails_with(tsr_read_int(&o.reader, "a number", &number), OVERFLOW,
                    "a number is beyond 64 bits");
  close_text(&o);
}

static void failures_name_file_line_and_column(void **state) {
  (void)state;
  opened o = open_text("first\n  second = 3");
  tsr_next(&o.reader);
  assert_fails(tsr_expect_word(&o.reader, "third"), SYNTAX,
               "test.mlir:2:3: expected \"third\", found \"second\"\n"
               "    second = 3\n"
               "    ^");
  close_text(&o);
}

static void places_are_found_in_any_order(void **state) {
  (void)state;
  static const char text[] = "a\n\n  \xc3\xa9 b\nc";
  opened o = open_text(text);
  static const struct {
    size_t offset;
    uint32_t line, column;
  } places[] = {{0, 1, 1}, {10, 4, 1}, {8, 3, 5}, {2, 2, 1}, {1, 1, 2}};
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    uint32_t line = 0, column = 0;
    tsr_reader_place(&o.reader, text + places[i].offset, &line, &column);
    assert_int_equal(line, places[i].line);
    assert_int_equal(column, places[i].column);
  }
  close_text(&o);
}

static void failures_before_and_after_a_place_asked_for_have_their_lines(void **state) {
  (void)state;
  static const char text[] = "a\nb\n  c\nd e";
  opened o = open_text(text);
  uint32_t line = 0, column = 0;
  tsr_reader_place(&o.reader, text + 6, &line, &column);
  assert_int_equal(line, 3);
  static const struct {
    size_t offset;
    const char *message;
  } cases[] = {{2, "test.mlir:2:1: x\n  b\n  ^"},
               {6, "test.mlir:3:3: x\n    c\n    ^"},
               {10, "test.mlir:4:3: x\n  d e\n    ^"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_fails(tsr_reader_fail(&o.reader, text + cases[i].offset, SYNTAX, "x"), SYNTAX,
                 cases[i].message);
  close_text(&o);
}

static void check_alias(tsr_reader *reader, const char *printed) {
  const tsr_attr *attr = NULL;
  tsr_text out = TSR_TEXT_EMPTY;
  assert_ok(tsr_read_attr(reader, NULL, &attr));
  tsr_attr_print(attr, &out);
  assert_string_equal(tsr_text_string(&out), printed);
  tsr_text_deinit(&out);
}

static void aliases_may_be_defined_later(void **state) {
  (void)state;
  opened o = open_text(
      "#a loc(#loc2) !t\n"
      "!t = tensor<4x!e>\n"
      "!e = i8\n"
      "#a = [1, #b]\n"
      "#b = {x = !t}\n"
      "#loc1 = loc(\"f\":1:2)\n"
      "#loc2 = loc(\"n\"(#loc1))\n");
  check_alias(&o.reader, "[1, {x = tensor<4xi8>}]");
  check_alias(&o.reader, "loc(\"n\"(\"f\":1:2))");
  check_alias(&o.reader, "tensor<4xi8>");
  int definitions = 0;
  for (; tsr_at_alias_definition(&o.reader); definitions++)
    assert_ok(tsr_read_alias_definition(&o.reader));
  assert_int_equal(definitions, 6);
  assert_true(tsr_at_kind(&o.reader, TSR_TOKEN_END));
  close_text(&o);
}

static void wrong_aliases_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"#a\n#a = [#a]\n", "alias \"a\" is defined by itself"},
      {"#a\n#a = [#b]\n#b = [#a]", "alias \"a\" is defined by itself"},
      {"#a\n#b = 1", "test.mlir:1:1: alias \"#a\" is not defined"},
      {"#a\n#a = [", "test.mlir:2:7: expected an attribute, found the end"},
      {"#a = 1\n#a = 2", "test.mlir:2:1: alias \"#a\" is defined twice"},
      {"#a.b = 1", "test.mlir:1:1: the name of alias \"#a.b\" has a dot, as those of dialects do"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    opened o = open_text(cases[i].text);
    const tsr_attr *attr = NULL;
    tsr_status status = NULL;
    while (!status && tsr_at_alias_definition(&o.reader))
      status = tsr_read_alias_definition(&o.reader);
    if (!status) status = tsr_read_attr(&o.reader, NULL, &attr);
    assert_non_null(strstr(tsr_status_text(status), cases[i].message));
    tsr_status_free(status);
    close_text(&o);
  }
}

// Each alias holds the one before it twice: without a limit, 2^60 attributes would be printed.
static void aliases_that_multiply_are_refused(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "#a0 = [1, 1]\n");
  for (int i = 1; i < 60; i++) tsr_text_addf(&text, "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
  opened o = open_text(tsr_text_string(&text));
  tsr_status status = NULL;
  while (!status && tsr_at_alias_definition(&o.reader))
    status = tsr_read_alias_definition(&o.reader);
  assert_fails_with(status, TOO_LARGE, "an attribute made of more than");
  close_text(&o);
  tsr_text_deinit(&text);
}

static void aliases_that_nest_without_end_are_refused(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "#a0 = [1]\n");
  for (int i = 1; i < 5000; i++) tsr_text_addf(&text, "#a%d = [#a%d]\n", i, i - 1);
  opened o = open_text(tsr_text_string(&text));
  tsr_status status = NULL;
  int count = 0;
  for (; !status && tsr_at_alias_definition(&o.reader); count++)
    status = tsr_read_alias_definition(&o.reader);
  assert_fails_with(status, TOO_LARGE, "aliases nested deeper than 2048 levels");
  assert_true(count > 1000);
  close_text(&o);
  tsr_text_deinit(&text);
}

static void records_are_read_without_their_names(void **state) {
  (void)state;
  static const struct {
    tsr_record_id id;
    const char *text;
  } cases[] = {
      {TSR_RECORD_SDY_SHARDING, "<@mesh, [{\"x\"}]>"},
      {TSR_RECORD_SDY_SHARDINGS, "[<@mesh, []>, <@mesh, [{?}]>]"},
      {TSR_RECORD_SDY_MANUAL_AXES, "{\"x\"}"},
      {TSR_RECORD_SDY_AXIS_LISTS, "[{\"x\"}, {}]"},
      {TSR_RECORD_SDY_ALL_TO_ALLS, "[{\"x\"}: 0->1]"},
      {TSR_RECORD_SDY_MESH, "<[\"x\"=2]>"},
      {TSR_RECORD_CONV, "[b, 0, f]x[0, i, o]->[b, 0, f]"},
      {TSR_RECORD_GATHER, "<offset_dims = [1]>"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    opened o = open_text(cases[i].text);
    const tsr_attr *attr = NULL;
    tsr_text out = TSR_TEXT_EMPTY;
    assert_ok(tsr_read_record_body(&o.reader, cases[i].id, &attr));
    assert_true(tsr_at_kind(&o.reader, TSR_TOKEN_END));
    tsr_record_body_print(attr, &out);
    assert_string_equal(tsr_text_string(&out), cases[i].text);
    tsr_text_deinit(&out);
    close_text(&o);
  }
}

static void given_types_are_not_read(void **state) {
  (void)state;
  opened o = open_text("dense<[1, 2]> : 7 : next");
  const tsr_type *i8 = tsr_type_integer(o.ir, 8, TSR_SIGNLESS);
  const tsr_type *pair = tsr_type_tensor(o.ir, i8, 1, (int64_t[]){2}, NULL);
  const tsr_attr *attr = NULL;
  assert_ok(tsr_read_attr(&o.reader, pair, &attr));
  assert_ptr_equal(attr->type, pair);
  assert_ok(tsr_expect_sign(&o.reader, ":"));
  assert_ok(tsr_read_attr(&o.reader, i8, &attr));
  assert_int_equal(attr->integer, 7);
  assert_true(tsr_at_sign(&o.reader, ":"));
  close_text(&o);
}

static tsr_status read_aliases(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "memory of a program");
  tsr_reader reader;
  const tsr_attr *attr = NULL;
  tsr_reader_init(&reader, ir, "test.mlir", text, strlen(text));
  tsr_status status = tsr_read_attr(&reader, NULL, &attr);
  while (!status && tsr_at_alias_definition(&reader)) status = tsr_read_alias_definition(&reader);
  tsr_reader_deinit(&reader);
  tsr_ir_destroy(ir);
  return status;
}

static void memory_may_run_out_among_aliases(void **state) {
  (void)state;
  static char text[] = "[#a, #b]\n#a = [!t]\n#b = \"\\22\"\n!t = tensor<4x?xf32>\n";
  test_allocation_sweep(read_aliases, text);
}

SUITE(reader, TEST(tokens_are_those_of_mlir), TEST(taking_moves_only_where_it_fits),
      TEST(failures_name_file_line_and_column), TEST(places_are_found_in_any_order),
      TEST(failures_before_and_after_a_place_asked_for_have_their_lines),
      TEST(aliases_may_be_defined_later), TEST(wrong_aliases_are_refused),
      TEST(aliases_that_multiply_are_refused), TEST(aliases_that_nest_without_end_are_refused),
      TEST(records_are_read_without_their_names), TEST(given_types_are_not_read),
      TEST(memory_may_run_out_among_aliases))
