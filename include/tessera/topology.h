// Topology: what hardware there is. Devices with their place in the machine, and what it costs to
// send bytes between them. Immutable once made, hence safe to share.
//
//   tsr_topology *pod = NULL;
//   TSR_TRY(tsr_topology_parse("tpu-v4:4x4x4", &pod));
#ifndef TESSERA_TOPOLOGY_H
#define TESSERA_TOPOLOGY_H

#include <stdint.h>

#include "tessera/json.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

typedef enum tsr_platform {
  TSR_PLATFORM_CPU,
  TSR_PLATFORM_GPU,
  TSR_PLATFORM_TPU,
  TSR_PLATFORM_COUNT
} tsr_platform;

#define TSR_NO_SLICE (-1)
#define TSR_NO_CORE (-1)

// One device. What a runtime does not report is absent, and some answers depend on that.
typedef struct tsr_device {
  int64_t id;         // unique, not necessarily dense; at most 2^31 - 1
  int64_t process;    // the host process that drives it; below 2^31 - 1
  int64_t slice;      // which pod slice, or TSR_NO_SLICE
  int64_t core;       // core on its chip, or TSR_NO_CORE
  bool has_coords;    // whether coords mean anything
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

typedef struct tsr_topology tsr_topology;  // immutable, shared by any threads

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

TSR_API TSR_MUST_USE tsr_status tsr_topology_create(const tsr_topology_desc *desc,
                                                    tsr_topology **out_topology);
// A made-up machine from text, fields separated by ':':
//   cpu:8             one process with 8 devices          cpu:2x4   2 processes with 4 each
//   gpu:4x8[:h100]    4 hosts with 8 GPUs each (a100, h100, h200, b200, mi300x)
//   tpu-v4:4x4x4      a slice; sizes x by y by z; z may be left out
//                     (v2, v3, v4, v4-lite, v5-lite, v5e, v5p, v5, v6e, 7x, 7, 8i)
// and for each: slices=N (that many copies), memory=16G (per device; K, M, G, T are powers of
// 1024), order=host (the default: one host after the other) | id | coords (x, y, z, core; last
// fastest) | reversed | shuffled (the same every time); for TPUs: hosts=AxBxC (chips per host),
// cores=N (devices per chip), origin=AxBxC (the slice's place in its pod), wrap=xyz|none (which
// axes are rings).
TSR_API TSR_MUST_USE tsr_status tsr_topology_parse(const char *text, tsr_topology **out_topology);
// The machine this process runs on: one CPU device for each processor it may use.
TSR_API TSR_MUST_USE tsr_status tsr_topology_detect(tsr_topology **out_topology);
// A recorded machine: {"platform", "kind", "devices": [[id, process, slice, x, y, z, core], ...]}
// with null for what is absent, and optional "memory_per_device", "links", "wrap".
TSR_API TSR_MUST_USE tsr_status tsr_topology_from_json(const tsr_json *value,
                                                       tsr_topology **out_topology);
TSR_API void tsr_topology_to_json(const tsr_topology *topology, tsr_json_writer *writer);
// What a user may write where a topology is asked for: a synthetic text, "machine", or the path of
// a JSON file.
TSR_API TSR_MUST_USE tsr_status tsr_topology_open(const char *text, tsr_topology **out_topology);

TSR_API tsr_topology *tsr_topology_retain(const tsr_topology *topology);
TSR_API void tsr_topology_release(const tsr_topology *topology);  // NULL is fine
// Proves the invariants: ids unique, coordinates distinct within a slice, ranges sane.
TSR_API TSR_MUST_USE tsr_status tsr_topology_check(const tsr_topology *topology);

TSR_API tsr_platform tsr_topology_platform(const tsr_topology *topology);
TSR_API const char *tsr_platform_name(tsr_platform platform);  // "tpu"
TSR_API TSR_MUST_USE tsr_status tsr_platform_parse(const char *name, tsr_platform *out_platform);
TSR_API const char *tsr_topology_kind(const tsr_topology *topology);
TSR_API int64_t tsr_topology_device_count(const tsr_topology *topology);
TSR_API const tsr_device *tsr_topology_devices(const tsr_topology *topology);
TSR_API int64_t tsr_topology_memory_per_device(const tsr_topology *topology);
TSR_API int64_t tsr_topology_process_count(const tsr_topology *topology);  // highest process + 1
// Position of a device in the list by its id; -1 if there is none.
TSR_API int64_t tsr_topology_device_find(const tsr_topology *topology, int64_t id);
// The box that holds all coordinates: sizes of x, y, z (1 without coordinates) and its low corner.
TSR_API void tsr_topology_bounds(const tsr_topology *topology, int64_t out_low[3],
                                 int64_t out_sizes[3]);
TSR_API const bool *tsr_topology_wrap(const tsr_topology *topology);  // of x, y, z

TSR_API const tsr_link *tsr_topology_link(const tsr_topology *topology, tsr_level level);
TSR_API const char *tsr_level_name(tsr_level level);
// How far apart two devices (by position in the list) are, and how many links a message crosses:
// the torus distance on ICI, wrapping where the torus does, else one; none to itself.
TSR_API tsr_level tsr_topology_level(const tsr_topology *topology, int64_t a, int64_t b);
TSR_API int64_t tsr_topology_hops(const tsr_topology *topology, int64_t a, int64_t b);
// Seconds for one message with nothing else on the wires.
TSR_API double tsr_topology_cost(const tsr_topology *topology, int64_t a, int64_t b, int64_t bytes);

// A picture of hosts, chips and cores for a terminal, one line per row of devices.
TSR_API void tsr_topology_print(const tsr_topology *topology, tsr_text *out);

TSR_END_DECLS

#endif
