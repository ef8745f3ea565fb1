// Propagation within one op: axes go along the factors of its rule from the tensors that have them
// to those that do not.
#ifndef TESSERA_FACTOR_SPREAD_H
#define TESSERA_FACTOR_SPREAD_H

#include "factor/projection.h"

typedef enum tsr_spread_strategy {
  // A factor takes only axes that no tensor of the op conflicts with.
  TSR_SPREAD_BASIC,
  // Conflicts between factors are decided by the sizes of the tensors that have the axes, and a
  // tensor takes what it can.
  TSR_SPREAD_AGGRESSIVE
} tsr_spread_strategy;

typedef struct tsr_spread_how {
  tsr_spread_strategy strategy;
  bool conservative;  // no parts of axes
  bool pointwise;     // the op is (tsr_op_is_pointwise)
  // TSR_SDY_DIRECTION_NONE and so on, one for each factor; NULL = `direction` for all. Factors that
  // the rule blocks go in none whatever this says.
  const uint8_t *directions;
  int direction;
} tsr_spread_how;

// A tensor of the op got axes along a factor, and where from: a tensor that had them before.
typedef struct tsr_spread_gain {
  int tensor, factor;
  int source;          // -1 = none had all of them
  tsr_sdy_parts axes;  // all of the factor now, not only the new ones
} tsr_spread_gain;

typedef struct tsr_spread_change {
  int tensor;
  const tsr_tensor_sharding *sharding;  // the new one, of the arena `kept`
} tsr_spread_change;

typedef struct tsr_spread_result {
  tsr_spread_change *changes;  // operands first, then results
  int change_count;
  tsr_spread_gain *gains;  // only of tensors that changed
  int gain_count;
} tsr_spread_result;

// Propagates between the tensors of an op: `shardings` has those of its operands, then results
// (NULL = missing). Nothing changes where they have no mesh in common, or one of a single device.
// `scratch` may be reset (tsr_arena_reset) once the result is not needed any more.
TSR_MUST_USE tsr_status tsr_spread_op(const tsr_spread_how *how, const tsr_op_rule *rule,
                                      const tsr_tensor_sharding *const *shardings,
                                      tsr_arena *scratch, tsr_arena *kept,
                                      tsr_spread_result *out_result);

#endif
