// The manifest of our own folders: the plan, which file holds whose shards, and a hash of each
// tensor.
//
//   {"schema": "tessera-checkpoint/1",
//    "files": [{"name": "data-00001-of-00008.safetensors", "position": 0, "bytes": 1234}, ...],
//    "hashes": ["<32 digits>", ...],          one for each tensor, in the order of the plan
//    "plan": {"schema": "tessera-plan/1", ...}}
//
// Each file is an ordinary safetensors file: under a tensor's name lies the shard that the device
// at this position of the mesh holds. Each shard is stored once, by the first of its replicas.
#ifndef TESSERA_FORMAT_MANIFEST_H
#define TESSERA_FORMAT_MANIFEST_H

#include "format/target.h"
#include "tessera/engine/kernels.h"

#define TSR_MANIFEST "manifest.json"

// Without hashes as long as with them.
void tsr_manifest_write(const tsr_target *target, const tsr_views *views, const tsr_hash128 *hashes,
                        tsr_text *out);

#endif
