// The unit is the largest in which the printed number is at least 1: 999.6 kB prints as 1.0 MB.
#include "draw/draw.h"

#include <stdio.h>

tsr_unit_text tsr_format_bytes(int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  tsr_unit_text out;
  double value = (double)bytes;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
    value /= 1000;
    unit++;
  }
  snprintf(out.text, sizeof out.text, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value,
           units[unit]);
  return out;
}

tsr_unit_text tsr_format_seconds(double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  tsr_unit_text out;
  size_t unit = 0;
  while (seconds > 0 && seconds < 0.9995 && unit + 1 < sizeof units / sizeof *units) {
    seconds *= 1000;
    unit++;
  }
  snprintf(out.text, sizeof out.text, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds,
           units[unit]);
  return out;
}

int tsr_display_width(const char *text) {
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}
