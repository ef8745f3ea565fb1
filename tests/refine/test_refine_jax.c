// Programs that jax.export wrote for symbolic dimensions, refined: kept text before and after.
//
// Each programs/NAME.refined.mlir was run by XLA when it was kept, and gave what JAX gives for the
// function that NAME.mlir was exported from.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "refine/refine.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static const struct {
  const char *name;
  int count;
  tsr_shape shapes[3];
} cases[] = {
    {"add", 1, {{2, {4, 3}}}},        {"call", 1, {{1, {4}}}},
    {"cond", 1, {{2, {4, 3}}}},       {"conv", 2, {{4, {2, 3, 8, 9}}, {4, {5, 3, 3, 3}}}},
    {"cumsum", 1, {{2, {4, 5}}}},     {"erf", 1, {{2, {4, 3}}}},
    {"floordiv", 1, {{1, {6}}}},      {"gather", 2, {{2, {4, 3}}, {1, {2}}}},
    {"loop", 1, {{2, {4, 3}}}},       {"mul4", 2, {{2, {2, 4}}, {2, {8, 4}}}},
    {"pad", 1, {{2, {4, 3}}}},        {"plus1", 2, {{1, {5}}, {1, {4}}}},
    {"rng", 2, {{1, {2}}, {1, {5}}}}, {"scan", 1, {{2, {4, 3}}}},
    {"slice", 1, {{2, {6, 5}}}},      {"topk", 1, {{2, {4, 5}}}},
};

static char *read_text(const char *name, const char *end) {
  tsr_text path = TSR_TEXT_EMPTY;
  char *text = NULL;
  tsr_text_addf(&path, "tests/refine/programs/%s%s", name, end);
  assert_ok(tsr_file_read_text(tsr_text_string(&path), &text));
  tsr_text_deinit(&path);
  return text;
}

static void programs_of_jax_become_static(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char *before = read_text(cases[i].name, ".mlir"),
         *after = read_text(cases[i].name, ".refined.mlir");
    tsr_ir *ir = tsr_ir_create();
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_syntax_read(ir, cases[i].name, before, strlen(before)));
    assert_ok(tsr_verify(ir, cases[i].name));
    assert_true(tsr_is_polymorphic(ir));
    assert_ok(tsr_refine(ir, cases[i].shapes, cases[i].count));
    assert_ok(tsr_verify(ir, cases[i].name));
    assert_false(tsr_is_polymorphic(ir));
    tsr_syntax_print(ir, NULL, &text);
    assert_string_equal(tsr_text_string(&text), after);
    tsr_text_deinit(&text);
    tsr_ir_destroy(ir);
    free(before);
    free(after);
  }
}

SUITE(refine_jax, TEST(programs_of_jax_become_static))
