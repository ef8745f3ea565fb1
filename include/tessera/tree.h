// Tree: the named tensors of a model, as a flat list of paths.
//
// A tensor has a path ("model.layers.0.mlp.up_proj.weight"), an element type and a shape, and may
// carry logical axis names. 100,000 tensors are ordinary; nothing here holds tensor bytes.
// Immutable once made, hence safe to share.
#ifndef TESSERA_TREE_H
#define TESSERA_TREE_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_tree tsr_tree;  // immutable, shared by any threads

// Copies everything. Paths are UTF-8 and unique ("" is one too: a tree may be a single tensor), and
// all tensors together take less than 2^63 bytes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_tree_create(const tsr_tensor *tensors, int64_t count, tsr_tree **out_tree);
// What a user may give where a model is asked for: a safetensors file, a folder or index of Hugging
// Face's form (headers only are read, strictly), or a JSON file: {"tensors": [{"path", "dtype",
// "shape", "logical"?}, ...]}, or nested objects whose leaves are {"dtype", "shape", "logical"?},
// with paths joined by "/". A plan's file is one too.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_tree_open(const char *path, tsr_tree **out_tree);

TSR_API TSR_NONNULL tsr_tree *tsr_tree_retain(const tsr_tree *tree);
TSR_API void tsr_tree_release(const tsr_tree *tree);  // NULL is fine

TSR_API TSR_NONNULL int64_t tsr_tree_count(const tsr_tree *tree);
TSR_API TSR_NONNULL const tsr_tensor *tsr_tree_at(const tsr_tree *tree, int64_t index);
TSR_API TSR_NONNULL int64_t tsr_tree_find(const tsr_tree *tree,
                                          const char *path);       // -1 if there is none
TSR_API TSR_NONNULL int64_t tsr_tree_bytes(const tsr_tree *tree);  // of all tensors

TSR_END_DECLS

#endif
