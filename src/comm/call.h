// What ranks compare before a collective, for rooms with collectives of their own.
#ifndef TESSERA_COMM_CALL_H
#define TESSERA_COMM_CALL_H

#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

enum { TSR_CALL_TEXT = 400 };

// The items of a call: arrays, leaves of a tree, groups. Items are digested when ranks compare, and
// described only if they differ.
typedef struct tsr_call_items {
  int64_t count;
  void *context;
  tsr_hash128 (*digest)(void *context, int64_t item);
  void (*describe)(void *context, int64_t item, tsr_text *out);  // `array 3: f32 (8, 16) ...`
} tsr_call_items;

// A call as ranks compare it: its name, its arguments as a hash and as text for messages, and its
// items. Unused on a single rank.
typedef struct tsr_call {
  tsr_comm *comm;
  const char *name;
  tsr_hash128 hash;
  char text[TSR_CALL_TEXT];
  tsr_call_items items;
  tsr_hash128 balance;  // of copies to other ranks and from them
} tsr_call;

tsr_call tsr_call_begin(tsr_comm *comm, const char *name);
void tsr_call_hash(tsr_call *c, const void *bytes, size_t length);
// The text starts with the name of the call. It is hashed, up to its maximal length.
TSR_PRINTF(2, 3) void tsr_call_describe(tsr_call *c, const char *format, ...);
// Fails on all ranks unless all make the same call and `found` is NULL on each. `found` is a local
// mistake; then items are not read. The failure is a rank's mistake, or comm_mismatch, which names
// the ranks and the first item that differs. One round of 48 bytes on success.
TSR_MUST_USE tsr_status tsr_call_agree(const tsr_call *c, tsr_status found);
// The digest that ranks compare; empty on a single rank.
tsr_hash128 tsr_call_digest(const tsr_call *c);
// Collective. tsr_comm_exchange without comparing: the copies follow from what ranks have just
// agreed on.
TSR_MUST_USE tsr_status tsr_exchange_agreed(tsr_comm *comm, const tsr_exchange *arrays,
                                            int64_t array_count);
// Whether reductions may take any order (tsr_comm_options.fast).
bool tsr_comm_is_fast(const tsr_comm *comm);
// Whether the comm can reduce elements of this type so.
bool tsr_comm_reduces(tsr_dtype dtype, tsr_reduction op);
// Collective. tsr_comm_all_reduce without comparing.
TSR_MUST_USE tsr_status tsr_all_reduce_agreed(tsr_comm *comm, const tsr_groups *groups,
                                              tsr_dtype dtype, tsr_reduction op, int64_t count,
                                              const void *const *in, void *const *out);
// Tells the other ranks that this one goes no further, and why: those that wait for it fail at
// once. The comm is broken then.
void tsr_comm_abandon(tsr_comm *comm, tsr_status why);
// Collective. Waits for all ranks, and gives them one number of steps: a rank without devices may
// have left out exchanges that it has no part in.
TSR_MUST_USE tsr_status tsr_comm_align(tsr_comm *comm);
// Adds the step and the call to a failure.
TSR_MUST_USE tsr_status tsr_call_end(const tsr_call *c, tsr_status status);

#endif
