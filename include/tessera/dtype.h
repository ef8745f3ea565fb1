// Element types: all of safetensors and StableHLO, with their names in NumPy and PyTorch.
#ifndef TESSERA_DTYPE_H
#define TESSERA_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// TSR_BOOL, TSR_I8, TSR_BF16, TSR_F8E4M3FN, TSR_C64 and so on, from tessera/dtypes.def.
#define TSR_DTYPE_ROW(id, ...) TSR_##id,
typedef enum tsr_dtype {
  TSR_DTYPE_NONE,
#include "tessera/dtypes.def"
  TSR_DTYPE_COUNT
} tsr_dtype;
#undef TSR_DTYPE_ROW

typedef enum tsr_dtype_class {
  TSR_CLASS_BOOL,
  TSR_CLASS_SIGNED,
  TSR_CLASS_UNSIGNED,
  TSR_CLASS_FLOAT,
  TSR_CLASS_COMPLEX
} tsr_dtype_class;

// Whose name it is: that of our own text forms, or of a library or format.
typedef enum tsr_ecosystem {
  TSR_NAMES_OWN,
  TSR_NAMES_SAFETENSORS,
  TSR_NAMES_STABLEHLO,
  TSR_NAMES_NUMPY,
  TSR_NAMES_TORCH,
  TSR_ECOSYSTEM_COUNT
} tsr_ecosystem;

typedef struct tsr_dtype_info {
  const char *name;         // ours: "bf16"
  const char *safetensors;  // "BF16"; NULL if that ecosystem has no such type
  const char *stablehlo;    // "bf16"
  const char *numpy;        // "bfloat16" (with ml_dtypes)
  const char *torch;        // "bfloat16"
  tsr_dtype_class kind;
  int bits;       // as stored in memory and files; a bool takes 8
  bool sub_byte;  // several elements share a byte
} tsr_dtype_info;

TSR_API const tsr_dtype_info *tsr_dtype_info_of(tsr_dtype dtype);  // NULL for an invalid value
// The name of a type in an ecosystem; NULL if it has no such type.
TSR_API const char *tsr_dtype_name(tsr_dtype dtype, tsr_ecosystem ecosystem);
// The type of this name in any of the ecosystems. Names are case-sensitive, and none means two
// types: "F8_E4M3" is only safetensors' name for f8e4m3fn. An unknown name is an error that
// suggests the nearest one.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_dtype_parse(const char *name, tsr_dtype *out_dtype);

TSR_END_DECLS

#endif
