// The tables of portable artifacts: how VHLO, Shardy and builtin things are stored, and what VHLO
// ops are in StableHLO. The reader and the writer interpret the same rows.
//
// A row of VHLO_OP names its stored attributes. Each one is a StableHLO attribute under its own or
// another name (VALUE), or a field of a record (FIELD). `form` says how the value changes on the
// way, `default` which value StableHLO leaves out. VHLO stores every attribute, defaults too.
#ifndef TESSERA_BYTECODE_VHLO_H
#define TESSERA_BYTECODE_VHLO_H

#include "ir/ir.h"

// A StableHLO version without its patch number, which never changes what a file may hold.
#define TSR_VHLO_VERSION(major, minor) (1000 * (major) + (minor))
enum {
  TSR_VHLO_OLDEST = TSR_VHLO_VERSION(0, 9),
  TSR_VHLO_NEWEST = TSR_VHLO_VERSION(1, 20),
  TSR_VHLO_FIELDS = 10  // more than a stored record has
};

// ---- ops ----

typedef enum tsr_vhlo_form {
  TSR_VHLO_SAME,         // as the value converts by itself
  TSR_VHLO_INTS,         // a tensor of i64 of rank 1 is array<i64>
  TSR_VHLO_BOOLS,        // a tensor of i1 of rank 1 is array<i1>
  TSR_VHLO_FLAG,         // true is a unit attribute, false is none
  TSR_VHLO_SYMBOL,       // a string is a symbol
  TSR_VHLO_SYMBOLS,      // an array of strings is one of symbols
  TSR_VHLO_CHANNEL,      // an integer is a channel_handle of type 0; the type is lost
  TSR_VHLO_API_VERSION,  // attribute 5 is an i32 integer
  TSR_VHLO_IGNORED       // stored, but StableHLO has nothing for it
} tsr_vhlo_form;

// The value that is left out in StableHLO; the writer stores it for an absent attribute.
typedef enum tsr_vhlo_default {
  TSR_VHLO_DEFAULT_NONE,       // never left out
  TSR_VHLO_DEFAULT_ZERO,       // 0 : i64
  TSR_VHLO_DEFAULT_MINUS_ONE,  // -1 : i64
  TSR_VHLO_DEFAULT_FALSE,
  TSR_VHLO_DEFAULT_EMPTY_STRING,
  TSR_VHLO_DEFAULT_KEPT_STRING,  // "" is stored for an absent one, but not left out when read
  TSR_VHLO_DEFAULT_EMPTY_ARRAY,
  TSR_VHLO_DEFAULT_EMPTY_DICT,
  TSR_VHLO_DEFAULT_EMPTY_CONFIG,  // "", or {} for the api version TYPED_FFI
  TSR_VHLO_DEFAULT_EMPTY_INTS,    // a tensor of no elements; stored as tensor<0xi64>
  TSR_VHLO_DEFAULT_LAYOUTS,       // [], left out only if operand_layouts and result_layouts are []
  // One element per spatial dimension of a convolution, or per window dimension. Tensors of no
  // elements are not left out.
  TSR_VHLO_DEFAULT_ONES,
  TSR_VHLO_DEFAULT_FALSES,
  TSR_VHLO_DEFAULT_PADDING,    // zeros : tensor<nx2xi64>
  TSR_VHLO_DEFAULT_PRECISION,  // [DEFAULT, DEFAULT]; all DEFAULT is left out
  TSR_VHLO_DEFAULT_NOTYPE,     // of comparisons
  TSR_VHLO_DEFAULT_ORIGINAL,   // of api versions
  TSR_VHLO_DEFAULT_ACCURACY,   // tolerances 0, mode DEFAULT
  TSR_VHLO_DEFAULT_NONE_TYPE   // a type attribute of the none type: the whole record is absent
} tsr_vhlo_default;

typedef struct tsr_vhlo_attr {
  const char *stored;  // its name in VHLO
  const char *name;    // of the StableHLO attribute; NULL if ignored
  tsr_vhlo_form form;
  tsr_vhlo_default otherwise;
  int record, field;  // where it is a field of the attribute; record -1 = it is the attribute
} tsr_vhlo_attr;

typedef struct tsr_vhlo_op {
  tsr_op_id id;
  const char *name;  // "add_v1"
  int since, until;  // TSR_VHLO_VERSION
  int attr_count;
  const tsr_vhlo_attr *attrs;  // sorted by stored name
} tsr_vhlo_op;

const tsr_vhlo_op *tsr_vhlo_find(const char *name, size_t length);  // "add_v1"; NULL = none
// The version of an op that a StableHLO version stores; NULL = that version has none.
const tsr_vhlo_op *tsr_vhlo_of(tsr_op_id id, int version);
// The first version that has the op at all; 0 = none.
int tsr_vhlo_since(tsr_op_id id);
// The MLIR bytecode version that a StableHLO version is written in.
int tsr_vhlo_bytecode_version(int version);

// ---- codes of attributes and types ----

typedef enum tsr_code_dialect {
  TSR_DIALECT_BUILTIN,
  TSR_DIALECT_VHLO,
  TSR_DIALECT_SDY,
  TSR_DIALECT_STABLEHLO,
  TSR_DIALECT_QUANT,
  TSR_DIALECT_COUNT  // any other: its things are kept as text, or refused
} tsr_code_dialect;

// Primitives: varint; svarint (zigzag); A, T, S = index of an attribute, type, string; [X] = a
// count and the elements; AP(w) = an integer of w bits: a byte, svarint, or words of svarints.
typedef enum tsr_attr_code_form {
  TSR_CODE_ARRAY,          // [A]
  TSR_CODE_BOOL,           // varint 0 or 1
  TSR_CODE_ENUM,           // varint, the number of the case
  TSR_CODE_API_VERSION,    // varint 0 to 4: an i32 integer
  TSR_CODE_DICT,           // a count, then A key (a string), A value
  TSR_CODE_FLOAT,          // T, AP(bits)
  TSR_CODE_INTEGER,        // T, AP(bits), index 64
  TSR_CODE_STRING,         // S
  TSR_CODE_TYPED_STRING,   // S, T
  TSR_CODE_DENSE,          // T, a count of bytes, bytes
  TSR_CODE_TYPE,           // T
  TSR_CODE_UNIT,           // nothing
  TSR_CODE_SYMBOL,         // A (a string)
  TSR_CODE_NESTED_SYMBOL,  // A (a string), [A] symbols
  TSR_CODE_RESOURCE,       // T, varint index of the dialects' resources
  TSR_CODE_DENSE_ARRAY,    // T, varint count, a count of bytes, bytes
  TSR_CODE_DENSE_STRINGS,  // T, varint is splat, one S or one for each element
  TSR_CODE_SPARSE,         // T, A indices, A values
  TSR_CODE_DISTINCT,       // A
  TSR_CODE_RECORD          // its fields, each in a wire form
} tsr_attr_code_form;

typedef enum tsr_wire {
  TSR_WIRE_END,
  TSR_WIRE_ATTR,            // A
  TSR_WIRE_SYMBOL,          // A; a stored string is a symbol here
  TSR_WIRE_LOCATION,        // A; the unknown location is an absent field
  TSR_WIRE_ATTRS,           // [A]: an array
  TSR_WIRE_OPTIONAL_ATTR,   // varint: 0 = absent, 2 * A + 1
  TSR_WIRE_MAYBE_ATTR,      // varint 0 = absent, 1 and A
  TSR_WIRE_BYTE_ATTR,       // a byte 0 = absent, 1 and A
  TSR_WIRE_TYPE,            // T: a type attribute
  TSR_WIRE_TEXT,            // S: a string
  TSR_WIRE_INT,             // svarint: an i64
  TSR_WIRE_INTS,            // [svarint]: array<i64>
  TSR_WIRE_COUNTS,          // [varint]: array<i64>
  TSR_WIRE_LINE_COLUMN,     // two varints: array<i64> of two
  TSR_WIRE_BYTE,            // a byte 0 or 1: a bool
  TSR_WIRE_OPTIONAL_COUNT,  // varint: 0 = absent, 2 * value + 1
  TSR_WIRE_DOUBLE,          // AP(64): a float of f64
  TSR_WIRE_CASE,            // svarint: a case of the field's enum
  TSR_WIRE_ABSENT,          // not stored: absent
  TSR_WIRE_EMPTY,           // not stored: an empty array
  TSR_WIRE_FIRST            // not stored: case 0 of the field's enum
} tsr_wire;

typedef struct tsr_attr_code {
  int since;
  tsr_attr_code_form form;
  int id;                           // of the enum or record
  tsr_wire wires[TSR_VHLO_FIELDS];  // one for each field of the record, then TSR_WIRE_END
} tsr_attr_code;

typedef enum tsr_type_code_form {
  TSR_TYPE_CODE_INTEGER,          // nothing; width and sign are the row's arguments
  TSR_TYPE_CODE_ANY_INTEGER,      // varint 4 * width + sign (0 signless, 1 signed, 2 unsigned)
  TSR_TYPE_CODE_FLOAT,            // nothing; tsr_float is the argument
  TSR_TYPE_CODE_SIMPLE,           // nothing; tsr_type_kind is the argument
  TSR_TYPE_CODE_COMPLEX,          // T
  TSR_TYPE_CODE_FUNCTION,         // [T] inputs, [T] results
  TSR_TYPE_CODE_TENSOR,           // [svarint] dimensions, T
  TSR_TYPE_CODE_ENCODED_TENSOR,   // A encoding, [svarint], T
  TSR_TYPE_CODE_UNRANKED,         // T
  TSR_TYPE_CODE_BUFFER,           // [svarint], T
  TSR_TYPE_CODE_TUPLE,            // [T]; tsr_type_kind is the argument
  TSR_TYPE_CODE_QUANT,            // varint 1 = signed, T storage, T expressed, AP(64) scale,
                                  // svarint zero point, svarint minimum, svarint maximum
  TSR_TYPE_CODE_QUANT_PER_AXIS,   // varint 1 = signed, T, T, varint axis, svarint minimum,
                                  // svarint maximum, [AP(64)] scales, [svarint] zero points
  TSR_TYPE_CODE_MEMREF,           // with an argument of 1: A space; [svarint], T, A layout
  TSR_TYPE_CODE_UNRANKED_MEMREF,  // with an argument of 1: A space; T
  TSR_TYPE_CODE_VECTOR            // with an argument of 1: [byte] scalable; [svarint], T
} tsr_type_code_form;

typedef struct tsr_type_code {
  int since;  // 0 = a code that is not known
  tsr_type_code_form form;
  int argument, sign;
} tsr_type_code;

// NULL for a code that is not known.
const tsr_attr_code *tsr_attr_code_of(tsr_code_dialect dialect, uint64_t code);
const tsr_type_code *tsr_type_code_of(tsr_code_dialect dialect, uint64_t code);
// The code of the first row with this form and argument; -1 = none. `sign` only matters for
// integers.
int tsr_attr_code_find(tsr_code_dialect dialect, tsr_attr_code_form form, int id);
int tsr_type_code_find(tsr_code_dialect dialect, tsr_type_code_form form, int argument, int sign);

#endif
