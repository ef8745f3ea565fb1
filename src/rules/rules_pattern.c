// eformer's mini-language: "attention|mlp->data,hidden->model.None".
//
// The separators also occur in regular expressions, so brackets are tracked: separators in
// parentheses, in a set, in {2,5} or after a backslash belong to the pattern.
#include <string.h>

#include "base/text_internal.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "spec/spec_builder.h"
#include "tessera/compat/eformer_axes.h"

typedef struct pattern_slice {
  const char *start, *end;
} pattern_slice;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static pattern_slice trim(const char *start, const char *end) {
  while (start < end && is_blank(*start)) start++;
  // A blank after a backslash belongs to the pattern.
  while (end > start && is_blank(end[-1]) && !(end - 1 > start && end[-2] == '\\')) end--;
  return (pattern_slice){start, end};
}

// ---- parting ----

// The end of the set whose '[' is at `at`; `end` if it is not closed.
static const char *skip_set(const char *at, const char *end) {
  at++;
  if (at < end && *at == '^') at++;
  if (at < end && *at == ']') at++;
  while (at < end && *at != ']') at += *at == '\\' && at + 1 < end ? 2 : 1;
  return at < end ? at + 1 : end;
}

// The end of {2,5} if that is at `at`; else past the brace.
static const char *skip_bounds(const char *at, const char *end) {
  const char *close = at + 1;
  while (close < end && ((*close >= '0' && *close <= '9') || *close == ',')) close++;
  return close < end && *close == '}' ? close + 1 : at + 1;
}

// Steps over one token and counts parentheses.
static const char *step(const char *at, const char *end, int *depth) {
  switch (*at) {
    case '\\':
      return at + 1 < end ? at + 2 : end;
    case '[':
      return skip_set(at, end);
    case '{':
      return skip_bounds(at, end);
    case '(':
      ++*depth;
      return at + 1;
    case ')':
      if (*depth) --*depth;
      return at + 1;
    default:
      return at + 1;
  }
}

// The first `separator` outside brackets; `end` = none.
static const char *find(pattern_slice text, const char *separator) {
  const size_t length = strlen(separator);
  int depth = 0;
  for (const char *at = text.start; at < text.end; at = step(at, text.end, &depth))
    if (!depth && (size_t)(text.end - at) >= length && !memcmp(at, separator, length)) return at;
  return text.end;
}

// ---- axes ----

static bool is_nothing(pattern_slice name) {
  const size_t length = (size_t)(name.end - name.start);
  return length == 0 || (length == 1 && *name.start == '_') ||
         (length == 4 && !memcmp(name.start, "None", 4));
}

static const char *find_plain(pattern_slice text, char separator) {
  const char *at = text.start;
  while (at < text.end && *at != separator) at += *at == '\\' && at + 1 < text.end ? 2 : 1;
  return at;
}

// Adds a name without its backslashes.
static tsr_status add_axis(pattern_slice name, tsr_spec_builder *builder) {
  tsr_text plain = TSR_TEXT_EMPTY;
  tsr_axis_ref ref = {"", 1, 0};
  for (const char *at = name.start; at < name.end; at++) {
    if (*at == '\\' && at + 1 < name.end) at++;
    tsr_text_add_char(&plain, *at);
  }
  tsr_status status = tsr_text_check(&plain);
  if (!status)
    status = tsr_spec_builder_name(builder, tsr_text_string(&plain), plain.length, &ref.name);
  tsr_text_deinit(&plain);
  return status ? status : tsr_spec_builder_axis(builder, &ref);
}

static tsr_status add_entry(pattern_slice entry, bool literal, tsr_spec_builder *builder) {
  TSR_TRY(tsr_spec_builder_dim(builder));
  if (literal ? entry.start == entry.end : is_nothing(entry)) return NULL;
  TSR_TRY(tsr_spec_builder_stage(builder));
  if (literal) return add_axis(entry, builder);
  for (pattern_slice rest = entry;; rest.start++) {
    const char *plus = find_plain(rest, '+');
    const pattern_slice name = trim(rest.start, plus);
    if (name.start == name.end)
      return tsr_fail(SYNTAX, "an axis without a name in the group \"%.*s\"",
                      (int)(entry.end - entry.start), entry.start);
    TSR_TRY(add_axis(name, builder));
    rest.start = plus;
    if (plus == rest.end) return NULL;
  }
}

static tsr_status read_axes(pattern_slice text, bool literal, tsr_spec_builder *builder) {
  for (;; text.start++) {
    const char *dot = find_plain(text, '.');
    TSR_TRY(add_entry(trim(text.start, dot), literal, builder));
    text.start = dot;
    if (dot == text.end) return NULL;
  }
}

static tsr_status make_spec(pattern_slice text, bool literal, tsr_spec **out_spec) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = read_axes(text, literal, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// ---- rules ----

static tsr_status add_alternatives(pattern_slice text, const tsr_spec *spec,
                                   tsr_rules_builder *builder) {
  for (;; text.start++) {
    const char *bar = find(text, "|");
    const pattern_slice one = trim(text.start, bar);
    const tsr_rule rule = {.pattern = one.start, .spec = spec, .file = ""};
    TSR_TRY(tsr_rules_builder_add(builder, &rule, (size_t)(one.end - one.start)));
    text.start = bar;
    if (bar == text.end) return NULL;
  }
}

static tsr_status no_arrow(pattern_slice piece) {
  const int length = (int)(piece.end - piece.start);
  if (memmem(piece.start, (size_t)length, "->", 2))
    return tsr_fail(BAD_REGEX, "a bracket that is not closed in \"%.*s\"", length, piece.start);
  if (!length) return tsr_fail(SYNTAX, "wanted \"pattern->axes\", found nothing");
  return tsr_fail(SYNTAX, "wanted \"pattern->axes\", found \"%.*s\"", length, piece.start);
}

static tsr_status add_piece(pattern_slice piece, bool literal, tsr_rules_builder *builder) {
  const char *arrow = find(piece, "->");
  if (arrow == piece.end) return no_arrow(piece);
  const pattern_slice left = {piece.start, arrow}, right = {arrow + 2, piece.end};
  tsr_spec *spec = NULL;
  if (memmem(right.start, (size_t)(right.end - right.start), "->", 2))
    return tsr_fail(SYNTAX, "two arrows in \"%.*s\"", (int)(piece.end - piece.start), piece.start);
  TSR_TRY(make_spec(right, literal, &spec));
  tsr_status status = add_alternatives(left, spec, builder);
  tsr_spec_release(spec);
  return status;
}

static tsr_status add_pieces(pattern_slice text, bool literal, tsr_rules_builder *builder) {
  for (int index = 0;; index++, text.start++) {
    const char *comma = find(text, ",");
    TSR_TRY_NOTE(add_piece(trim(text.start, comma), literal, builder), "piece %d", index);
    text.start = comma;
    if (comma == text.end) return NULL;
  }
}

static tsr_status read_pattern(const char *pattern, bool literal, tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  const pattern_slice text = {pattern, pattern + strlen(pattern)};
  tsr_status status = add_pieces(text, literal, &builder);
  return tsr_rules_builder_finish(&builder, status, out_rules);
}

tsr_status tsr_rules_from_pattern(const char *pattern, tsr_rules **out_rules) {
  return read_pattern(pattern, false, out_rules);
}

tsr_status tsr_rules_from_pattern_literal(const char *pattern, tsr_rules **out_rules) {
  return read_pattern(pattern, true, out_rules);
}
