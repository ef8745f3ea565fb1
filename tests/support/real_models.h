// The tensor lists of real models (tests/models), as trees.
#ifndef TESSERA_TESTS_SUPPORT_REAL_MODELS_H
#define TESSERA_TESTS_SUPPORT_REAL_MODELS_H

#include "rules/rules_internal.h"
#include "tessera/plan.h"

typedef struct real_model {
  const char *file;  // "llama-3-8b.json"
  tsr_tree *tree;
  tsr_mesh *mesh;  // on which it would sensibly run
  char *preset;    // the family whose rules it takes
  char *chosen;    // and the one that its config.json names
  tsr_facts facts;
} real_model;

void real_model_open(const char *file, real_model *out_model);
void real_model_close(real_model *model);
// Its preset in a variant ("fsdp+tp"), to be released.
tsr_rules *real_model_rules(const real_model *model, const char *variant);

// Calls `visit` with every model in turn, and gives their number.
int each_real_model(void (*visit)(const real_model *model, void *context), void *context);

#endif
