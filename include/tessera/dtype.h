// Element types: every one that safetensors, StableHLO, NumPy or PyTorch can name.
#ifndef TESSERA_DTYPE_H
#define TESSERA_DTYPE_H

#include <stdint.h>

#include "tessera/status.h"

TSR_BEGIN_DECLS

// TSR_BOOL, TSR_I8, TSR_BF16, TSR_F8E4M3FN, TSR_C64 and so on, from tessera/dtypes.def.
#define DTYPE(id, ...) TSR_##id,
typedef enum tsr_dtype {
  TSR_DTYPE_NONE,
#include "tessera/dtypes.def"
  TSR_DTYPE_COUNT
} tsr_dtype;
#undef DTYPE

typedef enum tsr_dtype_class {
  TSR_CLASS_BOOL,
  TSR_CLASS_SIGNED,
  TSR_CLASS_UNSIGNED,
  TSR_CLASS_FLOAT,
  TSR_CLASS_COMPLEX
} tsr_dtype_class;

typedef struct tsr_dtype_info {
  const char *name;         // ours: "bf16"
  const char *safetensors;  // "BF16"; NULL where that ecosystem has no such type
  const char *stablehlo;    // "bf16"
  const char *numpy;        // "bfloat16" (with ml_dtypes)
  const char *torch;        // "bfloat16"
  tsr_dtype_class kind;
  int bits;       // as stored in memory and files; a bool takes 8
  bool sub_byte;  // several elements share a byte
} tsr_dtype_info;

TSR_API const tsr_dtype_info *tsr_dtype_get(tsr_dtype dtype);  // NULL for an invalid value
// Finds a type by its name in any of the ecosystems; TSR_DTYPE_NONE if there is none.
TSR_API tsr_dtype tsr_dtype_find(const char *name);
TSR_API TSR_MUST_USE tsr_status tsr_dtype_parse(const char *name, tsr_dtype *out_dtype);
// Bytes that `count` elements take, sub-byte types packed and rounded up; checked for overflow.
TSR_API TSR_MUST_USE tsr_status tsr_dtype_bytes(tsr_dtype dtype, int64_t count, int64_t *out_bytes);

TSR_END_DECLS

#endif
