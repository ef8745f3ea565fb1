// Views of tensors that a map makes of others.
//
// A run or box of the result is cut out of each of its map pieces (map/map_pieces.h). A piece that
// is one run of a source is read in place. Others are read as boxes of the source into a buffer of
// bounded size, and copied out with the strides of the piece.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "element/copy_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"
#include "map/map_internal.h"
#include "plan/tree_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/layout.h"
#include "tessera/shape.h"
#include "tessera/tree.h"
#include "view/view.h"

enum {
  MOST_SCRATCH = 4 << 20,  // bytes of a box
  MOST_LISTS = 1 << 16,    // bytes of lists of pieces, usually
  SMALL_GAP = 4096         // unwanted bytes in a box: below this, reading on is cheaper
};

// The sources, shared by the views made of them.
typedef struct shared_sources {
  atomic_long refs;
  tsr_views views;
  const tsr_mapping *mapping;  // shared
} shared_sources;

typedef struct mapped_view {
  tsr_view view;
  shared_sources *sources;
  const tsr_mapped *mapped;
} mapped_view;

static void release_sources(shared_sources *sources) {
  if (atomic_fetch_sub_explicit(&sources->refs, 1, memory_order_acq_rel) != 1) return;
  tsr_views_deinit(&sources->views);
  tsr_mapping_release(sources->mapping);
  free(sources);
}

// ---- reading ----

typedef struct mapped_reader {
  const mapped_view *mapped;
  int bits;
  char *out;
  char *scratch;  // owned; NULL until needed
} mapped_reader;

static tsr_status need_scratch(mapped_reader *r) {
  if (!r->scratch) r->scratch = malloc(MOST_SCRATCH);
  return r->scratch ? NULL : tsr_fail(NO_MEMORY, "%d bytes to rearrange", MOST_SCRATCH);
}

// A piece as a copy from the scratch buffer, whose steps along the source are `steps`.
static void copy_out(const mapped_reader *r, const tsr_map_piece *piece, const int64_t *steps) {
  tsr_copy copy = {.to = piece->to, .length = 1};
  for (int i = 0; i < piece->loop_count; i++)
    copy.loops[copy.loop_count++] =
        (tsr_copy_loop){piece->loops[i].count, steps[i], piece->loops[i].to};
  tsr_copy_simplify(&copy);
  tsr_copy_run(&copy, r->bits, r->scratch, r->out);
}

// A constant, repeated.
static tsr_status fill(mapped_reader *r, const tsr_map_piece *piece) {
  const tsr_map_constant *constant = &r->mapped->sources->mapping->constants[-1 - piece->source];
  const int64_t steps[TSR_MAP_MOST_LOOPS] = {0};
  TSR_TRY(need_scratch(r));
  memcpy(r->scratch, constant->bytes, sizeof constant->bytes);
  copy_out(r, piece, steps);
  return NULL;
}

// A piece with source and result exchanged, so that `to` counts in the source, and with each loop
// in one dimension.
typedef struct source_tile {
  tsr_map_piece piece;
  tsr_range box[TSR_MAX_RANK];
  int dims[TSR_MAP_MOST_LOOPS];
} source_tile;

static void find_box(source_tile *t, const tsr_shape *shape, const int64_t *strides) {
  for (int d = 0; d < shape->rank; d++) {
    const int64_t at = t->piece.to / strides[d] % shape->dims[d];
    t->box[d] = (tsr_range){at, at + 1};
  }
  for (int i = 0; i < t->piece.loop_count; i++) {
    const tsr_copy_loop *loop = &t->piece.loops[i];
    t->dims[i] = tsr_map_piece_dim(shape, strides, loop->to);
    t->box[t->dims[i]].hi += (loop->count - 1) * (loop->to / strides[t->dims[i]]);
  }
}

// Row-major strides of a box; returns its elements.
static int64_t box_strides(const source_tile *t, int rank, int64_t *out) {
  int64_t elements = 1;
  for (int d = rank; d-- > 0;) {
    out[d] = elements;
    elements *= t->box[d].hi - t->box[d].lo;
  }
  return elements;
}

// The loop to halve before the box is read: one with large gaps, or the outermost of a box that is
// too large; -1 = none.
static int loop_to_halve(const mapped_reader *r, const source_tile *t, const int64_t *strides,
                         const int64_t *in_box, int64_t elements) {
  int64_t inside[TSR_MAX_RANK];  // how far inner loops go in each dimension
  for (int d = 0; d < TSR_MAX_RANK; d++) inside[d] = 1;
  int found = -1;
  for (int i = t->piece.loop_count; i-- > 0;) {
    const int d = t->dims[i];
    const int64_t step = t->piece.loops[i].to / strides[d];
    if ((step - inside[d]) * in_box[d] * r->bits / 8 >= SMALL_GAP) found = i;
    inside[d] += (t->piece.loops[i].count - 1) * step;
  }
  if (found >= 0) return found;
  const int64_t most = INT64_C(8) * MOST_SCRATCH / r->bits;
  return elements > most && t->piece.loop_count > 0 ? 0 : -1;
}

static tsr_status read_box(mapped_reader *r, const source_tile *t, const tsr_view *source,
                           const int64_t *strides, const int64_t *in_box) {
  int64_t steps[TSR_MAP_MOST_LOOPS];
  tsr_map_piece piece = {.to = t->piece.from, .loop_count = t->piece.loop_count};
  TSR_TRY(need_scratch(r));
  TSR_TRY(tsr_view_read_box(source, t->box, r->scratch));
  for (int i = 0; i < piece.loop_count; i++) {
    const tsr_copy_loop *loop = &t->piece.loops[i];
    steps[i] = loop->to / strides[t->dims[i]] * in_box[t->dims[i]];
    piece.loops[i] = (tsr_copy_loop){loop->count, 0, loop->from};
  }
  copy_out(r, &piece, steps);
  return NULL;
}

static tsr_status read_tile(mapped_reader *r, const tsr_map_piece *piece, const tsr_view *source) {
  int64_t strides[TSR_MAX_RANK], in_box[TSR_MAX_RANK];
  source_tile t = {.piece = *piece};
  tsr_shape_strides(&source->shape, strides);
  find_box(&t, &source->shape, strides);
  const int64_t elements = box_strides(&t, source->shape.rank, in_box);
  const int loop = loop_to_halve(r, &t, strides, in_box, elements);
  if (loop < 0) return read_box(r, &t, source, strides, in_box);
  const tsr_copy_loop halved = piece->loops[loop];
  const int64_t middle = halved.count / 2;
  tsr_map_piece half = tsr_map_piece_turns(piece, loop, 0, middle);
  TSR_TRY(read_tile(r, &half, source));
  half = tsr_map_piece_turns(piece, loop, middle, halved.count - middle);
  return read_tile(r, &half, source);
}

static tsr_status read_boxes(mapped_reader *r, const tsr_map_piece *piece, const tsr_view *source) {
  tsr_map_pieces tiles = TSR_MAP_PIECES_EMPTY;
  tsr_map_piece swapped = *piece;
  tsr_map_piece_swap(&swapped);
  tsr_status status = tsr_map_piece_align(&swapped, &source->shape, &tiles);
  for (int64_t i = 0; i < tiles.count && !status; i++)
    status = read_tile(r, &tiles.items[i], source);
  tsr_map_pieces_deinit(&tiles);
  return status;
}

static bool is_run(const tsr_map_piece *piece) {
  return piece->loop_count == 0 ||
         (piece->loop_count == 1 && piece->loops[0].from == 1 && piece->loops[0].to == 1);
}

// Reads a piece whose places count from the start of the buffer.
static tsr_status read_placed(mapped_reader *r, tsr_map_piece *piece) {
  tsr_map_piece_simplify(piece);
  if (piece->source < 0) return fill(r, piece);
  const tsr_view *source = r->mapped->sources->views.items[piece->source];
  const int64_t count = piece->loop_count ? piece->loops[0].count : 1;
  const bool whole_bytes =
      r->bits % 8 == 0 || (piece->to * r->bits % 8 == 0 && count * r->bits % 8 == 0);
  if (is_run(piece) && whole_bytes)
    return tsr_view_read(source, piece->from, count, r->out + piece->to * r->bits / 8);
  return read_boxes(r, piece, source);
}

static tsr_status read_piece(mapped_reader *r, const tsr_map_kept *kept, int64_t first,
                             int64_t end) {
  tsr_map_pieces cut = TSR_MAP_PIECES_EMPTY;
  const tsr_map_piece piece = tsr_map_kept_open(kept);
  if (piece.to >= end || piece.to + tsr_map_piece_span(&piece) < first) return NULL;
  tsr_status status = tsr_map_piece_restrict(&piece, first, end, &cut);
  for (int64_t i = 0; i < cut.count && !status; i++) {
    cut.items[i].to -= first;
    status = read_placed(r, &cut.items[i]);
  }
  tsr_map_pieces_deinit(&cut);
  return status;
}

static tsr_status read_mapped(const tsr_view *view, int64_t first, int64_t count, void *out) {
  const mapped_view *mapped = (const mapped_view *)view;
  mapped_reader r = {.mapped = mapped, .bits = tsr_dtype_info_of(view->dtype)->bits, .out = out};
  tsr_status status = NULL;
  for (int64_t i = 0; i < mapped->mapped->piece_count && !status; i++)
    status = read_piece(&r, &mapped->mapped->pieces[i], first, first + count);
  free(r.scratch);
  return status;
}

// ---- boxes of the result ----

typedef struct boxed {
  mapped_reader r;
  const tsr_shape *shape;         // of the result
  int64_t strides[TSR_MAX_RANK];  // of the result
  const tsr_range *box;
  int64_t in_box[TSR_MAX_RANK];  // strides of the box
} boxed;

// Reads a piece that lies within the box.
static tsr_status read_inside(boxed *b, const source_tile *t) {
  tsr_map_piece piece = t->piece;
  piece.to = 0;
  for (int d = 0; d < b->shape->rank; d++) piece.to += (t->box[d].lo - b->box[d].lo) * b->in_box[d];
  for (int i = 0; i < piece.loop_count; i++)
    piece.loops[i].to = piece.loops[i].to / b->strides[t->dims[i]] * b->in_box[t->dims[i]];
  return read_placed(&b->r, &piece);
}

// The dimension in which a piece exceeds the box; -1 = none, -2 = it does not meet the box.
static int reaches_out(const boxed *b, const source_tile *t) {
  int found = -1;
  for (int d = 0; d < b->shape->rank; d++) {
    const tsr_range held = t->box[d], wanted = b->box[d];
    if (held.hi <= wanted.lo || held.lo >= wanted.hi) return -2;
    if (held.lo < wanted.lo || held.hi > wanted.hi) found = d;
  }
  return found;
}

// read_within for some turns of a loop; -1 and no turns are fine.
static tsr_status read_turns(boxed *b, const tsr_map_piece *piece, int loop, int64_t first,
                             int64_t count);

// Reads what lies in the box, of a piece whose loops stay in one dimension each: the turns of the
// outermost loop that lie within as one piece, the turns at both ends by recursion.
static tsr_status read_within(boxed *b, const tsr_map_piece *piece) {
  source_tile t = {.piece = *piece};
  find_box(&t, b->shape, b->strides);
  const int dim = reaches_out(b, &t);
  if (dim == -2) return NULL;
  if (dim == -1) return read_inside(b, &t);
  int loop = 0;
  while (t.dims[loop] != dim) loop++;
  const tsr_copy_loop *cut = &piece->loops[loop];
  const tsr_range held = t.box[dim], wanted = b->box[dim];
  const int64_t step = cut->to / b->strides[dim];
  const int64_t inside = held.hi - held.lo - (cut->count - 1) * step;
  int64_t begin = held.lo >= wanted.lo ? 0 : (wanted.lo - held.lo - 1) / step + 1;
  int64_t stop = held.lo + inside <= wanted.hi ? (wanted.hi - held.lo - inside) / step + 1 : 0;
  if (begin > cut->count) begin = cut->count;
  if (stop > cut->count) stop = cut->count;
  const int64_t before = begin - 1, after = stop > before ? stop : begin;
  TSR_TRY(read_turns(b, piece, loop, before, 1));
  TSR_TRY(read_turns(b, piece, loop, begin, stop - begin));
  return after < cut->count ? read_turns(b, piece, loop, after, 1) : NULL;
}

static tsr_status read_turns(boxed *b, const tsr_map_piece *piece, int loop, int64_t first,
                             int64_t count) {
  if (first < 0 || count < 1) return NULL;
  const tsr_map_piece some = tsr_map_piece_turns(piece, loop, first, count);
  return read_within(b, &some);
}

static tsr_status read_boxed(boxed *b, const tsr_map_kept *kept) {
  tsr_map_pieces aligned = TSR_MAP_PIECES_EMPTY;
  const tsr_map_piece piece = tsr_map_kept_open(kept);
  tsr_status status = tsr_map_piece_align(&piece, b->shape, &aligned);
  for (int64_t i = 0; i < aligned.count && !status; i++) status = read_within(b, &aligned.items[i]);
  tsr_map_pieces_deinit(&aligned);
  return status;
}

static tsr_status read_mapped_box(const tsr_view *view, const tsr_range *box, void *out) {
  const mapped_view *mapped = (const mapped_view *)view;
  boxed b = {.r = {.mapped = mapped, .bits = tsr_dtype_info_of(view->dtype)->bits, .out = out},
             .shape = &view->shape,
             .box = box};
  source_tile whole = {0};
  for (int d = 0; d < view->shape.rank; d++) {
    if (box[d].lo >= box[d].hi) return NULL;
    whole.box[d] = box[d];
  }
  tsr_shape_strides(&view->shape, b.strides);
  box_strides(&whole, view->shape.rank, b.in_box);
  tsr_status status = NULL;
  for (int64_t i = 0; i < mapped->mapped->piece_count && !status; i++)
    status = read_boxed(&b, &mapped->mapped->pieces[i]);
  free(b.r.scratch);
  return status;
}

// ---- what it takes ----

static int64_t memory_of_mapped(const tsr_view *view, int64_t count) {
  const mapped_view *mapped = (const mapped_view *)view;
  int64_t most = 0;
  for (int64_t i = 0; i < mapped->mapped->piece_count; i++) {
    const int64_t source = mapped->mapped->pieces[i].source;
    if (source < 0) continue;
    const int64_t memory = tsr_view_memory(mapped->sources->views.items[source], count);
    if (memory > most) most = memory;
  }
  return most + MOST_SCRATCH + MOST_LISTS;
}

// Replicas of the sources are not counted: how often they are read depends on the windows. A tensor
// that was only renamed is still its source.
static void find_origin(mapped_view *mapped) {
  tsr_view *view = &mapped->view;
  int64_t elements = 0;
  view->origin = -1;
  for (int64_t i = 0; i < mapped->mapped->piece_count; i++) {
    tsr_map_piece piece = tsr_map_kept_open(&mapped->mapped->pieces[i]);
    if (piece.source < 0) continue;
    const tsr_view *source = mapped->sources->views.items[piece.source];
    elements += tsr_map_piece_elements(&piece);
    if (i > 0) continue;
    tsr_map_piece_simplify(&piece);
    view->origin = source->origin;
    view->direct = source->direct && is_run(&piece) && elements == source->elements &&
                   tsr_shape_equal(&source->shape, &view->shape);
  }
  view->bytes_read = view->least_read = tsr_view_bytes(view, elements);
}

static void destroy_mapped(tsr_view *view) {
  release_sources(((mapped_view *)view)->sources);
  free(view);
}

static const tsr_view_ops mapped_ops = {
    .read = read_mapped,
    .read_box = read_mapped_box,
    .memory = memory_of_mapped,
    .destroy = destroy_mapped,
};

// ---- making ----

static tsr_status make_mapped(shared_sources *sources, int64_t tensor, tsr_view **out_view) {
  const tsr_mapped *mapped = tsr_mapping_tensor(sources->mapping, tensor);
  mapped_view *view = malloc(sizeof *view);
  if (!view) return tsr_fail(NO_MEMORY, "a view of a tensor");
  *view = (mapped_view){.view = {.ops = &mapped_ops,
                                 .name = mapped->name,
                                 .dtype = mapped->dtype,
                                 .shape = mapped->shape},
                        .sources = sources,
                        .mapped = mapped};
  tsr_status status = tsr_shape_count(&mapped->shape, &view->view.elements);
  if (status) {
    free(view);
    return status;
  }
  find_origin(view);
  atomic_fetch_add_explicit(&sources->refs, 1, memory_order_relaxed);
  *out_view = &view->view;
  return NULL;
}

tsr_status tsr_mapping_check_source(const tsr_mapping *mapping, const tsr_checkpoint *checkpoint) {
  const tsr_tree *source = tsr_mapping_source(mapping), *there = tsr_checkpoint_tree(checkpoint);
  const tsr_tensor *missing = source == there ? NULL : tsr_tree_missing(source, there);
  if (missing)
    return tsr_fail(TREE_MISMATCH,
                    "the map was applied to another model than %s, which has no tensor \"%s\" of "
                    "this type and shape",
                    tsr_checkpoint_path(checkpoint), missing->path);
  if (tsr_tree_count(source) != tsr_tree_count(there))
    return tsr_fail(TREE_MISMATCH,
                    "the map was applied to another model than %s: to %lld of %lld tensors",
                    tsr_checkpoint_path(checkpoint), (long long)tsr_tree_count(source),
                    (long long)tsr_tree_count(there));
  return NULL;
}

// A mapping counts the tensors of its source; a file may have the same ones in another order.
static tsr_status order_views(tsr_views *views, const tsr_tree *order) {
  tsr_view **items = calloc((size_t)views->count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "views of %lld tensors", (long long)views->count);
  for (int64_t i = 0; i < views->count; i++) {
    const int64_t place = tsr_tree_find(order, views->items[i]->name);
    if (place < 0) {
      free(items);
      return tsr_fail(TREE_MISMATCH, "tensor \"%s\" is none of the map's", views->items[i]->name);
    }
    items[place] = views->items[i];
  }
  free(views->items);
  views->items = items;
  return NULL;
}

tsr_status tsr_views_map(tsr_views *sources, const tsr_mapping *mapping, tsr_views *out_views) {
  const int64_t count = tsr_tree_count(tsr_mapping_tree(mapping));
  shared_sources *shared = calloc(1, sizeof *shared);
  tsr_views views = {.items = calloc((size_t)count + 1, sizeof *views.items)};
  tsr_status status = shared && views.items
                          ? order_views(sources, tsr_mapping_source(mapping))
                          : tsr_fail(NO_MEMORY, "views of %lld tensors", (long long)count);
  if (status) {
    free(shared);
    free(views.items);
    tsr_views_deinit(sources);
    return status;
  }
  *shared = (shared_sources){.views = *sources, .mapping = tsr_mapping_retain(mapping)};
  atomic_init(&shared->refs, 1);
  *sources = (tsr_views){0};
  for (; views.count < count && !status; views.count += !status)
    status = make_mapped(shared, views.count, &views.items[views.count]);
  release_sources(shared);
  if (status)
    tsr_views_deinit(&views);
  else
    *out_views = views;
  return status;
}
