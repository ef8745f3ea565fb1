// A listing comes from the headers alone: tensors are selected, grouped, located in files and
// sorted. The bytes in each file, and on each rank or device, come from them too.
#include "inspect/inspect_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/arithmetic.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "format/format.h"
#include "mesh/mesh_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "store/checkpoint.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/layout.h"
#include "tessera/text.h"

struct tsr_inspection {
  const tsr_checkpoint *checkpoint;  // shared
  int64_t *tensors;                  // owned: those of all rows, one row after the other
  int64_t tensor_count;
  tsr_inspect_row *rows;  // owned
  int64_t count;
  tsr_arena arena;  // patterns
};

static const char *const orders[] = {
#define X(id, word) [TSR_INSPECT_BY_##id] = (word),
    TSR_INSPECT_ORDERS(X)
#undef X
        NULL};

tsr_status tsr_inspect_order_parse(const char *word, tsr_inspect_order *out_order) {
  for (int i = 0; i < TSR_INSPECT_ORDER_COUNT; i++)
    if (!strcmp(word, orders[i])) {
      *out_order = (tsr_inspect_order)i;
      return NULL;
    }
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; i < TSR_INSPECT_ORDER_COUNT; i++)
    tsr_text_addf(&known, "%s%s", i ? ", " : "", orders[i]);
  tsr_status status = tsr_fail(BAD_ARGUMENT, "order \"%s\" is unknown; known orders are %s", word,
                               tsr_text_string(&known));
  tsr_text_deinit(&known);
  return status;
}

// ---- which tensors make a row ----

static int64_t spec_of(const tsr_checkpoint *checkpoint, int64_t tensor) {
  return checkpoint->plan ? tsr_plan_final(checkpoint->plan, tensor) : 0;
}

static void list_tensors(tsr_inspection *listing) {
  for (int64_t i = 0; i < listing->tensor_count; i++)
    listing->rows[i] =
        (tsr_inspect_row){.name = tsr_tree_at(listing->checkpoint->tree, listing->tensors[i])->path,
                          .count = 1,
                          .tensors = &listing->tensors[i]};
  listing->count = listing->tensor_count;
}

static tsr_status take_group(tsr_inspection *listing, const tsr_tree_group *group,
                             int64_t *members) {
  const char *name = tsr_arena_copy(&listing->arena, group->pattern, strlen(group->pattern));
  if (!name) return tsr_fail(NO_MEMORY, "a pattern");
  for (int64_t i = 0; i < group->count; i++) members[i] = listing->tensors[group->members[i]];
  listing->rows[listing->count++] =
      (tsr_inspect_row){.name = name, .count = group->count, .tensors = members};
  return NULL;
}

// Puts the tensors of each group together.
static tsr_status take_groups(tsr_inspection *listing, const tsr_tree *tree, const uint64_t *keys) {
  tsr_tree_groups groups = {0};
  int64_t *sorted = malloc(sizeof *sorted * (size_t)(listing->tensor_count + 1)), *members = sorted;
  tsr_status status =
      sorted ? tsr_tree_group_by(tree, keys, &groups) : tsr_fail(NO_MEMORY, "groups of tensors");
  for (int64_t i = 0; i < groups.count && !status; i++) {
    status = take_group(listing, &groups.items[i], members);
    members += groups.items[i].count;
  }
  free(status ? sorted : listing->tensors);
  if (!status) listing->tensors = sorted;
  tsr_tree_groups_deinit(&groups);
  return status;
}

// Groups the selected tensors. Tensors of different specs are in different groups.
static tsr_status group_tensors(tsr_inspection *listing) {
  const size_t room = (size_t)listing->tensor_count + 1;
  tsr_tensor *tensors = calloc(room, sizeof *tensors);
  uint64_t *keys = calloc(room, sizeof *keys);
  tsr_tree *tree = NULL;
  tsr_status status = tensors && keys ? NULL : tsr_fail(NO_MEMORY, "groups of tensors");
  for (int64_t i = 0; i < listing->tensor_count && !status; i++) {
    tensors[i] = *tsr_tree_at(listing->checkpoint->tree, listing->tensors[i]);
    keys[i] = (uint64_t)spec_of(listing->checkpoint, listing->tensors[i]);
  }
  if (!status) status = tsr_tree_create(tensors, listing->tensor_count, &tree);
  if (!status) status = take_groups(listing, tree, keys);
  tsr_tree_release(tree);
  free(tensors);
  free(keys);
  return status;
}

// ---- rows ----

// `seen` has the number of the last row in each file, counted from 1.
static void add_shards(const tsr_checkpoint *checkpoint, int64_t tensor, int64_t number,
                       int64_t *seen, tsr_inspect_row *row) {
  const int64_t shards = tsr_layout_shard_count(tsr_checkpoint_layout(checkpoint, tensor));
  const int64_t copies = tsr_checkpoint_copies(checkpoint, tensor);
  for (int64_t shard = 0; shard < shards; shard++) {
    const int64_t bytes = tsr_store_shard_bytes(checkpoint->store, tensor, shard);
    for (int copy = 0; copy < copies && bytes > 0; copy++) {
      const tsr_shard_place *place = tsr_store_place(checkpoint->store, tensor, shard, copy);
      if (place->file < 0) continue;
      row->stored += bytes;
      row->files += seen[place->file] != number;
      seen[place->file] = number;
      const bool earlier = row->file < 0 || place->file < row->file ||
                           (place->file == row->file && place->offset < row->offset);
      if (!earlier) continue;
      row->file = place->file;
      row->offset = place->offset;
    }
  }
}

static tsr_status fill_rows(tsr_inspection *listing) {
  const tsr_checkpoint *checkpoint = listing->checkpoint;
  int64_t *seen = calloc((size_t)tsr_checkpoint_file_count(checkpoint) + 1, sizeof *seen);
  if (!seen) return tsr_fail(NO_MEMORY, "a list of files");
  for (int64_t i = 0; i < listing->count; i++) {
    tsr_inspect_row *row = &listing->rows[i];
    assert(row->tensors && row->count > 0);
    row->file = -1;
    if (checkpoint->plan)
      row->spec = tsr_plan_spec_at(checkpoint->plan, spec_of(checkpoint, row->tensors[0]));
    for (int64_t k = 0; k < row->count; k++) {
      const tsr_tensor *tensor = tsr_tree_at(checkpoint->tree, row->tensors[k]);
      row->elements = tsr_saturated_add(row->elements, tsr_tensor_elements(tensor));
      row->bytes += tsr_tensor_bytes(tensor);
      add_shards(checkpoint, row->tensors[k], i + 1, seen, row);
    }
  }
  free(seen);
  return NULL;
}

// ---- order ----

// Compares numbers in names by value: layer 2 comes before layer 10.
static int compare_names(const char *a, const char *b) {
  while (*a && *b) {
    const size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
    if (digits_a && digits_b) {
      const char *number_a = a + strspn(a, "0"), *number_b = b + strspn(b, "0");
      a += digits_a, b += digits_b;
      const ptrdiff_t length_a = a - number_a, length_b = b - number_b;
      if (length_a != length_b) return length_a < length_b ? -1 : 1;
      const int order = length_a > 0 ? strncmp(number_a, number_b, (size_t)length_a) : 0;
      if (order) return order;
      continue;
    }
    if (*a != *b) break;
    a++, b++;
  }
  return (unsigned char)*a - (unsigned char)*b;
}

// Ties keep the order of the tree.
static int by_tree(const tsr_inspect_row *a, const tsr_inspect_row *b) {
  return (a->tensors[0] > b->tensors[0]) - (a->tensors[0] < b->tensors[0]);
}

static int by_name(const void *left, const void *right) {
  const tsr_inspect_row *a = left, *b = right;
  const int order = compare_names(a->name, b->name);
  return order ? order : by_tree(a, b);
}

static int by_bytes(const void *left, const void *right) {
  const tsr_inspect_row *a = left, *b = right;
  return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : by_tree(a, b);
}

static int by_file(const void *left, const void *right) {
  const tsr_inspect_row *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  return a->offset != b->offset ? (a->offset < b->offset ? -1 : 1) : by_tree(a, b);
}

static void sort_rows(tsr_inspection *listing, tsr_inspect_order order) {
  static int (*const compare[TSR_INSPECT_ORDER_COUNT])(const void *, const void *) = {
      [TSR_INSPECT_BY_NAME] = by_name,
      [TSR_INSPECT_BY_BYTES] = by_bytes,
      [TSR_INSPECT_BY_FILE] = by_file};
  if (compare[order] && listing->count)
    qsort(listing->rows, (size_t)listing->count, sizeof *listing->rows, compare[order]);
}

// ---- the whole ----

static tsr_status fill(tsr_inspection *listing, const tsr_inspect_options *options) {
  TSR_TRY(tsr_tree_select(listing->checkpoint->tree, &options->filter, &listing->tensors,
                          &listing->tensor_count));
  listing->rows = calloc((size_t)listing->tensor_count + 1, sizeof *listing->rows);
  if (!listing->rows)
    return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)listing->tensor_count);
  if (options->group)
    TSR_TRY(group_tensors(listing));
  else
    list_tensors(listing);
  TSR_TRY(fill_rows(listing));
  sort_rows(listing, options->order);
  return NULL;
}

tsr_status tsr_inspection_create(const tsr_checkpoint *checkpoint,
                                 const tsr_inspect_options *options,
                                 tsr_inspection **out_inspection) {
  tsr_inspect_options read;
  TSR_TRY(tsr_sized_read(tsr_inspect_options, options, &read));
  tsr_inspection *listing = calloc(1, sizeof *listing);
  if (!listing) return tsr_fail(NO_MEMORY, "a list of tensors");
  listing->checkpoint = tsr_checkpoint_retain(checkpoint);
  tsr_status status = fill(listing, &read);
  if (status)
    tsr_inspection_destroy(listing);
  else
    *out_inspection = listing;
  return status;
}

void tsr_inspection_destroy(tsr_inspection *inspection) {
  if (!inspection) return;
  tsr_checkpoint_release(inspection->checkpoint);
  tsr_arena_deinit(&inspection->arena);
  free(inspection->tensors);
  free(inspection->rows);
  free(inspection);
}

int64_t tsr_inspection_count(const tsr_inspection *inspection) { return inspection->count; }

const tsr_inspect_row *tsr_inspection_row(const tsr_inspection *inspection, int64_t row) {
  return &inspection->rows[row];
}

tsr_inspect_sums tsr_inspection_sums(const tsr_inspection *inspection, tsr_dtype dtype) {
  tsr_inspect_sums sums = {0};
  for (int64_t i = 0; i < inspection->count; i++) {
    const tsr_inspect_row *row = &inspection->rows[i];
    const tsr_tensor *tensor = tsr_tree_at(inspection->checkpoint->tree, row->tensors[0]);
    if (dtype != TSR_DTYPE_NONE && tensor->dtype != dtype) continue;
    sums.tensors += row->count;
    sums.elements = tsr_saturated_add(sums.elements, row->elements);
    sums.bytes += row->bytes;
    sums.stored += row->stored;
  }
  return sums;
}

// ---- bytes in files, and on ranks with their own files ----

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
      const tsr_shard_place *place = tsr_store_place(checkpoint->store, tensor, shard, copy);
      if (place->file < 0) continue;
      const int64_t at = by_file ? place->file : tsr_layout_replica_at(layout, shard, copy);
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

// ---- bytes on mesh positions ----

// What a device holds follows from dtype, shape and spec, which the layers of a model share. Each
// such kind of tensor is computed once, so 100,000 tensors on as many devices cost no more than the
// few kinds there are. Tensors of one kind have one layout.
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
