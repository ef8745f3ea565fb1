// The primitives of MLIR bytecode, read from a range of bytes: variable-length integers, counts and
// indices that are checked against what is left and what there is.
//
// A cursor moves only over what it has read, so a failure names the byte where the wrong thing
// starts: "step.mlirbc: byte 120: attribute 3: string 17 of 12".
#ifndef TESSERA_BYTECODE_WIRE_CURSOR_H
#define TESSERA_BYTECODE_WIRE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_wire_cursor {
  const char *name;             // of the file
  const unsigned char *origin;  // its first byte
  const unsigned char *at, *end;
  const char *what;  // "ir section", or "attribute" and such for one entry of a table
  int64_t index;     // of the entry; -1 = a section
} tsr_wire_cursor;

static inline size_t tsr_wire_left(const tsr_wire_cursor *cursor) {
  return (size_t)(cursor->end - cursor->at);
}

// Fails at the cursor.
#define tsr_wire_fail(cursor, cause, ...) \
  tsr_raised(tsr_wire_place(cursor, tsr_fail(cause, __VA_ARGS__)))
// Adds the place of the cursor to a failure. NULL and no_memory stay as they are.
TSR_MUST_USE tsr_status tsr_wire_place(const tsr_wire_cursor *cursor, tsr_status failure);

TSR_MUST_USE tsr_status tsr_wire_long_varint(tsr_wire_cursor *cursor, uint64_t *out_value);
TSR_MUST_USE static inline tsr_status tsr_wire_varint(tsr_wire_cursor *cursor,
                                                      uint64_t *out_value) {
  if (cursor->at == cursor->end || !(*cursor->at & 1))
    return tsr_wire_long_varint(cursor, out_value);
  *out_value = *cursor->at++ >> 1;
  return NULL;
}
TSR_MUST_USE tsr_status tsr_wire_svarint(tsr_wire_cursor *cursor, int64_t *out_value);
// A varint whose lowest bit is a flag.
TSR_MUST_USE tsr_status tsr_wire_flagged(tsr_wire_cursor *cursor, uint64_t *out_value,
                                         bool *out_flag);
TSR_MUST_USE tsr_status tsr_wire_byte(tsr_wire_cursor *cursor, unsigned char *out_byte);
// `count` bytes in place.
TSR_MUST_USE tsr_status tsr_wire_bytes(tsr_wire_cursor *cursor, uint64_t count,
                                       const unsigned char **out_bytes);
// A count of bytes, then the bytes.
TSR_MUST_USE tsr_status tsr_wire_blob(tsr_wire_cursor *cursor, const unsigned char **out_bytes,
                                      size_t *out_length);
// A number of elements that take at least a byte each, so that no more than the bytes left are
// possible. `what` is their name in messages.
TSR_MUST_USE tsr_status tsr_wire_count(tsr_wire_cursor *cursor, const char *what, int *out_count);
TSR_MUST_USE tsr_status tsr_wire_check_count(const tsr_wire_cursor *cursor, const char *what,
                                             uint64_t count);
// An index below `limit`.
TSR_MUST_USE tsr_status tsr_wire_index(tsr_wire_cursor *cursor, const char *what, int64_t limit,
                                       int *out_index);
TSR_MUST_USE tsr_status tsr_wire_check_index(const tsr_wire_cursor *cursor, const char *what,
                                             uint64_t index, int64_t limit);
// An integer of `bits` bits, at most 64, not sign-extended.
TSR_MUST_USE tsr_status tsr_wire_integer(tsr_wire_cursor *cursor, int bits, uint64_t *out_value);
// Fails unless everything has been read.
TSR_MUST_USE tsr_status tsr_wire_end(const tsr_wire_cursor *cursor);
// The bytes 0xCB up to a multiple of `alignment`, which is checked too.
TSR_MUST_USE tsr_status tsr_wire_pad(tsr_wire_cursor *cursor, uint64_t alignment);

#endif
