// Reshards of reshards, and reshards that an earlier one has done already, maybe of another shape.
#include <stdlib.h>

#include "collective/axis_strides.h"
#include "collective/canonical_rules.h"
#include "collective/collective_build.h"
#include "collective/first_reshards.h"
#include "ir/intern.h"
#include "propagate/edits.h"
#include "tessera/engine/hash.h"
#include "verify/sdy_checks.h"

tsr_status tsr_rule_reshard_of_reshard(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const tsr_op *inner = tsr_op_operand(op, 0)->def;
  if (!tsr_op_is(inner, TSR_OP_SDY_RESHARD) || !tsr_value_has_one_use(tsr_op_result(inner, 0)))
    return NULL;
  const tsr_named_attr sharding = {tsr_ir_name(ir, "sharding", 8), tsr_op_attr(op, "sharding")};
  TSR_NEED(sharding.name);
  tsr_op *made = tsr_op_like(ir, op, TSR_OP_SDY_RESHARD, tsr_op_operand(inner, 0), &sharding);
  TSR_NEED(made);
  TSR_TRY(tsr_greedy_insert(g, op, made));
  tsr_value *value = tsr_op_result(made, 0);
  *out_changed = true;
  return tsr_greedy_replace(g, op, &value);
}

// ---- where axes cut the elements in a row ----

// Strides of a sharding and a type are computed once: many reshards have the same.
typedef struct known_strides {
  const tsr_attr *sharding;
  const tsr_type *type;
  tsr_axis_strides strides;
} known_strides;

static bool are_known(const void *item, const void *wanted) {
  const known_strides *a = item, *b = wanted;
  return a->sharding == b->sharding && a->type == b->type;
}

static tsr_status find_strides(tsr_greedy *g, const tsr_attr *mesh, const tsr_attr *sharding,
                               const tsr_type *type, const tsr_axis_strides **out_strides) {
  tsr_arena *arena = NULL;
  tsr_intern_table *memory = tsr_greedy_memory(g, TSR_GREEDY_STRIDES, &arena);
  const known_strides wanted = {.sharding = sharding, .type = type};
  const void *const key[] = {sharding, type};
  const uint64_t hash = tsr_hash64(key, sizeof key, 0);
  const known_strides *found = tsr_intern_find(memory, hash, are_known, &wanted);
  if (!found) {
    tsr_tensor_sharding *read = NULL;
    known_strides *made = tsr_arena_zeros(arena, 1, sizeof *made);
    TSR_NEED(made);
    *made = wanted;
    TSR_TRY(tsr_sharding_read(tsr_greedy_arena(g), mesh, sharding, &read));
    TSR_TRY(tsr_axis_strides_make(arena, read, type, false, &made->strides));
    TSR_NEED(tsr_intern_add(memory, hash, made));
    found = made;
  }
  *out_strides = &found->strides;
  return NULL;
}

// ---- the search ----

// What a reshard asks for, as a sharding of the value that its operand is a view of.
typedef struct reshard_wish {
  tsr_op *op;
  tsr_value *root;
  const tsr_attr *sharding, *mesh;
  const tsr_axis_strides *strides;
} reshard_wish;

static bool is_view(const tsr_op *op) {
  return tsr_op_is(op, TSR_OP_RESHAPE) || tsr_op_is(op, TSR_OP_TRANSPOSE);
}

static bool is_plain_shape(const tsr_type *type) {
  return type->kind == TSR_TYPE_TENSOR && tsr_type_is_static(type) && !type->encoding;
}

// The sharding in front of a transpose. NULL without memory.
static const tsr_attr *before_transpose(tsr_ir *ir, const tsr_attr *sharding, const tsr_op *op) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  const tsr_attr *order = tsr_op_attr(op, "permutation");
  const tsr_attr **moved = tsr_ir_alloc(ir, ((size_t)dims->count + 1) * sizeof *moved);
  const tsr_attr *sum = tsr_attr_enum(ir, TSR_ENUM_SDY_REDUCTION, TSR_SDY_REDUCTION_SUM);
  if (!moved || !sum) return NULL;
  for (int64_t i = 0; i < dims->count; i++) moved[tsr_attr_int_at(order, i)] = dims->items[i];
  const tsr_attr *made = tsr_sharding_with(ir, sharding, TSR_SDY_SHARDING_DIMS,
                                           tsr_attr_array(ir, moved, dims->count));
  return made ? tsr_sharding_with(ir, made, TSR_SDY_SHARDING_REDUCTION, sum) : NULL;
}

static tsr_status root_sharding(tsr_ir *ir, const tsr_op *reshard, const tsr_attr **out_sharding) {
  const tsr_attr *sharding = tsr_op_attr(reshard, "sharding");
  for (const tsr_op *op = tsr_op_operand(reshard, 0)->def; is_view(op);
       op = tsr_op_operand(op, 0)->def) {
    if (tsr_op_is(op, TSR_OP_TRANSPOSE)) {
      sharding = before_transpose(ir, sharding, op);
      TSR_NEED(sharding);
    } else if (tsr_type_rank(tsr_operand_type(op, 0)) != tsr_type_rank(op->results[0].type)) {
      break;
    }
  }
  *out_sharding = sharding;
  return NULL;
}

static tsr_status fits(tsr_greedy *g, const reshard_wish *wish, const tsr_op *other,
                       bool *out_fits) {
  const tsr_attr *sharding = tsr_op_attr(other, "sharding");
  const tsr_type *type = tsr_op_result(other, 0)->type;
  const tsr_axis_strides *strides = NULL;
  *out_fits = type == tsr_op_result(wish->op, 0)->type && tsr_attr_equal(sharding, wish->sharding);
  if (*out_fits || !wish->mesh || !is_plain_shape(type)) return NULL;
  if (!tsr_attr_equal(sharding->items[TSR_SDY_SHARDING_MESH],
                      wish->sharding->items[TSR_SDY_SHARDING_MESH]) ||
      !tsr_attr_equal(sharding->items[TSR_SDY_SHARDING_REPLICATED],
                      wish->sharding->items[TSR_SDY_SHARDING_REPLICATED]))
    return NULL;
  TSR_TRY(find_strides(g, wish->mesh, sharding, type, &strides));
  *out_fits = tsr_axis_strides_equal(strides, wish->strides);
  return NULL;
}

// The reshard that fits, of those that are first of their kind; `out_many` = several do, and the
// order of uses decides.
static tsr_status choose_first(tsr_greedy *g, const reshard_wish *wish,
                               const tsr_first_reshards *firsts, tsr_value **out_found,
                               bool *out_many) {
  for (int64_t i = 0; i < firsts->count; i++) {
    tsr_op *other = firsts->items[i];
    bool same = false;
    if (other == wish->op || !tsr_greedy_is_before(g, other, wish->op)) continue;
    TSR_TRY(fits(g, wish, other, &same));
    if (!same) continue;
    *out_many = *out_found != NULL;
    if (*out_many) break;
    *out_found = tsr_op_result(other, 0);
  }
  if (*out_many) *out_found = NULL;
  return NULL;
}

// Looks at the uses of a value: gives a reshard that fits, and adds reshapes to the list.
static tsr_status look_at(tsr_greedy *g, const reshard_wish *wish, const tsr_value *value,
                          tsr_value ***list, int64_t *count, tsr_value **out_found) {
  tsr_first_reshards firsts;
  bool known = false, many = false;
  TSR_TRY(tsr_first_reshards_of(g, value, wish->op, &known, &firsts));
  if (known) TSR_TRY(choose_first(g, wish, &firsts, out_found, &many));
  if (known && !many) return NULL;
  for (const tsr_use *use = value->uses; use; use = use->next) {
    tsr_op *user = use->user;
    bool same = false;
    if (user == wish->op) continue;
    if (tsr_op_is(user, TSR_OP_SDY_RESHARD)) {
      if (user->block != wish->op->block || !tsr_greedy_is_before(g, user, wish->op)) continue;
      TSR_TRY(fits(g, wish, user, &same));
      if (!same) continue;
      *out_found = tsr_op_result(user, 0);
      return NULL;
    }
    if (!tsr_op_is(user, TSR_OP_RESHAPE)) continue;
    tsr_value **grown = tsr_arena_grow(tsr_greedy_arena(g), *list, *count, sizeof *grown);
    TSR_NEED(grown);
    *list = grown;
    (*list)[(*count)++] = tsr_op_result(user, 0);
  }
  return NULL;
}

static tsr_status find_reshard(tsr_greedy *g, const reshard_wish *wish, tsr_value **out_found) {
  tsr_value **list = NULL;
  int64_t count = 0;
  *out_found = NULL;
  TSR_TRY(look_at(g, wish, wish->root, &list, &count, out_found));
  while (count && !*out_found) {
    const tsr_value *value = list[--count];
    TSR_TRY(look_at(g, wish, value, &list, &count, out_found));
  }
  return NULL;
}

// ---- sharing ----

static tsr_status insert_after(tsr_greedy *g, tsr_value *value, tsr_op *op) {
  TSR_NEED(op);
  tsr_op_insert_after_value(value, op);
  return tsr_greedy_push(g, op);
}

// Copies the views between the root and the operand of a reshard; `*value` is the root at first and
// the copy of the operand at the end.
static tsr_status copy_views(tsr_greedy *g, const reshard_wish *wish, tsr_value **value) {
  int64_t count = 0;
  const tsr_value *at = tsr_op_operand(wish->op, 0);
  for (; at != wish->root; at = tsr_op_operand(at->def, 0)) count++;
  const tsr_op **views = tsr_arena_zeros(tsr_greedy_arena(g), (size_t)count + 1, sizeof *views);
  TSR_NEED(views);
  at = tsr_op_operand(wish->op, 0);
  for (int64_t i = count; i-- > 0; at = tsr_op_operand(at->def, 0)) views[i] = at->def;
  for (int64_t i = 0; i < count; i++) {
    tsr_value_map *map = tsr_value_map_create();
    const bool mapped = map && tsr_value_map_add(map, tsr_op_operand(views[i], 0), *value);
    tsr_op *copy = mapped ? tsr_op_clone(tsr_greedy_ir(g), views[i], map) : NULL;
    tsr_value_map_destroy(map);
    TSR_TRY(insert_after(g, *value, copy));
    *value = tsr_op_result(copy, 0);
  }
  return NULL;
}

static tsr_status share(tsr_greedy *g, const reshard_wish *wish, tsr_value *value) {
  if (value->type != wish->root->type) {
    const tsr_op_parts parts = {.id = TSR_OP_RESHAPE,
                                .operand_count = 1,
                                .operands = &value,
                                .result_count = 1,
                                .result_types = &wish->root->type,
                                .location = wish->op->location};
    tsr_op *reshape = tsr_op_create(tsr_greedy_ir(g), &parts);
    TSR_TRY(insert_after(g, value, reshape));
    value = tsr_op_result(reshape, 0);
  }
  TSR_TRY(copy_views(g, wish, &value));
  return tsr_greedy_replace(g, wish->op, &value);
}

tsr_status tsr_rule_reshard_shared(tsr_greedy *g, tsr_op *op, bool *out_changed) {
  tsr_ir *ir = tsr_greedy_ir(g);
  const tsr_type *type = tsr_op_result(op, 0)->type;
  reshard_wish wish = {.op = op, .root = tsr_op_operand(op, 0)};
  tsr_value *found = NULL;
  while (is_view(wish.root->def)) wish.root = tsr_op_operand(wish.root->def, 0);
  if (tsr_value_has_one_use(tsr_op_operand(op, 0)) && wish.root == tsr_op_operand(op, 0))
    return NULL;  // nobody else reshards it
  TSR_TRY(root_sharding(ir, op, &wish.sharding));
  if (is_plain_shape(type)) wish.mesh = tsr_sdy_mesh_of(ir, op, wish.sharding);
  if (wish.mesh) TSR_TRY(find_strides(g, wish.mesh, wish.sharding, type, &wish.strides));
  TSR_TRY(find_reshard(g, &wish, &found));
  if (!found) return NULL;
  *out_changed = true;
  return share(g, &wish, found);
}
