// Helpers for readers of JSON documents.
#ifndef TESSERA_JSON_JSON_READ_H
#define TESSERA_JSON_JSON_READ_H

#include "base/arena.h"
#include "json/json.h"
#include "tessera/api.h"
#include "tessera/status.h"

// As tsr_json_parse, for a text that begins at byte `start` of a file: positions count from the
// file's first byte.
TSR_MUST_USE tsr_status tsr_json_parse_at(const char *bytes, size_t length, size_t start,
                                          tsr_json_doc **out_doc);
// The error for a value of another kind, or NULL: "shape: wanted an array, found 3".
TSR_MUST_USE tsr_status tsr_json_wrong_kind(const tsr_json *value, const char *what,
                                            const char *wanted);
// Fails unless the value is an object whose keys are all among `keys`, which ends with NULL.
TSR_MUST_USE tsr_status tsr_json_check_keys(const tsr_json *value, const char *const *keys);
// Fails unless the member "schema" of an object is this one; other versions are not supported.
TSR_MUST_USE tsr_status tsr_json_check_schema(const tsr_json *value, const char *schema);
// Fails unless the value is an array; `what` names it. NULL reads "missing".
TSR_MUST_USE tsr_status tsr_json_want_array(const tsr_json *value, const char *what);
// A terminated copy of a string in the arena; a zero byte inside is an error.
TSR_MUST_USE tsr_status tsr_json_copy_string(const tsr_json *value, const char *what,
                                             tsr_arena *arena, const char **out_string);

#endif
