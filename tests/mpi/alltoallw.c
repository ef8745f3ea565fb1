// An exchange as MPI would have it: one derived type per pair of ranks, made of every element run
// of every copy between them, and one MPI_Alltoallw. Slow, and independent of the engine.
#include <stdlib.h>

#include "cases.h"
#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

typedef struct runs {
  int *lengths;
  MPI_Aint *places;
  int count, capacity;
} runs;

static void add_run(runs *r, const void *buffer, int64_t element, int64_t length, int bytes) {
  if (r->count == r->capacity) {
    r->capacity = r->capacity ? 2 * r->capacity : 64;
    r->lengths = realloc(r->lengths, (size_t)r->capacity * sizeof *r->lengths);
    r->places = realloc(r->places, (size_t)r->capacity * sizeof *r->places);
    if (!r->lengths || !r->places) abort();
  }
  MPI_Get_address((const char *)buffer + element * bytes, &r->places[r->count]);
  r->lengths[r->count++] = (int)length * bytes;
}

// All runs of a copy on one side, in the order of its loops.
static void add_copy(runs *r, const tsr_copy *copy, bool from, const void *buffer, int bytes) {
  int64_t turns[TSR_MAX_RANK] = {0};
  for (;;) {
    int64_t element = from ? copy->from : copy->to;
    for (int i = 0; i < copy->loop_count; i++)
      element += turns[i] * (from ? copy->loops[i].from : copy->loops[i].to);
    add_run(r, buffer, element, copy->length, bytes);
    int i = copy->loop_count - 1;
    while (i >= 0 && ++turns[i] == copy->loops[i].count) turns[i--] = 0;
    if (i < 0) return;
  }
}

static MPI_Datatype type_of(const tsr_comm *comm, int peer, bool sending, const tsr_exchange *parts,
                            int part_count) {
  const int rank = tsr_comm_rank(comm);
  runs r = {0};
  for (int p = 0; p < part_count; p++)
    for (int64_t c = 0; c < parts[p].copy_count; c++) {
      const tsr_copy *copy = &parts[p].copies[c];
      const int from = tsr_comm_rank_of(comm, copy->source);
      const int to = tsr_comm_rank_of(comm, copy->target);
      if (from != (sending ? rank : peer) || to != (sending ? peer : rank)) continue;
      const int64_t local = tsr_comm_local_index(comm, sending ? copy->source : copy->target);
      const void *buffer = sending ? parts[p].in[local] : parts[p].out[local];
      if (tsr_copy_elements(copy)) add_copy(&r, copy, sending, buffer, parts[p].bits / 8);
    }
  MPI_Datatype type = MPI_BYTE;
  MPI_Type_create_hindexed(r.count, r.lengths, r.places, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  free(r.lengths);
  free(r.places);
  return type;
}

int alltoallw_exchange(MPI_Comm mpi, const tsr_comm *comm, const tsr_exchange *parts,
                       int part_count) {
  enum { MOST = 64 };
  const int size = tsr_comm_rank_count(comm);
  int counts[MOST], zeros[MOST] = {0};
  MPI_Datatype sends[MOST], receives[MOST];
  if (size > MOST) return MPI_ERR_ARG;
  for (int r = 0; r < size; r++) {
    counts[r] = 1;
    sends[r] = type_of(comm, r, true, parts, part_count);
    receives[r] = type_of(comm, r, false, parts, part_count);
  }
  const int code =
      MPI_Alltoallw(MPI_BOTTOM, counts, zeros, sends, MPI_BOTTOM, counts, zeros, receives, mpi);
  for (int r = 0; r < size; r++) {
    MPI_Type_free(&sends[r]);
    MPI_Type_free(&receives[r]);
  }
  return code;
}
