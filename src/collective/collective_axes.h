// Lists of parts of axes that grow and are cut: what a change of sharding works on.
//
// Memory is that of an arena. A list that cannot grow stays as it is and sets `failed` of its pool,
// so that the caller asks once, at the end.
#ifndef TESSERA_COLLECTIVE_COLLECTIVE_AXES_H
#define TESSERA_COLLECTIVE_COLLECTIVE_AXES_H

#include "factor/shardings.h"

typedef struct tsr_axis_pool {
  tsr_arena *arena;
  const tsr_attr *mesh;
  bool failed;
} tsr_axis_pool;

typedef struct tsr_axis_list {
  tsr_sdy_parts parts;
  int64_t room;
} tsr_axis_list;

void tsr_axes_insert(tsr_axis_pool *pool, tsr_axis_list *list, int64_t at, tsr_sdy_part part);
void tsr_axes_remove(tsr_axis_list *list, int64_t at);
static inline void tsr_axes_push(tsr_axis_pool *pool, tsr_axis_list *list, tsr_sdy_part part) {
  tsr_axes_insert(pool, list, list->parts.count, part);
}
// Appends a part, joined with the last one where that is possible.
void tsr_axes_join(tsr_axis_pool *pool, tsr_axis_list *list, tsr_sdy_part part);
void tsr_axes_push_all(tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *parts);
int64_t tsr_axes_find(const tsr_axis_list *list, const tsr_sdy_part *part);  // -1 = not there
// Takes the parts from `from` on off the end of a list whose neighbours are joined.
void tsr_axes_take(const tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *parts,
                   int64_t from);
// Splits the parts of a list where a part of `others` begins or ends, so that parts which overlap
// are equal. `others` is sorted, and its parts do not overlap.
void tsr_axes_align(tsr_axis_pool *pool, tsr_axis_list *list, const tsr_sdy_parts *others);

// What of a part fits into a capacity, which is divided by its size: all of it, its major part, or
// nothing (false). `rest` gets what is left, of size 0 if all of it fits.
bool tsr_axis_fit(const tsr_attr *mesh, const tsr_sdy_part *part, int64_t *capacity,
                  tsr_sdy_part *within, tsr_sdy_part *rest);

#endif
