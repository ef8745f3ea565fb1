// What the files of the writer share: the tables of an artifact while it grows.
//
// Everything that an artifact refers to by index is stored once: strings, attributes, types,
// properties, op names. A thing is encoded into `scratch`, where things inside it stand before it,
// and then found or added by the bytes of its encoding.
#ifndef TESSERA_BYTECODE_WRITE_INTERNAL_H
#define TESSERA_BYTECODE_WRITE_INTERNAL_H

#include "base/arena.h"
#include "base/text_internal.h"
#include "bytecode/vhlo.h"
#include "ir/intern.h"
#include "ir/ir.h"

typedef struct tsr_stored_entry {
  tsr_code_dialect dialect;
  bool is_text;  // an attribute or type as MLIR prints it
  const char *head;
  size_t head_length;
  const char *blob;  // follows the head; borrowed of the program where it is large
  size_t blob_length;
  int64_t index;
} tsr_stored_entry;

typedef struct tsr_entry_table {
  tsr_intern_table by_content;
  tsr_stored_entry **items;
  int64_t count, capacity;
} tsr_entry_table;

// Indices by address and a small number: open addressing, at most half full.
typedef struct tsr_remembered {
  const void *key;  // NULL = free
  int64_t index;
  int variant;
} tsr_remembered;

typedef struct tsr_index_memory {
  tsr_remembered *slots;
  uint64_t mask, count;
} tsr_index_memory;

typedef struct tsr_emitter {
  const tsr_ir *ir;
  int version;  // TSR_VHLO_VERSION
  tsr_arena arena;
  tsr_entry_table strings, attrs, types, properties, op_names, resources;
  tsr_index_memory memo;
  tsr_text scratch;
  bool mixed;  // has Shardy ops with values, so that casts may be needed
  int depth;   // of attributes, types and regions
} tsr_emitter;

enum { TSR_EMIT_DEPTH = 512 };

// ---- primitives ----

void tsr_put_varint(tsr_text *out, uint64_t value);
void tsr_put_svarint(tsr_text *out, int64_t value);
void tsr_put_flagged(tsr_text *out, uint64_t value, bool flag);
// An integer of a known number of bits.
void tsr_put_bits(tsr_text *out, int bits, int64_t value);

// ---- tables ----

// Stores what stands in the scratch from `start` on, and takes it out of the scratch.
TSR_MUST_USE tsr_status tsr_emit_store(tsr_emitter *emitter, tsr_entry_table *table,
                                       tsr_code_dialect dialect, size_t start, int64_t *out_index);
// The same with bytes that follow it and a hash of them, and with text.
TSR_MUST_USE tsr_status tsr_emit_store_blob(tsr_emitter *emitter, tsr_entry_table *table,
                                            tsr_stored_entry *stored, size_t start, uint64_t hash,
                                            int64_t *out_index);
TSR_MUST_USE tsr_status tsr_emit_string(tsr_emitter *emitter, const char *bytes, size_t length,
                                        int64_t *out_index);
// An index by the address of what it stands for, and a small number; -1 = none yet.
int64_t tsr_emit_recall(const tsr_emitter *emitter, const void *key, int variant);
TSR_MUST_USE tsr_status tsr_emit_remember(tsr_emitter *emitter, const void *key, int variant,
                                          int64_t index);
void tsr_emit_deinit(tsr_emitter *emitter);

// "1.15.0"
#define TSR_VERSION_ARGUMENTS(version) (version) / 1000, (version) % 1000
// Fails if a thing is of a later version than the artifact.
TSR_MUST_USE tsr_status tsr_emit_allow(const tsr_emitter *emitter, const char *what, int since);

// ---- things ----

// The index of a type in the form of VHLO or of the builtin dialect.
TSR_MUST_USE tsr_status tsr_emit_type(tsr_emitter *emitter, const tsr_type *type,
                                      tsr_code_dialect dialect, int64_t *out_index);
// Writes that index into the scratch.
TSR_MUST_USE tsr_status tsr_put_type(tsr_emitter *emitter, const tsr_type *type,
                                     tsr_code_dialect dialect);
// The index of an attribute; BUILTIN for module, Shardy ops and locations, VHLO for the others.
TSR_MUST_USE tsr_status tsr_emit_attr(tsr_emitter *emitter, const tsr_attr *attr,
                                      tsr_code_dialect dialect, int64_t *out_index);
TSR_MUST_USE tsr_status tsr_emit_location(tsr_emitter *emitter, const tsr_attr *location,
                                          int64_t *out_index);
// A builtin dictionary with values of `dialect`; entries are sorted by name.
TSR_MUST_USE tsr_status tsr_emit_dictionary(tsr_emitter *emitter, const tsr_named_attr *entries,
                                            int64_t count, tsr_code_dialect dialect,
                                            int64_t *out_index);
// A VHLO tensor attribute of integers of `width` bits (1 or 64) without an attribute in the
// program. A splat has one element, given by `bytes`.
TSR_MUST_USE tsr_status tsr_emit_tensor(tsr_emitter *emitter, int width, int rank,
                                        const int64_t *dims, const void *bytes, size_t length,
                                        int64_t *out_index);
// The index of the properties of an op; -1 if it has none.
TSR_MUST_USE tsr_status tsr_emit_properties(tsr_emitter *emitter, const tsr_op *op,
                                            const tsr_vhlo_op *row, int64_t *out_index);
// The module as the content of the IR section.
TSR_MUST_USE tsr_status tsr_emit_module(tsr_emitter *emitter, tsr_text *out);

#endif
