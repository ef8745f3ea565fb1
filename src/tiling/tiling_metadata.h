// XLA's op metadata inside a tiling: op_name="jit(f)/dot" source_line=3.
#ifndef TESSERA_TILING_TILING_METADATA_H
#define TESSERA_TILING_TILING_METADATA_H

#include "base/arena.h"
#include "base/cursor.h"

// Reads after `metadata=` one entry in braces, or a list of entries in braces. Each becomes its
// text as XLA prints it, in `memory`: fields in fixed order, zeros and empty strings omitted.
TSR_MUST_USE tsr_status tsr_metadata_parse(tsr_cursor *cursor, tsr_arena *memory,
                                           const char ***out_entries, int *out_count);

#endif
