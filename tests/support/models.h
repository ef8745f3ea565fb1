// Small models and meshes that tests share.
#ifndef TESSERA_TESTS_SUPPORT_MODELS_H
#define TESSERA_TESTS_SUPPORT_MODELS_H

#include "tessera/plan.h"

// One tensor of type f32: TENSOR("a.b", 4, 8).
#define TENSOR(name, ...)                                                                          \
  {                                                                                                \
    .path = (name), .dtype = TSR_F32,                                                              \
    .rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dims = (const int64_t[]) { \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

tsr_tree *make_tree(const tsr_tensor *tensors, int64_t count);
// Two layers with mlp.up (64 x 16) and norm (16), an embedding (100 x 16) and a scalar: 6 tensors.
tsr_tree *make_small_tree(void);
tsr_mesh *make_mesh(const char *text);
tsr_spec *make_spec(const char *text);
tsr_status read_tree(const char *json, tsr_tree **out_tree);
// The plan of make_small_tree on `mesh` with one spec, as text, for each tensor.
tsr_plan *make_plan(const tsr_tree *tree, const char *mesh, const char *const *specs);
tsr_rules *make_rules(const char *text);  // of the file my.rules
tsr_logical_rules *make_logical_rules(const char *text);
char *write_plan(const tsr_plan *plan, int indent);  // in a block to free()
tsr_status read_plan(const char *json, tsr_plan **out_plan);
// One row as text: wanted, final, bytes, and each note's why, dim, rule, argument and axis.
void assert_row(const tsr_plan *plan, int64_t index, const char *expected);

#endif
