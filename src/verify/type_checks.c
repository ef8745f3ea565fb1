// Classes of types, and when two types can be the same: unknown sizes, bounds, quantised elements.
#include <math.h>

#include "verify/op_checks.h"

// ---- classes

static unsigned integer_class(const tsr_type *type) {
  switch (type->width) {
    case 1:
      return type->sign == TSR_SIGNLESS ? TSR_PRED : 0;
    case 2:
    case 4:
    case 8:
    case 16:
    case 32:
    case 64:
      return type->sign == TSR_SIGNLESS ? TSR_SINT : type->sign == TSR_UNSIGNED ? TSR_UINT : 0;
    default:
      return 0;
  }
}

static unsigned float_class(const tsr_type *type) {
  switch (type->format) {
    case TSR_FLOAT_TF32:
    case TSR_FLOAT_F80:
    case TSR_FLOAT_F128:
      return 0;
    default:
      return TSR_FP;
  }
}

// Scales are values of the expressed type.
static bool is_scale(double scale, tsr_float format) {
  static const struct {
    tsr_float format;
    double least, greatest;
  } ranges[] = {
      {TSR_FLOAT_F16, 0x1p-24, 65504},
      {TSR_FLOAT_BF16, 0x1p-133, 0x1.fep127},
      {TSR_FLOAT_F32, 0x1p-149, 0x1.fffffep127},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (ranges[i].format == format) return scale >= ranges[i].least && scale <= ranges[i].greatest;
  return scale > 0 && isfinite(scale);
}

static bool is_scale_in_range(const tsr_quant *quant, int index) {
  const int64_t zero = quant->scales[index].zero_point;
  return zero >= quant->storage_min && zero <= quant->storage_max &&
         is_scale(quant->scales[index].scale, quant->expressed->format);
}

static unsigned quant_class(const tsr_quant *quant) {
  const int width = quant->storage->width;
  if (quant->storage->kind != TSR_TYPE_INTEGER || quant->storage->sign != TSR_SIGNLESS) return 0;
  if (width != 2 && width != 4 && width != 8 && width != 16 && width != 32) return 0;
  if (quant->expressed->kind != TSR_TYPE_FLOAT) return 0;
  for (int i = 0; i < quant->scale_count; i++)
    if (!is_scale_in_range(quant, i)) return 0;
  return quant->axis < 0 ? TSR_QUANTISED : TSR_QUANTISED_AXIS;
}

static unsigned element_class(const tsr_type *type) {
  switch (type->kind) {
    case TSR_TYPE_INTEGER:
      return integer_class(type);
    case TSR_TYPE_FLOAT:
      return float_class(type);
    case TSR_TYPE_INDEX:
      return TSR_INDEX_INT;
    case TSR_TYPE_QUANT:
      return quant_class(type->quant);
    case TSR_TYPE_COMPLEX:
      return tsr_is_float_of(type->element, TSR_FLOAT_F32) ||
                     tsr_is_float_of(type->element, TSR_FLOAT_F64)
                 ? TSR_COMPLEX_FP
                 : 0;
    default:
      return 0;
  }
}

// A scale for each index of the dimension that is quantised.
static bool has_axis(const tsr_type *tensor) {
  const tsr_quant *quant = tensor->element->quant;
  return quant->axis < tensor->rank &&
         tsr_sizes_match(tensor->dims[quant->axis], quant->scale_count);
}

enum { NESTED_TUPLES = 64 };

static unsigned class_within(const tsr_type *type, int depth);

static unsigned tuple_class(const tsr_type *type, int depth) {
  const unsigned allowed = TSR_TENSOR_AXIS | TSR_TOKEN | TSR_TUPLE | TSR_MEMREF | TSR_UNRANKED;
  if (depth > NESTED_TUPLES) return 0;
  for (int i = 0; i < type->count; i++) {
    const unsigned mask = class_within(type->types[i], depth + 1);
    if (!mask || mask & ~allowed) return 0;
  }
  return TSR_TUPLE;
}

static unsigned tensor_class(const tsr_type *type) {
  const unsigned mask = element_class(type->element);
  return mask == TSR_QUANTISED_AXIS && !has_axis(type) ? 0 : mask;
}

static unsigned class_within(const tsr_type *type, int depth) {
  switch (type->kind) {
    case TSR_TYPE_TENSOR:
      return tensor_class(type);
    case TSR_TYPE_UNRANKED: {
      const unsigned mask = element_class(type->element);
      return mask ? mask | TSR_UNRANKED : 0;
    }
    case TSR_TYPE_BUFFER:
      return element_class(type->element) & TSR_TENSOR ? TSR_MEMREF : 0;
    case TSR_TYPE_TOKEN:
      return TSR_TOKEN;
    case TSR_TYPE_FUTURE:
      return TSR_FUTURE;
    case TSR_TYPE_TUPLE:
      return tuple_class(type, depth);
    default:
      return 0;
  }
}

unsigned tsr_type_class(const tsr_type *type) { return class_within(type, 0); }

// Without unknown dimensions, or with a single one, which has a bound.
static bool is_static_or_bounded(const tsr_type *type) {
  int unknown = 0, bounded = 0;
  for (int i = 0; i < type->rank; i++) {
    unknown += tsr_is_dynamic(type->dims[i]);
    bounded += !tsr_is_dynamic(tsr_type_bound(type, i));
  }
  return !unknown || (unknown == 1 && bounded == 1);
}

static bool has_bits(const tsr_type *type, unsigned mask) {
  const int bits = tsr_type_bits(tsr_type_element(type));
  return bits == 32 || (bits == 64 && !(mask & TSR_32_BITS));
}

bool tsr_type_fits(const tsr_type *type, unsigned mask) {
  if (mask & TSR_ANYTHING) return true;
  const unsigned own = tsr_type_class(type);
  if (!own || own & ~mask) return false;
  if (type->kind != TSR_TYPE_TENSOR) return true;
  if (mask & TSR_RANK_0 && type->rank != 0) return false;
  if (mask & TSR_RANK_1 && type->rank != 1) return false;
  if (mask & TSR_RANK_2 && type->rank != 2) return false;
  if (mask & TSR_STATIC && !tsr_type_is_static(type)) return false;
  if (mask & TSR_STATIC_OR_BOUND && !is_static_or_bounded(type)) return false;
  return !(mask & (TSR_32_OR_64 | TSR_32_BITS)) || has_bits(type, mask);
}

static const struct {
  unsigned bits;
  const char *word;
} element_words[] =
    {
        {TSR_PRED, "boolean"},
        {TSR_INT, "integer"},
        {TSR_SINT, "signed integer"},
        {TSR_UINT, "unsigned integer"},
        {TSR_FP, "float"},
        {TSR_COMPLEX_FP, "complex"},
        {TSR_QUANTISED, "per-tensor quantised"},
        {TSR_QUANTISED_AXIS, "per-axis quantised"},
        {TSR_INDEX_INT, "index"},
},
  other_words[] =
      {
          {TSR_TOKEN, "token"},
          {TSR_TUPLE, "tuple"},
          {TSR_MEMREF, "memref"},
          {TSR_FUTURE, "future"},
},
  shape_words[] = {
      {TSR_RANK_0, "0-dimensional "},
      {TSR_RANK_1, "1-dimensional "},
      {TSR_RANK_2, "2-dimensional "},
      {TSR_STATIC, "statically shaped "},
      {TSR_STATIC_OR_BOUND, "statically shaped or singly bounded "},
      {TSR_32_OR_64, "32 or 64 bit "},
      {TSR_32_BITS, "32 bit "},
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

// Adds a word of a list: "a", "a, b", "a, b or c".
static void add_word(tsr_text *text, const char *word, int index, int count) {
  if (index) tsr_text_add(text, index == count - 1 ? " or " : ", ");
  tsr_text_add(text, word);
}

const char *tsr_show_mask(tsr_shown *shown, unsigned mask) {
  if (shown->count == (int)COUNT(shown->texts)) shown->count--;
  tsr_text *text = &shown->texts[shown->count++];
  const char *words[COUNT(element_words)];
  int count = 0, index = 0;
  unsigned left = mask;
  for (size_t i = 0; i < COUNT(element_words); i++) {
    if ((left & element_words[i].bits) != element_words[i].bits) continue;
    left &= ~element_words[i].bits;
    words[count++] = element_words[i].word;
  }
  for (size_t i = 0; count && i < COUNT(shape_words); i++)
    if (mask & shape_words[i].bits) tsr_text_add(text, shape_words[i].word);
  if (count) tsr_text_add(text, "tensor of ");
  for (; index < count; index++) add_word(text, words[index], index, count);
  for (size_t i = 0; i < COUNT(other_words); i++)
    if (mask & other_words[i].bits)
      tsr_text_addf(text, "%s%s", index++ ? " or " : "", other_words[i].word);
  return tsr_text_string(text);
}

// ---- predicates

bool tsr_is_axis_quantised(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  return element->kind == TSR_TYPE_QUANT && element->quant->axis >= 0;
}

bool tsr_is_float_of(const tsr_type *type, tsr_float format) {
  const tsr_type *element = tsr_type_element(type);
  return element->kind == TSR_TYPE_FLOAT && element->format == format;
}

bool tsr_is_integer(const tsr_type *type) {
  return tsr_type_element(type)->kind == TSR_TYPE_INTEGER;
}

bool tsr_is_pred(const tsr_type *type) {
  return integer_class(tsr_type_element(type)) == TSR_PRED && tsr_is_integer(type);
}

bool tsr_is_scalar(const tsr_type *type) { return type->kind == TSR_TYPE_TENSOR && !type->rank; }

// ---- types that can be the same

// Whether no size of `sized` is greater than the bound that `bounded` has for it.
static bool keeps_bounds(const tsr_type *sized, const tsr_type *bounded) {
  if (!bounded->encoding) return true;
  for (int i = 0; i < sized->rank; i++) {
    const int64_t bound = tsr_type_bound(bounded, i);
    if (!tsr_is_dynamic(bound) && bound < sized->dims[i]) return false;
  }
  return true;
}

bool tsr_dims_match(const tsr_type *a, const tsr_type *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (!tsr_sizes_match(a->dims[i], b->dims[i])) return false;
  return true;
}

bool tsr_shapes_match(const tsr_type *a, const tsr_type *b) {
  if (a == b) return true;
  if (a->kind == TSR_TYPE_UNRANKED || b->kind == TSR_TYPE_UNRANKED)
    return tsr_type_is_shaped(a) && tsr_type_is_shaped(b);
  if (!tsr_type_is_shaped(a) || !tsr_type_is_shaped(b)) return false;
  return tsr_dims_match(a, b) && keeps_bounds(a, b) && keeps_bounds(b, a);
}

bool tsr_elements_match(const tsr_type *a, const tsr_type *b) {
  const tsr_type *x = tsr_type_element(a), *y = tsr_type_element(b);
  if (x == y) return true;
  if (x->kind != TSR_TYPE_QUANT || y->kind != TSR_TYPE_QUANT) return false;
  const tsr_quant *p = x->quant, *q = y->quant;
  return p->storage == q->storage && p->storage_min == q->storage_min &&
         p->storage_max == q->storage_max && p->expressed == q->expressed &&
         (p->axis < 0) == (q->axis < 0);
}

bool tsr_types_match(const tsr_type *a, const tsr_type *b) {
  if (a == b) return true;
  if (tsr_type_is_shaped(a) != tsr_type_is_shaped(b)) return false;
  return tsr_elements_match(a, b) && (!tsr_type_is_shaped(a) || tsr_shapes_match(a, b));
}

bool tsr_same_element(const tsr_type *a, const tsr_type *b) {
  return tsr_type_element(a) == tsr_type_element(b);
}

const tsr_type *tsr_expressed(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  return element->kind == TSR_TYPE_QUANT ? element->quant->expressed : element;
}

int tsr_element_bits(const tsr_type *type) {
  const tsr_type *element = tsr_type_element(type);
  if (element->kind == TSR_TYPE_COMPLEX) return 2 * tsr_type_bits(element->element);
  if (element->kind == TSR_TYPE_QUANT) return tsr_type_bits(element->quant->storage);
  return tsr_type_bits(element);
}

bool tsr_element_promotes(const tsr_type *from, const tsr_type *to) {
  const tsr_type *x = tsr_type_element(from), *y = tsr_type_element(to);
  if (x->kind != y->kind) return false;
  if (x->kind == TSR_TYPE_FLOAT) return true;
  if (x->kind == TSR_TYPE_QUANT && x->quant->expressed != y->quant->expressed) return false;
  return tsr_element_bits(x) <= tsr_element_bits(y);
}
