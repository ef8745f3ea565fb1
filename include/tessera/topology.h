// Topology: the hardware. Devices with their place in the machine, and the cost of sending bytes
// between them. Immutable once made, hence safe to share.
//
//   TSR_OWN(topology, pod);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_topology_parse("tpu-v4:4x4x4", &pod));
//
// Single devices, links, and machines of other kinds: tessera/engine/topology.h.
#ifndef TESSERA_TOPOLOGY_H
#define TESSERA_TOPOLOGY_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

typedef struct tsr_topology tsr_topology;  // immutable, shared by any threads

// A synthetic machine from text, fields separated by ':':
//   cpu:8             one process with 8 devices          cpu:2x4   2 processes with 4 each
//   gpu:4x8[:h100]    4 hosts with 8 GPUs each (a100, h100, h200, b200, mi300x)
//   tpu-v4:4x4x4      a slice; sizes x by y by z; z may be left out
//                     (v2, v3, v4, v4-lite, v5-lite, v5e, v5p, v5, v6e, 7x, 7, 8i)
// and for each: slices=N (that many copies), memory=16G (per device; K, M, G, T are powers of
// 1024), order=host (the default: one host after the other) | id | coords (x, y, z, core; last
// fastest) | reversed | shuffled (the same every time); for TPUs: hosts=AxBxC (chips per host),
// cores=N (devices per chip), origin=AxBxC (the slice's place in its pod), wrap=xyz|none (which
// axes are rings).
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_topology_parse(const char *text,
                                                               tsr_topology **out_topology);
// The machine this process runs on: one CPU device for each processor it may use.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_topology_detect(tsr_topology **out_topology);
// Any form a user may write: a synthetic text, "machine", or the path of a JSON file.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_topology_open(const char *text,
                                                              tsr_topology **out_topology);

TSR_API TSR_NONNULL tsr_topology *tsr_topology_retain(const tsr_topology *topology);
TSR_API void tsr_topology_release(const tsr_topology *topology);  // NULL is fine

TSR_API TSR_NONNULL int64_t tsr_topology_device_count(const tsr_topology *topology);

TSR_END_DECLS

#endif
