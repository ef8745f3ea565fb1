// Digests of blocks as windows are written, for formats that want them at the end.
#include "base/arithmetic.h"
#include "format/format.h"
#include "job/transform.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "view/tensor_hash.h"

tsr_block_range tsr_transform_blocks(const tsr_transform *t, const tsr_window *w) {
  const int64_t block = tsr_block_elements(t->source.views.items[w->tensor]->dtype);
  return (tsr_block_range){t->first_block[w->tensor] + w->first / block,
                           (int)((w->count + block - 1) / block)};
}

// The stored tensor that equals a view and whose blocks are hashed as they are read; -1 = none.
static int64_t find_hashed(const tsr_transform *t, const tsr_view *view) {
  if (t->target->format->digest != tsr_block_hash) return -1;
  const int64_t origin = tsr_job_source_hashed(&t->source, view);
  if (origin < 0) return -1;
  return view->dtype == tsr_source_hashes_dtype(t->source.hashes, origin) ? origin : -1;
}

void tsr_transform_digest(const tsr_transform *t, const tsr_window *w, const char *buffer) {
  const tsr_view *view = t->source.views.items[w->tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  const tsr_block_range blocks = tsr_transform_blocks(t, w);
  const int64_t hashed = t->blocks ? find_hashed(t, view) : -1;
  for (int i = 0; i < blocks.count && t->blocks; i++) {
    const int64_t some = tsr_least(block, w->count - i * block);
    tsr_hash128 *out = &t->blocks[blocks.first + i];
    if (hashed >= 0 && tsr_source_hashes_block(t->source.hashes, hashed, w->first / block + i, out))
      continue;
    *out = t->target->format->digest(buffer + tsr_view_bytes(view, i * block),
                                     tsr_view_bytes(view, some));
  }
}
