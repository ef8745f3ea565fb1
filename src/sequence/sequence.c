// Sequences: the cheapest route between two shardings, as steps that an engine can run. The search
// comes first, then Shardy's order where it gives up, then gathering and slicing.
#include "sequence/sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "element/reduction.h"
#include "sequence/sequence_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

enum { EXPANSION_CAP = 50000 };

struct tsr_sequence {
  const tsr_sharding *from, *to;
  tsr_shape shape;
  tsr_dtype dtype;
  tsr_reduction reduction;
  tsr_sequence_certificate certificate;
  tsr_sub_axis *axes;  // owned: of all steps
  int step_count;
  tsr_sequence_step steps[];
};

static const char *const kind_names[] = {
#define X(id, text) [TSR_STEP_##id] = text,
    TSR_STEPS(X)
#undef X
};

const char *tsr_step_kind_name(tsr_step_kind kind) {
  return (unsigned)kind < TSR_STEP_COUNT ? kind_names[kind] : NULL;
}

// ---- arguments ----

static int unreduced_count(const tsr_sharding *sharding) {
  int count = 0;
  tsr_sharding_unreduced(sharding, &count);
  return count;
}

static tsr_reduction reduction_of(const tsr_sharding *sharding) {
  return tsr_spec_desc_of(tsr_sharding_spec(sharding))->reduction;
}

static tsr_status check_pair(const tsr_sharding *from, const tsr_sharding *to) {
  if (!tsr_mesh_equal(tsr_sharding_mesh(from), tsr_sharding_mesh(to)))
    return tsr_fail(NO_SEQUENCE,
                    "the shardings are on different meshes; only direct copies are possible");
  if (unreduced_count(from) && unreduced_count(to) && reduction_of(from) != reduction_of(to))
    return tsr_fail(NO_SEQUENCE, "partial results of %s cannot become partial results of %s",
                    tsr_reduction_name(reduction_of(from)), tsr_reduction_name(reduction_of(to)));
  return NULL;
}

static tsr_status job_init(tsr_change_job *job, const tsr_sharding *from, const tsr_sharding *to,
                           const tsr_shape *shape, tsr_dtype dtype,
                           const tsr_sequence_options *options) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(UNKNOWN_DTYPE, "element type %d is unknown", (int)dtype);
  *job = (tsr_change_job){.mesh = tsr_sharding_mesh(from), .shape = *shape, .bits = info->bits};
  job->memory_cap = options->memory_cap;
  job->expansion_cap = options->expansion_cap ? options->expansion_cap : EXPANSION_CAP;
  TSR_TRY(tsr_shape_count(shape, &job->elements));
  TSR_TRY(check_pair(from, to));
  TSR_TRY_NOTE(tsr_spread_init(&job->from, from, shape), "from");
  TSR_TRY_NOTE(tsr_spread_init(&job->to, to, shape), "to");
  tsr_space space;
  return tsr_space_init(&space, job->mesh, &job->from, &job->to, shape, 0, 0);
}

// ---- finding the route ----

static tsr_status does_not_fit(const tsr_change_job *job) {
  return tsr_fail(DOES_NOT_FIT, "no sequence keeps to %lld bytes on a device",
                  (long long)job->memory_cap);
}

// Shardy's order. Its price is infinite if it does not terminate, would pad, or exceeds the memory
// cap.
static tsr_status price_greedy(const tsr_change_job *job, tsr_route *route, bool *out_even,
                               double *out_price) {
  bool found = false, legal = false;
  double cost = HUGE_VAL;
  tsr_status status = tsr_route_greedy(job, route, &found);
  if (tsr_status_cause(status) == TSR_CAUSE_NO_SEQUENCE) {
    tsr_status_free(status);
    status = NULL;
    found = false;
  }
  if (!status && found) status = tsr_route_cost(job, route, &cost, &legal);
  if (status) return status;
  *out_even = found;
  *out_price = legal ? cost : HUGE_VAL;
  return NULL;
}

static tsr_status find_plain(const tsr_change_job *job, tsr_route *route) {
  double cost;
  bool legal;
  TSR_TRY(tsr_route_plain(job, route));
  TSR_TRY(tsr_route_cost(job, route, &cost, &legal));
  return legal ? NULL : does_not_fit(job);
}

// The search; if it gave up, the greedy order; if that is not possible, gathering.
static tsr_status find_best(const tsr_change_job *job, tsr_route *out_route) {
  tsr_route greedy = TSR_ROUTE_EMPTY, best = TSR_ROUTE_EMPTY;
  bool even = false, found = false;
  double price = HUGE_VAL;
  tsr_status status = price_greedy(job, &greedy, &even, &price);
  if (!status) status = tsr_route_search(job, price, &best, &found);
  if (!status && !found) {
    greedy.expansions = best.expansions;
    tsr_route_deinit(&best);
    if (price < HUGE_VAL) {
      best = greedy;
      greedy = (tsr_route)TSR_ROUTE_EMPTY;
    } else {
      best.expansions = greedy.expansions;
      status = find_plain(job, &best);
    }
  }
  tsr_route_deinit(&greedy);
  if (status)
    tsr_route_deinit(&best);
  else
    *out_route = best;
  return status;
}

static tsr_status find_shardy(const tsr_change_job *job, tsr_route *out_route) {
  tsr_route greedy = TSR_ROUTE_EMPTY;
  bool even = false;
  double price = HUGE_VAL;
  tsr_status status = price_greedy(job, &greedy, &even, &price);
  if (!status && price < HUGE_VAL) {
    *out_route = greedy;
    return NULL;
  }
  tsr_route_deinit(&greedy);
  if (status) return status;
  if (even && job->memory_cap) return does_not_fit(job);
  return tsr_fail(NO_SEQUENCE, "Shardy's order needs shards of unequal size here");
}

static tsr_status find_route(const tsr_change_job *job, const tsr_sequence_options *options,
                             tsr_route *out_route) {
  if (tsr_spread_equal(&job->from, &job->to)) {
    *out_route = (tsr_route){.optimal = true};
    return NULL;
  }
  return options->method == TSR_SEQUENCE_SHARDY ? find_shardy(job, out_route)
                                                : find_best(job, out_route);
}

// ---- steps ----

static tsr_status whole_bytes(const tsr_change_job *job, double elements, int64_t *out_bytes) {
  const double bytes = ceil(tsr_job_bytes(job, elements) - 1e-6);
  if (!(bytes < 0x1p63)) return tsr_fail(OVERFLOW, "more than 2^63 bytes are moved");
  *out_bytes = (int64_t)bytes;
  return NULL;
}

static tsr_status step_fill(tsr_sequence *sequence, const tsr_change_job *job,
                            const tsr_spread *before, const tsr_sequence_move *move,
                            tsr_sequence_step *step) {
  tsr_move_cost cost;
  TSR_TRY(tsr_move_count(job, before, move, &cost));
  TSR_TRY(whole_bytes(job, cost.elements, &step->bytes));
  TSR_TRY(whole_bytes(job, cost.device_elements, &step->device_bytes));
  step->kind = move->kind;
  step->axis_count = move->axis_count;
  memcpy((void *)step->axes, move->axes, sizeof *move->axes * (size_t)move->axis_count);
  step->group_size = 1;
  for (int i = 0; i < move->axis_count; i++) step->group_size *= move->axes[i].size;
  step->split_dim = move->split_dim;
  step->concat_dim = move->concat_dim;
  step->in_shape = tsr_spread_local(before, &sequence->shape);
  step->out_shape = tsr_spread_local(&move->after, &sequence->shape);
  step->seconds = cost.seconds;
  return NULL;
}

static tsr_status step_bind(tsr_sequence *sequence, const tsr_sequence_move *move, bool last,
                            tsr_sequence_step *step) {
  // The last sharding is the requested one, with everything it says beside the cuts.
  if (last) {
    step->sharding = tsr_sharding_retain(sequence->to);
    return NULL;
  }
  const tsr_sharding *like = unreduced_count(sequence->from) ? sequence->from : sequence->to;
  tsr_sharding *made = NULL;
  TSR_TRY(tsr_spread_bind(&move->after, like, &made));
  step->sharding = made;
  return NULL;
}

static tsr_status add_peak(tsr_sequence *sequence, const tsr_shape *in, const tsr_shape *out) {
  int64_t before = 0, after = 0;
  TSR_TRY(tsr_shape_bytes(in, sequence->dtype, &before));
  if (out) TSR_TRY(tsr_shape_bytes(out, sequence->dtype, &after));
  if (before + after > sequence->certificate.peak_bytes)
    sequence->certificate.peak_bytes = before + after;
  return NULL;
}

static tsr_status fill(tsr_sequence *sequence, const tsr_change_job *job, const tsr_route *route) {
  tsr_sequence_certificate *certificate = &sequence->certificate;
  tsr_sub_axis *axes = sequence->axes;
  const tsr_spread *before = &job->from;
  const tsr_shape held = tsr_spread_local(before, &sequence->shape);
  TSR_TRY(add_peak(sequence, &held, NULL));
  for (int i = 0; i < route->count; i++) {
    const tsr_sequence_move *move = &route->moves[i];
    tsr_sequence_step *step = &sequence->steps[sequence->step_count];
    step->axes = axes;
    axes += move->axis_count;
    TSR_TRY(step_fill(sequence, job, before, move, step));
    TSR_TRY(step_bind(sequence, move, i + 1 == route->count, step));
    sequence->step_count++;
    TSR_TRY(add_peak(sequence, &step->in_shape, &step->out_shape));
    if (__builtin_add_overflow(certificate->bytes_moved, step->bytes, &certificate->bytes_moved))
      return tsr_fail(OVERFLOW, "more than 2^63 bytes are moved");
    certificate->seconds += step->seconds;
    before = &move->after;
  }
  certificate->step_count = sequence->step_count;
  certificate->optimal = route->optimal;
  certificate->expansions = route->expansions;
  tsr_space space;
  TSR_TRY(tsr_space_init(&space, job->mesh, &job->from, &job->to, &job->shape, 0, 0));
  return whole_bytes(
      job, tsr_space_lower_bound(&space, &space.from, &space.to, (double)job->elements, 1 << 16),
      &certificate->bytes_lower_bound);
}

static void destroy(tsr_sequence *sequence) {
  for (int i = 0; i < sequence->step_count; i++) tsr_sharding_release(sequence->steps[i].sharding);
  tsr_sharding_release(sequence->from);
  tsr_sharding_release(sequence->to);
  free(sequence->axes);
  free(sequence);
}

static tsr_status assemble(const tsr_change_job *job, const tsr_route *route,
                           const tsr_sharding *from, const tsr_sharding *to, tsr_dtype dtype,
                           tsr_sequence **out_sequence) {
  size_t axes = 0;
  for (int64_t i = 0; i < route->count; i++) axes += (size_t)route->moves[i].axis_count;
  tsr_sequence *made = calloc(1, sizeof *made + (size_t)route->count * sizeof(tsr_sequence_step));
  tsr_sub_axis *pool = malloc(axes * sizeof *pool + 1);
  if (!made || !pool) {
    free(made);
    free(pool);
    return tsr_fail(NO_MEMORY, "a sequence of %lld steps", (long long)route->count);
  }
  made->from = tsr_sharding_retain(from);
  made->to = tsr_sharding_retain(to);
  made->shape = job->shape;
  made->dtype = dtype;
  made->reduction = reduction_of(unreduced_count(from) ? from : to);
  made->axes = pool;
  tsr_status status = fill(made, job, route);
  if (status)
    destroy(made);
  else
    *out_sequence = made;
  return status;
}

// ---- public ----

static tsr_status check_options(const tsr_sequence_options *options) {
  if ((unsigned)options->method >= TSR_SEQUENCE_METHOD_COUNT)
    return tsr_fail(BAD_ARGUMENT, "method %d of a sequence, wanted 0 to %d", (int)options->method,
                    TSR_SEQUENCE_METHOD_COUNT - 1);
  if (options->memory_cap < 0 || options->expansion_cap < 0)
    return tsr_fail(BAD_ARGUMENT, "caps of %lld bytes and %lld states, wanted 0 or more",
                    (long long)options->memory_cap, (long long)options->expansion_cap);
  return NULL;
}

tsr_status tsr_sequence_create(const tsr_sharding *from, const tsr_sharding *to,
                               const tsr_shape *shape, tsr_dtype dtype,
                               const tsr_sequence_options *given, tsr_sequence **out_sequence) {
  tsr_sequence_options read;
  const tsr_sequence_options *const options = &read;
  TSR_TRY(tsr_sized_read(tsr_sequence_options, given, &read));
  TSR_TRY(check_options(options));
  tsr_change_job job;
  tsr_route route = TSR_ROUTE_EMPTY;
  TSR_TRY(job_init(&job, from, to, shape, dtype, options));
  TSR_TRY(find_route(&job, options, &route));
  tsr_status status = assemble(&job, &route, from, to, dtype, out_sequence);
  tsr_route_deinit(&route);
  return status;
}

void tsr_sequence_release(const tsr_sequence *sequence) {
  if (sequence) destroy((tsr_sequence *)sequence);
}

const tsr_sharding *tsr_sequence_from(const tsr_sequence *sequence) { return sequence->from; }
const tsr_sharding *tsr_sequence_to(const tsr_sequence *sequence) { return sequence->to; }
tsr_shape tsr_sequence_shape(const tsr_sequence *sequence) { return sequence->shape; }
tsr_dtype tsr_sequence_dtype(const tsr_sequence *sequence) { return sequence->dtype; }
tsr_reduction tsr_sequence_reduction(const tsr_sequence *sequence) { return sequence->reduction; }
int64_t tsr_sequence_step_count(const tsr_sequence *sequence) { return sequence->step_count; }

const tsr_sequence_step *tsr_sequence_step_at(const tsr_sequence *sequence, int64_t step) {
  return step >= 0 && step < tsr_sequence_step_count(sequence) ? &sequence->steps[step] : NULL;
}

const tsr_sequence_certificate *tsr_sequence_certificate_of(const tsr_sequence *sequence) {
  return &sequence->certificate;
}
