// BLAS and LAPACK, out of the module libtessera_blas, which links OpenBLAS.
//
//   const tsr_blas *blas = tsr_blas_load();  // when a program is compiled; NULL = there is none
//   blas->of[TSR_BLAS_F32].potrf("L", &n, a, &lda, &info, 1);
//
// The functions run on the calling thread and may be called from several threads at once.
#ifndef TESSERA_KERNEL_BLAS_BLAS_MODULE_H
#define TESSERA_KERNEL_BLAS_BLAS_MODULE_H

#include <stddef.h>

#include "tessera/dtype.h"

enum { TSR_BLAS_F32, TSR_BLAS_F64, TSR_BLAS_C64, TSR_BLAS_C128, TSR_BLAS_TYPES };

// The functions of one type; NULL where a function is of the other types.
typedef struct tsr_blas_functions {
#define SAME(field, name, arguments) void(*field) arguments;
#define SPLIT(field, real, complex, arguments) void(*field) arguments;
#define REAL(field, name, arguments) void(*field) arguments;
#define COMPLEX(field, name, arguments) void(*field) arguments;
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
} tsr_blas_functions;

typedef struct tsr_blas {
  const char *version;  // TSR_VERSION: the module and the library share this structure
  tsr_blas_functions of[TSR_BLAS_TYPES];
} tsr_blas;

// The module's only export.
#define TSR_BLAS_SYMBOL "tsr_blas_table"
typedef const tsr_blas *tsr_blas_open_fn(void);

// Loads the module, which then stays loaded. TESSERA_BLAS is the path of another one, or "none".
const tsr_blas *tsr_blas_load(void);
// The index of a type in `of`; -1 = it has no functions.
int tsr_blas_type(tsr_dtype dtype);

#endif
