// What the ops of a file are in StableHLO, and their attributes.
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/artifact.h"

// ---- names ----

// Whether VHLO has the op in another version: the same name before "_v".
static const char *known_version(const tsr_artifact_string *name) {
  const char *version = strrchr(name->bytes, '_');
  if (!version || version[1] != 'v') return NULL;
  char other[64];
  const size_t length = (size_t)(version - name->bytes);
  if (length + 4 > sizeof other) return NULL;
  memcpy(other, name->bytes, length);
  const char *known = NULL;
  for (int i = 1; i <= 9; i++) {
    other[length] = '_';
    other[length + 1] = 'v';
    other[length + 2] = (char)('0' + i);
    const tsr_vhlo_op *op = tsr_vhlo_find(other, length + 3);
    if (op) known = op->name;
  }
  return known;
}

static tsr_status unknown_vhlo(const tsr_wire_cursor *cursor, const tsr_artifact_string *name) {
  const char *known = known_version(name);
  if (known)
    return tsr_wire_fail(cursor, UNKNOWN_VERSION,
                         "op \"vhlo.%.60s\" is newer than StableHLO %d.%d, whose op is \"vhlo.%s\"",
                         name->bytes, TSR_VHLO_NEWEST / 1000, TSR_VHLO_NEWEST % 1000, known);
  return tsr_wire_fail(cursor, UNKNOWN_OP, "op \"vhlo.%.60s\" is not known (StableHLO %d.%d)",
                       name->bytes, TSR_VHLO_NEWEST / 1000, TSR_VHLO_NEWEST % 1000);
}

static tsr_status intern_names(tsr_artifact *artifact, tsr_artifact_op *op) {
  const int count = op->vhlo ? op->vhlo->attr_count : op->info->attr_count;
  op->attr_names = tsr_arena_zeros(&artifact->arena, (size_t)count + 1, sizeof *op->attr_names);
  TSR_NEED(op->attr_names);
  for (int i = 0; i < count; i++) {
    const char *name = op->vhlo ? op->vhlo->attrs[i].name : op->info->attrs[i].name;
    if (!name) continue;
    op->attr_names[i] = tsr_ir_name(artifact->ir, name, strlen(name));
    TSR_NEED(op->attr_names[i]);
  }
  return NULL;
}

static tsr_status make_full_name(tsr_artifact *artifact, tsr_artifact_op *op) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, artifact->dialects[op->dialect].name.bytes);
  if (op->name.length) {
    tsr_text_add_char(&text, '.');
    tsr_text_add(&text, op->name.bytes);
  }
  op->full_name = text.failed ? NULL : tsr_ir_name(artifact->ir, text.data, text.length);
  tsr_text_deinit(&text);
  TSR_NEED(op->full_name);
  return NULL;
}

// Ops of unknown dialects are kept if their attributes have names.
static tsr_status check_known(const tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                              const tsr_artifact_op *op, const tsr_op_info *info) {
  const bool other = artifact->dialects[op->dialect].code == TSR_DIALECT_COUNT;
  if (info->id != TSR_OP_UNKNOWN || (other && (!op->registered || artifact->version < 5)))
    return NULL;
  return tsr_wire_fail(cursor, UNKNOWN_OP, "op \"%.120s\" is not known", op->full_name);
}

tsr_status tsr_artifact_resolve(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                tsr_artifact_op *op) {
  const tsr_op_info *info = NULL;
  if (artifact->dialects[op->dialect].code == TSR_DIALECT_VHLO) {
    op->vhlo = tsr_vhlo_find(op->name.bytes, op->name.length);
    if (!op->vhlo) return unknown_vhlo(cursor, &op->name);
    info = tsr_op_info_of(op->vhlo->id);
    op->full_name = info->name;
  } else {
    TSR_TRY(make_full_name(artifact, op));
    info = tsr_op_find(op->full_name, strlen(op->full_name));
    TSR_TRY(check_known(artifact, cursor, op, info));
  }
  op->info = info;
  return intern_names(artifact, op);
}

// ---- attributes ----

typedef struct op_attrs {
  tsr_artifact *artifact;
  const tsr_artifact_op *op;
  const tsr_wire_cursor *place;  // of the op
  tsr_wire_cursor *properties;   // NULL = `dict` has all attributes
  const tsr_attr *dict;          // NULL = there are none
  tsr_named_attr *attrs;         // the result
  int count;
} op_attrs;

// Adds the op to a failure that names no byte.
static tsr_status in_op(const op_attrs *reader, tsr_status failure) {
  if (!failure) return NULL;
  return tsr_wire_place(reader->place, tsr_note(failure, "%s", reader->op->full_name));
}

static tsr_status read_stored(op_attrs *reader, const char *name, bool required,
                              const tsr_attr **out_attr) {
  tsr_wire_cursor *properties = reader->properties;
  if (!properties) {
    *out_attr = tsr_dict_find(reader->dict, name);
    if (*out_attr || !required) return NULL;
    return in_op(reader, tsr_fail(BROKEN_PROGRAM, "the attribute \"%s\" is missing", name));
  }
  // Attributes that came later stand at the end.
  if (!required && properties->at == properties->end) return NULL;
  if (required) return tsr_artifact_attr(reader->artifact, properties, out_attr);
  return tsr_artifact_optional_attr(reader->artifact, properties, out_attr);
}

static tsr_status read_vhlo(op_attrs *reader) {
  const tsr_vhlo_op *vhlo = reader->op->vhlo;
  const tsr_attr **stored =
      tsr_arena_zeros(&reader->artifact->arena, (size_t)vhlo->attr_count + 1, sizeof *stored);
  TSR_NEED(stored);
  for (int i = 0; i < vhlo->attr_count; i++)
    TSR_TRY(read_stored(reader, vhlo->attrs[i].stored, true, &stored[i]));
  return in_op(reader, tsr_vhlo_convert(reader->artifact->ir, vhlo, reader->op->attr_names, stored,
                                        reader->attrs, &reader->count));
}

// An enum of Shardy may be stored as its number.
static tsr_status fit_enum(op_attrs *reader, const tsr_attr_info *field, const tsr_attr **attr) {
  if (field->form != TSR_FORM_ENUM || (*attr)->kind != TSR_ATTR_INTEGER) return NULL;
  const tsr_enum_info *info = tsr_enum_info_of((tsr_enum_id)field->id);
  const int64_t value = (*attr)->integer;
  if (!tsr_enum_name((tsr_enum_id)field->id, value))
    return tsr_fail(BROKEN_PROGRAM, "%s: case %lld of %s.%s, which is not known", field->name,
                    (long long)value, info->dialect, info->name);
  *attr = tsr_attr_enum(reader->artifact->ir, (tsr_enum_id)field->id, (int)value);
  TSR_NEED(*attr);
  return NULL;
}

static tsr_status read_known(op_attrs *reader) {
  const tsr_op_info *info = reader->op->info;
  for (int i = 0; i < info->attr_count; i++) {
    const tsr_attr *attr = NULL;
    TSR_TRY(read_stored(reader, info->attrs[i].name, info->attrs[i].required, &attr));
    if (!attr) continue;
    TSR_TRY(in_op(reader, fit_enum(reader, &info->attrs[i], &attr)));
    reader->attrs[reader->count++] = (tsr_named_attr){reader->op->attr_names[i], attr};
  }
  return NULL;
}

static tsr_status read_dictionary(op_attrs *reader) {
  const tsr_attr *dict = NULL;
  TSR_TRY(tsr_artifact_attr(reader->artifact, reader->properties, &dict));
  if (dict->kind != TSR_ATTR_DICT)
    return in_op(reader, tsr_fail(BROKEN_PROGRAM, "its properties are not a dictionary"));
  if (reader->op->vhlo) {
    reader->properties = NULL;
    reader->dict = dict;
    return read_vhlo(reader);
  }
  reader->attrs =
      tsr_arena_zeros(&reader->artifact->arena, (size_t)dict->count + 1, sizeof *reader->attrs);
  TSR_NEED(reader->attrs);
  for (int64_t i = 0; i < dict->count; i++) reader->attrs[i] = dict->entries[i];
  reader->count = (int)dict->count;
  return NULL;
}

static tsr_status check_forms(const op_attrs *reader) {
  const tsr_op_info *info = reader->op->info;
  for (int i = 0; i < reader->count; i++)
    for (int k = 0; k < info->attr_count; k++) {
      const tsr_attr_info *field = &info->attrs[k];
      if (strcmp(field->name, reader->attrs[i].name) != 0) continue;
      if (!tsr_attr_has_form(reader->attrs[i].attr, field->form, field->id))
        return tsr_fail(BROKEN_PROGRAM, "the attribute \"%s\" has another kind than the op wants",
                        field->name);
    }
  return NULL;
}

tsr_status tsr_artifact_op_attrs(tsr_artifact *artifact, const tsr_wire_cursor *place,
                                 const tsr_artifact_op *op, tsr_wire_cursor *properties,
                                 const tsr_attr *dict, tsr_named_attr **out_attrs, int *out_count) {
  op_attrs reader = {artifact, op, place, properties, dict, NULL, 0};
  const int most = op->vhlo ? op->vhlo->attr_count : op->info->attr_count;
  reader.attrs = tsr_arena_zeros(&artifact->arena, (size_t)most + 1, sizeof *reader.attrs);
  TSR_NEED(reader.attrs);
  if (properties && !op->registered)
    TSR_TRY(read_dictionary(&reader));
  else
    TSR_TRY(op->vhlo ? read_vhlo(&reader) : read_known(&reader));
  if (properties) TSR_TRY(tsr_wire_end(properties));
  TSR_TRY(in_op(&reader, check_forms(&reader)));
  *out_attrs = reader.attrs;
  *out_count = reader.count;
  return NULL;
}
