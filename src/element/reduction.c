// The names of reductions, and the dtypes they allow.
#include "element/reduction.h"
#include "tessera/dtype.h"
#include "tessera/reduction.h"

const char *tsr_reduction_name(tsr_reduction op) {
  static const char *const names[TSR_REDUCTION_COUNT] = {
      [TSR_REDUCE_SUM] = "sum", [TSR_REDUCE_PRODUCT] = "product", [TSR_REDUCE_MIN] = "min",
      [TSR_REDUCE_MAX] = "max", [TSR_REDUCE_AND] = "and",         [TSR_REDUCE_OR] = "or",
  };
  return op >= 0 && op < TSR_REDUCTION_COUNT ? names[op] : NULL;
}

bool tsr_reduction_allows(tsr_reduction op, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info || !tsr_reduction_name(op)) return false;
  switch (info->kind) {
    case TSR_CLASS_BOOL:
    case TSR_CLASS_SIGNED:
    case TSR_CLASS_UNSIGNED:
      return true;
    case TSR_CLASS_FLOAT:
      return op != TSR_REDUCE_AND && op != TSR_REDUCE_OR;
    case TSR_CLASS_COMPLEX:
      return op == TSR_REDUCE_SUM || op == TSR_REDUCE_PRODUCT;
  }
  return false;
}
