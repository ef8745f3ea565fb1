// Patterns are those of rules, and searched for in the same way.
#include "checkpoint/select.h"

#include <stdlib.h>

#include "plan/patterns.h"

// The first pattern that matches each view, or -1.
static tsr_status match_all(const tsr_views *views, const char *const *patterns, int count,
                            const char *what, int *out_found) {
  const char **names = malloc(sizeof *names * (size_t)(views->count + 1));
  if (!names) return tsr_fail(NO_MEMORY, "a list of %lld names", (long long)views->count);
  for (int64_t i = 0; i < views->count; i++) names[i] = views->items[i]->name;
  tsr_status status = tsr_patterns_match(patterns, count, what, names, views->count, out_found);
  free(names);
  return status;
}

// Keeps the views that a pattern matches, or those that none does.
static tsr_status keep(tsr_views *views, const char *const *patterns, int count, bool matching,
                       int *found) {
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

// Weights are mostly smaller than 1, so that as whole numbers they would be nothing.
static tsr_status cast(tsr_view **view, tsr_dtype dtype) {
  tsr_view *inner = *view;
  if (!dtype || tsr_dtype_get(inner->dtype)->kind != TSR_CLASS_FLOAT) return NULL;
  if (tsr_dtype_get(dtype)->kind < TSR_CLASS_FLOAT)
    return tsr_fail(BAD_ARGUMENT,
                    "tensor \"%s\": a cast from %s to %s would lose all fractions, wanted a "
                    "floating point type, as bf16",
                    inner->name, tsr_dtype_name(inner->dtype, TSR_NAMES_OWN),
                    tsr_dtype_name(dtype, TSR_NAMES_OWN));
  *view = NULL;
  return tsr_view_cast(inner, dtype, view);
}

static tsr_status cast_all(tsr_views *views, const tsr_transform_options *options, int *found) {
  const int count = options->cast_count;
  const char **patterns = calloc((size_t)count + 1, sizeof *patterns);
  if (!patterns) return tsr_fail(NO_MEMORY, "a list of %d patterns", count);
  for (int i = 0; i < count; i++) patterns[i] = options->casts[i].pattern;
  tsr_status status = match_all(views, patterns, count, "cast", found);
  for (int64_t i = 0; i < views->count && !status; i++)
    status =
        cast(&views->items[i], found[i] >= 0 ? options->casts[found[i]].dtype : options->dtype);
  free(patterns);
  return status;
}

tsr_status tsr_views_select(tsr_views *views, const tsr_transform_options *options) {
  int *found = malloc(sizeof *found * (size_t)(views->count + 1));
  if (!found) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)views->count);
  tsr_status status = keep(views, options->include, options->include_count, true, found);
  if (!status) status = keep(views, options->exclude, options->exclude_count, false, found);
  if (!status) status = cast_all(views, options, found);
  free(found);
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
