// A table of text: cells are added row by row, and its columns are as wide as what is in them.
#ifndef TESSERA_DRAW_TABLE_H
#define TESSERA_DRAW_TABLE_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/text.h"

enum { CLI_MAX_COLUMNS = 16 };

typedef struct cli_column {
  const char *title;
  bool right;  // numbers
  int most;    // columns of the screen that it is widened to for longer cells; 0 = any
} cli_column;

typedef struct cli_table {
  int column_count;
  cli_column columns[CLI_MAX_COLUMNS];
  tsr_text text;  // of all cells, each ended by '\0'
  int64_t cells;
} cli_table;

// Text that comes from files: its control characters become '?', which move no cursor.
void cli_add_plain(tsr_text *out, const char *text);

void cli_table_init(cli_table *table);
void cli_table_add_column(cli_table *table, cli_column column);
void cli_table_add(cli_table *table, const char *cell);  // the next one, made plain
TSR_PRINTF(2, 3) void cli_table_addf(cli_table *table, const char *format, ...);
void cli_table_print(const cli_table *table, tsr_text *out);
void cli_table_deinit(cli_table *table);

#endif
