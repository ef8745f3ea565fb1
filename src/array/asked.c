// What ranks must have in common about arrays: element types, how they lie and how they shall lie,
// in one order.
#include "array/array.h"
#include "base/hash_chain.h"
#include "base/text_internal.h"
#include "tessera/engine/kernels.h"

static const tsr_layout *target(const tsr_asked *asked, int64_t item) {
  return asked->layouts ? asked->layouts[item] : NULL;
}

static tsr_hash128 digest_array(void *context, int64_t item) {
  tsr_asked *asked = context;
  const tsr_array *array = asked->arrays[item];
  const tsr_layout *layout = target(asked, item);
  const tsr_hash128 from = tsr_layout_digest(array->layout);
  const tsr_hash128 to = layout ? tsr_layout_digest(layout) : TSR_HASH128_EMPTY;
  const uint64_t both[] = {(uint64_t)array->dtype, from.low, from.high, to.low, to.high};
  return tsr_hash128_add(TSR_HASH128_EMPTY, both, sizeof both);
}

static void describe_array(void *context, int64_t item, tsr_text *out) {
  const tsr_asked *asked = context;
  const tsr_array *array = asked->arrays[item];
  tsr_text_addf(out, "array %lld: %s ", (long long)item, tsr_dtype_info_of(array->dtype)->name);
  tsr_layout_describe(array->layout, out);
  if (!target(asked, item)) return;
  tsr_text_add(out, " to ");
  tsr_layout_describe(target(asked, item), out);
}

tsr_call_items tsr_asked_items(tsr_asked *asked) {
  return (tsr_call_items){asked->count, asked, digest_array, describe_array};
}
