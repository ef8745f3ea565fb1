// Programs in text, written as artifacts of a version and read again: rare types, attributes, ops.
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/bytecode.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/own.h"

static tsr_ir *read_text(const char *text) {
  tsr_ir *ir = tsr_ir_create();
  assert_non_null(ir);
  assert_ok(tsr_syntax_read(ir, "t", text, strlen(text)));
  return ir;
}

typedef struct form_case {
  const char *args, *body, *version;
  const char *message;  // NULL = the program can be written
  const char *again;    // the body that is read; NULL = as it was
} form_case;

// clang-format off
#define KEPT(types, since, text) {.args = types, .body = text, .version = since}
#define BECOMES(types, text, read) {.args = types, .body = text, .again = read}
#define REFUSED(types, wanted, text, reason) {.args = types, .body = text, .version = wanted, .message = reason}

static const form_case cases[] = {
    KEPT("%a: tensor<2xf32>", NULL, "stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = {x = 1 : i64}} : (tensor<2xf32>) -> ()"),
    REFUSED("%a: tensor<2xf32>", "1.2.0", "stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = {x = 1 : i64}} : (tensor<2xf32>) -> ()",
            "func.func @main: line 2: stablehlo.custom_call: a dictionary as backend_config is in StableHLO 1.3.0 and later, not in 1.2.0"),
    REFUSED("%a: tensor<2xf32>", "1.2.0", "stablehlo.custom_call @f(%a) {api_version = 4 : i32} : (tensor<2xf32>) -> ()",
            "func.func @main: line 2: stablehlo.custom_call: api_version 4 is in StableHLO 1.3.0 and later, not in 1.2.0"),
    REFUSED("%a: tensor<2xf32>", "1.0.0", "%0:2 = \"stablehlo.all_reduce\"(%a, %a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%s = stablehlo.add %x, %y : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)",
            "func.func @main: line 2: stablehlo.all_reduce: 2 operands cannot be stored in StableHLO 1.0.0, wanted 1"),
    KEPT("%a: tensor<2xcomplex<f64>>", "1.0.0", "%0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>"),
    KEPT("%a: tuple<tensor<2xf32>, !stablehlo.token>", "1.0.0", "%0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>"),
    KEPT("%a: tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>", "1.0.0", ""),
    KEPT("%a: tensor<2x!quant.uniform<i8<-100:100>:f32:0, {5.000000e-01, 2.500000e-01:7}>>", "1.0.0", ""),
    KEPT("%a: tensor<?x2xf32, #stablehlo.bounds<4, ?>>", "1.0.0", ""),
    // As the peer does: arrays are tensors, and symbols in lists are strings.
    BECOMES("%a: tensor<2xf32>", "%0 = stablehlo.abs %a {mhlo.x = [1 : i8, 2.5 : f64, @main, i32, array<i1: true, false>, \"s\"]} : tensor<2xf32>",
            "%0 = stablehlo.abs %a {mhlo.x = [1 : i8, 2.5 : f64, \"main\", i32, dense<[true, false]> : tensor<2xi1>, \"s\"]} : tensor<2xf32>"),
    BECOMES("%a: tensor<2xf32>", "%0 = stablehlo.abs %a {mhlo.x = array<i64: 1, 2>} : tensor<2xf32>",
            "%0 = stablehlo.abs %a {mhlo.x = dense<[1, 2]> : tensor<2xi64>} : tensor<2xf32>"),
    BECOMES("%a: tensor<2xf32>", "%0 = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>",
            "%0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>"),
    BECOMES("%a: tensor<2xf32>", "%0 = \"chlo.constant_like\"(%a) <{value = 1.5 : f32}> {mhlo.x = 1 : i64} : (tensor<2xf32>) -> tensor<2xf32>",
            "%0 = \"stablehlo.constant\"() <{value = dense<1.5> : tensor<2xf32>}> {mhlo.x = 1 : i64} : () -> tensor<2xf32>"),
    BECOMES("%a: tensor<2xui8>", "%0 = \"chlo.constant_like\"(%a) <{value = 7 : ui8}> : (tensor<2xui8>) -> tensor<2xui8>",
            "%0 = stablehlo.constant dense<7> : tensor<2xui8>"),
    REFUSED("%a: tensor<?xf32>", NULL, "%0 = \"chlo.constant_like\"(%a) <{value = 1.5 : f32}> : (tensor<?xf32>) -> tensor<?xf32>",
            "func.func @main: line 2: chlo.constant_like: the op has no form in portable artifacts"),
    KEPT("%a: memref<2xf32>", NULL, ""),
};
// clang-format on

static tsr_ir *read_body(const char *args, const char *body) {
  TSR_OWN(text, text);
  tsr_text_addf(&text, "func.func @main(%s) {\n%s\nreturn\n}\n", args, body);
  return read_text(tsr_text_string(&text));
}

static tsr_status write_and_compare(const tsr_ir *ir, const form_case *row, tsr_text *difference) {
  TSR_OWN(text, artifact);
  TSR_TRY(tsr_bytecode_write(ir, row->version, &artifact));
  tsr_ir *again = tsr_ir_create();
  tsr_status status = tsr_bytecode_read(again, "t", artifact.data, artifact.length);
  tsr_ir *wanted = read_body(row->args, row->again ? row->again : row->body);
  if (!status) tsr_ir_equal(wanted, again, difference);
  tsr_ir_destroy(wanted);
  tsr_ir_destroy(again);
  return status;
}

static void rare_forms_are_kept_or_refused_for_old_versions(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    TSR_OWN(text, difference);
    tsr_ir *ir = read_body(cases[i].args, cases[i].body);
    tsr_status status = write_and_compare(ir, &cases[i], &difference);
    if (cases[i].message)
      assert_message(status, cases[i].message);
    else
      assert_ok(status);
    tsr_status_free(cases[i].message ? status : NULL);
    if (difference.length) fail_msg("%s: %s", cases[i].body, tsr_text_string(&difference));
    tsr_ir_destroy(ir);
  }
}

SUITE(artifact_forms, TEST(rare_forms_are_kept_or_refused_for_old_versions))
