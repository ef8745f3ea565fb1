// A tree, a mesh and a tree of specs: what eformer's functions about plans are given.
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "plan/plan_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/plan.h"

static tsr_status read_leaf(const golden_case *c, const tsr_json *leaf, tsr_tensor *out) {
  const tsr_json *kind = tsr_json_find(leaf, "kind");
  const char *dtype = NULL;
  golden_ints dims;
  if (!tsr_json_is_string(kind, "array") && !tsr_json_is_string(kind, "jax"))
    return tsr_fail(NOT_AN_ARRAY, "only arrays have automatic specs");
  TSR_TRY(golden_read_string(c, tsr_json_find(leaf, "path"), "path", &out->path));
  TSR_TRY(golden_read_string(c, tsr_json_find(leaf, "dtype"), "dtype", &dtype));
  TSR_TRY(golden_read_ints(c, tsr_json_find(leaf, "shape"), "shape", &dims));
  TSR_TRY(tsr_dtype_parse(dtype, &out->dtype));
  out->rank = dims.count;
  out->dims = dims.items;
  return NULL;
}

tsr_status golden_read_tree(const golden_case *c, tsr_tree **out) {
  const tsr_json *leaves = tsr_json_find(c->json, "leaves");
  const size_t count = leaves ? tsr_json_count(leaves) : 0;
  tsr_tensor *tensors = tsr_arena_zeros(c->arena, count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "leaves");
  for (size_t i = 0; i < count; i++) TSR_TRY(read_leaf(c, tsr_json_at(leaves, i), &tensors[i]));
  return tsr_tree_create(tensors, (int64_t)count, out);
}

static tsr_status read_mesh(const golden_case *c, tsr_mesh **out) {
  const tsr_json *mesh = tsr_json_find(c->json, "mesh");
  const tsr_mesh *current = NULL;
  if (golden_is_null(mesh) || tsr_json_is_string(tsr_json_find(c->json, "mesh_via"), "none"))
    return tsr_mesh_require(&current);
  return tsr_mesh_from_json(mesh, NULL, out);
}

tsr_status golden_read_plan(const golden_case *c, golden_plan *out) {
  TSR_TRY(golden_read_tree(c, &out->tree));
  const size_t count = (size_t)tsr_tree_count(out->tree);
  out->specs = tsr_arena_zeros(c->arena, count + 1, sizeof *out->specs);
  if (!out->specs) return tsr_fail(NO_MEMORY, "specs");
  TSR_TRY(read_mesh(c, &out->mesh));
  TSR_TRY(golden_read_spec_tree(c, golden_get(c, "specs"), out->tree, out->specs));
  return tsr_plan_from_specs(out->tree, out->mesh, out->specs, &out->plan);
}

void golden_release_plan(golden_plan *plan) {
  tsr_plan_release(plan->plan);
  for (int64_t i = 0; plan->specs && i < tsr_tree_count(plan->tree); i++)
    tsr_spec_release(plan->specs[i]);
  tsr_mesh_release(plan->mesh);
  tsr_tree_release(plan->tree);
}

// ---- writing ----

void golden_write_pair(tsr_json_writer *out, const char *path, const tsr_spec *spec) {
  tsr_json_begin_inline_array(out);
  tsr_json_write_string(out, path);
  tsr_spec_to_json(spec, out);
  tsr_json_end_array(out);
}

void golden_write_plan(tsr_json_writer *out, const tsr_plan *plan) {
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    golden_write_pair(out, tsr_tree_at(tsr_plan_tree(plan), i)->path,
                      tsr_plan_spec_at(plan, tsr_plan_final(plan, i)));
  }
  tsr_json_end_array(out);
}
