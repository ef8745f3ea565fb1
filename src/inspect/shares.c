// Bytes in each file, and on each rank or device.
//
// Files are summed shard by shard. What a device holds follows from dtype, shape and spec, which
// the layers of a model share: each such kind of tensor is computed once, so 100,000 tensors on as
// many devices cost no more than the few kinds there are.
#include <stdlib.h>

#include "format/format.h"
#include "inspect/inspect.h"
#include "inspect/inspect_internal.h"
#include "mesh/mesh_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"

// ---- files, and ranks with their own files ----

// `last` has the number of the last tensor counted in each share, from 1.
static void count_shard(tsr_share *share, int64_t *last, int64_t number, int64_t bytes) {
  if (!bytes) return;
  share->bytes += bytes;
  share->tensors += *last != number;
  *last = number;
}

static void count_shards(const tsr_checkpoint *checkpoint, int64_t tensor, bool by_file,
                         tsr_share *shares, int64_t *last) {
  const tsr_layout *layout = tsr_checkpoint_layout(checkpoint, tensor);
  const int64_t shards = tsr_layout_shard_count(layout);
  const int64_t copies = tsr_checkpoint_copies(checkpoint, tensor);
  for (int64_t shard = 0; shard < shards; shard++) {
    const int64_t bytes = tsr_store_shard_bytes(checkpoint->store, tensor, shard);
    for (int copy = 0; copy < copies; copy++) {
      const tsr_shard_place *part = tsr_store_place(checkpoint->store, tensor, shard, copy);
      if (part->file < 0) continue;
      const int64_t at = by_file ? part->file : tsr_layout_replica_at(layout, shard, copy);
      count_shard(&shares[at], &last[at], tensor + 1, bytes);
    }
  }
}

static tsr_status count_stored(const tsr_inspection *listing, bool by_file, tsr_share *shares,
                               int64_t count) {
  int64_t *last = calloc((size_t)count + 1, sizeof *last);
  if (!last) return tsr_fail(NO_MEMORY, "%lld sums", (long long)count);
  for (int64_t i = 0; i < listing->tensor_count; i++)
    count_shards(listing->checkpoint, listing->tensors[i], by_file, shares, last);
  free(last);
  return NULL;
}

// ---- mesh positions ----

// Tensors of one kind have one layout.
typedef struct kind {
  const tsr_tensor *tensor;
  int64_t index;
  int64_t spec;
  tsr_policy policy;
} kind;

static int compare_kinds(const void *left, const void *right) {
  const kind *a = left, *b = right;
  if (a->spec != b->spec) return a->spec < b->spec ? -1 : 1;
  if (a->policy != b->policy) return a->policy < b->policy ? -1 : 1;
  if (a->tensor->dtype != b->tensor->dtype) return a->tensor->dtype < b->tensor->dtype ? -1 : 1;
  if (a->tensor->rank != b->tensor->rank) return a->tensor->rank < b->tensor->rank ? -1 : 1;
  for (int d = 0; d < a->tensor->rank; d++)
    if (a->tensor->dims[d] != b->tensor->dims[d])
      return a->tensor->dims[d] < b->tensor->dims[d] ? -1 : 1;
  return 0;
}

static void count_kind(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t times,
                       tsr_share *shares, int64_t count) {
  const tsr_layout *layout = tsr_checkpoint_layout(checkpoint, tensor);
  for (int64_t p = 0; p < count; p++) {
    const int64_t bytes =
        tsr_store_shard_bytes(checkpoint->store, tensor, tsr_layout_shard(layout, p));
    shares[p].bytes += times * bytes;
    shares[p].tensors += bytes > 0 ? times : 0;
  }
}

static tsr_status count_positions(const tsr_inspection *listing, tsr_share *shares, int64_t count) {
  const tsr_checkpoint *checkpoint = listing->checkpoint;
  kind *kinds = calloc((size_t)listing->tensor_count + 1, sizeof *kinds);
  if (!kinds) return tsr_fail(NO_MEMORY, "kinds of tensors");
  for (int64_t i = 0; i < listing->tensor_count; i++) {
    tsr_plan_row row;
    tsr_plan_row_read(checkpoint->plan, listing->tensors[i], &row);
    kinds[i] = (kind){.tensor = tsr_tree_at(checkpoint->tree, listing->tensors[i]),
                      .index = listing->tensors[i],
                      .spec = tsr_plan_final(checkpoint->plan, listing->tensors[i]),
                      .policy = row.policy};
  }
  if (listing->tensor_count)
    qsort(kinds, (size_t)listing->tensor_count, sizeof *kinds, compare_kinds);
  for (int64_t i = 0, end = 0; i < listing->tensor_count; i = end) {
    while (end < listing->tensor_count && !compare_kinds(&kinds[i], &kinds[end])) end++;
    count_kind(checkpoint, kinds[i].index, end - i, shares, count);
  }
  free(kinds);
  return NULL;
}

// ---- the whole ----

tsr_status tsr_inspection_shares(const tsr_inspection *inspection, tsr_share_kind by,
                                 tsr_share **out_shares, int64_t *out_count) {
  const tsr_checkpoint *checkpoint = inspection->checkpoint;
  const bool by_file = by == TSR_SHARE_BY_FILE;
  if (!by_file && !checkpoint->plan)
    return tsr_fail(UNSUPPORTED, "%s: no plan says what its ranks or devices hold",
                    checkpoint->path);
  const tsr_mesh *mesh = by_file ? NULL : tsr_plan_mesh(checkpoint->plan);
  const int64_t count =
      by_file ? tsr_checkpoint_file_count(checkpoint) : tsr_mesh_device_count(mesh);
  tsr_share *shares = calloc((size_t)count + 1, sizeof *shares);
  if (!shares) return tsr_fail(NO_MEMORY, "%lld sums", (long long)count);
  for (int64_t i = 0; i < count; i++)
    shares[i].id =
        by == TSR_SHARE_BY_DEVICE && !tsr_mesh_is_abstract(mesh) ? tsr_mesh_device_at(mesh, i) : i;
  const bool stored =
      by_file || (by == TSR_SHARE_BY_RANK && tsr_format_row(checkpoint->format)->stores_replicas);
  tsr_status status = stored ? count_stored(inspection, by_file, shares, count)
                             : count_positions(inspection, shares, count);
  if (status) {
    free(shares);
    return status;
  }
  *out_shares = shares;
  *out_count = count;
  return NULL;
}
