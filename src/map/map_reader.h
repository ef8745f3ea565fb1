// How the text of a map is read: by hand, from the text as it is, so that every failure can tell
// line and column.
#ifndef TESSERA_MAP_MAP_READER_H
#define TESSERA_MAP_MAP_READER_H

#include "map/map.h"
#include "tessera/checkpoint/map.h"

typedef struct tsr_map_reader {
  tsr_map *map;
  const char *start, *at;
  int open;   // parentheses, and lists that go on: the end of a line is a blank
  int depth;  // of expressions
} tsr_map_reader;

int tsr_map_line(const tsr_map_reader *r, const char *at);
// The failure with its place. What is at a line's end belongs to that line.
TSR_MUST_USE tsr_status tsr_map_place(const tsr_map_reader *r, const char *at, tsr_status status);
// The failure of finding something else here.
TSR_MUST_USE tsr_status tsr_map_wanted(const tsr_map_reader *r, const char *what);
TSR_MUST_USE tsr_status tsr_map_no_memory(void);
// Room for one more at the end of a list in the arena, which doubles; NULL when memory is out.
void *tsr_map_more(tsr_map_reader *r, void *list, int count, size_t size);

bool tsr_map_is_blank(char c);
void tsr_map_skip(tsr_map_reader *r);          // blanks and comments
bool tsr_map_take(tsr_map_reader *r, char c);  // after blanks, if it is there
TSR_MUST_USE tsr_status tsr_map_expect(tsr_map_reader *r, char c);
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
