// Owned handles: each is given back once, at the end of its block, however that is left.
#include "tessera/own.h"

#include "support/test.h"
#include "tessera/checkpoint.h"
#include "tessera/compat/eformer.h"
#include "tessera/compat/jax.h"
#include "tessera/compat/t5x.h"
#include "tessera/engine.h"

static void count_release(void *context, void *data) {
  (void)data;
  ++*(int *)context;
}

static tsr_status wrap(int *released, tsr_buffer **out_buffer) {
  static char memory[8];
  return tsr_buffer_wrap(memory, sizeof memory, true, count_release, released, out_buffer);
}

static tsr_status leave_early(int *released, bool fail) {
  TSR_OWN(buffer, first);
  TSR_OWN(buffer, second);
  TSR_TRY(wrap(released, &first));
  if (fail) return tsr_fail(BAD_ARGUMENT, "left early");
  TSR_TRY(wrap(released, &second));
  return NULL;
}

static void a_handle_is_given_back_on_every_way_out(void **state) {
  (void)state;
  int released = 0;
  assert_fails(leave_early(&released, true), BAD_ARGUMENT, "left early");
  assert_int_equal(released, 1);
  assert_ok(leave_early(&released, false));
  assert_int_equal(released, 3);
  for (int i = 0; i < 2; i++) {
    TSR_OWN(buffer, in_loop);
    assert_null(in_loop);
    assert_ok(wrap(&released, &in_loop));
  }
  assert_int_equal(released, 5);
}

static tsr_status hand_on(int *released, tsr_buffer **out_buffer) {
  TSR_OWN(buffer, made);
  TSR_TRY(wrap(released, &made));
  *out_buffer = made;
  made = NULL;
  return NULL;
}

static void a_handle_that_is_handed_on_stays(void **state) {
  (void)state;
  int released = 0;
  tsr_buffer *buffer = NULL;
  assert_ok(hand_on(&released, &buffer));
  assert_int_equal(released, 0);
  tsr_buffer_release(buffer);
  assert_int_equal(released, 1);
}

static void texts_are_values(void **state) {
  (void)state;
  TSR_OWN(text, text);
  TSR_OWN(mesh, mesh);
  assert_string_equal(tsr_text_string(&text), "");
  assert_ok(tsr_mesh_parse("x=2,y=4", NULL, &mesh));
  tsr_mesh_print(mesh, &text);
  assert_string_equal(tsr_text_string(&text), "x=2,y=4");
}

// Every row of the tables, with nothing in it.
static void every_row_starts_empty_and_may_stay_so(void **state) {
  (void)state;
  int rows = 0;
#define EMPTY_HANDLE(type, verb, taken) \
  {                                     \
    TSR_OWN(type, empty);               \
    assert_null(empty);                 \
    rows++;                             \
  }
#define EMPTY_VALUE(type)                                             \
  {                                                                   \
    TSR_OWN(type, empty);                                             \
    const unsigned char *bytes = (const unsigned char *)&empty;       \
    for (size_t i = 0; i < sizeof empty; i++) assert_true(!bytes[i]); \
    rows++;                                                           \
  }
  TSR_OWNED_HANDLES(EMPTY_HANDLE)
  TSR_OWNED_VALUES(EMPTY_VALUE)
  assert_true(rows > 35);
}

SUITE(own, TEST(a_handle_is_given_back_on_every_way_out), TEST(a_handle_that_is_handed_on_stays),
      TEST(texts_are_values), TEST(every_row_starts_empty_and_may_stay_so))
