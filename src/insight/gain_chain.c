// The way of an axis through the program, and where it begins.
#include "base/text_internal.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "propagate/edits.h"
#include "syntax/ssa_names.h"

// ---- from gain to gain ----

static bool had_part(const tsr_tensor_sharding *sharding, int dim, const tsr_sdy_part *part) {
  for (int64_t i = 0; sharding && dim < sharding->rank && i < sharding->dims[dim].axes.count; i++)
    if (tsr_sdy_overlap(&sharding->dims[dim].axes.items[i], part)) return true;
  return false;
}

// The oldest gain that holds the whole part, else the oldest that holds some of it.
const tsr_gain *tsr_gain_of(const tsr_propagation *propagation, uint32_t slot, int dim,
                            const tsr_sdy_part *part, int64_t before) {
  const tsr_gain *whole = NULL, *some = NULL;
  if (had_part(propagation->places[slot].first, dim, part)) return NULL;
  for (uint32_t i = propagation->places[slot].gains; i; i = propagation->gains[i - 1].previous) {
    const tsr_gain *gain = &propagation->gains[i - 1];
    if (i > before || gain->dim != dim || !tsr_sdy_overlap(&gain->part, part)) continue;
    some = gain;
    if (tsr_part_contains(&gain->part, part)) whole = gain;
  }
  return whole ? whole : some;
}

const tsr_gain *tsr_gain_before(const tsr_propagation *propagation, const tsr_gain *gain) {
  if (!gain->source) return NULL;
  return tsr_gain_of(propagation, gain->source, gain->source_dim, &gain->part,
                     gain - propagation->gains);
}

// ---- the op on the way ----

static void print_results(const tsr_propagation *p, const tsr_op *op, tsr_text *out) {
  tsr_function_print(p, tsr_function_around(op), out);
  tsr_ssa_print_results(op, out);
  tsr_text_add(out, op->name);
  const tsr_attr *callee = op->info->id == TSR_OP_CALL ? tsr_op_attr(op, "callee") : NULL;
  if (callee) tsr_text_addf(out, " @%s", callee->bytes);
}

// The op that an edge belongs to, such as a loop.
static const tsr_op *owner_of_edge(const tsr_op *edge) {
  const tsr_value *value = tsr_op_operand(edge, 0);
  return value->def ? value->def : tsr_block_parent(value->block);
}

void tsr_way_print(const tsr_propagation *propagation, const tsr_op *op, tsr_text *out) {
  const tsr_op_id id = op->info->id;
  if (id == TSR_OP_SDY_DATA_FLOW_EDGE || id == TSR_OP_SDY_FUNC_DATA_FLOW_EDGE) {
    const tsr_op *owner = owner_of_edge(op), *given = tsr_given_op(propagation, owner);
    if (given && given->info->id != TSR_OP_FUNC)
      print_results(propagation, given, out);
    else
      tsr_text_add(out, "a call");
    return;
  }
  if (id == TSR_OP_FUNC) {
    tsr_text_add(out, "return");
    return;
  }
  const tsr_op *given = tsr_given_op(propagation, op);
  if (given)
    print_results(propagation, given, out);
  else
    tsr_text_addf(out, "%s, which was added", op->name);
}

// ---- where an axis was given ----

static const tsr_given_constraint *constraint_of(const tsr_propagation *p,
                                                 const tsr_sharding_place *place) {
  const tsr_value *given = place->value ? tsr_given_value(p, place->value) : NULL;
  const tsr_op *func = place->func ? tsr_given_op(p, place->func) : NULL;
  for (int64_t i = 0; i < p->constraint_count; i++) {
    const tsr_given_constraint *c = &p->constraints[i];
    if (place->value ? c->op == place->value->def || (given && c->named.value == given)
                     : !c->named.value && c->named.func == func && c->named.index == place->index)
      return c;
  }
  return NULL;
}

static const tsr_op *constraint_user(const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (use->user->info->id == TSR_OP_SDY_SHARDING_CONSTRAINT) return use->user;
  return NULL;
}

static bool in_group(const tsr_value *value) {
  for (const tsr_use *use = value->uses; use; use = use->next)
    if (use->user->info->id == TSR_OP_SDY_SHARDING_GROUP) return true;
  return false;
}

static void print_op(const tsr_propagation *p, const char *words, const tsr_op *op, tsr_text *out) {
  const tsr_op *given = tsr_given_op(p, op);
  tsr_text_add(out, words);
  if (given)
    print_results(p, given, out);
  else
    tsr_text_add(out, "a constraint that was added");
}

static void print_argument_root(const tsr_propagation *p, const tsr_value *given, tsr_text *out) {
  const tsr_op *func = tsr_block_parent(given->block);
  const bool entry = func == tsr_ir_entry(tsr_program_ir(p->given));
  if (func->info->id == TSR_OP_SDY_MANUAL_COMPUTATION)
    tsr_text_add(out, "given by in_shardings of the manual computation");
  else if (entry && p->planned && p->planned[given->index])
    tsr_text_addf(out, "cut by row \"%s\" of the plan", p->planned[given->index]);
  else if (func->info->id == TSR_OP_FUNC)
    tsr_text_add(out, "an argument with an annotation");
  else
    tsr_text_add(out, "given with its op");
}

static void print_value_root(const tsr_propagation *p, const tsr_value *value, tsr_text *out) {
  const tsr_value *given = tsr_given_value(p, value);
  const tsr_op *def = given ? given->def : value->def;
  const tsr_op *user = constraint_user(value);
  const bool edge = tsr_op_is(value->def, TSR_OP_SDY_DATA_FLOW_EDGE);
  if (given && !given->def)
    print_argument_root(p, given, out);
  else if (tsr_op_is(def, TSR_OP_SDY_SHARDING_CONSTRAINT))
    tsr_text_add(out, "a constraint");
  else if (tsr_op_is(def, TSR_OP_SDY_MANUAL_COMPUTATION))
    tsr_text_add(out, "given by out_shardings of the manual computation");
  else if (!edge && user && !tsr_op_attr(def, "sdy.sharding"))
    print_op(p, "constrained by ", user, out);
  else if (def && tsr_op_attr(def, "sdy.sharding"))
    tsr_text_add(out, "annotated");
  else if (in_group(value))
    tsr_text_add(out, "in a sharding group, whose members are cut alike");
  else
    tsr_text_add(out, "given before propagation");
}

void tsr_root_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out) {
  const tsr_sharding_place *place = &propagation->places[slot];
  const tsr_given_constraint *constraint = constraint_of(propagation, place);
  if (constraint)
    tsr_text_addf(out, "given as %s", constraint->text);
  else if (place->value)
    print_value_root(propagation, place->value, out);
  else
    tsr_text_add(out, "a result with an annotation");
  if (!place->first || !tsr_sharding_has_axes(place->first)) return;
  tsr_text_add(out, ": ");
  tsr_tensor_sharding_print(place->first, true, out);
}

// ---- what was refused ----

static void print_part(const tsr_propagation *p, uint32_t slot, uint32_t other,
                       const tsr_sdy_part *part, tsr_text *out) {
  const tsr_tensor_sharding *sharding = p->places[slot].last;
  if (!sharding) sharding = p->places[other].last;
  if (sharding) tsr_sdy_part_print(sharding->mesh, part, out);
}

void tsr_refusal_print(const tsr_propagation *propagation, const tsr_refusal *refusal,
                       tsr_text *out) {
  const tsr_type *type = tsr_slot_type(propagation, refusal->slot);
  switch (refusal->reason) {
    case TSR_REFUSED_MESHES:
      tsr_text_add(out, "it is on another mesh");
      break;
    case TSR_REFUSED_OTHER_AXES:
      tsr_text_addf(out, "dimension %d has ", refusal->dim);
      print_part(propagation, refusal->slot, refusal->source, &refusal->other, out);
      tsr_text_add(out, " in its place");
      break;
    case TSR_REFUSED_REPLICATED:
      tsr_text_add(out, "the axis is explicitly replicated here");
      break;
    case TSR_REFUSED_UNREDUCED:
      tsr_text_add(out, "the value is unreduced over the axis");
      break;
    case TSR_REFUSED_TAKEN:
      tsr_text_addf(out, "dimension %d has the axis already", refusal->other_dim);
      break;
    case TSR_REFUSED_CLOSED:
      tsr_text_addf(out, "dimension %d is closed", refusal->dim);
      break;
    case TSR_REFUSED_INDIVISIBLE:
      tsr_text_addf(out, "size %lld of dimension %d is not divided by it in this op",
                    (long long)(refusal->dim < type->rank ? type->dims[refusal->dim] : 0),
                    refusal->dim);
      break;
    case TSR_REFUSED_BLOCKED:
      tsr_text_add(out, "the op passes no axes along this dimension");
      break;
    case TSR_REFUSED_DISAGREE:
      tsr_slot_print(propagation, refusal->other_slot, out);
      tsr_text_add(out, " has ");
      print_part(propagation, refusal->other_slot, refusal->source, &refusal->other, out);
      tsr_text_add(out, " in its place, so neither goes on");
      break;
    case TSR_REFUSED_CONTESTED:
      tsr_text_addf(out, "dimension %d could have the axis too, from ", refusal->other_dim);
      tsr_slot_print(propagation, refusal->other_slot, out);
      tsr_text_add(out, ", so neither gets it");
      break;
    default:
      tsr_text_add(out,
                   "the op passes no axes this way, or another of its tensors cannot take them");
      break;
  }
}

int tsr_refusals_of(const tsr_propagation *propagation, uint32_t slot, int dim,
                    tsr_refusal_group out[TSR_REFUSAL_GROUPS]) {
  int count = 0;
  for (uint32_t i = propagation->places[slot].refusals; i;
       i = propagation->refusals[i - 1].previous) {
    const tsr_refusal *refusal = &propagation->refusals[i - 1];
    int at = 0;
    if (refusal->dim != dim) continue;
    while (at < count && (out[at].first->reason != refusal->reason ||
                          !tsr_sdy_same(&out[at].first->part, &refusal->part)))
      at++;
    if (at == TSR_REFUSAL_GROUPS) continue;
    if (at == count) out[count++] = (tsr_refusal_group){0};
    out[at].first = refusal;  // the oldest stays
    out[at].count++;
  }
  return count;
}
