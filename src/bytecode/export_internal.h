// What the readers of jax.export files share: the file, and the memory of the result.
#ifndef TESSERA_BYTECODE_EXPORT_INTERNAL_H
#define TESSERA_BYTECODE_EXPORT_INTERNAL_H

#include "base/arena.h"
#include "bytecode/export_file.h"
#include "bytecode/flatbuffer.h"
#include "ir/ir.h"

typedef struct tsr_export_reader {
  tsr_flat flat;
  tsr_arena *arena;
} tsr_export_reader;

// Memory for `count` elements, all zero; also for none of them. NULL without memory.
void *tsr_export_zeros(tsr_export_reader *reader, int64_t count, size_t size);
// A list of strings.
TSR_MUST_USE tsr_status tsr_export_names_read(tsr_export_reader *reader,
                                              const tsr_flat_table *table, int slot,
                                              tsr_export_names *out_names);

enum { TSR_EXPORT_DEPTH = 256 };  // of trees, and of nested derivatives

TSR_MUST_USE tsr_status tsr_export_tree_read(tsr_export_reader *reader, const tsr_flat_table *root,
                                             int slot, tsr_export_tree *out_tree);
// Gives every value the path of its leaf; `skip` outer levels are left out of the paths.
TSR_MUST_USE tsr_status tsr_export_paths(tsr_export_reader *reader, const tsr_export_tree *tree,
                                         int skip, tsr_export_value *values, int64_t count);

// All meshes and shardings of a file, read once.
typedef struct tsr_export_shared {
  int64_t mesh_count, sharding_count;
  tsr_export_mesh *meshes;
  tsr_export_sharding *shardings;
} tsr_export_shared;
TSR_MUST_USE tsr_status tsr_export_shared_read(tsr_export_reader *reader,
                                               const tsr_flat_table *root,
                                               tsr_export_shared *out_shared);
// The shardings of values: indices in `index_slot`, or else tables in `old_slot`.
TSR_MUST_USE tsr_status tsr_export_shardings_read(tsr_export_reader *reader,
                                                  const tsr_flat_table *root, int index_slot,
                                                  int old_slot, const tsr_export_shared *shared,
                                                  tsr_export_value *values, int64_t count);

// Adds XLA's text of an OpSharding message; false if it is damaged or of a kind without a text.
bool tsr_op_sharding_print(const void *proto, size_t length, tsr_text *out);

#endif
