// Making Shardy's collectives, and what several passes ask of shardings written as attributes.
#ifndef TESSERA_COLLECTIVE_COLLECTIVE_BUILD_H
#define TESSERA_COLLECTIVE_COLLECTIVE_BUILD_H

#include "factor/shardings.h"
#include "ir/ir.h"

// A collective of one operand and one result of its type, at the location of `like`, in no block
// yet: `axes` (may be NULL) is the attribute under the name `name`, `reduction` (may be NULL) the
// attribute reduction_op. NULL without memory.
typedef struct tsr_collective_parts {
  tsr_op_id id;
  const char *name;
  const tsr_attr *axes, *sharding, *reduction;
} tsr_collective_parts;
tsr_op *tsr_collective_create(tsr_ir *ir, const tsr_op *like, tsr_value *operand,
                              const tsr_collective_parts *parts);

// An SDY_AXIS_LISTS of one list for each dim. NULL without memory.
const tsr_attr *tsr_axis_lists_attr(tsr_ir *ir, const tsr_attr *mesh, const tsr_sdy_parts *lists,
                                    int count);

// Whether no dim of an SDY_SHARDING has an axis; unreduced ones are left aside.
bool tsr_sharding_is_whole(const tsr_attr *sharding);

#endif
