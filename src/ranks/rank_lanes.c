// Lanes on ranks, and the places of classes: one pass over the lanes for each partition.
#include "ranks/rank_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/engine/collectives.h"

// ---- lanes ----

static tsr_status check_devices(const tsr_comm *comm, int lanes, const int64_t *devices) {
  const int64_t count = tsr_comm_device_count(comm);
  if (count < lanes)
    return tsr_fail(TOO_FEW_DEVICES, "the program is for %d devices, and the comm has %lld", lanes,
                    (long long)count);
  for (int i = 0; i < lanes; i++)
    if (devices[i] < 0 || devices[i] >= count)
      return tsr_fail(UNKNOWN_DEVICE, "device %lld of the program's mesh, the comm has 0 to %lld",
                      (long long)devices[i], (long long)count - 1);
  return NULL;
}

static tsr_status fill_lanes(tsr_rank_lanes *out, const int64_t *devices) {
  const size_t count = (size_t)out->lanes + 1;
  out->devices = calloc(count, sizeof *out->devices);
  out->ranks = calloc(count, sizeof *out->ranks);
  if (!out->devices || !out->ranks) return tsr_fail(NO_MEMORY, "ranks of %d devices", out->lanes);
  for (int i = 0; i < out->lanes; i++) {
    out->devices[i] = devices[i];
    out->ranks[i] = tsr_comm_rank_of(out->comm, devices[i]);
    out->here_count += tsr_lane_is_here(out, i);
  }
  return NULL;
}

tsr_status tsr_rank_lanes_create(tsr_comm *comm, int lanes, const int64_t *devices,
                                 tsr_rank_lanes **out_lanes) {
  TSR_TRY(check_devices(comm, lanes, devices));
  tsr_rank_lanes *made = calloc(1, sizeof *made);
  if (!made) return tsr_fail(NO_MEMORY, "ranks of %d devices", lanes);
  made->comm = tsr_comm_retain(comm);
  made->lanes = lanes;
  const tsr_status status = fill_lanes(made, devices);
  if (status)
    tsr_rank_lanes_destroy(made);
  else
    *out_lanes = made;
  return status;
}

static void places_destroy(tsr_class_places *places) {
  if (!places) return;
  free(places->here);
  free(places->lanes_here);
  free(places->starts);
  free(places->holders);
  free(places);
}

void tsr_rank_lanes_destroy(tsr_rank_lanes *lanes) {
  if (!lanes) return;
  while (lanes->places) {
    tsr_class_places *next = lanes->places->next;
    places_destroy(lanes->places);
    lanes->places = next;
  }
  free(lanes->devices);
  free(lanes->ranks);
  tsr_comm_release(lanes->comm);
  free(lanes);
}

bool tsr_lane_is_here(const tsr_rank_lanes *lanes, int lane) {
  return lanes->ranks[lane] == tsr_comm_rank(lanes->comm);
}

// ---- places ----

typedef struct holder {
  int class, rank, lane;
} holder;

static int compare_holders(const void *a, const void *b) {
  const holder *x = a, *y = b;
  if (x->class != y->class) return x->class < y->class ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x->lane < y->lane ? -1 : x->lane > y->lane;
}

// Of the sorted lanes the first of each class and rank; and what is here.
static void take_holders(const tsr_rank_lanes *lanes, const holder *sorted, tsr_class_places *out) {
  const int classes = tsr_class_count(out->classes), rank = tsr_comm_rank(lanes->comm);
  int count = 0;
  for (int c = 0; c < classes; c++) out->here[c] = -1;
  for (int i = 0; i < lanes->lanes; i++) {
    const holder *h = &sorted[i];
    if (i && h->class == h[-1].class && h->rank == h[-1].rank) continue;
    out->holders[count++] = h->lane;
    out->starts[h->class + 1] = count;
    if (h->rank != rank) continue;
    out->here[h->class] = out->here_count;
    out->lanes_here[out->here_count++] = h->lane;
  }
}

static tsr_status fill_places(const tsr_rank_lanes *lanes, tsr_class_places *out) {
  const size_t classes = (size_t)tsr_class_count(out->classes), count = (size_t)lanes->lanes;
  holder *all = calloc(count + 1, sizeof *all);
  out->here = calloc(classes + 1, sizeof *out->here);
  out->lanes_here = calloc(classes + 1, sizeof *out->lanes_here);
  out->starts = calloc(classes + 1, sizeof *out->starts);
  out->holders = calloc(count + 1, sizeof *out->holders);
  if (!all || !out->here || !out->lanes_here || !out->starts || !out->holders) {
    free(all);
    return tsr_fail(NO_MEMORY, "classes of %d devices", lanes->lanes);
  }
  for (int i = 0; i < lanes->lanes; i++)
    all[i] = (holder){tsr_class_of(out->classes, i), lanes->ranks[i], i};
  qsort(all, count, sizeof *all, compare_holders);
  take_holders(lanes, all, out);
  free(all);
  return NULL;
}

const tsr_class_places *tsr_rank_places_find(const tsr_rank_lanes *lanes,
                                             const tsr_lane_classes *classes) {
  for (const tsr_class_places *p = lanes->places; p; p = p->next)
    if (p->classes == classes) return p;
  return NULL;
}

tsr_status tsr_rank_places(tsr_rank_lanes *lanes, const tsr_lane_classes *classes,
                           const tsr_class_places **out_places) {
  *out_places = tsr_rank_places_find(lanes, classes);
  if (*out_places) return NULL;
  tsr_class_places *made = calloc(1, sizeof *made);
  if (!made) return tsr_fail(NO_MEMORY, "classes of %d devices", lanes->lanes);
  made->classes = classes;
  const tsr_status status = fill_places(lanes, made);
  if (status) {
    places_destroy(made);
    return status;
  }
  made->next = lanes->places;
  lanes->places = made;
  *out_places = made;
  return NULL;
}

// Ranks without the class spread over those that have it.
int tsr_rank_supplier(const tsr_rank_lanes *lanes, const tsr_class_places *places, int lane,
                      int rank) {
  const int class = tsr_class_of(places->classes, lane);
  const int *holders = places->holders + places->starts[class];
  const int count = places->starts[class + 1] - places->starts[class];
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (lanes->ranks[holders[middle]] < rank)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < count && lanes->ranks[holders[low]] == rank) return holders[low];
  return holders[rank % count];
}
