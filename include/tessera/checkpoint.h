// Everything on disk: models that are opened, loaded, saved, transformed, compared and checked.
// Each header of tessera/checkpoint/ can also be included by itself.
#ifndef TESSERA_CHECKPOINT_H
#define TESSERA_CHECKPOINT_H

#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/checkpoint/npy.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/tessera.h"

#endif
