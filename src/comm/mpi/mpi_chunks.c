// Cuts a lane in chunks of tiles, and packs and unpacks them.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "comm/mpi/messages.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"

enum { TILE_BYTES = 256 << 10, MOST_TILES = 1 << 14 };

static size_t bytes_of(int64_t elements, int bits) {
  return ((size_t)elements * (size_t)bits + 7) / 8;
}

static int64_t turns_at(const tsr_copy *copy, int depth) {
  return depth < copy->loop_count ? copy->loops[depth].count : copy->length;
}

// Elements of one turn of loop `depth`.
static int64_t unit_at(const tsr_copy *copy, int depth) {
  int64_t unit = depth < copy->loop_count ? copy->length : 1;
  for (int i = depth + 1; i < copy->loop_count; i++) unit *= copy->loops[i].count;
  return unit;
}

static int64_t passes_at(const tsr_copy *copy, int depth) {
  int64_t passes = 1;
  for (int i = 0; i < depth; i++) passes *= copy->loops[i].count;
  return passes;
}

// The outermost loop with turns that fit into a tile.
static int depth_of(const tsr_copy *copy, int bits, size_t tile) {
  int depth = 0;
  while (depth < copy->loop_count && bytes_of(unit_at(copy, depth), bits) > tile) depth++;
  return depth;
}

// The tile as a copy between the caller's buffer and a dense one.
static tsr_copy tile_copy(const tsr_copy *copy, const tsr_mpi_tile *tile, bool sending) {
  tsr_copy result = {.from = copy->from, .to = copy->to, .length = copy->length};
  int64_t rest = tile->pass;
  for (int i = tile->depth - 1; i >= 0; i--) {
    const int64_t turn = rest % copy->loops[i].count;
    rest /= copy->loops[i].count;
    result.from += turn * copy->loops[i].from;
    result.to += turn * copy->loops[i].to;
  }
  if (tile->depth == copy->loop_count) {
    result.from += tile->turn;
    result.to += tile->turn;
    result.length = tile->turns;
  } else {
    result.from += tile->turn * copy->loops[tile->depth].from;
    result.to += tile->turn * copy->loops[tile->depth].to;
    result.loop_count = copy->loop_count - tile->depth;
    memcpy(result.loops, &copy->loops[tile->depth],
           (size_t)result.loop_count * sizeof *result.loops);
    result.loops[0].count = tile->turns;
  }
  // The message's side.
  int64_t stride = result.length;
  for (int i = result.loop_count - 1; i >= 0; i--) {
    *(sending ? &result.loops[i].to : &result.loops[i].from) = stride;
    stride *= result.loops[i].count;
  }
  *(sending ? &result.to : &result.from) = 0;
  return result;
}

// The address of the tile in the caller's buffer if it is contiguous there, else NULL.
static unsigned char *stretch(const tsr_comm *comm, const tsr_mpi_piece *piece,
                              const tsr_mpi_tile *tile, bool sending) {
  const tsr_copy copy = tile_copy(piece->copy, tile, sending);
  if (piece->array->bits % 8) return NULL;
  for (int i = 0; i < copy.loop_count; i++)
    if (copy.loops[i].count > 1 && copy.loops[i].from != copy.loops[i].to) return NULL;
  const int64_t place = sending ? copy.from : copy.to;
  const int64_t device = sending ? piece->copy->source : piece->copy->target;
  const int64_t local = tsr_comm_local_index(comm, device);
  // The buffer of a send is only read.
  unsigned char *buffer = sending ? (unsigned char *)(uintptr_t)piece->array->in[local]
                                  : (unsigned char *)piece->array->out[local];
  return buffer + (size_t)place * (size_t)(piece->array->bits / 8);
}

static tsr_status add_tile(const tsr_comm *comm, const tsr_mpi_lane *lane, const tsr_mpi_tile *tile,
                           tsr_mpi_chunk *chunk) {
  void *tiles =
      tsr_grow(chunk->tiles, chunk->tile_count, &chunk->tile_capacity, sizeof *chunk->tiles);
  if (!tiles) return tsr_fail(NO_MEMORY, "tiles of a message");
  chunk->tiles = tiles;
  unsigned char *place = stretch(comm, &lane->pieces[tile->piece], tile, lane->sending);
  if (!chunk->tile_count)
    chunk->direct = place;
  else if (chunk->direct && place != chunk->direct + tile->offset)
    chunk->direct = NULL;
  chunk->tiles[chunk->tile_count++] = *tile;
  chunk->bytes = tile->offset + tile->bytes;
  chunk->narrow |= lane->pieces[tile->piece].array->bits % 8 != 0;
  return NULL;
}

// The next tile of the lane, as large as possible.
static tsr_mpi_tile next_tile(const tsr_mpi_lane *lane, size_t limit, size_t used) {
  const int64_t index = lane->sent[lane->at];
  const tsr_mpi_piece *piece = &lane->pieces[index];
  const int bits = piece->array->bits;
  const size_t tile_limit = limit < TILE_BYTES ? limit : TILE_BYTES;
  const int depth = depth_of(piece->copy, bits, tile_limit);
  const int64_t unit = unit_at(piece->copy, depth);
  int64_t fit = (int64_t)(tile_limit * 8 / ((size_t)unit * (size_t)bits));
  const int64_t left = turns_at(piece->copy, depth) - lane->turn;
  fit = fit < 1 ? 1 : fit < left ? fit : left;
  const size_t width = bits < 8 ? 1 : (size_t)bits / 8;
  return (tsr_mpi_tile){.piece = index,
                        .pass = lane->pass,
                        .turn = lane->turn,
                        .turns = fit,
                        .depth = depth,
                        .offset = (used + width - 1) / width * width,
                        .bytes = bytes_of(fit * unit, bits)};
}

static void step_over(tsr_mpi_lane *lane, const tsr_mpi_tile *tile) {
  const tsr_copy *copy = lane->pieces[tile->piece].copy;
  lane->turn += tile->turns;
  if (lane->turn < turns_at(copy, tile->depth)) return;
  lane->turn = 0;
  if (++lane->pass < passes_at(copy, tile->depth)) return;
  lane->pass = 0;
  lane->at++;
}

tsr_status tsr_mpi_lane_next(const tsr_comm *comm, tsr_mpi_lane *lane, size_t limit,
                             tsr_mpi_chunk *chunk, bool *out_any) {
  chunk->tile_count = 0;
  chunk->bytes = 0;
  chunk->narrow = false;
  chunk->direct = NULL;
  while (lane->at < lane->sent_count && chunk->tile_count < MOST_TILES) {
    const tsr_mpi_tile tile = next_tile(lane, limit, chunk->bytes);
    if (chunk->tile_count && tile.offset + tile.bytes > limit) break;
    TSR_TRY(add_tile(comm, lane, &tile, chunk));
    step_over(lane, &tile);
  }
  *out_any = chunk->tile_count > 0;
  return NULL;
}

// Packing and unpacking.

typedef struct tile_move {
  const tsr_comm *comm;
  const tsr_mpi_lane *lane;
  const tsr_mpi_chunk *chunk;
  unsigned char *message;
} tile_move;

static void move_piece(const tile_move *m, const tsr_mpi_piece *piece, const tsr_mpi_tile *tile) {
  const tsr_copy copy = tile_copy(piece->copy, tile, m->lane->sending);
  unsigned char *packed = m->message + tile->offset;
  if (m->lane->sending) {
    const int64_t local = tsr_comm_local_index(m->comm, piece->copy->source);
    tsr_copy_run(&copy, piece->array->bits, piece->array->in[local], packed);
  } else {
    const int64_t local = tsr_comm_local_index(m->comm, piece->copy->target);
    tsr_copy_run(&copy, piece->array->bits, packed, piece->array->out[local]);
  }
}

// Whether two replicas share their buffer, which is then already written.
static bool is_same_place(const tsr_comm *comm, const tsr_mpi_piece *a, const tsr_mpi_piece *b) {
  return a->copy->to == b->copy->to &&
         a->array->out[tsr_comm_local_index(comm, a->copy->target)] ==
             b->array->out[tsr_comm_local_index(comm, b->copy->target)];
}

static void move_tile(const tile_move *m, const tsr_mpi_tile *tile) {
  const tsr_mpi_piece *first = &m->lane->pieces[tile->piece];
  const bool sending = m->lane->sending;
  if (!m->chunk->direct) move_piece(m, first, tile);
  if (sending) return;
  for (int64_t twin = first->twin; twin >= 0; twin = m->lane->pieces[twin].twin)
    if (!is_same_place(m->comm, first, &m->lane->pieces[twin]))
      move_piece(m, &m->lane->pieces[twin], tile);
}

// The first tile at or after `offset`.
static int64_t tile_at(const tsr_mpi_chunk *chunk, size_t offset) {
  int64_t low = 0, high = chunk->tile_count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (chunk->tiles[middle].offset < offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static tsr_status move_tiles(void *context, int64_t index, int worker) {
  (void)worker;
  const tile_move *m = context;
  // Neighbours that share a byte must not be written by two workers.
  const int64_t from = m->chunk->narrow ? 0 : tile_at(m->chunk, (size_t)index * TILE_BYTES);
  const int64_t end =
      m->chunk->narrow ? m->chunk->tile_count : tile_at(m->chunk, (size_t)(index + 1) * TILE_BYTES);
  for (int64_t t = from; t < end; t++) move_tile(m, &m->chunk->tiles[t]);
  return NULL;
}

tsr_status tsr_mpi_chunk_move(const tsr_comm *comm, const tsr_mpi_lane *lane,
                              const tsr_mpi_chunk *chunk, unsigned char *message) {
  if (chunk->direct && lane->sending) return NULL;
  tile_move m = {comm, lane, chunk, message};
  const int64_t tasks = chunk->narrow ? 1 : (int64_t)((chunk->bytes + TILE_BYTES - 1) / TILE_BYTES);
  return tsr_pool_run(tsr_comm_pool(comm), tasks, move_tiles, &m);
}
