// The state of a search for collectives.
//
// `in` has the axes that the tensor is sharded on now and `out` those that it shall be sharded on,
// dim by dim, both without their common beginning: when both are empty, the search has ended.
// `current` has all axes of now, neighbours joined. Parts in `in` and `out` that overlap are equal.
#ifndef TESSERA_COLLECTIVE_STEPS_STATE_H
#define TESSERA_COLLECTIVE_STEPS_STATE_H

#include "collective/collective_axes.h"
#include "collective/collective_steps.h"

typedef struct tsr_axis_place {
  tsr_sdy_part part;
  int dim;
  int64_t index;
} tsr_axis_place;

typedef struct tsr_step_search {
  tsr_axis_pool pool;
  int rank;
  const int64_t *sizes;
  const tsr_tensor_sharding *from, *to;
  const tsr_attr *mesh_ref;  // of now
  tsr_axis_list *in, *out, *current, *chosen;
  int64_t *capacities;
  tsr_axis_list in_set;    // what is in `in`
  tsr_axis_place *places;  // where `out` had each part when they were counted
  int64_t place_count, place_room;
  tsr_collective_step *first, **end;
} tsr_step_search;

// Counts the places of the parts in `out`.
void tsr_search_places(tsr_step_search *s);
const tsr_axis_place *tsr_search_place(const tsr_step_search *s, const tsr_sdy_part *part);
// Adds a part to `in_set`.
void tsr_search_note(tsr_step_search *s, tsr_sdy_part part);
// Adds a collective of `axes` (may be NULL) that leads to `current`.
void tsr_search_add(tsr_step_search *s, tsr_op_id op, const tsr_axis_list *axes, int count,
                    int source, int target);

// Puts parts of `available` into `in`, dim by dim, as far as the capacities go; `available` is one
// list, or one for each dim. Parts go to the front or the back of `in`. With `slice`, they are
// added to `chosen` and `current` too. True if any part was put.
bool tsr_search_fill(tsr_step_search *s, tsr_axis_list *available, bool each_dim, bool to_front,
                     bool slice);

void tsr_search_slice(tsr_step_search *s);
void tsr_search_permute(tsr_step_search *s);

#endif
