// The module libtessera_blas: a table of OpenBLAS's functions. It is the only code that names them,
// and links nothing of the library.
#include "kernel/blas/blas_module.h"

#include "tessera/api.h"

// Prototypes by our own table; OpenBLAS's headers have other spellings of the same arguments.
#define FOUR(s, d, c, z, arguments)           \
  extern void s##_ arguments, d##_ arguments; \
  extern void c##_ arguments, z##_ arguments;
#define SAME(field, name, arguments) FOUR(s##name, d##name, c##name, z##name, arguments)
#define SPLIT(field, real, complex, arguments) \
  FOUR(s##real, d##real, c##complex, z##complex, arguments)
#define REAL(field, name, arguments) extern void s##name##_ arguments, d##name##_ arguments;
#define COMPLEX(field, name, arguments) extern void c##name##_ arguments, z##name##_ arguments;
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
extern void openblas_set_num_threads(int count);

// clang-format off
static const tsr_blas table = {
  TSR_VERSION,
  {
    {
#define SAME(field, name, arguments) .field = s##name##_,
#define SPLIT(field, real, complex, arguments) .field = s##real##_,
#define REAL(field, name, arguments) .field = s##name##_,
#define COMPLEX(field, name, arguments)
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
    },
    {
#define SAME(field, name, arguments) .field = d##name##_,
#define SPLIT(field, real, complex, arguments) .field = d##real##_,
#define REAL(field, name, arguments) .field = d##name##_,
#define COMPLEX(field, name, arguments)
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
    },
    {
#define SAME(field, name, arguments) .field = c##name##_,
#define SPLIT(field, real, complex, arguments) .field = c##complex##_,
#define REAL(field, name, arguments)
#define COMPLEX(field, name, arguments) .field = c##name##_,
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
    },
    {
#define SAME(field, name, arguments) .field = z##name##_,
#define SPLIT(field, real, complex, arguments) .field = z##complex##_,
#define REAL(field, name, arguments)
#define COMPLEX(field, name, arguments) .field = z##name##_,
#include "kernel/blas/blas_functions.def"
#undef SAME
#undef SPLIT
#undef REAL
#undef COMPLEX
    },
  }
};
// clang-format on

TSR_API tsr_blas_open_fn tsr_blas_table;
// Tasks are split by the caller, so each call stays on its thread.
const tsr_blas *tsr_blas_table(void) {
  openblas_set_num_threads(1);
  return &table;
}
