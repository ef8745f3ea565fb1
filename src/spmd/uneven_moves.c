// Reversals and reshapes along uneven dims: the operand is padded to a size that the axes divide,
// and the result is sliced. A dim that is reversed is padded at its start, so that the padding
// comes out at the end. A reshape has factors, from major to minor in the same order on both sides:
// one that is the major one of its dims is padded there like the dim itself.
#include "spmd/uneven_moves.h"

#include "base/arithmetic.h"
#include "factor/rule_build.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "spmd/pad_uneven.h"

typedef struct even_move {
  tsr_op *op;
  const tsr_op_rule *rule;
  const tsr_tensor_sharding *in_cut, *out_cut;
  const tsr_type *in, *out;  // of the operand and the result
  int64_t in_dims[TSR_MAX_RANK], out_dims[TSR_MAX_RANK];
} even_move;

static bool is_divided(const tsr_type *type, const tsr_tensor_sharding *cut, int dim) {
  return !cut || type->dims[dim] % tsr_cut_count(cut, dim) == 0;
}

static bool is_done(const even_move *m, const tsr_tensor_sharding *cut, int tensor, int dim,
                    int64_t size) {
  const tsr_type *type = tensor ? m->out : m->in;
  return is_divided(type, cut, dim) || size % tsr_cut_count(cut, dim) == 0 ||
         tsr_uneven_is_served(m->op, m->rule, tensor, dim);
}

static bool all_done(const even_move *m) {
  bool done = true;
  for (int d = 0; d < m->in->rank; d++) done &= is_done(m, m->in_cut, 0, d, m->in_dims[d]);
  for (int d = 0; d < m->out->rank; d++) done &= is_done(m, m->out_cut, 1, d, m->out_dims[d]);
  return done;
}

// ---- which sizes ----

static void fill_reverse(even_move *m) {
  for (int d = 0; d < m->in->rank; d++)
    if (tsr_ints_have(tsr_op_attr(m->op, "dimensions"), d) && !is_divided(m->in, m->in_cut, d))
      m->in_dims[d] = m->out_dims[d] = tsr_even_size(m->in->dims[d], tsr_cut_count(m->in_cut, d));
}

// The dim of a tensor that has a factor as its major one; -1 = none.
static int major_dim(const tsr_op_rule *rule, int tensor, int factor) {
  const int place = tsr_rule_place_of(rule, tensor, factor);
  if (place < 0) return -1;
  const int dim = rule->places[place].dim;
  return tsr_rule_dim(rule, tensor, dim) == place ? dim : -1;
}

static void fill_reshape(even_move *m) {
  for (int f = 0; f < m->rule->factor_count; f++) {
    const int from = major_dim(m->rule, 0, f), to = major_dim(m->rule, 1, f);
    const int64_t size = m->rule->factors[f].size;
    if (from < 0 || to < 0 || size < 2 || !m->in_cut || !m->out_cut) continue;
    const int64_t shards = tsr_cut_count(m->in_cut, from);
    if (size % shards == 0 || tsr_cut_count(m->out_cut, to) != shards) continue;
    const int64_t even = tsr_even_size(size, shards);
    const int64_t in = tsr_saturated_multiply(even, m->in->dims[from] / size);
    const int64_t out = tsr_saturated_multiply(even, m->out->dims[to] / size);
    if (even < 0 || in == INT64_MAX || out == INT64_MAX) continue;
    m->in_dims[from] = in;
    m->out_dims[to] = out;
  }
}

// ---- ops ----

static tsr_value *pad_operand(tsr_site *site, const even_move *m, const tsr_attr *sharding) {
  int64_t low[TSR_MAX_RANK] = {0}, high[TSR_MAX_RANK] = {0};
  tsr_value *x = tsr_op_operand(m->op, 0);
  for (int d = 0; d < m->in->rank; d++)
    (tsr_op_is(m->op, TSR_OP_REVERSE) ? low : high)[d] = m->in_dims[d] - m->in->dims[d];
  tsr_value *zero = tsr_site_zeros(site, tsr_site_scalar(site, m->in));
  const tsr_type *type = tsr_site_sized(site, m->in, m->in_dims);
  return tsr_site_shard(site, tsr_site_pad(site, x, zero, type, low, high, NULL), sharding);
}

static tsr_status replace_move(tsr_ir *ir, const even_move *m) {
  const tsr_attr *before = NULL, *after = NULL;
  tsr_value *result = tsr_op_result(m->op, 0);
  TSR_TRY(tsr_sharding_get(ir, tsr_op_operand(m->op, 0), &before));
  TSR_TRY(tsr_sharding_get(ir, result, &after));
  tsr_site site = {.ir = ir, .place = m->op};
  tsr_value *x = pad_operand(&site, m, before);
  const tsr_type *type = tsr_site_sized(&site, m->out, m->out_dims);
  const tsr_site_attr dims = {"dimensions", tsr_op_attr(m->op, "dimensions")};
  tsr_value *moved = tsr_site_add(&site, m->op->info->id, type, &x, 1, &dims, dims.attr != NULL);
  moved = tsr_site_shard(&site, moved, after);
  tsr_value *made = tsr_site_shard(&site, tsr_site_slice(&site, moved, NULL, m->out->dims), after);
  if (site.failure) return site.failure;
  TSR_NEED(made);
  tsr_value_replace(result, made);
  tsr_op_erase(m->op);
  return NULL;
}

tsr_status tsr_uneven_move_replace(tsr_arena *arena, tsr_ir *ir, tsr_op *op,
                                   const tsr_op_rule *rule, bool *out_replaced) {
  bool changed = false;
  *out_replaced = false;
  if (!tsr_op_is(op, TSR_OP_REVERSE) && !tsr_op_is(op, TSR_OP_RESHAPE)) return NULL;
  even_move m = {
      .op = op, .rule = rule, .in = tsr_operand_type(op, 0), .out = tsr_op_result(op, 0)->type};
  if (m.in->rank > TSR_MAX_RANK || m.out->rank > TSR_MAX_RANK) return NULL;
  TSR_TRY(tsr_cut_of_value(arena, ir, tsr_op_operand(op, 0), &m.in_cut));
  TSR_TRY(tsr_cut_of_value(arena, ir, tsr_op_result(op, 0), &m.out_cut));
  for (int d = 0; d < m.in->rank; d++) m.in_dims[d] = m.in->dims[d];
  for (int d = 0; d < m.out->rank; d++) m.out_dims[d] = m.out->dims[d];
  if (tsr_op_is(op, TSR_OP_REVERSE))
    fill_reverse(&m);
  else
    fill_reshape(&m);
  for (int d = 0; d < m.in->rank; d++) changed |= m.in_dims[d] != m.in->dims[d];
  if (!changed || !all_done(&m)) return NULL;
  *out_replaced = true;
  return replace_move(ir, &m);
}
