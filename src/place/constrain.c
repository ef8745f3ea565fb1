// Constraints by a given spec, semantic axes, logical names (linen's or flax.core.spmd's mapping),
// an automatic spec, or layouts. Each is a function that decides on a leaf.
#include "base/sized.h"
#include "mesh/mesh_internal.h"
#include "place/place.h"
#include "place/place_internal.h"
#include "rules/logical_internal.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/plan.h"

// `found` is an earlier failure, or NULL.
static tsr_status constrain_array(const char *call, tsr_array *array, tsr_status found,
                                  tsr_decide_fn *decide, const void *question,
                                  const tsr_place_options *options, tsr_array **out_array,
                                  tsr_place_report *out_report) {
  const tsr_shape shape = tsr_array_shape(array);
  const tsr_leaf leaf = {.tensor = {.path = "",
                                    .dtype = tsr_array_dtype(array),
                                    .rank = shape.rank,
                                    .dims = shape.dims},
                         .kind = TSR_LEAF_ARRAY,
                         .array = array};
  tsr_place_config how;
  tsr_placement_decision decision = {0};
  tsr_status status = tsr_place_config_init(&how, call, options);
  if (found) {
    tsr_status_free(status);
    status = found;
  }
  if (!status) status = decide(question, 0, &leaf, &how, &decision);
  status = tsr_place_leaf(&leaf, status, &decision, &how, out_array, out_report);
  tsr_decision_deinit(&decision);
  return status;
}

static tsr_status constrain_tree(const char *call, const tsr_array_tree *tree,
                                 tsr_decide_fn *decide, const void *question,
                                 const tsr_place_options *options, tsr_array_tree **out_tree,
                                 tsr_place_report *out_reports) {
  tsr_place_config how;
  const tsr_status status = tsr_place_config_init(&how, call, options);
  return tsr_place_tree(tree, status, decide, question, &how, out_tree, out_reports);
}

// ---- by a spec ----

typedef struct spec_request {
  const tsr_spec *spec;
  const tsr_mesh *mesh;
} spec_request;

static tsr_status decide_by_spec(const void *question, int64_t index, const tsr_leaf *leaf,
                                 const tsr_place_config *how, tsr_placement_decision *decision) {
  const spec_request *by = question;
  const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  (void)index;
  return tsr_decide_constraint(by->spec, by->mesh, &shape, how, decision);
}

tsr_status tsr_array_constrain(tsr_array *array, const tsr_spec *spec, const tsr_mesh *mesh,
                               const tsr_place_options *options, tsr_array **out_array,
                               tsr_place_report *out_report) {
  return constrain_array("constrain", array, NULL, decide_by_spec, &(spec_request){spec, mesh},
                         options, out_array, out_report);
}

tsr_status tsr_array_tree_constrain(const tsr_array_tree *tree, const tsr_spec *spec,
                                    const tsr_mesh *mesh, const tsr_place_options *options,
                                    tsr_array_tree **out_tree, tsr_place_report *out_reports) {
  return constrain_tree("tree_constrain", tree, decide_by_spec, &(spec_request){spec, mesh},
                        options, out_tree, out_reports);
}

// ---- by semantic axes ----

tsr_status tsr_array_constrain_axes(tsr_array *array, const tsr_axes *axes,
                                    const tsr_axis_registry *registry,
                                    const tsr_axes_request *request, const tsr_mesh *mesh,
                                    bool auto_correct, const tsr_place_options *options,
                                    tsr_array **out_array, tsr_place_report *out_report) {
  const tsr_shape shape = tsr_array_shape(array);
  tsr_axes_request of_array;
  tsr_spec *wanted = NULL;
  tsr_status status = tsr_sized_read(tsr_axes_request, request, &of_array);
  of_array.shape = &shape;
  if (!status) status = tsr_axes_resolve_request(axes, registry, &of_array, &wanted);
  if (!status && !mesh && auto_correct) status = tsr_mesh_require(&mesh);
  status = constrain_array("constrain_axes", array, status, decide_by_spec,
                           &(spec_request){wanted, mesh}, options, out_array, out_report);
  tsr_spec_release(wanted);
  return status;
}

// ---- by logical names ----

typedef struct names_request {
  const tsr_logical_names *names;
  const tsr_logical_rules *rules;
  const tsr_mesh *mesh;
  tsr_fallback fallback;
} names_request;

static tsr_status decide_by_names(const void *question, int64_t index, const tsr_leaf *leaf,
                                  const tsr_place_config *how, tsr_placement_decision *decision) {
  const names_request *by = question;
  const tsr_logical_rules *rules = by->rules ? by->rules : tsr_logical_current();
  const tsr_mesh *mesh = by->mesh ? by->mesh : tsr_mesh_current();
  const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  tsr_sharding *sharding = NULL;
  (void)index;
  TSR_TRY(tsr_logical_constrain(by->names, rules, mesh, by->fallback, &sharding));
  if (!sharding) {
    decision->report.outcome = !by->names                        ? TSR_OUTCOME_NO_NAMES
                               : !tsr_logical_rules_count(rules) ? TSR_OUTCOME_NO_RULES
                               : !mesh                           ? TSR_OUTCOME_NO_MESH
                                                                 : TSR_OUTCOME_UNMATCHED;
    return NULL;
  }
  const tsr_status status = tsr_decide_sharding(sharding, &shape, how, decision);
  tsr_sharding_release(sharding);
  return status;
}

tsr_status tsr_array_constrain_logical(tsr_array *array, const tsr_logical_names *names,
                                       const tsr_logical_rules *rules, const tsr_mesh *mesh,
                                       tsr_fallback fallback, const tsr_place_options *options,
                                       tsr_array **out_array, tsr_place_report *out_report) {
  return constrain_array("constrain_logical", array, NULL, decide_by_names,
                         &(names_request){names, rules, mesh, fallback}, options, out_array,
                         out_report);
}

// jax.reshard drops uncut entries beyond the rank; a constraint fails on them.
static tsr_status trim_to_rank(const tsr_sharding *sharding, int rank, tsr_sharding **out_trimmed) {
  tsr_spec_desc desc = *tsr_spec_desc_of(tsr_sharding_spec(sharding));
  tsr_spec *spec = NULL;
  while (desc.dim_count > rank && !desc.dims[desc.dim_count - 1].stage_count) desc.dim_count--;
  TSR_TRY(tsr_spec_create(&desc, &spec));
  tsr_status status = tsr_sharding_bind(tsr_sharding_mesh(sharding), spec, true, out_trimmed);
  tsr_spec_release(spec);
  return status;
}

static tsr_status decide_value(const tsr_sharding *sharding, tsr_shard_action action,
                               const tsr_shape *shape, const tsr_place_config *how,
                               tsr_placement_decision *decision) {
  tsr_sharding *trimmed = NULL;
  if (action == TSR_SHARD_NOTHING) {
    decision->report.outcome = TSR_OUTCOME_NO_NAMES;
    return NULL;
  }
  if (action == TSR_SHARD_CONSTRAIN) return tsr_decide_sharding(sharding, shape, how, decision);
  TSR_TRY(trim_to_rank(sharding, shape->rank, &trimmed));
  tsr_status status = tsr_decide_sharding(trimmed, shape, how, decision);
  tsr_sharding_release(trimmed);
  return status;
}

static tsr_status decide_by_value(const void *question, int64_t index, const tsr_leaf *leaf,
                                  const tsr_place_config *how, tsr_placement_decision *decision) {
  const names_request *by = question;
  const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  tsr_shard_action action = TSR_SHARD_NOTHING;
  tsr_sharding *sharding = NULL;
  (void)index;
  TSR_TRY(tsr_logical_shard_value(by->names, by->rules, by->mesh, &action, &sharding));
  const tsr_status status = decide_value(sharding, action, &shape, how, decision);
  tsr_sharding_release(sharding);
  return status;
}

tsr_status tsr_array_shard_value(tsr_array *array, const tsr_logical_names *names,
                                 const tsr_logical_rules *rules, const tsr_mesh *mesh,
                                 const tsr_place_options *options, tsr_array **out_array,
                                 tsr_place_report *out_report) {
  return constrain_array("shard_value", array, NULL, decide_by_value,
                         &(names_request){.names = names, .rules = rules, .mesh = mesh}, options,
                         out_array, out_report);
}

// ---- automatic ----

tsr_status tsr_array_auto_shard(tsr_array *array, const tsr_mesh *mesh, const tsr_auto_options *how,
                                const tsr_place_options *options, tsr_array **out_array,
                                tsr_place_report *out_report) {
  const tsr_shape shape = tsr_array_shape(array);
  tsr_spec *spec = NULL;
  tsr_status status = tsr_auto_spec(&shape, mesh, how, &spec);
  status = constrain_array("auto_shard", array, status, decide_by_spec, &(spec_request){spec, mesh},
                           options, out_array, out_report);
  if (!status && out_report && out_report->outcome == TSR_OUTCOME_EMPTY_SPEC)
    out_report->outcome = TSR_OUTCOME_TOO_SMALL;
  tsr_spec_release(spec);
  return status;
}

// ---- by layouts ----

static tsr_status decide_by_layout(const void *question, int64_t index, const tsr_leaf *leaf,
                                   const tsr_place_config *how, tsr_placement_decision *decision) {
  const tsr_layout *const *layouts = question;
  (void)leaf;
  (void)how;
  tsr_decide_layout(layouts[index], decision);
  return NULL;
}

tsr_status tsr_array_tree_place(const tsr_array_tree *tree, const tsr_layout *const *layouts,
                                const tsr_place_options *options, tsr_array_tree **out_tree,
                                tsr_place_report *out_reports) {
  return constrain_tree("tree_place", tree, decide_by_layout, layouts, options, out_tree,
                        out_reports);
}
