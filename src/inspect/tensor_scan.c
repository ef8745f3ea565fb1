// Statistics of one tensor: sums over its blocks, joined in their order.
#include "inspect/tensor_scan.h"

#include <stdlib.h>

#include "inspect/elements.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/pool.h"
#include "view/tensor_hash.h"

static void sum_block(void *context, const tsr_view *view, int64_t index, const void *bytes,
                      int64_t elements) {
  tsr_sums *sums = context;
  sums[index] = (tsr_sums)TSR_SUMS_EMPTY;
  tsr_sums_add(&sums[index], view->dtype, bytes, elements);
}

tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool, tsr_tensor_stats *out_stats) {
  const int64_t first_block[] = {0, tsr_block_count(view)};
  tsr_view *const one = (tsr_view *)(uintptr_t)view;  // only read
  tsr_sums *sums = calloc((size_t)first_block[1] + 1, sizeof *sums);
  if (!sums) return tsr_fail(NO_MEMORY, "sums of %lld blocks", (long long)first_block[1]);
  tsr_status status = tsr_blocks_walk(&one, first_block, 1, pool, NULL, sum_block, sums);
  tsr_sums all = TSR_SUMS_EMPTY;
  for (int64_t i = 0; i < first_block[1] && !status; i++) tsr_sums_join(&all, &sums[i]);
  if (!status) *out_stats = tsr_sums_stats(&all);
  free(sums);
  return status;
}

tsr_status tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                                tsr_tensor_stats *out_stats) {
  tsr_view *view = NULL;
  TSR_TRY(tsr_checkpoint_check_tensor(checkpoint, tensor));
  TSR_TRY(tsr_view_stored(checkpoint, tensor, TSR_REPLICAS_TRUST, &view));
  tsr_status status = tsr_view_stats(view, pool, out_stats);
  tsr_view_destroy(view);
  return status;
}
