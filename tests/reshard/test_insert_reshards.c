// Reshards, one case for each reason to add them.
#include <string.h>

#include "base/text_internal.h"
#include "program/pipelines.h"
#include "support/sharded_programs.h"
#include "support/test.h"
#include "syntax/syntax.h"

#define FULL "sdy-insert-explicit-reshards{enable-full-version=true}"

static const sharded_case cases[] = {
    // Shardings that fit stay.
    {FULL,
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
          "  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, "
          "{}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
          "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"a\"}, {}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"},
    // A value without a sharding is replicated.
    {FULL,
     MESH "func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
          "  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"a\"}, {}]>}) {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
          "  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %1 <@mesh, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n"},
    // Most tensors decide in an elementwise op.
    {FULL,
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> "
          "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) {\n"
          "  %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> "
          "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
          "  %1 = stablehlo.add %0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{\"b\"}, {}]>]>} : tensor<8x8xf32>\n"
          "  return %1 : tensor<8x8xf32>\n"
          "}\n"},
    // One of two tensors keeps its sharding.
    {FULL,
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) -> "
     "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {\"c\"}]>}) {\n"
     "  %0 = stablehlo.transpose %x, dims = [1, 0] {sdy.sharding = "
     "#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {\"c\"}]>]>} : (tensor<8x8xf32>) -> "
     "tensor<8x8xf32>\n"
     "  return %0 : tensor<8x8xf32>\n"
     "}\n",
     MESH
     "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) "
     "-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {\"c\"}]>}) {\n"
     "  %0 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {\"a\"}]> : tensor<8x8xf32>\n"
     "  %1 = stablehlo.transpose %0, dims = [1, 0] {sdy.sharding = "
     "#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {\"c\"}]>]>} : (tensor<8x8xf32>) -> "
     "tensor<8x8xf32>\n"
     "  return %1 : tensor<8x8xf32>\n"
     "}\n"},
    // What is contracted along axes is reduced over them.
    {FULL,
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"a\", "
     "\"c\"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", \"c\"}, "
     "{\"b\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"b\"}]>}) {\n"
     "  %0 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
     "{\"b\"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  return %0 : tensor<8x8xf32>\n"
     "}\n",
     MESH
     "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"a\", "
     "\"c\"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", \"c\"}, "
     "{\"b\"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"b\"}]>}) {\n"
     "  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
     "{\"b\"}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  %1 = sdy.all_reduce {\"a\", \"c\"} %0 out_sharding=<@mesh, [{}, {\"b\"}]> : "
     "tensor<8x8xf32>\n"
     "  return %1 : tensor<8x8xf32>\n"
     "}\n"},
    // Axes of a dimension that must be whole go to one that all tensors have.
    {FULL,
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) -> "
     "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) {\n"
     "  %0 = \"stablehlo.sort\"(%x) <{dimension = 1 : i64, is_stable = true}> ({\n"
     "  ^bb0(%l: tensor<f32>, %r: tensor<f32>):\n"
     "    %1 = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "    stablehlo.return %1 : tensor<i1>\n"
     "  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {\"c\"}]>]>} : (tensor<8x8xf32>) "
     "-> tensor<8x8xf32>\n"
     "  return %0 : tensor<8x8xf32>\n"
     "}\n",
     MESH
     "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) "
     "-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) {\n"
     "  %0 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
     "  %1 = \"stablehlo.sort\"(%0) <{dimension = 1 : i64, is_stable = true}> ({\n"
     "  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):\n"
     "    %3 = stablehlo.compare LT, %arg1, %arg2 : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
     "    stablehlo.return %3 : tensor<i1>\n"
     "  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, {}]>]>} : (tensor<8x8xf32>) "
     "-> tensor<8x8xf32>\n"
     "  %2 = sdy.reshard %1 <@mesh, [{}, {\"c\"}]> : tensor<8x8xf32>\n"
     "  return %2 : tensor<8x8xf32>\n"
     "}\n"},
    // Axes that divide no factor of a reshape are handed out anew.
    {FULL,
     MESH "func.func @main(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}]>}) -> "
          "(tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) {\n"
          "  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"a\"}, "
          "{\"b\"}]>]>} : (tensor<12xf32>) -> tensor<3x4xf32>\n"
          "  return %0 : tensor<3x4xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}]>}) "
          "-> (tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"c\"}]>}) {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<12xf32>\n"
          "  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{}]>]>} : (tensor<12xf32>) -> tensor<3x4xf32>\n"
          "  %2 = sdy.reshard %1 <@mesh, [{\"a\"}, {\"b\"}]> : tensor<3x4xf32>\n"
          "  %3 = sdy.reshard %2 <@mesh, [{}, {\"c\"}]> : tensor<3x4xf32>\n"
          "  return %3 : tensor<3x4xf32>\n"
          "}\n"},
    // Data flow is resharded at its sources.
    {FULL,
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}, "
     "%k: tensor<i32>) -> tensor<8x8xf32> {\n"
     "  %0 = stablehlo.while(%v = %x) : tensor<8x8xf32> attributes {sdy.sharding = "
     "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>}\n"
     "    cond {\n"
     "    %c = stablehlo.constant dense<true> : tensor<i1>\n"
     "    stablehlo.return %c : tensor<i1>\n"
     "  } do {\n"
     "    %n = stablehlo.negate %v {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, "
     "{}]>]>} : tensor<8x8xf32>\n"
     "    stablehlo.return %n : tensor<8x8xf32>\n"
     "  }\n"
     "  %1 = \"stablehlo.case\"(%k) ({\n"
     "    stablehlo.return %0 : tensor<8x8xf32>\n"
     "  }, {\n"
     "    stablehlo.return %x : tensor<8x8xf32>\n"
     "  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, {}]>]>} : (tensor<i32>) -> "
     "tensor<8x8xf32>\n"
     "  %2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
     "{\"c\"}]>]>} %1 : tensor<8x8xf32>\n"
     "  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{\"a\", \"b\"}, {}]>] "
     "out_shardings=[<@mesh, [{\"a\"}, {\"b\"}]>] manual_axes={\"a\"} (%y: tensor<4x8xf32>) {\n"
     "    %4 = stablehlo.negate %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
     "{}]>]>} : tensor<4x8xf32>\n"
     "    sdy.return %4 : tensor<4x8xf32>\n"
     "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  return %3 : tensor<8x8xf32>\n"
     "}\n",
     MESH
     "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}, "
     "%arg1: tensor<i32>) -> tensor<8x8xf32> {\n"
     "  %0 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
     "  %1 = sdy.reshard %arg0 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
     "  %2 = stablehlo.while(%iterArg = %1) : tensor<8x8xf32> attributes {sdy.sharding = "
     "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>}\n"
     "  cond {\n"
     "    %c = stablehlo.constant dense<true> : tensor<i1>\n"
     "    stablehlo.return %c : tensor<i1>\n"
     "  } do {\n"
     "    %10 = sdy.reshard %iterArg <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
     "    %11 = stablehlo.negate %10 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, "
     "{}]>]>} : tensor<8x8xf32>\n"
     "    %12 = sdy.reshard %11 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
     "    stablehlo.return %12 : tensor<8x8xf32>\n"
     "  }\n"
     "  %3 = sdy.reshard %2 <@mesh, [{\"c\"}, {}]> : tensor<8x8xf32>\n"
     "  %4 = \"stablehlo.case\"(%arg1) ({\n"
     "    stablehlo.return %3 : tensor<8x8xf32>\n"
     "  }, {\n"
     "    stablehlo.return %0 : tensor<8x8xf32>\n"
     "  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"c\"}, {}]>]>} : (tensor<i32>) -> "
     "tensor<8x8xf32>\n"
     "  %5 = sdy.reshard %4 <@mesh, [{}, {\"c\"}]> : tensor<8x8xf32>\n"
     "  %6 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
     "{\"c\"}]>]>} %5 : tensor<8x8xf32>\n"
     "  %7 = sdy.reshard %6 <@mesh, [{\"a\", \"b\"}, {}]> : tensor<8x8xf32>\n"
     "  %8 = sdy.manual_computation(%7) in_shardings=[<@mesh, [{\"a\", \"b\"}, {}]>] "
     "out_shardings=[<@mesh, [{\"a\"}, {\"b\"}]>] manual_axes={\"a\"} (%arg2: tensor<4x8xf32>) {\n"
     "    %10 = stablehlo.negate %arg2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
     "{}]>]>} : tensor<4x8xf32>\n"
     "    %11 = sdy.reshard %10 <@mesh, [{}, {\"b\"}]> : tensor<4x8xf32>\n"
     "    sdy.return %11 : tensor<4x8xf32>\n"
     "  } : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  %9 = sdy.reshard %8 <@mesh, [{}, {}]> : tensor<8x8xf32>\n"
     "  return %9 : tensor<8x8xf32>\n"
     "}\n"},
    // Operands of calls are resharded in both versions.
    {"sdy-insert-explicit-reshards",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = call @f(%x, %x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"
          "func.func private @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, "
          "{}]>}, %y: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {}]>}) {\n"
          "  return %x : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{?}, {?}]> : tensor<8x8xf32>\n"
          "  %1 = sdy.reshard %arg0 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
          "  %2 = call @f(%1, %0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n"
          "func.func private @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"b\"}, {}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = "
          "#sdy.sharding<@mesh, [{\"b\"}, {}]>}) {\n"
          "  return %arg0 : tensor<8x8xf32>\n"
          "}\n"},
    // Functions without shardings get replicated operands.
    {FULL,
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = call @f(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n"
          "func.func private @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  return %x : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>\n"
          "  %1 = call @f(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %1 : tensor<8x8xf32>\n"
          "}\n"
          "func.func private @f(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n"
          "  return %arg0 : tensor<8x8xf32>\n"
          "}\n"},
    // Unreduced axes are reduced where a result does not have them.
    {FULL,
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], "
          "unreduced={\"a\", \"c\"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) {\n"
          "  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], "
          "unreduced={\"c\":(1)2}>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], "
          "unreduced={\"a\", \"c\"}>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) {\n"
          "  %0 = sdy.all_reduce {\"a\", \"c\":(2)2} %arg0 out_sharding=<@mesh, [{}, {}], "
          "unreduced={\"c\":(1)2}> : tensor<8x8xf32>\n"
          "  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], "
          "unreduced={\"c\":(1)2}>]>} : tensor<8x8xf32>\n"
          "  %2 = sdy.all_reduce {\"c\":(1)2} %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.reshard %2 <@mesh, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
          "  return %3 : tensor<8x8xf32>\n"
          "}\n"},
    // Axes become unreduced: moved, replicated, sharded.
    {FULL,
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}, {}]>}) -> "
     "(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"b\"}], unreduced={\"a\", "
     "\"c\"}>}) {\n"
     "  %0 = sdy.reshard %x <@mesh, [{}, {\"b\"}], unreduced={\"a\", \"c\"}> : tensor<8x8xf32>\n"
     "  return %0 : tensor<8x8xf32>\n"
     "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"c\"}, "
          "{}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"b\"}], "
          "unreduced={\"a\", \"c\"}>}) {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{\"c\"}, {\"b\"}]> : tensor<8x8xf32>\n"
          "  %1 = sdy.replicated_to_unreduced {\"a\"} %0 out_sharding=<@mesh, [{\"c\"}, {\"b\"}], "
          "unreduced={\"a\"}> : tensor<8x8xf32>\n"
          "  %2 = sdy.sharded_to_unreduced [{\"c\"}, {}] %1 out_sharding=<@mesh, [{}, {\"b\"}], "
          "unreduced={\"a\", \"c\"}> : tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n"},
    // Results that stay unreduced are reduced along the other axes.
    {"sdy-insert-explicit-reshards",
     MESH
     "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"a\", "
     "\"c\"}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", \"c\"}, {}]>}) "
     "-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={\"a\"}>}) {\n"
     "  %0 = stablehlo.dot %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], "
     "unreduced={\"a\"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  return %0 : tensor<8x8xf32>\n"
     "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\", \"c\"}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\", "
          "\"c\"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], "
          "unreduced={\"a\"}>}) {\n"
          "  %0 = stablehlo.dot %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{}], unreduced={\"a\"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  %1 = sdy.all_reduce {\"c\"} %0 out_sharding=<@mesh, [{}, {}], unreduced={\"a\"}> : "
          "tensor<8x8xf32>\n"
          "  return %1 : tensor<8x8xf32>\n"
          "}\n"},
    // The result of a product is moved instead of a larger operand.
    {"sdy-insert-explicit-reshards",
     MESH "func.func @main(%x: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %y: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{\"c\"}]>}) -> tensor<4x8xf32> {\n"
          "  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{}, {\"a\"}]>]>} : (tensor<4x32xf32>, "
          "tensor<32x8xf32>) -> tensor<4x8xf32>\n"
          "  return %0 : tensor<4x8xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, "
          "{\"a\"}]>}, %arg1: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{\"c\"}]>}) -> tensor<4x8xf32> {\n"
          "  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{}, {\"c\"}]>]>} : (tensor<4x32xf32>, "
          "tensor<32x8xf32>) -> tensor<4x8xf32>\n"
          "  %1 = sdy.reshard %0 <@mesh, [{}, {\"a\"}]> : tensor<4x8xf32>\n"
          "  return %1 : tensor<4x8xf32>\n"
          "}\n"},
    // Concatenations of differing operands are resharded in both versions.
    {"sdy-insert-explicit-reshards",
     MESH "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> "
          "tensor<8x16xf32> {\n"
          "  %0 = stablehlo.concatenate %x, %y, dim = 1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) "
          "-> tensor<8x16xf32>\n"
          "  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{\"a\"}]>]>} : tensor<8x16xf32>\n"
          "  return %1 : tensor<8x16xf32>\n"
          "}\n",
     MESH "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"b\"}, {}]>}) -> "
          "tensor<8x16xf32> {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{\"b\"}, {}]> : tensor<8x8xf32>\n"
          "  %1 = stablehlo.concatenate %0, %arg1, dim = 1 {sdy.sharding = "
          "#sdy.sharding_per_value<[<@mesh, [{\"b\"}, {}]>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) "
          "-> tensor<8x16xf32>\n"
          "  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, "
          "{\"a\"}]>]>} : tensor<8x16xf32>\n"
          "  return %2 : tensor<8x16xf32>\n"
          "}\n"},
    // Ops on one device get their operands there and give their results back.
    {FULL,
     MESH "sdy.mesh @one = <[], device_ids=[3]>\n"
          "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = stablehlo.add %x, %x {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : "
          "tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "sdy.mesh @one = <[], device_ids=[3]>\n"
          "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>\n"
          "  %1 = sdy.reshard %0 <@one, []> : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %arg0 <@mesh, [{}, {}]> : tensor<8x8xf32>\n"
          "  %3 = sdy.reshard %2 <@one, []> : tensor<8x8xf32>\n"
          "  %4 = stablehlo.add %1, %3 {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : "
          "tensor<8x8xf32>\n"
          "  %5 = sdy.reshard %4 <@mesh, [{}, {}]> : tensor<8x8xf32>\n"
          "  return %5 : tensor<8x8xf32>\n"
          "}\n"},
    // The order of devices that most tensors have is that of all.
    {FULL,
     MESH "sdy.mesh @other = <[\"a\"=2, \"b\"=2, \"c\"=4], device_ids=[15, 14, 13, 12, 11, 10, 9, "
          "8, 7, 6, 5, 4, 3, 2, 1, 0]>\n"
          "func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{\"a\"}, "
          "{}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) -> "
          "tensor<8x8xf32> {\n"
          "  %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@other, [{\"a\"}, "
          "{}]>]>} : tensor<8x8xf32>\n"
          "  return %0 : tensor<8x8xf32>\n"
          "}\n",
     MESH "sdy.mesh @other = <[\"a\"=2, \"b\"=2, \"c\"=4], device_ids=[15, 14, 13, 12, 11, 10, 9, "
          "8, 7, 6, 5, 4, 3, 2, 1, 0]>\n"
          "func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{\"a\"}, "
          "{}]>}, %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}) -> "
          "tensor<8x8xf32> {\n"
          "  %0 = sdy.reshard %arg1 <@other, [{\"a\"}, {}]> : tensor<8x8xf32>\n"
          "  %1 = stablehlo.add %arg0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@other, "
          "[{\"a\"}, {}]>]>} : tensor<8x8xf32>\n"
          "  %2 = sdy.reshard %1 <@other, [{}, {}]> : tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n"},
    // Rules of users, unknown sizes and tokens are left alone.
    {FULL,
     MESH "func.func @main(%x: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, "
          "{}]>}, %t: !stablehlo.token, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{\"a\"}, {}]>}) -> tensor<8x8xf32> {\n"
          "  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
          "{}]>]>} : tensor<?x8xf32>\n"
          "  %1 = stablehlo.after_all %t {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : "
          "!stablehlo.token\n"
          "  %2 = stablehlo.custom_call @mine(%y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, "
          "custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
          "  return %2 : tensor<8x8xf32>\n"
          "}\n",
     MESH
     "func.func @main(%arg0: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}, {}]>}, "
     "%arg1: !stablehlo.token, %arg2: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, "
     "[{\"a\"}, {}]>}) -> tensor<8x8xf32> {\n"
     "  %0 = stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"b\"}, "
     "{}]>]>} : tensor<?x8xf32>\n"
     "  %1 = stablehlo.after_all %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : "
     "!stablehlo.token\n"
     "  %2 = stablehlo.custom_call @mine(%arg2) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
     "[{}, {}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, "
     "custom>} : (tensor<8x8xf32>) -> tensor<8x8xf32>\n"
     "  return %2 : tensor<8x8xf32>\n"
     "}\n"},
};

static void ops_get_the_reshards_that_shardy_gives_them(void **state) {
  (void)state;
  assert_sharded(cases, COUNT_OF(cases));
}

static void a_second_run_adds_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const sharded_case again = {cases[i].passes, cases[i].after, cases[i].after};
    if (strstr(cases[i].before, "@one") || strstr(cases[i].after, "all_reduce")) continue;
    assert_sharded(&again, 1);
  }
}

// ---- refused ----

#define VALUE(name, sharding) \
  "%" name ": tensor<8x8xf32> {sdy.sharding = #sdy.sharding<" sharding ">}"
#define OP_OF(sharding) "{sdy.sharding = #sdy.sharding_per_value<[<" sharding ">]>}"

static const struct {
  const char *program, *message;
} refused[] = {
    {MESH "sdy.mesh @one = <[], device_ids=[1]>\n"
          "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>}) {\n"
          "  return\n}\n",
     "argument 0 of function @main is on a single device, expected all devices"},
    {MESH "sdy.mesh @one = <[], device_ids=[1]>\n"
          "func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = "
          "#sdy.sharding<@one, []>}) {\n"
          "  return %x : tensor<8xf32>\n}\n",
     "result 0 of function @main is on a single device, expected all devices"},
    {MESH "sdy.mesh @one = <[], device_ids=[1]>\nsdy.mesh @two = <[], device_ids=[2]>\n"
          "func.func @main(%x: tensor<8xf32>) {\n"
          "  %0:2 = stablehlo.custom_call @f(%x) {sdy.sharding = "
          "#sdy.sharding_per_value<[<@one, []>, <@two, []>]>} : (tensor<8xf32>) -> "
          "(tensor<8xf32>, tensor<8xf32>)\n"
          "  return\n}\n",
     "results of stablehlo.custom_call at line 5 are on the devices 1 and 2, expected one"},
    {MESH "func.func @main(" VALUE(
         "x", "@mesh, [{}, {\"a\"}], replicated={\"c\"}") ") {\n"
                                                          "  %0 = stablehlo.negate %x " OP_OF(
                                                              "@mesh, [{\"c\"}, {\"a\", "
                                                              "\"b\"}]") " : tensor<8x8xf32>\n "
                                                                         " return\n}\n",
     "stablehlo.negate at line 3: operand 0 would be sharded along an axis that its sharding "
     "calls replicated or unreduced"},
    {MESH
     "sdy.mesh @other = <[\"a\"=2]>\n"
     "func.func @main(" VALUE(
         "x", "@mesh, [{}, {}], unreduced={\"c\"}") ") {\n"
                                                    "  %0 = stablehlo.negate %x " OP_OF(
                                                        "@other, [{}, {}]") " : tensor<8x8xf32>\n"
                                                                            "  return\n}\n",
     "operand 0 of stablehlo.negate at line 4: shardings with unreduced axes are bound to "
     "different meshes"},
    {MESH "func.func @main(" VALUE(
         "x", "@mesh, [{}, {}], unreduced={\"c\"}") ") {\n"
                                                    "  stablehlo.custom_call @f(%x) "
                                                    "{has_side_effect = true} : "
                                                    "(tensor<8x8xf32>) -> ()\n"
                                                    "  return\n}\n",
     "operand 0 of stablehlo.custom_call at line 3 has unreduced axes, but the op has no "
     "results"},
    {MESH "func.func @main(%x: tensor<8xf32>) {\n"
          "  %0:2 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, "
          "[{}], unreduced={\"a\"}>, <@mesh, [{}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, "
          "tensor<8xf32>)\n"
          "  return\n}\n",
     "results 0 and 1 of stablehlo.custom_call at line 3 differ in unreduced axes"},
    {MESH "func.func @main(" VALUE(
         "x", "@mesh, [{}, {}], unreduced={\"a\"}") ") {\n"
                                                    "  %0 = sdy.reshard %x <@mesh, [{}, {}], "
                                                    "unreduced={\"b\"}> : tensor<8x8xf32>\n"
                                                    "  return\n}\n",
     "operand 0 of sdy.reshard at line 3 has unreduced axes that its new sharding does not "
     "have, "
     "expected only more"},
};

static void shardings_that_contradict_each_other_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_text message = TSR_TEXT_EMPTY;
    tsr_text_addf(&message, "in pass sdy-insert-explicit-reshards: %s", refused[i].message);
    assert_refused(FULL, refused[i].program, tsr_text_string(&message));
    tsr_text_deinit(&message);
  }
}

// ---- without memory ----

typedef struct swept_case {
  const char *passes, *program;
} swept_case;

static tsr_status read_and_run(void *context) {
  const swept_case *swept = context;
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return tsr_fail(NO_MEMORY, "a program");
  tsr_status status = tsr_syntax_read(ir, "test", swept->program, strlen(swept->program));
  if (!status) status = tsr_all_passes_run(ir, swept->passes, NULL);
  tsr_ir_destroy(ir);
  return status;
}

static void passes_survive_every_failed_allocation(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    swept_case swept = {cases[i].passes, cases[i].before};
    test_allocation_sweep(read_and_run, &swept);
  }
}

// ---- large meshes ----

static void many_axes_take_little_time(void **state) {
  (void)state;
  enum { AXES = 60 };
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "sdy.mesh @mesh = <[");
  for (int i = 0; i < AXES; i++) tsr_text_addf(&text, "%s\"x%d\"=2", i ? ", " : "", i);
  tsr_text_add(&text, "]>\nfunc.func @main(");
  for (int tensor = 0; tensor < 2; tensor++) {
    tsr_text_addf(&text, "%s%%%c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{",
                  tensor ? ", " : "", 'a' + tensor);
    for (int i = 0; i < AXES; i++)
      tsr_text_addf(&text, "%s\"x%d\"", i ? ", " : "", tensor ? AXES - 1 - i : i);
    tsr_text_add(&text, "}]>}");
  }
  tsr_text_add(&text,
               ") -> tensor<8xf32> {\n  %0 = stablehlo.add %a, %b : tensor<8xf32>\n"
               "  return %0 : tensor<8xf32>\n}\n");
  assert_ok(tsr_text_check(&text));
  tsr_ir *ir = sharded_program(tsr_text_string(&text));
  assert_ok(tsr_all_passes_run(ir, FULL, NULL));
  tsr_ir_destroy(ir);
  tsr_text_deinit(&text);
}

SUITE(insert_reshards, TEST(ops_get_the_reshards_that_shardy_gives_them),
      TEST(a_second_run_adds_nothing), TEST(shardings_that_contradict_each_other_are_refused),
      TEST(passes_survive_every_failed_allocation), TEST(many_axes_take_little_time))
