#include "plan/random_models.h"

#include <stdio.h>

#include "base/text_internal.h"
#include "plan/plan_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"

tsr_mesh *random_mesh(test_random *random) {
  static const char *const names[] = {"dp", "fsdp", "tp", "sp"};
  static const int sizes[] = {1, 2, 2, 3, 4, 4, 6, 8};
  tsr_axis axes[4];
  const int count = (int)test_random_range(random, 1, 4);
  const int first = (int)test_random_range(random, 0, 3);
  for (int i = 0; i < count; i++)
    axes[i] =
        (tsr_axis){.name = names[(first + i) % 4], .size = sizes[test_random_range(random, 0, 7)]};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(
      &(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc), .axis_count = count, .axes = axes}, &mesh));
  return mesh;
}

tsr_shape random_shape(test_random *random) {
  static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 64, 96, 100, 1024};
  tsr_shape shape = {.rank = (int)test_random_range(random, 0, 4)};
  for (int i = 0; i < shape.rank; i++) shape.dims[i] = sizes[test_random_range(random, 0, 15)];
  return shape;
}

tsr_tree *random_tree(test_random *random, int64_t count) {
  static const tsr_dtype types[] = {TSR_F32, TSR_BF16, TSR_I8};
  tsr_tensor tensors[64];
  tsr_shape shapes[64];
  char paths[64][24];
  tsr_tree *tree = NULL;
  assert_true(count <= 64);
  for (int64_t i = 0; i < count; i++) {
    shapes[i] = random_shape(random);
    snprintf(paths[i], sizeof paths[i], "%c%c.weight", (int)('a' + i / 26), (int)('a' + i % 26));
    tensors[i] = (tsr_tensor){.path = paths[i],
                              .dtype = types[test_random_range(random, 0, 2)],
                              .rank = shapes[i].rank,
                              .dims = shapes[i].dims};
  }
  assert_ok(tsr_tree_create(tensors, count, &tree));
  return tree;
}

void assert_spec_fits(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape) {
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_layout_create(sharding, shape, TSR_POLICY_ERROR, &layout));
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
}

void assert_spec(const tsr_spec *spec, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

void assert_plan_fits(const tsr_plan *plan) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, i, &row));
    const tsr_shape shape = tsr_tensor_shape(row.tensor);
    assert_spec_fits(row.final, tsr_plan_mesh(plan), &shape);
    assert_true(row.note_count > 0);
  }
}

static void add_notes(tsr_text *text, const tsr_plan_row *row) {
  for (int i = 0; i < row->note_count; i++) {
    const tsr_plan_note *note = &row->notes[i];
    tsr_text_addf(text, "%s %s %d %lld %s", i ? ";" : ":", tsr_why_word(note->why), note->dim,
                  (long long)note->argument, note->axis ? note->axis : "-");
  }
}

static void assert_text(const tsr_plan *plan, bool notes, const char *between,
                        const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, i, &row));
    if (i) tsr_text_add(&text, between);
    assert_ok(tsr_spec_print(row.final, TSR_FORM_SHORT, &text));
    if (notes) add_notes(&text, &row);
  }
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

void assert_specs(const tsr_plan *plan, const char *expected) {
  assert_text(plan, false, " | ", expected);
}

void assert_rows(const tsr_plan *plan, const char *expected) {
  assert_text(plan, true, "\n", expected);
}

void assert_reasons(const tsr_plan *plan, int64_t index, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_plan_row row = TSR_PLAN_ROW;
  assert_ok(tsr_plan_at(plan, index, &row));
  for (int i = 0; i < row.note_count; i++) {
    if (i) tsr_text_add(&text, "; ");
    tsr_plan_note_print(plan, index, &row.notes[i], &text);
  }
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}
