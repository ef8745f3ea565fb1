// The lanes of a program on the ranks of a comm: which of them are here, and who holds what.
//
// A value has a partition of the lanes into classes, the lanes that hold the same bits
// (lanes/lane_classes.h). A rank has one memory for each class with a lane on it. What a rank needs
// and does not have comes from one of the ranks that do; all ranks choose by the same rule, so
// messages need no headers.
#ifndef TESSERA_RANKS_RANK_LANES_H
#define TESSERA_RANKS_RANK_LANES_H

#include "lanes/lane_classes.h"
#include "tessera/comm.h"
#include "tessera/status.h"

// Where the classes of a partition are. A *holder* of a class is the first lane of it on a rank.
typedef struct tsr_class_places {
  const tsr_lane_classes *classes;  // NULL = one class of all lanes
  int here_count;                   // classes with a lane on this rank
  int *here;                        // of each class: its number among those, or -1
  int *lanes_here;                  // of each of those: its holder on this rank
  int *starts;                      // class c has holders[starts[c]] to holders[starts[c + 1] - 1]
  int *holders;                     // ascending by rank
  struct tsr_class_places *next;
} tsr_class_places;

typedef struct tsr_rank_lanes {
  tsr_comm *comm;            // retained
  int lanes, here_count;     // those of this rank
  int64_t *devices;          // of each lane, numbers of the comm
  int *ranks;                // of each lane
  tsr_class_places *places;  // of all partitions asked for
} tsr_rank_lanes;

// Lane i is on device `devices[i]` of the comm; each has a different one. The comm may have more.
TSR_MUST_USE tsr_status tsr_rank_lanes_create(tsr_comm *comm, int lanes, const int64_t *devices,
                                              tsr_rank_lanes **out_lanes);
void tsr_rank_lanes_destroy(tsr_rank_lanes *lanes);  // NULL is fine

bool tsr_lane_is_here(const tsr_rank_lanes *lanes, int lane);

// Finds or makes the places of a partition of these lanes.
TSR_MUST_USE tsr_status tsr_rank_places(tsr_rank_lanes *lanes, const tsr_lane_classes *classes,
                                        const tsr_class_places **out_places);
// Those that tsr_rank_places has made; NULL if it has not.
const tsr_class_places *tsr_rank_places_find(const tsr_rank_lanes *lanes,
                                             const tsr_lane_classes *classes);
// The holder from which `rank` gets the class of a lane: its own, or one of another rank.
int tsr_rank_supplier(const tsr_rank_lanes *lanes, const tsr_class_places *places, int lane,
                      int rank);

#endif
