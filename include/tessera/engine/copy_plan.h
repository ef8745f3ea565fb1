// Copy plan: what must be copied to turn one layout of a tensor into another.
//
// A copy plan stands between any two layouts of one shape: other specs, other meshes, other
// devices, other kinds. It stores next to nothing; the copies into one device are found when they
// are asked for, so that no rank lists what is not its own. tsr_array_reshard does all of this for
// arrays; this is for runtimes that move their own buffers, and for those who want to know what a
// change costs.
//
//   TSR_OWN(copy_plan, plan);  // given back at the end of the block: tessera/own.h
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

typedef struct tsr_copy_plan tsr_copy_plan;  // immutable, hence safe to share

typedef struct tsr_copy_plan_options {
  size_t size;     // sizeof(tsr_copy_plan_options)
  int64_t tensor;  // the tensor's number in its batch: spreads the work over source replicas
} tsr_copy_plan_options;
#define TSR_COPY_PLAN_OPTIONS TSR_SIZED(tsr_copy_plan_options)

// Refuses layouts of different shapes (shapes_differ), a source whose pieces do not tile the tensor
// (broken_layout), and partial results (unreduced_differs): a layout with unreduced axes goes only
// to one that has the same, and then the terms move as they are. NULL options: tensor 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_copy_plan_create(const tsr_layout *from, const tsr_layout *to,
                         const tsr_copy_plan_options *options, tsr_copy_plan **out_plan);
TSR_API void tsr_copy_plan_release(const tsr_copy_plan *plan);  // NULL is fine

// ---- the copies ----

// The copies into one position of the target layout. Offsets count elements of the buffers that
// tsr_layout_buffer_shape describes; `source` and `target` are devices as tsr_layout_device_at
// tells them. A device that needs what it has copies it from its old buffer into its new one
// (source == target).
//
// Their order is by target, source and `to`; so the copies of any set of devices, sorted by these
// three, stand in the same order wherever they are listed.
//
// A pure function chooses which of the devices that hold an element gives it:
//   1. the device itself, if it holds it;
//   2. else the shard that owns it (along each dimension the device's own cut, if that holds it);
//      of its replicas those in the same process, else those nearer than the network, else all;
//      of these, in order of process and position, number (target's replica + target's shard +
//      tensor) modulo how many there are.
typedef struct tsr_copies {
  const tsr_copy_plan *plan;
  struct tsr_copies_state *state;  // owned
} tsr_copies;
// The plan must outlive the iterator. Takes time and memory by the copies of this position.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_copies_init_into(tsr_copies *copies,
                                                                 const tsr_copy_plan *plan,
                                                                 int64_t position);
TSR_API TSR_NONNULL bool tsr_copies_next(tsr_copies *copies, tsr_copy *out_copy);
TSR_API void tsr_copies_deinit(tsr_copies *copies);

// ---- what it costs ----

// What a plan does, over all devices; sums stop at 2^63 - 1.
typedef struct tsr_certificate {
  size_t size;                      // sizeof(tsr_certificate)
  int64_t bytes_moved;              // between devices
  int64_t bytes_lower_bound;        // what devices need and do not hold: no plan moves less
  int64_t bytes_between_processes;  // of those moved
  int64_t bytes_local;              // from a device's old buffer to its new one
  int64_t copies;                   // local ones too
  int64_t messages;                 // pairs of different devices that have copies
  int64_t extra_memory;             // the largest new buffer of a device, in bytes
  int64_t peak_memory;              // the most that old and new buffer of a device take together
} tsr_certificate;
#define TSR_CERTIFICATE TSR_SIZED(tsr_certificate)
// Between grids this takes time by devices, not by copies. Padding counts as memory only.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_copy_plan_certify(const tsr_copy_plan *plan,
                                                                  tsr_dtype dtype,
                                                                  tsr_certificate *out_certificate);

TSR_END_DECLS

#endif
