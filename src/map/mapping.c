// Mappings: the result of applying a map, and its inverse.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"
#include "map/map_internal.h"

tsr_status tsr_mapping_create(const tsr_tree *source, tsr_mapping **out_mapping) {
  tsr_mapping *mapping = calloc(1, sizeof *mapping);
  if (!mapping) return tsr_fail(NO_MEMORY, "a mapping");
  atomic_init(&mapping->refs, 1);
  mapping->source = tsr_tree_retain(source);
  *out_mapping = mapping;
  return NULL;
}

tsr_mapping *tsr_mapping_retain(const tsr_mapping *mapping) {
  tsr_mapping *shared = (tsr_mapping *)(uintptr_t)mapping;
  if (shared) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void tsr_mapping_release(const tsr_mapping *mapping) {
  tsr_mapping *shared = (tsr_mapping *)(uintptr_t)mapping;
  if (!shared || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) != 1) return;
  tsr_tree_release(shared->source);
  tsr_tree_release(shared->tree);
  tsr_text_deinit(&shared->warnings);
  tsr_text_deinit(&shared->apart);
  free(shared->items);
  free(shared->constants);
  tsr_arena_deinit(&shared->arena);
  free(shared);
}

const tsr_tree *tsr_mapping_source(const tsr_mapping *mapping) { return mapping->source; }
const tsr_tree *tsr_mapping_tree(const tsr_mapping *mapping) { return mapping->tree; }
const char *tsr_mapping_warnings(const tsr_mapping *mapping) {
  return tsr_text_string(&mapping->warnings);
}
int64_t tsr_mapping_line(const tsr_mapping *mapping, int64_t tensor) {
  if (tensor < 0 || tensor >= tsr_tree_count(mapping->tree)) return 0;
  return mapping->items[tensor].line;
}
const tsr_mapped *tsr_mapping_tensor(const tsr_mapping *mapping, int64_t tensor) {
  return &mapping->items[tensor];
}

// ---- compact pieces ----

tsr_map_piece tsr_map_kept_open(const tsr_map_kept *kept) {
  tsr_map_piece piece = {
      .source = kept->source, .from = kept->from, .to = kept->to, .loop_count = kept->loop_count};
  if (kept->loop_count > 0)
    memcpy(piece.loops, kept->loops, sizeof *kept->loops * (size_t)kept->loop_count);
  return piece;
}

static tsr_status keep_pieces(tsr_mapping *mapping, const tsr_map_pieces *pieces,
                              const tsr_map_kept **out) {
  tsr_map_kept *kept = tsr_arena_zeros(&mapping->arena, (size_t)pieces->count + 1, sizeof *kept);
  if (!kept) return tsr_fail(NO_MEMORY, "pieces of a tensor");
  for (int64_t i = 0; i < pieces->count; i++) {
    const tsr_map_piece *piece = &pieces->items[i];
    const size_t bytes = sizeof *piece->loops * (size_t)piece->loop_count;
    tsr_copy_loop *loops = tsr_arena_alloc(&mapping->arena, bytes + 1);
    if (!loops) return tsr_fail(NO_MEMORY, "pieces of a tensor");
    memcpy(loops, piece->loops, bytes);
    kept[i] = (tsr_map_kept){piece->source, piece->from, piece->to, piece->loop_count, loops};
  }
  *out = kept;
  return NULL;
}

tsr_status tsr_mapping_add(tsr_mapping *mapping, const char *name, int line, int64_t order,
                           const tsr_made *made) {
  tsr_mapped mapped = {.name = tsr_arena_copy(&mapping->arena, name, strlen(name)),
                       .dtype = made->dtype,
                       .shape = made->shape,
                       .line = line,
                       .order = order,
                       .piece_count = made->pieces.count};
  if (!mapped.name) return tsr_fail(NO_MEMORY, "a tensor's name");
  TSR_TRY(keep_pieces(mapping, &made->pieces, &mapped.pieces));
  tsr_mapped *items = tsr_grow(mapping->items, mapping->count, &mapping->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "tensors of a mapping");
  mapping->items = items;
  mapping->items[mapping->count++] = mapped;
  return NULL;
}

// Sorted by the position of their sources, then in the order they were made. qsort is not stable,
// so `order` is made unique first.
static int by_order(const void *a, const void *b) {
  const tsr_mapped *x = a, *y = b;
  return (x->order > y->order) - (x->order < y->order);
}

static tsr_status sort_items(tsr_mapping *mapping) {
  for (int64_t i = 0; i < mapping->count; i++)
    if (__builtin_mul_overflow(mapping->items[i].order, mapping->count, &mapping->items[i].order) ||
        __builtin_add_overflow(mapping->items[i].order, i, &mapping->items[i].order))
      return tsr_fail(OVERFLOW, "%lld tensors", (long long)mapping->count);
  if (mapping->count > 1)
    qsort(mapping->items, (size_t)mapping->count, sizeof *mapping->items, by_order);
  return NULL;
}

tsr_status tsr_mapping_finish(tsr_mapping *mapping) {
  TSR_TRY(sort_items(mapping));
  tsr_tensor *tensors = calloc((size_t)mapping->count + 1, sizeof *tensors);
  if (!tensors) return tsr_fail(NO_MEMORY, "tensors of a mapping");
  for (int64_t i = 0; i < mapping->count; i++)
    tensors[i] = (tsr_tensor){.path = mapping->items[i].name,
                              .dtype = mapping->items[i].dtype,
                              .rank = mapping->items[i].shape.rank,
                              .dims = mapping->items[i].shape.dims};
  tsr_tree *tree = NULL;
  tsr_status status = tsr_tree_create(tensors, mapping->count, &tree);
  mapping->tree = tree;
  free(tensors);
  return status;
}

void tsr_mapping_describe(const tsr_mapping *mapping, tsr_text *out) {
  for (int64_t i = 0; i < mapping->constant_count; i++)
    for (size_t b = 0; b < sizeof mapping->constants->bytes; b++)
      tsr_text_addf(out, "%02x", mapping->constants[i].bytes[b]);
  for (int64_t i = 0; i < mapping->count; i++) {
    const tsr_mapped *mapped = &mapping->items[i];
    tsr_text_addf(out, "\n%lld", (long long)i);
    for (int64_t p = 0; p < mapped->piece_count; p++) {
      const tsr_map_kept *piece = &mapped->pieces[p];
      tsr_text_addf(out, " %lld %lld %lld", (long long)piece->source, (long long)piece->from,
                    (long long)piece->to);
      for (int l = 0; l < piece->loop_count; l++)
        tsr_text_addf(out, " (%lld %lld %lld)", (long long)piece->loops[l].count,
                      (long long)piece->loops[l].from, (long long)piece->loops[l].to);
    }
  }
}

// ---- the inverse ----

// The inverted pieces of every source, one entry of `made` for each.
static tsr_status gather_pieces(const tsr_mapping *mapping, tsr_made *made) {
  for (int64_t i = 0; i < mapping->count; i++) {
    const tsr_mapped *mapped = &mapping->items[i];
    for (int64_t p = 0; p < mapped->piece_count; p++) {
      tsr_map_piece piece = tsr_map_kept_open(&mapped->pieces[p]);
      if (piece.source < 0) continue;
      const int64_t source = piece.source;
      tsr_map_piece_swap(&piece);
      piece.source = i;
      TSR_TRY(tsr_map_pieces_add(&made[source].pieces, &piece));
    }
  }
  return NULL;
}

static int larger_first(const void *a, const void *b) {
  const tsr_map_piece *x = a, *y = b;
  const int64_t in_x = tsr_map_piece_elements(x), in_y = tsr_map_piece_elements(y);
  if (in_x != in_y) return in_x < in_y ? 1 : -1;
  if (x->source != y->source) return x->source < y->source ? -1 : 1;
  return (x->to > y->to) - (x->to < y->to);
}

// Removes pieces that overlap a larger one, since a source may be used more than once. The whole
// tensor wins over its sections.
static void drop_doubles(tsr_map_pieces *pieces) {
  int64_t kept = 0;
  if (pieces->count > 1)
    qsort(pieces->items, (size_t)pieces->count, sizeof *pieces->items, larger_first);
  for (int64_t i = 0; i < pieces->count; i++) {
    bool meets = false;
    for (int64_t k = 0; k < kept && !meets; k++)
      meets = tsr_map_pieces_meet(&pieces->items[k], &pieces->items[i]);
    if (!meets) pieces->items[kept++] = pieces->items[i];
  }
  pieces->count = kept;
}

static tsr_status add_inverse(const tsr_mapping *mapping, int64_t source, tsr_made *made,
                              tsr_mapping *inverse) {
  const tsr_tensor *tensor = tsr_tree_at(mapping->source, source);
  int64_t found = 0;
  made->dtype = tensor->dtype;
  made->shape = tsr_tensor_shape(tensor);
  drop_doubles(&made->pieces);
  for (int64_t i = 0; i < made->pieces.count; i++)
    found += tsr_map_piece_elements(&made->pieces.items[i]);
  if (found != tsr_tensor_elements(tensor))
    return tsr_fail(NOT_EXPRESSIBLE,
                    "the map has no inverse: of tensor \"%s\", %lld of %lld elements are in no "
                    "destination tensor, or only in pieces that overlap",
                    tensor->path, (long long)(tsr_tensor_elements(tensor) - found),
                    (long long)tsr_tensor_elements(tensor));
  return tsr_mapping_add(inverse, tensor->path, 0, source, made);
}

static tsr_status invert_into(const tsr_mapping *mapping, tsr_mapping *inverse) {
  const int64_t count = tsr_tree_count(mapping->source);
  tsr_made *made = calloc((size_t)count + 1, sizeof *made);
  if (!made) return tsr_fail(NO_MEMORY, "an inverse");
  tsr_status status = gather_pieces(mapping, made);
  for (int64_t i = 0; i < count; i++) {
    if (!status) status = add_inverse(mapping, i, &made[i], inverse);
    tsr_map_pieces_deinit(&made[i].pieces);
  }
  free(made);
  return status ? status : tsr_mapping_finish(inverse);
}

tsr_status tsr_mapping_invert(const tsr_mapping *mapping, tsr_mapping **out_inverse) {
  tsr_mapping *inverse = NULL;
  TSR_TRY(tsr_mapping_create(mapping->tree, &inverse));
  tsr_text_add(&inverse->apart, tsr_text_string(&mapping->apart));
  tsr_status status = tsr_text_check(&inverse->apart);
  if (!status) status = invert_into(mapping, inverse);
  if (status)
    tsr_mapping_release(inverse);
  else
    *out_inverse = inverse;
  return status;
}
