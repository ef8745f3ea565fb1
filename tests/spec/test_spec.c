// Specs as values: what create keeps, canonicalises and refuses, and when two are equal.
#include "tessera/spec.h"

#include <malloc.h>

#include "base/status_internal.h"
#include "spec/spec_internal.h"
#include "support/test.h"
#include "tessera/mesh.h"

static tsr_spec *parse(const char *text) {
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  return spec;
}

static void assert_prints(const tsr_spec *spec, const char *wanted) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

static void a_plain_spec_is_small(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_of((const char *[]){"data", "model"}, 2, &spec));
  assert_true(malloc_usable_size(spec) <= 288);
  tsr_spec_release(spec);
}

static void entries_of_the_common_case(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  assert_ok(tsr_spec_of((const char *[]){"data", NULL, "", "?", "fsdp+tp", "x:(2)4+?"}, 6, &spec));
  assert_prints(spec, "data, _, _, ?, fsdp+tp, x:(2)4+?");
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  assert_int_equal(desc->dim_count, 6);
  assert_int_equal(desc->dims[1].stage_count, 0);
  assert_false(desc->dims[2].open);
  assert_true(desc->dims[3].open);
  assert_int_equal(desc->dims[4].stages[0].axis_count, 2);
  assert_string_equal(desc->dims[4].stages[0].axes[1].name, "tp");
  tsr_spec_release(spec);
  assert_fails(tsr_spec_of(NULL, -1, &spec), BAD_ARGUMENT, "-1 dimensions, expected 0 or more");
  assert_ok(tsr_spec_of(NULL, 0, &spec));
  assert_prints(spec, "()");
  tsr_spec_release(spec);
}

static void names_are_stored_once(void **state) {
  (void)state;
  tsr_spec *spec = parse("x+y, x | replicated=w");
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  assert_ptr_equal(desc->dims[0].stages[0].axes[0].name, desc->dims[1].stages[0].axes[0].name);
  tsr_spec_release(spec);
}

static void groups_are_canonical_as_in_jax(void **state) {
  (void)state;
  static const struct {
    const char *text, *wanted;
  } cases[] = {
      {"P((), [], '', None)", "_, _, _, _"},
      {"P(('x',), ['y'])", "x, y"},
      {"P((None,), ('x', None), (None, None))", "_, x+_, _+_"},
      {"_;x;_", "x"},
      {"_+?", "?"},
      {"x, x+x", "x, x+x"},  // repeated axes are found when bound
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spec *spec = parse(cases[i].text);
    assert_prints(spec, cases[i].wanted);
    tsr_spec_release(spec);
  }
}

static void length_and_every_word_count_in_equality(void **state) {
  (void)state;
  static const char *const different[] = {"()",
                                          "_",
                                          "_, _",
                                          "x",
                                          "x, _",
                                          "y",
                                          "?",
                                          "x+?",
                                          "x@1",
                                          "x@0",
                                          "_@0",
                                          "x+y",
                                          "y+x",
                                          "x;y",
                                          "x:(1)2",
                                          "x:(2)2",
                                          "x/cyclic(2)",
                                          "x/cyclic(3)",
                                          "x/sizes(1,2)",
                                          "x/sizes(2,1)",
                                          "x/parts(1)",
                                          "x/parts(a:1)",
                                          "x/parts(4/2)",
                                          "x/parts(4/2*2)",
                                          "x/parts(4*2)",
                                          "_ | unreduced=x",
                                          "_ | reduced=x",
                                          "_ | replicated=x",
                                          "_ | mesh=m",
                                          "_ | unreduced=max(x)",
                                          "_ | unreduced=min(x)",
                                          "_ | unreduced=x+y",
                                          "_ | unreduced=x:(1)2",
                                          "_+_"};
  enum { COUNT = COUNT_OF(different) };
  tsr_spec *specs[COUNT];
  for (size_t i = 0; i < COUNT; i++) specs[i] = parse(different[i]);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < COUNT; j++) {
      assert_true(tsr_spec_equal(specs[i], specs[j]) == (i == j));
      if (i != j) assert_true(tsr_spec_hash(specs[i]) != tsr_spec_hash(specs[j]));
    }
  for (size_t i = 0; i < COUNT; i++) tsr_spec_release(specs[i]);
}

static void sets_compare_as_sets_and_print_in_order(void **state) {
  (void)state;
  tsr_spec *a = parse("_ | unreduced=x+y+x"), *b = parse("_ | unreduced=y+x");
  assert_true(tsr_spec_equal(a, b));
  assert_true(tsr_spec_hash(a) == tsr_spec_hash(b));
  assert_prints(a, "_ | unreduced=x+y");
  assert_prints(b, "_ | unreduced=y+x");
  tsr_spec_release(a);
  tsr_spec_release(b);
}

static void sharing_keeps_a_spec_alive(void **state) {
  (void)state;
  tsr_spec *spec = parse("x");
  tsr_spec *again = tsr_spec_retain(spec);
  tsr_spec_release(spec);
  assert_prints(again, "x");
  tsr_spec_release(again);
  tsr_spec_release(NULL);
}

static void overlaps_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *slug, *message;
  } cases[] = {
      {"x | unreduced=x", "partition_overlaps_unreduced",
       "axis \"x\" cuts dimension 0 and is unreduced too"},
      {"_, y+x | reduced=x", "partition_overlaps_reduced",
       "axis \"x\" cuts dimension 1 and is reduced too"},
      {"_ | unreduced=x reduced=x", "unreduced_overlaps_reduced",
       "axis \"x\" is unreduced and reduced too"},
      {"x | unreduced=y+x reduced=y", "unreduced_overlaps_reduced",
       "axis \"y\" is unreduced and reduced too"},
      {"x | replicated=x", "duplicate_mesh_axis",
       "axis \"x\" cuts dimension 0 and is replicated too"},
      {"_ | unreduced=x replicated=x", "duplicate_mesh_axis",
       "axis \"x\" is unreduced and replicated too"},
      {"x:(2)2 | unreduced=x", "partition_overlaps_unreduced",
       "axis \"x\" cuts dimension 0 and is unreduced too"},
      {"x:(2)4 | unreduced=x:(4)2", "partition_overlaps_unreduced",
       "axis \"x\" cuts dimension 0 and is unreduced too"},
      {"_ | unreduced=x+x:(2)2", "duplicate_mesh_axis",
       "sub-axes of \"x\" overlap among the unreduced axes"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spec *spec = NULL;
    tsr_status status = tsr_spec_parse(cases[i].text, TSR_FORM_SHORT, &spec);
    assert_message(status, cases[i].message);
    assert_true(tsr_cause_matches(tsr_status_cause(status), cases[i].slug));
    assert_null(spec);
    tsr_status_free(status);
  }
  tsr_spec *parts = parse("x:(2)2 | unreduced=x:(4)2");  // disjoint parts of one axis
  tsr_spec_release(parts);
}

// A description of one dimension with one stage.
static tsr_status create_stage(tsr_stage stage) {
  tsr_spec *spec = NULL;
  const tsr_spec_dim dim = {.stage_count = 1, .stages = &stage};
  TSR_TRY(tsr_spec_create(
      &(tsr_spec_desc){.size = sizeof(tsr_spec_desc), .dim_count = 1, .dims = &dim}, &spec));
  tsr_spec_release(spec);
  return NULL;
}

static void senseless_stages_are_refused(void **state) {
  (void)state;
  const tsr_axis_ref x = {.name = "x"};
  const int64_t sizes[] = {3, -1}, huge[] = {INT64_MAX, 1};
  assert_ok(create_stage((tsr_stage){.axis_count = 1, .axes = &x}));
  assert_ok(create_stage((tsr_stage){.axis_count = 0}));
  assert_fails(create_stage((tsr_stage){.axis_count = 1, .axes = &(tsr_axis_ref){NULL, 1, 0}}),
               BAD_ARGUMENT, "dimension 0: an axis has no name");
  assert_fails_with(create_stage((tsr_stage){.axis_count = 1, .axes = &(tsr_axis_ref){"x", 2, 0}}),
                    BAD_SUB_AXIS, "sub-axis \"x\":(2)0");
  assert_fails_with(create_stage((tsr_stage){.axis_count = 1, .axes = &(tsr_axis_ref){"x", -1, 2}}),
                    BAD_SUB_AXIS, "sub-axis \"x\":(-1)2");
  assert_fails_with(
      create_stage((tsr_stage){.axis_count = 1, .axes = &(tsr_axis_ref){"x", INT64_MAX, 2}}),
      BAD_SUB_AXIS, "their product a size");
  assert_fails_with(create_stage((tsr_stage){.axis_count = -1}), BAD_ARGUMENT, "wanted 0 or more");
  assert_fails_with(create_stage((tsr_stage){.axis_count = TSR_MAX_AXES * 1000, .axes = &x}),
                    TOO_LARGE, "at most 4096");
  assert_fails_with(
      create_stage((tsr_stage){.kind = (tsr_stage_kind)9, .axis_count = 1, .axes = &x}),
      BAD_ARGUMENT, "9 is not a kind of stage");
  assert_fails(create_stage((tsr_stage){.kind = TSR_STAGE_CYCLIC, .block = 4}), BAD_CUT,
               "dimension 0: a cut names no axis");
  assert_fails_with(
      create_stage((tsr_stage){.kind = TSR_STAGE_CYCLIC, .axis_count = 1, .axes = &x}), BAD_CUT,
      "cyclic blocks of 0 elements");
  assert_fails_with(create_stage((tsr_stage){.kind = TSR_STAGE_SIZES, .axis_count = 1, .axes = &x}),
                    BAD_CUT, "without sizes");
  assert_fails_with(create_stage((tsr_stage){.kind = TSR_STAGE_PARTS, .axis_count = 1, .axes = &x}),
                    BAD_CUT, "without parts");
  assert_fails_with(
      create_stage((tsr_stage){
          .kind = TSR_STAGE_SIZES, .axis_count = 1, .axes = &x, .count = 2, .sizes = sizes}),
      BAD_CUT, "dimension 0: the cut has size -1, expected 0 or more");
  assert_fails_with(
      create_stage((tsr_stage){
          .kind = TSR_STAGE_SIZES, .axis_count = 1, .axes = &x, .count = 2, .sizes = huge}),
      BAD_CUT, "dimension 0: the sizes of the cut add up to more than 2^63-1");
}

static void senseless_parts_are_refused(void **state) {
  (void)state;
  const tsr_axis_ref x = {.name = "x"};
  static const struct {
    tsr_part part;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{"q", 4, 2, 1}, TSR_CAUSE_NONE, ""},
      {{NULL, 4, 2, 1}, TSR_CAUSE_BAD_ARGUMENT, "dimension 0: part 0 has no name"},
      {{"q", -4, 2, 1}, TSR_CAUSE_BAD_CUT, "dimension 0: part \"q\" has size -4, wanted 0 or more"},
      {{"q", 4, 0, 1}, TSR_CAUSE_BAD_CUT, "dimension 0: part \"q\" has grain 0, wanted 1 or more"},
      {{"q", 4, 1, 0}, TSR_CAUSE_BAD_CUT, "dimension 0: part \"q\" has 0 copies, wanted 1 or more"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_status status = create_stage((tsr_stage){
        .kind = TSR_STAGE_PARTS, .axis_count = 1, .axes = &x, .count = 1, .parts = &cases[i].part});
    assert_message(status, cases[i].message);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    tsr_status_free(status);
  }
}

static void zeroed_dimensions_are_plain_ones(void **state) {
  (void)state;
  const tsr_spec_dim dims[2] = {{0}};
  tsr_spec *made = NULL, *read = NULL;
  assert_ok(tsr_spec_create(
      &(tsr_spec_desc){.size = sizeof(tsr_spec_desc), .dim_count = 2, .dims = dims}, &made));
  assert_ok(tsr_spec_parse("_, _", TSR_FORM_SHORT, &read));
  assert_true(tsr_spec_equal(made, read));
  tsr_spec_release(made);
  tsr_spec_release(read);
}

static void senseless_descriptions_are_refused(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  const size_t size = sizeof(tsr_spec_desc);
  const tsr_axis_ref none = {.name = ""};
  const tsr_spec_dim low = {.priority = -2}, stages = {.stage_count = -1};
  assert_fails_with(tsr_spec_create(&(tsr_spec_desc){.size = 7}, &spec), BAD_ARGUMENT, "size 7");
  assert_fails_with(tsr_spec_create(&(tsr_spec_desc){.size = size, .dim_count = -1}, &spec),
                    BAD_ARGUMENT, "-1 dimensions, wanted 0 or more");
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .reduction = TSR_SPEC_REDUCTION_COUNT}, &spec),
      BAD_ARGUMENT, "reduction 3 is not one of sum, max and min");
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .unreduced_count = 1, .unreduced = &none},
                      &spec),
      BAD_ARGUMENT, "the unreduced axes include None");
  assert_fails_with(tsr_spec_create(&(tsr_spec_desc){.size = size, .reduced_count = -1}, &spec),
                    BAD_ARGUMENT, "the reduced axes: -1 axes, wanted 0 or more");
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .replicated_count = 5000, .replicated = &none},
                      &spec),
      TOO_LARGE, "at most 4096");
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .dim_count = 1, .dims = &low}, &spec),
      BAD_ARGUMENT, "priority -2");
  const tsr_spec_dim unsaid = {.priority = 3};
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .dim_count = 1, .dims = &unsaid}, &spec),
      BAD_ARGUMENT, "priority 3, but has_priority is not set");
  assert_fails_with(
      tsr_spec_create(&(tsr_spec_desc){.size = size, .dim_count = 1, .dims = &stages}, &spec),
      BAD_ARGUMENT, "-1 stages, wanted 0 or more");
}

SUITE(spec, TEST(a_plain_spec_is_small), TEST(entries_of_the_common_case),
      TEST(names_are_stored_once), TEST(groups_are_canonical_as_in_jax),
      TEST(length_and_every_word_count_in_equality), TEST(sets_compare_as_sets_and_print_in_order),
      TEST(sharing_keeps_a_spec_alive), TEST(overlaps_are_refused),
      TEST(senseless_stages_are_refused), TEST(senseless_parts_are_refused),
      TEST(zeroed_dimensions_are_plain_ones), TEST(senseless_descriptions_are_refused))
