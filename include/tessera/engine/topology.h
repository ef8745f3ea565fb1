// Topologies, for runtimes that know their machine: single devices, and the cost of links.
//
//   tsr_topology_desc desc = TSR_TOPOLOGY_DESC;
//   desc.platform = TSR_PLATFORM_GPU;
//   desc.kind = "NVIDIA H100";
//   desc.devices = devices;
//   desc.device_count = 16;
//   TSR_TRY(tsr_topology_create(&desc, &topology));
#ifndef TESSERA_ENGINE_TOPOLOGY_H
#define TESSERA_ENGINE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

typedef enum tsr_platform {
  TSR_PLATFORM_CPU,
  TSR_PLATFORM_GPU,
  TSR_PLATFORM_TPU,
  TSR_PLATFORM_COUNT
} tsr_platform;

// The values of absent fields.
#define TSR_NO_SLICE (-1)
#define TSR_NO_CORE (-1)

// One device. Fields that the runtime does not report are absent; some answers depend on that.
typedef struct tsr_device {
  int64_t id;         // unique, not necessarily dense; at most 2^31 - 1
  int64_t process;    // the host process that drives it; below 2^31 - 1
  int64_t slice;      // which pod slice, or TSR_NO_SLICE
  int64_t core;       // core on its chip, or TSR_NO_CORE
  bool has_coords;    // whether coords are set
  int64_t coords[3];  // x, y, z in the torus
} tsr_device;

// How far apart two devices are; each level has its own link. Nearest first.
#define TSR_LEVELS(X)                                               \
  X(SELF, "self") /* the same device */                             \
  X(CHIP, "chip") /* cores of one chip */                           \
  X(HOST, "host") /* devices of one process, by NVLink or memory */ \
  X(ICI, "ici")   /* neighbours in the torus of a slice */          \
  X(NET, "net")   /* hosts or slices, over the data-centre network */
#define TSR_ENUMERATOR_(id, name) TSR_LEVEL_##id,
typedef enum tsr_level { TSR_LEVELS(TSR_ENUMERATOR_) TSR_LEVEL_COUNT } tsr_level;
#undef TSR_ENUMERATOR_

// Sending n bytes over a link takes alpha + n * beta seconds, one direction.
typedef struct tsr_link {
  double alpha;  // seconds
  double beta;   // seconds per byte
} tsr_link;

typedef struct tsr_topology_desc {
  size_t size;  // sizeof(tsr_topology_desc)
  tsr_platform platform;
  const char *kind;  // as the runtime reports it: "TPU v4", "NVIDIA H100", "cpu"
  int64_t device_count;
  const tsr_device *devices;  // in the order the runtime lists them, which matters
  int64_t memory_per_device;  // bytes; 0 = take the kind's usual size
  const tsr_link *links;      // TSR_LEVEL_COUNT of them; NULL = take the kind's usual links
  const bool *wrap;           // 3: which torus axes close to rings; NULL = by kind and size
} tsr_topology_desc;
#define TSR_TOPOLOGY_DESC TSR_SIZED(tsr_topology_desc)

TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_topology_create(const tsr_topology_desc *desc,
                                                                tsr_topology **out_topology);

// All devices, tsr_topology_device_count of them, in the order of the runtime.
TSR_API TSR_NONNULL const tsr_device *tsr_topology_devices(const tsr_topology *topology);
// Position of a device in the list by its id; -1 if there is none.
TSR_API TSR_NONNULL int64_t tsr_topology_device_find(const tsr_topology *topology, int64_t id);

TSR_API TSR_NONNULL const tsr_link *tsr_topology_link(const tsr_topology *topology,
                                                      tsr_level level);
TSR_API const char *tsr_level_name(tsr_level level);

TSR_END_DECLS

#endif
