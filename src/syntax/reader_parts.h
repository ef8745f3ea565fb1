// What the files of the reader of types and attributes share.
#ifndef TESSERA_SYNTAX_READER_PARTS_H
#define TESSERA_SYNTAX_READER_PARTS_H

#include "syntax/reader.h"

// The number of an INTEGER token; false beyond 64 bits.
bool tsr_token_magnitude(const tsr_token *token, uint64_t *out_magnitude);
// Moves behind the bracket that closes the one at the current token. Strings are stepped over.
TSR_MUST_USE tsr_status tsr_skip_brackets(tsr_reader *reader);
// The text of a type or attribute of another dialect, as MLIR writes it: #name.rest<...> or
// #name<...>. It may be a copy in the program.
TSR_MUST_USE tsr_status tsr_read_dialect_text(tsr_reader *reader, const char **out_text,
                                              size_t *out_length);
// Whether "<" stands directly behind the current token.
bool tsr_reader_angle_follows(const tsr_reader *reader);
// The dialect of a HASH or BANG token: all before the first dot; and what follows the dot, empty
// without one.
typedef struct tsr_dialect_name {
  const char *dialect, *rest;
  size_t dialect_length, rest_length;
} tsr_dialect_name;
tsr_dialect_name tsr_token_dialect(const tsr_token *token);
bool tsr_dialect_is(const tsr_dialect_name *name, const char *dialect);

// What an alias at the current token stands for; takes the token.
TSR_MUST_USE tsr_status tsr_read_attr_alias(tsr_reader *reader, const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_read_type_alias(tsr_reader *reader, const tsr_type **out_type);

// Lists that grow in the program's arena.
typedef struct tsr_attr_list {
  const tsr_attr **items;
  int64_t count;
} tsr_attr_list;
TSR_MUST_USE tsr_status tsr_attr_list_add(tsr_reader *reader, tsr_attr_list *list,
                                          const tsr_attr *attr);

// dense<...>, array<...> and dense_resource<...>, from the word on.
TSR_MUST_USE tsr_status tsr_read_dense(tsr_reader *reader, const tsr_type *type,
                                       const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_read_dense_array(tsr_reader *reader, const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_read_resource(tsr_reader *reader, const tsr_type *type,
                                          const tsr_attr **out_attr);
// ": type", or the given type where there is one.
TSR_MUST_USE tsr_status tsr_read_colon_type(tsr_reader *reader, const tsr_type *given,
                                            const tsr_type **out_type);
// Keeps the text from `start` to the last token as an attribute.
TSR_MUST_USE tsr_status tsr_keep_opaque(tsr_reader *reader, const char *start,
                                        const tsr_attr **out_attr);
// An integer literal as an element of an integer type: its bits, cut to 64. `at` is for messages.
TSR_MUST_USE tsr_status tsr_check_integer(const tsr_reader *reader, const char *at,
                                          const tsr_type *type, bool negative, uint64_t magnitude,
                                          uint64_t *out_bits);

// Readers of record bodies: what follows #dialect.name, the brackets included.
typedef tsr_status tsr_read_body(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr);
tsr_read_body tsr_read_struct, tsr_read_conv, tsr_read_bounds, tsr_read_sub_axis_info;
tsr_read_body tsr_read_sdy_names, tsr_read_sdy_mesh_axis, tsr_read_sdy_mesh, tsr_read_sdy_axis;
tsr_read_body tsr_read_sdy_dim, tsr_read_sdy_sharding, tsr_read_sdy_list, tsr_read_sdy_dim_mapping;
tsr_read_body tsr_read_sdy_rule, tsr_read_sdy_all_to_all;
// An array of records between two signs.
TSR_MUST_USE tsr_status tsr_read_record_list(tsr_reader *reader, const char *open,
                                             const char *close, tsr_record_id id,
                                             const tsr_attr **out_array);

#endif
