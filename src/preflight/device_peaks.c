// The speed of a device: of its kind, or as the caller says.
#include <string.h>

#include "preflight/preflight.h"
#include "topology/topology_internal.h"

static const struct device_peak {
  const char *kind;
  double tera[4];
  double vector, memory;
} peaks[] = {
#define PEAK(kind, t8, t16, t32, t64, vector, memory) {kind, {t8, t16, t32, t64}, vector, memory},
#include "preflight/device_peaks.def"
#undef PEAK
};

// Rows match by their first words: "NVIDIA H100 80GB HBM3" is an H100. The longest match counts.
static const struct device_peak *find_peak(const char *kind) {
  const struct device_peak *best = NULL;
  for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
    const size_t length = strlen(peaks[i].kind);
    if (strncmp(peaks[i].kind, kind, length) != 0) continue;
    if (!best || length > strlen(best->kind)) best = &peaks[i];
  }
  return best;
}

tsr_status tsr_flight_device_of(const tsr_preflight_options *options, const tsr_topology *topology,
                                tsr_flight_device *out_device) {
  if (!(options->flops >= 0) || !(options->bandwidth >= 0))
    return tsr_fail(BAD_ARGUMENT, "a device of %g flops and %g bytes a second, expected 0 or more",
                    options->flops, options->bandwidth);
  const char *kind = topology ? tsr_topology_kind(topology) : "";
  const struct device_peak *peak = find_peak(kind);
  tsr_flight_device device = {.name = kind, .assumed = topology && !peak};
  if (topology && !peak) peak = find_peak("NVIDIA A100");
  for (int i = 0; i < 4; i++)
    device.flops[i] = options->flops > 0 ? options->flops : peak ? 1e12 * peak->tera[i] : 0;
  device.vector = options->flops > 0 ? options->flops : peak ? 1e12 * peak->vector : 0;
  device.bandwidth = options->bandwidth > 0 ? options->bandwidth : peak ? 1e9 * peak->memory : 0;
  if (options->flops > 0 && options->bandwidth > 0) device.assumed = false;
  *out_device = device;
  return NULL;
}
