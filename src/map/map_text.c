// Reads maps: lines of `destination = expression`.
//
//   statement = "only" | "let" word "=" number | "drop" name | ["optional"] target {"," target} "="
//               expression
//   target    = name {loop}
//   loop      = "for" word "in" number ".." number
//   expression= name | function "(" ... ")", see tsr_map_ops
//   name      = text without blanks and , ( ) = # ", or in quotes; {holes} inside
//
// A statement ends with its line, unless parentheses are open or a comma or '=' came last.
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "map/map_internal.h"
#include "map/map_reader.h"

static bool at_end(tsr_map_reader *r) {
  tsr_cursor_peek(&r->cursor);
  return *r->cursor.at == '\n' || *r->cursor.at == '\0';
}

static tsr_status read_let(tsr_map_reader *r) {
  tsr_map *map = r->map;
  tsr_map_let let = {.line = tsr_cursor_line(&r->cursor)};
  const char *at = r->cursor.at;
  TSR_TRY(tsr_map_read_word(r, "a name", &let.word));
  if (map->rule_count > 0)
    return tsr_map_place(
        r, at,
        tsr_fail(SYNTAX, "let must come before the first rule, which is in line %d",
                 map->rules[0].line));
  for (int i = 0; i < map->let_count; i++)
    if (!strcmp(map->lets[i].word, let.word))
      return tsr_map_place(
          r, at,
          tsr_fail(SYNTAX, "\"%s\" is defined in line %d already", let.word, map->lets[i].line));
  TSR_TRY(tsr_cursor_expect(&r->cursor, '='));
  TSR_TRY(tsr_map_read_number(r, &let.number));
  tsr_map_let *lets = tsr_map_grow(r, map->lets, map->let_count, sizeof *lets);
  if (!lets) return tsr_map_no_memory();
  map->lets = lets;
  map->lets[map->let_count++] = let;
  return NULL;
}

static tsr_status read_targets(tsr_map_reader *r, tsr_map_rule *rule) {
  for (;;) {
    tsr_map_item item = {0};
    TSR_TRY(tsr_map_read_name(r, &item.name));
    tsr_map_open(r, 0);
    TSR_TRY(tsr_map_read_loops(r, &item));
    tsr_map_item *targets = tsr_map_grow(r, rule->targets, rule->target_count, sizeof *targets);
    if (!targets) return tsr_map_no_memory();
    rule->targets = targets;
    rule->targets[rule->target_count++] = item;
    if (!tsr_cursor_take(&r->cursor, ',')) return NULL;
    tsr_map_open(r, 1);
  }
}

static tsr_status read_rule(tsr_map_reader *r, tsr_map_rule *rule) {
  if (rule->drop) {
    tsr_map_expr *expr = tsr_arena_zeros(&r->map->arena, 1, sizeof *expr);
    if (!expr) return tsr_map_no_memory();
    expr->line = rule->line;
    rule->value = expr;
    return tsr_map_read_name(r, &expr->name);
  }
  TSR_TRY(read_targets(r, rule));
  if (!tsr_cursor_take(&r->cursor, '=')) return tsr_cursor_expected(&r->cursor, "\"=\"");
  tsr_map_open(r, 1);  // the expression may begin on the next line
  tsr_cursor_peek(&r->cursor);
  tsr_map_open(r, 0);
  return tsr_map_read_expr(r, true, &rule->value);
}

static tsr_status add_rule(tsr_map_reader *r, tsr_map_rule rule) {
  tsr_map *map = r->map;
  const char *at = r->cursor.at;
  rule.line = tsr_cursor_line(&r->cursor);
  TSR_TRY(read_rule(r, &rule));
  tsr_map_rule *rules = tsr_map_grow(r, map->rules, map->rule_count, sizeof *rules);
  if (!rules) return tsr_map_no_memory();
  map->rules = rules;
  tsr_status status = tsr_map_rule_bind(map, &rule);
  if (status) return tsr_map_place(r, at, status);
  map->rules[map->rule_count++] = rule;
  return NULL;
}

// Whether a statement begins with this word and the word is not a tensor's name.
static bool take_keyword(tsr_map_reader *r, const char *word) {
  if (!tsr_map_is_word(r->cursor.at, word)) return false;
  const char *rest = r->cursor.at + strlen(word);
  const char *next = rest + strspn(rest, " \t\r");
  const bool ends = *next == '\0' || *next == '\n' || *next == '#';
  if (ends ? strcmp(word, "only") != 0 : next == rest || *next == '=' || *next == ',') return false;
  if (!ends && !strcmp(word, "only")) return false;
  r->cursor.at = next;
  return true;
}

static tsr_status read_statement(tsr_map_reader *r) {
  if (take_keyword(r, "only"))
    r->map->only = true;
  else if (take_keyword(r, "let"))
    TSR_TRY(read_let(r));
  else if (take_keyword(r, "drop"))
    TSR_TRY(add_rule(r, (tsr_map_rule){.drop = true}));
  else
    TSR_TRY(add_rule(r, (tsr_map_rule){.optional = take_keyword(r, "optional")}));
  return at_end(r) ? NULL : tsr_cursor_expected(&r->cursor, "the end of the line");
}

static tsr_status read_all(tsr_map_reader *r) {
  while (!at_end(r) || *r->cursor.at) {
    if (*r->cursor.at == '\n')
      r->cursor.at++;
    else
      TSR_TRY(read_statement(r));
  }
  return NULL;
}

// ---- maps ----

tsr_status tsr_map_parse(const char *text, const char *name, tsr_map **out_map) {
  tsr_map *map = calloc(1, sizeof *map);
  if (!map) return tsr_map_no_memory();
  atomic_init(&map->refs, 1);
  const char *title = name ? name : "map";
  tsr_map_reader r = {.map = map,
                      .cursor = {.name = title,
                                 .start = text,
                                 .at = text,
                                 .lines = true,
                                 .ends_matter = true,
                                 .hash_comments = true}};
  map->name = tsr_arena_copy(&map->arena, title, strlen(title));
  tsr_status status = map->name ? tsr_regex_engine_create(&map->engine) : tsr_map_no_memory();
  if (!status) status = read_all(&r);
  if (status)
    tsr_map_release(map);
  else
    *out_map = map;
  return status;
}

tsr_status tsr_map_read(const char *path, tsr_map **out_map) {
  char *text = NULL;
  TSR_TRY(tsr_file_read_text(path, &text));
  tsr_status status = tsr_map_parse(text, path, out_map);
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

int64_t tsr_map_count(const tsr_map *map) { return map->rule_count; }
