// What a format wants to know of each block while windows pass by, and what it comes to at the end:
// hashes for a manifest, checksums for an archive.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "job/transform.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "view/tensor_hash.h"

tsr_block_range tsr_transform_blocks(const tsr_transform *t, const tsr_window *w) {
  const int64_t block = tsr_block_elements(t->source.views.items[w->tensor]->dtype);
  return (tsr_block_range){t->first_block[w->tensor] + w->first / block,
                           (int)((w->count + block - 1) / block)};
}

static tsr_hash128 digest(const tsr_transform *t, const void *bytes, int64_t length) {
  if (tsr_target_digest(t->target) == TSR_DIGEST_HASH) return tsr_block_hash(bytes, length);
  return (tsr_hash128){.low = tsr_zip_crc(0, bytes, length)};
}

// The stored tensor that a view is, element for element, and whose blocks are hashed as they are
// read; -1 = none.
static int64_t find_hashed(const tsr_transform *t, const tsr_view *view) {
  if (tsr_target_digest(t->target) != TSR_DIGEST_HASH) return -1;
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
    *out = digest(t, buffer + tsr_view_bytes(view, i * block), tsr_view_bytes(view, some));
  }
}

tsr_status tsr_transform_end_hashes(tsr_transform *t) {
  const int64_t count = t->source.views.count;
  if (tsr_target_digest(t->target) != TSR_DIGEST_HASH) return NULL;
  tsr_hash128 *hashes = calloc((size_t)count + 1, sizeof *hashes);
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++)
    hashes[i] = tsr_blocks_hash(t->source.views.items[i], t->blocks + t->first_block[i]);
  tsr_status status = tsr_target_add_hashes(t->target, &t->source.views, hashes);
  free(hashes);
  return status;
}

// Of a whole tensor, from those of its blocks.
static uint32_t join_crcs(const tsr_transform *t, int64_t tensor) {
  const tsr_view *view = t->source.views.items[tensor];
  const int64_t block = tsr_block_elements(view->dtype);
  const tsr_hash128 *blocks = t->blocks + t->first_block[tensor];
  uint32_t crc = 0;
  for (int64_t at = 0; at < view->elements; at += block) {
    const int64_t bytes = tsr_view_bytes(view, tsr_least(block, view->elements - at));
    crc = tsr_zip_crc_join(crc, (uint32_t)blocks[at / block].low, bytes);
  }
  return crc;
}

tsr_status tsr_transform_end_archive(const tsr_transform *t) {
  const int64_t count = t->source.views.count;
  if (tsr_target_digest(t->target) != TSR_DIGEST_CRC) return NULL;
  uint32_t *crcs = calloc((size_t)count + 1, sizeof *crcs);
  if (!crcs) return tsr_fail(NO_MEMORY, "checksums of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) crcs[i] = join_crcs(t, i);
  tsr_status status = tsr_target_end_archive(t->target, crcs, !t->options.no_sync);
  free(crcs);
  return status;
}
