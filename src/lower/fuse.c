// Puts the ops of a block in groups that run as one step.
//
// Ops are taken in the order of the block. Each starts a group of its own, which is then joined
// with the groups that compute what it loads, wherever one space fits both and nothing outside
// stands between them. What is left over as loads and stores goes through memory.
#include <stdlib.h>

#include "lower/dot_lower.h"
#include "lower/fuse_group.h"
#include "lower/fuse_order.h"

// ---- ways between groups ----

enum { MOST_SEEN = 256 };  // groups that one search looks at

// Groups and ops by themselves that a value may come from.
typedef struct fuse_search {
  tsr_fuser *fuser;
  const tsr_fuse_group *target;
  int depth;
  int count, seen;
  tsr_fuse_op *stack[MOST_SEEN];
} fuse_search;

// Puts the maker of a value on the stack; true if that is the target.
static bool look_at(fuse_search *search, const tsr_value *value) {
  tsr_fuse_op *def = tsr_fuser_def(search->fuser, value);
  if (!def || def->depth < search->depth) return false;
  if (def->group == search->target) return true;
  uint32_t *stamp = def->group ? &def->group->stamp : &def->stamp;
  if (*stamp == search->fuser->stamp) return false;
  *stamp = search->fuser->stamp;
  if (search->seen == MOST_SEEN) return true;  // too much to look at: as if it were found
  search->seen++;
  search->stack[search->count++] = def;
  return false;
}

static bool look_behind(fuse_search *search, const tsr_fuse_op *op) {
  if (!op->group) {
    for (int i = 0; i < tsr_source_count(op); i++)
      if (look_at(search, tsr_source_at(op, i))) return true;
    return false;
  }
  for (int i = 0; i < op->group->node_count; i++)
    if (op->group->nodes[i].kind == TSR_NODE_LOAD && look_at(search, op->group->nodes[i].value))
      return true;
  return false;
}

// Whether a way leads from `target` to `group` through anything else.
static bool is_between(tsr_fuser *fuser, const tsr_fuse_group *target, tsr_fuse_group *group) {
  fuse_search search = {.fuser = fuser, .target = target, .depth = target->depth};
  group->stamp = ++fuser->stamp;
  for (int i = 0; i < group->node_count; i++) {
    const tsr_fuse_node *node = &group->nodes[i];
    if (node->kind != TSR_NODE_LOAD) continue;
    const tsr_fuse_op *def = tsr_fuser_def(fuser, node->value);
    if (def && def->group == target) continue;
    if (look_at(&search, node->value)) return true;
  }
  while (search.count)
    if (look_behind(&search, search.stack[--search.count])) return true;
  return false;
}

// ---- joining ----

static tsr_fuse_group *join_load(tsr_fuser *fuser, tsr_fuse_group *group, int load, uint32_t by) {
  tsr_fuse_op *def = tsr_fuser_def(fuser, group->nodes[load].value);
  if (group->nodes[load].kind != TSR_NODE_LOAD || !def || !def->group || def->group == group ||
      def->depth != group->depth || def->group->classes != group->classes || def->tried == by)
    return NULL;
  def->tried = by;
  if (is_between(fuser, def->group, group) || is_between(fuser, group, def->group)) return NULL;
  return tsr_group_join(fuser, def->group, def->node, group, load);
}

// Joins the group of an op with those before it, until none fits.
static void join_makers(tsr_fuser *fuser, const tsr_fuse_op *op) {
  tsr_fuse_group *group = op->group;
  for (int i = 0; i < group->node_count; i++) {
    tsr_fuse_group *joined = join_load(fuser, group, i, op->op->mark + 1);
    if (!joined) continue;
    group = joined;
    i = -1;
  }
}

// ---- groups that load one value ----

// A load of a value of the block or of one of its arguments.
typedef struct value_reader {
  int64_t value;  // its place: arguments come before results
  tsr_fuse_group *group;
} value_reader;

// Readers of a value stand together, in the order of their ops.
static int reader_order(const void *a, const void *b) {
  const value_reader *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return x->group->last < y->group->last ? -1 : x->group->last > y->group->last;
}

static int64_t place_of(const tsr_fuser *fuser, const tsr_value *value) {
  if (value->block == fuser->block) return value->index - INT64_C(1) * INT32_MAX;
  return tsr_fuser_def(fuser, value) ? (int64_t)value->def->mark * INT32_MAX + value->index : -1;
}

static const tsr_value *value_at(const tsr_fuser *fuser, int64_t place) {
  if (place < 0) return fuser->block->args[place + INT32_MAX];
  return &fuser->ops[place / INT32_MAX].op->results[place % INT32_MAX];
}

static int list_readers(const tsr_fuser *fuser, value_reader *readers) {
  int count = 0;
  for (int i = 0; i < fuser->count; i++) {
    tsr_fuse_group *group = fuser->ops[i].group;
    if (!group || group->last != i) continue;
    for (int k = 0; k < group->node_count; k++) {
      const int64_t place = place_of(fuser, group->nodes[k].value);
      if (group->nodes[k].kind != TSR_NODE_LOAD || place == -1) continue;
      if (readers) readers[count] = (value_reader){place, group};
      count++;
    }
  }
  return count;
}

static tsr_fuse_group *what_is_left(tsr_fuse_group *group) {
  while (group->joined) group = group->joined;
  return group;
}

static void join_readers(tsr_fuser *fuser, const value_reader *a, const value_reader *b) {
  const tsr_value *value = value_at(fuser, a->value);
  tsr_fuse_group *first = what_is_left(a->group), *second = what_is_left(b->group);
  if (first == second || first->depth != second->depth || first->classes != second->classes) return;
  int made = -1, read = -1;
  if (!tsr_group_find_loads(first, second, value, &made, &read) ||
      is_between(fuser, first, second) || is_between(fuser, second, first))
    return;
  tsr_group_join(fuser, first, made, second, read);
}

// Groups that go through the same memory in the same order become one, if neither needs the other.
static tsr_status join_siblings(tsr_fuser *fuser) {
  const int count = list_readers(fuser, NULL);
  value_reader *readers = tsr_lower_alloc(fuser->lowering, count + 1, sizeof *readers);
  TSR_NEED(readers);
  list_readers(fuser, readers);
  qsort(readers, (size_t)count, sizeof *readers, reader_order);
  for (int i = 1; i < count; i++)
    if (readers[i].value == readers[i - 1].value) join_readers(fuser, &readers[i - 1], &readers[i]);
  TSR_NEED(!fuser->out_of_memory);
  return NULL;
}

static bool starts_group(const tsr_fuse_op *op) {
  switch (op->kind) {
    case TSR_FUSE_ELEMENTWISE:
      return !op->inlined;
    case TSR_FUSE_ROWS:
    case TSR_FUSE_FOLD:
      return true;
    default:
      return false;
  }
}

// A reduction of a tensor in memory has a kernel of its own.
static void leave_alone(tsr_fuse_op *op) {
  const tsr_fuse_group *group = op->group;
  if (!group || group->member_count != 1 || op->kind == TSR_FUSE_ELEMENTWISE) return;
  const tsr_fuse_node *operand = &group->nodes[group->nodes[op->node].in[0]];
  if (operand->kind == TSR_NODE_LOAD && operand->value == tsr_op_operand(op->op, 0))
    op->group = NULL;
}

bool tsr_op_absorbs(const tsr_use *use, const tsr_op *producer) {
  return tsr_dot_absorbs(use, producer);
}

tsr_status tsr_fuse_block(tsr_lowering *lowering, tsr_ir_block *block, tsr_fusion **out_fusions,
                          int *out_count) {
  tsr_fuser fuser;
  TSR_TRY(tsr_fuser_open(lowering, block, &fuser));
  for (int i = 0; i < fuser.count; i++) {
    tsr_fuse_group *group = NULL;
    if (!starts_group(&fuser.ops[i])) continue;
    TSR_TRY(tsr_group_create(&fuser, &fuser.ops[i], &group));
    if (group) join_makers(&fuser, &fuser.ops[i]);
    TSR_NEED(!fuser.out_of_memory);
  }
  TSR_TRY(join_siblings(&fuser));
  for (int i = 0; i < fuser.count; i++)
    if (fuser.ops[i].group && fuser.ops[i].group->last == i)
      tsr_group_spare_loads(&fuser, fuser.ops[i].group);
  TSR_NEED(!fuser.out_of_memory);
  for (int i = 0; i < fuser.count; i++) leave_alone(&fuser.ops[i]);
  return tsr_fuser_order(&fuser, out_fusions, out_count);
}
