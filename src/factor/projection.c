// Axes of dimensions handed out to factors, and gathered from them again.
#include "factor/projection.h"

#include <string.h>

#include "base/arithmetic.h"

// ---- to factors ----

// The axes of a dim that are not handed out yet: what is left of `axes[at]`, and those after it.
typedef struct axis_supply {
  const tsr_attr *mesh;
  const tsr_sdy_parts *axes;
  int64_t at;
  tsr_sdy_part left;
} axis_supply;

static bool has_more(const axis_supply *supply) { return supply->at < supply->axes->count; }

static void next_axis(axis_supply *supply) {
  if (++supply->at < supply->axes->count) supply->left = supply->axes->items[supply->at];
}

// The major part of size `size` of what is left of the axis.
static tsr_sdy_part take_part(axis_supply *supply, int64_t size) {
  const tsr_sdy_part *left = &supply->left;
  const tsr_sdy_part taken = tsr_part_of(supply->mesh, left->axis, left->pre, size);
  supply->left = tsr_part_of(supply->mesh, left->axis, tsr_sdy_end(&taken), left->size / size);
  return taken;
}

// Room for the parts of one dim: an axis is split at most once for each factor.
static bool begin_list(tsr_arena *arena, tsr_sdy_parts *list, int64_t most) {
  list->items = tsr_arena_alloc(arena, sizeof *list->items * (size_t)most);
  return list->items != NULL;
}

static bool take_rest(tsr_arena *arena, axis_supply *supply, tsr_sdy_parts *out) {
  if (!has_more(supply)) return true;
  if (!supply->at && tsr_sdy_same(&supply->left, supply->axes->items)) {
    *out = *supply->axes;  // shared: the usual case
    supply->at = supply->axes->count;
    return true;
  }
  if (!begin_list(arena, out, supply->axes->count - supply->at)) return false;
  for (; has_more(supply); next_axis(supply)) tsr_sdy_parts_append(supply->mesh, out, supply->left);
  return true;
}

// Fills a factor that is not the last of its dim. Gives in `overflows` whether the rest of it has
// no divisor in common with the next axis.
static bool fill_factor(tsr_arena *arena, axis_supply *supply, int64_t size, tsr_sdy_parts *out,
                        bool *overflows) {
  if (!has_more(supply)) return true;
  if (!begin_list(arena, out, supply->axes->count - supply->at + 1)) return false;
  while (has_more(supply)) {
    const int64_t shared = tsr_gcd(size, supply->left.size);
    if (supply->left.size != 1 && shared == 1) break;
    size /= shared;
    if (supply->left.size > shared) {
      out->items[out->count++] = take_part(supply, shared);
    } else {
      out->items[out->count++] = supply->left;
      next_axis(supply);
    }
  }
  *overflows = size > 1 && has_more(supply);
  return true;
}

static bool project_dim(tsr_arena *arena, const tsr_projection *projection, int first, int end,
                        const tsr_sdy_parts *axes, bool closed) {
  axis_supply supply = {.mesh = projection->mesh, .axes = axes};
  if (axes->count) supply.left = axes->items[0];
  bool overflows = false;
  for (int i = first; i < end; i++) {
    tsr_factor_sharding *to = &projection->places[i];
    to->present = true;
    to->closed = closed || overflows;
    if (overflows) return true;
    if (i == end - 1) return take_rest(arena, &supply, &to->axes);
    const int64_t size = projection->rule->factors[projection->rule->places[i].factor].size;
    if (!fill_factor(arena, &supply, size, &to->axes, &overflows)) return false;
    if (overflows && !take_rest(arena, &supply, &to->overflow)) return false;
  }
  return true;
}

static bool project_tensor(tsr_arena *arena, const tsr_projection *projection, int tensor,
                           bool closed_if_missing) {
  static const tsr_sdy_parts none = {NULL, 0};
  const tsr_op_rule *rule = projection->rule;
  const tsr_tensor_sharding *sharding = projection->shardings[tensor];
  for (int dim = 0; dim < tsr_rule_rank(rule, tensor); dim++) {
    const bool known = sharding && dim < sharding->rank;
    if (!project_dim(arena, projection, tsr_rule_dim(rule, tensor, dim),
                     tsr_rule_dim(rule, tensor, dim + 1), known ? &sharding->dims[dim].axes : &none,
                     known ? sharding->dims[dim].closed : closed_if_missing))
      return false;
  }
  return true;
}

tsr_status tsr_project(tsr_arena *arena, const tsr_op_rule *rule, const tsr_attr *mesh,
                       const tsr_tensor_sharding *const *shardings, bool closed_if_missing,
                       tsr_projection *out_projection) {
  const tsr_projection projection = {
      .rule = rule,
      .mesh = mesh,
      .shardings = shardings,
      .places = tsr_arena_zeros(arena, (size_t)rule->place_count, sizeof *projection.places)};
  TSR_NEED(projection.places);
  for (int i = 0; i < rule->tensor_count; i++)
    if (!project_tensor(arena, &projection, i, closed_if_missing))
      return tsr_fail(NO_MEMORY, "axes of the factors of an op");
  *out_projection = projection;
  return NULL;
}

// ---- back ----

bool tsr_projection_expand(tsr_projection *projection, int place, const tsr_sdy_parts *axes) {
  tsr_factor_sharding *to = &projection->places[place];
  if (!to->present || tsr_parts_prefix(&to->axes, axes) != TSR_PREFIX_STRICT) return false;
  to->axes = *axes;
  return true;
}

// Adds the axes of a factor: its first one may be the next part of the last axis there.
static void add_factor_axes(const tsr_attr *mesh, tsr_sdy_parts *dim, const tsr_sdy_parts *axes) {
  if (!axes->count) return;
  tsr_sdy_parts_append(mesh, dim, axes->items[0]);
  const size_t rest = (size_t)axes->count - 1;
  if (rest) memcpy(dim->items + dim->count, axes->items + 1, sizeof *axes->items * rest);
  dim->count += (int64_t)rest;
}

static bool unproject_dim(tsr_arena *arena, const tsr_projection *projection, int first, int end,
                          tsr_dim_sharding *out_dim) {
  int64_t most = 0;
  for (int i = first; i < end; i++)
    most += projection->places[i].axes.count + projection->places[i].overflow.count;
  if (most && !begin_list(arena, &out_dim->axes, most)) return false;
  for (int i = first; i < end; i++) {
    const tsr_factor_sharding *from = &projection->places[i];
    out_dim->closed |= from->closed;
    add_factor_axes(projection->mesh, &out_dim->axes, &from->axes);
    add_factor_axes(projection->mesh, &out_dim->axes, &from->overflow);
    const int64_t size = projection->rule->factors[projection->rule->places[i].factor].size;
    if (from->overflow.count || tsr_parts_size(&from->axes) < size) break;
  }
  return true;
}

tsr_tensor_sharding *tsr_unproject(tsr_arena *arena, const tsr_projection *projection, int tensor,
                                   const tsr_attr *mesh_ref) {
  const tsr_op_rule *rule = projection->rule;
  const tsr_tensor_sharding *old = projection->shardings[tensor];
  const int rank = tsr_rule_rank(rule, tensor);
  tsr_tensor_sharding *sharding = tsr_arena_zeros(arena, 1, sizeof *sharding);
  tsr_dim_sharding *dims = tsr_arena_zeros(arena, (size_t)rank, sizeof *dims);
  if (!sharding || !dims) return NULL;
  if (old) *sharding = *old;
  sharding->mesh_ref = mesh_ref;
  sharding->mesh = projection->mesh;
  sharding->rank = rank;
  sharding->dims = dims;
  for (int dim = 0; dim < rank; dim++) {
    dims[dim].priority = -1;
    if (!unproject_dim(arena, projection, tsr_rule_dim(rule, tensor, dim),
                       tsr_rule_dim(rule, tensor, dim + 1), &dims[dim]))
      return NULL;
  }
  return sharding;
}
