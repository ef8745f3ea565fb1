// Trees of arrays: what they hold, how it lies, and the way back to host memory.
#include <string.h>

#include "array/array_internal.h"
#include "element/shape_internal.h"
#include "place/arrays.h"
#include "place/place_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"

static void leaves_are_found_by_path(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_array_tree *tree = make_array_tree(comm), *same = tsr_array_tree_retain(tree);
  assert_int_equal(tsr_array_tree_count(tree), 5);
  const tsr_leaf *w = tsr_array_tree_find(tree, "w");
  assert_int_equal(w->kind, TSR_LEAF_ARRAY);
  assert_int_equal(w->tensor.dtype, TSR_F32);  // an array tells its type and shape
  const tsr_shape shape = tsr_tensor_shape(&w->tensor);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(8, 16)));
  assert_ptr_equal(tsr_array_tree_at(tree, 2), tsr_array_tree_find(tree, "h"));
  assert_null(tsr_array_tree_find(tree, "nobody"));
  tsr_array_tree_release(same);
  tsr_array_tree_release(tree);
  tsr_array_tree_release(NULL);
  tsr_comm_release(comm);
}

static void shapes_are_a_tree_for_rules(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(1);
  tsr_array_tree *tree = make_array_tree(comm);
  tsr_tree *shapes = NULL;
  assert_ok(tsr_array_tree_shapes(tree, &shapes));
  assert_int_equal(tsr_tree_count(shapes), 5);
  assert_string_equal(tsr_tree_at(shapes, 1)->path, "b");
  assert_int_equal(tsr_tree_at(shapes, 1)->dims[0], 16);
  assert_int_equal(tsr_tree_at(shapes, 4)->dtype, TSR_BF16);
  assert_int_equal(tsr_tree_bytes(shapes), 512 + 64 + 512 + 4 + 8);
  tsr_tree_release(shapes);
  tsr_array_tree_release(tree);
  tsr_comm_release(comm);
}

// A leaf is described as a tensor of a tree is, so nothing is lost between the two.
static void leaves_keep_logical_names(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(2);
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(4, 2));
  const char *const names[] = {"embed", NULL};
  const tsr_leaf leaves[] = {
      {.tensor = {.path = "w", .logical = names}, .kind = TSR_LEAF_ARRAY, .array = array},
      {.tensor = tsr_tensor_of("b", TSR_I8, TSR_SHAPE(3)), .kind = TSR_LEAF_SHAPE}};
  tsr_array_tree *tree = NULL, *back = NULL;
  tsr_tree *shapes = NULL;
  assert_ok(tsr_array_tree_create(leaves, 2, &tree));
  assert_ok(tsr_array_tree_gather(tree, -1, &back));
  tsr_array_tree_release(tree);
  tsr_array_release(array);
  assert_ok(tsr_array_tree_shapes(back, &shapes));
  const tsr_tensor *w = tsr_tree_at(shapes, 0), *b = &tsr_array_tree_find(back, "b")->tensor;
  assert_string_equal(w->logical[0], "embed");
  assert_null(w->logical[1]);
  assert_int_equal(w->dims[0], 4);
  assert_null(b->logical);
  assert_int_equal(b->dims[0], 3);
  assert_int_equal(tsr_tensor_bytes(b), 3);
  tsr_tree_release(shapes);
  tsr_array_tree_release(back);
  tsr_comm_release(comm);
}

static void faults_are_named(void **state) {
  (void)state;
  static const char data[64];
  static const int64_t four[] = {4};
  static const struct {
    tsr_leaf leaf;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{.tensor.path = NULL}, TSR_CAUSE_BAD_ARGUMENT, "leaf 0 has no path"},
      {{.tensor.path = "\xff"}, TSR_CAUSE_BAD_ARGUMENT, "the path of leaf 0 is not UTF-8"},
      {{.tensor.path = "w"},
       TSR_CAUSE_BAD_ARGUMENT,
       "leaf \"w\": a leaf that is an array has none"},
      {{.tensor.path = "w", .kind = (tsr_leaf_kind)7},
       TSR_CAUSE_BAD_ARGUMENT,
       "leaf \"w\": a leaf of kind 7, wanted 0 to 2"},
      {{.tensor = {"w", TSR_F32, 1, four, NULL}, .kind = TSR_LEAF_HOST},
       TSR_CAUSE_BAD_ARGUMENT,
       "leaf \"w\": a tensor in host memory without data, wanted 16 bytes"},
      {{.tensor.path = "w", .kind = TSR_LEAF_HOST, .tensor.dtype = (tsr_dtype)9999, .data = data},
       TSR_CAUSE_UNKNOWN_DTYPE,
       "leaf \"w\": type 9999 is not known"},
  };
  tsr_array_tree *tree = NULL;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_status status = tsr_array_tree_create(&cases[i].leaf, 1, &tree);
    assert_string_equal(tsr_status_text(status), cases[i].message);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    tsr_status_free(status);
  }
  const tsr_leaf bad = {.tensor = tsr_tensor_of("w", TSR_F32, TSR_SHAPE(-4)),
                        .kind = TSR_LEAF_SHAPE};
  tsr_status status = tsr_array_tree_create(&bad, 1, &tree);
  assert_non_null(strstr(tsr_status_text(status), "leaf \"w\": "));
  tsr_status_free(status);
  const tsr_leaf sizeless = {.tensor = {"w", TSR_F32, 2, NULL, NULL}, .kind = TSR_LEAF_SHAPE};
  assert_fails(tsr_array_tree_create(&sizeless, 1, &tree), BAD_ARGUMENT,
               "leaf \"w\": a tensor of rank 2 without dims");
  const tsr_leaf deep = {.tensor = {"w", TSR_F32, 33, four, NULL}, .kind = TSR_LEAF_SHAPE};
  assert_fails(tsr_array_tree_create(&deep, 1, &tree), TOO_LARGE,
               "leaf \"w\": rank 33, wanted 0 to 32");
  const tsr_leaf twice[] = {{.tensor.path = "a", .kind = TSR_LEAF_SHAPE, .tensor.dtype = TSR_F32},
                            {.tensor.path = "a", .kind = TSR_LEAF_SHAPE, .tensor.dtype = TSR_F32}};
  assert_fails(tsr_array_tree_create(twice, 2, &tree), DUPLICATE_PATH,
               "path \"a\" is given twice, to tensors 0 and 1");
  assert_fails(tsr_array_tree_create(twice, -1, &tree), TOO_LARGE,
               "a tree of -1 leaves, wanted 0 to 2147483647");
}

static void donated_arrays_are_refused(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(2);
  tsr_mesh *mesh = make_mesh("tp=2");
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(4)), *moved = NULL;
  tsr_spec *spec = make_spec("tp");
  tsr_array_tree *tree = NULL;
  const tsr_reshard_options donate = {.size = sizeof donate, .donate = true};
  const tsr_place_options options = {.size = sizeof options, .reshard = &donate};
  assert_ok(tsr_array_constrain(array, spec, mesh, &options, &moved, NULL));
  assert_lies(moved, "tp");
  assert_true(tsr_array_is_deleted(array));
  const tsr_leaf leaf = {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = array};
  assert_fails(tsr_array_tree_create(&leaf, 1, &tree), BAD_ARGUMENT,
               "leaf \"w\": the array was donated and holds nothing");
  tsr_array_release(moved);
  tsr_array_release(array);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- back to host memory ----

static void gathered_leaves_keep_their_memory(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_array_tree *tree = make_array_tree(comm), *back = NULL, *again = NULL;
  assert_ok(tsr_array_tree_gather(tree, -1, &back));
  tsr_array_tree_release(tree);
  const tsr_leaf *w = tsr_array_tree_find(back, "w");
  assert_int_equal(w->kind, TSR_LEAF_HOST);
  assert_non_null(w->buffer);
  assert_true(pattern_holds(w->data, 512));
  assert_int_equal(tsr_array_tree_find(back, "x")->kind, TSR_LEAF_SHAPE);
  assert_non_null(tsr_array_tree_find(back, "x")->spec);
  assert_ok(tsr_array_tree_gather(back, 0, &again));  // nothing is left to gather
  assert_ptr_equal(tsr_array_tree_find(again, "w")->data, w->data);
  tsr_array_tree_release(back);
  assert_true(pattern_holds(tsr_array_tree_find(again, "w")->data, 512));
  tsr_array_tree_release(again);
  tsr_comm_release(comm);
}

// ---- how it lies ----

static void shardings_are_those_of_placed_arrays(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array *placed = make_placed(comm, mesh, "dp, tp", TSR_SHAPE(4, 4));
  tsr_array *unplaced = make_unplaced(comm, TSR_SHAPE(4));
  tsr_spec *spec = make_spec("tp"), *unknown = make_spec("ghost");
  tsr_leaf leaves[] = {
      {.tensor.path = "p", .kind = TSR_LEAF_ARRAY, .array = placed},
      {.tensor.path = "u", .kind = TSR_LEAF_ARRAY, .array = unplaced},
      {.tensor = tsr_tensor_of("x", TSR_F32, TSR_SHAPE(4)), .kind = TSR_LEAF_SHAPE, .spec = spec},
  };
  tsr_array_tree *tree = NULL;
  const tsr_sharding *shardings[3];
  tsr_sharding *all[3];
  assert_ok(tsr_array_tree_create(leaves, 3, &tree));
  tsr_array_tree_shardings(tree, shardings);
  assert_ptr_equal(shardings[0], tsr_array_sharding(placed));
  assert_null(shardings[1]);
  assert_null(shardings[2]);  // not placed yet
  assert_ok(tsr_array_tree_extract_shardings(tree, mesh, all));
  assert_true(tsr_spec_equal(tsr_sharding_spec(all[2]), spec));
  assert_null(all[1]);
  for (int i = 0; i < 3; i++) tsr_sharding_release(all[i]);
  assert_fails_with(tsr_array_tree_extract_shardings(tree, NULL, all), NO_MESH_ACTIVE, "mesh");
  tsr_array_tree_release(tree);
  leaves[2].spec = unknown;
  assert_ok(tsr_array_tree_create(leaves, 3, &tree));
  assert_fails_with(tsr_array_tree_extract_shardings(tree, mesh, all), UNKNOWN_MESH_AXIS,
                    "leaf \"x\": ");
  tsr_array_tree_release(tree);
  tsr_spec_release(unknown);
  tsr_spec_release(spec);
  tsr_array_release(unplaced);
  tsr_array_release(placed);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void specs_are_told_or_refused(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(4);
  tsr_mesh *mesh = make_mesh("dp=2,tp=2");
  tsr_array *placed = make_placed(comm, mesh, "dp", TSR_SHAPE(4, 4));
  tsr_array *unplaced = make_unplaced(comm, TSR_SHAPE(4));
  static const float data[4] = {0};
  const tsr_leaf good[] = {
      {.tensor.path = "p", .kind = TSR_LEAF_ARRAY, .array = placed},
      {.tensor.path = "s", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_F32, .data = data}};
  const struct {
    tsr_leaf leaf;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{.tensor.path = "u", .kind = TSR_LEAF_ARRAY, .array = unplaced},
       TSR_CAUSE_LEAF_HAS_NO_SPEC,
       "leaf \"u\": the array has no spec: it was not placed by one"},
      {{.tensor = tsr_tensor_of("h", TSR_F32, TSR_SHAPE(4)), .kind = TSR_LEAF_HOST, .data = data},
       TSR_CAUSE_UNSUPPORTED_LEAF,
       "leaf \"h\": a tensor in host memory, wanted an array or a scalar"},
      {{.tensor.path = "x", .kind = TSR_LEAF_SHAPE, .tensor.dtype = TSR_F32},
       TSR_CAUSE_UNSUPPORTED_LEAF,
       "leaf \"x\": a shape without data, wanted an array or a scalar"},
  };
  tsr_array_tree *tree = NULL;
  tsr_spec *specs[3] = {NULL};
  assert_ok(tsr_array_tree_create(good, 2, &tree));
  assert_ok(tsr_array_tree_specs(tree, specs));
  assert_int_equal(tsr_spec_desc_of(specs[0])->dim_count, 1);  // as written, not filled to the rank
  assert_int_equal(tsr_spec_desc_of(specs[1])->dim_count, 0);
  tsr_spec_release(specs[0]);
  tsr_spec_release(specs[1]);
  tsr_array_tree_release(tree);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_leaf leaves[] = {good[0], cases[i].leaf};
    assert_ok(tsr_array_tree_create(leaves, 2, &tree));
    tsr_status status = tsr_array_tree_specs(tree, specs);
    assert_string_equal(tsr_status_text(status), cases[i].message);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    tsr_status_free(status);
    tsr_array_tree_release(tree);
  }
  tsr_array_release(unplaced);
  tsr_array_release(placed);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- without memory ----

static tsr_status copy_and_ask(void *context) {
  const tsr_array_tree *tree = context;
  const tsr_leaf leaves[] = {*tsr_array_tree_at(tree, 0), *tsr_array_tree_at(tree, 2)};
  tsr_array_tree *copy = NULL, *back = NULL;
  tsr_tree *shapes = NULL;
  TSR_TRY(tsr_array_tree_create(leaves, 2, &copy));
  tsr_status status = tsr_array_tree_shapes(copy, &shapes);
  if (!status) status = tsr_array_tree_gather(copy, -1, &back);
  tsr_array_tree_release(back);
  tsr_tree_release(shapes);
  tsr_array_tree_release(copy);
  return status;
}

static tsr_status extract_all(void *context) {
  const tsr_array_tree *tree = context;
  tsr_sharding *shardings[5];
  TSR_TRY(tsr_array_tree_extract_shardings(tree, NULL, shardings));
  for (int i = 0; i < 5; i++) tsr_sharding_release(shardings[i]);
  return NULL;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(2);
  tsr_mesh *mesh = make_mesh("tp=2");
  tsr_array_tree *tree = make_array_tree(comm);
  tsr_scope scope;
  assert_ok(tsr_mesh_enter(mesh, &scope));
  test_allocation_sweep(copy_and_ask, tree);
  test_allocation_sweep(extract_all, tree);
  tsr_scope_leave(scope);
  tsr_array_tree_release(tree);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

SUITE(array_tree, TEST(leaves_are_found_by_path), TEST(shapes_are_a_tree_for_rules),
      TEST(leaves_keep_logical_names), TEST(faults_are_named), TEST(donated_arrays_are_refused),
      TEST(gathered_leaves_keep_their_memory), TEST(shardings_are_those_of_placed_arrays),
      TEST(specs_are_told_or_refused), TEST(memory_may_run_out))
