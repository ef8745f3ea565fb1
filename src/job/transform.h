// A transform or a save as it is decided (transform.c) and done (transform_run.c).
#ifndef TESSERA_JOB_TRANSFORM_H
#define TESSERA_JOB_TRANSFORM_H

#include "format/target.h"
#include "job/extras.h"
#include "job/job_source.h"
#include "job/work.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"

struct tsr_transform {
  tsr_job_source source;
  tsr_transform_options options;
  tsr_transform_certificate certificate;
  tsr_target *target;
  tsr_work work;
  tsr_extras extras;
  int64_t *first_window;     // owned: of each tensor, and one past the last
  int64_t *window_elements;  // owned: of each tensor's windows but its last
  int64_t *first_block;      // owned: of each tensor in all blocks, and one past the last
  tsr_hash128 *blocks;       // owned: digests, while it runs; NULL where the format wants none
  unsigned char *done;       // owned: of each block, while it runs
  int64_t buffer_bytes;
  tsr_hash128 job;
  bool ran;
  tsr_transform_report report;
  tsr_cast_loss *losses;  // owned: of the report
};

// Whether the options are valid, each by itself. Defaults of enums become what they mean.
TSR_MUST_USE tsr_status tsr_transform_check_options(tsr_transform_options *options);

// A transform of any source, which is moved into it, also when it fails.
TSR_MUST_USE tsr_status tsr_transform_of(tsr_job_source *source, const char *path,
                                         const tsr_transform_options *options,
                                         tsr_transform **out_transform);

// After the run: overflows of casts, and tensors compared with hashes.
TSR_MUST_USE tsr_status tsr_transform_make_report(tsr_transform *transform, bool resumed);

// A run of elements of one tensor: whole blocks, except at the end of the tensor.
typedef struct tsr_window {
  int64_t tensor, first, count;
} tsr_window;
tsr_window tsr_transform_window(const tsr_transform *transform, int64_t index);

typedef struct tsr_block_range {
  int64_t first;
  int count;
} tsr_block_range;
// The blocks of a window, among those of all tensors.
tsr_block_range tsr_transform_blocks(const tsr_transform *transform, const tsr_window *window);

#endif
