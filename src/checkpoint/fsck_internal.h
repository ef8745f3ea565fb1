// What other rooms and the tests use of tessera/checkpoint/fsck.h beside what is public.
#ifndef TESSERA_CHECKPOINT_FSCK_INTERNAL_H
#define TESSERA_CHECKPOINT_FSCK_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/fsck.h"

const char *tsr_severity_name(tsr_severity severity);  // "error"

// The number of faults of a severity.
int64_t tsr_fsck_total(const tsr_fsck *fsck, tsr_severity severity);
// How many were looked at.
int64_t tsr_fsck_tensors(const tsr_fsck *fsck);
int64_t tsr_fsck_files(const tsr_fsck *fsck);

#endif
