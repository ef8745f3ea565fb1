// Element types by the names that others have for them, and elements of one type made elements of
// another.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  const char *const names[] = {"F8_E4M3", "bfloat16", "int4"};
  for (int i = 0; i < 3; i++) {
    tsr_dtype dtype;
    int64_t bytes = 0;
    TSR_TRY(tsr_dtype_parse(names[i], &dtype));
    TSR_TRY(tsr_shape_bytes(TSR_SHAPE(1000), dtype, &bytes));
    printf("%-8s is %s, 1000 elements take %" PRId64 " bytes\n", names[i],
           tsr_dtype_name(dtype, TSR_NAMES_OWN), bytes);
  }
  const float from[] = {1, 0.1f, 70000, -2.5f};
  uint16_t half[4];
  float back[4];
  TSR_TRY(tsr_convert(TSR_F32, from, TSR_F16, half, 4));
  TSR_TRY(tsr_convert(TSR_F16, half, TSR_F32, back, 4));
  for (int i = 0; i < 4; i++) printf("%g as f16 is %g\n", (double)from[i], (double)back[i]);
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
