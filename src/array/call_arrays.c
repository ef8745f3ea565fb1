// Arrays as ranks compare them before a collective: dtypes, layouts and target layouts, in order.
#include "array/array.h"
#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "tessera/engine/kernels.h"

static const tsr_layout *target(const tsr_call_arrays *list, int64_t item) {
  return list->layouts ? list->layouts[item] : NULL;
}

static tsr_hash128 digest_array(void *context, int64_t item) {
  tsr_call_arrays *list = context;
  const tsr_array *array = list->arrays[item];
  const tsr_layout *layout = target(list, item);
  const tsr_hash128 from = tsr_layout_digest(array->layout);
  const tsr_hash128 to = layout ? tsr_layout_digest(layout) : TSR_HASH128_EMPTY;
  const uint64_t both[] = {(uint64_t)array->dtype, from.low, from.high, to.low, to.high};
  return tsr_hash128_add(TSR_HASH128_EMPTY, both, sizeof both);
}

static void describe_array(void *context, int64_t item, tsr_text *out) {
  const tsr_call_arrays *list = context;
  const tsr_array *array = list->arrays[item];
  tsr_text_addf(out, "array %lld: %s ", (long long)item, tsr_dtype_info_of(array->dtype)->name);
  tsr_layout_describe(array->layout, out);
  if (!target(list, item)) return;
  tsr_text_add(out, " to ");
  tsr_layout_describe(target(list, item), out);
}

tsr_call_items tsr_call_arrays_items(tsr_call_arrays *list) {
  return (tsr_call_items){list->count, list, digest_array, describe_array};
}
