// Verifiers that need memory: every allocation may fail.
#include <string.h>

#include "support/test.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static const char *const programs[] = {
    "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
    "func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {\"x\"}]>}) "
    "{\n"
    "%0 = sdy.all_gather [{\"y\"}, {\"x\":(2)2}] %a out_sharding=<@mesh, [{}, {\"x\":(1)2}]> : "
    "tensor<8x8xf32>\n"
    "%1 = sdy.all_to_all [{\"x\":(1)2}: 1->0] %0 out_sharding=<@mesh, [{\"x\":(1)2}, {}]> : "
    "tensor<8x8xf32>\n"
    "%2 = sdy.sharded_to_unreduced [{\"x\":(1)2}, {}] %1 out_sharding=<@mesh, [{}, {}], "
    "unreduced={\"x\":(1)2}> : tensor<8x8xf32>\n"
    "return\n}\n",
    "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
    "func.func @f(%a: tensor<8x8xf32>) {\n"
    "%0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{\"y\"}, {}]>] out_shardings=[<@mesh, "
    "[{\"y\"}, {}]>] manual_axes={\"y\"} (%b: tensor<4x8xf32>) {\n"
    "%1 = sdy.all_slice [{\"x\"}, {}] %b out_sharding=<@mesh, [{\"x\"}, {}]> : tensor<4x8xf32>\n"
    "sdy.return %1 : tensor<4x8xf32>\n"
    "} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
    "return\n}\n",
    "func.func @f(%a: tensor<8x8xf32>, %p: tensor<i1>) {\n"
    "%0 = \"stablehlo.all_to_all\"(%a) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, "
    "split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : "
    "(tensor<8x8xf32>) -> tensor<4x16xf32>\n"
    "%1 = \"stablehlo.if\"(%p) ({\nstablehlo.return %a : tensor<8x8xf32>\n}, {\n"
    "stablehlo.return %a : tensor<8x8xf32>\n}) : (tensor<i1>) -> tensor<8x8xf32>\n"
    "%2 = stablehlo.tuple %0, %1 : tuple<tensor<4x16xf32>, tensor<8x8xf32>>\n"
    "return\n}\n"};

static tsr_status verify_program(void *context) {
  const char *text = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "t", text, strlen(text));
  if (!status) status = tsr_verify(ir, "t");
  tsr_ir_destroy(ir);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(programs); i++)
    test_allocation_sweep(verify_program, (void *)(uintptr_t)programs[i]);
}

SUITE(verify_memory, TEST(every_allocation_may_fail))
