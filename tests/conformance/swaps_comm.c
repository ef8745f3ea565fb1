// The collectives of tessera/comm.h with an argument swapped.
#include <string.h>

#include "comm/comm_internal.h"
#include "conformance/swaps.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"

enum { ROOM = 4 * MOST_SWAP_DEVICES * MOST_SWAP_DEVICES };

// All devices as one group; swapped in reverse order.
typedef struct stage {
  int64_t members[MOST_SWAP_DEVICES];
  tsr_groups groups;
  int32_t data[2 * DEVICES_PER_RANK][ROOM];
  const void *in[DEVICES_PER_RANK];
  void *out[DEVICES_PER_RANK];
} stage;

// Element i of device d is 1000 d + i.
static void set_stage(stage *g, const scene *s, bool reverse) {
  const int64_t first = tsr_comm_first_device(s->comm, s->rank);
  for (int i = 0; i < s->n; i++) g->members[i] = reverse ? s->n - 1 - i : i;
  g->groups = (tsr_groups){1, s->n, g->members};
  for (int d = 0; d < DEVICES_PER_RANK; d++) {
    for (int i = 0; i < ROOM; i++) g->data[d][i] = (int32_t)(1000 * (first + d) + i);
    memset(g->data[DEVICES_PER_RANK + d], 0, sizeof *g->data);
    g->in[d] = g->data[d];
    g->out[d] = g->data[DEVICES_PER_RANK + d];
  }
}

typedef int32_t wanted_fn(const scene *s, int64_t device, int i);
static tsr_status check(const scene *s, const stage *g, int count, wanted_fn *wanted) {
  const int64_t first = tsr_comm_first_device(s->comm, s->rank);
  for (int d = 0; d < DEVICES_PER_RANK; d++)
    for (int i = 0; i < count; i++)
      if (g->data[DEVICES_PER_RANK + d][i] != wanted(s, first + d, i))
        return tsr_fail(REPLICAS_DIFFER, "device %lld has a wrong element %d", (long long)first + d,
                        i);
  return NULL;
}

static int32_t gathered(const scene *s, int64_t device, int i) {
  (void)s;
  (void)device;
  return 1000 * (i / 2) + i % 2;
}

static tsr_status all_gather(scene *s, int swapped) {
  stage g;
  set_stage(&g, s, swapped == 1);
  TSR_TRY(tsr_comm_all_gather(s->comm, &g.groups, swapped == 2 ? TSR_F32 : TSR_I32,
                              swapped == 3 ? 2 : 1, swapped == 4 ? 1 : 2, g.in, g.out));
  return check(s, &g, (int)s->n * 2, gathered);
}

// The sum over all devices of 1000 d + i.
static int32_t summed(const scene *s, int64_t device, int i) {
  (void)device;
  return (int32_t)(1000 * s->n * (s->n - 1) / 2 + s->n * i);
}

static tsr_status all_reduce(scene *s, int swapped) {
  stage g;
  set_stage(&g, s, swapped == 1);
  TSR_TRY(tsr_comm_all_reduce(s->comm, &g.groups, swapped == 2 ? TSR_F32 : TSR_I32,
                              swapped == 3 ? TSR_REDUCE_MAX : TSR_REDUCE_SUM, swapped == 4 ? 3 : 2,
                              g.in, g.out));
  return check(s, &g, 2, summed);
}

static int32_t scattered(const scene *s, int64_t device, int i) {
  return summed(s, device, (int)device * 2 + i);
}

static tsr_status reduce_scatter(scene *s, int swapped) {
  stage g;
  set_stage(&g, s, swapped == 1);
  TSR_TRY(tsr_comm_reduce_scatter(s->comm, &g.groups, swapped == 2 ? TSR_F32 : TSR_I32,
                                  swapped == 3 ? TSR_REDUCE_MIN : TSR_REDUCE_SUM,
                                  swapped == 4 ? 2 : 1, swapped == 5 ? 1 : 2, g.in, g.out));
  return check(s, &g, 2, scattered);
}

// Device d gets row d of each.
static int32_t turned(const scene *s, int64_t device, int i) {
  return (int32_t)(1000 * (i / s->n) + device * s->n + i % s->n);
}

static tsr_status all_to_all(scene *s, int swapped) {
  stage g;
  set_stage(&g, s, swapped == 1);
  TSR_TRY(tsr_comm_all_to_all(s->comm, &g.groups, swapped == 2 ? TSR_F32 : TSR_I32,
                              TSR_SHAPE(s->n, swapped == 3 ? 2 * s->n : s->n), swapped == 4,
                              swapped == 5, g.in, g.out));
  return check(s, &g, (int)(s->n * s->n), turned);
}

static int32_t passed_on(const scene *s, int64_t device, int i) {
  return (int32_t)(1000 * ((device + s->n - 1) % s->n) + i);
}

static tsr_status permute(scene *s, int swapped) {
  stage g;
  tsr_pair pairs[MOST_SWAP_DEVICES];
  const int step = swapped == 1 ? 2 : 1;
  set_stage(&g, s, false);
  for (int i = 0; i < s->n; i++) pairs[i] = (tsr_pair){i, (i + step) % s->n};
  TSR_TRY(tsr_comm_permute(s->comm, pairs, swapped == 2 ? s->n - 1 : s->n,
                           swapped == 3 ? TSR_F32 : TSR_I32, swapped == 4 ? 3 : 2, g.in, g.out));
  return check(s, &g, 2, passed_on);
}

static int32_t cast(const scene *s, int64_t device, int i) {
  (void)s;
  (void)device;
  return 1000 + i;
}

static tsr_status broadcast(scene *s, int swapped) {
  stage g;
  set_stage(&g, s, swapped == 1);
  TSR_TRY(tsr_comm_broadcast(s->comm, &g.groups, swapped == 2 ? 0 : 1,
                             swapped == 3 ? TSR_F32 : TSR_I32, swapped == 4 ? 3 : 2, g.in, g.out));
  return check(s, &g, 2, cast);
}

static tsr_status barrier(scene *s, int swapped) {
  (void)swapped;
  return tsr_comm_barrier(s->comm);
}

static tsr_status share(scene *s, int swapped) {
  int64_t mine[2] = {s->rank, 0}, all[2 * MOST_SWAP_RANKS];
  TSR_TRY(tsr_comm_share(s->comm, mine, swapped ? 16 : 8, all));
  for (int r = 0; r < s->ranks; r++)
    if (all[r] != r) return tsr_fail(REPLICAS_DIFFER, "rank %d shared something else", r);
  return NULL;
}

// Every device to the next: a rank lists the copies with an end here.
static int list_copies(const scene *s, int swapped, tsr_copy *out) {
  int count = 0;
  for (int64_t d = 0; d < s->n; d++) {
    const tsr_copy copy = {.source = d,
                           .target = (d + 1) % s->n,
                           .from = swapped == 3,
                           .to = swapped == 4,
                           .length = swapped == 5 ? 1 : 2};
    if (tsr_comm_local_index(s->comm, copy.source) >= 0 ||
        tsr_comm_local_index(s->comm, copy.target) >= 0)
      out[count++] = copy;
  }
  return swapped == 6 ? count - 1 : count;
}

static tsr_status exchange(scene *s, int swapped) {
  stage g;
  tsr_copy copies[MOST_SWAP_DEVICES];
  set_stage(&g, s, false);
  const tsr_exchange parts[] = {{.copies = copies,
                                 .copy_count = list_copies(s, swapped, copies),
                                 .bits = swapped == 2 ? 16 : 32,
                                 .in = g.in,
                                 .out = g.out},
                                {.bits = 8}};
  TSR_TRY(tsr_comm_exchange(s->comm, parts, swapped == 1 ? 1 : 2));
  return check(s, &g, 2, passed_on);
}

static tsr_status measure_between(scene *s, int swapped) {
  tsr_comm_fit fit;
  return tsr_comm_measure_between(s->comm, swapped == 1 ? 2 : 0, swapped == 2 ? 2 : 1,
                                  swapped == 3 ? 128 : 64, &fit);
}

const collective comm_collectives[] = {
    {"tsr_comm_all_gather", "groups dtype outer inner", all_gather},
    {"tsr_comm_all_reduce", "groups dtype op count", all_reduce},
    {"tsr_comm_reduce_scatter", "groups dtype op outer inner", reduce_scatter},
    {"tsr_comm_all_to_all", "groups dtype shape split concat", all_to_all},
    {"tsr_comm_permute", "pairs pair_count dtype count", permute},
    {"tsr_comm_broadcast", "groups root dtype count", broadcast},
    {"tsr_comm_barrier", "", barrier},
    {"tsr_comm_share", "bytes", share},
    {"tsr_comm_exchange", "part_count bits from to length copy_count", exchange},
    {"tsr_comm_measure_between", "a b most_bytes", measure_between},
    {0}};
