// Metadata: what files say of a model as a whole, such as "format": "pt"; read from a checkpoint by
// tsr_checkpoint_metadata (tessera/checkpoint/open.h), written by a save (tsr_save_options).
#ifndef TSR_CHECKPOINT_METADATA_H
#define TSR_CHECKPOINT_METADATA_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// One item; both are UTF-8.
typedef struct tsr_metadata {
  const char *key, *value;
} tsr_metadata;

TSR_END_DECLS

#endif
