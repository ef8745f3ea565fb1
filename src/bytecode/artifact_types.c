// Types as the builtin and VHLO dialects store them. VHLO's signed integers are MLIR's signless
// ones; the other types are the same in both.
#include <limits.h>
#include <string.h>

#include "bytecode/artifact.h"

typedef tsr_status type_reader(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_type_code *code, const tsr_type **out_type);

static tsr_status made(const tsr_type *type, const tsr_type **out_type) {
  TSR_NEED(type);
  *out_type = type;
  return NULL;
}

static tsr_status read_types(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_type ***out_types, int *out_count) {
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "types", &count));
  const tsr_type **types = tsr_arena_zeros(&artifact->arena, (size_t)count + 1, sizeof *types);
  TSR_NEED(types);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_artifact_type(artifact, cursor, &types[i]));
  *out_types = types;
  *out_count = count;
  return NULL;
}

// ---- scalars ----

static tsr_status read_integer(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_type_code *code, const tsr_type **out_type) {
  (void)cursor;
  return made(tsr_type_integer(artifact->ir, code->argument, (tsr_sign)code->sign), out_type);
}

enum { MAX_WIDTH = (1 << 24) - 1 };  // of MLIR's integers

static tsr_status read_any_integer(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                   const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  const tsr_wire_cursor start = *cursor;
  uint64_t coded = 0;
  TSR_TRY(tsr_wire_varint(cursor, &coded));
  if ((coded & 3) > TSR_UNSIGNED || coded >> 2 > MAX_WIDTH)
    return tsr_wire_fail(&start, BROKEN_PROGRAM,
                         "an integer of %llu bits and signedness %d, expected at most %d bits and "
                         "0 to 2",
                         (unsigned long long)(coded >> 2), (int)(coded & 3), MAX_WIDTH);
  return made(tsr_type_integer(artifact->ir, (int)(coded >> 2), (tsr_sign)(coded & 3)), out_type);
}

static tsr_status read_float(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_type_code *code, const tsr_type **out_type) {
  (void)cursor;
  return made(tsr_type_float(artifact->ir, (tsr_float)code->argument), out_type);
}

static tsr_status read_simple(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_type_code *code, const tsr_type **out_type) {
  (void)cursor;
  return made(tsr_type_simple(artifact->ir, (tsr_type_kind)code->argument), out_type);
}

static tsr_status read_complex(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  const tsr_wire_cursor start = *cursor;
  const tsr_type *element = NULL;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &element));
  if (element->kind != TSR_TYPE_FLOAT && element->kind != TSR_TYPE_INTEGER)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "complex numbers of a type that is no number");
  return made(tsr_type_complex(artifact->ir, element), out_type);
}

// ---- shapes ----

static bool is_element(const tsr_type *type) {
  return type->kind == TSR_TYPE_INTEGER || type->kind == TSR_TYPE_FLOAT ||
         type->kind == TSR_TYPE_INDEX || type->kind == TSR_TYPE_COMPLEX ||
         type->kind == TSR_TYPE_QUANT || type->kind == TSR_TYPE_OPAQUE;
}

static tsr_status read_element(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                               const tsr_type **out_type) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_type(artifact, cursor, out_type));
  if (is_element(*out_type)) return NULL;
  return tsr_wire_fail(&start, BROKEN_PROGRAM, "elements of a type that no tensor can have");
}

static tsr_status read_shape(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const int64_t **out_dims, int *out_rank) {
  const tsr_wire_cursor start = *cursor;
  TSR_TRY(tsr_artifact_ints(artifact, cursor, out_dims, out_rank));
  for (int i = 0; i < *out_rank; i++)
    if ((*out_dims)[i] < 0 && (*out_dims)[i] != TSR_DYNAMIC)
      return tsr_wire_fail(&start, BROKEN_PROGRAM, "dimension %d has the size %lld", i,
                           (long long)(*out_dims)[i]);
  return NULL;
}

static tsr_status read_tensor(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                              const tsr_type_code *code, const tsr_type **out_type) {
  const tsr_attr *encoding = NULL;
  const int64_t *dims = NULL;
  int rank = 0;
  const tsr_type *element = NULL;
  if (code->form == TSR_TYPE_CODE_ENCODED_TENSOR)
    TSR_TRY(tsr_artifact_attr(artifact, cursor, &encoding));
  TSR_TRY(read_shape(artifact, cursor, &dims, &rank));
  TSR_TRY(read_element(artifact, cursor, &element));
  if (code->form == TSR_TYPE_CODE_BUFFER)
    return made(tsr_type_buffer(artifact->ir, element, rank, dims, NULL), out_type);
  return made(tsr_type_tensor(artifact->ir, element, rank, dims, encoding), out_type);
}

static tsr_status read_unranked(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  const tsr_type *element = NULL;
  TSR_TRY(read_element(artifact, cursor, &element));
  return made(tsr_type_unranked(artifact->ir, element), out_type);
}

// ---- lists of types ----

static tsr_status read_function(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  const tsr_type **inputs = NULL, **results = NULL;
  int input_count = 0, result_count = 0;
  TSR_TRY(read_types(artifact, cursor, &inputs, &input_count));
  TSR_TRY(read_types(artifact, cursor, &results, &result_count));
  return made(tsr_type_function(artifact->ir, inputs, input_count, results, result_count),
              out_type);
}

static tsr_status read_tuple(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_type_code *code, const tsr_type **out_type) {
  const tsr_type **types = NULL;
  int count = 0;
  TSR_TRY(read_types(artifact, cursor, &types, &count));
  return made(tsr_type_tuple(artifact->ir, (tsr_type_kind)code->argument, types, count), out_type);
}

// ---- quantised types ----

static tsr_status read_scale(tsr_wire_cursor *cursor, double *out_scale) {
  uint64_t bits = 0;
  TSR_TRY(tsr_wire_integer(cursor, 64, &bits));
  memcpy(out_scale, &bits, sizeof bits);
  return NULL;
}

static tsr_status read_quant_head(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                  tsr_quant *quant) {
  const tsr_wire_cursor start = *cursor;
  uint64_t flags = 0;
  TSR_TRY(tsr_wire_varint(cursor, &flags));
  quant->is_signed = flags & 1;
  TSR_TRY(tsr_artifact_type(artifact, cursor, &quant->storage));
  TSR_TRY(tsr_artifact_type(artifact, cursor, &quant->expressed));
  if (quant->storage->kind != TSR_TYPE_INTEGER || quant->expressed->kind != TSR_TYPE_FLOAT)
    return tsr_wire_fail(&start, BROKEN_PROGRAM,
                         "a quantised type is stored as an integer and stands for a float");
  return NULL;
}

static tsr_status read_quant(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                             const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  tsr_quant_scale scale = {0};
  tsr_quant quant = {.axis = -1, .scale_count = 1, .scales = &scale};
  TSR_TRY(read_quant_head(artifact, cursor, &quant));
  TSR_TRY(read_scale(cursor, &scale.scale));
  TSR_TRY(tsr_wire_svarint(cursor, &scale.zero_point));
  TSR_TRY(tsr_wire_svarint(cursor, &quant.storage_min));
  TSR_TRY(tsr_wire_svarint(cursor, &quant.storage_max));
  return made(tsr_type_quant(artifact->ir, &quant), out_type);
}

static tsr_status read_scales(tsr_artifact *artifact, tsr_wire_cursor *cursor, tsr_quant *quant) {
  TSR_TRY(tsr_wire_count(cursor, "scales", &quant->scale_count));
  tsr_quant_scale *scales =
      tsr_arena_zeros(&artifact->arena, (size_t)quant->scale_count + 1, sizeof *scales);
  TSR_NEED(scales);
  for (int i = 0; i < quant->scale_count; i++) TSR_TRY(read_scale(cursor, &scales[i].scale));
  const tsr_wire_cursor start = *cursor;
  int count = 0;
  TSR_TRY(tsr_wire_count(cursor, "zero points", &count));
  if (count != quant->scale_count)
    return tsr_wire_fail(&start, BROKEN_PROGRAM, "%d zero points for %d scales", count,
                         quant->scale_count);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_wire_svarint(cursor, &scales[i].zero_point));
  quant->scales = scales;
  return NULL;
}

static tsr_status read_quant_per_axis(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                      const tsr_type_code *code, const tsr_type **out_type) {
  (void)code;
  tsr_quant quant = {0};
  TSR_TRY(read_quant_head(artifact, cursor, &quant));
  TSR_TRY(tsr_wire_index(cursor, "axis", INT_MAX, &quant.axis));
  TSR_TRY(tsr_wire_svarint(cursor, &quant.storage_min));
  TSR_TRY(tsr_wire_svarint(cursor, &quant.storage_max));
  TSR_TRY(read_scales(artifact, cursor, &quant));
  return made(tsr_type_quant(artifact->ir, &quant), out_type);
}

static type_reader *const readers[] = {
    [TSR_TYPE_CODE_INTEGER] = read_integer,
    [TSR_TYPE_CODE_ANY_INTEGER] = read_any_integer,
    [TSR_TYPE_CODE_FLOAT] = read_float,
    [TSR_TYPE_CODE_SIMPLE] = read_simple,
    [TSR_TYPE_CODE_COMPLEX] = read_complex,
    [TSR_TYPE_CODE_FUNCTION] = read_function,
    [TSR_TYPE_CODE_TENSOR] = read_tensor,
    [TSR_TYPE_CODE_ENCODED_TENSOR] = read_tensor,
    [TSR_TYPE_CODE_UNRANKED] = read_unranked,
    [TSR_TYPE_CODE_BUFFER] = read_tensor,
    [TSR_TYPE_CODE_TUPLE] = read_tuple,
    [TSR_TYPE_CODE_QUANT] = read_quant,
    [TSR_TYPE_CODE_QUANT_PER_AXIS] = read_quant_per_axis,
    [TSR_TYPE_CODE_MEMREF] = tsr_artifact_carried_type,
    [TSR_TYPE_CODE_UNRANKED_MEMREF] = tsr_artifact_carried_type,
    [TSR_TYPE_CODE_VECTOR] = tsr_artifact_carried_type,
};

tsr_status tsr_artifact_decode_type(tsr_artifact *artifact, tsr_wire_cursor *cursor,
                                    const tsr_type_code *code, const tsr_type **out_type) {
  return readers[code->form](artifact, cursor, code, out_type);
}
