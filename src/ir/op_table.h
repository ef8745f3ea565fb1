// The table of operations: one row of ir/ops.def each. Rooms above take their own columns.
#ifndef TESSERA_IR_OP_TABLE_H
#define TESSERA_IR_OP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// TSR_OP_STABLEHLO_ADD and so on.
#define OP(id, ...) TSR_OP_##id,
typedef enum tsr_op_id {
  TSR_OP_UNKNOWN,
#include "ir/ops.def"
  TSR_OP_COUNT
} tsr_op_id;
#undef OP

// How an op is written: TSR_TEXT_GENERIC and so on, from ir/text_forms.def.
#define TEXT_FORM(id) TSR_TEXT_##id,
typedef enum tsr_text_form {
#include "ir/text_forms.def"
  TSR_TEXT_FORM_COUNT
} tsr_text_form;
#undef TEXT_FORM

enum tsr_op_trait {
  TSR_TRAIT_NONE = 0,
  TSR_TRAIT_PURE = 1,         // no effect but its results, so it may be dropped, merged and moved
  TSR_TRAIT_COMMUTES = 2,     // the first two operands may be swapped
  TSR_TRAIT_ELEMENTWISE = 4,  // each result element comes from the operand elements at its index
  TSR_TRAIT_TERMINATES = 8,   // ends a block
  TSR_TRAIT_ISOLATED = 16,    // its regions use no values from outside
  TSR_TRAIT_SYMBOL = 32       // has a sym_name
};

// Counts of operands, results and regions: n, or at least n.
#define TSR_AT_LEAST(n) (-1 - (n))

struct tsr_attr_info;
typedef struct tsr_op_info {
  tsr_op_id id;
  const char *name;  // "stablehlo.add"
  tsr_text_form form;
  int operands, results, regions;  // TSR_AT_LEAST(n) where the number varies
  unsigned traits;                 // tsr_op_trait
  int attr_count;                  // inherent attributes, sorted by name
  const struct tsr_attr_info *attrs;
} tsr_op_info;

const tsr_op_info *tsr_op_info_of(tsr_op_id id);
// The row of a full name such as "stablehlo.add"; that of TSR_OP_UNKNOWN if there is none.
const tsr_op_info *tsr_op_find(const char *name, size_t length);
static inline bool tsr_op_count_fits(int wanted, int count) {
  return wanted >= 0 ? count == wanted : count >= -1 - wanted;
}

#endif
