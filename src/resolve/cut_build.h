// Ops that passes of this room build: pads, slices, masks, the number of the device; and sizes of
// sharded tensors. They go through simplify/decompose_build.h: the first failure is kept, functions
// give NULL from then on.
#ifndef TESSERA_RESOLVE_CUT_BUILD_H
#define TESSERA_RESOLVE_CUT_BUILD_H

#include "factor/shardings.h"
#include "simplify/decompose_build.h"

// ---- shardings ----

// The sharding of a value, or the one that an attribute holds; NULL in `out_sharding` = none, or
// its mesh has no axes. The memory is that of the arena.
TSR_MUST_USE tsr_status tsr_cut_of_value(tsr_arena *arena, tsr_ir *ir, tsr_value *value,
                                         const tsr_tensor_sharding **out_sharding);
TSR_MUST_USE tsr_status tsr_cut_of_attr(tsr_arena *arena, const tsr_ir *ir, const tsr_op *op,
                                        const tsr_attr *attr,
                                        const tsr_tensor_sharding **out_sharding);
// How many shards a dim has.
static inline int64_t tsr_cut_count(const tsr_tensor_sharding *sharding, int dim) {
  return tsr_parts_size(&sharding->dims[dim].axes);
}
// The smallest multiple of `count` that is not less than `size`; -1 where it overflows.
int64_t tsr_even_size(int64_t size, int64_t count);
// The type whose dims are divided by the shards of `sharding` (NULL = not cut): itself if they are.
// Fails where a size overflows.
TSR_MUST_USE tsr_status tsr_even_type(tsr_ir *ir, const tsr_type *type,
                                      const tsr_tensor_sharding *sharding,
                                      const tsr_type **out_type);

// ---- ops ----

// Sets the sharding of a new value, if there is one.
tsr_value *tsr_site_shard(tsr_site *site, tsr_value *value, const tsr_attr *sharding);
// A scalar of an integer type of `bits`.
tsr_value *tsr_site_integer(tsr_site *site, int bits, int64_t number);
// A tensor of zeros.
tsr_value *tsr_site_zeros(tsr_site *site, const tsr_type *type);
// Whether a value is a constant of zeros, +0 for floats.
bool tsr_value_is_zeros(const tsr_value *value);
const tsr_type *tsr_site_scalar(tsr_site *site, const tsr_type *like);
// The type of `like` with other dims.
const tsr_type *tsr_site_sized(tsr_site *site, const tsr_type *like, const int64_t *dims);
// Pads `x` to the dims of `type`. Lists may be NULL: zeros.
tsr_value *tsr_site_pad(tsr_site *site, tsr_value *x, tsr_value *padding, const tsr_type *type,
                        const int64_t *low, const int64_t *high, const int64_t *interior);
// Pads the ends of `x` to the dims of `type`.
tsr_value *tsr_site_pad_end(tsr_site *site, tsr_value *x, tsr_value *padding, const tsr_type *type);
// The elements from `starts` (NULL: zeros) to `limits`.
tsr_value *tsr_site_slice(tsr_site *site, tsr_value *x, const int64_t *starts,
                          const int64_t *limits);
tsr_value *tsr_site_compare(tsr_site *site, tsr_value *x, tsr_value *y, int direction);
// The number of the device that runs the program, an i64: the replica's if there are several
// replicas, else the partition's. Several of both are refused.
tsr_value *tsr_site_device(tsr_site *site, int64_t replicas, int64_t partitions);
// What is at an index, an i64 scalar, in a list of elements: a tensor of one element; and the
// scalar of a list of i64.
tsr_value *tsr_site_pick(tsr_site *site, const tsr_type *element, const void *items, int64_t count,
                         tsr_value *index);
tsr_value *tsr_site_lookup(tsr_site *site, const int64_t *numbers, int64_t count, tsr_value *index);

#endif
