// The certificate of a plan: what it moves, and lower bounds.
//
// Between grids only devices are visited: what one takes is a product over its dimensions
// (tally.h). What crosses processes is what no device of the taker's own process holds, since those
// give first. For listed boxes the copies themselves are summed.
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "layout/grid.h"
#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/index_blocks.h"
#include "transfer/tally.h"
#include "transfer/transfer_internal.h"

// Counts of elements; the dtype turns them into bytes.
typedef struct element_counts {
  int64_t moved, lacking, local, between, copies, messages;
  int64_t extra, peak;
} element_counts;

static void add_to(int64_t *sum, int64_t number) { *sum = tsr_saturated_add(*sum, number); }

// ---- memory ----

// The largest buffer of all shards, in elements.
static int64_t largest_buffer(const tsr_layout *layout) {
  int64_t largest = layout->table ? 0 : 1;
  for (int d = 0; !layout->table && d < layout->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    largest *= tsr_cut_longest(&cut);
  }
  for (int64_t s = 0; layout->table && s < layout->table->shard_count; s++) {
    const int64_t elements = tsr_layout_buffer_elements(layout, s);
    if (elements > largest) largest = elements;
  }
  return largest;
}

static void count_memory(const tsr_copy_plan *plan, int64_t target, element_counts *c) {
  const int64_t old = tsr_layout_device_find(plan->from, tsr_layout_device_at(plan->to, target));
  const int64_t now = tsr_layout_buffer_elements(plan->to, tsr_layout_shard(plan->to, target));
  const int64_t had =
      old < 0 ? 0 : tsr_layout_buffer_elements(plan->from, tsr_layout_shard(plan->from, old));
  if (tsr_saturated_add(now, had) > c->peak) c->peak = tsr_saturated_add(now, had);
}

// ---- holdings of a process ----

typedef struct held_shard {
  int64_t process;
  int64_t shard;
} held_shard;

typedef struct process_holdings {
  held_shard *items;  // owned: sorted, distinct. NULL = one process
  int64_t count;
  bool by_device;     // what is taken depends on the device, so nothing is cached
  tsr_triples known;  // by process, target shard and term
} process_holdings;

static int by_process(const void *left, const void *right) {
  const held_shard *a = left, *b = right;
  if (a->process != b->process) return a->process < b->process ? -1 : 1;
  return (a->shard > b->shard) - (a->shard < b->shard);
}

// `shard` is the group of tsr_source_group: shard and term.
static held_shard held_at(const tsr_copy_plan *plan, int64_t position) {
  return (held_shard){tsr_source_process(plan, tsr_layout_device_at(plan->from, position)),
                      tsr_source_group(plan, position)};
}

static bool one_process(const tsr_copy_plan *plan) {
  const int64_t first = tsr_source_process(plan, tsr_layout_device_at(plan->to, 0));
  for (int64_t p = 0; p < tsr_layout_device_count(plan->to); p++)
    if (tsr_source_process(plan, tsr_layout_device_at(plan->to, p)) != first) return false;
  for (int64_t p = 0; p < tsr_layout_device_count(plan->from); p++)
    if (tsr_source_process(plan, tsr_layout_device_at(plan->from, p)) != first) return false;
  return true;
}

static tsr_status find_holdings(const tsr_copy_plan *plan, process_holdings *h) {
  *h = (process_holdings){.by_device = false};
  for (int d = 0; d < plan->from->rank; d++) {
    const tsr_cut cut = tsr_layout_cut(plan->from, d);
    h->by_device = h->by_device || tsr_cut_has_copies(&cut);
  }
  if (!tsr_source_has_topology(plan) || one_process(plan)) return NULL;
  const int64_t devices = tsr_layout_device_count(plan->from);
  h->items = malloc(sizeof *h->items * (size_t)devices);
  if (!h->items) return tsr_fail(NO_MEMORY, "what %lld devices hold", (long long)devices);
  for (int64_t p = 0; p < devices; p++) h->items[p] = held_at(plan, p);
  qsort(h->items, (size_t)devices, sizeof *h->items, by_process);
  for (int64_t p = 0; p < devices; p++)
    if (p == 0 || by_process(&h->items[h->count - 1], &h->items[p]) != 0)
      h->items[h->count++] = h->items[p];
  return NULL;
}

static void free_holdings(process_holdings *h) {
  free(h->items);
  tsr_triples_deinit(&h->known);
}

// The first holding that is not before this one.
static int64_t first_from(const process_holdings *h, held_shard wanted) {
  int64_t low = 0, high = h->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (by_process(&h->items[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// ---- grids ----

// One position of the target.
typedef struct taker {
  int64_t position, shard, term;
  int64_t process;
  const int64_t *coords, *own;  // cuts of its shard, and of the source's on its device (or NULL)
  int64_t own_shard;            // or -1
} taker;

typedef struct grid_count {
  const tsr_copy_plan *plan;
  tsr_tally tally;
  process_holdings holdings;
} grid_count;

static tsr_status add_shard(grid_count *g, const taker *t, int64_t shard, int64_t *sum) {
  int64_t coords[TSR_MAX_RANK];
  tsr_taken taken;
  tsr_layout_shard_coords(g->plan->from, shard, coords);
  TSR_TRY(tsr_tally_one(&g->tally, t->coords, coords, t->own, &taken));
  add_to(sum, taken.elements);
  return NULL;
}

// Sums over what the process holds.
static tsr_status add_held(grid_count *g, const taker *t, int64_t first, int64_t end,
                           int64_t *sum) {
  for (int64_t i = first; i < end; i++) {
    const int64_t group = g->holdings.items[i].shard;
    if (group % g->plan->terms == t->term) TSR_TRY(add_shard(g, t, group / g->plan->terms, sum));
  }
  return NULL;
}

// Sums over what the target takes.
static tsr_status add_reached(grid_count *g, const taker *t, int64_t *sum) {
  tsr_blocks blocks = TSR_BLOCKS_EMPTY;
  tsr_numbers shards = TSR_NUMBERS_EMPTY;
  tsr_status status = tsr_blocks_init(&blocks, g->plan->to, t->shard);
  if (!status) status = tsr_reach_sources(g->plan, &blocks, t->own_shard, &shards);
  for (int64_t i = 0; i < shards.count && !status; i++) {
    const held_shard wanted = {t->process, shards.items[i] * g->plan->terms + t->term};
    const int64_t at = first_from(&g->holdings, wanted);
    if (at < g->holdings.count && by_process(&g->holdings.items[at], &wanted) == 0)
      status = add_shard(g, t, shards.items[i], sum);
  }
  tsr_blocks_deinit(&blocks);
  tsr_numbers_deinit(&shards);
  return status;
}

// Elements that a target takes from its own process, by the shorter of the two sums.
static tsr_status count_within(grid_count *g, const taker *t, int64_t givers,
                               int64_t *out_elements) {
  const held_shard low = {t->process, 0}, high = {t->process, INT64_MAX};
  int64_t *known = NULL, sum = 0;
  if (!g->holdings.by_device) {
    TSR_TRY(tsr_triples_find(&g->holdings.known, t->process, t->shard, t->term, &known));
    *out_elements = *known;
    if (*known >= 0) return NULL;
  }
  const int64_t first = first_from(&g->holdings, low), end = first_from(&g->holdings, high);
  TSR_TRY(end - first <= givers ? add_held(g, t, first, end, &sum) : add_reached(g, t, &sum));
  if (known) *known = sum;
  *out_elements = sum;
  return NULL;
}

static tsr_status count_target(grid_count *g, const taker *t, element_counts *c) {
  tsr_taken all, local = {0, 0, 0};
  TSR_TRY(tsr_tally_all(&g->tally, t->coords, t->own, &all));
  if (t->own) TSR_TRY(tsr_tally_one(&g->tally, t->coords, t->own, t->own, &local));
  const int64_t needed = tsr_layout_shard_elements(g->plan->to, t->shard);
  add_to(&c->moved, all.elements - local.elements);
  add_to(&c->lacking, needed - local.elements);
  add_to(&c->local, local.elements);
  add_to(&c->copies, all.copies);
  add_to(&c->messages, all.givers == INT64_MAX ? all.givers : all.givers - local.givers);
  if (!g->holdings.items) return NULL;
  int64_t within = 0;
  TSR_TRY(count_within(g, t, all.givers, &within));
  add_to(&c->between, all.elements - within);
  return NULL;
}

static tsr_status count_targets(grid_count *g, element_counts *c) {
  const tsr_copy_plan *plan = g->plan;
  const tsr_layout *to = plan->to;
  tsr_grid_walk walk;
  int64_t own[TSR_MAX_RANK];
  tsr_grid_walk_init(&walk, to);
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++, tsr_grid_walk_step(&walk)) {
    taker t = {.position = p, .coords = walk.coords, .own_shard = -1};
    for (int d = 0; d < to->rank; d++)
      t.shard = t.shard * tsr_layout_dim_shards(to, d) + walk.coords[d];
    const int64_t held_there = tsr_source_own(plan, p);
    if (held_there >= 0) {
      t.own_shard = tsr_layout_shard(plan->from, held_there);
      tsr_layout_shard_coords(plan->from, t.own_shard, own);
      t.own = own;
    }
    if (g->holdings.items) {
      t.process = tsr_source_process(plan, tsr_layout_device_at(to, p));
      t.term = tsr_layout_term(plan->to, p);
    }
    TSR_TRY(count_target(g, &t, c));
    count_memory(plan, p, c);
  }
  return NULL;
}

static tsr_status count_grids(const tsr_copy_plan *plan, element_counts *c) {
  grid_count g = {.plan = plan};
  tsr_tally_init(&g.tally, plan->from, plan->to);
  tsr_status status = find_holdings(plan, &g.holdings);
  if (!status) status = count_targets(&g, c);
  free_holdings(&g.holdings);
  tsr_tally_deinit(&g.tally);
  return status;
}

// ---- listed boxes ----

static void count_copy(const tsr_copy_plan *plan, const tsr_copy *copy, element_counts *c,
                       int64_t *local) {
  const int64_t elements = tsr_copy_elements(copy);
  add_to(&c->copies, 1);
  if (copy->source == copy->target) {
    *local += elements;
    return;
  }
  add_to(&c->moved, elements);
  if (tsr_source_process(plan, copy->source) != tsr_source_process(plan, copy->target))
    add_to(&c->between, elements);
}

static tsr_status count_listed(const tsr_copy_plan *plan, element_counts *c) {
  for (int64_t p = 0; p < tsr_layout_device_count(plan->to); p++) {
    tsr_copies copies;
    int64_t local = 0, last = -1;
    TSR_TRY(tsr_copies_init_into(&copies, plan, p));
    for (tsr_copy copy; tsr_copies_next(&copies, &copy); last = copy.source) {
      count_copy(plan, &copy, c, &local);
      if (copy.source != last && copy.source != copy.target) add_to(&c->messages, 1);
    }
    tsr_copies_deinit(&copies);
    const int64_t shard = tsr_layout_shard(plan->to, p);
    add_to(&c->local, local);
    add_to(&c->lacking, tsr_layout_shard_elements(plan->to, shard) - local);
    count_memory(plan, p, c);
  }
  return NULL;
}

// ---- bytes ----

int64_t tsr_bytes_of(int64_t elements, int bits) {
  const int64_t whole = tsr_saturated_multiply(elements / 8, bits);
  return tsr_saturated_add(whole, (elements % 8 * bits + 7) / 8);
}

tsr_status tsr_copy_plan_certify(const tsr_copy_plan *plan, tsr_dtype dtype,
                                 tsr_certificate *out_certificate) {
  TSR_TRY(tsr_sized_check(tsr_certificate, out_certificate));
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(plan->to), "devices"));
  TSR_TRY(tsr_layout_check_listed(tsr_layout_device_count(plan->from), "devices"));
  const int64_t before = largest_buffer(plan->from), after = largest_buffer(plan->to);
  element_counts c = {.extra = after, .peak = before};
  TSR_TRY(plan->from_tree || plan->to_tree ? count_listed(plan, &c) : count_grids(plan, &c));
  const tsr_certificate certificate = {
      .bytes_moved = tsr_bytes_of(c.moved, info->bits),
      .bytes_lower_bound = tsr_bytes_of(c.lacking, info->bits),
      .bytes_local = tsr_bytes_of(c.local, info->bits),
      .bytes_between_processes = tsr_bytes_of(c.between, info->bits),
      .copies = c.copies,
      .messages = c.messages,
      .extra_memory = tsr_bytes_of(c.extra, info->bits),
      .peak_memory = tsr_bytes_of(c.peak, info->bits)};
  tsr_sized_fill(tsr_certificate, &certificate, out_certificate);
  return NULL;
}

// ---- text ----

void tsr_certificate_print(const tsr_certificate *certificate, tsr_text *out) {
  tsr_text_addf(out, "moved between devices    %lld bytes (at least %lld must)\n",
                (long long)certificate->bytes_moved, (long long)certificate->bytes_lower_bound);
  tsr_text_addf(out, "of these, over processes %lld bytes\n",
                (long long)certificate->bytes_between_processes);
  tsr_text_addf(out, "stays on its device      %lld bytes\n", (long long)certificate->bytes_local);
  tsr_text_addf(out, "copies                   %lld in %lld messages\n",
                (long long)certificate->copies, (long long)certificate->messages);
  tsr_text_addf(out, "memory of a device       %lld bytes more, %lld at the peak\n",
                (long long)certificate->extra_memory, (long long)certificate->peak_memory);
}

void tsr_certificate_to_json(const tsr_certificate *certificate, tsr_json_writer *writer) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_certificate, bytes_moved, bytes_lower_bound, bytes_between_processes,
                      bytes_local, copies, messages, extra_memory, peak_memory);
  tsr_json_begin_object(writer);
  tsr_json_add_fields(writer, fields, certificate);
  tsr_json_end_object(writer);
}
