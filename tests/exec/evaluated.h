// Programs against the evaluator of constants.
#ifndef TESSERA_TESTS_EXEC_EVALUATED_H
#define TESSERA_TESTS_EXEC_EVALUATED_H

#include "exec/runs.h"

// Runs a program with 1, 2 and 5 workers on random arguments: integers from `low` to `high`, small
// whole floats. Its results have the bits that the evaluator gives for `reference`, a program with
// the same arguments; NULL = for the program itself.
void check_evaluated(test_random *random, const char *text, const char *reference, int64_t low,
                     int64_t high);

#endif
