// Prints maps: one statement a line, which reads back as the same map.
#include <string.h>

#include "base/text_internal.h"
#include "map/map.h"
#include "map/map_internal.h"

static bool wants_quotes(const tsr_map_name *name) {
  static const char *const keywords[] = {"only", "let", "drop", "optional", "for"};
  if (name->count == 0) return true;
  for (int i = 0; i < name->count; i++) {
    const tsr_name_piece *piece = &name->pieces[i];
    for (const char *at = piece->text; at && *at; at++)
      if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr(",()=#\"", *at)) return true;
  }
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords && name->pieces[0].text; i++)
    if (!strcmp(keywords[i], name->pieces[0].text)) return true;
  return false;
}

// Plain text, with braces doubled; in quotes, with escapes.
static void print_text(const char *text, bool quoted, tsr_text *out) {
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '{' || c == '}') tsr_text_add_char(out, *text);
    if (quoted && (c == '"' || c == '\\')) tsr_text_add_char(out, '\\');
    if (quoted && (c < ' ' || c == 0x7f))
      tsr_text_addf(out, "\\x%02x", c);
    else
      tsr_text_add_char(out, *text);
  }
}

void tsr_map_name_print(const tsr_map_name *name, tsr_text *out) {
  const bool quoted = wants_quotes(name);
  if (quoted) tsr_text_add_char(out, '"');
  for (int i = 0; i < name->count; i++) {
    const tsr_name_piece *piece = &name->pieces[i];
    if (piece->text)
      print_text(piece->text, quoted, out);
    else if (piece->pattern)
      tsr_text_addf(out, "{%s:%s}", piece->word, piece->pattern);
    else
      tsr_text_addf(out, "{%s}", piece->word ? piece->word : piece->number);
  }
  if (quoted) tsr_text_add_char(out, '"');
}

static void print_loops(const tsr_map_item *item, tsr_text *out) {
  for (int i = 0; i < item->loop_count; i++)
    tsr_text_addf(out, " for %s in %s..%s", item->loops[i].variable, item->loops[i].from,
                  item->loops[i].to);
}

static void print_expr(const tsr_map_expr *expr, tsr_text *out);

static void print_permute(const tsr_map_expr *expr, tsr_text *out) {
  tsr_text_addf(out, ", %s, (", expr->numbers[0]);
  for (int i = 1; i < expr->number_count; i++) {
    const bool first = i == 1 || i == expr->size_count + 1;
    if (i == expr->size_count + 1) tsr_text_add(out, "), (");
    tsr_text_addf(out, "%s%s", first ? "" : ", ", expr->numbers[i]);
  }
  tsr_text_add_char(out, ')');
}

static void print_numbers(const tsr_map_expr *expr, tsr_text *out) {
  if (expr->op == TSR_MAP_PERMUTE) {
    print_permute(expr, out);
    return;
  }
  for (int i = 0; i < expr->number_count; i++)
    tsr_text_addf(out, "%s%s", expr->op == TSR_MAP_SLICE && i == 2 ? ":" : ", ", expr->numbers[i]);
  if (expr->value) tsr_text_addf(out, ", %s", expr->value);
}

static void print_expr(const tsr_map_expr *expr, tsr_text *out) {
  if (expr->op == TSR_MAP_NAME) {
    tsr_map_name_print(&expr->name, out);
    return;
  }
  const bool joined = tsr_map_ops[expr->op].joins;
  tsr_text_addf(out, "%s(", tsr_map_ops[expr->op].word);
  if (joined) tsr_text_add(out, expr->numbers[0]);
  for (int i = 0; i < expr->item_count; i++) {
    if (joined) tsr_text_add(out, ", ");
    print_expr(expr->items[i].expr, out);
    print_loops(&expr->items[i], out);
  }
  if (!joined) print_numbers(expr, out);
  tsr_text_add_char(out, ')');
}

static void print_rule(const tsr_map_rule *rule, tsr_text *out) {
  if (rule->optional) tsr_text_add(out, "optional ");
  if (rule->drop) tsr_text_add(out, "drop ");
  for (int i = 0; i < rule->target_count; i++) {
    if (i > 0) tsr_text_add(out, ", ");
    tsr_map_name_print(&rule->targets[i].name, out);
    print_loops(&rule->targets[i], out);
  }
  if (!rule->drop) tsr_text_add(out, " = ");
  print_expr(rule->value, out);
  tsr_text_add_char(out, '\n');
}

void tsr_map_print(const tsr_map *map, tsr_text *out) {
  if (map->only) tsr_text_add(out, "only\n");
  for (int i = 0; i < map->let_count; i++)
    tsr_text_addf(out, "let %s = %s\n", map->lets[i].word, map->lets[i].number);
  for (int i = 0; i < map->rule_count; i++) print_rule(&map->rules[i], out);
}
