// Ops that move elements, compiled and run, against the evaluator of constants.
#include "base/text_internal.h"
#include "exec/evaluated.h"

// A program of one op: its arguments, the op, the type of the result.
typedef struct move_case {
  const char *arguments, *op, *result;
  int64_t low, high;  // of integers, which are indices where the op has indices
} move_case;

#define GATHER(offset, collapsed, batching, index_batching, map, vector, sizes)                \
  "\"stablehlo.gather\"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [" offset \
  "], collapsed_slice_dims = [" collapsed "], operand_batching_dims = [" batching              \
  "], start_indices_batching_dims = [" index_batching "], start_index_map = [" map             \
  "], index_vector_dim = " vector ">, slice_sizes = array<i64: " sizes ">} : "
#define SCATTER(window, inserted, batching, index_batching, map, vector, type, body)          \
  "\"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = "                          \
  "#stablehlo.scatter<update_window_dims = [" window "], inserted_window_dims = [" inserted   \
  "], input_batching_dims = [" batching "], scatter_indices_batching_dims = [" index_batching \
  "], scatter_dims_to_operand_dims = [" map "], index_vector_dim = " vector                   \
  ">}> ({\n^bb0(%a: tensor<" type ">, %b: tensor<" type ">):\n" body                          \
  "  stablehlo.return %r : tensor<" type ">\n}) : "
#define BODY(op, type) "  %r = stablehlo." op " : tensor<" type ">\n"

static const move_case cases[] = {
    // one strided copy
    {"%x: tensor<5x7xf32>", "stablehlo.transpose %x, dims = [1, 0] : (tensor<5x7xf32>) -> ",
     "tensor<7x5xf32>", 0, 9},
    {"%x: tensor<700x900xf32>", "stablehlo.transpose %x, dims = [1, 0] : (tensor<700x900xf32>) -> ",
     "tensor<900x700xf32>", 0, 9},
    {"%x: tensor<3x130x65x4xi16>",
     "stablehlo.transpose %x, dims = [0, 2, 1, 3] : (tensor<3x130x65x4xi16>) -> ",
     "tensor<3x65x130x4xi16>", 0, 999},
    {"%x: tensor<4x3x5xcomplex<f64>>",
     "stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<4x3x5xcomplex<f64>>) -> ",
     "tensor<5x4x3xcomplex<f64>>", 0, 9},
    {"%x: tensor<1x6x1xi8>", "stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<1x6x1xi8>) -> ",
     "tensor<1x6x1xi8>", 0, 9},
    {"%x: tensor<6x4xf32>", "stablehlo.slice %x [2:5, 0:4] : (tensor<6x4xf32>) -> ",
     "tensor<3x4xf32>", 0, 9},
    {"%x: tensor<6x9xf32>", "stablehlo.slice %x [1:6:2, 2:9:3] : (tensor<6x9xf32>) -> ",
     "tensor<3x3xf32>", 0, 9},
    {"%x: tensor<6x4xf32>", "stablehlo.slice %x [3:3, 1:2] : (tensor<6x4xf32>) -> ",
     "tensor<0x1xf32>", 0, 9},
    {"%x: tensor<4x1x3xf32>",
     "stablehlo.broadcast_in_dim %x, dims = [0, 2, 3] : (tensor<4x1x3xf32>) -> ",
     "tensor<4x2x5x3xf32>", 0, 9},
    {"%x: tensor<i1>", "stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i1>) -> ",
     "tensor<3x50xi1>", 0, 1},
    {"%x: tensor<900xf32>", "stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<900xf32>) -> ",
     "tensor<900x801xf32>", 0, 9},
    {"%x: tensor<5x33xui16>", "stablehlo.reverse %x, dims = [0, 1] : ", "tensor<5x33xui16>", 0, 99},
    {"%x: tensor<5x3xf64>", "stablehlo.reverse %x, dims = [0] : ", "tensor<5x3xf64>", 0, 9},
    // several
    {"%x: tensor<3x2xf32>, %y: tensor<3x0xf32>, %z: tensor<3x4xf32>",
     "stablehlo.concatenate %x, %y, %z, dim = 1 : (tensor<3x2xf32>, tensor<3x0xf32>, "
     "tensor<3x4xf32>) -> ",
     "tensor<3x6xf32>", 0, 9},
    {"%x: tensor<900x300xf32>, %y: tensor<900x201xf32>",
     "stablehlo.concatenate %x, %y, dim = 1 : (tensor<900x300xf32>, tensor<900x201xf32>) -> ",
     "tensor<900x501xf32>", 0, 9},
    {"%x: tensor<3x4xi32>, %v: tensor<i32>",
     "stablehlo.pad %x, %v, low = [1, -1], high = [2, 3], interior = [0, 2] : (tensor<3x4xi32>, "
     "tensor<i32>) -> ",
     "tensor<6x12xi32>", 0, 9},
    {"%x: tensor<3x4xi32>, %v: tensor<i32>",
     "stablehlo.pad %x, %v, low = [-2, -1], high = [-1, 0], interior = [0, 1] : (tensor<3x4xi32>, "
     "tensor<i32>) -> ",
     "tensor<0x6xi32>", 0, 9},
    {"%x: tensor<5xf32>, %v: tensor<f32>",
     "stablehlo.pad %x, %v, low = [-7], high = [6], interior = [1] : (tensor<5xf32>, "
     "tensor<f32>) -> ",
     "tensor<8xf32>", 0, 9},
    {"%x: tensor<600x700xf32>, %v: tensor<f32>",
     "stablehlo.pad %x, %v, low = [1, 1], high = [1, 1], interior = [0, 0] : "
     "(tensor<600x700xf32>, tensor<f32>) -> ",
     "tensor<602x702xf32>", 0, 9},
    {"%x: tensor<2xf32>", "stablehlo.bitcast_convert %x : (tensor<2xf32>) -> ", "tensor<2x4xui8>",
     0, 9},
    {"%x: tensor<2x4xi8>", "stablehlo.bitcast_convert %x : (tensor<2x4xi8>) -> ", "tensor<2xf32>",
     0, 99},
    {"%x: tensor<f32>", "stablehlo.iota dim = 1 : ", "tensor<3x5x2xbf16>", 0, 9},
    // places computed by the program
    {"%x: tensor<6x5xf32>, %i: tensor<i8>, %j: tensor<i8>",
     "stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<6x5xf32>, tensor<i8>, "
     "tensor<i8>) -> ",
     "tensor<2x3xf32>", -3, 9},
    {"%x: tensor<6x5xf32>, %u: tensor<2x3xf32>, %i: tensor<ui64>, %j: tensor<ui64>",
     "stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<6x5xf32>, tensor<2x3xf32>, "
     "tensor<ui64>, tensor<ui64>) -> ",
     "tensor<6x5xf32>", -3, 9},
    {"%x: tensor<6x5xf32>, %u: tensor<6x5xf32>, %i: tensor<i16>, %j: tensor<i16>",
     "stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<6x5xf32>, tensor<6x5xf32>, "
     "tensor<i16>, tensor<i16>) -> ",
     "tensor<6x5xf32>", -3, 9},
    // rows
    {"%x: tensor<50x40xf32>, %i: tensor<9x1xi32>",
     GATHER("1", "0", "", "", "0", "1", "1, 40") "(tensor<50x40xf32>, tensor<9x1xi32>) -> ",
     "tensor<9x40xf32>", -5, 60},
    {"%x: tensor<50x400xf32>, %i: tensor<3000xui8>",
     GATHER("1", "0", "", "", "0", "1", "1, 400") "(tensor<50x400xf32>, tensor<3000xui8>) -> ",
     "tensor<3000x400xf32>", 0, 60},
    // single elements, columns, windows with gaps, large windows
    {"%x: tensor<7x9xi16>, %i: tensor<4x5x2xi64>",
     GATHER("", "0, 1", "", "", "1, 0", "2", "1, 1") "(tensor<7x9xi16>, tensor<4x5x2xi64>) -> ",
     "tensor<4x5xi16>", -2, 10},
    {"%x: tensor<30x20xf64>, %i: tensor<600xi32>",
     GATHER("0", "1", "", "", "1", "1", "30, 1") "(tensor<30x20xf64>, tensor<600xi32>) -> ",
     "tensor<30x600xf64>", -2, 21},
    {"%x: tensor<7x9x4xf32>, %i: tensor<3x2x3xi32>",
     GATHER("0, 2, 4", "", "", "", "2, 0, 1", "2",
            "2, 3, 2") "(tensor<7x9x4xf32>, tensor<3x2x3xi32>) -> ",
     "tensor<2x3x3x2x2xf32>", -2, 10},
    {"%x: tensor<3x500x400xf32>, %i: tensor<2x1xi32>",
     GATHER("1, 2", "0", "", "", "0", "1",
            "1, 500, 400") "(tensor<3x500x400xf32>, tensor<2x1xi32>) -> ",
     "tensor<2x500x400xf32>", 0, 3},
    // batches, index vectors along the first dim
    {"%x: tensor<3x7x5xf32>, %i: tensor<2x4x3xi32>",
     GATHER("1, 3", "", "0", "2", "1, 2", "0",
            "1, 2, 3") "(tensor<3x7x5xf32>, tensor<2x4x3xi32>) -> ",
     "tensor<4x2x3x3xf32>", -2, 8},
    {"%x: tensor<50x40xf32>, %i: tensor<9x1xi32>, %u: tensor<9x40xf32>",
     SCATTER(
         "1", "0", "", "", "0", "1", "f32",
         BODY("add %a, %b", "f32")) "(tensor<50x40xf32>, tensor<9x1xi32>, tensor<9x40xf32>) -> ",
     "tensor<50x40xf32>", -5, 55},
    {"%x: tensor<50x200xf32>, %i: tensor<2000xi32>, %u: tensor<2000x200xf32>",
     SCATTER("1", "0", "", "", "0", "1", "f32",
             BODY("add %b, %a",
                  "f32")) "(tensor<50x200xf32>, tensor<2000xi32>, tensor<2000x200xf32>) -> ",
     "tensor<50x200xf32>", -5, 55},
    {"%x: tensor<20000xf32>, %i: tensor<50000xi32>, %u: tensor<50000xf32>",
     SCATTER("", "0", "", "", "0", "1", "f32",
             BODY("subtract %a, %b",
                  "f32")) "(tensor<20000xf32>, tensor<50000xi32>, tensor<50000xf32>) -> ",
     "tensor<20000xf32>", -5, 21000},
    {"%x: tensor<5x20000xi32>, %i: tensor<60xi32>, %u: tensor<60x20000xi32>",
     SCATTER("1", "0", "", "", "0", "1", "i32",
             BODY("maximum %a, %b",
                  "i32")) "(tensor<5x20000xi32>, tensor<60xi32>, tensor<60x20000xi32>) -> ",
     "tensor<5x20000xi32>", -1, 6},
    {"%x: tensor<7x9xbf16>, %i: tensor<4x2xi64>, %u: tensor<4x3x2xbf16>",
     SCATTER("1, 2", "", "", "", "1, 0", "1", "bf16",
             BODY("multiply %a, %b",
                  "bf16")) "(tensor<7x9xbf16>, tensor<4x2xi64>, tensor<4x3x2xbf16>) -> ",
     "tensor<7x9xbf16>", -4, 10},
    {"%x: tensor<4x3xui16>, %i: tensor<5x2xi32>, %u: tensor<3x5xui16>",
     SCATTER(
         "0", "1", "", "", "0, 1", "1", "ui16",
         BODY("add %a, %b", "ui16")) "(tensor<4x3xui16>, tensor<5x2xi32>, tensor<3x5xui16>) -> ",
     "tensor<4x3xui16>", -3, 5},
    {"%x: tensor<4x3xf32>, %i: tensor<9x2xi32>, %u: tensor<3x9xf32>",
     SCATTER("0", "1", "", "", "0, 1", "1", "f32",
             BODY("add %a, %b", "f32")) "(tensor<4x3xf32>, tensor<9x2xi32>, tensor<3x9xf32>) -> ",
     "tensor<4x3xf32>", -3, 5},
    {"%x: tensor<3x7xi64>, %i: tensor<4x3x1xi64>, %u: tensor<2x4x3xi64>",
     SCATTER("0", "", "0", "1", "1", "2", "i64",
             BODY("minimum %a, %b",
                  "i64")) "(tensor<3x7xi64>, tensor<4x3x1xi64>, tensor<2x4x3xi64>) -> ",
     "tensor<3x7xi64>", -2, 8},
};

static const char replace_text[] =
    "func.func @main(%x: tensor<20xf32>, %y: tensor<20xi32>, %i: tensor<50xi32>, "
    "%u: tensor<50xf32>, %v: tensor<50xi32>) -> (tensor<20xf32>, tensor<20xi32>) {\n"
    "  %r:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = "
    "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):\n"
    "    stablehlo.return %c, %d : tensor<f32>, tensor<i32>\n"
    "  }) : (tensor<20xf32>, tensor<20xi32>, tensor<50xi32>, tensor<50xf32>, tensor<50xi32>) -> "
    "(tensor<20xf32>, tensor<20xi32>)\n"
    "  return %r#0, %r#1 : tensor<20xf32>, tensor<20xi32>\n"
    "}\n";

// The same with a body that mixes both tensors and a value from outside.
static const char mixed_text[] =
    "func.func @main(%x: tensor<20xf32>, %y: tensor<20xi32>, %i: tensor<50xi32>, "
    "%u: tensor<50xf32>, %v: tensor<50xi32>, %o: tensor<i32>) -> (tensor<20xf32>, "
    "tensor<20xi32>) {\n"
    "  %r:2 = \"stablehlo.scatter\"(%x, %y, %i, %u, %v) <{scatter_dimension_numbers = "
    "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
    "index_vector_dim = 1>}> ({\n"
    "  ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):\n"
    "    %p = stablehlo.compare LT, %d, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    %s = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f32>\n"
    "    %t = stablehlo.add %b, %d : tensor<i32>\n"
    "    stablehlo.return %s, %t : tensor<f32>, tensor<i32>\n"
    "  }) : (tensor<20xf32>, tensor<20xi32>, tensor<50xi32>, tensor<50xf32>, tensor<50xi32>) -> "
    "(tensor<20xf32>, tensor<20xi32>)\n"
    "  return %r#0, %r#1 : tensor<20xf32>, tensor<20xi32>\n"
    "}\n";

static void ops_move_what_the_evaluator_moves(void **state) {
  (void)state;
  test_random random = {7};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const move_case *c = &cases[i];
    TSR_OWN(text, text);
    tsr_text_addf(&text,
                  "func.func @main(%s) -> %s {\n  %%result = %s%s\n  return %%result : %s\n}",
                  c->arguments, c->result, c->op, c->result, c->result);
    check_evaluated(&random, tsr_text_string(&text), NULL, c->low, c->high);
  }
}

static void tensors_are_scattered_to_together(void **state) {
  (void)state;
  test_random random = {8};
  check_evaluated(&random, replace_text, NULL, -3, 22);
  check_evaluated(&random, mixed_text, NULL, -3, 22);
}

static void narrow_constants_have_their_signs(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%x: tensor<2xi32>) -> (tensor<4xi32>, tensor<2xi32>) {\n"
      "  %c = stablehlo.constant dense<[-1, 7]> : tensor<2xi4>\n"
      "  %y = stablehlo.convert %x : (tensor<2xi32>) -> tensor<2xi4>\n"
      "  %z = stablehlo.concatenate %c, %y, dim = 0 : (tensor<2xi4>, tensor<2xi4>) -> "
      "tensor<4xi4>\n"
      "  %w = stablehlo.convert %z : (tensor<4xi4>) -> tensor<4xi32>\n"
      "  %g = \"stablehlo.gather\"(%x, %c) {dimension_numbers = "
      "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
      "slice_sizes = array<i64: 1>} : (tensor<2xi32>, tensor<2xi4>) -> tensor<2xi32>\n"
      "  return %w, %g : tensor<4xi32>, tensor<2xi32>\n"
      "}\n";
  const int32_t x[] = {-3, 5};
  int32_t joined[4], gathered[2];
  run_text(text, IN(x), OUT_TO(joined, gathered));
  assert_memory_equal(joined, ((int32_t[]){-1, 7, -3, 5}), sizeof joined);
  assert_memory_equal(gathered, x, sizeof gathered);
}

static tsr_status compile_moves(void *context) {
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = 1;
  TSR_TRY(tsr_program_read("test", context, strlen(context), NULL, &program));
  return tsr_executable_compile(program, &options, &executable);
}

static void every_allocation_of_a_lowering_may_fail(void **state) {
  (void)state;
  static char text[] =
      "func.func @main(%x: tensor<3x4xf32>, %i: tensor<2xi32>, %j: tensor<i32>) -> tensor<4x9xf32> "
      "{\n"
      "  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>\n"
      "  %g = \"stablehlo.gather\"(%t, %i) {dimension_numbers = #stablehlo.gather<offset_dims = "
      "[1], "
      "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = "
      "array<i64: 1, 3>} : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>\n"
      "  %d = stablehlo.dynamic_update_slice %t, %g, %j, %j : (tensor<4x3xf32>, tensor<2x3xf32>, "
      "tensor<i32>, tensor<i32>) -> tensor<4x3xf32>\n"
      "  %c = stablehlo.concatenate %d, %t, %t, dim = 1 : (tensor<4x3xf32>, tensor<4x3xf32>, "
      "tensor<4x3xf32>) -> tensor<4x9xf32>\n"
      "  return %c : tensor<4x9xf32>\n"
      "}\n";
  test_allocation_sweep(compile_moves, text);
  test_allocation_sweep(compile_moves, (void *)mixed_text);
}

SUITE(moves, TEST(ops_move_what_the_evaluator_moves), TEST(tensors_are_scattered_to_together),
      TEST(narrow_constants_have_their_signs), TEST(every_allocation_of_a_lowering_may_fail))
