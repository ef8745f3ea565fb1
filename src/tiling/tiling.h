// XLA's tilings inside the room: how tiles are dealt to devices.
//
// A tile assignment is an array of devices with one dimension per cut dimension of the tensor and,
// last, one per subgroup. XLA writes it as a list, or as `[2,1,4]<=[2,4]T(1,0)`: count to 8, shape
// it [2,4], transpose, shape it [2,1,4]. The second form is kept here as *digits*: the row-major
// number of a tile, written in mixed radix, major digit first, gives the device as the sum of
// digit * stride. Two such forms of the same array have the same digits once neighbours that run on
// are merged, so nothing is ever expanded to compare, transpose or print it.
#ifndef TESSERA_TILING_TILING_H
#define TESSERA_TILING_TILING_H

#include <stdatomic.h>

#include "base/arena.h"
#include "tiling/tiling_internal.h"
#include "spec/sub_axis.h"
#include "tessera/api.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

// Digits larger than 1 whose product is below 2^31 are at most 30.
#define TSR_MAX_DIGITS 31
#define TSR_MAX_TILE_DIMS (TSR_MAX_RANK + 8)

typedef struct tsr_digits {
  int count;
  tsr_digit at[TSR_MAX_DIGITS];  // major to minor; none has size 1
} tsr_digits;

// Parts of axes larger than 1 that do not overlap, for the same reason.
typedef struct tsr_part_list {
  int count;
  tsr_sub_axis at[TSR_MAX_DIGITS];
} tsr_part_list;

// XLA's order of subgroups: manual, unreduced, replicated.
#define TSR_SUBGROUP_COUNT 3
extern const tsr_subgroup tsr_subgroup_order[TSR_SUBGROUP_COUNT];
// The metadata in which XLA hides how partial results combine.
extern const char *const tsr_reduction_entries[TSR_SPEC_REDUCTION_COUNT];

typedef struct tsr_tiles {
  int dim_count;       // with the subgroups
  int subgroup_count;  // at the end of the dimensions
  int64_t dims[TSR_MAX_TILE_DIMS];
  tsr_subgroup subgroups[TSR_MAX_TILE_DIMS];
  int64_t device_count;
  tsr_digits digits;  // unless there is a list
  int32_t *devices;   // the list, row-major, owned; NULL = by digits
} tsr_tiles;

typedef enum tsr_shard_group { TSR_GROUP_NONE, TSR_GROUP_AS, TSR_GROUP_LIKE } tsr_shard_group;

struct tsr_tiling {
  atomic_int refs;
  tsr_tiling_kind kind;
  tsr_arena memory;  // metadata and elements
  tsr_shard_group group;
  int64_t group_id;
  int metadata_count;
  const char **metadata;  // the text of each, in XLA's order of fields
  int64_t device;         // TSR_TILING_MAXIMAL
  tsr_tiles tiles;        // TSR_TILING_TILED
  int element_count;      // TSR_TILING_TUPLE
  tsr_tiling **elements;
};

TSR_MUST_USE tsr_status tsr_tiling_new(tsr_tiling_kind kind, tsr_tiling **out_tiling);

// Appends a digit, merging it with its neighbour where they run on; size 1 adds nothing.
void tsr_digits_add(tsr_digits *digits, int64_t size, int64_t stride);
// The device at a row-major tile number.
int64_t tsr_digits_device(const tsr_digits *digits, int64_t number);
int64_t tsr_tiles_device(const tsr_tiles *tiles, int64_t number);
// The digits of a list that starts with device 0: the first step is the minor digit, which lasts
// while the step stays the same; what follows is looked at only at multiples of what is understood.
// If there are none, false, the first tile that breaks the steps, and the device it should be on.
bool tsr_digits_follow(const tsr_tiles *tiles, tsr_digits *out_digits, int64_t *out_number,
                       int64_t *out_wanted);
// Splits digits so that each dimension is a run of them: dimension d is [first[d], first[d + 1]).
// False if some digit lies across a border that does not divide it.
bool tsr_digits_split(const tsr_digits *digits, const int64_t *dims, int dim_count,
                      tsr_digits *out_digits, int *out_first);

// XLA's normal form: subgroups of size 1 dropped, those of one kind merged, in the order manual,
// unreduced, replicated; replicas ascend; a tiling that cuts nothing has the kind of its only
// subgroup, given in `out_kind` (TSR_TILING_TILED otherwise).
TSR_MUST_USE tsr_status tsr_tiles_normalise(tsr_tiles *tiles, tsr_tiling_kind *out_kind);
// Room for a list that stands for a counted array, which a short text can make too large.
TSR_MUST_USE tsr_status tsr_tiles_new_list(int64_t count, int32_t **out_devices);
bool tsr_tiles_equal(const tsr_tiles *a, const tsr_tiles *b);
// Gives a new tiling the kind, the tiles and the reduction of a sharding; or only the tiles, in
// normal form but for a tensor that is not cut.
TSR_MUST_USE tsr_status tsr_tiling_fill(tsr_tiling *tiling, const tsr_sharding *sharding, int rank);
TSR_MUST_USE tsr_status tsr_tiles_from_sharding(const tsr_sharding *sharding, int rank,
                                                tsr_tiles *out_tiles);

#endif
