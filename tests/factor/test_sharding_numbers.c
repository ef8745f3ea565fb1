// Parts of axes and single shardings.
#include "base/text_internal.h"
#include "factor_cases.h"

#define MESH "<[\"a\"=2, \"b\"=2, \"h\"=48]>"
#define RULE "<([i])->([i]) {i=8}>"

static const struct {
  const char *part, *others;
  const char *left;  // of the part; NULL = nothing
} cuts[] = {
    {"\"a\"", "\"b\"", "{\"a\"}"},
    {"\"a\"", "\"a\"", NULL},
    {"\"h\"", "\"h\":(4)2", "{\"h\":(1)4}"},
    {"\"h\":(2)4", "\"h\":(4)2", "{\"h\":(2)2}"},
    {"\"h\":(2)2", "\"h\":(4)2", "{\"h\":(2)2}"},
    {"\"h\":(4)2", "\"h\":(2)4", NULL},
    {"\"h\":(1)2", "\"h\":(1)3", NULL},  // an axis cannot have both
    {"\"h\":(1)4", "\"h\":(2)3", NULL},
    {"\"h\":(1)8", "\"h\":(4)2, \"h\":(2)2", "{\"h\":(1)2}"},
};

static void parts_are_cut_to_what_does_not_overlap(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cuts); i++) {
    factor_scene scene;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "[{%s}] | [{%s}]", cuts[i].part, cuts[i].others);
    factor_scene_begin(&scene, MESH, RULE, tsr_text_string(&text));
    tsr_sdy_parts left = {scene.shardings[0]->dims[0].axes.items, 1};
    const bool any = tsr_part_cut(scene.mesh, left.items, &scene.shardings[1]->dims[0].axes);
    assert_int_equal(any, cuts[i].left != NULL);
    tsr_text_deinit(&text);
    if (any) tsr_sdy_parts_print(scene.mesh, &left, &text);
    if (any) assert_string_equal(tsr_text_string(&text), cuts[i].left);
    tsr_text_deinit(&text);
    factor_scene_end(&scene);
  }
}

static const char *const shardings[] = {
    "[{}] | [{?}]",
    "[{\"a\", ?}p3] | [{\"h\":(2)4, \"a\"}], replicated={\"b\"}",
    "[{\"b\"}], unreduced={\"a\"} | [{\"b\"}p0], replicated={\"h\":(1)2}, unreduced=max{\"a\"}",
};

static void shardings_are_read_and_written(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(shardings); i++) {
    factor_scene scene;
    tsr_text text = TSR_TEXT_EMPTY;
    factor_scene_begin(&scene, MESH, RULE, shardings[i]);
    print_shardings(scene.ir, scene.shardings, scene.count, &text);
    assert_string_equal(tsr_text_string(&text), shardings[i]);
    const tsr_tensor_sharding *copy = tsr_sharding_copy(&scene.arena, scene.shardings[1]);
    assert_true(tsr_tensor_sharding_equal(copy, scene.shardings[1]));
    assert_false(tsr_tensor_sharding_equal(scene.shardings[0], scene.shardings[1]));
    assert_int_equal(tsr_sharding_has_axes(scene.shardings[1]), i != 0);
    tsr_text_deinit(&text);
    factor_scene_end(&scene);
  }
}

static void a_mesh_in_plain_order_is_the_common_one(void **state) {
  (void)state;
  factor_scene plain, other, empty;
  factor_scene_begin(&plain, "<[\"a\"=2]>", RULE, "[{\"a\"}] | -");
  factor_scene_begin(&other, "<[\"a\"=2], device_ids=[1, 0]>", RULE, "[{\"a\"}] | -");
  factor_scene_begin(&empty, "<[]>", RULE, "[{}] | -");
  const tsr_tensor_sharding *all[] = {empty.shardings[0], NULL, other.shardings[0],
                                      empty.shardings[0], plain.shardings[0]};
  assert_ptr_equal(tsr_common_mesh(all, 5, true), plain.shardings[0]);
  assert_null(tsr_common_mesh(all, 5, false));
  assert_ptr_equal(tsr_common_mesh(all, 4, false), other.shardings[0]);
  assert_ptr_equal(tsr_common_mesh(all, 2, false), empty.shardings[0]);
  assert_null(tsr_common_mesh(&all[1], 1, false));
  factor_scene_end(&plain);
  factor_scene_end(&other);
  factor_scene_end(&empty);
}

SUITE(sharding_numbers, TEST(parts_are_cut_to_what_does_not_overlap),
      TEST(shardings_are_read_and_written), TEST(a_mesh_in_plain_order_is_the_common_one))
