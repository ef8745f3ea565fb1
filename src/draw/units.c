// Numbers for people.
#include "draw/units.h"

#include <stdio.h>

void tsr_format_bytes(int64_t bytes, char *out, size_t size) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = (double)bytes;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
    value /= 1000;
    unit++;
  }
  snprintf(out, size, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void tsr_format_seconds(double seconds, char *out, size_t size) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  size_t unit = 0;
  while (seconds > 0 && seconds < 0.9995 && unit + 1 < sizeof units / sizeof *units) {
    seconds *= 1000;
    unit++;
  }
  snprintf(out, size, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds, units[unit]);
}
