// A program in memory: types, attributes, values, operations, blocks and regions, as MLIR has them.
//
// A `tsr_ir` owns everything in one arena, so a whole program is freed at once. Types are interned:
// equal types of one program have the same address. Attributes are immutable and compared by
// content (tsr_attr_equal). Operations are linked in blocks and are changed by the functions below,
// which keep the lists of uses right. Nothing here reads, prints or checks a program.
//
// Constructors give NULL without memory, and nothing else: their arguments are the caller's
// responsibility. `TSR_NEED` turns NULL into a failure.
#ifndef TESSERA_IR_IR_H
#define TESSERA_IR_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "ir/op_table.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tessera/status.h"

typedef struct tsr_ir tsr_ir;
typedef struct tsr_type tsr_type;
typedef struct tsr_attr tsr_attr;
typedef struct tsr_op tsr_op;
typedef struct tsr_value tsr_value;
typedef struct tsr_use tsr_use;
typedef struct tsr_ir_block tsr_ir_block;
typedef struct tsr_region tsr_region;

#define TSR_NEED(pointer)                                              \
  do {                                                                 \
    if (!(pointer)) return tsr_fail(NO_MEMORY, "memory of a program"); \
  } while (0)

// ---- types ----

typedef enum tsr_type_kind {
  TSR_TYPE_INTEGER,
  TSR_TYPE_FLOAT,
  TSR_TYPE_INDEX,
  TSR_TYPE_COMPLEX,
  TSR_TYPE_TENSOR,    // ranked
  TSR_TYPE_UNRANKED,  // tensor<*xf32>
  TSR_TYPE_BUFFER,    // memref<2xf32>
  TSR_TYPE_TUPLE,
  TSR_TYPE_FUNCTION,
  TSR_TYPE_TOKEN,
  TSR_TYPE_FUTURE,
  TSR_TYPE_QUANT,
  TSR_TYPE_NONE,
  TSR_TYPE_WITNESS,  // !shape.witness
  TSR_TYPE_OPAQUE    // of another dialect: kept as its text
} tsr_type_kind;

enum { TSR_MOST_WEIGHT = 1 << 24 };

typedef enum tsr_sign { TSR_SIGNLESS, TSR_SIGNED, TSR_UNSIGNED } tsr_sign;

// TSR_FLOAT_F32 and so on, from ir/floats.def.
#define TSR_FLOAT_ROW(id, ...) TSR_FLOAT_##id,
typedef enum tsr_float {
#include "ir/floats.def"
  TSR_FLOAT_COUNT
} tsr_float;
#undef TSR_FLOAT_ROW

#define TSR_DYNAMIC INT64_MIN  // a dimension written "?"

typedef struct tsr_quant_scale {
  double scale;
  int64_t zero_point;
} tsr_quant_scale;

// Quantised values: integers of `storage` that stand for (integer - zero point) * scale.
typedef struct tsr_quant {
  bool is_signed;
  const tsr_type *storage, *expressed;
  int64_t storage_min, storage_max;
  int axis;  // -1 = one scale for all elements
  int scale_count;
  const tsr_quant_scale *scales;
} tsr_quant;

struct tsr_type {
  tsr_type_kind kind;
  // The dtype of a scalar type, and of the elements of a tensor or buffer; TSR_DTYPE_NONE where
  // there is none (index, tf32, i3, quantised). Integers without a sign are signed, i1 is bool.
  tsr_dtype dtype;
  uint64_t hash;
  uint32_t weight;           // the types inside, as they would be printed; see tsr_attr
  int width;                 // INTEGER: bits
  tsr_sign sign;             // INTEGER
  tsr_float format;          // FLOAT
  const tsr_type *element;   // COMPLEX, TENSOR, UNRANKED, BUFFER
  int rank;                  // TENSOR, BUFFER
  const int64_t *dims;       // TENSOR, BUFFER; TSR_DYNAMIC = unknown
  const tsr_attr *encoding;  // TENSOR, or NULL
  int count;                 // TUPLE, FUTURE, FUNCTION: of `types`
  int input_count;           // FUNCTION: the first of `types`; the rest are results
  const tsr_type *const *types;
  const tsr_quant *quant;  // QUANT
  const char *
      text;  // OPAQUE: as written, such as "!foo.bar<3>"; BUFFER: what follows the element, or NULL
};

const tsr_type *tsr_type_integer(tsr_ir *ir, int width, tsr_sign sign);
const tsr_type *tsr_type_float(tsr_ir *ir, tsr_float format);
const tsr_type *tsr_type_simple(tsr_ir *ir, tsr_type_kind kind);  // INDEX, TOKEN, NONE, WITNESS
const tsr_type *tsr_type_complex(tsr_ir *ir, const tsr_type *element);
const tsr_type *tsr_type_tensor(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                const tsr_attr *encoding);
const tsr_type *tsr_type_unranked(tsr_ir *ir, const tsr_type *element);
const tsr_type *tsr_type_buffer(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                const char *rest);
const tsr_type *tsr_type_tuple(tsr_ir *ir, tsr_type_kind kind, const tsr_type *const *types,
                               int count);  // TUPLE, FUTURE
const tsr_type *tsr_type_function(tsr_ir *ir, const tsr_type *const *inputs, int input_count,
                                  const tsr_type *const *results, int result_count);
const tsr_type *tsr_type_quant(tsr_ir *ir, const tsr_quant *quant);
const tsr_type *tsr_type_opaque(tsr_ir *ir, const char *text, size_t length);
// The scalar type of a dtype: i1 for bool, signless for signed integers.
const tsr_type *tsr_type_of_dtype(tsr_ir *ir, tsr_dtype dtype);
// A static tensor of a dtype.
const tsr_type *tsr_type_shaped(tsr_ir *ir, tsr_dtype dtype, int rank, const int64_t *dims);

bool tsr_type_is_shaped(const tsr_type *type);  // TENSOR, UNRANKED, BUFFER
bool tsr_type_is_static(const tsr_type *type);  // a TENSOR or BUFFER without unknown dimensions
// The type of the elements of a tensor or buffer; any other type itself.
const tsr_type *tsr_type_element(const tsr_type *type);
// The elements of a static tensor; -1 if it is not static or the count overflows.
int64_t tsr_type_element_count(const tsr_type *type);
// Bytes of one element in a dense attribute: ceil(bits / 8), a bool 1, index 8. 0 = not storable.
size_t tsr_type_element_bytes(const tsr_type *element);
// The bits of an integer, float or index type.
int tsr_type_bits(const tsr_type *type);
// The bound of a dimension in the encoding #stablehlo.bounds; TSR_DYNAMIC = none.
int64_t tsr_type_bound(const tsr_type *type, int dim);
const char *tsr_float_name(tsr_float format);  // "f8E4M3FN"
int tsr_float_bits(tsr_float format);
tsr_dtype tsr_float_dtype(tsr_float format);
int tsr_float_find(const char *name, size_t length);  // -1 = no such float

// ---- attributes ----

typedef enum tsr_attr_kind {
  TSR_ATTR_UNIT,
  TSR_ATTR_INTEGER,  // i1 is written true or false
  TSR_ATTR_FLOAT,
  TSR_ATTR_STRING,  // may hold any byte; `type` is NULL for most
  TSR_ATTR_SYMBOL,  // @a or @a::@b
  TSR_ATTR_TYPE,
  TSR_ATTR_ARRAY,
  TSR_ATTR_DICT,
  TSR_ATTR_DENSE,        // dense<...> : tensor<...>
  TSR_ATTR_DENSE_ARRAY,  // array<i64: 1, 2>
  TSR_ATTR_RESOURCE,     // dense_resource<key> : tensor<...>
  TSR_ATTR_ENUM,         // #stablehlo<precision HIGHEST>: one of ir/enums.def
  TSR_ATTR_RECORD,       // #stablehlo.gather<...>: fields as in ir/records.def
  TSR_ATTR_OPAQUE        // of another dialect: kept as its text
} tsr_attr_kind;

typedef struct tsr_named_attr {
  const char *name;  // of the program's names (tsr_ir_name): equal names have one address
  const tsr_attr *attr;
} tsr_named_attr;
int tsr_named_attr_order(const void *a, const void *b);  // by name, for qsort

struct tsr_attr {
  tsr_attr_kind kind;
  int id;         // ENUM: tsr_enum_id; RECORD: tsr_record_id
  int64_t count;  // ARRAY, DICT, RECORD, SYMBOL (nested names): of items or entries; DENSE_ARRAY:
                  // elements
  bool splat;     // DENSE: `bytes` has one element, which all elements equal
  // The attributes inside, counted as often as they would be printed: shared ones several times.
  // Readers of untrusted files refuse attributes of more than TSR_MOST_WEIGHT.
  uint32_t weight;
  uint64_t hash;         // of the content; of DENSE elements only the first and the last few
  const tsr_type *type;  // INTEGER, FLOAT, DENSE, RESOURCE, TYPE: the type; DENSE_ARRAY: of its
                         // elements; STRING: or NULL
  union {
    int64_t integer;  // INTEGER: sign-extended if signless or signed, zero-extended if unsigned
                      // or i1; ENUM: the value
    uint64_t bits;    // FLOAT
    const tsr_attr *const *items;   // ARRAY, RECORD (NULL = an absent field), SYMBOL
    const tsr_named_attr *entries;  // DICT: sorted by name, names unique
  };
  // STRING: the bytes, '\0' after them; SYMBOL: the root name; RESOURCE: the key; OPAQUE: the text.
  // DENSE, DENSE_ARRAY: row-major little-endian elements of tsr_type_element_bytes each; complex
  // numbers are two; may be unaligned, and may be a view of the file that was read.
  const char *bytes;
  size_t length;
};

// TSR_ENUM_PRECISION and so on, from ir/enums.def.
#define TSR_ENUM_FAMILY(id, ...) TSR_ENUM_##id,
#define TSR_ENUM_CASE(...)
typedef enum tsr_enum_id {
#include "ir/enums.def"
  TSR_ENUM_COUNT
} tsr_enum_id;
#undef TSR_ENUM_FAMILY
#undef TSR_ENUM_CASE
// Their values: TSR_DIRECTION_LT and so on.
#define TSR_ENUM_FAMILY(...)
#define TSR_ENUM_CASE(family, id, number, name) TSR_##family##_##id = (number),
enum tsr_enum_case {
#include "ir/enums.def"
};
#undef TSR_ENUM_FAMILY
#undef TSR_ENUM_CASE

// TSR_RECORD_GATHER and so on, and the positions of their fields: TSR_GATHER_OFFSET_DIMS, from
// ir/records.def.
#define TSR_RECORD_ROW(id, ...) TSR_RECORD_##id,
#define TSR_FIELD_ROW(...)
typedef enum tsr_record_id {
#include "ir/records.def"
  TSR_RECORD_COUNT
} tsr_record_id;
#undef TSR_RECORD_ROW
#undef TSR_FIELD_ROW
#define TSR_RECORD_ROW(id, ...) TSR_##id##_START_, TSR_##id##_BEFORE_ = -1,
#define TSR_FIELD_ROW(record, id, ...) TSR_##record##_##id,
enum tsr_record_field {
#include "ir/records.def"
};
#undef TSR_RECORD_ROW
#undef TSR_FIELD_ROW

// What a field of a record, or an inherent attribute of an op, may hold.
typedef enum tsr_attr_form {
  TSR_FORM_ANY_ATTR,
  TSR_FORM_UNIT,
  TSR_FORM_BOOL,  // INTEGER of i1
  TSR_FORM_INT,   // INTEGER of any type
  TSR_FORM_I32,
  TSR_FORM_I64,
  TSR_FORM_FLOAT,
  TSR_FORM_STRING,
  TSR_FORM_SYMBOL,
  TSR_FORM_TYPE,
  TSR_FORM_INTS,       // array<i64: ...>
  TSR_FORM_BOOLS,      // array<i1: ...>
  TSR_FORM_DENSE,      // any dense or dense_resource
  TSR_FORM_DENSE_I64,  // dense<...> : tensor<...xi64>
  TSR_FORM_ARRAY,
  TSR_FORM_DICT,
  TSR_FORM_ENUM,     // of family `id`
  TSR_FORM_RECORD,   // of record `id`
  TSR_FORM_ENUMS,    // array of them
  TSR_FORM_RECORDS,  // array of them
  TSR_FORM_SYMBOLS   // array of flat symbols
} tsr_attr_form;

typedef struct tsr_attr_info {
  const char *name;
  tsr_attr_form form;
  int id;  // of the enum or record
  bool required;
} tsr_attr_info;

typedef struct tsr_record_info {
  const char *dialect, *name;  // "stablehlo", "gather"
  int field_count;
  const tsr_attr_info *fields;
} tsr_record_info;

typedef struct tsr_enum_info {
  const char *dialect, *name;  // "stablehlo", "precision"
} tsr_enum_info;

tsr_record_info tsr_record_info_of(tsr_record_id id);
int tsr_record_find(const char *dialect, const char *name, size_t length);  // -1 = none
const tsr_enum_info *tsr_enum_info_of(tsr_enum_id id);
int tsr_enum_find(const char *dialect, const char *name, size_t length);  // -1 = none
int tsr_enum_value(tsr_enum_id id, const char *name, size_t length);      // -1 = none
const char *tsr_enum_name(tsr_enum_id id, int64_t value);                 // NULL = no such value

const tsr_attr *tsr_attr_unit(tsr_ir *ir);
const tsr_attr *tsr_attr_bool(tsr_ir *ir, bool value);
const tsr_attr *tsr_attr_integer(tsr_ir *ir, const tsr_type *type,
                                 int64_t value);  // kept to the width
const tsr_attr *tsr_attr_i64(tsr_ir *ir, int64_t value);
const tsr_attr *tsr_attr_float(tsr_ir *ir, const tsr_type *type, uint64_t bits);
const tsr_attr *tsr_attr_string(tsr_ir *ir, const char *bytes, size_t length);  // copied
const tsr_attr *tsr_attr_typed_string(tsr_ir *ir, const tsr_type *type, const char *bytes,
                                      size_t length);                          // "x" : i32
const tsr_attr *tsr_attr_symbol(tsr_ir *ir, const char *name, size_t length);  // copied
const tsr_attr *tsr_attr_nested_symbol(tsr_ir *ir, const char *name, size_t length,
                                       const tsr_attr *const *nested, int64_t count);
const tsr_attr *tsr_attr_type(tsr_ir *ir, const tsr_type *type);
const tsr_attr *tsr_attr_array(tsr_ir *ir, const tsr_attr *const *items, int64_t count);  // copied
// Copies and sorts the entries; names must be unique.
const tsr_attr *tsr_attr_dict(tsr_ir *ir, const tsr_named_attr *entries, int64_t count);
// Borrows `bytes`, which live as long as the program. Elements that are all equal become a splat.
const tsr_attr *tsr_attr_dense(tsr_ir *ir, const tsr_type *type, const void *bytes, size_t length);
const tsr_attr *tsr_attr_dense_array(tsr_ir *ir, const tsr_type *element, const void *bytes,
                                     int64_t count);                              // copied
const tsr_attr *tsr_attr_ints(tsr_ir *ir, const int64_t *values, int64_t count);  // array<i64>
const tsr_attr *tsr_attr_bools(tsr_ir *ir, const bool *values, int64_t count);    // array<i1>
const tsr_attr *tsr_attr_resource(tsr_ir *ir, const tsr_type *type, const char *key, size_t length);
const tsr_attr *tsr_attr_enum(tsr_ir *ir, tsr_enum_id id, int value);
// `fields` has an entry for every field of the record, NULL where one is absent; copied.
const tsr_attr *tsr_attr_record(tsr_ir *ir, tsr_record_id id, const tsr_attr *const *fields);
const tsr_attr *tsr_attr_opaque(tsr_ir *ir, const char *text, size_t length);

bool tsr_attr_equal(const tsr_attr *a, const tsr_attr *b);  // NULL equals NULL
// Whether an attribute has a form; `id` is that of the enum or record.
bool tsr_attr_has_form(const tsr_attr *attr, tsr_attr_form form, int id);
const tsr_attr *tsr_dict_find(const tsr_attr *dict,
                              const char *name);  // NULL = absent; dict may be NULL
bool tsr_attr_is_string(const tsr_attr *attr, const char *string);  // STRING or SYMBOL of this text

// A list of integers out of DENSE_ARRAY or DENSE of i64 (splats expand): element `index`.
int64_t tsr_attr_int_count(const tsr_attr *attr);  // 0 for NULL
int64_t tsr_attr_int_at(const tsr_attr *attr, int64_t index);
// A field of a record; NULL if absent.
static inline const tsr_attr *tsr_attr_field(const tsr_attr *record, int field) {
  return record->items[field];
}
// The bytes of element `index` of a DENSE, splat or not.
const char *tsr_attr_element(const tsr_attr *dense, int64_t index);

// ---- values, operations, blocks, regions ----

// An operand: one use of a value. All uses of a value are linked, the newest first.
struct tsr_use {
  tsr_value *value;
  tsr_op *user;
  tsr_use *next, **link;
};

struct tsr_value {
  const tsr_type *type;
  tsr_op *def;          // NULL for an argument of a block
  tsr_ir_block *block;  // of an argument; NULL for a result
  tsr_use *uses;
  const tsr_attr *location;  // of an argument, or NULL
  int index;                 // among the results or arguments
  uint32_t mark;             // for the pass that runs now
};

// A node of the index of symbols. It is part of its op's memory, so an index needs none.
struct tsr_symbol_node {
  uint64_t hash;
  tsr_op *children[4];  // by two bits of the hash, from the lowest
};

struct tsr_op {
  const tsr_op_info *info;  // its row of ir/ops.def; tsr_op_unknown for an op that has none
  const char *name;         // "stablehlo.add"
  tsr_ir_block *block;      // NULL while it stands in none
  tsr_op *prev, *next;
  int operand_count, result_count, region_count, attr_count;
  tsr_use *operands;
  tsr_value *results;
  tsr_region *regions;
  tsr_named_attr *attrs;           // inherent and discardable ones together, sorted by name
  const tsr_attr *location;        // NULL = unknown
  struct tsr_symbol_node *symbol;  // of an op with a sym_name: its place in the index of symbols
  uint32_t line, column;           // in the text it was read from; 0 = none
  uint32_t mark;                   // for the pass that runs now
  uint32_t
      origin;  // a number that copies keep, for who wants to know what became of an op; 0 = none
};

struct tsr_ir_block {
  tsr_region *region;
  tsr_ir_block *next;
  tsr_value **args;  // arg_count
  int arg_count;
  tsr_op *first, *last;
};

struct tsr_region {
  tsr_op *parent;
  tsr_ir_block *first;  // NULL = a region without blocks, as of a declared function
  int block_count;
};

enum { TSR_RECENT_ATTRS = 256 };

struct tsr_ir {
  tsr_arena arena;
  tsr_op *module;  // builtin.module: one region, one block
  struct tsr_intern_table *types, *names;
  tsr_op **symbols;  // the root of the index of symbols, a trie by the hash of their names
  struct tsr_kept_memory *kept;
  const tsr_attr *unit, *true_value, *false_value, *unknown_location;
  const tsr_type *i64;
  const tsr_attr *recent_attrs[TSR_RECENT_ATTRS];  // by their hash; later ones replace earlier ones
  tsr_named_attr *resources;  // blobs of dense_resource: DENSE attributes (of i8) by key, sorted
  int64_t resource_count;
};

tsr_ir *tsr_ir_create(void);  // an empty module; NULL without memory
void tsr_ir_destroy(tsr_ir *ir);
// Memory that lives as long as the program: `release(memory)` is called at its end. Without memory
// it calls `release` at once and gives false.
bool tsr_ir_keep(tsr_ir *ir, void *memory, void (*release)(void *memory));
void *tsr_ir_alloc(tsr_ir *ir, size_t bytes);  // NULL without memory
// The one address of a name in this program.
const char *tsr_ir_name(tsr_ir *ir, const char *name, size_t length);

typedef struct tsr_op_parts {
  tsr_op_id id;      // TSR_OP_UNKNOWN: `name` is given
  const char *name;  // of tsr_ir_name; NULL = that of the row
  int operand_count, result_count, region_count, attr_count;
  tsr_value *const *operands;
  const tsr_type *const *result_types;
  const tsr_named_attr *attrs;  // in any order, names unique
  const tsr_attr *location;
} tsr_op_parts;
// An op that stands in no block yet, with empty regions.
tsr_op *tsr_op_create(tsr_ir *ir, const tsr_op_parts *parts);
void tsr_op_append(tsr_ir_block *block, tsr_op *op);
void tsr_op_insert_before(tsr_op *place, tsr_op *op);
void tsr_op_unlink(tsr_op *op);  // out of its block; its operands stay uses
// Out of its block and out of the uses of its operands, with all ops in its regions. Its results
// must not be used any more.
void tsr_op_erase(tsr_op *op);
void tsr_op_set_operand(tsr_op *op, int index, tsr_value *value);
bool tsr_op_set_operands(tsr_ir *ir, tsr_op *op, tsr_value *const *values,
                         int count);  // false: no memory
// Sets or replaces; NULL removes. `name` is of tsr_ir_name. False without memory.
bool tsr_op_set_attr(tsr_ir *ir, tsr_op *op, const char *name, const tsr_attr *attr);
const tsr_attr *tsr_op_attr(const tsr_op *op, const char *name);  // NULL = absent
bool tsr_op_is_inherent(const tsr_op *op, const char *name);
// Whether an attribute has the value that its absence means, and that MLIR's text leaves out.
bool tsr_op_attr_is_default(const tsr_op *op, const char *name, const tsr_attr *attr);
bool tsr_attr_is_plain_accuracy(const tsr_attr *attr);  // no tolerance, the mode DEFAULT
int64_t tsr_op_int(const tsr_op *op, const char *name, int64_t otherwise);  // INTEGER or ENUM
bool tsr_op_flag(const tsr_op *op, const char *name);  // UNIT, or a true INTEGER
// Gives all uses of `from` to `to`, in an order such that the newest stays first.
void tsr_value_replace(tsr_value *from, tsr_value *to);

tsr_ir_block *tsr_block_append(tsr_ir *ir, tsr_region *region);
tsr_value *tsr_block_add_arg(tsr_ir *ir, tsr_ir_block *block, const tsr_type *type,
                             const tsr_attr *location);
static inline tsr_value *tsr_op_operand(const tsr_op *op, int index) {
  return op->operands[index].value;
}
static inline const tsr_type *tsr_operand_type(const tsr_op *op, int index) {
  return op->operands[index].value->type;
}
static inline tsr_value *tsr_op_result(const tsr_op *op, int index) { return &op->results[index]; }
// The block that the value belongs to: that of the argument, or that of the defining op.
tsr_ir_block *tsr_value_block(const tsr_value *value);
// The op that the block stands in; NULL for a block without a region.
tsr_op *tsr_block_parent(const tsr_ir_block *block);
tsr_op *tsr_op_parent(const tsr_op *op);  // NULL for the module and for an op in no block
// The last op of a block if it is a terminator; NULL otherwise.
tsr_op *tsr_block_terminator(const tsr_ir_block *block);

// A copy of an op with its regions. Operands, and uses inside, are mapped by `map` where it has
// them; it is filled with the results and arguments of the copy. Into another program too: types,
// attributes and names are brought over.
typedef struct tsr_value_map tsr_value_map;
tsr_value_map *tsr_value_map_create(void);
void tsr_value_map_destroy(tsr_value_map *map);
bool tsr_value_map_add(tsr_value_map *map, const tsr_value *from, tsr_value *to);
tsr_value *tsr_value_map_find(const tsr_value_map *map, const tsr_value *from);  // NULL = none
tsr_op *tsr_op_clone(tsr_ir *ir, const tsr_op *op, tsr_value_map *map);

// Calls `visit` for an op and all ops in its regions, each op before the ops in its regions; stops
// at a failure. `visit` may erase the op it is given, or its own later siblings must stay.
typedef tsr_status tsr_op_visit(tsr_op *op, void *context);
TSR_MUST_USE tsr_status tsr_op_walk(tsr_op *op, tsr_op_visit *visit, void *context);
// Sets the marks of the arguments of a block, of all ops in it and of their values to 0.
void tsr_block_marks_clear(tsr_ir_block *block);

// ---- functions and other symbols ----

const char *tsr_op_symbol(const tsr_op *op);  // the sym_name; NULL if it has none
tsr_op *tsr_ir_find_symbol(const tsr_ir *ir,
                           const char *name);  // directly in the module; NULL = none
// The entry: the function "main", or the only function; NULL if there is neither.
tsr_op *tsr_ir_entry(const tsr_ir *ir);
const tsr_type *tsr_func_type(const tsr_op *func);  // its function_type
tsr_ir_block *tsr_func_body(const tsr_op *func);    // NULL for a declaration
// The attribute dictionary of an argument or result; NULL if there is none.
const tsr_attr *tsr_func_arg_attrs(const tsr_op *func, int index);
const tsr_attr *tsr_func_result_attrs(const tsr_op *func, int index);

// ---- equality ----

// Whether two programs are the same but for locations, the order of uses and splats written in
// full. On a difference `out_difference` (may be NULL) gets one line that names it.
struct tsr_text;
bool tsr_ir_equal(const tsr_ir *a, const tsr_ir *b, struct tsr_text *out_difference);

#endif
