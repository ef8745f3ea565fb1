// A comm is its engine, its place among the ranks and its workers. The memory that a call needs to
// find mistakes is allocated here, once.
#include "comm/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "comm/comm_internal.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/transport.h"

enum { DEFAULT_TIMEOUT = 300, DEFAULT_IN_FLIGHT = 64 << 20, MOST_RANKS = 1 << 24 };

// ---- making ----

static tsr_status read_options(const tsr_comm_options *given, tsr_comm_options *out) {
  TSR_TRY(tsr_sized_read(tsr_comm_options, given, out));
  if (isnan(out->timeout)) return tsr_fail(BAD_ARGUMENT, "the timeout is not a number");
  return NULL;
}

static tsr_status check_devices(const int64_t *first, int rank_count) {
  if (first[0] != 0)
    return tsr_fail(BAD_ARGUMENT, "the first rank starts at device %lld, wanted 0",
                    (long long)first[0]);
  for (int r = 0; r < rank_count; r++) {
    if (first[r + 1] < first[r])
      return tsr_fail(BAD_ARGUMENT, "rank %d starts at device %lld, before rank %d at %lld", r + 1,
                      (long long)first[r + 1], r, (long long)first[r]);
  }
  if (first[rank_count] < 1 || first[rank_count] > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "a comm of %lld devices, wanted 1 to %d",
                    (long long)first[rank_count], INT32_MAX);
  return NULL;
}

static tsr_status read_engine(const tsr_engine_desc *given, tsr_engine_desc *desc,
                              tsr_engine *engine) {
  TSR_TRY(tsr_sized_read(tsr_engine_desc, given, desc));
  TSR_TRY(tsr_sized_read(tsr_engine, desc->engine, engine));
  if (desc->rank_count < 1 || desc->rank_count > MOST_RANKS)
    return tsr_fail(BAD_ARGUMENT, "%d ranks, wanted 1 to %d", desc->rank_count, MOST_RANKS);
  if (desc->rank < 0 || desc->rank >= desc->rank_count)
    return tsr_fail(BAD_ARGUMENT, "rank %d of %d ranks", desc->rank, desc->rank_count);
  if (!engine->name || !engine->exchange || !engine->reduce ||
      (!engine->share && desc->rank_count > 1))
    return tsr_fail(BAD_ARGUMENT, "engine \"%s\" lacks a name, exchange, reduce or share",
                    engine->name ? engine->name : "");
  return check_devices(desc->first_devices, desc->rank_count);
}

static tsr_status alloc_lists(tsr_comm *comm, int64_t devices, int64_t local) {
  const size_t ranks = (size_t)comm->rank_count;
  comm->first = malloc(sizeof *comm->first * (ranks + 1));
  comm->member_of = malloc(sizeof *comm->member_of * (size_t)devices);
  comm->sends = malloc(sizeof *comm->sends * (size_t)devices);
  comm->spans = malloc(sizeof *comm->spans * (size_t)(2 * local + 1));
  comm->records = malloc(sizeof *comm->records * ranks);
  comm->texts = malloc(sizeof *comm->texts * ranks);
  comm->sent = malloc(2 * sizeof *comm->sent * ranks);
  comm->received = comm->sent ? comm->sent + ranks : NULL;
  if (comm->first && comm->member_of && comm->sends && comm->spans && comm->records &&
      comm->texts && comm->sent)
    return NULL;
  return tsr_fail(NO_MEMORY, "comm of %lld devices", (long long)devices);
}

static void destroy(tsr_comm *comm) {
  tsr_pool_destroy(comm->pool);
  tsr_buffer_pool_release(comm->buffers);
  free(comm->first);
  free(comm->member_of);
  free(comm->sends);
  free(comm->spans);
  free(comm->records);
  free(comm->texts);
  free(comm->sent);
  free(comm);
}

static void set_options(tsr_comm *comm, const tsr_comm_options *options) {
  comm->timeout = options->timeout == 0 ? DEFAULT_TIMEOUT : options->timeout;
  comm->in_flight = options->in_flight ? options->in_flight : DEFAULT_IN_FLIGHT;
  comm->fast = options->fast;
}

tsr_status tsr_comm_create_with_engine(const tsr_engine_desc *given,
                                       const tsr_comm_options *given_options, tsr_comm **out_comm) {
  tsr_comm_options options;
  tsr_engine_desc read;
  tsr_engine engine;
  const tsr_engine_desc *const desc = &read;
  TSR_TRY(read_options(given_options, &options));
  TSR_TRY(read_engine(given, &read, &engine));
  tsr_comm *comm = calloc(1, sizeof *comm);
  if (!comm) return tsr_fail(NO_MEMORY, "comm of %d ranks", desc->rank_count);
  atomic_init(&comm->refs, 1);
  comm->functions = engine;
  comm->engine = &comm->functions;
  comm->state = desc->state;
  comm->rank = desc->rank;
  comm->rank_count = desc->rank_count;
  set_options(comm, &options);
  const int64_t *first = desc->first_devices;
  tsr_status status =
      alloc_lists(comm, first[desc->rank_count], first[desc->rank + 1] - first[desc->rank]);
  if (!status) status = tsr_pool_create(options.workers, &comm->pool);
  if (!status && options.buffers)
    comm->buffers = tsr_buffer_pool_retain(options.buffers);
  else if (!status)
    status = tsr_buffer_pool_create(NULL, &comm->buffers);
  if (status) {
    destroy(comm);
    return status;
  }
  memcpy(comm->first, first, sizeof *first * (size_t)(desc->rank_count + 1));
  *out_comm = comm;
  return NULL;
}

tsr_status tsr_comm_create(int64_t device_count, const tsr_comm_options *options,
                           tsr_comm **out_comm) {
  if (device_count < 0)
    return tsr_fail(BAD_ARGUMENT, "a comm of %lld devices, wanted 1 to %d", (long long)device_count,
                    INT32_MAX);
  const tsr_engine_desc desc = {.size = sizeof desc,
                                .engine = &tsr_threads_engine,
                                .rank_count = 1,
                                .first_devices = (int64_t[]){0, device_count}};
  return tsr_comm_create_with_engine(&desc, options, out_comm);
}

tsr_comm *tsr_comm_retain(tsr_comm *comm) {
  atomic_fetch_add_explicit(&comm->refs, 1, memory_order_relaxed);
  return comm;
}

void tsr_comm_release(tsr_comm *comm) {
  if (!comm || atomic_fetch_sub(&comm->refs, 1) > 1) return;
  if (comm->engine->destroy) comm->engine->destroy(comm->state);
  destroy(comm);
}

// ---- accessors ----

const char *tsr_comm_engine_name(const tsr_comm *comm) { return comm->engine->name; }
int64_t tsr_comm_device_count(const tsr_comm *comm) { return comm->first[comm->rank_count]; }
int tsr_comm_rank(const tsr_comm *comm) { return comm->rank; }
int tsr_comm_rank_count(const tsr_comm *comm) { return comm->rank_count; }
tsr_pool *tsr_comm_pool(const tsr_comm *comm) { return comm->pool; }
tsr_buffer_pool *tsr_comm_buffers(const tsr_comm *comm) { return comm->buffers; }
void *tsr_comm_engine_state(const tsr_comm *comm) { return comm->state; }
double tsr_comm_timeout(const tsr_comm *comm) { return comm->timeout; }
size_t tsr_comm_in_flight(const tsr_comm *comm) { return comm->in_flight; }
int64_t tsr_comm_step(const tsr_comm *comm) {
  return atomic_load_explicit(&comm->step, memory_order_relaxed);
}

int64_t tsr_comm_first_device(const tsr_comm *comm, int rank) {
  if (rank < 0) return 0;
  return comm->first[rank < comm->rank_count ? rank : comm->rank_count];
}

int64_t tsr_comm_local_count(const tsr_comm *comm) {
  return comm->first[comm->rank + 1] - comm->first[comm->rank];
}

int tsr_comm_rank_of(const tsr_comm *comm, int64_t device) {
  if (device < 0 || device >= comm->first[comm->rank_count]) return -1;
  int low = 0, high = comm->rank_count;  // first[low] <= device < first[high]
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (comm->first[middle] <= device)
      low = middle;
    else
      high = middle;
  }
  return low;
}

int64_t tsr_comm_local_index(const tsr_comm *comm, int64_t device) {
  const int64_t first = comm->first[comm->rank];
  return device >= first && device < comm->first[comm->rank + 1] ? device - first : -1;
}
