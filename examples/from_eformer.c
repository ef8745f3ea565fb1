// eformer's helpers for meshes, specs and arrays in C: questions about the mesh in scope, the names
// in a spec, a pattern for parameters, constraints that are corrected, and hashes of text.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tessera/compat/eformer.h>
#include <tessera/compat/jax_mesh.h>
#include <tessera/engine/hash.h>
#include <tessera/engine/layout.h>
#include <tessera/engine/mesh.h>
#include <tessera/engine/sharding.h>
#include <tessera/tessera.h>

// get_axes_size_in_mesh, get_mesh_axis_names, get_submesh_device_index, names_in_current_mesh.
static tsr_status ask_mesh(void) {
  const tsr_mesh *mesh = tsr_mesh_current();
  int64_t size = 0, index = 0;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    printf("%s%s", i ? ", " : "axes: ", tsr_mesh_axis_at(mesh, i)->name);
  TSR_TRY(tsr_mesh_axes_size(mesh, (const char *const[]){"dp", "tp"}, 2, &size));
  TSR_TRY(tsr_mesh_axes_index(mesh, 5, (const char *const[]){"tp", "dp"}, 2, &index));
  printf("; dp and tp have %" PRId64 " devices, device 5 is number %" PRId64
         " of tp and dp; sp is %sthere\n",
         size, index, tsr_mesh_axis_find(mesh, "sp") < 0 ? "not " : "");
  return NULL;
}

// get_names_from_partition_spec.
static void print_names(const tsr_spec *spec) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  printf("names:");
  for (int dim = 0; dim < desc->dim_count; dim++)
    for (int64_t s = 0; s < desc->dims[dim].stage_count; s++)
      for (int a = 0; a < desc->dims[dim].stages[s].axis_count; a++)
        printf(" %s", desc->dims[dim].stages[s].axes[a].name);
  printf("\n");
}

// get_corrected_named_sharding: what the mesh lacks or a size does not divide is not cut.
static tsr_status correct(const char *text) {
  TSR_OWN(spec, spec);
  TSR_OWN(spec, corrected);
  TSR_OWN(sharding, sharding);
  TSR_OWN(text, out);
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  print_names(spec);
  TSR_TRY(tsr_spec_correct(spec, NULL, TSR_SHAPE(6, 8), NULL, &corrected, NULL));
  TSR_TRY(tsr_sharding_bind(tsr_mesh_current(), corrected, false, &sharding));
  TSR_TRY(tsr_spec_print(tsr_sharding_spec(sharding), TSR_FORM_JAX, &out));
  printf("%s becomes %s\n", text, tsr_text_string(&out));
  return NULL;
}

// With raise_mesh_error=False a spec without a mesh is P().
static tsr_status correct_without_mesh(void) {
  tsr_correct_options options = TSR_CORRECT_OPTIONS;
  options.allow_no_mesh = true;
  TSR_OWN(spec, spec);
  TSR_OWN(spec, corrected);
  TSR_OWN(text, out);
  TSR_TRY(tsr_spec_parse("dp", TSR_FORM_ANY, &spec));
  TSR_TRY(tsr_spec_correct(spec, NULL, TSR_SHAPE(8), &options, &corrected, NULL));
  TSR_TRY(tsr_spec_print(corrected, TSR_FORM_JAX, &out));
  printf("without a mesh: %s\n", tsr_text_string(&out));
  return NULL;
}

// create_pattern_based_partition_spec, with a default_spec for other names; min_size and strict of
// match_partition_rules. -1 stands for None: the MIN_SHARDING_SIZE of the environment, or 16384.
static tsr_status match(const char *pattern, int64_t min_size, bool strict) {
  const tsr_tensor tensors[] = {tsr_tensor_of("attention/q", TSR_F32, TSR_SHAPE(8, 8)),
                                tsr_tensor_of("hidden", TSR_F32, TSR_SHAPE(8, 8)),
                                tsr_tensor_of("scale", TSR_F32, TSR_SHAPE(8))};
  tsr_match_options options = TSR_MATCH_OPTIONS;
  TSR_OWN(tree, tree);
  TSR_OWN(rules, rules);
  TSR_OWN(spec, none);
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_tree_create(tensors, 3, &tree));
  TSR_TRY(tsr_rules_from_pattern(pattern, &rules));
  TSR_TRY(tsr_spec_parse("()", TSR_FORM_ANY, &none));
  options.default_spec = none;
  options.min_size = min_size < 0 ? 0 : min_size;
  options.eformer_min_size = min_size < 0;
  options.raw = !strict;
  TSR_TRY(tsr_plan_match(tree, tsr_mesh_current(), rules, &options, &plan));
  printf("min_size %" PRId64 "%s\n", min_size, strict ? "" : ", not strict");
  for (int i = 0; i < 3; i++) {
    TSR_OWN(text, out);
    TSR_TRY(tsr_spec_print(tsr_plan_find_spec(plan, tensors[i].path), TSR_FORM_JAX, &out));
    printf("%-11s %s\n", tensors[i].path, tsr_text_string(&out));
  }
  return NULL;
}

// get_partition_spec and extract_shardings: what an array says about itself.
static tsr_status print_spec_of(const char *what, const tsr_array *array) {
  TSR_OWN(text, out);
  const tsr_sharding *sharding = tsr_layout_sharding(tsr_array_layout(array));
  TSR_TRY(tsr_spec_print(tsr_sharding_spec(sharding), TSR_FORM_JAX, &out));
  printf("%s %s\n", what, tsr_text_string(&out));
  return NULL;
}

// with_sharding_constraint, and auto_shard_array.
static tsr_status constrain(tsr_comm *comm) {
  static const float zeros[8 * 6];
  TSR_OWN(array, array);
  TSR_OWN(array, cut);
  TSR_OWN(array, by_size);
  TSR_OWN(spec, spec);
  TSR_TRY(tsr_array_put(comm, tsr_mesh_current(), "()", TSR_SHAPE(8, 6), TSR_F32, zeros, &array));
  TSR_TRY(tsr_spec_parse("tp, dp", TSR_FORM_ANY, &spec));
  TSR_TRY(tsr_array_constrain(array, spec, NULL, NULL, &cut, NULL));
  TSR_TRY(print_spec_of("constrained to", cut));
  TSR_TRY(tsr_array_auto_shard(array, NULL, NULL, NULL, &by_size, NULL));
  return print_spec_of("cut by its sizes", by_size);
}

// get_safe_hash_int.
static tsr_status hash(const char *text, const char *algorithm) {
  TSR_OWN(text, decimal);
  TSR_TRY(tsr_hash_decimal(text, strlen(text), algorithm, &decimal));
  printf("%s of \"%s\": %s\n", algorithm, text, tsr_text_string(&decimal));
  return NULL;
}

static tsr_status run(void) {
  tsr_scope scope;
  TSR_OWN(mesh, mesh);
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_mesh_parse("dp=2,tp=4", NULL, &mesh));
  TSR_TRY(tsr_comm_create(tsr_mesh_device_count(mesh), NULL, &comm));
  TSR_TRY(tsr_mesh_enter(mesh, &scope));  // with mesh:
  tsr_status status = ask_mesh();
  if (!status) status = correct("dp+sp, tp");
  if (!status) status = match("attention|mlp->tp,hidden->dp.None", 0, true);
  if (!status) status = match("attention|mlp->tp,hidden->dp.None", -1, true);
  if (!status) status = match("attention|mlp->tp,hidden->dp.None", 100, false);
  if (!status) status = constrain(comm);
  tsr_scope_leave(scope);
  TSR_TRY(status);
  TSR_TRY(correct_without_mesh());
  return hash("hello world", "md5");
}

int main(void) { return tsr_status_exit(run()); }
