// Values of the given program: which value of the work is which, and what it is called.
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "propagate/edits.h"
#include "syntax/op_printer.h"
#include "syntax/ssa_names.h"

// ---- numbers of ops ----

typedef struct op_numbers {
  const tsr_op **items;
  int64_t count, capacity;
} op_numbers;

static tsr_status number_op(tsr_op *op, void *context) {
  op_numbers *list = context;
  const tsr_op **items = tsr_grow(list->items, list->count, &list->capacity, sizeof *items);
  TSR_NEED(items);
  list->items = items;
  if (list->count >= UINT32_MAX - 1)
    return tsr_fail(TOO_LARGE, "program has more than %u ops", UINT32_MAX - 1);
  items[list->count++] = op;
  op->origin = (uint32_t)list->count;
  return NULL;
}

tsr_status tsr_names_make(tsr_propagation *propagation) {
  const tsr_ir *ir = tsr_program_ir(propagation->given);
  op_numbers list = {0};
  tsr_status status = tsr_op_walk(ir->module, number_op, &list);
  propagation->ops = list.items;
  propagation->op_count = list.count;
  if (!status) tsr_ssa_name_values(ir->module, false);
  return status;
}

// ---- from the work to the given program ----

const tsr_op *tsr_given_op(const tsr_propagation *propagation, const tsr_op *op) {
  return op && op->origin ? propagation->ops[op->origin - 1] : NULL;
}

// An edge stands for the value that owns it.
static const tsr_value *behind_edge(const tsr_value *value) {
  const bool edge = value->def && (value->def->info->id == TSR_OP_SDY_DATA_FLOW_EDGE ||
                                   value->def->info->id == TSR_OP_SDY_FUNC_DATA_FLOW_EDGE);
  return edge ? tsr_op_operand(value->def, 0) : value;
}

// The block of the given program that a block of the work comes from. Bodies of calls come from the
// functions that are called.
static const tsr_ir_block *given_block(const tsr_propagation *p, const tsr_ir_block *block) {
  const tsr_op *parent = tsr_block_parent(block);
  const tsr_op *op = tsr_given_op(p, parent);
  const int64_t region = block->region - parent->regions;
  if (op && op->info->id == TSR_OP_CALL) {
    const tsr_attr *callee = tsr_op_attr(op, "callee");
    op = callee ? tsr_ir_find_symbol(tsr_program_ir(p->given), callee->bytes) : NULL;
  }
  return op && region < op->region_count ? op->regions[region].first : NULL;
}

const tsr_value *tsr_given_value(const tsr_propagation *propagation, const tsr_value *value) {
  const tsr_value *at = behind_edge(value);
  if (at->def) {
    const tsr_op *op = tsr_given_op(propagation, at->def);
    return op && at->index < op->result_count ? tsr_op_result(op, at->index) : NULL;
  }
  const tsr_ir_block *block = given_block(propagation, at->block);
  return block && at->index < block->arg_count ? block->args[at->index] : NULL;
}

bool tsr_slot_is_shown(const tsr_propagation *propagation, int64_t slot) {
  const tsr_sharding_place *place = &propagation->places[slot];
  if (place->dropped || !place->value) return false;
  return !tsr_op_is(place->value->def, TSR_OP_SDY_FUNC_DATA_FLOW_EDGE) &&
         tsr_given_value(propagation, place->value);
}

bool tsr_place_is_given(const tsr_sharding_place *place) {
  const tsr_tensor_sharding *first = place->first;
  bool given = first && tsr_sharding_has_axes(first);
  for (int i = 0; first && i < first->rank && !given; i++) given = first->dims[i].closed;
  return given;
}

const tsr_op *tsr_function_around(const tsr_op *op) {
  while (op && op->info->id != TSR_OP_FUNC) op = tsr_op_parent(op);
  return op;
}

static const tsr_op *function_of_value(const tsr_value *value) {
  return tsr_function_around(value->def ? value->def : tsr_block_parent(value->block));
}

const tsr_op *tsr_slot_function(const tsr_propagation *propagation, uint32_t slot) {
  const tsr_sharding_place *place = &propagation->places[slot];
  if (!place->value) return tsr_given_op(propagation, place->func);
  const tsr_value *value = tsr_given_value(propagation, place->value);
  return value ? function_of_value(value) : tsr_function_around(place->value->def);
}

const tsr_type *tsr_slot_type(const tsr_propagation *propagation, uint32_t slot) {
  const tsr_sharding_place *place = &propagation->places[slot];
  if (place->value) return place->value->type;
  const tsr_type *type = tsr_func_type(place->func);
  return type->types[type->input_count + place->index];
}

// ---- printing ----

void tsr_function_print(const tsr_propagation *propagation, const tsr_op *func, tsr_text *out) {
  if (!func || func == tsr_ir_entry(tsr_program_ir(propagation->given))) return;
  const char *name = tsr_op_symbol(func);
  tsr_text_addf(out, "@%s:", name ? name : "");
}

// A constraint that the caller added has the name of the value it constrains.
static void print_added(const tsr_propagation *p, const tsr_value *value, tsr_text *out) {
  const tsr_op *def = behind_edge(value)->def;
  const tsr_value *given = NULL;
  if (def && tsr_op_is(def, TSR_OP_SDY_SHARDING_CONSTRAINT))
    given = tsr_given_value(p, tsr_op_operand(def, 0));
  if (given) {
    tsr_ssa_print(given, out);
    tsr_text_add(out, ", constrained,");
  } else {
    tsr_text_addf(out, "a value of %s that was added", def ? def->name : "a block");
  }
}

void tsr_slot_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out) {
  const tsr_sharding_place *place = &propagation->places[slot];
  const tsr_value *given = place->value ? tsr_given_value(propagation, place->value) : NULL;
  if (place->value && !given) {
    print_added(propagation, place->value, out);
    return;
  }
  tsr_function_print(propagation, tsr_slot_function(propagation, slot), out);
  if (given)
    tsr_ssa_print(given, out);
  else
    tsr_text_addf(out, "out%d", place->index);
}

// Bodies of loops and computations are long: only what stands before them is printed.
static bool is_long(const tsr_op *op) {
  return op->info->id == TSR_OP_FUNC || tsr_is_data_flow_op(op->info->id);
}

enum { LONGEST_LINE = 240 };

void tsr_op_line_print(const tsr_op *op, tsr_text *out) {
  tsr_op_printer printer = {.out = out, .options = {.elide_elements = 16}, .dialect = ""};
  const size_t begin = out->length;
  if (is_long(op)) {
    tsr_ssa_print_results(op, out);
    tsr_text_addf(out, "%s ...", op->name);
    return;
  }
  tsr_print_op(&printer, op);
  if (out->failed) return;
  const size_t length = strcspn(out->data + begin, "\n");
  const bool cut = length < out->length - begin || length > LONGEST_LINE;
  out->length = begin + (length > LONGEST_LINE ? LONGEST_LINE : length);
  out->data[out->length] = '\0';
  if (cut) tsr_text_add(out, " ...");
}

// ---- the slots of a value ----

// Arguments of a loop stand for its results.
static const tsr_value *stand_in(const tsr_value *value) {
  const tsr_op *parent = value->def ? NULL : tsr_block_parent(value->block);
  if (!tsr_op_is(parent, TSR_OP_WHILE) || value->index >= parent->result_count) return value;
  return tsr_op_result(parent, value->index);
}

uint32_t tsr_value_slot(const tsr_propagation *propagation, const tsr_named_value *value,
                        uint32_t after) {
  const tsr_value *wanted = value->value ? stand_in(value->value) : NULL;
  for (int64_t i = (int64_t)after + 1; i <= propagation->place_count; i++) {
    const tsr_sharding_place *place = &propagation->places[i];
    if (wanted ? tsr_slot_is_shown(propagation, i) &&
                     stand_in(tsr_given_value(propagation, place->value)) == wanted
               : !place->value && place->func && place->index == value->index &&
                     tsr_given_op(propagation, place->func) == value->func)
      return (uint32_t)i;
  }
  return 0;
}
