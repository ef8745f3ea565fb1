// Calls that go to the engine almost unchanged: reductions, exchanges, control data.
#include <assert.h>
#include <string.h>

#include "base/room.h"
#include "base/text_internal.h"
#include "comm/rounds.h"
#include "element/reduction.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/text.h"

// ---- all_reduce, reduce_scatter ----

static tsr_status check_reduce(tsr_collective_args *a, const tsr_reduce_job *job) {
  TSR_TRY(tsr_groups_check(a->comm, job->groups));
  TSR_TRY(tsr_reduction_check(job->dtype, job->op));
  const int64_t arrays = job->scatter ? job->groups->size : 1;
  TSR_TRY(tsr_blocks_check(job->dtype, job->outer, arrays, job->inner, &a->in_bytes));
  TSR_TRY(tsr_blocks_check(job->dtype, job->outer, 1, job->inner, &a->out_bytes));
  return tsr_buffers_check(a->comm, tsr_member_role, a, job->in, job->out);
}

static tsr_status reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  const char *name = job->scatter ? "reduce_scatter" : "all_reduce";
  const char *op = tsr_reduction_name(job->op);
  tsr_call c = tsr_call_begin(comm, name);
  tsr_call_describe(&c, "%s of %lld x %lld %s, %s, %lld groups of %lld", name,
                    (long long)job->outer, (long long)job->inner, tsr_type_name(job->dtype),
                    op ? op : "?", tsr_group_count(job->groups), tsr_group_size(job->groups));
  tsr_call_add_groups(&c, job->groups);
  tsr_collective_args a = {
      .comm = comm, .groups = job->groups, .in_place = !job->scatter, .alike = !job->scatter};
  TSR_TRY(tsr_call_agree(&c, check_reduce(&a, job)));
  if (!a.in_bytes || !job->groups->count) return NULL;
  return tsr_call_end(&c, comm->engine->reduce(comm, job));
}

tsr_status tsr_comm_all_reduce(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                               tsr_reduction op, int64_t count, const void *const *in,
                               void *const *out) {
  const tsr_reduce_job job = {
      .groups = groups, .dtype = dtype, .op = op, .outer = 1, .inner = count, .in = in, .out = out};
  return reduce(comm, &job);
}

tsr_status tsr_comm_reduce_scatter(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                                   tsr_reduction op, int64_t outer, int64_t inner,
                                   const void *const *in, void *const *out) {
  const tsr_reduce_job job = {.groups = groups,
                              .dtype = dtype,
                              .op = op,
                              .scatter = true,
                              .outer = outer,
                              .inner = inner,
                              .in = in,
                              .out = out};
  return reduce(comm, &job);
}

bool tsr_comm_is_fast(const tsr_comm *comm) { return comm->fast; }

bool tsr_comm_reduces(tsr_dtype dtype, tsr_reduction op) {
  const tsr_status status = tsr_reduction_check(dtype, op);
  tsr_status_free(status);
  return !status;
}

tsr_status tsr_all_reduce_agreed(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                                 tsr_reduction op, int64_t count, const void *const *in,
                                 void *const *out) {
  const tsr_reduce_job job = {
      .groups = groups, .dtype = dtype, .op = op, .outer = 1, .inner = count, .in = in, .out = out};
  tsr_call c = tsr_call_begin(comm, "all_reduce");
  tsr_call_describe(&c, "all_reduce of %lld %s, %s", (long long)count, tsr_type_name(dtype),
                    tsr_reduction_name(op));
  return tsr_call_end(&c, comm->engine->reduce(comm, &job));
}

// ---- exchange ----

static tsr_status check_copy(const tsr_comm *comm, const tsr_exchange *array,
                             const tsr_copy *copy) {
  const int64_t devices = tsr_comm_device_count(comm);
  if (copy->source < 0 || copy->source >= devices || copy->target < 0 || copy->target >= devices)
    return tsr_fail(BAD_ARGUMENT, "from device %lld to device %lld, wanted 0 to %lld",
                    (long long)copy->source, (long long)copy->target, (long long)devices - 1);
  const int64_t from = tsr_comm_local_index(comm, copy->source);
  const int64_t to = tsr_comm_local_index(comm, copy->target);
  if (from < 0 && to < 0)
    return tsr_fail(BAD_ARGUMENT, "from device %lld to device %lld, neither is local",
                    (long long)copy->source, (long long)copy->target);
  if (copy->loop_count < 0 || copy->loop_count > TSR_MAX_RANK)
    return tsr_fail(BAD_ARGUMENT, "%d loops, wanted 0 to %d", copy->loop_count, TSR_MAX_RANK);
  if (!tsr_copy_elements(copy)) return NULL;
  if (from >= 0 && !array->in[from])
    return tsr_fail(BAD_ARGUMENT, "device %lld has no `in`", (long long)copy->source);
  if (to >= 0 && !array->out[to])
    return tsr_fail(BAD_ARGUMENT, "device %lld has no `out`", (long long)copy->target);
  return NULL;
}

static tsr_status check_array(const tsr_comm *comm, const tsr_exchange *array) {
  if (array->bits < 1 || array->bits > 128)
    return tsr_fail(BAD_ARGUMENT, "elements of %d bits, wanted 1 to 128", array->bits);
  TSR_TRY(tsr_list_check(array->copies, array->copy_count, "copies"));
  if (array->copy_count && !array->in) return tsr_fail(BAD_ARGUMENT, "no list of `in` buffers");
  if (array->copy_count && !array->out) return tsr_fail(BAD_ARGUMENT, "no list of `out` buffers");
  for (int64_t i = 0; i < array->copy_count; i++)
    TSR_TRY_NOTE(check_copy(comm, array, &array->copies[i]), "copy %lld", (long long)i);
  return NULL;
}

static tsr_status check_arrays(const tsr_comm *comm, const tsr_exchange *arrays,
                               int64_t array_count) {
  TSR_TRY(tsr_list_check(arrays, array_count, "arrays"));
  for (int64_t i = 0; i < array_count; i++)
    TSR_TRY_NOTE(check_array(comm, &arrays[i]), "array %lld", (long long)i);
  return NULL;
}

// Copies differ between ranks; arrays do not.
static tsr_hash128 digest_array(void *context, int64_t item) {
  const tsr_exchange *arrays = context;
  return (tsr_hash128){(uint64_t)arrays[item].bits, 0};
}

static void describe_array(void *context, int64_t item, tsr_text *out) {
  const tsr_exchange *arrays = context;
  tsr_text_addf(out, "array %lld of elements of %d bits", (long long)item, arrays[item].bits);
}

tsr_status tsr_comm_exchange(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count) {
  tsr_call c = tsr_call_begin(comm, "exchange");
  tsr_call_describe(&c, "exchange of %lld arrays", (long long)array_count);
  if (arrays && array_count > 0)
    c.items =
        (tsr_call_items){array_count, (void *)(uintptr_t)arrays, digest_array, describe_array};
  tsr_status status = check_arrays(comm, arrays, array_count);
  if (!status) tsr_call_balance(&c, arrays, array_count);
  TSR_TRY(tsr_call_agree(&c, status));
  return tsr_call_end(&c, comm->engine->exchange(comm, arrays, array_count));
}

tsr_status tsr_exchange_agreed(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count) {
  tsr_call c = tsr_call_begin(comm, "exchange");
  assert(!check_arrays(comm, arrays, array_count));
  tsr_call_describe(&c, "exchange of %lld arrays", (long long)array_count);
  return tsr_call_end(&c, comm->engine->exchange(comm, arrays, array_count));
}

// ---- control ----

tsr_status tsr_comm_barrier(tsr_comm *comm) {
  const tsr_call c = tsr_call_begin(comm, "barrier");
  return tsr_call_agree(&c, NULL);  // waits for all ranks
}

void tsr_comm_abandon(tsr_comm *comm, tsr_status why) {
  if (comm->rank_count > 1 && comm->engine->abandon) comm->engine->abandon(comm, why);
}

tsr_status tsr_comm_align(tsr_comm *comm) {
  const tsr_call c = tsr_call_begin(comm, "align");
  const tsr_call_record mine = {.name = (uint64_t)tsr_comm_step(comm)};
  uint64_t most = mine.name;
  if (comm->rank_count == 1) return NULL;
  TSR_TRY(tsr_call_end(&c, comm->engine->share(comm, &mine, sizeof mine, comm->records)));
  for (int r = 0; r < comm->rank_count; r++)
    if (comm->records[r].name > most) most = comm->records[r].name;
  atomic_store_explicit(&comm->step, (int64_t)most, memory_order_relaxed);
  return NULL;
}

tsr_status tsr_comm_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all) {
  tsr_call c = tsr_call_begin(comm, "share");
  tsr_call_describe(&c, "share of %zu bytes", bytes);
  tsr_status status = NULL;
  if (bytes && (!mine || !out_all))
    status = tsr_fail(BAD_ARGUMENT, "%zu bytes without a buffer", bytes);
  TSR_TRY(tsr_call_agree(&c, status));
  if (!bytes || !mine || !out_all) return NULL;  // a missing buffer was reported by agree
  if (comm->rank_count == 1) {
    memmove(out_all, mine, bytes);
    return NULL;
  }
  return tsr_call_end(&c, comm->engine->share(comm, mine, bytes, out_all));
}
