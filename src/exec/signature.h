// What callers of an executable give and get. For a file of jax.export these are the inputs of the
// exported function, also those that its program does not use.
#ifndef TESSERA_EXEC_SIGNATURE_H
#define TESSERA_EXEC_SIGNATURE_H

#include "base/arena.h"
#include "tessera/program/executable.h"

enum { TSR_NO_ARGUMENT = -1, TSR_PLATFORM_ARGUMENT = -2 };

typedef struct tsr_signature {
  int64_t argument_count, result_count;
  tsr_executable_value *arguments, *results;
  // For each argument of the program the caller's argument; TSR_PLATFORM_ARGUMENT for the number of
  // the platform; TSR_NO_ARGUMENT for a token.
  int64_t program_count;
  int64_t *sources;
  int64_t *aliased;  // for each argument of the program: a result, or -1
  int64_t platform;  // i32 or i64, little-endian
} tsr_signature;

// `platform` may be NULL. Names are those of the program, which must outlive the signature.
TSR_MUST_USE tsr_status tsr_signature_read(const tsr_program *program, const char *platform,
                                           tsr_arena *arena, tsr_signature *out_signature);

#endif
