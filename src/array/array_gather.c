// The whole tensor in one place.
//
// If all shards are local, their owners write it. Otherwise it is resharded to a layout with the
// whole tensor on one device of every rank, or of one rank, whose buffer is the caller's memory.
#include <stdlib.h>

#include "array/reshard.h"
#include "base/sized.h"
#include "spec/spec_internal.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"

// The whole tensor on the first device of each rank that gets it.
static tsr_status whole_layout(const tsr_array *array, int root, tsr_layout **out_layout) {
  const tsr_comm *comm = array->comm;
  const int ranks = root < 0 ? tsr_comm_rank_count(comm) : 1;
  const tsr_shape shape = tsr_layout_shape(array->layout);
  int64_t *devices = malloc(sizeof *devices * (size_t)ranks);
  if (!devices) return tsr_fail(NO_MEMORY, "%d ranks", ranks);
  for (int r = 0; r < ranks; r++) devices[r] = tsr_comm_first_device(comm, root < 0 ? r : root);
  const tsr_axis axis = {"rank", ranks, TSR_AXIS_AUTO};
  const tsr_mesh_desc desc = {.size = sizeof desc,
                              .axis_count = 1,
                              .axes = &axis,
                              .device_count = ranks,
                              .devices = devices};
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_mesh_create(&desc, &mesh);
  if (!status) status = tsr_spec_of(NULL, 0, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  free(devices);
  return status;
}

// The rank that gets the tensor; -1 = all.
static int root_of(const tsr_host_options *options) {
  return options->to_root ? options->root : -1;
}

static tsr_status check_root(const tsr_comm *comm, const tsr_host_options *options) {
  const int ranks = tsr_comm_rank_count(comm);
  if (!options->to_root || (options->root >= 0 && options->root < ranks)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "gather to rank %d of %d", options->root, ranks);
}

static tsr_status check_ranks(const tsr_comm *comm, int root) {
  for (int r = root < 0 ? 0 : root; r < (root < 0 ? tsr_comm_rank_count(comm) : root + 1); r++)
    if (tsr_comm_first_device(comm, r) == tsr_comm_first_device(comm, r + 1))
      return tsr_fail(UNSUPPORTED, "gather to rank %d, which has no device", r);
  return NULL;
}

// Directly into the caller's memory if that is row-major.
static tsr_status exchange_whole(tsr_array *array, const tsr_layout *layout, void *host,
                                 tsr_array **out_whole) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_buffer *into = NULL;
  tsr_reshard_move move = {.from = array, .unshare = true};
  int64_t bytes = 0;
  tsr_status status = tsr_shape_bytes(&shape, array->dtype, &bytes);
  if (!status && host) status = tsr_buffer_wrap(host, bytes, true, NULL, NULL, &into);
  move.into = into;
  if (!status) status = tsr_move_plan(&move, layout, 0);
  status = tsr_array_agree(array->comm, "gather", status);
  const tsr_exchange exchange = tsr_move_exchange(&move);
  if (!status) status = tsr_exchange_agreed(array->comm, &exchange, 1);
  if (!status) *out_whole = tsr_move_take(&move);
  tsr_move_deinit(&move);
  tsr_buffer_release(into);
  return status;
}

static tsr_status gather_far(tsr_array *array, void *host, const tsr_host_options *options) {
  const int64_t *strides = options->strides;
  tsr_layout *layout = NULL;
  tsr_array *whole = NULL;
  tsr_status status =
      tsr_array_agree(array->comm, "gather", whole_layout(array, root_of(options), &layout));
  if (!status) status = exchange_whole(array, layout, strides ? NULL : host, &whole);
  if (!status && strides && whole->slot_count > 0)
    status = tsr_array_gather_here(whole, host, NULL, strides);
  tsr_array_release(whole);
  tsr_layout_release(layout);
  return status;
}

// Fails if this rank gets the tensor and has too little memory.
static tsr_status check_host(const tsr_array *array, const void *host, int64_t host_bytes, int root,
                             const int64_t *strides) {
  if (root >= 0 && tsr_comm_rank(array->comm) != root) return NULL;
  return tsr_host_room_check(array, NULL, strides, host, host_bytes);
}

static tsr_status check(const tsr_array *array, const void *host, int64_t host_bytes,
                        const tsr_host_options *given, tsr_host_options *out_options) {
  const tsr_shape shape = tsr_layout_shape(array->layout);
  TSR_TRY(tsr_sized_read(tsr_host_options, given, out_options));
  TSR_TRY(tsr_array_check_alive(array));
  TSR_TRY(check_root(array->comm, out_options));
  TSR_TRY(tsr_host_strides_check(&shape, NULL, out_options->strides));
  TSR_TRY(check_host(array, host, host_bytes, root_of(out_options), out_options->strides));
  return tsr_comm_rank_count(array->comm) > 1 ? check_ranks(array->comm, root_of(out_options))
                                              : NULL;
}

// Host memory and strides are not compared.
static tsr_status agree(tsr_array *array, int root, tsr_status found) {
  tsr_call_arrays list = TSR_CALL_ARRAY(array);
  tsr_call c = tsr_call_begin(array->comm, "gather");
  if (root < 0)
    tsr_call_describe(&c, "gather to all ranks");
  else
    tsr_call_describe(&c, "gather to rank %d", root);
  c.items = tsr_call_arrays_items(&list);
  return tsr_call_agree(&c, found);
}

tsr_status tsr_array_gather(tsr_array *array, void *host, int64_t host_bytes,
                            const tsr_host_options *options) {
  tsr_host_options checked = TSR_HOST_OPTIONS;
  tsr_array *reduced = NULL;
  tsr_status status = check(array, host, host_bytes, options, &checked);
  TSR_TRY(agree(array, root_of(&checked), status));
  TSR_TRY(tsr_array_reduce(array, &reduced));
  status = tsr_comm_rank_count(array->comm) == 1
               ? tsr_array_gather_here(reduced, host, NULL, checked.strides)
               : gather_far(reduced, host, &checked);
  tsr_array_release(reduced);
  return status;
}
