// Spreads from shardings and back. Only even cuts that divide have a spread.
#include <string.h>

#include "mesh/mesh.h"
#include "sequence/sequence.h"
#include "spec/sharding_internal.h"
#include "spec/spec_builder.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"

// ---- from a sharding ----

static tsr_status check_plain(const tsr_normal_dim *normal, int dim) {
  static const char *const words[] = {[TSR_STAGE_EVEN] = "even",
                                      [TSR_STAGE_SIZES] = "explicit sizes",
                                      [TSR_STAGE_CYCLIC] = "cyclic",
                                      [TSR_STAGE_PARTS] = "parts"};
  for (int s = 0; s < normal->stage_count; s++) {
    const tsr_stage_kind kind = normal->stages[s].cut->kind;
    if (kind != TSR_STAGE_EVEN)
      return tsr_fail(NO_SEQUENCE,
                      "dimension %d has a cut by %s; collectives need even cuts, so only direct "
                      "copies are possible",
                      dim, words[kind]);
  }
  return NULL;
}

// Even stages that divide are equivalent to one stage.
static int collect_sub_axes(const tsr_normal_dim *normal, tsr_sub_axis *out) {
  int count = 0;
  for (int s = 0; s < normal->stage_count; s++)
    for (int i = 0; i < normal->stages[s].count; i++)
      out[count++] = normal->sub_axes[normal->stages[s].first + i];
  return count;
}

void tsr_spread_add(tsr_spread *spread, int list, const tsr_sub_axis *sub_axes, int count) {
  tsr_sub_axis *own = spread->sub_axes + spread->first[list];
  if (count) memcpy(own, sub_axes, sizeof *sub_axes * (size_t)count);
  spread->first[list + 1] = spread->first[list] + tsr_sub_axes_join(own, count);
}

static tsr_status check_divides(const tsr_mesh *mesh, int64_t shards, int64_t size, int dim) {
  if (size % shards == 0) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_mesh_describe(mesh, &text);
  tsr_status status =
      tsr_fail(NO_SEQUENCE,
               "dimension %d of size %lld does not divide into %lld shards on mesh "
               "%s; collectives need equal shards, so only direct copies are possible",
               dim, (long long)size, (long long)shards, tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

tsr_status tsr_spread_init(tsr_spread *spread, const tsr_sharding *sharding,
                           const tsr_shape *shape) {
  if (tsr_sharding_dim_count(sharding) > shape->rank)
    return tsr_fail(RANK_TOO_SMALL, "a spec of %d entries for a tensor of rank %d",
                    tsr_sharding_dim_count(sharding), shape->rank);
  tsr_spread made = {.rank = shape->rank};
  for (int d = 0; d < shape->rank; d++) {
    tsr_normal_dim normal;
    tsr_normal_dim_init(&normal, tsr_sharding_dim_at(sharding, d));
    TSR_TRY(check_plain(&normal, d));
    tsr_sub_axis sub_axes[TSR_MAX_SUB_AXES];
    tsr_spread_add(&made, d, sub_axes, collect_sub_axes(&normal, sub_axes));
    TSR_TRY(
        check_divides(tsr_sharding_mesh(sharding), tsr_spread_shards(&made, d), shape->dims[d], d));
  }
  tsr_sub_axis unreduced[TSR_MAX_SUB_AXES];
  int count = 0;
  const tsr_sub_axis *given = tsr_sharding_unreduced(sharding, &count);
  tsr_spread_add(&made, shape->rank, unreduced, tsr_sub_axes_normal_set(given, count, unreduced));
  *spread = made;
  return NULL;
}

// ---- to a sharding ----

static tsr_status build(tsr_spec_builder *builder, const tsr_spread *spread,
                        const tsr_sharding *like) {
  const tsr_mesh *mesh = tsr_sharding_mesh(like);
  const tsr_spec_desc *desc = tsr_spec_desc_of(tsr_sharding_spec(like));
  builder->reduction = desc->reduction;
  builder->mesh_name = desc->mesh_name;
  for (int d = 0; d < spread->rank; d++) {
    TSR_TRY(tsr_spec_builder_dim(builder));
    if (spread->first[d] == spread->first[d + 1]) continue;
    TSR_TRY(tsr_spec_builder_stage(builder));
    for (int i = spread->first[d]; i < spread->first[d + 1]; i++) {
      const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &spread->sub_axes[i]);
      TSR_TRY(tsr_spec_builder_axis(builder, &ref));
    }
  }
  for (int i = spread->first[spread->rank]; i < spread->first[spread->rank + 1]; i++) {
    const tsr_axis_ref ref = tsr_sub_axis_ref(mesh, &spread->sub_axes[i]);
    TSR_TRY(tsr_spec_builder_member(builder, TSR_SET_UNREDUCED, &ref));
  }
  return NULL;
}

tsr_status tsr_spread_bind(const tsr_spread *spread, const tsr_sharding *like,
                           tsr_sharding **out_sharding) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_spec *spec = NULL;
  tsr_status status = build(&builder, spread, like);
  if (!status) status = tsr_spec_builder_finish(&builder, &spec);
  if (!status) status = tsr_sharding_bind(tsr_sharding_mesh(like), spec, false, out_sharding);
  tsr_spec_release(spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// ---- accessors ----

bool tsr_spread_equal(const tsr_spread *a, const tsr_spread *b) {
  if (a->rank != b->rank) return false;
  for (int l = 0; l <= a->rank + 1; l++)
    if (a->first[l] != b->first[l]) return false;
  for (int i = 0; i < a->first[a->rank + 1]; i++)
    if (!tsr_sub_axis_equal(&a->sub_axes[i], &b->sub_axes[i])) return false;
  return true;
}

int64_t tsr_spread_shards(const tsr_spread *spread, int list) {
  int64_t shards = 1;
  for (int i = spread->first[list]; i < spread->first[list + 1]; i++)
    shards *= spread->sub_axes[i].size;
  return shards;
}

tsr_shape tsr_spread_local(const tsr_spread *spread, const tsr_shape *shape) {
  tsr_shape local = {.rank = shape->rank};
  for (int d = 0; d < shape->rank; d++)
    local.dims[d] = shape->dims[d] / tsr_spread_shards(spread, d);
  return local;
}
