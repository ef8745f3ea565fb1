// Element types, for readers and writers of files: names within one ecosystem, bytes.
#ifndef TESSERA_ELEMENT_DTYPE_INTERNAL_H
#define TESSERA_ELEMENT_DTYPE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/status.h"

// Finds a type by its name in any of the ecosystems; TSR_DTYPE_NONE if there is none. Names are
// case-sensitive and none means two types: "F8_E4M3" can only be safetensors' word for f8e4m3fn.
tsr_dtype tsr_dtype_find(const char *name);
// The same within one ecosystem, for readers of its files, where foreign names are errors. The name
// need not be terminated.
tsr_dtype tsr_dtype_find_in(tsr_ecosystem ecosystem, const char *name, size_t length);
// Bytes that `count` elements take, sub-byte types packed and rounded up; checked for overflow.
TSR_MUST_USE tsr_status tsr_dtype_bytes(tsr_dtype dtype, int64_t count, int64_t *out_bytes);
// Fails unless `dtype` is TSR_DTYPE_NONE or exists.
TSR_MUST_USE tsr_status tsr_dtype_check_wanted(tsr_dtype dtype);

#endif
