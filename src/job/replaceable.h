// What may be replaced: a checkpoint, and nothing that is none.
//
// Replacing deletes what was there. A wrong path is easily given, so that a folder is replaced only
// if all that is in it is known by name: tensors, what says where they are, and the small files
// that usually lie beside them.
#ifndef TESSERA_JOB_REPLACEABLE_H
#define TESSERA_JOB_REPLACEABLE_H

#include "job/extras.h"
#include "tessera/api.h"
#include "tessera/status.h"

// `extras` are files that the new result has too, and that may lie in the old one; NULL = none.
// Nothing there, an empty file or folder, and a link (what it names stays) may be replaced. Fails
// with already_there otherwise, naming some of what would be lost.
TSR_MUST_USE tsr_status tsr_replaceable_check(const char *path, const tsr_extras *extras);
// The same for what an unfinished job left: only with its journal is a folder known to be one's.
TSR_MUST_USE tsr_status tsr_replaceable_check_left(const char *partial, const char *journal);
// Refuses a mount point: nothing can take its place.
TSR_MUST_USE tsr_status tsr_replaceable_check_mount(const char *path, const char *parent);

#endif
