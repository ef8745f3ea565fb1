// Which of two models a map is for.
#include <string.h>

#include "json/json.h"
#include "map/map_internal.h"
#include "plan/tree_internal.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

// Apart and fused; `n` is in both.
static const char *const apart =
    "{\"q\": {\"dtype\": \"f32\", \"shape\": [8, 4]}, \"k\": {\"dtype\": \"f32\", \"shape\": [4, "
    "4]},"
    " \"n\": {\"dtype\": \"f32\", \"shape\": [4]}}";
static const char *const fused =
    "{\"qk\": {\"dtype\": \"f32\", \"shape\": [12, 4]}, \"n\": {\"dtype\": \"f32\", \"shape\": "
    "[4]}}";

static tsr_tree *make_tree(const char *text) {
  tsr_json_doc *doc = NULL;
  tsr_tree *tree = NULL;
  assert_ok(tsr_json_parse(text, strlen(text), &doc));
  assert_ok(tsr_tree_from_json(tsr_json_root(doc), &tree));
  tsr_json_destroy(doc);
  return tree;
}

static const tsr_fact facts[] = {{"rows", 8}};
static const tsr_map_options each = {.size = sizeof each, .facts = facts, .fact_count = 1};
static const tsr_map_options *const both[2] = {&each, &each};

static tsr_status apply(const char *text, const char *first, const char *second, int64_t *out_which,
                        int64_t *out_count) {
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  assert_ok(tsr_map_parse(text, "t.map", &map));
  tsr_tree *trees[2] = {make_tree(first), make_tree(second)};
  tsr_status status =
      tsr_map_apply_to_either(map, (const tsr_tree *const *)trees, both, out_which, &mapping);
  if (!status) {
    *out_count = tsr_tree_count(tsr_mapping_tree(mapping));
    assert_ptr_equal(tsr_mapping_source(mapping), trees[*out_which]);
  }
  tsr_mapping_release(mapping);
  for (int w = 0; w < 2; w++) tsr_tree_release(trees[w]);
  tsr_map_release(map);
  return status;
}

static const struct {
  const char *text;
  bool of_apart;
  int64_t count;
} maps[] = {
    {"qk = concat(0, q, k)", true, 2},
    {"q, k = split(qk, 0, rows, _)", false, 3},
    // Lines that make nothing, and one whose result the other lacks, do not matter.
    {"qk = concat(0, q, k)\nx = y\nz = n", true, 2},
    // Only drops: the first that it could be.
    {"drop q\ndrop k", true, 1},
};

static void it_is_the_one_with_the_sources(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(maps); i++) {
    int64_t which = -1;
    int64_t count = 0;
    assert_ok(apply(maps[i].text, apart, fused, &which, &count));
    assert_int_equal(which, maps[i].of_apart ? 0 : 1);
    assert_int_equal(count, maps[i].count);
    assert_ok(apply(maps[i].text, fused, apart, &which, &count));
    assert_int_equal(which, maps[i].of_apart ? 1 : 0);
  }
}

static void what_could_be_either_is_of_the_first(void **state) {
  (void)state;
  int64_t which = -1;
  int64_t count = 0;
  assert_ok(apply("q = k\nk = q", apart, apart, &which, &count));
  assert_int_equal(which, 0);
}

// `q` of the wrong shape: of one model it cannot be made, but of the other all is there.
static void a_failure_is_passed_over_where_the_other_fits(void **state) {
  (void)state;
  static const char *const wrong =
      "{\"qk\": {\"dtype\": \"f32\", \"shape\": [12, 4]}, \"q\": {\"dtype\": \"f32\", \"shape\": "
      "[2]}, "
      "\"k\": {\"dtype\": \"f32\", \"shape\": [4, 4]}}";
  int64_t which = -1;
  int64_t count = 0;
  assert_ok(apply("qk = concat(0, q, k)", wrong, apart, &which, &count));
  assert_int_equal(which, 1);
  // But where nothing that is made is there, it is told.
  assert_fails_with(apply("zz = concat(0, q, k)", wrong, apart, &which, &count), SHAPES_DIFFER,
                    "applied to the first: t.map:1: operand 2 of concat");
  assert_fails_with(apply("zz = concat(0, q, k)", apart, wrong, &which, &count), SHAPES_DIFFER,
                    "applied to the second: t.map:1: operand 2 of concat");
}

static void what_fits_neither_is_explained(void **state) {
  (void)state;
  int64_t which = -1;
  int64_t count = 0;
  assert_fails(apply("a = b", apart, fused, &which, &count), NOT_FOUND,
               "no line of the map finds a source in either of them");
  assert_fails(apply("only\nx = q\n", apart, fused, &which, &count), TREE_MISMATCH,
               "nothing that the map makes of the first is in the second with its shape, as \"x\"");
  assert_fails(apply("only\nx = q\n", fused, apart, &which, &count), TREE_MISMATCH,
               "nothing that the map makes of the second is in the first with its shape, as \"x\"");
  assert_fails(apply("only\nx = n\n", fused, apart, &which, &count), TREE_MISMATCH,
               "nothing that the map makes of the first is in the second with its shape, as \"x\", "
               "nor the other way around");
  assert_fails_with(apply("x = transpose(n, 1)", apart, fused, &which, &count), TREE_MISMATCH,
                    "the map applies to neither of them; to the first: t.map:1: ");
}

typedef struct sweep {
  const tsr_map *map;
  const tsr_tree *trees[2];
} sweep;

static tsr_status apply_swept(void *context) {
  const sweep *s = context;
  tsr_mapping *mapping = NULL;
  int64_t which = -1;
  tsr_status status = tsr_map_apply_to_either(s->map, s->trees, both, &which, &mapping);
  tsr_mapping_release(mapping);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  tsr_map *map = NULL;
  assert_ok(tsr_map_parse("qk = concat(0, q, k)", "t.map", &map));
  tsr_tree *trees[2] = {make_tree(fused), make_tree(apart)};
  test_allocation_sweep(apply_swept, &(sweep){map, {trees[0], trees[1]}});
  for (int w = 0; w < 2; w++) tsr_tree_release(trees[w]);
  tsr_map_release(map);
}

SUITE(either, TEST(it_is_the_one_with_the_sources), TEST(what_could_be_either_is_of_the_first),
      TEST(a_failure_is_passed_over_where_the_other_fits), TEST(what_fits_neither_is_explained),
      TEST(memory_may_run_out_anywhere))
