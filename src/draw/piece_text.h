// The pieces of a shard, as text and as JSON.
#ifndef TESSERA_DRAW_PIECE_TEXT_H
#define TESSERA_DRAW_PIECE_TEXT_H

#include "json/json.h"
#include "tessera/layout.h"
#include "tessera/text.h"

// Prints at most `most` pieces on one line: a cyclic shard may have thousands.
tsr_status tsr_shard_print_pieces(const tsr_layout *layout, int64_t shard, int most, tsr_text *out);
// [[lo, hi], ...], one pair for each dimension.
void tsr_ranges_to_json(const tsr_range *ranges, int rank, tsr_json_writer *json);

#endif
