// Layouts as values: what is equal has one digest, what is not has another, and texts say it.
#include "base/hash_internal.h"
#include "layout/layout.h"
#include "support/layouts.h"
#include "support/test.h"
#include "tessera/engine/layout.h"

typedef struct written {
  const char *mesh, *spec, *shape;
  tsr_policy policy;
  const char *text;
} written;

static const written cases[] = {
    {"x=2,y=4", "x, y", "8,16", TSR_POLICY_ERROR, "(8, 16) over {x=2,y=4} as x, y"},
    {"x=2,y=4", "y, x", "8,16", TSR_POLICY_ERROR, "(8, 16) over {x=2,y=4} as y, x"},
    {"x=2,y=4", "x, y", "8,8", TSR_POLICY_ERROR, "(8, 8) over {x=2,y=4} as x, y"},
    {"x=2,y=4", "x, y", "8,16,1", TSR_POLICY_ERROR, "(8, 16, 1) over {x=2,y=4} as x, y"},
    {"x=2,y=4", "x, y", "8,16", TSR_POLICY_PAD, "(8, 16) over {x=2,y=4} as x, y, pad"},
    {"x=2,y=4", "()", "8,16", TSR_POLICY_ERROR, "(8, 16) over {x=2,y=4} as ()"},
    {"y=2,x=4", "y, x", "8,16", TSR_POLICY_ERROR, "(8, 16) over {y=2,x=4} as y, x"},
    {"x=2,y=4 devices=[1,0,2,3,4,5,6,7]", "x, y", "8,16", TSR_POLICY_ERROR,
     "(8, 16) over {x=2,y=4 devices=[1,0,2,3,4,5,6,7]} as x, y"},
    {"x=2,y=4", "x/cyclic(2), y", "8,16", TSR_POLICY_UNEVEN,
     "(8, 16) over {x=2,y=4} as x/cyclic(2), y, uneven"},
    {"x=2,y=4", "x/cyclic(1), y", "8,16", TSR_POLICY_UNEVEN,
     "(8, 16) over {x=2,y=4} as x/cyclic(1), y, uneven"},
    {"x=2,y=4", "x, _ | unreduced=y", "8,16", TSR_POLICY_ERROR,
     "(8, 16) over {x=2,y=4} as x, _ | unreduced=y"}};

static void compare(const tsr_layout *a, const tsr_layout *b, bool same) {
  assert_int_equal(tsr_layout_same(a, b), same);
  assert_int_equal(tsr_hash128_equal(tsr_layout_digest(a), tsr_layout_digest(b)), same);
}

static void equal_layouts_have_equal_digests(void **state) {
  (void)state;
  tsr_layout *made[2][COUNT_OF(cases)];
  for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
    const written *c = &cases[i / 2];
    made[i % 2][i / 2] = test_layout_of(c->mesh, c->spec, c->shape, c->policy);
  }
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    for (size_t k = 0; k < COUNT_OF(cases); k++) compare(made[0][i], made[1][k], i == k);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_layout_describe(made[0][i], &text);
    assert_string_equal(tsr_text_string(&text), cases[i].text);
    tsr_text_deinit(&text);
    tsr_layout_release(made[0][i]);
    tsr_layout_release(made[1][i]);
  }
}

// Rows 0 to `first` and the rest of a (4, 2) in boxes, or as many elements as flat ranges.
static tsr_layout *cut_at(int64_t first, bool flat, const tsr_mesh *mesh) {
  const tsr_range boxes[] = {{0, first}, {0, 2}, {first, 4}, {0, 2}};
  const tsr_range ranges[] = {{0, 2 * first}, {2 * first, 8}};
  tsr_layout *layout = NULL;
  if (flat)
    assert_ok(tsr_layout_from_flat(mesh, TSR_SHAPE(4, 2), 2, ranges, &layout));
  else
    assert_ok(tsr_layout_from_boxes(mesh, TSR_SHAPE(4, 2), 2, (int64_t[]){1, 1}, boxes, &layout));
  return layout;
}

static void boxes_and_ranges_are_compared_one_by_one(void **state) {
  (void)state;
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse("x=2", NULL, &mesh));
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 8; k++) {
      tsr_layout *a = cut_at(1 + i % 2, i & 2, i & 4 ? mesh : NULL);
      tsr_layout *b = cut_at(1 + k % 2, k & 2, k & 4 ? mesh : NULL);
      compare(a, b, i == k);
      tsr_layout_release(a);
      tsr_layout_release(b);
    }
  tsr_mesh_release(mesh);
}

static void layouts_without_a_grid_are_described(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_layout *flat = cut_at(1, true, NULL);
  tsr_layout_describe(flat, &text);
  assert_string_equal(tsr_text_string(&text), "(4, 2) in 2 shards of flat ranges");
  tsr_text_deinit(&text);
  tsr_layout_release(flat);
}

SUITE(layout_digest, TEST(equal_layouts_have_equal_digests),
      TEST(boxes_and_ranges_are_compared_one_by_one), TEST(layouts_without_a_grid_are_described))
