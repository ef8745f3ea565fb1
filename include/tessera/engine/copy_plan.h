// Copy plan: what must be copied to turn one layout of a tensor into another.
//
// The two layouts need only have the same shape: specs, meshes, devices and kinds may differ. A
// plan stores next to nothing. The copies into one device are computed on demand, so no rank lists
// those of others. tsr_array_reshard uses plans; they are public for runtimes that move their own
// buffers, and to price a change of layout.
//
//   TSR_OWN(copy_plan, plan);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_copy_plan_create(from, to, NULL, &plan));
//   TSR_OWN(copies, copies);
//   TSR_TRY(tsr_copies_init_into(&copies, plan, position));
//   for (tsr_copy copy; tsr_copies_next(&copies, &copy);) ...
#ifndef TESSERA_ENGINE_COPY_PLAN_H
#define TESSERA_ENGINE_COPY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/layout.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_copy_plan tsr_copy_plan;  // immutable, safe to share between threads

typedef struct tsr_copy_plan_options {
  size_t size;     // sizeof(tsr_copy_plan_options)
  int64_t tensor;  // number of the tensor in its batch; spreads the load over source replicas
} tsr_copy_plan_options;
#define TSR_COPY_PLAN_OPTIONS TSR_SIZED(tsr_copy_plan_options)

// Fails with shapes_differ, with broken_layout if the source's pieces do not tile the tensor, and
// with unreduced_differs unless both have the same unreduced axes. NULL options: tensor 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_copy_plan_create(const tsr_layout *from, const tsr_layout *to,
                         const tsr_copy_plan_options *options, tsr_copy_plan **out_plan);
TSR_API void tsr_copy_plan_release(const tsr_copy_plan *plan);  // NULL is fine

// ---- the copies ----

// The copies into one position of the target layout, ordered by target, source and `to`. Offsets
// are elements of the buffers of tsr_layout_buffer_shape. `source` and `target` are devices of
// tsr_layout_device_at; they are equal where a device keeps elements.
//
// The source of an element is a pure function of the plan:
//   1. the target device itself, if it holds the element;
//   2. else the shard that owns it (along each dimension the device's own cut, if that holds it).
//      Of its replicas, those in the same process; else those on the same torus; else all. Of
//      these, in order of process and position, number (target's replica + target's shard + tensor)
//      modulo their number.
typedef struct tsr_copies {
  const tsr_copy_plan *plan;
  struct tsr_copies_state *state;  // owned
} tsr_copies;
// The plan must outlive the iterator. Time and memory are linear in the copies of this position.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_copies_init_into(tsr_copies *copies,
                                                                 const tsr_copy_plan *plan,
                                                                 int64_t position);
TSR_API TSR_NONNULL bool tsr_copies_next(tsr_copies *copies, tsr_copy *out_copy);
TSR_API void tsr_copies_deinit(tsr_copies *copies);

// ---- what it costs ----

// Totals over all devices; sums saturate at 2^63 - 1.
typedef struct tsr_certificate {
  size_t size;                      // sizeof(tsr_certificate)
  int64_t bytes_moved;              // between devices
  int64_t bytes_lower_bound;        // what devices need and do not hold; no plan moves less
  int64_t bytes_between_processes;  // of those moved
  int64_t bytes_local;              // from a device's old buffer to its new one
  int64_t copies;                   // including local ones
  int64_t messages;                 // pairs of different devices with copies
  int64_t extra_memory;             // bytes of the largest new buffer
  int64_t peak_memory;              // largest sum of a device's old and new buffer, in bytes
} tsr_certificate;
#define TSR_CERTIFICATE TSR_SIZED(tsr_certificate)
// Between grids, time is linear in devices, not in copies. Padding counts as memory only.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_copy_plan_certify(const tsr_copy_plan *plan,
                                                                  tsr_dtype dtype,
                                                                  tsr_certificate *out_certificate);

TSR_END_DECLS

#endif
