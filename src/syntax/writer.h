// Printing types, attributes and locations as MLIR does; the inverse of syntax/reader.h. The whole
// forms are tsr_type_print and tsr_attr_print (syntax/syntax.h); here are those that ops use.
// Numbers of an op's own notation are printed with tsr_text_add_int.
#ifndef TESSERA_SYNTAX_WRITER_H
#define TESSERA_SYNTAX_WRITER_H

#include "ir/ir.h"
#include "tessera/text.h"

// An attribute without ": type" after it, as ops print it where the type stands elsewhere.
void tsr_attr_print_untyped(const tsr_attr *attr, tsr_text *out);
// The same as tsr_attr_print; constants of more than `elide_elements` elements (0 = none) become
// dense_resource<__elided__>.
void tsr_attr_print_elided(const tsr_attr *attr, int64_t elide_elements, tsr_text *out);
// {a = 1 : i32, b}: entries as tsr_attr_print prints them. Nothing for an empty list.
void tsr_attr_dict_print(const tsr_named_attr *entries, int64_t count, tsr_text *out);
// The name of an entry, in quotes where it is no word: name or "any name".
void tsr_attr_name_print(const char *name, tsr_text *out);
// The inverse of tsr_read_record_body.
void tsr_record_body_print(const tsr_attr *record, tsr_text *out);
void tsr_enum_case_print(const tsr_attr *value, tsr_text *out);                // HIGHEST
void tsr_enum_list_print(const tsr_attr *array, tsr_text *out);                // [DEFAULT, HIGHEST]
void tsr_ints_print(const tsr_attr *ints, tsr_text *out);                      // [0, 1]
void tsr_string_print(const char *bytes, size_t length, tsr_text *out);        // in quotes, escaped
void tsr_symbol_print(const char *name, size_t length, tsr_text *out);         // @name, @"any name"
void tsr_types_print(const tsr_type *const *types, int count, tsr_text *out);  // T, U
void tsr_type_list_print(const tsr_type *const *types, int count, tsr_text *out);  // (T, U)
// What follows "->" in a function type: T, or (T, U), or ().
void tsr_result_types_print(const tsr_type *const *types, int count, tsr_text *out);
void tsr_dims_print(const int64_t *dims, int rank, tsr_text *out);  // 4x?x8
void tsr_location_print(const tsr_attr *location, tsr_text *out);   // loc(...); NULL = unknown

#endif
