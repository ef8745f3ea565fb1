// A text table: cells are added row by row; columns are as wide as their widest cell.
#ifndef TESSERA_DRAW_TABLE_H
#define TESSERA_DRAW_TABLE_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/text.h"

enum { TSR_TABLE_MAX_COLUMNS = 16 };

typedef struct tsr_table_column {
  const char *title;
  bool right;  // aligned right, for numbers
  int most;    // width at which it stops growing; longer cells stick out; 0 = no limit
} tsr_table_column;

typedef struct tsr_table {
  int column_count;
  tsr_table_column columns[TSR_TABLE_MAX_COLUMNS];
  tsr_text text;  // all cells, each ended by '\0'
  size_t begun;   // where the cell that is being written begins
  int64_t cells;
} tsr_table;

// Replaces what a terminal would obey, newlines and tabs too, by '?'.
void tsr_make_plain_line(char *text, size_t length);
// Adds text from files, made plain.
void tsr_text_add_plain(tsr_text *out, const char *text);

void tsr_table_init(tsr_table *table);
void tsr_table_add_column(tsr_table *table, tsr_table_column column);
// Ends a cell that was written to `table->text`, control characters replaced.
void tsr_table_end_cell(tsr_table *table);
void tsr_table_add(tsr_table *table, const char *cell);
TSR_PRINTF(2, 3) void tsr_table_addf(tsr_table *table, const char *format, ...);
void tsr_table_print(const tsr_table *table, tsr_text *out);
void tsr_table_deinit(tsr_table *table);

#endif
