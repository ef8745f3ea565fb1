// Halo exchange: devices that hold neighbouring shards of a dimension send each other what the
// other one needs. A manual computation over the axes of the sharded dims does it: shards of
// neighbours are fetched by collective permutes, joined with the device's own, and each device
// slices its part out at an offset that depends on its number.
#ifndef TESSERA_RESOLVE_HALO_H
#define TESSERA_RESOLVE_HALO_H

#include "propagate/symbol_names.h"
#include "resolve/cut_build.h"

typedef struct tsr_resolving {
  tsr_ir *ir;
  tsr_arena scratch;  // of one op
  bool halos;
  bool leaves;  // ops that local shapes are made of with their exchanges are left as they are
  int64_t replicas, partitions;
  int64_t next_channel;
  tsr_symbol_namer namer;  // of meshes
  int64_t *changes;
} tsr_resolving;

// What the devices of one sharded dim need of each other.
typedef struct tsr_halo_dim {
  int64_t shards;
  int64_t in, out;      // sizes of a shard before and after
  int64_t left, right;  // shards on each side that a device needs at most
  bool moves;           // some device needs what another one has
  bool shifts;          // some device needs another part of its own shard than all of it
  bool fits;            // by halos: otherwise so many shards that gathering is no worse
  // Of a dim that is split by a reshape: the axes of all dims it becomes, and for each shard where
  // it begins, in elements after the start of the first shard that was fetched. NULL = the dim
  // stays, and the offset is linear in the number of the shard.
  const tsr_sdy_parts *axes;
  const int64_t *offsets;
} tsr_halo_dim;

// What one exchange is about. Dims that are not sharded have `shards` 1.
typedef struct tsr_halo {
  tsr_op *op;  // that it replaces
  const tsr_attr *in_sharding, *out_sharding;
  const tsr_tensor_sharding *in_cut, *out_cut;
  const int64_t *even;  // dims of the operand, padded such that shards are even
  const int64_t *low;   // elements that the op adds before each dim; negative = it drops them
  const int64_t *gaps;  // elements that it adds between two; NULL = none
  bool filled;  // what it adds is not known to be zeros, which devices without a neighbour get
  tsr_halo_dim dims[TSR_MAX_RANK];
  bool manual[TSR_SDY_AXES_MOST];  // axes of the mesh that shard a dim
} tsr_halo;

// Fills in a dim: what device t needs begins at t * out - low, of a dim of `size` elements that
// are `gaps` + 1 apart.
void tsr_halo_dim_fill(tsr_halo_dim *dim, int64_t size, int64_t low, int64_t gaps);
bool tsr_halo_moves(const tsr_halo *halo, int rank);
bool tsr_halo_fits(const tsr_halo *halo, int rank);
// The sharding without the manual axes. NULL without memory.
const tsr_attr *tsr_halo_inner_sharding(tsr_resolving *r, const tsr_halo *halo, bool of_result);
// The shards of a dim along manual axes.
int64_t tsr_halo_manual_count(const tsr_halo *halo, const tsr_tensor_sharding *cut, int dim);

// What is done with the exchanged shard before it is returned.
typedef tsr_value *tsr_halo_finish(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                                   tsr_value *local, tsr_value *padding, const tsr_attr *inner,
                                   const tsr_type *result);
// The manual computation on `operand`, which is even, and `padding`. Gives its result, of the even
// type of the op's result; trimming it is left to the caller. NULL = the site has a failure.
tsr_value *tsr_halo_exchange(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                             tsr_value *operand, tsr_value *padding, tsr_halo_finish *finish);
// The manual computation that moves the elements of some dims (shifts[d] > 0) to higher indices,
// across shards; what comes in at the low end is zero.
tsr_value *tsr_halo_shift(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                          tsr_value *operand, const int64_t *shifts);

#endif
