// Programs that keep unreduced axes, and such that lose them.
#include <string.h>

#include "base/text_internal.h"
#include "program/pipelines.h"
#include "support/sharded_programs.h"
#include "support/test.h"

#define PASS "sdy-verify-unreduced-axes"
#define ARGUMENT(sharding) \
  "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, " sharding ">})"
#define PLAIN "[{}]"
#define SUM "[{}], unreduced={\"a\"}"
#define MAX "[{}], unreduced=max{\"a\"}"
#define ON(sharding) "{sdy.sharding = #sdy.sharding_per_value<[<@mesh, " sharding ">]>}"
#define NEGATE(sharding) "  %0 = stablehlo.negate %x " ON(sharding) " : tensor<8xf32>\n"
#define END "  return\n}\n"

static const char *const accepted[] = {
    "func.func @main(%x: tensor<8xf32>) {\n  %0 = stablehlo.negate %x : tensor<8xf32>\n" END,
    MESH ARGUMENT(SUM) " {\n" NEGATE(SUM) END,
    MESH ARGUMENT(PLAIN) " {\n" NEGATE(SUM) END,
    MESH ARGUMENT(MAX) " {\n" NEGATE(MAX) END,
    MESH ARGUMENT(SUM) " {\n"
    "  %0 = sdy.reshard %x <@mesh, [{}]> : tensor<8xf32>\n"
    "  %1 = stablehlo.negate %0 : tensor<8xf32>\n" END,
    MESH ARGUMENT(MAX) " {\n"
    "  %0 = sdy.all_reduce max {\"a\"} %x out_sharding=<@mesh, [{}]> : tensor<8xf32>\n" END,
    MESH "sdy.mesh @other = <[\"a\"=4]>\n" ARGUMENT(SUM) " {\n"
    "  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@other, [{}]>]>} : "
    "tensor<8xf32>\n" END,
};

static const struct {
  const char *program, *message;
} refused[] = {
    {MESH ARGUMENT(SUM) " {\n" NEGATE(PLAIN) END,
     "stablehlo.negate at line 3 loses the unreduced axis \"a\""},
    {MESH ARGUMENT(PLAIN) " {\n" NEGATE(MAX) END,
     "stablehlo.negate at line 3 adds the unreduced axes of max, expected sum"},
    {MESH ARGUMENT(SUM) " {\n" NEGATE(MAX) END,
     "stablehlo.negate at line 3 changes the reduction of unreduced axes from sum to max"},
    {MESH ARGUMENT(SUM) " -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n"
                        "  return %x : tensor<8xf32>\n}\n",
     "func.return at line 3: operand 0 has the unreduced axes {\"a\"}, expected {}"},
    {MESH ARGUMENT(SUM) " {\n"
                        "  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>\n" END
                        "func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                        "  return %x : tensor<8xf32>\n}\n",
     "func.call at line 3: operand 0 has the unreduced axes {\"a\"}, expected {}"},
    {MESH "func.func @main(%x: tensor<8xf32>) {\n"
          "  %0 = sdy.all_reduce {\"a\"} %x out_sharding=<@mesh, [{}]> : tensor<8xf32>\n" END,
     "operand of sdy.all_reduce at line 3 has no sharding"},
    {MESH ARGUMENT(
         PLAIN) " {\n"
                "  %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
                "  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions "
                "= [0] " ON(
                    "[], unreduced={\"a\"}") " : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n" END,
     "stablehlo.reduce at line 4 adds the unreduced axes of sum, expected max"},
};

static void programs_that_keep_unreduced_axes_are_accepted(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(accepted); i++) {
    tsr_ir *ir = sharded_program(accepted[i]);
    assert_ok(tsr_all_passes_run(ir, PASS, NULL));
    tsr_ir_destroy(ir);
  }
}

static void programs_that_lose_unreduced_axes_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_text message = TSR_TEXT_EMPTY;
    tsr_text_addf(&message, "in pass " PASS ": %s", refused[i].message);
    assert_refused(PASS, refused[i].program, tsr_text_string(&message));
    tsr_text_deinit(&message);
  }
}

SUITE(verify_unreduced, TEST(programs_that_keep_unreduced_axes_are_accepted),
      TEST(programs_that_lose_unreduced_axes_are_refused))
