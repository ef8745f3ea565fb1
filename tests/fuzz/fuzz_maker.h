// Text of a program that bytes choose: values with types, and ops on them.
#ifndef TESSERA_TESTS_FUZZ_FUZZ_MAKER_H
#define TESSERA_TESTS_FUZZ_FUZZ_MAKER_H

#include "base/text_internal.h"

enum {
  MOST_VALUES = 96,
  MOST_RANK = 3,
  MOST_ELEMENTS = 1 << 14,
  MOST_OPS = 40,
  MOST_DEPTH = 2,
  RESULTS = 8
};
enum { FLAG, INDEX, ROWS, FIXED };  // arguments that every program has: i1, i32, 6 of i32

typedef enum kind { BOOL, SIGNED, UNSIGNED, REAL, COMPLEX } kind;
static const struct {
  const char *name, *one;
  kind kind;
} types[] = {{"f32", "1.0", REAL},
             {"i1", "true", BOOL},
             {"i32", "1", SIGNED},
             {"f64", "1.0", REAL},
             {"bf16", "1.0", REAL},
             {"f16", "1.0", REAL},
             {"i2", "1", SIGNED},
             {"i4", "1", SIGNED},
             {"i8", "1", SIGNED},
             {"i16", "1", SIGNED},
             {"i64", "1", SIGNED},
             {"ui2", "1", UNSIGNED},
             {"ui4", "1", UNSIGNED},
             {"ui8", "1", UNSIGNED},
             {"ui16", "1", UNSIGNED},
             {"ui32", "1", UNSIGNED},
             {"ui64", "1", UNSIGNED},
             {"f8E4M3FN", "1.0", REAL},
             {"f8E5M2FNUZ", "1.0", REAL},
             {"f8E8M0FNU", "1.0", REAL},
             {"f6E2M3FN", "1.0", REAL},
             {"f4E2M1FN", "1.0", REAL},
             {"complex<f32>", "(1.0, 2.0)", COMPLEX},
             {"complex<f64>", "(1.0, 2.0)", COMPLEX}};
enum { TYPE_BOOL = 1, TYPE_I32 = 2, TYPE_COUNT = sizeof types / sizeof *types };

typedef struct shaped {
  int type, rank;
  int dims[MOST_RANK];
} shaped;

typedef struct maker {
  const uint8_t *data;
  size_t left;
  tsr_text out;
  int count, ops, depth, names;
  int name[MOST_VALUES];
  shaped values[MOST_VALUES];
} maker;

static int draw(maker *m, int below) {
  if (!m->left) return 0;
  m->left--;
  return *m->data++ % below;
}

static int64_t elements(const shaped *s) {
  int64_t product = 1;
  for (int d = 0; d < s->rank; d++) product *= s->dims[d];
  return product;
}

static bool is_equal(const shaped *a, const shaped *b) {
  return a->type == b->type && a->rank == b->rank &&
         !memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank);
}

static void add_type(maker *m, const shaped *s) {
  tsr_text_add(&m->out, "tensor<");
  for (int d = 0; d < s->rank; d++) tsr_text_addf(&m->out, "%dx", s->dims[d]);
  tsr_text_addf(&m->out, "%s>", types[s->type].name);
}

static void add_list(maker *m, const char *name, const int *list, int count) {
  tsr_text_addf(&m->out, "%s = array<i64", name);
  for (int i = 0; i < count; i++) tsr_text_addf(&m->out, "%s%d", i ? ", " : ": ", list[i]);
  tsr_text_add(&m->out, ">");
}

// A new value, named but not yet written.
static int add_value(maker *m, shaped s) {
  m->values[m->count] = s;
  m->name[m->count] = m->names++;
  return m->count++;
}

static void add_use(maker *m, int value) { tsr_text_addf(&m->out, "%%v%d", m->name[value]); }

// `  %v7 = "stablehlo.add"(%v1, %v2) ` and, after the properties, ` : (types) -> type`.
static void open_op(maker *m, int result, const char *op, const int *operands, int count) {
  tsr_text_addf(&m->out, "%%v%d = \"stablehlo.%s\"(", m->name[result], op);
  for (int i = 0; i < count; i++)
    tsr_text_addf(&m->out, "%s%%v%d", i ? ", " : "", m->name[operands[i]]);
  tsr_text_add(&m->out, ") ");
}

static void close_op(maker *m, int result, const int *operands, int count) {
  tsr_text_add(&m->out, " : (");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(&m->out, ", ");
    add_type(m, &m->values[operands[i]]);
  }
  tsr_text_add(&m->out, ") -> ");
  add_type(m, &m->values[result]);
  tsr_text_add(&m->out, "\n");
}

static int add_op(maker *m, const char *op, const int *operands, int count, const char *properties,
                  shaped s) {
  const int result = add_value(m, s);
  open_op(m, result, op, operands, count);
  tsr_text_add(&m->out, properties);
  close_op(m, result, operands, count);
  return result;
}

static int add_constant(maker *m, shaped s) {
  const int result = add_value(m, s);
  open_op(m, result, "constant", NULL, 0);
  tsr_text_addf(&m->out, "<{value = dense<%s> : ", elements(&s) ? types[s.type].one : "");
  add_type(m, &s);
  tsr_text_add(&m->out, "}>");
  close_op(m, result, NULL, 0);
  return result;
}

// The latest are the likeliest: chains are what is fused. Of two, the larger.
static int draw_one(maker *m) {
  const int back = draw(m, 256);
  return back < 160 ? m->count - 1 - back % (m->count < 5 ? m->count : 5) : back % m->count;
}

static int draw_value(maker *m) {
  const int one = draw_one(m), other = draw_one(m);
  return elements(&m->values[one]) < elements(&m->values[other]) ? other : one;
}

// A type, in half of the cases f32.
static int draw_type(maker *m) {
  const int type = draw(m, 2 * TYPE_COUNT);
  return type < TYPE_COUNT ? type : 0;
}

// A value of the same type and shape as another, which may be itself.
static int draw_like(maker *m, int value) {
  const int first = draw(m, m->count);
  for (int i = 0; i < m->count; i++)
    if (is_equal(&m->values[(first + i) % m->count], &m->values[value]))
      return (first + i) % m->count;
  return value;
}

#endif
