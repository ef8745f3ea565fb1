// JSON, read strictly (RFC 8259, UTF-8, no duplicate keys) and written exactly.
//
// 64-bit integers are exact, and every value knows its byte offset. A document is one block of
// nodes over the caller's bytes, so a 100 MB header costs little more than a scan.
#ifndef TESSERA_JSON_JSON_H
#define TESSERA_JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/status.h"
#include "tessera/text.h"

typedef enum tsr_json_kind {
  TSR_JSON_NULL,
  TSR_JSON_BOOL,
  TSR_JSON_NUMBER,
  TSR_JSON_STRING,
  TSR_JSON_ARRAY,
  TSR_JSON_OBJECT
} tsr_json_kind;

typedef struct tsr_json_doc tsr_json_doc;  // owns the values
typedef struct tsr_json tsr_json;          // one value; lives as long as its document

// Reads one value and nothing after it. `bytes` must outlive the document: strings without escapes
// are views of them. Errors name line, column and byte. At most 512 levels.
TSR_MUST_USE tsr_status tsr_json_parse(const char *bytes, size_t length, tsr_json_doc **out_doc);
// The same for a whole file, which the document then owns.
TSR_MUST_USE tsr_status tsr_json_read_file(const char *path, tsr_json_doc **out_doc);
void tsr_json_destroy(tsr_json_doc *doc);  // NULL is fine
const tsr_json *tsr_json_root(const tsr_json_doc *doc);

tsr_json_kind tsr_json_kind_of(const tsr_json *value);
const char *tsr_json_kind_name(tsr_json_kind kind);                        // "object"
size_t tsr_json_position(const tsr_json_doc *doc, const tsr_json *value);  // byte offset

// Members of an array or object, in the order of the text; NULL at the end. For members of an
// object, tsr_json_key gives the name.
size_t tsr_json_count(const tsr_json *value);  // 0 for scalars
const tsr_json *tsr_json_first(const tsr_json *value);
const tsr_json *tsr_json_next(const tsr_json *value);
const char *tsr_json_key(const tsr_json *member, size_t *out_length);  // not terminated
bool tsr_json_key_is(const tsr_json *member, const char *name);
// A member by name or position; NULL if there is none or `value` is of another kind (or NULL). By
// name takes constant time also in large objects; by position in arrays of scalars, else use
// tsr_json_next.
const tsr_json *tsr_json_find(const tsr_json *value, const char *name);
const tsr_json *tsr_json_at(const tsr_json *value, size_t index);

// Scalars. The wrong kind is an error; `what` names the value in it, as in "shape: wanted an
// integer, found \"x\"", or "missing" for NULL. A number with a fraction or an exponent is no
// integer; one out of range is an error.
TSR_MUST_USE tsr_status tsr_json_get_bool(const tsr_json *value, const char *what, bool *out_bool);
TSR_MUST_USE tsr_status tsr_json_get_int(const tsr_json *value, const char *what, int64_t *out_int);
TSR_MUST_USE tsr_status tsr_json_get_double(const tsr_json *value, const char *what,
                                            double *out_double);
// A string's bytes, escapes resolved, not terminated; may contain '\0'.
TSR_MUST_USE tsr_status tsr_json_get_string(const tsr_json *value, const char *what,
                                            const char **out_bytes, size_t *out_length);
// Whether the value is this very string. False for other kinds and NULL.
bool tsr_json_is_string(const tsr_json *value, const char *string);

// Writes a value back, compactly; parse and print are inverses up to white space.
void tsr_json_print(const tsr_json *value, tsr_text *out);

// A writer that handles commas, indentation and escapes. Begin and end must pair (asserted).
typedef struct tsr_json_writer {
  tsr_text *out;
  int indent;  // spaces per level; 0 = one line
  int depth;
  bool need_comma, after_key;
  // Which open containers are on one line, one bit per level: for lists of numbers.
  uint64_t inline_levels;
} tsr_json_writer;

void tsr_json_writer_init(tsr_json_writer *writer, tsr_text *out, int indent);
void tsr_json_begin_object(tsr_json_writer *writer);
void tsr_json_begin_inline_object(tsr_json_writer *writer);
void tsr_json_end_object(tsr_json_writer *writer);
void tsr_json_begin_array(tsr_json_writer *writer);
void tsr_json_begin_inline_array(tsr_json_writer *writer);
void tsr_json_end_array(tsr_json_writer *writer);
// Strings are UTF-8; invalid bytes become U+FFFD, so that the output is valid.
void tsr_json_write_key(tsr_json_writer *writer, const char *key);
void tsr_json_write_string(tsr_json_writer *writer, const char *string);  // NULL = null
void tsr_json_write_bytes(tsr_json_writer *writer, const char *bytes, size_t length);
void tsr_json_write_int(tsr_json_writer *writer, int64_t value);
void tsr_json_write_uint(tsr_json_writer *writer, uint64_t value);
// The shortest form that reads back as the same double, as Python's repr; null if not finite.
void tsr_json_write_double(tsr_json_writer *writer, double value);
void tsr_json_write_bool(tsr_json_writer *writer, bool value);
void tsr_json_write_null(tsr_json_writer *writer);
void tsr_json_write_ints(tsr_json_writer *writer, const int64_t *values, size_t count);

// A member of the open object: its key and its value, or the container that it opens.
void tsr_json_add_int(tsr_json_writer *writer, const char *key, int64_t value);
void tsr_json_add_bool(tsr_json_writer *writer, const char *key, bool value);
void tsr_json_add_null(tsr_json_writer *writer, const char *key);
void tsr_json_add_double(tsr_json_writer *writer, const char *key, double value);
void tsr_json_add_string(tsr_json_writer *writer, const char *key, const char *value);
void tsr_json_add_ints(tsr_json_writer *writer, const char *key, const int64_t *values,
                       size_t count);
void tsr_json_add_object(tsr_json_writer *writer, const char *key);
void tsr_json_add_array(tsr_json_writer *writer, const char *key);
void tsr_json_add_inline_array(tsr_json_writer *writer, const char *key);

// A text that is one object, indented by two, with a newline at its end.
void tsr_json_begin_document(tsr_json_writer *writer, tsr_text *out);
void tsr_json_end_document(tsr_json_writer *writer);

#endif
