// Copy plans for other rooms: copies out of a position, proofs, and better orders of devices. The
// rest is in tessera/engine/copy_plan.h.
#ifndef TESSERA_TRANSFER_TRANSFER_INTERNAL_H
#define TESSERA_TRANSFER_TRANSFER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/layout.h"
#include "tessera/status.h"
#include "tessera/text.h"

const tsr_layout *tsr_copy_plan_from(const tsr_copy_plan *plan);
const tsr_layout *tsr_copy_plan_to(const tsr_copy_plan *plan);

// The copies out of one position of the source layout; the same ones as tsr_copies_init_into gives,
// in the same order.
TSR_MUST_USE tsr_status tsr_copies_init_out_of(tsr_copies *copies, const tsr_copy_plan *plan,
                                               int64_t position);
int64_t tsr_copies_count(const tsr_copies *copies);  // of all, including those already returned

void tsr_certificate_print(const tsr_certificate *certificate, tsr_text *out);  // 5 lines
// {"bytes_moved": ..., ...}, by the names of the fields.
void tsr_certificate_to_json(const tsr_certificate *certificate, tsr_json_writer *writer);

// Proves that the copies into every position write each of its elements exactly once and nothing
// else, from a place where the source holds it. Fails with broken_copy_plan, naming a place. Time
// is linear in the runs of the tensor.
TSR_MUST_USE tsr_status tsr_copy_plan_check(const tsr_copy_plan *plan);

// ---- better orders of devices ----

// The target's devices in the order that moves the least (COSTA's relabelling).
typedef struct tsr_relabelling {
  size_t size;  // sizeof(tsr_relabelling)
  int64_t device_count;
  int64_t *devices;  // owned; one per position of the target, as for tsr_layout_with_devices
  int64_t bytes_before, bytes_after;  // that move between devices; stop at 2^63 - 1
  int64_t bytes_bound;                // no order moves less
} tsr_relabelling;
#define TSR_RELABELLING TSR_SIZED(tsr_relabelling)
// The optimal order (bytes_after == bytes_bound), by shortest augmenting paths between classes of
// equal devices. Only a good one if shards overlap in more than 2^22 pairs (the heaviest count) or
// after 2^30 steps (then greedily); the bound holds regardless. Devices stay where they are if
// nothing is saved.
TSR_MUST_USE tsr_status tsr_relabel(const tsr_copy_plan *plan, tsr_dtype dtype,
                                    tsr_relabelling *out_relabelling);
void tsr_relabelling_deinit(tsr_relabelling *relabelling);

#endif
