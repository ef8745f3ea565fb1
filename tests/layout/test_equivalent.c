#include <string.h>

#include "layout/layout_internal.h"
#include "support/layouts.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/layout.h"

enum { MAX_ELEMENTS = MAX_SIZE * MAX_SIZE * MAX_SIZE };

static bool equivalent(const tsr_layout *a, const tsr_layout *b) {
  bool found = false, back = false;
  assert_ok(tsr_layout_equivalent(a, b, &found));
  assert_ok(tsr_layout_equivalent(b, a, &back));
  assert_int_equal(found, back);
  return found;
}

// ---- the oracle: where a device has each element ----

static void place_piece(const tsr_piece *piece, const tsr_shape *shape, int64_t *places) {
  int64_t at[TSR_MAX_RANK];
  for (int d = 0; d < shape->rank; d++) at[d] = piece->ranges[d].lo;
  for (;;) {
    int64_t flat = 0, offset = piece->offset;
    for (int d = 0; d < shape->rank; d++) {
      flat = flat * shape->dims[d] + at[d];
      offset += (at[d] - piece->ranges[d].lo) * piece->strides[d];
    }
    places[flat] = offset;
    int d = shape->rank - 1;
    for (; d >= 0 && ++at[d] == piece->ranges[d].hi; d--) at[d] = piece->ranges[d].lo;
    if (d < 0) return;
  }
}

static void place_device(const tsr_layout *layout, int64_t device, int64_t *places) {
  const tsr_shape shape = tsr_layout_shape(layout);
  for (int i = 0; i < MAX_ELEMENTS; i++) places[i] = -1;
  tsr_pieces pieces;
  const int64_t position = tsr_mesh_device_find(tsr_layout_mesh(layout), device);
  assert_ok(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, position)));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) place_piece(&piece, &shape, places);
  tsr_pieces_deinit(&pieces);
}

static bool same_places(const tsr_layout *a, const tsr_layout *b) {
  static int64_t in_a[MAX_ELEMENTS], in_b[MAX_ELEMENTS];
  for (int64_t p = 0; p < tsr_layout_device_count(a); p++) {
    const int64_t device = tsr_mesh_device_at(tsr_layout_mesh(a), p);
    place_device(a, device, in_a);
    place_device(b, device, in_b);
    if (memcmp(in_a, in_b, sizeof in_a) != 0) return false;
  }
  return true;
}

// The pieces of a layout as boxes, one shard for each position.
static tsr_layout *as_boxes(const tsr_layout *layout) {
  static tsr_range boxes[MAX_ELEMENTS * MAX_DEVICES * MAX_DIMS];
  int64_t counts[MAX_DEVICES] = {0};
  int64_t count = 0;
  const int rank = tsr_layout_rank(layout);
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
    tsr_pieces pieces;
    assert_ok(tsr_pieces_init(&pieces, layout, tsr_layout_shard(layout, p)));
    for (tsr_piece piece; tsr_pieces_next(&pieces, &piece); counts[p]++, count++)
      memcpy(boxes + count * rank, piece.ranges, sizeof *boxes * (size_t)rank);
    tsr_pieces_deinit(&pieces);
  }
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_layout *made = NULL;
  assert_ok(tsr_layout_from_boxes(tsr_layout_mesh(layout), &shape, tsr_layout_device_count(layout),
                                  counts, boxes, &made));
  return made;
}

static tsr_layout *layout_from(const test_layout *made) {
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_create(made->sharding, &made->shape, TSR_POLICY_UNEVEN, &layout));
  return layout;
}

static void random_layouts_compare_as_their_elements_do(void **state) {
  (void)state;
  test_random random = {31};
  int equal = 0, equal_to_boxes = 0;
  for (int round = 0; round < 2000; round++) {
    test_layout first, second;
    test_layout_make(&random, round % 2, &first);
    test_layout_make_other(&random, round % 2, &first, &second);
    tsr_layout *a = layout_from(&first), *b = layout_from(&second), *boxes = as_boxes(a);
    const bool same = same_places(a, b), same_boxes = same_places(a, boxes);
    assert_int_equal(equivalent(a, b), same);
    assert_int_equal(equivalent(a, boxes), same_boxes);
    assert_int_equal(equivalent(b, boxes), same_places(b, boxes));
    assert_true(equivalent(a, a));
    assert_true(equivalent(boxes, boxes));
    equal += same;
    equal_to_boxes += same_boxes;
    tsr_layout_release(a);
    tsr_layout_release(b);
    tsr_layout_release(boxes);
    test_layout_free(&first);
    test_layout_free(&second);
  }
  assert_in_range(equal, 50, 1900);
  assert_in_range(equal_to_boxes, 500, 1990);
}

static void different_words_may_mean_the_same(void **state) {
  (void)state;
  // clang-format off
  static const struct { const char *mesh_a, *a, *mesh_b, *b, *shape; bool same; } cases[] = {
    {"x=2,y=4", "x+y", "x=2,y=4", "x;y", "16", true},
    {"x=2,y=4", "x+y", "x=2,y=4", "x;y", "10", false},
    {"x=2,y=4", "x+y", "z=8", "z", "10", true},
    {"x=4", "x:(1)2+x:(2)2", "x=4", "x", "7", true},
    {"x=4", "x:(2)2+x:(1)2", "x=4", "x", "8", false},
    {"x=4", "x/cyclic(2)", "x=4", "x", "8", true},
    {"x=4", "x/cyclic(2)", "x=4", "x", "9", false},
    {"x=4", "x/sizes(3,3,2,0)", "x=4", "x", "8", false},
    {"x=4", "x/sizes(2,2,2,2)", "x=4", "x", "8", true},
    {"x=2", "x/parts(a:4, b:4)", "x=2", "x/cyclic(2)", "8", true},
    {"x=2,y=2", "x/cyclic(1);y/cyclic(1)", "x=2,y=2", "y+x/cyclic(1)", "64", true},
    {"x=2,y=2", "x/cyclic(1);y/cyclic(1)", "x=2,y=2", "x+y/cyclic(1)", "64", false},
    {"x=2", "x, _", "x=2", "_, x", "0,4", true},
    {"x=2", "x, _", "x=2", "_, x", "4,4", false},
    {"x=2,y=1", "x", "y=1,x=2", "x+y", "4", true},
    {"x=4", "x", "x=2,y=2", "x", "4", false},
    {"x=2", "x/cyclic(1)", "x=2", "x/cyclic(1)", "4611686018427387904", true},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *a = test_layout_of(cases[i].mesh_a, cases[i].a, cases[i].shape, TSR_POLICY_UNEVEN);
    tsr_layout *b = test_layout_of(cases[i].mesh_b, cases[i].b, cases[i].shape, TSR_POLICY_PAD);
    assert_int_equal(equivalent(a, b), cases[i].same);
    tsr_layout_release(a);
    tsr_layout_release(b);
  }
}

static void other_tensors_and_devices_differ(void **state) {
  (void)state;
  tsr_layout *base = test_layout_of("x=2", "x", "8", TSR_POLICY_ERROR);
  tsr_layout *other[] = {
      test_layout_of("x=2", "x", "10", TSR_POLICY_ERROR),
      test_layout_of("x=2", "x, _", "8,1", TSR_POLICY_ERROR),
      test_layout_of("x=4", "x", "8", TSR_POLICY_ERROR),
      test_layout_of("x=2 devices=[4,5]", "x", "8", TSR_POLICY_ERROR),
      test_layout_of("x=2 devices=[1,0]", "x", "8", TSR_POLICY_ERROR),
  };
  for (size_t i = 0; i < COUNT_OF(other); i++) {
    assert_false(equivalent(base, other[i]));
    tsr_layout_release(other[i]);
  }
  tsr_layout_release(base);
}

static void order_of_devices_does_not_matter_to_copies(void **state) {
  (void)state;
  tsr_layout *a = test_layout_of("x=3", "_", "8", TSR_POLICY_ERROR);
  tsr_layout *b = test_layout_of("x=3 devices=[2,0,1]", "_", "8", TSR_POLICY_ERROR);
  assert_true(equivalent(a, b));
  tsr_layout_release(a);
  tsr_layout_release(b);
}

static void flat_ranges_may_be_rows(void **state) {
  (void)state;
  static const tsr_range halves[] = {{0, 8}, {8, 16}}, thirds[] = {{0, 6}, {6, 16}};
  tsr_layout *grid = test_layout_of("x=2", "x", "4,4", TSR_POLICY_ERROR);
  tsr_layout *columns = test_layout_of("x=2", "_, x", "4,4", TSR_POLICY_ERROR);
  tsr_layout *flat = NULL, *uneven = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, halves, &flat));
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, thirds, &uneven));
  assert_true(equivalent(grid, flat));
  assert_false(equivalent(columns, flat));
  assert_false(equivalent(uneven, flat));
  assert_true(equivalent(uneven, uneven));
  tsr_layout_release(grid);
  tsr_layout_release(columns);
  tsr_layout_release(flat);
  tsr_layout_release(uneven);
}

static tsr_status compare(void *context) {
  tsr_layout *const *pair = context;
  bool same = false;
  return tsr_layout_equivalent(pair[0], pair[1], &same);
}

static void comparing_survives_failing_allocations(void **state) {
  (void)state;
  tsr_layout *grids[] = {
      test_layout_of("x=2,y=2", "x/cyclic(1);y/cyclic(1)", "8", TSR_POLICY_ERROR),
      test_layout_of("x=2,y=2", "y+x/cyclic(1)", "8", TSR_POLICY_ERROR)};
  test_allocation_sweep(compare, grids);
  static const tsr_range halves[] = {{0, 8}, {8, 16}};
  tsr_layout *mixed[] = {test_layout_of("x=2", "x", "4,4", TSR_POLICY_ERROR), NULL};
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, halves, &mixed[1]));
  test_allocation_sweep(compare, mixed);
  for (int i = 0; i < 2; i++) {
    tsr_layout_release(grids[i]);
    tsr_layout_release(mixed[i]);
  }
}

SUITE(equivalent, TEST(random_layouts_compare_as_their_elements_do),
      TEST(different_words_may_mean_the_same), TEST(other_tensors_and_devices_differ),
      TEST(order_of_devices_does_not_matter_to_copies), TEST(flat_ranges_may_be_rows),
      TEST(comparing_survives_failing_allocations))
