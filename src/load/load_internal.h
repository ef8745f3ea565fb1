// Functions on loads that are not public.
#ifndef TESSERA_LOAD_LOAD_INTERNAL_H
#define TESSERA_LOAD_LOAD_INTERNAL_H

#include "tessera/api.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"
#include "tessera/tree.h"

// The tensors that a load with these options gives, with their dtypes: the tree to make its plan
// for. `planned_only` has no effect.
TSR_MUST_USE tsr_status tsr_load_tree(const tsr_checkpoint *checkpoint,
                                      const tsr_load_options *options, tsr_tree **out_tree);

#endif
