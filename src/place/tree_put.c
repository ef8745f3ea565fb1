// A tree placed by rules as text in one call; a tree printed.
#include <string.h>

#include "base/text_internal.h"
#include "place/place.h"
#include "plan/plan.h"

// ---- placing ----

static tsr_status make_placer(const tsr_array_tree *tree, const tsr_mesh *mesh, const char *rules,
                              tsr_comm *comm, tsr_placer **out_placer) {
  const tsr_place_options options = {.size = sizeof options, .comm = comm};
  tsr_tree *shapes = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_array_tree_shapes(tree, &shapes);
  if (!status) status = tsr_plan_tree_by_text(shapes, NULL, mesh, rules, &plan);
  if (!status) status = tsr_placer_create(plan, &options, out_placer);
  tsr_plan_release(plan);
  tsr_tree_release(shapes);
  return status;
}

tsr_status tsr_array_tree_put(tsr_comm *comm, const tsr_mesh *mesh, const char *rules,
                              const tsr_array_tree *tree, tsr_array_tree **out_tree) {
  tsr_placer *placer = NULL;
  tsr_status status = make_placer(tree, mesh, rules, comm, &placer);
  // Other ranks may have a placer and be comparing leaves over the comm of the arrays.
  if (status) return tsr_array_agree(tsr_array_tree_comm(tree, comm), "placer_shard", status);
  status = tsr_placer_shard(placer, tree, out_tree, NULL);
  tsr_placer_release(placer);
  return status;
}

// ---- printing ----

enum { WIDEST = 48 };  // longer paths are not padded to

static void print_leaf(const tsr_leaf *leaf, int width, tsr_text *out) {
  tsr_text_addf(out, "%-*s  ", width, leaf->tensor.path);
  if (leaf->kind == TSR_LEAF_ARRAY) {
    tsr_array_print(leaf->array, out);
  } else {
    tsr_text_addf(out, "%s ", tsr_dtype_info_of(leaf->tensor.dtype)->name);
    const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
    tsr_shape_print(&shape, out);
    tsr_text_add(out, leaf->kind == TSR_LEAF_HOST ? " in host memory" : " without data");
  }
  tsr_text_add_char(out, '\n');
}

void tsr_array_tree_print(const tsr_array_tree *tree, tsr_text *out) {
  int width = 0;
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const size_t length = strlen(tsr_array_tree_at(tree, i)->tensor.path);
    if (length <= WIDEST && (int)length > width) width = (int)length;
  }
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++)
    print_leaf(tsr_array_tree_at(tree, i), width, out);
}
