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

// ---- many plans in rounds ----

// The copies of many plans that touch the devices of one rank, in rounds: what an engine exchanges
// (tsr_comm_exchange), with one message per pair of ranks and round. It is for those who own the
// buffers; arrays go in rounds of whole ones (tsr_array_reshard_all), to make and free theirs
// between.
//
//   for (int64_t r = 0; r < tsr_copy_batch_round_count(batch); r++) {
//     TSR_TRY(tsr_copy_batch_open(batch, r));
//     for (int64_t i = 0; i < item_count; i++)
//       parts[i].copies = tsr_copy_batch_copies(batch, i, &parts[i].copy_count);
//     TSR_TRY(tsr_comm_exchange(comm, parts, item_count));
//   }
//
// One owner, used by one thread at a time.
typedef struct tsr_copy_batch tsr_copy_batch;
typedef struct tsr_copy_batch_item {
  const tsr_copy_plan *plan;
  tsr_dtype dtype;
} tsr_copy_batch_item;
typedef struct tsr_copy_batch_options {
  size_t size;                       // sizeof(tsr_copy_batch_options)
  int64_t first_device, end_device;  // of this rank, the end not included; 0 and 0 = all devices
  int64_t max_bytes;  // that one device gets in one round, local copies too; 0 = all in one round
} tsr_copy_batch_options;
#define TSR_COPY_BATCH_OPTIONS TSR_SIZED(tsr_copy_batch_options)
// Ranks that give the same plans and max_bytes get the same rounds, and what two of them exchange
// stands in the same order on both. A round may exceed max_bytes by one element.
TSR_MUST_USE tsr_status tsr_copy_batch_create(const tsr_copy_batch_item *items, int64_t item_count,
                                              const tsr_copy_batch_options *options,
                                              tsr_copy_batch **out_batch);
void tsr_copy_batch_destroy(tsr_copy_batch *batch);               // NULL is fine
int64_t tsr_copy_batch_round_count(const tsr_copy_batch *batch);  // 1 or more
// Unpacks the copies of a round; those of the one before are gone.
TSR_MUST_USE tsr_status tsr_copy_batch_open(tsr_copy_batch *batch, int64_t round);
// The copies of an item in the open round, by target, source and `to`.
const tsr_copy *tsr_copy_batch_copies(const tsr_copy_batch *batch, int64_t item,
                                      int64_t *out_count);

#endif
