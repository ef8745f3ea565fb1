// Bodies of reductions: single ops, those that only compare and choose, as argmax does, and any
// others that a trial on numbers shows to be associative.
//
// A body that only compares arguments of the same place and chooses between them depends on nothing
// but the order of the values. Whether it is associative, and whether an initial value may be met
// again, is tried on all orders of three values, with NaN among them: there are no other cases.
#include "localize/partial_bodies.h"

#include <string.h>

#include "localize/body_trials.h"
#include "propagate/edits.h"
#include "simplify/scalar.h"

// ---- single ops ----

static const struct {
  tsr_op_id id;
  int kind;   // of Shardy's all-reduce; -1 = none
  int truth;  // the same for i1
  bool idempotent;
} single_ops[] = {
    {TSR_OP_ADD, TSR_SDY_REDUCTION_SUM, TSR_SDY_REDUCTION_SUM, false},
    {TSR_OP_MAXIMUM, TSR_SDY_REDUCTION_MAX, TSR_SDY_REDUCTION_MAX, true},
    {TSR_OP_MINIMUM, TSR_SDY_REDUCTION_MIN, TSR_SDY_REDUCTION_MIN, true},
    {TSR_OP_OR, -1, TSR_SDY_REDUCTION_MAX, true},
    {TSR_OP_AND, -1, TSR_SDY_REDUCTION_MIN, true},
    {TSR_OP_XOR, -1, -1, false},
    {TSR_OP_MULTIPLY, -1, -1, false},
};
enum { SINGLE_OPS = sizeof single_ops / sizeof *single_ops };

static int single_of(const tsr_op *op) {
  for (int i = 0; i < SINGLE_OPS; i++)
    if (tsr_op_is(op, single_ops[i].id)) return i;
  return -1;
}

static const tsr_op *body_end(const tsr_op *op) {
  const tsr_ir_block *body = op->region_count ? op->regions[0].first : NULL;
  return body ? tsr_block_terminator(body) : NULL;
}

// The row of the op that makes result `index` of both of its arguments; -1 = it is made otherwise.
static int single_at(const tsr_op *end, int index) {
  const tsr_op *def = tsr_op_operand(end, index)->def;
  if (!def || def->operand_count != 2 || def->block != end->block) return -1;
  for (int k = 0; k < 2; k++) {
    const tsr_value *x = tsr_op_operand(def, k);
    if (x->def || x->block != end->block || x->index % end->operand_count != index) return -1;
  }
  return tsr_op_operand(def, 0) == tsr_op_operand(def, 1) ? -1 : single_of(def);
}

tsr_op_id tsr_body_op(const tsr_op *op, int index) {
  const tsr_op *end = body_end(op);
  const int row = end && index < end->operand_count ? single_at(end, index) : -1;
  return row < 0 ? TSR_OP_COUNT : single_ops[row].id;
}

// A constant of +0 or -0; of ones.
static bool is_number(const tsr_value *value, bool one) {
  const tsr_attr *attr = tsr_init_constant(value);
  if (!attr) return false;
  tsr_scalar_type type;
  if (!tsr_scalar_type_of(value->type, &type)) return false;
  const tsr_scalar scalar = tsr_scalar_load(&type, attr->bytes);
  if (type.kind == TSR_CLASS_COMPLEX && scalar.imag != 0) return false;
  const bool real = type.kind == TSR_CLASS_FLOAT || type.kind == TSR_CLASS_COMPLEX;
  return real ? scalar.f == one : scalar.i == one;
}

bool tsr_init_is_neutral(tsr_op_id id, const tsr_value *init) {
  for (int i = 0; i < SINGLE_OPS; i++)
    if (single_ops[i].id == id && single_ops[i].idempotent) return true;
  return is_number(init, id == TSR_OP_MULTIPLY);
}

// ---- bodies that compare and choose ----

enum { NAN_ORDER = 3, ORDERS = 3, MOST_PAIRS = 3, MOST_OPS = 64 };

// The arguments of a body by place: orders 0, 1, 2, and NaN.
typedef struct ordered_tuple {
  int at[MOST_PAIRS];
} ordered_tuple;

typedef struct ordered_body {
  const tsr_op *end;
  int pairs;
  const tsr_op *ops[MOST_OPS];
  int values[MOST_OPS];  // of the ops: orders or truths
  int count;
} ordered_body;

static bool is_argument(const ordered_body *b, const tsr_value *x) {
  return !x->def && x->block == b->end->block;
}

// Whether a value is an argument of place `place`, or chosen of such.
// NOLINTNEXTLINE(misc-no-recursion): through at most MOST_OPS ops
static bool is_of_place(const ordered_body *b, const tsr_value *x, int place) {
  if (is_argument(b, x)) return x->index % b->pairs == place;
  if (!tsr_op_is(x->def, TSR_OP_SELECT) && !tsr_op_is(x->def, TSR_OP_MAXIMUM) &&
      !tsr_op_is(x->def, TSR_OP_MINIMUM))
    return false;
  const int first = tsr_op_is(x->def, TSR_OP_SELECT);
  return is_of_place(b, tsr_op_operand(x->def, first), place) &&
         is_of_place(b, tsr_op_operand(x->def, first + 1), place);
}

static bool is_of_one_place(const ordered_body *b, const tsr_op *op, int first) {
  for (int place = 0; place < b->pairs; place++)
    if (is_of_place(b, tsr_op_operand(op, first), place))
      return is_of_place(b, tsr_op_operand(op, first + 1), place);
  return false;
}

static bool is_truth(const tsr_value *x) { return x->type->dtype == TSR_BOOL; }

static bool is_ordered_op(const ordered_body *b, const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_COMPARE:
      return tsr_op_int(op, "compare_type", 0) != TSR_COMPARE_TYPE_TOTALORDER &&
             is_of_one_place(b, op, 0);
    case TSR_OP_AND:
    case TSR_OP_OR:
    case TSR_OP_NOT:
      return is_truth(tsr_op_operand(op, 0)) && !is_argument(b, tsr_op_operand(op, 0)) &&
             !is_argument(b, tsr_op_operand(op, op->operand_count - 1));
    case TSR_OP_SELECT:
      return !is_argument(b, tsr_op_operand(op, 0)) && is_of_one_place(b, op, 1);
    case TSR_OP_MAXIMUM:
    case TSR_OP_MINIMUM:
      return is_of_one_place(b, op, 0);
    default:
      return false;
  }
}

static bool open_body(const tsr_op *op, ordered_body *b) {
  *b = (ordered_body){.end = body_end(op)};
  if (!b->end || b->end->operand_count > MOST_PAIRS) return false;
  b->pairs = b->end->operand_count;
  for (const tsr_op *inner = b->end->block->first; inner != b->end; inner = inner->next) {
    if (b->count == MOST_OPS || !is_ordered_op(b, inner)) return false;
    b->ops[b->count++] = inner;
  }
  for (int i = 0; i < b->pairs; i++)
    if (!is_of_place(b, tsr_op_operand(b->end, i), i)) return false;
  return true;
}

static int value_of(const ordered_body *b, const tsr_value *x, const ordered_tuple *left,
                    const ordered_tuple *right) {
  if (is_argument(b, x)) {
    return x->index < b->pairs ? left->at[x->index] : right->at[x->index - b->pairs];
  }
  for (int i = b->count - 1; i >= 0; i--)
    if (b->ops[i] == x->def) return b->values[i];
  return 0;
}

static int compare_orders(int direction, int x, int y) {
  const bool ordered = x != NAN_ORDER && y != NAN_ORDER;
  return tsr_order_holds(direction, ordered && x < y, ordered && x == y, ordered && x > y);
}

static int run_op(const tsr_op *op, const int *in) {
  switch (op->info->id) {
    case TSR_OP_COMPARE:
      return compare_orders((int)tsr_op_int(op, "comparison_direction", 0), in[0], in[1]);
    case TSR_OP_AND:
      return in[0] & in[1];
    case TSR_OP_OR:
      return in[0] | in[1];
    case TSR_OP_NOT:
      return !in[0];
    case TSR_OP_SELECT:
      return in[0] ? in[1] : in[2];
    default:  // a maximum or minimum with NaN is NaN
      if (in[0] == NAN_ORDER || in[1] == NAN_ORDER) return NAN_ORDER;
      return (in[0] > in[1]) == tsr_op_is(op, TSR_OP_MAXIMUM) ? in[0] : in[1];
  }
}

static ordered_tuple run_body(ordered_body *b, const ordered_tuple *left,
                              const ordered_tuple *right) {
  ordered_tuple made = {{0}};
  for (int i = 0; i < b->count; i++) {
    int in[3] = {0};
    for (int k = 0; k < b->ops[i]->operand_count; k++)
      in[k] = value_of(b, tsr_op_operand(b->ops[i], k), left, right);
    b->values[i] = run_op(b->ops[i], in);
  }
  for (int i = 0; i < b->pairs; i++)
    made.at[i] = value_of(b, tsr_op_operand(b->end, i), left, right);
  return made;
}

static bool is_equal(const ordered_body *b, const ordered_tuple *x, const ordered_tuple *y) {
  return !memcmp(x->at, y->at, (size_t)b->pairs * sizeof *x->at);
}

// How many orders an argument may have: floats may be NaN.
static int order_count(const ordered_body *b, int place) {
  tsr_scalar_type type;
  const bool known = tsr_scalar_type_of(b->end->block->args[place]->type, &type);
  return known && type.kind == TSR_CLASS_FLOAT ? ORDERS + 1 : ORDERS;
}

static int tuple_count(const ordered_body *b) {
  int count = 1;
  for (int i = 0; i < b->pairs; i++) count *= order_count(b, i);
  return count;
}

static ordered_tuple tuple_at(const ordered_body *b, int number) {
  ordered_tuple tuple = {{0}};
  for (int i = 0; i < b->pairs; i++) {
    tuple.at[i] = number % order_count(b, i);
    number /= order_count(b, i);
  }
  return tuple;
}

// (x y) z = x (y z), and (x y) x = x y, as an initial value x is met again.
static bool may_fold(ordered_body *b, const ordered_tuple *x, const ordered_tuple *y) {
  const ordered_tuple xy = run_body(b, x, y), again = run_body(b, &xy, x);
  if (!is_equal(b, &again, &xy)) return false;
  for (int i = 0; i < tuple_count(b); i++) {
    const ordered_tuple z = tuple_at(b, i), yz = run_body(b, y, &z);
    const ordered_tuple left = run_body(b, &xy, &z), right = run_body(b, x, &yz);
    if (!is_equal(b, &left, &right)) return false;
  }
  return true;
}

static bool is_choice(const tsr_op *op) {
  ordered_body b;
  if (!open_body(op, &b)) return false;
  const int count = tuple_count(&b);
  for (int i = 0; i < count * count; i++) {
    const ordered_tuple x = tuple_at(&b, i / count), y = tuple_at(&b, i % count);
    if (!may_fold(&b, &x, &y)) return false;
  }
  return true;
}

// ---- all bodies ----

// Each result by a single op of its own, with initial values that may be met again; `out_kind` is
// that of all, or -1.
static bool is_single(const tsr_op *op, const tsr_op *end, int *out_kind) {
  for (int i = 0; i < end->operand_count; i++) {
    const int row = single_at(end, i);
    if (row < 0) return false;
    const bool truth = is_truth(tsr_op_operand(end, i));
    const int kind = truth ? single_ops[row].truth : single_ops[row].kind;
    *out_kind = !i || kind == *out_kind ? kind : -1;
    if (tsr_op_is(op, TSR_OP_REDUCE) &&
        !tsr_init_is_neutral(single_ops[row].id, tsr_op_operand(op, end->operand_count + i)))
      return false;
  }
  return true;
}

tsr_status tsr_partials_of(tsr_ir *ir, const tsr_op *op, tsr_partials *out_partials,
                           int *out_kind) {
  const tsr_op *end = body_end(op);
  int kind = -1;
  *out_kind = -1;
  *out_partials = TSR_PARTIALS_NONE;
  if (!end || !end->operand_count) return NULL;
  const bool single = is_single(op, end, &kind);
  if (single && kind >= 0) {
    *out_partials = TSR_PARTIALS_REDUCE;
    *out_kind = kind;
    return NULL;
  }
  if (!tsr_op_is(op, TSR_OP_REDUCE)) return NULL;
  bool folds = single || is_choice(op);
  if (!folds) TSR_TRY(tsr_body_may_fold(ir, op, &folds));
  if (folds) *out_partials = TSR_PARTIALS_FOLD;
  return NULL;
}
