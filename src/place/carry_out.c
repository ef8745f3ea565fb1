// Carries decisions out: tensors in host memory are cut one by one, arrays move together in one
// round. Donated arrays that several leaves share are replaced by aliases first.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/compare.h"
#include "base/sized.h"
#include "place/place.h"
#include "tessera/engine/array.h"

// Writes the report of leaf `index` to the caller's list, whose structs may have another size.
static void write_report(tsr_placement_decision *decision, int64_t index,
                         tsr_place_report *out_reports) {
  if (!out_reports) return;
  assert(decision);
  const size_t size = out_reports->size;
  char *place = (char *)out_reports + (size_t)index * size;
  memcpy(place, &size, sizeof size);
  tsr_sized_fill_as(sizeof decision->report, &decision->report, place);
  decision->report = (tsr_place_report){.outcome = TSR_OUTCOME_PLACED};
}

static tsr_status agree(tsr_comm *comm, const tsr_place_config *how, tsr_compared_leaves *compared,
                        tsr_status found) {
  const tsr_correct_options *correct = &how->correct;
  char moved[TSR_CALL_TEXT / 2];
  if (!comm) return found;
  tsr_call c = tsr_call_begin(comm, how->call);
  tsr_reshard_options_describe(&how->reshard, moved, sizeof moved);
  tsr_call_describe(
      &c, "%s of %lld leaves %s, policy %d%s%s%s%s", how->call, (long long)compared->count, moved,
      (int)how->policy, correct->strict ? ", strict" : "",
      correct->allow_no_mesh ? ", allow_no_mesh" : "",
      correct->keep_group_members ? ", keep_group_members" : "", correct->uneven ? ", uneven" : "");
  c.items = tsr_compared_leaves_items(compared);
  return tsr_call_agree(&c, found);
}

// ---- one ----

static tsr_status place_array(tsr_array *array, tsr_placement_decision *decision,
                              const tsr_place_config *how, tsr_array **out_array) {
  const bool stays = !decision->layout || tsr_layout_same(array->layout, decision->layout);
  if (!stays) return tsr_array_reshard(array, decision->layout, &how->reshard, out_array);
  if (decision->layout) decision->report.outcome = TSR_OUTCOME_SAME;
  *out_array = tsr_array_retain(array);
  return NULL;
}

tsr_status tsr_place_leaf(const tsr_leaf *leaf, tsr_status found, tsr_placement_decision *decision,
                          const tsr_place_config *how, tsr_array **out_array,
                          tsr_place_report *out_report) {
  tsr_compared_leaves compared = {.count = 1, .leaves = leaf, .decisions = decision};
  if (!found) found = tsr_sized_check(tsr_place_report, out_report);
  TSR_TRY(agree(tsr_array_comm(leaf->array), how, &compared, found));
  TSR_TRY(place_array(leaf->array, decision, how, out_array));
  write_report(decision, 0, out_report);
  return NULL;
}

// ---- a tree ----

// A tree under way: a decision and a new leaf for each old one, and the arrays that are to move.
typedef struct tree_placement {
  const tsr_array_tree *tree;
  const tsr_place_config *how;
  tsr_arena arena;  // the lists
  int64_t count;
  tsr_placement_decision *decisions;
  tsr_leaf *leaves;  // borrow all but the arrays made here, which are in `made`
  tsr_array **made;  // owned, by leaf
  int64_t moving;
  tsr_array **from, **to;
  const tsr_layout **layouts;
  int64_t *rows;  // the leaves that move
  int64_t tied_count;
  int64_t *tied;        // positions in `from` of arrays that several leaves have
  tsr_array **aliases;  // owned: what is moved instead of them
} tree_placement;

static void tree_placement_deinit(tree_placement *at) {
  for (int64_t i = 0; at->decisions && i < at->count; i++) tsr_decision_deinit(&at->decisions[i]);
  for (int64_t i = 0; at->made && i < at->count; i++) tsr_array_release(at->made[i]);
  for (int64_t i = 0; at->aliases && i < at->tied_count; i++) tsr_array_release(at->aliases[i]);
  tsr_arena_deinit(&at->arena);
}

static tsr_status tree_placement_init(tree_placement *at) {
  const size_t count = (size_t)at->count + 1;
  at->decisions = tsr_arena_zeros(&at->arena, count, sizeof *at->decisions);
  at->leaves = tsr_arena_zeros(&at->arena, count, sizeof *at->leaves);
  at->made = tsr_arena_zeros(&at->arena, count, sizeof *at->made);
  at->from = tsr_arena_zeros(&at->arena, count, sizeof *at->from);
  at->to = tsr_arena_zeros(&at->arena, count, sizeof *at->to);
  at->layouts = tsr_arena_zeros(&at->arena, count, sizeof *at->layouts);
  at->rows = tsr_arena_zeros(&at->arena, count, sizeof *at->rows);
  if (at->decisions && at->leaves && at->made && at->from && at->to && at->layouts && at->rows)
    return NULL;
  return tsr_fail(NO_MEMORY, "placing of %zu arrays", count - 1);
}

static void become_array(tree_placement *at, int64_t index, tsr_array *array) {
  at->made[index] = array;
  at->leaves[index] =
      (tsr_leaf){.tensor = at->leaves[index].tensor, .kind = TSR_LEAF_ARRAY, .array = array};
}

static tsr_status place_host(tree_placement *at, int64_t index) {
  const tsr_leaf *leaf = &at->leaves[index];
  tsr_array *array = NULL;
  TSR_TRY(tsr_array_shard(at->how->comm, at->decisions[index].layout, leaf->tensor.dtype,
                          leaf->data, NULL, &array));
  become_array(at, index, array);
  return NULL;
}

// Cuts a tensor in host memory; records an array that moves.
static tsr_status prepare(tree_placement *at, int64_t index) {
  tsr_placement_decision *decision = &at->decisions[index];
  const tsr_leaf *leaf = &at->leaves[index];
  if (!decision->layout) return NULL;
  if (leaf->kind == TSR_LEAF_HOST) return place_host(at, index);
  if (tsr_layout_same(leaf->array->layout, decision->layout)) {
    decision->report.outcome = TSR_OUTCOME_SAME;
    return NULL;
  }
  at->rows[at->moving] = index;
  at->from[at->moving] = leaf->array;
  at->layouts[at->moving++] = decision->layout;
  return NULL;
}

// Whether a leaf can be placed; the report says why not.
static bool can_be_placed(const tsr_leaf *leaf, const tsr_place_config *how,
                          tsr_placement_decision *decision) {
  if (leaf->kind == TSR_LEAF_SHAPE) decision->report.outcome = TSR_OUTCOME_NO_DATA;
  if (leaf->kind == TSR_LEAF_HOST && !how->comm) decision->report.outcome = TSR_OUTCOME_ON_HOST;
  return leaf->kind == TSR_LEAF_ARRAY || (leaf->kind == TSR_LEAF_HOST && how->comm);
}

static tsr_status decide_all(tree_placement *at, tsr_decide_fn *decide, const void *question) {
  for (int64_t i = 0; i < at->count; i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(at->tree, i);
    at->leaves[i] = *leaf;
    if (can_be_placed(leaf, at->how, &at->decisions[i]))
      TSR_TRY_NOTE(decide(question, i, leaf, at->how, &at->decisions[i]), "leaf \"%s\"",
                   leaf->tensor.path);
  }
  for (int64_t i = 0; i < at->count; i++)
    TSR_TRY_NOTE(prepare(at, i), "leaf \"%s\"", at->leaves[i].tensor.path);
  return NULL;
}

static tsr_status move_all(tree_placement *at) {
  if (!at->moving) return NULL;
  TSR_TRY(tsr_array_reshard_all(at->from, at->layouts, at->moving, &at->how->reshard, at->to));
  for (int64_t i = 0; i < at->moving; i++) become_array(at, at->rows[i], at->to[i]);
  return NULL;
}

// ---- tied arrays ----

// Finds the moving arrays that several leaves have.
static tsr_status find_tied(tree_placement *at) {
  tsr_array **arrays = tsr_arena_zeros(&at->arena, (size_t)at->count + 1, sizeof *arrays);
  int64_t *tied = tsr_arena_zeros(&at->arena, (size_t)at->moving + 1, sizeof *tied);
  size_t count = 0, repeated = 0;
  if (!arrays || !tied) return tsr_fail(NO_MEMORY, "%lld arrays", (long long)at->count);
  for (int64_t i = 0; i < at->count; i++)
    if (at->leaves[i].array && !at->made[i]) arrays[count++] = at->leaves[i].array;
  qsort(arrays, count, sizeof *arrays, tsr_compare_pointers);
  for (size_t i = 1; i < count; i++)
    if (arrays[i] == arrays[i - 1] && (!repeated || arrays[repeated - 1] != arrays[i]))
      arrays[repeated++] = arrays[i];
  for (int64_t i = 0; i < at->moving && repeated; i++)
    if (bsearch(&at->from[i], arrays, repeated, sizeof *arrays, tsr_compare_pointers))
      tied[at->tied_count++] = i;
  at->tied = tied;
  return NULL;
}

// Ranks must agree on which moving arrays are tied, since these are moved twice.
static tsr_status agree_on_tied(const tree_placement *at, tsr_status found) {
  tsr_comm *comm = tsr_array_tree_comm(at->tree, NULL);
  if (!comm) return found;
  tsr_call c = tsr_call_begin(comm, at->how->call);
  for (int64_t i = 0; !found && i < at->tied_count; i++)
    tsr_call_hash(&c, &at->rows[at->tied[i]], sizeof *at->rows);
  tsr_call_describe(&c, "%s, where %lld of %lld arrays that move are those of several leaves",
                    at->how->call, (long long)at->tied_count, (long long)at->moving);
  return tsr_call_agree(&c, found);
}

// Donating an array takes it from every leaf that has it, also from those that stay or move later.
// So a tied one is replaced by another array of the same memory, which may be donated instead.
static tsr_status untie(tree_placement *at) {
  const size_t count = (size_t)at->tied_count;
  tsr_array **from = tsr_arena_zeros(&at->arena, count, sizeof *from);
  const tsr_layout **layouts = tsr_arena_zeros(&at->arena, count, sizeof *layouts);
  at->aliases = tsr_arena_zeros(&at->arena, count, sizeof *at->aliases);
  tsr_status status =
      from && layouts && at->aliases ? NULL : tsr_fail(NO_MEMORY, "%zu arrays", count);
  for (size_t i = 0; !status && i < count; i++) {
    from[i] = at->from[at->tied[i]];
    layouts[i] = tsr_array_layout(from[i]);
  }
  status = tsr_array_agree(tsr_array_comm(at->from[at->tied[0]]), "place", status);
  if (!status) status = tsr_array_reshard_all(from, layouts, at->tied_count, NULL, at->aliases);
  if (status) return status;
  assert(at->aliases);
  for (size_t i = 0; i < count; i++) at->from[at->tied[i]] = at->aliases[i];
  return NULL;
}

static tsr_status donate_all(tree_placement *at) {
  TSR_TRY(agree_on_tied(at, find_tied(at)));
  if (at->tied_count) TSR_TRY(untie(at));
  return move_all(at);
}

tsr_status tsr_place_tree(const tsr_array_tree *tree, tsr_status found, tsr_decide_fn *decide,
                          const void *question, const tsr_place_config *how,
                          tsr_array_tree **out_tree, tsr_place_report *out_reports) {
  tsr_compared_leaves compared = tsr_compared_leaves_of(tree);
  tree_placement at = {.tree = tree, .how = how, .count = compared.count};
  // All leaves are decided before any moves, so a failure leaves no tree half placed.
  if (!found && compared.count) found = tsr_sized_check(tsr_place_report, out_reports);
  if (!found) found = tree_placement_init(&at);
  if (!found) found = decide_all(&at, decide, question);
  compared.decisions = at.decisions;
  tsr_status status = agree(tsr_array_tree_comm(tree, how->comm), how, &compared, found);
  if (!status) status = how->reshard.donate ? donate_all(&at) : move_all(&at);
  if (!status) status = tsr_array_tree_create(at.leaves, at.count, out_tree);
  for (int64_t i = 0; !status && out_reports && i < at.count; i++)
    write_report(&at.decisions[i], i, out_reports);
  tree_placement_deinit(&at);
  return status;
}
