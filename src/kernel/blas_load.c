// Finds the module of BLAS and LAPACK. Descriptions keep the table, so nothing is kept here.
#include <stdlib.h>
#include <string.h>

#include "base/module.h"
#include "kernel/blas/blas_module.h"

const tsr_blas *tsr_blas_load(void) {
  const char *said = secure_getenv("TESSERA_BLAS");
  if (said && !strcmp(said, "none")) return NULL;
  void *module = tsr_module_load(said && *said ? said : "blas", false);
  tsr_blas_open_fn *open = NULL;
  if (!module || !tsr_module_find(module, TSR_BLAS_SYMBOL, &open)) return NULL;
  const tsr_blas *blas = open();
  return strcmp(blas->version, TSR_VERSION) ? NULL : blas;
}

int tsr_blas_type(tsr_dtype dtype) {
  switch (dtype) {
    case TSR_F32:
      return TSR_BLAS_F32;
    case TSR_F64:
      return TSR_BLAS_F64;
    case TSR_C64:
      return TSR_BLAS_C64;
    case TSR_C128:
      return TSR_BLAS_C128;
    default:
      return -1;
  }
}
