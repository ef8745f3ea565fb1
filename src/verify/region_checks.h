// Regions that end with stablehlo.return.
#ifndef TESSERA_VERIFY_REGION_CHECKS_H
#define TESSERA_VERIFY_REGION_CHECKS_H

#include "verify/op_checks.h"

// The return of the only block of a region; fails if it has no such block or other end.
TSR_MUST_USE tsr_status tsr_region_return(const tsr_op *op, int region, const char *constraint,
                                          const tsr_op **out_return);

#endif
