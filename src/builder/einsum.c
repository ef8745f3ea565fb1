// Einsum as ops: diagonals and lone sums of each operand first, then pairs of operands contracted
// until one is left, which is transposed.
//
// A pair is contracted by dot_general: labels that are needed later are batch dimensions, others
// are summed over. A pair without any label to sum over is broadcast and multiplied. The pair whose
// result grows memory least comes first, as in opt_einsum's greedy order.
#include <stdlib.h>

#include "builder/builder_internal.h"
#include "simplify/einsum_equation.h"

typedef struct einsum_work {
  tsr_builder *builder;
  int count;  // of operands that are left
  tsr_node nodes[TSR_EINSUM_OPERANDS];
  tsr_einsum_equation equation;
  int64_t sizes[TSR_EINSUM_LABELS];  // -1 = no such label
} einsum_work;

static int find_label(const tsr_einsum_term *term, int label) {
  for (int i = 0; i < term->count; i++)
    if (term->labels[i] == label) return i;
  return -1;
}

static void remove_at(tsr_einsum_term *term, int at) {
  term->count--;
  for (int i = at; i < term->count; i++) term->labels[i] = term->labels[i + 1];
}

// Whether an operand other than `a` and `b`, or the result, has the label.
static bool is_needed(const einsum_work *work, int label, int a, int b) {
  if (find_label(&work->equation.result, label) >= 0) return true;
  for (int i = 0; i < work->count; i++)
    if (i != a && i != b && find_label(&work->equation.operands[i], label) >= 0) return true;
  return false;
}

// ---- sizes ----

// Dimensions of an ellipsis are broadcast; letters have one size everywhere.
static tsr_status add_size(einsum_work *work, int label, int64_t size, int operand) {
  int64_t *known = &work->sizes[label];
  if (*known == size) return NULL;
  const bool broadcasts = label >= TSR_EINSUM_LETTERS && (size == 1 || *known == 1);
  if (*known >= 0 && !broadcasts) {
    char name[4];
    tsr_einsum_label_name(label, name);
    return tsr_fail(CONSTRAINT, "label \"%s\" has size %lld in operand %d, expected %lld", name,
                    (long long)size, operand, (long long)*known);
  }
  if (*known < 0 || *known == 1) *known = size;
  return NULL;
}

static tsr_status collect_sizes(einsum_work *work) {
  for (int i = 0; i < TSR_EINSUM_LABELS; i++) work->sizes[i] = -1;
  for (int i = 0; i < work->count; i++) {
    const tsr_shape shape = tsr_build_shape_of(work->builder, work->nodes[i]);
    for (int j = 0; j < shape.rank; j++)
      TSR_TRY(add_size(work, work->equation.operands[i].labels[j], shape.dims[j], i));
  }
  return NULL;
}

// ---- one operand ----

// Elements outside of the diagonal of two dimensions become 0; then the second is summed away.
static tsr_node diagonal(tsr_builder *builder, tsr_node x, int first, int second) {
  const tsr_shape shape = tsr_build_shape_of(builder, x);
  const tsr_node row = tsr_build_iota(builder, TSR_I32, &shape, first);
  const tsr_node column = tsr_build_iota(builder, TSR_I32, &shape, second);
  const tsr_node on = tsr_build_compare(builder, "EQ", row, column);
  const tsr_node zero = tsr_build_scalar(builder, tsr_build_dtype_of(builder, x), 0);
  return tsr_build_reduce(builder, "add", tsr_build_select(builder, on, x, zero), TSR_DIMS(second),
                          false);
}

static void take_diagonals(einsum_work *work, int operand) {
  tsr_einsum_term *term = &work->equation.operands[operand];
  for (int i = 0; i < term->count && !work->builder->failure; i++) {
    const int first = find_label(term, term->labels[i]);
    if (first == i) continue;
    work->nodes[operand] = diagonal(work->builder, work->nodes[operand], first, i);
    remove_at(term, i--);
  }
}

// Dimensions of size 1 that others broadcast: the operand does not depend on them.
static void drop_broadcast(einsum_work *work, int operand) {
  tsr_einsum_term *term = &work->equation.operands[operand];
  const tsr_shape shape = tsr_build_shape_of(work->builder, work->nodes[operand]);
  tsr_shape kept = {0};
  tsr_einsum_term left = {0};
  for (int i = 0; i < shape.rank; i++) {
    if (shape.dims[i] != work->sizes[term->labels[i]]) continue;
    kept.dims[kept.rank++] = shape.dims[i];
    left.labels[left.count++] = term->labels[i];
  }
  *term = left;
  work->nodes[operand] = tsr_build_reshape(work->builder, work->nodes[operand], &kept);
}

static void sum_lone(einsum_work *work, int operand) {
  tsr_einsum_term *term = &work->equation.operands[operand];
  tsr_shape dims = {0};
  tsr_einsum_term left = {0};
  for (int i = 0; i < term->count; i++)
    if (is_needed(work, term->labels[i], operand, operand))
      left.labels[left.count++] = term->labels[i];
    else
      dims.dims[dims.rank++] = i;
  *term = left;
  if (dims.rank)
    work->nodes[operand] =
        tsr_build_reduce(work->builder, "add", work->nodes[operand], &dims, false);
}

// ---- pairs ----

static double size_of(const einsum_work *work, const tsr_einsum_term *term) {
  double size = 1;
  for (int i = 0; i < term->count; i++) size *= (double)work->sizes[term->labels[i]];
  return size;
}

// Labels that both have and the rest needs, then the others of each, as dot_general gives them.
static void join_terms(const einsum_work *work, int a, int b, tsr_einsum_term *out_term) {
  const tsr_einsum_term *x = &work->equation.operands[a], *y = &work->equation.operands[b];
  *out_term = (tsr_einsum_term){0};
  for (int i = 0; i < x->count; i++)
    if (find_label(y, x->labels[i]) >= 0 && is_needed(work, x->labels[i], a, b))
      out_term->labels[out_term->count++] = x->labels[i];
  for (int i = 0; i < x->count; i++)
    if (find_label(y, x->labels[i]) < 0) out_term->labels[out_term->count++] = x->labels[i];
  for (int i = 0; i < y->count && out_term->count < TSR_MAX_RANK; i++)
    if (find_label(x, y->labels[i]) < 0) out_term->labels[out_term->count++] = y->labels[i];
}

static int joined_rank(const einsum_work *work, int a, int b) {
  int rank = work->equation.operands[a].count;
  for (int i = 0; i < work->equation.operands[b].count; i++)
    rank += find_label(&work->equation.operands[a], work->equation.operands[b].labels[i]) < 0;
  return rank;
}

static void choose_pair(const einsum_work *work, int *out_a, int *out_b) {
  double best = 0;
  *out_a = -1;
  for (int a = 0; a < work->count; a++)
    for (int b = a + 1; b < work->count; b++) {
      tsr_einsum_term joined;
      if (joined_rank(work, a, b) > TSR_MAX_RANK) continue;
      join_terms(work, a, b, &joined);
      const double growth = size_of(work, &joined) - size_of(work, &work->equation.operands[a]) -
                            size_of(work, &work->equation.operands[b]);
      if (*out_a >= 0 && growth >= best) continue;
      best = growth;
      *out_a = a;
      *out_b = b;
    }
}

// Dimensions of both operands that have the same label: to keep, or to sum over.
static void pair_dims(const einsum_work *work, int a, int b, bool needed, tsr_shape *out_x,
                      tsr_shape *out_y) {
  const tsr_einsum_term *x = &work->equation.operands[a], *y = &work->equation.operands[b];
  out_x->rank = out_y->rank = 0;
  for (int i = 0; i < x->count; i++) {
    const int at = find_label(y, x->labels[i]);
    if (at < 0 || is_needed(work, x->labels[i], a, b) != needed) continue;
    out_x->dims[out_x->rank++] = i;
    out_y->dims[out_y->rank++] = at;
  }
}

// The operand with the dimensions of `term`, those it lacks of size 1.
static tsr_node spread(const einsum_work *work, int operand, const tsr_einsum_term *term) {
  const tsr_einsum_term *own = &work->equation.operands[operand];
  tsr_shape order = {0}, shape = {.rank = term->count};
  for (int i = 0; i < term->count; i++) {
    const int at = find_label(own, term->labels[i]);
    shape.dims[i] = at < 0 ? 1 : work->sizes[term->labels[i]];
    if (at >= 0) order.dims[order.rank++] = at;
  }
  const tsr_node x = tsr_build_transpose(work->builder, work->nodes[operand], &order);
  return tsr_build_reshape(work->builder, x, &shape);
}

static tsr_node contract(const einsum_work *work, int a, int b, const tsr_einsum_term *joined) {
  tsr_shape x_batch, y_batch, x_contract, y_contract;
  pair_dims(work, a, b, true, &x_batch, &y_batch);
  pair_dims(work, a, b, false, &x_contract, &y_contract);
  if (x_contract.rank == 0) {
    const tsr_node x = spread(work, a, joined), y = spread(work, b, joined);
    return tsr_build_multiply(work->builder, x, y);
  }
  const tsr_dot_options options = {.size = sizeof options,
                                   .x_batch = &x_batch,
                                   .y_batch = &y_batch,
                                   .x_contract = &x_contract,
                                   .y_contract = &y_contract};
  return tsr_build_dot_general(work->builder, work->nodes[a], work->nodes[b], &options);
}

static void contract_pair(einsum_work *work) {
  int a = -1, b = -1;
  choose_pair(work, &a, &b);
  if (a < 0) {
    (void)tsr_builder_keep(work->builder,
                           tsr_fail(TOO_LARGE, "a product has more than %d labels", TSR_MAX_RANK));
    return;
  }
  tsr_einsum_term joined;
  join_terms(work, a, b, &joined);
  work->nodes[a] = contract(work, a, b, &joined);
  work->equation.operands[a] = joined;
  work->count--;
  for (int i = b; i < work->count; i++) {
    work->nodes[i] = work->nodes[i + 1];
    work->equation.operands[i] = work->equation.operands[i + 1];
  }
}

// ---- the whole ----

// The last operand in the order of the result.
static tsr_node arrange(const einsum_work *work) {
  tsr_shape order = {.rank = work->equation.result.count};
  for (int i = 0; i < order.rank; i++)
    order.dims[i] = find_label(&work->equation.operands[0], work->equation.result.labels[i]);
  return tsr_build_transpose(work->builder, work->nodes[0], &order);
}

static tsr_status check_dtypes(const einsum_work *work) {
  for (int i = 1; i < work->count; i++) {
    const tsr_dtype first = tsr_build_dtype_of(work->builder, work->nodes[0]);
    const tsr_dtype dtype = tsr_build_dtype_of(work->builder, work->nodes[i]);
    if (dtype != first)
      return tsr_fail(CONSTRAINT,
                      "operands 0 and %d have dtypes %s and %s, expected the same "
                      "dtype",
                      i, tsr_dtype_name(first, TSR_NAMES_OWN),
                      tsr_dtype_name(dtype, TSR_NAMES_OWN));
  }
  return NULL;
}

static tsr_status prepare(einsum_work *work, const char *text, const tsr_node *operands,
                          int count) {
  int ranks[TSR_EINSUM_OPERANDS];
  for (int i = 0; i < count && i < TSR_EINSUM_OPERANDS; i++) {
    const tsr_type *type = tsr_builder_tensor(work->builder, operands[i], i);
    if (!type) return NULL;
    ranks[i] = type->rank;
    work->nodes[i] = operands[i];
  }
  TSR_TRY_NOTE(tsr_einsum_parse(text, ranks, count, &work->equation), "\"%s\"", text);
  work->count = count;
  TSR_TRY(check_dtypes(work));
  TSR_TRY_NOTE(collect_sizes(work), "\"%s\"", text);
  return NULL;
}

static tsr_node einsum(einsum_work *work, const char *text, const tsr_node *operands, int count) {
  tsr_builder *builder = work->builder;
  if (!tsr_builder_keep(builder, prepare(work, text, operands, count))) return TSR_NO_NODE;
  for (int i = 0; i < count && !builder->failure; i++) take_diagonals(work, i);
  for (int i = 0; i < count && !builder->failure; i++) drop_broadcast(work, i);
  for (int i = 0; i < count && !builder->failure; i++) sum_lone(work, i);
  while (work->count > 1 && !builder->failure) contract_pair(work);
  return builder->failure ? TSR_NO_NODE : arrange(work);
}

tsr_node tsr_build_einsum(tsr_builder *builder, const char *equation, const tsr_node *operands,
                          int count) {
  if (!tsr_builder_enter(builder, "einsum")) return TSR_NO_NODE;
  einsum_work *work = malloc(sizeof *work);
  tsr_node result = TSR_NO_NODE;
  if (work) {
    work->builder = builder;
    result = einsum(work, equation, operands, count);
  } else {
    (void)tsr_builder_keep(builder, tsr_fail(NO_MEMORY, "memory of an einsum"));
  }
  free(work);
  return tsr_builder_leave(builder, result);
}
