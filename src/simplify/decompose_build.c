// Ops built one after another, with the first failure kept.
#include "simplify/decompose_build.h"

#include <string.h>

#include "simplify/scalar.h"

enum { MOST_ATTRS = 8, MOST_RANK = 32 };

// Keeps a failure of memory.
static bool has(tsr_site *site, const void *pointer) {
  if (site->failure) return false;
  if (!pointer) site->failure = tsr_fail(NO_MEMORY, "memory of a program");
  return pointer != NULL;
}

static bool name_attrs(tsr_site *site, const tsr_site_attr *attrs, int count, tsr_named_attr *out) {
  for (int i = 0; i < count; i++) {
    out[i].name = tsr_ir_name(site->ir, attrs[i].name, strlen(attrs[i].name));
    out[i].attr = attrs[i].attr;
    if (!has(site, out[i].name) || !has(site, out[i].attr)) return false;
  }
  return true;
}

tsr_op *tsr_site_op(tsr_site *site, tsr_op_id id, tsr_value *const *operands, int operand_count,
                    const tsr_type *const *results, int result_count, int region_count,
                    const tsr_site_attr *attrs, int attr_count) {
  tsr_named_attr named[MOST_ATTRS];
  if (site->failure || attr_count > MOST_ATTRS) return NULL;
  for (int i = 0; i < operand_count; i++)
    if (!operands[i]) return NULL;
  for (int i = 0; i < result_count; i++)
    if (!has(site, results[i])) return NULL;
  if (!name_attrs(site, attrs, attr_count, named)) return NULL;
  const tsr_op_parts parts = {.id = id,
                              .operand_count = operand_count,
                              .operands = operands,
                              .result_count = result_count,
                              .result_types = results,
                              .region_count = region_count,
                              .attr_count = attr_count,
                              .attrs = named,
                              .location = site->place->location};
  tsr_op *op = tsr_op_create(site->ir, &parts);
  if (!has(site, op)) return NULL;
  op->line = site->place->line;
  if (site->block)
    tsr_op_append(site->block, op);
  else
    tsr_op_insert_before(site->place, op);
  if (site->r) site->failure = tsr_rewriter_push(site->r, op);
  return site->failure ? NULL : op;
}

tsr_value *tsr_site_add(tsr_site *site, tsr_op_id id, const tsr_type *type,
                        tsr_value *const *operands, int operand_count, const tsr_site_attr *attrs,
                        int attr_count) {
  tsr_op *op = tsr_site_op(site, id, operands, operand_count, &type, 1, 0, attrs, attr_count);
  return op ? &op->results[0] : NULL;
}

tsr_value *tsr_site_unary(tsr_site *site, tsr_op_id id, tsr_value *x) {
  return x ? tsr_site_add(site, id, x->type, &x, 1, NULL, 0) : NULL;
}

tsr_value *tsr_site_binary(tsr_site *site, tsr_op_id id, tsr_value *x, tsr_value *y) {
  tsr_value *const operands[] = {x, y};
  return x ? tsr_site_add(site, id, x->type, operands, 2, NULL, 0) : NULL;
}

const tsr_type *tsr_site_retyped(tsr_site *site, const tsr_type *type, const tsr_type *element) {
  const tsr_type *made = tsr_type_tensor(site->ir, element, type->rank, type->dims, type->encoding);
  return has(site, made) ? made : NULL;
}

tsr_value *tsr_site_number(tsr_site *site, const tsr_type *type, double number) {
  const tsr_scalar_type real = {.dtype = TSR_F64, .kind = TSR_CLASS_FLOAT, .bits = 64, .bytes = 8};
  tsr_scalar_type scalar;
  char *bytes = tsr_ir_alloc(site->ir, TSR_SCALAR_BYTES);
  if (!type || !has(site, bytes) || !tsr_scalar_type_of(type, &scalar)) return NULL;
  if (!tsr_scalar_convert(&real, &scalar, (tsr_scalar){.f = number}, bytes)) return NULL;
  const tsr_site_attr value = {
      "value", tsr_attr_dense(site->ir, type, bytes,
                              tsr_type_element_count(type) ? (size_t)scalar.bytes : 0)};
  return tsr_site_add(site, TSR_OP_CONSTANT, type, NULL, 0, &value, 1);
}

tsr_value *tsr_site_convert(tsr_site *site, tsr_value *x, const tsr_type *element) {
  if (!x || tsr_type_element(x->type) == element) return x;
  return tsr_site_add(site, TSR_OP_CONVERT, tsr_site_retyped(site, x->type, element), &x, 1, NULL,
                      0);
}

tsr_value *tsr_site_reshape(tsr_site *site, tsr_value *x, const tsr_type *type) {
  return x && x->type == type ? x : tsr_site_add(site, TSR_OP_RESHAPE, type, &x, 1, NULL, 0);
}

tsr_value *tsr_site_broadcast(tsr_site *site, tsr_value *x, const tsr_type *type,
                              const int64_t *dims) {
  if (!x || !type) return NULL;
  if (x->type == type) return x;
  const tsr_site_attr attr = {"broadcast_dimensions", tsr_attr_ints(site->ir, dims, x->type->rank)};
  return tsr_site_add(site, TSR_OP_BROADCAST_IN_DIM, type, &x, 1, &attr, 1);
}

tsr_value *tsr_site_transpose(tsr_site *site, tsr_value *x, const int64_t *permutation) {
  int64_t dims[MOST_RANK];
  bool same = true;
  if (!x || x->type->rank > MOST_RANK) return NULL;
  for (int d = 0; d < x->type->rank; d++) {
    dims[d] = x->type->dims[permutation[d]];
    same = same && permutation[d] == d;
  }
  if (same) return x;
  const tsr_type *type = tsr_type_tensor(site->ir, x->type->element, x->type->rank, dims, NULL);
  const tsr_site_attr attr = {"permutation", tsr_attr_ints(site->ir, permutation, x->type->rank)};
  return tsr_site_add(site, TSR_OP_TRANSPOSE, type, &x, 1, &attr, 1);
}

// ---- regions ----

void tsr_site_body(tsr_site *site, tsr_op *op, tsr_op_id id, const tsr_type *element) {
  if (!op) return;
  const tsr_type *scalar = tsr_type_tensor(site->ir, element, 0, NULL, NULL);
  tsr_ir_block *block = tsr_block_append(site->ir, &op->regions[0]);
  if (!has(site, scalar) || !has(site, block)) return;
  tsr_value *x = tsr_block_add_arg(site->ir, block, scalar, NULL);
  tsr_value *y = tsr_block_add_arg(site->ir, block, scalar, NULL);
  if (!has(site, x) || !has(site, y)) return;
  tsr_ir_block *const outer = site->block;
  site->block = block;
  tsr_value *made = tsr_site_binary(site, id, x, y);
  tsr_site_op(site, TSR_OP_RETURN, &made, 1, NULL, 0, 0, NULL, 0);
  site->block = outer;
}

tsr_value *tsr_site_sum(tsr_site *site, tsr_value *x, const bool *kept) {
  int64_t reduced[MOST_RANK], dims[MOST_RANK];
  int reduced_count = 0, rank = 0;
  if (!x || x->type->rank > MOST_RANK) return NULL;
  for (int d = 0; d < x->type->rank; d++) {
    if (kept[d])
      dims[rank++] = x->type->dims[d];
    else
      reduced[reduced_count++] = d;
  }
  if (!reduced_count) return x;
  const tsr_type *element = x->type->element;
  const tsr_type *type = tsr_type_tensor(site->ir, element, rank, dims, NULL);
  const tsr_type *scalar = tsr_type_tensor(site->ir, element, 0, NULL, NULL);
  const tsr_site_attr attr = {"dimensions", tsr_attr_ints(site->ir, reduced, reduced_count)};
  tsr_value *const operands[] = {x, tsr_site_number(site, scalar, 0)};
  tsr_op *op = tsr_site_op(site, TSR_OP_REDUCE, operands, 2, &type, 1, 1, &attr, 1);
  tsr_site_body(site, op, TSR_OP_ADD, element);
  return op ? &op->results[0] : NULL;
}

tsr_status tsr_site_replace(tsr_site *site, tsr_op *op, tsr_value *const *values) {
  if (site->failure) return site->failure;
  for (int i = 0; i < op->result_count; i++)
    if (!values[i] || values[i]->type != op->results[i].type) return NULL;
  return tsr_rewriter_replace_all(site->r, op, values);
}
