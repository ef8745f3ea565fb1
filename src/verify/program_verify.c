// The driver: walks a program, checks the structure and every op, and compares inferred types.
//
// Violations are collected, so that one run reports many. An op whose row or place is wrong is not
// looked at further: verifiers and inference rely on both. Running out of memory ends the walk.
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "ir/issues.h"
#include "verify/op_rows.h"
#include "verify/sdy_checks.h"

enum { NESTING = 256 };

typedef struct walk {
  tsr_ir *ir;
  const char *name;
  tsr_issues issues;
  tsr_reached reached;
} walk;

// ---- one op

static const char *shape_name(const tsr_result_names *names, int index) {
  int position = 0;
  while (position < index && position < 2 && names->shapes[position + 1]) position++;
  return names->shapes[position] ? names->shapes[position] : "";
}

static tsr_status compare_results(const tsr_op *op, const tsr_result_types *inferred) {
  const tsr_result_names *names = tsr_result_names_of(op->info->id);
  TSR_ASK(inferred->count == op->result_count, op, shape_name(names, 0),
          "has %d results, expected %d", op->result_count, inferred->count);
  for (int i = 0; i < op->result_count; i++) {
    const tsr_type *type = op->results[i].type, *wanted = inferred->types[i];
    const bool free = names->element && *names->element == *TSR_FREE_ELEMENT;
    if (free ? tsr_dims_match(wanted, type) : tsr_types_match(wanted, type)) continue;
    const bool element = names->element && !free && !tsr_elements_match(wanted, type);
    TSR_VIOLATES(op, element ? names->element : shape_name(names, i),
                 "result %d is %s, expected %s", i, SHOW_TYPE(type), SHOW_TYPE(wanted));
  }
  return NULL;
}

tsr_status tsr_verify_op(tsr_ir *ir, const tsr_op *op) {
  TSR_TRY(tsr_check_row(op, true));
  TSR_TRY(tsr_check_blocks(op));
  const tsr_op_row *row = tsr_op_row_of(op->info->id);
  TSR_TRY(row->verify(ir, op));
  TSR_TRY(tsr_check_sdy_attrs(ir, op));
  tsr_result_types inferred = {.ir = ir};
  TSR_TRY(row->infer(ir, op, &inferred));
  return inferred.unknown ? NULL : compare_results(op, &inferred);
}

tsr_status tsr_infer_op(tsr_ir *ir, const tsr_op *op, tsr_inferred *out_types) {
  TSR_TRY(tsr_check_row(op, false));
  TSR_TRY(tsr_check_blocks(op));
  const tsr_op_row *row = tsr_op_row_of(op->info->id);
  *out_types = (tsr_inferred){NULL, -1};
  if (!tsr_op_has_inference(op->info->id)) return NULL;
  TSR_TRY(row->verify(ir, op));
  tsr_result_types inferred = {.ir = ir};
  TSR_TRY(row->infer(ir, op, &inferred));
  if (inferred.unknown) return NULL;
  const size_t bytes = sizeof *inferred.types * (size_t)inferred.count;
  const tsr_type **types = tsr_ir_alloc(ir, bytes ? bytes : 1);
  TSR_NEED(types);
  if (bytes) memcpy(types, inferred.types, bytes);
  *out_types = (tsr_inferred){types, inferred.count};
  return NULL;
}

// ---- all ops

// Keeps a violation; passes on a lack of memory.
static tsr_status keep(walk *w, const tsr_op *op, tsr_status failure) {
  if (!failure) return NULL;
  if (tsr_status_cause(failure) == TSR_CAUSE_NO_MEMORY) return failure;
  tsr_issues_add(&w->issues, w->name, op->line, op->column, failure);
  return NULL;
}

static tsr_status reach(walk *w, tsr_op *op) {
  tsr_reached *reached = &w->reached;
  if (reached->count > UINT32_MAX)
    return tsr_fail(TOO_LARGE, "a program of more than %lld ops", (long long)UINT32_MAX);
  const tsr_op **ops =
      tsr_grow(reached->ops, reached->count, &reached->capacity, sizeof *reached->ops);
  TSR_NEED(ops);
  reached->ops = ops;
  op->mark = (uint32_t)reached->count;
  ops[reached->count++] = op;
  return NULL;
}

static tsr_status check_symbols(walk *w, const tsr_ir_block *block, tsr_name_index *index) {
  int64_t position = 0;
  for (const tsr_op *op = block->first; op; op = op->next) {
    const char *symbol = op->info->traits & TSR_TRAIT_SYMBOL ? tsr_op_symbol(op) : NULL;
    int64_t existing = -1;
    if (!symbol || position == INT32_MAX) continue;
    TSR_TRY(tsr_name_index_add(index, symbol, position++, &existing));
    if (existing >= 0)
      TSR_TRY(keep(w, op,
                   tsr_fail(CONSTRAINT, "%s: symbol \"%s\" is defined twice", op->name, symbol)));
  }
  return NULL;
}

static tsr_status visit(walk *w, tsr_op *op, int depth);

static tsr_status visit_block(walk *w, const tsr_op *parent, const tsr_ir_block *block, int depth) {
  if (parent->info->id == TSR_OP_MODULE) {
    tsr_name_index index = TSR_NAME_INDEX_EMPTY;
    const tsr_status status = check_symbols(w, block, &index);
    tsr_name_index_deinit(&index);
    TSR_TRY(status);
  }
  for (tsr_op *op = block->first; op; op = op->next) TSR_TRY(visit(w, op, depth));
  return NULL;
}

static tsr_status check_whole_op(walk *w, const tsr_op *op) {
  TSR_TRY(tsr_check_uses(op, &w->reached));
  return tsr_verify_op(w->ir, op);
}

static tsr_status visit(walk *w, tsr_op *op, int depth) {
  if (depth > NESTING)
    return keep(w, op,
                tsr_fail(TOO_LARGE, "%s: ops are nested more than %d deep", op->name, NESTING));
  TSR_TRY(reach(w, op));
  TSR_TRY(keep(w, op, check_whole_op(w, op)));
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      TSR_TRY(visit_block(w, op, block, depth + 1));
  return NULL;
}

tsr_status tsr_verify(tsr_ir *ir, const char *name) {
  walk w = {.ir = ir, .name = name};
  tsr_status status = visit(&w, ir->module, 0);
  free(w.reached.ops);
  tsr_status issues = tsr_issues_take(&w.issues);
  if (!status) return issues;
  tsr_status_free(issues);
  return status;
}
