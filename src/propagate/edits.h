// Small changes of programs that several passes of this room make.
#ifndef TESSERA_PROPAGATE_EDITS_H
#define TESSERA_PROPAGATE_EDITS_H

#include "ir/ir.h"

// ---- ops and uses ----

void tsr_op_insert_after(tsr_op *place, tsr_op *op);
// Puts an op right after a value: after the op that defines it, or first in its block.
void tsr_op_insert_after_value(tsr_value *value, tsr_op *op);
// Gives the uses of `from` to `to`, but for those by `except` (may be NULL), one by one from the
// newest on: their order turns round, as in MLIR. Propagation depends on this order.
void tsr_uses_move(tsr_value *from, tsr_value *to, const tsr_op *except);
static inline bool tsr_value_has_one_use(const tsr_value *value) {
  return value->uses && !value->uses->next;
}
// Calls `visit` for all ops inside an op and then the op itself, each after the ops in its regions.
// `visit` may erase or move the op it is given.
TSR_MUST_USE tsr_status tsr_op_walk_after(tsr_op *op, tsr_op_visit *visit, void *context);
// Sets the marks of all ops to 0.
void tsr_marks_clear(tsr_ir *ir);
// An op of one operand and one result of its type, at the location of `like`, in no block yet.
// NULL without memory.
tsr_op *tsr_op_like(tsr_ir *ir, const tsr_op *like, tsr_op_id id, tsr_value *operand,
                    const tsr_named_attr *attr);
static inline bool tsr_op_is(const tsr_op *op, tsr_op_id id) { return op && op->info->id == id; }
// Replaces the terminator of a block by another op of the same operands.
TSR_MUST_USE tsr_status tsr_return_exchange(tsr_ir *ir, tsr_ir_block *block, tsr_op_id id);
// Moves the blocks of a region into one that has none.
void tsr_body_take(tsr_region *to, tsr_region *from);
TSR_MUST_USE tsr_status tsr_op_attr_set(tsr_ir *ir, tsr_op *op, const char *name,
                                        const tsr_attr *attr);

// Drops the entries of arg_attrs or res_attrs of a function whose names `drops` accepts.
typedef bool tsr_name_choice(const char *name);
TSR_MUST_USE tsr_status tsr_dicts_drop(tsr_ir *ir, tsr_op *func, const char *attr,
                                       tsr_name_choice *drops);
// Sets an entry of one of these: of an argument ("arg_attrs") or a result ("res_attrs").
TSR_MUST_USE tsr_status tsr_func_dict_set(tsr_ir *ir, tsr_op *func, const char *list_name,
                                          int index, const char *name, const tsr_attr *attr);

// ---- types ----

static inline bool tsr_value_is_scalar(const tsr_value *value) {
  return value->type->kind == TSR_TYPE_TENSOR && !value->type->rank;
}
static inline int tsr_type_rank(const tsr_type *type) {
  return type->kind == TSR_TYPE_TENSOR ? type->rank : 0;
}

// ---- shardings as attributes ----

// A sharding with one field (TSR_SDY_SHARDING_MESH and so on) replaced. NULL without memory.
const tsr_attr *tsr_sharding_with(tsr_ir *ir, const tsr_attr *sharding, int field,
                                  const tsr_attr *value);
// A sharding without axes, of a mesh as it is written. NULL without memory.
const tsr_attr *tsr_sharding_bare(tsr_ir *ir, const tsr_attr *mesh, int rank, bool closed);
// Whether a sharding has axes in dims.
bool tsr_sharding_cuts_dims(const tsr_attr *sharding);
// Whether a sharding (or NULL) has no axes in dims and none that are unreduced.
bool tsr_sharding_is_replicated(const tsr_attr *sharding);
// Whether two shardings (or NULL) place data alike: open or closed, and what is said to be
// replicated, make no difference.
bool tsr_sharding_is_equivalent(const tsr_attr *a, const tsr_attr *b);
// The SDY_SHARDING that a value has, on an edge or where it is made; NULL in `out_sharding` = none.
TSR_MUST_USE tsr_status tsr_sharding_get(tsr_ir *ir, tsr_value *value,
                                         const tsr_attr **out_sharding);
// An SDY_SHARDINGS of a list. NULL without memory.
const tsr_attr *tsr_shardings_attr(tsr_ir *ir, const tsr_attr *const *list, int64_t count);
// The list in an SDY_SHARDINGS, or NULL for anything else.
static inline const tsr_attr *tsr_shardings_list(const tsr_attr *attr) {
  return attr && attr->kind == TSR_ATTR_RECORD && attr->id == TSR_RECORD_SDY_SHARDINGS
             ? tsr_attr_field(attr, TSR_SDY_SHARDINGS_LIST)
             : NULL;
}

// Replaces every sharding of a program: of arguments and results of functions, in sdy.sharding, in
// the attributes of Shardy's ops. Ops before those in their regions, arguments before results.
// `change` gives the new one, or the same; NULL in `out_sharding` = no memory.
typedef tsr_status tsr_sharding_change(void *context, tsr_op *op, const tsr_attr *sharding,
                                       const tsr_attr **out_sharding);
TSR_MUST_USE tsr_status tsr_shardings_change(tsr_ir *ir, tsr_sharding_change *change, void *context,
                                             int64_t *changes);

#endif
