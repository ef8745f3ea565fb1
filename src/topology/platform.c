// Platforms and their names.
#include <string.h>

#include "topology/topology_internal.h"

static const char *const names[TSR_PLATFORM_COUNT] = {
    [TSR_PLATFORM_CPU] = "cpu",
    [TSR_PLATFORM_GPU] = "gpu",
    [TSR_PLATFORM_TPU] = "tpu",
};

const char *tsr_platform_name(tsr_platform platform) {
  return (unsigned)platform < TSR_PLATFORM_COUNT ? names[platform] : NULL;
}

tsr_status tsr_platform_parse(const char *name, tsr_platform *out_platform) {
  for (int i = 0; i < TSR_PLATFORM_COUNT; i++)
    if (!strcmp(names[i], name)) {
      *out_platform = (tsr_platform)i;
      return NULL;
    }
  return tsr_fail(UNKNOWN_PLATFORM, "platform \"%s\" is unknown, wanted cpu, gpu or tpu", name);
}
