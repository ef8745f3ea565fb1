// Plans from specs that the caller has chosen.
#ifndef TESSERA_ENGINE_PLAN_H
#define TESSERA_ENGINE_PLAN_H

#include "tessera/api.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// One spec per tensor, in the order of the tree, corrected for the mesh (NULL: uncorrected). A NULL
// spec does not cut.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_plan_from_specs(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_spec *const *specs,
                        tsr_plan **out_plan);

TSR_END_DECLS

#endif
