// Copy plans, for other rooms: the other way round, proofs, better orders of devices, and many
// plans in rounds. The rest is in tessera/engine/copy_plan.h.
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

tsr_copy_plan *tsr_copy_plan_retain(const tsr_copy_plan *plan);
const tsr_layout *tsr_copy_plan_from(const tsr_copy_plan *plan);
const tsr_layout *tsr_copy_plan_to(const tsr_copy_plan *plan);
int64_t tsr_copy_plan_tensor(const tsr_copy_plan *plan);

// As tsr_copies_init_into, but the copies out of one position of the source layout: the same ones,
// in the same order.
TSR_MUST_USE tsr_status tsr_copies_init_out_of(tsr_copies *copies, const tsr_copy_plan *plan,
                                               int64_t position);
int64_t tsr_copies_count(const tsr_copies *copies);  // of all, also those already given

void tsr_certificate_print(const tsr_certificate *certificate, tsr_text *out);  // 5 lines
// {"bytes_moved": ..., ...}, by the names of the fields.
void tsr_certificate_to_json(const tsr_certificate *certificate, tsr_json_writer *writer);

// Proves that the copies into every position write each of its elements exactly once and nothing
// else, from a place where the source holds it; fails with broken_copy_plan, naming one where they
// do not. Looks at every stretch of elements, so it takes time by the size of the tensor.
TSR_MUST_USE tsr_status tsr_copy_plan_check(const tsr_copy_plan *plan);

// ---- better orders of devices ----

// Which device should take which position of the target, so that the least must move: the target's
// devices in another order (COSTA calls it relabelling).
typedef struct tsr_relabelling {
  size_t size;  // sizeof(tsr_relabelling)
  int64_t device_count;
  int64_t *devices;  // owned; one per position of the target, as for tsr_layout_with_devices
  int64_t bytes_before, bytes_after;  // that move between devices; stop at 2^63 - 1
  int64_t bytes_bound;                // no order moves less
} tsr_relabelling;
#define TSR_RELABELLING TSR_SIZED(tsr_relabelling)
// The best order there is (bytes_after == bytes_bound), found by shortest augmenting paths between
// classes of equal devices. It is only a good one where shards overlap in more than 2^22 pairs, of
// which the heaviest are looked at, or after 2^30 steps, when the heaviest overlaps go first; the
// bound holds all the same. Devices stay where they are if nothing is saved.
TSR_MUST_USE tsr_status tsr_relabel(const tsr_copy_plan *plan, tsr_dtype dtype,
                                    tsr_relabelling *out_relabelling);
void tsr_relabelling_deinit(tsr_relabelling *relabelling);

#endif
