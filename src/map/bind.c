// Decides which words of a rule capture, and compiles the pattern they make.
//
// The first name right of the '=' finds sources. Its words in braces capture, unless a fact, a
// `let` or a loop defines them; a loop's variable then has its first value. All other names are
// filled in from these captures and from loops.
#include <assert.h>
#include <string.h>

#include "base/text_internal.h"
#include "map/map.h"
#include "rules/rules_internal.h"

enum { MOST_CAPTURES = 32 };

static bool is_fact(const tsr_map *map, const char *word) {
  int64_t count = 0;
  assert(word);
  const tsr_preset_fact *facts = tsr_preset_facts(&count);
  for (int64_t i = 0; i < count; i++)
    if (!strcmp(facts[i].name, word)) return true;
  for (int64_t i = 0; i < map->let_count; i++)
    if (!strcmp(map->lets[i].word, word)) return true;
  return false;
}

// The loops around the current name, outermost last.
typedef struct bound_loops {
  const tsr_map_item *item;
  const struct bound_loops *outer;
} bound_loops;

static bool is_variable(const bound_loops *around, const char *word) {
  for (; around; around = around->outer)
    for (int i = 0; i < around->item->loop_count; i++)
      if (!strcmp(around->item->loops[i].variable, word)) return true;
  return false;
}

static int find_capture(const tsr_map_rule *rule, const char *word) {
  for (int i = 0; i < rule->capture_count; i++)
    if (!strcmp(rule->captures[i], word)) return i;
  return -1;
}

static bool is_capture(const tsr_map_rule *rule, const char *word) {
  return find_capture(rule, word) >= 0;
}

// ---- the pattern ----

static void add_escaped(tsr_text *out, const char *text) {
  for (; *text; text++) {
    if (strchr("\\.^$*+?{}[]|()-&~# \t\n\r\v\f", *text)) tsr_text_add_char(out, '\\');
    tsr_text_add_char(out, *text);
  }
}

static tsr_status count_groups(const tsr_map *map, const char *pattern, int *out_count) {
  tsr_regex regex;
  *out_count = 0;
  if (!pattern) return NULL;
  TSR_TRY(tsr_regex_compile_capturing(map->engine, pattern, &regex));
  *out_count = tsr_regex_group_count(&regex);
  tsr_regex_deinit(&regex);
  return NULL;
}

static tsr_status add_capture(tsr_map *map, tsr_map_rule *rule, const tsr_name_piece *piece,
                              int *group) {
  if (is_capture(rule, piece->word))
    return piece->pattern ? tsr_fail(SYNTAX, "capture \"%s\" has two patterns", piece->word) : NULL;
  if (rule->capture_count == MOST_CAPTURES)
    return tsr_fail(TOO_LARGE, "more than %d captures", MOST_CAPTURES);
  int inner = 0;
  TSR_TRY(count_groups(map, piece->pattern, &inner));
  rule->captures[rule->capture_count] = piece->word;
  rule->groups[rule->capture_count++] = *group;
  *group += 1 + inner;
  return NULL;
}

// Whether an expression uses a captured word, whose value is known only after the search.
static bool mentions_capture(const tsr_map_rule *rule, const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (; *text; text += !!*text) {
    const size_t length = strspn(text, letters);
    for (int i = 0; i < rule->capture_count; i++)
      if (strlen(rule->captures[i]) == length && !memcmp(rule->captures[i], text, length))
        return true;
    text += length;
  }
  return false;
}

static tsr_status check_number(const tsr_map_rule *rule, const char *number, const char *shown) {
  if (!mentions_capture(rule, number)) return NULL;
  return tsr_fail(
      SYNTAX,
      "the name that captures {%s} cannot hold {%s}, which is computed from it: compute "
      "left of the '='",
      rule->captures[0], shown);
}

// Numbers in the first name must be known before the search.
static tsr_status check_computed(const tsr_map_rule *rule, const bound_loops *around) {
  for (int i = 0; i < rule->first->count; i++)
    if (rule->first->pieces[i].number)
      TSR_TRY(check_number(rule, rule->first->pieces[i].number, rule->first->pieces[i].number));
  for (; rule->computed && around; around = around->outer)
    for (int i = 0; i < around->item->loop_count; i++) {
      const tsr_map_loop *loop = &around->item->loops[i];
      TSR_TRY(check_number(rule, loop->from, loop->variable));
    }
  return NULL;
}

// The captures of the first name. Everything else in it is known before the search.
static tsr_status find_captures(tsr_map *map, tsr_map_rule *rule, const bound_loops *around) {
  int group = 1;
  for (int i = 0; i < rule->first->count; i++) {
    const tsr_name_piece *piece = &rule->first->pieces[i];
    const bool known =
        piece->word && (is_variable(around, piece->word) || is_fact(map, piece->word));
    rule->computed |= piece->number || known;
    if (known && piece->pattern)
      return tsr_fail(SYNTAX, "\"%s\" is a number already and cannot capture", piece->word);
    if (piece->word && !known) TSR_TRY(add_capture(map, rule, piece, &group));
  }
  return check_computed(rule, around);
}

tsr_status tsr_map_rule_pattern(const tsr_map_rule *rule, const tsr_map_scope *scope,
                                tsr_text *out) {
  bool seen[MOST_CAPTURES] = {false};
  tsr_text_add(out, "\\A");
  for (int i = 0; i < rule->first->count; i++) {
    const tsr_name_piece *piece = &rule->first->pieces[i];
    const tsr_map_name alone = {1, &rule->first->pieces[i]};
    const int capture = piece->word ? find_capture(rule, piece->word) : -1;
    if (piece->text)
      add_escaped(out, piece->text);
    else if (capture >= 0 && seen[capture])
      tsr_text_addf(out, "(?P=%s)", piece->word);
    else if (capture >= 0)
      tsr_text_addf(out, "(?P<%s>%s)", piece->word, piece->pattern ? piece->pattern : "[0-9]+");
    else if (scope)
      TSR_TRY(tsr_map_name_fill(scope, &alone, out));
    if (capture >= 0) seen[capture] = true;
  }
  tsr_text_add(out, "\\Z");
  return tsr_text_check(out);
}

static tsr_status make_pattern(tsr_map *map, tsr_map_rule *rule, const bound_loops *around) {
  tsr_text text = TSR_TEXT_EMPTY;
  rule->captures = tsr_arena_zeros(&map->arena, MOST_CAPTURES, sizeof *rule->captures);
  rule->groups = tsr_arena_zeros(&map->arena, MOST_CAPTURES, sizeof *rule->groups);
  if (!rule->captures || !rule->groups) return tsr_fail(NO_MEMORY, "captures");
  tsr_status status = find_captures(map, rule, around);
  if (!status) status = tsr_map_rule_pattern(rule, NULL, &text);
  if (!status && rule->capture_count > 0) {
    status = tsr_regex_compile_capturing(map->engine, tsr_text_string(&text), &rule->pattern);
    rule->has_pattern = !status;
  }
  tsr_text_deinit(&text);
  return status;
}

// ---- the other names ----

static tsr_status check_name(const tsr_map *map, const tsr_map_rule *rule,
                             const bound_loops *around, const tsr_map_name *name) {
  for (int i = 0; i < name->count; i++) {
    const tsr_name_piece *piece = &name->pieces[i];
    if (!piece->word || name == rule->first) continue;
    if (piece->pattern)
      return tsr_fail(SYNTAX, "{%s:%s} captures, which only the first name right of the '=' does",
                      piece->word, piece->pattern);
    if (!is_capture(rule, piece->word) && !is_variable(around, piece->word) &&
        !is_fact(map, piece->word))
      return tsr_fail(SYNTAX, "{%s} is not captured by the first name right of the '='",
                      piece->word);
  }
  return NULL;
}

static tsr_status check_loops(const tsr_map *map, const tsr_map_rule *rule,
                              const bound_loops *around) {
  const tsr_map_item *item = around->item;
  for (int i = 0; i < item->loop_count; i++) {
    const char *variable = item->loops[i].variable;
    bool taken = is_capture(rule, variable) || is_fact(map, variable) ||
                 is_variable(around->outer, variable);
    for (int j = 0; j < i; j++) taken |= !strcmp(item->loops[j].variable, variable);
    if (taken)
      return tsr_fail(SYNTAX, "the variable \"%s\" of a loop is defined already", variable);
  }
  return NULL;
}

static tsr_status check_expr(const tsr_map *map, const tsr_map_rule *rule,
                             const bound_loops *around, const tsr_map_expr *expr) {
  if (expr->op == TSR_MAP_NAME) return check_name(map, rule, around, &expr->name);
  for (int i = 0; i < expr->item_count; i++) {
    const bound_loops inner = {&expr->items[i], around};
    TSR_TRY(check_loops(map, rule, &inner));
    TSR_TRY(check_expr(map, rule, &inner, expr->items[i].expr));
  }
  return NULL;
}

// The loops around the first name.
static tsr_status bind_first(tsr_map *map, tsr_map_rule *rule, const bound_loops *around,
                             const tsr_map_expr *expr) {
  if (expr->op == TSR_MAP_NAME) {
    rule->first = &expr->name;
    return make_pattern(map, rule, around);
  }
  const bound_loops inner = {&expr->items[0], around};
  return bind_first(map, rule, &inner, expr->items[0].expr);
}

static tsr_status check_targets(const tsr_map *map, const tsr_map_rule *rule) {
  for (int i = 0; i < rule->target_count; i++) {
    const bound_loops around = {&rule->targets[i], NULL};
    TSR_TRY(check_loops(map, rule, &around));
    TSR_TRY(check_name(map, rule, &around, &rule->targets[i].name));
  }
  return NULL;
}

tsr_status tsr_map_rule_bind(tsr_map *map, tsr_map_rule *rule) {
  const bool several = rule->value->op == TSR_MAP_SPLIT || rule->value->op == TSR_MAP_UNSTACK;
  if (rule->target_count > 1 && !several)
    return tsr_fail(SYNTAX, "%d names left of the '=' need split or unstack right of it",
                    rule->target_count);
  const bound_loops left = {rule->target_count ? rule->targets : NULL, NULL};
  const bound_loops *around = several || !left.item ? NULL : &left;
  tsr_status status = bind_first(map, rule, around, rule->value);
  if (!status) status = check_expr(map, rule, around, rule->value);
  if (!status) status = check_targets(map, rule);
  if (status) tsr_regex_deinit(&rule->pattern);
  return status;
}
