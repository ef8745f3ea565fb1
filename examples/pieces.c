// A shard need not be one box: columns dealt out round robin in blocks of two, and where each piece
// lies in the device's buffer.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/engine.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(layout, layout);
  TSR_TRY(tsr_mesh_parse("x=2", NULL, &mesh));
  TSR_TRY(tsr_layout_from_text(mesh, "_, x/cyclic(2)", TSR_SHAPE(4, 8), &layout));
  for (int64_t shard = 0; shard < tsr_layout_shard_count(layout); shard++) {
    TSR_OWN(pieces, pieces);
    TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
    printf("shard %" PRId64 ", %" PRId64 " elements\n", shard,
           tsr_layout_shard_elements(layout, shard));
    for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);)
      printf("  columns %" PRId64 " to %" PRId64 " from element %" PRId64 " on, rows %" PRId64
             " apart\n",
             piece.ranges[1].lo, piece.ranges[1].hi, piece.offset, piece.strides[0]);
  }
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
