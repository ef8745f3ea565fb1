// eformer's smaller answers and the JSON of an analysis, for tests and comparisons; the rest is in
// tessera/compat/eformer_plan.h.
#ifndef TESSERA_ADVICE_PLAN_AUTO_INTERNAL_H
#define TESSERA_ADVICE_PLAN_AUTO_INTERNAL_H

#include <stdint.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/dtype.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/tree.h"

// auto_namedsharding: tsr_auto_spec, bound to the mesh.
TSR_MUST_USE tsr_status tsr_auto_sharding(const tsr_shape *shape, const tsr_mesh *mesh,
                                          const tsr_auto_options *options,
                                          tsr_sharding **out_sharding);

// MeshPartitionHelper, which knows the axes dp, fsdp, tp and sp: the axes to try for a shape, in
// order ("fsdp+sp" is a pair), and the resulting spec.
#define TSR_HELPER_MIN_SIZE 1024  // its usual min_shard_size
typedef struct tsr_methods {
  int64_t count;
  const char *items[4];
} tsr_methods;
void tsr_helper_methods(const tsr_shape *shape, const tsr_mesh *mesh, tsr_methods *out_methods);
// An axis goes to the first dimension that it divides and that is large enough, the pair to the
// first two. Unlike eformer's, the spec always fits the shape.
TSR_MUST_USE tsr_status tsr_helper_spec(const tsr_shape *shape, const tsr_mesh *mesh,
                                        int64_t min_size, tsr_spec **out_spec);

#define TSR_ANY_SIZE (-1)
// ShapeBasedShardingRule: the spec of the first rule with the shape's rank and sizes, or the empty
// one.
typedef struct tsr_shape_rule {
  int rank;
  const int64_t *dims;  // TSR_ANY_SIZE matches all sizes
  const tsr_spec *spec;
} tsr_shape_rule;
TSR_MUST_USE tsr_status tsr_shape_rules_match(const tsr_shape_rule *rules, int64_t count,
                                              const tsr_shape *shape, tsr_spec **out_spec);

// MemoryConstrainedShardingRule: dimensions, largest first, each take the largest axis that divides
// them, until a shard has at most `limit` bytes. `*out_bytes` (may be NULL) is the size reached,
// which may be above the limit. No names: all axes of the mesh.
TSR_MUST_USE tsr_status tsr_memory_rule_spec(const tsr_shape *shape, tsr_dtype dtype,
                                             const tsr_mesh *mesh, int64_t limit,
                                             const char *const *names, int name_count,
                                             tsr_spec **out_spec, int64_t *out_bytes);

// eformer's fitting, tensor by tensor: those of `limit` bytes or more get the automatic spec, by
// default with names in mesh order. Where eformer silently leaves shards above the limit, more axes
// are added; if they do not suffice, does_not_fit names the tensor. 0 = no limit: tsr_plan_auto.
TSR_MUST_USE tsr_status tsr_plan_fit_each(const tsr_tree *tree, const tsr_mesh *mesh, int64_t limit,
                                          const char *const *names, int name_count,
                                          tsr_plan **out_plan);

void tsr_analysis_to_json(const tsr_analysis *analysis, tsr_json_writer *writer);

#endif
