// The table of dtypes.def, looked up by value and by name.
#include "tessera/dtype.h"

#include <string.h>

#include "base/suggest.h"
#include "element/dtype_internal.h"

static const tsr_dtype_info dtypes[TSR_DTYPE_COUNT] = {
#define TSR_DTYPE_ROW(id, name_, safetensors_, stablehlo_, numpy_, torch_, class_, bits_) \
  [TSR_##id] = {.name = name_,                                                            \
                .safetensors = safetensors_,                                              \
                .stablehlo = stablehlo_,                                                  \
                .numpy = numpy_,                                                          \
                .torch = torch_,                                                          \
                .kind = TSR_CLASS_##class_,                                               \
                .bits = bits_,                                                            \
                .sub_byte = (bits_) < 8},
#include "tessera/dtypes.def"
#undef TSR_DTYPE_ROW
};

const tsr_dtype_info *tsr_dtype_info_of(tsr_dtype dtype) {
  if (dtype <= TSR_DTYPE_NONE || dtype >= TSR_DTYPE_COUNT) return NULL;
  return &dtypes[dtype];
}

const char *tsr_dtype_name(tsr_dtype dtype, tsr_ecosystem ecosystem) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return NULL;
  switch (ecosystem) {
    case TSR_NAMES_OWN:
      return info->name;
    case TSR_NAMES_SAFETENSORS:
      return info->safetensors;
    case TSR_NAMES_STABLEHLO:
      return info->stablehlo;
    case TSR_NAMES_NUMPY:
      return info->numpy;
    case TSR_NAMES_TORCH:
      return info->torch;
    default:
      return NULL;
  }
}

tsr_dtype tsr_dtype_find_in(tsr_ecosystem ecosystem, const char *name, size_t length) {
  for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
    const char *known = tsr_dtype_name((tsr_dtype)i, ecosystem);
    if (known && strlen(known) == length && !memcmp(known, name, length)) return (tsr_dtype)i;
  }
  return TSR_DTYPE_NONE;
}

tsr_dtype tsr_dtype_find(const char *name) {
  const size_t length = strlen(name);
  for (int i = 0; i < TSR_ECOSYSTEM_COUNT; i++) {
    const tsr_dtype dtype = tsr_dtype_find_in((tsr_ecosystem)i, name, length);
    if (dtype) return dtype;
  }
  return TSR_DTYPE_NONE;
}

tsr_status tsr_dtype_parse(const char *name, tsr_dtype *out_dtype) {
  const tsr_dtype dtype = tsr_dtype_find(name);
  if (dtype) {
    *out_dtype = dtype;
    return NULL;
  }
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < TSR_ECOSYSTEM_COUNT; i++)
    for (int j = 1; j < TSR_DTYPE_COUNT; j++) {
      const char *known = tsr_dtype_name((tsr_dtype)j, (tsr_ecosystem)i);
      if (known) tsr_suggestion_offer(&near, known);
    }
  if (!near.best)
    return tsr_fail(UNKNOWN_DTYPE,
                    "element type \"%s\" is unknown, wanted one such as f32, bf16 or i8", name);
  return tsr_fail(UNKNOWN_DTYPE, "element type \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

tsr_status tsr_dtype_bytes(tsr_dtype dtype, int64_t count, int64_t *out_bytes) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%lld elements, wanted 0 or more", (long long)count);
  // Eight elements take `bits` bytes, so the product count * bits, which could overflow, is never
  // formed.
  int64_t bytes;
  if (__builtin_mul_overflow(count / 8, (int64_t)info->bits, &bytes) ||
      __builtin_add_overflow(bytes, (count % 8 * info->bits + 7) / 8, &bytes))
    return tsr_fail(OVERFLOW, "%lld elements of %s take more than 2^63-1 bytes", (long long)count,
                    info->name);
  *out_bytes = bytes;
  return NULL;
}

tsr_status tsr_dtype_check_wanted(tsr_dtype dtype) {
  if (dtype == TSR_DTYPE_NONE || tsr_dtype_info_of(dtype)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "element type %d does not exist, wanted 0 to %d", (int)dtype,
                  TSR_DTYPE_COUNT - 1);
}
