// Map files as text: what is understood, printed back and refused.
#include <stdlib.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "map/bad_maps.h"
#include "map/map_internal.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"
#include "tessera/text.h"

// clang-format off
static const bad_map bad_maps[] = {
    {"a", TSR_CAUSE_SYNTAX,
     "t.map:1:2: expected \"=\", found the end"},
    {"a b", TSR_CAUSE_SYNTAX,
     "t.map:1:3: expected \"=\", found \"b\""},
    {"a =", TSR_CAUSE_SYNTAX,
     "t.map:1:4: expected a tensor's name, found the end"},
    {"= b", TSR_CAUSE_SYNTAX,
     "t.map:1:1: expected a tensor's name, found \"=\""},
    {"a = b c", TSR_CAUSE_SYNTAX,
     "t.map:1:7: expected the end of the line, found \"c\""},
    {"a, = b", TSR_CAUSE_SYNTAX,
     "t.map:1:4: expected a tensor's name, found \"=\""},
    {"a = b,", TSR_CAUSE_SYNTAX,
     "t.map:1:6: expected the end of the line, found \",\""},
    {"a = concat(", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected a number, found the end"},
    {"a = concat(0", TSR_CAUSE_SYNTAX,
     "t.map:1:13: expected \",\" and a tensor, found the end"},
    {"a = concat(0)", TSR_CAUSE_SYNTAX,
     "t.map:1:13: expected \",\" and a tensor, found \")\""},
    {"a = concat(0, )", TSR_CAUSE_SYNTAX,
     "t.map:1:15: expected a tensor's name, found \")\""},
    {"a = concat(, b)", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected a number, found \",\""},
    {"a = concat(0, b", TSR_CAUSE_SYNTAX,
     "t.map:1:16: expected \",\" or \")\", found the end"},
    {"a = concat(0 b)", TSR_CAUSE_SYNTAX,
     "t.map:1:14: expected the end, found \"b\""},
    {"a = conact(0, b, c)", TSR_CAUSE_SYNTAX,
     "t.map:1:5: there is no function \"conact\"; did you mean \"concat\"?"},
    {"a = nothing_like_it(b)", TSR_CAUSE_SYNTAX,
     "t.map:1:5: there is no function \"nothing_like_it\""},
    {"a = transpose()", TSR_CAUSE_SYNTAX,
     "t.map:1:15: expected a tensor's name, found \")\""},
    {"a = transpose(b, )", TSR_CAUSE_SYNTAX,
     "t.map:1:18: expected a size, found \")\""},
    {"a = transpose(b, 1 +)", TSR_CAUSE_SYNTAX,
     "t.map:1:21: expected a number or a fact, found the end"},
    {"a = transpose(b, 1, x y)", TSR_CAUSE_SYNTAX,
     "t.map:1:23: expected the end, found \"y\""},
    {"a = reshape(b, 2, (3)", TSR_CAUSE_SYNTAX,
     "t.map:1:22: expected \",\" or \")\", found the end"},
    {"a = slice(b)", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected \",\" and a dimension, found \")\""},
    {"a = slice(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:15: expected \",\", found \")\""},
    {"a = slice(b, 0, 1)", TSR_CAUSE_SYNTAX,
     "t.map:1:18: expected \":\" between start and end, found \")\""},
    {"a = slice(b, 0, 1:2:3)", TSR_CAUSE_SYNTAX,
     "t.map:1:20: expected \",\" or \")\", found \":\""},
    {"a = slice(b, 0, 1+:2)", TSR_CAUSE_SYNTAX,
     "t.map:1:21: expected a number or a fact, found the end"},
    {"a = slice(b, 0, 1:*2)", TSR_CAUSE_SYNTAX,
     "t.map:1:21: expected a number or a fact, found \"*\""},
    {"a = pad(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:13: expected \",\", found \")\""},
    {"a = pad(b, 0, 4, )", TSR_CAUSE_SYNTAX,
     "t.map:1:18: expected a value, found \")\""},
    {"a = pad(b, 0, 4, 1, 2)", TSR_CAUSE_SYNTAX,
     "t.map:1:19: expected \",\" or \")\", found \",\""},
    {"a = trim(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:14: expected \",\", found \")\""},
    {"a = trim(b, 0, 4, 1)", TSR_CAUSE_SYNTAX,
     "t.map:1:17: expected \",\" or \")\", found \",\""},
    {"a = permute(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:17: expected \",\", found \")\""},
    {"a = permute(b, 0, 2, 3)", TSR_CAUSE_SYNTAX,
     "t.map:1:19: expected \"(\", found \"2\""},
    {"a = permute(b, 0, (2, 3))", TSR_CAUSE_SYNTAX,
     "t.map:1:25: expected \",\", found \")\""},
    {"a = permute(b, 0, (2, 3), (1, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:33: expected \",\" or \")\", found the end"},
    {"a = permute(b, 0, (), (1, 0))", TSR_CAUSE_SYNTAX,
     "t.map:1:20: expected a size, found \")\""},
    {"a = split(b)", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected \",\" and a dimension, found \")\""},
    {"a = unstack(b)", TSR_CAUSE_SYNTAX,
     "t.map:1:14: expected \",\" and a dimension, found \")\""},
    {"a = unstack(b, 0, 1)", TSR_CAUSE_SYNTAX,
     "t.map:1:17: expected \",\" or \")\", found \",\""},
    {"a = transpose(split(b, 0))", TSR_CAUSE_SYNTAX,
     "t.map:1:15: split makes several tensors, so it stands alone right of the '='; slice makes one"},
    {"a = concat(0, unstack(b, 0), c)", TSR_CAUSE_SYNTAX,
     "t.map:1:15: unstack makes several tensors, so it stands alone right of the '='; slice makes one"},
    {"a, c = b", TSR_CAUSE_SYNTAX,
     "t.map:1:1: 2 names left of the '=' need split or unstack right of it"},
    {"a, c = concat(0, b, d)", TSR_CAUSE_SYNTAX,
     "t.map:1:1: 2 names left of the '=' need split or unstack right of it"},
    {"a.{n} = b", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {n} is not captured by the first name right of the '='"},
    {"a.{n} = b.{m}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {n} is not captured by the first name right of the '='"},
    {"a = concat(0, b.{n}, c.{m})", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {m} is not captured by the first name right of the '='"},
    {"a = concat(0, b.{n}, c.{m:x})", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {m:x} captures, which only the first name right of the '=' does"},
    {"a.{x:.*} = b.{x}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {x:.*} captures, which only the first name right of the '=' does"},
    {"a = b.{n}.{n+1}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: the name that captures {n} cannot hold {n+1}, which is computed from it: compute left of the '='"},
    {"a.{n} = stack(0, b.{e}.{n} for e in n..2)", TSR_CAUSE_SYNTAX,
     "t.map:1:1: the name that captures {n} cannot hold {e}, which is computed from it: compute left of the '='"},
    {"a = b.{heads:.*}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: \"heads\" is a number already and cannot capture"},
    {"a = b.{x:.*}.{x:y}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: capture \"x\" has two patterns"},
    {"a = b.{", TSR_CAUSE_SYNTAX,
     "t.map:1:7: { has no }"},
    {"a = b.{n", TSR_CAUSE_SYNTAX,
     "t.map:1:7: { has no }"},
    {"a = b.}", TSR_CAUSE_SYNTAX,
     "t.map:1:7: } has no {; a plain one is written }}"},
    {"a = b.{}", TSR_CAUSE_SYNTAX,
     "t.map:1:7: {} is empty; a plain brace is written {{"},
    {"a = b.{ }", TSR_CAUSE_SYNTAX,
     "t.map:1:7: {} is empty; a plain brace is written {{"},
    {"a = b.{n+}", TSR_CAUSE_SYNTAX,
     "t.map:1:10: expected a number or a fact, found the end"},
    {"a = b.{x:}", TSR_CAUSE_SYNTAX,
     "t.map:1:10: capture \"x\" has an empty pattern"},
    {"a = b.{x:(}", TSR_CAUSE_BAD_REGEX,
     "t.map:1:10: missing ), unterminated group"},
    {"a = b.{x:)}", TSR_CAUSE_BAD_REGEX,
     "t.map:1:10: unbalanced parenthesis"},
    {"a = b.{x:[}", TSR_CAUSE_BAD_REGEX,
     "t.map:1:10: unterminated character set"},
    {"a = b.{x:(y)\\1}", TSR_CAUSE_UNSUPPORTED,
     "t.map:1:10: the pattern \"(y)\\1\" refers to a group by number; use a name"},
    {"a = \"b", TSR_CAUSE_SYNTAX,
     "t.map:1:5: the name has no closing quote"},
    {"a = \"b\\q\"", TSR_CAUSE_SYNTAX,
     "t.map:1:7: expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"},
    {"a = \"b\\x00\"", TSR_CAUSE_SYNTAX,
     "t.map:1:7: expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"},
    {"a \"b\" = c", TSR_CAUSE_SYNTAX,
     "t.map:1:3: expected \"=\", found '\"'"},
    {"a for = b", TSR_CAUSE_SYNTAX,
     "t.map:1:7: expected a variable, found \"=\""},
    {"a for e = b", TSR_CAUSE_SYNTAX,
     "t.map:1:9: expected \"in\", found \"=\""},
    {"a for e in = b", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected a number, found \"=\""},
    {"a for e in 0 = b", TSR_CAUSE_SYNTAX,
     "t.map:1:14: expected \"..\", found \"=\""},
    {"a for e in 0.. = b", TSR_CAUSE_SYNTAX,
     "t.map:1:16: expected a number, found \"=\""},
    {"a for e in ..4 = b", TSR_CAUSE_SYNTAX,
     "t.map:1:12: expected a number, found \".\""},
    {"a.{e} for e in 0..2 for e in 0..3 = unstack(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:1: the variable \"e\" of a loop is defined already"},
    {"a.{heads} for heads in 0..2 = unstack(b, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1:1: the variable \"heads\" of a loop is defined already"},
    {"a.{n}.{e} for n in 0..2 = b.{n}.{x}", TSR_CAUSE_SYNTAX,
     "t.map:1:1: {e} is not captured by the first name right of the '='"},
    {"a = stack(0, b.{n} for n in 0..2 for n in 0..2)", TSR_CAUSE_SYNTAX,
     "t.map:1:1: the variable \"n\" of a loop is defined already"},
    {"let", TSR_CAUSE_SYNTAX,
     "t.map:1:4: expected \"=\", found the end"},
    {"let x", TSR_CAUSE_SYNTAX,
     "t.map:1:6: expected \"=\", found the end"},
    {"let x =", TSR_CAUSE_SYNTAX,
     "t.map:1:8: expected a number, found the end"},
    {"let x = 3 4", TSR_CAUSE_SYNTAX,
     "t.map:1:11: expected the end, found \"4\""},
    {"let 3 = 4", TSR_CAUSE_SYNTAX,
     "t.map:1:5: expected a name, found \"3\""},
    {"let x = 1\nlet x = 2", TSR_CAUSE_SYNTAX,
     "t.map:2:5: \"x\" is defined in line 1 already"},
    {"a = b\nlet x = 1", TSR_CAUSE_SYNTAX,
     "t.map:2:5: let must come before the first rule, which is in line 1"},
    {"only this", TSR_CAUSE_SYNTAX,
     "t.map:1:6: expected \"=\", found \"this\""},
    {"drop", TSR_CAUSE_SYNTAX,
     "t.map:1:5: expected \"=\", found the end"},
    {"drop a b", TSR_CAUSE_SYNTAX,
     "t.map:1:8: expected the end of the line, found \"b\""},
    {"drop a = b", TSR_CAUSE_SYNTAX,
     "t.map:1:8: expected the end of the line, found \"=\""},
    {"drop a, b", TSR_CAUSE_SYNTAX,
     "t.map:1:7: expected the end of the line, found \",\""},
    {"optional", TSR_CAUSE_SYNTAX,
     "t.map:1:9: expected \"=\", found the end"},
    {"optional a", TSR_CAUSE_SYNTAX,
     "t.map:1:11: expected \"=\", found the end"},
    {"# fine\n\n  a = b )", TSR_CAUSE_SYNTAX,
     "t.map:3:9: expected the end of the line, found \")\""},
};
// clang-format on

static tsr_status parse_only(const char *text) {
  tsr_map *map = NULL;
  tsr_status status = tsr_map_parse(text, "t.map", &map);
  assert_true(!map == !!status);
  tsr_map_release(map);
  return status;
}

static void wrong_maps_are_refused_with_line_and_column(void **state) {
  (void)state;
  assert_maps_refused(bad_maps, COUNT_OF(bad_maps), parse_only);
}

static void functions_within_one_another_have_an_end(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_map *map = NULL;
  tsr_text_add(&text, "a = ");
  for (int i = 0; i < 33; i++) tsr_text_add(&text, "transpose(");
  assert_fails(tsr_map_parse(tsr_text_string(&text), "t.map", &map), TOO_LARGE,
               "t.map:1:325: functions nested more than 32 deep");
  tsr_text_deinit(&text);
}

// Text, and how it is printed.
static const char *const good_maps[][2] = {
    {"", ""},
    {"# nothing\n\n   # here\n", ""},
    {"only", "only\n"},
    {"a=b", "a = b\n"},
    {"a = b # why\r\n", "a = b\n"},
    {"optional  a =  b", "optional a = b\n"},
    {"drop x.{n}", "drop x.{n}\n"},
    {"let t = 2 *  heads\nlet u=t\na = b", "let t = 2 * heads\nlet u = t\na = b\n"},
    {"a = concat", "a = concat\n"},
    {"let = 3", "\"let\" = 3\n"},
    {"only = drop", "\"only\" = \"drop\"\n"},
    {"a = concat(0,\n  b, # first\n  c)\n", "a = concat(0, b, c)\n"},
    {"a,\n b =\n split(c, -1)", "a, b = split(c, -1)\n"},
    {"a, b = split(c, 0, _, 2*head_dim)", "a, b = split(c, 0, _, 2*head_dim)\n"},
    {"a.{e} for e in 0..experts = unstack(b, 0)", "a.{e} for e in 0..experts = unstack(b, 0)\n"},
    {"a.{s}.{n} for s in 0..2 for n in 0..8 = b.{n+8*s}",
     "a.{s}.{n} for s in 0..2 for n in 0..8 = b.{n+8*s}\n"},
    {"a = stack(0, transpose(b.{e}) for e in 0 .. 4, c)",
     "a = stack(0, transpose(b.{e}) for e in 0..4, c)\n"},
    {"a.{x} = b.{x:[a-z]{2}|q}", "a.{x} = b.{x:[a-z]{2}|q}\n"},
    {"{x}.{ x } = {x:.*}.{x}", "{x}.{x} = {x:.*}.{x}\n"},
    {"a = slice(b, 0, :)", "a = slice(b, 0, :)\n"},
    {"a = slice(b, 0, min(2, 3) : 4)", "a = slice(b, 0, min(2, 3):4)\n"},
    {"a = permute(b,0,(heads,2,_),(0,2,1))", "a = permute(b, 0, (heads, 2, _), (0, 2, 1))\n"},
    {"a = pad(b, 0, 64, -inf)", "a = pad(b, 0, 64, -inf)\n"},
    {"a = reshape(trim(b, 0, 1))", "a = reshape(trim(b, 0, 1))\n"},
    {"\"\" = \"a b\"", "\"\" = \"a b\"\n"},
    {"\"a\\x41\\\"\" = {{b}}", "\"aA\\\"\" = {{b}}\n"},
    {"\"a(1)\" = \"\\x01{n}\"", "\"a(1)\" = \"\\x01{n}\"\n"},
};

static void maps_are_printed_as_they_are_read(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(good_maps); i++) {
    const char *text = good_maps[i][0];
    for (int pass = 0; pass < 2; pass++) {
      tsr_map *map = NULL;
      tsr_text printed = TSR_TEXT_EMPTY;
      assert_ok(tsr_map_parse(text, "t.map", &map));
      tsr_map_print(map, &printed);
      assert_string_equal(tsr_text_string(&printed), good_maps[i][1]);
      tsr_text_deinit(&printed);
      tsr_map_release(map);
      text = good_maps[i][1];
    }
  }
}

static void maps_are_read_from_files(void **state) {
  (void)state;
  char path[] = "/tmp/tessera-map-XXXXXX";
  tsr_map *map = NULL;
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, "a = b\nc = (", 11), 11);
  assert_fails_with(tsr_map_read(path, &map), SYNTAX,
                    ":2:5: expected a tensor's name, found \"(\"");
  assert_int_equal(ftruncate(file, 6), 0);
  assert_ok(tsr_map_read(path, &map));
  assert_int_equal(tsr_map_count(map), 1);
  tsr_map_release(tsr_map_retain(map));
  tsr_map_release(map);
  assert_int_equal(pwrite(file, "", 1, 2), 1);
  assert_fails_with(tsr_map_read(path, &map), SYNTAX, ": byte 2 is zero, expected text");
  close(file);
  unlink(path);
  assert_fails_with(tsr_map_read(path, &map), IO, path);
  tsr_map_release(NULL);
}

static void presets_are_known_by_name(void **state) {
  (void)state;
  tsr_map *map = NULL;
  assert_fails_with(tsr_map_preset("llama-fuze", &map), UNKNOWN_PRESET,
                    "there is no map \"llama-fuze\", only llama-from-flax, ");
  assert_fails_with(tsr_map_preset("llama-fuze", &map), UNKNOWN_PRESET,
                    "; did you mean \"llama-fuse\"?");
  assert_null(tsr_map_preset_at(-1));
  assert_null(tsr_map_preset_text("llama"));
  int count = 0;
  for (; tsr_map_preset_at(count); count++) {
    assert_ok(tsr_map_preset(tsr_map_preset_at(count), &map));
    assert_true(tsr_map_count(map) > 0);
    tsr_map_release(map);
  }
  assert_int_equal(count, 10);
}

SUITE(text, TEST(wrong_maps_are_refused_with_line_and_column),
      TEST(functions_within_one_another_have_an_end), TEST(maps_are_printed_as_they_are_read),
      TEST(maps_are_read_from_files), TEST(presets_are_known_by_name))
