// Elements of constants. They stay where they are in the file; only bools are unpacked.
//
// Bools are stored as bits, or one in a byte by older writers. A single byte is read first as a
// splat: 0xFF is all true, and 0 is all false whatever it is.
#include <string.h>

#include "bytecode/artifact.h"

// ---- bools ----

static tsr_status unpack_bits(tsr_artifact *artifact, const unsigned char *bits, int64_t count,
                              const void **out_bytes) {
  char *bools = tsr_ir_alloc(artifact->ir, (size_t)count);
  TSR_NEED(bools);
  for (int64_t i = 0; i < count; i++) bools[i] = bits[i / 8] >> (i % 8) & 1;
  *out_bytes = bools;
  return NULL;
}

static bool all_bools(const unsigned char *bytes, size_t length) {
  unsigned char all = 0;
  for (size_t i = 0; i < length; i++) all |= bytes[i];
  return all <= 1;
}

static tsr_status copy_bools(tsr_artifact *artifact, const unsigned char *bytes, size_t length,
                             const void **out_bytes) {
  char *bools = tsr_ir_alloc(artifact->ir, length);
  TSR_NEED(bools);
  for (size_t i = 0; i < length; i++) bools[i] = bytes[i] != 0;
  *out_bytes = bools;
  return NULL;
}

static tsr_status make_bools(tsr_artifact *artifact, const tsr_type *type, int64_t count,
                             const unsigned char *bytes, size_t length, const tsr_attr **out_attr) {
  static const char yes = 1;
  const void *bools = bytes;
  if (length == 1 && *bytes == 0xFF) {
    bools = &yes;
  } else if (length == ((size_t)count + 7) / 8 && length != (size_t)count) {
    TSR_TRY(unpack_bits(artifact, bytes, count, &bools));
    length = (size_t)count;
  } else if (!all_bools(bytes, length)) {
    TSR_TRY(copy_bools(artifact, bytes, length, &bools));
  }
  *out_attr = tsr_attr_dense(artifact->ir, type, bools, length);
  TSR_NEED(*out_attr);
  return NULL;
}

// ---- all elements ----

static bool is_bool(const tsr_type *element) {
  return element->kind == TSR_TYPE_INTEGER && element->width == 1;
}

static tsr_status check_dense(const tsr_wire_cursor *cursor, const tsr_type *type, size_t length) {
  const size_t size = type->kind == TSR_TYPE_TENSOR ? tsr_type_element_bytes(type->element) : 0;
  const int64_t count = tsr_type_element_count(type);
  if (!size || count < 0)
    return tsr_wire_fail(cursor, BROKEN_PROGRAM,
                         "elements of a type that is not a tensor of known size");
  const bool splat = length == size;  // MLIR stores one element for a splat of no elements too
  const bool full = length / size == (size_t)count && !(length % size);
  const bool packed = is_bool(type->element) && length == ((size_t)count + 7) / 8;
  if (splat || full || packed) return NULL;
  return tsr_wire_fail(cursor, BROKEN_PROGRAM, "%zu bytes for %lld elements of %zu bytes", length,
                       (long long)count, size);
}

tsr_status tsr_artifact_dense(tsr_artifact *artifact, tsr_wire_cursor *cursor, const tsr_type *type,
                              const tsr_attr **out_attr) {
  const tsr_wire_cursor start = *cursor;
  const unsigned char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_wire_blob(cursor, &bytes, &length));
  TSR_TRY(check_dense(&start, type, length));
  if (is_bool(type->element) && length)
    return make_bools(artifact, type, tsr_type_element_count(type), bytes, length, out_attr);
  *out_attr = tsr_attr_dense(artifact->ir, type, bytes, length);
  TSR_NEED(*out_attr);
  return NULL;
}

tsr_status tsr_artifact_dense_array(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                    const tsr_attr **out_attr) {
  const tsr_type *element = NULL;
  const unsigned char *bytes = NULL;
  uint64_t count = 0;
  size_t length = 0;
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &element));
  TSR_TRY(tsr_wire_varint(cursor, &count));
  TSR_TRY(tsr_wire_blob(cursor, &bytes, &length));
  const bool number = element->kind == TSR_TYPE_INTEGER || element->kind == TSR_TYPE_FLOAT;
  const size_t size = number ? tsr_type_element_bytes(element) : 0;
  if (!size || length % size || length / size != count)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "an array of %llu elements in %zu bytes",
                         (unsigned long long)count, length);
  const void *values = bytes;
  if (is_bool(element) && !all_bools(bytes, length))
    TSR_TRY(copy_bools(artifact, bytes, length, &values));
  *out_attr = tsr_attr_dense_array(artifact->ir, element, values, (int64_t)count);
  TSR_NEED(*out_attr);
  return NULL;
}
