// Sorts the copies of an exchange into lanes, and finds those that send the same data.
#include <stdlib.h>
#include <string.h>

#include "comm/mpi/messages.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

// The sender's side of a copy, without gaps, so that equal ones have equal bytes.
typedef struct source_key {
  int64_t array, source, from, length;
  int64_t loops[2 * TSR_MAX_RANK];
} source_key;

static size_t key_of(const tsr_exchange *arrays, const tsr_mpi_piece *piece, source_key *out_key) {
  const tsr_copy *copy = piece->copy;
  out_key->array = piece->array - arrays;
  out_key->source = copy->source;
  out_key->from = copy->from;
  out_key->length = copy->length;
  for (int i = 0; i < copy->loop_count; i++) {
    out_key->loops[2 * i] = copy->loops[i].count;
    out_key->loops[2 * i + 1] = copy->loops[i].from;
  }
  return offsetof(source_key, loops) + (size_t)copy->loop_count * 2 * sizeof out_key->loops[0];
}

static bool same_source(const tsr_exchange *arrays, const tsr_mpi_piece *a,
                        const tsr_mpi_piece *b) {
  source_key keys[2];
  const size_t size = key_of(arrays, a, &keys[0]);
  return size == key_of(arrays, b, &keys[1]) && !memcmp(&keys[0], &keys[1], size);
}

// A power of two, at least twice the number of pieces.
static int64_t places_for(int64_t count) {
  int64_t places = 16;
  while (places < 2 * count) places *= 2;
  return places;
}

// Keeps the first of each set of twins in `sent` and chains the others to it. `table` has
// places_for(count) entries.
static int64_t drop_twins(const tsr_exchange *arrays, tsr_mpi_piece *pieces, int64_t *sent,
                          int64_t count, int64_t *table) {
  const int64_t places = places_for(count);
  memset(table, -1, (size_t)places * sizeof *table);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    source_key key;
    const size_t size = key_of(arrays, &pieces[sent[i]], &key);
    int64_t at = (int64_t)(tsr_hash64(&key, size, 0) & (uint64_t)(places - 1));
    while (table[at] >= 0 && !same_source(arrays, &pieces[table[at]], &pieces[sent[i]]))
      at = (at + 1) & (places - 1);
    if (table[at] >= 0) {
      pieces[sent[i]].twin = pieces[table[at]].twin;
      pieces[table[at]].twin = sent[i];
      continue;
    }
    table[at] = sent[i];
    sent[kept++] = sent[i];
  }
  return kept;
}

// The lane of a copy: 2k for the send k ranks up, 2k + 1 for the receive from k ranks down; -1 if
// it is local or not ours.
static int lane_of(const tsr_comm *comm, const tsr_copy *copy) {
  const int rank = tsr_comm_rank(comm), size = tsr_comm_rank_count(comm);
  const int from = tsr_comm_rank_of(comm, copy->source), to = tsr_comm_rank_of(comm, copy->target);
  if (from == to || (from != rank && to != rank) || !tsr_copy_elements(copy)) return -1;
  if (from == rank) return 2 * ((to - rank + size) % size - 1);
  return 2 * ((rank - from + size) % size - 1) + 1;
}

typedef struct sorter {
  const tsr_comm *comm;
  const tsr_exchange *arrays;
  int64_t array_count;
  int lane_count;
  int64_t *ends;   // per lane; first counts, then where the lane ends in `sent`
  int64_t *table;  // for drop_twins
} sorter;

static int64_t count_pieces(const sorter *s) {
  int64_t total = 0;
  for (int64_t p = 0; p < s->array_count; p++)
    for (int64_t c = 0; c < s->arrays[p].copy_count; c++) {
      const int lane = lane_of(s->comm, &s->arrays[p].copies[c]);
      if (lane < 0) continue;
      s->ends[lane]++;
      total++;
    }
  return total;
}

static void place_pieces(const sorter *s, tsr_mpi_lanes *lanes) {
  int64_t start = 0, made = 0;
  for (int l = 0; l < 2 * s->lane_count; l++) {
    const int64_t count = s->ends[l];
    s->ends[l] = start;
    start += count;
  }
  for (int64_t p = 0; p < s->array_count; p++)
    for (int64_t c = 0; c < s->arrays[p].copy_count; c++) {
      const tsr_copy *copy = &s->arrays[p].copies[c];
      const int lane = lane_of(s->comm, copy);
      if (lane < 0) continue;
      lanes->pieces[made] = (tsr_mpi_piece){&s->arrays[p], copy, -1};
      lanes->sent[s->ends[lane]++] = made++;
    }
}

static void make_lanes(const sorter *s, tsr_mpi_lanes *lanes) {
  const int rank = tsr_comm_rank(s->comm), size = tsr_comm_rank_count(s->comm);
  int64_t start = 0;
  for (int l = 0; l < 2 * s->lane_count; l++) {
    const int k = l / 2 + 1;
    const bool sending = l % 2 == 0;
    tsr_mpi_lane *lane = sending ? &lanes->sends[l / 2] : &lanes->receives[l / 2];
    *lane = (tsr_mpi_lane){.peer = (rank + (sending ? k : size - k)) % size,
                           .sending = sending,
                           .pieces = lanes->pieces,
                           .sent = lanes->sent + start};
    lane->sent_count =
        drop_twins(s->arrays, lanes->pieces, lanes->sent + start, s->ends[l] - start, s->table);
    start = s->ends[l];
  }
}

static tsr_status sort_lanes(sorter *s, tsr_mpi_lanes *lanes) {
  const int64_t total = count_pieces(s);
  s->table = malloc((size_t)places_for(total) * sizeof *s->table);
  lanes->pieces = malloc((size_t)(total + 1) * sizeof *lanes->pieces);
  lanes->sent = malloc((size_t)(total + 1) * sizeof *lanes->sent);
  if (!s->table || !lanes->pieces || !lanes->sent)
    return tsr_fail(NO_MEMORY, "%lld copies between ranks", (long long)total);
  place_pieces(s, lanes);
  make_lanes(s, lanes);
  return NULL;
}

tsr_status tsr_mpi_lanes_init(const tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count,
                              tsr_mpi_lanes *out_lanes) {
  const int lane_count = tsr_comm_rank_count(comm) - 1;
  tsr_mpi_lanes lanes = {.lane_count = lane_count};
  sorter s = {.comm = comm, .arrays = arrays, .array_count = array_count, .lane_count = lane_count};
  s.ends = calloc(2 * (size_t)lane_count + 1, sizeof *s.ends);
  lanes.sends = calloc((size_t)lane_count + 1, sizeof *lanes.sends);
  lanes.receives = calloc((size_t)lane_count + 1, sizeof *lanes.receives);
  tsr_status status = !s.ends || !lanes.sends || !lanes.receives
                          ? tsr_fail(NO_MEMORY, "lanes to %d ranks", lane_count)
                          : sort_lanes(&s, &lanes);
  free(s.ends);
  free(s.table);
  if (status)
    tsr_mpi_lanes_deinit(&lanes);
  else
    *out_lanes = lanes;
  return status;
}

void tsr_mpi_lanes_deinit(tsr_mpi_lanes *lanes) {
  free(lanes->sends);
  free(lanes->receives);
  free(lanes->pieces);
  free(lanes->sent);
  *lanes = (tsr_mpi_lanes){0};
}
