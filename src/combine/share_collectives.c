// share-collectives: of collectives that do the same with the same value one is left. Numbers of
// channels make no difference: they tell collectives apart that would otherwise be equal.
//
// Shardy's collectives and StableHLO's are compared alike. An all_to_all that joins what it gets
// along another dim than an earlier one takes that one's result: only the order of dims differs.
// What an earlier gather of the same value holds is cut out of its result.
#include <string.h>

#include "collective/collective_build.h"
#include "combine/combine_passes.h"
#include "combine/device_ops.h"
#include "localize/localize.h"
#include "propagate/edits.h"
#include "simplify/decompose_build.h"
#include "simplify/passes.h"

typedef struct sharing {
  tsr_ir *ir;
  uint32_t count;  // ops that were visited: those have marks
  int64_t changes;
} sharing;

// ---- equality ----

static bool is_collective(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_ALL_GATHER:
    case TSR_OP_ALL_REDUCE:
    case TSR_OP_ALL_TO_ALL:
    case TSR_OP_COLLECTIVE_BROADCAST:
    case TSR_OP_COLLECTIVE_PERMUTE:
    case TSR_OP_REDUCE_SCATTER:
      return op->operand_count == 1;
    default:
      return op->info->id >= TSR_OP_SDY_ALL_GATHER &&
             op->info->id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED;
  }
}

static bool same_body(const tsr_op *a, const tsr_op *b) {
  if (a->region_count != b->region_count) return false;
  return !a->region_count || (tsr_combiner_of(a) >= 0 && tsr_combiner_of(a) == tsr_combiner_of(b));
}

// The attributes of `op` but for the channel and `except` (may be NULL) are those of `other`.
static bool has_attrs_of(const tsr_op *op, const tsr_op *other, const char *except) {
  for (int i = 0; i < op->attr_count; i++) {
    const char *name = op->attrs[i].name;
    if (!strcmp(name, "channel_handle") || (except && !strcmp(name, except))) continue;
    if (!tsr_attr_equal(op->attrs[i].attr, tsr_op_attr(other, name))) return false;
  }
  return true;
}

static bool is_same(const tsr_op *a, const tsr_op *b, const char *except) {
  return a->info == b->info && has_attrs_of(a, b, except) && has_attrs_of(b, a, except) &&
         same_body(a, b);
}

// ---- finding an earlier one ----

// Whether a block stands around an op, or is its own.
static bool is_around(const tsr_ir_block *block, const tsr_op *op) {
  for (const tsr_op *at = op; at && at->block; at = tsr_op_parent(at))
    if (at->block == block) return true;
  return false;
}

static tsr_op *find_earlier(const tsr_op *op, const char *except) {
  for (const tsr_use *use = tsr_op_operand(op, 0)->uses; use; use = use->next) {
    tsr_op *other = use->user;
    if (other != op && other->mark && is_collective(other) && is_around(other->block, op) &&
        is_same(op, other, except))
      return other;
  }
  return NULL;
}

// ---- all_to_all ----

// What was joined along dim `from`, joined along dim `to`: the dim of pieces is moved.
static tsr_value *rejoin(tsr_site *site, tsr_value *x, const tsr_op *op, int64_t from, int64_t to) {
  const tsr_type *type = x->type;
  const int64_t pieces = tsr_op_int(op, "split_count", 1);
  int64_t dims[TSR_MAX_RANK + 1], order[TSR_MAX_RANK + 1];
  int rank = 0;
  for (int d = 0; d < type->rank; d++) {
    if (d == from) dims[rank++] = pieces;
    dims[rank++] = d == from ? type->dims[d] / pieces : type->dims[d];
  }
  // Without the dim of pieces, which stands at `from`, dim d is at d or at d + 1.
  for (int d = 0, place = 0; d < type->rank; d++) {
    if (d == to) order[place++] = from;
    order[place++] = d < from ? d : d + 1;
  }
  const tsr_type *split = tsr_type_tensor(site->ir, type->element, rank, dims, NULL);
  x = split ? tsr_site_reshape(site, x, split) : NULL;
  x = x ? tsr_site_transpose(site, x, order) : NULL;
  return x ? tsr_site_reshape(site, x, op->results[0].type) : NULL;
}

static tsr_status share_exchange(sharing *s, tsr_op *op) {
  tsr_op *earlier = find_earlier(op, "concat_dimension");
  if (!earlier || op->results[0].type->rank >= TSR_MAX_RANK) return NULL;
  tsr_site site = {.ir = s->ir, .place = op};
  tsr_value *value =
      rejoin(&site, tsr_op_result(earlier, 0), op, tsr_op_int(earlier, "concat_dimension", 0),
             tsr_op_int(op, "concat_dimension", 0));
  if (site.failure) return site.failure;
  TSR_NEED(value);
  tsr_value_replace(tsr_op_result(op, 0), value);
  tsr_op_erase(op);
  s->changes++;
  return NULL;
}

// ---- parts of what was gathered ----

// The axes by which each dim of `to` is cut further than that of `from`, which may be whole (NULL);
// false if some dim is not.
static bool further_axes(tsr_arena *arena, const tsr_tensor_sharding *from,
                         const tsr_tensor_sharding *to, tsr_sdy_parts *lists) {
  for (int d = 0; d < to->rank; d++) {
    const tsr_sdy_parts *axes = tsr_cut_axes(from, d);
    if (tsr_parts_prefix(axes, &to->dims[d].axes) == TSR_PREFIX_NOT ||
        !tsr_parts_minus(arena, to->mesh, &to->dims[d].axes, axes, &lists[d]))
      return false;
  }
  return true;
}

// Replaces a collective by a slice of a value that holds all of its result.
static tsr_status slice_instead(sharing *s, tsr_arena *arena, tsr_op *op, tsr_value *source,
                                bool *out_done) {
  const tsr_tensor_sharding *from = NULL, *to = NULL;
  tsr_sdy_parts lists[TSR_MAX_RANK];
  const tsr_attr *sharding = tsr_op_attr(op, "out_sharding");
  TSR_TRY(tsr_cut_of_value(arena, s->ir, source, &from));
  TSR_TRY(tsr_cut_of_attr(arena, s->ir, op, sharding, &to));
  *out_done = to && to->rank <= TSR_MAX_RANK &&
              (!from || tsr_sdy_mesh_equal(from->mesh, to->mesh, false)) &&
              further_axes(arena, from, to, lists);
  if (!*out_done) return NULL;
  const tsr_collective_parts parts = {.id = TSR_OP_SDY_ALL_SLICE,
                                      .name = "slicing_axes",
                                      .axes = tsr_axis_lists_attr(s->ir, to->mesh, lists, to->rank),
                                      .sharding = sharding};
  tsr_op *slice = tsr_collective_create(s->ir, op, source, &parts);
  TSR_NEED(slice);
  tsr_op_insert_before(op, slice);
  tsr_value_replace(tsr_op_result(op, 0), tsr_op_result(slice, 0));
  tsr_op_erase(op);
  s->changes++;
  return NULL;
}

// What a slice was cut from, or an earlier gather of the same value, may hold the result.
static tsr_status find_source(sharing *s, tsr_arena *arena, tsr_op *op) {
  tsr_value *operand = tsr_op_operand(op, 0);
  bool done = false;
  if (tsr_op_is(operand->def, TSR_OP_SDY_ALL_SLICE))
    TSR_TRY(slice_instead(s, arena, op, tsr_op_operand(operand->def, 0), &done));
  for (const tsr_use *use = operand->uses, *next = NULL; use && !done; use = next) {
    tsr_op *gather = use->user;
    next = use->next;
    if (gather != op && gather->mark && tsr_op_is(gather, TSR_OP_SDY_ALL_GATHER) &&
        is_around(gather->block, op))
      TSR_TRY(slice_instead(s, arena, op, tsr_op_result(gather, 0), &done));
  }
  return NULL;
}

static tsr_status share_gathered(sharing *s, tsr_op *op) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = find_source(s, &arena, op);
  tsr_arena_deinit(&arena);
  return status;
}

// ---- walking ----

static tsr_status share(sharing *s, tsr_op *op) {
  tsr_op *earlier = find_earlier(op, NULL);
  if (!earlier && tsr_op_is(op, TSR_OP_ALL_TO_ALL)) return share_exchange(s, op);
  if (!earlier && (tsr_op_is(op, TSR_OP_SDY_ALL_GATHER) || tsr_op_is(op, TSR_OP_SDY_ALL_TO_ALL) ||
                   tsr_op_is(op, TSR_OP_SDY_COLLECTIVE_PERMUTE)))
    return share_gathered(s, op);
  if (!earlier) return NULL;
  tsr_value_replace(tsr_op_result(op, 0), tsr_op_result(earlier, 0));
  tsr_op_erase(op);
  s->changes++;
  return NULL;
}

static tsr_status visit(tsr_op *op, void *context) {
  sharing *s = context;
  op->mark = ++s->count;
  return is_collective(op) ? share(s, op) : NULL;
}

// What becomes equal by sharing may be shared again: two layers that begin with the same gather.
tsr_status tsr_pass_share_collectives(tsr_ir *ir, const tsr_pass_options *options,
                                      int64_t *changes) {
  enum { MOST_ROUNDS = 8 };
  (void)options;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    sharing s = {.ir = ir};
    tsr_marks_clear(ir);
    TSR_TRY(tsr_op_walk(ir->module, visit, &s));
    *changes += s.changes;
    if (!s.changes) return NULL;
    TSR_TRY(tsr_passes_run(ir, "cse", NULL));
  }
  return NULL;
}
