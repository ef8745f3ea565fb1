// When two values mean the same: members of an object in any order, numbers by value.
#include <string.h>

#include "golden/golden.h"
#include "json/json.h"

static bool equal_numbers(const tsr_json *a, const tsr_json *b) {
  int64_t left = 0, right = 0;
  tsr_status left_status = tsr_json_get_int(a, "", &left);
  tsr_status right_status = tsr_json_get_int(b, "", &right);
  const bool integers = !left_status && !right_status;
  tsr_status_free(left_status);
  tsr_status_free(right_status);
  if (integers) return left == right;
  double x = 0, y = 1;
  left_status = tsr_json_get_double(a, "", &x);
  right_status = tsr_json_get_double(b, "", &y);
  const bool same = !left_status && !right_status && x == y;
  tsr_status_free(left_status);
  tsr_status_free(right_status);
  return same;
}

static bool equal_strings(const tsr_json *a, const tsr_json *b) {
  const char *left = NULL, *right = NULL;
  size_t left_length = 0, right_length = 0;
  // Both are strings, so these cannot fail.
  tsr_status_free(tsr_json_get_string(a, "", &left, &left_length));
  tsr_status_free(tsr_json_get_string(b, "", &right, &right_length));
  return left_length == right_length && (!left_length || !memcmp(left, right, left_length));
}

static bool equal_arrays(const tsr_json *a, const tsr_json *b) {
  const tsr_json *x = tsr_json_first(a), *y = tsr_json_first(b);
  for (; x && y; x = tsr_json_next(x), y = tsr_json_next(y))
    if (!golden_equal(x, y)) return false;
  return !x && !y;
}

// Members in any order.
static bool equal_objects(const tsr_json *a, const tsr_json *b) {
  if (tsr_json_count(a) != tsr_json_count(b)) return false;
  for (const tsr_json *x = tsr_json_first(a); x; x = tsr_json_next(x)) {
    const tsr_json *y = tsr_json_first(b);
    size_t x_length = 0, y_length = 0;
    const char *key = tsr_json_key(x, &x_length);
    for (; y; y = tsr_json_next(y)) {
      const char *other = tsr_json_key(y, &y_length);
      if (x_length == y_length && !memcmp(key, other, x_length)) break;
    }
    if (!y || !golden_equal(x, y)) return false;
  }
  return true;
}

bool golden_equal(const tsr_json *a, const tsr_json *b) {
  if (!a || !b) return a == b;
  if (tsr_json_kind_of(a) != tsr_json_kind_of(b)) return false;
  switch (tsr_json_kind_of(a)) {
    case TSR_JSON_NULL:
      return true;
    case TSR_JSON_NUMBER:
      return equal_numbers(a, b);
    case TSR_JSON_STRING:
      return equal_strings(a, b);
    case TSR_JSON_ARRAY:
      return equal_arrays(a, b);
    case TSR_JSON_OBJECT:
      return equal_objects(a, b);
    case TSR_JSON_BOOL:
      break;
  }
  bool left = false, right = true;
  tsr_status_free(tsr_json_get_bool(a, "", &left));
  tsr_status_free(tsr_json_get_bool(b, "", &right));
  return left == right;
}
