// Which lanes hold the same bits: a partition of the lanes of a computation.
//
// Partitions are interned: equal ones are one object, so they are compared by address, and meets
// are remembered. A program has few of them (one for each set of mesh axes that its values are cut
// along), whatever the number of its ops and lanes.
#ifndef TESSERA_LANES_LANE_CLASSES_H
#define TESSERA_LANES_LANE_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "tessera/status.h"

// Classes are numbered in the order of their first lanes. NULL stands for one class of all lanes.
typedef struct tsr_lane_classes {
  int lanes, count;
  const int *of;     // the class of each lane
  const int *first;  // the first lane of each class
  uint64_t hash;
  const struct tsr_lane_classes *next;  // in its list of the table
} tsr_lane_classes;

static inline int tsr_class_count(const tsr_lane_classes *classes) {
  return classes ? classes->count : 1;
}
static inline int tsr_class_of(const tsr_lane_classes *classes, int64_t lane) {
  return classes ? classes->of[lane] : 0;
}
static inline int tsr_class_lane(const tsr_lane_classes *classes, int index) {
  return classes ? classes->first[index] : 0;
}

enum { TSR_CLASS_LISTS = 64 };

// The partitions of a program. All memory is of `arena`.
typedef struct tsr_class_table {
  tsr_arena *arena;
  const tsr_lane_classes *lists[TSR_CLASS_LISTS];
  struct tsr_class_meet *meets[TSR_CLASS_LISTS];
} tsr_class_table;

// Lanes with equal keys are one class.
TSR_MUST_USE tsr_status tsr_classes_of_keys(tsr_class_table *table, int lanes, const int64_t *keys,
                                            const tsr_lane_classes **out_classes);
// Each lane by itself.
TSR_MUST_USE tsr_status tsr_classes_finest(tsr_class_table *table, int lanes,
                                           const tsr_lane_classes **out_classes);
// Lanes that are together in both.
TSR_MUST_USE tsr_status tsr_classes_meet(tsr_class_table *table, const tsr_lane_classes *a,
                                         const tsr_lane_classes *b,
                                         const tsr_lane_classes **out_classes);
// Numbers lists by their contents: `out_numbers` of two lists are equal if the lists are. List i is
// items[starts[i]] up to items[starts[i + 1]].
TSR_MUST_USE tsr_status tsr_number_lists(int count, const int *starts, const int64_t *items,
                                         int64_t *out_numbers);

#endif
