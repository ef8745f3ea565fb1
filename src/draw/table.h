// A table of text: cells are added row by row, and its columns are as wide as what is in them.
#ifndef TESSERA_DRAW_TABLE_H
#define TESSERA_DRAW_TABLE_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/text.h"

enum { TSR_TABLE_MAX_COLUMNS = 16 };

typedef struct tsr_table_column {
  const char *title;
  bool right;  // numbers
  int most;    // columns of the screen that it is widened to for longer cells; 0 = any
} tsr_table_column;

typedef struct tsr_table {
  int column_count;
  tsr_table_column columns[TSR_TABLE_MAX_COLUMNS];
  tsr_text text;  // of all cells, each ended by '\0'
  int64_t cells;
} tsr_table;

// Text that comes from files: its control characters become '?', which move no cursor.
void tsr_text_add_plain(tsr_text *out, const char *text);

void tsr_table_init(tsr_table *table);
void tsr_table_add_column(tsr_table *table, tsr_table_column column);
void tsr_table_add(tsr_table *table, const char *cell);  // the next one, made plain
TSR_PRINTF(2, 3) void tsr_table_addf(tsr_table *table, const char *format, ...);
void tsr_table_print(const tsr_table *table, tsr_text *out);
void tsr_table_deinit(tsr_table *table);

#endif
