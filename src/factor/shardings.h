// Shardings of tensors as numbers, and where a program keeps them.
//
// Attributes name axes; numbers are quicker to compare and to change. A pass that reads and changes
// many shardings makes a table of all of them first, works on it, and writes it back at the end.
// Shardings are never changed in place: a new one replaces the old one, so that values may share
// one.
#ifndef TESSERA_FACTOR_SHARDINGS_H
#define TESSERA_FACTOR_SHARDINGS_H

#include "verify/sdy_axes.h"

typedef struct tsr_dim_sharding {
  tsr_sdy_parts axes;  // major first
  bool closed;
  int64_t priority;  // -1 = none is written, which means 0
} tsr_dim_sharding;

typedef struct tsr_tensor_sharding {
  const tsr_attr *mesh_ref;  // as written: a SYMBOL, or an SDY_MESH
  const tsr_attr *mesh;      // the SDY_MESH that it means
  int rank;
  const tsr_dim_sharding *dims;
  tsr_sdy_parts replicated, unreduced;  // in the order of the mesh
  int reduction;                        // TSR_SDY_REDUCTION_SUM and so on
} tsr_tensor_sharding;

// ---- parts of axes, beyond verify/sdy_axes.h ----

// Whether `a` has all of `b`.
bool tsr_part_contains(const tsr_sdy_part *a, const tsr_sdy_part *b);
// Whether `a` is `b` or its major part.
bool tsr_part_is_prefix(const tsr_sdy_part *a, const tsr_sdy_part *b);
// Whether an axis can be split such that it has both parts: "x":(1)2 and "x":(1)3 exclude each
// other.
bool tsr_part_can_coexist(const tsr_sdy_part *a, const tsr_sdy_part *b);
// Cuts `part` to its longest prefix that overlaps none of `others`; false if nothing remains.
bool tsr_part_cut(const tsr_attr *mesh, tsr_sdy_part *part, const tsr_sdy_parts *others);
// Cuts `part` to what follows `other`, which is a part of the same axis; false if nothing does.
bool tsr_part_follow(const tsr_attr *mesh, tsr_sdy_part *part, const tsr_sdy_part *other);
// The part of an axis from `pre` on, of `size`.
tsr_sdy_part tsr_part_of(const tsr_attr *mesh, int axis, int64_t pre, int64_t size);
// The product of the sizes. Meshes are small enough that it does not overflow for parts that do not
// overlap; otherwise it stops at INT64_MAX.
int64_t tsr_parts_size(const tsr_sdy_parts *parts);

// What of `axes` is not in `others`: in the order of `axes`, in memory of the arena. False without
// memory.
bool tsr_parts_minus(tsr_arena *arena, const tsr_attr *mesh, const tsr_sdy_parts *axes,
                     const tsr_sdy_parts *others, tsr_sdy_parts *out_rest);
// Whether a part of one list overlaps one of the other.
bool tsr_parts_overlap(const tsr_sdy_parts *a, const tsr_sdy_parts *b);

typedef enum tsr_prefix { TSR_PREFIX_NOT, TSR_PREFIX_STRICT, TSR_PREFIX_EQUAL } tsr_prefix;
// Whether a list of axes begins another one; the last part may be a prefix of its counterpart.
tsr_prefix tsr_parts_prefix(const tsr_sdy_parts *first, const tsr_sdy_parts *second);

// ---- one sharding ----

// Reads an SDY_SHARDING whose mesh is `mesh`. The memory is that of the arena, `mesh` and the
// attributes in it are borrowed.
TSR_MUST_USE tsr_status tsr_sharding_read(tsr_arena *arena, const tsr_attr *mesh,
                                          const tsr_attr *attr, tsr_tensor_sharding **out_sharding);
// The SDY_SHARDING. NULL without memory.
const tsr_attr *tsr_sharding_attr(tsr_ir *ir, const tsr_tensor_sharding *sharding);
// An array of SDY_AXIS. NULL without memory.
const tsr_attr *tsr_parts_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_parts *parts);
// A sharding without axes, all dims open or closed. NULL without memory.
tsr_tensor_sharding *tsr_sharding_empty(tsr_arena *arena, const tsr_attr *mesh_ref,
                                        const tsr_attr *mesh, int rank, bool closed);
tsr_tensor_sharding *tsr_sharding_copy(tsr_arena *arena, const tsr_tensor_sharding *sharding);
// Equal as attributes would be.
bool tsr_tensor_sharding_equal(const tsr_tensor_sharding *a, const tsr_tensor_sharding *b);
// Whether it has axes at all: of a dim, replicated or unreduced.
bool tsr_sharding_has_axes(const tsr_tensor_sharding *sharding);

// Whether two SDY_MESH are equal, or but for the order of their devices.
bool tsr_sdy_mesh_equal(const tsr_attr *a, const tsr_attr *b, bool ignore_device_ids);
// The sharding (one of the `count`, NULL = missing) whose mesh all have, but for empty meshes; NULL
// if none has a sharding or two have different meshes. `ignore_device_ids`: meshes may differ in
// them, and the one in plain order is preferred.
const tsr_tensor_sharding *tsr_common_mesh(const tsr_tensor_sharding *const *shardings, int count,
                                           bool ignore_device_ids);

// ---- where values keep their shardings ----

// The value whose sharding is meant when `value` is asked for it: the result of the data_flow_edge
// that it belongs to, or the value itself. NULL: it can have none, such as an argument of the body
// of a reduction.
tsr_value *tsr_shardable(tsr_value *value);
// Whether data flows through an op by edges: while, case, optimization_barrier,
// manual_computation, named_computation.
bool tsr_is_data_flow_op(tsr_op_id id);
// The edge whose operand is `owner`; NULL if there is none.
tsr_op *tsr_edge_of(const tsr_value *owner);
// The result or argument that stands for all targets of an edge, given one of them: a result, or an
// argument of a block of a data-flow op.
tsr_value *tsr_edge_owner(tsr_value *target);

// Sets the SDY_SHARDING of a value (tsr_value_sharding reads it), which is tsr_shardable, and that
// of the result of a function. NULL removes it.
TSR_MUST_USE tsr_status tsr_value_sharding_set(tsr_ir *ir, tsr_value *value, const tsr_attr *attr);
const tsr_attr *tsr_func_result_sharding(const tsr_op *func, int index);  // NULL = none
TSR_MUST_USE tsr_status tsr_func_result_sharding_set(tsr_ir *ir, tsr_op *func, int index,
                                                     const tsr_attr *attr);

// ---- the table ----

// The shardings of all values of a program and of all results of its functions. The program must
// not get or lose ops or values, and no one else may use the marks of its values and ops, until the
// table is written.
typedef struct tsr_sharding_table {
  tsr_ir *ir;
  tsr_arena arena;  // of the shardings
  struct tsr_sharding_slot *slots;
  int64_t count;
} tsr_sharding_table;

TSR_MUST_USE tsr_status tsr_sharding_table_init(tsr_ir *ir, tsr_sharding_table *out_table);
void tsr_sharding_table_deinit(tsr_sharding_table *table);
// A number for each place of a sharding, from 1 to `count`: equal for all targets of an edge. 0 =
// the value can have none.
static inline uint32_t tsr_sharding_slot_of(const tsr_value *value) { return value->mark; }
uint32_t tsr_func_result_slot(const tsr_op *func, int index);
// The sharding at a slot; NULL = missing, which means open. Slot 0 has none.
const tsr_tensor_sharding *tsr_sharding_at(const tsr_sharding_table *table, uint32_t slot);
static inline const tsr_tensor_sharding *tsr_sharding_of(const tsr_sharding_table *table,
                                                         const tsr_value *value) {
  return tsr_sharding_at(table, tsr_sharding_slot_of(value));
}
// The value at a slot: the tsr_shardable one. NULL for results of functions.
tsr_value *tsr_sharding_owner(const tsr_sharding_table *table, uint32_t slot);
// Replaces a sharding. It is kept, not copied: its memory is that of the table's arena. The other
// results of an op whose results have none yet become open on the same mesh, since an op has either
// shardings for all its results or none. Slot 0 is left alone.
TSR_MUST_USE tsr_status tsr_sharding_put(tsr_sharding_table *table, uint32_t slot,
                                         const tsr_tensor_sharding *sharding);
// Writes what has changed since the table was made.
TSR_MUST_USE tsr_status tsr_sharding_table_write(tsr_sharding_table *table);

#endif
