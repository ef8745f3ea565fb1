// Functions on transforms that are not public.
#ifndef TESSERA_JOB_TRANSFORM_INTERNAL_H
#define TESSERA_JOB_TRANSFORM_INTERNAL_H

#include <stdint.h>

#include "tessera/checkpoint/transform.h"

// The files that will be written, relative to the destination.
const char *tsr_transform_file_at(const tsr_transform *transform, int64_t file);
int64_t tsr_transform_file_bytes(const tsr_transform *transform, int64_t file);
// The file that describes them: a manifest, an index or a plan; NULL = none.
const char *tsr_transform_index(const tsr_transform *transform, int64_t *out_bytes);
const char *tsr_transform_extra_at(const tsr_transform *transform, int64_t extra);

#endif
