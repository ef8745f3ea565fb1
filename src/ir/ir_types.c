// Types, each once per program: a type is described on the stack, looked up by its content, and
// copied into the program's memory when it is new.
#include <stddef.h>
#include <string.h>

#include "ir/intern.h"
#include "ir/ir.h"
#include "ir/type_content.h"
#include "tessera/engine/hash.h"

// ---- content ----

static uint64_t mix(uint64_t hash, const void *bytes, size_t length) {
  return tsr_hash64(bytes, length, hash);
}

static uint64_t mix_quant(uint64_t hash, const tsr_quant *quant) {
  const int64_t head[] = {quant->is_signed,   (int64_t)quant->storage->hash,
                          quant->storage_min, (int64_t)quant->expressed->hash,
                          quant->storage_max, quant->axis};
  hash = mix(hash, head, sizeof head);
  for (int i = 0; i < quant->scale_count; i++) {
    hash = mix(hash, &quant->scales[i].scale, sizeof(double));
    hash = mix(hash, &quant->scales[i].zero_point, sizeof(int64_t));
  }
  return hash;
}

// Hashes of types are mixed already; only their order must count.
#define ODD UINT64_C(0x9E3779B97F4A7C15)

static uint64_t hash_of(const tsr_type *type) {
  const int64_t head[] = {type->kind, type->width, type->sign,       type->format,
                          type->rank, type->count, type->input_count};
  uint64_t hash = mix(0, head, sizeof head);
  if (type->element) hash = mix(hash, &type->element->hash, sizeof type->element->hash);
  if (type->rank) hash = mix(hash, type->dims, (size_t)type->rank * sizeof *type->dims);
  for (int i = 0; i < type->count; i++) hash = hash * ODD + type->types[i]->hash;
  if (type->encoding) hash = mix(hash, &type->encoding->hash, sizeof type->encoding->hash);
  if (type->quant) hash = mix_quant(hash, type->quant);
  if (type->text) hash = mix(hash, type->text, strlen(type->text));
  return hash;
}

// Of floats: NaN equals itself, and 0 is not -0.
static bool same_bits(double a, double b) {
  uint64_t left = 0, right = 0;
  memcpy(&left, &a, sizeof left);
  memcpy(&right, &b, sizeof right);
  return left == right;
}

static bool same_quant(const tsr_quant *a, const tsr_quant *b) {
  if (!a || !b) return a == b;
  if (a->is_signed != b->is_signed || !tsr_type_equal(a->storage, b->storage) ||
      !tsr_type_equal(a->expressed, b->expressed) || a->storage_min != b->storage_min ||
      a->storage_max != b->storage_max || a->axis != b->axis || a->scale_count != b->scale_count)
    return false;
  for (int i = 0; i < a->scale_count; i++)
    if (!same_bits(a->scales[i].scale, b->scales[i].scale) ||
        a->scales[i].zero_point != b->scales[i].zero_point)
      return false;
  return true;
}

static bool same_lists(const tsr_type *a, const tsr_type *b) {
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  for (int i = 0; i < a->count; i++)
    if (!tsr_type_equal(a->types[i], b->types[i])) return false;
  return true;
}

bool tsr_type_equal(const tsr_type *a, const tsr_type *b) {
  if (a == b) return true;
  if (!a || !b || a->hash != b->hash) return false;
  const bool same_text = a->text && b->text ? !strcmp(a->text, b->text) : a->text == b->text;
  return a->kind == b->kind && a->width == b->width && a->sign == b->sign &&
         a->format == b->format && tsr_type_equal(a->element, b->element) && a->rank == b->rank &&
         a->count == b->count && a->input_count == b->input_count && same_text &&
         same_lists(a, b) && tsr_attr_equal(a->encoding, b->encoding) &&
         same_quant(a->quant, b->quant);
}

static bool same_type(const void *item, const void *wanted) { return tsr_type_equal(item, wanted); }

// ---- the program's own copy ----

static void *copy_bytes(tsr_ir *ir, const void *bytes, size_t length) {
  void *copy = tsr_ir_alloc(ir, length);
  if (copy && length) memcpy(copy, bytes, length);
  return copy;
}

static bool copy_quant(tsr_ir *ir, tsr_type *type) {
  if (!type->quant) return true;
  tsr_quant *quant = copy_bytes(ir, type->quant, sizeof *quant);
  if (!quant) return false;
  quant->scales = copy_bytes(ir, quant->scales, (size_t)quant->scale_count * sizeof *quant->scales);
  type->quant = quant;
  return quant->scales;
}

static bool copy_lists(tsr_ir *ir, tsr_type *type) {
  type->dims = copy_bytes(ir, type->dims, (size_t)type->rank * sizeof *type->dims);
  type->types = copy_bytes(ir, type->types, (size_t)type->count * sizeof *type->types);
  if (type->text) type->text = tsr_arena_copy(&ir->arena, type->text, strlen(type->text));
  return type->dims && type->types && copy_quant(ir, type);
}

static uint32_t weight_of(const tsr_type *type) {
  uint64_t weight = 1 + (uint64_t)type->rank;
  if (type->element) weight += type->element->weight;
  if (type->encoding) weight += type->encoding->weight;
  for (int i = 0; i < type->count; i++) weight += type->types[i]->weight;
  return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

static const tsr_type *intern(tsr_ir *ir, tsr_type wanted) {
  wanted.hash = hash_of(&wanted);
  wanted.weight = weight_of(&wanted);
  const tsr_type *known = tsr_intern_find(ir->types, wanted.hash, same_type, &wanted);
  if (known) return known;
  const bool has_text = wanted.text;
  tsr_type *type = copy_bytes(ir, &wanted, sizeof wanted);
  if (!type || !copy_lists(ir, type) || (has_text && !type->text)) return NULL;
  return tsr_intern_add(ir->types, type->hash, type) ? type : NULL;
}

// ---- constructors ----

static tsr_dtype integer_dtype(int width, tsr_sign sign) {
  const bool is_unsigned = sign == TSR_UNSIGNED;
  switch (width) {
    case 1:
      return sign == TSR_SIGNLESS ? TSR_BOOL : TSR_DTYPE_NONE;
    case 2:
      return is_unsigned ? TSR_U2 : TSR_I2;
    case 4:
      return is_unsigned ? TSR_U4 : TSR_I4;
    case 8:
      return is_unsigned ? TSR_U8 : TSR_I8;
    case 16:
      return is_unsigned ? TSR_U16 : TSR_I16;
    case 32:
      return is_unsigned ? TSR_U32 : TSR_I32;
    case 64:
      return is_unsigned ? TSR_U64 : TSR_I64;
    default:
      return TSR_DTYPE_NONE;
  }
}

const tsr_type *tsr_type_integer(tsr_ir *ir, int width, tsr_sign sign) {
  return intern(ir, (tsr_type){.kind = TSR_TYPE_INTEGER,
                               .dtype = integer_dtype(width, sign),
                               .width = width,
                               .sign = sign});
}

const tsr_type *tsr_type_float(tsr_ir *ir, tsr_float format) {
  return intern(
      ir, (tsr_type){.kind = TSR_TYPE_FLOAT, .dtype = tsr_float_dtype(format), .format = format});
}

const tsr_type *tsr_type_simple(tsr_ir *ir, tsr_type_kind kind) {
  return intern(ir, (tsr_type){.kind = kind});
}

const tsr_type *tsr_type_complex(tsr_ir *ir, const tsr_type *element) {
  const tsr_dtype dtype = element->dtype == TSR_F32   ? TSR_C64
                          : element->dtype == TSR_F64 ? TSR_C128
                                                      : TSR_DTYPE_NONE;
  return intern(ir, (tsr_type){.kind = TSR_TYPE_COMPLEX, .dtype = dtype, .element = element});
}

const tsr_type *tsr_type_tensor(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                const tsr_attr *encoding) {
  return intern(ir, (tsr_type){.kind = TSR_TYPE_TENSOR,
                               .dtype = element->dtype,
                               .element = element,
                               .rank = rank,
                               .dims = dims,
                               .encoding = encoding});
}

const tsr_type *tsr_type_unranked(tsr_ir *ir, const tsr_type *element) {
  return intern(ir,
                (tsr_type){.kind = TSR_TYPE_UNRANKED, .dtype = element->dtype, .element = element});
}

const tsr_type *tsr_type_buffer(tsr_ir *ir, const tsr_type *element, int rank, const int64_t *dims,
                                const char *rest) {
  return intern(ir, (tsr_type){.kind = TSR_TYPE_BUFFER,
                               .dtype = element->dtype,
                               .element = element,
                               .rank = rank,
                               .dims = dims,
                               .text = rest});
}

const tsr_type *tsr_type_tuple(tsr_ir *ir, tsr_type_kind kind, const tsr_type *const *types,
                               int count) {
  return intern(ir, (tsr_type){.kind = kind, .count = count, .types = types});
}

const tsr_type *tsr_type_function(tsr_ir *ir, const tsr_type *const *inputs, int input_count,
                                  const tsr_type *const *results, int result_count) {
  enum { FEW = 16 };
  const size_t count = (size_t)input_count + (size_t)result_count;
  const tsr_type *few[FEW], **types = few;
  if (count > FEW) types = tsr_ir_alloc(ir, count * sizeof(const tsr_type *));
  if (!types) return NULL;
  for (int i = 0; i < input_count; i++) types[i] = inputs[i];
  for (int i = 0; i < result_count; i++) types[input_count + i] = results[i];
  return intern(ir, (tsr_type){.kind = TSR_TYPE_FUNCTION,
                               .count = input_count + result_count,
                               .input_count = input_count,
                               .types = types});
}

const tsr_type *tsr_type_quant(tsr_ir *ir, const tsr_quant *quant) {
  return intern(ir, (tsr_type){.kind = TSR_TYPE_QUANT, .quant = quant});
}

const tsr_type *tsr_type_opaque(tsr_ir *ir, const char *text, size_t length) {
  const char *copy = tsr_ir_name(ir, text, length);
  return copy ? intern(ir, (tsr_type){.kind = TSR_TYPE_OPAQUE, .text = copy}) : NULL;
}

const tsr_type *tsr_type_of_dtype(tsr_ir *ir, tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  switch (info->kind) {
    case TSR_CLASS_BOOL:
      return tsr_type_integer(ir, 1, TSR_SIGNLESS);
    case TSR_CLASS_SIGNED:
      return tsr_type_integer(ir, info->bits, TSR_SIGNLESS);
    case TSR_CLASS_UNSIGNED:
      return tsr_type_integer(ir, info->bits, TSR_UNSIGNED);
    case TSR_CLASS_FLOAT:
      return tsr_type_float(ir,
                            (tsr_float)tsr_float_find(info->stablehlo, strlen(info->stablehlo)));
    case TSR_CLASS_COMPLEX: {
      const tsr_type *part = tsr_type_float(ir, dtype == TSR_C64 ? TSR_FLOAT_F32 : TSR_FLOAT_F64);
      return part ? tsr_type_complex(ir, part) : NULL;
    }
  }
  return NULL;
}

const tsr_type *tsr_type_shaped(tsr_ir *ir, tsr_dtype dtype, int rank, const int64_t *dims) {
  const tsr_type *element = tsr_type_of_dtype(ir, dtype);
  return element ? tsr_type_tensor(ir, element, rank, dims, NULL) : NULL;
}

// ---- questions ----

bool tsr_type_is_shaped(const tsr_type *type) {
  return type->kind == TSR_TYPE_TENSOR || type->kind == TSR_TYPE_UNRANKED ||
         type->kind == TSR_TYPE_BUFFER;
}

bool tsr_type_is_static(const tsr_type *type) {
  if (type->kind != TSR_TYPE_TENSOR && type->kind != TSR_TYPE_BUFFER) return false;
  for (int i = 0; i < type->rank; i++)
    if (type->dims[i] == TSR_DYNAMIC) return false;
  return true;
}

const tsr_type *tsr_type_element(const tsr_type *type) {
  return tsr_type_is_shaped(type) ? type->element : type;
}

int64_t tsr_type_element_count(const tsr_type *type) {
  if (!tsr_type_is_static(type)) return -1;
  int64_t count = 1;
  bool overflow = false;
  for (int i = 0; i < type->rank; i++) {
    if (!type->dims[i]) return 0;
    overflow |= __builtin_mul_overflow(count, type->dims[i], &count);
  }
  return overflow ? -1 : count;
}

int tsr_type_bits(const tsr_type *type) {
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      return type->width;
    case TSR_TYPE_FLOAT:
      return tsr_float_bits(type->format);
    case TSR_TYPE_INDEX:
      return 64;
    case TSR_TYPE_COMPLEX:
      return 2 * tsr_type_bits(type->element);
    case TSR_TYPE_QUANT:
      return tsr_type_bits(type->quant->storage);
    default:
      return 0;
  }
}

size_t tsr_type_element_bytes(const tsr_type *element) {
  if (element->kind == TSR_TYPE_COMPLEX) return 2 * tsr_type_element_bytes(element->element);
  return ((size_t)tsr_type_bits(element) + 7) / 8;
}

int64_t tsr_type_bound(const tsr_type *type, int dim) {
  const tsr_attr *bounds = type->encoding;
  if (!bounds || bounds->kind != TSR_ATTR_RECORD || bounds->id != TSR_RECORD_BOUNDS)
    return TSR_DYNAMIC;
  const tsr_attr *sizes = tsr_attr_field(bounds, TSR_BOUNDS_SIZES);
  return dim < tsr_attr_int_count(sizes) ? tsr_attr_int_at(sizes, dim) : TSR_DYNAMIC;
}
