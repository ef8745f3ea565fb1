// Refinement: argument shapes of the entry flow forward through the program.
//
// Values are defined before they are used, so one walk in program order settles every op: its
// operands are final, its result types follow, integers are computed, and a dynamic op becomes a
// static one. A call makes the walk descend into the function: refined in place for the first
// signature, and as a copy of the untouched function for every other one. Sizes that a call passes
// as constants become constants inside, and their arguments go.
#include "refine/refine.h"

#include <stdio.h>
#include <string.h>

#include "refine/refine_internal.h"
#include "verify/symbol_checks.h"
#include "verify/verify.h"

enum { NESTING_MOST = 256, GROWTH_MOST = 64 };  // copies together, in sizes of the program

// A function with one signature: the operands of its calls, and the constants among them that
// became part of it.
typedef struct func_variant {
  tsr_op *func;
  const tsr_type **types;
  const tsr_attr **constants;  // NULL = the argument stays
  int count;
  bool busy;
  struct func_variant *next;
} func_variant;

// A function of the program, `mark` of whose op is its number.
typedef struct func_record {
  tsr_op *func, *original;  // `original` is a copy that stays as it was
  func_variant *variants;
  int variant_count;
  bool dynamic;  // it has values of unknown size, or arguments that are global constants
  enum { PURITY_UNKNOWN, PURE, IMPURE } purity;
} func_record;

typedef struct refinement {
  tsr_ir *ir;
  func_record *records;  // record i belongs to mark i + 1
  int count, depth;
  int64_t op_count, copied_count;  // of the program, and of all copies of functions
} refinement;

// ---- types of results

static tsr_status set_type(refinement *r, const tsr_op *op, tsr_value *value,
                           const tsr_type *type) {
  const tsr_type *types[2] = {value->type, type};
  if (type == value->type) return NULL;
  TSR_ASK(tsr_types_match(value->type, type), op, "", "a value is %s and would become %s",
          SHOW_TYPE(value->type), SHOW_TYPE(type));
  return tsr_merge_types(r->ir, op, "", types, 2, false, &value->type);
}

static tsr_status refine_results(refinement *r, tsr_op *op) {
  const tsr_type *type = NULL;
  tsr_inferred inferred = {NULL, -1};
  bool unknown = false;
  for (int i = 0; i < op->result_count; i++) unknown |= tsr_has_unknown_size(op->results[i].type);
  if (!unknown) return NULL;
  TSR_TRY(tsr_refined_type(r->ir, op, &type));
  if (type) return set_type(r, op, tsr_op_result(op, 0), type);
  TSR_TRY(tsr_infer_op(r->ir, op, &inferred));
  for (int i = 0; i < inferred.count && i < op->result_count; i++)
    TSR_TRY(set_type(r, op, tsr_op_result(op, i), inferred.types[i]));
  return NULL;
}

// ---- blocks

static tsr_status refine_block(refinement *r, tsr_ir_block *block);

static tsr_status refine_regions(refinement *r, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      TSR_TRY(refine_block(r, block));
  return NULL;
}

// Regions of a loop take what the loop takes, and so do its results.
static tsr_status refine_loop(refinement *r, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++) {
    tsr_ir_block *block = op->regions[i].first;
    TSR_ASK(block && block->arg_count == op->operand_count, op, "",
            "region %d does not have the arguments of the loop", i);
    for (int j = 0; j < block->arg_count; j++)
      TSR_TRY(set_type(r, op, block->args[j], tsr_operand_type(op, j)));
  }
  for (int i = 0; i < op->result_count && i < op->operand_count; i++)
    TSR_TRY(set_type(r, op, tsr_op_result(op, i), tsr_operand_type(op, i)));
  return refine_regions(r, op);
}

static tsr_status refine_call(refinement *r, tsr_op *op, const char *attribute);

// Computes an op of constants: its uses become uses of a constant.
static tsr_status fold(refinement *r, tsr_op *op, bool *out_folded) {
  const tsr_attr *value = NULL;
  tsr_value *constant = NULL;
  TSR_TRY(tsr_fold_ints(r->ir, op, &value));
  *out_folded = value != NULL;
  if (!value) return NULL;
  TSR_TRY(tsr_insert_constant(r->ir, op, value, &constant));
  tsr_value_replace(tsr_op_result(op, 0), constant);
  tsr_op_erase(op);
  return NULL;
}

static tsr_status refine_plain_op(refinement *r, tsr_op *op) {
  tsr_op *now = op;
  bool done = false;
  TSR_TRY(refine_regions(r, op));
  TSR_TRY(refine_results(r, op));
  TSR_TRY(fold(r, op, &done));
  return done ? NULL : tsr_make_static(r->ir, op, &now);
}

static tsr_status refine_op(refinement *r, tsr_op *op) {
  bool gone = false;
  switch (op->info->id) {
    case TSR_OP_CONSTANT:
      return NULL;
    case TSR_OP_CALL:
      return refine_call(r, op, "callee");
    case TSR_OP_COMPOSITE:
      return refine_call(r, op, "decomposition");
    case TSR_OP_WHILE:
      return refine_loop(r, op);
    default:
      break;
  }
  TSR_TRY(tsr_check_assertion(r->ir, op, &gone));
  return gone ? NULL : refine_plain_op(r, op);
}

static tsr_status refine_block(refinement *r, tsr_ir_block *block) {
  if (++r->depth > NESTING_MOST)
    return tsr_fail(TOO_LARGE, "calls and regions are nested more than %d deep", NESTING_MOST);
  for (tsr_op *op = block->first, *next = NULL; op; op = next) {
    next = op->next;
    TSR_TRY(refine_op(r, op));
  }
  r->depth--;
  return NULL;
}

// ---- functions

// Gives the arguments their types; those that are constants become constants at the start.
static tsr_status bind_arguments(refinement *r, func_variant *variant) {
  const tsr_ir_block *body = tsr_func_body(variant->func);
  for (int i = 0; i < variant->count; i++)
    TSR_TRY(set_type(r, variant->func, body->args[i], variant->types[i]));
  return tsr_constants_bind(r->ir, variant->func, variant->constants);
}

static tsr_status refine_variant(refinement *r, func_variant *variant) {
  tsr_ir_block *body = tsr_func_body(variant->func);
  TSR_ASK(body && !body->next && body->arg_count == variant->count, variant->func, "",
          "@%s is not one block with an argument for each operand", tsr_op_symbol(variant->func));
  variant->busy = true;
  TSR_TRY(bind_arguments(r, variant));
  TSR_TRY(refine_block(r, body));
  variant->busy = false;
  return tsr_signature_update(r->ir, variant->func);
}

static bool same_signature(const func_variant *a, const func_variant *b) {
  for (int i = 0; i < a->count; i++)
    if (a->types[i] != b->types[i] || !tsr_attr_equal(a->constants[i], b->constants[i]))
      return false;
  return true;
}

// A name that no other op of the module has: "f_0", "f_1" and so on.
static tsr_status free_name(refinement *r, func_record *record, const tsr_attr **out_name) {
  const char *base = tsr_op_symbol(record->original);
  tsr_text text = TSR_TEXT_EMPTY;
  do {
    tsr_text_clear(&text);
    tsr_text_addf(&text, "%s_%d", base, record->variant_count++);
  } while (!text.failed && tsr_ir_find_symbol(r->ir, tsr_text_string(&text)));
  *out_name = text.failed ? NULL : tsr_attr_string(r->ir, text.data, text.length);
  tsr_text_deinit(&text);
  TSR_NEED(*out_name);
  return NULL;
}

static tsr_status count_op(tsr_op *op, void *context) {
  (void)op;
  ++*(int64_t *)context;
  return NULL;
}

// Functions that call others twice with different sizes could be copied without end.
static tsr_status clone_func(refinement *r, tsr_op *func, tsr_op **out_func) {
  TSR_TRY(tsr_op_walk(func, count_op, &r->copied_count));
  if (r->copied_count / GROWTH_MOST > r->op_count)
    return tsr_fail(TOO_LARGE,
                    "functions are called with so many different sizes that the program "
                    "would grow more than %d times",
                    GROWTH_MOST);
  tsr_value_map *map = tsr_value_map_create();
  *out_func = map ? tsr_op_clone(r->ir, func, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(*out_func);
  (*out_func)->mark = func->mark;
  return NULL;
}

// The first signature takes the function itself; others take copies of it as it was.
static tsr_status place_variant(refinement *r, func_record *record, func_variant *variant) {
  const tsr_attr *name = NULL;
  if (!record->original) {
    TSR_TRY(clone_func(r, record->func, &record->original));
    variant->func = record->func;
    return NULL;
  }
  TSR_TRY(clone_func(r, record->original, &variant->func));
  TSR_TRY(free_name(r, record, &name));
  TSR_TRY(tsr_attr_replace(r->ir, variant->func, "sym_name", name));
  tsr_op_append(record->func->block, variant->func);
  return NULL;
}

static tsr_status find_variant(refinement *r, func_record *record, func_variant *wanted,
                               func_variant **out_variant) {
  for (func_variant *variant = record->variants; variant; variant = variant->next) {
    if (!same_signature(variant, wanted)) continue;
    TSR_ASK(!variant->busy, record->func, "", "@%s calls itself", tsr_op_symbol(record->func));
    *out_variant = variant;
    return NULL;
  }
  func_variant *variant = tsr_ir_alloc(r->ir, sizeof *variant);
  TSR_NEED(variant);
  *variant = *wanted;
  TSR_TRY(place_variant(r, record, variant));
  variant->next = record->variants;
  record->variants = variant;
  TSR_TRY(refine_variant(r, variant));
  *out_variant = variant;
  return NULL;
}

// ---- calls

// Whether the argument holds a size: JAX marks such arguments. Without a mark, integers that come
// first do, as the peer has it.
static bool is_size(const tsr_op *func, int index, bool leading) {
  if (tsr_dict_find(tsr_func_arg_attrs(func, index), "jax.global_constant")) return true;
  return leading;
}

static bool is_constant_scalar(const tsr_value *value) {
  return tsr_is_scalar(value->type) && tsr_is_integer(value->type) && tsr_constant_of(value);
}

static tsr_status list_operands(refinement *r, const tsr_op *op, const tsr_op *func, bool drops,
                                func_variant *out) {
  const size_t count = (size_t)op->operand_count + 1;
  bool leading = drops;
  out->types = tsr_ir_alloc(r->ir, sizeof *out->types * count);
  out->constants = tsr_ir_alloc(r->ir, sizeof *out->constants * count);
  TSR_NEED(out->types && out->constants ? out : NULL);
  out->count = op->operand_count;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_value *value = tsr_op_operand(op, i);
    const bool constant = drops && is_constant_scalar(value);
    out->types[i] = value->type;
    out->constants[i] = constant && is_size(func, i, leading) ? tsr_constant_of(value) : NULL;
    leading &= constant || value->type->kind == TSR_TYPE_TOKEN;
  }
  return NULL;
}

static tsr_status drop_operands(refinement *r, tsr_op *op, const func_variant *variant) {
  tsr_value **kept = tsr_ir_alloc(r->ir, sizeof(tsr_value *) * ((size_t)op->operand_count + 1));
  int count = 0;
  TSR_NEED(kept);
  TSR_TRY(tsr_entries_drop(r->ir, op, "arg_attrs", variant->constants, variant->count));
  for (int i = 0; i < op->operand_count; i++)
    if (!variant->constants[i]) kept[count++] = tsr_op_operand(op, i);
  TSR_NEED(tsr_op_set_operands(r->ir, op, kept, count) ? kept : NULL);
  return NULL;
}

// Results that the function computes from its sizes alone are constants for the caller too.
static tsr_status take_results(refinement *r, tsr_op *op, const tsr_op *func) {
  const tsr_op *end = tsr_block_terminator(tsr_func_body(func));
  TSR_ASK(end->operand_count == op->result_count, op, "", "has %d results, expected %d as @%s",
          op->result_count, end->operand_count, tsr_op_symbol(func));
  for (int i = 0; i < op->result_count; i++) {
    const tsr_attr *value = tsr_constant_of(tsr_op_operand(end, i));
    tsr_value *constant = NULL;
    TSR_TRY(set_type(r, op, tsr_op_result(op, i), tsr_operand_type(end, i)));
    if (!value || !tsr_is_integer(value->type) || !op->next) continue;
    if (tsr_type_element_count(value->type) > TSR_FOLD_MOST) continue;
    TSR_TRY(tsr_insert_constant(r->ir, op->next, value, &constant));
    tsr_value_replace(tsr_op_result(op, i), constant);
  }
  return NULL;
}

static tsr_status refine_call(refinement *r, tsr_op *op, const char *attribute) {
  const tsr_attr *callee = tsr_op_attr(op, attribute);
  tsr_op *func = callee && callee->kind == TSR_ATTR_SYMBOL && !callee->count
                     ? tsr_ir_find_symbol(r->ir, callee->bytes)
                     : NULL;
  func_variant wanted = {0}, *variant = NULL;
  TSR_ASK(func && func->info->id == TSR_OP_FUNC, op, "", "%s is not a function of the module",
          SHOW_ATTR(callee));
  if (!tsr_func_body(func) || !func->mark) return NULL;
  func_record *record = &r->records[func->mark - 1];
  if (!record->dynamic) return NULL;
  TSR_TRY(list_operands(r, op, record->original ? record->original : record->func,
                        op->info->id == TSR_OP_CALL, &wanted));
  TSR_TRY(find_variant(r, record, &wanted, &variant));
  const char *name = tsr_op_symbol(variant->func);
  const tsr_attr *symbol = tsr_attr_symbol(r->ir, name, strlen(name));
  TSR_NEED(symbol);
  TSR_TRY(tsr_attr_replace(r->ir, op, attribute, symbol));
  TSR_TRY(drop_operands(r, op, variant));
  return take_results(r, op, variant->func);
}

// ---- what is left over

static tsr_status note_unknown(tsr_op *op, void *context) {
  bool *found = context;
  for (int i = 0; i < op->result_count; i++) *found |= tsr_has_unknown_size(op->results[i].type);
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int j = 0; j < block->arg_count; j++)
        *found |= tsr_has_unknown_size(block->args[j]->type);
  return NULL;
}

static bool has_size_arguments(const tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  for (int i = 0; body && i < body->arg_count; i++)
    if (tsr_dict_find(tsr_func_arg_attrs(func, i), "jax.global_constant")) return true;
  return false;
}

static tsr_status list_functions(refinement *r) {
  const tsr_ir_block *block = r->ir->module->regions[0].first;
  int count = 0;
  TSR_TRY(tsr_op_walk(r->ir->module, count_op, &r->op_count));
  for (const tsr_op *op = block ? block->first : NULL; op; op = op->next) count++;
  r->records = tsr_arena_zeros(&r->ir->arena, (size_t)count + 1, sizeof *r->records);
  TSR_NEED(r->records);
  for (tsr_op *op = block ? block->first : NULL; op; op = op->next) {
    op->mark = 0;
    if (op->info->id != TSR_OP_FUNC) continue;
    func_record *record = &r->records[r->count++];
    record->func = op;
    op->mark = (uint32_t)r->count;
    record->dynamic = has_size_arguments(op);
    TSR_TRY(tsr_op_walk(op, note_unknown, &record->dynamic));
  }
  return NULL;
}

static bool is_pure_function(refinement *r, const tsr_op *func, int depth);

static bool is_pure_call(refinement *r, const tsr_op *op, int depth) {
  const tsr_attr *name = op->info->id == TSR_OP_CALL ? tsr_op_attr(op, "callee") : NULL;
  const tsr_op *callee = name ? tsr_ir_find_symbol(r->ir, name->bytes) : NULL;
  return callee && is_pure_function(r, callee, depth);
}

static bool has_pure_body(refinement *r, const tsr_op *func, int depth) {
  const tsr_ir_block *body = tsr_func_body(func);
  for (const tsr_op *op = body ? body->first : NULL; op; op = op->next)
    if (!(op->info->traits & (TSR_TRAIT_PURE | TSR_TRAIT_TERMINATES)) &&
        !is_pure_call(r, op, depth))
      return false;
  return body;
}

// Whether running a function does nothing but compute its results. All variants are alike.
static bool is_pure_function(refinement *r, const tsr_op *func, int depth) {
  if (!func->mark || depth > NESTING_MOST) return false;
  func_record *record = &r->records[func->mark - 1];
  if (record->purity == PURITY_UNKNOWN) {
    record->purity = IMPURE;  // for a function that calls itself
    if (has_pure_body(r, func, depth + 1)) record->purity = PURE;
  }
  return record->purity == PURE;
}

static bool is_dead(refinement *r, const tsr_op *op) {
  for (int i = 0; i < op->result_count; i++)
    if (op->results[i].uses) return false;
  if (op->info->traits & TSR_TRAIT_TERMINATES) return false;
  return op->info->traits & TSR_TRAIT_PURE || is_pure_call(r, op, 0);
}

// From the end, so that what only dead ops used is dead too.
static void erase_dead(refinement *r, tsr_ir_block *block, int depth) {
  if (depth > NESTING_MOST) return;
  for (tsr_op *op = block->last, *previous = NULL; op; op = previous) {
    previous = op->prev;
    if (is_dead(r, op)) {
      tsr_op_erase(op);
      continue;
    }
    for (int i = 0; i < op->region_count; i++)
      for (tsr_ir_block *inner = op->regions[i].first; inner; inner = inner->next)
        erase_dead(r, inner, depth + 1);
  }
}

// Functions that are named by something that stays.
typedef struct reached_list {
  refinement *r;
  tsr_op **funcs;
  int count;
} reached_list;

static const uint32_t REACHED = UINT32_C(1) << 31;  // in the mark of a function

static void reach_symbols(reached_list *list, const tsr_attr *attr) {
  if (attr->kind == TSR_ATTR_ARRAY)
    for (int64_t i = 0; i < attr->count; i++) reach_symbols(list, attr->items[i]);
  if (attr->kind != TSR_ATTR_SYMBOL) return;
  tsr_op *func = tsr_ir_find_symbol(list->r->ir, attr->bytes);
  if (!func || func->info->id != TSR_OP_FUNC || func->mark & REACHED) return;
  func->mark |= REACHED;
  list->funcs[list->count++] = func;
}

static tsr_status reach_from(tsr_op *op, void *context) {
  for (int i = 0; i < op->attr_count; i++) reach_symbols(context, op->attrs[i].attr);
  return NULL;
}

// Private functions with unknown sizes go unless something that stays names them.
static bool may_go(const refinement *r, const tsr_op *op) {
  const uint32_t record = op->mark & ~REACHED;
  return record && r->records[record - 1].dynamic &&
         tsr_attr_is_string(tsr_op_attr(op, "sym_visibility"), "private");
}

static tsr_status erase_unused(refinement *r) {
  tsr_ir_block *block = r->ir->module->regions[0].first;
  int count = 0;
  for (const tsr_op *op = block->first; op; op = op->next) count++;
  reached_list list = {r, tsr_arena_zeros(&r->ir->arena, (size_t)count + 1, sizeof(tsr_op *)), 0};
  TSR_NEED(list.funcs);
  for (tsr_op *op = block->first; op; op = op->next)
    if (!may_go(r, op)) TSR_TRY(tsr_op_walk(op, reach_from, &list));
  for (int i = 0; i < list.count; i++) TSR_TRY(tsr_op_walk(list.funcs[i], reach_from, &list));
  for (tsr_op *op = block->first, *next = NULL; op; op = next) {
    next = op->next;
    if (may_go(r, op) && !(op->mark & REACHED)) tsr_op_erase(op);
  }
  return NULL;
}

static tsr_status refuse_unknown(tsr_op *op, void *context) {
  (void)context;
  for (int i = 0; i < op->result_count; i++) {
    if (!tsr_has_unknown_size(op->results[i].type)) continue;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_addf(&text, "%s: result %d has an unknown size after refinement", op->name, i);
    return tsr_fail_text(TSR_CAUSE_UNSUPPORTED, &text);
  }
  return NULL;
}

static tsr_status finish(refinement *r) {
  const char *flag = tsr_ir_name(r->ir, "jax.uses_shape_polymorphism", 27);
  TSR_NEED(flag);
  tsr_ir_block *block = r->ir->module->regions[0].first;
  for (tsr_op *op = block->first; op; op = op->next)
    if (op->mark && r->records[op->mark - 1].dynamic && tsr_func_body(op))
      erase_dead(r, tsr_func_body(op), 0);
  TSR_TRY(erase_unused(r));
  for (tsr_op *op = block->first; op; op = op->next) TSR_TRY(tsr_op_walk(op, refuse_unknown, NULL));
  if (tsr_op_attr(r->ir->module, flag))
    TSR_NEED(tsr_op_set_attr(r->ir, r->ir->module, flag, NULL) ? flag : NULL);
  return NULL;
}

// ---- the entry

static tsr_status check_shape(const tsr_op *entry, int index, const tsr_type *type,
                              const tsr_shape *shape) {
  TSR_ASK(type->kind == TSR_TYPE_UNRANKED || shape->rank == type->rank, entry, "",
          "the shape given for argument %d has rank %d, expected that of %s", index, shape->rank,
          SHOW_TYPE(type));
  for (int i = 0; i < shape->rank; i++)
    TSR_ASK(shape->dims[i] >= 0 &&
                (type->kind == TSR_TYPE_UNRANKED || tsr_sizes_match(type->dims[i], shape->dims[i])),
            entry, "", "the shape given for argument %d is %s, which %s cannot have", index,
            SHOW_LIST(shape->dims, shape->rank), SHOW_TYPE(type));
  return NULL;
}

static tsr_status entry_signature(tsr_ir *ir, tsr_op *entry, const tsr_shape *shapes,
                                  func_variant *out) {
  const tsr_ir_block *body = tsr_func_body(entry);
  const size_t count = (size_t)body->arg_count + 1;
  out->types = tsr_ir_alloc(ir, sizeof *out->types * count);
  out->constants = tsr_arena_zeros(&ir->arena, count, sizeof *out->constants);
  TSR_NEED(out->types && out->constants ? out : NULL);
  out->func = entry;
  out->count = body->arg_count;
  for (int i = 0; i < body->arg_count; i++) {
    const tsr_type *type = body->args[i]->type;
    out->types[i] = type;
    if (type->kind != TSR_TYPE_TENSOR && type->kind != TSR_TYPE_UNRANKED) continue;
    TSR_TRY(check_shape(entry, i, type, &shapes[i]));
    out->types[i] = tsr_type_tensor(ir, type->element, shapes[i].rank, shapes[i].dims, NULL);
    TSR_NEED(out->types[i]);
  }
  return NULL;
}

tsr_status tsr_refine(tsr_ir *ir, const tsr_shape *shapes, int count) {
  tsr_op *entry = tsr_ir_entry(ir);
  const tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  refinement r = {.ir = ir};
  func_variant variant = {0};
  if (!body) return tsr_fail(UNSUPPORTED, "the program has no function \"main\" to refine");
  TSR_ASK(count == body->arg_count, entry, "", "%d shapes are given, expected %d", count,
          body->arg_count);
  TSR_TRY(list_functions(&r));
  TSR_TRY(entry_signature(ir, entry, shapes, &variant));
  func_record *record = &r.records[entry->mark - 1];
  record->variants = &variant;
  record->dynamic = true;
  TSR_TRY(clone_func(&r, entry, &record->original));
  TSR_TRY(refine_variant(&r, &variant));
  return finish(&r);
}

bool tsr_is_polymorphic(const tsr_ir *ir) {
  const tsr_op *entry = tsr_ir_entry(ir);
  const tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  for (int i = 0; body && i < body->arg_count; i++)
    if (tsr_has_unknown_size(body->args[i]->type)) return true;
  return false;
}
