// engine/plan.h
#ifndef TSR_ENGINE_PLAN_H
#define TSR_ENGINE_PLAN_H

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// One given spec per tensor, corrected for the mesh (NULL: as they are). NULL = not cut.
TSR_API TSR_MUST_USE tsr_status tsr_plan_from_specs(const tsr_tree *tree, const tsr_mesh *mesh,
                                                    const tsr_spec *const *specs,
                                                    tsr_plan **out_plan);

TSR_END_DECLS

#endif
