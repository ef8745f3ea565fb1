// All of Tessera's public headers.
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/api.h"
#include "tessera/axes.h"
#include "tessera/buffer.h"
#include "tessera/chunks.h"
#include "tessera/copy.h"
#include "tessera/dtype.h"
#include "tessera/groups.h"
#include "tessera/hash.h"
#include "tessera/json.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/mesh_build.h"
#include "tessera/notation.h"
#include "tessera/plan.h"
#include "tessera/plan_auto.h"
#include "tessera/pool.h"
#include "tessera/progress.h"
#include "tessera/rules.h"
#include "tessera/safetensors.h"
#include "tessera/scope.h"
#include "tessera/shape.h"
#include "tessera/sharding.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"
#include "tessera/tree.h"

#endif
