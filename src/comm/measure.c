// What a message costs: the time of copies between two devices, for 8 sizes, and the line through
// them.
//
// Relative errors are what matters over four orders of magnitude, so the squares of these are made
// least: weights 1 / t^2. Of each size the fastest of several rounds is taken, for disturbances
// only ever add.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm/comm.h"

enum { SIZES = 8, ROUNDS = 5, DEFAULT_MOST = 16 << 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The line alpha + beta * x through points; neither is negative.
static void fit_line(const double *x, const double *y, double *out_alpha, double *out_beta) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (int i = 0; i < SIZES; i++) {
    const double weight = 1 / (y[i] * y[i]);
    w += weight;
    wx += weight * x[i];
    wxx += weight * x[i] * x[i];
    wy += weight * y[i];
    wxy += weight * x[i] * y[i];
  }
  double beta = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  if (beta < 0) beta = 0;
  double alpha = (wy - beta * wx) / w;
  if (alpha < 0) alpha = 0;
  *out_alpha = alpha;
  *out_beta = beta;
}

// Two devices that send each other messages, and the buffers for them: NULL where they are not.
typedef struct probe {
  tsr_comm *comm;
  int64_t a, b, most;  // bytes
  void **buffers;
} probe;

static tsr_status send(const probe *p, int64_t source, int64_t target, int64_t at, int64_t bytes) {
  tsr_comm *comm = p->comm;
  const tsr_copy copy = {
      .source = source, .target = target, .from = at, .to = p->most + at, .length = bytes};
  const bool here =
      tsr_comm_local_index(comm, source) >= 0 || tsr_comm_local_index(comm, target) >= 0;
  const tsr_exchange part = {.copies = &copy,
                             .copy_count = here,
                             .bits = 8,
                             .in = (const void *const *)p->buffers,
                             .out = p->buffers};
  return comm->engine->exchange(comm, &part, 1);
}

// There and back, since only the one who sent first knows when both are over. Each round is about
// other bytes, for data that is sent in earnest does not lie in the first cache.
static tsr_status time_message(const probe *p, int64_t bytes, double *out_seconds) {
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const int64_t at = (p->most - bytes) / ROUNDS * round;
    const double start = now();
    TSR_TRY(send(p, p->a, p->b, at, bytes));
    TSR_TRY(send(p, p->b, p->a, at, bytes));
    const double seconds = (now() - start) / 2;
    if (round == 0 || seconds < best) best = seconds;
  }
  *out_seconds = best > 0 ? best : 1e-9;
  return NULL;
}

// Each local end gets a buffer of two halves: one that is sent, one that is received.
static tsr_status alloc_buffers(const probe *p) {
  const int64_t ends[2] = {p->a, p->b};
  for (int i = 0; i < 2; i++) {
    const int64_t local = tsr_comm_local_index(p->comm, ends[i]);
    if (local < 0) continue;
    p->buffers[local] = malloc(2 * (size_t)p->most);
    if (!p->buffers[local]) return tsr_fail(NO_MEMORY, "%lld bytes to measure", (long long)p->most);
    memset(p->buffers[local], 1, 2 * (size_t)p->most);  // so that every page is there
  }
  return NULL;
}

static void free_buffers(const probe *p) {
  for (int64_t i = 0; p->buffers && i < tsr_comm_local_count(p->comm); i++) free(p->buffers[i]);
  free((void *)p->buffers);
}

static tsr_status time_sizes(const probe *p, double out_line[2]) {
  double x[SIZES], y[SIZES];
  int64_t bytes = p->most;
  for (int i = SIZES - 1; i >= 0; i--) {
    x[i] = (double)bytes;
    TSR_TRY(time_message(p, bytes, &y[i]));
    bytes = bytes / 4 > 1 ? bytes / 4 : 1;
  }
  fit_line(x, y, &out_line[0], &out_line[1]);
  return NULL;
}

// Measures between two devices; the answer of the rank that has `a` becomes that of all.
static tsr_status measure_pair(tsr_comm *comm, int64_t a, int64_t b, int64_t most,
                               double out_line[2]) {
  call c = tsr_call_begin(comm);
  tsr_call_describe(&c, "measure of %lld bytes between devices %lld and %lld", (long long)most,
                    (long long)a, (long long)b);
  probe p = {.comm = comm, .a = a, .b = b, .most = most};
  double *lines = calloc((size_t)comm->rank_count, 2 * sizeof *lines);
  p.buffers = calloc((size_t)tsr_comm_local_count(comm) + 1, sizeof *p.buffers);
  tsr_status status = NULL;
  if (!lines || !p.buffers) status = tsr_fail(NO_MEMORY, "buffers to measure with");
  if (!status) status = alloc_buffers(&p);
  status = tsr_call_agree(&c, status);
  double mine[2] = {0};
  if (!status) status = tsr_call_end(&c, time_sizes(&p, mine));
  if (!status) status = tsr_comm_share(comm, mine, sizeof mine, lines);
  if (!status) memcpy(out_line, lines + 2 * tsr_comm_rank_of(comm, a), sizeof mine);
  free(lines);
  free_buffers(&p);
  return status;
}

// The first rank from `rank` on that has as many devices; -1 when there is none.
static int find_rank(const tsr_comm *comm, int rank, int64_t devices) {
  for (; rank < comm->rank_count; rank++) {
    if (comm->first[rank + 1] - comm->first[rank] >= devices) return rank;
  }
  return -1;
}

tsr_status tsr_comm_measure(tsr_comm *comm, int64_t most_bytes, tsr_comm_cost *out_cost) {
  if (most_bytes < 0 || most_bytes > INT64_C(1) << 40)
    return tsr_fail(BAD_ARGUMENT, "messages of %lld bytes, wanted 0 to 2^40",
                    (long long)most_bytes);
  if (!most_bytes) most_bytes = DEFAULT_MOST;
  double local[2] = {0}, far[2] = {0};
  const int both = find_rank(comm, 0, 2), left = find_rank(comm, 0, 1);
  const int right = left < 0 ? -1 : find_rank(comm, left + 1, 1);
  if (both >= 0)
    TSR_TRY(measure_pair(comm, comm->first[both], comm->first[both] + 1, most_bytes, local));
  if (right >= 0)
    TSR_TRY(measure_pair(comm, comm->first[left], comm->first[right], most_bytes, far));
  *out_cost = (tsr_comm_cost){local[0], local[1], far[0], far[1]};
  return NULL;
}
