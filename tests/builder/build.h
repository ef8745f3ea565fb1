// Programs built for a test: what they print, or how they fail.
#ifndef TESSERA_TESTS_BUILDER_BUILD_H
#define TESSERA_TESTS_BUILDER_BUILD_H

#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"

typedef void build_fn(tsr_builder *b);

// The lines of main after its first, without the last two braces and indentation.
void expect_body(build_fn *build, const char *body);
// The whole text.
void expect_text(build_fn *build, const char *text);
// The names of the ops of main, without dialects and its return: "dot_general, transpose".
void expect_ops(build_fn *build, const char *names);
// What finishing says.
void expect_failure(build_fn *build, tsr_cause cause, const char *message);
// The program; the caller releases it.
tsr_program *build_program(build_fn *build);
// Builds, prints and frees, for sweeps; `context` is a build_fn *.
tsr_status build_and_print(void *context);

// A parameter of f32.
#define F32(...) tsr_build_parameter(b, NULL, TSR_F32, TSR_SHAPE(__VA_ARGS__), NULL)
#define I32(...) tsr_build_parameter(b, NULL, TSR_I32, TSR_SHAPE(__VA_ARGS__), NULL)
#define OUT(x) tsr_build_output(b, x, NULL, NULL)
#define LIST(...) ((tsr_node[]){__VA_ARGS__})

#endif
