// Sends what was read to the other ranks that hold it, from buffer to buffer.
//
// A shard is sent by its reader, or piece by piece by all of them. Where shards overlap (KV heads
// that several ranks hold), the reader of a shard has only the elements that the shard owns: it
// sends these, and the others come from the readers of the shards that own them.
#include <stdlib.h>

#include "element/copy_internal.h"
#include "layout/layout_internal.h"
#include "load/load.h"
#include "tessera/checkpoint/load.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"

typedef struct copy_listing {
  const tsr_load *load;
  const tsr_load_tensor *t;
  int me;
  tsr_holder *holders;  // owned
  int64_t holder_count;
  tsr_holder *others;    // owned: of a second shard
  tsr_box_index *index;  // owned: of the layout, where shards overlap
  tsr_copy_vector *out;
} copy_listing;

static tsr_status add(copy_listing *l, const tsr_holder *from, const tsr_holder *to,
                      tsr_copy copy) {
  if ((from->rank != l->me && to->rank != l->me) || tsr_copy_elements(&copy) == 0) return NULL;
  copy.source = from->device;
  copy.target = to->device;
  return tsr_copy_vector_add(l->out, &copy);
}

// From one holder to all others.
static tsr_status add_to_others(copy_listing *l, int64_t from, const tsr_copy *copy) {
  for (int64_t i = 0; i < l->holder_count; i++)
    if (i != from) TSR_TRY(add(l, &l->holders[from], &l->holders[i], *copy));
  return NULL;
}

// ---- shards that do not overlap ----

// A range of one dimension of a shard's buffer, to the same place.
static tsr_copy copy_of_range(const tsr_layout *layout, int64_t shard, int dim, tsr_range range) {
  tsr_shape buffer;
  int64_t outer = 1, inner = 1;
  tsr_layout_buffer_shape(layout, shard, &buffer);
  for (int d = 0; d < dim; d++) outer *= buffer.dims[d];
  for (int d = dim + 1; d < buffer.rank; d++) inner *= buffer.dims[d];
  const int64_t step = buffer.dims[dim] * inner;
  tsr_copy copy = {.from = range.lo * inner,
                   .to = range.lo * inner,
                   .length = (range.hi - range.lo) * inner,
                   .loop_count = 1,
                   .loops = {{outer, step, step}}};
  tsr_copy_simplify(&copy);
  return copy;
}

static tsr_status list_ranges(copy_listing *l, int64_t shard) {
  const int dim = tsr_load_split_dim(l->t, shard, l->holder_count);
  for (int64_t i = 0; i < l->holder_count; i++) {
    const tsr_range range = tsr_load_piece(l->t, shard, dim, l->holder_count, i);
    const tsr_copy copy = copy_of_range(l->t->layout, shard, dim, range);
    TSR_TRY(add_to_others(l, i, &copy));
  }
  return NULL;
}

static int64_t find_rank(const tsr_holder *holders, int rank) {
  int64_t i = 0;
  while (holders[i].rank != rank) i++;
  return i;
}

static tsr_status list_whole(copy_listing *l, int64_t shard) {
  const tsr_copy copy = {.length = tsr_layout_buffer_elements(l->t->layout, shard)};
  return add_to_others(l, find_rank(l->holders, l->t->readers[shard]), &copy);
}

// ---- shards that overlap ----

typedef struct owner_copies {
  copy_listing *l;
  const tsr_piece *piece;
} owner_copies;

// Elements of a piece that another shard owns, to all holders of the piece.
static tsr_status take_copy(void *context, const tsr_copy *found) {
  const owner_copies *t = context;
  copy_listing *l = t->l;
  tsr_load_holders(l->load->comm, l->t->layout, found->source, l->others);
  const tsr_holder *reader = &l->others[find_rank(l->others, l->t->readers[found->source])];
  tsr_copy copy = *found;
  copy.to += t->piece->offset;
  for (int64_t i = 0; i < l->holder_count; i++) TSR_TRY(add(l, reader, &l->holders[i], copy));
  return NULL;
}

static tsr_status list_pieces(copy_listing *l, int64_t shard) {
  const tsr_layout *layout = l->t->layout;
  const int64_t reader = find_rank(l->holders, l->t->readers[shard]);
  tsr_pieces pieces;
  tsr_status status = NULL;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);) {
    const tsr_copy copy = tsr_load_piece_copy(&piece, tsr_layout_rank(layout), false);
    status = piece.owned
                 ? add_to_others(l, reader, &copy)
                 : tsr_box_copies_into(l->index, piece.ranges, piece.strides, TSR_BOX_OWNERS,
                                       take_copy, &(owner_copies){l, &piece});
  }
  tsr_pieces_deinit(&pieces);
  return status;
}

// ---- all of a tensor ----

static tsr_status list_shard(copy_listing *l, int64_t shard) {
  l->holder_count = tsr_load_holders(l->load->comm, l->t->layout, shard, l->holders);
  if (l->t->overlaps) return list_pieces(l, shard);
  if (l->holder_count == 1) return NULL;
  return l->t->readers[shard] == TSR_READER_ALL ? list_ranges(l, shard) : list_whole(l, shard);
}

// With overlaps, elements of this rank may go to any shard; otherwise to replicas only.
static tsr_status list_shards(copy_listing *l) {
  const int64_t shards = tsr_layout_shard_count(l->t->layout);
  if (l->t->overlaps) {
    TSR_TRY(tsr_box_index_create(l->t->layout, &l->index));
    for (int64_t shard = 0; shard < shards; shard++) TSR_TRY(list_shard(l, shard));
    return NULL;
  }
  for (int64_t i = 0; i < l->t->slot_count; i++) TSR_TRY(list_shard(l, l->t->slots[i].shard));
  return NULL;
}

tsr_status tsr_load_list_copies(const tsr_load *load, const tsr_load_tensor *t,
                                tsr_copy_vector *out) {
  const size_t replicas = (size_t)tsr_layout_replica_count(t->layout);
  copy_listing l = {.load = load, .t = t, .me = tsr_comm_rank(load->comm), .out = out};
  if (!t->moves) return NULL;
  l.holders = malloc(sizeof *l.holders * (replicas + 1));
  l.others = malloc(sizeof *l.others * (replicas + 1));
  tsr_status status =
      l.holders && l.others ? list_shards(&l) : tsr_fail(NO_MEMORY, "%zu replicas", replicas);
  tsr_box_index_destroy(l.index);
  free(l.holders);
  free(l.others);
  return status;
}

// ---- sending ----

tsr_status tsr_exchanges_init(tsr_exchanges *x, int64_t most) {
  const size_t room = (size_t)most + 1;
  *x = (tsr_exchanges){.items = calloc(room, sizeof *x->items),
                       .calls = calloc(room, sizeof *x->calls)};
  return x->items && x->calls ? NULL : tsr_fail(NO_MEMORY, "%lld exchanges", (long long)most);
}

tsr_status tsr_exchanges_add(tsr_exchanges *x, const tsr_comm *comm, int bits,
                             tsr_exchanged **out_item) {
  tsr_exchanged *item = *out_item = &x->items[x->count++];
  item->bits = bits;
  return tsr_lists_init(&item->lists, comm);
}

tsr_status tsr_exchanges_end(tsr_exchanges *x, tsr_comm *comm, tsr_status agreed) {
  for (int i = 0; i < x->count && !agreed; i++)
    x->calls[i] = (tsr_exchange){.copies = x->items[i].copies.items,
                                 .copy_count = x->items[i].copies.count,
                                 .bits = x->items[i].bits,
                                 .in = x->items[i].lists.in,
                                 .out = x->items[i].lists.out};
  if (x->count && !agreed) agreed = tsr_exchange_agreed(comm, x->calls, x->count);
  for (int i = 0; i < x->count; i++) {
    tsr_copy_vector_deinit(&x->items[i].copies);
    tsr_lists_deinit(&x->items[i].lists);
  }
  free(x->items);
  free(x->calls);
  return agreed;
}

static tsr_status prepare(const tsr_load *load, const tsr_load_tensor *t, tsr_exchanges *x) {
  tsr_exchanged *item = NULL;
  TSR_TRY(tsr_exchanges_add(x, load->comm, tsr_dtype_info_of(t->view->dtype)->bits, &item));
  for (int64_t i = 0; i < t->slot_count; i++) {
    const int64_t local = tsr_comm_local_index(load->comm, t->slots[i].device);
    item->lists.in[local] = item->lists.out[local] = t->slots[i].data;
  }
  return tsr_load_list_copies(load, t, &item->copies);
}

static tsr_status prepare_all(const tsr_load *load, const int64_t *tensors, int64_t count,
                              tsr_exchanges *x) {
  TSR_TRY(tsr_exchanges_init(x, count));
  for (int64_t i = 0; i < count; i++)
    if (load->tensors[tensors[i]].moves) TSR_TRY(prepare(load, &load->tensors[tensors[i]], x));
  return NULL;
}

tsr_status tsr_load_share(const tsr_load *load, const int64_t *tensors, int64_t count) {
  tsr_exchanges x;
  tsr_status status = tsr_array_agree(load->comm, "load", prepare_all(load, tensors, count, &x));
  return tsr_exchanges_end(&x, load->comm, status);
}
