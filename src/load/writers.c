// Which rank writes what. Every rank computes it for all ranks in the same way, without messages.
//
// A window is written by a rank that holds at least half as much of it as any other: of these, by
// the one with the least to write so far. Elements narrower than a byte may share a byte with the
// next window, so one rank writes all windows of such a tensor.
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "load/save.h"
#include "tessera/checkpoint/save.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

typedef struct writer_choice {
  tsr_save *save;
  int64_t *held;        // owned: elements of the window that each rank holds
  int64_t *written;     // owned: bytes that each rank writes
  int64_t *far;         // owned: windows for which each rank needs others
  tsr_holder *holders;  // owned
  const tsr_array *array;
  tsr_box_index *index;  // owned: of the array's layout
  int64_t window;
  bool *is_far;  // owned: of each window
} writer_choice;

const tsr_array *tsr_save_array(const tsr_save *save, const tsr_window *window) {
  return tsr_save_array_of(save, save->t->source.views.items[window->tensor]);
}

// ---- one window ----

static tsr_status count_copy(void *context, const tsr_copy *copy) {
  writer_choice *c = context;
  const int64_t holders =
      tsr_load_holders(c->save->comm, c->array->layout, copy->source, c->holders);
  for (int64_t i = 0; i < holders; i++) c->held[c->holders[i].rank] += tsr_copy_elements(copy);
  return NULL;
}

// Who sends a shard to the writer of a window: the writer if it holds the shard, or holders in
// turn.
static tsr_holder giver_of(const tsr_holder *holders, int64_t count, int writer, int64_t turn) {
  for (int64_t i = 0; i < count; i++)
    if (holders[i].rank == writer) return holders[i];
  return holders[turn % count];
}

static tsr_status count_traffic(void *context, const tsr_copy *copy) {
  writer_choice *c = context;
  tsr_save *save = c->save;
  const int64_t holders = tsr_load_holders(save->comm, c->array->layout, copy->source, c->holders);
  const int writer = save->writers[c->window], me = tsr_comm_rank(save->comm);
  const int giver = giver_of(c->holders, holders, writer, c->window).rank;
  const int64_t bytes = (tsr_copy_elements(copy) * c->array->bits + 7) / 8;
  if (giver == writer) return NULL;
  if (giver == me) save->certificate.bytes_sent += bytes;
  if (writer == me) save->certificate.bytes_received += bytes;
  return NULL;
}

static int choose_rank(const writer_choice *c) {
  const int ranks = tsr_comm_rank_count(c->save->comm);
  int64_t most = 0;
  int chosen = -1;
  for (int r = 0; r < ranks; r++)
    if (c->held[r] > most) most = c->held[r];
  for (int r = 0; r < ranks; r++)
    if (c->held[r] >= most - most / 2 && c->held[r] > 0 &&
        (chosen < 0 || c->written[r] < c->written[chosen]))
      chosen = r;
  return chosen;
}

// A host tensor is on every rank. Ranks without devices do not write.
static void hold_everywhere(writer_choice *c, int64_t count) {
  for (int r = 0; r < tsr_comm_rank_count(c->save->comm); r++)
    if (tsr_comm_first_device(c->save->comm, r) < tsr_comm_first_device(c->save->comm, r + 1))
      c->held[r] = count;
}

static tsr_status choose_for_window(writer_choice *c, const tsr_window *w) {
  tsr_save *save = c->save;
  const tsr_view *view = save->t->source.views.items[w->tensor];
  const int64_t first = save->t->first_window[w->tensor];
  memset(c->held, 0, sizeof *c->held * (size_t)tsr_comm_rank_count(save->comm));
  if (c->array && tsr_comm_rank_count(save->comm) > 1)
    TSR_TRY(tsr_array_range_copies(c->array, c->index, w->first, w->count, count_copy, c));
  else
    hold_everywhere(c, w->count);
  const bool shares_bytes = tsr_dtype_info_of(view->dtype)->bits % 8 != 0 && c->window > first;
  const int writer = shares_bytes ? save->writers[first] : choose_rank(c);
  save->writers[c->window] = writer;
  c->written[writer] += tsr_view_bytes(view, w->count);
  c->is_far[c->window] = c->held[writer] < w->count;
  if (!c->is_far[c->window]) return NULL;
  c->far[writer]++;
  return tsr_array_range_copies(c->array, c->index, w->first, w->count, count_traffic, c);
}

// ---- all windows ----

static tsr_status choose_all(writer_choice *c) {
  const int64_t windows = c->save->t->certificate.windows;
  for (c->window = 0; c->window < windows; c->window++) {
    const tsr_window w = tsr_transform_window(c->save->t, c->window);
    const tsr_array *array = tsr_save_array(c->save, &w);
    if (array && array != c->array) {
      const int64_t replicas = tsr_layout_replica_count(array->layout);
      free(c->holders);
      c->holders = malloc(sizeof *c->holders * (size_t)(replicas + 1));
      if (!c->holders) return tsr_fail(NO_MEMORY, "%lld replicas", (long long)replicas);
      tsr_box_index_destroy(c->index);
      c->index = NULL;
      TSR_TRY(tsr_box_index_create(array->layout, &c->index));
    }
    c->array = array;
    TSR_TRY(choose_for_window(c, &w));
  }
  return NULL;
}

// Lists the far windows of all ranks and the near windows of this rank.
static void list_windows(const writer_choice *c) {
  tsr_save *save = c->save;
  const int ranks = tsr_comm_rank_count(save->comm), me = tsr_comm_rank(save->comm);
  int64_t *next = c->held;
  save->first_far[0] = 0;
  for (int r = 0; r < ranks; r++) save->first_far[r + 1] = save->first_far[r] + c->far[r];
  memcpy(next, save->first_far, sizeof *next * (size_t)ranks);
  for (int64_t i = 0; i < save->t->certificate.windows; i++) {
    if (c->is_far[i])
      save->far[next[save->writers[i]]++] = i;
    else if (save->writers[i] == me)
      save->near[save->near_count++] = i;
  }
}

static void certify(const writer_choice *c) {
  tsr_save_certificate *out = &c->save->certificate;
  const int64_t workers = c->save->t->certificate.workers;
  for (int r = 0; r < tsr_comm_rank_count(c->save->comm); r++) {
    const int64_t rounds = (c->far[r] + workers - 1) / workers;
    out->total_written += c->written[r];
    if (c->written[r] > out->most_written) out->most_written = c->written[r];
    if (rounds > out->rounds) out->rounds = rounds;
  }
  out->bytes_written = c->written[tsr_comm_rank(c->save->comm)];
}

tsr_status tsr_save_choose_writers(tsr_save *save) {
  const size_t ranks = (size_t)tsr_comm_rank_count(save->comm);
  const size_t windows = (size_t)save->t->certificate.windows;
  writer_choice c = {.save = save,
                     .held = calloc(ranks + 1, sizeof *c.held),
                     .written = calloc(ranks, sizeof *c.written),
                     .far = calloc(ranks, sizeof *c.far),
                     .is_far = calloc(windows + 1, sizeof *c.is_far)};
  save->writers = calloc(windows + 1, sizeof *save->writers);
  save->far = calloc(windows + 1, sizeof *save->far);
  save->near = calloc(windows + 1, sizeof *save->near);
  save->first_far = calloc(ranks + 1, sizeof *save->first_far);
  const bool made = c.held && c.written && c.far && c.is_far && save->writers && save->far &&
                    save->near && save->first_far;
  tsr_status status = made ? choose_all(&c) : tsr_fail(NO_MEMORY, "%zu windows", windows);
  if (!status) list_windows(&c);
  if (!status) certify(&c);
  free(c.held);
  free(c.written);
  free(c.far);
  free(c.is_far);
  free(c.holders);
  tsr_box_index_destroy(c.index);
  return status;
}

// ---- copies ----

typedef struct window_copies {
  const tsr_save *save;
  const tsr_array *array;
  int64_t window;
  tsr_holder *holders;  // owned
  tsr_copy_vector *out;
} window_copies;

static tsr_status list_copy(void *context, const tsr_copy *found) {
  window_copies *l = context;
  tsr_comm *comm = l->save->comm;
  const int writer = l->save->writers[l->window], me = tsr_comm_rank(comm);
  const int64_t holders = tsr_load_holders(comm, l->array->layout, found->source, l->holders);
  const tsr_holder giver = giver_of(l->holders, holders, writer, l->window);
  tsr_copy copy = *found;
  if (giver.rank != me && writer != me) return NULL;
  copy.source = giver.device;
  copy.target = tsr_comm_first_device(comm, writer);
  return tsr_copy_vector_add(l->out, &copy);
}

tsr_status tsr_save_list_copies(const tsr_save *save, int64_t window, tsr_copy_vector *out) {
  const tsr_window w = tsr_transform_window(save->t, window);
  window_copies l = {.save = save, .array = tsr_save_array(save, &w), .window = window, .out = out};
  const int64_t replicas = tsr_layout_replica_count(l.array->layout);
  l.holders = malloc(sizeof *l.holders * (size_t)(replicas + 1));
  if (!l.holders) return tsr_fail(NO_MEMORY, "%lld replicas", (long long)replicas);
  tsr_box_index *index = NULL;
  tsr_status status = tsr_box_index_create(l.array->layout, &index);
  if (!status) status = tsr_array_range_copies(l.array, index, w.first, w.count, list_copy, &l);
  tsr_box_index_destroy(index);
  free(l.holders);
  return status;
}
