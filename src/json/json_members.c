// Members of objects: one call for a key and its value, and one for all fields of a struct.
#include "base/text_internal.h"
#include "json/json.h"
#include "json/json_fields.h"

void tsr_json_add_int(tsr_json_writer *writer, const char *key, int64_t value) {
  tsr_json_write_key(writer, key);
  tsr_json_write_int(writer, value);
}

void tsr_json_add_null(tsr_json_writer *writer, const char *key) {
  tsr_json_write_key(writer, key);
  tsr_json_write_null(writer);
}

void tsr_json_add_bool(tsr_json_writer *writer, const char *key, bool value) {
  tsr_json_write_key(writer, key);
  tsr_json_write_bool(writer, value);
}

void tsr_json_add_double(tsr_json_writer *writer, const char *key, double value) {
  tsr_json_write_key(writer, key);
  tsr_json_write_double(writer, value);
}

void tsr_json_add_string(tsr_json_writer *writer, const char *key, const char *value) {
  tsr_json_write_key(writer, key);
  tsr_json_write_string(writer, value);
}

void tsr_json_add_ints(tsr_json_writer *writer, const char *key, const int64_t *values,
                       size_t count) {
  tsr_json_write_key(writer, key);
  tsr_json_write_ints(writer, values, count);
}

void tsr_json_add_object(tsr_json_writer *writer, const char *key) {
  tsr_json_write_key(writer, key);
  tsr_json_begin_object(writer);
}

void tsr_json_add_array(tsr_json_writer *writer, const char *key) {
  tsr_json_write_key(writer, key);
  tsr_json_begin_array(writer);
}

void tsr_json_add_inline_array(tsr_json_writer *writer, const char *key) {
  tsr_json_write_key(writer, key);
  tsr_json_begin_inline_array(writer);
}

void tsr_json_begin_document(tsr_json_writer *writer, tsr_text *out) {
  tsr_json_writer_init(writer, out, 2);
  tsr_json_begin_object(writer);
}

void tsr_json_end_document(tsr_json_writer *writer) {
  tsr_json_end_object(writer);
  tsr_text_add_char(writer->out, '\n');
}

void tsr_json_add_fields(tsr_json_writer *writer, const tsr_json_field *fields,
                         const void *record) {
  for (const tsr_json_field *field = fields; field->key; field++) {
    const void *value = (const char *)record + field->offset;
    switch (field->type) {
      case TSR_JSON_FIELD_INT:
        tsr_json_add_int(writer, field->key, *(const int *)value);
        break;
      case TSR_JSON_FIELD_INT64:
        tsr_json_add_int(writer, field->key, *(const int64_t *)value);
        break;
      case TSR_JSON_FIELD_BOOL:
        tsr_json_add_bool(writer, field->key, *(const bool *)value);
        break;
      case TSR_JSON_FIELD_DOUBLE:
        tsr_json_add_double(writer, field->key, *(const double *)value);
        break;
      case TSR_JSON_FIELD_STRING:
        tsr_json_add_string(writer, field->key, *(const char *const *)value);
        break;
    }
  }
}
