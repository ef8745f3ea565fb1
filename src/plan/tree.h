// What the files of this room share about trees.
#ifndef TESSERA_PLAN_TREE_H
#define TESSERA_PLAN_TREE_H

#include "base/arena.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "tessera/tree.h"

// Keeps what its files were warned about, a line each. Before the tree is shared.
TSR_MUST_USE tsr_status tsr_tree_keep_warnings(tsr_tree *tree, const char *lines);

// Whether two tensors agree in type and shape, and in logical axes.
bool tsr_tensor_same_shape(const tsr_tensor *a, const tsr_tensor *b);
bool tsr_tensor_same_logical(const tsr_tensor *a, const tsr_tensor *b);

// The length of a path up to the end of its last number: "model.layers.3" of what is in that layer.
size_t tsr_path_layer(const char *path);

// One member of a list of tensors in JSON, for the readers of trees and of plans: its path, type,
// shape and logical axes. Other keys are the caller's to check.
TSR_MUST_USE tsr_status tsr_tensor_from_json(const tsr_json *value, bool with_path,
                                             tsr_arena *arena, tsr_tensor *out_tensor);
// The same as members of an open object.
void tsr_tensor_write(const tsr_tensor *tensor, tsr_json_writer *writer);

#endif
