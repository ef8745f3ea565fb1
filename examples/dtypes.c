// Element types by the names that others have for them, and elements of one type made elements of
// another.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/tessera.h>
#include <tessera/engine.h>

static tsr_status run(void) {
  const char *const names[] = {"F8_E4M3", "bfloat16", "int4"};
  for (int i = 0; i < 3; i++) {
    tsr_dtype dtype;
    int64_t bytes = 0;
    TSR_TRY(tsr_dtype_parse(names[i], &dtype));
    TSR_TRY(tsr_dtype_bytes(dtype, 1000, &bytes));
    printf("%-8s is %s, 1000 elements take %" PRId64 " bytes\n", names[i],
           tsr_dtype_name(dtype, TSR_NAMES_OWN), bytes);
  }
  const float from[] = {1, 0.1f, 70000, -2.5f};
  uint16_t half[4];
  TSR_OWN(text, text);
  TSR_TRY(tsr_convert(TSR_F32, from, TSR_F16, half, 4));
  for (int i = 0; i < 4; i++) {
    tsr_text_clear(&text);
    tsr_element_print(TSR_F16, half, i, &text);
    printf("%g as f16 is %s\n", (double)from[i], tsr_text_string(&text));
  }
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
