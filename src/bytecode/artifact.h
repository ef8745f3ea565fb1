// A portable artifact while it is read: its sections, and its tables of strings, names, attributes
// and types, which are decoded when they are first used.
#ifndef TESSERA_BYTECODE_ARTIFACT_H
#define TESSERA_BYTECODE_ARTIFACT_H

#include "bytecode/vhlo.h"
#include "bytecode/wire_cursor.h"
#include "ir/ir.h"

enum {
  TSR_ARTIFACT_DEPTH = 256,  // of nested attributes and types, and of nested regions
  TSR_ARTIFACT_NEWEST = 6    // the newest version of MLIR bytecode that is read
};

typedef enum tsr_artifact_section {
  TSR_SECTION_STRINGS,
  TSR_SECTION_DIALECTS,
  TSR_SECTION_ENTRIES,  // attributes and types
  TSR_SECTION_ENTRY_SIZES,
  TSR_SECTION_IR,
  TSR_SECTION_RESOURCES,
  TSR_SECTION_RESOURCE_SIZES,
  TSR_SECTION_DIALECT_VERSION,  // only inside TSR_SECTION_DIALECTS
  TSR_SECTION_PROPERTIES,
  TSR_SECTION_COUNT
} tsr_artifact_section;

typedef struct tsr_artifact_string {
  const char *bytes;  // '\0' follows
  size_t length;
} tsr_artifact_string;

typedef struct tsr_artifact_dialect {
  tsr_artifact_string name;
  tsr_code_dialect code;  // TSR_DIALECT_COUNT = another one
} tsr_artifact_dialect;

typedef struct tsr_artifact_op {
  int dialect;
  tsr_artifact_string name;  // without the dialect
  bool registered;           // the writer knew the op: its properties have no names
  // Known once the op is used:
  const tsr_op_info *info;  // NULL until then
  const tsr_vhlo_op *vhlo;  // NULL for ops of other dialects
  const char *full_name;    // of tsr_ir_name
  const char **attr_names;  // of tsr_ir_name, one for each row of `vhlo` or `info`
} tsr_artifact_op;

typedef enum tsr_entry_state { TSR_ENTRY_NEW, TSR_ENTRY_OPEN, TSR_ENTRY_DONE } tsr_entry_state;

// An attribute or a type.
typedef struct tsr_artifact_entry {
  const unsigned char *bytes;
  size_t length;
  int dialect;
  bool coded;  // otherwise it is text
  tsr_entry_state state;
  int depth;  // of what is nested in it, itself included
  union {
    const tsr_attr *attr;
    const tsr_type *type;
  };
} tsr_artifact_entry;

// The inherent attributes of an op, shared by ops.
typedef struct tsr_artifact_properties {
  const unsigned char *bytes;
  size_t length;
  int op;  // that `attrs` were decoded for; -1 = not decoded
  int attr_count;
  tsr_named_attr *attrs;
} tsr_artifact_properties;

typedef struct tsr_artifact {
  tsr_ir *ir;
  const char *name;  // of the file
  const unsigned char *bytes;
  size_t length;
  int version;  // of MLIR bytecode
  const tsr_type *i64;
  tsr_wire_cursor sections[TSR_SECTION_COUNT];  // `at` NULL = absent
  tsr_arena arena;                              // of the tables
  tsr_artifact_string *strings;
  tsr_artifact_dialect *dialects;
  tsr_artifact_op *ops;
  tsr_artifact_entry *attrs, *types;
  tsr_artifact_properties *properties;
  tsr_artifact_string *resource_keys;  // of the dialects
  int string_count, dialect_count, op_count, attr_count, type_count, property_count, resource_count;
  int depth;   // of entries being decoded
  int inside;  // the depth of what was decoded inside the current entry
} tsr_artifact;

// Finds the sections and reads all tables but their entries.
TSR_MUST_USE tsr_status tsr_artifact_open(tsr_artifact *artifact);
TSR_MUST_USE tsr_status tsr_artifact_read_resources(tsr_artifact *artifact);
// A section inside another one, as a cursor of its own.
TSR_MUST_USE tsr_status tsr_artifact_nested(tsr_wire_cursor *cursor, tsr_artifact_section wanted,
                                            tsr_wire_cursor *out_section);
TSR_MUST_USE tsr_status tsr_artifact_string_at(const tsr_artifact *artifact,
                                               tsr_wire_cursor *cursor,
                                               tsr_artifact_string *out_string);

// ---- entries ----

// By an index read from the cursor.
TSR_MUST_USE tsr_status tsr_artifact_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                          const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                          const tsr_type **out_type);
// NULL = absent.
TSR_MUST_USE tsr_status tsr_artifact_optional_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                   const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_attr_index(tsr_artifact *artifact,
                                                const tsr_wire_cursor *cursor, uint64_t index,
                                                const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_type_index(tsr_artifact *artifact,
                                                const tsr_wire_cursor *cursor, uint64_t index,
                                                const tsr_type **out_type);
// A location; NULL = unknown.
TSR_MUST_USE tsr_status tsr_artifact_location(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                              const tsr_attr **out_location);

// What one entry holds, after its code.
TSR_MUST_USE tsr_status tsr_artifact_decode_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                 const tsr_attr_code *code,
                                                 const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_decode_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                 const tsr_type_code *code,
                                                 const tsr_type **out_type);
TSR_MUST_USE tsr_status tsr_artifact_dense(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                           const tsr_type *type, const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_dense_array(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                 const tsr_attr **out_attr);
// Entries that are text, up to the end of the cursor.
TSR_MUST_USE tsr_status tsr_artifact_text_attr(tsr_artifact *artifact,
                                               const tsr_wire_cursor *cursor,
                                               const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_text_type(tsr_artifact *artifact,
                                               const tsr_wire_cursor *cursor,
                                               const tsr_type **out_type);
// Kinds that are only carried along.
TSR_MUST_USE tsr_status tsr_artifact_carried_attr(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                  const tsr_attr_code *code,
                                                  const tsr_attr **out_attr);
TSR_MUST_USE tsr_status tsr_artifact_carried_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                                  const tsr_type_code *code,
                                                  const tsr_type **out_type);
// [svarint], in the tables' memory.
TSR_MUST_USE tsr_status tsr_artifact_ints(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                          const int64_t **out_values, int *out_count);

// ---- ops ----

// Finds what an op is in StableHLO; fails for one that is not known.
TSR_MUST_USE tsr_status tsr_artifact_resolve(tsr_artifact *artifact, const tsr_wire_cursor *cursor,
                                             tsr_artifact_op *op);
// The StableHLO attributes of an op, of its properties or (before version 5) of a dictionary with
// all attributes; in the tables' arena. Failures are placed at `place` unless they have a place.
TSR_MUST_USE tsr_status tsr_artifact_op_attrs(tsr_artifact *artifact, const tsr_wire_cursor *place,
                                              const tsr_artifact_op *op,
                                              tsr_wire_cursor *properties, const tsr_attr *dict,
                                              tsr_named_attr **out_attrs, int *out_count);
// StableHLO attributes out of the stored ones, one for each row of `vhlo`.
TSR_MUST_USE tsr_status tsr_vhlo_convert(tsr_ir *ir, const tsr_vhlo_op *vhlo,
                                         const char *const *names, const tsr_attr *const *stored,
                                         tsr_named_attr *out_attrs, int *out_count);
// The IR section, into the module of the program.
TSR_MUST_USE tsr_status tsr_artifact_read_ir(tsr_artifact *artifact);

#endif
