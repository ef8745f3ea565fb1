// Maps as text: lines of `destination = expression`, read by hand from the text as it is, so that
// every failure can tell line and column.
//
//   statement = "only" | "let" word "=" number | "drop" name | ["optional"] target {"," target} "="
//               expression
//   target    = name {loop}
//   loop      = "for" word "in" number ".." number
//   expression= name | function "(" ... ")", see tsr_map_ops
//   name      = text without blanks and , ( ) = # ", or in quotes; {holes} inside
//
// A statement ends with its line, unless parentheses are open or a comma or '=' came last.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "map/map.h"
#include "rules/rules.h"

enum { MOST_DEPTH = 32 };

#define OP(id, word, ...) [TSR_MAP_##id] = {word, __VA_ARGS__},
const tsr_map_op_info tsr_map_ops[TSR_MAP_OP_COUNT] = {TSR_MAP_OPS(OP)};
#undef OP

typedef struct reader {
  tsr_map *map;
  const char *start, *at;
  int open;   // parentheses, and lists that go on: the end of a line is a blank
  int depth;  // of expressions
} reader;

// ---- places ----

static int line_of(const reader *r, const char *at) {
  int line = 1;
  for (const char *c = r->start; c < at; c++) line += *c == '\n';
  return line;
}

// Where it happened. What is at a line's end belongs to that line.
static tsr_status place(const reader *r, const char *at, tsr_status status) {
  const char *line = at;
  while (line > r->start && line[-1] != '\n') line--;
  return tsr_note(status, "%s:%d:%d", r->map->name, line_of(r, at), (int)(at - line) + 1);
}

static tsr_status wanted(const reader *r, const char *what) {
  const size_t length = strcspn(r->at, " \t\r\n,()=#");
  const int shown = length == 0 ? *r->at && *r->at != '\n' && *r->at != '\r' : (int)length;
  return place(r, r->at,
               shown ? tsr_fail(SYNTAX, "wanted %s, found \"%.*s\"", what, shown, r->at)
                     : tsr_fail(SYNTAX, "wanted %s, found the end of the line", what));
}

static tsr_status no_memory(void) { return tsr_fail(NO_MEMORY, "a map"); }

// Room for one more at the end of a list in the arena, which doubles; NULL when memory is out.
static void *more(reader *r, void *list, int count, size_t size) {
  if (count > 0 && (count < 4 || (count & (count - 1)))) return list;
  void *larger = tsr_arena_alloc(&r->map->arena, size * (size_t)(count < 4 ? 4 : 2 * count));
  if (larger && count > 0) memcpy(larger, list, size * (size_t)count);
  return larger;
}

// ---- characters ----

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip(reader *r) {
  for (;;) {
    if (is_blank(*r->at) || (r->open > 0 && *r->at == '\n'))
      r->at++;
    else if (*r->at == '#')
      r->at += strcspn(r->at, "\n");
    else
      return;
  }
}

static bool take(reader *r, char c) {
  skip(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static tsr_status expect(reader *r, char c) {
  const char what[] = {'\'', c, '\'', '\0'};
  return take(r, c) ? NULL : wanted(r, what);
}

static size_t word_length(const char *at) {
  size_t length = 0;
  if (!is_letter(*at)) return 0;
  while (is_letter(at[length]) || is_digit(at[length])) length++;
  return length;
}

static bool is_word(const char *at, const char *word) {
  return word_length(at) == strlen(word) && !memcmp(at, word, strlen(word));
}

static tsr_status read_word(reader *r, const char *what, const char **out) {
  skip(r);
  const size_t length = word_length(r->at);
  if (length == 0) return wanted(r, what);
  *out = tsr_arena_copy(&r->map->arena, r->at, length);
  r->at += length;
  return *out ? NULL : no_memory();
}

// ---- numbers ----

static bool ends_number(const reader *r, const char *at) {
  if (*at == '\0' || strchr(",):=#", *at) || (*at == '\n' && r->open == 0)) return true;
  if (at[0] == '.' && at[1] == '.') return true;
  return (is_blank(at[-1]) || at[-1] == '\n') && is_word(at, "for") && is_blank(at[3]);
}

// An expression as it is written, blanks made single.
static tsr_status read_raw(reader *r, const char **out) {
  tsr_text text = TSR_TEXT_EMPTY;
  int parentheses = 0;
  skip(r);
  for (const char *begin = r->at; r->at == begin || parentheses || !ends_number(r, r->at);
       r->at++) {
    const char c = *r->at;
    if (r->at == begin &&
        (c == '\0' || strchr(",):=#", c) || c == '\n' || (c == '.' && begin[1] == '.')))
      break;
    if (c == '\0' || c == '#' || (c == '\n' && r->open == 0)) break;
    parentheses += (c == '(') - (c == ')');
    if (!is_blank(c) && c != '\n')
      tsr_text_add_char(&text, c);
    else if (!is_blank(r->at[1]) && r->at[1] != '\n')
      tsr_text_add_char(&text, ' ');
  }
  while (text.length > 0 && text.data[text.length - 1] == ' ') text.length--;
  *out = tsr_arena_copy(&r->map->arena, tsr_text_string(&text), text.length);
  const bool failed = text.failed || !*out;
  tsr_text_deinit(&text);
  return failed ? no_memory() : NULL;
}

static tsr_status check_number(const reader *r, const char *at, const char *number) {
  tsr_status status = tsr_facts_check(number);
  return status ? place(r, at, tsr_note(status, "in \"%s\"", number)) : NULL;
}

static tsr_status read_number(reader *r, const char **out) {
  skip(r);
  const char *at = r->at;
  TSR_TRY(read_raw(r, out));
  assert(*out);
  if (!**out) return wanted(r, "a number");
  return check_number(r, at, *out);
}

// A number, or "_" for what is left.
static tsr_status read_size(reader *r, const char **out) {
  skip(r);
  const char *at = r->at;
  TSR_TRY(read_raw(r, out));
  if (!**out) return wanted(r, "a size");
  return strcmp(*out, "_") != 0 ? check_number(r, at, *out) : NULL;
}

// ---- names ----

static tsr_status add_part(reader *r, tsr_map_name *name, tsr_name_part part) {
  tsr_name_part *parts = more(r, name->parts, name->count, sizeof *parts);
  if (!parts) return no_memory();
  name->parts = parts;
  name->parts[name->count++] = part;
  return NULL;
}

static tsr_status flush_text(reader *r, tsr_map_name *name, tsr_text *text) {
  if (text->failed) return no_memory();
  if (text->length == 0) return NULL;
  tsr_name_part part = {.text = tsr_arena_copy(&r->map->arena, text->data, text->length)};
  tsr_text_clear(text);
  return part.text ? add_part(r, name, part) : no_memory();
}

// The brace that closes the one before `at`; NULL when the line ends first.
static const char *closing_brace(const char *at) {
  int open = 1;
  for (; *at && *at != '\n'; at++) {
    open += (*at == '{') - (*at == '}');
    if (open == 0) return at;
  }
  return NULL;
}

static bool has_numbered_reference(const char *pattern) {
  for (const char *at = pattern; *at; at += *at == '\\' && at[1] ? 2 : 1)
    if (at[0] == '\\' && at[1] >= '1' && at[1] <= '9') return true;
  return false;
}

// {word:regex}; the regex is tried by itself, so that it cannot close the group around it.
static tsr_status read_pattern(reader *r, const char *at, const char *end, tsr_name_part *part) {
  tsr_regex regex;
  part->pattern = tsr_arena_copy(&r->map->arena, at, (size_t)(end - at));
  if (!part->pattern) return no_memory();
  if (at == end)
    return place(r, at, tsr_fail(SYNTAX, "capture \"%s\" has an empty pattern", part->word));
  if (has_numbered_reference(part->pattern))
    return place(
        r, at, tsr_fail(UNSUPPORTED, "a reference by number in the pattern \"%s\"", part->pattern));
  tsr_status status =
      tsr_regex_compile_capturing(r->map->engine, part->pattern, &r->map->arena, &regex);
  if (status) return place(r, at, status);
  tsr_regex_deinit(&regex);
  return NULL;
}

static tsr_status read_hole(reader *r, tsr_map_name *name) {
  const char *begin = ++r->at, *end = closing_brace(begin);
  tsr_name_part part = {0};
  if (!end) return place(r, begin - 1, tsr_fail(SYNTAX, "a { without its }"));
  r->at = end + 1;
  const char *at = begin, *stop = end;
  while (at < stop && is_blank(*at)) at++;
  while (stop > at && is_blank(stop[-1])) stop--;
  if (at == stop)
    return place(r, begin - 1, tsr_fail(SYNTAX, "nothing in {}; a plain brace is written {{"));
  const size_t length = word_length(at);
  const bool bare = length > 0 && at + length == stop, pattern = length > 0 && at[length] == ':';
  const char *text =
      tsr_arena_copy(&r->map->arena, at, bare || pattern ? length : (size_t)(stop - at));
  if (!text) return no_memory();
  if (bare || pattern)
    part.word = text;
  else
    part.number = text;
  if (pattern) TSR_TRY(read_pattern(r, at + length + 1, end, &part));
  if (part.number) TSR_TRY(check_number(r, at, part.number));
  return add_part(r, name, part);
}

static bool ends_name(char c, bool quoted) {
  if (quoted) return c == '"' || c == '\0' || c == '\n';
  return c == '\0' || strchr(" \t\r\n,()=#\"", c) != NULL;
}

// One character of a name, or a hole.
static tsr_status read_character(reader *r, bool quoted, tsr_map_name *name, tsr_text *text) {
  const char c = *r->at;
  if ((c == '{' || c == '}') && r->at[1] == c) {
    tsr_text_add_char(text, c);
    r->at += 2;
    return NULL;
  }
  if (c == '}')
    return place(r, r->at, tsr_fail(SYNTAX, "a } without its {; a plain one is written }}"));
  if (c == '{') {
    TSR_TRY(flush_text(r, name, text));
    return read_hole(r, name);
  }
  char byte = c;
  const char *end = quoted && c == '\\' ? tsr_unescape(r->at, &byte) : r->at + 1;
  if (!end || byte == '\0') return place(r, r->at, tsr_fail(SYNTAX, "there is no such escape"));
  tsr_text_add_char(text, byte);
  r->at = end;
  return NULL;
}

static tsr_status read_name(reader *r, tsr_map_name *name) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  *name = (tsr_map_name){0};
  skip(r);
  const char *begin = r->at;
  const bool quoted = *r->at == '"';
  r->at += quoted;
  while (!status && !ends_name(*r->at, quoted)) status = read_character(r, quoted, name, &text);
  if (!status && quoted && *r->at != '"')
    status = place(r, begin, tsr_fail(SYNTAX, "a name whose \" is not closed"));
  if (!status) status = flush_text(r, name, &text);
  tsr_text_deinit(&text);
  if (status) return status;
  r->at += quoted;
  if (!quoted && r->at == begin) return wanted(r, "a tensor's name");
  return NULL;
}

// ---- expressions ----

static tsr_status read_expr(reader *r, bool top, const tsr_map_expr **out);

static tsr_status read_loops(reader *r, tsr_map_item *item) {
  for (skip(r); is_word(r->at, "for"); skip(r)) {
    tsr_map_loop loop = {0};
    tsr_map_loop *loops = more(r, item->loops, item->loop_count, sizeof *loops);
    if (!loops) return no_memory();
    r->at += 3;
    TSR_TRY(read_word(r, "a variable", &loop.variable));
    skip(r);
    if (!is_word(r->at, "in")) return wanted(r, "\"in\"");
    r->at += 2;
    TSR_TRY(read_number(r, &loop.from));
    if (r->at[0] != '.' || r->at[1] != '.') return wanted(r, "\"..\"");
    r->at += 2;
    TSR_TRY(read_number(r, &loop.to));
    item->loops = loops;
    item->loops[item->loop_count++] = loop;
  }
  return NULL;
}

static tsr_status add_number(reader *r, tsr_map_expr *expr, const char *number) {
  const char **numbers = more(r, expr->numbers, expr->number_count, sizeof *numbers);
  if (!numbers) return no_memory();
  expr->numbers = numbers;
  expr->numbers[expr->number_count++] = number;
  return NULL;
}

static tsr_status read_into(reader *r, tsr_map_expr *expr,
                            tsr_status (*read)(reader *, const char **)) {
  const char *number = NULL;
  TSR_TRY(read(r, &number));
  return add_number(r, expr, number);
}

static tsr_status read_operand(reader *r, tsr_map_expr *expr) {
  tsr_map_item item = {0};
  const bool many = tsr_map_ops[expr->op].most_operands < 0;
  TSR_TRY(read_expr(r, false, &item.expr));
  if (many) TSR_TRY(read_loops(r, &item));
  tsr_map_item *items = more(r, expr->items, expr->item_count, sizeof *items);
  if (!items) return no_memory();
  expr->items = items;
  expr->items[expr->item_count++] = item;
  return NULL;
}

// concat(dim, a, b, ...)
static tsr_status read_joined(reader *r, tsr_map_expr *expr) {
  TSR_TRY(read_into(r, expr, read_number));
  if (!take(r, ',')) return wanted(r, "',' and a tensor");
  do {
    TSR_TRY(read_operand(r, expr));
  } while (take(r, ','));
  return NULL;
}

// (a, b, ...)
static tsr_status read_tuple(reader *r, tsr_map_expr *expr) {
  TSR_TRY(expect(r, '('));
  do {
    TSR_TRY(read_into(r, expr, read_size));
  } while (take(r, ','));
  return expect(r, ')');
}

static tsr_status read_ends(reader *r, tsr_map_expr *expr) {
  TSR_TRY(read_into(r, expr, read_raw));
  const char *first = expr->numbers[1];
  if (*first) TSR_TRY(check_number(r, r->at, first));
  if (!take(r, ':')) return wanted(r, "':' between start and end");
  TSR_TRY(read_into(r, expr, read_raw));
  const char *last = expr->numbers[2];
  return *last ? check_number(r, r->at, last) : NULL;
}

static tsr_status read_value(reader *r, tsr_map_expr *expr) {
  if (!take(r, ',')) return NULL;
  TSR_TRY(read_raw(r, &expr->value));
  return *expr->value ? NULL : wanted(r, "a value");
}

// The numbers after the operand.
static tsr_status read_numbers(reader *r, tsr_map_expr *expr) {
  const tsr_map_op_info *op = &tsr_map_ops[expr->op];
  const bool all = op->most_numbers < 0 && expr->op != TSR_MAP_PERMUTE;
  if (all) {
    while (take(r, ',')) TSR_TRY(read_into(r, expr, read_size));
    if (expr->number_count < op->least_numbers) return wanted(r, "',' and a dimension");
    return NULL;
  }
  if (!take(r, ',')) return wanted(r, "',' and a dimension");
  TSR_TRY(read_into(r, expr, read_number));
  if (expr->op == TSR_MAP_UNSTACK) return NULL;
  TSR_TRY(expect(r, ','));
  if (expr->op == TSR_MAP_SLICE) return read_ends(r, expr);
  if (expr->op != TSR_MAP_PERMUTE) {
    TSR_TRY(read_into(r, expr, read_number));
    return expr->op == TSR_MAP_PAD ? read_value(r, expr) : NULL;
  }
  TSR_TRY(read_tuple(r, expr));
  expr->size_count = expr->number_count - 1;
  TSR_TRY(expect(r, ','));
  return read_tuple(r, expr);
}

static tsr_status unknown_function(const reader *r, size_t length) {
  char word[32] = "";
  if (length < sizeof word) memcpy(word, r->at, length);
  tsr_suggestion near = tsr_suggestion_for(word);
  for (int op = 1; op < TSR_MAP_OP_COUNT; op++) tsr_suggestion_offer(&near, tsr_map_ops[op].word);
  return place(r, r->at,
               tsr_fail(SYNTAX, "there is no function \"%.*s\"" TSR_DID_YOU_MEAN, (int)length,
                        r->at, TSR_SUGGESTED(near)));
}

static tsr_status read_call(reader *r, bool top, size_t length, tsr_map_expr *expr) {
  for (int op = 1; op < TSR_MAP_OP_COUNT; op++)
    if (is_word(r->at, tsr_map_ops[op].word)) expr->op = (tsr_map_op)op;
  if (expr->op == TSR_MAP_NAME) return unknown_function(r, length);
  if (!top && (expr->op == TSR_MAP_SPLIT || expr->op == TSR_MAP_UNSTACK))
    return place(r, r->at,
                 tsr_fail(SYNTAX,
                          "%s makes several tensors, so it stands alone right of "
                          "the '='; slice makes one",
                          tsr_map_ops[expr->op].word));
  r->at += length + 1;
  r->open++;
  if (tsr_map_ops[expr->op].most_operands < 0) {
    TSR_TRY(read_joined(r, expr));
  } else {
    TSR_TRY(read_operand(r, expr));
    TSR_TRY(read_numbers(r, expr));
  }
  if (!take(r, ')')) return wanted(r, "',' or ')'");
  r->open--;
  return NULL;
}

static tsr_status read_expr(reader *r, bool top, const tsr_map_expr **out) {
  tsr_map_expr *expr = tsr_arena_zeros(&r->map->arena, 1, sizeof *expr);
  if (!expr) return no_memory();
  skip(r);
  expr->line = line_of(r, r->at);
  if (++r->depth > MOST_DEPTH)
    return place(r, r->at,
                 tsr_fail(TOO_LARGE, "more than %d functions within one another", MOST_DEPTH));
  const size_t length = word_length(r->at);
  if (length > 0 && r->at[length] == '(')
    TSR_TRY(read_call(r, top, length, expr));
  else
    TSR_TRY(read_name(r, &expr->name));
  r->depth--;
  *out = expr;
  return NULL;
}

// ---- statements ----

static bool at_end(reader *r) {
  skip(r);
  return *r->at == '\n' || *r->at == '\0';
}

static tsr_status read_let(reader *r) {
  tsr_map *map = r->map;
  tsr_map_let let = {.line = line_of(r, r->at)};
  const char *at = r->at;
  TSR_TRY(read_word(r, "a name", &let.word));
  if (map->rule_count > 0)
    return place(r, at,
                 tsr_fail(SYNTAX, "let stands before the first rule, which is in line %d",
                          map->rules[0].line));
  for (int i = 0; i < map->let_count; i++)
    if (!strcmp(map->lets[i].word, let.word))
      return place(
          r, at,
          tsr_fail(SYNTAX, "\"%s\" is said in line %d already", let.word, map->lets[i].line));
  TSR_TRY(expect(r, '='));
  TSR_TRY(read_number(r, &let.number));
  tsr_map_let *lets = more(r, map->lets, map->let_count, sizeof *lets);
  if (!lets) return no_memory();
  map->lets = lets;
  map->lets[map->let_count++] = let;
  return NULL;
}

static tsr_status read_targets(reader *r, tsr_map_rule *rule) {
  do {
    tsr_map_item item = {0};
    TSR_TRY(read_name(r, &item.name));
    r->open = 0;
    TSR_TRY(read_loops(r, &item));
    tsr_map_item *targets = more(r, rule->targets, rule->target_count, sizeof *targets);
    if (!targets) return no_memory();
    rule->targets = targets;
    rule->targets[rule->target_count++] = item;
  } while (take(r, ',') && (r->open = 1));
  return NULL;
}

static tsr_status read_rule(reader *r, tsr_map_rule *rule) {
  if (rule->drop) {
    tsr_map_expr *expr = tsr_arena_zeros(&r->map->arena, 1, sizeof *expr);
    if (!expr) return no_memory();
    expr->line = rule->line;
    rule->value = expr;
    return read_name(r, &expr->name);
  }
  TSR_TRY(read_targets(r, rule));
  if (!take(r, '=')) return wanted(r, "'='");
  r->open = 1;  // the expression may begin on the next line
  skip(r);
  r->open = 0;
  return read_expr(r, true, &rule->value);
}

static tsr_status add_rule(reader *r, tsr_map_rule rule) {
  tsr_map *map = r->map;
  const char *at = r->at;
  rule.line = line_of(r, at);
  TSR_TRY(read_rule(r, &rule));
  tsr_map_rule *rules = more(r, map->rules, map->rule_count, sizeof *rules);
  if (!rules) return no_memory();
  map->rules = rules;
  tsr_status status = tsr_map_rule_bind(map, &rule);
  if (status) return place(r, at, status);
  map->rules[map->rule_count++] = rule;
  return NULL;
}

// Whether a statement begins with this word, and is not about a tensor of that name.
static bool take_keyword(reader *r, const char *word) {
  if (!is_word(r->at, word)) return false;
  const char *rest = r->at + strlen(word);
  const char *next = rest + strspn(rest, " \t\r");
  const bool ends = *next == '\0' || *next == '\n' || *next == '#';
  if (ends ? strcmp(word, "only") != 0 : next == rest || *next == '=' || *next == ',') return false;
  if (!ends && !strcmp(word, "only")) return false;
  r->at = next;
  return true;
}

static tsr_status read_statement(reader *r) {
  if (take_keyword(r, "only"))
    r->map->only = true;
  else if (take_keyword(r, "let"))
    TSR_TRY(read_let(r));
  else if (take_keyword(r, "drop"))
    TSR_TRY(add_rule(r, (tsr_map_rule){.drop = true}));
  else
    TSR_TRY(add_rule(r, (tsr_map_rule){.optional = take_keyword(r, "optional")}));
  return at_end(r) ? NULL : wanted(r, "the end of the line");
}

static tsr_status read_all(reader *r) {
  while (!at_end(r) || *r->at) {
    if (*r->at == '\n')
      r->at++;
    else
      TSR_TRY(read_statement(r));
  }
  return NULL;
}

tsr_status tsr_map_parse(const char *text, const char *name, tsr_map **out_map) {
  tsr_map *map = calloc(1, sizeof *map);
  if (!map) return no_memory();
  atomic_init(&map->refs, 1);
  reader r = {.map = map, .start = text, .at = text};
  map->name = tsr_arena_copy(&map->arena, name ? name : "map", strlen(name ? name : "map"));
  tsr_status status = map->name ? tsr_regex_engine_create(&map->engine) : no_memory();
  if (!status) status = read_all(&r);
  if (status)
    tsr_map_release(map);
  else
    *out_map = map;
  return status;
}

tsr_status tsr_map_read(const char *path, tsr_map **out_map) {
  char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_file_read(path, &bytes, &length));
  char *text = realloc(bytes, length + 1);
  if (!text) {
    free(bytes);
    return no_memory();
  }
  text[length] = '\0';
  const size_t end = strlen(text);
  tsr_status status = end < length
                          ? tsr_fail(SYNTAX, "%s: byte %zu is zero, so it is no text", path, end)
                          : tsr_map_parse(text, path, out_map);
  free(text);
  return status;
}

tsr_map *tsr_map_retain(const tsr_map *map) {
  tsr_map *shared = (tsr_map *)(uintptr_t)map;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_map_release(const tsr_map *map) {
  tsr_map *shared = (tsr_map *)(uintptr_t)map;
  if (!shared || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) != 1) return;
  for (int i = 0; i < shared->rule_count; i++) tsr_regex_deinit(&shared->rules[i].pattern);
  tsr_regex_engine_destroy(shared->engine);
  tsr_arena_deinit(&shared->arena);
  free(shared);
}

int tsr_map_count(const tsr_map *map) { return map->rule_count; }
