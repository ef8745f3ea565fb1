// The reader of a map's text: words, numbers and names above the cursor of base.
#ifndef TESSERA_MAP_MAP_READER_H
#define TESSERA_MAP_MAP_READER_H

#include "base/cursor.h"
#include "map/map.h"

typedef struct tsr_map_reader {
  tsr_map *map;
  tsr_cursor cursor;
  int open;   // parentheses, and lists that go on: the end of a line is a blank
  int depth;  // of expressions
} tsr_map_reader;

void tsr_map_open(tsr_map_reader *r, int open);
// Adds the place `at` to a failure.
TSR_MUST_USE tsr_status tsr_map_place(const tsr_map_reader *r, const char *at, tsr_status status);
TSR_MUST_USE tsr_status tsr_map_no_memory(void);
// tsr_arena_grow for lists of the map.
void *tsr_map_grow(tsr_map_reader *r, void *list, int count, size_t size);

bool tsr_map_is_blank(char c);
size_t tsr_map_word_length(const char *at);  // 0 = there is none
bool tsr_map_is_word(const char *at, const char *word);
TSR_MUST_USE tsr_status tsr_map_read_word(tsr_map_reader *r, const char *what, const char **out);

// Numbers are kept as they are written, blanks made single: a fact may give their value later.
TSR_MUST_USE tsr_status tsr_map_read_raw(tsr_map_reader *r, const char **out);  // "" = none
TSR_MUST_USE tsr_status tsr_map_check_number(const tsr_map_reader *r, const char *at,
                                             const char *number);
TSR_MUST_USE tsr_status tsr_map_read_number(tsr_map_reader *r, const char **out);
TSR_MUST_USE tsr_status tsr_map_read_size(tsr_map_reader *r, const char **out);  // or "_": the rest

TSR_MUST_USE tsr_status tsr_map_read_name(tsr_map_reader *r, tsr_map_name *name);
// All `for x in a..b` that follow.
TSR_MUST_USE tsr_status tsr_map_read_loops(tsr_map_reader *r, tsr_map_item *item);
// `top` = right of the '=', where functions may stand that make several tensors.
TSR_MUST_USE tsr_status tsr_map_read_expr(tsr_map_reader *r, bool top, const tsr_map_expr **out);

#endif
