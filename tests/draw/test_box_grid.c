#include "base/text_internal.h"
#include "draw/draw.h"
#include "support/test.h"

static void print(const tsr_box_grid *grid, const char *overlay, tsr_text *out) {
  for (int row = 0; row <= grid->rows; row++) {
    if (tsr_box_has_rule(grid, row)) {
      tsr_box_add_rule(grid, row, row ? NULL : overlay, out);
      tsr_text_add_char(out, '\n');
    }
    for (int column = 0; row < grid->rows && column <= grid->columns; column++) {
      tsr_box_add_wall(grid, row, column, out);
      if (column < grid->columns) tsr_text_addf(out, "%*s", grid->width, "");
    }
    if (row < grid->rows) tsr_text_add_char(out, '\n');
  }
}

static void lines_stand_between_groups(void **state) {
  (void)state;
  static const int64_t groups[] = {0, 0, 1, 9, 2, TSR_BOX_NO_GROUP, 1, 9};
  const struct {
    tsr_box_grid grid;
    const char *overlay, *picture;
  } cases[] = {
      {{.rows = 1, .columns = 2, .width = 2}, NULL, "┌──┬──┐\n│  │  │\n└──┴──┘\n"},
      {{.rows = 2, .columns = 3, .width = 1, .groups = groups, .stride = 4},
       "\0a",
       "┌a──┬─┐\n│   │ │\n├─┬─┤ │\n│ │ │ │\n└─┘ └─┘\n"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char overlay[16] = "";
    if (cases[i].overlay) overlay[1] = cases[i].overlay[1];
    tsr_text text = TSR_TEXT_EMPTY;
    print(&cases[i].grid, overlay, &text);
    assert_string_equal(tsr_text_string(&text), cases[i].picture);
    tsr_text_deinit(&text);
  }
}

SUITE(box_grid, TEST(lines_stand_between_groups))
