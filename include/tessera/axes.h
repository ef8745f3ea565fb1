// Semantic axes: what a dimension means in a transformer (batch, query length, heads), resolved to
// mesh axes by mode, training or decoding. eformer's PartitionAxis and PartitionManager.
//
//   tsr_axes *axes = NULL;  // tensor parallelism over "mdl", which the heads follow
//   tsr_field_value tp = {TSR_FIELD_TENSOR_PARALLEL, TSR_LOGICAL_NAME("mdl")};
//   TSR_TRY(tsr_axes_create(&tp, 1, &axes));
//   tsr_logical_entry names[] = {TSR_LOGICAL_NAME("__BATCH__"), TSR_LOGICAL_NAME("__HEAD__")};
//   tsr_spec *spec = NULL;  // fsdp+dp, mdl
//   TSR_TRY(tsr_axes_resolve_spec(axes, NULL, &(tsr_logical_names){2, names, NULL}, TSR_MODE_TRAIN,
//                                 &spec));
#ifndef TESSERA_AXES_H
#define TESSERA_AXES_H

#include "tessera/json.h"
#include "tessera/logical.h"
#include "tessera/scope.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

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

TSR_API const char *tsr_field_name(tsr_axis_field field);   // "batch_axis"
TSR_API const char *tsr_field_token(tsr_axis_field field);  // "__BATCH__"; NULL if it has none
TSR_API tsr_axis_field tsr_field_find(const char *name);    // by name; TSR_FIELD_NONE if unknown
TSR_API tsr_axis_field tsr_field_find_token(const char *token);  // by token

// A value for a field: nothing, a mesh axis, or a group of them; or `not_given`, which takes a
// given value back, so that the field follows its default again.
typedef struct tsr_field_value {
  tsr_axis_field field;
  tsr_logical_entry entry;
  bool not_given;
} tsr_field_value;

typedef struct tsr_axes tsr_axes;  // immutable, shared by any threads

// Fields that are not given follow the others (head_axis follows tensor_parallel_axis, ...).
TSR_API TSR_MUST_USE tsr_status tsr_axes_create(const tsr_field_value *values, int64_t count,
                                                tsr_axes **out_axes);
// {"tensor_parallel_axis": "mdl", "batch_axis": ["dp", "fsdp"], "head_axis": null}; null or NULL =
// all defaults.
TSR_API TSR_MUST_USE tsr_status tsr_axes_from_json(const tsr_json *value, tsr_axes **out_axes);
// All fields with their values, or only those that were given, which read back as the same axes.
TSR_API void tsr_axes_to_json(const tsr_axes *axes, tsr_json_writer *writer);
TSR_API void tsr_axes_given_to_json(const tsr_axes *axes, tsr_json_writer *writer);
// A line for each field: its name, its value, and what it follows.
TSR_API void tsr_axes_print(const tsr_axes *axes, tsr_text *out);
// The same with these fields replaced; fields that were never given follow the new values.
TSR_API TSR_MUST_USE tsr_status tsr_axes_replace(const tsr_axes *axes,
                                                 const tsr_field_value *values, int64_t count,
                                                 tsr_axes **out_axes);
TSR_API TSR_MUST_USE tsr_status tsr_axes_replace_json(const tsr_axes *axes, const tsr_json *value,
                                                      tsr_axes **out_axes);
TSR_API tsr_axes *tsr_axes_retain(const tsr_axes *axes);
TSR_API void tsr_axes_release(const tsr_axes *axes);  // NULL is fine
// By the values of all fields, given or not. The hash is the same in every process and on every
// machine.
TSR_API bool tsr_axes_equal(const tsr_axes *a, const tsr_axes *b);
TSR_API uint64_t tsr_axes_hash(const tsr_axes *axes);
TSR_API const tsr_logical_entry *tsr_axes_at(const tsr_axes *axes, tsr_axis_field field);
TSR_API bool tsr_axes_is_given(const tsr_axes *axes, tsr_axis_field field);

// ---- modes ----

// Decode and insert are the generation modes, in which decode_ fields count; prefill is like train.
#define TSR_MODES(X)              \
  X(TRAIN, "__train__")           \
  X(PREFILL, "__prefill__")       \
  X(DECODE, "__autoregressive__") \
  X(INSERT, "__insert__")
#define TSR_ENUMERATOR_(id, name) TSR_MODE_##id,
typedef enum tsr_mode { TSR_MODES(TSR_ENUMERATOR_) TSR_MODE_COUNT } tsr_mode;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_mode_name(tsr_mode mode);  // "__train__"
TSR_API TSR_MUST_USE tsr_status tsr_mode_parse(const char *name, tsr_mode *out_mode);

// ---- further semantic names ----

// Names beside the tokens, and other meanings for tokens. eformer has one for the whole process;
// here it is given to each call that resolves. Any threads may resolve by it while none changes it.
typedef struct tsr_axis_registry tsr_axis_registry;
TSR_API TSR_MUST_USE tsr_status tsr_axis_registry_create(tsr_axis_registry **out_registry);
TSR_API void tsr_axis_registry_destroy(tsr_axis_registry *registry);  // NULL is fine
// `rule` and `generation_rule` are field names, tokens, names in the registry, mesh axes, or groups
// of these. A NULL generation rule is found from the rule: a field with a decode_ twin has that
// one. A name that exists is refused unless `override`. Blanks around the name do not count.
TSR_API TSR_MUST_USE tsr_status tsr_axis_registry_add(tsr_axis_registry *registry, const char *name,
                                                      const tsr_logical_entry *rule,
                                                      const tsr_logical_entry *generation_rule,
                                                      bool override);
TSR_API TSR_MUST_USE tsr_status tsr_axis_registry_remove(tsr_axis_registry *registry,
                                                         const char *name, bool missing_ok);
TSR_API void tsr_axis_registry_clear(tsr_axis_registry *registry);
// get_registered_axes: the names in the order they came; NULL after the last. The generation rule
// is NULL where there is none.
typedef struct tsr_registered_axis {
  const char *name;
  const tsr_logical_entry *rule, *generation_rule;
} tsr_registered_axis;
TSR_API int64_t tsr_axis_registry_count(const tsr_axis_registry *registry);
TSR_API tsr_registered_axis tsr_axis_registry_at(const tsr_axis_registry *registry, int64_t index);

// ---- resolving ----

// PartitionAxis.resolve_axis: what each dimension is cut by. A name must be a token, a name of the
// registry (may be NULL), or "_" for nothing; members of a group may also be names of fields or
// mesh axes. A token with a decode_ twin takes it in a generation mode, unless the twin is nothing
// (an empty group there means: not cut when decoding). Groups within groups become one, and what is
// nothing leaves its group.
TSR_API TSR_MUST_USE tsr_status tsr_axes_resolve(const tsr_axes *axes,
                                                 const tsr_axis_registry *registry,
                                                 const tsr_logical_names *names, tsr_mode mode,
                                                 tsr_logical_names *out_entries);
// resolve_spec: the same as a spec.
TSR_API TSR_MUST_USE tsr_status tsr_axes_resolve_spec(const tsr_axes *axes,
                                                      const tsr_axis_registry *registry,
                                                      const tsr_logical_names *names, tsr_mode mode,
                                                      tsr_spec **out_spec);

// Where a mode comes from: it is not given, fixed, or told by a dimension, which is 1 when
// decoding.
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
TSR_API const tsr_dynamic_axes *tsr_dynamic_axes_find(const char *name);  // NULL if there is none
TSR_API const tsr_dynamic_axes *tsr_dynamic_axes_at(int64_t index);       // NULL after the last

// What PartitionManager.resolve is asked for. Names with a mode; where either is missing, both come
// from `dynamic`.
typedef struct tsr_axes_request {
  size_t size;                     // sizeof(tsr_axes_request)
  const tsr_logical_names *names;  // NULL = not given
  tsr_mode_source mode;
  const tsr_dynamic_axes *dynamic;  // NULL = not given
  const tsr_shape *shape;           // wanted when the mode is told by a dimension
} tsr_axes_request;
#define TSR_AXES_REQUEST TSR_SIZED(tsr_axes_request)
TSR_API TSR_MUST_USE tsr_status tsr_axes_resolve_request(const tsr_axes *axes,
                                                         const tsr_axis_registry *registry,
                                                         const tsr_axes_request *request,
                                                         tsr_spec **out_spec);
// The spec side of PartitionManager.shard and apply_logical_sharding: resolves, then corrects for
// the shape and mesh (NULL = the current one). The spec is NULL where the array is left alone: no
// names at all, or no mesh, which fails if `auto_correct`; the empty spec replicates. NULL axes =
// the current ones. `out_wanted`, the spec before correction, to which the names in `out_changes`
// belong, and `out_changes` may both be NULL.
TSR_API TSR_MUST_USE tsr_status tsr_axes_shard(const tsr_axes *axes,
                                               const tsr_axis_registry *registry,
                                               const tsr_axes_request *request,
                                               const tsr_mesh *mesh, bool auto_correct,
                                               tsr_spec **out_spec, tsr_spec **out_wanted,
                                               tsr_changes *out_changes);

// ---- the axes in scope ----

// PartitionManager as a context; leave with tsr_scope_leave. NULL is as outside every scope.
TSR_API TSR_MUST_USE tsr_status tsr_axes_enter(const tsr_axes *axes, tsr_scope *out_scope);
// Those of this thread where no scope is entered: the manager created last. NULL = none.
TSR_API TSR_MUST_USE tsr_status tsr_axes_set_default(const tsr_axes *axes);
TSR_API const tsr_axes *tsr_axes_current(void);  // innermost, else the default; NULL = none
TSR_API TSR_MUST_USE tsr_status tsr_axes_require(const tsr_axes **out_axes);

TSR_END_DECLS

#endif
