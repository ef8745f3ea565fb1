// For authors of engines, kernels and runtimes: how layouts are made of cuts, which copies or
// collectives turn one layout into another, and the engines that run them.
#ifndef TESSERA_ENGINE_H
#define TESSERA_ENGINE_H

#include "tessera/dlpack.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/hash.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/plan.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/reduce.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/topology.h"
#include "tessera/engine/transport.h"
#include "tessera/tessera.h"

#endif
