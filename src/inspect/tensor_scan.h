// Statistics of one view.
#ifndef TESSERA_INSPECT_TENSOR_SCAN_H
#define TESSERA_INSPECT_TENSOR_SCAN_H

#include "tessera/api.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "view/view.h"

TSR_MUST_USE tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool,
                                       tsr_tensor_stats *out_stats);

#endif
