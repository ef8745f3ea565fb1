// The golden runner: recorded answers of other libraries, replayed through ours.
//
// A file of cases has a schema (told by its content), a case has a function, and a function has a
// handler: a C function that reads the case's arguments, calls the library and writes the answer as
// JSON. The runner compares. See README.md.
#ifndef TESSERA_TESTS_GOLDEN_GOLDEN_H
#define TESSERA_TESTS_GOLDEN_GOLDEN_H

#include "base/arena.h"
#include "json/json.h"
#include "tessera/compat/scope.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/tessera.h"

// One per schema of golden file: id, name.
#define GOLDEN_SCHEMAS(X)       \
  X(EFORMER, eformer)           \
  X(FLAX, flax)                 \
  X(JAX_MESH, jax_mesh)         \
  X(JAX_SHARDING, jax_sharding) \
  X(NUMPY, numpy)               \
  X(T5X, t5x)                   \
  X(TORCH, torch)
#define X(id, name) GOLDEN_##id,
typedef enum golden_schema { GOLDEN_SCHEMAS(X) GOLDEN_SCHEMA_COUNT } golden_schema;
#undef X

typedef struct golden_case {
  golden_schema schema;
  const tsr_json *json;      // the whole case
  const tsr_json *input;     // its arguments: "input" or "args"
  const tsr_json *machines;  // the file's table of machines; NULL = none
  tsr_arena *arena;          // memory that lasts as long as the case
} golden_case;

// Where a handler writes: the answer itself, and members of an object of things recorded beside it.
typedef struct golden_answer {
  tsr_json_writer *out;
  tsr_json_writer *beside;
} golden_answer;

typedef tsr_status golden_handler(const golden_case *c, const golden_answer *answer);

typedef struct golden_function {
  const char *name;
  golden_handler *run;
  const char *beside[4];  // fields of the case that are compared too
} golden_function;

// The functions of each schema that have a handler, up to one without a name.
#define X(id, name) extern const golden_function golden_##name##_functions[];
GOLDEN_SCHEMAS(X)
#undef X

// Handlers of eformer's that have files of their own.
golden_handler golden_match_partition_rules, golden_create_pattern_based_partition_spec;
golden_handler golden_auto_partition_spec, golden_auto_sharding_rule;
golden_handler golden_optimize_sharding_for_memory, golden_memory_constrained_rule;
golden_handler golden_helper_suggest_methods, golden_helper_create_partition_spec;
golden_handler golden_shape_based_rule;
golden_handler golden_analyze_sharding_strategy, golden_estimate_memory_usage;
golden_handler golden_convert_sharding_strategy;
golden_handler golden_validate_sharding_config, golden_validate_partition_specs;
golden_handler golden_with_sharding_constraint, golden_with_sharding_constraint_tree;
golden_handler golden_make_shard_and_gather_fns, golden_extract_sharding_structure;
golden_handler golden_extract_shardings, golden_get_partition_spec, golden_auto_shard_array;
golden_handler golden_partition_axis, golden_partition_axis_hash_equal, golden_resolve_axis,
    golden_resolve_spec, golden_dynamic_sharding_axes, golden_manager_resolve, golden_manager_shard;

// Handlers of t5x's that have files of their own, and what they share.
golden_handler golden_local_chunker, golden_data_layout, golden_partitioner_rules;
// "model_parallel_submesh" of an object.
TSR_MUST_USE tsr_status golden_read_submesh(const golden_case *c, const tsr_json *object,
                                            tsr_hardware_mesh *out);
void golden_write_process_key(tsr_json_writer *out, int64_t process);

// JAX's, likewise.
golden_handler golden_device_put;

// ---- the runner's own ----

bool golden_equal(const tsr_json *a, const tsr_json *b);
// Whether the case passes; unless `quiet`, a line is printed if it does not.
bool golden_run_case(const golden_case *c, const golden_function *function, bool quiet);
// In a block to free(); NULL when the value is not a string.
char *golden_copy_string(const tsr_json *value);

// ---- reading arguments: `what` is the name of a member of the input ----

static inline const tsr_json *golden_get(const golden_case *c, const char *what) {
  return tsr_json_find(c->input, what);
}
// Absent and null alike.
bool golden_is_null(const tsr_json *value);

typedef struct golden_ints {
  int count;
  int64_t *items;
} golden_ints;
typedef struct golden_names {
  int count;
  const char **items;
} golden_names;

TSR_MUST_USE tsr_status golden_read_ints(const golden_case *c, const tsr_json *value,
                                         const char *what, golden_ints *out);
TSR_MUST_USE tsr_status golden_read_names(const golden_case *c, const tsr_json *value,
                                          const char *what, golden_names *out);
// A string ended by '\0'.
TSR_MUST_USE tsr_status golden_read_string(const golden_case *c, const tsr_json *value,
                                           const char *what, const char **out);
TSR_MUST_USE tsr_status golden_int(const golden_case *c, const char *what, int64_t *out);
TSR_MUST_USE tsr_status golden_bool(const golden_case *c, const char *what, bool *out);
TSR_MUST_USE tsr_status golden_list(const golden_case *c, const char *what, golden_ints *out);
TSR_MUST_USE tsr_status golden_shape(const golden_case *c, const char *what, tsr_shape *out);
// {"names", "sizes"} and optional "ids", "types", "devices_per_process"; to be released.
TSR_MUST_USE tsr_status golden_read_mesh(const golden_case *c, const tsr_json *value,
                                         tsr_mesh **out);
// The arrays of eformer's "leaves" as a tree.
TSR_MUST_USE tsr_status golden_read_tree(const golden_case *c, tsr_tree **out);
// A nested tree of specs, one for each tensor: `out_specs` has a place for each, with a reference
// for the caller to release, also after a failure. Fails with tree_mismatch when they do not agree.
TSR_MUST_USE tsr_status golden_read_spec_tree(const golden_case *c, const tsr_json *value,
                                              const tsr_tree *tree, const tsr_spec **out_specs);
// A plan of the case's tree, mesh and specs, all owned. Release it also after a failure.
typedef struct golden_plan {
  tsr_tree *tree;
  tsr_mesh *mesh;
  const tsr_spec **specs;  // in the case's arena, with a reference each
  tsr_plan *plan;
} golden_plan;
TSR_MUST_USE tsr_status golden_read_plan(const golden_case *c, golden_plan *out);
void golden_release_plan(golden_plan *plan);
// "names", "min_sharding_size" and "reverse" of auto_partition_spec and its like.
TSR_MUST_USE tsr_status golden_read_auto_options(const golden_case *c, tsr_auto_options *options);

// ---- arrays with bytes in them (support/pattern.h) ----

// The machine of a case: the mesh it lists, and a comm with its devices. `given` is the mesh where
// it is passed as an argument; where it is a context, it is entered until the end.
typedef struct golden_place {
  tsr_mesh *mesh;
  const tsr_mesh *given;
  tsr_comm *comm;
  tsr_scope mark;
} golden_place;
TSR_MUST_USE tsr_status golden_place_init(const golden_case *c, golden_place *out);
void golden_place_deinit(golden_place *place);  // also after a failure
// What a recording calls a leaf: {"$": kind, ...} or {"kind": kind, ...}. Release what it holds by
// golden_release_leaf. Fails with unsupported_leaf for what no C caller has.
TSR_MUST_USE tsr_status golden_read_leaf(const golden_case *c, const golden_place *place,
                                         const tsr_json *value, tsr_leaf *out);
void golden_release_leaf(tsr_leaf *leaf);
// {"kind": "named", "spec", "shards"} or {"kind": "single_device"}; NULL = "not_a_jax_array". Fails
// if a device does not hold its part of the pattern (support/pattern.h).
TSR_MUST_USE tsr_status golden_write_array(const tsr_array *array, bool shards,
                                           tsr_json_writer *out);

// str(value) as Python gives it.
void golden_python_text(const tsr_json *value, tsr_text *out);
// The machine whose name in the file's table is the member `what`.
TSR_MUST_USE tsr_status golden_machine(const golden_case *c, const char *what, tsr_topology **out);

// ---- writing answers ----

void golden_write_ids(tsr_json_writer *out, const char *key, const int64_t *ids, int64_t count);
void golden_write_mesh_ids(tsr_json_writer *out, const char *key, const tsr_mesh *mesh);
// "shape" and "ids" of a mesh, as members of an open object.
void golden_write_mesh(tsr_json_writer *out, const tsr_mesh *mesh);
// "axis_types" of a mesh: "auto", or "Auto" when `capital`.
void golden_write_axis_types(tsr_json_writer *out, const tsr_mesh *mesh, bool capital);
// [path, spec], and a list of these.
void golden_write_pair(tsr_json_writer *out, const char *path, const tsr_spec *spec);
void golden_write_plan(tsr_json_writer *out, const tsr_plan *plan);
void golden_write_axis_names(tsr_json_writer *out, const char *key, const tsr_mesh *mesh);

#endif
