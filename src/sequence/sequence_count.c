// Costs of one move and of a whole route, in elements and, with a topology, in seconds.
#include "mesh/mesh_cost.h"
#include "sequence/sequence.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"

double tsr_job_bytes(const tsr_change_job *job, double elements) {
  return elements * job->bits / 8;
}

// ---- one step ----

bool tsr_step_is_local(tsr_step_kind kind) {
  return kind == TSR_STEP_SLICE || kind == TSR_STEP_ZERO;
}

tsr_collective tsr_step_collective(tsr_step_kind kind) {
  static const tsr_collective collectives[TSR_STEP_COUNT] = {
      [TSR_STEP_ALL_GATHER] = TSR_COLLECTIVE_ALL_GATHER,
      [TSR_STEP_ALL_TO_ALL] = TSR_COLLECTIVE_ALL_TO_ALL,
      [TSR_STEP_PERMUTE] = TSR_COLLECTIVE_PERMUTE,
      [TSR_STEP_REDUCE] = TSR_COLLECTIVE_ALL_REDUCE,
      [TSR_STEP_REDUCE_SCATTER] = TSR_COLLECTIVE_REDUCE_SCATTER};
  return collectives[kind];
}

double tsr_step_elements(tsr_step_kind kind, double local, double n, double share) {
  switch (kind) {
    case TSR_STEP_ALL_GATHER:
      return local * (n - 1);
    case TSR_STEP_ALL_TO_ALL:
    case TSR_STEP_REDUCE_SCATTER:
      return local / n * (n - 1);
    case TSR_STEP_REDUCE:
      return 2 * local / n * (n - 1);
    case TSR_STEP_PERMUTE:
      return local * share;
    default:
      return 0;
  }
}

// ---- seconds ----

static tsr_status move_seconds(const tsr_change_job *job, const tsr_sequence_move *move,
                               double local, double *out_seconds) {
  *out_seconds = 0;
  if (!tsr_mesh_topology(job->mesh) || tsr_step_is_local(move->kind)) return NULL;
  tsr_sub_axis sub_axes[TSR_MAX_SUB_AXES];
  int64_t strides[TSR_MAX_SUB_AXES], sizes[TSR_MAX_SUB_AXES];
  tsr_axis_cost costs[TSR_MAX_SUB_AXES];
  const int count = tsr_sub_axes_normal_set(move->axes, move->axis_count, sub_axes);
  for (int i = 0; i < count; i++) {
    const tsr_digit digit = tsr_sub_axis_digit(job->mesh, &sub_axes[i]);
    strides[i] = digit.stride;
    sizes[i] = digit.size;
  }
  TSR_TRY(tsr_mesh_digit_costs(job->mesh, strides, sizes, count, costs));
  *out_seconds = tsr_collective_over(tsr_step_collective(move->kind), costs, sizes, count,
                                     tsr_job_bytes(job, local));
  return NULL;
}

// ---- elements ----

static double local_elements(const tsr_change_job *job, const tsr_spread *spread) {
  double local = (double)job->elements;
  for (int d = 0; d < spread->rank; d++) local /= (double)tsr_spread_shards(spread, d);
  return local;
}

// The fraction of devices that get another buffer in a permute.
static tsr_status moving_share(const tsr_change_job *job, const tsr_spread *before,
                               const tsr_spread *after, double *out_share) {
  tsr_space space;
  tsr_agreement agreement;
  TSR_TRY(tsr_space_init(&space, job->mesh, before, after, &job->shape, 0, 0));
  tsr_space_agree(&space, &space.from, &space.to, space.devices, &agreement);
  *out_share = 1 - agreement.same;
  return NULL;
}

tsr_status tsr_move_count(const tsr_change_job *job, const tsr_spread *before,
                          const tsr_sequence_move *move, tsr_move_cost *out_cost) {
  const double devices = (double)tsr_mesh_device_count(job->mesh);
  const double local = local_elements(job, before);
  double n = 1, share = 0;
  for (int i = 0; i < move->axis_count; i++) n *= (double)move->axes[i].size;
  if (move->kind == TSR_STEP_PERMUTE) TSR_TRY(moving_share(job, before, &move->after, &share));
  const double mean = tsr_step_elements(move->kind, local, n, share);
  tsr_move_cost cost = {.elements = devices * mean, .device_elements = share > 0 ? local : mean};
  TSR_TRY(move_seconds(job, move, local, &cost.seconds));
  *out_cost = cost;
  return NULL;
}

// ---- routes ----

static bool divides(const tsr_change_job *job, const tsr_spread *spread) {
  for (int d = 0; d < spread->rank; d++)
    if (job->shape.dims[d] % tsr_spread_shards(spread, d)) return false;
  return true;
}

tsr_status tsr_route_cost(const tsr_change_job *job, const tsr_route *route, double *out_cost,
                          bool *out_legal) {
  const tsr_spread *before = &job->from;
  double seconds = 0, elements = 0;
  bool legal = true;
  for (int64_t i = 0; i < route->count && legal; i++) {
    const tsr_sequence_move *move = &route->moves[i];
    tsr_move_cost cost;
    legal = divides(job, &move->after);
    if (!legal) break;
    TSR_TRY(tsr_move_count(job, before, move, &cost));
    const double held = local_elements(job, before) + local_elements(job, &move->after);
    legal = !job->memory_cap || tsr_job_bytes(job, held) <= (double)job->memory_cap;
    seconds += cost.seconds;
    elements += cost.elements;
    before = &move->after;
  }
  *out_cost = tsr_mesh_topology(job->mesh) ? seconds : elements;
  *out_legal = legal;
  return NULL;
}
