// Which ops become one step: the programs of tests/lower/fused, lowered from JAX.
#include <stdio.h>
#include <string.h>

#include "lower/schedule.h"
#include "program/program_internal.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

// The names of all steps, one after another.
static void list_steps(const tsr_schedule *schedule, char *out, size_t room) {
  size_t length = 0;
  out[0] = '\0';
  for (const tsr_schedule_step *step = schedule->steps.first; step; step = step->next)
    length += (size_t)snprintf(out + length, room - length, "%s%s", length ? "; " : "", step->name);
}

static void lower_file(const char *path, char *out_steps, size_t room) {
  TSR_OWN(program, program);
  tsr_schedule *schedule = NULL;
  assert_ok(tsr_program_open(path, NULL, &program));
  tsr_ir *ir = tsr_program_copy_ir(program);
  assert_non_null(ir);
  assert_ok(tsr_lower_program(ir, &schedule));
  list_steps(schedule, out_steps, room);
  tsr_schedule_destroy(schedule);
}

static void ops_are_put_in_groups(void **state) {
  (void)state;
  static const struct {
    const char *file, *steps;
  } cases[] = {
      {"softmax", "fusion of 6: stablehlo.divide"},
      {"log_softmax", "fusion of 7: stablehlo.subtract"},
      {"softmax_grad", "fusion of 14: stablehlo.multiply"},
      {"layer_norm", "fusion of 11: stablehlo.add"},
      {"layer_norm_grad", "fusion of 31: stablehlo.add"},
      {"rms_norm", "fusion of 6: stablehlo.multiply"},
      {"gelu", "fusion of 10: stablehlo.multiply"},
      {"gelu_grad", "fusion of 23: stablehlo.add"},
      {"adam", "fusion of 4: stablehlo.subtract; fusion of 9: stablehlo.subtract"},
      {"masked_softmax", "fusion of 6: stablehlo.divide"},
      {"cross_entropy", "fusion of 9: stablehlo.reduce; fusion of 3: stablehlo.negate"},
      {"cross_entropy_grad", "fusion of 14: stablehlo.add; fusion of 3: stablehlo.negate"},
      {"bias_grad", "fusion of 2: stablehlo.multiply"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char path[256], steps[4096];
    snprintf(path, sizeof path, "tests/lower/fused/%s.mlir", cases[i].file);
    lower_file(path, steps, sizeof steps);
    assert_string_equal(steps, cases[i].steps);
  }
}

static tsr_status lower_text(void *context) {
  const char *text = context;
  tsr_schedule *schedule = NULL;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  const tsr_status status = tsr_syntax_read(ir, "test", text, strlen(text));
  if (status) {
    tsr_ir_destroy(ir);
    return status;
  }
  TSR_TRY(tsr_lower_program(ir, &schedule));
  tsr_schedule_destroy(schedule);
  return NULL;
}

static void fusion_survives_every_failed_allocation(void **state) {
  (void)state;
  static char text[] =
      "func.func @main(%x: tensor<4x32xf32>, %y: tensor<32x4xf32>) -> (tensor<4x32xf32>) {\n"
      "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<32x4xf32>) -> tensor<4x32xf32>\n"
      "  %e = stablehlo.exponential %x : tensor<4x32xf32>\n"
      "  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : "
      "(tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>\n"
      "  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x32xf32>\n"
      "  %d = stablehlo.divide %e, %b : tensor<4x32xf32>\n"
      "  %m = stablehlo.multiply %d, %t : tensor<4x32xf32>\n"
      "  return %m : tensor<4x32xf32>\n"
      "}\n";
  test_allocation_sweep(lower_text, text);
}

SUITE(fuse, TEST(ops_are_put_in_groups), TEST(fusion_survives_every_failed_allocation))
