// Fallbacks: an operand that is gathered along a dimension because its op cannot be cut there. The
// pass note-fallbacks writes each of them down in the module, as tessera.fallbacks.
#ifndef TESSERA_SPMD_FALLBACKS_H
#define TESSERA_SPMD_FALLBACKS_H

#include "factor/shardings.h"

typedef struct tsr_spmd_fallback {
  const char *op;        // "stablehlo.sort"
  int64_t operand, dim;  // with the cause "... of its result", the operand is the result's index
  const char *axes;      // that it is gathered along: "x" or "x, y"
  int64_t bytes;         // that each device receives, in one run of the op
  int64_t places;        // where it happens: ops that are alike are one row
  const char *cause;     // why the op is not cut there
} tsr_spmd_fallback;

// Adds the dims of an argument, or of the result of an op, that the axes of `sharding` do not
// divide, and that stay whole therefore. `index` is that of the argument or result.
TSR_MUST_USE tsr_status tsr_spmd_fallback_uneven(tsr_ir *ir, const tsr_op *op, int index,
                                                 const tsr_type *type, const tsr_attr *sharding);
// What each device receives when it gathers its shard of a tensor along axes.
int64_t tsr_received_bytes(const tsr_type *type, const tsr_tensor_sharding *cut,
                           const tsr_sdy_parts *axes);
int64_t tsr_spmd_fallback_count(const tsr_ir *ir);
tsr_spmd_fallback tsr_spmd_fallback_at(const tsr_ir *ir, int64_t index);

#endif
