// The list of changes while a spec is being corrected.
#ifndef TESSERA_SPEC_CHANGES_H
#define TESSERA_SPEC_CHANGES_H

#include "tessera/engine/sharding.h"
#include "tessera/log.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"

TSR_MUST_USE tsr_status tsr_changes_add(tsr_changes *changes, const tsr_change *change);
// The change as a failure, for strict callers. `mesh` may be NULL.
TSR_MUST_USE tsr_status tsr_change_fail(const tsr_change *change, const tsr_mesh *mesh);
// Writes each change to `log`, or to the process's log, if LOG_SHARDING_MOVE is set.
TSR_MUST_USE tsr_status tsr_changes_log(const tsr_changes *changes, tsr_log_fn *log, void *context);

#endif
