// Wrong arguments end with the same message on every rank, and the comm goes on.
#include "comm/comm_internal.h"
#include "conformance/conformance.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"

static void test_groups(suite *s) {
  tsr_comm *comm = s->comm;
  const int64_t n = tsr_comm_device_count(comm);
  float a[MOST_DEVICES], b[MOST_DEVICES];
  const void *in[MOST_DEVICES];
  void *out[MOST_DEVICES];
  for (int i = 0; i < MOST_DEVICES; i++) in[i] = &a[i], out[i] = &b[i];
  suite_begin(s, "mistakes in groups");
  tsr_groups groups = {1, 1, &n};
  suite_fails(s, tsr_comm_all_gather(comm, &groups, TSR_F32, 1, 1, in, out), TSR_CAUSE_BAD_ARGUMENT,
              "member 0 of group 0 is device ");
  groups = (tsr_groups){1, n + 1, (int64_t[]){0}};
  suite_fails(s, tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "devices, but there are ");
  groups = (tsr_groups){1, 0, (int64_t[]){0}};
  suite_fails(s, tsr_comm_broadcast(comm, &groups, 0, TSR_F32, 1, in, out), TSR_CAUSE_BAD_ARGUMENT,
              "1 groups of 0 devices");
  groups = (tsr_groups){1, 1, (int64_t[]){0}};
  suite_fails(s, tsr_comm_broadcast(comm, &groups, 1, TSR_F32, 1, in, out), TSR_CAUSE_BAD_ARGUMENT,
              "the root is member 1, wanted 0 to 0");
  if (n < 2) return;
  groups = (tsr_groups){1, 2, (int64_t[]){1, 1}};
  suite_fails(s, tsr_comm_reduce_scatter(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 1, 1, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "device 1 is twice in group 0");
  groups = (tsr_groups){2, 1, (int64_t[]){1, 1}};
  suite_fails(s, tsr_comm_all_to_all(comm, &groups, TSR_F32, TSR_SHAPE(1), 0, 0, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "device 1 is in group 0 and in group 1");
  groups = (tsr_groups){1, 2, (int64_t[]){0, 1}};
  suite_fails(s, tsr_comm_all_to_all(comm, &groups, TSR_F32, TSR_SHAPE(3, 2), 0, 1, in, out),
              TSR_CAUSE_INDIVISIBLE, "dimension 0 of size 3 is not divisible by 2 members");
}

static void test_arguments(suite *s) {
  tsr_comm *comm = s->comm;
  const void *in[MOST_DEVICES] = {NULL};
  void *out[MOST_DEVICES] = {NULL};
  const tsr_groups groups = {1, 1, (int64_t[]){0}};
  suite_begin(s, "mistakes in arguments");
  suite_fails(s, tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_AND, 1, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "and of f32, wanted bool or an integer type");
  suite_fails(s, tsr_comm_all_reduce(comm, &groups, TSR_C64, TSR_REDUCE_MAX, 1, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "max of c64: complex numbers have no order");
  suite_fails(s, tsr_comm_all_gather(comm, &groups, TSR_F32, -1, 2, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "-1 blocks of 2 elements, wanted 0 or more");
  suite_fails(s, tsr_comm_all_gather(comm, &groups, TSR_DTYPE_NONE, 1, 2, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "element type 0 does not exist");
  // Device 0 lies with one rank; the others are told.
  suite_fails(s, tsr_comm_broadcast(comm, &groups, 0, TSR_F32, 1, in, out), TSR_CAUSE_BAD_ARGUMENT,
              "device 0 has no `in`");
  const tsr_pair twice[] = {{0, 0}, {0, 0}};
  suite_fails(
      s,
      tsr_comm_permute(comm, twice, tsr_comm_device_count(comm) > 1 ? 2 : 3, TSR_F32, 1, in, out),
      TSR_CAUSE_BAD_ARGUMENT,
      tsr_comm_device_count(comm) > 1 ? "device 0 is the target of device 0 and of device 0"
                                      : "3 pairs, wanted 0 to 1");
  const tsr_exchange part = {.bits = 0};
  suite_fails(s, tsr_comm_exchange(comm, &part, 1), TSR_CAUSE_BAD_ARGUMENT,
              "array 0: elements of 0 bits, wanted 1 to 128");
}

// Overlaps are found where they are, and known everywhere.
static void test_overlap(suite *s) {
  tsr_comm *comm = s->comm;
  float buffer[2 * MOST_DEVICES + 1];
  const void *in[MOST_DEVICES];
  void *out[MOST_DEVICES];
  for (int i = 0; i < MOST_DEVICES; i++) in[i] = &buffer[2 * i], out[i] = &buffer[2 * i + 1];
  suite_begin(s, "buffers that overlap");
  const tsr_groups groups = {1, 1, (int64_t[]){0}};
  suite_fails(s, tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 2, in, out),
              TSR_CAUSE_BAD_ARGUMENT, "`in` of device 0 overlaps `out` of device 0");
}

static void test_share(suite *s) {
  enum { MOST_RANKS = 64 };
  const int rank = tsr_comm_rank(s->comm), ranks = tsr_comm_rank_count(s->comm);
  int all[MOST_RANKS] = {0};
  suite_begin(s, "share");
  if (ranks > MOST_RANKS || !suite_ok(s, tsr_comm_share(s->comm, &rank, sizeof rank, all))) return;
  for (int r = 0; r < ranks; r++)
    if (all[r] != r) suite_fail(s, "rank %d said %d", r, all[r]);
  suite_ok(s, tsr_comm_share(s->comm, NULL, 0, NULL));
  suite_fails(s, tsr_comm_share(s->comm, NULL, 4, all), TSR_CAUSE_BAD_ARGUMENT,
              "4 bytes without a buffer");
}

// Ranks that call different things learn so, by rank and call.
static void test_mismatch(suite *s) {
  tsr_comm *comm = s->comm;
  if (tsr_comm_rank_count(comm) == 1) return;
  suite_begin(s, "ranks that differ");
  const bool last = tsr_comm_rank(comm) == tsr_comm_rank_count(comm) - 1;
  char byte = 0, all[64];
  suite_fails(s, last ? tsr_comm_share(comm, &byte, 1, all) : tsr_comm_barrier(comm),
              TSR_CAUSE_COMM_MISMATCH, "calls share of 1 bytes");
  suite_ok(s, tsr_comm_barrier(comm));
}

void test_mistakes(suite *s) {
  test_groups(s);
  test_arguments(s);
  test_overlap(s);
  test_share(s);
  test_mismatch(s);
  const int64_t last = tsr_comm_device_count(s->comm) - 1;
  tsr_comm_fit fit;
  suite_begin(s, "measure");
  if (last < 1 || !suite_ok(s, tsr_comm_measure_between(s->comm, 0, last, 4096, &fit))) return;
  if (fit.alpha + fit.beta <= 0) suite_fail(s, "a message between devices costs nothing");
}
