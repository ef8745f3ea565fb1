// Values that an op's attributes have when they are absent. MLIR's text leaves them out.
#include <string.h>

#include "ir/ir.h"

static bool is_positive_or_negative_zero(const tsr_attr *number) { return !(number->bits << 1); }

bool tsr_attr_is_plain_accuracy(const tsr_attr *attr) {
  return tsr_attr_has_form(attr, TSR_FORM_RECORD, TSR_RECORD_ACCURACY) &&
         is_positive_or_negative_zero(tsr_attr_field(attr, TSR_ACCURACY_ATOL)) &&
         is_positive_or_negative_zero(tsr_attr_field(attr, TSR_ACCURACY_RTOL)) &&
         !tsr_attr_field(attr, TSR_ACCURACY_ULPS)->integer &&
         tsr_attr_field(attr, TSR_ACCURACY_MODE)->integer == TSR_ACCURACY_MODE_DEFAULT;
}

static const uint64_t tolerance_bits = 0x3F1A36E2EB1C432D;  // 1e-4 of f64

// Of the attributes of ops that have a pretty form; one name means the same in all of them.
static const struct {
  const char *name;
  int64_t integer;  // of an INTEGER or ENUM; arrays and dictionaries are empty by default
} defaults[] = {
    {"api_version", 1},
    {"called_computations", 0},
    {"composite_attributes", 0},
    {"has_side_effect", 0},
    {"is_stable", 1},
    {"iteration", 0},
    {"lower", 0},
    {"min_ulp_difference", 0},
    {"output_operand_aliases", 0},
    {"reduction_op", TSR_SDY_REDUCTION_SUM},
    {"version", 0},
};

bool tsr_op_attr_is_default(const tsr_op *op, const char *name, const tsr_attr *attr) {
  if (op->info->form == TSR_TEXT_GENERIC || !tsr_op_is_inherent(op, name)) return false;
  if (attr->kind == TSR_ATTR_RECORD) return tsr_attr_is_plain_accuracy(attr);
  if (attr->kind == TSR_ATTR_FLOAT)
    return !strcmp(name, "tolerance") && attr->bits == tolerance_bits;
  for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
    if (strcmp(defaults[i].name, name) != 0) continue;
    const bool number = attr->kind == TSR_ATTR_INTEGER || attr->kind == TSR_ATTR_ENUM;
    const bool list = attr->kind == TSR_ATTR_ARRAY || attr->kind == TSR_ATTR_DICT;
    return (number && attr->integer == defaults[i].integer) || (list && !attr->count);
  }
  return false;
}
