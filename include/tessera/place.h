// Placing: whole trees of arrays, such as the parameters of a model, put where rules say.
//
//   TSR_OWN(array_tree, placed);  // given back at the end of the block: tessera/own.h
//   TSR_TRY(tsr_array_tree_put(comm, mesh, "up$ -> fsdp, tp\n.* -> ()\n", parameters, &placed));
//
// Placing by plans and by hand, with a report on each leaf, is in tessera/compat/placer.h and
// tessera/compat/constrain.h.
//
// "Collective" is meant as in tessera/comm.h, over the comm of the first array where none is given;
// for a tree without arrays the call is then not collective. Ranks compare paths, kinds, types,
// shapes and layouts of leaves in their order, what was decided about each, and the options. Arrays
// are never changed, but made again; what already lies as asked is the same array, held once more.
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
  TSR_LEAF_SHAPE   // type and shape alone
} tsr_leaf_kind;

typedef struct tsr_leaf {
  tsr_tensor tensor;  // of an array only path and logical names count: it tells type and shape
  tsr_leaf_kind kind;
  tsr_array *array;      // of an array
  const void *data;      // of a tensor in host memory, dense and row-major
  tsr_buffer *buffer;    // what keeps `data` alive (tsr_buffer_wrap); NULL = the caller does
  const tsr_spec *spec;  // of a shape: how it is to lie; NULL = not said
} tsr_leaf;

// Named leaves in an order that is kept. Immutable, hence safe to share.
typedef struct tsr_array_tree tsr_array_tree;

// Copies the descriptions of tensors, whose paths are UTF-8 and unique ("" is one too: a tree may
// be a single leaf), and retains arrays, buffers and specs. Leaves of a tree have their type and
// shape.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_array_tree_create(const tsr_leaf *leaves, int64_t count, tsr_array_tree **out_tree);
TSR_API TSR_NONNULL tsr_array_tree *tsr_array_tree_retain(const tsr_array_tree *tree);
TSR_API void tsr_array_tree_release(const tsr_array_tree *tree);  // NULL is fine
TSR_API TSR_NONNULL int64_t tsr_array_tree_count(const tsr_array_tree *tree);
TSR_API TSR_NONNULL const tsr_leaf *tsr_array_tree_at(const tsr_array_tree *tree, int64_t index);
// The leaf of a path; NULL if there is none.
TSR_API TSR_NONNULL const tsr_leaf *tsr_array_tree_find(const tsr_array_tree *tree,
                                                        const char *path);
// The array of a path, which the tree keeps alive. Fails with not_found, naming the nearest path,
// and with unsupported_leaf where the leaf is no array.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_get(const tsr_array_tree *tree,
                                                               const char *path,
                                                               tsr_array **out_array);
// Paths, types, shapes and logical names alone, for rules and plans.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_shapes(const tsr_array_tree *tree,
                                                                  tsr_tree **out_tree);
// A line for each leaf: its path and what tsr_array_print says, or `f32 (8, 16) in host memory`, or
// `f32 (8, 16) without data`.
TSR_API TSR_NONNULL void tsr_array_tree_print(const tsr_array_tree *tree, tsr_text *out);

// Collective over `comm`. Puts every leaf where rules as text (tessera/rules.h) say, on the mesh:
// match_partition_rules and shard in one call, as tsr_plan_match and tsr_placer_shard do it. Shapes
// are left alone. A path without a rule is an error.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_put(tsr_comm *comm, const tsr_mesh *mesh,
                                                               const char *rules,
                                                               const tsr_array_tree *tree,
                                                               tsr_array_tree **out_tree);
// Collective. Arrays become tensors in host memory, which the new tree keeps, on all ranks, or on
// `root` alone, where others get shapes; -1 = all. Other leaves stay as they are.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_tree_gather(const tsr_array_tree *tree,
                                                                  int root,
                                                                  tsr_array_tree **out_tree);

TSR_END_DECLS

#endif
