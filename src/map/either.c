// Chooses which of two models a map applies to. Sources and results rarely share names, so applying
// the map to the wrong model makes nothing, or tensors that the other model does not have.
#include "base/status_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"
#include "map/map_internal.h"

// A map applied to one of the models.
typedef struct map_trial {
  tsr_status status;     // owned
  tsr_mapping *mapping;  // owned; NULL = it does not apply
  bool acts;             // some line makes or drops something
  int64_t common;        // results that the other model has, with the same shape
  int64_t matched;       // of these, those that a line makes
} map_trial;

static bool has_like(const tsr_tree *tree, const tsr_tensor *tensor) {
  const int64_t there = tsr_tree_find(tree, tensor->path);
  if (there < 0) return false;
  const tsr_shape a = tsr_tensor_shape(tensor), b = tsr_tensor_shape(tsr_tree_at(tree, there));
  return tsr_shape_equal(&a, &b);
}

static map_trial try_one(const tsr_map *map, const tsr_tree *model, const tsr_tree *other,
                         const tsr_map_options *options) {
  map_trial t = {0};
  t.status = tsr_map_apply(map, model, options, &t.mapping);
  if (t.status) return t;
  const tsr_tree *tree = tsr_mapping_tree(t.mapping);
  const int64_t count = tsr_tree_count(tree);
  t.acts = count > 0 && count != tsr_tree_count(model);  // a line dropped tensors
  for (int64_t i = 0; i < count; i++) {
    const bool by_line = tsr_mapping_line(t.mapping, i) > 0;
    const bool common = has_like(other, tsr_tree_at(tree, i));
    t.acts = t.acts || by_line;
    t.common += common;
    t.matched += common && by_line;
  }
  return t;
}

static bool fits(const map_trial *t) { return t->acts && t->common > 0; }

// The model to apply the map to; -1 = neither. A failure on one model is ignored only if the map
// makes tensors of the other that this one has; otherwise the failure is reported.
static int choose(const map_trial trials[2]) {
  for (int w = 0; w < 2; w++)
    if (trials[w].status && !(fits(&trials[!w]) && trials[!w].matched)) return -1;
  if (!fits(&trials[0]) || !fits(&trials[1]))
    return fits(&trials[0]) ? 0 : fits(&trials[1]) ? 1 : -1;
  if (trials[0].matched != trials[1].matched) return trials[0].matched < trials[1].matched;
  return trials[0].common < trials[1].common;
}

static tsr_status take_status(map_trial *t) {
  tsr_status status = t->status;
  t->status = NULL;
  return status;
}

static tsr_status explain(map_trial trials[2]) {
  for (int w = 0; w < 2; w++)
    if (trials[w].status && !trials[!w].status)
      return tsr_note(take_status(&trials[w]), "applied to the %s", w ? "second" : "first");
  if (trials[0].status)
    return tsr_fail(TREE_MISMATCH,
                    "the map applies to neither of them; to the first: %.*s; to the second: %.*s",
                    TSR_STATUS_LINE(trials[0].status), TSR_STATUS_LINE(trials[1].status));
  if (!trials[0].acts && !trials[1].acts)
    return tsr_fail(NOT_FOUND, "no line of the map finds a source in either of them");
  const int acting = trials[0].acts ? 0 : 1;
  const tsr_tree *tree = tsr_mapping_tree(trials[acting].mapping);
  return tsr_fail(TREE_MISMATCH,
                  "nothing that the map makes of the %s is in the %s with its shape, as \"%s\"%s",
                  acting ? "second" : "first", acting ? "first" : "second",
                  tsr_tree_at(tree, 0)->path,
                  trials[!acting].acts ? ", nor the other way around" : "");
}

tsr_status tsr_map_apply_to_either(const tsr_map *map, const tsr_tree *const models[2],
                                   const tsr_map_options *const options[2], int64_t *out_which,
                                   tsr_mapping **out_mapping) {
  map_trial trials[2];
  for (int w = 0; w < 2; w++)
    trials[w] = try_one(map, models[w], models[!w], options ? options[w] : NULL);
  tsr_status status = NULL;
  for (int w = 0; w < 2 && !status; w++)
    if (tsr_status_cause(trials[w].status) == TSR_CAUSE_NO_MEMORY) status = take_status(&trials[w]);
  const int which = choose(trials);
  if (!status && which < 0) status = explain(trials);
  if (!status) {
    *out_which = which;
    *out_mapping = tsr_mapping_retain(trials[which].mapping);
  }
  for (int w = 0; w < 2; w++) {
    tsr_mapping_release(trials[w].mapping);
    tsr_status_free(trials[w].status);
  }
  return status;
}
