// eformer's PartitionManager: the spec of an array, by names and mode or by a predefined list that
// has a mode (DynamicShardingAxes); and the current axes of a thread.
#include <string.h>

#include "base/scope.h"
#include "base/sized.h"
#include "base/suggest.h"
#include "mesh/mesh_internal.h"
#include "rules/axes_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/scope.h"
#include "tessera/shape.h"

// ---- requests ----

// The mode of a source, which must be given.
static tsr_status find_mode(const tsr_mode_source *source, const tsr_shape *shape,
                            tsr_mode *out_mode) {
  if (source->kind == TSR_MODE_FIXED) {
    *out_mode = source->mode;
    return NULL;
  }
  if (source->kind != TSR_MODE_BY_DIM)
    return tsr_fail(BAD_ARGUMENT, "a mode of kind %d, wanted one of tsr_mode_kind",
                    (int)source->kind);
  if (!shape)
    return tsr_fail(SHAPE_MISSING_FOR_DYNAMIC_MODE,
                    "the mode depends on dimension %lld, but no shape is given",
                    (long long)source->dim);
  const int64_t dim = source->dim < 0 ? source->dim + shape->rank : source->dim;
  if (dim < 0 || dim >= shape->rank)
    return tsr_fail(INDEX_OUT_OF_RANGE, "the mode depends on dimension %lld of a tensor of rank %d",
                    (long long)source->dim, shape->rank);
  *out_mode = shape->dims[dim] == 1 ? TSR_MODE_DECODE : TSR_MODE_TRAIN;
  return NULL;
}

tsr_status tsr_axes_resolve_request(const tsr_axes *axes, const tsr_axis_registry *registry,
                                    const tsr_axes_request *given, tsr_spec **out_spec) {
  tsr_mode mode = TSR_MODE_TRAIN;
  tsr_axes_request request;
  TSR_TRY(tsr_sized_read(tsr_axes_request, given, &request));
  if (!axes) TSR_TRY(tsr_axes_require(&axes));
  if (request.names && request.mode.kind != TSR_MODE_NOT_GIVEN) {
    TSR_TRY(find_mode(&request.mode, request.shape, &mode));
    return tsr_axes_resolve_spec(axes, registry, request.names, mode, out_spec);
  }
  const tsr_dynamic_axes *dynamic = request.dynamic;
  if (!dynamic || dynamic->mode.kind == TSR_MODE_NOT_GIVEN)
    return tsr_fail(AXES_OR_MODE_MISSING, "%s missing, wanted both or dynamic axes",
                    request.names                             ? "the mode is"
                    : request.mode.kind == TSR_MODE_NOT_GIVEN ? "axes and mode are"
                                                              : "the axes are");
  TSR_TRY(find_mode(&dynamic->mode, request.shape, &mode));
  const tsr_logical_names names = {dynamic->count, dynamic->entries, NULL};
  return tsr_axes_resolve_spec(axes, registry, &names, mode, out_spec);
}

// ---- the axes in scope ----

static void release(void *axes) { tsr_axes_release(axes); }

tsr_status tsr_axes_enter(const tsr_axes *axes, tsr_scope *out_scope) {
  tsr_axes *held = tsr_axes_retain(axes);
  const tsr_status status = tsr_scope_enter(TSR_SCOPE_AXES, held, release, out_scope);
  if (status) tsr_axes_release(held);
  return status;
}

const tsr_axes *tsr_axes_current(void) { return tsr_scope_current(TSR_SCOPE_AXES); }

tsr_status tsr_axes_require(const tsr_axes **out_axes) {
  const tsr_axes *axes = tsr_axes_current();
  if (!axes)
    return tsr_fail(NO_AXES_ACTIVE, "no semantic axes are active; enter some with tsr_axes_enter");
  *out_axes = axes;
  return NULL;
}

// ---- modes ----

#define X(id, name) [TSR_MODE_##id] = name,
static const char *const mode_names[TSR_MODE_COUNT] = {TSR_MODES(X)};
#undef X

const char *tsr_mode_name(tsr_mode mode) {
  return (unsigned)mode < TSR_MODE_COUNT ? mode_names[mode] : NULL;
}

tsr_status tsr_mode_parse(const char *name, tsr_mode *out_mode) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < TSR_MODE_COUNT; i++) {
    if (!strcmp(name, mode_names[i])) {
      *out_mode = (tsr_mode)i;
      return NULL;
    }
    tsr_suggestion_offer(&near, mode_names[i]);
  }
  return tsr_fail(UNKNOWN_MODE, "there is no mode \"%s\"" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

// ---- lists ----

// Entries of static tables, where the compound literals of TSR_LOGICAL_NAME are not constant.
#define NAME(name)                                    \
  {                                                   \
    TSR_ENTRY_NAME, 1, (const char *const[]) { name } \
  }
#define GROUP(...)                                                                       \
  {                                                                                      \
    TSR_ENTRY_GROUP, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), \
        (const char *const[]) {                                                          \
      __VA_ARGS__                                                                        \
    }                                                                                    \
  }
#define DP NAME("__DATA_PARALLEL__")
#define FSDP NAME("__FULLY_SHARDED_DATA_PARALLEL__")
#define TP NAME("__TENSOR_PARALLEL__")
#define SP NAME("__SEQUENCE_PARALLEL__")
#define EP NAME("__EXPERT_PARALLEL__")
#define FSDP_SP GROUP("__FULLY_SHARDED_DATA_PARALLEL__", "__SEQUENCE_PARALLEL__")
#define TP_FSDP GROUP("__TENSOR_PARALLEL__", "__FULLY_SHARDED_DATA_PARALLEL__")
#define FSDP_SP_EP \
  GROUP("__FULLY_SHARDED_DATA_PARALLEL__", "__SEQUENCE_PARALLEL__", "__EXPERT_PARALLEL__")
#define EMPTY NAME("_")

#define LIST(name, source, ...)                                                                \
  {                                                                                            \
    name, (int)(sizeof((const tsr_logical_entry[]){__VA_ARGS__}) / sizeof(tsr_logical_entry)), \
        (const tsr_logical_entry[]){__VA_ARGS__}, source                                       \
  }
#define TRAIN \
  { TSR_MODE_FIXED, TSR_MODE_TRAIN, 0 }
#define BY_LENGTH \
  { TSR_MODE_BY_DIM, TSR_MODE_TRAIN, 1 }

static const tsr_dynamic_axes lists[] = {
    LIST("HiddenStateSharding", BY_LENGTH, NAME("__BATCH__"), NAME("__QUERY_LENGTH__"),
         NAME("__EMBED__")),
    LIST("AttnQSharding", BY_LENGTH, NAME("__BATCH__"), NAME("__QUERY_LENGTH__"), NAME("__HEAD__"),
         NAME("__HEAD_DIM__")),
    LIST("AttnKVSharding", BY_LENGTH, NAME("__BATCH__"), NAME("__KV_LENGTH__"), NAME("__KV_HEAD__"),
         NAME("__KV_HEAD_DIM__")),
    LIST("RowWise", TRAIN, TP, FSDP_SP),
    LIST("SRowWise", TRAIN, TP),
    LIST("ColumnWise", TRAIN, FSDP_SP, TP),
    LIST("SColumnWise", TRAIN, FSDP_SP),
    LIST("Replicated", TRAIN, EMPTY),
    LIST("ExpertColumnWise", TRAIN, EP, FSDP, TP),
    LIST("ExpertRowWise", TRAIN, EP, TP, FSDP),
    LIST("ExpertColumnWiseAlt", TRAIN, EP, FSDP_SP, TP),
    LIST("ExpertRowWiseAlt", TRAIN, EP, TP, FSDP_SP),
    LIST("UnifiedExpertColumnWise", TRAIN, FSDP_SP_EP, EMPTY, TP),
    LIST("UnifiedExpertRowWise", TRAIN, FSDP_SP_EP, TP, EMPTY),
    LIST("ExpertActivations", TRAIN, DP, SP, EP, TP),
    LIST("ExpertActivationsAlt", TRAIN, DP, SP, TP_FSDP),
    LIST("ExpertTensorParallel", TRAIN, TP, EMPTY, EMPTY),
};

const tsr_dynamic_axes *tsr_dynamic_axes_at(int64_t index) {
  const int count = sizeof lists / sizeof *lists;
  return index >= 0 && index < count ? &lists[index] : NULL;
}

const tsr_dynamic_axes *tsr_dynamic_axes_find(const char *name) {
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (!strcmp(lists[i].name, name)) return &lists[i];
  return NULL;
}
