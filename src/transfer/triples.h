// A table from three numbers to one: a cache of indices.
#ifndef TESSERA_TRANSFER_TRIPLES_H
#define TESSERA_TRANSFER_TRIPLES_H

#include "tessera/status.h"

#include <stdint.h>

typedef struct tsr_triple {
  int64_t a, b, c, value;
  bool used;
} tsr_triple;

typedef struct tsr_triples {
  tsr_triple *slots;  // owned; open addressing, at most half full
  size_t count, mask;
} tsr_triples;
#define TSR_TRIPLES_EMPTY \
  { NULL, 0, 0 }

void tsr_triples_deinit(tsr_triples *triples);
// The value's slot, -1 if it is new. Valid until the next call.
TSR_MUST_USE tsr_status tsr_triples_find(tsr_triples *triples, int64_t a, int64_t b, int64_t c,
                                         int64_t **out_value);

#endif
