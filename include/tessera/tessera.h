// Tessera: everything one needs to put tensors on meshes and move them.
//
// Beside it, by name: tessera/checkpoint.h for models on disk, tessera/engine.h for those who write
// engines, kernels and runtimes, tessera/compat/ for the answers of JAX, flax, t5x, eformer and
// PyTorch in their own words, tessera/mpi.h, and tessera/tessera.hpp for C++.
#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include "tessera/api.h"
#include "tessera/array.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/log.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/own.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/reduction.h"
#include "tessera/rules.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"
#include "tessera/tree.h"

#endif
