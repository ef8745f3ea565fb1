// Axes that a tensor could have got through an op but did not, and what stood in the way.
//
// When propagation has ended, nothing goes anywhere: so whatever one tensor of an op has along a
// factor and another one lacks was refused. The reason is read off the two shardings.
#include "base/arithmetic.h"
#include "base/grow.h"
#include "insight/insight.h"
#include "factor/projection.h"
#include "verify/sdy_checks.h"

static const char *const words[TSR_REFUSED_COUNT] = {
#define WORD(id, word) word,
    TSR_REFUSALS(WORD)
#undef WORD
};

const char *tsr_refusal_word(tsr_refusal_reason reason) { return words[reason]; }

typedef struct looker {
  tsr_propagation *p;
  const tsr_flow_view *view;
  tsr_projection projection;
  int64_t found;
} looker;

static tsr_status add(looker *look, tsr_refusal refusal) {
  tsr_propagation *p = look->p;
  look->found++;
  if (!refusal.slot) return NULL;
  tsr_refusal *list = tsr_grow(p->refusals, p->refusal_count, &p->refusal_capacity, sizeof *list);
  TSR_NEED(list);
  p->refusals = list;
  if (p->refusal_count >= UINT32_MAX - 1) return tsr_fail(TOO_LARGE, "too many conflicts");
  refusal.previous = p->places[refusal.slot].refusals;
  list[p->refusal_count++] = refusal;
  p->places[refusal.slot].refusals = (uint32_t)p->refusal_count;
  return NULL;
}

// ---- what is missing ----

// The first part of `other` that `have` lacks; false = none. `*out_instead` is the place where it
// would be.
static bool missing_part(const tsr_sdy_parts *have, const tsr_sdy_parts *other,
                         tsr_sdy_part *out_part, int64_t *out_instead) {
  for (int64_t i = 0; i < other->count; i++) {
    *out_part = other->items[i];
    *out_instead = i;
    if (i >= have->count) return true;
    if (tsr_part_contains(&have->items[i], &other->items[i])) {
      if (!tsr_sdy_same(&have->items[i], &other->items[i])) return false;
      continue;
    }
    return true;
  }
  return false;
}

static bool overlaps(const tsr_sdy_parts *parts, const tsr_sdy_part *part) {
  for (int64_t i = 0; i < parts->count; i++)
    if (tsr_sdy_overlap(&parts->items[i], part)) return true;
  return false;
}

// ---- reasons ----

// The dim of a tensor, other than that of the place, that has the axis; -1 = none.
static int taken_by(const looker *look, int place, const tsr_sdy_part *part) {
  const tsr_rule_place *where = &look->view->rule->places[place];
  const tsr_tensor_sharding *sharding = look->view->shardings[where->tensor];
  for (int dim = 0; sharding && dim < sharding->rank; dim++)
    if (dim != where->dim && overlaps(&sharding->dims[dim].axes, part)) return dim;
  return -1;
}

static bool divides(const looker *look, int place, const tsr_sdy_part *part) {
  const tsr_rule_place *where = &look->view->rule->places[place];
  const int64_t size = look->view->rule->factors[where->factor].size;
  const int64_t sharded = tsr_parts_size(&look->projection.places[place].axes);
  return where->minor_most || (size % sharded == 0 && tsr_gcd(size / sharded, part->size) != 1);
}

// Another tensor that wants another axis in the same place; -1 = none.
static int rival_of(const looker *look, int place, int other, int64_t at,
                    const tsr_sdy_part *part) {
  const tsr_op_rule *rule = look->view->rule;
  const int factor = rule->places[place].factor;
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_factor_sharding *rival = &look->projection.places[rule->uses[i]];
    if (rule->uses[i] == place || rule->uses[i] == other || !rival->present) continue;
    if (at < rival->axes.count && rival->axes.items[at].axis != part->axis) return rule->uses[i];
  }
  return -1;
}

// Another dim of the tensor that another tensor would give the same axis.
static bool contested(const looker *look, int place, tsr_refusal *out) {
  const tsr_op_rule *rule = look->view->rule;
  const tsr_rule_place *where = &rule->places[place];
  for (int i = tsr_rule_tensor(rule, where->tensor); i < tsr_rule_tensor(rule, where->tensor + 1);
       i++) {
    const int factor = rule->places[i].factor;
    for (int k = rule->used[factor]; k < rule->used[factor + 1]; k++) {
      if (factor == where->factor ||
          !overlaps(&look->projection.places[rule->uses[k]].axes, &out->part))
        continue;
      out->other_dim = rule->places[i].dim;
      out->other_slot = look->view->slots[rule->places[rule->uses[k]].tensor];
      return true;
    }
  }
  return false;
}

static void give_reason(const looker *look, int place, int other, int64_t at, tsr_refusal *out) {
  const tsr_op_rule *rule = look->view->rule;
  const tsr_rule_place *where = &rule->places[place];
  const tsr_factor_sharding *have = &look->projection.places[place];
  const tsr_tensor_sharding *sharding = look->view->shardings[where->tensor];
  const int rival = rival_of(look, place, other, at, &out->part);
  out->other_dim = taken_by(look, place, &out->part);
  if (!have->present) {
    out->reason = TSR_REFUSED_INDIVISIBLE;
  } else if (at < have->axes.count && have->axes.items[at].axis != out->part.axis) {
    out->reason = TSR_REFUSED_OTHER_AXES;
    out->other = have->axes.items[at];
  } else if (sharding && overlaps(&sharding->replicated, &out->part)) {
    out->reason = TSR_REFUSED_REPLICATED;
  } else if (sharding && overlaps(&sharding->unreduced, &out->part)) {
    out->reason = TSR_REFUSED_UNREDUCED;
  } else if (out->other_dim >= 0) {
    out->reason = TSR_REFUSED_TAKEN;
  } else if (have->closed) {
    out->reason = TSR_REFUSED_CLOSED;
  } else if (have->overflow.count || !divides(look, place, &out->part)) {
    out->reason = TSR_REFUSED_INDIVISIBLE;
  } else if (rule->factors[where->factor].blocked) {
    out->reason = TSR_REFUSED_BLOCKED;
  } else if (rival >= 0) {
    out->reason = TSR_REFUSED_DISAGREE;
    out->other = look->projection.places[rival].axes.items[at];
    out->other_slot = look->view->slots[rule->places[rival].tensor];
  } else {
    out->reason = contested(look, place, out) ? TSR_REFUSED_CONTESTED : TSR_REFUSED_NOT_PASSED;
  }
}

// ---- all places ----

static tsr_status look_at(looker *look, int place) {
  const tsr_op_rule *rule = look->view->rule;
  const tsr_rule_place *where = &rule->places[place];
  for (int i = rule->used[where->factor]; i < rule->used[where->factor + 1]; i++) {
    const int other = rule->uses[i];
    const tsr_rule_place *from = &rule->places[other];
    tsr_refusal refusal = {.slot = look->view->slots[where->tensor],
                           .source = look->view->slots[from->tensor],
                           .dim = where->dim,
                           .source_dim = from->dim,
                           .op = look->view->op};
    int64_t at = 0;
    if (other == place || !look->projection.places[other].present) continue;
    if (!missing_part(&look->projection.places[place].axes, &look->projection.places[other].axes,
                      &refusal.part, &at))
      continue;
    give_reason(look, place, other, at, &refusal);
    return add(look, refusal);
  }
  return NULL;
}

// The first two tensors whose meshes differ.
static tsr_status look_at_meshes(looker *look) {
  const tsr_flow_view *view = look->view;
  int first = -1;
  for (int i = 0; i < view->count; i++) {
    if (!view->shardings[i] || tsr_sdy_is_empty(view->shardings[i]->mesh)) continue;
    if (first < 0) first = i;
    if (tsr_attr_equal(view->shardings[i]->mesh, view->shardings[first]->mesh)) continue;
    return add(look, (tsr_refusal){.slot = view->slots[i],
                                   .source = view->slots[first],
                                   .dim = -1,
                                   .op = view->op,
                                   .reason = TSR_REFUSED_MESHES});
  }
  return NULL;
}

static bool any_axes(const tsr_flow_view *view) {
  for (int i = 0; i < view->count; i++)
    if (view->shardings[i] && tsr_sharding_has_axes(view->shardings[i])) return true;
  return false;
}

static tsr_status look_at_all(looker *look) {
  const tsr_flow_view *view = look->view;
  const tsr_tensor_sharding *common = tsr_common_mesh(view->shardings, view->count, false);
  if (!common) return look_at_meshes(look);
  if (tsr_sdy_is_maximal(common->mesh)) return NULL;
  TSR_TRY(tsr_project(&look->p->scratch, view->rule, common->mesh, view->shardings, false,
                      &look->projection));
  for (int i = 0; i < view->rule->place_count; i++) TSR_TRY(look_at(look, i));
  return NULL;
}

tsr_status tsr_refusals_add(tsr_propagation *propagation, const tsr_flow_view *view) {
  looker look = {.p = propagation, .view = view};
  if (!any_axes(view)) return NULL;
  tsr_arena_reset(&propagation->scratch);
  TSR_TRY(look_at_all(&look));
  propagation->info.conflict_count += look.found > 0;
  return NULL;
}
