// Pieces are printed as slices: [0:4, 8:16] [0:4, 24:32] ...
#include "draw/draw.h"

#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

static void add_ranges(const tsr_layout *layout, const tsr_piece *piece, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int d = 0; d < tsr_layout_rank(layout); d++)
    tsr_text_addf(out, "%s%lld:%lld", d ? ", " : "", (long long)piece->ranges[d].lo,
                  (long long)piece->ranges[d].hi);
  tsr_text_add_char(out, ']');
}

tsr_status tsr_shard_print_pieces(const tsr_layout *layout, int64_t shard, int most,
                                  tsr_text *out) {
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  int count = 0;
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece); count++) {
    if (count >= most) {
      tsr_text_add(out, " ...");
      break;
    }
    if (count) tsr_text_add_char(out, ' ');
    add_ranges(layout, &piece, out);
  }
  if (!count) tsr_text_add(out, "nothing");
  tsr_pieces_deinit(&pieces);
  return NULL;
}

void tsr_ranges_to_json(const tsr_range *ranges, int rank, tsr_json_writer *json) {
  tsr_json_begin_inline_array(json);
  for (int d = 0; d < rank; d++)
    tsr_json_write_ints(json, (const int64_t[]){ranges[d].lo, ranges[d].hi}, 2);
  tsr_json_end_array(json);
}
