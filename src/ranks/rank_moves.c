// Lists of copies that grow and are used again.
#include "ranks/rank_moves.h"

#include <stdlib.h>
#include <string.h>

#include "comm/call.h"

void tsr_rank_moves_deinit(tsr_rank_moves *moves) {
  free(moves->copies);
  free(moves->arrays);
  free(moves->in);
  free(moves->out);
  free(moves->exchanges);
  free(moves->room);
  *moves = (tsr_rank_moves){0};
}

void tsr_rank_moves_clear(tsr_rank_moves *moves) { moves->copy_count = moves->array_count = 0; }

tsr_status tsr_rank_moves_reserve(tsr_rank_moves *moves, int64_t bytes) {
  if (bytes <= moves->room_bytes) return NULL;
  const int64_t rounded = (bytes + 63) / 64 * 64;
  free(moves->room);
  moves->room_bytes = 0;
  moves->room = aligned_alloc(64, (size_t)rounded);
  if (!moves->room) return tsr_fail(NO_MEMORY, "%lld bytes of partial results", (long long)rounded);
  moves->room_bytes = rounded;
  return NULL;
}

static tsr_status no_memory(void) { return tsr_fail(NO_MEMORY, "copies between ranks"); }

// Room for one more item; the old list stays if there is no memory.
static bool grow(void **list, int64_t capacity, size_t item) {
  void *larger = realloc(*list, (size_t)capacity * item);
  if (larger) *list = larger;
  return larger != NULL;
}

static tsr_status add_array(tsr_rank_moves *m, int bits) {
  const size_t local = (size_t)tsr_comm_local_count(m->lanes->comm) + 1;
  if (m->array_count == m->array_capacity) {
    const int64_t capacity = 2 * m->array_capacity + 4;
    if (!grow((void **)&m->arrays, capacity, sizeof *m->arrays) ||
        !grow((void **)&m->exchanges, capacity, sizeof *m->exchanges) ||
        !grow((void **)&m->in, capacity, local * sizeof *m->in) ||
        !grow((void **)&m->out, capacity, local * sizeof *m->out))
      return no_memory();
    m->array_capacity = capacity;
  }
  m->arrays[m->array_count++] = (tsr_move_array){m->copy_count, bits};
  return NULL;
}

// The lists of the newest array.
static int64_t newest(const tsr_rank_moves *m) {
  return (m->array_count - 1) * (tsr_comm_local_count(m->lanes->comm) + 1);
}

tsr_status tsr_rank_moves_open(tsr_rank_moves *moves, int bits, const char *const *in,
                               char *const *out) {
  const tsr_rank_lanes *lanes = moves->lanes;
  TSR_TRY(add_array(moves, bits));
  const int64_t at = newest(moves);
  for (int lane = 0; lane < lanes->lanes; lane++) {
    const int64_t local = tsr_comm_local_index(lanes->comm, lanes->devices[lane]);
    if (local < 0) continue;
    moves->in[at + local] = in[lane];
    moves->out[at + local] = out[lane];
  }
  return NULL;
}

tsr_status tsr_rank_moves_open_common(tsr_rank_moves *moves, int bits, const char *in, char *out) {
  TSR_TRY(add_array(moves, bits));
  const int64_t at = newest(moves), local = tsr_comm_local_count(moves->lanes->comm);
  for (int64_t i = 0; i < local; i++) {
    moves->in[at + i] = in;
    moves->out[at + i] = out;
  }
  return NULL;
}

tsr_status tsr_rank_moves_add(tsr_rank_moves *moves, int from, int to, const tsr_copy *copy) {
  const tsr_rank_lanes *lanes = moves->lanes;
  if (!tsr_lane_is_here(lanes, from) && !tsr_lane_is_here(lanes, to)) return NULL;
  if (moves->copy_count == moves->copy_capacity) {
    const int64_t capacity = 2 * moves->copy_capacity + 16;
    if (!grow((void **)&moves->copies, capacity, sizeof *moves->copies)) return no_memory();
    moves->copy_capacity = capacity;
  }
  tsr_copy *added = &moves->copies[moves->copy_count++];
  // Only the loops that are there: a copy has room for many more.
  memcpy(added, copy, offsetof(tsr_copy, loops) + (size_t)copy->loop_count * sizeof *copy->loops);
  added->source = lanes->devices[from];
  added->target = lanes->devices[to];
  return NULL;
}

tsr_status tsr_rank_moves_run(tsr_rank_moves *moves) {
  const int64_t stride = tsr_comm_local_count(moves->lanes->comm) + 1;
  for (int64_t i = 0; i < moves->array_count; i++) {
    const tsr_move_array *array = &moves->arrays[i];
    const int64_t end = i + 1 < moves->array_count ? array[1].first_copy : moves->copy_count;
    const int64_t count = end - array->first_copy;
    moves->exchanges[i] = (tsr_exchange){.copies = count ? moves->copies + array->first_copy : NULL,
                                         .copy_count = count,
                                         .bits = array->bits,
                                         .in = moves->in + i * stride,
                                         .out = moves->out + i * stride};
  }
  return tsr_exchange_agreed(moves->lanes->comm, moves->exchanges, moves->array_count);
}
