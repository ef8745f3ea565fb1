// The rows of the tables of portable artifacts, and how they are found.
#include <stddef.h>
#include <string.h>

#include "bytecode/vhlo.h"

// ---- ops ----

#define VALUE(stored, name, form, otherwise) \
  {stored, name, TSR_VHLO_##form, TSR_VHLO_DEFAULT_##otherwise, -1, -1},
#define FIELD(stored, form, otherwise, name, record, field) \
  {stored,                                                  \
   name,                                                    \
   TSR_VHLO_##form,                                         \
   TSR_VHLO_DEFAULT_##otherwise,                            \
   TSR_RECORD_##record,                                     \
   TSR_##record##_##field},
// The last row of each list only ends it.
#define VHLO_ATTRS(row, ...) \
  static const tsr_vhlo_attr row##_attrs[] = {__VA_ARGS__{NULL, NULL, 0, 0, -1, -1}};
#include "bytecode/vhlo_attrs.def"
#undef VHLO_ATTRS
#undef VALUE
#undef FIELD

#define AT(major, minor) TSR_VHLO_VERSION(major, minor)
#define CURRENT TSR_VHLO_NEWEST
#define VHLO_OP(op, name, since, until, row)                                             \
  {TSR_OP_##op, name, since, until, (int)(sizeof row##_attrs / sizeof *row##_attrs) - 1, \
   row##_attrs},
static const tsr_vhlo_op ops[] = {
#include "bytecode/vhlo_ops.def"
};
#undef VHLO_OP
enum { OP_COUNT = sizeof ops / sizeof *ops };

const tsr_vhlo_op *tsr_vhlo_find(const char *name, size_t length) {
  for (int i = 0; i < OP_COUNT; i++)
    if (strlen(ops[i].name) == length && !memcmp(ops[i].name, name, length)) return &ops[i];
  return NULL;
}

const tsr_vhlo_op *tsr_vhlo_of(tsr_op_id id, int version) {
  if (id == TSR_OP_FUNC_RETURN) id = TSR_OP_RETURN;
  for (int i = 0; i < OP_COUNT; i++)
    if (ops[i].id == id && ops[i].since <= version && version <= ops[i].until) return &ops[i];
  return NULL;
}

int tsr_vhlo_since(tsr_op_id id) {
  if (id == TSR_OP_FUNC_RETURN) id = TSR_OP_RETURN;
  for (int i = 0; i < OP_COUNT; i++)
    if (ops[i].id == id) return ops[i].since;
  return 0;
}

int tsr_vhlo_bytecode_version(int version) {
  static const struct {
    int before, version;
  } steps[] = {{AT(0, 10), 0}, {AT(0, 12), 1}, {AT(0, 14), 3}, {AT(0, 15), 4}};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    if (version < steps[i].before) return steps[i].version;
  return 6;
}

// ---- codes ----

enum { MAX_CODE = 48 };

#define WIRE(form) TSR_WIRE_##form,
#define ATTR_CODE(dialect, code, since, form, id, ...) \
  [TSR_DIALECT_##dialect][code] = {since, TSR_CODE_##form, id, {__VA_ARGS__ TSR_WIRE_END}},
static const tsr_attr_code attr_codes[TSR_DIALECT_COUNT][MAX_CODE] = {
#include "bytecode/attr_codes.def"
};
#undef ATTR_CODE
#undef WIRE

#define TYPE_CODE(dialect, code, since, form, argument, sign) \
  [TSR_DIALECT_##dialect][code] = {since, TSR_TYPE_CODE_##form, argument, sign},
static const tsr_type_code type_codes[TSR_DIALECT_COUNT][MAX_CODE] = {
#include "bytecode/type_codes.def"
};
#undef TYPE_CODE

const tsr_attr_code *tsr_attr_code_of(tsr_code_dialect dialect, uint64_t code) {
  if (dialect >= TSR_DIALECT_COUNT || code >= MAX_CODE) return NULL;
  return attr_codes[dialect][code].since ? &attr_codes[dialect][code] : NULL;
}

const tsr_type_code *tsr_type_code_of(tsr_code_dialect dialect, uint64_t code) {
  if (dialect >= TSR_DIALECT_COUNT || code >= MAX_CODE) return NULL;
  return type_codes[dialect][code].since ? &type_codes[dialect][code] : NULL;
}

int tsr_attr_code_find(tsr_code_dialect dialect, tsr_attr_code_form form, int id) {
  for (int code = 0; code < MAX_CODE; code++) {
    const tsr_attr_code *row = &attr_codes[dialect][code];
    if (row->since && row->form == form && row->id == id) return code;
  }
  return -1;
}

int tsr_type_code_find(tsr_code_dialect dialect, tsr_type_code_form form, int argument, int sign) {
  for (int code = 0; code < MAX_CODE; code++) {
    const tsr_type_code *row = &type_codes[dialect][code];
    if (row->since && row->form == form && row->argument == argument && row->sign == sign)
      return code;
  }
  return -1;
}
