// The tables of ops, records, enums and floats, and how names are found in them.
#include "ir/op_table.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "ir/ir.h"
#include "tessera/engine/hash.h"

// ---- rows ----

#define ATTR(name_, form_, id_, required_) \
  {.name = (name_), .form = TSR_FORM_##form_, .id = (id_), .required = (required_)},
#define ATTRS(row, ...) static const tsr_attr_info attrs_##row[] = {__VA_ARGS__{.name = NULL}};
static const tsr_attr_info attrs_none[] = {{.name = NULL}};
#include "ir/op_attrs.def"
#undef ATTR
#undef ATTRS

#define OP(id_, name_, form_, operands_, results_, regions_, traits_, schema, ...)           \
  [TSR_OP_##id_] = {.id = TSR_OP_##id_,                                                      \
                    .name = (name_),                                                         \
                    .form = TSR_TEXT_##form_,                                                \
                    .operands = (operands_),                                                 \
                    .results = (results_),                                                   \
                    .regions = (regions_),                                                   \
                    .traits = (traits_),                                                     \
                    .attr_count = (int)(sizeof attrs_##schema / sizeof *attrs_##schema) - 1, \
                    .attrs = attrs_##schema},
static const tsr_op_info ops[TSR_OP_COUNT] = {
    [TSR_OP_UNKNOWN] = {.id = TSR_OP_UNKNOWN,
                        .name = "unknown",
                        .form = TSR_TEXT_GENERIC,
                        .operands = TSR_AT_LEAST(0),
                        .results = TSR_AT_LEAST(0),
                        .regions = TSR_AT_LEAST(0),
                        .attrs = attrs_none},
#include "ir/ops.def"
};
#undef OP

#define TSR_RECORD_ROW(...)
#define TSR_FIELD_ROW(record, id_, name_, form_, which, required_) \
  {.name = (name_), .form = TSR_FORM_##form_, .id = (which), .required = (required_)},
static const tsr_attr_info fields[] = {
#include "ir/records.def"
};
#undef TSR_RECORD_ROW
#undef TSR_FIELD_ROW

// Where the fields of each record begin: the number of fields before its row.
#define TSR_RECORD_ROW(id, ...) FIRST_##id, BEFORE_##id = FIRST_##id - 1,
#define TSR_FIELD_ROW(record, id, ...) FIELD_##record##_##id,
enum {
#include "ir/records.def"
  ALL_FIELDS
};
#undef TSR_RECORD_ROW
#undef TSR_FIELD_ROW
#define TSR_RECORD_ROW(id, dialect_, name_) \
  [TSR_RECORD_##id] = {.dialect = (dialect_), .name = (name_), .fields = fields + FIRST_##id},
#define TSR_FIELD_ROW(...)
static const tsr_record_info records[TSR_RECORD_COUNT] = {
#include "ir/records.def"
};
#undef TSR_RECORD_ROW
#undef TSR_FIELD_ROW

#define TSR_ENUM_FAMILY(id, dialect_, name_) \
  [TSR_ENUM_##id] = {.dialect = (dialect_), .name = (name_)},
#define TSR_ENUM_CASE(...)
static const tsr_enum_info enums[TSR_ENUM_COUNT] = {
#include "ir/enums.def"
};
#undef TSR_ENUM_FAMILY
#undef TSR_ENUM_CASE
typedef struct enum_case {
  tsr_enum_id family;
  int number;
  const char *name;
} enum_case;
#define TSR_ENUM_FAMILY(...)
#define TSR_ENUM_CASE(family_, id, number_, name_) {TSR_ENUM_##family_, number_, name_},
static const enum_case enum_cases[] = {
#include "ir/enums.def"
};
#undef TSR_ENUM_FAMILY
#undef TSR_ENUM_CASE

typedef struct float_row {
  const char *name;
  int bits;
  tsr_dtype dtype;
} float_row;
#define TSR_FLOAT_ROW(id, name, bits, dtype) [TSR_FLOAT_##id] = {name, bits, TSR_##dtype},
static const float_row floats[TSR_FLOAT_COUNT] = {
#include "ir/floats.def"
};
#undef TSR_FLOAT_ROW

// ---- ops ----

const tsr_op_info *tsr_op_info_of(tsr_op_id id) {
  return (unsigned)id < TSR_OP_COUNT ? &ops[id] : &ops[TSR_OP_UNKNOWN];
}

// Ops by the hash of their name: made once, then only read.
enum { SLOTS = 1024 };
static_assert(TSR_OP_COUNT < SLOTS / 2, "the index of ops is too small");
static pthread_once_t index_once = PTHREAD_ONCE_INIT;
static uint16_t index_slots[SLOTS];

static unsigned slot_of(const char *name, size_t length) {
  return (unsigned)tsr_hash64(name, length, 0) % SLOTS;
}

static void make_index(void) {
  for (int id = 1; id < TSR_OP_COUNT; id++) {
    unsigned slot = slot_of(ops[id].name, strlen(ops[id].name));
    while (index_slots[slot]) slot = (slot + 1) % SLOTS;
    index_slots[slot] = (uint16_t)id;
  }
}

static bool name_is(const char *name, const char *word, size_t length) {
  return !strncmp(name, word, length) && !name[length];
}

const tsr_op_info *tsr_op_find(const char *name, size_t length) {
  pthread_once(&index_once, make_index);
  for (unsigned slot = slot_of(name, length); index_slots[slot]; slot = (slot + 1) % SLOTS) {
    const tsr_op_info *info = &ops[index_slots[slot]];
    if (name_is(info->name, name, length)) return info;
  }
  return &ops[TSR_OP_UNKNOWN];
}

// ---- records, enums, floats ----

tsr_record_info tsr_record_info_of(tsr_record_id id) {
  tsr_record_info info = records[id];
  const int next = id + 1 < TSR_RECORD_COUNT ? (int)(records[id + 1].fields - fields) : ALL_FIELDS;
  info.field_count = next - (int)(info.fields - fields);
  return info;
}

int tsr_record_find(const char *dialect, const char *name, size_t length) {
  for (int i = 0; i < TSR_RECORD_COUNT; i++)
    if (name_is(records[i].name, name, length) && !strcmp(records[i].dialect, dialect)) return i;
  return -1;
}

const tsr_enum_info *tsr_enum_info_of(tsr_enum_id id) { return &enums[id]; }

int tsr_enum_find(const char *dialect, const char *name, size_t length) {
  for (int i = 0; i < TSR_ENUM_COUNT; i++)
    if (name_is(enums[i].name, name, length) && !strcmp(enums[i].dialect, dialect)) return i;
  return -1;
}

int tsr_enum_value(tsr_enum_id id, const char *name, size_t length) {
  for (size_t i = 0; i < sizeof enum_cases / sizeof *enum_cases; i++)
    if (enum_cases[i].family == id && name_is(enum_cases[i].name, name, length))
      return enum_cases[i].number;
  return -1;
}

const char *tsr_enum_name(tsr_enum_id id, int64_t value) {
  for (size_t i = 0; i < sizeof enum_cases / sizeof *enum_cases; i++)
    if (enum_cases[i].family == id && enum_cases[i].number == value) return enum_cases[i].name;
  return NULL;
}

const char *tsr_float_name(tsr_float format) { return floats[format].name; }

int tsr_float_bits(tsr_float format) { return floats[format].bits; }

tsr_dtype tsr_float_dtype(tsr_float format) { return floats[format].dtype; }

int tsr_float_find(const char *name, size_t length) {
  for (int i = 0; i < TSR_FLOAT_COUNT; i++)
    if (name_is(floats[i].name, name, length)) return i;
  return -1;
}
