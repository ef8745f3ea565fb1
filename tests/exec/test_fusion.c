// What is fused computes the same bits as what is not: random programs run as they are, and with
// every op as a step of its own.
#include <stdio.h>
#include <string.h>

#include "exec/runs.h"

enum { MOST_VALUES = 64, MOST_RANK = 4, INPUTS = 3, MOST_ELEMENTS = 6000, TEXT_BYTES = 1 << 16 };

typedef struct made_value {
  int rank;
  int dims[MOST_RANK];
  const char *element;
} made_value;

typedef struct program_maker {
  uint64_t random;
  int count;
  made_value values[MOST_VALUES];
  size_t length;
  char text[TEXT_BYTES];
} program_maker;

static int pick(program_maker *m, int limit) {
  m->random ^= m->random << 13;
  m->random ^= m->random >> 7;
  m->random ^= m->random << 17;
  return (int)(m->random % (uint64_t)limit);
}

#define write_text(m, ...) \
  ((m)->length += (size_t)snprintf((m)->text + (m)->length, TEXT_BYTES - (m)->length, __VA_ARGS__))

static void write_type(program_maker *m, const made_value *value) {
  write_text(m, "tensor<");
  for (int i = 0; i < value->rank; i++) write_text(m, "%dx", value->dims[i]);
  write_text(m, "%s>", value->element);
}

static int elements(const made_value *value) {
  int count = 1;
  for (int i = 0; i < value->rank; i++) count *= value->dims[i];
  return count;
}

static bool same_type(const made_value *a, const made_value *b) {
  return a->rank == b->rank && a->element == b->element &&
         !memcmp(a->dims, b->dims, sizeof(int) * (size_t)a->rank);
}

// Ends the op that was just written.
static void add_value(program_maker *m, made_value value) {
  m->values[m->count++] = value;
  write_text(m, "\n");
}

static void start_op(program_maker *m, const char *name) {
  write_text(m, "  %%v%d = %s ", m->count, name);
}

// ---- ops ----

static const char f32[] = "f32", i32[] = "i32", bf16[] = "bf16", i1[] = "i1";

static void add_unary(program_maker *m) {
  static const char *const floats[] = {"stablehlo.exponential", "stablehlo.negate",
                                       "stablehlo.tanh",        "stablehlo.abs",
                                       "stablehlo.floor",       "stablehlo.cosine"};
  static const char *const integers[] = {"stablehlo.negate", "stablehlo.not", "stablehlo.popcnt"};
  const int a = pick(m, m->count);
  const made_value value = m->values[a];
  if (value.element == i1)
    start_op(m, "stablehlo.not");
  else
    start_op(m, value.element == i32 ? integers[pick(m, 3)] : floats[pick(m, 6)]);
  write_text(m, "%%v%d : ", a);
  write_type(m, &value);
  add_value(m, value);
}

static int find_same(program_maker *m, int a) {
  const int start = pick(m, m->count);
  for (int i = 0; i < m->count; i++) {
    const int b = (start + i) % m->count;
    if (same_type(&m->values[a], &m->values[b])) return b;
  }
  return a;
}

static void add_binary(program_maker *m) {
  static const char *const numbers[] = {"stablehlo.add", "stablehlo.subtract", "stablehlo.multiply",
                                        "stablehlo.maximum", "stablehlo.minimum"};
  static const char *const truths[] = {"stablehlo.and", "stablehlo.or", "stablehlo.xor"};
  const int a = pick(m, m->count), b = find_same(m, a);
  const made_value value = m->values[a];
  start_op(m, value.element == i1 ? truths[pick(m, 3)] : numbers[pick(m, 5)]);
  write_text(m, "%%v%d, %%v%d : ", a, b);
  write_type(m, &value);
  add_value(m, value);
}

static void add_compare(program_maker *m) {
  const int a = pick(m, m->count), b = find_same(m, a);
  made_value value = m->values[a];
  start_op(m, "stablehlo.compare");
  write_text(m, "%s, %%v%d, %%v%d : (", pick(m, 2) ? "LT" : "GE", a, b);
  write_type(m, &value);
  write_text(m, ", ");
  write_type(m, &value);
  value.element = i1;
  write_text(m, ") -> ");
  write_type(m, &value);
  add_value(m, value);
}

static void add_convert(program_maker *m) {
  static const char *const targets[] = {f32, i32, bf16};
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  made_value to = from;
  to.element = targets[pick(m, 3)];
  if (to.element == i32 && from.element != i1) to.element = f32;
  start_op(m, "stablehlo.convert");
  write_text(m, "%%v%d : (", a);
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

static void add_select(program_maker *m) {
  const int a = pick(m, m->count), b = find_same(m, a);
  const made_value value = m->values[a];
  int truth = -1;
  for (int i = 0; i < m->count; i++)
    if (m->values[i].element == i1 && elements(&m->values[i]) == elements(&value) &&
        m->values[i].rank == value.rank &&
        !memcmp(m->values[i].dims, value.dims, sizeof(int) * (size_t)value.rank))
      truth = i;
  if (truth < 0) return;
  start_op(m, "stablehlo.select");
  write_text(m, "%%v%d, %%v%d, %%v%d : ", truth, a, b);
  write_type(m, &m->values[truth]);
  write_text(m, ", ");
  write_type(m, &value);
  add_value(m, value);
}

static void add_broadcast(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  if (from.rank == MOST_RANK) return;
  const int at = pick(m, from.rank + 1);
  static const int sizes[] = {1, 2, 3, 5, 8, 16, 20};
  made_value to = {.rank = from.rank + 1, .element = from.element};
  for (int i = 0; i < to.rank; i++)
    to.dims[i] = i == at ? sizes[pick(m, 7)] : from.dims[i - (i > at)];
  for (int i = 0; i < to.rank; i++)
    if (to.dims[i] == 1 && i != at && pick(m, 2)) to.dims[i] = 4;
  if (elements(&to) > MOST_ELEMENTS) return;
  start_op(m, "stablehlo.broadcast_in_dim");
  write_text(m, "%%v%d, dims = [", a);
  for (int i = 0; i < from.rank; i++) write_text(m, "%s%d", i ? ", " : "", i + (i >= at));
  write_text(m, "] : (");
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

static void add_transpose(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  made_value to = from;
  int order[MOST_RANK];
  for (int i = 0; i < from.rank; i++) order[i] = i;
  for (int i = from.rank - 1; i > 0; i--) {
    const int k = pick(m, i + 1), kept = order[i];
    order[i] = order[k];
    order[k] = kept;
  }
  for (int i = 0; i < from.rank; i++) to.dims[i] = from.dims[order[i]];
  start_op(m, "stablehlo.transpose");
  write_text(m, "%%v%d, dims = [", a);
  for (int i = 0; i < from.rank; i++) write_text(m, "%s%d", i ? ", " : "", order[i]);
  write_text(m, "] : (");
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

// Joins two dims, or splits one.
static void add_reshape(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  made_value to = {.element = from.element};
  const int at = from.rank ? pick(m, from.rank) : 0;
  const bool split = from.rank < MOST_RANK && pick(m, 2);
  for (int i = 0; i < from.rank; i++) {
    const int size = from.dims[i];
    if (i == at && split) {
      const int inner = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : size;
      to.dims[to.rank++] = size / inner;
      to.dims[to.rank++] = inner;
    } else if (i == at && i + 1 < from.rank) {
      to.dims[to.rank++] = size * from.dims[++i];
    } else {
      to.dims[to.rank++] = size;
    }
  }
  start_op(m, "stablehlo.reshape");
  write_text(m, "%%v%d : (", a);
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

static void add_slice(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  made_value to = from;
  start_op(m, "stablehlo.slice");
  write_text(m, "%%v%d [", a);
  for (int i = 0; i < from.rank; i++) {
    const int start = pick(m, 3) ? 0 : pick(m, from.dims[i]);
    const int step = pick(m, 4) ? 1 : 2;
    to.dims[i] = (from.dims[i] - start + step - 1) / step;
    write_text(m, "%s%d:%d:%d", i ? ", " : "", start, from.dims[i], step);
  }
  write_text(m, "] : (");
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

static void add_reverse(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value value = m->values[a];
  if (!value.rank) return;
  start_op(m, "stablehlo.reverse");
  write_text(m, "%%v%d, dims = [%d] : ", a, pick(m, value.rank));
  write_type(m, &value);
  add_value(m, value);
}

static void add_iota(program_maker *m) {
  made_value value = m->values[pick(m, m->count)];
  if (!value.rank) return;
  if (value.element == i1) value.element = i32;
  start_op(m, "stablehlo.iota");
  write_text(m, "dim = %d : ", pick(m, value.rank));
  write_type(m, &value);
  add_value(m, value);
}

static void add_reduce(program_maker *m) {
  static const char *const names[] = {"add", "maximum", "minimum", "multiply"};
  static const char *const inits[] = {"0.0", "0xFF800000", "0x7F800000", "1.0"};
  const int a = pick(m, m->count), kind = pick(m, 4);
  const made_value from = m->values[a];
  if (from.element != f32 || !from.rank) return;
  made_value to = {.element = from.element};
  const int first = pick(m, from.rank), last = first + pick(m, from.rank - first);
  write_text(m, "  %%c%d = stablehlo.constant dense<%s> : tensor<f32>\n", m->count,
             pick(m, 4) ? inits[kind] : "0.5");
  write_text(
      m, "  %%v%d = stablehlo.reduce(%%v%d init: %%c%d) applies stablehlo.%s across dimensions = [",
      m->count, a, m->count, names[kind]);
  for (int i = 0; i < from.rank; i++) {
    if (i < first || i > last)
      to.dims[to.rank++] = from.dims[i];
    else
      write_text(m, "%s%d", i > first ? ", " : "", i);
  }
  write_text(m, "] : (");
  write_type(m, &from);
  write_text(m, ", tensor<f32>) -> ");
  write_type(m, &to);
  add_value(m, to);
}

// An op that is not fused: what reads its result may take its memory.
static void add_concatenate(program_maker *m) {
  const int a = pick(m, m->count), b = find_same(m, a);
  const made_value from = m->values[a];
  made_value to = from;
  if (!from.rank || 2 * elements(&from) > MOST_ELEMENTS) return;
  to.dims[0] *= 2;
  start_op(m, "stablehlo.concatenate");
  write_text(m, "%%v%d, %%v%d, dim = 0 : (", a, b);
  write_type(m, &from);
  write_text(m, ", ");
  write_type(m, &from);
  write_text(m, ") -> ");
  write_type(m, &to);
  add_value(m, to);
}

// What softmax and norms do: a reduction of rows, put back on the rows.
static void add_row_op(program_maker *m) {
  const int a = pick(m, m->count);
  const made_value from = m->values[a];
  if (from.element != f32 || from.rank < 2) return;
  made_value row = from;
  row.rank--;
  const int number = m->count;
  write_text(m, "  %%c%d = stablehlo.constant dense<0.0> : tensor<f32>\n", number);
  write_text(m,
             "  %%v%d = stablehlo.reduce(%%v%d init: %%c%d) applies stablehlo.add across "
             "dimensions = [%d] : (",
             number, a, number, row.rank);
  write_type(m, &from);
  write_text(m, ", tensor<f32>) -> ");
  write_type(m, &row);
  add_value(m, row);
  write_text(m, "  %%v%d = stablehlo.broadcast_in_dim %%v%d, dims = [", m->count, number);
  for (int i = 0; i < row.rank; i++) write_text(m, "%s%d", i ? ", " : "", i);
  write_text(m, "] : (");
  write_type(m, &row);
  write_text(m, ") -> ");
  write_type(m, &from);
  add_value(m, from);
  write_text(m, "  %%v%d = stablehlo.subtract %%v%d, %%v%d : ", m->count, a, m->count - 1);
  write_type(m, &from);
  add_value(m, from);
}

typedef void add_fn(program_maker *m);
static add_fn *const makers[] = {
    add_unary,   add_unary,     add_binary,    add_binary,   add_binary,      add_compare,
    add_convert, add_select,    add_select,    add_reduce,   add_reduce,      add_reshape,
    add_slice,   add_transpose, add_reverse,   add_iota,     add_concatenate, add_row_op,
    add_row_op,  add_broadcast, add_broadcast, add_broadcast};

static const made_value inputs[INPUTS] = {{2, {12, 20}, f32}, {1, {20}, f32}, {3, {3, 8, 32}, f32}};

// The values that are returned: the last ones, and some of the others.
static bool is_returned(uint64_t seed, int number, int count) {
  return number >= INPUTS && (number + 3 >= count || (seed * 31 + (uint64_t)number) % 5 == 0);
}

static void make_program(program_maker *m, uint64_t seed, bool unfused) {
  memset(m, 0, sizeof *m);
  m->random = seed * 0x9E3779B97F4A7C15u + 1;
  char *body = m->text + TEXT_BYTES / 2;
  m->length = TEXT_BYTES / 2;
  for (int i = 0; i < INPUTS; i++) m->values[m->count++] = inputs[i];
  const int wanted = INPUTS + 4 + pick(m, 40);
  while (m->count < wanted && m->count + 3 < MOST_VALUES)
    makers[pick(m, sizeof makers / sizeof *makers)](m);
  const size_t body_length = m->length - TEXT_BYTES / 2;
  m->length = 0;
  write_text(m, "module%s {\nfunc.func @main(", unfused ? " attributes {tessera.unfused}" : "");
  for (int i = 0; i < INPUTS; i++) {
    write_text(m, "%s%%v%d: ", i ? ", " : "", i);
    write_type(m, &inputs[i]);
  }
  const char *before = ") -> (";
  for (int i = 0; i < m->count; i++) {
    if (!is_returned(seed, i, m->count)) continue;
    write_text(m, "%s", before);
    write_type(m, &m->values[i]);
    before = ", ";
  }
  write_text(m, ") {\n");
  memmove(m->text + m->length, body, body_length);
  m->length += body_length;
  before = "  return ";
  for (int i = 0; i < m->count; i++) {
    if (!is_returned(seed, i, m->count)) continue;
    write_text(m, "%s%%v%d", before, i);
    before = ", ";
  }
  before = " : ";
  for (int i = 0; i < m->count; i++) {
    if (!is_returned(seed, i, m->count)) continue;
    write_text(m, "%s", before);
    write_type(m, &m->values[i]);
    before = ", ";
  }
  write_text(m, "\n}\n}\n");
}

static char outputs[2][MOST_VALUES][MOST_ELEMENTS * sizeof(float)];

static int64_t run_made(const program_maker *m, int which, const void *const *in) {
  TSR_OWN(executable, executable);
  executable = compile_text(m->text, 1);
  void *out[MOST_VALUES];
  for (int i = 0; i < MOST_VALUES; i++) out[i] = outputs[which][i];
  memset(outputs[which], 0, sizeof outputs[which]);
  assert_ok(tsr_executable_run(executable, in, out));
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  assert_ok(tsr_executable_describe(executable, &info));
  return info.step_count;
}

static void fused_programs_give_the_same_bits(void **state) {
  (void)state;
  static program_maker m;
  static float data[INPUTS][MOST_ELEMENTS];
  int64_t steps[2] = {0, 0};
  for (int i = 0; i < INPUTS; i++)
    for (int k = 0; k < MOST_ELEMENTS; k++)
      data[i][k] = (float)((k * 7919 + i * 104729) % 2003 - 1001) / 250;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    for (int which = 0; which < 2; which++) {
      make_program(&m, seed, which);
      steps[which] += run_made(&m, which, IN(data[0], data[1], data[2]));
    }
    if (memcmp(outputs[0], outputs[1], sizeof outputs[0]))
      fail_msg("seed %llu: results differ from those without fusion:\n%s", (unsigned long long)seed,
               m.text);
  }
  assert_true(steps[0] * 3 < steps[1] * 2);  // something was fused
}

static void folds_read_what_an_output_is_written_over(void **state) {
  (void)state;
  static const char text[] =
      "func.func @main(%x: tensor<2x40xf32>) -> (tensor<40xf32>, tensor<4x40xf32>) {\n"
      "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "  %c = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x40xf32>, tensor<2x40xf32>) -> "
      "tensor<4x40xf32>\n"
      "  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : "
      "(tensor<4x40xf32>, tensor<f32>) -> tensor<40xf32>\n"
      "  %n = stablehlo.negate %c : tensor<4x40xf32>\n"
      "  return %s, %n : tensor<40xf32>, tensor<4x40xf32>\n"
      "}\n";
  float x[2 * 40], sums[40], negated[4 * 40];
  for (int i = 0; i < 80; i++) x[i] = (float)i;
  run_text(text, IN(x), OUT_TO(sums, negated));
  for (int i = 0; i < 40; i++) assert_float_equal(sums[i], 2 * (x[i] + x[i + 40]), 0);
  for (int i = 0; i < 160; i++) assert_float_equal(negated[i], -x[i % 80], 0);
}

static void slices_are_read_where_they_lie(void **state) {
  (void)state;
  // Rounds 3 and 4 read the last layer: the index is moved into its range.
  static const char text[] =
      "func.func @main(%w: tensor<3x2x2xf32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
      "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
      "  %five = stablehlo.constant dense<5> : tensor<i32>\n"
      "  %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %w) : tensor<i32>, tensor<2x2xf32>, "
      "tensor<3x2x2xf32>\n"
      "  cond {\n"
      "    %p = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "    stablehlo.return %p : tensor<i1>\n"
      "  } do {\n"
      "    %s = stablehlo.dynamic_slice %b, %i, %zero, %zero, sizes = [1, 2, 2] : "
      "(tensor<3x2x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x2xf32>\n"
      "    %m = stablehlo.reshape %s : (tensor<1x2x2xf32>) -> tensor<2x2xf32>\n"
      "    %d = stablehlo.dot_general %a, %m, contracting_dims = [1] x [0] : (tensor<2x2xf32>, "
      "tensor<2x2xf32>) -> tensor<2x2xf32>\n"
      "    %n = stablehlo.add %d, %m : tensor<2x2xf32>\n"
      "    %j = stablehlo.add %i, %one : tensor<i32>\n"
      "    stablehlo.return %j, %n, %b : tensor<i32>, tensor<2x2xf32>, tensor<3x2x2xf32>\n"
      "  }\n"
      "  return %r#1 : tensor<2x2xf32>\n"
      "}\n";
  const float w[3][4] = {{1, 2, 3, 4}, {0, 1, 1, 0}, {2, 0, 0, 1}};
  float x[4] = {1, 0, 0, 1}, out[4];
  run_text(text, IN(w, x), OUT_TO(out));
  for (int i = 0; i < 5; i++) {
    const float *m = w[i < 3 ? i : 2];
    const float next[4] = {x[0] * m[0] + x[1] * m[2] + m[0], x[0] * m[1] + x[1] * m[3] + m[1],
                           x[2] * m[0] + x[3] * m[2] + m[2], x[2] * m[1] + x[3] * m[3] + m[3]};
    memcpy(x, next, sizeof x);
  }
  assert_memory_equal(out, x, sizeof x);
}

// NaNs that signal among them: no part of a chain may turn the numbers into f32 and back.
static void bits_of_narrow_floats_stay_as_they_are(void **state) {
  static const char *const formats[] = {"f8E5M2", "f8E3M4", "f8E4M3FN", "f8E4M3"};
  (void)state;
  for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
    char text[1024];
    uint8_t bits[256], zeros[256] = {0}, out[256] = {0};
    for (int i = 0; i < 256; i++) bits[i] = (uint8_t)i;
    snprintf(text, sizeof text,
             "func.func @main(%%a: tensor<256xui8>, %%z: tensor<256xui8>) -> tensor<256xui8> {\n"
             "  %%0 = stablehlo.xor %%a, %%z : tensor<256xui8>\n"
             "  %%1 = stablehlo.bitcast_convert %%0 : (tensor<256xui8>) -> tensor<256x%s>\n"
             "  %%2 = stablehlo.bitcast_convert %%1 : (tensor<256x%s>) -> tensor<256xui8>\n"
             "  %%3 = stablehlo.xor %%2, %%z : tensor<256xui8>\n"
             "  return %%3 : tensor<256xui8>\n}\n",
             formats[f], formats[f]);
    run_text(text, IN(bits, zeros), OUT_TO(out));
    assert_memory_equal(out, bits, sizeof bits);
  }
}

// Complex numbers are ordered by their real components, then by the imaginary ones.
static void complex_numbers_are_clamped(void **state) {
  (void)state;
  TSR_OWN(executable, executable);
  executable = compile_text(
      "func.func @main(%a: tensor<complex<f32>>, %b: tensor<3xcomplex<f32>>, "
      "%c: tensor<complex<f32>>) -> tensor<3xcomplex<f32>> {\n"
      "  %0 = stablehlo.clamp %a, %b, %c : (tensor<complex<f32>>, tensor<3xcomplex<f32>>, "
      "tensor<complex<f32>>) -> tensor<3xcomplex<f32>>\n"
      "  return %0 : tensor<3xcomplex<f32>>\n}\n",
      1);
  const float low[] = {-1, 2}, in[] = {-2, 9, -1, 5, 3, 0}, high[] = {2, 1};
  const float wanted[] = {-1, 2, -1, 5, 2, 1};
  float found[6] = {0};
  assert_ok(tsr_executable_run(executable, IN(low, in, high), OUT_TO(found)));
  assert_memory_equal(found, wanted, sizeof wanted);
}

SUITE(fusion, TEST(slices_are_read_where_they_lie), TEST(fused_programs_give_the_same_bits),
      TEST(folds_read_what_an_output_is_written_over), TEST(complex_numbers_are_clamped),
      TEST(bits_of_narrow_floats_stay_as_they_are))
