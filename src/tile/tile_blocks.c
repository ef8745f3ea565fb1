// The loops over blocks for every processor.
#define TARGET
#define BLOCKS tsr_tile_blocks_plain
#include "tile/tile_blocks.inc"
