// Tree: the named tensors of a model, as a flat list of paths.
//
// A tensor has a path ("model.layers.0.mlp.up_proj.weight"), a dtype and a shape, and may have
// logical axis names. A tree holds no tensor data. It is immutable.
#ifndef TESSERA_TREE_H
#define TESSERA_TREE_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

typedef struct tsr_tree tsr_tree;  // immutable, shared by any threads

// Copies everything. Paths are UTF-8 and unique; "" is allowed, for a tree of a single tensor. All
// tensors together take less than 2^63 bytes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(3) tsr_status
    tsr_tree_create(const tsr_tensor *tensors, int64_t count, tsr_tree **out_tree);
// Opens a model: a safetensors file, a folder or index in Hugging Face's form (only headers are
// read), or a JSON file. The JSON is {"tensors": [{"path", "dtype", "shape", "logical"?}, ...]}, or
// nested objects whose leaves are {"dtype", "shape", "logical"?}, with paths joined by "/", or a
// plan file.
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
