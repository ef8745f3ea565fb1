// Reading MLIR text: tokens, and the types, attributes and locations made of them.
//
// A reader stands at one token, which it has not taken yet. Functions that take something leave it
// at the token after it. Those called `take` give false and move nothing where something else
// stands; those called `expect` and `read` fail then, with the place and the line in the message:
//
//   step.mlir:3:14: expected ":", found "tensor"
//
// Tokens are those of MLIR, so "tensor<4x8xf32>" begins with the tokens `tensor` `<` `4` `x8xf32`.
// Lists of dimensions are read character by character (tsr_read_dims).
//
// Aliases (#name = ..., !name = ...) may be defined anywhere at the start of a line, also after
// their use. The first one that is not known makes the reader look through the whole text.
#ifndef TESSERA_SYNTAX_READER_H
#define TESSERA_SYNTAX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/name_index.h"
#include "ir/ir.h"
#include "ir/issues.h"
#include "tessera/text.h"

enum {
  TSR_READER_DEPTH = 256,         // of nested types, attributes, locations and regions
  TSR_READER_ALIAS_DEPTH = 2048,  // the same with what aliases stand for
};

typedef enum tsr_token_kind {
  TSR_TOKEN_END,      // of the text
  TSR_TOKEN_WORD,     // stablehlo.add, x4xf32, true
  TSR_TOKEN_VALUE,    // %arg0; a "#1" directly after it is the next token, a HASH
  TSR_TOKEN_SYMBOL,   // @main or @"any name"
  TSR_TOKEN_BLOCK,    // ^bb0
  TSR_TOKEN_HASH,     // #loc1, #stablehlo.gather, #stablehlo, #1
  TSR_TOKEN_BANG,     // !quant.uniform, !alias
  TSR_TOKEN_INTEGER,  // 12 or 0x1F, without a sign
  TSR_TOKEN_FLOAT,    // 1.5 or 1.e-3, without a sign
  TSR_TOKEN_STRING,   // with its quotes
  TSR_TOKEN_SIGN,     // punctuation: one of ( ) { } [ ] < > , : = ? * + - | / and the longer ones
                      // -> :: ... {-# #-}
  TSR_TOKEN_WRONG     // a character or string that MLIR does not have; reading it fails
} tsr_token_kind;

typedef struct tsr_token {
  tsr_token_kind kind;
  const char *start, *end;  // in the text
} tsr_token;

typedef struct tsr_alias {
  const char *name;  // without "#" or "!"
  const char *at;    // what follows "="
  const char *end;   // of the definition; NULL until it is read
  const tsr_attr *attr;
  const tsr_type *type;
  bool open;  // being read: using it now is a cycle
  int depth;  // levels inside
} tsr_alias;

typedef struct tsr_alias_table {
  tsr_name_index index;
  tsr_alias *aliases;  // owned
  int64_t count, capacity;
} tsr_alias_table;

// Tensor types read before, by their text: programs write few types many times.
enum { TSR_KNOWN_TYPES = 256 };
typedef struct tsr_known_type {
  const char *text;  // NULL = free
  size_t length;
  const tsr_type *type;
} tsr_known_type;

typedef struct tsr_reader {
  tsr_ir *ir;
  const char *name;         // of the file, for messages
  const char *start, *end;  // the text
  const char *at;           // after the current token
  tsr_token token;          // the current one
  const char *last_end;     // the end of the token taken last
  int depth, reached;       // levels now, and the most of the alias that is being read
  bool searched;            // for aliases
  bool one_line;            // messages name only the column
  tsr_alias_table attr_aliases, type_aliases;
  tsr_issues issues;  // for callers that go on after a failure
  // The newest place asked for (tsr_reader_place), from which the next is counted.
  const char *line_start;
  uint32_t line;
  tsr_text scratch;  // for strings with escapes
  tsr_known_type known_types[TSR_KNOWN_TYPES];
} tsr_reader;

// Stands at the first token. `text` is borrowed for the program's life and need not be terminated.
void tsr_reader_init(tsr_reader *reader, tsr_ir *ir, const char *name, const char *text,
                     size_t length);
void tsr_reader_deinit(tsr_reader *reader);

// ---- tokens ----

// Takes the current token.
void tsr_next(tsr_reader *reader);
// Goes back (or on) to a place in the text: the token that starts at or after it is current.
void tsr_reader_seek(tsr_reader *reader, const char *at);
// The token after the current one.
tsr_token tsr_peek_next(const tsr_reader *reader);

static inline size_t tsr_token_length(const tsr_token *token) {
  return (size_t)(token->end - token->start);
}
static inline bool tsr_token_is(const tsr_token *token, const char *text) {  // exactly this text
  const size_t length = strlen(text);
  return tsr_token_length(token) == length && !memcmp(token->start, text, length);
}
static inline bool tsr_at_kind(const tsr_reader *reader, tsr_token_kind kind) {
  return reader->token.kind == kind;
}
static inline bool tsr_at_sign(const tsr_reader *reader, const char *sign) {  // "(" or "->"
  return reader->token.kind == TSR_TOKEN_SIGN && tsr_token_is(&reader->token, sign);
}
static inline bool tsr_at_word(const tsr_reader *reader, const char *word) {
  return reader->token.kind == TSR_TOKEN_WORD && tsr_token_is(&reader->token, word);
}
static inline bool tsr_take_sign(tsr_reader *reader, const char *sign) {
  if (!tsr_at_sign(reader, sign)) return false;
  tsr_next(reader);
  return true;
}
static inline bool tsr_take_word(tsr_reader *reader, const char *word) {
  if (!tsr_at_word(reader, word)) return false;
  tsr_next(reader);
  return true;
}
// Fails with SYNTAX at the current token: expected "literal".
TSR_MUST_USE tsr_status tsr_reader_expected_literal(const tsr_reader *reader, const char *literal);
TSR_MUST_USE static inline tsr_status tsr_expect_sign(tsr_reader *reader, const char *sign) {
  return tsr_take_sign(reader, sign) ? NULL : tsr_reader_expected_literal(reader, sign);
}
TSR_MUST_USE static inline tsr_status tsr_expect_word(tsr_reader *reader, const char *word) {
  return tsr_take_word(reader, word) ? NULL : tsr_reader_expected_literal(reader, word);
}
// Any word that may be a name, such as an attribute's; of tsr_ir_name. `what` reads after
// "expected", as in all functions below.
TSR_MUST_USE tsr_status tsr_read_word(tsr_reader *reader, const char *what, const char **out_word);
// An integer of 64 bits with or without "-"; hexadecimal too.
TSR_MUST_USE tsr_status tsr_read_int(tsr_reader *reader, const char *what, int64_t *out_value);
// [1, -2, 3]: reads into `out_values`, which lives in the program.
TSR_MUST_USE tsr_status tsr_read_int_list(tsr_reader *reader, const int64_t **out_values,
                                          int64_t *out_count);
TSR_MUST_USE tsr_status tsr_read_bool(tsr_reader *reader, bool *out_value);  // true or false
// A string in quotes, its escapes replaced. The bytes live in the program, '\0' follows them.
TSR_MUST_USE tsr_status tsr_read_string(tsr_reader *reader, const char *what,
                                        const char **out_bytes, size_t *out_length);
// @name or @"any name": without "@", of tsr_ir_name.
TSR_MUST_USE tsr_status tsr_read_symbol_name(tsr_reader *reader, const char **out_name);
// Calls `read_one` for every element between `open` and `close`, which are separated by commas.
typedef tsr_status tsr_read_one(tsr_reader *reader, void *context);
TSR_MUST_USE tsr_status tsr_read_list(tsr_reader *reader, const char *open, const char *close,
                                      tsr_read_one *read_one, void *context);

// ---- failing ----

// Fails with SYNTAX at the current token: expected `what`, found "token".
TSR_MUST_USE tsr_status tsr_reader_expected(const tsr_reader *reader, const char *what);
// Fails at a place in the text: tsr_reader_fail(reader, at, SYNTAX, "...", ...).
#define tsr_reader_fail(reader, at, cause, ...) \
  tsr_raised(tsr_reader_fail_at(reader, at, TSR_CAUSE_##cause, __FILE__, __LINE__, __VA_ARGS__))
TSR_MUST_USE TSR_PRINTF(6, 7) tsr_status
    tsr_reader_fail_at(const tsr_reader *reader, const char *at, tsr_cause cause, const char *file,
                       int line, const char *format, ...);
// The line and column of a place, both from 1. Fast for places in ascending order.
void tsr_reader_place(tsr_reader *reader, const char *at, uint32_t *out_line, uint32_t *out_column);
// Counts a level of nesting; fails where there are too many. tsr_reader_leave takes it back.
TSR_MUST_USE tsr_status tsr_reader_enter(tsr_reader *reader);
static inline void tsr_reader_leave(tsr_reader *reader) { reader->depth--; }

// ---- types ----

TSR_MUST_USE tsr_status tsr_read_type(tsr_reader *reader, const tsr_type **out_type);
// (T, U) -> V or (T, U) -> (V, W).
TSR_MUST_USE tsr_status tsr_read_function_type(tsr_reader *reader, const tsr_type **out_type);
// Types separated by commas, at least one, without parentheses; the list lives in the program.
TSR_MUST_USE tsr_status tsr_read_types(tsr_reader *reader, const tsr_type *const **out_types,
                                       int *out_count);
// () or (T) or (T, U).
TSR_MUST_USE tsr_status tsr_read_type_list(tsr_reader *reader, const tsr_type *const **out_types,
                                           int *out_count);
// Dimensions as in 4x?x8, or as `4x?x` before an element type if `element_follows`. The current
// token may be anything; they begin at its start. The list lives in the program.
TSR_MUST_USE tsr_status tsr_read_dims(tsr_reader *reader, bool element_follows,
                                      const int64_t **out_dims, int *out_rank);

// ---- attributes ----

// Any attribute. Numbers, strings and dense attributes are followed by their type (": i32"), which
// is i64 or f64 where nothing follows. With `type` not NULL the attribute has this type and none is
// read after it, as in `padding = dense<0>` of an op that says the type elsewhere.
TSR_MUST_USE tsr_status tsr_read_attr(tsr_reader *reader, const tsr_type *type,
                                      const tsr_attr **out_attr);
// {name = attr, unit_name, "any name" = attr}; from "{" to "}". Names are unique.
TSR_MUST_USE tsr_status tsr_read_attr_dict(tsr_reader *reader, const tsr_attr **out_dict);
// One entry of it: name, and "= attr" unless it is a unit.
TSR_MUST_USE tsr_status tsr_read_named_attr(tsr_reader *reader, tsr_named_attr *out_entry);
// [attr, attr].
TSR_MUST_USE tsr_status tsr_read_array(tsr_reader *reader, const tsr_attr **out_array);
// A record as ops write it, without #dialect.name: <@mesh, [{"x"}]> of a sharding, {"x"} of manual
// axes, [{"x"}, {}] of axis lists, [<@mesh, []>, ...] of shardings per value,
// [b, 0, f]x[0, i, o]->[b, 0, f] of a convolution, <lhs_precision_type = ...> of an algorithm.
TSR_MUST_USE tsr_status tsr_read_record_body(tsr_reader *reader, tsr_record_id id,
                                             const tsr_attr **out_attr);
// A bare word of an enum, as in `compare LT`.
TSR_MUST_USE tsr_status tsr_read_enum(tsr_reader *reader, tsr_enum_id id,
                                      const tsr_attr **out_attr);
// [DEFAULT, HIGHEST]: an array of enums from bare words.
TSR_MUST_USE tsr_status tsr_read_enum_list(tsr_reader *reader, tsr_enum_id id,
                                           const tsr_attr **out_attr);
// loc(...). Unknown locations are the program's unknown_location record.
TSR_MUST_USE tsr_status tsr_read_location(tsr_reader *reader, const tsr_attr **out_location);
// The same if one comes next; NULL if not.
TSR_MUST_USE tsr_status tsr_read_optional_location(tsr_reader *reader,
                                                   const tsr_attr **out_location);

// ---- aliases ----

// Whether the current token begins a definition: #name = ..., !name = ...
bool tsr_at_alias_definition(const tsr_reader *reader);
TSR_MUST_USE tsr_status tsr_read_alias_definition(tsr_reader *reader);

#endif
