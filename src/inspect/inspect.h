// The listing of a checkpoint, shared by inspect.c and shares.c.
#ifndef TESSERA_INSPECT_INSPECT_H
#define TESSERA_INSPECT_INSPECT_H

#include "base/arena.h"
#include "inspect/inspect_internal.h"
#include "tessera/checkpoint/open.h"

struct tsr_inspection {
  const tsr_checkpoint *checkpoint;  // shared
  int64_t *tensors;                  // owned: those of all rows, one row after the other
  int64_t tensor_count;
  tsr_inspect_row *rows;  // owned
  int64_t count;
  tsr_arena arena;  // patterns
};

#endif
