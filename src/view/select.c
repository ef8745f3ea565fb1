// Patterns are those of rules, and searched for in the same way.
#include "view/select.h"

#include <stdlib.h>

#include "base/room.h"
#include "element/dtype_internal.h"
#include "map/map.h"
#include "plan/patterns.h"
#include "plan/quantised.h"
#include "store/checkpoint.h"

// The first pattern that matches each view, or -1.
static tsr_status match_all(const tsr_views *views, const char *const *patterns, int64_t count,
                            const char *what, int64_t *out_found) {
  const char **names = malloc(sizeof *names * (size_t)(views->count + 1));
  if (!names) return tsr_fail(NO_MEMORY, "a list of %lld names", (long long)views->count);
  for (int64_t i = 0; i < views->count; i++) names[i] = views->items[i]->name;
  tsr_status status = tsr_patterns_match(patterns, count, what, names, views->count, out_found);
  free(names);
  return status;
}

// Keeps the views that a pattern matches, or those that none does.
static tsr_status keep(tsr_views *views, const char *const *patterns, int64_t count, bool matching,
                       int64_t *found) {
  int64_t kept = 0;
  if (count == 0) return NULL;
  TSR_TRY(match_all(views, patterns, count, matching ? "include" : "exclude", found));
  for (int64_t i = 0; i < views->count; i++) {
    if ((found[i] >= 0) == matching)
      views->items[kept++] = views->items[i];
    else
      tsr_view_destroy(views->items[i]);
  }
  views->count = kept;
  return kept ? NULL : tsr_fail(NOT_FOUND, "no tensor is left after leaving out what was excluded");
}

// ---- casts ----

// What tensors are, where some are cast.
typedef struct casting {
  const tsr_tree *tree;  // of the source, or own
  tsr_tree *own;         // owned: of the views; NULL = they have a source
  tsr_quantised *items;  // owned: of each tensor of the tree; NULL = nobody asks
  tsr_overflowing overflowing;
} casting;

static tsr_status start_casting(casting *c, const tsr_views *views, const tsr_tree *source,
                                const tsr_selection *selection) {
  const bool casts = selection->dtype || selection->cast_count;
  *c = (casting){
      .tree = source,
      .overflowing = selection->allow_overflow ? TSR_OVERFLOW_COUNTED : TSR_OVERFLOW_REFUSED};
  if (!casts || selection->no_companions) return NULL;
  if (!source) TSR_TRY(tsr_views_tree(views, &c->own));
  if (!source) c->tree = c->own;
  return tsr_quantised_find(c->tree, &c->items);
}

static void end_casting(casting *c) {
  tsr_tree_release(c->own);
  free(c->items);
}

static bool holds_all(tsr_dtype wide, tsr_dtype narrow) {
  return (wide == TSR_F32 && (narrow == TSR_F16 || narrow == TSR_BF16)) ||
         (wide == TSR_F64 && (narrow == TSR_F16 || narrow == TSR_BF16 || narrow == TSR_F32));
}

// Codes are not what they stand for, and a rounded scale is wrong for all that is counted in it.
static tsr_status check_quantised(const casting *c, const tsr_view *view, tsr_dtype dtype) {
  bool same = false;
  const int64_t at = c->own ? tsr_tree_find(c->own, view->name) : tsr_view_origin(view, &same);
  if (!c->items || at < 0 || view->dtype == dtype) return NULL;
  const tsr_quantised *is = &c->items[at];
  const char *name = tsr_tree_at(c->tree, at)->path;
  const char *with = is->kind ? tsr_tree_at(c->tree, is->with)->path : NULL;
  const char *from = tsr_dtype_name(view->dtype, TSR_NAMES_OWN);
  const char *to = tsr_dtype_name(dtype, TSR_NAMES_OWN);
  if (is->kind == TSR_QUANTISED_CODES)
    return tsr_fail(QUANTISED,
                    "tensor \"%s\" holds quantised values of type %s, which need their scales in "
                    "\"%s\": a cast to %s would make numbers without scales; cast only tensors "
                    "that are not quantised, by patterns",
                    name, from, with, to);
  if (is->kind == TSR_QUANTISED_NOT || holds_all(dtype, view->dtype)) return NULL;
  return tsr_fail(
      QUANTISED,
      "tensor \"%s\" holds scales or zero points of%s%s%s: a cast from %s to %s would round "
      "them; cast only tensors that are not quantised, by patterns",
      name, is->with == at ? " its layer" : " \"", is->with == at ? "" : with,
      is->with == at ? "" : "\"", from, to);
}

// Weights are mostly smaller than 1, so that as whole numbers they would be nothing.
static tsr_status cast(const casting *c, tsr_view **view, tsr_dtype dtype) {
  tsr_view *inner = *view;
  if (!dtype || tsr_dtype_info_of(inner->dtype)->kind != TSR_CLASS_FLOAT) return NULL;
  if (tsr_dtype_info_of(dtype)->kind < TSR_CLASS_FLOAT)
    return tsr_fail(BAD_ARGUMENT,
                    "tensor \"%s\": a cast from %s to %s would lose all fractions, wanted a "
                    "floating point type, as bf16",
                    inner->name, tsr_dtype_name(inner->dtype, TSR_NAMES_OWN),
                    tsr_dtype_name(dtype, TSR_NAMES_OWN));
  TSR_TRY(check_quantised(c, inner, dtype));
  *view = NULL;
  return tsr_view_cast(inner, dtype, c->overflowing, view);
}

static tsr_status cast_all(const casting *c, tsr_views *views, const tsr_selection *selection,
                           int64_t *found) {
  const int64_t count = selection->cast_count;
  const char **patterns = calloc((size_t)count + 1, sizeof *patterns);
  if (!patterns) return tsr_fail(NO_MEMORY, "a list of %lld patterns", (long long)count);
  for (int64_t i = 0; i < count; i++) patterns[i] = selection->casts[i].pattern;
  tsr_status status = match_all(views, patterns, count, "cast", found);
  for (int64_t i = 0; i < views->count && !status; i++)
    status = cast(c, &views->items[i],
                  found[i] >= 0 ? selection->casts[found[i]].dtype : selection->dtype);
  free(patterns);
  return status;
}

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

tsr_status tsr_views_select(tsr_views *views, const tsr_tree *source,
                            const tsr_selection *selection) {
  casting c;
  TSR_TRY(tsr_selection_check(selection));
  int64_t *found = malloc(sizeof *found * (size_t)(views->count + 1));
  if (!found) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)views->count);
  tsr_status status = start_casting(&c, views, source, selection);
  if (!status) status = keep(views, selection->include, selection->include_count, true, found);
  if (!status) status = keep(views, selection->exclude, selection->exclude_count, false, found);
  if (!status) status = cast_all(&c, views, selection, found);
  end_casting(&c);
  free(found);
  return status;
}

tsr_status tsr_views_selected(const tsr_checkpoint *source, const tsr_selection *selection,
                              tsr_replicas replicas, tsr_source_hashes *hashes,
                              tsr_views *out_views) {
  const tsr_mapping *map = selection->map;
  tsr_views sources = {0};
  if (map) TSR_TRY(tsr_mapping_check_source(map, source));
  if (map) TSR_TRY(tsr_mapping_check(map, selection->no_companions));
  TSR_TRY(tsr_views_of(source, replicas, &sources));
  for (int64_t i = 0; i < sources.count && hashes; i++)
    tsr_view_set_hashes(sources.items[i], hashes);
  if (!map)
    *out_views = sources;
  else
    TSR_TRY(tsr_views_map(&sources, map, out_views));
  return tsr_views_select(out_views, source->tree, selection);
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
