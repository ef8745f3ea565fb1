// Trees placed by rules as text, and printed.
#include "base/text_internal.h"
#include "place/arrays.h"
#include "support/ranks.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/own.h"

static void a_tree_is_put_by_rules_and_prints_itself(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  TSR_OWN(text, text);
  assert_ok(tsr_array_tree_put(comm, mesh, "w|h -> dp, tp\nb -> tp\n.* -> ()\n", tree, &placed));
  assert_lies(tsr_array_tree_find(placed, "w")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "h")->array, "dp, tp");
  assert_lies(tsr_array_tree_find(placed, "b")->array, "tp");
  assert_lies(tsr_array_tree_find(placed, "s")->array, "()");
  assert_int_equal(tsr_array_tree_find(placed, "x")->kind, TSR_LEAF_SHAPE);
  tsr_array_tree_print(placed, &text);
  assert_string_equal(
      tsr_text_string(&text),
      "w  f32 (8, 16) over {dp=2,tp=2} as dp, tp: 4 of 4 devices here, 4 buffers, 512 B\n"
      "b  f32 (16,) over {dp=2,tp=2} as tp: 4 of 4 devices here, 2 buffers, 64 B\n"
      "h  f32 (8, 16) over {dp=2,tp=2} as dp, tp: 4 of 4 devices here, 4 buffers, 512 B\n"
      "s  f32 () over {dp=2,tp=2} as (): 4 of 4 devices here, 1 buffers, 4 B\n"
      "x  bf16 (4,) without data\n");
  tsr_array_tree_release(placed);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void paths_are_padded_to_the_longest_that_is_not_too_long(void **state) {
  (void)state;
  const tsr_leaf leaves[] = {
      {.tensor = tsr_tensor_of("a", TSR_F32, TSR_SHAPE(2)), .kind = TSR_LEAF_SHAPE},
      {.tensor = tsr_tensor_of("mlp.up", TSR_I8, TSR_SHAPE(0)), .kind = TSR_LEAF_HOST},
      {.tensor = tsr_tensor_of("a.path.that.is.much.longer.than.all.the.other.paths", TSR_F32,
                               TSR_SCALAR),
       .kind = TSR_LEAF_SHAPE}};
  tsr_array_tree *tree = NULL;
  TSR_OWN(text, text);
  assert_ok(tsr_array_tree_create(leaves, 3, &tree));
  tsr_array_tree_print(tree, &text);
  assert_string_equal(tsr_text_string(&text),
                      "a       f32 (2,) without data\n"
                      "mlp.up  i8 (0,) in host memory\n"
                      "a.path.that.is.much.longer.than.all.the.other.paths  f32 () without data\n");
  tsr_array_tree_release(tree);
}

static void bad_rules_leave_the_output_alone(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array_tree *tree = make_array_tree(comm), *placed = NULL;
  assert_fails_with(tsr_array_tree_put(comm, mesh, "w -> dp\n", tree, &placed), NO_RULE, "\"b\"");
  assert_fails_with(tsr_array_tree_put(comm, mesh, "w -> (\n", tree, &placed), SYNTAX,
                    "rules:1:7: expected \")\", found the end");
  assert_null(placed);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- several ranks ----

static tsr_status put_between(void *context, tsr_comm *comm) {
  const char *const *rules = context;  // of each rank
  static const float host[16];
  const tsr_leaf leaf = {
      .tensor = tsr_tensor_of("w", TSR_F32, TSR_SHAPE(4, 4)), .kind = TSR_LEAF_HOST, .data = host};
  TSR_OWN(mesh, mesh);
  TSR_OWN(array_tree, tree);
  TSR_OWN(array_tree, placed);
  TSR_TRY(tsr_mesh_parse("x=4", NULL, &mesh));
  TSR_TRY(tsr_array_tree_create(&leaf, 1, &tree));
  return tsr_array_tree_put(comm, mesh, rules[tsr_comm_rank(comm)], tree, &placed);
}

static void rules_that_one_rank_cannot_read_fail_on_all(void **state) {
  (void)state;
  const int64_t first[] = {0, 2, 4};
  assert_ok(test_ranks_run(2, first, put_between, (const char *[]){"w -> x", "w -> x"}));
  assert_fails_with(test_ranks_run(2, first, put_between, (const char *[]){"w -> x", "w -> ("}),
                    SYNTAX, "rules:1:7: expected \")\", found the end");
  assert_fails_with(test_ranks_run(2, first, put_between, (const char *[]){"w -> x", "w -> _, x"}),
                    COMM_MISMATCH, "");
}

typedef struct putting {
  tsr_comm *comm;
  const tsr_mesh *mesh;
  const tsr_array_tree *tree;
} putting;

static tsr_status put_and_print(void *context) {
  const putting *p = context;
  TSR_OWN(array_tree, placed);
  TSR_OWN(text, text);
  tsr_buffer_pool_trim(tsr_comm_buffers(p->comm), 0);
  TSR_TRY(tsr_array_tree_put(p->comm, p->mesh, "w|h -> dp, tp\n.* -> ()\n", p->tree, &placed));
  tsr_array_tree_print(placed, &text);
  return tsr_text_check(&text);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array_tree *tree = make_array_tree(comm);
  test_allocation_sweep(put_and_print, &(putting){comm, mesh, tree});
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

SUITE(tree_put, TEST(a_tree_is_put_by_rules_and_prints_itself),
      TEST(paths_are_padded_to_the_longest_that_is_not_too_long),
      TEST(bad_rules_leave_the_output_alone), TEST(rules_that_one_rank_cannot_read_fail_on_all),
      TEST(every_allocation_may_fail))
