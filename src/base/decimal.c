// The C library reads and writes doubles with correct rounding but with the locale's decimal point.
// Reading is therefore done in the "C" locale; writing takes only the digits and the exponent from
// printf and puts the point itself.
#include "base/decimal.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"

enum { MOST_DIGITS = 17, SHORT_NUMBER = 64 };

// The C library keeps the "C" locale ready: this allocates nothing.
bool tsr_decimal_read(const char *string, double *out_double) {
  char *end = NULL;
  const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  *out_double = strtod_l(string, &end, c);
  freelocale(c);
  return end > string && !*end;
}

static double read_in_c_locale(const char *string) {
  double value = 0;
  (void)tsr_decimal_read(string, &value);
  return value;
}

tsr_status tsr_decimal_parse(const char *bytes, size_t length, double *out_double) {
  char buffer[SHORT_NUMBER];
  char *string = length < sizeof buffer ? buffer : malloc(length + 1);
  if (!string) return tsr_fail(NO_MEMORY, "number of %zu digits", length);
  memcpy(string, bytes, length);
  string[length] = '\0';
  const double value = read_in_c_locale(string);
  if (string != buffer) free(string);
  if (isinf(value))
    return tsr_fail(OVERFLOW, "%.*s is beyond the range of a double",
                    length < SHORT_NUMBER ? (int)length : SHORT_NUMBER, bytes);
  *out_double = value;
  return NULL;
}

// A finite double as 0.d1d2d3... times ten to the `point`, in the fewest digits that identify it.
typedef struct decimal {
  char digits[MOST_DIGITS + 1];
  int count, point;
} decimal;

static decimal round_to(double value, int count) {
  char printed[40];
  snprintf(printed, sizeof printed, "%.*e", count - 1, value);
  const char *exponent = strchr(printed, 'e');
  decimal d = {.point = atoi(exponent + 1) + 1};
  for (const char *c = printed; c < exponent; c++)
    if (*c >= '0' && *c <= '9') d.digits[d.count++] = *c;
  return d;
}

static double value_of(const decimal *d) {
  char plain[40];
  snprintf(plain, sizeof plain, "%se%d", d->digits, d->point - d->count);
  return read_in_c_locale(plain);
}

static bool identifies(const decimal *d, double value) { return value_of(d) == value; }

double tsr_decimal_round(double value, int digits) {
  const decimal d = round_to(fabs(value), digits);
  return copysign(value_of(&d), value);
}

// The next larger decimal of as many digits.
static decimal step_up(decimal d) {
  int last = d.count - 1;
  while (last > 0 && d.digits[last] == '9') d.digits[last--] = '0';
  if (d.digits[last] < '9')
    d.digits[last]++;
  else
    d.digits[last] = '1', d.point++;
  return d;
}

// Of all decimals of one length, the nearest identifies a double if any does; but below a power of
// two doubles lie twice as dense, so there the nearest may be too low where the next one up is not.
static bool shorten(double value, int count, decimal *out) {
  *out = round_to(value, count);
  if (identifies(out, value)) return true;
  int exponent;
  if (frexp(value, &exponent) != 0.5) return false;
  *out = step_up(*out);
  return identifies(out, value);
}

static decimal shortest(double value) {
  decimal d = {"0", 1, 1};
  if (value == 0) return d;
  // Up to 15 digits always survive in a normal double, so fewer need not be tried for those:
  // the zeros at their end are dropped instead.
  for (int count = value < DBL_MIN ? 1 : DBL_DIG; !shorten(value, count, &d); count++) continue;
  while (d.count > 1 && d.digits[d.count - 1] == '0') d.digits[--d.count] = '\0';
  return d;
}

static void add_zeros(tsr_text *text, int count) {
  while (count-- > 0) tsr_text_add_char(text, '0');
}

// The digits with a point among them: 0.001, 12.5, 1200.0.
static void add_plain(tsr_text *text, const decimal *d) {
  const int whole = d->point < 0 ? 0 : d->point < d->count ? d->point : d->count;
  tsr_text_add_bytes(text, d->digits, (size_t)whole);
  add_zeros(text, d->point <= 0 ? 1 : d->point - d->count);
  tsr_text_add_char(text, '.');
  add_zeros(text, -d->point);
  tsr_text_add(text, whole < d->count ? d->digits + whole : "0");
}

static void add_scientific(tsr_text *text, const decimal *d) {
  tsr_text_add_char(text, d->digits[0]);
  if (d->count > 1) tsr_text_add_char(text, '.');
  tsr_text_add(text, d->digits + 1);
  tsr_text_addf(text, "e%c%02d", d->point > 0 ? '+' : '-', abs(d->point - 1));
}

void tsr_text_add_double(tsr_text *text, double value) {
  if (isnan(value)) {
    tsr_text_add(text, "nan");
    return;
  }
  if (signbit(value)) tsr_text_add_char(text, '-');
  if (isinf(value)) {
    tsr_text_add(text, "inf");
    return;
  }
  const decimal d = shortest(fabs(value));
  if (d.point > -4 && d.point <= 16)
    add_plain(text, &d);
  else
    add_scientific(text, &d);
}
