// One reshard with everything that a sentence about it needs.
#ifndef TESSERA_PREFLIGHT_FLIGHT_ADVICE_H
#define TESSERA_PREFLIGHT_FLIGHT_ADVICE_H

#include "factor/rule.h"
#include "preflight/preflight.h"

typedef struct tsr_flight_ask {
  tsr_flight_cause cause;
  const tsr_flight_reshard *reshard;
  const tsr_flight_value *source;
  const tsr_tensor_sharding *from, *to;
  // The op that asks, NULL = none; its rule, or NULL; which of its tensors the value is.
  const tsr_op *op;
  const tsr_op_rule *rule;
  int tensor;
  // What the value has, or should have, and what the op works on instead.
  const tsr_tensor_sharding *have, *need;
  int rank;
} tsr_flight_ask;

// What a user may change, in a sentence; nothing where nothing is known to help.
void tsr_flight_suggest(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out);

#endif
