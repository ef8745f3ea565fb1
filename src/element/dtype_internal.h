// Element types, for readers and writers of files: names within one ecosystem, bytes.
#ifndef TESSERA_ELEMENT_DTYPE_INTERNAL_H
#define TESSERA_ELEMENT_DTYPE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/status.h"

// A type by its name in any ecosystem; TSR_DTYPE_NONE = unknown. Names are case-sensitive and
// unambiguous: "F8_E4M3" is only safetensors' name for f8e4m3fn.
tsr_dtype tsr_dtype_find(const char *name);
// The same within one ecosystem, for readers of its files. The name need not be terminated.
tsr_dtype tsr_dtype_find_in(tsr_ecosystem ecosystem, const char *name, size_t length);
// The bytes of `count` elements, sub-byte types packed and rounded up; checked for overflow.
TSR_MUST_USE tsr_status tsr_dtype_bytes(tsr_dtype dtype, int64_t count, int64_t *out_bytes);
// Fails unless `dtype` is TSR_DTYPE_NONE or exists.
TSR_MUST_USE tsr_status tsr_dtype_check_wanted(tsr_dtype dtype);

#endif
