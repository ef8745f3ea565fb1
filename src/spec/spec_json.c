// The JSON form of a spec: a list of entries, as in the recorded answers of the peers.
#include <string.h>

#include "json/json.h"
#include "spec/forms.h"
#include "spec/spec_internal.h"

// ---- reading ----

static tsr_status read_name(tsr_spec_builder *builder, const tsr_json *value,
                            const char **out_name) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, "axis", &bytes, &length));
  if (length && memchr(bytes, '\0', length))
    return tsr_fail(SYNTAX, "an axis name with a zero byte");
  return tsr_spec_builder_name(builder, bytes, length, out_name);
}

static tsr_status read_member(tsr_spec_builder *builder, const tsr_json *value) {
  tsr_axis_ref ref = {"", 1, 0};
  const tsr_json_kind kind = tsr_json_kind_of(value);
  if (kind == TSR_JSON_ARRAY)
    return tsr_fail(NESTED_TUPLE, "a group inside a group, wanted an axis");
  if (kind != TSR_JSON_NULL) TSR_TRY(read_name(builder, value, &ref.name));
  return tsr_spec_builder_axis(builder, &ref);
}

// A group of one means its member, so [{"unconstrained": true}] is unconstrained, as in JAX.
static const tsr_json *sole_object(const tsr_json *value) {
  const tsr_json *first = tsr_json_first(value);
  const bool sole = tsr_json_kind_of(value) == TSR_JSON_ARRAY && first && !tsr_json_next(first) &&
                    tsr_json_kind_of(first) == TSR_JSON_OBJECT;
  return sole ? first : value;
}

static tsr_status read_entry(tsr_spec_builder *builder, const tsr_json *value) {
  TSR_TRY(tsr_spec_builder_dim(builder));
  value = sole_object(value);
  switch (tsr_json_kind_of(value)) {
    case TSR_JSON_NULL:
      return NULL;
    case TSR_JSON_OBJECT:
      return tsr_json_get_bool(tsr_json_find(value, "unconstrained"), "unconstrained",
                               &tsr_spec_builder_last_dim(builder)->open);
    case TSR_JSON_ARRAY:
      TSR_TRY(tsr_spec_builder_stage(builder));
      for (const tsr_json *m = tsr_json_first(value); m; m = tsr_json_next(m))
        TSR_TRY(read_member(builder, m));
      return NULL;
    case TSR_JSON_BOOL:
    case TSR_JSON_NUMBER:
    case TSR_JSON_STRING:
      break;
  }
  TSR_TRY(tsr_spec_builder_stage(builder));
  return read_member(builder, value);
}

static tsr_status read_entries(tsr_spec_builder *builder, const tsr_json *list) {
  if (!list || tsr_json_kind_of(list) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "spec: wanted an array of entries, found %s",
                    list ? tsr_json_kind_name(tsr_json_kind_of(list)) : "nothing");
  for (const tsr_json *entry = tsr_json_first(list); entry; entry = tsr_json_next(entry))
    TSR_TRY_NOTE(read_entry(builder, entry), "entry %d", builder->dims.count - 1);
  return NULL;
}

static tsr_status read_text(const tsr_json *value, tsr_spec **out_spec) {
  tsr_spec_builder names = TSR_SPEC_BUILDER_EMPTY;
  const char *text = NULL;
  tsr_status status = read_name(&names, value, &text);
  if (!status) status = tsr_spec_parse(text, TSR_FORM_ANY, out_spec);
  tsr_spec_builder_deinit(&names);
  return status;
}

tsr_status tsr_spec_from_json(const tsr_json *value, tsr_spec **out_spec) {
  if (value && tsr_json_kind_of(value) == TSR_JSON_STRING) return read_text(value, out_spec);
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = read_entries(&builder, value);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// ---- writing ----

static bool is_list(const tsr_spec_desc *desc) {
  if (desc->unreduced_count || desc->reduced_count || desc->replicated_count || desc->mesh_name ||
      tsr_spec_not_plain(desc, false))
    return false;
  for (int d = 0; d < desc->dim_count; d++) {
    const tsr_spec_dim *dim = &desc->dims[d];
    if (dim->has_priority || (dim->open && dim->stage_count)) return false;
  }
  return true;
}

static void write_name(const char *name, tsr_json_writer *writer) {
  tsr_json_write_string(writer, name[0] ? name : NULL);
}

static void write_entry(const tsr_spec_dim *dim, tsr_json_writer *writer) {
  if (dim->open) {
    tsr_json_begin_object(writer);
    tsr_json_add_bool(writer, "unconstrained", true);
    tsr_json_end_object(writer);
  } else if (!dim->stage_count) {
    tsr_json_write_null(writer);
  } else if (dim->stages[0].axis_count == 1) {
    write_name(dim->stages[0].axes[0].name, writer);
  } else {
    tsr_json_begin_inline_array(writer);
    for (int i = 0; i < dim->stages[0].axis_count; i++)
      write_name(dim->stages[0].axes[i].name, writer);
    tsr_json_end_array(writer);
  }
}

void tsr_spec_to_json(const tsr_spec *spec, tsr_json_writer *writer) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  if (is_list(desc)) {
    tsr_json_begin_inline_array(writer);
    for (int d = 0; d < desc->dim_count; d++) write_entry(&desc->dims[d], writer);
    tsr_json_end_array(writer);
    return;
  }
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_spec_write_short(desc, &text);
  tsr_json_write_string(writer, tsr_text_string(&text));
  // A truncated text must not pass for the whole; the writer's text remembers the failure.
  if (text.failed) writer->out->failed = true;
  tsr_text_deinit(&text);
}
