// Ways to cut tensors to fit the memory: how many axes of each kind to use, and on which
// dimensions.
//
// Bytes per device and the cost of gathering depend on the set of axes, not on the dimensions they
// cut, and axes of one size with the same links are interchangeable. So a *way* is a number of axes
// of each *kind*, and a mesh has few: two axes of size 4 and one of size 2 make 3 x 2 ways. A way
// is a number in a mixed radix; way 0 cuts nothing.
#ifndef TESSERA_ADVICE_WAYS_H
#define TESSERA_ADVICE_WAYS_H

#include "advice/choice.h"

#define TSR_MAX_WAYS 4096

// Axes that are as good as each other, the preferred ones first.
typedef struct tsr_way_kind {
  int64_t size;
  int count, stride;  // stride: what one axis adds to the number of a way
  uint8_t axes[TSR_MAX_AXES];
} tsr_way_kind;

typedef struct tsr_way {
  int64_t split;       // in how many shards it cuts
  double alpha, beta;  // gathering costs alpha + beta * bytes of a shard
} tsr_way;

typedef struct tsr_ways {
  const tsr_mesh *mesh;  // borrowed
  int kind_count;
  tsr_way_kind kinds[TSR_MAX_AXES];
  int count;
  tsr_way *items;  // owned
} tsr_ways;

// The axes of the names (none = all of the mesh), those of one member left out. An axis may be
// named once.
TSR_MUST_USE tsr_status tsr_ways_init(tsr_ways *ways, const tsr_mesh *mesh,
                                      const char *const *names, int name_count);
void tsr_ways_deinit(tsr_ways *ways);  // all zeros is fine

// The ways that a shape allows. One placer is reused for many shapes.
typedef struct tsr_way_placer {
  const tsr_ways *ways;
  tsr_shape shape;
  uint32_t used;  // axes that must not be used
  int order[TSR_MAX_RANK];
  uint32_t *scores;  // owned: per way; TSR_NO_WAY = the shape does not allow it
  uint32_t *next;    // owned: scratch
  uint16_t *from;    // owned: per dimension in `order` and way, what that dimension took
} tsr_way_placer;
#define TSR_NO_WAY UINT32_MAX

TSR_MUST_USE tsr_status tsr_placer_init(tsr_way_placer *placer, const tsr_ways *ways);
void tsr_placer_deinit(tsr_way_placer *placer);  // all zeros is fine
// Finds which ways the sizes allow, and the best dimensions for each: as few as possible, then the
// largest ones. Of ways that are otherwise equal the one with the lower score is the better.
void tsr_placer_run(tsr_way_placer *placer, const tsr_shape *shape, uint32_t used);
// The axes of a way that is possible, on its dimensions.
void tsr_placer_choice(const tsr_way_placer *placer, int way, tsr_choice *out_choice);

#endif
