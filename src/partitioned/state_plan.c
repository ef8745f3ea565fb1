// The arguments that results replace as a plan, for checkpoints and placement.
#include <inttypes.h>

#include "ir/ir.h"
#include "partitioned/partitioned.h"
#include "plan/plan_internal.h"
#include "tessera/engine/plan.h"
#include "tessera/own.h"

typedef struct state_list {
  tsr_shape *shapes;
  tsr_tensor *tensors;
  const tsr_spec **specs;
  int64_t count;
} state_list;

static tsr_status list_state(const tsr_partitioned *p, state_list *list) {
  for (int64_t i = 0; i < p->info.argument_count; i++) {
    const tsr_partitioned_value *value = &p->arguments[i];
    if (value->aliased < 0) continue;
    if (tsr_layout_mesh(value->layout) != p->mesh)
      return tsr_fail(UNSUPPORTED, "%s is on a mesh of its own; a plan has one mesh", value->name);
    list->shapes[list->count] = tsr_layout_shape(value->layout);
    list->tensors[list->count] =
        tsr_tensor_of(value->path, value->dtype, &list->shapes[list->count]);
    list->specs[list->count++] = value->spec;
  }
  if (list->count) return NULL;
  return tsr_fail(NOT_FOUND, "no result of the program takes the memory of an argument");
}

static tsr_status make_plan(const tsr_partitioned *p, tsr_arena *arena, tsr_plan **out_plan) {
  const size_t room = (size_t)p->info.argument_count + 1;
  state_list list = {.shapes = tsr_arena_zeros(arena, room, sizeof *list.shapes),
                     .tensors = tsr_arena_zeros(arena, room, sizeof *list.tensors),
                     .specs = tsr_arena_zeros(arena, room, sizeof *list.specs)};
  TSR_OWN(tree, tree);
  TSR_NEED(list.shapes && list.tensors && list.specs);
  TSR_TRY(list_state(p, &list));
  TSR_TRY(tsr_tree_create(list.tensors, list.count, &tree));
  return tsr_plan_from_specs(tree, p->mesh, list.specs, out_plan);
}

tsr_status tsr_partitioned_state_plan(const tsr_partitioned *partitioned, tsr_plan **out_plan) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = make_plan(partitioned, &arena, out_plan);
  tsr_arena_deinit(&arena);
  return status;
}
