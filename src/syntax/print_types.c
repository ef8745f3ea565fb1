// Types as MLIR prints them.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "syntax/float_literal.h"
#include "syntax/writer_parts.h"

void tsr_dims_print(const int64_t *dims, int rank, tsr_text *out) {
  for (int i = 0; i < rank; i++) {
    if (i) tsr_text_add_char(out, 'x');
    if (dims[i] == TSR_DYNAMIC)
      tsr_text_add_char(out, '?');
    else
      tsr_text_add_int(out, dims[i]);
  }
}

void tsr_types_print(const tsr_type *const *types, int count, tsr_text *out) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_type_print(types[i], out);
  }
}

static void print_list(const char *open, const tsr_type *const *types, int count, const char *close,
                       tsr_text *out) {
  tsr_text_add(out, open);
  tsr_types_print(types, count, out);
  tsr_text_add(out, close);
}

void tsr_type_list_print(const tsr_type *const *types, int count, tsr_text *out) {
  print_list("(", types, count, ")", out);
}

void tsr_result_types_print(const tsr_type *const *types, int count, tsr_text *out) {
  if (count == 1 && types[0]->kind != TSR_TYPE_FUNCTION)
    tsr_type_print(types[0], out);
  else
    tsr_type_list_print(types, count, out);
}

static void print_dims_of(const tsr_type *type, tsr_text *out) {
  tsr_dims_print(type->dims, type->rank, out);
  if (type->rank) tsr_text_add_char(out, 'x');
  tsr_type_print(type->element, out);
}

static void print_tensor(const tsr_type *type, tsr_text *out) {
  tsr_text_add(out, "tensor<");
  print_dims_of(type, out);
  if (type->encoding) {
    tsr_text_add(out, ", ");
    tsr_attr_print(type->encoding, out);
  }
  tsr_text_add_char(out, '>');
}

static void print_buffer(const tsr_type *type, tsr_text *out) {
  tsr_text_add(out, "memref<");
  print_dims_of(type, out);
  if (type->text) {
    tsr_text_add(out, ", ");
    tsr_text_add(out, type->text);
  }
  tsr_text_add_char(out, '>');
}

static void print_scale(const tsr_quant_scale *scale, tsr_text *out) {
  uint64_t bits;
  memcpy(&bits, &scale->scale, sizeof bits);
  tsr_float_print(TSR_FLOAT_F64, bits, out);
  if (!scale->zero_point) return;
  tsr_text_add_char(out, ':');
  tsr_text_add_int(out, scale->zero_point);
}

static void print_quant(const tsr_quant *quant, tsr_text *out) {
  const int bits = quant->storage->width;
  const int64_t range = INT64_C(1) << bits, least = quant->is_signed ? -range / 2 : 0;
  const char *sign = quant->storage->sign == TSR_SIGNED ? "si" : quant->is_signed ? "i" : "u";
  tsr_text_addf(out, "!quant.uniform<%s%d", sign, bits);
  if (quant->storage_min != least || quant->storage_max != least + range - 1)
    tsr_text_addf(out, "<%lld:%lld>", (long long)quant->storage_min, (long long)quant->storage_max);
  tsr_text_add_char(out, ':');
  tsr_type_print(quant->expressed, out);
  if (quant->axis >= 0) tsr_text_addf(out, ":%d", quant->axis);
  tsr_text_add(out, quant->axis < 0 ? ", " : ", {");
  for (int i = 0; i < quant->scale_count; i++) {
    if (i) tsr_text_add_char(out, ',');
    print_scale(&quant->scales[i], out);
  }
  tsr_text_add(out, quant->axis < 0 ? ">" : "}>");
}

static void print_wrapped(const char *open, const tsr_type *element, tsr_text *out) {
  tsr_text_add(out, open);
  tsr_type_print(element, out);
  tsr_text_add_char(out, '>');
}

void tsr_type_print(const tsr_type *type, tsr_text *out) {
  static const char *const signs[] = {
      [TSR_SIGNLESS] = "i", [TSR_SIGNED] = "si", [TSR_UNSIGNED] = "ui"};
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      tsr_text_addf(out, "%s%d", signs[type->sign], type->width);
      break;
    case TSR_TYPE_FLOAT:
      tsr_text_add(out, tsr_float_name(type->format));
      break;
    case TSR_TYPE_INDEX:
      tsr_text_add(out, "index");
      break;
    case TSR_TYPE_COMPLEX:
      print_wrapped("complex<", type->element, out);
      break;
    case TSR_TYPE_TENSOR:
      print_tensor(type, out);
      break;
    case TSR_TYPE_UNRANKED:
      print_wrapped("tensor<*x", type->element, out);
      break;
    case TSR_TYPE_BUFFER:
      print_buffer(type, out);
      break;
    case TSR_TYPE_TUPLE:
      print_list("tuple<", type->types, type->count, ">", out);
      break;
    case TSR_TYPE_FUNCTION:
      tsr_type_list_print(type->types, type->input_count, out);
      tsr_text_add(out, " -> ");
      tsr_result_types_print(type->types + type->input_count, type->count - type->input_count, out);
      break;
    case TSR_TYPE_TOKEN:
      tsr_text_add(out, "!stablehlo.token");
      break;
    case TSR_TYPE_FUTURE:
      print_list("!stablehlo.future<", type->types, type->count, ">", out);
      break;
    case TSR_TYPE_QUANT:
      print_quant(type->quant, out);
      break;
    case TSR_TYPE_NONE:
      tsr_text_add(out, "none");
      break;
    case TSR_TYPE_WITNESS:
      tsr_text_add(out, "!shape.witness");
      break;
    case TSR_TYPE_OPAQUE:
      tsr_text_add(out, type->text);
      break;
  }
}
