// Integers that each device can compute from its number alone, such as the start of its shard.
#ifndef TESSERA_COMBINE_DEVICE_NUMBERS_H
#define TESSERA_COMBINE_DEVICE_NUMBERS_H

#include "base/arena.h"
#include "ir/ir.h"

// What a scalar is on a device; false if it depends on more than the number of the device, or has
// an op that nobody needs for this.
bool tsr_device_number(const tsr_value *value, int64_t device, int64_t *out_number);
// Whether two devices hold the same of a value: both have one shard of an argument, or compute it
// from such. False where that is not seen.
bool tsr_devices_hold_alike(tsr_arena *scratch, tsr_ir *ir, tsr_value *value, int64_t a, int64_t b);
// The number of devices: of the largest mesh of the program. 0 = it has none.
int64_t tsr_device_count(const tsr_ir *ir);

#endif
