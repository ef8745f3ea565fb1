// Extras: the small files of a model's folder that are not weights, such as config.json, tokenizer
// and licence. They are copied, so that the result can be used as the source was.
#ifndef TESSERA_JOB_EXTRAS_H
#define TESSERA_JOB_EXTRAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"

typedef struct tsr_extra {
  const char *name;  // in the folder
  int64_t bytes;
} tsr_extra;

typedef struct tsr_extras {
  tsr_arena arena;     // names
  const char *folder;  // NULL if there is none
  tsr_extra *items;    // owned; sorted by name
  int64_t count, capacity;
} tsr_extras;

// The files directly in the folder of a checkpoint, of at most 64 MiB, that are not hidden, not
// weights and not an index of any format.
TSR_MUST_USE tsr_status tsr_extras_find(const tsr_checkpoint *checkpoint, tsr_extras *out_extras);
void tsr_extras_deinit(tsr_extras *extras);
int64_t tsr_extras_bytes(const tsr_extras *extras);
TSR_MUST_USE tsr_status tsr_extras_copy(const tsr_extras *extras, const char *folder, bool sync);

#endif
