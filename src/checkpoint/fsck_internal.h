// What other rooms use of tessera/fsck.h beside what is public.
#ifndef TESSERA_CHECKPOINT_FSCK_INTERNAL_H
#define TESSERA_CHECKPOINT_FSCK_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/fsck.h"

// What to do about faults of a kind: "bring the file back, or fetch it again".
const char *tsr_fault_remedy(tsr_fault_kind kind);

const char *tsr_severity_name(tsr_severity severity);  // "error"

// A file or folder of any format; the index, manifest or plan of a folder stands for the folder.
// Fails only when nothing can be said: the path is not there, or memory is out, or what is allowed
// is too little for `deep`.
int64_t tsr_fsck_total(const tsr_fsck *fsck, tsr_severity severity);
int64_t tsr_fsck_tensors(const tsr_fsck *fsck);
int64_t tsr_fsck_files(const tsr_fsck *fsck);

#endif
