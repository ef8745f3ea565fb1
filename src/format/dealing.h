// How shards are dealt to the files of a destination, for those that lay out its files.
#ifndef TESSERA_FORMAT_DEALING_H
#define TESSERA_FORMAT_DEALING_H

#include "file/safetensors.h"
#include "format/target.h"

// One shard in a file.
typedef struct tsr_dealt_shard {
  int64_t tensor;
  int32_t shard, copy;
} tsr_dealt_shard;

typedef struct tsr_bin {
  int64_t rank;  // -1 = of a file of whole tensors
  int part;      // of the rank
  int64_t bytes;
  tsr_dealt_shard *slots;  // owned
  int64_t count, capacity;
} tsr_bin;

typedef struct tsr_dealing {
  const tsr_views *views;
  const tsr_target_options *options;
  tsr_target *target;
  tsr_bin *bins;  // owned
  int64_t count, capacity;
} tsr_dealing;

// NumPy's: an archive of all tensors, a file of one, and the index of a folder of these.
TSR_MUST_USE tsr_status tsr_target_plan_archive(const tsr_dealing *deal, const tsr_bin *bin,
                                                tsr_safetensors_file *out_file);
TSR_MUST_USE tsr_status tsr_target_plan_array(const tsr_dealing *deal, const tsr_bin *bin,
                                              tsr_safetensors_file *out_file);
TSR_MUST_USE tsr_status tsr_target_index_arrays(const tsr_dealing *deal);

#endif
