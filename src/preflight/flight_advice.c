// What a user may do about a reshard: pass an argument otherwise, constrain a value before a loop,
// cut another dim, let a sum be scattered.
#include "preflight/flight_advice.h"

#include "base/text_internal.h"

// ---- where the value comes from ----

// The argument of the entry that a value is, or is a view or cast of; NULL otherwise.
static const tsr_value *entry_argument(const tsr_preflight *flight, const tsr_value *value) {
  while (value->def && value->def->info->id == TSR_OP_CONVERT)
    value = tsr_op_operand(value->def, 0);
  if (value->def || !value->block->region) return NULL;
  const tsr_op *owner = tsr_block_parent(value->block);
  return owner && tsr_flight_index(owner) == flight->entry ? value : NULL;
}

// A value that a loop carries without changing it.
static bool is_constant_carry(const tsr_value *value) {
  const tsr_op *loop = value->def ? NULL : tsr_block_parent(value->block);
  const tsr_op *end =
      loop && loop->info->id == TSR_OP_WHILE ? tsr_block_terminator(value->block) : NULL;
  return end && value->index < end->operand_count && tsr_op_operand(end, value->index) == value;
}

// ---- sums of parts ----

// A dim that the axes of the sum divide, on each device; -1 = none.
static int scatter_dim(const tsr_preflight *flight, const tsr_flight_ask *ask, int64_t parts) {
  const tsr_op *op = flight->ops[ask->reshard->first].op;
  const tsr_flight_value *value = tsr_flight_value_of(flight, tsr_op_result(op, 0));
  for (int i = 0; i < ask->rank; i++) {
    const int64_t size = tsr_flight_local_dim(value, i);
    if (size >= parts && size % parts == 0) return i;
  }
  return -1;
}

// The sharding with the axes of the sum after those of a dim.
static void print_scattered(const tsr_flight_ask *ask, const tsr_attr *mesh,
                            const tsr_sdy_parts *axes, int dim, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int i = 0; i < ask->rank; i++) {
    const tsr_sdy_parts *own =
        ask->to && i < ask->to->rank ? &ask->to->dims[i].axes : &(tsr_sdy_parts){NULL, 0};
    tsr_text_add(out, i ? ", {" : "{");
    for (int64_t k = 0; k < own->count; k++) {
      tsr_text_add(out, k ? ", " : "");
      tsr_sdy_part_print(mesh, &own->items[k], out);
    }
    for (int64_t k = 0; i == dim && k < axes->count; k++) {
      tsr_text_add(out, own->count || k ? ", " : "");
      tsr_sdy_part_print(mesh, &axes->items[k], out);
    }
    tsr_text_add_char(out, '}');
  }
  tsr_text_add_char(out, ']');
}

static void suggest_scatter(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  const tsr_op *op = flight->ops[ask->reshard->first].op;
  const tsr_attr *list = tsr_op_attr(op, "reduction_axes");
  const tsr_attr *mesh = ask->to ? ask->to->mesh : NULL;
  tsr_sdy_part items[16];
  tsr_sdy_parts axes = {items, 0};
  if (!list || !mesh || tsr_attr_field(list, 0)->count > 16) return;
  tsr_status status = tsr_sdy_parts_add(mesh, tsr_attr_field(list, 0), &axes);
  const int dim = status ? -1 : scatter_dim(flight, ask, tsr_parts_size(&axes));
  tsr_status_free(status);
  if (dim < 0) return;
  const double parts = (double)tsr_parts_size(&axes);
  tsr_text_add(out, "where its uses can take it cut, constrain ");
  tsr_flight_name(flight, ask->source->value, out);
  tsr_text_add(out, " to ");
  print_scattered(ask, mesh, &axes, dim, out);
  tsr_text_addf(out, ": a reduce-scatter moves %.0f %% less", 100 * (1 - (1 - 1 / parts) / 2));
}

// ---- other reshards ----

// A dim that the op passes through, is not cut, and that the axes divide; -1 = none.
static int free_dim(const tsr_flight_ask *ask, int64_t parts) {
  for (int i = 0; ask->rule && i < tsr_rule_rank(ask->rule, ask->tensor); i++) {
    const int place = tsr_rule_dim(ask->rule, ask->tensor, i);
    const bool cut = ask->from && ask->from->dims[i].axes.count;
    const int64_t size = ask->source->value->type->dims[i];
    if (ask->rule->factors[ask->rule->places[place].factor].kind == TSR_FACTOR_PASS && !cut &&
        size >= parts && size % parts == 0)
      return i;
  }
  return -1;
}

static bool suggest_other_dim(const tsr_preflight *flight, const tsr_flight_ask *ask,
                              tsr_text *out) {
  for (int d = 0; ask->rule && ask->from && d < ask->from->rank; d++) {
    const int place = tsr_rule_dim(ask->rule, ask->tensor, d);
    const tsr_sdy_parts *axes = &ask->from->dims[d].axes;
    if (ask->rule->factors[ask->rule->places[place].factor].kind != TSR_FACTOR_NEED_REPLICATION ||
        !axes->count)
      continue;
    const int dim = free_dim(ask, tsr_parts_size(axes));
    if (dim < 0) return false;
    tsr_text_addf(out, "cut dim %d of ", dim);
    tsr_flight_name(flight, ask->source->value, out);
    tsr_text_add(out, " by ");
    tsr_flight_print_axes(ask->from->mesh, axes, out);
    tsr_text_addf(out, " instead of dim %d: ", d);
    tsr_flight_name_op(flight, ask->op, out);
    tsr_text_add(out, " works on such parts");
    return true;
  }
  return false;
}

static bool suggest_argument(const tsr_preflight *flight, const tsr_flight_ask *ask,
                             tsr_text *out) {
  const tsr_value *argument = entry_argument(flight, ask->source->value);
  const tsr_op *last = flight->ops[ask->reshard->last].op;
  if (!argument) return false;
  tsr_text_add(out, "pass ");
  tsr_flight_name(flight, argument, out);
  tsr_text_add(out, " cut as ");
  tsr_flight_print_sharding(ask->to, ask->rank, out);
  const int64_t after = tsr_flight_value_of(flight, tsr_op_result(last, 0))->bytes;
  if (ask->source->bytes && after > ask->source->bytes)
    tsr_text_addf(out, ", at %.3g times the memory for it",
                  (double)after / (double)ask->source->bytes);
  return true;
}

static bool suggest_before_loop(const tsr_preflight *flight, const tsr_flight_ask *ask,
                                tsr_text *out) {
  if (!is_constant_carry(ask->source->value)) return false;
  const tsr_op *loop = tsr_block_parent(ask->source->value->block);
  tsr_text_add(out, "no step changes it: constrain ");
  tsr_flight_name(flight, tsr_op_operand(loop, ask->source->value->index), out);
  tsr_text_add(out, " to ");
  tsr_flight_print_sharding(ask->to, ask->rank, out);
  tsr_text_add(out, " before the loop");
  if (ask->reshard->times > 1)
    tsr_text_addf(out, ", once instead of %lld times", (long long)ask->reshard->times);
  return true;
}

static void suggest_constraint(const tsr_preflight *flight, const tsr_flight_ask *ask,
                               tsr_text *out) {
  tsr_text_add(out, "constrain ");
  tsr_flight_name(flight, ask->source->value, out);
  tsr_text_add(out, " to ");
  tsr_flight_print_sharding(ask->to, ask->rank, out);
  tsr_text_add(out, " where it is made");
}

void tsr_flight_suggest(const tsr_preflight *flight, const tsr_flight_ask *ask, tsr_text *out) {
  if (!ask->reshard->bytes) return;
  switch (ask->cause) {
    case TSR_FLIGHT_MANUAL:
    case TSR_FLIGHT_BORDER:
      return;
    case TSR_FLIGHT_PARTIAL:
      suggest_scatter(flight, ask, out);
      return;
    case TSR_FLIGHT_ASKED:
      tsr_text_add(out, "without the constraint it stays ");
      tsr_flight_print_sharding(ask->from, ask->rank, out);
      return;
    case TSR_FLIGHT_RETURN:
      tsr_text_add(out, "ask for the result as ");
      tsr_flight_print_sharding(ask->from, ask->rank, out);
      tsr_text_add(out, ", which is how it is made");
      return;
    case TSR_FLIGHT_RESULT:
      tsr_text_add(out, "constrain ");
      tsr_flight_name(flight, ask->source->value, out);
      tsr_text_add(out, " to ");
      tsr_flight_print_sharding(ask->from, ask->rank, out);
      tsr_text_add(out, ", which is how it is made, if its uses can take it so");
      return;
    default:
      if (suggest_other_dim(flight, ask, out) || suggest_before_loop(flight, ask, out) ||
          suggest_argument(flight, ask, out))
        return;
      suggest_constraint(flight, ask, out);
  }
}
