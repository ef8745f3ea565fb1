// Semantic axes: what a dimension means in a transformer (batch, query length, heads), resolved to
// mesh axes by mode, training or decoding. eformer's PartitionAxis and PartitionManager.
//
//   tsr_axes *axes = NULL;  // tensor parallelism over "mdl", which the heads follow
//   const tsr_field_value tp = {.field = TSR_FIELD_TENSOR_PARALLEL,
//                               .entry = TSR_LOGICAL_NAME("mdl")};
//   TSR_TRY(tsr_axes_create(&tp, 1, &axes));
//   tsr_logical_entry names[] = {TSR_LOGICAL_NAME("__BATCH__"), TSR_LOGICAL_NAME("__HEAD__")};
//   tsr_spec *spec = NULL;  // fsdp+dp, mdl
//   TSR_TRY(tsr_axes_resolve_spec(axes, NULL, &(tsr_logical_names){2, names, NULL}, TSR_MODE_TRAIN,
//                                 &spec));
#ifndef TESSERA_COMPAT_EFORMER_AXES_H
#define TESSERA_COMPAT_EFORMER_AXES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/compat/scope.h"
#include "tessera/logical.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- fields ----

// TSR_FIELD_BATCH and so on, from tessera/axes.def.
#define TSR_FIELD_ROW(id, ...) TSR_FIELD_##id,
typedef enum tsr_axis_field {
#include "tessera/axes.def"
  TSR_FIELD_COUNT,
  TSR_FIELD_NONE = -1
} tsr_axis_field;
#undef TSR_FIELD_ROW

// A value for a field: nothing, a mesh axis, or a group of mesh axes. `not_given` removes the
// value, and the field follows its default again.
typedef struct tsr_field_value {
  tsr_axis_field field;
  tsr_logical_entry entry;
  bool not_given;
} tsr_field_value;

typedef struct tsr_axes tsr_axes;  // immutable, shared by any threads

// Fields that are not given follow the others (head_axis follows tensor_parallel_axis, ...).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_axes_create(const tsr_field_value *values, int64_t count, tsr_axes **out_axes);
// The same with these fields replaced; fields that were never given follow the new values.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_axes_replace(const tsr_axes *axes, const tsr_field_value *values, int64_t count,
                     tsr_axes **out_axes);
TSR_API TSR_NONNULL tsr_axes *tsr_axes_retain(const tsr_axes *axes);
TSR_API void tsr_axes_release(const tsr_axes *axes);  // NULL is fine
// hash_fn, of the values of all fields, given or not: the same on every machine.
TSR_API TSR_NONNULL uint64_t tsr_axes_hash(const tsr_axes *axes);

// ---- modes ----

// Decode and insert are the generation modes, which use the decode_ fields; prefill is like train.
#define TSR_MODES(X)              \
  X(TRAIN, "__train__")           \
  X(PREFILL, "__prefill__")       \
  X(DECODE, "__autoregressive__") \
  X(INSERT, "__insert__")
#define TSR_ENUMERATOR_(id, name) TSR_MODE_##id,
typedef enum tsr_mode { TSR_MODES(TSR_ENUMERATOR_) TSR_MODE_COUNT } tsr_mode;
#undef TSR_ENUMERATOR_
// The mode of a name such as "__train__".
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mode_parse(const char *name, tsr_mode *out_mode);

// ---- further semantic names ----

// Names besides the tokens, and other meanings for tokens. eformer has one registry per process;
// here each call that resolves takes one. Threads may share it while none changes it.
typedef struct tsr_axis_registry tsr_axis_registry;
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status
tsr_axis_registry_create(tsr_axis_registry **out_registry);
TSR_API void tsr_axis_registry_destroy(tsr_axis_registry *registry);  // NULL is fine
// `rule` and `generation_rule` are field names, tokens, names in the registry, mesh axes, or groups
// of these. A NULL generation rule follows from the rule: a field with a decode_ twin uses the
// twin. An existing name is an error unless `override`. Blanks around the name are ignored.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3) tsr_status
    tsr_axis_registry_add(tsr_axis_registry *registry, const char *name,
                          const tsr_logical_entry *rule, const tsr_logical_entry *generation_rule,
                          bool override);

// ---- resolving ----

// PartitionAxis.resolve_spec: the spec of these names. A name must be a token, a name of the
// registry (NULL = none), or "_" for nothing; members of a group may also be names of fields or
// mesh axes. In a generation mode, a token with a decode_ twin uses the twin, unless the twin is
// nothing (an empty group there means: not cut when decoding). Nested groups become one group
// without empty entries.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3, 5) tsr_status
    tsr_axes_resolve_spec(const tsr_axes *axes, const tsr_axis_registry *registry,
                          const tsr_logical_names *names, tsr_mode mode, tsr_spec **out_spec);

// Where a mode comes from: not given, fixed, or by a dimension, whose size is 1 when decoding.
typedef enum tsr_mode_kind { TSR_MODE_NOT_GIVEN, TSR_MODE_FIXED, TSR_MODE_BY_DIM } tsr_mode_kind;
typedef struct tsr_mode_source {
  tsr_mode_kind kind;
  tsr_mode mode;  // when fixed
  int64_t dim;    // when by dimension; may be negative
} tsr_mode_source;

// DynamicShardingAxes: names and where their mode comes from.
typedef struct tsr_dynamic_axes {
  const char *name;  // "HiddenStateSharding"; NULL for the caller's own
  int count;
  const tsr_logical_entry *entries;
  tsr_mode_source mode;
} tsr_dynamic_axes;
TSR_API TSR_NONNULL const tsr_dynamic_axes *tsr_dynamic_axes_find(
    const char *name);  // NULL if there is none

// Arguments of PartitionManager.resolve. If names or mode are missing, both come from `dynamic`.
typedef struct tsr_axes_request {
  size_t size;                     // sizeof(tsr_axes_request)
  const tsr_logical_names *names;  // NULL = not given
  tsr_mode_source mode;
  const tsr_dynamic_axes *dynamic;  // NULL = not given
  const tsr_shape *shape;           // needed for a mode by dimension
} tsr_axes_request;
#define TSR_AXES_REQUEST TSR_SIZED(tsr_axes_request)
// PartitionManager.resolve.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3, 4) tsr_status
    tsr_axes_resolve_request(const tsr_axes *axes, const tsr_axis_registry *registry,
                             const tsr_axes_request *request, tsr_spec **out_spec);

// ---- the axes in scope ----

// PartitionManager as a context; leave with tsr_scope_leave. NULL = the default axes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) tsr_status
    tsr_axes_enter(const tsr_axes *axes, tsr_scope *out_scope);

// ---- rules ----

// eformer's mini-language: "attention|mlp->data,hidden->model.None". ',' separates rules, '|'
// alternatives, '.' dimensions, '+' the axes of a group; nothing is `None`, `_` or empty. Blanks
// around them are ignored. Separators inside brackets or after a backslash belong to the pattern.
// Each alternative becomes a rule.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_rules_from_pattern(const char *pattern,
                                                                   tsr_rules **out_rules);

TSR_END_DECLS

#endif
