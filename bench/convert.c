// Converts 4 million floats to the narrow types of models and back, once per round.
//
// bench: 4M f32 to bf16, f16, f8e4m3fn, f8e5m2 and back
// rival: numpy and ml_dtypes, copyto
// bar: 2 x

#include <stdlib.h>

#include "rounds.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"

enum { COUNT = 4 << 20 };

typedef struct buffers {
  float *values, *back;
  void *narrow;
} buffers;

static const tsr_dtype types[] = {TSR_BF16, TSR_F16, TSR_F8E4M3FN, TSR_F8E5M2};

static tsr_status convert_all(void *context) {
  const buffers *b = context;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    TSR_TRY(tsr_convert(TSR_F32, b->values, types[i], b->narrow, COUNT));
    TSR_TRY(tsr_convert(types[i], b->narrow, TSR_F32, b->back, COUNT));
  }
  return NULL;
}

int main(void) {
  buffers b = {malloc(COUNT * sizeof *b.values), malloc(COUNT * sizeof *b.back), malloc(2 * COUNT)};
  const bool made = b.values && b.back && b.narrow;
  for (int i = 0; made && i < COUNT; i++) b.values[i] = (float)(i % 2003 - 1001) / 512;
  const int code =
      made ? rounds_serve(convert_all, &b) : rounds_fail(tsr_fail(NO_MEMORY, "buffers"));
  free(b.values);
  free(b.back);
  free(b.narrow);
  return code;
}
