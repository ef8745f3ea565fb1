// Cells are kept in one text; widths are measured when the table is printed.
#include "draw/draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"

void tsr_table_add_column(tsr_table *table, tsr_table_column column) {
  if (table->column_count < TSR_TABLE_MAX_COLUMNS) table->columns[table->column_count++] = column;
}

void tsr_make_plain_line(char *text, size_t length) {
  if (length) tsr_make_plain(text, length);
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\n' || text[i] == '\t') text[i] = '?';
}

void tsr_text_add_plain(tsr_text *out, const char *text) {
  const size_t start = out->length;
  tsr_text_add(out, text);
  if (out->length > start) tsr_make_plain_line(out->data + start, out->length - start);
}

void tsr_table_end_cell(tsr_table *table) {
  tsr_text *text = &table->text;
  if (text->length > table->begun)
    tsr_make_plain_line(text->data + table->begun, text->length - table->begun);
  tsr_text_add_char(text, '\0');
  table->begun = text->length;
  table->cells++;
}

void tsr_table_add(tsr_table *table, const char *cell) {
  tsr_text_add(&table->text, cell);
  tsr_table_end_cell(table);
}

void tsr_table_addf(tsr_table *table, const char *format, ...) {
  char cell[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cell, sizeof cell, format, arguments);
  va_end(arguments);
  tsr_table_add(table, cell);
}

static void print_cell(const tsr_table_column *column, const char *cell, int width, bool last,
                       tsr_text *out) {
  const int blanks = width - tsr_display_width(cell);
  for (int i = 0; column->right && i < blanks; i++) tsr_text_add_char(out, ' ');
  tsr_text_add(out, cell);
  for (int i = 0; !column->right && !last && i < blanks; i++) tsr_text_add_char(out, ' ');
}

static const char *next_cell(const char *cell) { return cell + strlen(cell) + 1; }

void tsr_table_print(const tsr_table *table, tsr_text *out) {
  int widths[TSR_TABLE_MAX_COLUMNS];
  const int columns = table->column_count;
  if (table->text.failed) out->failed = true;
  if (out->failed) return;
  for (int c = 0; c < columns; c++) widths[c] = tsr_display_width(table->columns[c].title);
  const char *cell = table->text.data;
  for (int64_t i = 0; i < table->cells; i++, cell = next_cell(cell)) {
    const int c = (int)(i % columns), width = tsr_display_width(cell),
              most = table->columns[c].most;
    if (width > widths[c]) widths[c] = most && width > most ? most : width;
  }
  for (int c = 0; c < columns; c++) {
    tsr_text_add(out, c ? "  " : " ");
    print_cell(&table->columns[c], table->columns[c].title, widths[c], c == columns - 1, out);
  }
  tsr_text_add_char(out, '\n');
  cell = table->text.data;
  for (int64_t i = 0; i < table->cells; i++, cell = next_cell(cell)) {
    const int c = (int)(i % columns);
    tsr_text_add(out, c ? "  " : " ");
    print_cell(&table->columns[c], cell, widths[c], c == columns - 1, out);
    if (c == columns - 1) tsr_text_add_char(out, '\n');
  }
}

void tsr_table_deinit(tsr_table *table) { tsr_text_deinit(&table->text); }
