// Maps applied to trees: which tensors come out, with what shapes, and what is refused.
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "map/bad_maps.h"
#include "map/map_internal.h"
#include "plan/tree_internal.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"
#include "tessera/dtype.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/text.h"
#include "tessera/tree.h"

static const char tree_text[] =
    "{\"q\": {\"dtype\": \"f32\", \"shape\": [8, 4]}, "
    "\"k\": {\"dtype\": \"f32\", \"shape\": [4, 4]}, "
    "\"h\": {\"dtype\": \"f16\", \"shape\": [4, 4]}, "
    "\"i\": {\"dtype\": \"i8\", \"shape\": [3]}, "
    "\"s\": {\"dtype\": \"f32\", \"shape\": []}, "
    "\"z\": {\"dtype\": \"c64\", \"shape\": [3]}, "
    "\"l.0.w\": {\"dtype\": \"f32\", \"shape\": [4]}, "
    "\"l.1.w\": {\"dtype\": \"f32\", \"shape\": [4]}, "
    "\"l.x.w\": {\"dtype\": \"f32\", \"shape\": [4]}}";

static tsr_tree *make_tree(void) {
  tsr_json_doc *doc = NULL;
  tsr_tree *tree = NULL;
  assert_ok(tsr_json_parse(tree_text, strlen(tree_text), &doc));
  assert_ok(tsr_tree_from_json(tsr_json_root(doc), &tree));
  tsr_json_destroy(doc);
  return tree;
}

static const tsr_fact facts[] = {{"group", 4}};
static const tsr_map_options options = {.size = sizeof options, .facts = facts, .fact_count = 1};

static tsr_status apply(const char *text, tsr_mapping **out_mapping) {
  tsr_map *map = NULL;
  TSR_TRY(tsr_map_parse(text, "t.map", &map));
  tsr_tree *tree = make_tree();
  tsr_status status = tsr_map_apply(map, tree, &options, out_mapping);
  tsr_tree_release(tree);
  tsr_map_release(map);
  return status;
}

// clang-format off
static const bad_map bad_maps[] = {
    {"x = concat(0, q, kk)", TSR_CAUSE_NOT_FOUND,
     "t.map:1: the source has no tensor \"kk\"; did you mean \"k\"?"},
    {"x = concat(2, q, k)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a tensor of shape (8, 4): there is no dimension 2"},
    {"x = concat(-3, q, k)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a tensor of shape (8, 4): there is no dimension -3"},
    {"x = concat(1, q, k)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: operand 2 of concat has shape (4, 4), which does not join (8, 4) along dimension 1"},
    {"x = concat(0, k, h)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: operand 2 of concat is f16, but the first is f32"},
    {"x = concat(0, q, i)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: operand 2 of concat is i8, but the first is f32"},
    {"x = concat(0, s)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a tensor of shape (): there is no dimension 0"},
    {"x = stack(0, q, k)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: operand 2 of stack has shape (1, 4, 4), which does not join (1, 8, 4) along dimension 0"},
    {"x = stack(3, k, k)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a tensor of shape (4, 4): there is no dimension 3"},
    {"x = stack(0, k for e in 0..0)", TSR_CAUSE_SYNTAX,
     "t.map:1: stack of no tensors"},
    {"x = stack(0, k for e in 2..1)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a loop over e from 2 to 1, wanted 0 to 65536 turns"},
    {"x = stack(0, k for e in 0..99999999)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a loop over e from 0 to 99999999, wanted 0 to 65536 turns"},
    {"x = transpose(i)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: transpose: a tensor of shape (3,): transpose of 1 dimensions wants their order, as in transpose(x, 1, 0, 2)"},
    {"x = transpose(q, 0)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: transpose: a tensor of shape (8, 4): an order of 1 dimension, wanted 2"},
    {"x = transpose(q, 0, 0)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: transpose: 0 in an order of 2 dimensions, wanted each of 0 to 1 once"},
    {"x = transpose(q, 0, 2)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: transpose: 2 in an order of 2 dimensions, wanted each of 0 to 1 once"},
    {"x = reshape(q, 3, 3)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: reshape: a tensor of shape (8, 4): 32 elements do not make sizes whose product is 9"},
    {"x = reshape(q, 3, _)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: reshape: a tensor of shape (8, 4): 32 elements do not make sizes whose product is 3 times a whole number"},
    {"x = reshape(q, _, _)", TSR_CAUSE_SYNTAX,
     "t.map:1: reshape: a tensor of shape (8, 4): two sizes that are \"_\""},
    {"x = reshape(q, -4, -8)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: reshape: a tensor of shape (8, 4): the size -4 in \"reshape\", wanted 0 or more"},
    {"x = reshape(q, 9223372036854775807, 2)", TSR_CAUSE_OVERFLOW,
     "t.map:1: reshape: a tensor of shape (8, 4): sizes whose product is beyond 64 bits"},
    {"x = reshape(q, 0, _)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: reshape: a tensor of shape (8, 4): 32 elements do not make sizes whose product is 0 times a whole number"},
    {"x = slice(q, 0, 4:9)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: slice: a tensor of shape (8, 4): 4:9 is not within dimension 0, 0:8"},
    {"x = slice(q, 0, 5:4)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: slice: a tensor of shape (8, 4): 5:4 is not within dimension 0, 0:8"},
    {"x = slice(q, 0, -1:4)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: slice: a tensor of shape (8, 4): -1:4 is not within dimension 0, 0:8"},
    {"x = slice(q, 2, 0:1)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: slice: a tensor of shape (8, 4): there is no dimension 2"},
    {"x = trim(q, 0, 9)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: trim: a tensor of shape (8, 4): trim to 9 along dimension 0, wanted 0 to 8"},
    {"x = trim(q, 0, -1)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: trim: a tensor of shape (8, 4): trim to -1 along dimension 0, wanted 0 to 8"},
    {"x = pad(q, 0, 7)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: pad: a tensor of shape (8, 4): pad to 7 along dimension 0, wanted 8 or more"},
    {"x = pad(q, 0, 4611686018427387905)", TSR_CAUSE_OVERFLOW,
     "t.map:1: pad: more than 2^62 elements in the first 1 dimensions"},
    {"x = pad(i, 0, 4, 0.5)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: pad: the value 0.5 of pad is not one of i8"},
    {"x = pad(i, 0, 4, 300)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: pad: the value 300 of pad is not one of i8"},
    {"x = pad(i, 0, 4, one)", TSR_CAUSE_SYNTAX,
     "t.map:1: pad: the value \"one\" of pad is not a number"},
    {"x = pad(z, 0, 4, 1)", TSR_CAUSE_UNSUPPORTED,
     "t.map:1: pad: a tensor of c64 is padded with 0 only"},
    {"x = permute(q, 0, (3, 3), (1, 0))", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: permute: a tensor of shape (8, 4): in dimension 0: 8 elements do not make sizes whose product is 9"},
    {"x = permute(q, 0, (2, _), (1, 0, 2))", TSR_CAUSE_SYNTAX,
     "t.map:1: permute: 2 sizes and an order of 3, wanted as many"},
    {"x = permute(q, 0, (2, 4), (1, 1))", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: permute: 1 in an order of 2 dimensions, wanted each of 0 to 1 once"},
    {"x, y = split(q, 0, 4, 5)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: a tensor of shape (8, 4): sections of dimension 0 add up to 9, wanted 8"},
    {"x, y = split(q, 0, 4)", TSR_CAUSE_SYNTAX,
     "t.map:1: split has 1 size for 2 tensors"},
    {"x, y, w = split(q, 0)", TSR_CAUSE_INDIVISIBLE,
     "t.map:1: a tensor of shape (8, 4): dimension 0 does not split into 3 equal sections"},
    {"x, y = split(q, 0, _, _)", TSR_CAUSE_SYNTAX,
     "t.map:1: two sizes that are \"_\""},
    {"x, y = split(q, 0, 9, _)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: a tensor of shape (8, 4): sections of dimension 0 add up to 9, wanted at most 8"},
    {"x, y = split(q, 0, -1, 9)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: a section of size -1"},
    {"x, y = unstack(q, 0)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: a tensor of shape (8, 4): unstacked along dimension 0 it makes 8 tensors, but there are names for 2"},
    {"x.{e} for e in 0..0 = unstack(q, 0)", TSR_CAUSE_SYNTAX,
     "t.map:1: no tensors left of the '='"},
    {"x = reshape(q, heads, _)", TSR_CAUSE_UNKNOWN_FACT,
     "t.map:1: reshape: a tensor of shape (8, 4): in \"heads\": fact \"heads\" is missing; its name in config.json is num_attention_heads"},
    {"x = reshape(q, hedas, _)", TSR_CAUSE_UNKNOWN_FACT,
     "t.map:1: reshape: a tensor of shape (8, 4): in \"hedas\": fact \"hedas\" is unknown; did you mean \"heads\"?"},
    {"x = reshape(q, 7/2, _)", TSR_CAUSE_INDIVISIBLE,
     "t.map:1: reshape: a tensor of shape (8, 4): in \"7/2\": 7 / 2 leaves a remainder"},
    {"x = reshape(q, 7/0, _)", TSR_CAUSE_DIVISION_BY_ZERO,
     "t.map:1: reshape: a tensor of shape (8, 4): in \"7/0\": 7 / 0"},
    {"let t = u\nx = q", TSR_CAUSE_UNKNOWN_FACT,
     "t.map:1: in \"u\": fact \"u\" is unknown"},
    {"q2 = q\nq2 = k", TSR_CAUSE_DUPLICATE_PATH,
     "t.map:2: tensor \"q2\" is made in line 1 already"},
    {"k = q", TSR_CAUSE_DUPLICATE_PATH,
     "t.map:1: tensor \"k\" is made here, but the source has one of that name that goes over unchanged; drop it or rename it"},
    {"x.{n*3} = l.{n:x|0}.w", TSR_CAUSE_NOT_AN_INTEGER,
     "t.map:1: tensor \"l.x.w\": in \"n*3\": capture \"n\" is \"x\", which is not a number"},
    {"x = l.{n}.w", TSR_CAUSE_DUPLICATE_PATH,
     "t.map:1: tensor \"l.1.w\": tensor \"x\" is made in line 1 already"},
    {"y = q\nx.{n} = concat(0, l.{n}.w, l.{n+1}.w)", TSR_CAUSE_NOT_FOUND,
     "t.map:2: tensor \"l.1.w\": the source has no tensor \"l.2.w\"; did you mean \"l.0.w\"?"},
    {"x.{n-1} = l.{n}.w", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: tensor \"l.0.w\": {n-1} of a name is -1, wanted 0 or more"},
    {"x.{v} = stack(0, l.{e-1}.{v:.} for e in 0..2)", TSR_CAUSE_INDEX_OUT_OF_RANGE,
     "t.map:1: {e-1} of a name is -1, wanted 0 or more"},
    {"x.{s} = transpose(l.{s}.w)", TSR_CAUSE_SHAPES_DIFFER,
     "t.map:1: tensor \"l.0.w\": transpose: a tensor of shape (4,): transpose of 1 dimensions wants their order, as in transpose(x, 1, 0, 2)"},
};
// clang-format on

static tsr_status apply_only(const char *text) {
  tsr_mapping *mapping = NULL;
  tsr_status status = apply(text, &mapping);
  assert_true(!mapping == !!status);
  tsr_mapping_release(mapping);
  return status;
}

static void what_does_not_fit_is_refused_with_line_and_sizes(void **state) {
  (void)state;
  assert_maps_refused(bad_maps, COUNT_OF(bad_maps), apply_only);
}

// A map, and the tensors it makes with `only`: "name type shape line" each, then warnings.
static const char *const made[][2] = {
    {"x = q", "x f32 (8, 4) 1\n"},
    {"x = concat(0, q, k)", "x f32 (12, 4) 1\n"},
    {"x = concat(-1, k, k, k)", "x f32 (4, 12) 1\n"},
    {"x = stack(-1, k, k)", "x f32 (4, 4, 2) 1\n"},
    {"x = stack(0, s for e in 0..3)", "x f32 (3,) 1\n"},
    {"x = pad(q, 0, ceil_div(8, 5)*5)", "x f32 (10, 4) 1\n"},
    {"x = reshape(s)", "x f32 () 1\n"},
    {"x = reshape(q, group, _, 2)", "x f32 (4, 4, 2) 1\n"},
    {"let group = 9\nx = reshape(q, group, _)", "x f32 (4, 8) 2\n"},
    {"let half = group/2\nx = reshape(q, half, _)", "x f32 (2, 16) 2\n"},
    {"x.{n+1} = l.{n}.w", "x.1 f32 (4,) 1\nx.2 f32 (4,) 1\n"},
    {"x.{n} = l.{n:.}.w", "x.0 f32 (4,) 1\nx.1 f32 (4,) 1\nx.x f32 (4,) 1\n"},
    {"x.{n} for n in 0..2 = l.{1-n}.w", "x.1 f32 (4,) 1\nx.0 f32 (4,) 1\n"},
    {"b, a = split(q, 0, 2, _)", "b f32 (2, 4) 1\na f32 (6, 4) 1\n"},
    {"x.{e} for e in 0..4 = unstack(k, 1)",
     "x.0 f32 (4,) 1\nx.1 f32 (4,) 1\nx.2 f32 (4,) 1\nx.3 f32 (4,) 1\n"},
    {"a.{e} for e in 0..2, b = split(i, 0)", "a.0 i8 (1,) 1\na.1 i8 (1,) 1\nb i8 (1,) 1\n"},
    {"x = stack(0, l.{n}.w for n in 0..2)", "x f32 (2, 4) 1\n"},
    {"x = slice(q, 0, 8:8)", "x f32 (0, 4) 1\n"},
    {"x = nothing", "t.map:1: no tensor of the source matches nothing\n"},
    {"x.{n} = nothing.{n}", "t.map:1: no tensor of the source matches nothing.{n}\n"},
    // Where loops are around the first name, it finds sources at their first turn.
    {"x.{v} = stack(0, l.{e}.{v:.} for e in 0..2)", "x.w f32 (2, 4) 1\n"},
    {"x.{v} = stack(0, l.{1-e}.{v:.} for e in 0..2)", "x.w f32 (2, 4) 1\n"},
    {"x.{v} = stack(0, concat(0, l.{e}.{v:.}, l.{f}.w for f in 0..2) for e in 0..2)",
     "x.w f32 (2, 12) 1\n"},
    {"x.{e}.{v} for e in 0..2 = reshape(l.{e}.{v:.}, 2, _)",
     "x.0.w f32 (2, 2) 1\nx.1.w f32 (2, 2) 1\n"},
    {"x = l.{group-3}.w", "x f32 (4,) 1\n"},
    {"x.{v} = l.{group-3}.{v:.}", "x.w f32 (4,) 1\n"},
    {"let one = 1\nx.{v} = l.{one}.{v:.}", "x.w f32 (4,) 2\n"},
    {"x.{v} = l.{group+1}.{v:.}", "t.map:1: no tensor of the source matches l.{group+1}.{v:.}\n"},
    {"x.{n} for n in 0..2 = m.{n}", "t.map:1: no tensor of the source matches m.{n}\n"},
    {"x = stack(0, l.{e}.w for e in 5..7)", "t.map:1: no tensor of the source matches l.{e}.w\n"},
    {"drop l.{group+1}.w", "t.map:1: no tensor of the source matches l.{group+1}.w\n"},
    {"optional x = stack(0, l.{e}.w for e in 5..7)", ""},
    {"optional x.{n} = nothing.{n}", ""},
    {"drop nothing", "t.map:1: no tensor of the source matches nothing\n"},
};

static void describe(const tsr_mapping *mapping, tsr_text *out) {
  const tsr_tree *tree = tsr_mapping_tree(mapping);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    const tsr_shape shape = tsr_tensor_shape(tensor);
    tsr_text_addf(out, "%s %s ", tensor->path, tsr_dtype_name(tensor->dtype, TSR_NAMES_OWN));
    tsr_shape_print(&shape, out);
    tsr_text_addf(out, " %lld\n", (long long)tsr_mapping_line(mapping, i));
  }
  tsr_text_add(out, tsr_mapping_warnings(mapping));
}

static void maps_make_tensors_of_tensors(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(made); i++) {
    tsr_mapping *mapping = NULL;
    tsr_text text = TSR_TEXT_EMPTY, found = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "%s\ndrop {x:.*}\n", made[i][0]);
    assert_ok(apply(tsr_text_string(&text), &mapping));
    describe(mapping, &found);
    assert_string_equal(tsr_text_string(&found), made[i][1]);
    tsr_mapping_release(mapping);
    tsr_text_deinit(&text);
    tsr_text_deinit(&found);
  }
}

static void what_nobody_mentions_goes_over(void **state) {
  (void)state;
  tsr_mapping *mapping = NULL;
  tsr_text found = TSR_TEXT_EMPTY;
  assert_ok(apply("q = transpose(q)\nkk = k\ndrop l.{n}.w\ndrop s", &mapping));
  describe(mapping, &found);
  assert_string_equal(tsr_text_string(&found),
                      "q f32 (4, 8) 1\nkk f32 (4, 4) 2\nh f16 (4, 4) 0\ni i8 (3,) 0\n"
                      "z c64 (3,) 0\nl.x.w f32 (4,) 0\n");
  assert_int_equal(tsr_tree_count(tsr_mapping_source(mapping)), 9);
  tsr_mapping_release(tsr_mapping_retain(mapping));
  tsr_mapping_release(mapping);
  tsr_text_deinit(&found);
}

static void only_reports_what_nobody_uses(void **state) {
  (void)state;
  tsr_mapping *mapping = NULL;
  assert_ok(apply("only\nx.{n} = l.{n}.w\ndrop {x:[qkhsz]}", &mapping));
  assert_int_equal(tsr_tree_count(tsr_mapping_tree(mapping)), 2);
  assert_string_equal(tsr_mapping_warnings(mapping),
                      "t.map: no line uses 2 of 9 tensors: \"i\", \"l.x.w\"\n");
  tsr_mapping_release(mapping);
  assert_ok(apply("only\nx.{n} = l.{n}.w", &mapping));
  assert_string_equal(tsr_mapping_warnings(mapping),
                      "t.map: no line uses 7 of 9 tensors: \"q\", \"k\", \"h\", ...\n");
  tsr_mapping_release(mapping);
  assert_ok(apply("only\nx = q\ndrop {x:.*}", &mapping));
  assert_string_equal(tsr_mapping_warnings(mapping), "");
  tsr_mapping_release(mapping);
}

// Maps with a way back, and the message of those without; "" = it has one.
static const char *const inverses[][2] = {
    {"", ""},
    {"x = transpose(q)", ""},
    {"x = pad(q, 1, 7, -1)", ""},
    {"x = stack(0, q, q)", ""},
    {"x = slice(q, 0, :4)\ny = slice(q, 0, 4:)", ""},
    {"x = slice(q, 1, :1)\ny = slice(q, 1, 1:)\nz2 = q", ""},
    {"x = slice(k, 1, :2)\ny = slice(k, 0, :)", ""},
    {"x = trim(q, 0, 7)", "tensor \"q\", 4 of 32"},
    {"x = slice(q, 1, :2)\ny = slice(q, 1, 3:)", "tensor \"q\", 8 of 32"},
    {"drop s", "tensor \"s\", 1 of 1"},
};

static void maps_that_lose_nothing_have_a_way_back(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(inverses); i++) {
    tsr_mapping *mapping = NULL, *inverse = NULL;
    assert_ok(apply(inverses[i][0], &mapping));
    if (*inverses[i][1]) {
      assert_fails_with(tsr_mapping_invert(mapping, &inverse), NOT_EXPRESSIBLE, inverses[i][1]);
      assert_null(inverse);
    } else {
      assert_ok(tsr_mapping_invert(mapping, &inverse));
      assert_true(tsr_tree_equal(tsr_mapping_tree(inverse), tsr_mapping_source(mapping)));
      assert_true(tsr_tree_equal(tsr_mapping_source(inverse), tsr_mapping_tree(mapping)));
    }
    tsr_mapping_release(inverse);
    tsr_mapping_release(mapping);
  }
}

typedef struct sweep {
  const tsr_tree *tree;
} sweep;

static tsr_status map_and_back(void *context) {
  const sweep *s = context;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL, *inverse = NULL;
  tsr_text printed = TSR_TEXT_EMPTY;
  tsr_status status = tsr_map_parse(
      "let t = 2\ndrop {x:h|i}\nx.{n*t} = pad(l.{n}.w, 0, 5, 1)\n"
      "a, b = split(permute(q, 0, (2, _), (1, 0)), 0)\nc.{e} for e in 0..4 = unstack(k, 0)\n"
      "d = stack(0, reshape(s, 1), reshape(s, 1) for e in 0..t)",
      "t.map", &map);
  if (status) return status;
  tsr_map_print(map, &printed);
  status = tsr_text_check(&printed);
  if (!status) status = tsr_map_apply(map, s->tree, &options, &mapping);
  if (!status) {
    status = tsr_mapping_invert(mapping, &inverse);
    if (tsr_status_cause(status) == TSR_CAUSE_NOT_EXPRESSIBLE) {
      tsr_status_free(status);  // h and i are dropped
      status = NULL;
    }
  }
  tsr_text_deinit(&printed);
  tsr_mapping_release(inverse);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  return status;
}

static void maps_survive_failing_allocations(void **state) {
  (void)state;
  tsr_tree *tree = make_tree();
  test_allocation_sweep(map_and_back, &(sweep){tree});
  tsr_tree_release(tree);
}

SUITE(apply, TEST(what_does_not_fit_is_refused_with_line_and_sizes),
      TEST(maps_make_tensors_of_tensors), TEST(what_nobody_mentions_goes_over),
      TEST(only_reports_what_nobody_uses), TEST(maps_that_lose_nothing_have_a_way_back),
      TEST(maps_survive_failing_allocations))
