// Moves a train state to the devices as a plan says, or leaves it in host memory.
#include <stdlib.h>

#include "base/sized.h"
#include "partitioner/partitioner.h"
#include "partitioner/partitioner_internal.h"
#include "place/place.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/placer.h"
#include "tessera/plan.h"

static const char call[] = "move_params";  // ranks compare it

// `out->comm` is set even on failure, if the options are readable.
static tsr_status read_options(const tsr_move_options *options, tsr_move_options *out) {
  *out = TSR_MOVE_OPTIONS;
  if (tsr_sized_legible(tsr_move_options, options)) out->comm = options->comm;
  tsr_move_options read;
  TSR_TRY(tsr_sized_read(tsr_move_options, options, &read));
  *out = read;
  if (!out->comm) return tsr_fail(BAD_ARGUMENT, "moving a state needs a comm");
  return NULL;
}

// The plan's specs in the order of the tree, borrowed; in a block to free().
static tsr_status list_specs(const tsr_array_tree *tree, const tsr_plan *plan,
                             const tsr_spec ***out_specs) {
  const int64_t count = tsr_array_tree_count(tree);
  const tsr_spec **specs = calloc((size_t)count + 1, sizeof *specs);
  if (!specs) return tsr_fail(NO_MEMORY, "specs of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    const char *path = tsr_array_tree_at(tree, i)->tensor.path;
    specs[i] = tsr_plan_find_spec(plan, path);
    if (specs[i]) continue;
    free(specs);
    return tsr_fail(TREE_MISMATCH, "the plan has no tensor \"%s\"", path);
  }
  *out_specs = specs;
  return NULL;
}

// The host-local tensors of each process become global arrays in their planned layouts.
static tsr_status join_tree(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                            const tsr_plan *axes, tsr_comm *comm, tsr_array_tree **out_state) {
  const tsr_spec **specs = NULL;
  TSR_TRY(list_specs(state, axes, &specs));
  const tsr_status status =
      tsr_array_tree_from_host_local(state, partitioner->mesh, specs, comm, out_state);
  free(specs);
  return status;
}

static tsr_status move_whole(const tsr_array_tree *state, const tsr_plan *axes,
                             const tsr_move_options *options, tsr_array_tree **out_state) {
  const tsr_reshard_options reshard = {.size = sizeof reshard, .donate = !options->keep};
  const tsr_place_options place = {
      .size = sizeof place, .comm = options->comm, .reshard = &reshard};
  tsr_placer *placer = NULL;
  tsr_status status = tsr_placer_create(axes, &place, &placer);
  if (status) return tsr_array_agree(tsr_array_tree_comm(state, options->comm), call, status);
  status = tsr_placer_shard_as(call, placer, state, out_state, NULL);
  tsr_placer_release(placer);
  return status;
}

// The same, with the global arrays compared between ranks.
static tsr_status join_boxes(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                             const tsr_plan *axes, tsr_comm *comm, tsr_array_tree **out_global) {
  tsr_compared_leaves compared = {0};
  tsr_call c = tsr_call_begin(tsr_array_tree_comm(state, comm), call);
  tsr_status status = join_tree(partitioner, state, axes, comm, out_global);
  if (!status) compared = tsr_compared_leaves_of(*out_global);
  tsr_call_describe(&c, "%s of %lld leaves, boxes of each rank", call,
                    (long long)tsr_array_tree_count(state));
  c.items = tsr_compared_leaves_items(&compared);
  return tsr_call_agree(&c, status);
}

static tsr_status keep_in_place(const tsr_array_tree *state, tsr_comm *comm,
                                tsr_array_tree **out_state) {
  tsr_compared_leaves compared = tsr_compared_leaves_of(state);
  tsr_call c = tsr_call_begin(tsr_array_tree_comm(state, comm), call);
  tsr_call_describe(&c, "%s of %lld leaves, which stay where they are", call,
                    (long long)compared.count);
  c.items = tsr_compared_leaves_items(&compared);
  TSR_TRY(tsr_call_agree(&c, NULL));
  *out_state = tsr_array_tree_retain(state);
  return NULL;
}

tsr_status tsr_partitioner_move_params(const tsr_partitioner *partitioner,
                                       const tsr_array_tree *state, const tsr_plan *axes,
                                       const tsr_move_options *given, tsr_array_tree **out_state) {
  tsr_move_options options;
  tsr_status status = read_options(given, &options);
  if (!status) status = tsr_partitioner_need_mesh(partitioner);
  if (status) {
    tsr_comm *comm = tsr_array_tree_comm(state, options.comm);
    return comm ? tsr_array_agree(comm, call, status) : status;
  }
  if (!tsr_partitioner_params_on_devices(partitioner))
    return keep_in_place(state, options.comm, out_state);
  if (!options.host_local) return move_whole(state, axes, &options, out_state);
  tsr_array_tree *global = NULL;
  status = join_boxes(partitioner, state, axes, options.comm, &global);
  if (!status) status = move_whole(global, axes, &options, out_state);
  tsr_array_tree_release(global);
  return status;
}
