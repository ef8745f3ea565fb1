// Random exchanges, by the engine and by MPI_Alltoallw: the same bytes everywhere. Many small
// pieces, long runs, strided ones, several widths, few bytes in flight and many.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"

enum { DEVICES_PER_RANK = 2, PARTS = 2, COPIES = 40, ELEMENTS = 1 << 16, ROUNDS = 24 };

// The same numbers on every rank.
static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static int64_t below(uint64_t *state, int64_t end) {
  return (int64_t)(next(state) % (uint64_t)end);
}

// A copy into stretch `index` of COPIES of a target's buffer, so that none overlap.
static tsr_copy random_copy(uint64_t *state, int64_t devices, int64_t index) {
  const int64_t room = ELEMENTS / COPIES;
  tsr_copy copy = {.source = below(state, devices), .target = below(state, devices)};
  copy.to = index * room;
  switch (below(state, 4)) {
    case 0:
      copy.length = 1 + below(state, room);
      break;
    case 1:  // rows
      copy.length = 1 + below(state, 30);
      copy.loop_count = 1;
      copy.loops[0] = (tsr_copy_loop){1 + below(state, room / 32), 50, copy.length};
      break;
    case 2:  // single elements, transposed
      copy.length = 1;
      copy.loop_count = 2;
      copy.loops[0] = (tsr_copy_loop){1 + below(state, 30), 1, 30};
      copy.loops[1] = (tsr_copy_loop){1 + below(state, 30), 40, 1};
      break;
    default:  // boxes in a box
      copy.length = 1 + below(state, 5);
      copy.loop_count = 2;
      copy.loops[0] = (tsr_copy_loop){1 + below(state, 10), 100, 12 * 8};
      copy.loops[1] = (tsr_copy_loop){1 + below(state, 12), 7, 8};
      break;
  }
  copy.from = below(state, ELEMENTS - 2000);
  if (copy.length > ELEMENTS - copy.from) copy.length = ELEMENTS - copy.from;
  return copy;
}

typedef struct part {
  tsr_copy copies[COPIES];
  int64_t copy_count;  // of those that concern this rank
  int bits;
  void *in[DEVICES_PER_RANK], *out[DEVICES_PER_RANK];
} part;

static void make_part(part *p, uint64_t *state, const tsr_comm *comm) {
  static const int widths[] = {8, 16, 32, 64, 128};
  p->bits = widths[below(state, 5)];
  for (int64_t c = 0; c < COPIES; c++) {
    p->copies[c] = random_copy(state, tsr_comm_device_count(comm), c);
    // Now and then another device wants what the last one got.
    if (c && !below(state, 4)) {
      const int64_t to = p->copies[c].to, target = p->copies[c].target;
      p->copies[c] = p->copies[c - 1];
      p->copies[c].to = to;
      p->copies[c].target = target;
    }
  }
  p->copy_count = 0;
  for (int64_t c = 0; c < COPIES; c++) {
    const tsr_copy *copy = &p->copies[c];
    if (tsr_comm_local_index(comm, copy->source) >= 0 ||
        tsr_comm_local_index(comm, copy->target) >= 0)
      p->copies[p->copy_count++] = *copy;
  }
  const size_t bytes = (size_t)ELEMENTS * (size_t)(p->bits / 8);
  for (int64_t d = 0; d < DEVICES_PER_RANK; d++) {
    unsigned char *in = malloc(bytes);
    p->in[d] = in;
    p->out[d] = malloc(bytes);
    uint64_t seed = (uint64_t)(tsr_comm_first_device(comm, tsr_comm_rank(comm)) + d);
    for (size_t i = 0; i < bytes; i++) in[i] = (unsigned char)next(&seed);
  }
}

static void fill_exchange(const part *parts, tsr_exchange *out) {
  for (int p = 0; p < PARTS; p++)
    out[p] = (tsr_exchange){.copies = parts[p].copies,
                            .copy_count = parts[p].copy_count,
                            .bits = parts[p].bits,
                            .in = (const void *const *)parts[p].in,
                            .out = parts[p].out};
}

static void clear_outputs(const part *parts) {
  for (int p = 0; p < PARTS; p++)
    for (int d = 0; d < DEVICES_PER_RANK; d++)
      memset(parts[p].out[d], 0xee, (size_t)ELEMENTS * (size_t)(parts[p].bits / 8));
}

// Both ways, into the same buffers one after the other.
static void compare_round(tsr_comm *comm, uint64_t *state) {
  static part parts[PARTS];
  tsr_exchange exchange[PARTS];
  void *kept[PARTS][DEVICES_PER_RANK];
  for (int p = 0; p < PARTS; p++) make_part(&parts[p], state, comm);
  fill_exchange(parts, exchange);
  clear_outputs(parts);
  alltoallw_exchange(MPI_COMM_WORLD, comm, exchange, PARTS);
  for (int p = 0; p < PARTS; p++)
    for (int d = 0; d < DEVICES_PER_RANK; d++) {
      const size_t bytes = (size_t)ELEMENTS * (size_t)(parts[p].bits / 8);
      kept[p][d] = memcpy(malloc(bytes), parts[p].out[d], bytes);
    }
  clear_outputs(parts);
  check_ok("exchange", tsr_comm_exchange(comm, exchange, PARTS));
  for (int p = 0; p < PARTS; p++)
    for (int d = 0; d < DEVICES_PER_RANK; d++) {
      const size_t bytes = (size_t)ELEMENTS * (size_t)(parts[p].bits / 8);
      check_that("as MPI_Alltoallw", !memcmp(kept[p][d], parts[p].out[d], bytes));
      free(kept[p][d]);
      free(parts[p].in[d]);
      free(parts[p].out[d]);
    }
}

int case_exchange(void) {
  static const size_t in_flight[] = {0, 1, 40000};
  uint64_t state = 7;
  for (size_t i = 0; i < sizeof in_flight / sizeof *in_flight; i++) {
    const tsr_comm_options options = {
        .size = sizeof options, .workers = 1 + (int)i, .timeout = 60, .in_flight = in_flight[i]};
    tsr_comm *comm = NULL;
    if (!check_ok("create", tsr_comm_create_mpi(MPI_COMM_WORLD, DEVICES_PER_RANK, &options, &comm)))
      return 1;
    for (int round = 0; round < ROUNDS / 3; round++) compare_round(comm, &state);
    tsr_comm_release(comm);
  }
  return check_failures > 0;
}
