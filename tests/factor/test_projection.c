// Shardings seen by factors, and back.
#include "factor/projection.h"

#include "base/text_internal.h"
#include "factor_cases.h"

#define MESH "<[\"a\"=2, \"b\"=2, \"x\"=4, \"h\"=8, \"p\"=3, \"s\"=6, \"u\"=1]>"

typedef struct projection_case {
  const char *rule, *shardings;
  const char *places;  // each with its factor, axes, + overflow axes, ! if closed; - = not present
} projection_case;

static void print_places(const tsr_projection *projection, tsr_text *out) {
  for (int i = 0; i < projection->rule->place_count; i++) {
    const tsr_factor_sharding *place = &projection->places[i];
    tsr_text_addf(out, "%s%c", i ? " " : "", 'i' + projection->rule->places[i].factor);
    if (!place->present) {
      tsr_text_add_char(out, '-');
      continue;
    }
    tsr_sdy_parts_print(projection->mesh, &place->axes, out);
    if (place->overflow.count) {
      tsr_text_add_char(out, '+');
      tsr_sdy_parts_print(projection->mesh, &place->overflow, out);
    }
    if (place->closed) tsr_text_add_char(out, '!');
  }
}

static const projection_case cases[] = {
    {"<([i])->([i]) {i=8}>", "[{\"a\", \"x\"}] | [{?}]", "i{\"a\", \"x\"}! i{}"},
    {"<([i])->([i]) {i=3}>", "[{\"a\", ?}] | -", "i{\"a\"} i{}"},
    {"<([ij])->([i, j]) {i=2, j=4}>", "[{\"x\", \"a\", ?}] | [{}, {?}]",
     "i{\"x\":(1)2} j{\"x\":(2)2, \"a\"} i{}! j{}"},
    {"<([ijk])->([]) {i=2, j=2, k=4}>", "[{\"h\", \"a\", ?}] | []",
     "i{\"h\":(1)2} j{\"h\":(2)2} k{\"h\":(4)2, \"a\"}"},
    {"<([ij])->([]) {i=4, j=4}>", "[{\"a\", ?}] | []", "i{\"a\"} j{}"},
    {"<([ij])->([]) {i=4, j=4}>", "[{\"a\", \"b\", \"x\", ?}] | []", "i{\"a\", \"b\"} j{\"x\"}"},
    // 6 has 2 in common with the factor, and the 3 that is left nothing.
    {"<([ij])->([]) {i=4, j=4}>", "[{\"s\", \"a\", ?}] | []",
     "i{\"s\":(1)2}+{\"s\":(2)3, \"a\"} j{}!"},
    {"<([ijk])->([]) {i=2, j=4, k=4}>", "[{\"p\", \"a\", ?}] | []", "i{}+{\"p\", \"a\"} j{}! k-"},
    {"<([ij])->([]) {i=6, j=4}>", "[{\"a\", \"p\", \"b\", ?}] | []", "i{\"a\", \"p\"} j{\"b\"}"},
    {"<([ij])->([]) {i=2, j=4}>", "[{\"u\", \"a\", \"b\", ?}] | []", "i{\"u\", \"a\"} j{\"b\"}"},
    {"<([ij])->([]) {i=1, j=4}>", "[{\"a\", ?}] | []", "i{} j{\"a\"}"},
    {"<([ij])->([]) {i=4, j=4}>", "[{\"h\":(2)4, \"a\"}] | []", "i{\"h\":(2)4}! j{\"a\"}!"},
    {"<([ij])->([]) {i=2, j=4}>", "[{\"h\":(2)4, \"a\"}] | []",
     "i{\"h\":(2)2}! j{\"h\":(4)2, \"a\"}!"},
};

static void check_case(const projection_case *c) {
  factor_scene scene;
  tsr_projection projection;
  tsr_text text = TSR_TEXT_EMPTY;
  factor_scene_begin(&scene, MESH, c->rule, c->shardings);
  assert_ok(tsr_project(&scene.arena, scene.rule, scene.mesh, scene.shardings, false, &projection));
  print_places(&projection, &text);
  assert_string_equal(tsr_text_string(&text), c->places);
  for (int i = 0; i < scene.count; i++) {
    if (!scene.shardings[i]) continue;
    const tsr_tensor_sharding *back =
        tsr_unproject(&scene.arena, &projection, i, scene.shardings[i]->mesh_ref);
    assert_true(tsr_tensor_sharding_equal(back, scene.shardings[i]));
  }
  tsr_text_deinit(&text);
  factor_scene_end(&scene);
}

static void axes_are_handed_out_to_factors_and_back(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_case(&cases[i]);
}

static void missing_shardings_are_closed_if_asked_for(void **state) {
  (void)state;
  factor_scene scene;
  tsr_projection projection;
  factor_scene_begin(&scene, MESH, "<([i])->([i]) {i=8}>", "[{?}] | -");
  assert_ok(tsr_project(&scene.arena, scene.rule, scene.mesh, scene.shardings, true, &projection));
  assert_false(projection.places[0].closed);
  assert_true(projection.places[1].closed);
  factor_scene_end(&scene);
}

// Axes grow only where the old ones begin the new ones.
static void only_longer_axes_replace_those_of_a_factor(void **state) {
  (void)state;
  static const struct {
    const char *shardings;
    bool grows;
  } growing[] = {
      {"[{\"a\"}] | [{\"a\", \"b\"}]", true},
      {"[{}] | [{\"h\":(1)2}]", true},
      {"[{\"a\"}] | [{\"a\"}]", false},
      {"[{\"b\"}] | [{\"a\", \"b\"}]", false},
      {"[{\"h\":(1)2}] | [{\"h\"}]", true},
      {"[{\"h\":(2)2}] | [{\"h\"}]", false},
      {"[{\"a\", \"b\"}] | [{\"a\"}]", false},
      {"[{\"a\"}] | [{}]", false},
      {"[{\"h\":(1)2}] | [{\"h\":(1)4, \"a\"}]", true},
  };
  for (size_t i = 0; i < COUNT_OF(growing); i++) {
    factor_scene scene;
    tsr_projection projection;
    factor_scene_begin(&scene, MESH, "<([i])->([i]) {i=64}>", growing[i].shardings);
    assert_ok(
        tsr_project(&scene.arena, scene.rule, scene.mesh, scene.shardings, false, &projection));
    const tsr_sdy_parts *longer = &scene.shardings[1]->dims[0].axes;
    assert_int_equal(tsr_projection_expand(&projection, 0, longer), growing[i].grows);
    assert_int_equal(tsr_sdy_parts_equal(&projection.places[0].axes, longer),
                     growing[i].grows || i == 2);
    factor_scene_end(&scene);
  }
}

SUITE(projection, TEST(axes_are_handed_out_to_factors_and_back),
      TEST(missing_shardings_are_closed_if_asked_for),
      TEST(only_longer_axes_replace_those_of_a_factor))
