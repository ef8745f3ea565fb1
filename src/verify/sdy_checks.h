// Shardings and the other attributes of Shardy, wherever they stand.
#ifndef TESSERA_VERIFY_SDY_CHECKS_H
#define TESSERA_VERIFY_SDY_CHECKS_H

#include "verify/op_checks.h"
#include "verify/sdy_axes.h"

// sdy.sharding, sdy.sharding_rule and the like among the attributes of any op.
TSR_MUST_USE tsr_status tsr_check_sdy_attrs(tsr_ir *ir, const tsr_op *op);
// sdy.sharding in the attributes (or NULL) of an argument or result of a function.
TSR_MUST_USE tsr_status tsr_check_value_sharding(tsr_ir *ir, const tsr_op *func,
                                                 const tsr_attr *dict, const tsr_type *type,
                                                 const char *what, int index);

// #sdy.propagation_edges on an op, which is an OPAQUE.
TSR_MUST_USE tsr_status tsr_check_propagation_edges(tsr_ir *ir, const tsr_op *op,
                                                    const tsr_attr *attr);

// The SDY_MESH that a sharding is bound to, seen from an op; NULL if there is none of its name.
const tsr_attr *tsr_sdy_mesh_of(const tsr_ir *ir, const tsr_op *op, const tsr_attr *sharding);
static inline bool tsr_sdy_is_maximal(const tsr_attr *mesh) {
  return !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count &&
         tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS)) == 1;
}
static inline bool tsr_sdy_is_empty(const tsr_attr *mesh) {
  return !tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count &&
         !tsr_attr_int_count(tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS));
}
TSR_MUST_USE tsr_status tsr_check_sdy_mesh(const tsr_op *op, const tsr_attr *mesh);
// Checks one sharding of a value of `type` (NULL = of an op without results). `where` begins the
// message.
TSR_MUST_USE tsr_status tsr_check_sharding(tsr_ir *ir, const tsr_op *op, const tsr_attr *sharding,
                                           const tsr_type *type, const char *where);
// Checks an SDY_SHARDINGS against the types of values; `get` gives them.
typedef const tsr_type *tsr_type_at(const tsr_op *op, int index);
TSR_MUST_USE tsr_status tsr_check_shardings(tsr_ir *ir, const tsr_op *op, const tsr_attr *shardings,
                                            tsr_type_at *get, int count, const char *where);
const tsr_type *tsr_operand_type_at(const tsr_op *op, int index);
const tsr_type *tsr_result_type_at(const tsr_op *op, int index);

// The sharding that a value has where it is made; NULL in `out_sharding` = none.
TSR_MUST_USE tsr_status tsr_value_sharding(tsr_ir *ir, const tsr_value *value,
                                           const tsr_attr **out_sharding);
// Whether `name` is a manual axis of the op that is its parent, or that one's parent, and so on.
bool tsr_sdy_is_bound(const tsr_op *op, const tsr_attr *name);
// Whether a SDY_MANUAL_AXES names the axis.
bool tsr_sdy_is_manual(const tsr_attr *manual, const tsr_attr *name);

// What may happen to unreduced axes between an operand and a result: `added` and `removed` are the
// reduction (SDY_REDUCTION) that axes which come or go must have; -1 = none may come.
TSR_MUST_USE tsr_status tsr_check_unreduced(tsr_ir *ir, const tsr_op *op, const tsr_attr *from,
                                            const tsr_attr *to, int added, int removed);

#endif
