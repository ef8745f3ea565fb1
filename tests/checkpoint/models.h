// What the tests of checkpoints share: small safetensors files written by hand, whose contents
// follow from the tensor's name and the element.
#ifndef TESSERA_TESTS_CHECKPOINT_MODELS_H
#define TESSERA_TESTS_CHECKPOINT_MODELS_H

#include "support/folder.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/plan.h"

// A tensor of 32-bit words whose word `i`, counted in the whole tensor, is test_word(name, i).
uint32_t test_word(const char *name, int64_t element);
typedef struct test_tensor {
  const char *name;
  tsr_shape shape;  // as stored
  uint32_t *words;  // owned
} test_tensor;
// All of it, or a slice: the shard that a mesh position holds by a layout.
test_tensor test_tensor_whole(const char *name, const tsr_shape *shape);
test_tensor test_tensor_slice(const char *name, const tsr_layout *layout, int64_t position);

// Writes tensors as U32 into a file and frees them.
void test_write_safetensors(const char *path, test_tensor *tensors, int count);
void test_write_text(const char *path, const char *text);

// A plan for tensors of U32: a tree as {"name": shape, ...} by rules in text, on a mesh in text.
tsr_plan *test_plan(const char *tree_json, const char *mesh, const char *rules);

// Opens, transforms and closes.
tsr_status test_transform(const char *from, const char *to, const tsr_transform_options *options);

#endif
