// Rules as lines of text: `pattern -> spec`, comments, includes.
//
// A comment begins at the start of a line, or after a blank once an arrow was seen. The last arrow
// before it that is not inside the quotes of a spec separates pattern and spec. So a pattern may
// contain " -> ", and also '#' if no blank precedes it. Any other pattern is written as a JSON
// string in double quotes, which is also how such patterns are printed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/file.h"
#include "base/status_internal.h"
#include "base/text_internal.h"
#include "rules/rules.h"

enum { MOST_INCLUDES = 16 };  // within one another

// A file being read, and the ones that include it.
typedef struct rules_source {
  tsr_cursor cursor;
  const char *path;  // NULL = not a file: includes are refused
  int line;
  const struct rules_source *outer;
  int depth;
  const char *group;  // where the open group begins; NULL = none is open
  int group_line;
} rules_source;

typedef struct rules_reader {
  tsr_rules_builder *builder;
  const tsr_rules_options *options;
} rules_reader;

static tsr_status read_text(const rules_reader *to, rules_source *from, const char *text);

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A piece of a line, without blanks around it.
typedef struct line_piece {
  const char *start, *end;
} line_piece;

static tsr_status place(const rules_source *from, const char *at, tsr_status status) {
  tsr_cursor cursor = from->cursor;
  cursor.at = at;
  return tsr_cursor_place(&cursor, status);
}

static line_piece trim(const char *start, const char *end) {
  while (start < end && is_blank(*start)) start++;
  while (end > start && is_blank(end[-1])) end--;
  return (line_piece){start, end};
}

static char *copy_piece(line_piece s) { return strndup(s.start, (size_t)(s.end - s.start)); }

// ---- parting a line ----

// Whether an arrow stands here with blanks, or the ends of the line, around it.
static bool is_arrow(line_piece line, const char *at) {
  return line.end - at >= 2 && at[0] == '-' && at[1] == '>' &&
         (at == line.start || is_blank(at[-1])) && (at + 2 == line.end || is_blank(at[2]));
}

// Steps over a character or, inside quotes, an escape; keeps track of the quotes.
static const char *step(const char *at, const char *end, bool *quoted) {
  if (*quoted && *at == '\\' && at + 1 < end) return at + 2;
  if (*at == '"') *quoted = !*quoted;
  return at + 1;
}

static bool ends_inside_quotes(const char *start, const char *end) {
  bool quoted = false;
  while (start < end) start = step(start, end, &quoted);
  return quoted;
}

static bool starts_comment(line_piece line, const char *at) {
  const bool shardy = line.end - at >= 5 && !memcmp(at, "#sdy.", 5);
  return *at == '#' && is_blank(at[-1]) && !shardy;
}

// The end of what counts in a line whose pattern ends before `arrow`.
static const char *find_comment(line_piece line, const char *arrow) {
  bool quoted = false;
  for (const char *at = arrow + 2; at < line.end; at = step(at, line.end, &quoted))
    if (!quoted && starts_comment(line, at)) return at;
  return line.end;
}

static const char *first_arrow(line_piece line, const char *from) {
  for (const char *at = from; at < line.end; at++)
    if (is_arrow(line, at)) return at;
  return NULL;
}

static const char *last_arrow(line_piece line) {
  for (const char *at = line.end; at-- > line.start;)
    if (is_arrow(line, at) && !ends_inside_quotes(at + 2, line.end)) return at;
  return NULL;
}

// The end of a quoted pattern, if a line begins with one and an arrow follows; else NULL.
static const char *end_of_quoted(line_piece line) {
  if (line.start == line.end || *line.start != '"') return NULL;
  const char *at = line.start;
  bool quoted = false;
  do {
    at = step(at, line.end, &quoted);
  } while (quoted && at < line.end);
  if (quoted) return NULL;
  const line_piece rest = trim(at, line.end);
  return rest.start > at && is_arrow(line, rest.start) ? at : NULL;
}

// ---- rules ----

static tsr_status unquote(line_piece quoted, char **out) {
  tsr_json_doc *doc = NULL;
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_parse(quoted.start, (size_t)(quoted.end - quoted.start), &doc));
  tsr_status status = tsr_json_get_string(tsr_json_root(doc), "pattern", &bytes, &length);
  if (!status && memchr(bytes, '\0', length))
    status = tsr_fail(SYNTAX, "a pattern with a zero byte; write \\x00");
  if (!status && !(*out = strndup(bytes, length))) status = tsr_fail(NO_MEMORY, "a pattern");
  tsr_json_destroy(doc);
  return status;
}

// A text as it is, or a JSON string.
static tsr_status copy_text(line_piece text, char **out) {
  if (text.start < text.end && *text.start == '"') return unquote(text, out);
  *out = copy_piece(text);
  return *out ? NULL : tsr_fail(NO_MEMORY, "a text");
}

// A failure inside a spec as it was expanded has no column in the file.
static tsr_status place_spec(const rules_source *from, line_piece text, const char *spec_text,
                             tsr_status status) {
  const bool expanded = tsr_rule_spec_is_computed(spec_text) || strstr(spec_text, " else ");
  if (!expanded || !tsr_status_has_place(status)) return place(from, text.start, status);
  return tsr_note(status, "%s:%d", from->cursor.name, from->line);
}

static tsr_status add_rule(const rules_reader *to, const rules_source *from, const char *pattern,
                           line_piece text) {
  char *spec_text = copy_piece(text);
  tsr_spec *spec = NULL;
  if (!spec_text) return tsr_fail(NO_MEMORY, "a rule");
  tsr_status status = tsr_rule_spec_parse(to->builder, spec_text, to->options, &spec);
  if (status) status = place_spec(from, text, spec_text, status);
  const tsr_rule rule = {.pattern = pattern,
                         .spec = spec,
                         .file = from->cursor.name,
                         .line = from->line,
                         .written = tsr_rule_spec_is_computed(spec_text) ? spec_text : NULL};
  if (!status) status = tsr_rules_builder_add(to->builder, &rule, strlen(pattern));
  tsr_spec_release(spec);
  free(spec_text);
  return status;
}

// Most likely the arrow is misspelt or lacks its blanks; else it is missing.
static tsr_status no_arrow(const rules_source *from, line_piece line) {
  tsr_cursor cursor = from->cursor;
  cursor.at = line.end;
  for (const char *at = line.start; at + 1 < line.end; at++)
    if ((at[0] == '-' || at[0] == '=') && at[1] == '>') {
      cursor.at = at;
      break;
    }
  return tsr_cursor_expected_at(&cursor, TSR_CAUSE_SYNTAX, "\" -> \"");
}

static tsr_status read_rule(const rules_reader *to, rules_source *from, line_piece line) {
  const char *quoted = end_of_quoted(line);
  const char *arrow = first_arrow(line, quoted ? quoted : line.start);
  char *pattern = NULL;
  if (!arrow) return no_arrow(from, line);
  line.end = find_comment(line, arrow);
  line = trim(line.start, line.end);
  if (!quoted) arrow = last_arrow(line);
  if (!arrow)
    return place(from, line.start, tsr_fail(SYNTAX, "the spec has a \" that is not closed"));
  const line_piece text = trim(line.start, arrow);
  if (quoted)
    TSR_TRY(place(from, text.start, unquote(text, &pattern)));
  else if (!(pattern = copy_piece(text)))
    return tsr_fail(NO_MEMORY, "a pattern");
  tsr_status status = add_rule(to, from, pattern, trim(arrow + 2, line.end));
  free(pattern);
  return status;
}

// ---- includes ----

// "a.rules:3 includes b.rules:7 includes a.rules"
static tsr_status chain_failure(const rules_source *from, const char *path, bool cycle) {
  tsr_text chain = TSR_TEXT_EMPTY, more = TSR_TEXT_EMPTY;
  tsr_text_add(&chain, path);
  for (const rules_source *s = from; s; s = s->outer) {
    tsr_text_clear(&more);
    tsr_text_addf(&more, "%s:%d includes %s", s->cursor.name, s->line, tsr_text_string(&chain));
    tsr_text_clear(&chain);
    tsr_text_add(&chain, tsr_text_string(&more));
  }
  tsr_status status =
      chain.failed || more.failed ? tsr_fail(NO_MEMORY, "a message")
      : cycle ? tsr_fail(INCLUDE_CYCLE, "%s, which goes in a circle", tsr_text_string(&chain))
              : tsr_fail(INCLUDE_CYCLE, "more than %d files within one another: %s", MOST_INCLUDES,
                         tsr_text_string(&chain));
  tsr_text_deinit(&chain);
  tsr_text_deinit(&more);
  return status;
}

static tsr_status read_json_file(const rules_reader *to, const char *path) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_rules_add_json(to->builder, tsr_json_root(doc), path, to->options);
  tsr_json_destroy(doc);
  return status;
}

static tsr_status read_file(const rules_reader *to, const rules_source *outer, const char *path) {
  rules_source from = {.cursor = {.name = path, .lines = true},
                       .path = path,
                       .outer = outer,
                       .depth = outer ? outer->depth + 1 : 0};
  for (const rules_source *s = outer; s; s = s->outer)
    if (!strcmp(s->path, path)) return chain_failure(outer, path, true);
  if (from.depth > MOST_INCLUDES) return chain_failure(outer, path, false);
  if (tsr_ends_with(path, ".json")) return read_json_file(to, path);
  char *text = NULL;
  TSR_TRY(tsr_file_read_text(path, &text));
  const tsr_status status = read_text(to, &from, text);
  free(text);
  return status;
}

// The path of an included file: as it is, or beside the file that names it.
static char *path_beside(const char *path, line_piece name) {
  const char *slash = strrchr(path, '/');
  char *joined = NULL;
  if (*name.start == '/' || !slash) return copy_piece(name);
  if (asprintf(&joined, "%.*s/%.*s", (int)(slash - path), path, (int)(name.end - name.start),
               name.start) < 0)
    return NULL;
  return joined;
}

static tsr_status read_include(const rules_reader *to, rules_source *from, line_piece line) {
  line_piece name = trim(line.start + strlen("include"), line.end);
  for (const char *at = name.start + 1; at < name.end; at++)
    if (*at == '#' && is_blank(at[-1])) name = trim(name.start, at);
  if (!from->path) return tsr_fail(UNSUPPORTED, "include works in files only");
  if (name.start == name.end) return tsr_fail(SYNTAX, "include wants the name of a file");
  char *path = path_beside(from->path, name);
  if (!path) return tsr_fail(NO_MEMORY, "a path");
  tsr_status status = read_file(to, from, path);
  free(path);
  // A failure inside the file has its place there; another is about the name.
  if (tsr_status_cause(status) == TSR_CAUSE_INCLUDE_CYCLE) return status;
  return tsr_status_has_place(status) ? tsr_note(status, "%s:%d", from->cursor.name, from->line)
                                      : place(from, name.start, status);
}

// ---- groups ----

// The next word of a line, or the empty one at its end or at a comment.
static line_piece next_word(line_piece *line) {
  *line = trim(line->start, line->end);
  const char *end = line->start;
  bool quoted = false;
  if (end < line->end && *end == '#') line->end = end;
  while (end < line->end && (quoted || !is_blank(*end))) end = step(end, line->end, &quoted);
  const line_piece word = {line->start, end};
  line->start = end;
  return word;
}

static bool is_word(line_piece word, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(word.end - word.start) == length && !memcmp(word.start, text, length);
}

static tsr_status open_group(const rules_reader *to, rules_source *from, line_piece name,
                             line_piece axis) {
  char *own_name = copy_piece(name), *own_axis = NULL;
  tsr_status status = own_name ? NULL : tsr_fail(NO_MEMORY, "a group of rules");
  if (!status) status = place(from, axis.start, copy_text(axis, &own_axis));
  if (!status) status = tsr_rules_builder_together(to->builder, own_name, own_axis, to->options);
  free(own_name);
  free(own_axis);
  if (status) return status;
  from->group = name.start;
  from->group_line = from->line;
  return NULL;
}

// "together NAME over AXIS"
static tsr_status read_together(const rules_reader *to, rules_source *from, line_piece line) {
  next_word(&line);
  const line_piece name = next_word(&line), over = next_word(&line), axis = next_word(&line);
  const line_piece rest = next_word(&line);
  if (axis.start == axis.end || !is_word(over, "over") || rest.start != rest.end)
    return tsr_fail(SYNTAX, "wanted \"together NAME over AXIS\", as in together attention over tp");
  if (from->group) return tsr_fail(SYNTAX, "the group of line %d has no end yet", from->group_line);
  if (from->outer && to->builder->together)
    return tsr_fail(SYNTAX, "a group within \"%s\" of the file that includes this one",
                    to->builder->together);
  return open_group(to, from, name, axis);
}

static tsr_status read_end(const rules_reader *to, rules_source *from, line_piece line) {
  next_word(&line);
  const line_piece rest = next_word(&line);
  if (rest.start != rest.end) return tsr_fail(SYNTAX, "nothing follows end");
  if (!from->group) return tsr_fail(SYNTAX, "end without \"together NAME over AXIS\"");
  from->group = NULL;
  return tsr_rules_builder_together(to->builder, NULL, NULL, to->options);
}

// ---- the text ----

// Lines that are no rules: they begin with a word of their own, and have no arrow.
static const struct statement {
  const char *word;
  tsr_status (*read)(const rules_reader *to, rules_source *from, line_piece line);
} statements[] = {{"include", read_include}, {"together", read_together}, {"end", read_end}};

static const struct statement *find_statement(line_piece line) {
  line_piece rest = line;
  const line_piece word = next_word(&rest);
  if (first_arrow(line, line.start)) return NULL;
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    if (is_word(word, statements[i].word)) return &statements[i];
  return NULL;
}

static tsr_status read_line(const rules_reader *to, rules_source *from, line_piece line) {
  if (line.start == line.end || *line.start == '#') return NULL;
  const struct statement *statement = find_statement(line);
  tsr_status status = (statement ? statement->read : read_rule)(to, from, line);
  // A chain of includes names its lines itself.
  if (tsr_status_cause(status) == TSR_CAUSE_INCLUDE_CYCLE) return status;
  return tsr_status_has_place(status) ? status : place(from, line.start, status);
}

static tsr_status read_text(const rules_reader *to, rules_source *from, const char *text) {
  from->cursor.start = text;
  while (*text) {
    const char *end = text + strcspn(text, "\n");
    from->line++;
    TSR_TRY(read_line(to, from, trim(text, end)));
    text = *end ? end + 1 : end;
  }
  if (!from->group) return NULL;
  return place(from, from->group, tsr_fail(SYNTAX, "the group has no end"));
}

tsr_status tsr_rules_add_text(tsr_rules_builder *builder, const char *text, const char *name,
                              const tsr_rules_options *options) {
  const rules_reader to = {builder, options};
  rules_source from = {.cursor = {.name = name ? name : "rules", .lines = true}};
  return read_text(&to, &from, text);
}

tsr_status tsr_rules_parse(const char *text, const char *name, const tsr_rules_options *options,
                           tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  tsr_rules_options copy;
  TSR_TRY(tsr_rules_options_copy(options, &copy));
  tsr_status status = tsr_rules_builder_keep(&builder, &copy);
  if (!status) status = tsr_rules_add_text(&builder, text, name, &copy);
  return tsr_rules_builder_finish(&builder, status, out_rules);
}

tsr_status tsr_rules_read(const char *path, const tsr_rules_options *options,
                          tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  tsr_rules_options copy;
  TSR_TRY(tsr_rules_options_copy(options, &copy));
  const rules_reader to = {&builder, &copy};
  tsr_status status = tsr_rules_builder_keep(&builder, &copy);
  if (!status) status = read_file(&to, NULL, path);
  return tsr_rules_builder_finish(&builder, status, out_rules);
}

// ---- printing ----

// Whether a pattern would not be read back as it is.
static bool wants_quotes(const char *pattern) {
  const line_piece line = {pattern, pattern + strlen(pattern)};
  const line_piece trimmed = trim(line.start, line.end);
  if (line.start == line.end || *pattern == '"' || *pattern == '#' || find_statement(line))
    return true;
  if (trimmed.start != line.start || trimmed.end != line.end) return true;
  if (first_arrow(line, line.start) || !strncmp(pattern, "include", strlen("include"))) return true;
  for (const char *at = pattern; *at; at++)
    if ((unsigned char)*at < ' ' || *at == 0x7f) return true;
  return false;
}

static void print_pattern(const char *pattern, tsr_text *out) {
  if (!wants_quotes(pattern)) {
    tsr_text_add(out, pattern);
    return;
  }
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_json_write_string(&writer, pattern);
}

static bool same_group(const tsr_rule *a, const tsr_rule *b) {
  if (!a || !b || !a->together || !b->together) return (a && a->together) == (b && b->together);
  return !strcmp(a->together, b->together) && !strcmp(a->over, b->over);
}

static void print_axis(const char *axis, tsr_text *out) {
  if (!axis[strcspn(axis, " \t\r\n\"#")]) {
    tsr_text_add(out, axis);
    return;
  }
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, out, 0);
  tsr_json_write_string(&writer, axis);
}

// Ends the group of the rule before and begins that of the next, where they differ; either may be
// NULL.
static void print_group(const tsr_rule *before, const tsr_rule *next, tsr_text *out) {
  if (same_group(before, next)) return;
  if (before && before->together) tsr_text_add(out, "end\n");
  if (!next || !next->together) return;
  tsr_text_addf(out, "together %s over ", next->together);
  print_axis(next->over, out);
  tsr_text_add_char(out, '\n');
}

void tsr_rules_print(const tsr_rules *rules, tsr_text *out) {
  const int64_t count = tsr_rules_count(rules);
  for (int i = 0; i <= count; i++) {
    const tsr_rule *rule = tsr_rules_at(rules, i);
    print_group(tsr_rules_at(rules, i - 1), rule, out);
    if (!rule) break;
    print_pattern(rule->pattern, out);
    tsr_text_add(out, "  ->  ");
    // The short form can say everything; running out of memory is remembered by the text.
    tsr_status_free(tsr_spec_print(rule->spec, TSR_FORM_SHORT, out));
    tsr_text_add_char(out, '\n');
  }
}
