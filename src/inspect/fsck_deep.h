// Reads all elements of a checkpoint whose headers are sound.
#ifndef TESSERA_INSPECT_FSCK_DEEP_H
#define TESSERA_INSPECT_FSCK_DEEP_H

#include "format/fsck_report.h"

TSR_MUST_USE tsr_status tsr_fsck_deep(tsr_fsck *fsck);

#endif
