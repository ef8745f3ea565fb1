#include "localize/body_trials.h"

#include <math.h>
#include <string.h>

#include "propagate/edits.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"

enum { TUPLES = 6, MOST_RESULTS = 4, STEPS = 4096 };

// One value for each result of the body.
typedef struct trial_tuple {
  const tsr_attr *at[MOST_RESULTS];
} trial_tuple;

typedef struct body_trial {
  tsr_ir *ir;
  tsr_ir_block *body;
  int results;
  trial_tuple tried[TUPLES], init;
  bool known;  // so far
  tsr_status failure;
} body_trial;

// ---- numbers ----

// What results of a type may differ by, of their size or of 1; -1 = the type is not tried.
static double tolerance_of(const tsr_scalar_type *type) {
  static const struct {
    tsr_dtype dtype;
    double tolerance;
  } rows[] = {{TSR_F64, 1e-12}, {TSR_F32, 1e-5},   {TSR_F16, 1e-2},
              {TSR_BF16, 5e-2}, {TSR_C128, 1e-12}, {TSR_C64, 1e-5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].dtype == type->dtype) return rows[i].tolerance;
  return type->kind == TSR_CLASS_FLOAT || type->kind == TSR_CLASS_COMPLEX ? -1 : 0;
}

static bool is_close(double x, double y, double tolerance) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  if (isinf(x) || isinf(y)) return x == y;
  return fabs(x - y) <= tolerance * fmax(1, fmax(fabs(x), fabs(y)));
}

static bool is_same(const tsr_attr *x, const tsr_attr *y) {
  tsr_scalar_type type;
  if (!x || !y || !tsr_scalar_type_of(x->type, &type)) return false;
  const tsr_scalar a = tsr_scalar_load(&type, x->bytes), b = tsr_scalar_load(&type, y->bytes);
  const double tolerance = tolerance_of(&type);
  if (type.kind != TSR_CLASS_FLOAT && type.kind != TSR_CLASS_COMPLEX) return a.i == b.i;
  return is_close(a.f, b.f, tolerance) &&
         (type.kind == TSR_CLASS_FLOAT || is_close(a.imag, b.imag, tolerance));
}

static bool are_same(const body_trial *t, const trial_tuple *x, const trial_tuple *y) {
  if (!t->known) return false;
  for (int i = 0; i < t->results; i++)
    if (!is_same(x->at[i], y->at[i])) return false;
  return true;
}

// A small number of a type, by its place in a list that holds all signs.
static const tsr_attr *small_number(body_trial *t, const tsr_type *type, int place) {
  static const double numbers[] = {-2.5, 1, 0.5, -1, 3};
  static const int64_t integers[] = {-3, 1, 0, 6, 5};
  const int index = place % 5;
  tsr_scalar scalar = {.i = integers[index]};
  tsr_scalar_type element;
  char *bytes = tsr_ir_alloc(t->ir, TSR_SCALAR_BYTES);
  if (!bytes) t->failure = tsr_fail(NO_MEMORY, "numbers for a body");
  if (!bytes || type->rank || !tsr_scalar_type_of(type, &element) || tolerance_of(&element) < 0)
    return NULL;
  if (element.kind == TSR_CLASS_BOOL) scalar.i &= 1;
  if (element.kind == TSR_CLASS_FLOAT || element.kind == TSR_CLASS_COMPLEX)
    scalar = (tsr_scalar){.f = numbers[index], .imag = numbers[(index + 2) % 5]};
  if (!tsr_scalar_store(&element, scalar, bytes)) return NULL;
  return tsr_attr_dense(t->ir, type, bytes, (size_t)element.bytes);
}

// ---- the body ----

static trial_tuple run(body_trial *t, const trial_tuple *left, const trial_tuple *right) {
  const tsr_attr *arguments[2 * MOST_RESULTS];
  trial_tuple made = {{NULL}};
  int64_t budget = STEPS;
  const tsr_evaluate_limits limits = {.steps = STEPS, .budget = &budget};
  bool known = false;
  if (!t->known || t->failure) return made;
  for (int i = 0; i < t->results; i++) {
    arguments[i] = left->at[i];
    arguments[t->results + i] = right->at[i];
  }
  t->failure = tsr_evaluate_block(t->ir, t->body, arguments, &limits, &known, made.at);
  t->known = known && !t->failure;
  return made;
}

// i i = i, and (i x) i = i x for an initial value i.
static bool keeps_init(body_trial *t) {
  const trial_tuple twice = run(t, &t->init, &t->init);
  if (!are_same(t, &twice, &t->init)) return false;
  for (int i = 0; i < TUPLES; i++) {
    const trial_tuple begun = run(t, &t->init, &t->tried[i]), again = run(t, &begun, &t->init);
    if (!are_same(t, &again, &begun)) return false;
  }
  return true;
}

static bool is_associative(body_trial *t) {
  trial_tuple pairs[TUPLES][TUPLES];
  for (int i = 0; i < TUPLES; i++)
    for (int k = 0; k < TUPLES; k++) pairs[i][k] = run(t, &t->tried[i], &t->tried[k]);
  for (int i = 0; i < TUPLES * TUPLES * TUPLES; i++) {
    const int x = i % TUPLES, y = i / TUPLES % TUPLES, z = i / TUPLES / TUPLES;
    const trial_tuple left = run(t, &pairs[x][y], &t->tried[z]);
    const trial_tuple right = run(t, &t->tried[x], &pairs[y][z]);
    if (!are_same(t, &left, &right)) return false;
  }
  return true;
}

// The numbers of the tuples: equal ones meet different ones of the other results.
static bool fill_tuples(body_trial *t, const tsr_op *op) {
  static const int places[TUPLES][MOST_RESULTS] = {{0, 1, 2, 3}, {1, 0, 4, 2}, {2, 3, 1, 4},
                                                   {3, 2, 0, 1}, {4, 4, 3, 0}, {1, 3, 2, 4}};
  for (int i = 0; i < t->results; i++) {
    const tsr_value *init = tsr_op_operand(op, t->results + i);
    const tsr_attr *constant = tsr_init_constant(init);
    tsr_scalar_type type;
    if (!constant || init->type->rank || !tsr_scalar_type_of(init->type, &type)) return false;
    t->init.at[i] = tsr_attr_dense(t->ir, init->type, constant->bytes, (size_t)type.bytes);
    if (!t->init.at[i]) return false;
    for (int k = 0; k < TUPLES; k++) {
      t->tried[k].at[i] = small_number(t, t->body->args[i]->type, places[k][i]);
      if (!t->tried[k].at[i]) return false;
    }
  }
  return true;
}

const tsr_attr *tsr_init_constant(const tsr_value *init) {
  while (tsr_op_is(init->def, TSR_OP_BROADCAST_IN_DIM) || tsr_op_is(init->def, TSR_OP_RESHAPE))
    init = tsr_op_operand(init->def, 0);
  const tsr_attr *constant = tsr_value_constant(init);
  return constant && constant->splat ? constant : NULL;
}

tsr_status tsr_body_may_fold(tsr_ir *ir, const tsr_op *op, bool *out_may) {
  body_trial t = {.ir = ir,
                  .body = op->region_count ? op->regions[0].first : NULL,
                  .results = op->result_count,
                  .known = true};
  *out_may = false;
  const tsr_op *end = t.body ? tsr_block_terminator(t.body) : NULL;
  if (!end || t.results > MOST_RESULTS || end->operand_count != t.results ||
      t.body->arg_count != 2 * t.results || op->operand_count != 2 * t.results)
    return NULL;
  const bool may = fill_tuples(&t, op) && keeps_init(&t) && is_associative(&t);
  tsr_block_marks_clear(t.body);  // evaluations leave marks, which others take for theirs
  TSR_TRY(t.failure);
  *out_may = may && t.known;
  return NULL;
}
