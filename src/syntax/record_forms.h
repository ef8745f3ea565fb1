// How each record is written, for its reader and its printer: TSR_RECORD_FORMS(X) with rows
// X(record, form, order). Reader and printer each have a function for the form.
#ifndef TESSERA_SYNTAX_RECORD_FORMS_H
#define TESSERA_SYNTAX_RECORD_FORMS_H

#include "ir/ir.h"

// The fields of <name = value, ...>.
typedef enum tsr_struct_order {
  TSR_ORDER_NONE,   // another form
  TSR_ORDER_LOOSE,  // in any order; empty lists and zeros are left out
  TSR_ORDER_ANY,    // in any order, each of them
  TSR_ORDER_FIXED   // each of them, in order
} tsr_struct_order;

// clang-format off
#define TSR_RECORD_FORMS(X)                                                                        \
  X(GATHER, struct, LOOSE) X(SCATTER, struct, LOOSE) X(DOT, struct, LOOSE)                         \
  X(RAGGED_DOT, struct, LOOSE) X(DOT_ALGORITHM, struct, FIXED) X(ALIAS, struct, FIXED)             \
  X(CHANNEL, struct, ANY) X(ACCURACY, struct, FIXED) X(AXIS_REF, struct, ANY)                      \
  X(MESH_AXIS, struct, ANY) X(MESH, struct, FIXED) X(GROUP_AXES, struct, ANY)                      \
  X(CONV, conv, NONE) X(BOUNDS, bounds, NONE) X(SUB_AXIS, sub_axis_info, NONE)                          \
  X(SDY_MANUAL_AXES, sdy_names, NONE) X(SDY_MESH_AXIS, sdy_mesh_axis, NONE)                        \
  X(SDY_MESH, sdy_mesh, NONE) X(SDY_SUB_AXIS, sub_axis_info, NONE) X(SDY_AXIS, sdy_axis, NONE)          \
  X(SDY_DIM, sdy_dim, NONE) X(SDY_SHARDING, sdy_sharding, NONE) X(SDY_SHARDINGS, sdy_list, NONE)   \
  X(SDY_DIM_MAPPING, sdy_dim_mapping, NONE) X(SDY_TENSOR_MAPPING, sdy_list, NONE)                  \
  X(SDY_RULE, sdy_rule, NONE) X(SDY_AXIS_LIST, sdy_list, NONE) X(SDY_AXIS_LISTS, sdy_list, NONE)   \
  X(SDY_ALL_TO_ALL, sdy_all_to_all, NONE) X(SDY_ALL_TO_ALLS, sdy_list, NONE)
// clang-format on

tsr_struct_order tsr_record_order(tsr_record_id id);

#endif
