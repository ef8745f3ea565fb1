// Sharding groups: values that are sharded alike. The import joins groups that share a value and
// numbers them from 0.
#include "propagate/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "factor/shardings.h"
#include "propagate/edits.h"
#include "propagate/manual_axes.h"
#include "propagate/sharding_passes.h"

static tsr_status collect_group(tsr_op *op, void *context) {
  tsr_group_list *list = context;
  if (!tsr_op_is(op, TSR_OP_SDY_SHARDING_GROUP)) return NULL;
  tsr_group_op *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  list->items[list->count] =
      (tsr_group_op){.op = op, .id = tsr_op_int(op, "group_id", 0), .order = list->count};
  list->count++;
  return NULL;
}

tsr_status tsr_group_list_make(tsr_ir *ir, tsr_group_list *out_list) {
  tsr_group_list list = {0};
  tsr_status status = tsr_op_walk_after(ir->module, collect_group, &list);
  if (status)
    free(list.items);
  else
    *out_list = list;
  return status;
}

// ---- what a group may hold ----

static const tsr_op *manual_parent(const tsr_op *op) {
  const tsr_op *parent = tsr_op_parent(op);
  while (parent && !tsr_op_is(parent, TSR_OP_SDY_MANUAL_COMPUTATION))
    parent = tsr_op_parent(parent);
  return parent;
}

static bool same_shape(const tsr_type *a, const tsr_type *b) {
  return tsr_type_rank(a) == tsr_type_rank(b) &&
         (!tsr_type_rank(a) || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims));
}

static int by_id(const void *a, const void *b) {
  const tsr_group_op *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static int by_value(const void *a, const void *b) {
  const tsr_group_op *x = a, *y = b;
  const uintptr_t v = (uintptr_t)tsr_op_operand(x->op, 0), w = (uintptr_t)tsr_op_operand(y->op, 0);
  if (v != w) return v < w ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static int by_first(const void *a, const void *b) {
  const tsr_group_op *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

// `list` is sorted by group.
static tsr_status check_groups(const tsr_group_list *list) {
  for (int64_t i = 1; i < list->count; i++) {
    const tsr_group_op *before = &list->items[i - 1], *now = &list->items[i];
    if (before->id != now->id) continue;
    if (manual_parent(before->op) != manual_parent(now->op))
      return tsr_fail(
          CONSTRAINT,
          "values of sharding group %lld are inside and outside of a manual computation",
          (long long)now->id);
    if (!same_shape(tsr_operand_type(before->op, 0), tsr_operand_type(now->op, 0)))
      return tsr_fail(CONSTRAINT, "values of sharding group %lld have different shapes",
                      (long long)now->id);
  }
  return NULL;
}

// ---- groups joined ----

// The places of ids (`root` of an item) form classes, each with one that leads it. The numbers of
// groups follow the order in which the leaders were met.
typedef struct group_classes {
  int64_t *joined;  // the place that leads, or is nearer to it
  int64_t *met;     // places in the order in which they were met
  bool *known;
  int64_t count, met_count;
} group_classes;

// The place that leads a class; shortens the way for the next time.
static int64_t leader_of(const group_classes *c, int64_t place) {
  while (c->joined[place] != place) {
    c->joined[place] = c->joined[c->joined[place]];
    place = c->joined[place];
  }
  return place;
}

// Gives every item the place of its id. `list` is sorted by group. Gives their count.
static int64_t number_ids(const tsr_group_list *list) {
  int64_t count = 0;
  for (int64_t i = 0; i < list->count; i++) {
    if (i && list->items[i].id != list->items[i - 1].id) count++;
    list->items[i].root = count;
  }
  return list->count ? count + 1 : 0;
}

// Gives every item the order of the first with its value, and sorts by it.
static void order_by_value(const tsr_group_list *list) {
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_value);
  for (int64_t i = 0; i < list->count; i++) {
    const bool same =
        i && tsr_op_operand(list->items[i].op, 0) == tsr_op_operand(list->items[i - 1].op, 0);
    list->items[i].first = same ? list->items[i - 1].first : list->items[i].order;
  }
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_first);
}

static void join_groups(const tsr_group_list *list, group_classes *c) {
  int64_t canonical = 0;
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_group_op *item = &list->items[i];
    if (!c->known[item->root]) c->met[c->met_count++] = item->root;
    c->known[item->root] = true;
    if (item->first == item->order) canonical = item->root;
    c->joined[leader_of(c, item->root)] = leader_of(c, canonical);
  }
}

// A value is in its group once.
static tsr_status renumber(tsr_ir *ir, const tsr_group_list *list, const group_classes *c) {
  int64_t next = 0;
  int64_t *numbers = calloc((size_t)c->count + 1, sizeof *numbers);
  TSR_NEED(numbers);
  for (int64_t i = 0; i < c->met_count; i++)
    if (leader_of(c, c->met[i]) == c->met[i]) numbers[c->met[i]] = next++;
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < list->count; i++) {
    const tsr_group_op *item = &list->items[i];
    if (item->first != item->order) {
      tsr_op_erase(item->op);
      continue;
    }
    const tsr_attr *id = tsr_attr_i64(ir, numbers[leader_of(c, item->root)]);
    status =
        id ? tsr_op_attr_set(ir, item->op, "group_id", id) : tsr_fail(NO_MEMORY, "sharding groups");
  }
  free(numbers);
  return status;
}

static tsr_status import_groups(tsr_ir *ir, const tsr_group_list *list) {
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_id);
  TSR_TRY(check_groups(list));
  group_classes c = {.count = number_ids(list)};
  c.joined = calloc((size_t)c.count + 1, sizeof *c.joined);
  c.met = calloc((size_t)c.count + 1, sizeof *c.met);
  c.known = calloc((size_t)c.count + 1, sizeof *c.known);
  tsr_status status = NULL;
  if (c.joined && c.met && c.known) {
    for (int64_t i = 0; i < c.count; i++) c.joined[i] = i;
    order_by_value(list);
    join_groups(list, &c);
    status = renumber(ir, list, &c);
  } else {
    status = tsr_fail(NO_MEMORY, "sharding groups");
  }
  free(c.joined);
  free(c.met);
  free(c.known);
  return status;
}

tsr_status tsr_pass_sharding_group_import(tsr_ir *ir, const tsr_pass_options *options,
                                          int64_t *changes) {
  tsr_group_list list = {0};
  (void)options;
  TSR_TRY(tsr_group_list_make(ir, &list));
  tsr_status status = list.count ? import_groups(ir, &list) : NULL;
  *changes += list.count;
  free(list.items);
  return status;
}

// ---- before propagation: members begin with one sharding ----

// Unreduced axes do not count, as in Shardy.
static bool is_open_and_empty(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES)->count ||
        tsr_attr_field(dims->items[i], TSR_SDY_DIM_CLOSED)->integer)
      return false;
  return true;
}

// The sharding that all members have which have one; `conflict` if two differ.
static tsr_status common_sharding(tsr_ir *ir, const tsr_group_op *members, int64_t count,
                                  const tsr_attr **out_common, bool *out_conflict) {
  *out_common = NULL;
  *out_conflict = false;
  for (int64_t i = 0; i < count; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(ir, tsr_op_operand(members[i].op, 0), &sharding));
    if (!sharding || (count > 1 && is_open_and_empty(sharding))) continue;
    if (*out_common && !tsr_attr_equal(*out_common, sharding)) {
      *out_conflict = true;
      break;
    }
    *out_common = sharding;
  }
  return NULL;
}

// Members that differ keep what they have; an open constraint after each is in the group instead.
static tsr_status add_constraint(tsr_ir *ir, tsr_group_op *member, const tsr_attr *sharding) {
  tsr_value *value = tsr_op_operand(member->op, 0);
  const tsr_named_attr attr = {
      tsr_ir_name(ir, "sharding", 8),
      tsr_sharding_bare(ir, tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH),
                        tsr_type_rank(value->type), false)};
  if (!attr.name || !attr.attr) return tsr_fail(NO_MEMORY, "a sharding constraint");
  tsr_op *constraint = tsr_op_like(ir, member->op, TSR_OP_SDY_SHARDING_CONSTRAINT, value, &attr);
  TSR_NEED(constraint);
  tsr_op_insert_after_value(value, constraint);
  tsr_uses_move(value, tsr_op_result(constraint, 0), constraint);
  return NULL;
}

static tsr_status sync_group(tsr_ir *ir, tsr_group_op *members, int64_t count) {
  bool conflict = false;
  const tsr_attr *sharding = NULL;
  TSR_TRY(common_sharding(ir, members, count, &sharding, &conflict));
  for (int64_t i = 0; sharding && i < count; i++) {
    tsr_value *owner = tsr_shardable(tsr_op_operand(members[i].op, 0));
    if (conflict)
      TSR_TRY(add_constraint(ir, &members[i], sharding));
    else if (owner)
      TSR_TRY(tsr_sharding_store(ir, owner, sharding));
  }
  return NULL;
}

tsr_status tsr_groups_sync(tsr_ir *ir, tsr_group_list *list) {
  if (!list->count) return NULL;
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_value);
  for (int64_t i = 1; i < list->count; i++)
    if (tsr_op_operand(list->items[i].op, 0) == tsr_op_operand(list->items[i - 1].op, 0) &&
        list->items[i].id != list->items[i - 1].id)
      return tsr_fail(CONSTRAINT, "a value is in the sharding groups %lld and %lld",
                      (long long)list->items[i - 1].id, (long long)list->items[i].id);
  qsort(list->items, (size_t)list->count, sizeof *list->items, by_id);
  for (int64_t first = 0, end = 0; first < list->count; first = end) {
    while (end < list->count && list->items[end].id == list->items[first].id) end++;
    TSR_TRY(sync_group(ir, &list->items[first], end - first));
  }
  return NULL;
}
