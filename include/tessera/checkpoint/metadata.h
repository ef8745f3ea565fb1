// checkpoint/metadata.h
#ifndef TSR_CHECKPOINT_METADATA_H
#define TSR_CHECKPOINT_METADATA_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

typedef struct tsr_metadata {
  const char *key, *value;
} tsr_metadata;

TSR_END_DECLS

#endif
