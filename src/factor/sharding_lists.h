// The attributes that hold shardings: one list for all results of an op or arguments of a block.
#ifndef TESSERA_FACTOR_SHARDING_LISTS_H
#define TESSERA_FACTOR_SHARDING_LISTS_H

#include "ir/ir.h"

typedef enum tsr_sharding_list_kind {
  TSR_SHARDINGS_OF_OP,     // an SDY_SHARDINGS: all are there, or none
  TSR_SHARDINGS_IN_DICTS,  // the dictionaries of the arguments or results of a function
  TSR_SHARDINGS_SINGLE     // one SDY_SHARDING of an op of Shardy
} tsr_sharding_list_kind;

typedef struct tsr_sharding_list {
  tsr_op *op;
  const char *name;  // of the attribute
  tsr_sharding_list_kind kind;
  const tsr_ir_block *block;  // whose arguments they are; NULL = of results
  int count;
} tsr_sharding_list;

// The list that a value which is tsr_shardable has its sharding in, at its index.
tsr_sharding_list tsr_sharding_list_of(tsr_value *value);
tsr_sharding_list tsr_sharding_list_of_results(tsr_op *func);
// The SDY_SHARDING in a dictionary of a list of them (arg_attrs or res_attrs, may be NULL); NULL =
// none.
const tsr_attr *tsr_sharding_in_dicts(const tsr_attr *dicts, int index);
// Writes all shardings of a list; NULL only in dictionaries and single ones, where it removes one.
TSR_MUST_USE tsr_status tsr_sharding_list_write(tsr_ir *ir, const tsr_sharding_list *list,
                                                const tsr_attr *const *shardings);

#endif
