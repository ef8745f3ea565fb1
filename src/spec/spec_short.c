// The short form: our own notation, which can express every spec.
//
//   spec   = ( "()" | entry { "," entry } ) [ "|" { field } ]
//   entry  = ( "?" | stage { ";" stage } [ "+?" ] ) [ "@" number ]
//   stage  = axis { "+" axis } [ "/" cut ]
//   axis   = "_" | "None" | name [ ":" "(" number ")" number ]
//   cut    = "sizes" "(" number { "," number } ")" | "cyclic" "(" number ")"
//          | "parts" "(" part { "," part } ")"
//   part   = [ name ":" ] number [ "/" number ] [ "*" number ]
//   field  = ( "unreduced" | "reduced" | "replicated" ) "=" axis { "+" axis }
//          | "unreduced" "=" ( "sum" | "max" | "min" ) "(" axis { "+" axis } ")"
//          | "mesh" "=" name
//   name   = letters, digits, "_", "-", "." and what is not ASCII, no digit first; or anything
//            in double quotes
//
// Names are those of mesh axes, printed in quotes unless they are plain words.
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/cursor.h"
#include "base/quote.h"
#include "base/text_internal.h"
#include "element/reduction.h"
#include "mesh/mesh.h"
#include "spec/axis_ref.h"
#include "spec/forms.h"
#include "spec/spec_builder.h"

bool tsr_read_reduction(tsr_cursor *cursor, tsr_reduction *out_reduction) {
  for (int i = 0; i < TSR_SPEC_REDUCTION_COUNT; i++)
    if (tsr_cursor_take_word(cursor, tsr_reduction_name((tsr_reduction)i))) {
      *out_reduction = (tsr_reduction)i;
      return true;
    }
  return false;
}

// ---- reading ----

typedef struct short_parser {
  tsr_cursor cursor;
  tsr_spec_builder *builder;
} short_parser;

tsr_status tsr_read_name(tsr_cursor *cursor, tsr_escape_fn *escape, tsr_spec_builder *builder,
                         const char **out_name) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_cursor_quoted(cursor, escape, &text);
  if (!status)
    status = tsr_spec_builder_name(builder, tsr_text_string(&text), text.length, out_name);
  tsr_text_deinit(&text);
  return status;
}

// A name, plain or quoted.
static tsr_status read_name(short_parser *in, const char *what, const char **out_name,
                            bool *out_plain) {
  *out_plain = tsr_cursor_peek(&in->cursor) != '"';
  if (!*out_plain) return tsr_read_name(&in->cursor, tsr_cursor_escape, in->builder, out_name);
  const char *start = in->cursor.at;
  size_t length = 0;
  while (tsr_is_plain_name(start[length]) && start[length] != '/') length++;
  if (!length || isdigit((unsigned char)*start)) return tsr_cursor_expected(&in->cursor, what);
  in->cursor.at += length;
  return tsr_spec_builder_name(in->builder, start, length, out_name);
}

tsr_status tsr_read_sub_axis(tsr_cursor *cursor, tsr_axis_ref *ref) {
  ref->pre = 1;
  ref->size = 0;
  if (!tsr_cursor_take(cursor, ':')) return NULL;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  TSR_TRY(tsr_cursor_count(cursor, "the size before a sub-axis", &ref->pre));
  TSR_TRY(tsr_cursor_expect(cursor, ')'));
  const tsr_cursor before = *cursor;
  TSR_TRY(tsr_cursor_count(cursor, "the size of a sub-axis", &ref->size));
  if (ref->pre < 1 || ref->size < 1)
    return tsr_cursor_fail(&before, BAD_SUB_AXIS,
                           "sub-axis (%lld)%lld, expected numbers of 1 or more",
                           (long long)ref->pre, (long long)ref->size);
  return NULL;
}

static tsr_status read_axis(short_parser *in, tsr_axis_ref *out_ref) {
  bool plain = false;
  TSR_TRY(read_name(in, "an axis", &out_ref->name, &plain));
  if (plain && (!strcmp(out_ref->name, "_") || !strcmp(out_ref->name, "None"))) {
    *out_ref = (tsr_axis_ref){"", 1, 0};
    return NULL;
  }
  if (!out_ref->name[0]) return tsr_cursor_fail(&in->cursor, SYNTAX, "the axis has no name");
  return tsr_read_sub_axis(&in->cursor, out_ref);
}

static tsr_status read_sizes(short_parser *in) {
  do {
    int64_t size = 0;
    TSR_TRY(tsr_cursor_count(&in->cursor, "a size", &size));
    TSR_TRY(tsr_spec_builder_size(in->builder, size));
  } while (tsr_cursor_take(&in->cursor, ','));
  return NULL;
}

static tsr_status read_parts(short_parser *in) {
  tsr_cursor *cursor = &in->cursor;
  do {
    tsr_part part = {.name = "", .grain = 1, .copies = 1};
    const char next = tsr_cursor_peek(cursor);
    if (next < '0' || next > '9') {
      bool plain = false;
      TSR_TRY(read_name(in, "a part", &part.name, &plain));
      TSR_TRY(tsr_cursor_expect(cursor, ':'));
    }
    TSR_TRY(tsr_cursor_count(cursor, "a part's size", &part.size));
    if (tsr_cursor_take(cursor, '/'))
      TSR_TRY(tsr_cursor_count(cursor, "a part's grain", &part.grain));
    if (tsr_cursor_take(cursor, '*'))
      TSR_TRY(tsr_cursor_count(cursor, "a part's copies", &part.copies));
    TSR_TRY(tsr_spec_builder_part(in->builder, &part));
  } while (tsr_cursor_take(cursor, ','));
  return NULL;
}

static tsr_status read_cut(short_parser *in) {
  tsr_cursor *cursor = &in->cursor;
  tsr_stage *stage = tsr_spec_builder_last_stage(in->builder);
  if (tsr_cursor_take_word(cursor, "sizes"))
    stage->kind = TSR_STAGE_SIZES;
  else if (tsr_cursor_take_word(cursor, "cyclic"))
    stage->kind = TSR_STAGE_CYCLIC;
  else if (tsr_cursor_take_word(cursor, "parts"))
    stage->kind = TSR_STAGE_PARTS;
  else
    return tsr_cursor_expected(cursor, "sizes, cyclic or parts");
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  if (stage->kind == TSR_STAGE_SIZES)
    TSR_TRY(read_sizes(in));
  else if (stage->kind == TSR_STAGE_PARTS)
    TSR_TRY(read_parts(in));
  else
    TSR_TRY(tsr_cursor_count(cursor, "the size of a block", &stage->block));
  return tsr_cursor_expect(cursor, ')');
}

// Whether "+?" comes next, which belongs to the entry and not to the group before it.
static bool open_follows(const short_parser *in) {
  tsr_cursor ahead = in->cursor;
  return tsr_cursor_take(&ahead, '+') && tsr_cursor_peek(&ahead) == '?';
}

static tsr_status read_stage(short_parser *in) {
  TSR_TRY(tsr_spec_builder_stage(in->builder));
  do {
    tsr_axis_ref ref;
    TSR_TRY(read_axis(in, &ref));
    TSR_TRY(tsr_spec_builder_axis(in->builder, &ref));
  } while (!open_follows(in) && tsr_cursor_take(&in->cursor, '+'));
  return tsr_cursor_take(&in->cursor, '/') ? read_cut(in) : NULL;
}

static tsr_status read_entry(short_parser *in) {
  tsr_cursor *cursor = &in->cursor;
  TSR_TRY(tsr_spec_builder_dim(in->builder));
  bool open = tsr_cursor_take(cursor, '?');
  if (!open) {
    do {
      TSR_TRY(read_stage(in));
    } while (tsr_cursor_take(cursor, ';'));
    open = tsr_cursor_take(cursor, '+') && tsr_cursor_take(cursor, '?');
  }
  tsr_spec_dim *dim = tsr_spec_builder_last_dim(in->builder);
  dim->open = open;
  return tsr_cursor_take(cursor, '@') ? tsr_read_priority(cursor, dim) : NULL;
}

tsr_status tsr_read_priority(tsr_cursor *cursor, tsr_spec_dim *dim) {
  const tsr_cursor before = *cursor;
  int64_t priority = 0;
  TSR_TRY(tsr_cursor_count(cursor, "a priority", &priority));
  if (priority > INT_MAX)
    return tsr_cursor_fail(&before, TOO_LARGE, "the priority is above %d", INT_MAX);
  dim->has_priority = true;
  dim->priority = (int)priority;
  return NULL;
}

static tsr_status read_body(short_parser *in) {
  if (tsr_cursor_take(&in->cursor, '(')) return tsr_cursor_expect(&in->cursor, ')');
  if (!tsr_cursor_peek(&in->cursor))
    return tsr_cursor_fail(&in->cursor, SYNTAX, "the text is empty; the empty spec is written ()");
  do {
    TSR_TRY(read_entry(in));
  } while (tsr_cursor_take(&in->cursor, ','));
  return NULL;
}

static tsr_status read_set(short_parser *in, tsr_spec_set set) {
  tsr_cursor *cursor = &in->cursor;
  tsr_cursor ahead = *cursor;
  tsr_reduction reduction = TSR_REDUCE_SUM;
  const bool named = set == TSR_SET_UNREDUCED && tsr_read_reduction(&ahead, &reduction) &&
                     tsr_cursor_take(&ahead, '(');
  if (named) {
    *cursor = ahead;
    in->builder->reduction = reduction;
  }
  do {
    tsr_axis_ref ref;
    TSR_TRY(read_axis(in, &ref));
    TSR_TRY(tsr_spec_builder_member(in->builder, set, &ref));
  } while (tsr_cursor_take(cursor, '+'));
  return named ? tsr_cursor_expect(cursor, ')') : NULL;
}

static tsr_status read_mesh_name(short_parser *in) {
  bool plain = false;
  return read_name(in, "the mesh's name", &in->builder->mesh_name, &plain);
}

static tsr_status read_fields(short_parser *in) {
  static const char *const names[] = {"unreduced", "reduced", "replicated", "mesh"};
  enum { MESH = TSR_SET_COUNT, FIELDS };
  tsr_cursor *cursor = &in->cursor;
  bool seen[FIELDS] = {false};
  do {
    int field = 0;
    const tsr_cursor before = *cursor;
    while (field < FIELDS && !tsr_cursor_take_word(cursor, names[field])) field++;
    if (field == FIELDS)
      return tsr_cursor_expected(cursor, "unreduced, reduced, replicated or mesh");
    if (seen[field]) return tsr_cursor_fail(&before, SYNTAX, "\"%s\" is given twice", names[field]);
    seen[field] = true;
    TSR_TRY(tsr_cursor_expect(cursor, '='));
    if (field == MESH)
      TSR_TRY(read_mesh_name(in));
    else
      TSR_TRY(read_set(in, (tsr_spec_set)field));
  } while (tsr_cursor_peek(cursor));
  return NULL;
}

tsr_status tsr_spec_read_short(const char *text, tsr_spec_builder *builder) {
  short_parser in = {TSR_CURSOR("spec", text), builder};
  TSR_TRY(read_body(&in));
  if (tsr_cursor_take(&in.cursor, '|')) TSR_TRY(read_fields(&in));
  return tsr_cursor_end(&in.cursor);
}

tsr_status tsr_spec_read_entry(const char *text, tsr_spec_builder *builder) {
  if (!text || !*text) return tsr_spec_builder_dim(builder);
  short_parser in = {TSR_CURSOR("spec", text), builder};
  TSR_TRY(read_entry(&in));
  return tsr_cursor_end(&in.cursor);
}

// ---- writing ----

void tsr_write_short_name(const char *name, tsr_text *out) {
  if (tsr_is_identifier(name) && strcmp(name, "_") != 0 && strcmp(name, "None") != 0)
    tsr_text_add(out, name);
  else
    tsr_quote(name, out);
}

static void write_axes(const tsr_axis_ref *refs, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add_char(out, '+');
    if (refs[i].name[0])
      tsr_write_short_name(refs[i].name, out);
    else
      tsr_text_add_char(out, '_');
    if (!tsr_axis_ref_is_whole(&refs[i]))
      tsr_text_addf(out, ":(%lld)%lld", (long long)refs[i].pre, (long long)refs[i].size);
  }
}

static void write_part(const tsr_part *part, tsr_text *out) {
  if (part->name[0]) {
    tsr_write_short_name(part->name, out);
    tsr_text_add_char(out, ':');
  }
  tsr_text_add_int(out, part->size);
  if (part->grain != 1) tsr_text_addf(out, "/%lld", (long long)part->grain);
  if (part->copies != 1) tsr_text_addf(out, "*%lld", (long long)part->copies);
}

static void write_cut(const tsr_stage *stage, tsr_text *out) {
  if (stage->kind == TSR_STAGE_EVEN) return;
  if (stage->kind == TSR_STAGE_CYCLIC) {
    tsr_text_addf(out, "/cyclic(%lld)", (long long)stage->block);
    return;
  }
  tsr_text_add(out, stage->kind == TSR_STAGE_SIZES ? "/sizes(" : "/parts(");
  for (int64_t i = 0; i < stage->count; i++) {
    if (stage->kind == TSR_STAGE_SIZES) {
      if (i) tsr_text_add_char(out, ',');
      tsr_text_add_int(out, stage->sizes[i]);
    } else {
      if (i) tsr_text_add(out, ", ");
      write_part(&stage->parts[i], out);
    }
  }
  tsr_text_add_char(out, ')');
}

static void write_entry(const tsr_spec_dim *dim, tsr_text *out) {
  for (int s = 0; s < dim->stage_count; s++) {
    if (s) tsr_text_add_char(out, ';');
    write_axes(dim->stages[s].axes, dim->stages[s].axis_count, out);
    write_cut(&dim->stages[s], out);
  }
  if (dim->stage_count == 0)
    tsr_text_add_char(out, dim->open ? '?' : '_');
  else if (dim->open)
    tsr_text_add(out, "+?");
  if (dim->has_priority) tsr_text_addf(out, "@%d", dim->priority);
}

static void write_set(const char *name, const tsr_axis_ref *refs, int count,
                      tsr_reduction reduction, tsr_text *out) {
  if (!count) return;
  tsr_text_addf(out, " %s=", name);
  if (reduction != TSR_REDUCE_SUM) tsr_text_addf(out, "%s(", tsr_reduction_name(reduction));
  write_axes(refs, count, out);
  if (reduction != TSR_REDUCE_SUM) tsr_text_add_char(out, ')');
}

void tsr_spec_write_short(const tsr_spec_desc *desc, tsr_text *out) {
  if (!desc->dim_count) tsr_text_add(out, "()");
  for (int d = 0; d < desc->dim_count; d++) {
    if (d) tsr_text_add(out, ", ");
    write_entry(&desc->dims[d], out);
  }
  if (desc->unreduced_count || desc->reduced_count || desc->replicated_count || desc->mesh_name)
    tsr_text_add(out, " |");
  write_set("unreduced", desc->unreduced, desc->unreduced_count, desc->reduction, out);
  write_set("reduced", desc->reduced, desc->reduced_count, TSR_REDUCE_SUM, out);
  write_set("replicated", desc->replicated, desc->replicated_count, TSR_REDUCE_SUM, out);
  if (desc->mesh_name) {
    tsr_text_add(out, " mesh=");
    tsr_write_short_name(desc->mesh_name, out);
  }
}
