// Which tensors are codes and which are scales, by their names and dtypes.
#include "plan/quantised.h"

#include <stdlib.h>

#include "plan/companions.h"

// Codes are integers, or floats of at most a byte. A wider weight has its own values, even beside a
// scale.
static bool may_be_codes(const tsr_tensor *tensor) {
  const tsr_dtype_info *info = tsr_dtype_info_of(tensor->dtype);
  return info->kind != TSR_CLASS_COMPLEX && (info->kind != TSR_CLASS_FLOAT || info->bits <= 8);
}

static void pair(tsr_quantised *items, int64_t codes, int64_t scale) {
  if (items[codes].kind != TSR_QUANTISED_CODES)
    items[codes] = (tsr_quantised){TSR_QUANTISED_CODES, scale};
  if (items[scale].kind == TSR_QUANTISED_NOT)
    items[scale] = (tsr_quantised){TSR_QUANTISED_SCALE, codes};
}

static void set_scale(tsr_quantised *items, int64_t index, int64_t with) {
  if (items[index].kind == TSR_QUANTISED_NOT)
    items[index] = (tsr_quantised){TSR_QUANTISED_SCALE, with < 0 ? index : with};
}

// Of two tensors of a form that cannot be cut, either may be the codes, or neither is.
static void classify_form(const tsr_tree *tree, int64_t index, int64_t of, tsr_quantised *items) {
  if (may_be_codes(tsr_tree_at(tree, of)))
    pair(items, of, index);
  else if (may_be_codes(tsr_tree_at(tree, index)))
    pair(items, index, of);
  else
    set_scale(items, index, of);
}

static void classify(const tsr_tree *tree, int64_t index, tsr_quantised *items) {
  int64_t weight = -1;
  const tsr_companion c = tsr_companion_find(tree, index);
  const bool number = tsr_companion_is_number(tree, index, &weight);
  if (c.scales || (number && c.kind != TSR_COMPANION_OF_WEIGHT))
    set_scale(items, index, number ? weight : c.of);
  else if (c.kind == TSR_COMPANION_OF_WEIGHT && !c.along && may_be_codes(tsr_tree_at(tree, c.of)))
    pair(items, c.of, index);
  else if (c.kind == TSR_COMPANION_WHOLE && !c.state && c.of >= 0)
    classify_form(tree, index, c.of, items);
}

tsr_status tsr_quantised_find(const tsr_tree *tree, tsr_quantised **out_items) {
  const int64_t count = tsr_tree_count(tree);
  tsr_quantised *items = calloc((size_t)count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) classify(tree, i, items);
  *out_items = items;
  return NULL;
}
