// Which sharding of a user each axis comes from: read before propagation, written after it.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "propagate/edits.h"
#include "propagate/flow_notes.h"
#include "verify/sdy_checks.h"

static const char origin_name[] = "sdy.sharding_origin_name";

// ---- names of origins ----

static void print_origin(const tsr_origin *origin, tsr_text *out) {
  const long long id = origin->id;
  switch (origin->kind) {
    case TSR_ORIGIN_INPUT:
      tsr_text_addf(out, "input: %d", origin->index);
      break;
    case TSR_ORIGIN_OUTPUT:
      tsr_text_addf(out, "output: %d", origin->index);
      break;
    case TSR_ORIGIN_CONSTRAINT:
      tsr_text_addf(out, "constraint_%lld", id);
      break;
    case TSR_ORIGIN_MANUAL_INPUT:
      tsr_text_addf(out, "mc_%lld_input: %d", id, origin->index);
      break;
    case TSR_ORIGIN_MANUAL_OUTPUT:
      tsr_text_addf(out, "mc_%lld_output: %d", id, origin->index);
      break;
  }
}

// The attribute of a text, which this empties.
static tsr_status take_string(tsr_ir *ir, tsr_text *text, const tsr_attr **out_attr) {
  tsr_status status = tsr_text_check(text);
  *out_attr = status ? NULL : tsr_attr_string(ir, tsr_text_string(text), text->length);
  tsr_text_deinit(text);
  TSR_TRY(status);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status set_name(tsr_ir *ir, tsr_op *op, const char *form, int64_t id) {
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_attr *attr = NULL;
  tsr_text_addf(&text, "%s_%lld", form, (long long)id);
  TSR_TRY(take_string(ir, &text, &attr));
  return tsr_op_attr_set(ir, op, origin_name, attr);
}

// ---- before ----

typedef struct origin_walk {
  tsr_flow_notes *notes;
  int64_t constraints, manuals;
} origin_walk;

// All axes that a sharding (NULL = none) cuts dims by come from `origin`.
static tsr_status note_sharding(tsr_flow_notes *notes, const tsr_op *op, const tsr_attr *attr,
                                const tsr_value *value, tsr_origin origin) {
  const tsr_attr *mesh = attr ? tsr_sdy_mesh_of(notes->ir, op, attr) : NULL;
  tsr_tensor_sharding *sharding = NULL;
  if (!mesh) return NULL;
  TSR_TRY(tsr_sharding_read(&notes->arena, mesh, attr, &sharding));
  for (int dim = 0; dim < sharding->rank; dim++)
    for (int64_t i = 0; i < sharding->dims[dim].axes.count; i++) {
      tsr_first_origin *first = tsr_arena_alloc(&notes->arena, sizeof *first);
      TSR_NEED(first);
      *first = (tsr_first_origin){.value = value, .origin = origin};
      TSR_TRY(tsr_note_axis_of(notes->ir, mesh, sharding->dims[dim].axes.items[i], &first->axis));
      *notes->last = first;
      notes->last = &first->next;
    }
  return NULL;
}

// A value that a constraint asks for has its axes from the constraint, as Shardy sees it.
static tsr_status note_value(tsr_flow_notes *notes, const tsr_op *op, tsr_value *value,
                             tsr_origin origin) {
  const tsr_attr *sharding = NULL;
  TSR_TRY(tsr_sharding_get(notes->ir, value, &sharding));
  return note_sharding(notes, op, sharding, value, origin);
}

static tsr_status read_constraint(tsr_op *op, void *context) {
  origin_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) return NULL;
  const tsr_origin origin = {.kind = TSR_ORIGIN_CONSTRAINT, .id = w->constraints++};
  TSR_TRY(note_sharding(w->notes, op, tsr_op_attr(op, "sharding"), tsr_op_result(op, 0), origin));
  TSR_TRY(set_name(w->notes->ir, op, "constraint", origin.id));
  return note_value(w->notes, op, tsr_op_operand(op, 0), origin);
}

static tsr_status read_manual(tsr_op *op, void *context) {
  origin_walk *w = context;
  if (!tsr_op_is(op, TSR_OP_SDY_MANUAL_COMPUTATION)) return NULL;
  const tsr_attr *in = tsr_shardings_list(tsr_op_attr(op, "in_shardings"));
  const tsr_attr *out = tsr_shardings_list(tsr_op_attr(op, "out_shardings"));
  const tsr_ir_block *body = op->regions[0].first;
  tsr_origin origin = {.kind = TSR_ORIGIN_MANUAL_INPUT, .id = w->manuals++};
  for (int i = 0; in && body && i < in->count && i < body->arg_count; i++) {
    origin.index = i;
    TSR_TRY(note_sharding(w->notes, op, in->items[i], body->args[i], origin));
    TSR_TRY(note_value(w->notes, op, tsr_op_operand(op, i), origin));
  }
  origin.kind = TSR_ORIGIN_MANUAL_OUTPUT;
  for (int i = 0; out && i < out->count && i < op->result_count; i++) {
    origin.index = i;
    TSR_TRY(note_sharding(w->notes, op, out->items[i], tsr_op_result(op, i), origin));
  }
  return set_name(w->notes->ir, op, "mc", origin.id);
}

static tsr_status read_func(tsr_op *op, void *context) {
  const origin_walk *w = context;
  const tsr_ir_block *body = tsr_op_is(op, TSR_OP_FUNC) ? tsr_func_body(op) : NULL;
  const tsr_op *end = body ? tsr_block_terminator(body) : NULL;
  tsr_origin origin = {.kind = TSR_ORIGIN_INPUT};
  for (int i = 0; body && i < body->arg_count; i++) {
    origin.index = i;
    TSR_TRY(note_value(w->notes, op, body->args[i], origin));
  }
  origin.kind = TSR_ORIGIN_OUTPUT;
  for (int i = 0; end && i < end->operand_count; i++) {
    origin.index = i;
    TSR_TRY(note_sharding(w->notes, op, tsr_func_result_sharding(op, i), tsr_op_operand(end, i),
                          origin));
  }
  return NULL;
}

tsr_status tsr_note_origins_read(tsr_flow_notes *notes) {
  origin_walk w = {.notes = notes};
  TSR_TRY(tsr_op_walk_after(notes->ir->module, read_constraint, &w));
  TSR_TRY(tsr_op_walk_after(notes->ir->module, read_manual, &w));
  return tsr_op_walk(notes->ir->module, read_func, &w);
}

// ---- after ----

static bool is_same_origin(const tsr_origin *a, const tsr_origin *b) {
  return a->kind == b->kind && a->id == b->id && a->index == b->index;
}

static tsr_status origin_entry(tsr_ir *ir, const tsr_note_origin *note, const tsr_origin *self,
                               tsr_named_attr *out_entry) {
  tsr_text name = TSR_TEXT_EMPTY, text = TSR_TEXT_EMPTY;
  tsr_text_add(&name, note->axis.name);
  if (!note->axis.part.whole)
    tsr_text_addf(&name, ":(%lld)%lld", (long long)note->axis.part.pre,
                  (long long)note->axis.part.size);
  tsr_status status = tsr_text_check(&name);
  out_entry->name = status ? NULL : tsr_ir_name(ir, tsr_text_string(&name), name.length);
  tsr_text_deinit(&name);
  TSR_TRY(status);
  TSR_NEED(out_entry->name);
  if (self && is_same_origin(&note->origin, self))
    tsr_text_add(&text, "self");
  else
    print_origin(&note->origin, &text);
  return take_string(ir, &text, &out_entry->attr);
}

// A dictionary of the origins of a value. `self` (or NULL) is the one that it is itself.
static tsr_status origin_dict(tsr_flow_notes *notes, const tsr_note_origin *list,
                              const tsr_origin *self, const tsr_attr **out_dict) {
  int64_t count = 0;
  for (const tsr_note_origin *note = list; note; note = note->next) count++;
  tsr_named_attr *entries = tsr_arena_alloc(&notes->arena, (size_t)(count + 1) * sizeof *entries);
  TSR_NEED(entries);
  count = 0;
  for (const tsr_note_origin *note = list; note; note = note->next)
    TSR_TRY(origin_entry(notes->ir, note, self, &entries[count++]));
  *out_dict = tsr_attr_dict(notes->ir, entries, count);
  TSR_NEED(*out_dict);
  return NULL;
}

// The notes of a value that has its sharding itself; NULL if it has none.
static const tsr_note_origin *own_origins(const tsr_flow_notes *notes, tsr_value *value) {
  return tsr_shardable(value) == value ? notes->origins[tsr_sharding_slot_of(value)] : NULL;
}

// A result of a function has the notes of the value that is returned: of one of its uses only.
static tsr_status write_returned(tsr_flow_notes *notes, tsr_value *value) {
  const tsr_note_origin *list = own_origins(notes, value);
  const tsr_attr *dict = NULL;
  for (const tsr_use *use = list ? value->uses : NULL; use; use = use->next) {
    if (!tsr_op_is(use->user, TSR_OP_FUNC_RETURN)) continue;
    const int index = (int)(use - use->user->operands);
    const tsr_origin self = {.kind = TSR_ORIGIN_OUTPUT, .index = index};
    TSR_TRY(origin_dict(notes, list, &self, &dict));
    return tsr_func_dict_set(notes->ir, tsr_op_parent(use->user), "res_attrs", index,
                             TSR_NOTE_ORIGINS, dict);
  }
  return NULL;
}

static tsr_status write_arguments(tsr_flow_notes *notes, tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  for (int i = 0; body && i < body->arg_count; i++) {
    const tsr_note_origin *list = own_origins(notes, body->args[i]);
    const tsr_origin self = {.kind = TSR_ORIGIN_INPUT, .index = i};
    const tsr_attr *dict = NULL;
    if (!list) continue;
    TSR_TRY(write_returned(notes, body->args[i]));
    TSR_TRY(origin_dict(notes, list, &self, &dict));
    TSR_TRY(tsr_func_dict_set(notes->ir, func, "arg_attrs", i, TSR_NOTE_ORIGINS, dict));
  }
  return NULL;
}

// The number in the name that set_name wrote; -1 = it has none.
static int64_t named_id(const tsr_op *op) {
  const tsr_attr *name = op ? tsr_op_attr(op, origin_name) : NULL;
  const char *end = name && name->kind == TSR_ATTR_STRING ? strrchr(name->bytes, '_') : NULL;
  return end ? strtoll(end + 1, NULL, 10) : -1;
}

// A constraint or an edge of a manual computation is an origin itself. False: the op is neither.
static bool self_of(const tsr_op *op, tsr_origin *out_self) {
  if (tsr_op_is(op, TSR_OP_SDY_SHARDING_CONSTRAINT)) {
    *out_self = (tsr_origin){.kind = TSR_ORIGIN_CONSTRAINT, .id = named_id(op)};
    return true;
  }
  if (!tsr_op_is(op, TSR_OP_SDY_DATA_FLOW_EDGE)) return false;
  const tsr_value *owner = tsr_op_operand(op, 0);
  const tsr_op *manual = owner->def ? owner->def : tsr_block_parent(owner->block);
  if (!tsr_op_is(manual, TSR_OP_SDY_MANUAL_COMPUTATION)) manual = NULL;
  *out_self = (tsr_origin){owner->def ? TSR_ORIGIN_MANUAL_OUTPUT : TSR_ORIGIN_MANUAL_INPUT,
                           named_id(manual), owner->index};
  return true;
}

// Other ops have a dictionary for each result.
static tsr_status write_list(tsr_flow_notes *notes, tsr_op *op) {
  const tsr_attr *old = tsr_op_attr(op, TSR_NOTE_ORIGINS);
  const tsr_attr *empty = tsr_attr_dict(notes->ir, NULL, 0);
  const tsr_attr **dicts =
      tsr_arena_alloc(&notes->arena, ((size_t)op->result_count + 1) * sizeof(const tsr_attr *));
  bool any = false;
  TSR_NEED(dicts && empty);
  for (int i = 0; i < op->result_count; i++) {
    const tsr_note_origin *list = own_origins(notes, tsr_op_result(op, i));
    dicts[i] = old && old->kind == TSR_ATTR_ARRAY && i < old->count ? old->items[i] : empty;
    if (!list) continue;
    any = true;
    TSR_TRY(origin_dict(notes, list, NULL, &dicts[i]));
  }
  if (!any) return NULL;
  const tsr_attr *array = tsr_attr_array(notes->ir, dicts, op->result_count);
  TSR_NEED(array);
  return tsr_op_attr_set(notes->ir, op, TSR_NOTE_ORIGINS, array);
}

static tsr_status write_origins(tsr_op *op, void *context) {
  tsr_flow_notes *notes = context;
  tsr_origin self;
  if (tsr_op_is(op, TSR_OP_FUNC)) return write_arguments(notes, op);
  for (int i = 0; i < op->result_count; i++) TSR_TRY(write_returned(notes, tsr_op_result(op, i)));
  if (!self_of(op, &self)) return write_list(notes, op);
  const tsr_note_origin *list = own_origins(notes, tsr_op_result(op, 0));
  const tsr_attr *dict = NULL;
  if (!list) return NULL;
  TSR_TRY(origin_dict(notes, list, &self, &dict));
  return tsr_op_attr_set(notes->ir, op, TSR_NOTE_ORIGINS, dict);
}

tsr_status tsr_note_origins_write(tsr_flow_notes *notes) {
  return tsr_op_walk(notes->ir->module, write_origins, notes);
}
