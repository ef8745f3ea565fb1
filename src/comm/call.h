// What ranks compare before a collective, for the rooms that have collectives of their own.
#ifndef TESSERA_COMM_CALL_H
#define TESSERA_COMM_CALL_H

#include "tessera/comm.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

enum { TSR_CALL_TEXT = 400 };

// What a call is about, item by item: arrays, leaves of a tree, groups. Items are digested when
// ranks compare, and described only where they differ.
typedef struct tsr_call_items {
  int64_t count;
  void *context;
  tsr_hash128 (*digest)(void *context, int64_t item);
  void (*describe)(void *context, int64_t item, tsr_text *out);  // `array 3: f32 (8, 16) ...`
} tsr_call_items;

// A call as the ranks compare it: which one, its arguments as a hash and as a text for people, and
// its items. All are only looked at when there are several ranks.
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
// The text begins with the name of the call, and is hashed; what does not fit is not.
TSR_PRINTF(2, 3) void tsr_call_describe(tsr_call *c, const char *format, ...);
// Whether all ranks call the same and none found a mistake; `found` is the one found here, or NULL:
// then the items are not looked at. Ends with the same verdict on all ranks: a mistake that a rank
// found, or comm_mismatch, which names ranks and the first item that differs. One round of 48 bytes
// where all is well.
TSR_MUST_USE tsr_status tsr_call_agree(const tsr_call *c, tsr_status found);
// The digest that ranks compare; of nothing when there is one rank.
tsr_hash128 tsr_call_digest(const tsr_call *c);
// Collective. tsr_comm_exchange without a round to compare it: the copies follow from what ranks
// have agreed on, and all have just said that they are ready.
TSR_MUST_USE tsr_status tsr_exchange_agreed(tsr_comm *comm, const tsr_exchange *parts,
                                            int64_t part_count);
// Adds to a failure what was being done.
TSR_MUST_USE tsr_status tsr_call_end(const tsr_call *c, tsr_status status);

#endif
