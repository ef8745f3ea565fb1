// Random meshes, shapes and trees for property tests, and plans as text.
#ifndef TESSERA_TESTS_PLAN_RANDOM_MODELS_H
#define TESSERA_TESTS_PLAN_RANDOM_MODELS_H

#include "support/test.h"
#include "tessera/plan.h"

// 1 to 4 axes among dp, fsdp, tp and sp, of sizes up to 8.
tsr_mesh *random_mesh(test_random *random);
// Rank 0 to 4, sizes that often divide.
tsr_shape random_shape(test_random *random);
tsr_tree *random_tree(test_random *random, int64_t count);
// Every final spec binds and fits its tensor evenly.
void assert_plan_fits(const tsr_plan *plan);
void assert_spec_fits(const tsr_spec *spec, const tsr_mesh *mesh, const tsr_shape *shape);
void assert_spec(const tsr_spec *spec, const char *expected);  // in short form
// The final specs in short form, joined by " | ".
void assert_specs(const tsr_plan *plan, const char *expected);
// The same with notes: `spec: why dim argument axis; ...`, a line for each row.
void assert_rows(const tsr_plan *plan, const char *expected);
// The notes of a row in words, joined by "; ".
void assert_reasons(const tsr_plan *plan, int64_t index, const char *expected);

#endif
