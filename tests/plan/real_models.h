// The tensor lists of real models (tests/models), as trees.
#ifndef TESSERA_TESTS_PLAN_REAL_MODELS_H
#define TESSERA_TESTS_PLAN_REAL_MODELS_H

#include "tessera/plan.h"

typedef struct real_model {
  tsr_tree *tree;
  tsr_mesh *mesh;    // on which it would sensibly run
  tsr_rules *rules;  // its preset, in the variant asked for
} real_model;

// Calls `visit` with every model in turn, and gives their number.
int each_real_model(const char *variant, void (*visit)(const char *name, const real_model *model));

#endif
