// What fusion knows of each op of a block before it makes groups: whether it can be in one, how
// deep it lies, and whether its readers compute it again.
//
// The depth of an op is the most ops that cannot be fused (products, loops, folds) on a way to it.
// Only ops of one depth are put together: so no way from one to another leads through such an op,
// and what is checked for cycles is small.
#include "lower/fuse_ops.h"

#include "lower/lower_reduce.h"

// ---- kinds ----

static tsr_fuse_kind reduction_kind(const tsr_op *op) {
  const tsr_reduce_plan plan = tsr_reduce_plan_of(op);
  if (plan.way == TSR_REDUCE_ROWS) return TSR_FUSE_ROWS;
  if (plan.way == TSR_REDUCE_NOTHING) return TSR_FUSE_ELEMENTWISE;
  return plan.way == TSR_REDUCE_FOLD && tsr_is_identity(tsr_op_operand(op, 1), plan.op)
             ? TSR_FUSE_FOLD
             : TSR_FUSE_ALONE;
}

static tsr_fuse_kind kind_of(const tsr_op *op) {
  const bool constant = op->operand_count == 0 && tsr_elementwise_row_of(op)->add;
  if (constant || (op->info->id == TSR_OP_IOTA && tsr_type_runs(op->results[0].type)))
    return TSR_FUSE_MADE;
  if (tsr_op_only_moves(op)) return TSR_FUSE_MOVES;
  if (op->info->id == TSR_OP_REDUCE) return reduction_kind(op);
  if (tsr_op_is_elementwise(op) && tsr_type_element_count(op->results[0].type) > 0)
    return TSR_FUSE_ELEMENTWISE;
  return TSR_FUSE_ALONE;
}

static bool is_barrier(const tsr_fuse_op *op) {
  if (op->op->info->id == TSR_OP_DYNAMIC_SLICE) return false;  // most are views
  return op->kind == TSR_FUSE_ALONE || op->kind == TSR_FUSE_FOLD;
}

// ---- values that regions take from the block ----

typedef struct capture_walk {
  tsr_fuser *fuser;
  tsr_fuse_op *op;
  tsr_value **into;  // NULL: only count
} capture_walk;

static tsr_status capture_operands(tsr_op *op, void *context) {
  capture_walk *walk = context;
  if (op == walk->op->op) return NULL;
  for (int i = 0; i < op->operand_count; i++) {
    tsr_value *value = tsr_op_operand(op, i);
    if (!tsr_fuser_def(walk->fuser, value)) continue;
    if (walk->into) walk->into[walk->op->capture_count] = value;
    walk->op->capture_count++;
  }
  return NULL;
}

static tsr_status find_captures(tsr_fuser *fuser, tsr_fuse_op *op) {
  if (op->op->region_count == 0 || (op->op->info->traits & TSR_TRAIT_ISOLATED) != 0) return NULL;
  capture_walk walk = {fuser, op, NULL};
  TSR_TRY(tsr_op_walk(op->op, capture_operands, &walk));
  if (op->capture_count == 0) return NULL;
  op->captures = tsr_lower_alloc(fuser->lowering, op->capture_count, sizeof(tsr_value *));
  TSR_NEED(op->captures);
  walk.into = op->captures;
  op->capture_count = 0;
  return tsr_op_walk(op->op, capture_operands, &walk);
}

// ---- depths ----

static int depth_of(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  int depth = 0;
  for (int i = 0; i < tsr_source_count(op); i++) {
    const tsr_fuse_op *def = tsr_fuser_def(fuser, tsr_source_at(op, i));
    if (def && def->depth + is_barrier(def) > depth) depth = def->depth + is_barrier(def);
  }
  return depth;
}

// The op of the block that a use belongs to, which may be in one of its regions.
static tsr_fuse_op *user_of(const tsr_fuser *fuser, const tsr_use *use) {
  tsr_op *user = use->user;
  while (user && user->block != fuser->block) user = tsr_op_parent(user);
  return user ? &fuser->ops[user->mark] : NULL;
}

// The bytes that a reader of a value keeps in memory: those of what it is broadcast or sliced from.
static int64_t kept_bytes(const tsr_fuser *fuser, const tsr_value *value) {
  int64_t bytes = tsr_type_bytes(value->type);
  for (const tsr_fuse_op *def = tsr_fuser_def(fuser, value); def;
       def = tsr_fuser_def(fuser, value)) {
    if (def->kind == TSR_FUSE_MADE) return 0;
    if (def->kind != TSR_FUSE_MOVES) break;
    value = tsr_op_operand(def->op, 0);
    if (tsr_type_bytes(value->type) < bytes) bytes = tsr_type_bytes(value->type);
  }
  return value->def && tsr_op_splat(value->def) ? 0 : bytes;
}

// Whether an op needs no more memory for its operands than for its result, but for small ones: then
// it may run later.
static bool may_wait(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  if (op->kind == TSR_FUSE_MADE || op->kind == TSR_FUSE_MOVES) return true;
  if (op->kind != TSR_FUSE_ELEMENTWISE) return false;
  const int64_t result = tsr_type_bytes(op->op->results[0].type);
  int64_t bytes = 0;
  for (int i = 0; i < op->op->operand_count; i++)
    bytes += kept_bytes(fuser, tsr_op_operand(op->op, i));
  return bytes <= result + result / 8;
}

// Ops that wait are as deep as the first of their users, so that they can be in one group with it.
static void sink(const tsr_fuser *fuser, tsr_fuse_op *op) {
  if (!may_wait(fuser, op)) return;
  int depth = -1;
  for (const tsr_use *use = op->op->results[0].uses; use; use = use->next) {
    const tsr_fuse_op *user = user_of(fuser, use);
    if (!user || user->kind == TSR_FUSE_END) return;
    if (depth < 0 || user->depth < depth) depth = user->depth;
  }
  if (depth > op->depth) op->depth = depth;
}

// The depth of the last reader of a value other than `except`.
static int last_read_of(const tsr_fuser *fuser, const tsr_value *value, const tsr_op *except) {
  int last = 0;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    const tsr_fuse_op *user = user_of(fuser, use);
    if (!user || user->kind == TSR_FUSE_END) return INT32_MAX;
    const int depth = user->kind == TSR_FUSE_MOVES ? user->last_read : user->depth;
    if (user->op != except && depth > last) last = depth;
  }
  return last;
}

// ---- ops that every reader computes again ----

// Whether computing an op again would keep a larger value in memory than its own, for long.
static bool keeps_leaf(const tsr_fuser *fuser, const tsr_fuse_op *op) {
  if (!op->leaf || !tsr_fuser_def(fuser, op->leaf) || may_wait(fuser, op)) return false;
  return op->last_read > op->depth && last_read_of(fuser, op->leaf, op->op) < op->last_read;
}

static void find_readers(const tsr_fuser *fuser, tsr_fuse_op *op) {
  op->read_by_groups = op->read_by_kernels = true;
  for (const tsr_use *use = op->op->results[0].uses; use; use = use->next) {
    const bool here = use->user->block == fuser->block;
    const tsr_fuse_op *user = here ? &fuser->ops[use->user->mark] : NULL;
    const bool grouped = user && (user->kind == TSR_FUSE_ELEMENTWISE ||
                                  user->kind == TSR_FUSE_ROWS || user->kind == TSR_FUSE_FOLD);
    const bool moves = user && user->kind == TSR_FUSE_MOVES;
    const bool multiplies = here && use->user->info->id == TSR_OP_DOT_GENERAL;
    if (!grouped && !(moves && user->read_by_groups)) op->read_by_groups = false;
    if (!grouped && !multiplies && !(moves && user->read_by_kernels)) op->read_by_kernels = false;
  }
}

// What a value costs a reader that computes it again: `leaf` is the one value in memory that it is
// made of, and `chain` the number of ops. False: it is made of several, or of costly ones.
static bool is_light(const tsr_fuser *fuser, const tsr_value *value, const tsr_value **out_leaf,
                     int *out_chain) {
  const tsr_fuse_op *def = tsr_fuser_def(fuser, value);
  *out_leaf = value->def && tsr_op_splat(value->def) ? NULL : value;
  *out_chain = 0;
  if (!def || def->kind == TSR_FUSE_ALONE || def->kind == TSR_FUSE_FOLD) return true;
  *out_leaf = def->leaf;
  *out_chain = def->chain;
  return def->light;
}

enum { MOST_CHAIN = 3 };

static void weigh(const tsr_fuser *fuser, tsr_fuse_op *op) {
  op->light = op->kind == TSR_FUSE_MADE;
  if (op->kind != TSR_FUSE_MOVES && op->kind != TSR_FUSE_ELEMENTWISE) return;
  op->light = true;
  op->chain = op->kind == TSR_FUSE_ELEMENTWISE;
  for (int i = 0; i < op->op->operand_count; i++) {
    const tsr_value *leaf = NULL;
    int chain = 0;
    if (!is_light(fuser, tsr_op_operand(op->op, i), &leaf, &chain)) op->light = false;
    if (leaf && op->leaf && op->leaf != leaf) op->light = false;
    if (leaf) op->leaf = leaf;
    op->chain += chain;
  }
  if (op->kind != TSR_FUSE_ELEMENTWISE) return;
  op->light = op->light && op->read_by_groups && op->chain <= MOST_CHAIN &&
              tsr_elementwise_row_of(op->op)->cost <= 1 && !keeps_leaf(fuser, op);
  op->inlined = op->light;
}

tsr_status tsr_fuser_open(tsr_lowering *lowering, tsr_ir_block *block, tsr_fuser *out_fuser) {
  tsr_fuser fuser = {.lowering = lowering,
                     .block = block,
                     .unfused = tsr_op_flag(lowering->ir->module, "tessera.unfused")};
  const tsr_op *end = tsr_block_terminator(block);
  for (tsr_op *op = block->first; op; op = op->next) op->mark = (uint32_t)fuser.count++;
  fuser.ops = tsr_lower_alloc(lowering, fuser.count + 1, sizeof *fuser.ops);
  TSR_NEED(fuser.ops);
  for (tsr_op *op = block->first; op; op = op->next)
    fuser.ops[op->mark] = (tsr_fuse_op){.op = op,
                                        .kind = op == end       ? TSR_FUSE_END
                                                : fuser.unfused ? TSR_FUSE_ALONE
                                                                : kind_of(op)};
  for (int i = 0; i < fuser.count; i++) {
    TSR_TRY(find_captures(&fuser, &fuser.ops[i]));
    fuser.ops[i].depth = depth_of(&fuser, &fuser.ops[i]);
  }
  for (int i = fuser.count - 1; i >= 0; i--) {
    sink(&fuser, &fuser.ops[i]);
    if (fuser.ops[i].op->result_count != 1) continue;
    find_readers(&fuser, &fuser.ops[i]);
    fuser.ops[i].last_read = last_read_of(&fuser, &fuser.ops[i].op->results[0], NULL);
  }
  for (int i = 0; i < fuser.count; i++) weigh(&fuser, &fuser.ops[i]);
  *out_fuser = fuser;
  return NULL;
}
