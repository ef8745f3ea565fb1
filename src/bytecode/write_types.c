// Types of an artifact: a code and what follows it (type_codes.def), or MLIR's text for types that
// the builtin dialect has no code for.
#include <string.h>

#include "bytecode/write_internal.h"
#include "syntax/syntax.h"

typedef struct type_form {
  tsr_type_code_form form;
  int argument, sign;
} type_form;

// The row of the table to look for.
static type_form form_of(const tsr_type *type, tsr_code_dialect dialect) {
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      if (dialect == TSR_DIALECT_BUILTIN) return (type_form){TSR_TYPE_CODE_ANY_INTEGER, 0, 0};
      return (type_form){TSR_TYPE_CODE_INTEGER, type->width, (int)type->sign};
    case TSR_TYPE_FLOAT:
      return (type_form){TSR_TYPE_CODE_FLOAT, (int)type->format, 0};
    case TSR_TYPE_COMPLEX:
      return (type_form){TSR_TYPE_CODE_COMPLEX, 0, 0};
    case TSR_TYPE_TENSOR:
      return (type_form){type->encoding ? TSR_TYPE_CODE_ENCODED_TENSOR : TSR_TYPE_CODE_TENSOR, 0,
                         0};
    case TSR_TYPE_UNRANKED:
      return (type_form){TSR_TYPE_CODE_UNRANKED, 0, 0};
    case TSR_TYPE_BUFFER:
      return (type_form){TSR_TYPE_CODE_BUFFER, 0, 0};
    case TSR_TYPE_TUPLE:
    case TSR_TYPE_FUTURE:
      return (type_form){TSR_TYPE_CODE_TUPLE, (int)type->kind, 0};
    case TSR_TYPE_FUNCTION:
      return (type_form){TSR_TYPE_CODE_FUNCTION, 0, 0};
    case TSR_TYPE_QUANT:
      return (type_form){type->quant->axis < 0 ? TSR_TYPE_CODE_QUANT : TSR_TYPE_CODE_QUANT_PER_AXIS,
                         0, 0};
    default:
      return (type_form){TSR_TYPE_CODE_SIMPLE, (int)type->kind, 0};
  }
}

tsr_status tsr_put_type(tsr_emitter *emitter, const tsr_type *type, tsr_code_dialect dialect) {
  int64_t index = 0;
  TSR_TRY(tsr_emit_type(emitter, type, dialect, &index));
  tsr_put_varint(&emitter->scratch, (uint64_t)index);
  return NULL;
}

static tsr_status put_types(tsr_emitter *emitter, const tsr_type *const *types, int count,
                            tsr_code_dialect dialect) {
  tsr_put_varint(&emitter->scratch, (uint64_t)count);
  for (int i = 0; i < count; i++) TSR_TRY(tsr_put_type(emitter, types[i], dialect));
  return NULL;
}

static tsr_status put_shaped(tsr_emitter *emitter, const tsr_type *type, tsr_code_dialect dialect) {
  if (type->encoding) {
    int64_t index = 0;
    TSR_TRY(tsr_emit_attr(emitter, type->encoding, dialect, &index));
    tsr_put_varint(&emitter->scratch, (uint64_t)index);
  }
  tsr_put_varint(&emitter->scratch, (uint64_t)type->rank);
  for (int i = 0; i < type->rank; i++) tsr_put_svarint(&emitter->scratch, type->dims[i]);
  return tsr_put_type(emitter, type->element, dialect);
}

static void put_double(tsr_text *out, double value) {
  int64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  tsr_put_bits(out, 64, bits);
}

static tsr_status put_quant(tsr_emitter *emitter, const tsr_quant *quant,
                            tsr_code_dialect dialect) {
  tsr_text *out = &emitter->scratch;
  tsr_put_varint(out, quant->is_signed);
  TSR_TRY(tsr_put_type(emitter, quant->storage, dialect));
  TSR_TRY(tsr_put_type(emitter, quant->expressed, dialect));
  if (quant->axis < 0) {
    put_double(out, quant->scales[0].scale);
    tsr_put_svarint(out, quant->scales[0].zero_point);
  } else {
    tsr_put_varint(out, (uint64_t)quant->axis);
  }
  tsr_put_svarint(out, quant->storage_min);
  tsr_put_svarint(out, quant->storage_max);
  if (quant->axis < 0) return NULL;
  tsr_put_varint(out, (uint64_t)quant->scale_count);
  for (int i = 0; i < quant->scale_count; i++) put_double(out, quant->scales[i].scale);
  tsr_put_varint(out, (uint64_t)quant->scale_count);
  for (int i = 0; i < quant->scale_count; i++) tsr_put_svarint(out, quant->scales[i].zero_point);
  return NULL;
}

static tsr_status put_fields(tsr_emitter *emitter, const tsr_type *type, tsr_code_dialect dialect) {
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      if (dialect == TSR_DIALECT_BUILTIN)
        tsr_put_varint(&emitter->scratch, (uint64_t)type->width << 2 | (uint64_t)type->sign);
      return NULL;
    case TSR_TYPE_COMPLEX:
    case TSR_TYPE_UNRANKED:
      return tsr_put_type(emitter, type->element, dialect);
    case TSR_TYPE_TENSOR:
    case TSR_TYPE_BUFFER:
      return put_shaped(emitter, type, dialect);
    case TSR_TYPE_TUPLE:
    case TSR_TYPE_FUTURE:
      return put_types(emitter, type->types, type->count, dialect);
    case TSR_TYPE_FUNCTION:
      TSR_TRY(put_types(emitter, type->types, type->input_count, dialect));
      return put_types(emitter, type->types + type->input_count, type->count - type->input_count,
                       dialect);
    case TSR_TYPE_QUANT:
      return put_quant(emitter, type->quant, dialect);
    default:
      return NULL;
  }
}

// Text entries end with '\0'.
static tsr_status store_text(tsr_emitter *emitter, const tsr_type *type, int64_t *out_index) {
  const size_t start = emitter->scratch.length;
  tsr_stored_entry stored = {.dialect = TSR_DIALECT_BUILTIN, .is_text = true};
  tsr_type_print(type, &emitter->scratch);
  tsr_text_add_char(&emitter->scratch, '\0');
  return tsr_emit_store_blob(emitter, &emitter->types, &stored, start, 0, out_index);
}

static tsr_status refuse(const tsr_emitter *emitter, const tsr_type *type, int since) {
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_text_add(&name, "type ");
  tsr_type_print(type, &name);
  tsr_status status =
      since ? tsr_emit_allow(emitter, tsr_text_string(&name), since)
            : tsr_fail(UNSUPPORTED, "%s has no form in portable artifacts", tsr_text_string(&name));
  return tsr_text_end(&name, status);
}

static tsr_status store_type(tsr_emitter *emitter, const tsr_type *type, tsr_code_dialect dialect,
                             int64_t *out_index) {
  const type_form form = form_of(type, dialect);
  const int code = type->kind == TSR_TYPE_OPAQUE || (type->kind == TSR_TYPE_BUFFER && type->text)
                       ? -1
                       : tsr_type_code_find(dialect, form.form, form.argument, form.sign);
  const tsr_type_code *row = code < 0 ? NULL : tsr_type_code_of(dialect, (uint64_t)code);
  const bool fits = row && row->since <= emitter->version;
  if (!fits && (dialect == TSR_DIALECT_BUILTIN || type->kind == TSR_TYPE_OPAQUE))
    return store_text(emitter, type, out_index);
  if (!fits) return refuse(emitter, type, row ? row->since : 0);
  const size_t start = emitter->scratch.length;
  tsr_put_varint(&emitter->scratch, (uint64_t)code);
  TSR_TRY(put_fields(emitter, type, dialect));
  return tsr_emit_store(emitter, &emitter->types, dialect, start, out_index);
}

tsr_status tsr_emit_type(tsr_emitter *emitter, const tsr_type *type, tsr_code_dialect dialect,
                         int64_t *out_index) {
  const int64_t known = tsr_emit_recall(emitter, type, (int)dialect);
  if (known >= 0) {
    *out_index = known;
    return NULL;
  }
  if (emitter->depth >= TSR_EMIT_DEPTH)
    return tsr_fail(TOO_LARGE, "a type is nested deeper than %d levels", TSR_EMIT_DEPTH);
  emitter->depth++;
  TSR_TRY(store_type(emitter, type, dialect, out_index));
  emitter->depth--;
  return tsr_emit_remember(emitter, type, (int)dialect, *out_index);
}
