// Boxes of lines for a terminal: a grid of cells with a line between neighbours of different
// groups.
#ifndef TESSERA_DRAW_BOX_GRID_H
#define TESSERA_DRAW_BOX_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/text.h"

enum { TSR_BOX_NO_GROUP = -1 };  // a place without a cell, as everything outside the grid

typedef struct tsr_box_grid {
  int rows, columns, width;  // width of a cell, without the lines beside it
  const int64_t *groups;     // row after row; NULL = each cell is a box of its own
  int stride;                // from a row of groups to the next
} tsr_box_grid;

int tsr_box_width(const tsr_box_grid *grid);  // of the whole grid, with its lines
int64_t tsr_box_group(const tsr_box_grid *grid, int row, int column);
// Whether there is a line above `row`; row `rows` is the lower end.
bool tsr_box_has_rule(const tsr_box_grid *grid, int row);
// Adds that line. Letters of `overlay` (tsr_box_width of them, '\0' = none) replace it; may be
// NULL.
void tsr_box_add_rule(const tsr_box_grid *grid, int row, const char *overlay, tsr_text *out);
// Adds the line at the left of a cell, or a blank; column `columns` is the right end.
void tsr_box_add_wall(const tsr_box_grid *grid, int row, int column, tsr_text *out);

#endif
