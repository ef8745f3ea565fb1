// JAX's form: as Python prints a PartitionSpec, and as people write one.
//
//   P('data', None, ('fsdp', 'tp'), unreduced={'x'})
//
// The reader accepts P and PartitionSpec with or without modules, both kinds of quotes, lists for
// tuples, UNCONSTRAINED with or without its class, and set, frozenset or braces. The mesh's name is
// omitted: JAX keeps the mesh beside the spec.
#include <string.h>

#include "base/text_internal.h"
#include "base/utf8.h"
#include "spec/forms.h"

// ---- characters ----

// One character of UTF-8 and its length, 0 if it is invalid.
static size_t decode(const char *text, uint32_t *out_character) {
  const size_t length = tsr_utf8_length(text, strnlen(text, 4));
  const unsigned char first = (unsigned char)text[0];
  uint32_t character = length == 1 ? first : first & (0x7Fu >> length);
  for (size_t i = 1; i < length; i++) character = character << 6 | ((unsigned char)text[i] & 0x3F);
  *out_character = character;
  return length;
}

static void add_character(tsr_text *out, uint32_t c) {
  char bytes[4];
  tsr_text_add_bytes(out, bytes, tsr_utf8_encode(c, bytes));
}

// What Python's repr escapes beyond ASCII: controls, format characters, spaces and private use. It
// also escapes unassigned characters, which change with each version of Unicode; we do not.
static bool is_shown(uint32_t c) {
  // clang-format off
  static const struct { uint32_t first, last; } hidden[] = {
      {0x00, 0x1F}, {0x7F, 0xA0}, {0xAD, 0xAD}, {0x600, 0x605}, {0x61C, 0x61C}, {0x6DD, 0x6DD},
      {0x70F, 0x70F}, {0x890, 0x891}, {0x8E2, 0x8E2}, {0x1680, 0x1680}, {0x180E, 0x180E},
      {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x2064}, {0x2066, 0x206F}, {0x3000, 0x3000},
      {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
      {0x13430, 0x13438}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE0001},
      {0xE0020, 0xE007F}, {0xF0000, 0xFFFFD}, {0x100000, 0x10FFFD},
  };
  // clang-format on
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    if (c >= hidden[i].first && c <= hidden[i].last) return false;
  return true;
}

// ---- reading ----

typedef struct jax_parser {
  tsr_cursor cursor;
  tsr_spec_builder *builder;
} jax_parser;

static tsr_status read_code(tsr_cursor *cursor, int digits, tsr_text *out) {
  uint32_t c = 0;
  cursor->at += 2;
  TSR_TRY(tsr_cursor_hex(cursor, digits, &c));
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
    return tsr_cursor_fail(cursor, SYNTAX, "the escape is not a character");
  add_character(out, c);
  return NULL;
}

static tsr_status read_escape(tsr_cursor *cursor, tsr_text *out) {
  static const char escapes[] = "\\'\"abfnrtv", meant[] = "\\'\"\a\b\f\n\r\t\v";
  const char c = cursor->at[1];
  if (c == 'x') return read_code(cursor, 2, out);
  if (c == 'u') return read_code(cursor, 4, out);
  if (c == 'U') return read_code(cursor, 8, out);
  const char *known = c ? strchr(escapes, c) : NULL;
  if (!known) return tsr_cursor_fail(cursor, SYNTAX, "the escape is unknown");
  tsr_text_add_char(out, meant[known - escapes]);
  cursor->at += 2;
  return NULL;
}

static bool string_follows(jax_parser *in) {
  const char next = tsr_cursor_peek(&in->cursor);
  return next == '\'' || next == '"';
}

// A word with any modules and classes before it, as in jax.sharding.PartitionSpec.
static bool skip_dotted(tsr_cursor *cursor, const char *word) {
  tsr_cursor ahead = *cursor;
  for (;;) {
    if (tsr_cursor_take_word(&ahead, word) && tsr_cursor_peek(&ahead) != '.') {
      *cursor = ahead;
      return true;
    }
    size_t length = 0;
    tsr_cursor_identifier(&ahead, &length);
    if (!tsr_cursor_take(&ahead, '.')) return false;
  }
}

static bool skip_class(tsr_cursor *cursor) {
  return skip_dotted(cursor, "P") || skip_dotted(cursor, "PartitionSpec");
}

static tsr_status read_member(jax_parser *in) {
  tsr_axis_ref ref = {"", 1, 0};
  const char next = tsr_cursor_peek(&in->cursor);
  if (next == '(' || next == '[')
    return tsr_cursor_fail(&in->cursor, NESTED_TUPLE, "a group inside a group, expected an axis");
  if (string_follows(in))
    TSR_TRY(tsr_read_name(&in->cursor, read_escape, in->builder, &ref.name));
  else if (skip_dotted(&in->cursor, "UNCONSTRAINED"))
    return tsr_cursor_fail(&in->cursor, UNSUPPORTED, "UNCONSTRAINED inside a group");
  else if (!tsr_cursor_take_word(&in->cursor, "None"))
    return tsr_cursor_expected(&in->cursor, "an axis in quotes or None");
  return tsr_spec_builder_axis(in->builder, &ref);
}

// Takes the rest of a group whose only member is UNCONSTRAINED, which means the member.
static bool skip_sole_unconstrained(jax_parser *in, char close) {
  tsr_cursor ahead = in->cursor;
  if (!skip_dotted(&ahead, "UNCONSTRAINED")) return false;
  tsr_cursor_take(&ahead, ',');
  if (!tsr_cursor_take(&ahead, close)) return false;
  in->cursor = ahead;
  return true;
}

static tsr_status read_group(jax_parser *in) {
  const char close = tsr_cursor_take(&in->cursor, '(') ? ')' : ']';
  if (close == ']') TSR_TRY(tsr_cursor_expect(&in->cursor, '['));
  if (skip_sole_unconstrained(in, close)) {
    tsr_spec_builder_last_dim(in->builder)->open = true;
    return NULL;
  }
  TSR_TRY(tsr_spec_builder_stage(in->builder));
  while (tsr_cursor_peek(&in->cursor) != close) {
    TSR_TRY(read_member(in));
    if (!tsr_cursor_take(&in->cursor, ',')) break;
  }
  return tsr_cursor_expect(&in->cursor, close);
}

static tsr_status read_entry(jax_parser *in) {
  TSR_TRY(tsr_spec_builder_dim(in->builder));
  const char next = tsr_cursor_peek(&in->cursor);
  if (next == '(' || next == '[') return read_group(in);
  if (string_follows(in)) {
    TSR_TRY(tsr_spec_builder_stage(in->builder));
    return read_member(in);
  }
  if (skip_dotted(&in->cursor, "UNCONSTRAINED")) {
    tsr_spec_builder_last_dim(in->builder)->open = true;
    return NULL;
  }
  if (tsr_cursor_take_word(&in->cursor, "None")) return NULL;
  return tsr_cursor_expected(&in->cursor, "an axis in quotes, None, UNCONSTRAINED or a group");
}

static tsr_status read_set_members(jax_parser *in, tsr_spec_set set) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '{'));
  while (tsr_cursor_peek(&in->cursor) != '}') {
    tsr_axis_ref ref = {"", 1, 0};
    if (!string_follows(in)) return tsr_cursor_expected(&in->cursor, "an axis in quotes");
    TSR_TRY(tsr_read_name(&in->cursor, read_escape, in->builder, &ref.name));
    TSR_TRY(tsr_spec_builder_member(in->builder, set, &ref));
    if (!tsr_cursor_take(&in->cursor, ',')) break;
  }
  return tsr_cursor_expect(&in->cursor, '}');
}

static tsr_status read_set(jax_parser *in, tsr_spec_set set) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
  if (!tsr_cursor_take_word(&in->cursor, "frozenset") && !tsr_cursor_take_word(&in->cursor, "set"))
    return read_set_members(in, set);
  TSR_TRY(tsr_cursor_expect(&in->cursor, '('));
  if (tsr_cursor_peek(&in->cursor) != ')') TSR_TRY(read_set_members(in, set));
  return tsr_cursor_expect(&in->cursor, ')');
}

// Takes the name of a keyword argument.
static bool keyword_follows(jax_parser *in, const char *name) {
  tsr_cursor ahead = in->cursor;
  if (!tsr_cursor_take_word(&ahead, name) || tsr_cursor_peek(&ahead) != '=') return false;
  in->cursor = ahead;
  return true;
}

static tsr_status read_arguments(jax_parser *in) {
  bool seen[2] = {false, false};
  while (tsr_cursor_peek(&in->cursor) != ')') {
    const tsr_cursor before = in->cursor;
    const int set = keyword_follows(in, "unreduced") ? TSR_SET_UNREDUCED
                    : keyword_follows(in, "reduced") ? TSR_SET_REDUCED
                                                     : -1;
    if (set < 0) {
      if (seen[0] || seen[1])
        return tsr_cursor_fail(&before, SYNTAX, "an entry after unreduced or reduced");
      TSR_TRY(read_entry(in));
    } else {
      if (seen[set]) return tsr_cursor_fail(&before, SYNTAX, "the set is given twice");
      seen[set] = true;
      TSR_TRY(read_set(in, (tsr_spec_set)set));
    }
    if (!tsr_cursor_take(&in->cursor, ',')) break;
  }
  return NULL;
}

bool tsr_spec_looks_jax(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("spec", text);
  return skip_class(&cursor) && tsr_cursor_peek(&cursor) == '(';
}

tsr_status tsr_spec_read_jax(const char *text, tsr_spec_builder *builder) {
  jax_parser in = {TSR_CURSOR("spec", text), builder};
  if (!skip_class(&in.cursor))
    return tsr_cursor_expected(&in.cursor, "P(...) or PartitionSpec(...)");
  TSR_TRY(tsr_cursor_expect(&in.cursor, '('));
  TSR_TRY(read_arguments(&in));
  TSR_TRY(tsr_cursor_expect(&in.cursor, ')'));
  return tsr_cursor_end(&in.cursor);
}

// ---- writing ----

static const char *names_not_text(const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++)
    if (!tsr_utf8_is_valid(refs[i].name)) return "names that are not UTF-8";
  return NULL;
}

static const char *dim_not_expressible(const tsr_spec_dim *dim) {
  if (dim->has_priority) return "priorities";
  if (dim->stage_count == 0) return NULL;
  if (dim->open) return "dimensions that are cut and open";
  return names_not_text(dim->stages[0].axes, dim->stages[0].axis_count);
}

static const char *not_expressible(const tsr_spec_desc *desc) {
  const char *why = tsr_spec_not_plain(desc, false);
  for (int d = 0; !why && d < desc->dim_count; d++) why = dim_not_expressible(&desc->dims[d]);
  if (why) return why;
  if (desc->replicated_count) return "explicitly replicated axes";
  if (desc->reduction != TSR_REDUCE_SUM) return "reductions other than sum";
  for (int i = 0; i < desc->unreduced_count; i++)
    if (desc->unreduced[i].size) return "sub-axes";
  for (int i = 0; i < desc->reduced_count; i++)
    if (desc->reduced[i].size) return "sub-axes";
  why = names_not_text(desc->unreduced, desc->unreduced_count);
  return why ? why : names_not_text(desc->reduced, desc->reduced_count);
}

static void write_character(uint32_t c, char quote, tsr_text *out) {
  if (c == (uint32_t)quote || c == '\\')
    tsr_text_addf(out, "\\%c", (char)c);
  else if (c == '\n')
    tsr_text_add(out, "\\n");
  else if (c == '\r')
    tsr_text_add(out, "\\r");
  else if (c == '\t')
    tsr_text_add(out, "\\t");
  else if (is_shown(c))
    add_character(out, c);
  else
    tsr_text_addf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
}

// Single quotes, unless only they would need escapes.
static void write_name(const char *name, tsr_text *out) {
  if (!name[0]) {
    tsr_text_add(out, "None");
    return;
  }
  const char quote = strchr(name, '\'') && !strchr(name, '"') ? '"' : '\'';
  tsr_text_add_char(out, quote);
  uint32_t c = 0;
  for (size_t length; *name; name += length) {
    length = decode(name, &c);
    write_character(c, quote, out);
  }
  tsr_text_add_char(out, quote);
}

static void write_names(const tsr_axis_ref *refs, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    write_name(refs[i].name, out);
  }
}

static void write_entry(const tsr_spec_dim *dim, tsr_text *out) {
  if (!dim->stage_count) {
    tsr_text_add(out, dim->open ? "UNCONSTRAINED" : "None");
    return;
  }
  const tsr_stage *stage = &dim->stages[0];
  if (stage->axis_count > 1) tsr_text_add_char(out, '(');
  write_names(stage->axes, stage->axis_count, out);
  if (stage->axis_count > 1) tsr_text_add_char(out, ')');
}

static void write_set(const char *name, const tsr_axis_ref *refs, int count, bool comma,
                      tsr_text *out) {
  if (!count) return;
  tsr_text_addf(out, "%s%s={", comma ? ", " : "", name);
  write_names(refs, count, out);
  tsr_text_add_char(out, '}');
}

tsr_status tsr_spec_write_jax(const tsr_spec_desc *desc, tsr_text *out) {
  const char *why = not_expressible(desc);
  if (why) return tsr_fail(NOT_EXPRESSIBLE, "JAX's notation has no %s", why);
  const bool sets = desc->unreduced_count || desc->reduced_count;
  tsr_text_add(out, "P(");
  for (int d = 0; d < desc->dim_count; d++) {
    if (d) tsr_text_add(out, ", ");
    write_entry(&desc->dims[d], out);
  }
  if (desc->dim_count == 1 && !sets) tsr_text_add_char(out, ',');  // a tuple of one
  write_set("unreduced", desc->unreduced, desc->unreduced_count, desc->dim_count > 0, out);
  write_set("reduced", desc->reduced, desc->reduced_count,
            desc->dim_count > 0 || desc->unreduced_count > 0, out);
  tsr_text_add_char(out, ')');
  return NULL;
}
