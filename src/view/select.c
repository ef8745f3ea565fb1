// A selection is decided on names and types alone, by numbers of tensors in a tree, so that a plan
// can be made for its result before there are views. Views are then dropped and cast by it.
#include "view/select.h"

#include <stdlib.h>

#include "base/room.h"
#include "element/dtype_internal.h"
#include "map/map.h"
#include "map/map_internal.h"
#include "plan/patterns.h"
#include "plan/plan_internal.h"
#include "plan/quantised.h"
#include "plan/tree_internal.h"
#include "store/checkpoint.h"

// What a selection takes of a tree.
typedef struct chosen_tensors {
  int64_t count;
  int64_t *tensors;   // owned: numbers in the tree, ascending
  tsr_dtype *dtypes;  // owned: what each becomes
} chosen_tensors;

static void deinit_chosen(chosen_tensors *chosen) {
  free(chosen->tensors);
  free(chosen->dtypes);
}

// ---- casts ----

static bool holds_all(tsr_dtype wide, tsr_dtype narrow) {
  return (wide == TSR_F32 && (narrow == TSR_F16 || narrow == TSR_BF16)) ||
         (wide == TSR_F64 && (narrow == TSR_F16 || narrow == TSR_BF16 || narrow == TSR_F32));
}

// What a cast must not separate: quantised values and their scales, in the tensors that the chosen
// ones are made of.
typedef struct quantised_source {
  const tsr_mapping *map;
  const tsr_tree *tree;
  tsr_quantised *items;  // owned: of each tensor of the tree; NULL = every cast is allowed
} quantised_source;

// The first stored tensor that a tensor of the selection's tree is made of; -1 = none.
static int64_t origin_of(const quantised_source *q, int64_t tensor) {
  if (!q->map) return tensor;
  const tsr_mapped *mapped = tsr_mapping_tensor(q->map, tensor);
  return mapped->piece_count && mapped->pieces[0].source >= 0 ? mapped->pieces[0].source : -1;
}

// Codes are not the values they stand for, and a rounded scale is wrong for all values it scales.
static tsr_status check_quantised(const quantised_source *q, int64_t tensor, tsr_dtype before,
                                  tsr_dtype after) {
  const int64_t at = origin_of(q, tensor);
  if (!q->items || at < 0 || before == after) return NULL;
  const tsr_quantised *is = &q->items[at];
  const char *name = tsr_tree_at(q->tree, at)->path;
  const char *with = is->kind ? tsr_tree_at(q->tree, is->with)->path : NULL;
  const char *from = tsr_dtype_name(before, TSR_NAMES_OWN);
  const char *to = tsr_dtype_name(after, TSR_NAMES_OWN);
  if (is->kind == TSR_QUANTISED_CODES)
    return tsr_fail(QUANTISED,
                    "tensor \"%s\" holds quantised values of type %s, which need their scales in "
                    "\"%s\": a cast to %s would make numbers without scales; cast only tensors "
                    "that are not quantised, by patterns",
                    name, from, with, to);
  if (is->kind == TSR_QUANTISED_NOT || holds_all(after, before)) return NULL;
  return tsr_fail(
      QUANTISED,
      "tensor \"%s\" holds scales or zero points of%s%s%s: a cast from %s to %s would round "
      "them; cast only tensors that are not quantised, by patterns",
      name, is->with == at ? " its layer" : " \"", is->with == at ? "" : with,
      is->with == at ? "" : "\"", from, to);
}

// Only floats are cast. Weights are mostly smaller than 1: as integers they would be 0.
static tsr_status choose_dtype(const quantised_source *q, const tsr_tensor *t, int64_t tensor,
                               tsr_dtype wanted, tsr_dtype *out_dtype) {
  *out_dtype = t->dtype;
  if (!wanted || tsr_dtype_info_of(t->dtype)->kind != TSR_CLASS_FLOAT) return NULL;
  if (tsr_dtype_info_of(wanted)->kind < TSR_CLASS_FLOAT)
    return tsr_fail(BAD_ARGUMENT,
                    "tensor \"%s\": a cast from %s to %s would lose all fractions, wanted a "
                    "floating point type, as bf16",
                    t->path, tsr_dtype_name(t->dtype, TSR_NAMES_OWN),
                    tsr_dtype_name(wanted, TSR_NAMES_OWN));
  *out_dtype = wanted;
  return check_quantised(q, tensor, t->dtype, wanted);
}

// The cast that matches each chosen tensor first, or -1.
static tsr_status match_casts(const tsr_tree *tree, const chosen_tensors *chosen,
                              const tsr_selection *selection, int64_t *out_found) {
  const char **patterns = malloc(sizeof *patterns * (size_t)(selection->cast_count + 1));
  const char **names = malloc(sizeof *names * (size_t)(chosen->count + 1));
  tsr_status status = patterns && names ? NULL : tsr_fail(NO_MEMORY, "a list of names");
  for (int64_t i = 0; i < selection->cast_count && !status; i++)
    patterns[i] = selection->casts[i].pattern;
  for (int64_t i = 0; i < chosen->count && !status; i++)
    names[i] = tsr_tree_at(tree, chosen->tensors[i])->path;
  if (!status)
    status = tsr_patterns_match(patterns, selection->cast_count, "cast", names, chosen->count,
                                out_found);
  free(patterns);
  free(names);
  return status;
}

static tsr_status choose_dtypes(const tsr_tree *tree, const quantised_source *q,
                                const tsr_selection *selection, const int64_t *found,
                                chosen_tensors *chosen) {
  for (int64_t i = 0; i < chosen->count; i++) {
    const int64_t tensor = chosen->tensors[i];
    const tsr_dtype wanted = found[i] >= 0 ? selection->casts[found[i]].dtype : selection->dtype;
    TSR_TRY(choose_dtype(q, tsr_tree_at(tree, tensor), tensor, wanted, &chosen->dtypes[i]));
  }
  return NULL;
}

static tsr_status choose_casts(const tsr_tree *tree, const tsr_selection *selection,
                               chosen_tensors *chosen) {
  quantised_source q = {.map = selection->map, .tree = tree};
  if (q.map) q.tree = tsr_mapping_source(q.map);
  int64_t *found = malloc(sizeof *found * (size_t)(chosen->count + 1));
  chosen->dtypes = malloc(sizeof *chosen->dtypes * (size_t)(chosen->count + 1));
  tsr_status status = found && chosen->dtypes
                          ? match_casts(tree, chosen, selection, found)
                          : tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)chosen->count);
  if (!status && (selection->dtype || selection->cast_count) && !selection->no_companions)
    status = tsr_quantised_find(q.tree, &q.items);
  if (!status) status = choose_dtypes(tree, &q, selection, found, chosen);
  free(q.items);
  free(found);
  return status;
}

// ---- checks ----

static tsr_status check_patterns(const char *const *patterns, int64_t count, const char *what) {
  TSR_TRY(tsr_list_check(patterns, count, what));
  for (int64_t i = 0; i < count; i++)
    if (!patterns[i])
      return tsr_fail(BAD_ARGUMENT, "number %lld of the %s is NULL", (long long)i, what);
  return NULL;
}

tsr_status tsr_selection_check_lists(const tsr_selection *selection) {
  TSR_TRY(check_patterns(selection->include, selection->include_count, "patterns to include"));
  TSR_TRY(check_patterns(selection->exclude, selection->exclude_count, "patterns to exclude"));
  TSR_TRY(tsr_list_check(selection->casts, selection->cast_count, "casts"));
  for (int64_t i = 0; i < selection->cast_count; i++)
    if (!selection->casts[i].pattern)
      return tsr_fail(BAD_ARGUMENT, "cast %lld has no pattern", (long long)i);
  return NULL;
}

tsr_status tsr_selection_check(const tsr_selection *selection) {
  TSR_TRY(tsr_selection_check_lists(selection));
  TSR_TRY(tsr_dtype_check_wanted(selection->dtype));
  for (int64_t i = 0; i < selection->cast_count; i++)
    TSR_TRY_NOTE(tsr_dtype_check_wanted(selection->casts[i].dtype), "cast %lld", (long long)i);
  return NULL;
}

// ---- selecting ----

// Deinit also after a failure.
static tsr_status choose(const tsr_tree *tree, const tsr_selection *selection,
                         chosen_tensors *chosen) {
  const tsr_tree_filter filter = {selection->include, selection->exclude, selection->include_count,
                                  selection->exclude_count};
  *chosen = (chosen_tensors){0};
  TSR_TRY(tsr_selection_check(selection));
  TSR_TRY(tsr_tree_select(tree, &filter, &chosen->tensors, &chosen->count));
  return choose_casts(tree, selection, chosen);
}

tsr_status tsr_views_select(tsr_views *views, const tsr_tree *tree,
                            const tsr_selection *selection) {
  chosen_tensors chosen;
  tsr_tree *made = NULL;
  int64_t kept = 0;
  if (!tree) TSR_TRY(tsr_views_tree(views, &made));
  tsr_status status = choose(tree ? tree : made, selection, &chosen);
  for (int64_t i = 0; i < views->count && !status; i++) {
    tsr_view *view = views->items[i];
    views->items[i] = NULL;
    if (kept < chosen.count && chosen.tensors[kept] == i) {
      status =
          tsr_view_cast(view, chosen.dtypes[kept], selection->allow_overflow, &views->items[kept]);
      kept++;
    } else {
      tsr_view_destroy(view);
    }
  }
  if (!status) views->count = kept;
  tsr_tree_release(made);
  deinit_chosen(&chosen);
  return status;
}

// The tensors that a selection chooses among, or makes by its map.
static tsr_status find_tree(const tsr_checkpoint *source, const tsr_selection *selection,
                            const tsr_tree **out_tree) {
  *out_tree = selection->map ? tsr_mapping_tree(selection->map) : source->tree;
  if (!selection->map) return NULL;
  TSR_TRY(tsr_mapping_check_source(selection->map, source));
  return tsr_mapping_check(selection->map, selection->no_companions);
}

tsr_status tsr_views_selected(const tsr_checkpoint *source, const tsr_selection *selection,
                              tsr_replicas replicas, tsr_source_hashes *hashes,
                              tsr_views *out_views) {
  const tsr_tree *tree = NULL;
  tsr_views sources = {0};
  TSR_TRY(find_tree(source, selection, &tree));
  TSR_TRY(tsr_views_of(source, replicas, &sources));
  for (int64_t i = 0; i < sources.count && hashes; i++)
    tsr_view_set_hashes(sources.items[i], hashes);
  if (!selection->map)
    *out_views = sources;
  else
    TSR_TRY(tsr_views_map(&sources, selection->map, out_views));
  return tsr_views_select(out_views, tree, selection);
}

tsr_status tsr_selection_tree(const tsr_checkpoint *source, const tsr_selection *selection,
                              tsr_tree **out_tree) {
  const tsr_tree *tree = NULL;
  chosen_tensors chosen;
  TSR_TRY(find_tree(source, selection, &tree));
  tsr_status status = choose(tree, selection, &chosen);
  tsr_tensor *tensors = calloc((size_t)chosen.count + 1, sizeof *tensors);
  if (!status && !tensors)
    status = tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)chosen.count);
  for (int64_t i = 0; i < chosen.count && !status; i++) {
    const tsr_tensor *t = tsr_tree_at(tree, chosen.tensors[i]);
    tensors[i] =
        (tsr_tensor){.path = t->path, .dtype = chosen.dtypes[i], .rank = t->rank, .dims = t->dims};
  }
  if (!status) status = tsr_tree_create(tensors, chosen.count, out_tree);
  free(tensors);
  deinit_chosen(&chosen);
  return status;
}

tsr_status tsr_views_tree(const tsr_views *views, tsr_tree **out_tree) {
  tsr_tensor *tensors = calloc((size_t)views->count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)views->count);
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    tensors[i] = (tsr_tensor){.path = view->name,
                              .dtype = view->dtype,
                              .rank = view->shape.rank,
                              .dims = view->shape.dims};
  }
  tsr_status status = tsr_tree_create(tensors, views->count, out_tree);
  free(tensors);
  return status;
}

tsr_status tsr_views_plan(const tsr_views *views, const tsr_plan *plan, tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_views_tree(views, &tree));
  tsr_status status = tsr_plan_for_tree(plan, tree, out_plan);
  tsr_tree_release(tree);
  return status;
}
