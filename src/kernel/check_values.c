// Expectations of a program about its own values. Complex numbers are compared by component.
#include "kernel/check_values.h"

#include <math.h>
#include <string.h>

#include "base/text_internal.h"
#include "element/convert_elements.h"
#include "element/convert_internal.h"

// A component of an element: its type, and its bytes in memory.
typedef struct component_type {
  tsr_dtype dtype;
  tsr_dtype_class kind;
  int64_t bytes;
  int in_element;  // components
} component_type;

static component_type component_of(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (info->kind == TSR_CLASS_COMPLEX)
    return (component_type){dtype == TSR_C64 ? TSR_F32 : TSR_F64, TSR_CLASS_FLOAT, info->bits / 16,
                            2};
  return (component_type){dtype, info->kind, (info->bits + 7) / 8, 1};
}

static double number_of(tsr_dtype dtype, const char *bytes) {
  double number = 0;
  tsr_convert_run(dtype, bytes, 0, TSR_F64, &number, 0, 1);
  return number;
}

static bool almost(double a, double b, double tolerance) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance;
}

// The code of a float without its sign, which is how many numbers lie between it and zero.
static uint64_t magnitude_of(const component_type *type, const char *bytes) {
  uint64_t code = 0;
  memcpy(&code, bytes, (size_t)type->bytes);
  const int sign = type->dtype == TSR_F8E8M0FNU ? 8 : tsr_dtype_info_of(type->dtype)->bits - 1;
  return code & ((UINT64_C(1) << sign) - 1);
}

static uint64_t ulps_between(const component_type *type, const char *found, const char *expected) {
  const double a = number_of(type->dtype, found), b = number_of(type->dtype, expected);
  if (isnan(a) && isnan(b)) return 0;
  if (!isfinite(a) || !isfinite(b)) return a == b ? 0 : UINT64_MAX;
  const uint64_t x = magnitude_of(type, found), y = magnitude_of(type, expected);
  if (signbit(a) != signbit(b)) return x + y;
  return x > y ? x - y : y - x;
}

static bool agrees(const tsr_check_values *check, const component_type *type, const char *found,
                   const char *expected) {
  if (type->kind != TSR_CLASS_FLOAT) return !memcmp(found, expected, (size_t)type->bytes);
  if (check->rule == TSR_CHECK_CLOSE) {
    const uint64_t ulps = ulps_between(type, found, expected);
    return ulps >= check->least_ulp && ulps <= check->most_ulp;
  }
  const double a = number_of(type->dtype, found), b = number_of(type->dtype, expected);
  return check->rule == TSR_CHECK_EQUAL ? a == b : almost(a, b, check->tolerance);
}

static bool element_agrees(const tsr_check_values *check, const component_type *type,
                           const char *found, const char *expected, int64_t index) {
  const int64_t at = index * type->in_element * type->bytes;
  for (int i = 0; i < type->in_element; i++)
    if (!agrees(check, type, found + at + i * type->bytes, expected + at + i * type->bytes))
      return false;
  return true;
}

static void print_index(const tsr_check_values *check, int64_t index, tsr_text *out) {
  int64_t below = check->count;
  tsr_text_add_char(out, '[');
  for (int i = 0; i < check->rank; i++) {
    below /= check->dims[i];
    tsr_text_addf(out, i ? ", %lld" : "%lld", (long long)(index / below));
    index %= below;
  }
  tsr_text_add_char(out, ']');
}

static void print_element(const tsr_check_values *check, const char *bytes, int64_t index,
                          tsr_text *out) {
  const component_type type = component_of(check->dtype);
  const size_t size = (size_t)(type.bytes * type.in_element);
  char element[16] = {0};
  memcpy(element, bytes + index * (int64_t)size, size);
  tsr_element_print(check->dtype, element, 0, out);
}

static void print_rule(const tsr_check_values *check, const char *found, const char *expected,
                       int64_t index, tsr_text *out) {
  const component_type type = component_of(check->dtype);
  if (type.kind != TSR_CLASS_FLOAT || check->rule == TSR_CHECK_EQUAL) return;
  if (check->rule == TSR_CHECK_ALMOST) {
    tsr_text_addf(out, " within %g", check->tolerance);
    return;
  }
  uint64_t most = 0;
  for (int i = 0; i < type.in_element; i++) {
    const int64_t at = (index * type.in_element + i) * type.bytes;
    const uint64_t ulps = ulps_between(&type, found + at, expected + at);
    most = ulps > most ? ulps : most;
  }
  tsr_text_addf(out, " within %llu to %llu ULP", (unsigned long long)check->least_ulp,
                (unsigned long long)check->most_ulp);
  if (most < UINT64_MAX) tsr_text_addf(out, ", it differs by %llu", (unsigned long long)most);
}

static tsr_status difference(const tsr_check_values *check, const char *found, const char *expected,
                             int64_t index) {
  tsr_text text = {0};
  tsr_text_addf(&text, "%s: element ", check->title);
  print_index(check, index, &text);
  tsr_text_add(&text, " is ");
  print_element(check, found, index, &text);
  tsr_text_add(&text, ", expected ");
  print_element(check, expected, index, &text);
  print_rule(check, found, expected, index, &text);
  return tsr_fail_text(TSR_CAUSE_CHECK_FAILED, &text);
}

tsr_status tsr_check_values_run(const void *description, const tsr_kernel_call *call) {
  const tsr_check_values *check = description;
  const component_type type = component_of(check->dtype);
  const char *found = call->inputs[0], *expected = call->inputs[1];
  char *truths = check->result_count ? call->outputs[0] : NULL;
  if (check->result_count) memset(truths, 1, (size_t)check->result_count);
  for (int64_t i = 0; i < check->count; i++) {
    if (element_agrees(check, &type, found, expected, i)) continue;
    if (!truths) return difference(check, found, expected, i);
    truths[check->result_count == check->count ? i : 0] = 0;
  }
  return NULL;
}
