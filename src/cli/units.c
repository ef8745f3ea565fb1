// Numbers for people.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_format_bytes(int64_t bytes, char *out, size_t size) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = (double)bytes;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
    value /= 1000;
    unit++;
  }
  snprintf(out, size, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void cli_format_seconds(double seconds, char *out, size_t size) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  size_t unit = 0;
  while (seconds > 0 && seconds < 0.9995 && unit + 1 < sizeof units / sizeof *units) {
    seconds *= 1000;
    unit++;
  }
  snprintf(out, size, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds, units[unit]);
}

tsr_status cli_bytes(const cli_args *args, const char *option, int64_t *out_bytes) {
  static const struct {
    const char *suffix;
    double factor;
  } suffixes[] = {{"", 1},
                  {"B", 1},
                  {"kB", 1e3},
                  {"MB", 1e6},
                  {"GB", 1e9},
                  {"TB", 1e12},
                  {"K", 1024.0},
                  {"M", 1048576.0},
                  {"G", 1073741824.0},
                  {"T", 1099511627776.0},
                  {"KiB", 1024.0},
                  {"MiB", 1048576.0},
                  {"GiB", 1073741824.0},
                  {"TiB", 1099511627776.0}};
  const char *text = cli_value(args, option);
  char *end = NULL;
  errno = 0;
  const double number = strtod(text, &end);
  for (size_t i = 0; end != text && i < sizeof suffixes / sizeof *suffixes; i++) {
    if (strcmp(end, suffixes[i].suffix) != 0) continue;
    const double bytes = number * suffixes[i].factor;
    if (!(bytes >= 0 && bytes < 9e18)) break;
    *out_bytes = (int64_t)bytes;
    return NULL;
  }
  return tsr_fail(BAD_ARGUMENT, "--%s is \"%s\", wanted a size such as 16G, 500MB or 80GiB", option,
                  text);
}
