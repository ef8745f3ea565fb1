// Trees, between the files of this room.
#ifndef TESSERA_PLAN_TREE_H
#define TESSERA_PLAN_TREE_H

#include "base/arena.h"
#include "plan/tree_internal.h"

// Keeps warnings about its files, a line each. Call it before the tree is shared.
TSR_MUST_USE tsr_status tsr_tree_keep_warnings(tsr_tree *tree, const char *lines);

// Whether two tensors agree in dtype and shape; in logical axes.
bool tsr_tensor_same_shape(const tsr_tensor *a, const tsr_tensor *b);
bool tsr_tensor_same_logical(const tsr_tensor *a, const tsr_tensor *b);

// The length of a path up to the end of its last number: of "model.layers.3".
size_t tsr_path_layer(const char *path);

// One tensor of a JSON list: its path, dtype, shape and logical axes. The caller checks for other
// keys.
TSR_MUST_USE tsr_status tsr_tensor_from_json(const tsr_json *value, bool with_path,
                                             tsr_arena *arena, tsr_tensor *out_tensor);
// The same as members of an open object.
void tsr_tensor_write(const tsr_tensor *tensor, tsr_json_writer *writer);

#endif
