// Exchange: all copies between ranks, in chunks, a few of which are in flight at any time.
//
// Sends and receives are served in the same order everywhere: first one rank up, then two, and so
// on. So of all pending messages, the first in that order is posted on both sides, and there is
// always progress, however few chunks are in flight.
#include <stdlib.h>

#include "comm/mpi/messages.h"
#include "comm/mpi/mpi_engine.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/transport.h"

enum { SLOTS = TSR_MPI_SLOTS, CHUNK_BYTES = 4 << 20, SMALLEST_CHUNK = 256 };

// Messages of one direction: those in flight, and the lanes still to be served.
typedef struct side {
  tsr_mpi_lane *lanes;
  int lane, lane_count;
  tsr_mpi_lane *slot_lanes[SLOTS];
  tsr_mpi_chunk chunks[SLOTS];
} side;

typedef struct mpi_exchange {
  tsr_comm *comm;
  tsr_mpi *mpi;
  int tag;
  size_t limit;
  side receives, sends;
  MPI_Request requests[2 * SLOTS];  // those of the receives, then those of the sends
} mpi_exchange;

static unsigned char *message_of(mpi_exchange *x, int slot) {
  const tsr_mpi_chunk *chunk =
      slot < SLOTS ? &x->receives.chunks[slot] : &x->sends.chunks[slot - SLOTS];
  return chunk->direct ? chunk->direct : x->mpi->slots[slot].bytes;
}

// The next chunk of a side, in `slot`; false if the side has no more.
static tsr_status next_chunk(mpi_exchange *x, side *s, int slot, bool *out_any) {
  tsr_mpi_chunk *chunk = &s->chunks[slot];
  *out_any = false;
  for (; s->lane < s->lane_count; s->lane++) {
    TSR_TRY(tsr_mpi_lane_next(x->comm, &s->lanes[s->lane], x->limit, chunk, out_any));
    if (!*out_any) continue;
    s->slot_lanes[slot] = &s->lanes[s->lane];
    if (chunk->direct) return NULL;
    return tsr_mpi_reserve(&x->mpi->slots[s == &x->sends ? SLOTS + slot : slot], chunk->bytes);
  }
  return NULL;
}

static tsr_status post_receives(mpi_exchange *x) {
  for (int slot = 0; slot < SLOTS; slot++) {
    bool any = false;
    if (x->requests[slot] != MPI_REQUEST_NULL) continue;
    TSR_TRY(next_chunk(x, &x->receives, slot, &any));
    if (!any) return NULL;
    TSR_TRY(tsr_mpi_check(
        MPI_Irecv(message_of(x, slot), (int)x->receives.chunks[slot].bytes, MPI_BYTE,
                  x->receives.slot_lanes[slot]->peer, x->tag, x->mpi->data, &x->requests[slot]),
        "MPI_Irecv"));
  }
  return NULL;
}

// Packs and sends one chunk, if there is one and a free slot.
static tsr_status post_send(mpi_exchange *x, bool *out_sent) {
  int slot = 0;
  *out_sent = false;
  while (slot < SLOTS && x->requests[SLOTS + slot] != MPI_REQUEST_NULL) slot++;
  if (slot == SLOTS) return NULL;
  TSR_TRY(next_chunk(x, &x->sends, slot, out_sent));
  if (!*out_sent) return NULL;
  const tsr_mpi_lane *lane = x->sends.slot_lanes[slot];
  unsigned char *message = message_of(x, SLOTS + slot);
  TSR_TRY(tsr_mpi_chunk_move(x->comm, lane, &x->sends.chunks[slot], message));
  return tsr_mpi_check(MPI_Isend(message, (int)x->sends.chunks[slot].bytes, MPI_BYTE, lane->peer,
                                 x->tag, x->mpi->data, &x->requests[SLOTS + slot]),
                       "MPI_Isend");
}

static tsr_status take(mpi_exchange *x, int slot, const MPI_Status *status) {
  if (slot >= SLOTS) return NULL;  // a send: its slot is free again
  const tsr_mpi_chunk *chunk = &x->receives.chunks[slot];
  const tsr_mpi_lane *lane = x->receives.slot_lanes[slot];
  int bytes = 0;
  TSR_TRY(tsr_mpi_check(MPI_Get_count(status, MPI_BYTE, &bytes), "MPI_Get_count"));
  if ((size_t)bytes != chunk->bytes)
    return tsr_fail(COMM_MISMATCH, "rank %d sent %d bytes where rank %d wanted %zu", lane->peer,
                    bytes, x->mpi->rank, chunk->bytes);
  return tsr_mpi_chunk_move(x->comm, lane, chunk, message_of(x, slot));
}

static tsr_status run(mpi_exchange *x, const tsr_exchange *arrays, int64_t array_count) {
  bool copied = false;
  for (;;) {
    bool sent = false;
    TSR_TRY(post_receives(x));
    TSR_TRY(post_send(x, &sent));
    if (!sent && !copied) {
      // All sends that others wait for are posted.
      TSR_TRY(tsr_engine_copy_here(x->comm, arrays, array_count));
      copied = true;
    }
    int count = 0, indices[2 * SLOTS];
    MPI_Status statuses[2 * SLOTS];
    TSR_TRY(tsr_mpi_some(x->mpi, x->requests, 2 * SLOTS, !sent, &count, indices, statuses));
    if (count < 0 && !sent) return NULL;
    for (int i = 0; i < count; i++) TSR_TRY(take(x, indices[i], &statuses[i]));
  }
}

tsr_status tsr_mpi_exchange(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count) {
  tsr_mpi *mpi = tsr_comm_engine_state(comm);
  TSR_TRY(tsr_mpi_begin(mpi, tsr_comm_step(comm)));
  mpi_exchange x = {.comm = comm, .mpi = mpi, .tag = (int)(mpi->step % 32768)};
  const size_t share = tsr_comm_in_flight(comm) / (2 * SLOTS);
  x.limit = share > CHUNK_BYTES ? CHUNK_BYTES : share < SMALLEST_CHUNK ? SMALLEST_CHUNK : share;
  for (int i = 0; i < 2 * SLOTS; i++) x.requests[i] = MPI_REQUEST_NULL;
  tsr_mpi_lanes lanes = {0};
  tsr_status status = tsr_mpi_lanes_init(comm, arrays, array_count, &lanes);
  if (!status) {
    x.receives = (side){.lanes = lanes.receives, .lane_count = lanes.lane_count};
    x.sends = (side){.lanes = lanes.sends, .lane_count = lanes.lane_count};
    status = run(&x, arrays, array_count);
  }
  for (int i = 0; i < SLOTS; i++) {
    free(x.receives.chunks[i].tiles);
    free(x.sends.chunks[i].tiles);
  }
  tsr_mpi_lanes_deinit(&lanes);
  return tsr_mpi_end(mpi, status);
}
