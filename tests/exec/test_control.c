// Loops and branches: carries that stay, change places, are shared, are written in place.
#include <string.h>

#include "exec/runs.h"

static void carries_change_places(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%n: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, "
      "tensor<2xf32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %b) : tensor<i32>, tensor<2xf32>, "
      "tensor<2xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %y, %x : tensor<i32>, tensor<2xf32>, tensor<2xf32>\n"
      "  }\n"
      "  return %r#1, %r#2 : tensor<2xf32>, tensor<2xf32>\n"
      "}\n";
  const float a[2] = {1, 2}, b[2] = {3, 4};
  for (int32_t n = 0; n < 5; n++) {
    float x[2], y[2];
    run_text(text, IN(&n, a, b), OUT_TO(x, y));
    assert_memory_equal(x, n % 2 ? b : a, sizeof x);
    assert_memory_equal(y, n % 2 ? a : b, sizeof y);
  }
}

static void carries_rotate_with_values_of_the_body(void **state) {
  (void)state;
  // Fibonacci, with a third carry behind the first two.
  static const char text[] =
      "func.func @main(%n: tensor<i32>) -> (tensor<i64>, tensor<i64>, tensor<i64>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %f0 = stablehlo.constant dense<0> : tensor<i64>\n"
      "  %f1 = stablehlo.constant dense<1> : tensor<i64>\n"
      "  %r:4 = stablehlo.while(%i = %zero, %x = %f0, %y = %f1, %z = %f0) : tensor<i32>, "
      "tensor<i64>, tensor<i64>, tensor<i64>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    %s = stablehlo.add %x, %y : tensor<i64>\n"
      "    stablehlo.return %j, %y, %s, %x : tensor<i32>, tensor<i64>, tensor<i64>, tensor<i64>\n"
      "  }\n"
      "  return %r#1, %r#2, %r#3 : tensor<i64>, tensor<i64>, tensor<i64>\n"
      "}\n";
  int64_t x = 0, y = 1, z = 0;
  for (int32_t n = 0; n < 20; n++) {
    int64_t got[3];
    run_text(text, IN(&n), OUT_TO(&got[0], &got[1], &got[2]));
    assert_int_equal(got[0], x);
    assert_int_equal(got[1], y);
    assert_int_equal(got[2], z);
    const int64_t sum = x + y;
    z = x;
    x = y;
    y = sum;
  }
}

static void carries_may_share_a_value_or_take_one_from_outside(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%n: tensor<i32>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, "
      "tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %c = stablehlo.constant dense<[5.0, 6.0]> : tensor<2xf32>\n"
      "  %r:5 = stablehlo.while(%i = %zero, %w = %a, %x = %a, %y = %a, %z = %a) : tensor<i32>, "
      "tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    %s = stablehlo.add %w, %b : tensor<2xf32>\n"
      "    stablehlo.return %j, %s, %s, %b, %c : tensor<i32>, tensor<2xf32>, tensor<2xf32>, "
      "tensor<2xf32>, tensor<2xf32>\n"
      "  }\n"
      "  return %r#1, %r#2, %r#3, %r#4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, "
      "tensor<2xf32>\n"
      "}\n";
  const float a[2] = {1, 2}, b[2] = {10, 20}, c[2] = {5, 6};
  for (int32_t n = 0; n < 4; n++) {
    float w[2], x[2], y[2], z[2];
    run_text(text, IN(&n, a, b), OUT_TO(w, x, y, z));
    const float sum[2] = {1 + 10 * (float)n, 2 + 20 * (float)n};
    assert_memory_equal(w, sum, sizeof sum);
    assert_memory_equal(x, sum, sizeof sum);
    assert_memory_equal(y, n ? b : a, sizeof b);
    assert_memory_equal(z, n ? c : a, sizeof c);
  }
}

static void loops_in_loops_keep_their_carries_apart(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%n: tensor<i32>, %m: tensor<i32>, %a: tensor<2xi32>) -> (tensor<2xi32>, "
      "tensor<2xi32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %ones = stablehlo.constant dense<1> : tensor<2xi32>\n"
      "  %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %ones) : tensor<i32>, tensor<2xi32>, "
      "tensor<2xi32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %q:3 = stablehlo.while(%k = %zero, %u = %x, %v = %y) : tensor<i32>, tensor<2xi32>, "
      "tensor<2xi32>\n"
      "    cond {\n"
      "      %p = stablehlo.compare LT, %k, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "      stablehlo.return %p : tensor<i1>\n"
      "    } do {\n"
      "      %l = stablehlo.add %k, %one : tensor<i32>\n"
      "      %s = stablehlo.add %u, %v : tensor<2xi32>\n"
      "      stablehlo.return %l, %v, %s : tensor<i32>, tensor<2xi32>, tensor<2xi32>\n"
      "    }\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    %t = stablehlo.add %q#2, %x : tensor<2xi32>\n"
      "    stablehlo.return %j, %t, %q#1 : tensor<i32>, tensor<2xi32>, tensor<2xi32>\n"
      "  }\n"
      "  return %r#1, %r#2 : tensor<2xi32>, tensor<2xi32>\n"
      "}\n";
  const int32_t a[2] = {3, -7};
  for (int32_t n = 0; n < 4; n++)
    for (int32_t m = 0; m < 4; m++) {
      int32_t x[2] = {a[0], a[1]}, y[2] = {1, 1}, got_x[2], got_y[2];
      for (int32_t i = 0; i < n; i++)
        for (int e = 0; e < 2; e++) {
          int32_t u = x[e], v = y[e];
          for (int32_t k = 0; k < m; k++) {
            const int32_t s = u + v;
            u = v;
            v = s;
          }
          x[e] = v + x[e];
          y[e] = u;
        }
      run_text(text, IN(&n, &m, a), OUT_TO(got_x, got_y));
      assert_memory_equal(got_x, x, sizeof x);
      assert_memory_equal(got_y, y, sizeof y);
    }
}

static void branches_give_values_of_their_own_and_from_outside(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%i: tensor<i32>, %a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
      "  %r:2 = \"stablehlo.case\"(%i) ({\n"
      "    stablehlo.return %a, %a : tensor<2xf32>, tensor<2xf32>\n"
      "  }, {\n"
      "    %s = stablehlo.add %a, %a : tensor<2xf32>\n"
      "    stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>\n"
      "  }, {\n"
      "    %c = stablehlo.constant dense<[7.0, 8.0]> : tensor<2xf32>\n"
      "    %s = stablehlo.multiply %a, %c : tensor<2xf32>\n"
      "    stablehlo.return %c, %s : tensor<2xf32>, tensor<2xf32>\n"
      "  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)\n"
      "  %t = stablehlo.add %r#0, %r#1 : tensor<2xf32>\n"
      "  return %t, %r#1 : tensor<2xf32>, tensor<2xf32>\n"
      "}\n";
  const float a[2] = {1, 2};
  static const float sums[3][2] = {{2, 4}, {4, 8}, {14, 24}},
                     seconds[3][2] = {{1, 2}, {2, 4}, {7, 16}};
  for (int32_t i = -1; i < 5; i++) {
    const int taken = i < 0 || i > 2 ? 2 : (int)i;
    float sum[2], second[2];
    run_text(text, IN(&i, a), OUT_TO(sum, second));
    assert_memory_equal(sum, sums[taken], sizeof sum);
    assert_memory_equal(second, seconds[taken], sizeof second);
  }
}

static void an_if_takes_its_first_branch_when_true(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%p: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {\n"
      "  %r = \"stablehlo.if\"(%p) ({\n"
      "    %n = stablehlo.negate %a : tensor<f32>\n"
      "    stablehlo.return %n : tensor<f32>\n"
      "  }, {\n"
      "    stablehlo.return %a : tensor<f32>\n"
      "  }) : (tensor<i1>) -> tensor<f32>\n"
      "  return %r : tensor<f32>\n"
      "}\n";
  const float a = 3;
  float r = 0;
  run_text(text, IN(&(bool){true}, &a), OUT_TO(&r));
  assert_true(r == -3);
  run_text(text, IN(&(bool){false}, &a), OUT_TO(&r));
  assert_true(r == 3);
}

// A scan that fills an array row by row: its carry is written in place.
static void a_scan_writes_its_rows_in_place(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%a: tensor<64x4xf32>) -> (tensor<64x4xf32>, tensor<4xf32>) {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %n = stablehlo.constant dense<64> : tensor<i32>\n"
      "  %f = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
      "  %rows = stablehlo.constant dense<0.0> : tensor<64x4xf32>\n"
      "  %r:3 = stablehlo.while(%i = %zero, %s = %f, %out = %rows) : tensor<i32>, tensor<4xf32>, "
      "tensor<64x4xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %row = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 4] : (tensor<64x4xf32>, "
      "tensor<i32>, tensor<i32>) -> tensor<1x4xf32>\n"
      "    %flat = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>\n"
      "    %t = stablehlo.add %s, %flat : tensor<4xf32>\n"
      "    %u = stablehlo.reshape %t : (tensor<4xf32>) -> tensor<1x4xf32>\n"
      "    %o = stablehlo.dynamic_update_slice %out, %u, %i, %zero : (tensor<64x4xf32>, "
      "tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<64x4xf32>\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %t, %o : tensor<i32>, tensor<4xf32>, tensor<64x4xf32>\n"
      "  }\n"
      "  return %r#2, %r#1 : tensor<64x4xf32>, tensor<4xf32>\n"
      "}\n";
  float a[64][4], sums[64][4], want[4] = {0}, last[4];
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 4; k++) a[i][k] = (float)(i * k % 7);
  TSR_OWN(executable, executable);
  executable = compile_text(text, 1);
  assert_ok(tsr_executable_run(executable, IN(a), OUT_TO(sums, last)));
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 4; k++) {
      want[k] += a[i][k];
      assert_true(sums[i][k] == want[k]);
    }
  assert_memory_equal(last, want, sizeof want);
  // The rows are nowhere but in the result and in the constant that they start from.
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(executable, &info));
  assert_true(info.temporary_bytes < (int64_t)sizeof a + 65536);
}

static void loops_one_after_the_other_share_the_memory_they_exchange(void **state) {
  (void)state;
  // What a body makes is not made in place: a reverse reads other elements than it writes.
  static const char text[] =
      "func.func @main(%a: tensor<4096xf32>) -> tensor<f32> {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %n = stablehlo.constant dense<3> : tensor<i32>\n"
      "  %f = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %r:2 = stablehlo.while(%i = %zero, %c = %a) : tensor<i32>, tensor<4096xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %v = stablehlo.reverse %c, dims = [0] : tensor<4096xf32>\n"
      "    %w = stablehlo.add %v, %v : tensor<4096xf32>\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %w : tensor<i32>, tensor<4096xf32>\n"
      "  }\n"
      "  %s:2 = stablehlo.while(%i = %zero, %c = %r#1) : tensor<i32>, tensor<4096xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %w = stablehlo.reverse %c, dims = [0] : tensor<4096xf32>\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %w : tensor<i32>, tensor<4096xf32>\n"
      "  }\n"
      "  %one_of = stablehlo.slice %s#1 [5:6] : (tensor<4096xf32>) -> tensor<1xf32>\n"
      "  %o = stablehlo.reshape %one_of : (tensor<1xf32>) -> tensor<f32>\n"
      "  return %o : tensor<f32>\n"
      "}\n";
  float a[4096], out;
  for (int i = 0; i < 4096; i++) a[i] = (float)(i % 100);
  TSR_OWN(executable, executable);
  executable = compile_text(text, 1);
  for (int round = 0; round < 2; round++) {  // the second run starts with exchanged addresses
    assert_ok(tsr_executable_run(executable, IN(a), OUT_TO(&out)));
    assert_true(out == 8 * a[5]);
  }
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(executable, &info));
  assert_in_range(info.temporary_bytes - info.work_bytes, 2 * sizeof a, 2 * sizeof a + 4096);
}

SUITE(control, TEST(carries_change_places), TEST(carries_rotate_with_values_of_the_body),
      TEST(carries_may_share_a_value_or_take_one_from_outside),
      TEST(loops_in_loops_keep_their_carries_apart),
      TEST(branches_give_values_of_their_own_and_from_outside),
      TEST(an_if_takes_its_first_branch_when_true), TEST(a_scan_writes_its_rows_in_place),
      TEST(loops_one_after_the_other_share_the_memory_they_exchange))
