// eformer's answers (eformer.escale) in its own words: PartitionAxis and PartitionManager, its
// meshes, automatic specs and analyses, constraints, and shard and gather functions.
#ifndef TESSERA_COMPAT_EFORMER_H
#define TESSERA_COMPAT_EFORMER_H

#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/scope.h"

#endif
