// Many arrays at once, in rounds of consecutive arrays. The new buffers of a round stay within the
// memory limit, and its arrays are exchanged together.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/reshard.h"
#include "array/sequence_run.h"
#include "base/compare.h"
#include "base/room.h"
#include "base/sized.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"

tsr_status tsr_reshard_options_check(const tsr_reshard_options *given,
                                     tsr_reshard_options *out_options) {
  *out_options = TSR_RESHARD_OPTIONS;
  tsr_reshard_options read;
  TSR_TRY(tsr_sized_read(tsr_reshard_options, given, &read));
  if ((int)read.method < 0 || read.method >= TSR_RESHARD_METHOD_COUNT)
    return tsr_fail(BAD_ARGUMENT, "method %d of resharding, wanted 0 to %d", (int)read.method,
                    TSR_RESHARD_METHOD_COUNT - 1);
  if (read.max_memory < 0)
    return tsr_fail(BAD_ARGUMENT, "at most %lld bytes of memory, wanted 0 or more",
                    (long long)read.max_memory);
  *out_options = read;
  return NULL;
}

static tsr_status check_arrays(tsr_array *const *arrays, const tsr_layout *const *layouts,
                               int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (!arrays[i] || !layouts[i])
      return tsr_fail(BAD_ARGUMENT, "%s %lld is NULL", arrays[i] ? "layout" : "array",
                      (long long)i);
    TSR_TRY_NOTE(tsr_array_check_alive(arrays[i]), "array %lld", (long long)i);
    if (arrays[i]->comm != arrays[0]->comm)
      return tsr_fail(BAD_ARGUMENT, "array %lld is on another comm than array 0", (long long)i);
  }
  return NULL;
}

// An array donated in one round would be gone in the next. `scratch` has room for all, and is zero
// before and after.
static tsr_status check_donated(tsr_array *const *arrays, int64_t count, tsr_array **scratch) {
  const size_t bytes = sizeof *scratch * (size_t)count;
  tsr_array *twice = NULL;
  memcpy(scratch, arrays, bytes);
  qsort(scratch, (size_t)count, sizeof *scratch, tsr_compare_pointers);
  for (int64_t i = 1; i < count && !twice; i++)
    if (scratch[i] == scratch[i - 1]) twice = scratch[i];
  memset(scratch, 0, bytes);
  if (!twice) return NULL;
  int64_t first = 0, second = 0;
  while (arrays[first] != twice) first++;
  for (second = first + 1; arrays[second] != twice;) second++;
  return tsr_fail(BAD_ARGUMENT, "array %lld is the same as array %lld and cannot be donated twice",
                  (long long)second, (long long)first);
}

// ---- rounds ----

// Bytes of an array's buffers on the rank with the most, counting replicas: the same number on
// every rank.
static int64_t most_bytes(const tsr_comm *comm, const tsr_layout *layout, int bits) {
  const int64_t positions = tsr_layout_device_count(layout);
  int64_t most = 0, here = 0;
  int rank = -1;
  for (int64_t p = 0; p < positions; p++) {
    const int of = tsr_comm_rank_of(comm, tsr_layout_device_at(layout, p));
    if (of != rank) here = 0;
    rank = of;
    here += tsr_layout_buffer_elements(layout, tsr_layout_shard(layout, p)) / 8 * bits + bits;
    if (here > most) most = here;
  }
  return most;
}

// Number of arrays in the round that starts at `first`; at least one.
static int64_t round_size(tsr_array *const *arrays, const tsr_layout *const *layouts, int64_t first,
                          int64_t count, int64_t max_memory) {
  int64_t total = 0;
  int64_t size = 0;
  for (; first + size < count; size++) {
    if (max_memory > 0)
      total += most_bytes(arrays[0]->comm, layouts[first + size], arrays[first + size]->bits);
    if (size > 0 && max_memory > 0 && total > max_memory) break;
  }
  return size;
}

typedef struct reshard_round {
  int64_t count;
  tsr_array *const *arrays;
  const tsr_layout *const *layouts;
  tsr_array **sources;  // the arrays, or what they reduce to; retained
  tsr_reshard_move *moves;
  tsr_exchange *exchanges;
} reshard_round;

static tsr_status alloc_round(reshard_round *r) {
  const size_t count = (size_t)r->count;
  r->sources = calloc(count, sizeof *r->sources);
  r->moves = calloc(count, sizeof *r->moves);
  r->exchanges = calloc(count, sizeof *r->exchanges);
  return r->sources && r->moves && r->exchanges
             ? NULL
             : tsr_fail(NO_MEMORY, "%lld arrays", (long long)r->count);
}

static void free_round(reshard_round *r) {
  for (int64_t i = 0; i < r->count && r->moves; i++) tsr_move_deinit(&r->moves[i]);
  for (int64_t i = 0; i < r->count && r->sources; i++) tsr_array_release(r->sources[i]);
  free(r->sources);
  free(r->moves);
  free(r->exchanges);
}

// Partial results are reduced one after the other, by collectives, once all ranks are ready.
static tsr_status reduce_sources(reshard_round *r) {
  for (int64_t i = 0; i < r->count; i++) {
    if (tsr_layout_same_terms(r->arrays[i]->layout, r->layouts[i]))
      r->sources[i] = tsr_array_retain(r->arrays[i]);
    else
      TSR_TRY_NOTE(tsr_array_reduce(r->arrays[i], &r->sources[i]), "array %lld", (long long)i);
  }
  return NULL;
}

static bool reduces(const reshard_round *r) {
  for (int64_t i = 0; i < r->count; i++)
    if (!tsr_layout_same_terms(r->arrays[i]->layout, r->layouts[i])) return true;
  return false;
}

static tsr_status plan_moves(reshard_round *r, int64_t first, const tsr_reshard_options *options) {
  for (int64_t i = 0; i < r->count; i++) {
    r->moves[i] = (tsr_reshard_move){
        .from = r->sources[i], .unshare = options->unshare, .relabel = options->relabel};
    TSR_TRY_NOTE(tsr_move_plan(&r->moves[i], r->layouts[i], first + i), "array %lld",
                 (long long)(first + i));
    r->exchanges[i] = tsr_move_exchange(&r->moves[i]);
  }
  return NULL;
}

static tsr_status do_round(reshard_round *r, int64_t first, const tsr_reshard_options *options,
                           tsr_array **out_arrays) {
  tsr_comm *comm = r->arrays[0]->comm;
  tsr_status status = alloc_round(r);
  if (reduces(r)) {
    TSR_TRY(tsr_array_agree(comm, "reshard", status));
    TSR_TRY(reduce_sources(r));
  } else if (!status) {
    for (int64_t i = 0; i < r->count; i++) r->sources[i] = tsr_array_retain(r->arrays[i]);
  }
  if (!status) status = plan_moves(r, first, options);
  TSR_TRY(tsr_array_agree(comm, "reshard", status));
  TSR_TRY(tsr_exchange_agreed(comm, r->exchanges, r->count));
  for (int64_t i = 0; i < r->count; i++) {
    out_arrays[i] = tsr_move_take(&r->moves[i]);
    if (options->donate) tsr_array_delete(r->arrays[i]);
  }
  return NULL;
}

// Sequences run one after the other.
static tsr_status do_sequences(tsr_array *const *arrays, const tsr_layout *const *layouts,
                               int64_t count, bool donate, tsr_array **made) {
  for (int64_t i = 0; i < count; i++) {
    TSR_TRY_NOTE(tsr_array_by_sequence(arrays[i], layouts[i], NULL, &made[i]), "array %lld",
                 (long long)i);
    if (donate) tsr_array_delete(arrays[i]);
  }
  return NULL;
}

static tsr_status do_rounds(tsr_array *const *arrays, const tsr_layout *const *layouts,
                            int64_t count, const tsr_reshard_options *options, tsr_array **made) {
  for (int64_t first = 0, size; first < count; first += size) {
    size = round_size(arrays, layouts, first, count, options->max_memory);
    reshard_round r = {.count = size, .arrays = arrays + first, .layouts = layouts + first};
    tsr_status status = do_round(&r, first, options, made + first);
    free_round(&r);
    if (status) return status;
  }
  return NULL;
}

// ---- ranks ----

static tsr_status check(const tsr_call_arrays *list, const tsr_reshard_options *given,
                        tsr_array **made, tsr_reshard_options *out_options) {
  TSR_TRY(tsr_reshard_options_check(given, out_options));
  TSR_TRY(check_arrays(list->arrays, list->layouts, list->count));
  if (!made) return tsr_fail(NO_MEMORY, "%lld arrays", (long long)list->count);
  return out_options->donate ? check_donated(list->arrays, list->count, made) : NULL;
}

void tsr_reshard_options_describe(const tsr_reshard_options *options, char *out, size_t size) {
  snprintf(out, size, "%s, max_memory %lld%s%s%s",
           options->method == TSR_RESHARD_SEQUENCE ? "by sequences" : "directly",
           (long long)options->max_memory, options->donate ? ", donate" : "",
           options->unshare ? ", unshare" : "", options->relabel ? ", relabel" : "");
}

// All arguments must be the same on all ranks, since each lists copies from them.
static tsr_status agree(tsr_call_arrays *list, const tsr_reshard_options *options,
                        tsr_status found) {
  char how[TSR_CALL_TEXT / 2];
  tsr_call c = tsr_call_begin(list->arrays[0]->comm, "reshard");
  tsr_reshard_options_describe(options, how, sizeof how);
  tsr_call_describe(&c, "reshard of %lld arrays %s", (long long)list->count, how);
  c.items = tsr_call_arrays_items(list);
  return tsr_call_agree(&c, found);
}

tsr_status tsr_array_reshard_all(tsr_array *const *arrays, const tsr_layout *const *layouts,
                                 int64_t count, const tsr_reshard_options *options,
                                 tsr_array **out_arrays) {
  tsr_reshard_options checked;
  tsr_call_arrays list = {.count = count, .arrays = arrays, .layouts = layouts};
  TSR_TRY(tsr_list_check(arrays, count, "arrays"));
  TSR_TRY(tsr_list_check(layouts, count, "layouts"));
  TSR_TRY(tsr_list_check(out_arrays, count, "places for the results"));
  if (count == 0) return tsr_reshard_options_check(options, &checked);
  if (!arrays[0]) return tsr_fail(BAD_ARGUMENT, "array 0 is NULL");  // no comm to agree on
  tsr_array **made = calloc((size_t)count, sizeof *made);
  tsr_status status = check(&list, options, made, &checked);
  status = agree(&list, &checked, status);
  if (status || !made) {  // an allocation failure was reported by agree
    free(made);
    return status;
  }
  status = checked.method == TSR_RESHARD_SEQUENCE
               ? do_sequences(arrays, layouts, count, checked.donate, made)
               : do_rounds(arrays, layouts, count, &checked, made);
  for (int64_t i = 0; i < count; i++) {
    if (status)
      tsr_array_release(made[i]);
    else
      out_arrays[i] = made[i];
  }
  free(made);
  return status;
}

tsr_status tsr_array_reshard(tsr_array *array, const tsr_layout *layout,
                             const tsr_reshard_options *options, tsr_array **out_array) {
  return tsr_array_reshard_all(&array, &layout, 1, options, out_array);
}
