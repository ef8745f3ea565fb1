// Metadata of a file: strings by name, as in safetensors' __metadata__.
#ifndef TESSERA_FILE_FILE_METADATA_H
#define TESSERA_FILE_FILE_METADATA_H

#include "base/arena.h"
#include "json/json.h"
#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/status.h"
#include "tessera/text.h"

typedef struct tsr_metadata_list {
  int64_t count, capacity;
  tsr_metadata *items;  // owned; the texts are in an arena
} tsr_metadata_list;

void tsr_metadata_list_deinit(tsr_metadata_list *list);
// Adds copies of the texts, which are not terminated.
TSR_MUST_USE tsr_status tsr_metadata_list_add(tsr_metadata_list *list, tsr_arena *arena,
                                              const char *key, size_t key_length, const char *value,
                                              size_t value_length);
// Adds the members of an object of strings, a value of `doc`; other values are an error. Strings
// are cut off at a zero byte, with a warning.
TSR_MUST_USE tsr_status tsr_metadata_list_read(tsr_metadata_list *list, tsr_arena *arena,
                                               const tsr_json_doc *doc, const tsr_json *value,
                                               tsr_text *warnings);

// Writes an object sorted by key, so that equal metadata makes equal files.
TSR_MUST_USE tsr_status tsr_metadata_write(const tsr_metadata *items, int64_t count,
                                           tsr_json_writer *json);

#endif
