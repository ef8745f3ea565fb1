// The primitives of MLIR bytecode.
#include "bytecode/wire_cursor.h"

#include <limits.h>

tsr_status tsr_wire_place(const tsr_wire_cursor *cursor, tsr_status failure) {
  if (!failure || tsr_status_cause(failure) == TSR_CAUSE_NO_MEMORY) return failure;
  const size_t byte = (size_t)(cursor->at - cursor->origin);
  if (cursor->index < 0)
    return tsr_note(failure, "%s: byte %zu: %s", cursor->name, byte, cursor->what);
  return tsr_note(failure, "%s: byte %zu: %s %lld", cursor->name, byte, cursor->what,
                  (long long)cursor->index);
}

// The number of zero bits below the lowest one in the first byte is the number of further bytes;
// a first byte of zero has 8.
tsr_status tsr_wire_long_varint(tsr_wire_cursor *cursor, uint64_t *out_value) {
  const size_t left = tsr_wire_left(cursor);
  if (!left) return tsr_wire_fail(cursor, BROKEN_PROGRAM, "expected a number, found the end");
  const unsigned first = *cursor->at;
  const size_t more = first ? (size_t)__builtin_ctz(first) : 8;
  if (more >= left)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "a number of %zu bytes, but %zu are left",
                         more + 1, left);
  uint64_t value = 0;
  for (size_t i = more; i > 0; i--) value = value << 8 | cursor->at[i];
  if (more < 8) value = (value << 8 | first) >> (more + 1);
  cursor->at += more + 1;
  *out_value = value;
  return NULL;
}

tsr_status tsr_wire_svarint(tsr_wire_cursor *cursor, int64_t *out_value) {
  uint64_t coded = 0;
  TSR_TRY(tsr_wire_varint(cursor, &coded));
  *out_value = (int64_t)(coded >> 1 ^ (0 - (coded & 1)));
  return NULL;
}

tsr_status tsr_wire_flagged(tsr_wire_cursor *cursor, uint64_t *out_value, bool *out_flag) {
  uint64_t coded = 0;
  TSR_TRY(tsr_wire_varint(cursor, &coded));
  *out_value = coded >> 1;
  *out_flag = coded & 1;
  return NULL;
}

tsr_status tsr_wire_byte(tsr_wire_cursor *cursor, unsigned char *out_byte) {
  if (cursor->at == cursor->end)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "expected a byte, found the end");
  *out_byte = *cursor->at++;
  return NULL;
}

tsr_status tsr_wire_bytes(tsr_wire_cursor *cursor, uint64_t count,
                          const unsigned char **out_bytes) {
  if (count > tsr_wire_left(cursor))
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%llu bytes, but %zu are left",
                         (unsigned long long)count, tsr_wire_left(cursor));
  *out_bytes = cursor->at;
  cursor->at += count;
  return NULL;
}

tsr_status tsr_wire_blob(tsr_wire_cursor *cursor, const unsigned char **out_bytes,
                         size_t *out_length) {
  uint64_t length = 0;
  TSR_TRY(tsr_wire_varint(cursor, &length));
  TSR_TRY(tsr_wire_bytes(cursor, length, out_bytes));
  *out_length = (size_t)length;
  return NULL;
}

tsr_status tsr_wire_check_count(const tsr_wire_cursor *cursor, const char *what, uint64_t count) {
  if (count > tsr_wire_left(cursor))
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%llu %s, but %zu bytes are left",
                         (unsigned long long)count, what, tsr_wire_left(cursor));
  if (count > INT_MAX / 2)
    return tsr_wire_fail(cursor, TOO_LARGE, "%llu %s, at most %d are read",
                         (unsigned long long)count, what, INT_MAX / 2);
  return NULL;
}

tsr_status tsr_wire_count(tsr_wire_cursor *cursor, const char *what, int *out_count) {
  uint64_t count = 0;
  TSR_TRY(tsr_wire_varint(cursor, &count));
  TSR_TRY(tsr_wire_check_count(cursor, what, count));
  *out_count = (int)count;
  return NULL;
}

tsr_status tsr_wire_check_index(const tsr_wire_cursor *cursor, const char *what, uint64_t index,
                                int64_t limit) {
  if (index < (uint64_t)limit) return NULL;
  return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%s %llu of %lld", what, (unsigned long long)index,
                       (long long)limit);
}

tsr_status tsr_wire_index(tsr_wire_cursor *cursor, const char *what, int64_t limit,
                          int *out_index) {
  const unsigned char *const start = cursor->at;
  uint64_t index = 0;
  TSR_TRY(tsr_wire_varint(cursor, &index));
  if (index >= (uint64_t)limit) {
    cursor->at = start;
    return tsr_wire_check_index(cursor, what, index, limit);
  }
  *out_index = (int)index;
  return NULL;
}

// Writers extend with zeros before they zigzag, so the low bits are the value in any case.
tsr_status tsr_wire_integer(tsr_wire_cursor *cursor, int bits, uint64_t *out_value) {
  if (bits <= 8) {
    unsigned char byte = 0;
    TSR_TRY(tsr_wire_byte(cursor, &byte));
    *out_value = byte;
  } else {
    int64_t value = 0;
    TSR_TRY(tsr_wire_svarint(cursor, &value));
    *out_value = (uint64_t)value;
  }
  if (bits < 64) *out_value &= ((uint64_t)1 << bits) - 1;
  return NULL;
}

tsr_status tsr_wire_end(const tsr_wire_cursor *cursor) {
  if (cursor->at == cursor->end) return NULL;
  return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%zu bytes too many", tsr_wire_left(cursor));
}

enum { MAX_ALIGNMENT = 4096, PADDING = 0xCB };

tsr_status tsr_wire_pad(tsr_wire_cursor *cursor, uint64_t alignment) {
  if (!alignment || alignment > MAX_ALIGNMENT || (alignment & (alignment - 1)))
    return tsr_wire_fail(cursor, BROKEN_PROGRAM, "alignment %llu, expected a power of two up to %d",
                         (unsigned long long)alignment, MAX_ALIGNMENT);
  while ((uint64_t)(cursor->at - cursor->origin) & (alignment - 1)) {
    if (cursor->at == cursor->end || *cursor->at != PADDING)
      return tsr_wire_fail(cursor, BROKEN_PROGRAM, "expected padding up to a multiple of %llu",
                           (unsigned long long)alignment);
    cursor->at++;
  }
  return NULL;
}
