// Opens a model by its path: a folder, a file of tensors, or a list of them in JSON.
#include "base/text_internal.h"
#include "file/safetensors.h"
#include "plan/plan_internal.h"
#include "plan/tree.h"

static tsr_status from_model(const tsr_model *model, tsr_tensor *tensors, tsr_tree **out_tree) {
  tsr_tree *tree = NULL;
  const int64_t count = tsr_model_count(model);
  for (int64_t i = 0; i < count; i++) tensors[i] = tsr_model_tensor_at(model, i)->tensor;
  TSR_TRY(tsr_tree_create(tensors, count, &tree));
  tsr_status status = tsr_tree_keep_warnings(tree, tsr_model_warnings(model));
  if (status)
    tsr_tree_release(tree);
  else
    *out_tree = tree;
  return status;
}

static tsr_status open_model(const char *path, tsr_tree **out_tree) {
  tsr_model *model = NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  TSR_TRY(tsr_model_open(path, &model));
  const size_t count = (size_t)tsr_model_count(model);
  tsr_tensor *tensors = tsr_arena_zeros(&arena, count + 1, sizeof *tensors);
  tsr_status status = tensors ? from_model(model, tensors, out_tree)
                              : tsr_fail(NO_MEMORY, "tree of %zu tensors", count);
  tsr_arena_deinit(&arena);
  tsr_model_destroy(model);
  return tsr_note(status, "%s", path);
}

static tsr_status from_plan(const tsr_json *value, tsr_tree **out_tree) {
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_plan_from_json(value, &plan));
  *out_tree = tsr_tree_retain(tsr_plan_tree(plan));
  tsr_plan_release(plan);
  return NULL;
}

tsr_status tsr_tree_open(const char *path, tsr_tree **out_tree) {
  tsr_json_doc *doc = NULL;
  if (!tsr_ends_with(path, ".json") || tsr_ends_with(path, ".index.json"))
    return open_model(path, out_tree);
  TSR_TRY(tsr_json_read_file(path, &doc));
  const tsr_json *root = tsr_json_root(doc);
  tsr_status status =
      tsr_plan_is_json(root) ? from_plan(root, out_tree) : tsr_tree_from_json(root, out_tree);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}
