// Weights that a model has only in other forms: packed and transposed by a quantiser, as two
// factors, or as optimiser state. Rules name the weight, so these tensors stand for it.
#ifndef TESSERA_PLAN_STAND_INS_H
#define TESSERA_PLAN_STAND_INS_H

#include "plan/companions.h"
#include "plan/plan.h"

// The weight that a tensor stands for.
typedef struct tsr_stand_in {
  char path[TSR_COMPANION_NAME + 32];
  int rank;
  int64_t dims[TSR_MAX_RANK];
  const char *axes;  // letters of the tensor's dimensions; NULL = those of the weight itself
} tsr_stand_in;

// Whether tensor `index` stands for a weight that is not in the tree itself.
bool tsr_stand_in_find(const tsr_tree *tree, int64_t index, tsr_stand_in *out);

// All of them: a tree of weights, and for each tensor of the model its weight there, -1 = none.
typedef struct tsr_stand_ins {
  tsr_tree *tree;  // NULL = there are none
  int64_t *of;     // owned
} tsr_stand_ins;
// A tensor that rules `decided` needs none, unless its form hides the sizes that rules count in.
TSR_MUST_USE tsr_status tsr_stand_ins_init(tsr_stand_ins *all, const tsr_tree *tree,
                                           const bool *decided);
void tsr_stand_ins_deinit(tsr_stand_ins *all);

// Cuts the companions in a builder as the tensors they go with. All rows must have been set.
// Some tensors stand for weights of another plan (`stands_for`: for each tensor its row there, or
// -1). Both may be NULL.
TSR_MUST_USE tsr_status tsr_plan_builder_follow(tsr_plan_builder *builder, const tsr_plan *weights,
                                                const int64_t *stands_for);

#endif
