// Reductions, windows, sorts and maps with every kind of body, against the evaluator of constants.
#include <string.h>

#include "base/text_internal.h"
#include "exec/evaluated.h"

// ---- reduce ----

static void plain_bodies_reduce_any_dims(void **state) {
  (void)state;
  static const struct {
    const char *type, *op;
  } bodies[] = {{"f32", "add"}, {"f32", "maximum"},  {"f64", "minimum"}, {"bf16", "maximum"},
                {"i32", "add"}, {"i32", "multiply"}, {"i8", "minimum"},  {"ui16", "xor"},
                {"i64", "and"}, {"i1", "or"},        {"ui8", "maximum"}, {"complex<f32>", "add"}};
  static const struct {
    const char *in, *dims, *out;
  } shapes[] = {
      {"6x50x", "1", "6x"},         {"6x50x", "0", "50x"},        {"6x50x", "0, 1", ""},
      {"4x5x6x", "1", "4x6x"},      {"4x5x6x", "0, 2", "5x"},     {"3x4x5x6x", "1, 3", "3x5x"},
      {"3x4x5x6x", "0, 2", "4x6x"}, {"1x70x1x", "0, 1", "1x"},    {"9x0x", "1", "9x"},
      {"5x4x", "", "5x4x"},         {"20x30x40x", "0, 2", "30x"}, {"30x1100x3x", "0, 1", "3x"},
      {"2x8200x2x", "1", "2x2x"},   {"2x3x30000x", "0, 2", "3x"}};
  test_random random = {1};
  for (size_t b = 0; b < COUNT_OF(bodies); b++)
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
      TSR_OWN(text, text);
      const char *t = bodies[b].type, *in = shapes[s].in, *out = shapes[s].out;
      tsr_text_addf(&text,
                    "func.func @main(%%x: tensor<%s%s>, %%i: tensor<%s>) -> tensor<%s%s> {\n"
                    "  %%r = stablehlo.reduce(%%x init: %%i) applies stablehlo.%s across "
                    "dimensions = [%s] : (tensor<%s%s>, tensor<%s>) -> tensor<%s%s>\n"
                    "  return %%r : tensor<%s%s>\n}",
                    in, t, t, out, t, bodies[b].op, shapes[s].dims, in, t, t, out, t, out, t);
      check_evaluated(&random, tsr_text_string(&text), NULL, -3, 3);
    }
}

// Bodies that are no single op: several tensors together, a value from outside, argmax by itself.
static const char *const bodies[] = {
    "%r:2 = stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [DIMS] : "
    "(tensor<IN xf32>, tensor<IN xi32>, tensor<f32>, tensor<i32>) -> (tensor<OUTf32>, "
    "tensor<OUTi32>)\n"
    " reducer(%p: tensor<f32>, %q: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>) {\n"
    "  %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
    "  %s = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>\n"
    "  %w = stablehlo.maximum %u, %v : tensor<i32>\n"
    "  stablehlo.return %s, %w : tensor<f32>, tensor<i32>\n }",
    "%r:2 = stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [DIMS] : "
    "(tensor<IN xf32>, tensor<IN xi32>, tensor<f32>, tensor<i32>) -> (tensor<OUTf32>, "
    "tensor<OUTi32>)\n"
    " reducer(%p: tensor<f32>, %q: tensor<f32>) (%u: tensor<i32>, %v: tensor<i32>) {\n"
    "  %m = stablehlo.maximum %p, %q : tensor<f32>\n"
    "  %n = stablehlo.maximum %m, %a : tensor<f32>\n"
    "  %w = stablehlo.add %u, %v : tensor<i32>\n"
    "  stablehlo.return %n, %w : tensor<f32>, tensor<i32>\n }"};

static void replace(tsr_text *text, const char *from, const char *word, const char *by) {
  for (const size_t length = strlen(word); *from;) {
    if (!strncmp(from, word, length)) {
      tsr_text_add(text, by);
      from += length;
    } else {
      tsr_text_addf(text, "%c", *from++);
    }
  }
}

static void any_body_reduces_several_tensors(void **state) {
  (void)state;
  static const struct {
    const char *in, *dims, *out;
  } shapes[] = {{"6x50", "1", "6x"},     {"6x50", "0", "50x"},  {"5000", "0", ""},
                {"4x5x6", "0, 2", "5x"}, {"2x2500", "1", "2x"}, {"3x700", "0", "700x"}};
  test_random random = {2};
  for (size_t b = 0; b < COUNT_OF(bodies); b++)
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
      TSR_OWN(text, head);
      TSR_OWN(text, in);
      TSR_OWN(text, out);
      TSR_OWN(text, all);
      tsr_text_addf(&head,
                    "func.func @main(%%x: tensor<IN xf32>, %%y: tensor<IN xi32>, %%a: "
                    "tensor<f32>, %%b: tensor<i32>) -> (tensor<OUTf32>, tensor<OUTi32>) {\n%s\n"
                    "  return %%r#0, %%r#1 : tensor<OUTf32>, tensor<OUTi32>\n}",
                    bodies[b]);
      replace(&in, tsr_text_string(&head), "IN ", shapes[s].in);
      replace(&out, tsr_text_string(&in), "OUT", shapes[s].out);
      replace(&all, tsr_text_string(&out), "DIMS", shapes[s].dims);
      check_evaluated(&random, tsr_text_string(&all), NULL, -9, 9);
    }
}

// ---- windows ----

static void windows_of_any_body_are_reduced(void **state) {
  (void)state;
  static const struct {
    const char *attrs, *in, *out;
  } windows[] = {
      {"window_dimensions = array<i64: 2, 3>, padding = dense<[[1, 0], [2, 1]]> : tensor<2x2xi64>",
       "6x7", "6x8"},
      {"window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 3>, base_dilations = "
       "array<i64: 2, 1>, window_dilations = array<i64: 1, 2>",
       "5x9", "4x3"},
      {"window_dimensions = array<i64: 1, 40>, padding = dense<[[0, 0], [39, 0]]> : "
       "tensor<2x2xi64>",
       "5x40", "5x40"},
      {"window_dimensions = array<i64: 40, 1>, padding = dense<[[0, 39], [0, 0]]> : "
       "tensor<2x2xi64>",
       "40x5", "40x5"},
      {"window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>", "9x300", "4x300"},
  };
  static const struct {
    const char *type, *body;
  } kinds[] = {
      {"f32", "    %r = stablehlo.maximum %a, %b : tensor<f32>\n"},
      {"bf16", "    %r = stablehlo.minimum %a, %b : tensor<bf16>\n"},
      {"i32", "    %r = stablehlo.add %a, %b : tensor<i32>\n"},
      {"ui8", "    %r = stablehlo.or %a, %b : tensor<ui8>\n"},
      {"i64",
       "    %c = stablehlo.compare GT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
       "    %r = stablehlo.select %c, %a, %b : tensor<i1>, tensor<i64>\n"},
  };
  static const char *const starts[] = {"0xFF800000", "0x7F80", "0", "0", "-9223372036854775808"};
  test_random random = {3};
  for (size_t w = 0; w < COUNT_OF(windows); w++)
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
      TSR_OWN(text, text);
      const char *t = kinds[k].type, *in = windows[w].in, *out = windows[w].out;
      tsr_text_addf(&text,
                    "func.func @main(%%x: tensor<%sx%s>) -> tensor<%sx%s> {\n"
                    "  %%i = stablehlo.constant dense<%s> : tensor<%s>\n"
                    "  %%w = \"stablehlo.reduce_window\"(%%x, %%i) <{%s}> ({\n"
                    "  ^bb0(%%a: tensor<%s>, %%b: tensor<%s>):\n%s"
                    "    stablehlo.return %%r : tensor<%s>\n"
                    "  }) : (tensor<%sx%s>, tensor<%s>) -> tensor<%sx%s>\n"
                    "  return %%w : tensor<%sx%s>\n}",
                    in, t, out, t, starts[k], t, windows[w].attrs, t, t, kinds[k].body, t, in, t, t,
                    out, t, out, t);
      check_evaluated(&random, tsr_text_string(&text), NULL, -9, 9);
    }
}

// ---- sort ----

static void sorts_take_any_comparison(void **state) {
  (void)state;
  static const char *const comparisons[] = {
      "    %r = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      "    %r = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      "    %r = stablehlo.compare GT, %b, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      "    %r = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>\n",
      "    %e = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %l = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    %m = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
      "    %n = stablehlo.and %e, %m : tensor<i1>\n"
      "    %r = stablehlo.or %l, %n : tensor<i1>\n",
      // by no key: absolute values, and a limit from outside
      "    %e = stablehlo.abs %a : tensor<i32>\n"
      "    %f = stablehlo.abs %b : tensor<i32>\n"
      "    %r = stablehlo.compare LT, %e, %f : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      "    %e = stablehlo.minimum %a, %o : tensor<i32>\n"
      "    %f = stablehlo.minimum %b, %o : tensor<i32>\n"
      "    %r = stablehlo.compare LT, %e, %f : (tensor<i32>, tensor<i32>) -> tensor<i1>\n",
      "    %r = stablehlo.compare LE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"};
  static const struct {
    const char *shape;
    int dim;
  } shapes[] = {{"40", 0}, {"7x30", 1}, {"30x7", 0}, {"3x9x4", 1}, {"2x3000", 1}, {"3x0", 1}};
  test_random random = {4};
  for (size_t c = 0; c < COUNT_OF(comparisons); c++)
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
      TSR_OWN(text, text);
      const char *shape = shapes[s].shape;
      tsr_text_addf(
          &text,
          "func.func @main(%%x: tensor<%sxi32>, %%y: tensor<%sxf32>, %%o: tensor<i32>) -> "
          "(tensor<%sxi32>, tensor<%sxf32>) {\n"
          "  %%s:2 = \"stablehlo.sort\"(%%x, %%y) <{dimension = %d : i64, is_stable = true}> ({\n"
          "  ^bb0(%%a: tensor<i32>, %%b: tensor<i32>, %%c: tensor<f32>, %%d: tensor<f32>):\n%s"
          "    stablehlo.return %%r : tensor<i1>\n"
          "  }) : (tensor<%sxi32>, tensor<%sxf32>) -> (tensor<%sxi32>, tensor<%sxf32>)\n"
          "  return %%s#0, %%s#1 : tensor<%sxi32>, tensor<%sxf32>\n}",
          shape, shape, shape, shape, shapes[s].dim, comparisons[c], shape, shape, shape, shape,
          shape, shape);
      check_evaluated(&random, tsr_text_string(&text), NULL, -5, 5);
    }
}

// ---- map, select_and_scatter ----

static void maps_compute_each_element(void **state) {
  (void)state;
  test_random random = {5};
  check_evaluated(&random,
                  "func.func @main(%x: tensor<5x60xf32>, %y: tensor<5x60xf32>, %o: tensor<f32>) -> "
                  "tensor<5x60xi1> {\n"
                  "  %r = \"stablehlo.map\"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({\n"
                  "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                  "    %c = stablehlo.multiply %a, %b : tensor<f32>\n"
                  "    %d = stablehlo.compare LT, %c, %o : (tensor<f32>, tensor<f32>) -> "
                  "tensor<i1>\n"
                  "    stablehlo.return %d : tensor<i1>\n"
                  "  }) : (tensor<5x60xf32>, tensor<5x60xf32>) -> tensor<5x60xi1>\n"
                  "  return %r : tensor<5x60xi1>\n}",
                  NULL, -5, 5);
}

// The largest of each window by two programs: >= and +, which have loops, and the same written so
// that they have none.
static void choose_largest(bool plainly, const char *in, const char *source, const char *window,
                           const char *strides, const void *const *inputs, float *out) {
  TSR_OWN(text, text);
  tsr_text_addf(&text,
                "func.func @main(%%x: tensor<%sxf32>, %%u: tensor<%sxf32>, %%o: tensor<f32>) -> "
                "tensor<%sxf32> {\n"
                "  %%w = \"stablehlo.select_and_scatter\"(%%x, %%u, %%o) <{window_dimensions = "
                "array<i64: %s>, window_strides = array<i64: %s>}> ({\n"
                "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n%s"
                "    stablehlo.return %%r : tensor<i1>\n  }, {\n"
                "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n%s"
                "    stablehlo.return %%r : tensor<f32>\n"
                "  }) : (tensor<%sxf32>, tensor<%sxf32>, tensor<f32>) -> tensor<%sxf32>\n"
                "  return %%w : tensor<%sxf32>\n}",
                in, source, in, window, strides,
                plainly ? "    %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> "
                          "tensor<i1>\n"
                        : "    %s = stablehlo.subtract %a, %b : tensor<f32>\n"
                          "    %r = stablehlo.compare GE, %s, %o : (tensor<f32>, tensor<f32>) -> "
                          "tensor<i1>\n",
                plainly ? "    %r = stablehlo.add %a, %b : tensor<f32>\n"
                        : "    %s = stablehlo.negate %b : tensor<f32>\n"
                          "    %r = stablehlo.subtract %a, %s : tensor<f32>\n",
                in, source, in, in);
  run_text(tsr_text_string(&text), inputs, OUT_TO(out));
}

static void windows_choose_where_sources_go(void **state) {
  (void)state;
  const float x[4][5] = {{7, 2, 5, 3, 8}, {3, 8, 9, 3, 4}, {1, 5, 7, 5, 6}, {0, 6, 2, 10, 2}};
  const float source[2][2] = {{2, 6}, {3, 1}}, zero = 0;
  const float wanted[4][5] = {{0, 0, 0, 0, 0}, {0, 0, 8, 0, 0}, {0, 0, 3, 0, 0}, {0, 0, 0, 1, 0}};
  for (int plainly = 0; plainly < 2; plainly++) {
    float out[4][5];
    choose_largest(plainly, "4x5", "2x2", "2, 3", "2, 2", IN(x, source, &zero), out[0]);
    assert_memory_equal(out, wanted, sizeof wanted);
  }
}

static void channels_choose_apart(void **state) {
  (void)state;
  enum { ELEMENTS = 2 * 7 * 5 * 300, SOURCES = 2 * 3 * 4 * 300 };
  static float x[ELEMENTS], source[SOURCES], out[2][ELEMENTS];
  const float zero = 0;
  test_random random = {6};
  for (int i = 0; i < ELEMENTS; i++) x[i] = (float)test_random_range(&random, -9, 9);
  for (int i = 0; i < SOURCES; i++) source[i] = (float)test_random_range(&random, -9, 9);
  for (int plainly = 0; plainly < 2; plainly++)
    choose_largest(plainly, "2x7x5x300", "2x3x4x300", "1, 3, 2, 1", "1, 2, 1, 1",
                   IN(x, source, &zero), out[plainly]);
  assert_memory_equal(out[0], out[1], sizeof out[0]);
}

// ---- memory ----

static tsr_status compile_one(void *context) {
  const char *text = context;
  TSR_OWN(program, program);
  TSR_OWN(executable, executable);
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = 1;
  TSR_TRY(tsr_program_read("test", text, strlen(text), NULL, &program));
  return tsr_executable_compile(program, &options, &executable);
}

#define COMPARED "(tensor<f32>, tensor<f32>) -> tensor<i1>\n"
static void compiling_survives_every_failed_allocation(void **state) {
  (void)state;
  static const char *const texts[] = {
      "func.func @main(%x: tensor<9x4xf32>, %i: tensor<f32>) -> (tensor<9xf32>, tensor<4xf32>) {\n"
      "  %a = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : "
      "(tensor<9x4xf32>, tensor<f32>) -> tensor<9xf32>\n"
      "  %b = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : "
      "(tensor<9x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
      "  return %a, %b : tensor<9xf32>, tensor<4xf32>\n}",
      "func.func @main(%x: tensor<9xf32>, %i: tensor<f32>) -> (tensor<9xf32>, tensor<f32>) {\n"
      "  %s = \"stablehlo.sort\"(%x) ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %d = stablehlo.subtract %a, %b : tensor<f32>\n"
      "    %c = stablehlo.compare LT, %d, %i : " COMPARED
      "    stablehlo.return %c : tensor<i1>\n"
      "  }) : (tensor<9xf32>) -> tensor<9xf32>\n"
      "  %r = \"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64: 0>}> ({\n"
      "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %c = stablehlo.compare LT, %a, %b : " COMPARED
      "    %d = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>\n"
      "    stablehlo.return %d : tensor<f32>\n"
      "  }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>\n"
      "  return %s, %r : tensor<9xf32>, tensor<f32>\n}",
      "func.func @main(%x: tensor<9x2xf32>, %u: tensor<4x2xf32>, %i: tensor<f32>, %v: "
      "tensor<2xf32>) -> (tensor<9x2xf32>, tensor<4x2xf32>, tensor<9x2xf32>) {\n"
      "  %s = \"stablehlo.select_and_scatter\"(%x, %u, %i) <{window_dimensions = array<i64: 2, "
      "1>, window_strides = array<i64: 2, 1>}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %c = stablehlo.compare GT, %a, %b : " COMPARED
      "    stablehlo.return %c : tensor<i1>\n  }, {\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %c = stablehlo.maximum %a, %b : tensor<f32>\n    stablehlo.return %c : tensor<f32>\n"
      "  }) : (tensor<9x2xf32>, tensor<4x2xf32>, tensor<f32>) -> tensor<9x2xf32>\n"
      "  %w = \"stablehlo.reduce_window\"(%x, %i) <{window_dimensions = array<i64: 2, 1>, "
      "window_strides = array<i64: 2, 1>}> ({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
      "    %d = stablehlo.atan2 %a, %b : tensor<f32>\n    stablehlo.return %d : tensor<f32>\n"
      "  }) : (tensor<9x2xf32>, tensor<f32>) -> tensor<4x2xf32>\n"
      "  %n:3 = \"stablehlo.batch_norm_training\"(%x, %v, %v) <{epsilon = 1.0 : f32, "
      "feature_index = 1 : i64}> : (tensor<9x2xf32>, tensor<2xf32>, tensor<2xf32>) -> "
      "(tensor<9x2xf32>, tensor<2xf32>, tensor<2xf32>)\n"
      "  return %s, %w, %n#0 : tensor<9x2xf32>, tensor<4x2xf32>, tensor<9x2xf32>\n}",
      "func.func @main(%x: tensor<3x4xi32>, %c: tensor<3xi32>) -> (tensor<3x4xi32>, "
      "tensor<2x2xf32>) {\n"
      "  %r:2 = chlo.scan(%x) inits(%c) dimension=1 {\n"
      "  ^bb0(%a: tensor<3xi32>, %b: tensor<3xi32>):\n"
      "    %s = stablehlo.add %a, %b : tensor<3xi32>\n"
      "    stablehlo.return %s, %s : tensor<3xi32>, tensor<3xi32>\n"
      "  } : (tensor<3x4xi32>, tensor<3xi32>) -> (tensor<3x4xi32>, tensor<3xi32>)\n"
      "  %f = stablehlo.convert %x : (tensor<3x4xi32>) -> tensor<3x4xf32>\n"
      "  %v, %k = chlo.top_k(%f, k = 2) : tensor<3x4xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)\n"
      "  %e = stablehlo.einsum %v, %v, config = \"ab,ac->bc\" : (tensor<3x2xf32>, "
      "tensor<3x2xf32>) -> tensor<2x2xf32>\n"
      "  return %r#0, %e : tensor<3x4xi32>, tensor<2x2xf32>\n}"};
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    test_allocation_sweep(compile_one, (void *)(uintptr_t)texts[i]);
}

SUITE(reductions, TEST(plain_bodies_reduce_any_dims), TEST(any_body_reduces_several_tensors),
      TEST(windows_of_any_body_are_reduced), TEST(sorts_take_any_comparison),
      TEST(maps_compute_each_element), TEST(windows_choose_where_sources_go),
      TEST(channels_choose_apart), TEST(compiling_survives_every_failed_allocation))
