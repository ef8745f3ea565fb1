// Shared by the files of this room.
#ifndef TESSERA_PARTITIONER_PARTITIONER_H
#define TESSERA_PARTITIONER_PARTITIONER_H

#include <stdatomic.h>

#include "tessera/api.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

struct tsr_partitioner {
  atomic_bool params_on_devices;
  tsr_mesh *mesh;            // NULL = made without a topology
  tsr_chunker *chunker;      // of the mesh
  tsr_logical_rules *rules;  // NULL in the base form
  tsr_spec *data_spec;
  int data_axis_count;
  const char **data_axes;  // in data_spec
  tsr_text warnings;
};

// Fails when there is no mesh.
TSR_MUST_USE tsr_status tsr_partitioner_need_mesh(const tsr_partitioner *partitioner);

#endif
