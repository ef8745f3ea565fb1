// From any layout into an array that is there.
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "array/arrays.h"
#include "base/buffer_internal.h"
#include "support/ranks.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"

enum { MOST_PARTS = 16 };

static int64_t in_use(const tsr_comm *comm) {
  return tsr_buffer_pool_in_use(tsr_comm_buffers(comm));
}

static tsr_reshard_options by(tsr_reshard_method method) {
  return (tsr_reshard_options){.size = sizeof(tsr_reshard_options), .method = method};
}

// ---- into its own buffers ----

static const char *const specs[] = {"x, _",
                                    "_, y",
                                    "x, y",
                                    "y+x, _",
                                    "_, x+y",
                                    "_, _",
                                    "_, x | unreduced=y",
                                    "_, _ | unreduced=x+y"};

// Twice, so that the second finds what the first left.
static void check_pair(tsr_comm *comm, tsr_array *from, const tsr_array *wanted,
                       tsr_reshard_method method) {
  const tsr_reshard_options options = by(method);
  const int64_t count = tsr_array_local_count(wanted);
  const void *places[MOST_PARTS];
  tsr_array *target = NULL;
  assert_ok(test_array_full(comm, tsr_array_layout(wanted), TSR_I32, &(int32_t){-1}, &target));
  const int64_t before = in_use(comm), memory = tsr_array_memory(target);
  for (int64_t i = 0; i < count; i++) places[i] = tsr_array_data(target, i);
  for (int turn = 0; turn < 2; turn++) {
    assert_ok(tsr_array_reshard_into(from, target, &options));
    assert_int_equal(in_use(comm), before);
    assert_int_equal(tsr_array_memory(target), memory);
    for (int64_t i = 0; i < count; i++) {
      tsr_local_shard part = TSR_LOCAL_SHARD;
      assert_ok(tsr_array_local_at(wanted, i, &part));
      assert_ptr_equal(tsr_array_data(target, i), places[i]);
      assert_memory_equal(places[i], part.data, (size_t)part.bytes);
    }
  }
  tsr_array_release(target);
}

static void every_pair_of_specs_moves_into_the_buffers_that_are_there(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 2);
  void *host = test_tensor(TSR_SHAPE(8, 12), TSR_I32, 9);
  tsr_array *arrays[COUNT_OF(specs)];
  for (size_t i = 0; i < COUNT_OF(specs); i++) {
    tsr_layout *layout = test_layout_of("x=2,y=2", specs[i], "8,12", TSR_POLICY_ERROR);
    assert_ok(tsr_array_shard(comm, layout, TSR_I32, host, NULL, &arrays[i]));
    tsr_layout_release(layout);
  }
  for (size_t i = 0; i < COUNT_OF(specs); i++)
    for (size_t k = 0; k < COUNT_OF(specs); k++) {
      check_pair(comm, arrays[i], arrays[k], TSR_RESHARD_DIRECT);
      check_pair(comm, arrays[i], arrays[k], TSR_RESHARD_SEQUENCE);
    }
  for (size_t i = 0; i < COUNT_OF(specs); i++) tsr_array_release(arrays[i]);
  tsr_comm_release(comm);
  free(host);
}

static void direct_copies_take_no_memory_on_the_way(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *rows = test_layout_of("x=4", "x, _", "64,64", TSR_POLICY_ERROR);
  tsr_layout *columns = test_layout_of("x=4", "_, x", "64,64", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(64, 64), TSR_F32, 1);
  tsr_array *array = NULL, *target = NULL;
  assert_ok(tsr_array_shard(comm, rows, TSR_F32, host, NULL, &array));
  assert_ok(tsr_array_empty(comm, columns, TSR_F32, &target));
  for (int i = 0; i < 3; i++) assert_ok(tsr_array_reshard_into(array, target, NULL));
  assert_ok(test_array_check(target, 1));
  assert_int_equal(tsr_buffer_pool_peak(tsr_comm_buffers(comm)), 2 * 16384);
  tsr_array_release(array);
  tsr_array_release(target);
  tsr_layout_release(rows);
  tsr_layout_release(columns);
  tsr_comm_release(comm);
  free(host);
}

// Padded, ragged, narrower than a byte, boxes and flat ranges.
static void any_layout_moves_into_any_other(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_I2, TSR_F6E2M3FN, TSR_BF16, TSR_C128};
  test_random random = {41};
  tsr_comm *comm = test_comm(12, 2);
  for (int turn = 0; turn < 200; turn++) {
    tsr_shape shape = {.rank = (int)test_random_range(&random, 0, 3)};
    for (int d = 0; d < shape.rank; d++) shape.dims[d] = test_random_range(&random, 0, 9);
    tsr_layout *a = test_random_layout(&random, &shape), *b = test_random_layout(&random, &shape);
    void *host = test_tensor(&shape, dtypes[turn % 4], 4);
    tsr_array *array = NULL, *target = NULL;
    assert_ok(tsr_array_shard(comm, a, dtypes[turn % 4], host, NULL, &array));
    assert_ok(tsr_array_zeros(comm, b, dtypes[turn % 4], &target));
    const int64_t before = in_use(comm);
    assert_ok(tsr_array_reshard_into(array, target, NULL));
    assert_ok(test_array_check(target, 4));
    assert_ok(test_array_check(array, 4));
    assert_int_equal(in_use(comm), before);
    tsr_array_release(array);
    tsr_array_release(target);
    tsr_layout_release(a);
    tsr_layout_release(b);
    free(host);
  }
  tsr_comm_release(comm);
}

// ---- buffers that others hold ----

// Who holds the target's buffers beside it.
typedef enum holder { SOURCE, OTHER_ARRAY, CALLER, READ_ONLY, WRITTEN_REPLICA, HOLDERS } holder;

typedef struct scene {
  tsr_comm *comm;
  tsr_layout *rows, *whole;
  tsr_array *source, *target, *other;
  tsr_buffer *buffer;
  void *old;  // what the target had, read-only or held by others
} scene;

static void begin(scene *s, holder h) {
  void *data = NULL;
  *s = (scene){.comm = test_comm(2, 1),
               .rows = test_layout_of("x=2", "x", "32", TSR_POLICY_ERROR),
               .whole = test_layout_of("x=2", "_", "32", TSR_POLICY_ERROR),
               .old = test_tensor(TSR_SHAPE(32), TSR_F32, 6)};
  void *host = test_tensor(TSR_SHAPE(32), TSR_F32, 5);
  assert_ok(
      tsr_array_shard(s->comm, h == SOURCE ? s->whole : s->rows, TSR_F32, host, NULL, &s->source));
  free(host);
  if (h == SOURCE) {
    assert_ok(tsr_array_reshard(s->source, s->whole, NULL, &s->target));
  } else if (h == CALLER || h == READ_ONLY) {
    assert_ok(tsr_buffer_wrap(s->old, 128, h == CALLER, NULL, NULL, &s->buffer));
    tsr_buffer *both[] = {s->buffer, s->buffer};
    assert_ok(tsr_array_from_buffers(s->comm, s->whole, TSR_F32, both, &s->target));
    if (h == READ_ONLY) tsr_buffer_release(s->buffer);
  } else {
    assert_ok(tsr_array_shard(s->comm, s->whole, TSR_F32, s->old, NULL, &s->target));
    if (h == OTHER_ARRAY) assert_ok(tsr_array_reshard(s->target, s->whole, NULL, &s->other));
    if (h == WRITTEN_REPLICA) assert_ok(tsr_array_write(s->target, 1, &data));
  }
}

static void end(scene *s, holder h) {
  tsr_array_release(s->source);
  tsr_array_release(s->target);
  tsr_array_release(s->other);
  if (h == CALLER) tsr_buffer_release(s->buffer);
  tsr_layout_release(s->rows);
  tsr_layout_release(s->whole);
  tsr_comm_release(s->comm);
  free(s->old);
}

static void what_others_hold_is_not_written_to(void **state) {
  (void)state;
  for (int h = 0; h < HOLDERS; h++)
    for (int m = 0; m < TSR_RESHARD_METHOD_COUNT; m++) {
      const tsr_reshard_options options = by((tsr_reshard_method)m);
      void *wanted = test_tensor(TSR_SHAPE(32), TSR_F32, 6);
      scene s;
      begin(&s, (holder)h);
      assert_ok(tsr_array_reshard_into(s.source, s.target, &options));
      assert_ok(test_array_check(s.target, 5));
      assert_ok(test_array_check(s.source, 5));
      if (s.other) assert_ok(test_array_check(s.other, 6));
      assert_memory_equal(s.old, wanted, 128);
      // Replicas share one buffer, which is the target's own from now on.
      assert_int_equal(tsr_array_memory(s.target), 128);
      assert_ptr_equal(tsr_array_data(s.target, 0), tsr_array_data(s.target, 1));
      assert_ptr_not_equal(tsr_array_data(s.target, 0), tsr_array_data(s.source, 0));
      const void *place = tsr_array_data(s.target, 0);
      assert_ok(tsr_array_reshard_into(s.source, s.target, &options));
      assert_ptr_equal(tsr_array_data(s.target, 0), place);
      free(wanted);
      end(&s, (holder)h);
    }
}

static void the_source_may_be_donated(void **state) {
  (void)state;
  for (int m = 0; m < TSR_RESHARD_METHOD_COUNT; m++) {
    tsr_reshard_options options = by((tsr_reshard_method)m);
    scene s;
    options.donate = true;
    begin(&s, OTHER_ARRAY);
    assert_ok(tsr_array_reshard_into(s.source, s.target, &options));
    assert_true(tsr_array_is_deleted(s.source));
    assert_ok(test_array_check(s.target, 5));
    end(&s, OTHER_ARRAY);
  }
}

// ---- mistakes ----

static void mistakes_are_named_and_leave_the_target_as_it_was(void **state) {
  (void)state;
  scene s;
  begin(&s, WRITTEN_REPLICA);
  tsr_layout *longer = test_layout_of("x=2", "x", "34", TSR_POLICY_ERROR);
  tsr_comm *elsewhere = test_comm(2, 1);
  tsr_array *wrong[4] = {NULL};
  assert_ok(tsr_array_zeros(s.comm, longer, TSR_F32, &wrong[0]));
  assert_ok(tsr_array_zeros(s.comm, s.rows, TSR_F64, &wrong[1]));
  assert_ok(tsr_array_zeros(elsewhere, s.rows, TSR_F32, &wrong[2]));
  assert_ok(tsr_array_zeros(s.comm, s.rows, TSR_F32, &wrong[3]));
  tsr_reshard_options donate = by(TSR_RESHARD_DIRECT), relabel = donate, size = donate;
  tsr_array *gone = NULL;
  donate.donate = true;
  relabel.relabel = true;
  size.size = 1;
  assert_ok(tsr_array_reshard(wrong[3], s.rows, &donate, &gone));
  const struct {
    tsr_array *from, *to;
    const tsr_reshard_options *options;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {s.source, s.source, NULL, TSR_CAUSE_BAD_ARGUMENT,
       "an array cannot be resharded into itself"},
      {s.source, wrong[0], NULL, TSR_CAUSE_SHAPES_DIFFER,
       "the target has shape (34,), the array (32,)"},
      {s.source, wrong[1], NULL, TSR_CAUSE_BAD_ARGUMENT, "the target has dtype f64, the array f32"},
      {s.source, wrong[2], NULL, TSR_CAUSE_BAD_ARGUMENT,
       "the target is on another comm than the array"},
      {s.source, wrong[3], NULL, TSR_CAUSE_ARRAY_DELETED,
       "target: the array was donated: its buffers are gone"},
      {wrong[3], s.target, NULL, TSR_CAUSE_ARRAY_DELETED,
       "the array was donated: its buffers are gone"},
      {s.source, s.target, &relabel, TSR_CAUSE_BAD_ARGUMENT,
       "relabel: the devices of an existing target cannot change"},
      {s.source, s.target, &size, TSR_CAUSE_BAD_ARGUMENT, "tsr_reshard_options has size 1"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_status status = tsr_array_reshard_into(cases[i].from, cases[i].to, cases[i].options);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_non_null(strstr(tsr_status_text(status), cases[i].message));
    tsr_status_free(status);
    assert_ok(test_array_check(s.target, 6));
    assert_ok(test_array_check(s.source, 5));
  }
  for (int i = 0; i < 4; i++) tsr_array_release(wrong[i]);
  tsr_array_release(gone);
  tsr_layout_release(longer);
  tsr_comm_release(elsewhere);
  end(&s, WRITTEN_REPLICA);
}

// ---- several processes ----

typedef struct job {
  tsr_layout *from, *to;
  void *host;
  tsr_reshard_method method;
} job;

static tsr_status move_between(void *context, tsr_comm *comm) {
  const job *j = context;
  const tsr_reshard_options options = by(j->method);
  tsr_array *array = NULL, *target = NULL, *wanted = NULL;
  tsr_status status = tsr_array_shard(comm, j->from, TSR_I32, j->host, NULL, &array);
  if (!status) status = tsr_array_shard(comm, j->to, TSR_I32, j->host, NULL, &wanted);
  if (!status) status = tsr_array_zeros(comm, j->to, TSR_I32, &target);
  const int64_t before = in_use(comm);
  if (!status) status = tsr_array_reshard_into(array, target, &options);
  if (!status && in_use(comm) != before) status = tsr_fail(BROKEN_PLAN, "memory was allocated");
  for (int64_t i = 0; !status && i < tsr_array_local_count(wanted); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    status = tsr_array_local_at(wanted, i, &part);
    if (!status && memcmp(part.data, tsr_array_data(target, i), (size_t)part.bytes) != 0)
      status = tsr_fail(BROKEN_PLAN, "device %lld holds something else", (long long)part.device);
  }
  tsr_array_release(array);
  tsr_array_release(target);
  tsr_array_release(wanted);
  return status;
}

static void arrays_of_several_processes_are_targets_too(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(specs) * COUNT_OF(specs) * 2; i++) {
    const size_t from = i / 2 % COUNT_OF(specs), to = i / 2 / COUNT_OF(specs);
    // Sequences are for one mesh.
    const char *mesh = i % 2 ? "x=2,y=2 devices=[2,1,3,0]" : "x=2,y=2";
    job j = {.from = test_layout_of(mesh, specs[from], "8,12", TSR_POLICY_ERROR),
             .to = test_layout_of("x=2,y=2 devices=[2,1,3,0]", specs[to], "8,12", TSR_POLICY_ERROR),
             .host = test_tensor(TSR_SHAPE(8, 12), TSR_I32, 3),
             .method = i % 2 ? TSR_RESHARD_SEQUENCE : TSR_RESHARD_DIRECT};
    assert_ok(test_ranks_run(3, (int64_t[]){0, 2, 3, 4}, move_between, &j));
    tsr_layout_release(j.from);
    tsr_layout_release(j.to);
    free(j.host);
  }
}

// ---- memory ----

typedef struct work {
  tsr_comm *comm;
  const tsr_layout *from, *to;
  const void *host;
  tsr_reshard_method method;
} work;

static tsr_status move_once(void *context) {
  const work *w = context;
  const tsr_reshard_options options = by(w->method);
  tsr_array *array = NULL, *target = NULL;
  tsr_buffer_pool_trim(tsr_comm_buffers(w->comm), 0);
  tsr_status status = tsr_array_shard(w->comm, w->from, TSR_I16, w->host, NULL, &array);
  if (!status) status = tsr_array_zeros(w->comm, w->to, TSR_I16, &target);
  if (!status) status = tsr_array_reshard_into(array, target, &options);
  tsr_array_release(array);
  tsr_array_release(target);
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
    test_allocation_sweep(move_once, &w);
    assert_int_equal(in_use(w.comm), 0);
    tsr_layout_release(w.from);
    tsr_layout_release(w.to);
    tsr_comm_release(w.comm);
  }
}

SUITE(reshard_into, TEST(every_pair_of_specs_moves_into_the_buffers_that_are_there),
      TEST(direct_copies_take_no_memory_on_the_way), TEST(any_layout_moves_into_any_other),
      TEST(what_others_hold_is_not_written_to), TEST(the_source_may_be_donated),
      TEST(mistakes_are_named_and_leave_the_target_as_it_was),
      TEST(arrays_of_several_processes_are_targets_too), TEST(every_allocation_may_fail))
