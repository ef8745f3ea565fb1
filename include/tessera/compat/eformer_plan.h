// eformer's automatic specs and tools for plans: specs from shapes without rules, plans converted
// to other meshes, and the cost of a plan. For whole models: tsr_plan_auto and tsr_plan_fit of
// tessera/plan.h.
//
//   tsr_analysis analysis = TSR_ANALYSIS;
//   TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &analysis));
//   printf("%lld bytes on a device at most\n", (long long)analysis.device_max);
//   tsr_analysis_deinit(&analysis);
//
// Everything here is deterministic: equal candidates are taken by index.
#ifndef TESSERA_COMPAT_EFORMER_PLAN_H
#define TESSERA_COMPAT_EFORMER_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- specs ----

// auto_partition_spec and vrn_auto_partition_spec for one shape: dimensions, largest first, each
// take the first name that divides them and whose axes are unused. A shape that is too small gives
// the empty spec, others one entry per dimension. NULL mesh: the current one. NULL options:
// defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_auto_spec(const tsr_shape *shape, const tsr_mesh *mesh, const tsr_auto_options *options,
                  tsr_spec **out_spec);

// ---- to another mesh ----

// convert_sharding_strategy. The successor of an axis is the axis of the same name; else one of the
// same role (dp, data; fsdp, zero; tp, model; sp, seq; ep, expert; pp, stage); else one of the same
// size; else it shares one of its family (data or model). If a dimension then has fewer shards than
// before, axes that succeed none are added, to come as close to the old number as possible. Uncut
// dimensions stay uncut, and sizes always divide. Notes record each choice. Companions
// (docs/companions.md) stay companions. NULL mesh: the current one. `strategy` is
// "preserve_balance" (or NULL); others fail with unknown_strategy.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_convert(const tsr_plan *plan, const tsr_mesh *mesh, const char *strategy,
                     tsr_plan **out_plan);

// ---- the cost of a plan ----

typedef struct tsr_axis_stats {
  const char *axis;
  int64_t tensors, bytes;  // that it cuts
  int64_t gathered_bytes;  // received by a device over it in a step, if the axis is fsdp-like
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
  double balance;          // device_mean / device_max; 1 = even or empty
  double replication;      // bytes on all devices / bytes of the model; 1 if empty
  double wasted_bytes;     // replicas and padding on all devices
  int64_t gathered_bytes;  // received by a device per step over fsdp-like axes
  double gather_seconds;   // for them, by the link model; 0 without a topology
  int axis_count;
  int64_t spec_count;
  tsr_axis_stats *axes;   // owned, in mesh order
  tsr_spec_stats *specs;  // owned, most bytes first
  const tsr_plan *plan;   // retained: owns the names and specs
} tsr_analysis;
#define TSR_ANALYSIS TSR_SIZED(tsr_analysis)
// analyze_sharding_strategy, and ShardingAnalyzer.estimate_memory_usage (bytes and device_max),
// all exact. `fsdp_axes` are the axes whose shards are gathered once per step, outermost first;
// NULL = those named fsdp, zero, dp or data. Devices are counted one by one only where shards
// differ in size. Fails without a mesh.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_analyze(const tsr_plan *plan, const char *const *fsdp_axes, int fsdp_axis_count,
                     tsr_analysis *out_analysis);
TSR_API void tsr_analysis_deinit(tsr_analysis *analysis);

TSR_END_DECLS

#endif
