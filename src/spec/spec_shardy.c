// Shardy's form, as MLIR prints the attribute:
//
//   #sdy.sharding<@mesh, [{"x", ?}, {}p1, {"y":(1)2}], replicated={"z"}, unreduced={"w"}>
//
// The reader also accepts the bare <...> of lists, and either order of the sets. It refuses a mesh
// written in place (mesh<["x"=2]>): a spec knows its mesh by name only.
#include <string.h>

#include "base/text_internal.h"
#include "element/reduction.h"
#include "spec/axis_ref.h"
#include "spec/forms.h"

// ---- reading ----

typedef struct shardy_parser {
  tsr_cursor cursor;
  tsr_spec_builder *builder;
} shardy_parser;

// MLIR's strings: \" \\ \n \t, or two hexadecimal digits for any byte.
static tsr_status read_escape(tsr_cursor *cursor, tsr_text *out) {
  static const char escapes[] = "\"\\nt", meant[] = "\"\\\n\t";
  const char c = cursor->at[1];
  const char *known = c ? strchr(escapes, c) : NULL;
  if (known) {
    tsr_text_add_char(out, meant[known - escapes]);
    cursor->at += 2;
    return NULL;
  }
  cursor->at++;
  uint32_t byte = 0;
  TSR_TRY(tsr_cursor_hex(cursor, 2, &byte));
  tsr_text_add_char(out, (char)byte);
  return NULL;
}

static bool is_symbol_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.';
}

static bool is_bare_symbol(const char *name) {
  const bool starts = *name && *name != '$' && *name != '.' && (*name < '0' || *name > '9');
  for (; *name; name++)
    if (!is_symbol_char(*name)) return false;
  return starts;
}

static tsr_status read_mesh(shardy_parser *in) {
  tsr_cursor *cursor = &in->cursor;
  if (tsr_cursor_take_word(cursor, "mesh"))
    return tsr_cursor_fail(cursor, UNSUPPORTED,
                           "a mesh written in place; use its name, as in @mesh");
  TSR_TRY(tsr_cursor_expect(cursor, '@'));
  if (*cursor->at == '"')
    return tsr_read_name(cursor, read_escape, in->builder, &in->builder->mesh_name);
  const char *start = cursor->at;
  if (!is_symbol_char(*start) || *start == '$' || *start == '.' || (*start >= '0' && *start <= '9'))
    return tsr_cursor_expected(cursor, "the mesh's name");
  while (is_symbol_char(*cursor->at)) cursor->at++;
  return tsr_spec_builder_name(in->builder, start, (size_t)(cursor->at - start),
                               &in->builder->mesh_name);
}

static tsr_status read_axis(shardy_parser *in, tsr_axis_ref *out_ref) {
  if (tsr_cursor_peek(&in->cursor) != '"')
    return tsr_cursor_expected(&in->cursor, "an axis in quotes");
  TSR_TRY(tsr_read_name(&in->cursor, read_escape, in->builder, &out_ref->name));
  if (!out_ref->name[0]) return tsr_cursor_fail(&in->cursor, SYNTAX, "the axis has no name");
  return tsr_read_sub_axis(&in->cursor, out_ref);
}

static tsr_status read_dim_axes(shardy_parser *in) {
  TSR_TRY(tsr_spec_builder_stage(in->builder));
  for (;;) {
    if (tsr_cursor_take(&in->cursor, '?')) {
      tsr_spec_builder_last_dim(in->builder)->open = true;
      return NULL;
    }
    tsr_axis_ref ref;
    TSR_TRY(read_axis(in, &ref));
    TSR_TRY(tsr_spec_builder_axis(in->builder, &ref));
    if (!tsr_cursor_take(&in->cursor, ',')) return NULL;
  }
}

static tsr_status read_priority(shardy_parser *in) {
  tsr_cursor *cursor = &in->cursor;
  if (!tsr_cursor_take(cursor, 'p')) return NULL;
  const char first = *cursor->at, second = first ? cursor->at[1] : '\0';
  if (first < '0' || first > '9') return tsr_cursor_expected(cursor, "a priority");
  if (first == '0' && second >= '0' && second <= '9')
    return tsr_cursor_fail(cursor, SYNTAX, "the priority has a leading zero");
  return tsr_read_priority(cursor, tsr_spec_builder_last_dim(in->builder));
}

static tsr_status read_dim(shardy_parser *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '{'));
  TSR_TRY(tsr_spec_builder_dim(in->builder));
  if (tsr_cursor_peek(&in->cursor) != '}') TSR_TRY(read_dim_axes(in));
  TSR_TRY(tsr_cursor_expect(&in->cursor, '}'));
  return read_priority(in);
}

static tsr_status read_dims(shardy_parser *in) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '['));
  if (tsr_cursor_take(&in->cursor, ']')) return NULL;
  do {
    TSR_TRY(read_dim(in));
  } while (tsr_cursor_take(&in->cursor, ','));
  return tsr_cursor_expect(&in->cursor, ']');
}

static tsr_status read_set(shardy_parser *in, tsr_spec_set set) {
  TSR_TRY(tsr_cursor_expect(&in->cursor, '='));
  if (set == TSR_SET_UNREDUCED) tsr_read_reduction(&in->cursor, &in->builder->reduction);
  TSR_TRY(tsr_cursor_expect(&in->cursor, '{'));
  do {
    tsr_axis_ref ref;
    TSR_TRY(read_axis(in, &ref));
    TSR_TRY(tsr_spec_builder_member(in->builder, set, &ref));
  } while (tsr_cursor_take(&in->cursor, ','));
  return tsr_cursor_expect(&in->cursor, '}');
}

static tsr_status read_sets(shardy_parser *in) {
  bool seen[TSR_SET_COUNT] = {false};
  while (tsr_cursor_take(&in->cursor, ',')) {
    const tsr_cursor before = in->cursor;
    const int set = tsr_cursor_take_word(&in->cursor, "replicated")  ? TSR_SET_REPLICATED
                    : tsr_cursor_take_word(&in->cursor, "unreduced") ? TSR_SET_UNREDUCED
                                                                     : -1;
    if (set < 0) return tsr_cursor_expected(&in->cursor, "replicated or unreduced");
    if (seen[set]) return tsr_cursor_fail(&before, SYNTAX, "the set is given twice");
    seen[set] = true;
    TSR_TRY(read_set(in, (tsr_spec_set)set));
  }
  return NULL;
}

bool tsr_spec_looks_shardy(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("spec", text);
  return tsr_cursor_take_word(&cursor, "#sdy") || tsr_cursor_take(&cursor, '<');
}

tsr_status tsr_spec_read_shardy(const char *text, tsr_spec_builder *builder) {
  shardy_parser in = {TSR_CURSOR("spec", text), builder};
  if (tsr_cursor_peek(&in.cursor) == '#' && !tsr_cursor_take_word(&in.cursor, "#sdy.sharding"))
    return tsr_cursor_expected(&in.cursor, "#sdy.sharding");
  TSR_TRY(tsr_cursor_expect(&in.cursor, '<'));
  TSR_TRY(read_mesh(&in));
  TSR_TRY(tsr_cursor_expect(&in.cursor, ','));
  TSR_TRY(read_dims(&in));
  TSR_TRY(read_sets(&in));
  TSR_TRY(tsr_cursor_expect(&in.cursor, '>'));
  return tsr_cursor_end(&in.cursor);
}

// ---- writing ----

static const char *not_expressible(const tsr_spec_desc *desc) {
  const char *why = tsr_spec_not_plain(desc, true);
  if (why) return why;
  if (desc->reduced_count) return "reduced axes";
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      for (int i = 0; i < desc->dims[d].stages[s].axis_count; i++)
        if (!desc->dims[d].stages[s].axes[i].name[0]) return "None inside a group";
  return NULL;
}

static void write_string(const char *name, tsr_text *out) {
  tsr_text_add_char(out, '"');
  for (; *name; name++) {
    if (*name == '\\')
      tsr_text_add(out, "\\\\");
    else if (*name == '"' || *name < ' ' || *name == 0x7f || (unsigned char)*name >= 0x80)
      tsr_text_addf(out, "\\%02X", (unsigned)(unsigned char)*name);
    else
      tsr_text_add_char(out, *name);
  }
  tsr_text_add_char(out, '"');
}

static void write_axes(const tsr_axis_ref *refs, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    write_string(refs[i].name, out);
    if (!tsr_axis_ref_is_whole(&refs[i]))
      tsr_text_addf(out, ":(%lld)%lld", (long long)refs[i].pre, (long long)refs[i].size);
  }
}

static void write_dim(const tsr_spec_dim *dim, tsr_text *out) {
  tsr_text_add_char(out, '{');
  if (dim->stage_count) write_axes(dim->stages[0].axes, dim->stages[0].axis_count, out);
  if (dim->open) tsr_text_add(out, dim->stage_count ? ", ?" : "?");
  tsr_text_add_char(out, '}');
  if (dim->has_priority) tsr_text_addf(out, "p%d", dim->priority);
}

static void write_set(const char *name, const char *reduction, const tsr_axis_ref *refs, int count,
                      tsr_text *out) {
  if (!count) return;
  tsr_text_addf(out, ", %s=%s{", name, reduction);
  write_axes(refs, count, out);
  tsr_text_add_char(out, '}');
}

tsr_status tsr_spec_write_shardy(const tsr_spec_desc *desc, tsr_text *out) {
  const char *why = not_expressible(desc);
  if (why) return tsr_fail(NOT_EXPRESSIBLE, "Shardy's notation has no %s", why);
  tsr_text_add(out, "#sdy.sharding<@");
  const char *mesh = desc->mesh_name ? desc->mesh_name : "mesh";
  if (is_bare_symbol(mesh))
    tsr_text_add(out, mesh);
  else
    write_string(mesh, out);
  tsr_text_add(out, ", [");
  for (int d = 0; d < desc->dim_count; d++) {
    if (d) tsr_text_add(out, ", ");
    write_dim(&desc->dims[d], out);
  }
  tsr_text_add_char(out, ']');
  write_set("replicated", "", desc->replicated, desc->replicated_count, out);
  const char *how = desc->reduction == TSR_REDUCE_SUM ? "" : tsr_reduction_name(desc->reduction);
  write_set("unreduced", how, desc->unreduced, desc->unreduced_count, out);
  tsr_text_add_char(out, '>');
  return NULL;
}
