// Ranges of sharded dimensions, by permutes of what two devices have in common or by a gather.
// Permutes of devices at one distance are tried first, then such in which each device sends to any
// other.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "localize/exchange.h"
#include "propagate/edits.h"

// ---- who needs what ----

// What a device takes of a shard: elements `first` to `first + count - 1` of its range.
typedef struct common_part {
  int64_t first, count;
} common_part;

// Parts that move together: at most one from each device and one to each. As a rule these are the
// parts of all devices that take from the shard at one distance from their own.
typedef struct hop {
  bool local;          // each device takes from its own shard
  int64_t most;        // elements of the largest part
  common_part *parts;  // of each device, by the number of its shard
  int64_t *from;       // the shard that a part is taken from; -1 = the device takes none
  int64_t *to;         // the shard that takes a part; -1 = the device sends none
} hop;

typedef struct exchange_run {
  tsr_localizing *l;
  tsr_site *site;
  const tsr_range_ask *ask;
  tsr_value *x;
  int64_t shards, size;  // of the dim, and of a shard
  hop *list;             // those that anything is taken from
  int count;
  int64_t sent;  // elements of the dim that a device sends by them
  bool gathers;  // all of the dim is no more
} exchange_run;

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// What device `to` takes of shard `from`.
static common_part part_of(const exchange_run *r, int64_t from, int64_t to) {
  const int64_t start = r->ask->starts[to], stride = r->ask->stride;
  int64_t first = -floor_divide(start - from * r->size, stride);
  int64_t end = -floor_divide(start - (from + 1) * r->size, stride);
  if (first < 0) first = 0;
  if (end > r->ask->length) end = r->ask->length;
  return (common_part){first, end > first ? end - first : 0};
}

// The shards that a device's range meets, from `first` to `last`.
static void met_shards(const exchange_run *r, int64_t to, int64_t *first, int64_t *last) {
  const int64_t start = r->ask->starts[to];
  *first = floor_divide(start, r->size);
  *last = floor_divide(start + (r->ask->length - 1) * r->ask->stride, r->size);
  if (*first < 0) *first = 0;
  if (*last >= r->shards) *last = r->shards - 1;
}

// Fills in the largest part of each hop, and what a device sends in all.
static void measure_hops(exchange_run *r, int64_t *most) {
  for (int64_t to = 0; to < r->shards; to++) {
    int64_t first = 0, last = 0;
    met_shards(r, to, &first, &last);
    for (int64_t from = first; from <= last; from++) {
      const int64_t count = part_of(r, from, to).count;
      if (count > most[to - from]) most[to - from] = count;
    }
  }
  for (int64_t hops = 1 - r->shards; hops < r->shards; hops++) {
    r->count += most[hops] > 0;
    if (hops) r->sent += most[hops];
  }
}

// A hop without parts, at the end of a list.
static tsr_status begin_hop(exchange_run *r, bool local, hop *out) {
  const size_t shards = (size_t)r->shards;
  int64_t *places = tsr_arena_alloc(&r->l->arena, 2 * shards * sizeof *places);
  common_part *parts = tsr_arena_zeros(&r->l->arena, shards, sizeof *parts);
  TSR_NEED(places && parts ? places : NULL);
  for (size_t i = 0; i < 2 * shards; i++) places[i] = -1;
  *out = (hop){.local = local, .parts = parts, .from = places, .to = places + shards};
  return NULL;
}

static void add_pair(hop *h, int64_t from, int64_t to, common_part part) {
  h->parts[to] = part;
  h->from[to] = from;
  h->to[from] = to;
  if (part.count > h->most) h->most = part.count;
}

// The parts at each distance, those from the first shards first.
static tsr_status list_hops(exchange_run *r, const int64_t *most) {
  r->list = tsr_arena_alloc(&r->l->arena, ((size_t)r->count + 1) * sizeof *r->list);
  TSR_NEED(r->list);
  r->count = 0;
  for (int64_t hops = r->shards - 1; hops > -r->shards; hops--) {
    if (!most[hops]) continue;
    hop *h = &r->list[r->count++];
    TSR_TRY(begin_hop(r, !hops, h));
    for (int64_t to = hops > 0 ? hops : 0; to < r->shards && to - hops < r->shards; to++) {
      const common_part part = part_of(r, to - hops, to);
      if (part.count) add_pair(h, to - hops, to, part);
    }
  }
  return NULL;
}

// ---- rounds ----

// Where many distances occur, as when a slice is spread over all devices, parts of several of them
// move together.
enum { MOST_ROUNDS = 16, FEW_HOPS = 3 };

typedef struct shard_pair {
  int64_t from, to;
  common_part part;
} shard_pair;

// Parts that stay first, then long ones, so that those of a round are of like size.
static int by_size(const void *a, const void *b) {
  const shard_pair *x = a, *y = b;
  const bool x_moves = x->from != x->to, y_moves = y->from != y->to;
  if (x_moves != y_moves) return x_moves - y_moves;
  if (x->part.count != y->part.count) return x->part.count < y->part.count ? 1 : -1;
  if (x->to != y->to) return x->to < y->to ? -1 : 1;
  return (x->from > y->from) - (x->from < y->from);
}

static tsr_status list_pairs(exchange_run *r, shard_pair **out_pairs, int64_t *out_count) {
  int64_t count = 0, first = 0, last = 0;
  for (int64_t to = 0; to < r->shards; to++) {
    met_shards(r, to, &first, &last);
    if (last >= first) count += last - first + 1;
  }
  shard_pair *pairs = tsr_arena_alloc(&r->l->arena, ((size_t)count + 1) * sizeof *pairs);
  TSR_NEED(pairs);
  *out_pairs = pairs;
  *out_count = 0;
  for (int64_t to = 0; to < r->shards; to++) {
    met_shards(r, to, &first, &last);
    for (int64_t from = first; from <= last; from++) {
      const common_part part = part_of(r, from, to);
      if (part.count) pairs[(*out_count)++] = (shard_pair){from, to, part};
    }
  }
  qsort(pairs, (size_t)*out_count, sizeof *pairs, by_size);
  return NULL;
}

// Puts the parts into rounds, if these move less than those at each distance.
static tsr_status find_rounds(exchange_run *r, bool *out_found) {
  shard_pair *pairs = NULL;
  int64_t count = 0, sent = 0;
  int rounds = 0;
  hop *list = tsr_arena_alloc(&r->l->arena, MOST_ROUNDS * sizeof *list);
  *out_found = false;
  TSR_NEED(list);
  TSR_TRY(list_pairs(r, &pairs, &count));
  for (int64_t i = 0; i < count; i++) {
    const shard_pair *p = &pairs[i];
    const bool local = p->from == p->to;
    int k = 0;
    while (k < rounds &&
           (list[k].local != local || list[k].from[p->to] >= 0 || list[k].to[p->from] >= 0))
      k++;
    if (k == MOST_ROUNDS) return NULL;
    if (k == rounds) {
      TSR_TRY(begin_hop(r, local, &list[rounds++]));
      if (!local) sent += p->part.count;
    }
    add_pair(&list[k], p->from, p->to, p->part);
  }
  *out_found = sent < r->sent;
  if (!*out_found) return NULL;
  r->list = list;
  r->count = rounds;
  r->sent = sent;
  return NULL;
}

// What moves together. A gather needs nothing of it.
static tsr_status find_hops(exchange_run *r) {
  bool found = false;
  int64_t *sizes = tsr_arena_zeros(&r->l->arena, 2 * (size_t)r->shards, sizeof *sizes);
  TSR_NEED(sizes);
  measure_hops(r, sizes + r->shards);
  if (r->count > FEW_HOPS) TSR_TRY(find_rounds(r, &found));
  r->gathers = r->sent + r->ask->others >= (r->shards - 1) * r->size;
  return r->gathers || found ? NULL : list_hops(r, sizes + r->shards);
}

static bool is_inside(const exchange_run *r, int64_t shard) {
  const int64_t start = r->ask->starts[shard];
  return start >= 0 && start + (r->ask->length - 1) * r->ask->stride < r->shards * r->size;
}

// ---- ops ----

static const tsr_sdy_parts *axes_of(const exchange_run *r) {
  return &r->ask->cut->dims[r->ask->dim].axes;
}

tsr_value *tsr_site_by_shard(tsr_localizing *l, tsr_site *site, const tsr_tensor_sharding *cut,
                             int dim, const int64_t *numbers) {
  const tsr_sdy_parts *axes = &cut->dims[dim].axes;
  const int64_t devices = tsr_mesh_devices(cut->mesh), shards = tsr_parts_size(axes);
  bool same = true;
  for (int64_t i = 1; i < shards; i++) same &= numbers[i] == numbers[0];
  if (same) return tsr_site_integer(site, 64, numbers[0]);
  int64_t *table = tsr_arena_alloc(&l->arena, (size_t)devices * sizeof *table);
  if (!table) {
    if (!site->failure) site->failure = tsr_fail(NO_MEMORY, "a table of devices");
    return NULL;
  }
  for (int64_t i = 0; i < devices; i++) table[i] = numbers[tsr_shard_number(cut->mesh, axes, i)];
  tsr_value *device = tsr_site_device(site, l->replicas, l->partitions);
  return tsr_site_lookup(site, table, devices, device);
}

static tsr_value *by_shard(exchange_run *r, const int64_t *numbers) {
  return tsr_site_by_shard(r->l, r->site, r->ask->cut, r->ask->dim, numbers);
}

// Pads the dim on both sides.
static tsr_value *pad_dim(exchange_run *r, tsr_value *x, tsr_value *fill, int64_t low, int64_t high,
                          int64_t gaps) {
  int64_t before[TSR_MAX_RANK] = {0}, after[TSR_MAX_RANK] = {0}, between[TSR_MAX_RANK] = {0};
  int64_t dims[TSR_MAX_RANK];
  if (!x || (!low && !high && !gaps)) return x;
  memcpy(dims, x->type->dims, (size_t)x->type->rank * sizeof *dims);
  before[r->ask->dim] = low;
  after[r->ask->dim] = high;
  between[r->ask->dim] = gaps;
  dims[r->ask->dim] += low + high + gaps * (dims[r->ask->dim] - 1);
  if (!fill) fill = tsr_site_zeros(r->site, tsr_site_scalar(r->site, x->type));
  return tsr_site_pad(r->site, x, fill, tsr_site_sized(r->site, x->type, dims), before, after,
                      between);
}

static bool are_same(const exchange_run *r, const int64_t *numbers) {
  for (int64_t i = 1; i < r->shards; i++)
    if (numbers[i] != numbers[0]) return false;
  return true;
}

// The same elements on all devices.
static tsr_value *slice_alike(exchange_run *r, tsr_value *x, int64_t start, int64_t size,
                              int64_t stride) {
  int64_t starts[TSR_MAX_RANK] = {0}, limits[TSR_MAX_RANK], strides[TSR_MAX_RANK];
  int64_t dims[TSR_MAX_RANK];
  const int rank = x->type->rank, dim = r->ask->dim;
  memcpy(limits, x->type->dims, (size_t)rank * sizeof *limits);
  memcpy(dims, x->type->dims, (size_t)rank * sizeof *dims);
  for (int d = 0; d < rank; d++) strides[d] = d == dim ? stride : 1;
  starts[dim] = start;
  limits[dim] = start + size;
  dims[dim] = (size - 1) / stride + 1;
  const tsr_site_attr attrs[] = {{"limit_indices", tsr_attr_ints(r->l->ir, limits, rank)},
                                 {"start_indices", tsr_attr_ints(r->l->ir, starts, rank)},
                                 {"strides", tsr_attr_ints(r->l->ir, strides, rank)}};
  return tsr_site_add(r->site, TSR_OP_SLICE, tsr_site_sized(r->site, x->type, dims), &x, 1, attrs,
                      3);
}

// `count` elements from where `starts` says for the device's shard, `stride` apart.
static tsr_value *slice_dim(exchange_run *r, tsr_value *x, const int64_t *starts, int64_t count,
                            int64_t stride) {
  tsr_value *operands[TSR_MAX_RANK + 1];
  int64_t dims[TSR_MAX_RANK];
  const int dim = r->ask->dim;
  const int64_t size = (count - 1) * stride + 1;
  if (!x || (size == x->type->dims[dim] && stride == 1)) return x;
  if (are_same(r, starts)) return slice_alike(r, x, starts[0], size, stride);
  const int rank = x->type->rank;
  memcpy(dims, x->type->dims, (size_t)rank * sizeof *dims);
  dims[dim] = size;
  tsr_value *zero = tsr_site_integer(r->site, 64, 0);
  operands[0] = x;
  for (int d = 0; d < rank; d++) operands[d + 1] = d == dim ? by_shard(r, starts) : zero;
  const tsr_site_attr sizes = {"slice_sizes", tsr_attr_ints(r->l->ir, dims, rank)};
  x = tsr_site_add(r->site, TSR_OP_DYNAMIC_SLICE, tsr_site_sized(r->site, x->type, dims), operands,
                   rank + 1, &sizes, 1);
  return x && stride > 1 && count > 1 ? slice_alike(r, x, 0, size, stride) : x;
}

// Sends `x` from each device to the one that takes a part of it.
static tsr_value *add_hop(exchange_run *r, tsr_value *x, const hop *h) {
  const tsr_attr *mesh = r->ask->cut->mesh;
  const tsr_sdy_parts *axes = axes_of(r);
  const int64_t devices = tsr_mesh_devices(mesh);
  int64_t *pairs = x ? tsr_ir_alloc(r->l->ir, (size_t)devices * 2 * sizeof *pairs) : NULL;
  int64_t count = 0;
  if (!pairs) {
    if (x && !r->site->failure) r->site->failure = tsr_fail(NO_MEMORY, "pairs of devices");
    return NULL;
  }
  for (int64_t i = 0; i < devices; i++) {
    const int64_t to = h->to[tsr_shard_number(mesh, axes, i)];
    if (to < 0) continue;
    pairs[2 * count] = i;
    pairs[2 * count++ + 1] = tsr_shard_neighbour(mesh, axes, i, to);
  }
  const int64_t dims[] = {count, 2};
  const tsr_type *type = tsr_type_tensor(r->l->ir, r->l->ir->i64, 2, dims, NULL);
  const tsr_site_attr attrs[] = {
      {"channel_handle", tsr_next_channel(r->l)},
      {"source_target_pairs",
       type ? tsr_attr_dense(r->l->ir, type, pairs, (size_t)count * 2 * sizeof *pairs) : NULL}};
  return tsr_site_add(r->site, TSR_OP_COLLECTIVE_PERMUTE, x->type, &x, 1, attrs, 2);
}

// True where an element of the range is at least `low` and less than `high`, both by shard.
static tsr_value *add_mask(exchange_run *r, const tsr_type *like, const int64_t *low,
                           const int64_t *high) {
  const tsr_type *type = tsr_site_retyped(r->site, like, r->l->ir->i64);
  const tsr_site_attr attr = {"iota_dimension", tsr_attr_i64(r->l->ir, r->ask->dim)};
  tsr_value *iota = tsr_site_add(r->site, TSR_OP_IOTA, type, NULL, 0, &attr, 1);
  tsr_value *first = tsr_site_broadcast(r->site, by_shard(r, low), type, NULL);
  tsr_value *end = tsr_site_broadcast(r->site, by_shard(r, high), type, NULL);
  tsr_value *after = tsr_site_compare(r->site, iota, first, TSR_DIRECTION_GE);
  tsr_value *before = tsr_site_compare(r->site, iota, end, TSR_DIRECTION_LT);
  return tsr_site_binary(r->site, TSR_OP_AND, after, before);
}

static tsr_value *choose(exchange_run *r, tsr_value *mask, tsr_value *yes, tsr_value *no) {
  tsr_value *const operands[] = {mask, yes, no};
  return yes ? tsr_site_add(r->site, TSR_OP_SELECT, yes->type, operands, 3, NULL, 0) : NULL;
}

// ---- by permutes ----

// The part of a hop, on the device that takes it.
static tsr_value *add_part(exchange_run *r, const hop *h) {
  const int64_t stride = r->ask->stride;
  int64_t *starts = tsr_arena_zeros(&r->l->arena, (size_t)r->shards, sizeof *starts);
  if (!starts) {
    if (!r->site->failure) r->site->failure = tsr_fail(NO_MEMORY, "a table of shards");
    return NULL;
  }
  int64_t most = 0;
  for (int64_t to = 0; to < r->shards; to++) {
    const int64_t from = h->from[to];
    if (from < 0) continue;
    starts[from] = r->ask->starts[to] + h->parts[to].first * stride - from * r->size;
    if (starts[from] > most) most = starts[from];
  }
  // Shards that send nothing slice anywhere: alike with the first, if that is all the same.
  for (int64_t i = 0; i < r->shards; i++)
    if (h->to[i] < 0) starts[i] = most;
  const int64_t end = most + (h->most - 1) * stride + 1;
  tsr_value *x = pad_dim(r, r->x, NULL, 0, end > r->size ? end - r->size : 0, 0);
  x = slice_dim(r, x, starts, h->most, stride);
  return h->local ? x : add_hop(r, x, h);
}

// Whether the parts of all devices follow each other at the same places, so that they are joined as
// they come.
static bool is_regular(const exchange_run *r) {
  int64_t place = -1;
  for (int i = 0; i < r->count; i++) {
    const hop *h = &r->list[i];
    int64_t first = -1;
    for (int64_t to = 0; to < r->shards; to++) {
      if (!h->parts[to].count) continue;
      if (h->parts[to].count != h->most || (first >= 0 && h->parts[to].first != first))
        return false;
      first = h->parts[to].first;
    }
    if (place >= 0 && first != place) return false;
    place = first + h->most;
  }
  return true;
}

static int64_t first_place(const exchange_run *r) {
  const hop *h = &r->list[0];
  for (int64_t to = 0; to < r->shards; to++)
    if (h->parts[to].count) return h->parts[to].first;
  return 0;
}

// Whether what is outside comes as zeros, and shall be: a permute gives them to devices that nobody
// sends to.
static bool has_zeros_outside(const exchange_run *r) {
  if (!tsr_value_is_zeros(r->ask->fill)) return false;
  for (int i = 0; i < r->count; i++)
    for (int64_t to = 0; r->list[i].local && to < r->shards; to++)
      if (!r->list[i].parts[to].count) return false;
  return true;
}

// Puts the fill where the range of a device is outside the whole dim.
static tsr_value *fill_outside(exchange_run *r, tsr_value *x) {
  bool inside = true;
  int64_t *low = tsr_arena_alloc(&r->l->arena, (size_t)r->shards * sizeof *low);
  int64_t *high = tsr_arena_alloc(&r->l->arena, (size_t)r->shards * sizeof *high);
  for (int64_t i = 0; i < r->shards; i++) inside &= is_inside(r, i);
  if (!x || inside || !r->ask->fill || has_zeros_outside(r)) return x;
  if (!low || !high) {
    if (!r->site->failure) r->site->failure = tsr_fail(NO_MEMORY, "a table of shards");
    return NULL;
  }
  for (int64_t i = 0; i < r->shards; i++) {
    const int64_t start = r->ask->starts[i], stride = r->ask->stride;
    low[i] = -floor_divide(start, stride);
    high[i] = -floor_divide(start - r->shards * r->size, stride);
  }
  tsr_value *mask = add_mask(r, x->type, low, high);
  return choose(r, mask, x, tsr_site_broadcast(r->site, r->ask->fill, x->type, NULL));
}

static tsr_value *join_parts(exchange_run *r) {
  int64_t dims[TSR_MAX_RANK];
  const int dim = r->ask->dim;
  tsr_value **parts = tsr_arena_alloc(&r->l->arena, (size_t)r->count * sizeof *parts);
  if (!parts) {
    if (!r->site->failure) r->site->failure = tsr_fail(NO_MEMORY, "parts of a range");
    return NULL;
  }
  memcpy(dims, r->x->type->dims, (size_t)r->x->type->rank * sizeof *dims);
  dims[dim] = 0;
  for (int i = 0; i < r->count; i++) {
    parts[i] = add_part(r, &r->list[i]);
    dims[dim] += r->list[i].most;
  }
  const tsr_site_attr attr = {"dimension", tsr_attr_i64(r->l->ir, dim)};
  tsr_value *x = r->count == 1 ? parts[0]
                               : tsr_site_add(r->site, TSR_OP_CONCATENATE,
                                              tsr_site_sized(r->site, r->x->type, dims), parts,
                                              r->count, &attr, 1);
  const int64_t low = first_place(r), high = r->ask->length - low - dims[dim];
  return fill_outside(r, pad_dim(r, x, r->ask->fill, low, high, 0));
}

// Parts at places that differ between devices: each is moved to its place, and chosen there.
static tsr_value *place_parts(exchange_run *r) {
  int64_t dims[TSR_MAX_RANK];
  const int64_t length = r->ask->length;
  memcpy(dims, r->x->type->dims, (size_t)r->x->type->rank * sizeof *dims);
  dims[r->ask->dim] = length;
  const tsr_type *type = tsr_site_sized(r->site, r->x->type, dims);
  tsr_value *fill = r->ask->fill;
  if (!fill) fill = tsr_site_zeros(r->site, tsr_site_scalar(r->site, r->x->type));
  tsr_value *range = type ? tsr_site_broadcast(r->site, fill, type, NULL) : NULL;
  int64_t *tables = tsr_arena_alloc(&r->l->arena, 3 * (size_t)r->shards * sizeof *tables);
  for (int i = 0; i < r->count && range && tables; i++) {
    const hop *h = &r->list[i];
    int64_t *starts = tables, *low = tables + r->shards, *high = low + r->shards;
    for (int64_t to = 0; to < r->shards; to++) {
      low[to] = h->parts[to].first;
      high[to] = low[to] + h->parts[to].count;
      starts[to] = length - (h->parts[to].count ? low[to] : 0);
    }
    tsr_value *moved = pad_dim(r, add_part(r, h), NULL, length, length, 0);
    moved = slice_dim(r, moved, starts, length, 1);
    range = choose(r, add_mask(r, type, low, high), moved, range);
  }
  return tables ? range : NULL;
}

// ---- by a gather ----

static tsr_value *gather_dim(exchange_run *r) {
  return tsr_site_all_gather(r->l, r->site, r->x, r->ask->dim, r->ask->cut, axes_of(r));
}

bool tsr_dim_is_gathered(const tsr_localizing *l, const tsr_site *site, const tsr_value *x, int dim,
                         const tsr_sdy_parts *axes) {
  if (tsr_gathered_dim_find(l, site, x, dim, axes)) return true;
  for (const tsr_use *use = x->uses; use; use = use->next) {
    const tsr_op *user = use->user;
    if (!tsr_op_is(user, TSR_OP_SDY_ALL_GATHER) || user->block != site->place->block) continue;
    const tsr_attr *lists =
        tsr_attr_field(tsr_op_attr(user, "gathering_axes"), TSR_SDY_AXIS_LISTS_LISTS);
    bool only = true;
    for (int64_t d = 0; d < lists->count; d++) {
      const int64_t count = tsr_attr_field(lists->items[d], TSR_SDY_AXIS_LIST_AXES)->count;
      only &= d == dim ? count == axes->count : !count;
    }
    if (only) return true;
  }
  return false;
}

static tsr_value *gather_and_slice(exchange_run *r) {
  const int64_t whole = r->ask->whole ? r->x->type->dims[r->ask->dim] : r->shards * r->size;
  const int64_t span = (r->ask->length - 1) * r->ask->stride + 1;
  int64_t low = 0, high = 0;
  int64_t *starts = tsr_arena_alloc(&r->l->arena, (size_t)r->shards * sizeof *starts);
  if (!starts) {
    if (!r->site->failure) r->site->failure = tsr_fail(NO_MEMORY, "a table of shards");
    return NULL;
  }
  // Ranges wholly outside may begin anywhere there.
  for (int64_t i = 0; i < r->shards; i++) {
    starts[i] = r->ask->starts[i];
    if (starts[i] < -span) starts[i] = -span;
    if (starts[i] > whole) starts[i] = whole;
    if (-starts[i] > low) low = -starts[i];
    if (starts[i] + span - whole > high) high = starts[i] + span - whole;
  }
  for (int64_t i = 0; i < r->shards; i++) starts[i] += low;
  tsr_value *x = pad_dim(r, r->ask->whole ? r->x : gather_dim(r), r->ask->fill, low, high, 0);
  return slice_dim(r, x, starts, r->ask->length, r->ask->stride);
}

// ---- ranges ----

static tsr_value *fill_all(exchange_run *r) {
  int64_t dims[TSR_MAX_RANK];
  memcpy(dims, r->x->type->dims, (size_t)r->x->type->rank * sizeof *dims);
  dims[r->ask->dim] = r->ask->length;
  const tsr_type *type = tsr_site_sized(r->site, r->x->type, dims);
  if (!r->ask->fill || !r->ask->length) return tsr_site_zeros(r->site, type);
  return type ? tsr_site_broadcast(r->site, r->ask->fill, type, NULL) : NULL;
}

tsr_value *tsr_exchange_range(tsr_localizing *l, tsr_site *site, tsr_value *x,
                              const tsr_range_ask *ask) {
  if (!x || site->failure) return NULL;
  exchange_run r = {.l = l,
                    .site = site,
                    .ask = ask,
                    .x = x,
                    .shards = tsr_cut_count(ask->cut, ask->dim),
                    .size = x->type->dims[ask->dim]};
  if (ask->whole) return gather_and_slice(&r);
  site->failure = r.size && ask->length ? find_hops(&r) : NULL;
  if (site->failure) return NULL;
  if (!r.count) return fill_all(&r);
  if (r.gathers || (r.sent && tsr_dim_is_gathered(l, site, x, ask->dim, axes_of(&r))))
    return gather_and_slice(&r);
  return is_regular(&r) ? join_parts(&r) : place_parts(&r);
}

tsr_value *tsr_exchange_spread(tsr_localizing *l, tsr_site *site, tsr_value *x,
                               const tsr_range_ask *ask, int64_t gaps) {
  if (!gaps) return tsr_exchange_range(l, site, x, ask);
  const int64_t shards = tsr_cut_count(ask->cut, ask->dim), step = gaps + 1;
  int64_t *starts = tsr_arena_alloc(&l->arena, 2 * (size_t)shards * sizeof *starts);
  tsr_range_ask inner = *ask;
  exchange_run r = {.l = l, .site = site, .ask = ask, .x = x, .shards = shards};
  if (!starts) {
    if (!site->failure) site->failure = tsr_fail(NO_MEMORY, "a table of shards");
    return NULL;
  }
  int64_t *offsets = starts + shards, most = 0;
  inner.length = 0;
  for (int64_t i = 0; i < shards; i++) {
    starts[i] = floor_divide(ask->starts[i], step);
    offsets[i] = ask->starts[i] - starts[i] * step;
    const int64_t last = floor_divide(ask->starts[i] + ask->length - 1, step);
    if (last - starts[i] + 1 > inner.length) inner.length = last - starts[i] + 1;
    if (offsets[i] > most) most = offsets[i];
  }
  inner.starts = starts;
  const int64_t spread = (inner.length - 1) * step + 1, end = most + ask->length;
  x = tsr_exchange_range(l, site, x, &inner);
  x = pad_dim(&r, x, ask->fill, 0, end > spread ? end - spread : 0, gaps);
  return slice_dim(&r, x, offsets, ask->length, 1);
}

int64_t tsr_range_sent(tsr_localizing *l, const tsr_range_ask *ask, int64_t size) {
  const int64_t shards = tsr_cut_count(ask->cut, ask->dim);
  exchange_run r = {.ask = ask, .shards = shards, .size = size};
  int64_t *sizes = tsr_arena_zeros(&l->arena, 2 * (size_t)shards, sizeof *sizes);
  if (sizes && size && ask->length) measure_hops(&r, sizes + shards);
  return r.sent;
}

int64_t *tsr_range_starts(tsr_localizing *l, int64_t shards, int64_t first, int64_t step) {
  int64_t *starts = tsr_arena_alloc(&l->arena, (size_t)shards * sizeof *starts);
  for (int64_t i = 0; starts && i < shards; i++) starts[i] = first + i * step;
  return starts;
}
