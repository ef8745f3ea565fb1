// Replaces CHLO ops by StableHLO: by a composite whose private decomposition computes the op, or by
// its ops in place. One decomposition serves all ops of a kind and type.
#include "bytecode/chlo_lower.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "bytecode/chlo_body.h"
#include "ir/intern.h"

typedef struct chlo_row {
  tsr_op_id id;
  bool is_composite;  // otherwise in place
  bool is_wide;       // small floats are computed in f32
  const char *body;
} chlo_row;

enum { INLINE, COMPOSITE };
enum { OWN, WIDE };
#define CHLO_BODY(op, form, width, body) {TSR_OP_CHLO_##op, (form) != 0, (width) != 0, body},
static const chlo_row rows[] = {
#include "bytecode/chlo_bodies.def"
};
#undef CHLO_BODY

// A private function that computes an op; other ops of the same function type share it.
typedef struct chlo_decomposition {
  tsr_op_id id;
  const tsr_type *type;  // of the function
  const char *name;
} chlo_decomposition;

typedef struct chlo_pass {
  tsr_ir *ir;
  tsr_intern_table made;  // decompositions by op and type
  int64_t made_count;
} chlo_pass;

static bool is_chlo(const tsr_op *op) { return !strncmp(op->name, "chlo.", 5); }

static const chlo_row *find_row(const tsr_op *op) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].id == op->info->id) return &rows[i];
  return NULL;
}

const char *tsr_chlo_body_of(tsr_op_id id) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].id == id) return rows[i].body;
  return NULL;
}

// ---- bodies ----

static bool is_small_float(const tsr_type *element) {
  return element->kind == TSR_TYPE_FLOAT && tsr_type_bits(element) <= 16;
}

// What the bodies are right for: floats of a static shape; conj and square of complex numbers too.
static bool can_compute(const tsr_op *op, const chlo_row *row) {
  const tsr_type *type = tsr_operand_type(op, 0), *element = tsr_type_element(type);
  if (!tsr_type_is_static(type)) return false;
  if (row->id == TSR_OP_CHLO_CONJ) return element->kind == TSR_TYPE_COMPLEX;
  if (row->id == TSR_OP_CHLO_SQUARE)
    return element->kind != TSR_TYPE_QUANT && element->kind != TSR_TYPE_OPAQUE;
  if (element->kind != TSR_TYPE_FLOAT || !type->dtype) return false;
  const int bits = tsr_type_bits(element);
  if (row->id == TSR_OP_CHLO_ERF_INV && bits == 64) return false;  // its body is good for f32
  return row->is_wide ? bits <= 64 : bits == 16 || bits == 32 || bits == 64;
}

static tsr_status convert(const tsr_chlo_site *site, const tsr_type *element, tsr_value **value) {
  const tsr_type *type = tsr_chlo_retype(site->ir, (*value)->type, element);
  TSR_NEED(type);
  *value = tsr_chlo_build(site, TSR_OP_CONVERT, type, value, 1, NULL, 0);
  TSR_NEED(*value);
  return NULL;
}

static tsr_status build_body(const tsr_chlo_site *site, const chlo_row *row, tsr_value **operands,
                             int count, tsr_value **out_value) {
  const tsr_type *element = tsr_type_element(operands[0]->type);
  const bool widen = row->is_wide && is_small_float(element);
  for (int i = 0; i < count && widen; i++)
    TSR_TRY(convert(site, tsr_type_float(site->ir, TSR_FLOAT_F32), &operands[i]));
  TSR_TRY(tsr_chlo_build_body(site, row->body, operands, count, out_value));
  return widen ? convert(site, element, out_value) : NULL;
}

// ---- decompositions ----

static bool same_decomposition(const void *item, const void *wanted) {
  const chlo_decomposition *a = item, *b = wanted;
  return a->id == b->id && a->type == b->type;
}

// "chlo.erf.impl", or with a number after it if the program has such a function.
static const char *free_name(chlo_pass *pass, const char *op_name) {
  char name[128];
  snprintf(name, sizeof name, "%s.impl", op_name);
  for (int64_t i = pass->made_count; tsr_ir_find_symbol(pass->ir, name); i++)
    snprintf(name, sizeof name, "%s.impl_%lld", op_name, (long long)i);
  return tsr_ir_name(pass->ir, name, strlen(name));
}

static tsr_op *build_function(tsr_ir *ir, const char *name, const tsr_type *type) {
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "function_type", 13), tsr_attr_type(ir, type)},
      {tsr_ir_name(ir, "sym_name", 8), tsr_attr_string(ir, name, strlen(name))},
      {tsr_ir_name(ir, "sym_visibility", 14), tsr_attr_string(ir, "private", 7)}};
  for (int i = 0; i < 3; i++)
    if (!attrs[i].name || !attrs[i].attr) return NULL;
  const tsr_op_parts parts = {
      .id = TSR_OP_FUNC, .region_count = 1, .attr_count = 3, .attrs = attrs};
  return tsr_op_create(ir, &parts);
}

// `row` is NULL for top_k.
static tsr_status fill_function(tsr_ir *ir, tsr_op *func, const chlo_row *row,
                                const tsr_type *type) {
  tsr_ir_block *block = tsr_block_append(ir, &func->regions[0]);
  TSR_NEED(block);
  tsr_value *values[2] = {tsr_block_add_arg(ir, block, type->types[0], NULL), NULL};
  TSR_NEED(values[0]);
  const tsr_chlo_site site = {.ir = ir, .block = block};
  TSR_TRY(row ? build_body(&site, row, values, 1, &values[0])
              : tsr_chlo_build_top_k(ir, block, type->types + 1, values));
  tsr_op *end = tsr_op_create(
      ir,
      &(tsr_op_parts){.id = TSR_OP_FUNC_RETURN, .operand_count = row ? 1 : 2, .operands = values});
  TSR_NEED(end);
  tsr_op_append(block, end);
  return NULL;
}

static tsr_status add_decomposition(chlo_pass *pass, const tsr_op *op, const chlo_row *row,
                                    const tsr_type *type, uint64_t hash, const char **out_name) {
  chlo_decomposition *made = tsr_ir_alloc(pass->ir, sizeof *made);
  TSR_NEED(made);
  *made = (chlo_decomposition){op->info->id, type, free_name(pass, op->name)};
  TSR_NEED(made->name);
  tsr_op *func = build_function(pass->ir, made->name, type);
  TSR_NEED(func);
  tsr_op_append(pass->ir->module->regions[0].first, func);
  TSR_TRY(fill_function(pass->ir, func, row, type));
  if (!tsr_intern_add(&pass->made, hash, made)) return tsr_fail(NO_MEMORY, "a decomposition");
  pass->made_count++;
  *out_name = made->name;
  return NULL;
}

static tsr_status find_decomposition(chlo_pass *pass, const tsr_op *op, const chlo_row *row,
                                     const char **out_name) {
  const tsr_type *input = tsr_operand_type(op, 0), *results[2] = {NULL};
  for (int i = 0; i < op->result_count && i < 2; i++) results[i] = op->results[i].type;
  const tsr_type *type = tsr_type_function(pass->ir, &input, 1, results, op->result_count);
  TSR_NEED(type);
  const uint64_t hash = type->hash * 31 + (uint64_t)op->info->id;
  const chlo_decomposition wanted = {op->info->id, type, NULL};
  const chlo_decomposition *found = tsr_intern_find(&pass->made, hash, same_decomposition, &wanted);
  if (!found) return add_decomposition(pass, op, row, type, hash, out_name);
  *out_name = found->name;
  return NULL;
}

// ---- replacement ----

// The dictionary {k = ...} of top_k; an empty one for the others.
static const tsr_attr *composite_attrs(tsr_ir *ir, const tsr_op *op) {
  const tsr_named_attr k = {tsr_ir_name(ir, "k", 1), tsr_op_attr(op, "k")};
  return k.name ? tsr_attr_dict(ir, &k, k.attr ? 1 : 0) : NULL;
}

static tsr_status build_composite(chlo_pass *pass, tsr_op *op, const char *decomposition,
                                  tsr_op **out_op) {
  tsr_ir *ir = pass->ir;
  const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS), *results[2] = {NULL};
  TSR_NEED(i32);
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "composite_attributes", 20), composite_attrs(ir, op)},
      {tsr_ir_name(ir, "decomposition", 13),
       tsr_attr_symbol(ir, decomposition, strlen(decomposition))},
      {tsr_ir_name(ir, "name", 4), tsr_attr_string(ir, op->name, strlen(op->name))},
      {tsr_ir_name(ir, "version", 7), tsr_attr_integer(ir, i32, 1)}};
  for (int i = 0; i < 4; i++) {
    TSR_NEED(attrs[i].name);
    TSR_NEED(attrs[i].attr);
  }
  for (int i = 0; i < op->result_count && i < 2; i++) results[i] = op->results[i].type;
  tsr_value *operand = tsr_op_operand(op, 0);
  *out_op = tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_COMPOSITE,
                                              .operand_count = 1,
                                              .operands = &operand,
                                              .result_count = op->result_count,
                                              .result_types = results,
                                              .attr_count = 4,
                                              .attrs = attrs,
                                              .location = op->location});
  TSR_NEED(*out_op);
  tsr_op_insert_before(op, *out_op);
  return NULL;
}

// Discardable attributes, such as shardings, go to the op that gives the results.
static tsr_status replace(tsr_ir *ir, tsr_op *op, tsr_op *by) {
  for (int i = 0; i < op->attr_count; i++)
    if (!tsr_op_is_inherent(op, op->attrs[i].name) &&
        !tsr_op_set_attr(ir, by, op->attrs[i].name, op->attrs[i].attr))
      return tsr_fail(NO_MEMORY, "an attribute");
  for (int i = 0; i < op->result_count; i++)
    tsr_value_replace(tsr_op_result(op, i), tsr_op_result(by, i));
  tsr_op_erase(op);
  return NULL;
}

// constant and constant_like are constants of the result's type.
static tsr_status lower_constant(tsr_ir *ir, tsr_op *op) {
  const tsr_type *type = op->results[0].type;
  const tsr_attr *value = tsr_op_attr(op, "value");
  if (!value || !tsr_type_is_static(type)) return NULL;
  if (op->info->id == TSR_OP_CHLO_CONSTANT_LIKE) {
    const bool is_number = value->kind == TSR_ATTR_FLOAT || value->kind == TSR_ATTR_INTEGER;
    if (!is_number || value->type != tsr_type_element(type)) return NULL;
    char *bytes = tsr_ir_alloc(ir, sizeof value->bits);
    TSR_NEED(bytes);
    memcpy(bytes, &value->bits, sizeof value->bits);
    value = tsr_attr_dense(ir, type, bytes, tsr_type_element_bytes(value->type));
    TSR_NEED(value);
  }
  const tsr_chlo_site site = {.ir = ir, .before = op, .location = op->location};
  const tsr_named_attr attr = {tsr_ir_name(ir, "value", 5), value};
  TSR_NEED(attr.name);
  tsr_value *made = tsr_chlo_build(&site, TSR_OP_CONSTANT, type, NULL, 0, &attr, 1);
  TSR_NEED(made);
  return replace(ir, op, made->def);
}

static tsr_status lower_to_composite(chlo_pass *pass, tsr_op *op, const chlo_row *row) {
  const char *decomposition = NULL;
  tsr_op *composite = NULL;
  TSR_TRY(find_decomposition(pass, op, row, &decomposition));
  TSR_TRY(build_composite(pass, op, decomposition, &composite));
  return replace(pass->ir, op, composite);
}

static tsr_status lower_in_place(chlo_pass *pass, tsr_op *op, const chlo_row *row) {
  const tsr_chlo_site site = {.ir = pass->ir, .before = op, .location = op->location};
  tsr_value *operands[2] = {NULL}, *value = NULL;
  assert(op->operand_count > 0);
  for (int i = 0; i < op->operand_count && i < 2; i++) operands[i] = tsr_op_operand(op, i);
  TSR_TRY(build_body(&site, row, operands, op->operand_count, &value));
  return replace(pass->ir, op, value->def);
}

// Programs that were not checked may have ops of any form; such ops stay.
static bool has_its_counts(const tsr_op *op) {
  return tsr_op_count_fits(op->info->operands, op->operand_count) &&
         tsr_op_count_fits(op->info->results, op->result_count);
}

static tsr_status lower_op(tsr_op *op, void *context) {
  chlo_pass *pass = context;
  if (!is_chlo(op) || !has_its_counts(op)) return NULL;
  if (op->info->id == TSR_OP_CHLO_CONSTANT || op->info->id == TSR_OP_CHLO_CONSTANT_LIKE)
    return lower_constant(pass->ir, op);
  if (op->info->id == TSR_OP_CHLO_TOP_K)
    return tsr_chlo_can_top_k(op) ? lower_to_composite(pass, op, NULL) : NULL;
  const chlo_row *row = find_row(op);
  if (!row || !can_compute(op, row)) return NULL;
  return row->is_composite ? lower_to_composite(pass, op, row) : lower_in_place(pass, op, row);
}

tsr_status tsr_chlo_lower(tsr_ir *ir) {
  chlo_pass pass = {.ir = ir};
  tsr_status status = tsr_op_walk(ir->module, lower_op, &pass);
  tsr_intern_deinit(&pass.made);
  return status;
}

static tsr_status find_chlo(tsr_op *op, void *context) {
  if (is_chlo(op)) *(bool *)context = true;
  return NULL;
}

bool tsr_chlo_is_used(const tsr_ir *ir) {
  bool used = false;
  tsr_status_free(tsr_op_walk(ir->module, find_chlo, &used));
  return used;
}
