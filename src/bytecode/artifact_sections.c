// The container: the header, the sections, and the tables of strings, dialects, op names, entries
// and properties. Entries are only located here; they are decoded when something uses them.
#include <string.h>

#include "bytecode/artifact.h"
#include "bytecode/bytecode.h"

static const char *const section_names[TSR_SECTION_COUNT] = {
    "string section",  "dialect section",  "attribute and type section", "entry size section",
    "ir section",      "resource section", "resource size section",      "dialect version section",
    "property section"};

// Tables are as long as their section says, which is checked against its bytes first.
#define MAKE(artifact, count, list)                                                    \
  do {                                                                                 \
    (list) = tsr_arena_zeros(&(artifact)->arena, (size_t)(count) + 1, sizeof *(list)); \
    TSR_NEED(list);                                                                    \
  } while (0)

// ---- sections ----

static tsr_status read_section(tsr_wire_cursor *cursor, tsr_artifact_section *out_id,
                               tsr_wire_cursor *out_section) {
  unsigned char id = 0;
  uint64_t length = 0, alignment = 1;
  const unsigned char *data = NULL;
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_wire_byte(cursor, &id));
  if ((id & 127) >= TSR_SECTION_COUNT)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "section id %d, expected 0 to %d", id & 127,
                         TSR_SECTION_COUNT - 1);
  TSR_TRY(tsr_wire_varint(cursor, &length));
  if (id & 128) TSR_TRY(tsr_wire_varint(cursor, &alignment));
  TSR_TRY(tsr_wire_pad(cursor, alignment));
  tsr_wire_cursor section = *cursor;
  section.what = section_names[id & 127];
  section.index = -1;
  TSR_TRY(tsr_wire_bytes(&section, length, &data));
  section.end = cursor->at = section.at;
  section.at = data;
  *out_id = (tsr_artifact_section)(id & 127);
  *out_section = section;
  return NULL;
}

tsr_status tsr_artifact_nested(tsr_wire_cursor *cursor, tsr_artifact_section wanted,
                               tsr_wire_cursor *out_section) {
  const tsr_wire_cursor start = *cursor;
  tsr_artifact_section id = TSR_SECTION_COUNT;
  TSR_TRY(read_section(cursor, &id, out_section));
  if (id == wanted) return NULL;
  return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected a nested %s, found %s",
                       section_names[wanted], section_names[id]);
}

static tsr_status check_needed(const tsr_artifact *artifact, const tsr_wire_cursor *end) {
  for (int id = 0; id < TSR_SECTION_COUNT; id++) {
    const bool needed =
        id <= TSR_SECTION_IR || (id == TSR_SECTION_PROPERTIES && artifact->version >= 5);
    if (needed && !artifact->sections[id].at)
      return tsr_wire_fail(end, BROKEN_PROGRAM, "the %s is missing", section_names[id]);
  }
  if (!artifact->sections[TSR_SECTION_RESOURCES].at !=
      !artifact->sections[TSR_SECTION_RESOURCE_SIZES].at)
    return tsr_wire_fail(end, BROKEN_PROGRAM,
                         "one of the resource section and the resource size section is missing");
  return NULL;
}

static tsr_status find_sections(tsr_artifact *artifact, tsr_wire_cursor *cursor) {
  while (cursor->at < cursor->end) {
    const tsr_wire_cursor start = *cursor;
    tsr_artifact_section id = TSR_SECTION_COUNT;
    tsr_wire_cursor section;
    TSR_TRY(read_section(cursor, &id, &section));
    if (artifact->sections[id].at)
      return tsr_wire_fail(&start, BROKEN_PROGRAM, "a second %s", section_names[id]);
    if (id == TSR_SECTION_DIALECT_VERSION)
      return tsr_wire_fail(&start, BROKEN_PROGRAM, "a %s outside of the %s", section_names[id],
                           section_names[TSR_SECTION_DIALECTS]);
    artifact->sections[id] = section;
  }
  return check_needed(artifact, cursor);
}

// ---- the header ----

static tsr_status check_producer(const tsr_wire_cursor *cursor, const char *producer) {
  if (!strncmp(producer, "StableHLO_v", 11)) return NULL;
  return tsr_wire_fail(
      cursor, UNSUPPORTED,
      "ordinary MLIR bytecode of \"%.60s\", which only the version of MLIR that "
      "wrote it reads; serialize the module as a portable artifact (jax.export, or "
      "serialize_portable_artifact of StableHLO), or print it as text",
      producer);
}

static tsr_status read_header(tsr_artifact *artifact, tsr_wire_cursor *cursor) {
  uint64_t version = 0;
  const tsr_wire_cursor start = *cursor;
  if (!tsr_bytecode_is(artifact->bytes, artifact->length))
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "expected \"ML\\xefR\"");
  cursor->at += 4;
  const tsr_wire_cursor place = *cursor;
  TSR_TRY(tsr_wire_varint(cursor, &version));
  if (version > TSR_ARTIFACT_NEWEST)
    return tsr_wire_fail(&place, UNKNOWN_VERSION, "MLIR bytecode version %llu, at most %d is known",
                         (unsigned long long)version, TSR_ARTIFACT_NEWEST);
  artifact->version = (int)version;
  const unsigned char *end = memchr(cursor->at, 0, tsr_wire_left(cursor));
  if (!end) return tsr_wire_fail(cursor, BROKEN_PROGRAM, "the name of the producer does not end");
  TSR_TRY(check_producer(cursor, (const char *)cursor->at));
  cursor->at = end + 1;
  return NULL;
}

// ---- strings ----

// The sizes count the '\0' after each string and come in reverse order, so the strings are taken
// from the end of the section.
static tsr_status read_strings(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = artifact->sections[TSR_SECTION_STRINGS];
  int count = 0;
  TSR_TRY(tsr_wire_count(&cursor, "strings", &count));
  MAKE(artifact, count, artifact->strings);
  artifact->string_count = count;
  for (int i = count - 1; i >= 0; i--) {
    uint64_t size = 0;
    TSR_TRY(tsr_wire_varint(&cursor, &size));
    if (!size || size > tsr_wire_left(&cursor))
      return tsr_wire_fail(&cursor, BROKEN_PROGRAM, "string %d has %llu bytes, expected 1 to %zu",
                           i, (unsigned long long)size, tsr_wire_left(&cursor));
    cursor.end -= size;
    if (cursor.end[size - 1])
      return tsr_wire_fail(&cursor, BROKEN_PROGRAM, "string %d does not end with a zero", i);
    artifact->strings[i] = (tsr_artifact_string){(const char *)cursor.end, (size_t)size - 1};
  }
  return tsr_wire_end(&cursor);
}

tsr_status tsr_artifact_string_at(const tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                  tsr_artifact_string *out_string) {
  int index = 0;
  TSR_TRY(tsr_wire_index(cursor, "string", artifact->string_count, &index));
  *out_string = artifact->strings[index];
  return NULL;
}

// ---- dialects and op names ----

static tsr_code_dialect code_of(const tsr_artifact_string *name) {
  static const char *const known[TSR_DIALECT_COUNT] = {"builtin", "vhlo", "sdy", "stablehlo",
                                                       "quant"};
  int i = 0;
  while (i < TSR_DIALECT_COUNT && strcmp(known[i], name->bytes) != 0) i++;
  return (tsr_code_dialect)i;
}

static tsr_status read_flagged_string(const tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                      bool has_flag, tsr_artifact_string *out_string,
                                      bool *out_flag) {
  if (!has_flag) return tsr_artifact_string_at(artifact, cursor, out_string);
  const tsr_wire_cursor start = *cursor;
  uint64_t index = 0;
  TSR_TRY(tsr_wire_flagged(cursor, &index, out_flag));
  TSR_TRY(tsr_wire_check_index(&start, "string", index, artifact->string_count));
  *out_string = artifact->strings[index];
  return NULL;
}

static tsr_status read_dialect(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               tsr_artifact_dialect *dialect) {
  bool has_version = false;
  TSR_TRY(
      read_flagged_string(artifact, cursor, artifact->version >= 1, &dialect->name, &has_version));
  dialect->code = code_of(&dialect->name);
  tsr_wire_cursor version;
  if (has_version) TSR_TRY(tsr_artifact_nested(cursor, TSR_SECTION_DIALECT_VERSION, &version));
  return NULL;
}

// A group is a dialect and the number of its things.
static tsr_status read_group(const tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const char *what, int *out_dialect, int *out_count) {
  TSR_TRY(tsr_wire_index(cursor, "dialect", artifact->dialect_count, out_dialect));
  return tsr_wire_count(cursor, what, out_count);
}

static tsr_status read_op_names(tsr_artifact *artifact, tsr_wire_cursor *cursor) {
  // Before version 4 there is no count; a name takes a byte, and so does nothing else.
  int most = (int)(tsr_wire_left(cursor) < INT32_MAX / 2 ? tsr_wire_left(cursor) : INT32_MAX / 2);
  if (artifact->version >= 4) TSR_TRY(tsr_wire_count(cursor, "op names", &most));
  MAKE(artifact, most, artifact->ops);
  while (cursor->at < cursor->end) {
    int dialect = 0, count = 0;
    TSR_TRY(read_group(artifact, cursor, "op names", &dialect, &count));
    if (count > most - artifact->op_count)
      return tsr_wire_fail(cursor, BROKEN_PROGRAM, "more op names than the %d announced", most);
    for (int i = 0; i < count; i++) {
      tsr_artifact_op *op = &artifact->ops[artifact->op_count++];
      op->dialect = dialect;
      op->registered = true;
      TSR_TRY(read_flagged_string(artifact, cursor, artifact->version >= 5, &op->name,
                                  &op->registered));
    }
  }
  return NULL;
}

static tsr_status read_dialects(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = artifact->sections[TSR_SECTION_DIALECTS];
  TSR_TRY(tsr_wire_count(&cursor, "dialects", &artifact->dialect_count));
  MAKE(artifact, artifact->dialect_count, artifact->dialects);
  for (int i = 0; i < artifact->dialect_count; i++)
    TSR_TRY(read_dialect(artifact, &cursor, &artifact->dialects[i]));
  return read_op_names(artifact, &cursor);
}

// ---- entries ----

static tsr_status read_entries(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               tsr_wire_cursor *data, int count, tsr_artifact_entry *entries) {
  for (int done = 0; done < count;) {
    int dialect = 0, group = 0;
    TSR_TRY(read_group(artifact, cursor, "entries", &dialect, &group));
    if (group > count - done)
      return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%d entries in a group, but %d are left", group,
                           count - done);
    for (int i = 0; i < group; i++) {
      tsr_artifact_entry *entry = &entries[done++];
      uint64_t length = 0;
      entry->dialect = dialect;
      TSR_TRY(tsr_wire_flagged(cursor, &length, &entry->coded));
      if (length > tsr_wire_left(data))
        return tsr_wire_fail(cursor, BROKEN_PROGRAM, "entry of %llu bytes, but %zu are left",
                             (unsigned long long)length, tsr_wire_left(data));
      entry->length = (size_t)length;
      entry->bytes = data->at;
      data->at += length;
    }
  }
  return NULL;
}

static tsr_status read_entry_sizes(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = artifact->sections[TSR_SECTION_ENTRY_SIZES];
  tsr_wire_cursor data = artifact->sections[TSR_SECTION_ENTRIES];
  TSR_TRY(tsr_wire_count(&cursor, "attributes", &artifact->attr_count));
  TSR_TRY(tsr_wire_count(&cursor, "types", &artifact->type_count));
  MAKE(artifact, artifact->attr_count, artifact->attrs);
  MAKE(artifact, artifact->type_count, artifact->types);
  TSR_TRY(read_entries(artifact, &cursor, &data, artifact->attr_count, artifact->attrs));
  TSR_TRY(read_entries(artifact, &cursor, &data, artifact->type_count, artifact->types));
  TSR_TRY(tsr_wire_end(&cursor));
  return tsr_wire_end(&data);
}

// ---- properties ----

static tsr_status read_properties(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = artifact->sections[TSR_SECTION_PROPERTIES];
  if (!cursor.at) return NULL;
  TSR_TRY(tsr_wire_count(&cursor, "properties", &artifact->property_count));
  MAKE(artifact, artifact->property_count, artifact->properties);
  for (int i = 0; i < artifact->property_count; i++) {
    tsr_artifact_properties *entry = &artifact->properties[i];
    entry->op = -1;
    TSR_TRY(tsr_wire_blob(&cursor, &entry->bytes, &entry->length));
  }
  return tsr_wire_end(&cursor);
}

tsr_status tsr_artifact_open(tsr_artifact *artifact) {
  tsr_wire_cursor cursor = {artifact->name,  artifact->bytes,
                            artifact->bytes, artifact->bytes + artifact->length,
                            "header",        -1};
  artifact->i64 = tsr_type_integer(artifact->ir, 64, TSR_SIGNLESS);
  TSR_NEED(artifact->i64);
  TSR_TRY(read_header(artifact, &cursor));
  cursor.what = "file";
  TSR_TRY(find_sections(artifact, &cursor));
  TSR_TRY(read_strings(artifact));
  TSR_TRY(read_dialects(artifact));
  TSR_TRY(read_entry_sizes(artifact));
  return read_properties(artifact);
}
