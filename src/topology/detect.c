// The machine this process runs on, as CPU devices of one process.
//
// hwloc knows which processors are online and allowed, and the memory of their nodes. It reads
// sysfs, and complains on standard error if a container hides it. Then, and without hwloc, the
// affinity mask and sysconf are used.
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "topology/topology.h"

#ifdef TSR_WITH_HWLOC
#include <hwloc.h>
#endif

typedef struct detected_machine {
  int processors;  // that this process may use
  int64_t memory;  // bytes of main memory; 0 = unknown
} detected_machine;

// sched_getaffinity needs a mask of the kernel's size, which is found by trying.
static int count_allowed(void) {
  for (int width = 1024; width <= 1 << 20; width *= 2) {
    cpu_set_t *mask = CPU_ALLOC((size_t)width);
    if (!mask) break;
    const size_t bytes = CPU_ALLOC_SIZE((size_t)width);
    const int count = sched_getaffinity(0, bytes, mask) ? 0 : CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
    if (count > 0) return count;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

static int64_t main_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  int64_t product = 0;
  if (pages < 1 || bytes < 1 || __builtin_mul_overflow(pages, bytes, &product)) return 0;
  return product;
}

#ifdef TSR_WITH_HWLOC
// Asks hwloc: processors that are allowed and online, memory of the allowed nodes.
static void ask_hwloc(detected_machine *found) {
  hwloc_topology_t hardware;
  if (access("/sys/devices/system/cpu/cpu0/topology", X_OK)) return;
  if (hwloc_topology_init(&hardware)) return;
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (bound && !hwloc_topology_load(hardware)) {
    hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(hardware);
    if (hwloc_get_cpubind(hardware, bound, HWLOC_CPUBIND_PROCESS))
      hwloc_bitmap_copy(bound, allowed);
    hwloc_bitmap_and(bound, bound, allowed);
    const int processors = hwloc_get_nbobjs_inside_cpuset_by_type(hardware, bound, HWLOC_OBJ_PU);
    const hwloc_obj_t root = hwloc_get_root_obj(hardware);
    if (processors > 0) found->processors = processors;
    if (root->total_memory && root->total_memory <= INT64_MAX)
      found->memory = (int64_t)root->total_memory;
  }
  hwloc_bitmap_free(bound);
  hwloc_topology_destroy(hardware);
}
#endif

tsr_status tsr_topology_detect(tsr_topology **out_topology) {
  detected_machine found = {.processors = count_allowed(), .memory = main_memory()};
#ifdef TSR_WITH_HWLOC
  ask_hwloc(&found);
#endif
  tsr_device *devices = calloc((size_t)found.processors, sizeof *devices);
  if (!devices) return tsr_fail(NO_MEMORY, "%d devices", found.processors);
  for (int i = 0; i < found.processors; i++)
    devices[i] = (tsr_device){.id = i, .slice = TSR_NO_SLICE, .core = TSR_NO_CORE};
  const tsr_topology_desc desc = {.size = sizeof desc,
                                  .platform = TSR_PLATFORM_CPU,
                                  .kind = "cpu",
                                  .device_count = found.processors,
                                  .devices = devices,
                                  .memory_per_device = found.memory / found.processors};
  tsr_status status = tsr_topology_create(&desc, out_topology);
  free(devices);
  return status;
}
