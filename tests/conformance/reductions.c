// all_reduce and reduce_scatter: every operation on every type, held against sums made one by one.
#include <math.h>
#include <stdlib.h>

#include "conformance/conformance.h"
#include "element/reduction.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/reduce.h"
#include "tessera/reduction.h"

// ---- the reference: neighbours are paired, round by round ----

static double order(tsr_reduction op, double a, double b) {
  if (isnan(a) || isnan(b)) return (double)NAN;
  const bool first = a < b || (a == b && signbit(a));
  return first == (op == TSR_REDUCE_MIN) ? a : b;
}

static double fold_reals(tsr_reduction op, double a, double b) {
  const double value = op == TSR_REDUCE_SUM       ? a + b
                       : op == TSR_REDUCE_PRODUCT ? a * b
                                                  : order(op, a, b);
  return isnan(value) ? (double)NAN : value;
}

// An f32 sum or product of two f32 is that of f64, rounded.
static float fold_f32(tsr_reduction op, float a, float b) { return (float)fold_reals(op, a, b); }

static uint64_t fold_integers(tsr_dtype_class kind, tsr_reduction op, uint64_t a, uint64_t b) {
  const bool less = kind == TSR_CLASS_SIGNED ? (int64_t)a < (int64_t)b : a < b;
  switch (op) {
    case TSR_REDUCE_SUM:
      return kind == TSR_CLASS_BOOL ? a | b : a + b;
    case TSR_REDUCE_PRODUCT:
      return a * b;
    case TSR_REDUCE_MIN:
      return less ? a : b;
    case TSR_REDUCE_MAX:
      return less ? b : a;
    case TSR_REDUCE_AND:
      return a & b;
    default:
      return a | b;
  }
}

// Each part of a complex product is the sum of two products, all rounded.
static void fold_c64(tsr_reduction op, float *a, const float *b) {
  const float re = a[0], im = a[1];
  a[0] = op == TSR_REDUCE_SUM
             ? fold_f32(op, re, b[0])
             : fold_f32(TSR_REDUCE_SUM, (float)((double)re * b[0]), -(float)((double)im * b[1]));
  a[1] = op == TSR_REDUCE_SUM
             ? fold_f32(op, im, b[1])
             : fold_f32(TSR_REDUCE_SUM, (float)((double)re * b[1]), (float)((double)im * b[0]));
}

static void fold_c128(tsr_reduction op, double *a, const double *b) {
  const double re = a[0], im = a[1];
  const volatile double rr = re * b[0], ii = im * b[1], ri = re * b[1], ir = im * b[0];
  a[0] = op == TSR_REDUCE_SUM ? fold_reals(op, re, b[0]) : fold_reals(TSR_REDUCE_SUM, rr, -ii);
  a[1] = op == TSR_REDUCE_SUM ? fold_reals(op, im, b[1]) : fold_reals(TSR_REDUCE_SUM, ri, ir);
}

static void fold_integer_at(tsr_dtype wide, tsr_reduction op, void *a, const void *b, int64_t i) {
  const tsr_dtype_info *info = tsr_dtype_info_of(wide);
  uint64_t x = get_element(a, i, info->bits), y = get_element(b, i, info->bits);
  if (info->kind == TSR_CLASS_SIGNED && info->bits < 64) {
    const uint64_t sign = UINT64_C(1) << (info->bits - 1);
    x = (x ^ sign) - sign;
    y = (y ^ sign) - sign;
  }
  put_element(a, i, info->bits, fold_integers(info->kind, op, x, y));
}

// a = a op b, of accumulators.
static void fold(tsr_dtype wide, tsr_reduction op, void *a, const void *b, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (wide == TSR_F32)
      ((float *)a)[i] = fold_f32(op, ((float *)a)[i], ((const float *)b)[i]);
    else if (wide == TSR_F64)
      ((double *)a)[i] = fold_reals(op, ((double *)a)[i], ((const double *)b)[i]);
    else if (wide == TSR_C64)
      fold_c64(op, (float *)a + 2 * i, (const float *)b + 2 * i);
    else if (wide == TSR_C128)
      fold_c128(op, (double *)a + 2 * i, (const double *)b + 2 * i);
    else
      fold_integer_at(wide, op, a, b, i);
  }
}

typedef struct reduction {
  tsr_dtype dtype;
  tsr_reduction op;
  const pattern *pattern;
  int64_t outer, inner;
  int salt;
  bool scatter, in_place, shared;
} reduction;

static int64_t in_count(const reduction *r) {
  return r->outer * r->inner * (r->scatter ? r->pattern->groups.size : 1);
}

// What the members of a group have together.
static void *reduce_group(suite *s, const reduction *r, int64_t group) {
  const tsr_groups *groups = &r->pattern->groups;
  const tsr_dtype wide = tsr_reduce_partial_dtype(r->dtype);
  const int64_t count = in_count(r);
  void *values[MOST_DEVICES];
  for (int64_t i = 0; i < groups->size; i++) {
    void *input = make_input(r->dtype, groups->members[group * groups->size + i], r->salt, count);
    values[i] = make_output(wide, count);
    suite_ok(s, tsr_convert(r->dtype, input, wide, values[i], count));
    free(input);
  }
  for (int64_t step = 1; step < groups->size; step *= 2) {
    for (int64_t i = 0; i + step < groups->size; i += 2 * step)
      fold(wide, r->op, values[i], values[i + step], count);
  }
  void *result = make_output(r->dtype, count);
  suite_ok(s, tsr_convert(wide, values[0], r->dtype, result, count));
  for (int64_t i = 0; i < groups->size; i++) free(values[i]);
  return result;
}

// ---- the calls ----

static void alloc_buffers(suite *s, const reduction *r, buffers *b) {
  *b = (buffers){.count = tsr_comm_local_count(s->comm)};
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  void *of_group[MOST_DEVICES] = {NULL};
  for (int64_t i = 0; i < b->count; i++) {
    int64_t group, member;
    if (!find_member(&r->pattern->groups, first + i, &group, &member)) continue;
    b->in[i] = make_input(r->dtype, first + i, r->salt, in_count(r));
    if (!of_group[group] || !r->shared)
      of_group[group] = r->in_place ? b->in[i] : make_output(r->dtype, r->outer * r->inner);
    b->out[i] = of_group[group];
  }
}

// Member `member`'s part of what its group has together. What lies behind it is as it was.
static void check_part(suite *s, const reduction *r, const void *whole, int64_t member,
                       const void *out) {
  const int64_t count = r->outer * r->inner, size = r->pattern->groups.size;
  const int bits = tsr_dtype_info_of(r->dtype)->bits;
  void *wanted = r->in_place ? make_input(r->dtype, 0, 0, count) : make_output(r->dtype, count);
  for (int64_t o = 0; o < r->outer; o++) {
    const int64_t from = r->scatter ? (o * size + member) * r->inner : o * r->inner;
    move_elements(whole, from, wanted, o * r->inner, r->inner, bits);
  }
  const bool same = r->in_place && bits % 8 ? true : same_buffers(r->dtype, out, wanted, count);
  bool equal = same;
  for (int64_t i = 0; equal && bits % 8 && i < count; i++)
    equal = get_element(out, i, bits) == get_element(wanted, i, bits);
  if (!equal) suite_fail(s, "member %lld has another result", (long long)member);
  free(wanted);
}

static void check_results(suite *s, const reduction *r, const buffers *b) {
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  for (int64_t group = 0; group < r->pattern->groups.count; group++) {
    void *whole = NULL;
    for (int64_t i = 0; i < b->count; i++) {
      int64_t own, member;
      if (!find_member(&r->pattern->groups, first + i, &own, &member) || own != group) continue;
      if (!whole) whole = reduce_group(s, r, group);
      check_part(s, r, whole, member, b->out[i]);
    }
    free(whole);
  }
}

static void test_reduction(suite *s, const reduction *r) {
  suite_begin(s, "%s of %lld x %lld %s, %s, %s, inputs %d%s%s",
              r->scatter ? "reduce_scatter" : "all_reduce", (long long)r->outer,
              (long long)r->inner, tsr_dtype_info_of(r->dtype)->name, tsr_reduction_name(r->op),
              r->pattern->name, r->salt, r->in_place ? ", in place" : "",
              r->shared ? ", shared" : "");
  buffers b;
  alloc_buffers(s, r, &b);
  const tsr_groups *groups = &r->pattern->groups;
  const void *const *in = (const void *const *)b.in;
  tsr_status status =
      r->scatter
          ? tsr_comm_reduce_scatter(s->comm, groups, r->dtype, r->op, r->outer, r->inner, in, b.out)
          : tsr_comm_all_reduce(s->comm, groups, r->dtype, r->op, r->inner, in, b.out);
  if (suite_ok(s, status)) check_results(s, r, &b);
  free_buffers(&b);
}

static void test_type(suite *s, tsr_dtype dtype, tsr_reduction op, const pattern *p) {
  for (int salt = 8; salt < 10; salt++) {
    reduction r = {.dtype = dtype, .op = op, .pattern = p, .outer = 1, .inner = 37, .salt = salt};
    r.in_place = salt == 8;
    r.shared = salt == 9;
    test_reduction(s, &r);
    r = (reduction){.dtype = dtype,
                    .op = op,
                    .pattern = p,
                    .outer = 3,
                    .inner = 5,
                    .salt = salt,
                    .scatter = true};
    test_reduction(s, &r);
  }
}

// All types and operations over two patterns; over the others what differs by pattern.
void test_reductions(suite *s) {
  pattern p;
  for (int which = 0; which < PATTERNS; which++) {
    if (!make_pattern(s->comm, which, &p)) continue;
    for (tsr_dtype dtype = TSR_DTYPE_NONE + 1; dtype < TSR_DTYPE_COUNT; dtype++) {
      for (tsr_reduction op = 0; op < TSR_REDUCTION_COUNT; op++) {
        const bool usual =
            op == TSR_REDUCE_SUM && (dtype == TSR_F32 || dtype == TSR_BF16 || dtype == TSR_I4);
        if (!tsr_reduction_allows(op, dtype) || (which != 0 && which != 5 && !usual)) continue;
        test_type(s, dtype, op, &p);
      }
    }
  }
  if (!make_pattern(s->comm, 0, &p)) return;
  static const int64_t sizes[][2] = {{1, 0}, {0, 5}, {1, 1}, {3, 1021}};
  static const tsr_dtype types[] = {TSR_F32, TSR_BF16, TSR_I4, TSR_F6E3M2FN};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      const reduction r = {.dtype = types[k],
                           .op = TSR_REDUCE_SUM,
                           .pattern = &p,
                           .outer = sizes[i][0],
                           .inner = sizes[i][1],
                           .salt = 10,
                           .scatter = true};
      test_reduction(s, &r);
    }
    // More than one task, and not a whole number of them.
    const int64_t count = (300 << 10) * 8 / tsr_dtype_info_of(types[k])->bits + 3;
    const reduction large = {.dtype = types[k],
                             .op = TSR_REDUCE_SUM,
                             .pattern = &p,
                             .outer = 1,
                             .inner = count,
                             .salt = 10};
    if (k < 2) test_reduction(s, &large);
  }
}
