// Automatic plans: specs from shapes, meshes and limits of memory, without rules; plans carried
// over to other meshes; and what a plan means for the machine.
//
//   tsr_fit_options options = TSR_FIT_OPTIONS;
//   options.limit = INT64_C(16) << 30;
//   TSR_TRY(tsr_plan_fit(tree, mesh, &options, &plan, NULL));
//
// Everything here is deterministic: what is equal is taken in the order of its index.
#ifndef TESSERA_PLAN_AUTO_H
#define TESSERA_PLAN_AUTO_H

#include "tessera/plan.h"

TSR_BEGIN_DECLS

// ---- from shapes ----

typedef struct tsr_auto_options {
  size_t size;  // sizeof(tsr_auto_options)
  // Axes to use, in this order; "a+b" is a group, used as one. None = the mesh's, largest first.
  const char *const *names;
  int name_count;
  int64_t min_size;      // tensors with fewer elements are not cut; 0 = the number of devices
  bool reverse;          // the smallest dimension chooses first
  bool stack_leftovers;  // ours: axes left over join the dimensions that they still divide
} tsr_auto_options;
#define TSR_AUTO_OPTIONS TSR_SIZED(tsr_auto_options)
// auto_partition_spec and vrn_auto_partition_spec for one shape: dimensions, largest first, each
// take the first name that divides them, unless one of its axes was taken before. Too small gives
// the empty spec, all others one entry per dimension. NULL mesh: the current one. NULL options:
// defaults.
TSR_API TSR_MUST_USE tsr_status tsr_auto_spec(const tsr_shape *shape, const tsr_mesh *mesh,
                                              const tsr_auto_options *options, tsr_spec **out_spec);
// auto_namedsharding: the same, bound to the mesh.
TSR_API TSR_MUST_USE tsr_status tsr_auto_sharding(const tsr_shape *shape, const tsr_mesh *mesh,
                                                  const tsr_auto_options *options,
                                                  tsr_sharding **out_sharding);
TSR_API TSR_MUST_USE tsr_status tsr_plan_auto(const tsr_tree *tree, const tsr_mesh *mesh,
                                              const tsr_auto_options *options, tsr_plan **out_plan);

// MeshPartitionHelper, which knows the axes dp, fsdp, tp and sp: which to try for a shape, in this
// order ("fsdp+sp" is a pair), and the spec it makes of them.
#define TSR_HELPER_MIN_SIZE 1024  // its usual min_shard_size
typedef struct tsr_methods {
  int64_t count;
  const char *items[4];
} tsr_methods;
TSR_API void tsr_helper_methods(const tsr_shape *shape, const tsr_mesh *mesh,
                                tsr_methods *out_methods);
// An axis goes to the first dimension that it divides and that has `min_size` and a share of the
// elements; the pair to the first two. Unlike eformer's, the spec always fits the shape.
TSR_API TSR_MUST_USE tsr_status tsr_helper_spec(const tsr_shape *shape, const tsr_mesh *mesh,
                                                int64_t min_size, tsr_spec **out_spec);

#define TSR_ANY_SIZE (-1)
// ShapeBasedShardingRule: the spec of the first rule with the shape's rank and sizes, or the empty
// one.
typedef struct tsr_shape_rule {
  int rank;
  const int64_t *dims;  // TSR_ANY_SIZE stands for all sizes
  const tsr_spec *spec;
} tsr_shape_rule;
TSR_API TSR_MUST_USE tsr_status tsr_shape_rules_match(const tsr_shape_rule *rules, int64_t count,
                                                      const tsr_shape *shape, tsr_spec **out_spec);

// MemoryConstrainedShardingRule: dimensions, largest first, each take the largest axis that divides
// them, until a shard has at most `limit` bytes. It may end above: `*out_bytes` (may be NULL)
// tells. No names: all axes of the mesh.
TSR_API TSR_MUST_USE tsr_status tsr_memory_rule_spec(const tsr_shape *shape, tsr_dtype dtype,
                                                     const tsr_mesh *mesh, int64_t limit,
                                                     const char *const *names, int name_count,
                                                     tsr_spec **out_spec, int64_t *out_bytes);

// ---- to fit the memory ----

// A cut tensor is gathered once per step over the axes that were added for memory's sake. That
// costs the seconds of an all-gather on the mesh's topology, or, without one, the bytes received.
typedef struct tsr_fit_options {
  size_t size;                               // sizeof(tsr_fit_options)
  int64_t limit;                             // bytes per device for all tensors; 0 = none
  double gradient_copies, optimiser_copies;  // of each tensor, in its own type; 0 = none
  const char *const *names;  // axes to use, the first ones rather; none = all of the mesh
  int name_count;
  const tsr_plan *start;  // cuts that stay, on the same tree and mesh; NULL = none
} tsr_fit_options;
#define TSR_FIT_OPTIONS TSR_SIZED(tsr_fit_options)

typedef struct tsr_fit_report {
  size_t size;               // sizeof(tsr_fit_report)
  int64_t bytes_per_device;  // with gradients and optimiser
  int64_t smallest;          // what no plan can go below
  double cost;               // seconds, or bytes without a topology
  double lower_bound;        // no plan that fits costs less
  bool optimal;              // proved: none costs less by more than a millionth
} tsr_fit_report;
#define TSR_FIT_REPORT TSR_SIZED(tsr_fit_report)

// optimize_sharding_for_memory: the plan that fits `limit` bytes on every device, gradients and
// optimiser included, at the least cost. Tensors of one layer pattern are cut alike, and sizes
// always divide. Fails with does_not_fit, naming the smallest size possible. Without a limit:
// tsr_plan_auto. The least cost is found by branch and bound; where a model is too varied for that,
// the plan is the best of a greedy search and `lower_bound` tells how good. `out_report` may be
// NULL.
TSR_API TSR_MUST_USE tsr_status tsr_plan_fit(const tsr_tree *tree, const tsr_mesh *mesh,
                                             const tsr_fit_options *options, tsr_plan **out_plan,
                                             tsr_fit_report *out_report);
// eformer's own behaviour, tensor by tensor: those of `limit` bytes or more get the automatic spec,
// by default with names in mesh order. Where eformer leaves shards above the limit in silence, more
// axes join, and if that does not help, does_not_fit names the tensor. 0 = no limit: tsr_plan_auto.
TSR_API TSR_MUST_USE tsr_status tsr_plan_fit_each(const tsr_tree *tree, const tsr_mesh *mesh,
                                                  int64_t limit, const char *const *names,
                                                  int name_count, tsr_plan **out_plan);

// ---- to another mesh ----

// convert_sharding_strategy. An axis passes its role on: to the axis of the same name; else to one
// of the same role (dp, data; fsdp, zero; tp, model; sp, seq; ep, expert; pp, stage); else to one
// of the same size; else it shares one of its family (data or model). Where that cuts a dimension
// in fewer shards than before, axes without a predecessor come to help, as close to the old number
// as they get. What was not cut stays so, and sizes always divide. Notes tell each choice. Tensors
// that go with others (tsr_plan_companions) in the plan do so in the new one.
// `strategy` is "preserve_balance" (NULL too); others fail with unknown_strategy.
TSR_API TSR_MUST_USE tsr_status tsr_plan_convert(const tsr_plan *plan, const tsr_mesh *mesh,
                                                 const char *strategy, tsr_plan **out_plan);

// ---- what a plan means ----

typedef struct tsr_axis_stats {
  const char *axis;
  int64_t tensors, bytes;  // that it cuts
  int64_t gathered_bytes;  // that a device receives over it in a step, if the axis is fsdp-like
} tsr_axis_stats;
typedef struct tsr_spec_stats {
  const tsr_spec *spec;
  int64_t tensors, elements, bytes;
} tsr_spec_stats;
typedef struct tsr_analysis {
  size_t size;                                               // sizeof(tsr_analysis)
  int64_t tensors, elements, bytes;                          // of the model
  int64_t sharded_tensors, sharded_elements, sharded_bytes;  // cut in more than one shard
  int64_t device_min, device_max;                            // bytes on a device, padding too
  double device_mean;
  double balance;          // device_mean / device_max; 1 = even, and when there is nothing
  double replication;      // bytes on all devices / bytes of the model; 1 when there is nothing
  double wasted_bytes;     // on all devices beyond one copy of the model: copies and padding
  int64_t gathered_bytes;  // that a device receives per step over fsdp-like axes
  double gather_seconds;   // of that by the link model; 0 without a topology
  int axis_count;
  int64_t spec_count;
  tsr_axis_stats *axes;   // owned, in mesh order
  tsr_spec_stats *specs;  // owned, most bytes first
  const tsr_plan *plan;   // owned: what the names and specs belong to
} tsr_analysis;
#define TSR_ANALYSIS TSR_SIZED(tsr_analysis)
// analyze_sharding_strategy, and ShardingAnalyzer.estimate_memory_usage (bytes and device_max),
// every field exact. `fsdp_axes` are those whose shards are gathered for use, once per step, the
// outermost first; NULL = those called fsdp, zero, dp or data. Devices are looked at one by one
// only where shards differ in size, once for each such spec, shape and type. Fails without a mesh.
TSR_API TSR_MUST_USE tsr_status tsr_plan_analyze(const tsr_plan *plan, const char *const *fsdp_axes,
                                                 int fsdp_axis_count, tsr_analysis *out_analysis);
TSR_API void tsr_analysis_to_json(const tsr_analysis *analysis, tsr_json_writer *writer);
TSR_API void tsr_analysis_deinit(tsr_analysis *analysis);

TSR_END_DECLS

#endif
