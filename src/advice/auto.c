// Specs from shapes alone: eformer's auto_partition_spec, with one difference. An axis is used
// once, even if names list it twice; eformer then makes specs that no mesh accepts.
#include "advice/auto.h"

#include "advice/plan_auto_internal.h"
#include "base/room.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "plan/plan.h"

tsr_status tsr_chooser_init(tsr_chooser *chooser, const tsr_mesh *mesh,
                            const tsr_auto_options *given) {
  tsr_auto_options options;
  TSR_TRY(tsr_sized_read(tsr_auto_options, given, &options));
  TSR_TRY(tsr_list_check(options.names, options.name_count, "names"));
  TSR_TRY(tsr_mesh_or_current(mesh, &chooser->mesh));
  chooser->min_size = options.min_size ? options.min_size : tsr_mesh_device_count(chooser->mesh);
  chooser->reverse = options.reverse;
  chooser->stack_leftovers = options.stack_leftovers;
  if (options.name_count)
    return tsr_units_of_names(chooser->mesh, options.names, options.name_count, &chooser->units);
  tsr_units_in_order(chooser->mesh, &chooser->units);
  tsr_units_sort(&chooser->units);
  return NULL;
}

// The first unit whose axes are free and that divides the size.
static void choose_for_dim(const tsr_chooser *chooser, int dim, int64_t size, tsr_choice *choice) {
  for (int i = 0; i < chooser->units.count; i++) {
    const tsr_unit *unit = &chooser->units.items[i];
    if (choice->used & unit->mask || size % unit->size != 0) continue;
    tsr_choice_add(choice, dim, unit);
    return;
  }
}

static int64_t local_size(const tsr_choice *choice, const tsr_mesh *mesh, int dim, int64_t size) {
  for (int i = 0; i < choice->counts[dim]; i++)
    size /= tsr_mesh_axis_at(mesh, choice->axes[dim][i])->size;
  return size;
}

// The dimension for a left-over unit: the longest that it divides; -1 = none.
static int place_for(const tsr_choice *choice, const tsr_mesh *mesh, const tsr_shape *shape,
                     const tsr_unit *unit) {
  int best = -1;
  int64_t longest = -1;
  for (int dim = 0; dim < shape->rank; dim++) {
    const int64_t size = local_size(choice, mesh, dim, shape->dims[dim]);
    if (size % unit->size != 0 || size <= longest) continue;
    best = dim;
    longest = size;
  }
  return best;
}

static void stack_leftovers(const tsr_chooser *chooser, const tsr_shape *shape,
                            tsr_choice *choice) {
  for (int i = 0; i < chooser->units.count; i++) {
    const tsr_unit *unit = &chooser->units.items[i];
    if (choice->used & unit->mask || unit->size == 1) continue;
    const int dim = place_for(choice, chooser->mesh, shape, unit);
    if (dim >= 0) tsr_choice_add(choice, dim, unit);
  }
}

bool tsr_chooser_choose(const tsr_chooser *chooser, const tsr_shape *shape,
                        tsr_choice *out_choice) {
  int64_t elements = 1;
  int order[TSR_MAX_RANK];
  for (int i = 0; i < shape->rank; i++) elements *= shape->dims[i];
  *out_choice = (tsr_choice){.rank = 0};
  if (elements < chooser->min_size) return false;
  out_choice->rank = shape->rank;
  tsr_dims_by_size(shape, chooser->reverse, order);
  for (int i = 0; i < shape->rank; i++)
    choose_for_dim(chooser, order[i], shape->dims[order[i]], out_choice);
  if (chooser->stack_leftovers) stack_leftovers(chooser, shape, out_choice);
  return true;
}

tsr_status tsr_auto_spec(const tsr_shape *shape, const tsr_mesh *mesh,
                         const tsr_auto_options *options, tsr_spec **out_spec) {
  tsr_chooser chooser;
  tsr_choice choice;
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(tsr_chooser_init(&chooser, mesh, options));
  tsr_chooser_choose(&chooser, shape, &choice);
  return tsr_choice_spec(&choice, chooser.mesh, NULL, out_spec);
}

tsr_status tsr_auto_sharding(const tsr_shape *shape, const tsr_mesh *mesh,
                             const tsr_auto_options *options, tsr_sharding **out_sharding) {
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_mesh_or_current(mesh, &mesh));
  TSR_TRY(tsr_auto_spec(shape, mesh, options, &spec));
  tsr_status status = tsr_sharding_bind(mesh, spec, false, out_sharding);
  tsr_spec_release(spec);
  return status;
}

// ---- plans ----

static tsr_status plan_row(const tsr_chooser *chooser, tsr_plan_builder *builder, int64_t row,
                           const tsr_tensor *tensor) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_choice choice;
  tsr_spec *spec = NULL;
  const bool chosen = tsr_chooser_choose(chooser, &shape, &choice);
  const bool small = !chosen && tensor->rank;
  const tsr_why why = chosen ? TSR_WHY_AUTO : small ? TSR_WHY_SMALL : TSR_WHY_SCALAR;
  TSR_TRY(tsr_choice_spec(&choice, chooser->mesh, NULL, &spec));
  tsr_status status = tsr_plan_builder_set(builder, row, spec, spec, TSR_POLICY_ERROR);
  if (!status)
    status = tsr_plan_builder_reason(builder, row, why, -1, small ? chooser->min_size : 0);
  tsr_spec_release(spec);
  return status;
}

tsr_status tsr_plan_auto(const tsr_tree *tree, const tsr_mesh *mesh,
                         const tsr_auto_options *options, tsr_plan **out_plan) {
  tsr_chooser chooser;
  tsr_plan_builder builder;
  TSR_TRY(tsr_chooser_init(&chooser, mesh, options));
  TSR_TRY(tsr_plan_builder_init(&builder, tree, chooser.mesh));
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < tsr_tree_count(tree); i++)
    status = plan_row(&chooser, &builder, i, tsr_tree_at(tree, i));
  return tsr_plan_builder_end(&builder, status, out_plan);
}
