// Placing: trees of arrays, such as the parameters of a model, distributed by rules.
//
//   TSR_OWN(array_tree, placed);  // released at the end of the block: tessera/own.h
//   TSR_TRY(tsr_array_tree_put(comm, mesh, "up$ -> fsdp, tp\n.* -> ()\n", parameters, &placed));
//
// tessera/compat/placer.h and tessera/compat/constrain.h place by plans and single specs, with a
// report on each leaf.
//
// "Collective" is defined in tessera/comm.h. The comm is that of the first array where none is
// given; for a tree without arrays the call is then not collective. Ranks compare the order, paths,
// kinds, dtypes, shapes and layouts of leaves, the decisions and the options. Arrays never change:
// a new one is made, or, if the layout is right already, the same array is retained.
#ifndef TESSERA_PLACE_H
#define TESSERA_PLACE_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

typedef enum tsr_leaf_kind {
  TSR_LEAF_ARRAY,  // an array on devices
  TSR_LEAF_HOST,   // a tensor in host memory
  TSR_LEAF_SHAPE   // dtype and shape alone
} tsr_leaf_kind;

typedef struct tsr_leaf {
  tsr_tensor tensor;  // of an array only path and logical names are read
  tsr_leaf_kind kind;
  tsr_array *array;      // of an array
  const void *data;      // of a tensor in host memory, dense and row-major
  tsr_buffer *buffer;    // keeps `data` alive (tsr_buffer_wrap); NULL = the caller does
  const tsr_spec *spec;  // of a shape: its intended spec; NULL = none
} tsr_leaf;

// Named leaves in a fixed order. Immutable, shared by any threads.
typedef struct tsr_array_tree tsr_array_tree;

// Copies the tensors' descriptions and retains arrays, buffers and specs. Paths are UTF-8 and
// unique; "" is allowed, for a tree of a single leaf. In the tree all leaves have dtype and shape.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_array_tree_create(const tsr_leaf *leaves, int64_t count, tsr_array_tree **out_tree);
TSR_API TSR_NONNULL tsr_array_tree *tsr_array_tree_retain(const tsr_array_tree *tree);
TSR_API void tsr_array_tree_release(const tsr_array_tree *tree);  // NULL is fine
TSR_API TSR_NONNULL int64_t tsr_array_tree_count(const tsr_array_tree *tree);
TSR_API TSR_NONNULL const tsr_leaf *tsr_array_tree_at(const tsr_array_tree *tree, int64_t index);
// The leaf of a path; NULL = none.
TSR_API TSR_NONNULL const tsr_leaf *tsr_array_tree_find(const tsr_array_tree *tree,
                                                        const char *path);
// The array of a path, borrowed from the tree. Fails with not_found, naming the nearest path, and
// with unsupported_leaf if the leaf is not an array.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_get(const tsr_array_tree *tree,
                                                               const char *path,
                                                               tsr_array **out_array);
// The paths, dtypes, shapes and logical names, for rules and plans.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_shapes(const tsr_array_tree *tree,
                                                                  tsr_tree **out_tree);
// A line per leaf: its path, then tsr_array_print, `f32 (8, 16) in host memory` or `f32 (8, 16)
// without data`.
TSR_API TSR_NONNULL void tsr_array_tree_print(const tsr_array_tree *tree, tsr_text *out);

// Collective over `comm`. Distributes every leaf over the mesh by rules as text (tessera/rules.h):
// match_partition_rules and shard in one call, as tsr_plan_match and tsr_placer_shard. Shapes are
// left alone. A path without a rule is an error.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_put(tsr_comm *comm, const tsr_mesh *mesh,
                                                               const char *rules,
                                                               const tsr_array_tree *tree,
                                                               tsr_array_tree **out_tree);
// Collective. Arrays become tensors in host memory, owned by the new tree, on all ranks (`root` =
// -1) or on `root`, where other ranks get shapes. Other leaves stay as they are.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_gather(const tsr_array_tree *tree,
                                                                  int root,
                                                                  tsr_array_tree **out_tree);

TSR_END_DECLS

#endif
