// Reshards that are alike become one row: a model of a hundred layers has each of them a hundred
// times. Alike are those of the same collectives, type and shardings that the same kind of op asks
// for, for the same kind of reason.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/name_index.h"
#include "base/text_internal.h"
#include "preflight/preflight.h"

static void print_key(const tsr_flight_reshard *reshard, tsr_text *out) {
  const tsr_preflight_reshard *row = &reshard->row;
  tsr_text_addf(out, "%s|%s|%s|%s|%d|%s", row->collectives, row->type, row->from, row->to,
                (int)reshard->cause, reshard->asker);
}

static tsr_status add_to_group(tsr_preflight *flight, tsr_name_index *index, int64_t number) {
  tsr_flight_reshard *reshard = &flight->reshards[number];
  tsr_text key = TSR_TEXT_EMPTY;
  const char *kept = NULL;
  int64_t known = -1;
  print_key(reshard, &key);
  TSR_TRY(tsr_flight_keep(flight, &key, &kept));
  TSR_TRY(tsr_name_index_add(index, kept, flight->group_count, &known));
  reshard->group = known >= 0 ? known : flight->group_count;
  if (known < 0) {
    tsr_flight_group *groups =
        tsr_arena_grow(&flight->arena, flight->groups, flight->group_count, sizeof *groups);
    TSR_NEED(groups);
    flight->groups = groups;
    groups[flight->group_count] = (tsr_flight_group){.first = number, .row = reshard->row};
    groups[flight->group_count++].row.places = 1;
    return NULL;
  }
  tsr_preflight_reshard *row = &flight->groups[known].row;
  row->places++;
  row->times = tsr_saturated_add(row->times, reshard->row.times);
  row->bytes = tsr_saturated_add(row->bytes, reshard->row.bytes);
  row->seconds += reshard->row.seconds;
  row->times_known &= reshard->row.times_known;
  return NULL;
}

static int by_bytes(const void *a, const void *b) {
  const tsr_flight_group *x = a, *y = b;
  if (x->row.bytes != y->row.bytes) return x->row.bytes < y->row.bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static tsr_status sort_groups(tsr_preflight *flight) {
  const size_t count = (size_t)flight->group_count;
  int64_t *place = tsr_arena_zeros(&flight->arena, count, sizeof *place);
  TSR_NEED(place);
  for (size_t i = 0; i < count; i++) flight->groups[i].number = (int64_t)i;
  if (count) qsort(flight->groups, count, sizeof *flight->groups, by_bytes);
  for (size_t i = 0; i < count; i++) place[flight->groups[i].number] = (int64_t)i;
  for (int64_t i = 0; i < flight->reshard_count; i++)
    flight->reshards[i].group = place[flight->reshards[i].group];
  return NULL;
}

tsr_status tsr_flight_group_reshards(tsr_preflight *flight) {
  tsr_name_index index = TSR_NAME_INDEX_EMPTY;
  tsr_status status = NULL;
  for (int64_t i = 0; i < flight->reshard_count && !status; i++)
    status = add_to_group(flight, &index, i);
  tsr_name_index_deinit(&index);
  if (!status) status = sort_groups(flight);
  flight->info.reshard_count = flight->group_count;
  return status;
}
