
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/layout.h"

static tsr_layout *boxes_of(const tsr_shape *shape, int64_t shards, const int64_t *counts,
                            const tsr_range *boxes) {
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_from_boxes(NULL, shape, shards, counts, boxes, &layout));
  return layout;
}

static tsr_layout *flat_of(const tsr_shape *shape, int64_t shards, const tsr_range *ranges) {
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_from_flat(NULL, shape, shards, ranges, &layout));
  return layout;
}

static tsr_mesh *mesh_of(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

// ---- boxes ----

// An L and the rest, and a third shard that has the rest too.
static const tsr_range l_shape[] = {{0, 4}, {0, 1}, {3, 4}, {1, 4},  // shard 0
                                    {0, 3}, {1, 4},                  // shard 1
                                    {0, 3}, {1, 4}};                 // shard 2
static const int64_t l_counts[] = {2, 1, 1};

static void boxes_lie_one_after_the_other(void **state) {
  (void)state;
  tsr_layout *layout = boxes_of(TSR_SHAPE(4, 4), 3, l_counts, l_shape);
  assert_int_equal(tsr_layout_kind_of(layout), TSR_LAYOUT_BOXES);
  assert_int_equal(tsr_layout_shard_elements(layout, 0), 7);
  assert_int_equal(tsr_layout_shard_elements(layout, 2), 9);
  tsr_shape shape;
  tsr_layout_shard_shape(layout, 0, &shape);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(7)));
  tsr_pieces pieces;
  tsr_piece piece;
  assert_ok(tsr_pieces_init(&pieces, layout, 0));
  assert_true(tsr_pieces_next(&pieces, &piece));
  assert_int_equal(piece.offset, 0);
  assert_true(tsr_pieces_next(&pieces, &piece));
  assert_int_equal(piece.offset, 4);
  assert_memory_equal(piece.strides, ((int64_t[]){3, 1}), 2 * sizeof *piece.strides);
  assert_memory_equal(piece.ranges, l_shape + 2, 2 * sizeof *piece.ranges);
  assert_false(tsr_pieces_next(&pieces, &piece));
  tsr_pieces_deinit(&pieces);
  tsr_layout_release(layout);
}

static void the_lowest_shard_owns_a_box(void **state) {
  (void)state;
  tsr_layout *layout = boxes_of(TSR_SHAPE(4, 4), 3, l_counts, l_shape);
  for (int64_t s = 0; s < 3; s++) {
    tsr_pieces pieces;
    assert_ok(tsr_pieces_init(&pieces, layout, s));
    for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) assert_int_equal(piece.owned, s < 2);
    tsr_pieces_deinit(&pieces);
  }
  assert_ok(tsr_layout_check(layout));
  tsr_layout_release(layout);
}

static void positions_beyond_the_shards_are_replicas(void **state) {
  (void)state;
  tsr_mesh *mesh = mesh_of("x=6");
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_from_boxes(mesh, TSR_SHAPE(4, 4), 3, l_counts, l_shape, &layout));
  assert_ptr_equal(tsr_layout_mesh(layout), mesh);
  assert_int_equal(tsr_layout_device_count(layout), 6);
  assert_int_equal(tsr_layout_replica_count(layout), 2);
  assert_int_equal(tsr_layout_shard(layout, 4), 1);
  assert_int_equal(tsr_layout_replica_at(layout, 1, 1), 4);
  assert_int_equal(tsr_layout_replica_at(layout, 1, 2), -1);
  assert_int_equal(tsr_layout_replica_id(layout, 4), 1);
  assert_int_equal(tsr_layout_dim_shards(layout, 0), 3);
  assert_int_equal(tsr_layout_dim_shards(layout, 1), 1);
  tsr_layout_release(layout);
  tsr_mesh_release(mesh);
}

static void shards_of_one_box_have_an_index_map(void **state) {
  (void)state;
  static const tsr_range halves[] = {{0, 2}, {2, 4}};
  tsr_mesh *mesh = mesh_of("x=2,y=2");
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_from_boxes(mesh, TSR_SHAPE(4), 2, (const int64_t[]){1, 1}, halves, &layout));
  tsr_range map[4];
  int64_t ids[4];
  assert_ok(tsr_layout_index_map(layout, map));
  assert_memory_equal(map, halves, sizeof halves);
  assert_memory_equal(map + 2, halves, sizeof halves);
  assert_ok(tsr_layout_jax_replica_ids(layout, ids));
  assert_memory_equal(ids, ((int64_t[]){0, 0, 1, 1}), sizeof ids);
  tsr_run *runs = NULL;
  int64_t count = 0;
  assert_fails(tsr_layout_runs(layout, 0, 0, &runs, &count), UNSUPPORTED,
               "only grids have runs along a dimension");
  tsr_layout_release(layout);
  tsr_mesh_release(mesh);
  layout = boxes_of(TSR_SHAPE(4, 4), 3, l_counts, l_shape);
  tsr_range wide[6];
  assert_fails(tsr_layout_index_map(layout, wide), BAD_CUT, "shard 0 has 2 boxes, not one");
  tsr_layout_release(layout);
  layout =
      boxes_of(TSR_SHAPE(4), 2, (const int64_t[]){1, 2}, (tsr_range[]){{0, 2}, {2, 3}, {3, 4}});
  tsr_range left_alone[2] = {{7, 7}, {7, 7}};
  assert_fails_with(tsr_layout_index_map(layout, left_alone), BAD_CUT, "shard 1");
  assert_int_equal(left_alone[0].lo, 7);
  tsr_layout_release(layout);
}

static void boxes_outside_the_tensor_are_refused(void **state) {
  (void)state;
  tsr_layout *layout = NULL;
  const tsr_shape *shape = TSR_SHAPE(4, 4);
  const int64_t one = 1, fewer = -1;
  assert_fails(tsr_layout_from_boxes(NULL, shape, 1, &one, (tsr_range[]){{0, 4}, {3, 5}}, &layout),
               BROKEN_LAYOUT, "shard 0: range 3-5 is not inside dimension 1 of size 4");
  assert_fails_with(
      tsr_layout_from_boxes(NULL, shape, 1, &one, (tsr_range[]){{3, 2}, {0, 4}}, &layout),
      BROKEN_LAYOUT, "range 3-2");
  assert_fails(tsr_layout_from_boxes(NULL, shape, 0, &one, l_shape, &layout), BAD_ARGUMENT,
               "0 shards, wanted 1 or more");
  assert_fails(tsr_layout_from_boxes(NULL, shape, 1, &fewer, l_shape, &layout), BAD_ARGUMENT,
               "shard 0 has -1 boxes, wanted 0 or more");
  const int64_t many[] = {INT64_MAX, INT64_MAX};
  assert_fails(tsr_layout_from_boxes(NULL, shape, 2, many, l_shape, &layout), TOO_LARGE,
               "9223372036854775807 boxes are too many to list, wanted at most 2147483647");
  tsr_mesh *mesh = mesh_of("x=4");
  assert_fails(tsr_layout_from_boxes(mesh, shape, 3, l_counts, l_shape, &layout), BAD_ARGUMENT,
               "3 shards do not divide the mesh's 4 devices");
  tsr_mesh_release(mesh);
  assert_fails(tsr_layout_from_flat(NULL, shape, 1, &(tsr_range){0, 17}, &layout), BROKEN_LAYOUT,
               "shard 0: range 0-17 is not inside the flat tensor of size 16");
  tsr_range whole[8];
  for (int i = 0; i < 8; i++) whole[i] = (tsr_range){0, INT64_C(1) << 61};
  assert_fails(tsr_layout_from_boxes(NULL, TSR_SHAPE(INT64_C(1) << 61), 1, (const int64_t[]){3},
                                     whole, &layout),
               TOO_LARGE, "shard 0 has more than 2^62 elements");
}

static void gaps_and_partial_overlaps_are_found(void **state) {
  (void)state;
  // clang-format off
  static const struct { int64_t boxes[2]; tsr_range ranges[4]; const char *message; } cases[] = {
    {{1, 1}, {{0, 2}, {0, 4}, {2, 4}, {0, 4}}, ""},
    {{1, 1}, {{0, 2}, {0, 4}, {2, 4}, {0, 3}}, "no shard holds elements (2-4, 3-4)"},
    {{1, 1}, {{0, 3}, {0, 4}, {2, 4}, {0, 4}}, "2 different pieces hold elements (2-3, 0-4)"},
    {{0, 2}, {{0, 2}, {0, 4}, {2, 4}, {0, 4}}, ""},
    {{0, 0}, {{0, 0}}, "no shard holds elements (0-4, 0-4)"},
    {{1, 1}, {{0, 4}, {0, 4}, {0, 4}, {0, 4}}, ""},  // replicas
    {{1, 1}, {{0, 4}, {0, 4}, {1, 1}, {0, 4}}, ""},  // empty boxes do no harm
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout = boxes_of(TSR_SHAPE(4, 4), 2, cases[i].boxes, cases[i].ranges);
    tsr_status status = tsr_layout_check(layout);
    assert_string_equal(tsr_status_text(status), cases[i].message);
    tsr_status_free(status);
    tsr_layout_release(layout);
  }
}

// ---- flat ranges ----

// The pieces of a flat range are its elements in order.
static void check_flat(const tsr_layout *layout, tsr_range range) {
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t at = range.lo;
  int count = 0;
  tsr_pieces pieces;
  assert_ok(tsr_pieces_init(&pieces, layout, 0));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece); count++) {
    assert_int_equal(piece.offset, at - range.lo);
    int64_t index[TSR_MAX_RANK], volume = 1;
    for (int d = 0; d < shape.rank; d++) {
      index[d] = piece.ranges[d].lo;
      volume *= piece.ranges[d].hi - piece.ranges[d].lo;
    }
    for (int64_t e = 0; e < volume; e++, at++) {
      int64_t flat = 0, place = piece.offset;
      for (int d = 0; d < shape.rank; d++) {
        flat = flat * shape.dims[d] + index[d];
        place += (index[d] - piece.ranges[d].lo) * piece.strides[d];
      }
      assert_int_equal(flat, at);
      assert_int_equal(place, at - range.lo);
      for (int d = shape.rank - 1; d >= 0 && ++index[d] == piece.ranges[d].hi; d--)
        index[d] = piece.ranges[d].lo;
    }
  }
  tsr_pieces_deinit(&pieces);
  assert_int_equal(at, range.hi);
  assert_true(count <= (shape.rank ? 2 * shape.rank - 1 : 1));
}

static void flat_ranges_are_few_boxes(void **state) {
  (void)state;
  test_random random = {29};
  for (int round = 0; round < 5000; round++) {
    tsr_shape shape = {.rank = (int)test_random_range(&random, 0, 4)};
    int64_t elements = 1;
    for (int d = 0; d < shape.rank; d++)
      elements *= shape.dims[d] = test_random_range(&random, 1, 5);
    tsr_range range = {test_random_range(&random, 0, elements), 0};
    range.hi = test_random_range(&random, range.lo, elements);
    tsr_layout *layout = flat_of(&shape, 1, &range);
    check_flat(layout, range);
    assert_int_equal(tsr_layout_shard_elements(layout, 0), range.hi - range.lo);
    tsr_layout_release(layout);
  }
}

static void flat_ranges_are_checked(void **state) {
  (void)state;
  // clang-format off
  static const struct { tsr_range ranges[3]; const char *message; } cases[] = {
    {{{0, 5}, {5, 7}, {7, 12}}, ""},
    {{{7, 12}, {0, 5}, {5, 7}}, ""},
    {{{0, 12}, {0, 12}, {0, 12}}, ""},
    {{{0, 12}, {12, 12}, {12, 12}}, ""},
    {{{0, 5}, {5, 7}, {8, 12}}, "no shard holds elements (7-8)"},
    {{{0, 5}, {4, 7}, {7, 12}}, "2 different pieces hold elements (4-5)"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout = flat_of(TSR_SHAPE(3, 4), 3, cases[i].ranges);
    tsr_status status = tsr_layout_check(layout);
    assert_string_equal(tsr_status_text(status), cases[i].message);
    tsr_status_free(status);
    tsr_layout_release(layout);
  }
}

static void flat_ranges_that_are_boxes_have_one(void **state) {
  (void)state;
  static const tsr_range rows[] = {{0, 4}, {4, 12}, {12, 12}};
  tsr_layout *layout = flat_of(TSR_SHAPE(3, 4), 3, rows);
  tsr_range box[2];
  assert_ok(tsr_layout_box(layout, 1, box));
  assert_memory_equal(box, ((tsr_range[]){{1, 3}, {0, 4}}), sizeof box);
  assert_ok(tsr_layout_box(layout, 2, box));
  assert_int_equal(box[0].lo, box[0].hi);
  tsr_layout_release(layout);
  layout = flat_of(TSR_SHAPE(3, 4), 1, &(tsr_range){2, 6});
  assert_fails(tsr_layout_box(layout, 0, box), BAD_CUT,
               "shard 0 is a flat range of several boxes, not one");
  tsr_layout_release(layout);
}

// ---- memory ----

static tsr_status make_listed(void *context) {
  (void)context;
  static const tsr_range halves[] = {{0, 8}, {8, 16}};
  tsr_layout *boxes = NULL, *flat = NULL;
  tsr_status status = tsr_layout_from_boxes(NULL, TSR_SHAPE(4, 4), 3, l_counts, l_shape, &boxes);
  if (!status) status = tsr_layout_from_flat(NULL, TSR_SHAPE(4, 4), 2, halves, &flat);
  if (!status) status = tsr_layout_check(boxes);
  if (!status) status = tsr_layout_check(flat);
  tsr_layout_release(boxes);
  tsr_layout_release(flat);
  return status;
}

static void listed_layouts_survive_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(make_listed, NULL);
}

SUITE(boxes, TEST(boxes_lie_one_after_the_other), TEST(the_lowest_shard_owns_a_box),
      TEST(positions_beyond_the_shards_are_replicas), TEST(shards_of_one_box_have_an_index_map),
      TEST(boxes_outside_the_tensor_are_refused), TEST(gaps_and_partial_overlaps_are_found),
      TEST(flat_ranges_are_few_boxes), TEST(flat_ranges_are_checked),
      TEST(flat_ranges_that_are_boxes_have_one), TEST(listed_layouts_survive_failing_allocations))
