// From any layout to any other.
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "base/buffer_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"

// ---- every pair of specs on small meshes ----

enum { MOST_SPECS = 128 };

typedef struct specs {
  int count;
  char texts[MOST_SPECS][32];
} specs;

// All ways to put each axis on one dimension or none; axes on one dimension in both orders.
static void list_specs(int axes, int rank, specs *out) {
  static const char names[] = "xyz";
  int digits[3] = {0};
  int total = 1;
  out->count = 0;
  for (int a = 0; a < axes; a++) total *= rank + 1;
  for (int number = 0; number < total; number++) {
    for (int reverse = 0; reverse < 2; reverse++) {
      char text[32] = "";
      bool joined = false;
      for (int a = 0, rest = number; a < axes; a++, rest /= rank + 1) digits[a] = rest % (rank + 1);
      for (int d = 0; d < rank; d++) {
        int used = 0;
        if (d) strcat(text, ", ");
        for (int k = 0; k < axes; k++) {
          const int a = reverse ? axes - 1 - k : k;
          if (digits[a] != d + 1) continue;
          if (used++) strcat(text, "+");
          strncat(text, &names[a], 1);
        }
        if (!used) strcat(text, "_");
        joined = joined || used > 1;
      }
      if (reverse && !joined) continue;
      assert_true(out->count < MOST_SPECS);
      strcpy(out->texts[out->count++], text);
    }
  }
}

// The oracle has looked at `wanted`, which was cut from the host's tensor.
static void check_pair(tsr_array *from, const tsr_array *wanted, tsr_reshard_method method) {
  const tsr_reshard_options options = {.size = sizeof options, .method = method};
  tsr_array *moved = NULL;
  assert_ok(tsr_array_reshard(from, tsr_array_layout(wanted), &options, &moved));
  for (int64_t i = 0; i < tsr_array_local_count(wanted); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    assert_ok(tsr_array_local_at(wanted, i, &part));
    assert_memory_equal(tsr_array_data(moved, i), part.data, (size_t)part.bytes);
  }
  tsr_array_release(moved);
}

static void check_pairs(tsr_comm *comm, const char *mesh, const specs *all, const char *text) {
  tsr_array *arrays[MOST_SPECS];
  for (int i = 0; i < all->count; i++) {
    tsr_layout *layout = test_layout_of(mesh, all->texts[i], text, TSR_POLICY_ERROR);
    const tsr_shape shape = tsr_layout_shape(layout);
    void *host = test_tensor(&shape, TSR_U8, 9);
    assert_ok(tsr_array_shard(comm, layout, TSR_U8, host, NULL, &arrays[i]));
    assert_ok(test_array_check(arrays[i], 9));
    tsr_layout_release(layout);
    free(host);
  }
  for (int i = 0; i < all->count; i++)
    for (int k = 0; k < all->count; k++) {
      check_pair(arrays[i], arrays[k], TSR_RESHARD_DIRECT);
      check_pair(arrays[i], arrays[k], TSR_RESHARD_SEQUENCE);
    }
  for (int i = 0; i < all->count; i++) tsr_array_release(arrays[i]);
}

static void every_pair_of_specs_on_small_meshes(void **state) {
  (void)state;
  static const struct {
    const char *mesh;
    int axes;
    const char *shapes[3];
  } meshes[] = {
      {"x=2,y=2", 2, {"8", "4,8", "4,4,4"}},
      {"x=2,y=3", 2, {"12", "6,12", "6,6,6"}},
      {"x=2,y=4", 2, {"16", "8,16", "8,8,8"}},
      {"x=2,y=2,z=2", 3, {"16", "8,8", "8,8,8"}},
  };
  tsr_comm *comm = test_comm(8, 2);
  for (size_t m = 0; m < COUNT_OF(meshes); m++)
    for (int rank = 1; rank <= 3; rank++) {
      specs all;
      list_specs(meshes[m].axes, rank, &all);
      check_pairs(comm, meshes[m].mesh, &all, meshes[m].shapes[rank - 1]);
    }
  tsr_comm_release(comm);
}

// ---- any layouts ----

static const tsr_dtype DTYPES[] = {TSR_I2,   TSR_F4E2M1FN, TSR_F6E2M3FN, TSR_BOOL,
                                   TSR_BF16, TSR_F32,      TSR_F64,      TSR_C128};

static tsr_shape random_shape(test_random *random) {
  tsr_shape shape = {.rank = (int)test_random_range(random, 0, 3)};
  for (int d = 0; d < shape.rank; d++)
    shape.dims[d] = test_random_range(random, test_random_range(random, 0, 9) ? 1 : 0, 11);
  return shape;
}

static void there_and_back_again(test_random *random, tsr_comm *comm, const tsr_shape *shape,
                                 tsr_dtype dtype) {
  tsr_layout *a = test_random_layout(random, shape), *b = test_random_layout(random, shape);
  const tsr_reshard_options options = {.size = sizeof options,
                                       .donate = test_random_range(random, 0, 1),
                                       .unshare = test_random_range(random, 0, 1)};
  void *host = test_tensor(shape, dtype, 4);
  tsr_array *first = NULL, *there = NULL, *back = NULL;
  assert_ok(tsr_array_shard(comm, a, dtype, host, NULL, &first));
  assert_ok(tsr_array_reshard(first, b, &options, &there));
  assert_int_equal(tsr_array_is_deleted(first), options.donate);
  assert_ok(test_array_check(there, 4));
  assert_ok(tsr_array_reshard(there, a, &options, &back));
  assert_ok(test_array_check(back, 4));
  if (!options.donate) assert_ok(test_array_check(first, 4));
  tsr_array_release(first);
  tsr_array_release(there);
  tsr_array_release(back);
  tsr_layout_release(a);
  tsr_layout_release(b);
  free(host);
}

static void any_layout_becomes_any_other_and_back(void **state) {
  (void)state;
  test_random random = {21};
  static const int workers[] = {1, 2, 5};
  for (size_t w = 0; w < COUNT_OF(workers); w++) {
    tsr_comm *comm = test_comm(8, workers[w]);
    for (int turn = 0; turn < 150; turn++) {
      const tsr_shape shape = random_shape(&random);
      there_and_back_again(&random, comm, &shape,
                           DTYPES[test_random_range(&random, 0, COUNT_OF(DTYPES) - 1)]);
    }
    assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)), 0);
    tsr_comm_release(comm);
  }
}

// ---- sharing ----

static void what_need_not_move_is_shared(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
    bool shared;
  } cases[] = {
      {"x=2,y=2", "x=2,y=2", true},                    // the same
      {"x=2,y=2", "x=2,y=2 devices=[3,2,1,0]", true},  // other devices of this process
      {"x=2,y=2", "x=4", false},
  };
  tsr_comm *comm = test_comm(4, 1);
  void *host = test_tensor(TSR_SHAPE(64, 64), TSR_F32, 1);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *from = test_layout_of(cases[i].from, "x, y", "64,64", TSR_POLICY_ERROR);
    tsr_layout *to = test_layout_of(cases[i].to, i == 2 ? "x" : "x, y", "64,64", TSR_POLICY_ERROR);
    tsr_array *array = NULL, *moved = NULL, *own = NULL;
    assert_ok(tsr_array_shard(comm, from, TSR_F32, host, NULL, &array));
    assert_ok(tsr_array_reshard(array, to, NULL, &moved));
    assert_ok(test_array_check(moved, 1));
    assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)),
                     cases[i].shared ? 16384 : 2 * 16384);
    // Writing to one is not seen in the other.
    void *data = NULL;
    assert_ok(tsr_array_write(moved, 0, &data));
    memset(data, 0, 64);
    assert_ok(test_array_check(array, 1));
    const tsr_reshard_options options = {.size = sizeof options, .unshare = true};
    assert_ok(tsr_array_reshard(array, to, &options, &own));
    for (int k = 0; k < 4; k++)
      for (int l = 0; l < 4; l++)
        assert_ptr_not_equal(tsr_array_data(own, k), tsr_array_data(array, l));
    tsr_array_release(array);
    tsr_array_release(moved);
    tsr_array_release(own);
    tsr_layout_release(from);
    tsr_layout_release(to);
  }
  tsr_comm_release(comm);
  free(host);
}

static void a_slice_of_a_replicated_tensor_is_a_view_of_it(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *whole = test_layout_of("x=4", "()", "64,4", TSR_POLICY_ERROR);
  tsr_layout *rows = test_layout_of("x=4", "x", "64,4", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(64, 4), TSR_F32, 1);
  tsr_array *array = NULL, *cut = NULL;
  assert_ok(tsr_array_shard(comm, whole, TSR_F32, host, NULL, &array));
  assert_ok(tsr_array_reshard(array, rows, NULL, &cut));
  assert_ok(test_array_check(cut, 1));
  assert_ptr_equal(tsr_array_data(cut, 3), (const char *)tsr_array_data(array, 0) + 768);
  assert_int_equal(tsr_array_memory(cut), 1024);
  int64_t offset = 0;
  tsr_array_buffer(cut, 2, &offset);
  assert_int_equal(offset, 512);
  tsr_array_release(array);
  assert_ok(test_array_check(cut, 1));
  tsr_array_release(cut);
  tsr_layout_release(whole);
  tsr_layout_release(rows);
  tsr_comm_release(comm);
  free(host);
}

static void a_donated_array_is_gone_and_its_memory_is_used_again(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *rows = test_layout_of("x=4", "x", "64,64", TSR_POLICY_ERROR);
  tsr_layout *columns = test_layout_of("x=4", "_, x", "64,64", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(64, 64), TSR_F32, 1), *data = NULL;
  const tsr_reshard_options options = {.size = sizeof options, .donate = true};
  tsr_array *array = NULL, *moved = NULL, *again = NULL;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  assert_ok(tsr_array_shard(comm, rows, TSR_F32, host, NULL, &array));
  assert_ok(tsr_array_reshard(array, columns, &options, &moved));
  assert_true(tsr_array_is_deleted(array));
  assert_null(tsr_array_data(array, 0));
  assert_int_equal(tsr_array_memory(array), 0);
  const char *message = "the array was donated: its buffers are gone";
  assert_fails(tsr_array_gather(array, host, 1 << 14, NULL), ARRAY_DELETED, message);
  assert_fails(tsr_array_local_at(array, 0, &part), ARRAY_DELETED, message);
  assert_fails(tsr_array_write(array, 0, &data), ARRAY_DELETED, message);
  assert_fails(tsr_array_to_host_local(array, host, 1 << 14, NULL), ARRAY_DELETED, message);
  assert_fails(tsr_array_check_replicas(array), ARRAY_DELETED, message);
  assert_fails(tsr_array_reshard(array, rows, NULL, &again), ARRAY_DELETED,
               "array 0: the array was donated: its buffers are gone");
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_array_print(array, &text);
  assert_string_equal(tsr_text_string(&text), "f32 (64, 64) over {x=4} as x: donated");
  tsr_text_deinit(&text);
  // The second change of layout finds the memory of the first.
  assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)), 16384);
  assert_int_equal(tsr_buffer_pool_idle(tsr_comm_buffers(comm)), 16384);
  assert_ok(tsr_array_reshard(moved, rows, &options, &again));
  assert_ok(test_array_check(again, 1));
  assert_int_equal(tsr_buffer_pool_peak(tsr_comm_buffers(comm)), 2 * 16384);
  tsr_array_release(array);
  tsr_array_release(moved);
  tsr_array_release(again);
  tsr_layout_release(rows);
  tsr_layout_release(columns);
  tsr_comm_release(comm);
  free(host);
}

static void devices_may_change_places_so_that_less_moves(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *from = test_layout_of("x=4", "x", "64,64", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("x=4 devices=[3,1,0,2]", "x", "64,64", TSR_POLICY_ERROR);
  tsr_layout *partial = test_layout_of("x=4", "_ | unreduced=x", "64,64", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(64, 64), TSR_F32, 1);
  const tsr_reshard_options options = {.size = sizeof options, .relabel = true};
  tsr_array *array = NULL, *moved = NULL;
  assert_ok(tsr_array_shard(comm, from, TSR_F32, host, NULL, &array));
  assert_ok(tsr_array_reshard(array, to, &options, &moved));
  assert_ok(test_array_check(moved, 1));
  for (int i = 0; i < 4; i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    assert_ok(tsr_array_local_at(moved, i, &part));
    assert_int_equal(part.position, i);
    assert_ptr_equal(part.data, tsr_array_data(array, i));
  }
  tsr_array_release(moved);
  assert_ok(tsr_array_reshard(array, partial, &options, &moved));
  assert_ptr_equal(tsr_array_layout(moved), partial);
  tsr_array_release(moved);
  tsr_array_release(array);
  tsr_layout_release(from);
  tsr_layout_release(to);
  tsr_layout_release(partial);
  tsr_comm_release(comm);
  free(host);
}

// ---- many arrays ----

enum { ARRAYS = 20 };

static void many_arrays_move_together_in_bounded_memory(void **state) {
  (void)state;
  static const int64_t limits[] = {0, 1, 5000, 1 << 20};
  tsr_layout *rows = test_layout_of("x=4", "x", "32,32", TSR_POLICY_ERROR);
  tsr_layout *columns = test_layout_of("x=4", "_, x", "32,32", TSR_POLICY_ERROR);
  for (size_t i = 0; i < COUNT_OF(limits); i++) {
    tsr_comm *comm = test_comm(4, 2);
    tsr_array *arrays[ARRAYS], *moved[ARRAYS];
    const tsr_layout *layouts[ARRAYS];
    for (int k = 0; k < ARRAYS; k++) {
      void *host = test_tensor(TSR_SHAPE(32, 32), TSR_F32, (uint64_t)k);
      assert_ok(tsr_array_shard(comm, k % 3 ? rows : columns, TSR_F32, host, NULL, &arrays[k]));
      layouts[k] = columns;
      free(host);
    }
    const tsr_reshard_options options = {
        .size = sizeof options, .donate = true, .max_memory = limits[i]};
    assert_ok(tsr_array_reshard_all(arrays, layouts, ARRAYS, &options, moved));
    for (int k = 0; k < ARRAYS; k++) {
      assert_ok(test_array_check(moved[k], (uint64_t)k));
      tsr_array_release(moved[k]);
      tsr_array_release(arrays[k]);
    }
    // 13 of the 20 need new memory: all at once, or an array at a time.
    const int64_t peak = tsr_buffer_pool_peak(tsr_comm_buffers(comm));
    assert_int_equal(peak, (ARRAYS + (limits[i] == 0 || limits[i] > 100000 ? 13 : 1)) * 4096);
    tsr_comm_release(comm);
  }
  tsr_layout_release(rows);
  tsr_layout_release(columns);
}

static void mistakes_are_named(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1), *other = test_comm(4, 1);
  tsr_layout *rows = test_layout_of("x=4", "x", "4", TSR_POLICY_ERROR);
  tsr_layout *longer = test_layout_of("x=4", "x", "8", TSR_POLICY_ERROR);
  tsr_layout *far = test_layout_of("x=2 devices=[3,4]", "x", "4", TSR_POLICY_ERROR);
  tsr_array *arrays[2] = {NULL, NULL}, *out[2] = {NULL, NULL};
  const tsr_layout *layouts[2] = {rows, rows};
  assert_ok(tsr_array_zeros(comm, rows, TSR_F32, &arrays[0]));
  assert_ok(tsr_array_zeros(other, rows, TSR_F32, &arrays[1]));
  assert_fails(tsr_array_reshard_all(arrays, layouts, 2, NULL, out), BAD_ARGUMENT,
               "array 1 is on another comm than array 0");
  assert_fails(tsr_array_reshard_all((tsr_array *[]){NULL, arrays[0]}, layouts, 2, NULL, out),
               BAD_ARGUMENT, "array 0 is NULL");
  assert_fails(tsr_array_reshard_all((tsr_array *[]){arrays[0], NULL}, layouts, 2, NULL, out),
               BAD_ARGUMENT, "array 1 is NULL");
  assert_fails(tsr_array_reshard_all((tsr_array *[]){arrays[0], arrays[0]},
                                     (const tsr_layout *[]){rows, NULL}, 2, NULL, out),
               BAD_ARGUMENT, "layout 1 is NULL");
  assert_fails_with(tsr_array_reshard(arrays[0], longer, NULL, out), SHAPES_DIFFER, "array 0: ");
  assert_fails(tsr_array_reshard(arrays[0], far, NULL, out), UNKNOWN_DEVICE,
               "array 0: device 4 of the layout is not one of the comm's 4");
  tsr_reshard_options options = {.size = sizeof options, .max_memory = -1};
  assert_fails(tsr_array_reshard(arrays[0], rows, &options, out), BAD_ARGUMENT,
               "at most -1 bytes of memory, wanted 0 or more");
  options.max_memory = 0;
  options.donate = true;
  assert_fails(
      tsr_array_reshard_all((tsr_array *[]){arrays[0], arrays[0]}, layouts, 2, &options, out),
      BAD_ARGUMENT, "array 1 is the same as array 0 and cannot be donated twice");
  options.method = TSR_RESHARD_METHOD_COUNT;
  assert_fails(tsr_array_reshard(arrays[0], rows, &options, out), BAD_ARGUMENT,
               "method 2 of resharding, wanted 0 to 1");
  options.size = 1;
  assert_fails_with(tsr_array_reshard(arrays[0], rows, &options, out), BAD_ARGUMENT,
                    "tsr_reshard_options has size 1, wanted");
  assert_ok(tsr_array_reshard_all(arrays, layouts, 0, NULL, out));
  assert_null(out[0]);
  for (int i = 0; i < 2; i++) tsr_array_release(arrays[i]);
  tsr_layout_release(rows);
  tsr_layout_release(longer);
  tsr_layout_release(far);
  tsr_comm_release(comm);
  tsr_comm_release(other);
}

// ---- partial results ----

static void partial_results_are_reduced_on_the_way(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
    int wanted;  // of 1 on device 0, 2 on device 1, ..., each plus 10 * the index
  } cases[] = {
      {"_ | unreduced=x+y", "x", 10},       {"_ | unreduced=y", "_", 3},
      {"_ | unreduced=max(x+y)", "x+y", 4}, {"_ | unreduced=min(x+y)", "()", 1},
      {"_ | unreduced=x", "y", 4},
  };
  tsr_comm *comm = test_comm(4, 2);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *from = test_layout_of("x=2,y=2", cases[i].from, "8", TSR_POLICY_ERROR);
    tsr_layout *to = test_layout_of("x=2,y=2", cases[i].to, "8", TSR_POLICY_ERROR);
    tsr_buffer *buffers[4];
    int32_t values[4][8], host[8];
    tsr_array *array = NULL, *reduced = NULL;
    for (int d = 0; d < 4; d++) {
      for (int k = 0; k < 8; k++) values[d][k] = d + 1;
      assert_ok(tsr_buffer_wrap(values[d], 32, false, NULL, NULL, &buffers[d]));
    }
    if (i == 1)  // replicas over x: devices 2 and 3 hold what 0 and 1 hold
      for (int k = 0; k < 8; k++) values[2][k] = 1, values[3][k] = 2;
    if (i == 4)  // replicas over y
      for (int k = 0; k < 8; k++) values[1][k] = 1, values[2][k] = values[3][k] = 3;
    assert_ok(tsr_array_from_buffers(comm, from, TSR_I32, buffers, &array));
    assert_ok(tsr_array_reshard(array, to, NULL, &reduced));
    assert_ok(tsr_array_gather(reduced, host, sizeof host, NULL));
    for (int k = 0; k < 8; k++) assert_int_equal(host[k], cases[i].wanted);
    assert_ok(tsr_array_gather(array, host, sizeof host, NULL));
    for (int k = 0; k < 8; k++) assert_int_equal(host[k], cases[i].wanted);
    assert_fails(tsr_array_to_host_local(array, host, sizeof host, NULL),
                 UNREDUCED_HAS_NO_INDEX_MAP,
                 "the array has unreduced axes: its devices hold partial results");
    tsr_array_release(array);
    tsr_array_release(reduced);
    for (int d = 0; d < 4; d++) tsr_buffer_release(buffers[d]);
    tsr_layout_release(from);
    tsr_layout_release(to);
  }
  tsr_comm_release(comm);
}

static void uneven_partial_results_are_reduced_size_by_size(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(12, 2);
  tsr_layout *from = test_layout_of("x=3,y=2,z=2", "x, _ | unreduced=y", "7,3", TSR_POLICY_UNEVEN);
  tsr_layout *to = test_layout_of("x=3,y=2,z=2", "z, x", "7,3", TSR_POLICY_UNEVEN);
  void *host = test_tensor(TSR_SHAPE(7, 3), TSR_I64, 6);
  tsr_array *array = NULL, *moved = NULL, *back = NULL;
  assert_ok(tsr_array_shard(comm, from, TSR_I64, host, NULL, &array));
  assert_ok(tsr_array_reshard(array, to, NULL, &moved));
  assert_ok(test_array_check(moved, 6));
  // And back: the first term gets the values, the other gets zeros.
  assert_ok(tsr_array_reshard(moved, from, NULL, &back));
  for (int64_t i = 0; i < 12; i++) {
    tsr_local_shard a = TSR_LOCAL_SHARD, b = TSR_LOCAL_SHARD;
    assert_ok(tsr_array_local_at(array, i, &a));
    assert_ok(tsr_array_local_at(back, i, &b));
    assert_memory_equal(a.data, b.data, (size_t)a.bytes);
  }
  tsr_array_release(back);
  assert_ok(tsr_array_reshard(array, from, NULL, &back));  // terms as they are
  assert_ptr_equal(tsr_array_data(back, 5), tsr_array_data(array, 5));
  tsr_array_release(array);
  tsr_array_release(moved);
  tsr_array_release(back);
  tsr_layout_release(from);
  tsr_layout_release(to);
  tsr_comm_release(comm);
  free(host);
}

// ---- sequences ----

static void sequences_reduce_and_make_partial_results(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"x, _ | unreduced=y", "x, y"},
                                         {"_, _ | unreduced=x+y", "y, _"},
                                         {"x, y", "x, _ | unreduced=y"},
                                         {"_, _ | unreduced=max(x)", "_, x"},
                                         {"y, _ | unreduced=x", "_, y"}};
  tsr_comm *comm = test_comm(4, 2);
  void *host = test_tensor(TSR_SHAPE(8, 4), TSR_I32, 2),
       *back = test_tensor(TSR_SHAPE(8, 4), TSR_I32, 0);
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    tsr_layout *from = test_layout_of("x=2,y=2", pairs[i][0], "8,4", TSR_POLICY_ERROR);
    tsr_layout *to = test_layout_of("x=2,y=2", pairs[i][1], "8,4", TSR_POLICY_ERROR);
    const tsr_reshard_options options = {
        .size = sizeof options, .method = TSR_RESHARD_SEQUENCE, .donate = true};
    tsr_array *array = NULL, *moved = NULL;
    assert_ok(tsr_array_shard(comm, from, TSR_I32, host, NULL, &array));
    assert_ok(tsr_array_reshard(array, to, &options, &moved));
    assert_true(tsr_array_is_deleted(array));
    assert_ptr_equal(tsr_array_layout(moved), to);
    assert_ok(tsr_array_gather(moved, back, 128, NULL));
    assert_memory_equal(back, host, 128);
    tsr_array_release(array);
    tsr_array_release(moved);
    tsr_layout_release(from);
    tsr_layout_release(to);
  }
  tsr_comm_release(comm);
  free(host);
  free(back);
}

static void where_there_is_no_sequence_it_says_so(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *rows = test_layout_of("x=2", "x", "5", TSR_POLICY_UNEVEN), *flat = NULL;
  tsr_layout *longer = test_layout_of("x=2", "x", "6", TSR_POLICY_ERROR);
  const tsr_reshard_options options = {.size = sizeof options, .method = TSR_RESHARD_SEQUENCE};
  tsr_array *array = NULL, *moved = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(5), 1, &(tsr_range){0, 5}, &flat));
  assert_ok(tsr_array_zeros(comm, rows, TSR_F32, &array));
  assert_fails(tsr_array_reshard(array, flat, &options, &moved), NO_SEQUENCE,
               "array 0: boxes and flat ranges change by direct copies only");
  assert_fails(tsr_array_reshard(array, longer, &options, &moved), SHAPES_DIFFER,
               "array 0: the array has shape (5,), the layout has (6,)");
  tsr_layout *whole = test_layout_of("x=2", "()", "5", TSR_POLICY_ERROR);
  assert_fails_with(tsr_array_reshard(array, whole, &options, &moved), NO_SEQUENCE, "array 0: ");
  tsr_layout_release(whole);
  tsr_array_release(array);
  tsr_layout_release(rows);
  tsr_layout_release(flat);
  tsr_layout_release(longer);
  tsr_comm_release(comm);
}

// ---- failures ----

typedef struct work {
  tsr_comm *comm;
  const tsr_layout *from, *to;
  const void *host;
  tsr_reshard_method method;
} work;

static tsr_status reshard_once(void *context) {
  const work *w = context;
  tsr_array *array = NULL, *moved = NULL;
  tsr_buffer_pool_trim(tsr_comm_buffers(w->comm), 0);
  tsr_status status = tsr_array_shard(w->comm, w->from, TSR_I16, w->host, NULL, &array);
  const tsr_reshard_options options = {
      .size = sizeof options, .method = w->method, .relabel = w->method == TSR_RESHARD_DIRECT};
  if (!status) status = tsr_array_reshard(array, w->to, &options, &moved);
  tsr_array_release(array);
  tsr_array_release(moved);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  static const char *const pairs[][2] = {{"x", "_, y"}, {"x, _ | unreduced=y", "_, x+y"}};
  int16_t host[64] = {0};
  for (size_t i = 0; i < 2 * COUNT_OF(pairs); i++) {
    work w = {test_comm(4, 1), test_layout_of("x=2,y=2", pairs[i / 2][0], "8,8", TSR_POLICY_ERROR),
              test_layout_of("x=2,y=2", pairs[i / 2][1], "8,8", TSR_POLICY_ERROR), host,
              i % 2 ? TSR_RESHARD_SEQUENCE : TSR_RESHARD_DIRECT};
    test_allocation_sweep(reshard_once, &w);
    tsr_layout_release(w.from);
    tsr_layout_release(w.to);
    tsr_comm_release(w.comm);
  }
}

SUITE(reshard, TEST(every_pair_of_specs_on_small_meshes),
      TEST(any_layout_becomes_any_other_and_back), TEST(what_need_not_move_is_shared),
      TEST(a_slice_of_a_replicated_tensor_is_a_view_of_it),
      TEST(a_donated_array_is_gone_and_its_memory_is_used_again),
      TEST(devices_may_change_places_so_that_less_moves),
      TEST(many_arrays_move_together_in_bounded_memory), TEST(mistakes_are_named),
      TEST(partial_results_are_reduced_on_the_way),
      TEST(uneven_partial_results_are_reduced_size_by_size),
      TEST(sequences_reduce_and_make_partial_results), TEST(where_there_is_no_sequence_it_says_so),
      TEST(every_allocation_may_fail))
