// t5x's answers in its own words: its meshes, standard rules and chunks, and the partitioner, which
// brings them together.
#ifndef TESSERA_COMPAT_T5X_H
#define TESSERA_COMPAT_T5X_H

#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/compat/t5x_rules.h"

#endif
