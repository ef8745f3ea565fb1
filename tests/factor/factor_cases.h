// What tests of shardings share: a mesh, and shardings and rules written as text.
#ifndef TESSERA_TESTS_FACTOR_FACTOR_CASES_H
#define TESSERA_TESTS_FACTOR_FACTOR_CASES_H

#include "factor/projection.h"
#include "support/test.h"
#include "tessera/text.h"

enum { TENSORS_MOST = 8 };

// A program without ops, and what was read into it.
typedef struct factor_scene {
  tsr_ir *ir;
  tsr_arena arena;
  const tsr_attr *mesh;
  const tsr_op_rule *rule;
  const tsr_tensor_sharding *shardings[TENSORS_MOST];
  int count;
} factor_scene;

// `mesh` is as in `<["a"=2]>`, `rule` as in `<([i])->([i]) {i=8}>`. `shardings` are separated by
// " | ", each what follows "<@mesh, ", as in `[{"a", ?}], replicated={"b"}`; - is a missing one.
void factor_scene_begin(factor_scene *scene, const char *mesh, const char *rule,
                        const char *shardings);
void factor_scene_end(factor_scene *scene);
// The shardings in the form in which they are read.
void print_shardings(tsr_ir *ir, const tsr_tensor_sharding *const *shardings, int count,
                     tsr_text *out);

#endif
