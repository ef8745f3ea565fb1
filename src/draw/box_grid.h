// Boxes for a terminal: a grid of cells, with lines between neighbours of different groups.
#ifndef TESSERA_DRAW_BOX_GRID_H
#define TESSERA_DRAW_BOX_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/text.h"

enum { TSR_BOX_NO_GROUP = -1 };  // no cell; everything outside the grid

typedef struct tsr_box_grid {
  int rows, columns, width;  // width of a cell, without the lines beside it
  const int64_t *groups;     // by rows; NULL = each cell is its own group
  int stride;                // from one row of groups to the next
} tsr_box_grid;

int tsr_box_width(const tsr_box_grid *grid);  // of the whole grid, with its lines
int64_t tsr_box_group(const tsr_box_grid *grid, int row, int column);
// Whether there is a line above `row`; row `rows` is the lower end.
bool tsr_box_has_rule(const tsr_box_grid *grid, int row);
// Adds the line above `row`. `overlay` is NULL, or tsr_box_width characters that replace those of
// the line; '\0' = keep the line.
void tsr_box_add_rule(const tsr_box_grid *grid, int row, const char *overlay, tsr_text *out);
// Adds the line at the left of a cell, or a space; column `columns` is the right end.
void tsr_box_add_wall(const tsr_box_grid *grid, int row, int column, tsr_text *out);

#endif
