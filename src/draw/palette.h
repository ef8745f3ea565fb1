// Colours of figures, all of them readable under dark text.
#ifndef TESSERA_DRAW_PALETTE_H
#define TESSERA_DRAW_PALETTE_H

#include <stdint.h>

// Colour `index` of `count` as red, green, blue.
void tsr_palette_color(int64_t index, int64_t count, unsigned char out_rgb[3]);
// The colour of a share from 0 to 1: the more, the warmer.
void tsr_palette_heat(double share, unsigned char out_rgb[3]);

#endif
