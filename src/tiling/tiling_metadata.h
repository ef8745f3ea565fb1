// XLA's op metadata inside a tiling: op_name="jit(f)/dot" source_line=3.
#ifndef TESSERA_TILING_TILING_METADATA_H
#define TESSERA_TILING_TILING_METADATA_H

#include "base/arena.h"
#include "base/cursor.h"

// What follows `metadata=`: one entry in braces, or a list of such in braces. Each entry becomes
// its text as XLA prints it (fixed order of fields, zeros and empty strings left out), in `memory`.
TSR_MUST_USE tsr_status tsr_metadata_parse(tsr_cursor *cursor, tsr_arena *memory,
                                           const char ***out_entries, int *out_count);

#endif
