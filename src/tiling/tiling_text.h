// The parts of XLA's text that its two forms of sharding share.
#ifndef TESSERA_TILING_TILING_TEXT_H
#define TESSERA_TILING_TILING_TEXT_H

#include "base/cursor.h"
#include "tessera/compat/hlo.h"
#include "tiling/tiling.h"

// [2,1,4]: the dimensions and the number of devices.
TSR_MUST_USE tsr_status tsr_tiles_parse_dims(tsr_cursor *cursor, tsr_tiles *tiles);
// [2,4]T(1,0) or [8], for the number of devices that `tiles` has: its digits.
TSR_MUST_USE tsr_status tsr_tiles_parse_iota(tsr_cursor *cursor, tsr_tiles *tiles);
// 0,2,1,3, as many as `tiles` has: its list, which the caller frees also after a failure.
TSR_MUST_USE tsr_status tsr_tiles_parse_list(tsr_cursor *cursor, tsr_tiles *tiles);

// What follows the word in {mesh['x'=2,'y'=4], [{'x'}, {?}], unreduced={'y'}} up to the brace: the
// tiling it means, its kind included.
TSR_MUST_USE tsr_status tsr_tiling_parse_mesh(tsr_cursor *cursor, tsr_tiling *tiling);
// And in {maximal_mesh[device_id=3]}.
TSR_MUST_USE tsr_status tsr_tiling_parse_maximal_mesh(tsr_cursor *cursor, tsr_tiling *tiling);

#endif
