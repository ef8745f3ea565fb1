// Small changes of programs that several passes of this room make.
#include "propagate/edits.h"

#include <string.h>

#include "factor/shardings.h"
#include "verify/sdy_checks.h"

// ---- ops and uses ----

void tsr_op_insert_after(tsr_op *place, tsr_op *op) {
  if (place->next)
    tsr_op_insert_before(place->next, op);
  else
    tsr_op_append(place->block, op);
}

void tsr_op_insert_after_value(tsr_value *value, tsr_op *op) {
  if (value->def)
    tsr_op_insert_after(value->def, op);
  else if (value->block->first)
    tsr_op_insert_before(value->block->first, op);
  else
    tsr_op_append(value->block, op);
}

void tsr_uses_move(tsr_value *from, tsr_value *to, const tsr_op *except) {
  for (tsr_use *use = from->uses, *next = NULL; use; use = next) {
    next = use->next;
    if (use->user != except) tsr_op_set_operand(use->user, (int)(use - use->user->operands), to);
  }
}

// Programs are nested to a depth that their reader limits, so this may call itself.
// NOLINTNEXTLINE(misc-no-recursion)
tsr_status tsr_op_walk_after(tsr_op *op, tsr_op_visit *visit, void *context) {
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (tsr_op *inner = block->first, *next = NULL; inner; inner = next) {
        next = inner->next;
        TSR_TRY(tsr_op_walk_after(inner, visit, context));
      }
  return visit(op, context);
}

static tsr_status clear_mark(tsr_op *op, void *context) {
  (void)context;
  op->mark = 0;
  return NULL;
}

void tsr_marks_clear(tsr_ir *ir) {
  tsr_status_free(tsr_op_walk(ir->module, clear_mark, NULL));  // cannot fail
}

tsr_op *tsr_op_like(tsr_ir *ir, const tsr_op *like, tsr_op_id id, tsr_value *operand,
                    const tsr_named_attr *attr) {
  const tsr_op_parts parts = {.id = id,
                              .operand_count = 1,
                              .operands = &operand,
                              .result_count = 1,
                              .result_types = &operand->type,
                              .attrs = attr,
                              .attr_count = attr && attr->attr ? 1 : 0,
                              .location = like->location};
  return tsr_op_create(ir, &parts);
}

tsr_status tsr_op_attr_set(tsr_ir *ir, tsr_op *op, const char *name, const tsr_attr *attr) {
  const char *kept = tsr_ir_name(ir, name, strlen(name));
  TSR_NEED(kept);
  if (!tsr_op_set_attr(ir, op, kept, attr)) return tsr_fail(NO_MEMORY, "attribute %s", name);
  return NULL;
}

tsr_status tsr_return_exchange(tsr_ir *ir, tsr_ir_block *block, tsr_op_id id) {
  tsr_op *old = tsr_block_terminator(block);
  if (!old) return tsr_fail(CONSTRAINT, "a body without a return");
  tsr_value **operands = tsr_ir_alloc(ir, ((size_t)old->operand_count + 1) * sizeof *operands);
  TSR_NEED(operands);
  for (int i = 0; i < old->operand_count; i++) operands[i] = tsr_op_operand(old, i);
  const tsr_op_parts parts = {.id = id,
                              .operands = operands,
                              .operand_count = old->operand_count,
                              .location = old->location};
  tsr_op *made = tsr_op_create(ir, &parts);
  TSR_NEED(made);
  tsr_op_append(block, made);
  tsr_op_erase(old);
  return NULL;
}

void tsr_body_take(tsr_region *to, tsr_region *from) {
  to->first = from->first;
  to->block_count = from->block_count;
  for (tsr_ir_block *block = to->first; block; block = block->next) block->region = to;
  from->first = NULL;
  from->block_count = 0;
}

tsr_status tsr_dicts_drop(tsr_ir *ir, tsr_op *func, const char *attr, tsr_name_choice *drops) {
  const tsr_attr *list = tsr_op_attr(func, attr);
  if (!list || list->kind != TSR_ATTR_ARRAY) return NULL;
  const tsr_attr **dicts = tsr_ir_alloc(ir, ((size_t)list->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(dicts);
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *dict = list->items[i];
    tsr_named_attr *kept = tsr_ir_alloc(ir, ((size_t)dict->count + 1) * sizeof *kept);
    int64_t count = 0;
    TSR_NEED(kept);
    for (int64_t k = 0; k < dict->count; k++)
      if (!drops(dict->entries[k].name)) kept[count++] = dict->entries[k];
    dicts[i] = tsr_attr_dict(ir, kept, count);
    TSR_NEED(dicts[i]);
  }
  const tsr_attr *made = tsr_attr_array(ir, dicts, list->count);
  TSR_NEED(made);
  return tsr_op_attr_set(ir, func, attr, made);
}

// `dict` (or NULL) with one entry replaced or added. NULL without memory.
static const tsr_attr *dict_with(tsr_ir *ir, const tsr_attr *dict, const char *name,
                                 const tsr_attr *attr) {
  const int64_t count = dict ? dict->count : 0;
  tsr_named_attr *entries = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *entries);
  int64_t kept = 0;
  if (!entries || !name) return NULL;
  for (int64_t i = 0; i < count; i++)
    if (dict->entries[i].name != name) entries[kept++] = dict->entries[i];
  entries[kept++] = (tsr_named_attr){name, attr};
  return tsr_attr_dict(ir, entries, kept);
}

tsr_status tsr_func_dict_set(tsr_ir *ir, tsr_op *func, const char *list_name, int index,
                             const char *name, const tsr_attr *attr) {
  const tsr_type *type = tsr_func_type(func);
  const bool results = !strcmp(list_name, "res_attrs");
  const int count = results ? type->count - type->input_count : type->input_count;
  const tsr_attr *old = tsr_op_attr(func, list_name);
  const tsr_attr *empty = tsr_attr_dict(ir, NULL, 0);
  const tsr_attr **dicts = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(dicts && empty);
  for (int i = 0; i < count; i++) dicts[i] = old && i < old->count ? old->items[i] : empty;
  dicts[index] = dict_with(ir, dicts[index], tsr_ir_name(ir, name, strlen(name)), attr);
  TSR_NEED(dicts[index]);
  const tsr_attr *made = tsr_attr_array(ir, dicts, count);
  TSR_NEED(made);
  return tsr_op_attr_set(ir, func, list_name, made);
}

// ---- shardings as attributes ----

const tsr_attr *tsr_sharding_with(tsr_ir *ir, const tsr_attr *sharding, int field,
                                  const tsr_attr *value) {
  const tsr_attr *fields[TSR_SDY_SHARDING_REDUCTION + 1];
  memcpy(fields, sharding->items, sizeof fields);
  fields[field] = value;
  return value ? tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields) : NULL;
}

const tsr_attr *tsr_sharding_bare(tsr_ir *ir, const tsr_attr *mesh, int rank, bool closed) {
  const tsr_attr *empty = tsr_attr_array(ir, NULL, 0);
  const tsr_attr *flag = tsr_attr_bool(ir, closed);
  const tsr_attr *sum = tsr_attr_enum(ir, TSR_ENUM_SDY_REDUCTION, TSR_SDY_REDUCTION_SUM);
  const tsr_attr **dims = tsr_ir_alloc(ir, ((size_t)rank + 1) * sizeof(const tsr_attr *));
  if (!empty || !flag || !sum || !dims) return NULL;
  const tsr_attr *const dim[] = {empty, flag, NULL};
  const tsr_attr *same = rank ? tsr_attr_record(ir, TSR_RECORD_SDY_DIM, dim) : NULL;
  if (rank && !same) return NULL;
  for (int i = 0; i < rank; i++) dims[i] = same;
  const tsr_attr *list = tsr_attr_array(ir, dims, rank);
  const tsr_attr *const fields[] = {mesh, list, empty, empty, sum};
  return list ? tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields) : NULL;
}

bool tsr_sharding_cuts_dims(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES)->count) return true;
  return false;
}

bool tsr_sharding_is_replicated(const tsr_attr *sharding) {
  return !sharding || (!tsr_sharding_cuts_dims(sharding) &&
                       !tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count);
}

bool tsr_sharding_is_equivalent(const tsr_attr *a, const tsr_attr *b) {
  if (tsr_sharding_is_replicated(a) || tsr_sharding_is_replicated(b))
    return tsr_sharding_is_replicated(a) && tsr_sharding_is_replicated(b);
  if (!a || !b) return false;
  const tsr_attr *left = tsr_attr_field(a, TSR_SDY_SHARDING_DIMS);
  const tsr_attr *right = tsr_attr_field(b, TSR_SDY_SHARDING_DIMS);
  if (!tsr_attr_equal(tsr_attr_field(a, TSR_SDY_SHARDING_MESH),
                      tsr_attr_field(b, TSR_SDY_SHARDING_MESH)) ||
      !tsr_attr_equal(tsr_attr_field(a, TSR_SDY_SHARDING_UNREDUCED),
                      tsr_attr_field(b, TSR_SDY_SHARDING_UNREDUCED)) ||
      left->count != right->count)
    return false;
  for (int64_t i = 0; i < left->count; i++)
    if (!tsr_attr_equal(tsr_attr_field(left->items[i], TSR_SDY_DIM_AXES),
                        tsr_attr_field(right->items[i], TSR_SDY_DIM_AXES)))
      return false;
  return true;
}

tsr_status tsr_sharding_get(tsr_ir *ir, tsr_value *value, const tsr_attr **out_sharding) {
  const tsr_value *owner = tsr_shardable(value);
  *out_sharding = NULL;
  return owner ? tsr_value_sharding(ir, owner, out_sharding) : NULL;
}

const tsr_attr *tsr_shardings_attr(tsr_ir *ir, const tsr_attr *const *list, int64_t count) {
  const tsr_attr *array = tsr_attr_array(ir, list, count);
  return array ? tsr_attr_record(ir, TSR_RECORD_SDY_SHARDINGS, &array) : NULL;
}

// ---- all shardings of a program ----

typedef struct sharding_walk {
  tsr_ir *ir;
  tsr_sharding_change *change;
  void *context;
  int64_t changes;
} sharding_walk;

static tsr_status change_one(sharding_walk *w, tsr_op *op, const tsr_attr **sharding) {
  const tsr_attr *changed = NULL;
  TSR_TRY(w->change(w->context, op, *sharding, &changed));
  TSR_NEED(changed);
  w->changes += changed != *sharding && !tsr_attr_equal(changed, *sharding);
  *sharding = changed;
  return NULL;
}

// An array of `count` attributes that are changed one by one by `each`.
typedef tsr_status change_fn(sharding_walk *w, tsr_op *op, const tsr_attr **item);
static tsr_status change_array(sharding_walk *w, tsr_op *op, change_fn *each,
                               const tsr_attr **array) {
  const tsr_attr **items =
      tsr_ir_alloc(w->ir, ((size_t)(*array)->count + 1) * sizeof(const tsr_attr *));
  TSR_NEED(items);
  bool same = true;
  for (int64_t i = 0; i < (*array)->count; i++) {
    items[i] = (*array)->items[i];
    TSR_TRY(each(w, op, &items[i]));
    same &= items[i] == (*array)->items[i];
  }
  if (!same) *array = tsr_attr_array(w->ir, items, (*array)->count);
  TSR_NEED(*array);
  return NULL;
}

static tsr_status change_attr(sharding_walk *w, tsr_op *op, const tsr_attr **attr) {
  if ((*attr)->kind != TSR_ATTR_RECORD) return NULL;
  if ((*attr)->id == TSR_RECORD_SDY_SHARDING) return change_one(w, op, attr);
  const tsr_attr *list = tsr_shardings_list(*attr);
  const tsr_attr *before = list;
  if (!list) return NULL;
  TSR_TRY(change_array(w, op, change_one, &list));
  if (list != before) *attr = tsr_attr_record(w->ir, TSR_RECORD_SDY_SHARDINGS, &list);
  TSR_NEED(*attr);
  return NULL;
}

// A dictionary of an argument or result of a function.
static tsr_status change_dict(sharding_walk *w, tsr_op *op, const tsr_attr **dict) {
  const tsr_attr *old = tsr_dict_find(*dict, "sdy.sharding");
  const tsr_attr *changed = old;
  if (!old) return NULL;
  TSR_TRY(change_attr(w, op, &changed));
  if (changed == old) return NULL;
  tsr_named_attr *entries = tsr_ir_alloc(w->ir, (size_t)(*dict)->count * sizeof *entries);
  TSR_NEED(entries);
  for (int64_t i = 0; i < (*dict)->count; i++) {
    entries[i] = (*dict)->entries[i];
    if (entries[i].attr == old && !strcmp(entries[i].name, "sdy.sharding"))
      entries[i].attr = changed;
  }
  *dict = tsr_attr_dict(w->ir, entries, (*dict)->count);
  TSR_NEED(*dict);
  return NULL;
}

static tsr_status change_func(sharding_walk *w, tsr_op *func, const char *name) {
  const tsr_attr *list = tsr_op_attr(func, name);
  const tsr_attr *before = list;
  if (!list || list->kind != TSR_ATTR_ARRAY) return NULL;
  TSR_TRY(change_array(w, func, change_dict, &list));
  return list == before ? NULL : tsr_op_attr_set(w->ir, func, name, list);
}

static tsr_status change_op(tsr_op *op, void *context) {
  sharding_walk *w = context;
  if (tsr_op_is(op, TSR_OP_FUNC)) {
    TSR_TRY(change_func(w, op, "arg_attrs"));
    return change_func(w, op, "res_attrs");
  }
  for (int i = 0; i < op->attr_count; i++) {
    const tsr_attr *changed = op->attrs[i].attr;
    TSR_TRY(change_attr(w, op, &changed));
    op->attrs[i].attr = changed;
  }
  return NULL;
}

tsr_status tsr_shardings_change(tsr_ir *ir, tsr_sharding_change *change, void *context,
                                int64_t *changes) {
  sharding_walk w = {.ir = ir, .change = change, .context = context};
  tsr_status status = tsr_op_walk(ir->module, change_op, &w);
  *changes += w.changes;
  return status;
}
