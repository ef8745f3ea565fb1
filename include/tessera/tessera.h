// Tessera: everything needed to put tensors on meshes and move them.
//
// Included separately: tessera/checkpoint.h (models on disk), tessera/engine.h (for authors of
// engines, kernels and runtimes), tessera/compat/ (the functions of JAX, flax, t5x, eformer and
// PyTorch under their own names), tessera/mpi.h, and tessera/tessera.hpp (C++).
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
