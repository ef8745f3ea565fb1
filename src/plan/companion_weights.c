// Companions of a weight (scales, zero points, factors), recognised by how their names end.
#include <stdio.h>
#include <string.h>

#include "element/shape_internal.h"
#include "plan/companions.h"

static const struct {
  const char *end, *axes;
} carriers[] = {
#define CARRIER(end, axes, weight, form) {end, axes},
#include "plan/companions.def"
};

static const struct {
  const char *end, *axes, *base;
  bool along;
} ends[] = {
#define NEEDED(end, axes, base) {end, axes, base, false},
#define ALONG(end, axes, base) {end, axes, base, true},
#include "plan/companions.def"
};

static const char *const numbers[] = {
#define NUMBER(end) end,
#include "plan/companions.def"
};

static const struct {
  const char *end, *base, *why;
} wholes[] = {
#define WHOLE(end, base, why) {end, base, why},
#include "plan/companions.def"
};

// ---- names ----

size_t tsr_companion_stem(const char *path, const char *end) {
  size_t length = strlen(path), own = strlen(end);
  if (own && end[own - 1] == '*') {
    own--;
    while (length && path[length - 1] != '.' && path[length - 1] != '/') length--;
  }
  return length > own && !memcmp(path + length - own, end, own) ? length - own : 0;
}

int64_t tsr_companion_find_beside(const tsr_tree *tree, const char *path, size_t stem,
                                  const char *end) {
  char name[TSR_COMPANION_NAME + 32];
  snprintf(name, sizeof name, "%.*s%s", (int)stem, path, end);
  return tsr_tree_find(tree, name);
}

// ---- kinds ----

static const char *axes_of(const char *base) {
  for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
    if (!strcmp(carriers[i].end, base)) return carriers[i].axes;
  return "oi";
}

static tsr_companion find_whole(const tsr_tree *tree, int64_t index) {
  const char *path = tsr_tree_at(tree, index)->path;
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
    const size_t stem = tsr_companion_stem(path, wholes[i].end);
    const int64_t of = stem ? tsr_companion_find_beside(tree, path, stem, wholes[i].base) : -1;
    if (of >= 0)
      return (tsr_companion){
          .kind = TSR_COMPANION_WHOLE, .of = of == index ? -1 : of, .why = wholes[i].why};
  }
  return (tsr_companion){.of = -1};
}

// The stem of the path of a one-element tensor; 0 if it is none.
static size_t number_stem(const tsr_tensor *tensor) {
  size_t stem = 0;
  if (tsr_tensor_elements(tensor) != 1) return 0;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !stem; i++)
    stem = tsr_companion_stem(tensor->path, numbers[i]);
  return stem;
}

static tsr_companion find_number(const tsr_tree *tree, int64_t index) {
  const tsr_tensor *tensor = tsr_tree_at(tree, index);
  if (!tensor->rank || !number_stem(tensor)) return (tsr_companion){.of = -1};
  return (tsr_companion){
      .kind = TSR_COMPANION_WHOLE, .of = -1, .why = "it is a single number of its layer"};
}

bool tsr_companion_is_number(const tsr_tree *tree, int64_t index, int64_t *out_weight) {
  const tsr_tensor *tensor = tsr_tree_at(tree, index);
  const size_t stem = strlen(tensor->path) < TSR_COMPANION_NAME ? number_stem(tensor) : 0;
  *out_weight = stem ? tsr_companion_find_beside(tree, tensor->path, stem, ".weight") : -1;
  for (size_t i = 0; i < sizeof carriers / sizeof *carriers && stem && *out_weight < 0; i++)
    *out_weight = tsr_companion_find_beside(tree, tensor->path, stem, carriers[i].end);
  return stem > 0;
}

// The letters of a companion's dimensions; transposed where only then it has all outputs.
static const char *orient_axes(const tsr_tree *tree, int64_t index, int64_t of, const char *axes) {
  const tsr_tensor *companion = tsr_tree_at(tree, index), *weight = tsr_tree_at(tree, of);
  if (*axes != '?') return axes;
  const bool round = companion->rank == 2 && weight->rank == 2 &&
                     companion->dims[0] != weight->dims[0] && companion->dims[1] == weight->dims[0];
  return round ? "io" : axes + 1;
}

tsr_companion tsr_companion_find_part(const tsr_tree *tree, int64_t index) {
  const char *path = tsr_tree_at(tree, index)->path;
  const tsr_companion fixed = find_whole(tree, index);
  if (fixed.kind) return fixed;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const size_t stem = tsr_companion_stem(path, ends[i].end);
    const int64_t of = stem ? tsr_companion_find_beside(tree, path, stem, ends[i].base) : -1;
    if (of < 0) continue;
    const bool indexed = tsr_companion_find_beside(tree, path, stem, ".g_idx") >= 0 ||
                         tsr_companion_find_beside(tree, path, stem, ".weight_g_idx") >= 0;
    return (tsr_companion){.kind = TSR_COMPANION_OF_WEIGHT,
                           .of = of,
                           .axes = orient_axes(tree, index, of, ends[i].axes),
                           .of_axes = axes_of(ends[i].base),
                           .indexed = indexed,
                           .along = ends[i].along};
  }
  return find_number(tree, index);
}

tsr_companion tsr_companion_find(const tsr_tree *tree, int64_t index) {
  if (strlen(tsr_tree_at(tree, index)->path) >= TSR_COMPANION_NAME)
    return (tsr_companion){.of = -1};
  tsr_companion state = tsr_companion_find_state(tree, index);
  state.state = true;
  return state.kind ? state : tsr_companion_find_part(tree, index);
}
