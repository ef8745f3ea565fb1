// Which destinations may be replaced: checkpoints only.
//
// Replacing deletes. A wrong path is easily typed, so a folder is replaced only if every file in it
// is known by name: weights, an index, or the small files that usually accompany them.
#ifndef TESSERA_JOB_REPLACEABLE_H
#define TESSERA_JOB_REPLACEABLE_H

#include "job/extras.h"
#include "tessera/api.h"
#include "tessera/status.h"

// `extras` are files of the new result, allowed in the old one too; NULL = none. A missing path, an
// empty file or folder, and a link may be replaced. Otherwise fails with already_there and names
// some of the files in the way.
TSR_MUST_USE tsr_status tsr_replaceable_check(const char *path, const tsr_extras *extras);
// The same for the folder of an unfinished job, which its journal identifies.
TSR_MUST_USE tsr_status tsr_replaceable_check_left(const char *partial, const char *journal);
// Fails for a mount point, which cannot be replaced.
TSR_MUST_USE tsr_status tsr_replaceable_check_mount(const char *path, const char *parent);

#endif
