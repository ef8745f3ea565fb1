// Resources: blobs outside of the constants, found by a key. Those of dialects become the
// program's; external ones (of tools) are only skipped.
#include <stdlib.h>
#include <string.h>

#include "bytecode/artifact.h"

typedef enum resource_kind { RESOURCE_BLOB, RESOURCE_BOOL, RESOURCE_STRING } resource_kind;

typedef struct resource_reader {
  tsr_artifact *artifact;
  tsr_wire_cursor sizes, data;
  tsr_named_attr *blobs;
  int64_t blob_count;
} resource_reader;

static tsr_status add_blob(resource_reader *reader, const tsr_artifact_string *key,
                           const unsigned char *bytes, size_t length) {
  tsr_ir *ir = reader->artifact->ir;
  const int64_t size = (int64_t)length;
  const tsr_type *type = tsr_type_shaped(ir, TSR_I8, 1, &size);
  const char *name = tsr_ir_name(ir, key->bytes, strlen(key->bytes));
  const tsr_attr *blob = type ? tsr_attr_dense(ir, type, bytes, length) : NULL;
  TSR_NEED(name);
  TSR_NEED(blob);
  reader->blobs[reader->blob_count++] = (tsr_named_attr){name, blob};
  return NULL;
}

static tsr_status read_data(resource_reader *reader, const tsr_artifact_string *key,
                            unsigned char kind, bool external) {
  tsr_wire_cursor *data = &reader->data;
  uint64_t alignment = 0, length = 0;
  const unsigned char *bytes = NULL;
  unsigned char flag = 0;
  tsr_artifact_string string = {0};
  switch (kind) {
    case RESOURCE_BLOB:
      TSR_TRY(tsr_wire_varint(data, &alignment));
      TSR_TRY(tsr_wire_varint(data, &length));
      TSR_TRY(tsr_wire_pad(data, alignment));
      TSR_TRY(tsr_wire_bytes(data, length, &bytes));
      return external ? NULL : add_blob(reader, key, bytes, (size_t)length);
    case RESOURCE_BOOL:
      return tsr_wire_byte(data, &flag);
    case RESOURCE_STRING:
      return tsr_artifact_string_at(reader->artifact, data, &string);
    default:
      return tsr_wire_fail(&reader->sizes, BROKEN_PROGRAM,
                           "resource kind %d, expected a blob, bool or string (0 to 2)", kind);
  }
}

static tsr_status read_resource(resource_reader *reader, bool external) {
  tsr_artifact *artifact = reader->artifact;
  tsr_artifact_string key = {0};
  uint64_t size = 0;
  unsigned char kind = 0;
  TSR_TRY(tsr_artifact_string_at(artifact, &reader->sizes, &key));
  TSR_TRY(tsr_wire_varint(&reader->sizes, &size));
  TSR_TRY(tsr_wire_byte(&reader->sizes, &kind));
  if (!external) artifact->resource_keys[artifact->resource_count++] = key;
  if (!size) return NULL;
  const unsigned char *bytes = NULL;
  tsr_wire_cursor rest = reader->data;
  TSR_TRY(tsr_wire_bytes(&rest, size, &bytes));
  reader->data.end = rest.at;
  TSR_TRY(read_data(reader, &key, kind, external));
  TSR_TRY(tsr_wire_end(&reader->data));
  reader->data.end = rest.end;
  return NULL;
}

static tsr_status read_group(resource_reader *reader, bool external) {
  int count = 0;
  TSR_TRY(tsr_wire_count(&reader->sizes, "resources", &count));
  for (int i = 0; i < count; i++) TSR_TRY(read_resource(reader, external));
  return NULL;
}

static tsr_status read_groups(resource_reader *reader) {
  tsr_artifact *artifact = reader->artifact;
  int count = 0;
  TSR_TRY(tsr_wire_count(&reader->sizes, "external resource groups", &count));
  for (int i = 0; i < count; i++) {
    tsr_artifact_string name = {0};
    TSR_TRY(tsr_artifact_string_at(artifact, &reader->sizes, &name));
    TSR_TRY(read_group(reader, true));
  }
  while (reader->sizes.at < reader->sizes.end) {
    int dialect = 0;
    TSR_TRY(tsr_wire_index(&reader->sizes, "dialect", artifact->dialect_count, &dialect));
    TSR_TRY(read_group(reader, false));
  }
  return tsr_wire_end(&reader->data);
}

tsr_status tsr_artifact_read_resources(tsr_artifact *artifact) {
  resource_reader reader = {.artifact = artifact,
                            .sizes = artifact->sections[TSR_SECTION_RESOURCE_SIZES],
                            .data = artifact->sections[TSR_SECTION_RESOURCES]};
  if (!reader.sizes.at) return NULL;
  const size_t most = tsr_wire_left(&reader.sizes);  // a resource takes more than a byte
  artifact->resource_keys =
      tsr_arena_zeros(&artifact->arena, most + 1, sizeof *artifact->resource_keys);
  reader.blobs = tsr_arena_zeros(&artifact->ir->arena, most + 1, sizeof *reader.blobs);
  TSR_NEED(artifact->resource_keys);
  TSR_NEED(reader.blobs);
  TSR_TRY(read_groups(&reader));
  qsort(reader.blobs, (size_t)reader.blob_count, sizeof *reader.blobs, tsr_named_attr_order);
  for (int64_t i = 1; i < reader.blob_count; i++)
    if (reader.blobs[i].name == reader.blobs[i - 1].name)
      return tsr_wire_fail(&reader.sizes, BROKEN_PROGRAM, "two resources \"%.60s\"",
                           reader.blobs[i].name);
  artifact->ir->resources = reader.blobs;
  artifact->ir->resource_count = reader.blob_count;
  return NULL;
}
