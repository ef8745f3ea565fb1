// Unreduced axes at one use of a value: reduced where they have to be, made where they are wanted.
#include "propagate/edits.h"
#include "reshard/reshard_run.h"

static tsr_status refuse_meshes(const tsr_use *use) {
  return tsr_fail(CONSTRAINT,
                  "operand %d of %s at line %u: shardings with unreduced axes are bound to "
                  "different meshes",
                  (int)(use - use->user->operands), use->user->name, use->user->line);
}

static tsr_status refuse_axes(const tsr_use *use) {
  return tsr_fail(CONSTRAINT,
                  "operand %d of %s at line %u: an axis is called replicated or unreduced before a "
                  "reshard and shards a dimension after it",
                  (int)(use - use->user->operands), use->user->name, use->user->line);
}

// ---- unreduced axes that are not wanted ----

tsr_status tsr_reduce_use(tsr_reshard_run *run, const tsr_insertion *at, tsr_use *use,
                          const tsr_attr **sharding, const tsr_attr *target) {
  if (!*sharding || !tsr_attr_field(*sharding, TSR_SDY_SHARDING_UNREDUCED)->count) return NULL;
  const tsr_tensor_sharding *from = NULL, *to = NULL;
  TSR_TRY(tsr_reshard_read(run, use->user, *sharding, &from));
  TSR_TRY(tsr_reshard_read(run, use->user, target, &to));
  if (to && !tsr_attr_equal(from->mesh, to->mesh)) return refuse_meshes(use);
  const tsr_sdy_parts wanted = tsr_sharding_unreduced(to);
  tsr_tensor_sharding made = *from;
  tsr_sdy_parts axes;
  if (!tsr_parts_minus(&run->scratch, from->mesh, &from->unreduced, &wanted, &axes))
    return tsr_fail(NO_MEMORY, "axes to reduce");
  if (!axes.count) return NULL;
  if (!tsr_parts_minus(&run->scratch, from->mesh, &from->unreduced, &axes, &made.unreduced))
    return tsr_fail(NO_MEMORY, "unreduced axes");
  tsr_value *result = NULL;
  TSR_TRY(tsr_add_all_reduce(run, at, use->value, &axes, &made, &result));
  tsr_use_set(use, result);
  return tsr_sharding_get(run->ir, result, sharding);
}

// ---- unreduced axes that are wanted ----

// How the axes of `in` become those of `out`: `between` has the dims before sharded axes become
// unreduced, `lists` the axes of each dim that do.
typedef struct unreducing {
  const tsr_tensor_sharding *in, *out;
  tsr_sdy_parts gained;   // unreduced in `out` only
  tsr_sdy_parts sharded;  // those of them that shard a dim of `in`
  tsr_sdy_parts replicated;
  tsr_sdy_parts *lists;
  tsr_dim_sharding *between;
  bool moves;  // dims differ in other axes too
} unreducing;

static bool begin(tsr_reshard_run *run, unreducing *u) {
  int64_t most = 0;
  for (int i = 0; i < u->in->rank; i++) most += u->in->dims[i].axes.count;
  const size_t rank = (size_t)u->in->rank + 1;
  u->lists = tsr_arena_zeros(&run->scratch, rank, sizeof *u->lists);
  u->between = tsr_arena_zeros(&run->scratch, rank, sizeof *u->between);
  u->sharded.items = tsr_arena_zeros(&run->scratch, (size_t)most + 1, sizeof *u->sharded.items);
  return u->lists && u->between && u->sharded.items;
}

// The axes that a dim loses at its end, in the memory of `sharded`, after those of other dims.
static tsr_sdy_parts lost_axes(const unreducing *u, const tsr_sdy_parts *in,
                               const tsr_sdy_parts *out) {
  tsr_sdy_parts lost = {u->sharded.items + u->sharded.count, 0};
  const int64_t last = out->count - 1;
  if (last >= 0 && !tsr_sdy_same(&out->items[last], &in->items[last])) {
    lost.items[lost.count] = in->items[last];
    lost.count += tsr_part_follow(u->in->mesh, &lost.items[lost.count], &out->items[last]);
  }
  for (int64_t i = out->count; i < in->count; i++) lost.items[lost.count++] = in->items[i];
  return lost;
}

static bool compare_dim(tsr_reshard_run *run, unreducing *u, int dim) {
  const tsr_sdy_parts *in = &u->in->dims[dim].axes, *out = &u->out->dims[dim].axes;
  const tsr_prefix prefix = tsr_parts_prefix(out, in);
  u->between[dim] = u->out->dims[dim];
  if (prefix == TSR_PREFIX_EQUAL) return true;
  if (prefix == TSR_PREFIX_NOT) {
    u->moves = true;
    return true;
  }
  const tsr_sdy_parts lost = lost_axes(u, in, out);
  tsr_sdy_parts rest;
  if (!tsr_parts_minus(&run->scratch, u->in->mesh, &lost, &u->gained, &rest)) return false;
  if (rest.count) {
    u->moves = true;
    return true;
  }
  u->lists[dim] = lost;
  u->sharded.count += lost.count;
  u->between[dim] = u->in->dims[dim];
  return true;
}

// Finds out what happens to each dim; `gained.count` 0 = nothing is to be done.
static tsr_status compare(tsr_reshard_run *run, const tsr_use *use, unreducing *u) {
  tsr_arena *arena = &run->scratch;
  tsr_sdy_parts lost;
  if (!tsr_attr_equal(u->in->mesh, u->out->mesh)) return refuse_meshes(use);
  bool ok = tsr_parts_minus(arena, u->in->mesh, &u->out->unreduced, &u->in->unreduced, &u->gained);
  if (ok && !u->gained.count) return NULL;
  ok = ok && tsr_parts_minus(arena, u->in->mesh, &u->in->unreduced, &u->out->unreduced, &lost) &&
       begin(run, u);
  if (!ok) return tsr_fail(NO_MEMORY, "unreduced axes");
  if (lost.count || u->in->rank != u->out->rank)
    return tsr_fail(CONSTRAINT,
                    "operand %d of %s at line %u has unreduced axes that its new sharding does not "
                    "have, expected only more",
                    (int)(use - use->user->operands), use->user->name, use->user->line);
  for (int i = 0; ok && i < u->in->rank; i++) ok = compare_dim(run, u, i);
  ok = ok && tsr_parts_minus(arena, u->in->mesh, &u->gained, &u->sharded, &u->replicated);
  return ok ? NULL : tsr_fail(NO_MEMORY, "unreduced axes");
}

static tsr_status make_replicated(tsr_reshard_run *run, const tsr_insertion *at, const tsr_use *use,
                                  const unreducing *u, tsr_value **value) {
  tsr_tensor_sharding made = *u->out;
  const int64_t most = u->in->unreduced.count + u->replicated.count;
  tsr_sdy_parts all = {tsr_arena_alloc(&run->scratch, ((size_t)most + 1) * sizeof *all.items), 0};
  TSR_NEED(all.items);
  for (int64_t i = 0; i < u->in->unreduced.count; i++)
    all.items[all.count++] = u->in->unreduced.items[i];
  for (int64_t i = 0; i < u->replicated.count; i++) all.items[all.count++] = u->replicated.items[i];
  tsr_sdy_parts_join(u->in->mesh, &all);
  made.mesh_ref = u->in->mesh_ref;
  made.dims = u->between;
  made.unreduced = all;
  if (!tsr_sharding_is_sound(&made)) return refuse_axes(use);
  return tsr_add_replicated_to_unreduced(run, at, *value, &u->replicated, &made, value);
}

tsr_status tsr_unreduce_use(tsr_reshard_run *run, const tsr_insertion *at, tsr_use *use,
                            const tsr_attr *target, const tsr_attr **out_sharding) {
  unreducing u = {0};
  const tsr_attr *source = NULL;
  tsr_value *value = use->value;
  *out_sharding = NULL;
  if (!target || !tsr_attr_field(target, TSR_SDY_SHARDING_UNREDUCED)->count) return NULL;
  TSR_TRY(tsr_sharding_get(run->ir, value, &source));
  if (!source) return NULL;
  TSR_TRY(tsr_reshard_read(run, use->user, source, &u.in));
  TSR_TRY(tsr_reshard_read(run, use->user, target, &u.out));
  TSR_TRY(compare(run, use, &u));
  if (!u.gained.count) return NULL;
  if (u.moves) {
    tsr_tensor_sharding moved = *u.in;
    moved.dims = u.between;
    if (!tsr_sharding_is_sound(&moved)) return refuse_axes(use);
    TSR_TRY(tsr_add_reshard(run, at, value, tsr_sharding_attr(run->ir, &moved), &value));
  }
  if (u.replicated.count) TSR_TRY(make_replicated(run, at, use, &u, &value));
  if (u.sharded.count)
    TSR_TRY(tsr_add_sharded_to_unreduced(run, at, value, u.lists, u.out, &value));
  tsr_use_set(use, value);
  return tsr_sharding_get(run->ir, value, out_sharding);
}
