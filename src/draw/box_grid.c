// Lines of boxes. The four groups around a corner decide which of its four arms are drawn, so a box
// may have any shape.
#include "draw/draw.h"

#include "base/text_internal.h"

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };
static const char *const corners[16] = {" ", "│", "│", "│", "─", "┘", "┐", "┤",
                                        "─", "└", "┌", "├", "─", "┴", "┬", "┼"};

int tsr_box_width(const tsr_box_grid *grid) { return grid->columns * (grid->width + 1) + 1; }

int64_t tsr_box_group(const tsr_box_grid *grid, int row, int column) {
  if (row < 0 || column < 0 || row >= grid->rows || column >= grid->columns)
    return TSR_BOX_NO_GROUP;
  return grid->groups ? grid->groups[row * grid->stride + column] : row * grid->columns + column;
}

bool tsr_box_has_rule(const tsr_box_grid *grid, int row) {
  for (int column = 0; column < grid->columns; column++)
    if (tsr_box_group(grid, row - 1, column) != tsr_box_group(grid, row, column)) return true;
  return false;
}

static int arms_at(const tsr_box_grid *grid, int row, int column) {
  const int64_t nw = tsr_box_group(grid, row - 1, column - 1),
                ne = tsr_box_group(grid, row - 1, column),
                sw = tsr_box_group(grid, row, column - 1), se = tsr_box_group(grid, row, column);
  return (nw != ne ? UP : 0) | (sw != se ? DOWN : 0) | (nw != sw ? LEFT : 0) |
         (ne != se ? RIGHT : 0);
}

void tsr_box_add_rule(const tsr_box_grid *grid, int row, const char *overlay, tsr_text *out) {
  for (int x = 0, arms = 0; x < tsr_box_width(grid); x++) {
    const bool corner = x % (grid->width + 1) == 0;
    if (corner) arms = arms_at(grid, row, x / (grid->width + 1));
    if (overlay && overlay[x])
      tsr_text_add_char(out, overlay[x]);
    else
      tsr_text_add(out, corners[corner ? arms : arms & RIGHT]);
  }
}

void tsr_box_add_wall(const tsr_box_grid *grid, int row, int column, tsr_text *out) {
  const bool line = tsr_box_group(grid, row, column - 1) != tsr_box_group(grid, row, column);
  tsr_text_add(out, line ? "│" : " ");
}
