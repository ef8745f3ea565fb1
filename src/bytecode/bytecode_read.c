// Reading a portable artifact: the tables, the resources, then the ops, which decode what they use.
#include <string.h>

#include "bytecode/artifact.h"
#include "bytecode/bytecode.h"

bool tsr_bytecode_is(const void *bytes, size_t length) {
  return length >= 4 && !memcmp(bytes, "ML\xefR", 4);
}

tsr_status tsr_bytecode_read(tsr_ir *ir, const char *name, const void *bytes, size_t length) {
  tsr_artifact artifact = {
      .ir = ir, .name = name, .bytes = bytes, .length = length, .arena = TSR_ARENA_EMPTY};
  tsr_status status = tsr_artifact_open(&artifact);
  if (!status) status = tsr_artifact_read_resources(&artifact);
  if (!status) status = tsr_artifact_read_ir(&artifact);
  tsr_arena_deinit(&artifact.arena);
  return status;
}
