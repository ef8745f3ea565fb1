// Why a value is cut as it is, as text.
#include <inttypes.h>

#include "base/text_internal.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "syntax/syntax.h"

// ---- the head ----

static void print_mesh(const tsr_attr *mesh, tsr_text *out) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  tsr_text_add_char(out, '{');
  for (int64_t i = 0; i < axes->count; i++)
    tsr_text_addf(out, "%s%s=%" PRId64, i ? "," : "",
                  tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME)->bytes,
                  tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_SIZE)->integer);
  tsr_text_add_char(out, '}');
}

static void print_signature_name(const tsr_propagation *p, const tsr_named_value *named,
                                 tsr_text *out) {
  const char *symbol = tsr_op_symbol(named->func);
  const int64_t index = symbol ? tsr_program_find_function(p->original, symbol) : -1;
  const bool argument =
      named->value && !named->value->def && tsr_block_parent(named->value->block) == named->func;
  tsr_program_value value = TSR_PROGRAM_VALUE;
  if (index < 0 || (named->value && !argument)) return;
  tsr_status_free(argument ? tsr_program_argument(p->original, index, named->value->index, &value)
                           : tsr_program_result(p->original, index, named->index, &value));
  tsr_text_addf(out, "  %s %d of @%s, %s\n", argument ? "argument" : "result",
                argument ? named->value->index : named->index, symbol,
                value.name ? value.name : "");
}

static void print_head(const tsr_propagation *p, const tsr_named_value *named, uint32_t slot,
                       tsr_text *out) {
  const tsr_tensor_sharding *sharding = p->places[slot].last;
  tsr_slot_print(p, slot, out);
  tsr_text_add(out, ": ");
  tsr_type_print(tsr_slot_type(p, slot), out);
  if (sharding) {
    tsr_text_add(out, ", ");
    tsr_slot_sharding_print(p, slot, out);
    tsr_text_add(out, " on mesh ");
    if (sharding->mesh_ref->kind == TSR_ATTR_SYMBOL)
      tsr_text_addf(out, "@%s ", sharding->mesh_ref->bytes);
    print_mesh(sharding->mesh, out);
  } else {
    tsr_text_add(out, ", no sharding");
  }
  tsr_text_add_char(out, '\n');
  print_signature_name(p, named, out);
  if (!named->value || !named->value->def) return;
  tsr_text_add(out, "  ");
  tsr_op_line_print(named->value->def, out);
  tsr_text_add_char(out, '\n');
}

static bool same_sharding(const tsr_propagation *p, uint32_t a, uint32_t b) {
  const tsr_tensor_sharding *x = p->places[a].last, *y = p->places[b].last;
  return x == y || (x && y && tsr_tensor_sharding_equal(x, y));
}

// Functions that are called several times have a copy for each call, constants for each use.
static void print_copies(const tsr_propagation *p, const tsr_named_value *named, uint32_t first,
                         tsr_text *out) {
  int64_t count = 1, others = 0;
  uint32_t other = 0;
  for (uint32_t at = first; (at = tsr_value_slot(p, named, at)); count++)
    if (!same_sharding(p, first, at)) {
      if (!others++) other = at;
    }
  if (count == 1) return;
  tsr_text_addf(out, "  %" PRId64 " copies, one for each %s; ", count,
                named->value && named->value->def && named->value->def->info->id == TSR_OP_CONSTANT
                    ? "use"
                    : "call");
  if (!others) {
    tsr_text_add(out, "all are cut alike\n");
    return;
  }
  tsr_text_addf(out, "%" PRId64 " are cut otherwise, such as ", others);
  tsr_slot_sharding_print(p, other, out);
  tsr_text_add(out, "; this is the first\n");
}

// Inputs and outputs keep only whole axes that divide their sizes.
static void print_final(const tsr_propagation *p, const tsr_named_value *named, uint32_t slot,
                        tsr_text *out) {
  const bool argument = named->value && !named->value->def;
  const int64_t entry = tsr_program_entry(p->final);
  tsr_program_value value = TSR_PROGRAM_VALUE;
  tsr_text text = TSR_TEXT_EMPTY;
  if (named->func != tsr_ir_entry(tsr_program_ir(p->given)) || entry < 0) return;
  if (argument ? tsr_block_parent(named->value->block) != named->func : named->value != NULL)
    return;
  tsr_status_free(argument ? tsr_program_argument(p->final, entry, named->value->index, &value)
                           : tsr_program_result(p->final, entry, named->index, &value));
  tsr_tensor_sharding_print(p->places[slot].last, false, &text);
  if (value.sharding && strcmp(value.sharding, tsr_text_string(&text)) != 0)
    tsr_text_addf(out,
                  "  in the end %s: inputs and outputs keep whole axes that divide their sizes\n",
                  value.sharding);
  out->failed |= text.failed;
  tsr_text_deinit(&text);
}

// ---- one axis ----

enum { SHOWN_STEPS = 12, SHOWN_LAST = 4 };

static void print_step(const tsr_propagation *p, const tsr_gain *gain, tsr_text *out) {
  tsr_text_add(out, "    ");
  tsr_slot_print(p, gain->slot, out);
  tsr_text_addf(out, " dimension %d", gain->dim);
  if (gain->source) {
    tsr_text_add(out, " from ");
    tsr_slot_print(p, gain->source, out);
    tsr_text_addf(out, " dimension %d", gain->source_dim);
  }
  tsr_text_add(out, ", through ");
  tsr_way_print(p, gain->op, out);
  tsr_text_add(out, " (");
  if (gain->user_priority) tsr_text_addf(out, "user priority %" PRId64 ", ", gain->user_priority);
  tsr_text_addf(out, "op priority %d)\n", gain->op_priority);
}

static void print_root(const tsr_propagation *p, uint32_t slot, tsr_text *out) {
  tsr_text_add(out, "    ");
  tsr_slot_print(p, slot, out);
  tsr_text_add(out, " is ");
  tsr_root_print(p, slot, out);
  tsr_text_add_char(out, '\n');
}

static void print_chain(const tsr_propagation *p, uint32_t slot, int dim, const tsr_sdy_part *part,
                        tsr_text *out) {
  const tsr_gain *first = tsr_gain_of(p, slot, dim, part, INT64_MAX);
  int64_t count = 0, step = 0;
  uint32_t root = slot;
  for (const tsr_gain *at = first; at; at = tsr_gain_before(p, at)) count++;
  for (const tsr_gain *at = first; at; at = tsr_gain_before(p, at), step++) {
    root = at->source;
    const bool shown =
        count <= SHOWN_STEPS || step < SHOWN_STEPS - SHOWN_LAST || step >= count - SHOWN_LAST;
    if (shown) print_step(p, at, out);
    if (!shown && step == SHOWN_STEPS - SHOWN_LAST)
      tsr_text_addf(out, "    ... %" PRId64 " more steps ...\n", count - SHOWN_STEPS);
  }
  if (root) print_root(p, root, out);
}

// ---- one dimension ----

static void print_refusals(const tsr_propagation *p, uint32_t slot, int dim, tsr_text *out) {
  tsr_refusal_group groups[TSR_REFUSAL_GROUPS];
  const int count = tsr_refusals_of(p, slot, dim, groups);
  for (int i = 0; i < count; i++) {
    const tsr_refusal *refusal = groups[i].first;
    const tsr_tensor_sharding *from = p->places[refusal->source].last;
    tsr_text_add(out, "  not ");
    if (from && dim >= 0)
      tsr_sdy_part_print(from->mesh, &refusal->part, out);
    else
      tsr_text_add(out, "together");
    tsr_text_add(out, ", which ");
    tsr_slot_print(p, refusal->source, out);
    if (dim >= 0) tsr_text_addf(out, " dimension %d", refusal->source_dim);
    tsr_text_add(out, dim >= 0 ? " has, through " : " is on the other side of, at ");
    tsr_way_print(p, refusal->op, out);
    tsr_text_add(out, ": ");
    tsr_refusal_print(p, refusal, out);
    if (groups[i].count > 1)
      tsr_text_addf(out, " (and at %" PRId64 " other ops)", groups[i].count - 1);
    tsr_text_add_char(out, '\n');
  }
  const tsr_tensor_sharding *sharding = p->places[slot].last;
  const bool cut = sharding && dim >= 0 && sharding->dims[dim].axes.count;
  if (dim < 0 || cut || count) return;
  const tsr_tensor_sharding *first = p->places[slot].first;
  tsr_text_add(out, first && first->dims[dim].closed
                        ? "  it was given so\n"
                        : "  no tensor next to it is cut along this dimension\n");
}

static void print_dim(const tsr_propagation *p, uint32_t slot, int dim, tsr_text *out) {
  const tsr_tensor_sharding *sharding = p->places[slot].last;
  const tsr_type *type = tsr_slot_type(p, slot);
  const tsr_sdy_parts *axes = sharding ? &sharding->dims[dim].axes : NULL;
  tsr_text_addf(out, "\ndimension %d of size %" PRId64 ": ", dim, type->dims[dim]);
  tsr_text_add(out, axes && axes->count ? "cut by " : "not cut");
  for (int64_t i = 0; axes && i < axes->count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_sdy_part_print(sharding->mesh, &axes->items[i], out);
  }
  tsr_text_add_char(out, '\n');
  for (int64_t i = 0; axes && i < axes->count; i++) {
    if (axes->count > 1) {
      tsr_text_add(out, "  ");
      tsr_sdy_part_print(sharding->mesh, &axes->items[i], out);
      tsr_text_add(out, ":\n");
    }
    print_chain(p, slot, dim, &axes->items[i], out);
  }
  print_refusals(p, slot, dim, out);
}

static tsr_status check_dim(const tsr_propagation *p, uint32_t slot, const char *value, int dim) {
  const tsr_type *type = tsr_slot_type(p, slot);
  if (dim == -1 || (dim >= 0 && dim < type->rank)) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "dimension %d of %s, expected 0 to %d", dim, value,
                  type->rank - 1);
}

tsr_status tsr_propagation_explain(const tsr_propagation *propagation, const char *value, int dim,
                                   tsr_text *out) {
  tsr_named_value named;
  TSR_TRY(tsr_value_find(propagation, value, &named));
  const uint32_t slot = tsr_value_slot(propagation, &named, 0);
  if (!slot)
    return tsr_fail(
        NOT_FOUND,
        "%s has no sharding: no result depends on it, or it stands in the body of an op "
        "such as a reduction",
        value);
  TSR_TRY(check_dim(propagation, slot, value, dim));
  print_head(propagation, &named, slot, out);
  print_copies(propagation, &named, slot, out);
  print_final(propagation, &named, slot, out);
  const int rank = tsr_slot_type(propagation, slot)->rank;
  for (int i = 0; i < rank; i++)
    if (dim < 0 || dim == i) print_dim(propagation, slot, i, out);
  print_refusals(propagation, slot, -1, out);
  return tsr_text_check(out);
}
