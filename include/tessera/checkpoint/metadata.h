// Metadata: key and value pairs of a whole model, such as "format": "pt". tsr_checkpoint_metadata
// (tessera/checkpoint/open.h) reads them, tsr_save_options writes them.
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
