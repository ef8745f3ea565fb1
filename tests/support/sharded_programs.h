// Programs in tests of propagation and reshards, written as text.
#ifndef TESSERA_TESTS_SUPPORT_SHARDED_PROGRAMS_H
#define TESSERA_TESTS_SUPPORT_SHARDED_PROGRAMS_H

#include "ir/ir.h"

// Before every program: a mesh of three axes.
#define MESH "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=4]>\n"

typedef struct sharded_case {
  const char *passes, *before, *after;
} sharded_case;

tsr_ir *sharded_program(const char *text);
// Runs the passes of each case and compares what is printed.
void assert_sharded(const sharded_case *cases, size_t count);
// Fails unless the passes are refused with this message.
void assert_refused(const char *passes, const char *program, const char *message);

#endif
