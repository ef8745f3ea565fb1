// Reads the expressions of a map: a name, or a function of expressions and numbers.
#include <string.h>

#include "base/suggest.h"
#include "map/map_reader.h"

enum { MOST_DEPTH = 32 };

#define OP(id, word, ...) [TSR_MAP_##id] = {word, __VA_ARGS__},
const tsr_map_op_info tsr_map_ops[TSR_MAP_OP_COUNT] = {TSR_MAP_OPS(OP)};
#undef OP

tsr_status tsr_map_read_loops(tsr_map_reader *r, tsr_map_item *item) {
  for (tsr_cursor_peek(&r->cursor); tsr_map_is_word(r->cursor.at, "for");
       tsr_cursor_peek(&r->cursor)) {
    tsr_map_loop loop = {0};
    tsr_map_loop *loops = tsr_map_grow(r, item->loops, item->loop_count, sizeof *loops);
    if (!loops) return tsr_map_no_memory();
    r->cursor.at += 3;
    TSR_TRY(tsr_map_read_word(r, "a variable", &loop.variable));
    tsr_cursor_peek(&r->cursor);
    if (!tsr_map_is_word(r->cursor.at, "in")) return tsr_cursor_expected(&r->cursor, "\"in\"");
    r->cursor.at += 2;
    TSR_TRY(tsr_map_read_number(r, &loop.from));
    if (r->cursor.at[0] != '.' || r->cursor.at[1] != '.')
      return tsr_cursor_expected(&r->cursor, "\"..\"");
    r->cursor.at += 2;
    TSR_TRY(tsr_map_read_number(r, &loop.to));
    item->loops = loops;
    item->loops[item->loop_count++] = loop;
  }
  return NULL;
}

static tsr_status add_number(tsr_map_reader *r, tsr_map_expr *expr, const char *number) {
  const char **numbers = tsr_map_grow(r, expr->numbers, expr->number_count, sizeof *numbers);
  if (!numbers) return tsr_map_no_memory();
  expr->numbers = numbers;
  expr->numbers[expr->number_count++] = number;
  return NULL;
}

static tsr_status read_into(tsr_map_reader *r, tsr_map_expr *expr,
                            tsr_status (*read)(tsr_map_reader *, const char **)) {
  const char *number = NULL;
  TSR_TRY(read(r, &number));
  return add_number(r, expr, number);
}

static tsr_status read_operand(tsr_map_reader *r, tsr_map_expr *expr) {
  tsr_map_item item = {0};
  const bool many = tsr_map_ops[expr->op].joins;
  TSR_TRY(tsr_map_read_expr(r, false, &item.expr));
  if (many) TSR_TRY(tsr_map_read_loops(r, &item));
  tsr_map_item *items = tsr_map_grow(r, expr->items, expr->item_count, sizeof *items);
  if (!items) return tsr_map_no_memory();
  expr->items = items;
  expr->items[expr->item_count++] = item;
  return NULL;
}

// concat(dim, a, b, ...)
static tsr_status read_joined(tsr_map_reader *r, tsr_map_expr *expr) {
  TSR_TRY(read_into(r, expr, tsr_map_read_number));
  if (!tsr_cursor_take(&r->cursor, ','))
    return tsr_cursor_expected(&r->cursor, "\",\" and a tensor");
  do {
    TSR_TRY(read_operand(r, expr));
  } while (tsr_cursor_take(&r->cursor, ','));
  return NULL;
}

// (a, b, ...)
static tsr_status read_tuple(tsr_map_reader *r, tsr_map_expr *expr) {
  TSR_TRY(tsr_cursor_expect(&r->cursor, '('));
  do {
    TSR_TRY(read_into(r, expr, tsr_map_read_size));
  } while (tsr_cursor_take(&r->cursor, ','));
  return tsr_cursor_expect(&r->cursor, ')');
}

static tsr_status read_ends(tsr_map_reader *r, tsr_map_expr *expr) {
  TSR_TRY(read_into(r, expr, tsr_map_read_raw));
  const char *first = expr->numbers[1];
  if (*first) TSR_TRY(tsr_map_check_number(r, r->cursor.at, first));
  if (!tsr_cursor_take(&r->cursor, ':'))
    return tsr_cursor_expected(&r->cursor, "\":\" between start and end");
  TSR_TRY(read_into(r, expr, tsr_map_read_raw));
  const char *last = expr->numbers[2];
  return *last ? tsr_map_check_number(r, r->cursor.at, last) : NULL;
}

static tsr_status read_value(tsr_map_reader *r, tsr_map_expr *expr) {
  if (!tsr_cursor_take(&r->cursor, ',')) return NULL;
  TSR_TRY(tsr_map_read_raw(r, &expr->value));
  return *expr->value ? NULL : tsr_cursor_expected(&r->cursor, "a value");
}

// The numbers after the operand.
static tsr_status read_numbers(tsr_map_reader *r, tsr_map_expr *expr) {
  const tsr_map_op_info *op = &tsr_map_ops[expr->op];
  if (op->open_numbers) {
    while (tsr_cursor_take(&r->cursor, ',')) TSR_TRY(read_into(r, expr, tsr_map_read_size));
    if (expr->number_count < op->least_numbers)
      return tsr_cursor_expected(&r->cursor, "\",\" and a dimension");
    return NULL;
  }
  if (!tsr_cursor_take(&r->cursor, ','))
    return tsr_cursor_expected(&r->cursor, "\",\" and a dimension");
  TSR_TRY(read_into(r, expr, tsr_map_read_number));
  if (expr->op == TSR_MAP_UNSTACK) return NULL;
  TSR_TRY(tsr_cursor_expect(&r->cursor, ','));
  if (expr->op == TSR_MAP_SLICE) return read_ends(r, expr);
  if (expr->op != TSR_MAP_PERMUTE) {
    TSR_TRY(read_into(r, expr, tsr_map_read_number));
    return expr->op == TSR_MAP_PAD ? read_value(r, expr) : NULL;
  }
  TSR_TRY(read_tuple(r, expr));
  expr->size_count = expr->number_count - 1;
  TSR_TRY(tsr_cursor_expect(&r->cursor, ','));
  return read_tuple(r, expr);
}

static tsr_status unknown_function(const tsr_map_reader *r, size_t length) {
  char word[32] = "";
  if (length < sizeof word) memcpy(word, r->cursor.at, length);
  tsr_suggestion near = tsr_suggestion_for(word);
  for (int op = 1; op < TSR_MAP_OP_COUNT; op++) tsr_suggestion_offer(&near, tsr_map_ops[op].word);
  return tsr_map_place(r, r->cursor.at,
                       tsr_fail(SYNTAX, "there is no function \"%.*s\"" TSR_DID_YOU_MEAN,
                                (int)length, r->cursor.at, TSR_SUGGESTED(near)));
}

static tsr_status read_call(tsr_map_reader *r, bool top, size_t length, tsr_map_expr *expr) {
  for (int op = 1; op < TSR_MAP_OP_COUNT; op++)
    if (tsr_map_is_word(r->cursor.at, tsr_map_ops[op].word)) expr->op = (tsr_map_op)op;
  if (expr->op == TSR_MAP_NAME) return unknown_function(r, length);
  if (!top && (expr->op == TSR_MAP_SPLIT || expr->op == TSR_MAP_UNSTACK))
    return tsr_map_place(r, r->cursor.at,
                         tsr_fail(SYNTAX,
                                  "%s makes several tensors, so it stands alone right of "
                                  "the '='; slice makes one",
                                  tsr_map_ops[expr->op].word));
  r->cursor.at += length + 1;
  tsr_map_open(r, r->open + 1);
  if (tsr_map_ops[expr->op].joins) {
    TSR_TRY(read_joined(r, expr));
  } else {
    TSR_TRY(read_operand(r, expr));
    TSR_TRY(read_numbers(r, expr));
  }
  if (!tsr_cursor_take(&r->cursor, ')')) return tsr_cursor_expected(&r->cursor, "\",\" or \")\"");
  tsr_map_open(r, r->open - 1);
  return NULL;
}

tsr_status tsr_map_read_expr(tsr_map_reader *r, bool top, const tsr_map_expr **out) {
  tsr_map_expr *expr = tsr_arena_zeros(&r->map->arena, 1, sizeof *expr);
  if (!expr) return tsr_map_no_memory();
  tsr_cursor_peek(&r->cursor);
  expr->line = tsr_cursor_line(&r->cursor);
  if (++r->depth > MOST_DEPTH)
    return tsr_map_place(r, r->cursor.at,
                         tsr_fail(TOO_LARGE, "functions nested more than %d deep", MOST_DEPTH));
  const size_t length = tsr_map_word_length(r->cursor.at);
  if (length > 0 && r->cursor.at[length] == '(')
    TSR_TRY(read_call(r, top, length, expr));
  else
    TSR_TRY(tsr_map_read_name(r, &expr->name));
  r->depth--;
  *out = expr;
  return NULL;
}
