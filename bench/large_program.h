// A program with 100 MB of constants, as text of 200 MB: what a model with captured weights is.
#ifndef TESSERA_BENCH_LARGE_PROGRAM_H
#define TESSERA_BENCH_LARGE_PROGRAM_H

#include <stdint.h>

#include "base/text_internal.h"
#include "tessera/program/program.h"

enum { CONSTANTS = 25, CONSTANT_ELEMENTS = 1 << 20 };

// Elements as random as the multiplier makes them: nothing is a splat.
static inline void add_constant(tsr_text *out, int number) {
  static const char digits[] = "0123456789ABCDEF";
  uint32_t state = (uint32_t)number * 2654435761u + 1;
  tsr_text_addf(out, "    %%%d = stablehlo.constant dense<\"0x", number);
  for (int i = 0; i < CONSTANT_ELEMENTS; i++) {
    char hex[8];
    state = state * 1664525u + 1013904223u;
    const uint32_t bits = (state >> 9) | 0x3f800000u;  // floats from 1 to 2
    for (int k = 0; k < 8; k += 2) {
      hex[k] = digits[bits >> (4 * k + 4) & 15];
      hex[k + 1] = digits[bits >> (4 * k) & 15];
    }
    tsr_text_add_bytes(out, hex, sizeof hex);
  }
  tsr_text_addf(out, "\"> : tensor<1024x1024xf32>\n");
}

static inline tsr_status large_program_text(tsr_text *out) {
  tsr_text_add(out, "module @large {\n  func.func public @main() -> tensor<1024x1024xf32> {\n");
  for (int i = 0; i < CONSTANTS; i++) add_constant(out, i);
  for (int i = 0; i < CONSTANTS - 1; i++)
    tsr_text_addf(out, "    %%%d = stablehlo.add %%%d, %%%d : tensor<1024x1024xf32>\n",
                  CONSTANTS + i, i ? CONSTANTS + i - 1 : 0, i + 1);
  tsr_text_addf(out, "    return %%%d : tensor<1024x1024xf32>\n  }\n}\n", 2 * CONSTANTS - 2);
  return tsr_text_check(out);
}

static inline tsr_status read_large_program(void *context) {
  const tsr_text *bytes = context;
  tsr_program *program = NULL;
  tsr_program_info info = TSR_PROGRAM_INFO;
  TSR_TRY(tsr_program_read("large", bytes->data, bytes->length, NULL, &program));
  tsr_status status = tsr_program_describe(program, &info);
  tsr_program_release(program);
  if (status) return status;
  return info.constant_bytes == INT64_C(4) * CONSTANTS * CONSTANT_ELEMENTS
             ? NULL
             : tsr_fail(BROKEN_PROGRAM, "%lld bytes of constants", (long long)info.constant_bytes);
}

#endif
