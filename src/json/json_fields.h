// Structs as members of a JSON object, by a table: one row for each field.
//
//   static const tsr_json_field link_fields[] = TSR_JSON_FIELDS(tsr_link, alpha, beta);
//   tsr_json_add_fields(&writer, link_fields, &link);
//
// Keys are the names of the fields; TSR_JSON_FIELD_AS is a row with another key. The type is that
// of the field: one that is not listed does not compile, nor does an array of characters.
#ifndef TESSERA_JSON_JSON_FIELDS_H
#define TESSERA_JSON_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/json.h"

typedef enum tsr_json_field_type {
  TSR_JSON_FIELD_INT,
  TSR_JSON_FIELD_INT64,
  TSR_JSON_FIELD_BOOL,
  TSR_JSON_FIELD_DOUBLE,
  TSR_JSON_FIELD_STRING
} tsr_json_field_type;

typedef struct tsr_json_field {
  const char *key;  // NULL ends the table
  tsr_json_field_type type;
  size_t offset;
} tsr_json_field;

// clang-format off
#define TSR_JSON_FIELD_AS(record, field, key_)                                                     \
  {.key = (key_),                                                                                  \
   .type = _Generic(((record){0}).field, int: TSR_JSON_FIELD_INT, int64_t: TSR_JSON_FIELD_INT64,   \
                    bool: TSR_JSON_FIELD_BOOL, double: TSR_JSON_FIELD_DOUBLE,                      \
                    const char *: TSR_JSON_FIELD_STRING),                                          \
   .offset = offsetof(record, field)}
#define TSR_JSON_FIELD(record, field) TSR_JSON_FIELD_AS(record, field, #field)
#define TSR_JSON_FIELDS(record, ...)                                                               \
  {TSR_JSON_PICK(__VA_ARGS__, TSR_JSON_ROWS_14, TSR_JSON_ROWS_13, TSR_JSON_ROWS_12,                \
                 TSR_JSON_ROWS_11, TSR_JSON_ROWS_10, TSR_JSON_ROWS_9, TSR_JSON_ROWS_8,             \
                 TSR_JSON_ROWS_7, TSR_JSON_ROWS_6, TSR_JSON_ROWS_5, TSR_JSON_ROWS_4,               \
                 TSR_JSON_ROWS_3, TSR_JSON_ROWS_2, TSR_JSON_ROWS_1,                                \
                 0)(record, __VA_ARGS__), {0}}
#define TSR_JSON_PICK(f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, rows, ...) rows
#define TSR_JSON_ROWS_1(record, field) TSR_JSON_FIELD(record, field)
#define TSR_JSON_ROWS_2(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_1(r, __VA_ARGS__)
#define TSR_JSON_ROWS_3(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_2(r, __VA_ARGS__)
#define TSR_JSON_ROWS_4(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_3(r, __VA_ARGS__)
#define TSR_JSON_ROWS_5(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_4(r, __VA_ARGS__)
#define TSR_JSON_ROWS_6(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_5(r, __VA_ARGS__)
#define TSR_JSON_ROWS_7(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_6(r, __VA_ARGS__)
#define TSR_JSON_ROWS_8(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_7(r, __VA_ARGS__)
#define TSR_JSON_ROWS_9(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_8(r, __VA_ARGS__)
#define TSR_JSON_ROWS_10(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_9(r, __VA_ARGS__)
#define TSR_JSON_ROWS_11(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_10(r, __VA_ARGS__)
#define TSR_JSON_ROWS_12(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_11(r, __VA_ARGS__)
#define TSR_JSON_ROWS_13(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_12(r, __VA_ARGS__)
#define TSR_JSON_ROWS_14(r, field, ...) TSR_JSON_FIELD(r, field), TSR_JSON_ROWS_13(r, __VA_ARGS__)
// clang-format on

// Adds the fields to the open object.
void tsr_json_add_fields(tsr_json_writer *writer, const tsr_json_field *fields, const void *record);

#endif
