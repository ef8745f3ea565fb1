// Attributes and types by their index: decoded when first used, and once.
//
// Entries refer to each other in any order. An entry that is used while it is decoded is a cycle.
// The depth of what an entry holds is kept with it, since entries that were decoded before, one by
// one, can be nested as deeply as the table is long.
#include "bytecode/artifact.h"

// What is common to attributes and types.
typedef struct entry_kind {
  const char *name;
  tsr_status (*decode)(tsr_artifact *artifact, tsr_wire_cursor *cursor, tsr_artifact_entry *entry);
} entry_kind;

static const char *dialect_name(const tsr_artifact *artifact, const tsr_artifact_entry *entry) {
  return artifact->dialects[entry->dialect].name.bytes;
}

static tsr_status read_code(const tsr_artifact *artifact, tsr_wire_cursor *cursor,
                            const tsr_artifact_entry *entry, uint64_t *out_code) {
  if (artifact->dialects[entry->dialect].code != TSR_DIALECT_COUNT)
    return tsr_wire_varint(cursor, out_code);
  return tsr_wire_fail(cursor, UNSUPPORTED,
                       "it is encoded by the dialect \"%.60s\", which is not known",
                       dialect_name(artifact, entry));
}

static tsr_status unknown_code(const tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                               const tsr_artifact_entry *entry, uint64_t code) {
  return tsr_wire_fail(cursor, UNKNOWN_VERSION,
                       "%s code %llu of the dialect \"%s\" is not known; the file was written by a "
                       "newer version",
                       cursor->what, (unsigned long long)code, dialect_name(artifact, entry));
}

static tsr_status decode_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              tsr_artifact_entry *entry) {
  if (!entry->coded) return tsr_artifact_text_attr(artifact, cursor, &entry->attr);
  const tsr_wire_cursor start = *cursor;
  uint64_t code = 0;
  TSR_TRY(read_code(artifact, cursor, entry, &code));
  const tsr_attr_code *row = tsr_attr_code_of(artifact->dialects[entry->dialect].code, code);
  if (!row) return unknown_code(artifact, &start, entry, code);
  TSR_TRY(tsr_artifact_decode_attr(artifact, cursor, row, &entry->attr));
  if (entry->attr->weight > TSR_MOST_WEIGHT)
    return tsr_wire_fail(&start, TOO_LARGE, "it would be printed with more than %d parts",
                         TSR_MOST_WEIGHT);
  return tsr_wire_end(cursor);
}

static tsr_status decode_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              tsr_artifact_entry *entry) {
  if (!entry->coded) return tsr_artifact_text_type(artifact, cursor, &entry->type);
  const tsr_wire_cursor start = *cursor;
  uint64_t code = 0;
  TSR_TRY(read_code(artifact, cursor, entry, &code));
  const tsr_type_code *row = tsr_type_code_of(artifact->dialects[entry->dialect].code, code);
  if (!row) return unknown_code(artifact, &start, entry, code);
  TSR_TRY(tsr_artifact_decode_type(artifact, cursor, row, &entry->type));
  if (entry->type->weight > TSR_MOST_WEIGHT)
    return tsr_wire_fail(&start, TOO_LARGE, "it would be printed with more than %d parts",
                         TSR_MOST_WEIGHT);
  return tsr_wire_end(cursor);
}

static tsr_status check_depth(const tsr_wire_cursor *cursor, int depth) {
  if (depth <= TSR_ARTIFACT_DEPTH) return NULL;
  return tsr_wire_fail(cursor, TOO_LARGE, "nested more than %d deep", TSR_ARTIFACT_DEPTH);
}

static tsr_status decode(tsr_artifact *artifact, const entry_kind *kind, tsr_artifact_entry *entry,
                         int64_t index) {
  tsr_wire_cursor cursor = {artifact->name, artifact->bytes,
                            entry->bytes,   entry->bytes + entry->length,
                            kind->name,     index};
  if (entry->state == TSR_ENTRY_OPEN)
    return tsr_wire_fail(&cursor, BROKEN_PROGRAM, "it contains itself");
  TSR_TRY(check_depth(&cursor, artifact->depth + 1));
  const int before = artifact->inside;
  artifact->inside = 0;
  artifact->depth++;
  entry->state = TSR_ENTRY_OPEN;
  TSR_TRY(kind->decode(artifact, &cursor, entry));
  entry->state = TSR_ENTRY_DONE;
  artifact->depth--;
  entry->depth = artifact->inside + 1;
  artifact->inside = before;
  return check_depth(&cursor, entry->depth);
}

static void note_depth(tsr_artifact *artifact, const tsr_artifact_entry *entry) {
  if (artifact->inside < entry->depth) artifact->inside = entry->depth;
}

tsr_status tsr_artifact_attr_index(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                   uint64_t index, const tsr_attr **out_attr) {
  static const entry_kind kind = {"attribute", decode_attr};
  TSR_TRY(tsr_wire_check_index(cursor, "attribute", index, artifact->attr_count));
  tsr_artifact_entry *entry = &artifact->attrs[index];
  if (entry->state != TSR_ENTRY_DONE) TSR_TRY(decode(artifact, &kind, entry, (int64_t)index));
  note_depth(artifact, entry);
  *out_attr = entry->attr;
  return NULL;
}

tsr_status tsr_artifact_type_index(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                   uint64_t index, const tsr_type **out_type) {
  static const entry_kind kind = {"type", decode_type};
  TSR_TRY(tsr_wire_check_index(cursor, "type", index, artifact->type_count));
  tsr_artifact_entry *entry = &artifact->types[index];
  if (entry->state != TSR_ENTRY_DONE) TSR_TRY(decode(artifact, &kind, entry, (int64_t)index));
  note_depth(artifact, entry);
  *out_type = entry->type;
  return NULL;
}

tsr_status tsr_artifact_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  uint64_t index = 0;
  TSR_TRY(tsr_wire_varint(cursor, &index));
  return tsr_artifact_attr_index(artifact, &start, index, out_attr);
}

tsr_status tsr_artifact_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_type **out_type) {
  const tsr_wire_cursor start = *cursor;
  uint64_t index = 0;
  TSR_TRY(tsr_wire_varint(cursor, &index));
  return tsr_artifact_type_index(artifact, &start, index, out_type);
}

tsr_status tsr_artifact_optional_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                      const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  uint64_t index = 0;
  bool present = false;
  TSR_TRY(tsr_wire_flagged(cursor, &index, &present));
  if (present) return tsr_artifact_attr_index(artifact, &start, index, out_attr);
  if (index)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "an absent attribute with the index %llu",
                         (unsigned long long)index);
  *out_attr = NULL;
  return NULL;
}

static bool is_location(const tsr_attr *attr) {
  return attr->kind == TSR_ATTR_RECORD && attr->id >= TSR_RECORD_LOC_UNKNOWN &&
         attr->id <= TSR_RECORD_LOC_FUSED;
}

tsr_status tsr_artifact_location(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                 const tsr_attr **out_location) {
  const tsr_wire_cursor start = *cursor;
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_artifact_attr(artifact, cursor, &attr));
  if (!is_location(attr))
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected a location, found another attribute");
  *out_location = attr->id == TSR_RECORD_LOC_UNKNOWN ? NULL : attr;
  return NULL;
}
