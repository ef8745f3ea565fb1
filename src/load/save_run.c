// Running a save. The root creates the files and finishes them. All ranks write their windows in
// rounds: far windows are gathered on their writers, all write, and agree that none has failed.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "job/transform_run.h"
#include "load/load.h"
#include "load/save.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/place.h"

static tsr_status agree(const tsr_save *save, tsr_status found) {
  return tsr_load_agree(save->comm, "save", found);
}

// All ranks must run the same of several saves.
static tsr_status agree_to_start(const tsr_save *save, tsr_status found) {
  tsr_call c = tsr_call_begin(save->comm, "save_run");
  tsr_call_describe(&c, "save_run of %lld tensors to \"%s\"", (long long)save->certificate.tensors,
                    save->t->work.path);
  tsr_call_hash(&c, &save->agreed, sizeof save->agreed);
  return tsr_load_agree_on(&c, found);
}

// A step of the root alone.
static tsr_status agree_on_root(const tsr_save *save, tsr_transform_state *run,
                                tsr_status (*step)(tsr_transform_state *)) {
  const bool is_root = tsr_comm_rank(save->comm) == save->root;
  return agree(save, is_root ? step(run) : NULL);
}

// ---- gathering windows ----

// The far windows of a rank in one round.
typedef struct save_turn {
  const int64_t *windows;
  int64_t count;
} save_turn;

static save_turn turn_of(const tsr_save *save, int rank, int64_t round) {
  const int64_t workers = save->t->certificate.workers;
  const int64_t first = save->first_far[rank] + round * workers, end = save->first_far[rank + 1];
  if (first >= end) return (save_turn){0};
  return (save_turn){save->far + first, tsr_least(workers, end - first)};
}

static tsr_status prepare(const tsr_save *save, int64_t window, char *stage, tsr_exchanges *x) {
  const tsr_window w = tsr_transform_window(save->t, window);
  const tsr_array *array = tsr_save_array(save, &w);
  const int64_t target = tsr_comm_first_device(save->comm, save->writers[window]);
  tsr_exchanged *item = NULL;
  TSR_TRY(tsr_exchanges_add(x, save->comm, array->bits, &item));
  for (int64_t i = 0; i < array->slot_count; i++) {
    const int64_t local = tsr_comm_local_index(save->comm, array->slots[i].device);
    item->lists.in[local] = array->slots[i].data;
  }
  if (stage) item->lists.out[tsr_comm_local_index(save->comm, target)] = stage;
  return tsr_save_list_copies(save, window, &item->copies);
}

// Every rank lists the windows of all, in the same order.
static tsr_status prepare_all(tsr_save *save, int64_t round, tsr_exchanges *x) {
  const int ranks = tsr_comm_rank_count(save->comm), me = tsr_comm_rank(save->comm);
  int64_t count = 0;
  for (int r = 0; r < ranks; r++) count += turn_of(save, r, round).count;
  TSR_TRY(tsr_exchanges_init(x, count));
  for (int r = 0; r < ranks; r++) {
    const save_turn t = turn_of(save, r, round);
    for (int64_t i = 0; i < t.count; i++) {
      tsr_staged *staged = r == me ? &save->stage.items[i] : NULL;
      const tsr_window w = tsr_transform_window(save->t, t.windows[i]);
      if (staged) staged->leaf = save->t->source.views.items[w.tensor]->origin;
      if (staged) staged->first = w.first;
      TSR_TRY(prepare(save, t.windows[i], staged ? staged->data : NULL, x));
    }
  }
  return NULL;
}

static tsr_status gather_windows(tsr_save *save, int64_t round) {
  tsr_exchanges x;
  tsr_status status = agree(save, prepare_all(save, round, &x));
  return tsr_exchanges_end(&x, save->comm, status);
}

// ---- rounds ----

// Buffers for the far windows of this rank.
static tsr_status make_stage(tsr_save *save) {
  const save_turn first = turn_of(save, tsr_comm_rank(save->comm), 0);
  const int64_t end = save->first_far[tsr_comm_rank(save->comm) + 1];
  int64_t most = 0;
  for (const int64_t *at = first.windows; first.count && at < save->far + end; at++) {
    const tsr_window w = tsr_transform_window(save->t, *at);
    const int64_t bytes = (w.count * tsr_save_array(save, &w)->bits + 7) / 8;
    if (bytes > most) most = bytes;
  }
  save->stage.items = calloc((size_t)first.count + 1, sizeof *save->stage.items);
  if (!save->stage.items) return tsr_fail(NO_MEMORY, "a stage");
  for (int64_t i = 0; i < first.count; i++) {
    save->stage.items[i].data = malloc((size_t)most + 1);
    if (!save->stage.items[i].data)
      return tsr_fail(NO_MEMORY, "a window of %lld bytes", (long long)most);
    save->stage.items[i].leaf = -1;
    save->stage.count++;
  }
  return NULL;
}

// Writes the far windows of a round and a share of the near ones.
static tsr_status write_round(const tsr_save *save, tsr_transform_state *run, int64_t round,
                              int64_t rounds) {
  const save_turn t = turn_of(save, tsr_comm_rank(save->comm), round);
  const int64_t first = save->near_count * round / rounds;
  const int64_t count = save->near_count * (round + 1) / rounds - first;
  TSR_TRY(tsr_transform_state_write(run, t.windows, t.count));
  return tsr_transform_state_write(run, save->near + first, count);
}

static tsr_status do_rounds(tsr_save *save, tsr_transform_state *run) {
  const int64_t sent = save->certificate.rounds, rounds = sent ? sent : 1;
  for (int64_t round = 0; round < rounds; round++) {
    if (sent) TSR_TRY(gather_windows(save, round));
    TSR_TRY(agree(save, write_round(save, run, round, rounds)));
  }
  return NULL;
}

// ---- digests ----

// Those of other ranks' windows, to the rank that finishes the files.
static tsr_status list_digests(const tsr_save *save, tsr_exchanges *x) {
  const tsr_transform *t = save->t;
  const int me = tsr_comm_rank(save->comm);
  tsr_exchanged *item = NULL;
  TSR_TRY(tsr_exchanges_init(x, 1));
  TSR_TRY(tsr_exchanges_add(x, save->comm, 64, &item));
  if (tsr_comm_local_count(save->comm)) item->lists.in[0] = item->lists.out[0] = t->blocks;
  for (int64_t i = 0; i < t->certificate.windows; i++) {
    const tsr_window w = tsr_transform_window(t, i);
    const tsr_block_range blocks = tsr_transform_blocks(t, &w);
    const int writer = save->writers[i];
    if (writer == save->root || (writer != me && me != save->root)) continue;
    const tsr_copy copy = {.source = tsr_comm_first_device(save->comm, writer),
                           .target = tsr_comm_first_device(save->comm, save->root),
                           .from = 2 * blocks.first,
                           .to = 2 * blocks.first,
                           .length = INT64_C(2) * blocks.count};
    TSR_TRY(tsr_copy_vector_add(&item->copies, &copy));
  }
  return NULL;
}

static tsr_status gather_digests(const tsr_save *save) {
  tsr_exchanges x;
  if (!save->t->blocks || tsr_comm_rank_count(save->comm) == 1) return NULL;
  tsr_status status = agree(save, list_digests(save, &x));
  return tsr_exchanges_end(&x, save->comm, status);
}

// ---- all of it ----

static tsr_status start(tsr_save *save, tsr_transform_state *run) {
  TSR_TRY(agree_on_root(save, run, tsr_transform_state_begin));
  const bool is_root = tsr_comm_rank(save->comm) == save->root;
  tsr_status status = is_root ? NULL : tsr_transform_state_join(run);
  if (!status) status = make_stage(save);
  if (!status) status = tsr_transform_state_expect(run, save->certificate.bytes_written);
  return agree(save, status);
}

static tsr_status write_all(tsr_save *save, tsr_transform_state *run) {
  TSR_TRY(start(save, run));
  TSR_TRY(do_rounds(save, run));
  TSR_TRY(agree(save, tsr_transform_state_flush(run)));
  TSR_TRY(gather_digests(save));
  return agree_on_root(save, run, tsr_transform_state_finish);
}

tsr_status tsr_save_run(tsr_save *save) {
  tsr_transform_state run;
  tsr_status status = tsr_transform_state_init(&run, save->t);
  const bool ready = !status;
  status = agree_to_start(save, status);
  if (!ready) return status;
  if (!status) status = write_all(save, &run);
  tsr_status closed = tsr_transform_state_close(&run);
  if (status)
    tsr_status_free(closed);
  else
    status = agree(save, closed);
  if (!status) status = agree_on_root(save, &run, tsr_transform_state_commit);
  if (status) return tsr_transform_state_end(&run, status);
  return agree(save, tsr_transform_state_end(&run, NULL));
}

tsr_status tsr_checkpoint_save(const tsr_array_tree *tree, const char *path, tsr_comm *comm,
                               const tsr_save_options *options) {
  tsr_save *save = NULL;
  TSR_TRY(tsr_save_create(tree, path, comm, options, &save));
  tsr_status status = tsr_save_run(save);
  tsr_save_destroy(save);
  return status;
}
