// What ops and values are called: as in the program that was given, before passes changed it.
#include <string.h>

#include "base/text_internal.h"
#include "insight/insight.h"
#include "preflight/preflight.h"
#include "propagate/symbol_names.h"
#include "syntax/ssa_names.h"

// ---- origins ----

static void add_origin_name(const tsr_op *op, tsr_text *out) {
  tsr_ssa_print_results(op, out);
  if (!out->failed && out->length > 3 && !strcmp(out->data + out->length - 3, " = "))
    out->data[out->length -= 3] = '\0';
}

// Neighbours share the name of their function.
static tsr_status keep_function(tsr_preflight *flight, const tsr_op *op,
                                const tsr_flight_origin *before, const char **out_name) {
  while (op && op->info->id != TSR_OP_FUNC) op = tsr_op_parent(op);
  const char *symbol = op ? tsr_op_symbol(op) : "";
  *out_name = before && !strcmp(before->func, symbol)
                  ? before->func
                  : tsr_arena_copy(&flight->arena, symbol, strlen(symbol));
  TSR_NEED(*out_name);
  return NULL;
}

// Copies of an op keep its number, so it tells where the copy came from.
tsr_status tsr_flight_origins_make(tsr_preflight *flight, const tsr_propagation *propagation) {
  const size_t count = (size_t)propagation->op_count;
  tsr_flight_origin *list = tsr_arena_zeros(&flight->arena, count, sizeof *list);
  TSR_NEED(list);
  for (size_t i = 0; i < count; i++) {
    const tsr_op *op = propagation->ops[i];
    tsr_text name = TSR_TEXT_EMPTY;
    add_origin_name(op, &name);
    list[i].op = op->info->name;
    list[i].line = op->line;
    TSR_TRY(keep_function(flight, op, i ? &list[i - 1] : NULL, &list[i].func));
    TSR_TRY(tsr_flight_keep(flight, &name, &list[i].name));
  }
  flight->origins = list;
  flight->origin_count = propagation->op_count;
  return NULL;
}

const tsr_flight_origin *tsr_flight_origin_of(const tsr_preflight *flight, const tsr_op *op) {
  return op->origin && (int64_t)op->origin <= flight->origin_count
             ? &flight->origins[op->origin - 1]
             : NULL;
}

// ---- names ----

const char *tsr_flight_op_word(const tsr_op *op) {
  const char *dot = strchr(op->name, '.');
  return dot ? dot + 1 : op->name;
}

// The name that a function had in the given program: calls are turned into bodies and back, but the
// ops in them stay known.
const char *tsr_flight_function_name(const tsr_preflight *flight, const tsr_op *func) {
  const tsr_ir_block *body = tsr_func_body(func);
  for (const tsr_op *op = body ? body->first : NULL; op; op = op->next) {
    const tsr_flight_origin *origin = tsr_flight_origin_of(flight, op);
    if (origin && *origin->func) return origin->func;
  }
  return tsr_op_symbol(func);
}

// "@f:" before names of a function other than the entry, as in the propagation.
static void add_function(const tsr_preflight *flight, const tsr_op *op, tsr_text *out) {
  const tsr_op *func = op;
  while (func && func->info->id != TSR_OP_FUNC) func = tsr_op_parent(func);
  if (func && tsr_flight_index(func) != flight->entry)
    tsr_text_addf(out, "@%s:", tsr_flight_function_name(flight, func));
}

static void name_argument(const tsr_preflight *flight, const tsr_value *value, tsr_text *out) {
  const tsr_op *owner = tsr_block_parent(value->block);
  tsr_program_value argument = TSR_PROGRAM_VALUE;
  if (owner->info->id != TSR_OP_FUNC) {
    tsr_text_addf(out, "%s %d of ", owner->info->id == TSR_OP_WHILE ? "carry" : "argument",
                  value->index);
    tsr_flight_name_op(flight, owner, out);
    return;
  }
  add_function(flight, owner, out);
  if (tsr_flight_index(owner) != flight->entry) {
    tsr_text_addf(out, "%%arg%d", value->index);
    return;
  }
  tsr_status status = tsr_program_argument(flight->program, tsr_program_entry(flight->program),
                                           value->index, &argument);
  tsr_text_add(out, status ? "an argument" : argument.name);
  tsr_status_free(status);
}

// The origin of an op that is still the op it was; NULL for others and those without a name.
static const tsr_flight_origin *named_origin(const tsr_preflight *flight, const tsr_op *op) {
  const tsr_flight_origin *origin = tsr_flight_origin_of(flight, op);
  return origin && origin->op == op->info->name && *origin->name ? origin : NULL;
}

// The names of an op with several results are "%0:2", or "%values, %indices".
void tsr_flight_name(const tsr_preflight *flight, const tsr_value *value, tsr_text *out) {
  while (value->def && tsr_flight_is_collective(value->def)) value = tsr_op_operand(value->def, 0);
  if (!value->def) {
    name_argument(flight, value, out);
    return;
  }
  const tsr_flight_origin *origin = named_origin(flight, value->def);
  if (!origin) {
    tsr_text_add(out, "a result of ");
    tsr_flight_name_op(flight, value->def, out);
    return;
  }
  const char *colon = strchr(origin->name, ':');
  add_function(flight, value->def, out);
  if (colon) {
    tsr_text_add_bytes(out, origin->name, (size_t)(colon - origin->name));
    tsr_text_addf(out, "#%d", value->index);
  } else {
    tsr_text_add(out, origin->name);
  }
}

void tsr_flight_name_op(const tsr_preflight *flight, const tsr_op *op, tsr_text *out) {
  const tsr_flight_origin *origin = named_origin(flight, op);
  tsr_text_add(out, tsr_flight_op_word(op));
  if (op->info->id == TSR_OP_CALL) {
    const tsr_op *func = tsr_callee(flight->ir, op);
    if (func) tsr_text_addf(out, " @%s", tsr_flight_function_name(flight, func));
  }
  if (!origin) return;
  tsr_text_add_char(out, ' ');
  add_function(flight, op, out);
  tsr_text_add(out, origin->name);
}

// The outermost name of a location is the name stack of JAX.
static const tsr_attr *name_of(const tsr_attr *location) {
  while (location && location->kind == TSR_ATTR_RECORD) {
    if (location->id == TSR_RECORD_LOC_NAME) return tsr_attr_field(location, TSR_LOC_NAME_NAME);
    if (location->id == TSR_RECORD_LOC_FUSED) {
      const tsr_attr *list = tsr_attr_field(location, TSR_LOC_FUSED_LIST);
      location = list->count ? list->items[0] : NULL;
    } else {
      return NULL;
    }
  }
  return NULL;
}

void tsr_flight_place(const tsr_preflight *flight, const tsr_op *op, tsr_text *out) {
  const tsr_attr *name = name_of(op->location);
  if (name)
    tsr_text_add_bytes(out, name->bytes, name->length);
  else if (tsr_flight_origin_of(flight, op) && tsr_flight_origin_of(flight, op)->line)
    tsr_text_addf(out, "line %u", tsr_flight_origin_of(flight, op)->line);
}

// ---- shardings ----

void tsr_flight_print_axes(const tsr_attr *mesh, const tsr_sdy_parts *axes, tsr_text *out) {
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *row = tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->items[axes->items[i].axis];
    const tsr_attr *name = tsr_attr_field(row, TSR_SDY_MESH_AXIS_NAME);
    if (i) tsr_text_add(out, ", ");
    tsr_text_add_bytes(out, name->bytes, name->length);
    if (!axes->items[i].whole)
      tsr_text_addf(out, ":(%lld)%lld", (long long)axes->items[i].pre,
                    (long long)axes->items[i].size);
  }
}

void tsr_flight_print_sharding(const tsr_tensor_sharding *sharding, int rank, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int i = 0; i < rank; i++) {
    if (i) tsr_text_add(out, ", ");
    if (sharding && i < sharding->rank)
      tsr_sdy_parts_print(sharding->mesh, &sharding->dims[i].axes, out);
    else
      tsr_text_add(out, "{}");
  }
  tsr_text_add_char(out, ']');
  if (sharding && sharding->unreduced.count) {
    tsr_text_add(out, ", unreduced=");
    tsr_sdy_parts_print(sharding->mesh, &sharding->unreduced, out);
  }
}

tsr_status tsr_flight_keep(tsr_preflight *flight, tsr_text *text, const char **out_kept) {
  const char *kept =
      text->failed ? NULL : tsr_arena_copy(&flight->arena, tsr_text_string(text), text->length);
  tsr_text_deinit(text);
  TSR_NEED(kept);
  *out_kept = kept;
  return NULL;
}
