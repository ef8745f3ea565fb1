// The cost of a message: times of copies between two devices for 8 sizes, and the line through
// them.
//
// Sizes span four orders of magnitude, so relative errors are minimized: least squares with weights
// 1 / t^2. Of each size the fastest of several rounds counts, since disturbances only add; the
// spread of the rounds measures the noise.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm/comm.h"
#include "comm/comm_internal.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"

enum { SIZES = TSR_MEASURE_SIZES, ROUNDS = 5, DEFAULT_MOST = 16 << 20 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The line alpha + beta * x through the points; neither is negative.
static void fit_line(tsr_comm_fit *fit) {
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, squares = 0;
  for (int i = 0; i < SIZES; i++) {
    const double x = (double)fit->bytes[i], y = fit->seconds[i], weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * y;
    wxy += weight * x * y;
  }
  const double spread = w * wxx - wx * wx;
  fit->beta = spread > 0 ? (w * wxy - wx * wy) / spread : 0;
  if (fit->beta < 0) fit->beta = 0;
  fit->alpha = (wy - fit->beta * wx) / w;
  if (fit->alpha < 0) fit->alpha = 0;
  for (int i = 0; i < SIZES; i++) {
    const double fitted = fit->alpha + fit->beta * (double)fit->bytes[i];
    const double off = (fitted - fit->seconds[i]) / fit->seconds[i];
    squares += off * off;
  }
  fit->error = sqrt(squares / SIZES);
}

// Two devices that exchange messages, and their buffers (NULL if not local).
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
  const tsr_exchange array = {.copies = &copy,
                              .copy_count = here,
                              .bits = 8,
                              .in = (const void *const *)p->buffers,
                              .out = p->buffers};
  return comm->engine->exchange(comm, &array, 1);
}

static int by_size(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

// There and back, since only the first sender knows when both are done. Each round uses other
// bytes, since real data is not in the first cache.
static tsr_status time_message(const probe *p, int64_t bytes, double *out_best,
                               double *out_median) {
  double rounds[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    const int64_t at = (p->most - bytes) / ROUNDS * round;
    const double start = now();
    TSR_TRY(send(p, p->a, p->b, at, bytes));
    TSR_TRY(send(p, p->b, p->a, at, bytes));
    const double seconds = (now() - start) / 2;
    rounds[round] = seconds > 0 ? seconds : 1e-9;
  }
  qsort(rounds, ROUNDS, sizeof *rounds, by_size);
  *out_best = rounds[0];
  *out_median = rounds[ROUNDS / 2];
  return NULL;
}

// Each local end has a buffer of two halves: one sent, one received.
static tsr_status alloc_buffers(const probe *p) {
  const int64_t ends[2] = {p->a, p->b};
  for (int i = 0; i < 2; i++) {
    const int64_t local = tsr_comm_local_index(p->comm, ends[i]);
    if (local < 0) continue;
    p->buffers[local] = malloc(2 * (size_t)p->most);
    if (!p->buffers[local]) return tsr_fail(NO_MEMORY, "%lld bytes to measure", (long long)p->most);
    memset(p->buffers[local], 1, 2 * (size_t)p->most);  // touches every page
  }
  return NULL;
}

static void free_buffers(const probe *p) {
  for (int64_t i = 0; p->buffers && i < tsr_comm_local_count(p->comm); i++) free(p->buffers[i]);
  free((void *)p->buffers);
}

static tsr_status time_sizes(const probe *p, tsr_comm_fit *out_fit) {
  tsr_comm_fit fit = {0};
  int64_t bytes = p->most;
  for (int i = SIZES - 1; i >= 0; i--) {
    double median = 0;
    fit.bytes[i] = bytes;
    TSR_TRY(time_message(p, bytes, &fit.seconds[i], &median));
    const double noise = median / fit.seconds[i] - 1;
    if (noise > fit.noise) fit.noise = noise;
    bytes = bytes / 4 > 1 ? bytes / 4 : 1;
  }
  fit_line(&fit);
  *out_fit = fit;
  return NULL;
}

static tsr_status check_probe(const probe *p) {
  const int64_t count = tsr_comm_device_count(p->comm);
  if (p->most < 1 || p->most > INT64_C(1) << 40)
    return tsr_fail(BAD_ARGUMENT, "messages of %lld bytes, wanted 0 to 2^40", (long long)p->most);
  if (p->a < 0 || p->a >= count || p->b < 0 || p->b >= count || p->a == p->b)
    return tsr_fail(BAD_ARGUMENT, "messages from device %lld to %lld, wanted two of %lld",
                    (long long)p->a, (long long)p->b, (long long)count);
  return NULL;
}

// All ranks get the result of the rank that has `a`.
tsr_status tsr_comm_measure_between(tsr_comm *comm, int64_t a, int64_t b, int64_t most_bytes,
                                    tsr_comm_fit *out_fit) {
  const int64_t most = most_bytes ? most_bytes : DEFAULT_MOST;
  tsr_call c = tsr_call_begin(comm, "measure");
  tsr_call_describe(&c, "measure of %lld bytes between devices %lld and %lld", (long long)most,
                    (long long)a, (long long)b);
  probe p = {.comm = comm, .a = a, .b = b, .most = most};
  tsr_comm_fit *fits = calloc((size_t)comm->rank_count, sizeof *fits), mine = {0};
  p.buffers = calloc((size_t)tsr_comm_local_count(comm) + 1, sizeof *p.buffers);
  tsr_status status = check_probe(&p);
  if (!status && (!fits || !p.buffers)) status = tsr_fail(NO_MEMORY, "buffers to measure with");
  if (!status) status = alloc_buffers(&p);
  status = tsr_call_agree(&c, status);
  if (!status) status = tsr_call_end(&c, time_sizes(&p, &mine));
  if (!status && fits) {  // an allocation failure was reported by agree
    status = tsr_comm_share(comm, &mine, sizeof mine, fits);
    if (!status) *out_fit = fits[tsr_comm_rank_of(comm, a)];
  }
  free(fits);
  free_buffers(&p);
  return status;
}
