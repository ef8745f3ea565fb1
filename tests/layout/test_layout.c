#include "tessera/layout.h"

#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "support/layouts.h"
#include "support/test.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

enum { MAX_ELEMENTS = MAX_SIZE * MAX_SIZE * MAX_SIZE, MAX_SIDE = 512 };

// ---- every element of random layouts ----

// Where a shard has each element, by the oracle: local[d][i] is the place of index i of dimension d
// along the shard, or -1.
typedef struct shard_map {
  int64_t local[MAX_DIMS][MAX_SIDE];
  tsr_shape shape;
} shard_map;

static void map_shard(const test_layout *made, const int64_t *coords, shard_map *out) {
  out->shape.rank = made->shape.rank;
  for (int d = 0; d < made->shape.rank; d++) {
    int64_t elements[MAX_SIDE];
    const int64_t count = test_cut_elements(&made->cuts[d].cut, coords[d], elements);
    out->shape.dims[d] = count;
    for (int64_t i = 0; i < made->shape.dims[d]; i++) out->local[d][i] = -1;
    for (int64_t i = 0; i < count; i++) out->local[d][elements[i]] = i;
  }
}

static int64_t product(const tsr_shape *shape) {
  int64_t elements = 1;
  for (int d = 0; d < shape->rank; d++) elements *= shape->dims[d];
  return elements;
}

// Looks at one element of a piece: its place in the buffer, and who owns it.
static void check_element(const test_layout *made, const shard_map *map, const tsr_piece *piece,
                          const tsr_shape *buffer, const int64_t *at, int64_t *owner,
                          int64_t shard) {
  int64_t offset = piece->offset, wanted = 0, flat = 0;
  for (int d = 0; d < made->shape.rank; d++) {
    offset += (at[d] - piece->ranges[d].lo) * piece->strides[d];
    assert_true(map->local[d][at[d]] >= 0);
    wanted = wanted * buffer->dims[d] + map->local[d][at[d]];
    flat = flat * made->shape.dims[d] + at[d];
  }
  assert_int_equal(offset, wanted);
  // Shards come in ascending order: the first that holds an element must own it.
  assert_int_equal(piece->owned, owner[flat] < 0 || owner[flat] == shard);
  if (piece->owned) owner[flat] = shard;
}

static bool advance(const tsr_piece *piece, int rank, int64_t *at) {
  for (int d = rank - 1; d >= 0; d--) {
    if (++at[d] < piece->ranges[d].hi) return true;
    at[d] = piece->ranges[d].lo;
  }
  return false;
}

static void check_pieces(const test_layout *made, const tsr_layout *layout, int64_t shard,
                         const shard_map *map, int64_t *owner) {
  tsr_shape buffer;
  tsr_layout_buffer_shape(layout, shard, &buffer);
  int64_t seen = 0;
  tsr_pieces pieces;
  assert_ok(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) {
    int64_t at[MAX_DIMS] = {0};
    for (int d = 0; d < made->shape.rank; d++) at[d] = piece.ranges[d].lo;
    do {
      check_element(made, map, &piece, &buffer, at, owner, shard);
      seen++;
    } while (advance(&piece, made->shape.rank, at));
  }
  tsr_pieces_deinit(&pieces);
  assert_int_equal(seen, product(&map->shape));
}

static void check_shapes(const tsr_layout *layout, int64_t shard, const shard_map *map,
                         int64_t *longest) {
  tsr_shape shape, buffer;
  tsr_layout_shard_shape(layout, shard, &shape);
  tsr_layout_buffer_shape(layout, shard, &buffer);
  assert_true(tsr_shape_equal(&shape, &map->shape));
  assert_int_equal(tsr_layout_shard_elements(layout, shard), product(&map->shape));
  for (int d = 0; d < shape.rank; d++) {
    if (tsr_layout_policy(layout) == TSR_POLICY_UNEVEN)
      assert_int_equal(buffer.dims[d], shape.dims[d]);
    else
      assert_true(buffer.dims[d] >= shape.dims[d]);
    if (shape.dims[d] > longest[d]) longest[d] = shape.dims[d];
  }
}

// The replica groups are the positions with the same indices, ascending, and nothing else.
static void check_replicas(const test_layout *made, const tsr_layout *layout) {
  const int64_t devices = tsr_layout_device_count(layout);
  const int64_t replicas = tsr_layout_replica_count(layout);
  int64_t met[64] = {0};
  for (int64_t p = 0; p < devices; p++) {
    int64_t coords[TSR_MAX_RANK];
    const int64_t shard = tsr_layout_shard(layout, p);
    tsr_layout_shard_coords(layout, shard, coords);
    for (int d = 0; d < made->shape.rank; d++)
      assert_int_equal(coords[d], test_layout_index(made, d, p));
    assert_int_equal(tsr_layout_replica_id(layout, p), met[shard]);
    assert_int_equal(tsr_layout_replica_at(layout, shard, met[shard]++), p);
  }
  for (int64_t s = 0; s < tsr_layout_shard_count(layout); s++) {
    assert_int_equal(met[s], replicas);
    assert_int_equal(tsr_layout_replica_at(layout, s, replicas), -1);
  }
}

// The index map gives the one range that holds what the oracle says, or says that there is none.
static void check_index_map(const test_layout *made, const tsr_layout *layout) {
  const int rank = made->shape.rank;
  bool boxes = true;
  tsr_range wanted[MAX_DIMS][64];
  for (int d = 0; d < rank; d++)
    for (int64_t i = 0; i < made->cuts[d].cut.shards; i++) {
      int64_t elements[MAX_SIDE];
      const int64_t count = test_cut_elements(&made->cuts[d].cut, i, elements);
      wanted[d][i] = (tsr_range){count ? elements[0] : 0, count ? elements[count - 1] + 1 : 0};
      boxes = boxes && wanted[d][i].hi - wanted[d][i].lo == count;
    }
  tsr_range map[MAX_DEVICES * MAX_DIMS];
  if (!boxes) {
    assert_fails_with(tsr_layout_index_map(layout, map), BAD_CUT, "several ranges");
    return;
  }
  assert_ok(tsr_layout_index_map(layout, map));
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++)
    for (int d = 0; d < rank; d++) {
      const tsr_range found = map[p * rank + d];
      const tsr_range want = wanted[d][test_layout_index(made, d, p)];
      assert_int_equal(found.hi - found.lo, want.hi - want.lo);
      if (want.hi > want.lo) assert_int_equal(found.lo, want.lo);
    }
}

static void check_layout(const test_layout *made, tsr_policy policy) {
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_create(made->sharding, &made->shape, policy, &layout));
  static int64_t owner[MAX_ELEMENTS];
  for (int64_t i = 0; i < product(&made->shape); i++) owner[i] = -1;
  int64_t longest[MAX_DIMS] = {0};
  for (int64_t s = 0; s < tsr_layout_shard_count(layout); s++) {
    int64_t coords[TSR_MAX_RANK];
    shard_map map;
    tsr_layout_shard_coords(layout, s, coords);
    map_shard(made, coords, &map);
    check_shapes(layout, s, &map, longest);
    check_pieces(made, layout, s, &map, owner);
  }
  for (int64_t i = 0; i < product(&made->shape); i++) assert_true(owner[i] >= 0);
  tsr_shape buffer;
  tsr_layout_buffer_shape(layout, 0, &buffer);
  for (int d = 0; d < made->shape.rank && policy == TSR_POLICY_PAD; d++)
    assert_int_equal(buffer.dims[d], longest[d]);
  assert_ok(tsr_layout_check(layout));
  check_replicas(made, layout);
  check_index_map(made, layout);
  tsr_layout_release(layout);
}

static void random_layouts_agree_with_every_element(void **state) {
  (void)state;
  test_random random = {3};
  for (int round = 0; round < 10000; round++) {
    test_layout made;
    test_layout_make(&random, round % 4 == 0, &made);
    check_layout(&made, round % 2 ? TSR_POLICY_PAD : TSR_POLICY_UNEVEN);
    test_layout_free(&made);
  }
}

// ---- policies ----

static void sizes_that_do_not_divide_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const struct { const char *mesh, *spec, *shape, *message; } cases[] = {
    {"x=4,y=2", "x+y", "17", "dimension 0: size 17 is not divisible by x=4 * y=2 = 8; nearest sizes are 16 and 24"},
    {"x=4", "_, x", "8,6", "dimension 1: size 6 is not divisible by x=4; nearest sizes are 4 and 8"},
    {"x=8", "x", "3", "dimension 0: size 3 is not divisible by x=8; the nearest size is 8"},
    {"x=2,y=4", "x;y", "12", "dimension 0, stage 1: size 6 is not divisible by y=4; nearest sizes are 4 and 8"},
    {"x=2", "x/cyclic(4)", "12", "dimension 0: size 12 is not divisible by x=2 * blocks of 4 = 8; nearest sizes are 8 and 16"},
    {"x=4", "x/parts(q:8/2, k:4/2)", "12", "dimension 0: part \"k\": size 4 is not divisible by x=4 * grains of 2 = 8; the nearest size is 8"},
    {"x=4", "x/parts(q:8, k:3*2)", "11", "dimension 0: part \"k\": size 3 is not divisible by x=4 / 2 copies = 2; nearest sizes are 2 and 4"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout = NULL;
    assert_fails(
        test_layout_read(cases[i].mesh, cases[i].spec, cases[i].shape, TSR_POLICY_ERROR, &layout),
        INDIVISIBLE, cases[i].message);
    assert_null(layout);
  }
}

static void cuts_that_make_no_sense_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const struct { const char *mesh, *spec, *shape, *message; } cases[] = {
    {"x=3", "x/sizes(3,3,2)", "9", "dimension 0: sizes add up to 8, wanted the size 9"},
    {"x=2", "x/parts(q:8/2, k:4/2)", "13", "dimension 0: parts add up to 12, wanted the size 13"},
    {"x=2,y=2", "x/sizes(5,3);y/sizes(2,3)", "8", "dimension 0, stage 1: sizes need shards of one size, but those before have 5 and 3"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    for (tsr_policy policy = 0; policy < TSR_POLICY_COUNT; policy++) {
      tsr_layout *layout = NULL;
      assert_fails(test_layout_read(cases[i].mesh, cases[i].spec, cases[i].shape, policy, &layout),
                   BAD_CUT, cases[i].message);
    }
}

static void specs_longer_than_the_rank_are_refused(void **state) {
  (void)state;
  tsr_layout *layout = NULL;
  assert_fails(test_layout_read("x=2", "x, _", "48", TSR_POLICY_ERROR, &layout), RANK_TOO_SMALL,
               "the spec has 2 entries, but the tensor (48,) has rank 1");
  // A rank that is too small is found before a size that does not divide.
  assert_fails_with(test_layout_read("x=5", "x, _", "48", TSR_POLICY_ERROR, &layout),
                    RANK_TOO_SMALL, "rank 1");
}

static void trim_keeps_what_divides(void **state) {
  (void)state;
  // clang-format off
  static const struct { const char *mesh, *spec, *shape, *left, *reason; } cases[] = {
    {"x=4,y=2", "x+y", "8", "x+y", ""},
    {"x=4,y=2", "x+y", "12", "x", "dimension 0: size 12 is not divisible by x=4 * y=2, so it is cut by x=4 only\n"},
    {"x=4,y=3", "x+y", "7", "_", "dimension 0: size 7 is not divisible by x=4 * y=3, so it is not cut\n"},
    {"x=4,y=1", "x+y", "7", "_", "dimension 0: size 7 is not divisible by x=4 * y=1, so it is not cut\n"},
    {"x=100000", "x", "3125", "x:(1)3125", "dimension 0: size 3125 is not divisible by x=100000, so it is cut by x:(1)3125=3125 only\n"},
    {"x=4", "x", "6", "x:(1)2", "dimension 0: size 6 is not divisible by x=4, so it is cut by x:(1)2=2 only\n"},
    {"x=2,y=12", "x+y, _", "16,3", "x+y:(1)4, _", "dimension 0: size 16 is not divisible by x=2 * y=12, so it is cut by x=2 * y:(1)4=4 only\n"},
    {"x=2,y=4", "x;y", "12", "x;y:(1)2", "dimension 0: size 12 is not divisible by x=2; y=4, so it is cut by x=2; y:(1)2=2 only\n"},
    {"x=2,y=2", "x/sizes(5,3);y", "8", "x/sizes(5,3)", "dimension 0: size 8 is not divisible by x=2; y=2, so it is cut by x=2 only\n"},
    {"x=4", "x/parts(q:8/2, k:4/2)", "12", "x:(1)2/parts(q:8/2, k:4/2)",
     "dimension 0: size 12 is not divisible by x=4, so it is cut by x:(1)2=2 only\n"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout =
        test_layout_of(cases[i].mesh, cases[i].spec, cases[i].shape, TSR_POLICY_TRIM);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_spec *left = NULL;
    assert_ok(tsr_spec_parse(cases[i].left, TSR_FORM_SHORT, &left));
    assert_true(tsr_spec_equal(tsr_sharding_spec(tsr_layout_sharding(layout)), left));
    tsr_layout_explain(layout, &text);
    assert_string_equal(tsr_text_string(&text), cases[i].reason);
    assert_ok(tsr_layout_check(layout));
    const tsr_sharding_dim *asked = tsr_sharding_dim_at(tsr_layout_requested(layout), 0);
    assert_true(asked->shards >= tsr_layout_shard_count(layout));
    tsr_spec_release(left);
    tsr_text_deinit(&text);
    tsr_layout_release(layout);
  }
}

static void uneven_sizes_are_ceil_chunks(void **state) {
  (void)state;
  static const int64_t wanted[] = {3, 3, 3, 3, 3, 2, 0, 0};
  tsr_layout *uneven = test_layout_of("x=8", "x", "17", TSR_POLICY_UNEVEN);
  tsr_layout *padded = test_layout_of("x=8", "x", "17", TSR_POLICY_PAD);
  for (int64_t p = 0; p < 8; p++) {
    assert_int_equal(tsr_layout_shard_elements(uneven, p), wanted[p]);
    assert_int_equal(tsr_layout_buffer_elements(uneven, p), wanted[p]);
    assert_int_equal(tsr_layout_shard_elements(padded, p), wanted[p]);
    assert_int_equal(tsr_layout_buffer_elements(padded, p), 3);
  }
  tsr_layout_release(uneven);
  tsr_layout_release(padded);
}

static void policies_have_names(void **state) {
  (void)state;
  for (tsr_policy policy = 0; policy < TSR_POLICY_COUNT; policy++) {
    tsr_policy found = TSR_POLICY_COUNT;
    assert_ok(tsr_policy_parse(tsr_policy_name(policy), &found));
    assert_int_equal(found, policy);
  }
  tsr_policy found = TSR_POLICY_COUNT;
  assert_fails(tsr_policy_parse("drop", &found), SYNTAX,
               "policy \"drop\" is none of error, trim, pad and uneven");
  assert_null(tsr_policy_name(TSR_POLICY_COUNT));
  tsr_layout *layout = NULL;
  assert_fails(test_layout_read("x=2", "x", "8", TSR_POLICY_COUNT, &layout), BAD_ARGUMENT,
               "policy 4 does not exist, wanted 0 to 3");
}

// ---- JAX's view ----

static void an_unreduced_axis_of_one_member_is_whole(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of(
      "x=2,y=1", "#sdy.sharding<@mesh, [{\"x\"}], unreduced={\"y\"}>", "8", TSR_POLICY_ERROR);
  tsr_range ranges[2];
  assert_ok(tsr_layout_index_map(layout, ranges));
  assert_int_equal(ranges[1].lo, 4);
  assert_int_equal(ranges[1].hi, 8);
  tsr_layout_release(layout);
}

static void unreduced_axes_have_shapes_but_no_index_map(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of(
      "x=2,y=4", "#sdy.sharding<@mesh, [{\"x\"}, {}], unreduced={\"y\"}>", "8,2", TSR_POLICY_ERROR);
  tsr_range ranges[2 * 8];
  int64_t ids[8];
  assert_fails(tsr_layout_index_map(layout, ranges), UNREDUCED_HAS_NO_INDEX_MAP,
               "axis \"y\" is unreduced: its devices hold partial results, not ranges");
  assert_fails_with(tsr_layout_jax_replica_ids(layout, ids), UNREDUCED_HAS_NO_INDEX_MAP, "\"y\"");
  tsr_shape shape;
  tsr_layout_shard_shape(layout, 1, &shape);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(4, 2)));
  assert_int_equal(tsr_layout_replica_count(layout), 4);
  tsr_layout_release(layout);
}

static void jax_replica_ids_count_equal_ranges(void **state) {
  (void)state;
  int64_t ids[6];
  tsr_layout *cut = test_layout_of("x=2,y=3", "y", "6", TSR_POLICY_ERROR);
  assert_ok(tsr_layout_jax_replica_ids(cut, ids));
  assert_memory_equal(ids, ((int64_t[]){0, 0, 0, 1, 1, 1}), sizeof ids);
  tsr_layout_release(cut);
  // With no elements all ranges are equal, so ids run over all devices.
  tsr_layout *empty = test_layout_of("x=2,y=3", "y", "0", TSR_POLICY_ERROR);
  assert_ok(tsr_layout_jax_replica_ids(empty, ids));
  assert_memory_equal(ids, ((int64_t[]){0, 1, 2, 3, 4, 5}), sizeof ids);
  tsr_layout_release(empty);
}

static void jax_replica_ids_agree_with_counting(void **state) {
  (void)state;
  test_random random = {5};
  for (int round = 0; round < 500; round++) {
    test_layout made;
    test_layout_make(&random, true, &made);
    tsr_layout *layout = NULL;
    assert_ok(tsr_layout_create(made.sharding, &made.shape, TSR_POLICY_UNEVEN, &layout));
    tsr_range map[MAX_DEVICES * MAX_DIMS];
    int64_t ids[MAX_DEVICES];
    assert_ok(tsr_layout_index_map(layout, map));
    assert_ok(tsr_layout_jax_replica_ids(layout, ids));
    const size_t bytes = sizeof *map * (size_t)made.shape.rank;
    for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
      int64_t before = 0;
      for (int64_t q = 0; q < p; q++)
        before += !memcmp(map + p * made.shape.rank, map + q * made.shape.rank, bytes);
      assert_int_equal(ids[p], before);
    }
    tsr_layout_release(layout);
    test_layout_free(&made);
  }
}

// ---- odds and ends ----

static void scalars_are_one_element_everywhere(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("x=2,y=3", "()", "()", TSR_POLICY_ERROR);
  tsr_pieces pieces;
  tsr_piece piece;
  assert_int_equal(tsr_layout_shard_count(layout), 1);
  assert_int_equal(tsr_layout_replica_count(layout), 6);
  assert_int_equal(tsr_layout_replica_at(layout, 0, 5), 5);
  assert_int_equal(tsr_layout_shard_elements(layout, 0), 1);
  assert_ok(tsr_pieces_init(&pieces, layout, 0));
  assert_true(tsr_pieces_next(&pieces, &piece));
  assert_int_equal(piece.offset, 0);
  assert_true(piece.owned);
  assert_false(tsr_pieces_next(&pieces, &piece));
  tsr_pieces_deinit(&pieces);
  assert_ok(tsr_layout_check(layout));
  tsr_layout_release(layout);
}

static void shards_and_dimensions_out_of_range_are_refused(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("x=2", "x", "8", TSR_POLICY_ERROR);
  tsr_pieces pieces;
  tsr_range range;
  tsr_run *runs = NULL;
  int64_t count = 0;
  assert_fails(tsr_pieces_init(&pieces, layout, 2), INDEX_OUT_OF_RANGE,
               "shard 2 is none of the layout's 2");
  assert_fails_with(tsr_layout_box(layout, -1, &range), INDEX_OUT_OF_RANGE, "shard -1");
  assert_fails(tsr_layout_runs(layout, 1, 0, &runs, &count), INDEX_OUT_OF_RANGE,
               "dimension 1 of a tensor of rank 1");
  assert_fails(tsr_layout_runs(layout, 0, 2, &runs, &count), INDEX_OUT_OF_RANGE,
               "shard 2 of dimension 0, which has 2");
  assert_fails_with(tsr_layout_create(tsr_layout_sharding(layout), TSR_SHAPE(-1), 0, &layout),
                    BAD_ARGUMENT, "-1");
  tsr_layout_release(layout);
}

static void runs_are_given_to_the_caller(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("x=2", "x/cyclic(2)", "16", TSR_POLICY_ERROR);
  tsr_run *runs = NULL;
  int64_t count = 0;
  assert_ok(tsr_layout_runs(layout, 0, 1, &runs, &count));
  assert_int_equal(count, 1);
  const tsr_run wanted = {2, 0, 2, 4, 4, 2, true};
  assert_memory_equal(&runs[0], &wanted, offsetof(tsr_run, owned));
  free(runs);
  tsr_layout_release(layout);
}

static void layouts_know_what_they_were_made_of(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("x=2,y=3", "x, y", "8,9", TSR_POLICY_PAD);
  const tsr_shape shape = tsr_layout_shape(layout);
  assert_int_equal(tsr_layout_kind_of(layout), TSR_LAYOUT_GRID);
  assert_int_equal(tsr_layout_rank(layout), 2);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(8, 9)));
  assert_ptr_equal(tsr_layout_mesh(layout), tsr_sharding_mesh(tsr_layout_sharding(layout)));
  assert_ptr_equal(tsr_layout_requested(layout), tsr_layout_sharding(layout));
  assert_int_equal(tsr_layout_dim_shards(layout, 1), 3);
  tsr_layout *again = tsr_layout_retain(layout);
  tsr_layout_release(layout);
  assert_int_equal(tsr_layout_policy(again), TSR_POLICY_PAD);
  tsr_layout_release(again);
  tsr_layout_release(NULL);
}

// ---- large ----

static void huge_tensors_do_not_overflow(void **state) {
  (void)state;
  const int64_t side = INT64_C(1) << 31;
  tsr_layout *layout =
      test_layout_of("x=1000,y=100", "x, y", "2147483648,2147483648", TSR_POLICY_UNEVEN);
  int64_t total = 0;
  for (int64_t s = 0; s < tsr_layout_shard_count(layout); s++)
    total += tsr_layout_shard_elements(layout, s);
  assert_int_equal(total, side * side);
  assert_ok(tsr_layout_check(layout));
  tsr_layout_release(layout);
  tsr_layout *cyclic = test_layout_of("x=1000,y=100", "x/cyclic(1);y/cyclic(3)",
                                      "4611686018427387904", TSR_POLICY_UNEVEN);
  assert_ok(tsr_layout_check(cyclic));
  tsr_layout_release(cyclic);
}

static void a_hundred_thousand_devices_are_no_burden(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("a=10,b=100,c=100", "b, a", "1000,1000", TSR_POLICY_ERROR);
  const int64_t devices = tsr_layout_device_count(layout);
  assert_int_equal(devices, 100000);
  assert_int_equal(tsr_layout_replica_count(layout), 100);
  for (int64_t p = 0; p < devices; p += 997) {
    const int64_t shard = tsr_layout_shard(layout, p);
    assert_int_equal(tsr_layout_replica_at(layout, shard, tsr_layout_replica_id(layout, p)), p);
  }
  tsr_range *map = malloc(sizeof *map * 2 * (size_t)devices);
  int64_t *ids = malloc(sizeof *ids * (size_t)devices);
  assert_true(map && ids);
  assert_ok(tsr_layout_index_map(layout, map));
  assert_ok(tsr_layout_jax_replica_ids(layout, ids));
  for (int64_t p = 0; p < devices; p += 997) {
    tsr_range box[2];
    assert_ok(tsr_layout_box(layout, tsr_layout_shard(layout, p), box));
    assert_memory_equal(box, map + 2 * p, sizeof box);
    assert_int_equal(ids[p], tsr_layout_replica_id(layout, p));
  }
  free(map);
  free(ids);
  tsr_layout_release(layout);
}

// What looks at one device is arithmetic; what looks at all of them refuses in time.
static void devices_may_be_beyond_counting(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("x=4611686018427387904 abstract", "x", "4611686018427387904",
                                      TSR_POLICY_ERROR);
  const int64_t last = (INT64_C(1) << 62) - 1;
  tsr_range box;
  assert_ok(tsr_layout_box(layout, tsr_layout_shard(layout, last), &box));
  assert_int_equal(box.lo, last);
  assert_fails(
      tsr_layout_check(layout), TOO_LARGE,
      "dimension 0: 4611686018427387904 shards are too many to list, wanted at most 2147483647");
  bool same = false;
  assert_fails_with(tsr_layout_equivalent(layout, layout, &same), TOO_LARGE, "devices");
  int64_t count = 0;
  bool filled = false;
  assert_fails_with(tsr_layout_index_map(layout, &box), TOO_LARGE, "devices");
  assert_fails_with(tsr_layout_jax_replica_ids(layout, &count), TOO_LARGE, "devices");
  assert_fails_with(tsr_layout_process_hull(layout, 0, &box, &filled), TOO_LARGE, "devices");
  assert_fails_with(tsr_layout_addressable(layout, 0, 0, &count), TOO_LARGE, "devices");
  assert_fails_with(tsr_layout_process_shards(layout, 0, &count), TOO_LARGE, "devices");
  tsr_layout_release(layout);
}

// ---- memory ----

static tsr_status make_and_use(void *context) {
  tsr_layout *layout = NULL;
  TSR_TRY(test_layout_read("x=4,y=2", context, "12,8", TSR_POLICY_TRIM, &layout));
  tsr_range map[2 * 8];
  int64_t ids[8];
  tsr_pieces pieces;
  tsr_status status = tsr_pieces_init(&pieces, layout, 0);
  if (!status) tsr_pieces_deinit(&pieces);
  if (!status) status = tsr_layout_index_map(layout, map);
  if (!status) status = tsr_layout_jax_replica_ids(layout, ids);
  if (!status) status = tsr_layout_check(layout);
  tsr_layout_release(layout);
  return status;
}

static void a_spec_as_text_makes_a_layout(void **state) {
  (void)state;
  tsr_mesh *mesh = NULL;
  tsr_layout *layout = NULL, *same = test_layout_of("x=4,y=2", "x, y", "8,6", TSR_POLICY_ERROR);
  assert_ok(tsr_mesh_parse("x=4,y=2", NULL, &mesh));
  assert_ok(tsr_layout_from_text(mesh, "P('x', 'y')", TSR_SHAPE(8, 6), &layout));
  bool equivalent = false;
  assert_ok(tsr_layout_equivalent(layout, same, &equivalent));
  assert_true(equivalent);
  tsr_layout_release(layout);
  layout = NULL;
  assert_fails_with(tsr_layout_from_text(mesh, "y, x", TSR_SHAPE(8, 6), &layout), INDIVISIBLE,
                    "spec \"y, x\": ");
  assert_fails_with(tsr_layout_from_text(mesh, "x, q", TSR_SHAPE(8, 6), &layout), UNKNOWN_MESH_AXIS,
                    "spec \"x, q\": ");
  assert_fails_with(tsr_layout_from_text(mesh, "", TSR_SHAPE(8, 6), &layout), SYNTAX,
                    "spec \"\": ");
  assert_fails_with(tsr_layout_from_text(mesh, "x", &(tsr_shape){.rank = 1, .dims = {-4}}, &layout),
                    BAD_ARGUMENT, "-4");
  assert_null(layout);
  tsr_layout_release(same);
  tsr_mesh_release(mesh);
}

static tsr_status make_from_text(void *context) {
  tsr_layout *layout = NULL;
  tsr_status status = tsr_layout_from_text(context, "x, y", TSR_SHAPE(8, 6), &layout);
  tsr_layout_release(layout);
  return status;
}

static void layouts_survive_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(make_and_use, "x, y");
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse("x=4,y=2", NULL, &mesh));
  test_allocation_sweep(make_from_text, mesh);
  tsr_mesh_release(mesh);
  test_allocation_sweep(make_and_use, "x+y, _");  // trimmed
  test_allocation_sweep(make_and_use, "x/parts(a:8*4, b:4*4), y/sizes(3,5)");
}

SUITE(layout, TEST(random_layouts_agree_with_every_element),
      TEST(sizes_that_do_not_divide_are_refused), TEST(cuts_that_make_no_sense_are_refused),
      TEST(specs_longer_than_the_rank_are_refused), TEST(trim_keeps_what_divides),
      TEST(uneven_sizes_are_ceil_chunks), TEST(policies_have_names),
      TEST(an_unreduced_axis_of_one_member_is_whole),
      TEST(unreduced_axes_have_shapes_but_no_index_map), TEST(jax_replica_ids_count_equal_ranges),
      TEST(jax_replica_ids_agree_with_counting), TEST(scalars_are_one_element_everywhere),
      TEST(shards_and_dimensions_out_of_range_are_refused), TEST(runs_are_given_to_the_caller),
      TEST(layouts_know_what_they_were_made_of), TEST(huge_tensors_do_not_overflow),
      TEST(a_hundred_thousand_devices_are_no_burden), TEST(devices_may_be_beyond_counting),
      TEST(a_spec_as_text_makes_a_layout), TEST(layouts_survive_failing_allocations))
