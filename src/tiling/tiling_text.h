// Readers shared by XLA's two forms of sharding.
#ifndef TESSERA_TILING_TILING_TEXT_H
#define TESSERA_TILING_TILING_TEXT_H

#include "base/cursor.h"
#include "tessera/compat/hlo.h"
#include "tiling/tiling.h"

// [2,1,4]: the dimensions and the number of devices.
TSR_MUST_USE tsr_status tsr_tiles_parse_dims(tsr_cursor *cursor, tsr_tiles *tiles);
// [2,4]T(1,0) or [8], for the number of devices that `tiles` has: its digits.
TSR_MUST_USE tsr_status tsr_tiles_parse_iota(tsr_cursor *cursor, tsr_tiles *tiles);
// 0,2,1,3, as many as `tiles` has: its list, which the caller frees, also after a failure.
TSR_MUST_USE tsr_status tsr_tiles_parse_list(tsr_cursor *cursor, tsr_tiles *tiles);

// Reads {mesh['x'=2,'y'=4], [{'x'}, {?}], unreduced={'y'}} between the word and the brace, and sets
// the tiling and its kind.
TSR_MUST_USE tsr_status tsr_tiling_parse_mesh(tsr_cursor *cursor, tsr_tiling *tiling);
// The same for {maximal_mesh[device_id=3]}.
TSR_MUST_USE tsr_status tsr_tiling_parse_maximal_mesh(tsr_cursor *cursor, tsr_tiling *tiling);

#endif
