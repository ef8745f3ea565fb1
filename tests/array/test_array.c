// Making arrays and looking at them.
#include <stdatomic.h>
#include <stdlib.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

static void a_part_tells_device_ranges_and_replica_as_jax_does(void **state) {
  (void)state;
  static const struct {
    int64_t device, position, shard, replica;
    tsr_range ranges[2];
  } wanted[] = {
      {0, 3, 1, 1, {{2, 4}, {0, 6}}},
      {1, 1, 0, 1, {{0, 2}, {0, 6}}},
      {2, 0, 0, 0, {{0, 2}, {0, 6}}},
      {3, 2, 1, 0, {{2, 4}, {0, 6}}},
  };
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *layout = test_layout_of("x=2,y=2 devices=[2,1,3,0]", "x", "4,6", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(4, 6), TSR_I16, 1);
  tsr_array *array = NULL;
  assert_ok(tsr_array_shard(comm, layout, TSR_I16, host, NULL, &array));
  assert_int_equal(tsr_array_local_count(array), 4);
  for (int i = 0; i < 4; i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    assert_ok(tsr_array_local_at(array, i, &part));
    assert_int_equal(part.device, wanted[i].device);
    assert_int_equal(part.position, wanted[i].position);
    assert_int_equal(part.shard, wanted[i].shard);
    assert_int_equal(part.replica, wanted[i].replica);
    assert_true(part.is_box);
    assert_memory_equal(part.ranges, wanted[i].ranges, sizeof wanted[i].ranges);
    assert_true(tsr_shape_equal(&part.shape, TSR_SHAPE(2, 6)));
    assert_true(tsr_shape_equal(&part.buffer_shape, TSR_SHAPE(2, 6)));
    assert_int_equal(part.strides[0], 6);
    assert_int_equal(part.strides[1], 1);
    assert_int_equal(part.bytes, 24);
    assert_true(part.shared);
    assert_false(part.borrowed);
    assert_ptr_equal(part.data, tsr_array_data(array, i));
    assert_int_equal(tsr_array_device(array, i), wanted[i].device);
    assert_int_equal(tsr_array_local_find(array, wanted[i].device), i);
  }
  assert_int_equal(tsr_array_local_find(array, 4), -1);
  tsr_local_shard part = TSR_LOCAL_SHARD;
  assert_fails(tsr_array_local_at(array, 4, &part), INDEX_OUT_OF_RANGE,
               "local shard 4 of an array that has 4");
  assert_ok(test_array_check(array, 1));
  assert_int_equal(tsr_array_dtype(array), TSR_I16);
  const tsr_shape shape = tsr_array_shape(array);
  assert_true(tsr_shape_equal(&shape, TSR_SHAPE(4, 6)));
  assert_ptr_equal(tsr_array_comm(array), comm);
  assert_ptr_equal(tsr_array_layout(array), layout);
  assert_ptr_equal(tsr_array_sharding(array), tsr_layout_sharding(layout));
  assert_true(tsr_array_is_fully_addressable(array));
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
  free(host);
}

static void parts_that_are_not_boxes_say_so(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x/cyclic(1)", "5", TSR_POLICY_UNEVEN);
  tsr_array *array = NULL;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  assert_ok(tsr_array_local_at(array, 1, &part));
  assert_false(part.is_box);
  assert_int_equal(part.replica, 0);
  assert_int_equal(part.shape.dims[0], 2);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void replicas_share_one_buffer_until_one_is_written(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(8, 2);
  tsr_layout *layout = test_layout_of("x=2,y=4", "x", "64,4", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(64, 4), TSR_F32, 2);
  tsr_array *array = NULL;
  assert_ok(tsr_array_shard(comm, layout, TSR_F32, host, NULL, &array));
  assert_int_equal(tsr_array_memory(array), 1024);
  for (int i = 1; i < 4; i++) assert_ptr_equal(tsr_array_data(array, i), tsr_array_data(array, 0));
  assert_ok(tsr_array_check_replicas(array));
  void *data = NULL;
  assert_ok(tsr_array_write(array, 2, &data));
  assert_ptr_not_equal(data, tsr_array_data(array, 0));
  assert_ptr_equal(data, tsr_array_data(array, 2));
  assert_memory_equal(data, tsr_array_data(array, 0), 512);
  assert_int_equal(tsr_array_memory(array), 1536);
  assert_ok(tsr_array_check_replicas(array));
  ((char *)data)[77] ^= 4;
  assert_fails(tsr_array_check_replicas(array), REPLICAS_DIFFER,
               "devices 0 and 2 hold shard 0, but differ in its element 19");
  void *again = NULL;
  assert_ok(tsr_array_write(array, 2, &again));
  assert_ptr_equal(again, data);
  assert_fails(tsr_array_write(array, 8, &again), INDEX_OUT_OF_RANGE,
               "local shard 8 of an array that has 8");
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
  free(host);
}

static void replicas_are_compared_without_padding_and_by_bits(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *layout = test_layout_of("x=2,y=2", "_, x", "3,5", TSR_POLICY_PAD);
  void *host = test_tensor(TSR_SHAPE(3, 5), TSR_I4, 2);
  tsr_array *array = NULL;
  void *data = NULL;
  assert_ok(tsr_array_shard(comm, layout, TSR_I4, host, NULL, &array));
  assert_ok(test_array_check(array, 2));
  // Shard 1 is 3 x 2 elements in a buffer of 3 x 3: places 2 and 5 are padding.
  assert_ok(tsr_array_write(array, 3, &data));
  unsigned char *bytes = data;
  bytes[1] ^= 0x0F;
  bytes[2] ^= 0xF0;
  assert_ok(tsr_array_check_replicas(array));
  bytes[2] ^= 0x08;
  assert_fails(tsr_array_check_replicas(array), REPLICAS_DIFFER,
               "devices 2 and 3 hold shard 1, but differ in its element 3");
  bytes[1] ^= 0x10;
  assert_fails(tsr_array_check_replicas(array), REPLICAS_DIFFER,
               "devices 2 and 3 hold shard 1, but differ in its element 2");
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
  free(host);
}

static void full_arrays_have_the_element_everywhere_but_in_padding(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_I2, TSR_F4E2M1FN, TSR_F6E3M2FN, TSR_U8, TSR_F32, TSR_C128};
  static const tsr_policy policies[] = {TSR_POLICY_UNEVEN, TSR_POLICY_PAD};
  const unsigned char element[16] = {0x2D, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const tsr_copy everywhere = {.length = 1, .loop_count = 1, .loops = {{35, 0, 1}}};
  const tsr_copy last = {.from = 11, .length = 1};
  tsr_comm *comm = test_comm(4, 2);
  for (size_t t = 0; t < COUNT_OF(dtypes); t++)
    for (size_t p = 0; p < COUNT_OF(policies); p++) {
      const int bits = tsr_dtype_info_of(dtypes[t])->bits;
      tsr_layout *layout = test_layout_of("x=2,y=2", "x, y", "5,7", policies[p]);
      unsigned char wanted[35 * 16] = {0}, found[35 * 16] = {0}, padding[16] = {0};
      tsr_array *full = NULL;
      assert_ok(test_array_full(comm, layout, dtypes[t], element, &full));
      assert_ok(tsr_array_gather(full, found, sizeof found, NULL));
      tsr_copy_run(&everywhere, bits, element, wanted);
      assert_memory_equal(found, wanted, sizeof wanted);
      if (policies[p] == TSR_POLICY_PAD) {  // the last shard is 2 x 3 in a buffer of 3 x 4
        tsr_copy_run(&last, bits, tsr_array_data(full, 3), padding);
        for (size_t i = 0; i < sizeof padding; i++) assert_int_equal(padding[i], 0);
      }
      tsr_array_release(full);
      tsr_layout_release(layout);
    }
  tsr_comm_release(comm);
}

static void large_arrays_are_filled_by_all_workers(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 2);
  tsr_layout *layout = test_layout_of("x=2", "x", "1000003", TSR_POLICY_UNEVEN);
  const float one = 1;
  tsr_array *array = NULL;
  assert_ok(test_array_full(comm, layout, TSR_F32, &one, &array));
  const float *data = tsr_array_data(array, 1);
  for (int i = 0; i < 500001; i++) assert_true(data[i] == one);
  tsr_array_release(array);
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  data = tsr_array_data(array, 0);
  for (int i = 0; i < 500002; i++) assert_true(data[i] == 0);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

// Element i of a vector is i.
static tsr_status count_up(void *context, const tsr_local_shard *part, void *data) {
  atomic_fetch_add((_Atomic int *)context, 1);
  for (int64_t i = part->ranges[0].lo; i < part->ranges[0].hi; i++)
    ((int32_t *)data)[i - part->ranges[0].lo] = (int32_t)i;
  return NULL;
}

static tsr_status refuse(void *context, const tsr_local_shard *part, void *data) {
  (void)context;
  (void)data;
  return part->device == 2 ? tsr_fail(NOT_FOUND, "no such row") : NULL;
}

static void a_callback_fills_each_distinct_shard_once(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 2);
  tsr_layout *layout = test_layout_of("x=2,y=2", "x", "10", TSR_POLICY_ERROR);
  _Atomic int calls = 0;
  tsr_array *array = NULL;
  int32_t host[10];
  assert_ok(tsr_array_generate(comm, layout, TSR_I32, count_up, &calls, &array));
  assert_int_equal(calls, 2);
  assert_ok(tsr_array_gather(array, host, sizeof host, NULL));
  for (int i = 0; i < 10; i++) assert_int_equal(host[i], i);
  tsr_array_release(array);
  assert_fails(tsr_array_generate(comm, layout, TSR_I32, refuse, NULL, &array), NOT_FOUND,
               "device 2: no such row");
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void buffers_of_single_devices_become_an_array(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(3, 1);
  tsr_layout *layout = test_layout_of("x=3", "x", "7", TSR_POLICY_UNEVEN);
  uint8_t bytes[3][3] = {{0, 1, 2}, {3, 4, 5}, {6}}, host[7];
  tsr_buffer *buffers[3];
  tsr_array *array = NULL;
  for (int i = 0; i < 3; i++)
    assert_ok(tsr_buffer_wrap(bytes[i], i < 2 ? 3 : 1, true, NULL, NULL, &buffers[i]));
  assert_ok(tsr_array_from_buffers(comm, layout, TSR_U8, buffers, &array));
  int64_t offset = -1;
  assert_ptr_equal(tsr_array_buffer(array, 1, &offset), buffers[1]);
  assert_int_equal(offset, 0);
  assert_ok(tsr_array_gather(array, host, sizeof host, NULL));
  for (int i = 0; i < 7; i++) assert_int_equal(host[i], i);
  tsr_array_release(array);
  tsr_buffer *swapped[3] = {buffers[0], buffers[2], NULL};
  assert_fails(tsr_array_from_buffers(comm, layout, TSR_U8, swapped, &array), BAD_ARGUMENT,
               "the buffer of device 1 has 1 bytes, wanted 3");
  swapped[1] = buffers[1];
  assert_fails(tsr_array_from_buffers(comm, layout, TSR_U8, swapped, &array), BAD_ARGUMENT,
               "no buffer for device 2");
  for (int i = 0; i < 3; i++) tsr_buffer_release(buffers[i]);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void an_array_describes_itself_in_a_line(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec, *shape, *wanted;
  } cases[] = {
      {"x=4,y=2", "x", "8,16",
       "f32 (8, 16) over {x=4,y=2} as x: 8 of 8 devices here, 4 buffers, 512 B"},
      {"x=2", "()", "3", "f32 (3,) over {x=2} as (): 2 of 2 devices here, 1 buffers, 12 B"},
  };
  tsr_comm *comm = test_comm(8, 1);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_layout *layout =
        test_layout_of(cases[i].mesh, cases[i].spec, cases[i].shape, TSR_POLICY_ERROR);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_array *array = NULL;
    assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
    tsr_array_print(array, &text);
    assert_string_equal(tsr_text_string(&text), cases[i].wanted);
    tsr_text_deinit(&text);
    tsr_array_release(array);
    tsr_layout_release(layout);
  }
  tsr_layout *flat = NULL;
  tsr_array *array = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(3, 3), 2, (tsr_range[]){{0, 4}, {4, 9}}, &flat));
  assert_ok(tsr_array_zeros(comm, flat, TSR_I4, &array));
  tsr_array_print(array, &text);
  assert_string_equal(tsr_text_string(&text),
                      "i4 (3, 3) in 2 shards of flat ranges: 2 of 2 devices here, 2 buffers, 5 B");
  tsr_text_deinit(&text);
  tsr_array_release(array);
  tsr_layout_release(flat);
  tsr_comm_release(comm);
}

static void devices_and_types_that_do_not_exist_are_refused(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *layout = test_layout_of("x=2 devices=[1,4]", "x", "8", TSR_POLICY_ERROR);
  tsr_array *array = NULL;
  assert_fails(tsr_array_zeros(comm, layout, TSR_F32, &array), UNKNOWN_DEVICE,
               "device 4 of the layout is not one of the comm's 4");
  assert_fails(tsr_array_zeros(comm, layout, TSR_DTYPE_NONE, &array), UNKNOWN_DTYPE,
               "element type 0 is none of tessera/dtypes.def");
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

static void buffers_go_back_to_the_comms_pool(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x", "1024", TSR_POLICY_ERROR);
  tsr_array *array = NULL;
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  const void *data = tsr_array_data(array, 1);
  assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)), 4096);
  tsr_array_release(tsr_array_retain(array));
  tsr_array_release(array);
  tsr_array_release(NULL);
  assert_int_equal(tsr_buffer_pool_in_use(tsr_comm_buffers(comm)), 0);
  assert_ok(tsr_array_empty(comm, layout, TSR_F32, &array));
  assert_true(tsr_array_data(array, 0) == data || tsr_array_data(array, 1) == data);
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_comm_release(comm);
}

typedef struct making {
  tsr_comm *comm;
  const tsr_layout *layout;
} making;

static tsr_status make_arrays(void *context) {
  const making *m = context;
  tsr_array *full = NULL, *made = NULL;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  tsr_text text = TSR_TEXT_EMPTY;
  _Atomic int calls = 0;
  void *data;
  const float one = 1;
  tsr_buffer_pool_trim(tsr_comm_buffers(m->comm), 0);
  tsr_status status = test_array_full(m->comm, m->layout, TSR_F32, &one, &full);
  if (!status) status = tsr_array_generate(m->comm, m->layout, TSR_I32, count_up, &calls, &made);
  if (!status) status = tsr_array_local_at(full, 0, &part);
  if (!status) status = tsr_array_write(full, 1, &data);
  if (!status) status = tsr_array_check_replicas(full);
  if (full) tsr_array_print(full, &text);
  if (!status) status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  tsr_array_release(full);
  tsr_array_release(made);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  making m = {test_comm(4, 1), test_layout_of("x=2,y=2", "x", "7", TSR_POLICY_PAD)};
  test_allocation_sweep(make_arrays, &m);
  tsr_layout_release(m.layout);
  tsr_comm_release(m.comm);
}

SUITE(array, TEST(a_part_tells_device_ranges_and_replica_as_jax_does),
      TEST(parts_that_are_not_boxes_say_so), TEST(replicas_share_one_buffer_until_one_is_written),
      TEST(replicas_are_compared_without_padding_and_by_bits),
      TEST(full_arrays_have_the_element_everywhere_but_in_padding),
      TEST(large_arrays_are_filled_by_all_workers), TEST(a_callback_fills_each_distinct_shard_once),
      TEST(buffers_of_single_devices_become_an_array), TEST(an_array_describes_itself_in_a_line),
      TEST(devices_and_types_that_do_not_exist_are_refused),
      TEST(buffers_go_back_to_the_comms_pool), TEST(every_allocation_may_fail))
