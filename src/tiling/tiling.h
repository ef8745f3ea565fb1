// XLA's tilings, for the files of this room: how tiles are assigned to devices.
//
// A tile assignment is an array of devices with one dimension per cut dimension of the tensor and,
// last, one per subgroup. XLA writes it as a list, or as `[2,1,4]<=[2,4]T(1,0)`: count to 8,
// reshape to [2,4], transpose, reshape to [2,1,4]. The second form is kept as *digits*: the
// row-major number of a tile in mixed radix, major digit first, gives the device as the sum of
// digit * stride. Once neighbours that continue each other are merged, equal arrays have equal
// digits, so comparing, transposing and printing never expand them.
#ifndef TESSERA_TILING_TILING_H
#define TESSERA_TILING_TILING_H

#include "base/arena.h"
#include "tiling/tiling_internal.h"
#include "spec/sub_axis.h"
#include "tessera/api.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

// At most 30 digits larger than 1 have a product below 2^31.
#define TSR_MAX_DIGITS 31
#define TSR_MAX_TILE_DIMS (TSR_MAX_RANK + 8)

typedef struct tsr_digits {
  int count;
  tsr_digit at[TSR_MAX_DIGITS];  // major to minor; none has size 1
} tsr_digits;

// The same holds for disjoint sub-axes larger than 1.
typedef struct tsr_sub_axis_list {
  int count;
  tsr_sub_axis at[TSR_MAX_DIGITS];
} tsr_sub_axis_list;

// XLA's order of subgroups: manual, unreduced, replicated.
#define TSR_SUBGROUP_COUNT 3
extern const tsr_subgroup tsr_subgroup_order[TSR_SUBGROUP_COUNT];
// The metadata in which XLA stores how partial results combine.
extern const char *const tsr_reduction_entries[TSR_SPEC_REDUCTION_COUNT];

typedef struct tsr_tiles {
  int dim_count;       // subgroups included
  int subgroup_count;  // the last dimensions
  int64_t dims[TSR_MAX_TILE_DIMS];
  tsr_subgroup subgroups[TSR_MAX_TILE_DIMS];
  int64_t device_count;
  tsr_digits digits;  // without a list
  int32_t *devices;   // the list, row-major, owned; NULL = by digits
} tsr_tiles;

typedef enum tsr_shard_group { TSR_GROUP_NONE, TSR_GROUP_AS, TSR_GROUP_LIKE } tsr_shard_group;

struct tsr_tiling {
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
// Returns the tiling to the caller, or releases it after a failure.
TSR_MUST_USE tsr_status tsr_tiling_give(tsr_status status, tsr_tiling *tiling,
                                        tsr_tiling **out_tiling);

// Appends a digit, merged with its neighbour if it continues it; size 1 adds nothing.
void tsr_digits_add(tsr_digits *digits, int64_t size, int64_t stride);
// By falling stride, for qsort().
int tsr_digits_compare(const void *a, const void *b);
// The device at a row-major tile number.
int64_t tsr_tiles_device(const tsr_tiles *tiles, int64_t number);
// The digits of a list that starts with device 0. The first step is the minor digit, which lasts
// while the step stays the same; then only multiples of the known digits are examined. False if the
// list has no digits, with the first tile that breaks the steps and the device expected there.
bool tsr_digits_follow(const tsr_tiles *tiles, tsr_digits *out_digits, int64_t *out_number,
                       int64_t *out_wanted);
// Splits digits so that dimension d is the digits [first[d], first[d + 1]). False if a digit
// crosses a border that does not divide it.
bool tsr_digits_split(const tsr_digits *digits, const int64_t *dims, int dim_count,
                      tsr_digits *out_digits, int *out_first);

// XLA's normal form: drops subgroups of size 1, merges those of one kind, and orders them manual,
// unreduced, replicated; replicas ascend. A tiling that cuts nothing has the kind of its only
// subgroup in `out_kind` (TSR_TILING_TILED otherwise).
TSR_MUST_USE tsr_status tsr_tiles_normalise(tsr_tiles *tiles, tsr_tiling_kind *out_kind);
// Allocates the list of a counted array, which a short text can make too large.
TSR_MUST_USE tsr_status tsr_tiles_new_list(int64_t count, int32_t **out_devices);
bool tsr_tiles_equal(const tsr_tiles *a, const tsr_tiles *b);
// Set the kind, tiles and reduction of a new tiling from a sharding; or only the tiles, in normal
// form unless the tensor is not cut.
TSR_MUST_USE tsr_status tsr_tiling_fill(tsr_tiling *tiling, const tsr_sharding *sharding, int rank);
TSR_MUST_USE tsr_status tsr_tiles_from_sharding(const tsr_sharding *sharding, int rank,
                                                tsr_tiles *out_tiles);

#endif
