// Transfer: what must be copied to turn one layout of a tensor into another.
//
// A copy plan stands between any two layouts of one shape: other specs, other meshes, other
// devices, other kinds. It stores next to nothing; the copies into (or out of) one device are found
// when they are asked for, so that no rank lists what is not its own.
//
//   tsr_copy_plan *plan = NULL;
//   TSR_TRY(tsr_copy_plan_create(from, to, NULL, &plan));
//   tsr_copies copies;
//   TSR_TRY(tsr_copies_init_into(&copies, plan, position));
//   for (tsr_copy copy; tsr_copies_next(&copies, &copy);) ...
//   tsr_copies_deinit(&copies);
#ifndef TESSERA_TRANSFER_H
#define TESSERA_TRANSFER_H

#include "tessera/copy.h"
#include "tessera/json.h"
#include "tessera/layout.h"

TSR_BEGIN_DECLS

typedef struct tsr_copy_plan tsr_copy_plan;  // immutable, hence safe to share

typedef struct tsr_copy_plan_options {
  size_t size;     // sizeof(tsr_copy_plan_options)
  int64_t tensor;  // the tensor's number in its batch: spreads the work over source replicas
} tsr_copy_plan_options;
#define TSR_COPY_PLAN_OPTIONS TSR_SIZED(tsr_copy_plan_options)

// Refuses layouts of different shapes (shapes_differ), a source that is broken as tsr_layout_check
// has it, and partial results (unreduced_differs): a layout with unreduced axes goes only to one
// that has the same, and then the terms move as they are. NULL options: tensor 0.
TSR_API TSR_MUST_USE tsr_status tsr_copy_plan_create(const tsr_layout *from, const tsr_layout *to,
                                                     const tsr_copy_plan_options *options,
                                                     tsr_copy_plan **out_plan);
TSR_API tsr_copy_plan *tsr_copy_plan_retain(const tsr_copy_plan *plan);
TSR_API void tsr_copy_plan_release(const tsr_copy_plan *plan);  // NULL is fine
TSR_API const tsr_layout *tsr_copy_plan_from(const tsr_copy_plan *plan);
TSR_API const tsr_layout *tsr_copy_plan_to(const tsr_copy_plan *plan);
TSR_API int64_t tsr_copy_plan_tensor(const tsr_copy_plan *plan);

// ---- the copies ----

// The copies into one position of the target layout, or out of one position of the source layout.
// Offsets count elements of the buffers that tsr_layout_buffer_shape describes; `source` and
// `target` are devices as tsr_layout_device_at tells them. A device that needs what it has copies
// it from its old buffer into its new one (source == target).
//
// Both ways give the same copies. Their order is by target, source and `to`; so the copies of any
// set of devices, sorted by these three, stand in the same order wherever they are listed.
//
// Which of the devices that hold an element gives it, is told by a pure function:
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
TSR_API TSR_MUST_USE tsr_status tsr_copies_init_into(tsr_copies *copies, const tsr_copy_plan *plan,
                                                     int64_t position);
TSR_API TSR_MUST_USE tsr_status tsr_copies_init_out_of(tsr_copies *copies,
                                                       const tsr_copy_plan *plan, int64_t position);
TSR_API bool tsr_copies_next(tsr_copies *copies, tsr_copy *out_copy);
TSR_API int64_t tsr_copies_count(const tsr_copies *copies);  // of all, also those already given
TSR_API void tsr_copies_deinit(tsr_copies *copies);

// ---- what it costs, and proof ----

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
TSR_API TSR_MUST_USE tsr_status tsr_copy_plan_certify(const tsr_copy_plan *plan, tsr_dtype dtype,
                                                      tsr_certificate *out_certificate);
TSR_API void tsr_certificate_print(const tsr_certificate *certificate, tsr_text *out);  // 5 lines
// {"bytes_moved": ..., ...}, by the names of the fields.
TSR_API void tsr_certificate_to_json(const tsr_certificate *certificate, tsr_json_writer *writer);

// Proves that the copies into every position write each of its elements exactly once and nothing
// else, from a place where the source holds it; fails with broken_copy_plan, naming one where they
// do not. Looks at every stretch of elements, so it takes time by the size of the tensor.
TSR_API TSR_MUST_USE tsr_status tsr_copy_plan_check(const tsr_copy_plan *plan);

// ---- other devices for the places ----

// Which device should take which position of the target, so that the least must move: the target's
// devices in another order (COSTA calls it relabelling).
typedef struct tsr_relabelling {
  size_t size;  // sizeof(tsr_relabelling)
  int64_t device_count;
  int64_t
      *devices;  // owned: for each position of the target, as tsr_layout_with_devices wants them
  int64_t bytes_before, bytes_after;  // that move between devices; stop at 2^63 - 1
  int64_t bytes_bound;                // no order moves less
} tsr_relabelling;
#define TSR_RELABELLING TSR_SIZED(tsr_relabelling)
// The best order there is (bytes_after == bytes_bound), found by shortest augmenting paths between
// classes of equal devices. It is only a good one where shards overlap in more than 2^22 pairs, of
// which the heaviest are looked at, or after 2^30 steps, when the heaviest overlaps go first; the
// bound holds all the same. Devices stay where they are if nothing is saved.
TSR_API TSR_MUST_USE tsr_status tsr_relabel(const tsr_copy_plan *plan, tsr_dtype dtype,
                                            tsr_relabelling *out_relabelling);
TSR_API void tsr_relabelling_deinit(tsr_relabelling *relabelling);

// ---- many plans at once ----

// The copies of many plans that touch the devices of one rank, in rounds: what an engine exchanges
// (tsr_comm_exchange), with one message per pair of ranks and round. It is for those who own the
// buffers; arrays go in rounds of whole ones (tsr_array_reshard_all), to make and free theirs
// between.
//
//   for (int64_t r = 0; r < tsr_copy_batch_round_count(batch); r++) {
//     TSR_TRY(tsr_copy_batch_open(batch, r));
//     for (int64_t i = 0; i < item_count; i++) parts[i].copies = tsr_copy_batch_copies(batch, i,
//     ...);
//   }
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
TSR_API TSR_MUST_USE tsr_status tsr_copy_batch_create(const tsr_copy_batch_item *items,
                                                      int64_t item_count,
                                                      const tsr_copy_batch_options *options,
                                                      tsr_copy_batch **out_batch);
TSR_API void tsr_copy_batch_destroy(tsr_copy_batch *batch);               // NULL is fine
TSR_API int64_t tsr_copy_batch_round_count(const tsr_copy_batch *batch);  // 1 or more
// Unpacks the copies of a round; those of the one before are gone.
TSR_API TSR_MUST_USE tsr_status tsr_copy_batch_open(tsr_copy_batch *batch, int64_t round);
// The copies of an item in the open round, by target, source and `to`.
TSR_API const tsr_copy *tsr_copy_batch_copies(const tsr_copy_batch *batch, int64_t item,
                                              int64_t *out_count);

TSR_END_DECLS

#endif
