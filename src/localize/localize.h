// A program of whole tensors becomes the program that each device runs on its shards.
//
// Values get their local types in place, in the order of the program, and ops are changed or
// replaced by others. The mark of a value is the number of its record here: its type and sharding
// in the whole program, which ops after it ask for.
#ifndef TESSERA_LOCALIZE_LOCALIZE_H
#define TESSERA_LOCALIZE_LOCALIZE_H

#include "resolve/cut_build.h"

typedef struct tsr_whole {
  const tsr_type *type;
  const tsr_tensor_sharding *cut;  // NULL = not sharded
} tsr_whole;

// A dim of a local value that was gathered: others may use the result.
typedef struct tsr_gathered_dim {
  const tsr_value *x;
  tsr_sdy_parts axes;
  int64_t dim;
  tsr_value *all;
} tsr_gathered_dim;
enum { TSR_GATHERED_KEPT = 64 };  // the latest

typedef struct tsr_localizing {
  tsr_ir *ir;
  tsr_arena arena;
  tsr_whole *wholes;
  uint32_t count;
  int64_t capacity;
  bool per_dim, combine, mesh_axes;
  bool exchange;  // ops get elements of other devices, instead of being refused
  int64_t replicas, partitions;
  int64_t next_channel;
  int64_t changes;
  tsr_gathered_dim gathered[TSR_GATHERED_KEPT];
  uint32_t gathered_count;
} tsr_localizing;

// Changes an op, whose operands are local already.
typedef tsr_status tsr_localize_fn(tsr_localizing *l, tsr_op *op);

// ---- values ----

// The type and sharding of a value in the whole program.
TSR_MUST_USE tsr_status tsr_whole_of(tsr_localizing *l, tsr_value *value, tsr_whole *out_whole);
// The type of a value on one device. Refused where axes do not divide a dim.
TSR_MUST_USE tsr_status tsr_local_type(tsr_localizing *l, const tsr_op *op, const tsr_whole *whole,
                                       const tsr_type **out_type);
TSR_MUST_USE tsr_status tsr_localize_value(tsr_localizing *l, const tsr_op *op, tsr_value *value);
// Gives the users of an op's results those of `values`, and erases the op.
TSR_MUST_USE tsr_status tsr_localize_replace(tsr_localizing *l, tsr_site *site, tsr_op *op,
                                             tsr_value *const *values);
// Ops whose results have their local types, and nothing else changes.
tsr_localize_fn tsr_localize_plain;

static inline bool tsr_cut_has_axes(const tsr_tensor_sharding *cut) {
  for (int i = 0; cut && i < cut->rank; i++)
    if (cut->dims[i].axes.count) return true;
  return false;
}
static inline const tsr_sdy_parts *tsr_cut_axes(const tsr_tensor_sharding *cut, int64_t dim) {
  static const tsr_sdy_parts none = {NULL, 0};
  return cut && dim < cut->rank ? &cut->dims[dim].axes : &none;
}

// ---- devices (local_groups.c) ----

int64_t tsr_mesh_devices(const tsr_attr *mesh);
// The number of a device's shard along axes.
int64_t tsr_shard_number(const tsr_attr *mesh, const tsr_sdy_parts *axes, int64_t device);
// The device that has another shard along axes and is like `device` otherwise.
int64_t tsr_shard_neighbour(const tsr_attr *mesh, const tsr_sdy_parts *axes, int64_t device,
                            int64_t shard);
// Groups of the devices that differ along axes: dense ids, or axes of the mesh where the options
// ask for it. NULL without memory.
const tsr_attr *tsr_device_groups(tsr_localizing *l, const tsr_tensor_sharding *cut,
                                  const tsr_sdy_parts *axes);
const tsr_attr *tsr_next_channel(tsr_localizing *l);
// The list of axes of an SDY_AXIS_LIST on the mesh of a sharding.
TSR_MUST_USE tsr_status tsr_axis_list_read(tsr_localizing *l, const tsr_tensor_sharding *cut,
                                           const tsr_attr *list, tsr_sdy_parts *out_axes);
// The index in the whole dim at which the device's shard of `size` begins, an i64.
tsr_value *tsr_site_shard_start(tsr_localizing *l, tsr_site *site, const tsr_attr *mesh,
                                const tsr_sdy_parts *axes, int64_t size);
// The shard of `x` along `axes` (one list for each dim), of the dims of `type`.
tsr_value *tsr_site_own_shard(tsr_localizing *l, tsr_site *site, tsr_value *x, const tsr_attr *mesh,
                              const tsr_sdy_parts *axes, const tsr_type *type);

// ---- gathers (localize_collectives.c) ----

// The dim of a local value as a gather at this site before has it; NULL = there is none.
tsr_value *tsr_gathered_dim_find(const tsr_localizing *l, const tsr_site *site, const tsr_value *x,
                                 int64_t dim, const tsr_sdy_parts *axes);
// An all_gather of a dim along axes of the mesh of `cut`, or the one that is there.
tsr_value *tsr_site_all_gather(tsr_localizing *l, tsr_site *site, tsr_value *x, int64_t dim,
                               const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes);

// An all_reduce by one op over the devices along axes.
tsr_value *tsr_site_all_reduce(tsr_localizing *l, tsr_site *site, tsr_value *x, tsr_op_id id,
                               const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes);
// A sum over the devices along axes, of a value that only one of them has: others have neutral ones
// (tsr_site_neutral). Exact for every type.
tsr_value *tsr_site_all_sum(tsr_localizing *l, tsr_site *site, tsr_value *x,
                            const tsr_tensor_sharding *cut, const tsr_sdy_parts *axes);
// The scalar that changes no number it is added to: -0 for floats, false.
tsr_value *tsr_site_neutral(tsr_site *site, const tsr_type *like);

// ---- ops ----

tsr_localize_fn tsr_localize_all_gather, tsr_localize_all_slice, tsr_localize_all_to_all,
    tsr_localize_permute, tsr_localize_all_reduce, tsr_localize_reduce_scatter,
    tsr_localize_constant, tsr_localize_concatenate, tsr_localize_convolution, tsr_localize_dot,
    tsr_localize_iota, tsr_localize_pad, tsr_localize_reduce, tsr_localize_slice,
    tsr_localize_window, tsr_localize_gather, tsr_localize_scatter, tsr_localize_dynamic_slice,
    tsr_localize_dynamic_update, tsr_localize_top_k, tsr_localize_select;

#endif
