// Rules as lines of text: `pattern -> spec`, comments, includes.
//
// Where a line is parted: a comment begins at the line's start, or after blanks once an arrow was
// seen; of the arrows before it, the last one counts that does not stand inside the quotes of a
// spec. So a pattern may hold " -> " and '#' as long as no blank precedes the '#'. For the patterns
// beyond that, and for exactness of printing, a pattern may be a JSON string in double quotes.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "rules/rules.h"

enum { MOST_INCLUDES = 16 };  // within one another

// A file being read, and the ones that include it.
typedef struct source {
  const char *name;  // as it stands in messages
  const char *path;  // NULL = not a file: includes are refused
  int line;
  const struct source *outer;
  int depth;
  int group_line;  // where the group that is open began; 0 = none is
} source;

typedef struct reader {
  tsr_rules_builder *builder;
  const tsr_rules_options *options;
} reader;

static tsr_status read_text(const reader *to, source *from, const char *text);

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A piece of a line, without blanks around it.
typedef struct slice {
  const char *start, *end;
} slice;

static slice trim(const char *start, const char *end) {
  while (start < end && is_blank(*start)) start++;
  while (end > start && is_blank(end[-1])) end--;
  return (slice){start, end};
}

static char *copy_slice(slice s) { return strndup(s.start, (size_t)(s.end - s.start)); }

// ---- parting a line ----

// Whether an arrow stands here with blanks, or the ends of the line, around it.
static bool is_arrow(slice line, const char *at) {
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

static bool starts_comment(slice line, const char *at) {
  const bool shardy = line.end - at >= 5 && !memcmp(at, "#sdy.", 5);
  return *at == '#' && is_blank(at[-1]) && !shardy;
}

// The end of what counts in a line whose pattern ends before `arrow`.
static const char *find_comment(slice line, const char *arrow) {
  bool quoted = false;
  for (const char *at = arrow + 2; at < line.end; at = step(at, line.end, &quoted))
    if (!quoted && starts_comment(line, at)) return at;
  return line.end;
}

static const char *first_arrow(slice line, const char *from) {
  for (const char *at = from; at < line.end; at++)
    if (is_arrow(line, at)) return at;
  return NULL;
}

static const char *last_arrow(slice line) {
  for (const char *at = line.end; at-- > line.start;)
    if (is_arrow(line, at) && !ends_inside_quotes(at + 2, line.end)) return at;
  return NULL;
}

// The end of a quoted pattern, if a line begins with one and an arrow follows; else NULL.
static const char *end_of_quoted(slice line) {
  if (line.start == line.end || *line.start != '"') return NULL;
  const char *at = line.start;
  bool quoted = false;
  do {
    at = step(at, line.end, &quoted);
  } while (quoted && at < line.end);
  if (quoted) return NULL;
  const slice rest = trim(at, line.end);
  return rest.start > at && is_arrow(line, rest.start) ? at : NULL;
}

// ---- rules ----

static tsr_status unquote(slice quoted, char **out) {
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
static tsr_status copy_text(slice text, char **out) {
  if (text.start < text.end && *text.start == '"') return unquote(text, out);
  *out = copy_slice(text);
  return *out ? NULL : tsr_fail(NO_MEMORY, "a text");
}

static tsr_status add_rule(const reader *to, const source *from, const char *pattern, slice text) {
  char *spec_text = copy_slice(text);
  tsr_spec *spec = NULL;
  if (!spec_text) return tsr_fail(NO_MEMORY, "a rule");
  tsr_status status = tsr_rule_spec_parse(to->builder, spec_text, to->options, &spec);
  const tsr_rule rule = {.pattern = pattern,
                         .spec = spec,
                         .file = from->name,
                         .line = from->line,
                         .written = tsr_rule_spec_is_computed(spec_text) ? spec_text : NULL};
  if (!status) status = tsr_rules_builder_add(to->builder, &rule, strlen(pattern));
  tsr_spec_release(spec);
  free(spec_text);
  return status;
}

static tsr_status read_rule(const reader *to, source *from, slice line) {
  const char *quoted = end_of_quoted(line);
  const char *arrow = first_arrow(line, quoted ? quoted : line.start);
  char *pattern = NULL;
  if (!arrow) return tsr_fail(SYNTAX, "wanted \"pattern -> spec\", found no \" -> \"");
  line.end = find_comment(line, arrow);
  line = trim(line.start, line.end);
  if (!quoted) arrow = last_arrow(line);
  if (!arrow) return tsr_fail(SYNTAX, "a spec with a \" that is not closed");
  const slice text = trim(line.start, arrow);
  if (quoted)
    TSR_TRY(unquote(text, &pattern));
  else if (!(pattern = copy_slice(text)))
    return tsr_fail(NO_MEMORY, "a pattern");
  tsr_status status = add_rule(to, from, pattern, trim(arrow + 2, line.end));
  free(pattern);
  return status;
}

// ---- includes ----

static tsr_status read_whole_file(const char *path, tsr_text *out) {
  FILE *file = fopen(path, "rb");
  if (!file) return tsr_fail(IO, "%s: %s", path, strerror(errno));
  char block[4096];
  size_t length = 0;
  while ((length = fread(block, 1, sizeof block, file)) > 0) tsr_text_add_bytes(out, block, length);
  const bool broken = ferror(file) != 0;
  const int error = errno;
  fclose(file);
  if (broken) return tsr_fail(IO, "%s: %s", path, strerror(error));
  if (out->length && memchr(out->data, '\0', out->length))
    return tsr_fail(SYNTAX, "%s holds a zero byte, so it is no text", path);
  return tsr_text_check(out);
}

// "a.rules:3 includes b.rules:7 includes a.rules"
static tsr_status chain_failure(const source *from, const char *path, bool cycle) {
  tsr_text chain = TSR_TEXT_EMPTY, more = TSR_TEXT_EMPTY;
  tsr_text_add(&chain, path);
  for (const source *s = from; s; s = s->outer) {
    tsr_text_clear(&more);
    tsr_text_addf(&more, "%s:%d includes %s", s->name, s->line, tsr_text_string(&chain));
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

static tsr_status read_json_file(const reader *to, const char *path) {
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = tsr_rules_add_json(to->builder, tsr_json_root(doc), path, to->options);
  tsr_json_destroy(doc);
  return status;
}

static tsr_status read_file(const reader *to, const source *outer, const char *path) {
  source from = {.name = path, .path = path, .outer = outer, .depth = outer ? outer->depth + 1 : 0};
  for (const source *s = outer; s; s = s->outer)
    if (!strcmp(s->path, path)) return chain_failure(outer, path, true);
  if (from.depth > MOST_INCLUDES) return chain_failure(outer, path, false);
  if (tsr_ends_with(path, ".json")) return read_json_file(to, path);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = read_whole_file(path, &text);
  if (!status) status = read_text(to, &from, tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

// The path of an included file: as it is, or beside the file that names it.
static char *path_beside(const char *path, slice name) {
  const char *slash = strrchr(path, '/');
  char *joined = NULL;
  if (*name.start == '/' || !slash) return copy_slice(name);
  if (asprintf(&joined, "%.*s/%.*s", (int)(slash - path), path, (int)(name.end - name.start),
               name.start) < 0)
    return NULL;
  return joined;
}

static tsr_status read_include(const reader *to, source *from, slice line) {
  slice name = trim(line.start + strlen("include"), line.end);
  for (const char *at = name.start + 1; at < name.end; at++)
    if (*at == '#' && is_blank(at[-1])) name = trim(name.start, at);
  if (!from->path) return tsr_fail(UNSUPPORTED, "include works in files only");
  if (name.start == name.end) return tsr_fail(SYNTAX, "include wants the name of a file");
  char *path = path_beside(from->path, name);
  if (!path) return tsr_fail(NO_MEMORY, "a path");
  tsr_status status = read_file(to, from, path);
  free(path);
  return status;
}

// ---- groups ----

// The next word of a line, or the empty one at its end or at a comment.
static slice next_word(slice *line) {
  *line = trim(line->start, line->end);
  const char *end = line->start;
  bool quoted = false;
  if (end < line->end && *end == '#') line->end = end;
  while (end < line->end && (quoted || !is_blank(*end))) end = step(end, line->end, &quoted);
  const slice word = {line->start, end};
  line->start = end;
  return word;
}

static bool is_word(slice word, const char *text) {
  const size_t length = strlen(text);
  return (size_t)(word.end - word.start) == length && !memcmp(word.start, text, length);
}

static tsr_status open_group(const reader *to, source *from, slice name, slice axis) {
  char *own_name = copy_slice(name), *own_axis = NULL;
  tsr_status status = own_name ? NULL : tsr_fail(NO_MEMORY, "a group of rules");
  if (!status) status = copy_text(axis, &own_axis);
  if (!status) status = tsr_rules_builder_together(to->builder, own_name, own_axis, to->options);
  free(own_name);
  free(own_axis);
  if (!status) from->group_line = from->line;
  return status;
}

// "together NAME over AXIS"
static tsr_status read_together(const reader *to, source *from, slice line) {
  next_word(&line);
  const slice name = next_word(&line), over = next_word(&line), axis = next_word(&line);
  const slice rest = next_word(&line);
  if (axis.start == axis.end || !is_word(over, "over") || rest.start != rest.end)
    return tsr_fail(SYNTAX, "wanted \"together NAME over AXIS\", as in together attention over tp");
  if (from->group_line)
    return tsr_fail(SYNTAX, "the group of line %d has no end yet", from->group_line);
  if (from->outer && to->builder->together)
    return tsr_fail(SYNTAX, "a group within \"%s\" of the file that includes this one",
                    to->builder->together);
  return open_group(to, from, name, axis);
}

static tsr_status read_end(const reader *to, source *from, slice line) {
  next_word(&line);
  const slice rest = next_word(&line);
  if (rest.start != rest.end) return tsr_fail(SYNTAX, "nothing follows end");
  if (!from->group_line) return tsr_fail(SYNTAX, "end without \"together NAME over AXIS\"");
  from->group_line = 0;
  return tsr_rules_builder_together(to->builder, NULL, NULL, to->options);
}

// ---- the text ----

// Lines that are no rules: they begin with a word of their own, and have no arrow.
static const struct statement {
  const char *word;
  tsr_status (*read)(const reader *to, source *from, slice line);
} statements[] = {{"include", read_include}, {"together", read_together}, {"end", read_end}};

static const struct statement *find_statement(slice line) {
  slice rest = line;
  const slice word = next_word(&rest);
  if (first_arrow(line, line.start)) return NULL;
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    if (is_word(word, statements[i].word)) return &statements[i];
  return NULL;
}

static tsr_status read_line(const reader *to, source *from, slice line) {
  if (line.start == line.end || *line.start == '#') return NULL;
  const struct statement *statement = find_statement(line);
  tsr_status status = (statement ? statement->read : read_rule)(to, from, line);
  // A chain of includes names its lines itself.
  if (!status || tsr_status_cause(status) == TSR_CAUSE_INCLUDE_CYCLE) return status;
  return tsr_note(status, "%s:%d", from->name, from->line);
}

static tsr_status read_text(const reader *to, source *from, const char *text) {
  while (*text) {
    const char *end = text + strcspn(text, "\n");
    from->line++;
    TSR_TRY(read_line(to, from, trim(text, end)));
    text = *end ? end + 1 : end;
  }
  if (!from->group_line) return NULL;
  return tsr_fail(SYNTAX, "%s:%d: a group without its end", from->name, from->group_line);
}

tsr_status tsr_rules_add_text(tsr_rules_builder *builder, const char *text, const char *name,
                              const tsr_rules_options *options) {
  const reader to = {builder, options};
  source from = {.name = name ? name : "rules"};
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
  const reader to = {&builder, &copy};
  tsr_status status = tsr_rules_builder_keep(&builder, &copy);
  if (!status) status = read_file(&to, NULL, path);
  return tsr_rules_builder_finish(&builder, status, out_rules);
}

// ---- printing ----

// Whether a pattern would not be read back as it is.
static bool wants_quotes(const char *pattern) {
  const slice line = {pattern, pattern + strlen(pattern)};
  const slice trimmed = trim(line.start, line.end);
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
