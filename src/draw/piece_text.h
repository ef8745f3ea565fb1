// What a shard holds, in words and as data.
#ifndef TESSERA_DRAW_PIECE_TEXT_H
#define TESSERA_DRAW_PIECE_TEXT_H

#include "json/json.h"
#include "tessera/layout.h"
#include "tessera/text.h"

// The pieces of a shard in one line, cut after `most`: a cyclic shard may have thousands.
tsr_status tsr_shard_print_pieces(const tsr_layout *layout, int64_t shard, int most, tsr_text *out);
// [[lo, hi], ...], one for each dimension.
void tsr_ranges_to_json(const tsr_range *ranges, int rank, tsr_json_writer *json);

#endif
