// One element as text, for messages and statistics.
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text_internal.h"
#include "element/convert_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"

enum { WIDEST = 16 };  // bytes of an element

// Both types are known to be convertible where this is called.
static void convert_one(tsr_dtype from, const void *source, tsr_dtype to, void *target) {
  tsr_status_free(tsr_convert(from, source, to, target, 1));
}

// The double with the fewest digits that converts to this element.
static double shortest(tsr_dtype dtype, const char *element, double value) {
  for (int digits = 1; digits < 17; digits++) {
    char again[WIDEST] = {0};
    const double rounded = tsr_decimal_round(value, digits);
    convert_one(TSR_F64, &rounded, dtype, again);
    if (!memcmp(again, element, sizeof again)) return rounded;
  }
  return value;
}

static void print_float(tsr_dtype dtype, const char *element, tsr_text *out) {
  double value = 0;
  convert_one(dtype, element, TSR_F64, &value);
  tsr_text_add_double(out, isfinite(value) ? shortest(dtype, element, value) : value);
}

static void print_complex(tsr_dtype dtype, const char *element, tsr_text *out) {
  const tsr_dtype component = dtype == TSR_C64 ? TSR_F32 : TSR_F64;
  const size_t width = dtype == TSR_C64 ? 4 : 8;
  char real[WIDEST] = {0}, imaginary[WIDEST] = {0};
  memcpy(real, element, width);
  memcpy(imaginary, element + width, width);
  print_float(component, real, out);
  tsr_text second = TSR_TEXT_EMPTY;
  print_float(component, imaginary, &second);
  const char *text = tsr_text_string(&second);
  tsr_text_addf(out, "%s%sj", *text == '-' ? "" : "+", text);
  out->failed = out->failed || second.failed;
  tsr_text_deinit(&second);
}

void tsr_element_print(tsr_dtype dtype, const void *elements, int64_t index, tsr_text *out) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return;
  char element[WIDEST] = {0};
  const tsr_copy copy = {.from = index, .length = 1};
  tsr_copy_run(&copy, info->bits, elements, element);
  int64_t number = 0;
  uint64_t natural = 0;
  switch (info->kind) {
    case TSR_CLASS_BOOL:
      tsr_text_add(out, element[0] ? "true" : "false");
      break;
    case TSR_CLASS_SIGNED:
      convert_one(dtype, element, TSR_I64, &number);
      tsr_text_addf(out, "%lld", (long long)number);
      break;
    case TSR_CLASS_UNSIGNED:
      convert_one(dtype, element, TSR_U64, &natural);
      tsr_text_addf(out, "%llu", (unsigned long long)natural);
      break;
    case TSR_CLASS_FLOAT:
      print_float(dtype, element, out);
      break;
    case TSR_CLASS_COMPLEX:
      print_complex(dtype, element, out);
      break;
  }
}
