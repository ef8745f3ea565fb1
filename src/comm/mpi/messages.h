// Messages: the copies between two ranks as a series of chunks.
//
// Sender and receiver list the same copies in the same order (tessera/engine/collectives.h) and
// walk them by these functions, so they agree on the contents of each message without headers.
//
// A *lane* is everything from one rank to another. Its *pieces* are the copies; each source is sent
// once, however many remote devices need it. Pieces are cut in *tiles* that fit a worker's cache,
// and tiles fill *chunks*, one message each. If the tiles of a chunk are contiguous in the caller's
// buffer, the message is sent or received in place; packing is for scattered data.
#ifndef TESSERA_COMM_MPI_MESSAGES_H
#define TESSERA_COMM_MPI_MESSAGES_H

#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"

typedef struct tsr_mpi_piece {
  const tsr_exchange *array;
  const tsr_copy *copy;
  int64_t twin;  // next piece with the same source; -1 = none
} tsr_mpi_piece;

typedef struct tsr_mpi_lane {
  int peer;
  bool sending;
  tsr_mpi_piece *pieces;  // of all lanes; twins are indices
  const int64_t *sent;    // the pieces of this lane, without twins
  int64_t sent_count;
  // Start of the next chunk: turn `turn` of pass `pass` of piece `sent[at]`.
  int64_t at, pass, turn;
} tsr_mpi_lane;

// `turns` turns, from `turn` on, of loop `depth` of a copy (or of its run of elements); the loops
// outside it are at `pass`.
typedef struct tsr_mpi_tile {
  int64_t piece, pass, turn, turns;
  int depth;
  size_t offset, bytes;  // in the message
} tsr_mpi_tile;

typedef struct tsr_mpi_chunk {
  tsr_mpi_tile *tiles;
  int64_t tile_count, tile_capacity;
  size_t bytes;
  bool narrow;            // has elements narrower than a byte
  unsigned char *direct;  // its address in the caller's buffer; NULL = scattered
} tsr_mpi_chunk;

typedef struct tsr_mpi_lanes {
  tsr_mpi_lane *sends, *receives;  // one per other rank, in the order they are served
  int lane_count;
  tsr_mpi_piece *pieces;
  int64_t *sent;
} tsr_mpi_lanes;

// The lanes to and from all other ranks; the k-th send goes k ranks up, the k-th receive comes from
// k ranks down. Nothing to free on failure.
TSR_MUST_USE tsr_status tsr_mpi_lanes_init(const tsr_comm *comm, const tsr_exchange *arrays,
                                           int64_t array_count, tsr_mpi_lanes *out_lanes);
void tsr_mpi_lanes_deinit(tsr_mpi_lanes *lanes);

// The next chunk of at most `limit` bytes; false at the end of the lane. Reuses the chunk's list of
// tiles, which its owner frees.
TSR_MUST_USE tsr_status tsr_mpi_lane_next(const tsr_comm *comm, tsr_mpi_lane *lane, size_t limit,
                                          tsr_mpi_chunk *chunk, bool *out_any);

// Packs the chunk into `message` (send), or unpacks it (receive), on the comm's workers. After a
// direct receive only twins remain.
TSR_MUST_USE tsr_status tsr_mpi_chunk_move(const tsr_comm *comm, const tsr_mpi_lane *lane,
                                           const tsr_mpi_chunk *chunk, unsigned char *message);

#endif
