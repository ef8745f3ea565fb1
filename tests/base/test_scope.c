#include "base/scope.h"

#include <pthread.h>

#include "support/test.h"
#include "tessera/compat/scope.h"

// Stands for a shared handle: counts how often it was released.
static void count_release(void *value) { ++*(int *)value; }

static void the_innermost_scope_wins(void **state) {
  (void)state;
  int a = 0, b = 0;
  tsr_scope outer, inner;
  assert_null(tsr_scope_current(TSR_SCOPE_MESH));
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &a, count_release, &outer));
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &b, count_release, &inner));
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &b);
  tsr_scope_leave(inner);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  assert_int_equal(b, 1);
  tsr_scope_leave(outer);
  tsr_scope_leave(outer);  // twice is harmless
  assert_null(tsr_scope_current(TSR_SCOPE_MESH));
  assert_int_equal(a, 1);
}

static void leaving_a_scope_leaves_all_inside_it(void **state) {
  (void)state;
  int values[100] = {0};
  tsr_scope scopes[100];
  for (int i = 0; i < 100; i++)
    assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &values[i], count_release, &scopes[i]));
  assert_int_equal(tsr_scope_mark(), 100);
  tsr_scope_leave(scopes[40]);
  assert_int_equal(tsr_scope_mark(), 40);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &values[39]);
  for (int i = 0; i < 100; i++) assert_int_equal(values[i], i >= 40);
  tsr_scope_leave(scopes[70]);  // left already
  assert_int_equal(tsr_scope_mark(), 40);
  tsr_scope_leave(-3);
  assert_int_equal(tsr_scope_mark(), 0);
  assert_int_equal(values[0], 1);
}

static void a_null_value_hides_the_outer_one(void **state) {
  (void)state;
  int a = 0;
  tsr_scope outer, inner;
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &a, count_release, &outer));
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, NULL, count_release, &inner));
  assert_null(tsr_scope_current(TSR_SCOPE_MESH));
  tsr_scope_leave(inner);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  tsr_scope_leave(outer);
}

static void a_set_inside_a_scope_is_undone_at_its_exit(void **state) {
  (void)state;
  int a = 0, b = 0, c = 0;
  tsr_scope outer, inner;
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &a, count_release, &outer));
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &b, count_release, &inner));
  assert_ok(tsr_scope_set(TSR_SCOPE_MESH, &c, count_release));
  assert_int_equal(b, 1);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &c);
  tsr_scope_leave(inner);
  assert_int_equal(c, 1);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  tsr_scope_leave(outer);
  assert_int_equal(a, 1);
}

static void a_set_outside_all_scopes_lasts(void **state) {
  (void)state;
  int a = 0, b = 0;
  tsr_scope scope;
  assert_ok(tsr_scope_set(TSR_SCOPE_MESH, &a, count_release));
  assert_int_equal(tsr_scope_mark(), 0);
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &b, NULL, &scope));
  tsr_scope_leave(0);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  assert_ok(tsr_scope_set(TSR_SCOPE_MESH, NULL, NULL));
  assert_int_equal(a, 1);
  assert_null(tsr_scope_current(TSR_SCOPE_MESH));
}

typedef struct other_thread {
  int lasting, entered;
  void *seen;
  tsr_status status;
} other_thread;

static void *enter_and_end(void *context) {
  other_thread *other = context;
  tsr_scope scope;
  other->seen = tsr_scope_current(TSR_SCOPE_MESH);
  other->status = tsr_scope_set(TSR_SCOPE_MESH, &other->lasting, count_release);
  if (!other->status)
    other->status = tsr_scope_enter(TSR_SCOPE_MESH, &other->entered, count_release, &scope);
  return NULL;
}

static void threads_have_their_own_scopes_and_leave_them_at_their_end(void **state) {
  (void)state;
  int a = 0;
  tsr_scope scope;
  assert_ok(tsr_scope_enter(TSR_SCOPE_MESH, &a, count_release, &scope));
  other_thread other = {0};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, enter_and_end, &other), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_ok(other.status);
  assert_null(other.seen);
  assert_int_equal(other.lasting, 1);
  assert_int_equal(other.entered, 1);
  assert_ptr_equal(tsr_scope_current(TSR_SCOPE_MESH), &a);
  tsr_scope_leave(scope);
}

static tsr_status enter_once(void *context) {
  (void)context;
  tsr_scope scope;
  TSR_TRY(tsr_scope_enter(TSR_SCOPE_MESH, NULL, NULL, &scope));
  tsr_scope_leave(scope);
  return NULL;
}

// Only a thread's first scope allocates, so the sweep gets a fresh thread.
static void *sweep_in_thread(void *context) {
  test_allocation_sweep(enter_once, context);
  return context;
}

static void entering_survives_running_out_of_memory(void **state) {
  (void)state;
  pthread_t thread;
  void *result = NULL;
  int token = 0;
  assert_int_equal(pthread_create(&thread, NULL, sweep_in_thread, &token), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, &token);
}

SUITE(scope, TEST(the_innermost_scope_wins), TEST(leaving_a_scope_leaves_all_inside_it),
      TEST(a_null_value_hides_the_outer_one), TEST(a_set_inside_a_scope_is_undone_at_its_exit),
      TEST(a_set_outside_all_scopes_lasts),
      TEST(threads_have_their_own_scopes_and_leave_them_at_their_end),
      TEST(entering_survives_running_out_of_memory))
