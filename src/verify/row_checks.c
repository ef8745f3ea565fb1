// What the row of an op in ir/ops.def and its types in verify/op_types.def ask of it.
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "verify/op_rows.h"

// ---- the table of types

enum { MASKS = 6 };

typedef struct op_types {
  int first;  // the number of the first operand among the inputs of the specification
  unsigned operands[MASKS], results[MASKS];  // the last one that is not 0 serves the rest
  tsr_result_names names;
} op_types;

#define OPERANDS(...) \
  { __VA_ARGS__ }
#define RESULTS(...) \
  { __VA_ARGS__ }
#define SHAPE(...) \
  { __VA_ARGS__ }
#define TYPES(id, first, operands, results, shape, element) \
  [TSR_OP_##id] = {first, operands, results, {shape, element}},
static const op_types types_of[TSR_OP_COUNT] = {
#include "verify/op_types.def"
};
#undef TYPES
#undef SHAPE
#undef RESULTS
#undef OPERANDS

const tsr_result_names *tsr_result_names_of(tsr_op_id id) { return &types_of[id].names; }

static unsigned mask_at(const unsigned *masks, int index, int *out_position) {
  int position = 0;
  while (position < index && position + 1 < MASKS && masks[position + 1]) position++;
  *out_position = position;
  return masks[position];
}

// A bound for each dimension, TSR_DYNAMIC for those of known size.
static tsr_status check_bounds(const tsr_op *op, const tsr_type *type) {
  const tsr_attr *encoding = type->encoding;
  if (encoding->kind != TSR_ATTR_RECORD || encoding->id != TSR_RECORD_BOUNDS) return NULL;
  const tsr_attr *sizes = tsr_attr_field(encoding, TSR_BOUNDS_SIZES);
  TSR_ASK(tsr_attr_int_count(sizes) == type->rank, op, "", "%s has %lld bounds, expected %d",
          SHOW_TYPE(type), (long long)tsr_attr_int_count(sizes), type->rank);
  for (int i = 0; i < type->rank; i++)
    TSR_ASK(tsr_is_dynamic(type->dims[i]) || tsr_is_dynamic(tsr_attr_int_at(sizes, i)), op, "",
            "dimension %d of %s has a size and a bound, expected one of them", i, SHOW_TYPE(type));
  return NULL;
}

// What async ops wait for are tensors of known rank.
static tsr_status check_future(const tsr_op *op, const tsr_type *type) {
  for (int i = 0; i < type->count; i++)
    TSR_ASK(type->types[i]->kind == TSR_TYPE_TENSOR, op, "", "a future holds %s, expected a tensor",
            SHOW_TYPE(type->types[i]));
  return NULL;
}

static tsr_status check_rank(const tsr_op *op, const tsr_type *type) {
  if (type->rank <= TSR_RANK_LIMIT) return NULL;
  return tsr_fail(TOO_LARGE, "%s: rank %d of a tensor, expected at most %d", op->name, type->rank,
                  TSR_RANK_LIMIT);
}

tsr_status tsr_check_type(const tsr_op *op, const tsr_type *type) {
  if (type->kind == TSR_TYPE_FUTURE) return check_future(op, type);
  TSR_TRY(check_rank(op, type));
  if (type->kind != TSR_TYPE_TENSOR) return NULL;
  return type->encoding ? check_bounds(op, type) : NULL;
}

static tsr_status check_operand_types(const tsr_op *op, const op_types *types) {
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    TSR_TRY(check_rank(op, type));
    int position = 0;
    const unsigned mask = mask_at(types->operands, i, &position);
    if (!mask || tsr_type_fits(type, mask)) continue;
    char name[16] = "";
    if (types->first) snprintf(name, sizeof name, "I%d", types->first + position);
    TSR_VIOLATES(op, name, "operand %d is %s, expected %s", i, SHOW_TYPE(type),
                 tsr_show_mask(&shown_, mask));
  }
  return NULL;
}

static tsr_status check_result_types(const tsr_op *op, const op_types *types) {
  for (int i = 0; i < op->result_count; i++) {
    const tsr_type *type = op->results[i].type;
    TSR_TRY(tsr_check_type(op, type));
    int position = 0;
    const unsigned mask = mask_at(types->results, i, &position);
    TSR_ASK(!mask || tsr_type_fits(type, mask), op, "", "result %d is %s, expected %s", i,
            SHOW_TYPE(type), tsr_show_mask(&shown_, mask));
  }
  return NULL;
}

// ---- numbers of operands, results and regions

static tsr_status check_count(const tsr_op *op, const char *things, int wanted, int count) {
  if (tsr_op_count_fits(wanted, count)) return NULL;
  if (wanted >= 0) TSR_VIOLATES(op, "", "has %d %s, expected %d", count, things, wanted);
  TSR_VIOLATES(op, "", "has %d %s, expected at least %d", count, things, -1 - wanted);
}

// ---- attributes

static const char *const form_words[] = {
    [TSR_FORM_ANY_ATTR] = "an attribute",
    [TSR_FORM_UNIT] = "unit",
    [TSR_FORM_BOOL] = "true or false",
    [TSR_FORM_INT] = "an integer",
    [TSR_FORM_I32] = "an integer of type i32",
    [TSR_FORM_I64] = "an integer of type i64",
    [TSR_FORM_FLOAT] = "a float",
    [TSR_FORM_STRING] = "a string",
    [TSR_FORM_SYMBOL] = "a symbol",
    [TSR_FORM_TYPE] = "a type",
    [TSR_FORM_INTS] = "array<i64: ...>",
    [TSR_FORM_BOOLS] = "array<i1: ...>",
    [TSR_FORM_DENSE] = "dense<...>",
    [TSR_FORM_DENSE_I64] = "dense<...> of i64",
    [TSR_FORM_ARRAY] = "an array",
    [TSR_FORM_DICT] = "a dictionary",
    [TSR_FORM_ENUM] = "an enum",
    [TSR_FORM_RECORD] = "a record",
    [TSR_FORM_ENUMS] = "an array of enums",
    [TSR_FORM_RECORDS] = "an array of records",
    [TSR_FORM_SYMBOLS] = "an array of symbols",
};

static const char *show_form(tsr_shown *shown, const tsr_attr_info *field) {
  const char *dialect = NULL, *name = NULL;
  if (field->form == TSR_FORM_ENUM || field->form == TSR_FORM_ENUMS) {
    dialect = tsr_enum_info_of((tsr_enum_id)field->id)->dialect;
    name = tsr_enum_info_of((tsr_enum_id)field->id)->name;
  } else if (field->form == TSR_FORM_RECORD || field->form == TSR_FORM_RECORDS) {
    const tsr_record_info info = tsr_record_info_of((tsr_record_id)field->id);
    dialect = info.dialect;
    name = info.name;
  }
  if (!name) return form_words[field->form];
  const bool list = field->form == TSR_FORM_ENUMS || field->form == TSR_FORM_RECORDS;
  tsr_text *text = &shown->texts[shown->count++];
  tsr_text_addf(text, "%s#%s.%s", list ? "an array of " : "", dialect, name);
  return tsr_text_string(text);
}

static tsr_status check_attr(const tsr_op *op, const tsr_attr_info *field, const tsr_attr *attr);

static tsr_status check_record(const tsr_op *op, const tsr_attr *record) {
  const tsr_record_info info = tsr_record_info_of((tsr_record_id)record->id);
  for (int i = 0; i < info.field_count; i++)
    TSR_TRY(check_attr(op, &info.fields[i], tsr_attr_field(record, i)));
  return NULL;
}

// Records hold records of other kinds only, so this ends.
static tsr_status check_attr(const tsr_op *op, const tsr_attr_info *field, const tsr_attr *attr) {
  TSR_ASK(attr || !field->required, op, "", "attribute \"%s\" is missing", field->name);
  if (!attr) return NULL;
  TSR_ASK(tsr_attr_has_form(attr, field->form, field->id), op, "",
          "attribute \"%s\" is %s, expected %s", field->name, SHOW_ATTR(attr),
          show_form(&shown_, field));
  if (field->form == TSR_FORM_RECORD) return check_record(op, attr);
  for (int64_t i = 0; field->form == TSR_FORM_RECORDS && i < attr->count; i++)
    TSR_TRY(check_record(op, attr->items[i]));
  return NULL;
}

// Both lists are sorted by name.
static tsr_status check_attrs(const tsr_op *op) {
  int next = 0;
  for (int i = 0; i < op->info->attr_count; i++) {
    const tsr_attr_info *field = &op->info->attrs[i];
    int order = 1;
    while (next < op->attr_count && (order = strcmp(op->attrs[next].name, field->name)) < 0) next++;
    const bool found = next < op->attr_count && !order;
    TSR_TRY(check_attr(op, field, found ? op->attrs[next].attr : NULL));
  }
  return NULL;
}

// ---- rows

static bool is_known_dialect(const char *name, size_t length) {
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++) {
    const char *known = tsr_op_info_of((tsr_op_id)id)->name;
    if (!strncmp(known, name, length) && known[length] == '.') return true;
  }
  return false;
}

static tsr_status fail_unknown(const tsr_op *op) {
  const char *dot = strchr(op->name, '.');
  const size_t length = dot ? (size_t)(dot - op->name) : 0;
  if (dot && !is_known_dialect(op->name, length))
    return tsr_fail(UNKNOWN_OP, "op \"%s\" is of the unknown dialect \"%.*s\"", op->name,
                    (int)length, op->name);
  tsr_suggestion near = tsr_suggestion_for(op->name);
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++)
    tsr_suggestion_offer(&near, tsr_op_info_of((tsr_op_id)id)->name);
  return tsr_fail(UNKNOWN_OP, "op \"%s\" is unknown" TSR_DID_YOU_MEAN, op->name,
                  TSR_SUGGESTED(near));
}

tsr_status tsr_check_row(const tsr_op *op, bool results) {
  const tsr_op_info *info = op->info;
  if (info->id == TSR_OP_UNKNOWN) return fail_unknown(op);
  TSR_TRY(check_count(op, "operands", info->operands, op->operand_count));
  TSR_TRY(check_count(op, "regions", info->regions, op->region_count));
  TSR_TRY(check_attrs(op));
  TSR_TRY(check_operand_types(op, &types_of[info->id]));
  if (!results) return NULL;
  TSR_TRY(check_count(op, "results", info->results, op->result_count));
  return check_result_types(op, &types_of[info->id]);
}
