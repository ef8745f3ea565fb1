// The files of jax.export: a portable artifact, and around it what JAX knows of the function: the
// trees of its arguments and results, their types and shardings, platforms, effects, and the
// function's derivative (vjp) if it was stored.
//
// Files have no version of their own that says anything; newer JAX adds slots and drops old ones.
// This reads all slots from 2023 to 2026 and gives one form.
#ifndef TESSERA_BYTECODE_EXPORT_FILE_H
#define TESSERA_BYTECODE_EXPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tessera/text.h"

typedef enum tsr_export_node {
  TSR_EXPORT_LEAF,
  TSR_EXPORT_NONE,
  TSR_EXPORT_TUPLE,
  TSR_EXPORT_LIST,
  TSR_EXPORT_DICT,
  TSR_EXPORT_CUSTOM,
  TSR_EXPORT_NODE_COUNT
} tsr_export_node;

// A tree of Python containers with a leaf for every array.
typedef struct tsr_export_tree tsr_export_tree;
struct tsr_export_tree {
  tsr_export_node kind;
  int64_t child_count;
  tsr_export_tree *children;
  const char *const *keys;  // DICT: of the children
  const char *custom_name;  // CUSTOM: as it was registered; NULL if the file has none
  const void *custom_data;  // CUSTOM: what its class stored
  size_t custom_length;
};

typedef enum tsr_export_memory {
  TSR_EXPORT_MEMORY_MISSING,  // files before November 2025; JAX takes device memory
  TSR_EXPORT_MEMORY_DEVICE,
  TSR_EXPORT_MEMORY_HOST,
  TSR_EXPORT_MEMORY_ANY,
  TSR_EXPORT_MEMORY_COUNT
} tsr_export_memory;

// A list of names, such as the mesh axes of a dimension.
typedef struct tsr_export_names {
  int64_t count;
  const char *const *names;
} tsr_export_names;

typedef struct tsr_export_axis {
  const char *name;
  int64_t size;
  const char *type;  // "auto", "explicit" or "manual"
} tsr_export_axis;

// Devices without their order, which JAX does not store.
typedef struct tsr_export_mesh {
  int64_t axis_count;
  tsr_export_axis *axes;
  const char *device_kind;  // "TPU v5 lite", or NULL
  const char *platform;     // "tpu", or NULL
  int64_t core_count;       // of a device; 0 = not stored
} tsr_export_mesh;

typedef enum tsr_export_sharding_kind {
  TSR_EXPORT_UNSPECIFIED,
  TSR_EXPORT_NAMED,
  TSR_EXPORT_HLO  // files before March 2026
} tsr_export_sharding_kind;

typedef struct tsr_export_sharding {
  tsr_export_sharding_kind kind;
  const tsr_export_mesh *mesh;   // NAMED
  int64_t dim_count;             // NAMED: at most the rank; further dimensions are not sharded
  const tsr_export_names *dims;  // NAMED: the mesh axes of each dimension
  tsr_export_names reduced, unreduced;  // NAMED
  const char *memory_kind;              // NAMED: "device", "pinned_host", or NULL
  const char *hlo;                      // HLO: as XLA writes it, such as {devices=[2,4]<=[8]}
  const void *hlo_proto;                // HLO: the message OpSharding
  size_t hlo_proto_length;
} tsr_export_sharding;

// An argument or a result.
typedef struct tsr_export_value {
  // Its place in the tree, as JAX prints places: "[0]['w']" is the entry 'w' of argument 0, "['x']"
  // the keyword argument x, "" the only result.
  const char *path;
  int64_t rank;
  const char *const *dims;  // decimal, or symbolic such as "b" and "4*b"
  // TSR_DTYPE_NONE for PRNG keys and float0, which programs hold as other arrays.
  tsr_dtype dtype;
  const char *dtype_name;  // as NumPy names it, "key<fry>" or "float0"
  tsr_export_memory memory;
  const tsr_export_sharding *sharding;  // never NULL
  bool kept;                            // an argument of the program; false = it is not used
} tsr_export_value;

typedef struct tsr_export_check {
  const char *kind;    // "platform", "custom_call" or "shape_assertions"
  const char *target;  // of the custom call, or NULL
} tsr_export_check;

typedef struct tsr_export_file tsr_export_file;
struct tsr_export_file {
  const char *function_name;
  const char *jax_version;  // NULL in files before mid 2026
  int stored_version;       // says nothing: 2 or 3 whatever the file holds
  int calling_convention;
  int64_t device_count;
  bool uses_global_constants;         // symbolic shapes or a platform index
  tsr_export_tree in_tree, out_tree;  // in_tree = (arguments, keyword arguments)
  int64_t in_count, out_count;
  tsr_export_value *ins, *outs;
  int64_t kept_count;
  const int64_t *kept;  // the inputs that are arguments of the program, ascending
  tsr_export_names platforms, ordered_effects, unordered_effects;
  int64_t check_count;
  tsr_export_check *disabled_checks;
  tsr_export_file *vjp;  // or NULL; its arguments are the inputs, then cotangents of the outputs
  const void *module;    // the portable artifact, at any alignment
  size_t module_length;
};

// Whether the bytes look like such a file: a table whose module starts like bytecode.
bool tsr_export_is(const void *bytes, size_t length);
// Reads a file. `bytes` are borrowed for the life of the result.
TSR_MUST_USE tsr_status tsr_export_read(const char *name, const void *bytes, size_t length,
                                        tsr_export_file **out_file);
void tsr_export_destroy(tsr_export_file *file);  // NULL is fine

// Adds a tree as JAX prints it: PyTreeDef((({'b': *, 'w': *}, *), {})).
void tsr_export_tree_print(const tsr_export_tree *tree, tsr_text *out);
// Adds a type: float32[b,4].
void tsr_export_value_print(const tsr_export_value *value, tsr_text *out);
// Adds a sharding: P('x', None, ('y', 'z')), or XLA's text; nothing if it is unspecified.
void tsr_export_sharding_print(const tsr_export_sharding *sharding, tsr_text *out);

#endif
