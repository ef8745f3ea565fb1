// Arrays put and resharded by specs as text.
#include <stdlib.h>

#include "array/arrays.h"
#include "layout/layout_internal.h"
#include "support/ranks.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/own.h"

static void an_array_is_put_as_a_spec_says(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec, *print;
  } cases[] = {
      {"x=2,y=2", "x, _",
       "f32 (4, 6) over {x=2,y=2} as x, _: 4 of 4 devices here, 2 buffers, 96 B"},
      {"x=2,y=2", "P(None, 'y')",
       "f32 (4, 6) over {x=2,y=2} as _, y: 4 of 4 devices here, 2 buffers, 96 B"},
      {"x=2,y=2", "()", "f32 (4, 6) over {x=2,y=2} as (): 4 of 4 devices here, 1 buffers, 96 B"},
      {"x=4", "x/cyclic(1)",
       "f32 (4, 6) over {x=4} as x/cyclic(1): 4 of 4 devices here, 4 buffers, 96 B"},
  };
  tsr_comm *comm = test_comm(4, 1);
  void *host = test_tensor(TSR_SHAPE(4, 6), TSR_F32, 1);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(mesh, mesh);
    TSR_OWN(array, array);
    TSR_OWN(text, text);
    assert_ok(tsr_mesh_parse(cases[i].mesh, NULL, &mesh));
    assert_ok(tsr_array_put(comm, mesh, cases[i].spec, TSR_SHAPE(4, 6), TSR_F32, host, &array));
    assert_ok(test_array_check(array, 1));
    tsr_array_print(array, &text);
    assert_string_equal(tsr_text_string(&text), cases[i].print);
  }
  tsr_comm_release(comm);
  free(host);
}

static void what_cannot_be_put_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"z, _", TSR_CAUSE_UNKNOWN_MESH_AXIS, "spec \"z, _\": "},
      {"x, x", TSR_CAUSE_DUPLICATE_MESH_AXIS, "spec \"x, x\": "},
      {"x, _, y", TSR_CAUSE_RANK_TOO_SMALL,
       "spec \"x, _, y\": the spec has 3 entries, but the tensor (4, 6) has rank 2"},
      {"_, x+y", TSR_CAUSE_INDIVISIBLE, "spec \"_, x+y\": "},
      {"x,, y", TSR_CAUSE_SYNTAX, "spec \"x,, y\": "},
  };
  tsr_comm *comm = test_comm(4, 1);
  void *host = test_tensor(TSR_SHAPE(4, 6), TSR_F32, 1);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, rows);
  assert_ok(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  assert_ok(tsr_array_put(comm, mesh, "x", TSR_SHAPE(4, 6), TSR_F32, host, &rows));
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_array *array = NULL;
    test_assert_fails_with(
        tsr_array_put(comm, mesh, cases[i].spec, TSR_SHAPE(4, 6), TSR_F32, host, &array),
        cases[i].cause, cases[i].message, __FILE__, __LINE__);
    test_assert_fails_with(tsr_array_reshard_to(rows, cases[i].spec, &array), cases[i].cause,
                           cases[i].message, __FILE__, __LINE__);
    assert_null(array);
  }
  tsr_comm_release(comm);
  free(host);
}

static void an_array_is_resharded_on_its_mesh_under_its_policy(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  tsr_layout *padded = test_layout_of("x=2,y=2 devices=[3,1,0,2]", "x, _", "5,7", TSR_POLICY_PAD);
  void *host = test_tensor(TSR_SHAPE(5, 7), TSR_I16, 4);
  TSR_OWN(array, rows);
  TSR_OWN(array, columns);
  assert_ok(tsr_array_shard(comm, padded, TSR_I16, host, NULL, &rows));
  assert_ok(tsr_array_reshard_to(rows, "_, y", &columns));
  assert_ok(test_array_check(columns, 4));
  assert_int_equal(tsr_layout_policy(tsr_array_layout(columns)), TSR_POLICY_PAD);
  assert_true(tsr_mesh_equal(tsr_layout_mesh(tsr_array_layout(columns)), tsr_layout_mesh(padded)));
  tsr_layout_release(padded);
  tsr_comm_release(comm);
  free(host);
}

static void an_array_on_no_mesh_is_refused(void **state) {
  (void)state;
  const tsr_range ranges[] = {{0, 3}, {3, 8}};
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *flat = NULL;
  tsr_array *array = NULL, *out = NULL;
  assert_ok(tsr_layout_from_flat(NULL, TSR_SHAPE(8), 2, ranges, &flat));
  assert_ok(tsr_array_zeros(comm, flat, TSR_F32, &array));
  assert_fails(tsr_array_reshard_to(array, "x", &out), BAD_ARGUMENT,
               "spec \"x\": the array has no mesh");
  assert_null(out);
  tsr_array_release(array);
  tsr_layout_release(flat);
  tsr_comm_release(comm);
}

// ---- several ranks ----

static tsr_status reshard_between(void *context, tsr_comm *comm) {
  const char *const *specs = context;  // of each rank
  void *host = test_tensor(TSR_SHAPE(4, 6), TSR_F32, 5);
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, rows);
  TSR_OWN(array, columns);
  tsr_status status = tsr_mesh_parse("x=2,y=2", NULL, &mesh);
  if (!status) status = tsr_array_put(comm, mesh, "x", TSR_SHAPE(4, 6), TSR_F32, host, &rows);
  if (!status) status = tsr_array_reshard_to(rows, specs[tsr_comm_rank(comm)], &columns);
  if (!status) status = test_array_check(columns, 5);
  free(host);
  return status;
}

static void a_spec_that_one_rank_cannot_read_fails_on_all(void **state) {
  (void)state;
  const int64_t first[] = {0, 2, 4};
  assert_ok(test_ranks_run(2, first, reshard_between, (const char *[]){"_, y", "_, y"}));
  assert_fails_with(test_ranks_run(2, first, reshard_between, (const char *[]){"_, y", "_, z"}),
                    UNKNOWN_MESH_AXIS, "spec \"_, z\": ");
  assert_fails_with(test_ranks_run(2, first, reshard_between, (const char *[]){"_, y", "_, x"}),
                    COMM_MISMATCH, "");
}

// ---- memory ----

static tsr_status put_and_reshard(void *context) {
  static const float host[24];
  TSR_OWN(mesh, mesh);
  TSR_OWN(array, rows);
  TSR_OWN(array, columns);
  tsr_buffer_pool_trim(tsr_comm_buffers(context), 0);
  TSR_TRY(tsr_mesh_parse("x=2,y=2", NULL, &mesh));
  TSR_TRY(tsr_array_put(context, mesh, "x, _", TSR_SHAPE(4, 6), TSR_F32, host, &rows));
  return tsr_array_reshard_to(rows, "_, y", &columns);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(4, 1);
  test_allocation_sweep(put_and_reshard, comm);
  tsr_comm_release(comm);
}

SUITE(array_text, TEST(an_array_is_put_as_a_spec_says), TEST(what_cannot_be_put_is_refused),
      TEST(an_array_is_resharded_on_its_mesh_under_its_policy),
      TEST(an_array_on_no_mesh_is_refused), TEST(a_spec_that_one_rank_cannot_read_fails_on_all),
      TEST(every_allocation_may_fail))
