// The rule of every kind of op, as Shardy makes it.
#include <string.h>

#include "base/text_internal.h"
#include "factor/rule.h"
#include "support/test.h"
#include "syntax/syntax.h"

typedef struct rule_case {
  const char *args, *op;
  const char *rule;          // what stands after #sdy.op_sharding_rule; empty = none
  const char *conservative;  // NULL = the same
} rule_case;

static void check_rule(const tsr_op *op, unsigned how, const char *expected) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_text text = TSR_TEXT_EMPTY, wanted = TSR_TEXT_EMPTY;
  const tsr_op_rule *rule = NULL;
  tsr_ir *ir = tsr_ir_create();
  assert_ok(tsr_rule_of(&arena, op, how, &rule));
  if (rule) tsr_attr_print(tsr_rule_attr(ir, rule), &text);
  if (*expected) tsr_text_addf(&wanted, "#sdy.op_sharding_rule%s", expected);
  assert_string_equal(tsr_text_string(&text), tsr_text_string(&wanted));
  tsr_text_deinit(&text);
  tsr_text_deinit(&wanted);
  tsr_ir_destroy(ir);
  tsr_arena_deinit(&arena);
}

// The first op of a function, whose program is freed with the returned one.
static tsr_ir *read_op(const char *args, const char *op, const tsr_op **out_op) {
  tsr_ir *ir = tsr_ir_create();
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "func.func @f(%s) {\n%s\nreturn\n}\n", args, op);
  assert_ok(tsr_syntax_read(ir, "t", tsr_text_string(&text), text.length));
  tsr_text_deinit(&text);
  *out_op = tsr_func_body(tsr_ir_find_symbol(ir, "f"))->first;
  return ir;
}

static void check_rule_cases(const rule_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tsr_op *op = NULL;
    const rule_case *c = &cases[i];
    tsr_ir *ir = read_op(c->args, c->op, &op);
    check_rule(op, TSR_RULE_PLAIN, c->rule);
    check_rule(op, TSR_RULE_CONSERVATIVE, c->conservative ? c->conservative : c->rule);
    tsr_ir_destroy(ir);
  }
}

static const rule_case elementwise_ops_map_each_dim_to_itself_cases[] = {
    {"%x: tensor<8x4xf32>, %y: tensor<8x4xf32>", "%r = stablehlo.add %x, %y : tensor<8x4xf32>",
     "<([i, j], [i, j])->([i, j]) {i=8, j=4}>", NULL},
    {"%x: tensor<f32>", "%r = stablehlo.tanh %x : tensor<f32>", "<([])->([])>", NULL},
    {"%x: tensor<8xf32>, %y: tensor<8xf32>",
     "%r = stablehlo.compare LT, %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>",
     "<([i], [i])->([i]) {i=8}>", NULL},
    {"%p: tensor<i1>, %x: tensor<8x4xf32>",
     "%r = stablehlo.select %p, %x, %x : tensor<i1>, tensor<8x4xf32>",
     "<([], [i, j], [i, j])->([i, j]) {i=8, j=4}>", NULL},
    {"%p: tensor<8x4xi1>, %x: tensor<8x4xf32>",
     "%r = stablehlo.select %p, %x, %x : tensor<8x4xi1>, tensor<8x4xf32>",
     "<([i, j], [i, j], [i, j])->([i, j]) {i=8, j=4}>", NULL},
    {"%l: tensor<f32>, %x: tensor<8x4xf32>",
     "%r = stablehlo.clamp %l, %x, %l : (tensor<f32>, tensor<8x4xf32>, tensor<f32>) -> "
     "tensor<8x4xf32>",
     "<([], [i, j], [])->([i, j]) {i=8, j=4}>", NULL},
    {"%x: tensor<8x4xf32>",
     "%r = stablehlo.bitcast_convert %x : (tensor<8x4xf32>) -> tensor<8x4x2xbf16>",
     "<([i, j])->([i, j, k]) {i=8, j=4, k=2} need_replication={k}>", NULL},
    {"%x: tensor<8x4x2xbf16>",
     "%r = stablehlo.bitcast_convert %x : (tensor<8x4x2xbf16>) -> tensor<8x4xf32>",
     "<([i, j, k])->([i, j]) {i=8, j=4, k=2} need_replication={k}>", NULL},
    {"%x: tensor<0x4xf32>", "%r = stablehlo.negate %x : tensor<0x4xf32>",
     "<([i, j])->([i, j]) {i=0, j=4}>", NULL},
};

static void elementwise_ops_map_each_dim_to_itself(void **state) {
  (void)state;
  check_rule_cases(elementwise_ops_map_each_dim_to_itself_cases,
                   COUNT_OF(elementwise_ops_map_each_dim_to_itself_cases));
}

static const rule_case shapes_are_split_into_common_factors_cases[] = {
    {"%x: tensor<2x4xf32>", "%r = stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<8xf32>",
     "<([i, j])->([ij]) {i=2, j=4}>", NULL},
    {"%x: tensor<8x6xf32>", "%r = stablehlo.reshape %x : (tensor<8x6xf32>) -> tensor<4x12xf32>",
     "<([ij, k])->([i, jk]) {i=4, j=2, k=6}>", NULL},
    {"%x: tensor<7x3xf32>", "%r = stablehlo.reshape %x : (tensor<7x3xf32>) -> tensor<3x7xf32>",
     "<([i, l])->([j, k]) {i=7, j=3, k=7, l=3}>", NULL},
    {"%x: tensor<1x5x1x4xf32>",
     "%r = stablehlo.reshape %x : (tensor<1x5x1x4xf32>) -> tensor<20x1xf32>",
     "<([i, j, k, l])->([jl, m]) {i=1, j=5, k=1, l=4, m=1}>", NULL},
    {"%x: tensor<12x5xf32>", "%r = stablehlo.reshape %x : (tensor<12x5xf32>) -> tensor<10x6xf32>",
     "<([ij, m])->([ik, l]) {i=2, j=6, k=5, l=6, m=5}>", NULL},
    {"%x: tensor<0x4xf32>", "%r = stablehlo.reshape %x : (tensor<0x4xf32>) -> tensor<4x0xf32>", "",
     NULL},
    {"%x: tensor<2x3x5xf32>",
     "%r = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>",
     "<([j, k, i])->([i, j, k]) {i=5, j=2, k=3}>", NULL},
    {"%x: tensor<1x4xf32>",
     "%r = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<1x4xf32>) -> tensor<4x3x6xf32>",
     "<([k, i])->([i, j, l]) {i=4, j=3, k=1, l=6}>", NULL},
    {"%x: tensor<8x4xf32>", "%r = stablehlo.reverse %x, dims = [1] : tensor<8x4xf32>",
     "<([i, j])->([i, j]) {i=8, j=4} permutation={j}>", NULL},
};

static void shapes_are_split_into_common_factors(void **state) {
  (void)state;
  check_rule_cases(shapes_are_split_into_common_factors_cases,
                   COUNT_OF(shapes_are_split_into_common_factors_cases));
}

static const rule_case slices_keep_whole_dims_cases[] = {
    {"%x: tensor<8x4xf32>",
     "%r = stablehlo.slice %x [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>",
     "<([i, j])->([i, j]) {i=8, j=4} permutation={j}>",
     "<([i, j])->([i, j]) {i=8, j=4} permutation={j} blocked_propagation={j}>"},
    {"%x: tensor<8x4xf32>, %z: tensor<f32>",
     "%r = stablehlo.pad %x, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : "
     "(tensor<8x4xf32>, tensor<f32>) -> tensor<8x5xf32>",
     "<([i, j], [])->([i, j]) {i=8, j=4} permutation={j}>",
     "<([i, j], [])->([i, j]) {i=8, j=4} permutation={j} blocked_propagation={j}>"},
    {"%x: tensor<8x4xf32>, %i: tensor<i32>",
     "%r = stablehlo.dynamic_slice %x, %i, %i, sizes = [8, 1] : (tensor<8x4xf32>, tensor<i32>, "
     "tensor<i32>) -> tensor<8x1xf32>",
     "<([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}>", NULL},
    {"%x: tensor<8x4xf32>, %u: tensor<8x2xf32>, %i: tensor<i32>",
     "%r = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<8x4xf32>, tensor<8x2xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<8x4xf32>",
     "<([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} need_replication={k}>", NULL},
    {"%x: tensor<8x4xf32>, %y: tensor<8x2xf32>",
     "%r = stablehlo.concatenate %x, %y, dim = 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> "
     "tensor<8x6xf32>",
     "<([i, j], [i, j])->([i, j]) {i=8, j=6} need_replication={j}>",
     "<([i, j], [i, k])->([i, l]) {i=8, j=1, k=1, l=1}>"},
};

static void slices_keep_whole_dims(void **state) {
  (void)state;
  check_rule_cases(slices_keep_whole_dims_cases, COUNT_OF(slices_keep_whole_dims_cases));
}

static const rule_case products_contract_cases[] = {
    {"%x: tensor<2x8x5xf32>, %y: tensor<5x2x6xf32>",
     "%r = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [2] x [0] : "
     "(tensor<2x8x5xf32>, tensor<5x2x6xf32>) -> tensor<2x8x6xf32>",
     "<([i, j, l], [l, i, k])->([i, j, k]) {i=2, j=8, k=6, l=5} reduction={l}>", NULL},
    {"%x: tensor<8x5xf32>, %y: tensor<5xf32>",
     "%r = stablehlo.dot %x, %y : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8xf32>",
     "<([i, j], [j])->([i]) {i=8, j=5} reduction={j}>", NULL},
    {"%x: tensor<5xf32>, %y: tensor<5x3xf32>",
     "%r = stablehlo.dot %x, %y : (tensor<5xf32>, tensor<5x3xf32>) -> tensor<3xf32>",
     "<([j], [j, i])->([i]) {i=3, j=5} reduction={j}>", NULL},
    {"%x: tensor<2x224x224x192xf32>, %k: tensor<3x3x192x64xf32>",
     "%r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
     "window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
     "(tensor<2x224x224x192xf32>, tensor<3x3x192x64xf32>) -> tensor<2x222x222x64xf32>",
     "<([i, j, k, l], [n, o, l, m])->([i, j, k, m]) {i=2, j=222, k=222, l=192, m=64, n=1, o=1} "
     "reduction={l} permutation={j, k}>",
     "<([i, l, m, j], [n, o, j, k])->([i, p, q, k]) {i=2, j=192, k=64, l=1, m=1, n=1, o=1, p=1, "
     "q=1} reduction={j}>"},
    {"%x: tensor<4x8x6xf32>, %k: tensor<8x3x12xf32>",
     "%r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} "
     "{batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<4x8x6xf32>, "
     "tensor<8x3x12xf32>) -> tensor<4x1x12xf32>",
     "<([i, j, kl], [j, l, km])->([i, n, km]) {i=4, j=8, k=2, l=3, m=6, n=1} reduction={j, l}>",
     "<([i, m, jk], [n, k, jl])->([i, o, jl]) {i=4, j=2, k=3, l=6, m=1, n=1, o=1} reduction={k}>"},
    {"%x: tensor<4x6xf32>, %k: tensor<6x2xf32>",
     "%r = stablehlo.convolution(%x, %k) dim_numbers = [b, f]x[i, o]->[b, f], window = {} "
     "{batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x6xf32>, "
     "tensor<6x2xf32>) -> tensor<2x2xf32>",
     "<([ij, k], [k, i])->([j, i]) {i=2, j=2, k=6} reduction={k}>", NULL},
};

static void products_contract(void **state) {
  (void)state;
  check_rule_cases(products_contract_cases, COUNT_OF(products_contract_cases));
}

static const rule_case reductions_and_windows_reduce_cases[] = {
    {"%x: tensor<8x4xf32>, %z: tensor<f32>",
     "%r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : "
     "(tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>",
     "<([i, j], [])->([i]) {i=8, j=4} reduction={j}>", NULL},
    {"%x: tensor<8x4xf32>, %z: tensor<f32>",
     "%r = \"stablehlo.reduce_window\"(%x, %z) ({ ^bb0(%l: tensor<f32>, %q: tensor<f32>): %n = "
     "stablehlo.add %l, %q : tensor<f32> stablehlo.return %n : tensor<f32> }) {window_dimensions = "
     "array<i64: 1, 3>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x2xf32>",
     "<([i, j], [])->([i, j]) {i=8, j=2} permutation={j}>",
     "<([i, j], [])->([i, j]) {i=8, j=2} permutation={j} blocked_propagation={j}>"},
    {"%x: tensor<8x4xf32>, %s: tensor<8x2xf32>, %z: tensor<f32>",
     "%r = \"stablehlo.select_and_scatter\"(%x, %s, %z) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): "
     "%c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> "
     "stablehlo.return %c : tensor<i1> }, { ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "
     "stablehlo.add %a, %b : tensor<f32> stablehlo.return %c : tensor<f32> }) {window_dimensions = "
     "array<i64: 1, 2>, window_strides = array<i64: 1, 2>} : (tensor<8x4xf32>, tensor<8x2xf32>, "
     "tensor<f32>) -> tensor<8x4xf32>",
     "<([i, k], [i, j], [])->([i, k]) {i=8, j=2, k=4} need_replication={j} permutation={k}>",
     "<([i, k], [i, j], [])->([i, k]) {i=8, j=2, k=4} need_replication={j} permutation={k} "
     "blocked_propagation={j, k}>"},
};

static void reductions_and_windows_reduce(void **state) {
  (void)state;
  check_rule_cases(reductions_and_windows_reduce_cases,
                   COUNT_OF(reductions_and_windows_reduce_cases));
}

static const rule_case other_ops_need_whole_dims_cases[] = {
    {"%x: tensor<8x4xf32>",
     "%r = \"stablehlo.sort\"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "
     "stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c "
     ": tensor<i1> }) {dimension = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>",
     "<([i, j])->([i, j]) {i=8, j=4} need_replication={i}>", NULL},
    {"%x: tensor<8x1xf32>",
     "%r = \"stablehlo.sort\"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "
     "stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %c "
     ": tensor<i1> }) {dimension = 0 : i64} : (tensor<8x1xf32>) -> tensor<8x1xf32>",
     "<([i, j])->([i, j]) {i=8, j=1} need_replication={i} blocked_propagation={i}>", NULL},
    {"%x: tensor<3x8x4xf32>",
     "%r = stablehlo.fft %x, type = RFFT, length = [8, 4] : (tensor<3x8x4xf32>) -> "
     "tensor<3x8x3xcomplex<f32>>",
     "<([i, j, k])->([i, j, k]) {i=3, j=8, k=4} need_replication={j, k} blocked_propagation={k}>",
     NULL},
    {"%x: tensor<3x8x8xf32>", "%r = stablehlo.cholesky %x, lower = true : tensor<3x8x8xf32>",
     "<([i, j, k])->([i, j, k]) {i=3, j=8, k=8} need_replication={j, k}>", NULL},
    {"%a: tensor<3x4x4xf32>, %b: tensor<3x4x5xf32>",
     "%r = \"stablehlo.triangular_solve\"(%a, %b) {left_side = true, lower = true, transpose_a = "
     "#stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : (tensor<3x4x4xf32>, "
     "tensor<3x4x5xf32>) -> tensor<3x4x5xf32>",
     "<([i, j, l], [i, j, k])->([i, l, k]) {i=3, j=4, k=5, l=4} need_replication={j, k, l}>", NULL},
    {"%a: tensor<4x4xf32>, %b: tensor<5x4xf32>",
     "%r = \"stablehlo.triangular_solve\"(%a, %b) {left_side = false, lower = true, transpose_a = "
     "#stablehlo<transpose TRANSPOSE>, unit_diagonal = false} : (tensor<4x4xf32>, tensor<5x4xf32>) "
     "-> tensor<5x4xf32>",
     "<([j, k], [i, j])->([i, k]) {i=5, j=4, k=4} need_replication={i, j, k}>", NULL},
    {"%x: tensor<8x4xf32>, %v: tensor<4xf32>",
     "%r = \"stablehlo.batch_norm_inference\"(%x, %v, %v, %v, %v) {epsilon = 1.0 : f32, "
     "feature_index = 1 : i64} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, "
     "tensor<4xf32>) -> tensor<8x4xf32>",
     "<([i, j], [j], [j], [j], [j])->([i, j]) {i=8, j=4}>", NULL},
    {"%s: tensor<2xui64>",
     "%s_, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> "
     "(tensor<2xui64>, tensor<4x8xui32>)",
     "<([i])->([i], [j, k]) {i=2, j=4, k=8} need_replication={i} blocked_propagation={i}>", NULL},
};

static void other_ops_need_whole_dims(void **state) {
  (void)state;
  check_rule_cases(other_ops_need_whole_dims_cases, COUNT_OF(other_ops_need_whole_dims_cases));
}

static const rule_case collectives_work_on_dims_of_their_own_cases[] = {
    {"%x: tensor<8x4xf32>",
     "%r = \"stablehlo.all_gather\"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> tensor<8x8xf32>",
     "<([i, j])->([i, k]) {i=8, j=4, k=8} need_replication={j, k}>", NULL},
    {"%x: tensor<8x4x2xf32>",
     "%r = \"stablehlo.all_to_all\"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : "
     "(tensor<8x4x2xf32>) -> tensor<16x2x2xf32>",
     "<([l, j, i])->([m, k, i]) {i=2, j=4, k=2, l=8, m=16} need_replication={j, k, l, m}>", NULL},
    {"%x: tensor<8x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%x) ({ ^bb0(%l: tensor<f32>, %q: tensor<f32>): %n = "
     "stablehlo.add %l, %q : tensor<f32> stablehlo.return %n : tensor<f32> }) {scatter_dimension = "
     "1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> "
     "tensor<8x2xf32>",
     "<([i, j])->([i, k]) {i=8, j=4, k=2} need_replication={j, k}>", NULL},
    {"%x: tensor<8x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%x) ({ ^bb0(%l: tensor<f32>, %q: tensor<f32>): %n = "
     "stablehlo.add %l, %q : tensor<f32> stablehlo.return %n : tensor<f32> }) {replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x4xf32>) -> tensor<8x4xf32>",
     "<([i, j])->([i, j]) {i=8, j=4}>", NULL},
};

static void collectives_work_on_dims_of_their_own(void **state) {
  (void)state;
  check_rule_cases(collectives_work_on_dims_of_their_own_cases,
                   COUNT_OF(collectives_work_on_dims_of_their_own_cases));
}

static const rule_case slices_chosen_by_indices_cases[] = {
    {"%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>",
     "%r = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, "
     "3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, slice_sizes "
     "= array<i64: 1, 2, 2>} : (tensor<3x4x2xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xf32>",
     "<([m, k, l], [i, j, n])->([i, j, k, l]) {i=2, j=3, k=4, l=2, m=3, n=2} reduction={m} "
     "need_replication={k, n} blocked_propagation={k}>",
     NULL},
    {"%x: tensor<5x4x1xf32>, %i: tensor<5x3xi64>",
     "%r = \"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], "
     "collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], "
     "start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>} : "
     "(tensor<5x4x1xf32>, tensor<5x3xi64>) -> tensor<5x3x1xf32>",
     "<([i, k, m], [i, j])->([i, j, l]) {i=5, j=3, k=4, l=1, m=1} reduction={k} "
     "need_replication={l, m}>",
     NULL},
    {"%x: tensor<3x4x2xf32>, %i: tensor<2x3x2xi64>, %u: tensor<2x3x2x2xf32>",
     "%r = \"stablehlo.scatter\"(%x, %i, %u) ({ ^bb0(%l: tensor<f32>, %q: tensor<f32>): %n = "
     "stablehlo.add %l, %q : tensor<f32> stablehlo.return %n : tensor<f32> }) "
     "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], "
     "inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>} : "
     "(tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>",
     "<([n, k, m], [i, j, o], [i, j, l, m])->([n, k, m]) {i=2, j=3, k=4, l=2, m=2, n=3, o=2} "
     "reduction={i, j} need_replication={k, l, o}>",
     NULL},
    {"%x: tensor<3x4xf32>, %i: tensor<5xi64>, %u: tensor<5x4xf32>",
     "%r = \"stablehlo.scatter\"(%x, %i, %u) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): "
     "stablehlo.return %b : tensor<f32> }) {scatter_dimension_numbers = "
     "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
     "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<3x4xf32>, "
     "tensor<5xi64>, tensor<5x4xf32>) -> tensor<3x4xf32>",
     "<([k, j], [i], [i, j])->([k, j]) {i=5, j=4, k=3} need_replication={i}>", NULL},
};

static void slices_chosen_by_indices(void **state) {
  (void)state;
  check_rule_cases(slices_chosen_by_indices_cases, COUNT_OF(slices_chosen_by_indices_cases));
}

static const rule_case custom_calls_are_known_by_their_targets_cases[] = {
    {"%x: tensor<3x4x4xf32>",
     "%v, %w = stablehlo.custom_call @Eigh(%x) : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, "
     "tensor<3x4xf32>)",
     "<([i, j, k])->([i, j, k], [i, k]) {i=3, j=4, k=4}>", NULL},
    {"%x: tensor<3x5x4xf32>",
     "%v, %w = stablehlo.custom_call @Qr(%x) : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, "
     "tensor<3x4xf32>)",
     "<([i, j, k])->([i, j, k], [i, l]) {i=3, j=5, k=4, l=4} need_replication={j, k, l}>", NULL},
    {"%x: tensor<3x5x4xf32>, %t: tensor<3x4xf32>",
     "%r = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%x, %t) : "
     "(tensor<3x5x4xf32>, tensor<3x4xf32>) -> tensor<3x5x4xf32>",
     "<([i, j, k], [i, l])->([i, j, k]) {i=3, j=5, k=4, l=4} need_replication={j, k, l}>", NULL},
    {"%x: tensor<16x8xf32>, %z: tensor<f32>",
     "%v, %w = stablehlo.custom_call @ApproxTopK(%x, %x, %z, %z) : (tensor<16x8xf32>, "
     "tensor<16x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<16x2xf32>, tensor<16x2xf32>)",
     "<([i, j], [i, j], [], [])->([i, k], [i, k]) {i=16, j=8, k=2} need_replication={k} "
     "blocked_propagation={k}>",
     NULL},
    {"%x: tensor<16x8xf32>",
     "%v, %w = stablehlo.custom_call @mhlo.topk(%x) : (tensor<16x8xf32>) -> (tensor<16x1xf32>, "
     "tensor<16x1xi32>)",
     "<([i, j])->([i, j], [i, j]) {i=16, j=8} need_replication={j} blocked_propagation={j}>", NULL},
    {"%x: tensor<16x8xf32>",
     "%r = stablehlo.custom_call @MoveToHost(%x) : (tensor<16x8xf32>) -> tensor<16x8xf32>",
     "<([i, j])->([i, j]) {i=16, j=8}>", NULL},
    {"%x: tensor<16x8xf32>",
     "%r = stablehlo.custom_call @sdy_testonly(%x) : (tensor<16x8xf32>) -> tensor<16x8xf32>", "",
     NULL},
    {"%x: tensor<16x8xf32>",
     "%r = stablehlo.custom_call @nobody_knows(%x) : (tensor<16x8xf32>) -> tensor<16x8xf32>", "",
     NULL},
};

static void custom_calls_are_known_by_their_targets(void **state) {
  (void)state;
  check_rule_cases(custom_calls_are_known_by_their_targets_cases,
                   COUNT_OF(custom_calls_are_known_by_their_targets_cases));
}

static const rule_case ops_without_a_rule_cases[] = {
    {"", "%r = stablehlo.constant dense<1.0> : tensor<8xf32>", "", NULL},
    {"", "%r = stablehlo.iota dim = 0 : tensor<8xf32>", "", NULL},
    {"%x: tensor<4x4xf32>", "%r = chlo.erf %x : tensor<4x4xf32> -> tensor<4x4xf32>", "", NULL},
    {"%x: !stablehlo.token", "%r = stablehlo.optimization_barrier %x : !stablehlo.token", "", NULL},
};

static void ops_without_a_rule(void **state) {
  (void)state;
  check_rule_cases(ops_without_a_rule_cases, COUNT_OF(ops_without_a_rule_cases));
}

static const rule_case rules_of_users_come_first_cases[] = {
    {"%x: tensor<8x4xf32>",
     "%r = stablehlo.custom_call @nobody_knows(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, "
     "jk])->([j, i]) {i=8, j=2, k=2} reduction={k}, custom>} : (tensor<8x4xf32>) -> "
     "tensor<2x8xf32>",
     "<([i, jk])->([j, i]) {i=8, j=2, k=2} reduction={k}, custom>", NULL},
    {"%x: tensor<8xf32>",
     "%r = stablehlo.negate %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8} "
     "need_replication={i} blocked_propagation={i}>} : tensor<8xf32>",
     "<([i])->([i]) {i=8} need_replication={i} blocked_propagation={i}>", NULL},
};

static void rules_of_users_come_first(void **state) {
  (void)state;
  check_rule_cases(rules_of_users_come_first_cases, COUNT_OF(rules_of_users_come_first_cases));
}

// Operands of a concatenate that are slices: it rotates.
static void slices_that_are_joined_again_are_exchanged(void **state) {
  (void)state;
  static const struct {
    const char *joined;
    bool rotates;
  } cases[] = {
      {"%a, %b", true}, {"%a, %x", true}, {"%x, %x", false}, {"%a, %y", false}, {"%a, %d", true},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_op *op = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text,
                  "%%a = stablehlo.slice %%x [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n"
                  "%%b = stablehlo.slice %%x [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n"
                  "%%d = stablehlo.slice %%y [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n"
                  "%%c = stablehlo.concatenate %s, dim = 0 : (tensor<4xf32>, tensor<4xf32>) -> "
                  "tensor<8xf32>",
                  cases[i].joined);
    tsr_ir *ir = read_op("%x: tensor<4xf32>, %y: tensor<4xf32>", tsr_text_string(&text), &op);
    check_rule(op->next->next->next, TSR_RULE_PLAIN,
               cases[i].rotates ? "<([i], [i])->([i]) {i=8} permutation={i}>"
                                : "<([i], [i])->([i]) {i=8} need_replication={i}>");
    tsr_text_deinit(&text);
    tsr_ir_destroy(ir);
  }
}

static void updates_at_constant_places_need_not_be_whole(void **state) {
  (void)state;
  const tsr_op *op = NULL;
  tsr_ir *ir = read_op("%x: tensor<8xf32>, %u: tensor<2xf32>",
                       "%c = stablehlo.constant dense<0> : tensor<i32>\n"
                       "%r = stablehlo.dynamic_update_slice %x, %u, %c : (tensor<8xf32>, "
                       "tensor<2xf32>, tensor<i32>) -> tensor<8xf32>",
                       &op);
  check_rule(op->next, TSR_RULE_PLAIN, "<([i], [j], [])->([i]) {i=8, j=2}>");
  tsr_ir_destroy(ir);
}

static void the_state_of_random_numbers_is_not_split(void **state) {
  (void)state;
  const tsr_op *op = NULL;
  tsr_ir *ir = read_op("%x: tensor<2xui32>",
                       "%s = stablehlo.custom_call @X64Combine(%x, %x) : (tensor<2xui32>, "
                       "tensor<2xui32>) -> tensor<2xui64>\n"
                       "%n, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : "
                       "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)",
                       &op);
  check_rule(op, TSR_RULE_PLAIN,
             "<([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}>");
  tsr_ir_destroy(ir);
}

static void ops_that_are_expanded_have_rules_if_asked_for(void **state) {
  (void)state;
  const tsr_op *op = NULL;
  tsr_ir *ir = read_op("%x: tensor<4x6xf32>",
                       "%r = chlo.erf %x : tensor<4x6xf32> -> tensor<4x6xf32>\n"
                       "%v, %w = chlo.top_k(%x, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, "
                       "tensor<4x2xi32>)",
                       &op);
  check_rule(op, TSR_RULE_EXPANDED, "<([i, j])->([i, j]) {i=4, j=6}>");
  check_rule(op->next, TSR_RULE_EXPANDED,
             "<([i, j])->([i, j], [i, j]) {i=4, j=6} need_replication={j} "
             "blocked_propagation={j}>");
  assert_false(tsr_op_is_ruled(op));
  tsr_ir_destroy(ir);
}

static const struct {
  const char *op;
  bool ruled, pointwise;
} kinds[] = {
    {"%r = stablehlo.negate %x : tensor<8xf32>", true, true},
    {"%r = stablehlo.select %p, %x, %x : tensor<i1>, tensor<8xf32>", true, true},
    {"%r = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>", true, false},
    {"%r = stablehlo.bitcast_convert %x : (tensor<8xf32>) -> tensor<8xi32>", true, true},
    {"%r = stablehlo.bitcast_convert %x : (tensor<8xf32>) -> tensor<8x4xi8>", true, false},
    {"%r = sdy.data_flow_edge %x : tensor<8xf32>", true, false},
    {"%r = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8xf32>", true, true},
    {"%r = stablehlo.custom_call @MoveToHost(%x) : (tensor<8xf32>) -> tensor<8xf32>", true, false},
    {"%r = stablehlo.custom_call @other(%x) : (tensor<8xf32>) -> tensor<8xf32>", false, false},
    {"%r = stablehlo.replica_id : tensor<ui32>", false, false},
    {"%r = stablehlo.iota dim = 0 : tensor<8xf32>", true, false},
};

static void shardy_knows_most_ops(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    const tsr_op *op = NULL;
    tsr_ir *ir = read_op("%x: tensor<8xf32>, %p: tensor<i1>", kinds[i].op, &op);
    assert_int_equal(tsr_op_is_ruled(op), kinds[i].ruled);
    assert_int_equal(tsr_op_is_pointwise(op), kinds[i].pointwise);
    tsr_ir_destroy(ir);
  }
}

static const struct {
  const char *rule, *message;
} wrong[] = {
    {"<([i], [i])->([i]) {i=8}>",
     "stablehlo.negate: the sharding rule has 2 operands and 1 results, the op 1 and 1"},
    {"<([i, j])->([i]) {i=8, j=1}>",
     "stablehlo.negate: the sharding rule has rank 2 for tensor 0, expected 1"},
};

static void rules_that_do_not_fit_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    tsr_arena arena = TSR_ARENA_EMPTY;
    tsr_text text = TSR_TEXT_EMPTY;
    const tsr_op *op = NULL;
    const tsr_op_rule *rule = NULL;
    tsr_text_addf(&text,
                  "%%r = stablehlo.negate %%x {sdy.sharding_rule = #sdy.op_sharding_rule%s} : "
                  "tensor<8xf32>",
                  wrong[i].rule);
    tsr_ir *ir = read_op("%x: tensor<8xf32>", tsr_text_string(&text), &op);
    assert_fails(tsr_rule_of(&arena, op, TSR_RULE_PLAIN, &rule), CONSTRAINT, wrong[i].message);
    tsr_text_deinit(&text);
    tsr_ir_destroy(ir);
    tsr_arena_deinit(&arena);
  }
}

SUITE(factor_rules, TEST(elementwise_ops_map_each_dim_to_itself),
      TEST(shapes_are_split_into_common_factors), TEST(slices_keep_whole_dims),
      TEST(products_contract), TEST(reductions_and_windows_reduce), TEST(other_ops_need_whole_dims),
      TEST(collectives_work_on_dims_of_their_own), TEST(slices_chosen_by_indices),
      TEST(custom_calls_are_known_by_their_targets), TEST(ops_without_a_rule),
      TEST(rules_of_users_come_first), TEST(slices_that_are_joined_again_are_exchanged),
      TEST(updates_at_constant_places_need_not_be_whole),
      TEST(the_state_of_random_numbers_is_not_split),
      TEST(ops_that_are_expanded_have_rules_if_asked_for), TEST(shardy_knows_most_ops),
      TEST(rules_that_do_not_fit_are_refused))
