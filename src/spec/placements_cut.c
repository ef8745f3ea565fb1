// One dimension cut by PyTorch's rule and by ours: the order that split factors give, the pieces of
// chunks side by side, and the comparison of both rules on every device.
#include "spec/placements.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/status.h"
#include "tessera/text.h"

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// ---- the order that split factors name ----

static void insert_sub_axis(tsr_nest *nest, int at, const tsr_torch_cut *cut) {
  memmove(nest->sub_axes + at + 1, nest->sub_axes + at,
          sizeof *nest->sub_axes * (size_t)(nest->count - at));
  nest->sub_axes[at] = (tsr_sub_axis){cut->axis, 1, cut->size};
  nest->stage[nest->count] = nest->count;
  nest->count++;
}

// The position after cuts into `factor` pieces; -1 if there is none.
static int find_place(const tsr_nest *nest, int64_t factor) {
  int64_t pieces = 1;
  for (int i = 0; i < nest->count; i++) {
    if (pieces == factor) return i;
    if (__builtin_mul_overflow(pieces, nest->sub_axes[i].size, &pieces)) return -1;
  }
  return pieces == factor ? nest->count : -1;
}

static tsr_status fail_factor(const tsr_nest *nest, const tsr_torch_cut *cut, const tsr_mesh *mesh,
                              int dim) {
  tsr_text text = TSR_TEXT_EMPTY;
  int64_t pieces = 1;
  tsr_text_addf(&text,
                "dimension %d: split_factor %lld of axis \"%s\" gives no order of cuts, wanted 1",
                dim, (long long)cut->factor, tsr_mesh_axis_at(mesh, cut->axis)->name);
  for (int i = 0; i < nest->count; i++) {
    if (__builtin_mul_overflow(pieces, nest->sub_axes[i].size, &pieces)) break;
    if (nest->sub_axes[i].size > 1) tsr_text_addf(&text, " or %lld", (long long)pieces);
  }
  return tsr_fail_text(TSR_CAUSE_NOT_EXPRESSIBLE, &text);
}

// The text gives the order.
static void follow_order(const tsr_torch_cuts *cuts, tsr_nest *nest) {
  nest->count = cuts->count;
  for (int i = 0; i < cuts->count; i++) {
    const tsr_torch_cut *cut = &cuts->at[i];
    nest->sub_axes[cut->order - 1] = (tsr_sub_axis){cut->axis, 1, cut->size};
    nest->stage[i] = i;
  }
}

// From the last axis to the first: axes already placed come later in the mesh, so a factor counts
// exactly the pieces cut before its axis.
tsr_status tsr_torch_cuts_order(const tsr_torch_cuts *cuts, const tsr_mesh *mesh, int dim,
                                tsr_nest *out_nest) {
  tsr_nest nest = {0};
  if (cuts->count && cuts->at[0].order) {
    follow_order(cuts, &nest);
  } else {
    for (int i = cuts->count; i-- > 0;) {
      const int place = find_place(&nest, cuts->at[i].factor);
      if (place < 0) return fail_factor(&nest, &cuts->at[i], mesh, dim);
      insert_sub_axis(&nest, place, &cuts->at[i]);
    }
  }
  *out_nest = nest;
  return NULL;
}

// ---- the order in which chunks side by side nest ----

// The dimension from major to minor as slots, each filled by a sub-axis or open (axis -1). The last
// slot is open and has no size.
typedef struct slots {
  int count;
  tsr_sub_axis at[TSR_MAX_NEST];
} slots;

static void insert_slot(slots *s, int at, tsr_sub_axis slot) {
  memmove(s->at + at + 1, s->at + at, sizeof *s->at * (size_t)(s->count - at));
  s->at[at] = slot;
  s->count++;
}

static int next_open(const slots *s, int at) {
  while (s->at[at].axis >= 0) at++;
  return at;
}

// Limits the open slot `at` to `size`; the rest follows it. False if neither divides the other.
static bool fit_slot(slots *s, int at, int64_t size) {
  tsr_sub_axis *slot = &s->at[at];
  if (at == s->count - 1) {
    insert_slot(s, at, (tsr_sub_axis){-1, 1, size});
    return true;
  }
  if (slot->size <= size) return size % slot->size == 0;
  if (slot->size % size) return false;
  slot->size /= size;
  insert_slot(s, at, (tsr_sub_axis){-1, 1, size});
  return true;
}

// Skips open slots of `factor` pieces, then fills open slots of the size of the axis.
static bool fill_slots(slots *s, const tsr_torch_cut *cut) {
  int at = 0;
  for (int64_t left = cut->size > 1 ? cut->factor : 1; left > 1; left /= s->at[at++].size) {
    at = next_open(s, at);
    if (!fit_slot(s, at, left)) return false;
  }
  int64_t pre = 1;
  do {
    at = next_open(s, at);
    if (!fit_slot(s, at, cut->size / pre)) return false;
    s->at[at] = (tsr_sub_axis){cut->axis, pre, s->at[at].size};
    pre *= s->at[at].size;
  } while (pre < cut->size);
  return true;
}

bool tsr_torch_cuts_nest(const tsr_torch_cuts *cuts, tsr_nest *out_nest) {
  slots s = {.count = 1, .at = {{.axis = -1}}};
  for (int i = 0; i < cuts->count; i++)
    if (!fill_slots(&s, &cuts->at[i])) return false;
  tsr_nest nest = {.count = s.count - 1};
  for (int i = 0; i < nest.count; i++) {
    if (s.at[i].axis < 0) return false;
    nest.sub_axes[i] = s.at[i];
    nest.stage[i] = i;
  }
  *out_nest = nest;
  return true;
}

// ---- pieces ----

typedef struct index_run {
  int64_t start, length;
} index_run;

// The indices that a device holds, as runs in memory order.
typedef struct held_runs {
  int64_t total;
  int count;
  index_run *runs;
} held_runs;

typedef struct holding_walk {
  const held_runs *from;
  int at;
  int64_t before;  // elements in the runs before `at`
} holding_walk;

static void append_run(held_runs *to, int64_t start, int64_t length) {
  if (to->count && to->runs[to->count - 1].start + to->runs[to->count - 1].length == start)
    to->runs[to->count - 1].length += length;
  else
    to->runs[to->count++] = (index_run){start, length};
  to->total += length;
}

// Copies elements [start, start + length). Calls with one walk go upward.
static void copy_elements(holding_walk *from, int64_t start, int64_t length, held_runs *to) {
  while (length > 0) {
    const index_run *at = &from->from->runs[from->at];
    const int64_t offset = start - from->before;
    if (offset >= at->length) {
      from->before += at->length;
      from->at++;
      continue;
    }
    const int64_t taken = tsr_least(length, at->length - offset);
    append_run(to, at->start + offset, taken);
    start += taken;
    length -= taken;
  }
}

// Copies chunk `index` of `count` of the elements [start, start + length).
static void copy_chunk(holding_walk *from, int64_t start, int64_t length, int64_t count,
                       int64_t index, held_runs *to) {
  const int64_t chunk = ceil_div(length, count), skipped = tsr_least(index * chunk, length);
  copy_elements(from, start + skipped, tsr_least(chunk, length - skipped), to);
}

static void apply_cut(const held_runs *from, const tsr_torch_cut *cut, int64_t index,
                      held_runs *to) {
  holding_walk at = {from, 0, 0};
  to->count = 0;
  to->total = 0;
  const int64_t chunk = ceil_div(from->total, cut->factor);
  for (int64_t start = 0; start < from->total; start += chunk)
    copy_chunk(&at, start, tsr_least(chunk, from->total - start), cut->size, index, to);
}

static index_run nest_piece(const tsr_nest *nest, const int64_t *coords, const tsr_mesh *mesh,
                            int64_t size) {
  index_run piece = {0, size};
  for (int i = 0; i < nest->count;) {
    const int stage = nest->stage[i];
    int64_t shards = 1, index = 0;
    for (; i < nest->count && nest->stage[i] == stage; i++) {
      const tsr_sub_axis *sub_axis = &nest->sub_axes[i];
      const int64_t below =
          tsr_mesh_axis_at(mesh, sub_axis->axis)->size / (sub_axis->pre * sub_axis->size);
      index = index * sub_axis->size + coords[sub_axis->axis] / below % sub_axis->size;
      shards *= sub_axis->size;
    }
    const int64_t chunk = ceil_div(piece.length, shards);
    const int64_t skipped = tsr_least(index * chunk, piece.length);
    piece = (index_run){piece.start + skipped, tsr_least(chunk, piece.length - skipped)};
  }
  return piece;
}

// ---- comparison ----

typedef struct comparison {
  const tsr_torch_cuts *cuts;  // chunks side by side, or
  const tsr_nest *order;       // a nest
  const tsr_nest *nest;
  const tsr_mesh *mesh;
  int dim;
  int64_t size;
  held_runs now, next;
} comparison;

static tsr_status report(const comparison *c, const int64_t *coords, index_run theirs, bool more,
                         index_run ours) {
  return tsr_fail(NOT_EXPRESSIBLE,
                  "dimension %d of size %lld: at mesh position %lld PyTorch has [%lld, %lld)%s, "
                  "the spec [%lld, %lld)",
                  c->dim, (long long)c->size, (long long)tsr_mesh_position(c->mesh, coords),
                  (long long)theirs.start, (long long)(theirs.start + theirs.length),
                  more ? " and more" : "", (long long)ours.start,
                  (long long)(ours.start + ours.length));
}

// PyTorch's first run on a device, and whether there are more.
static index_run chunks_side_by_side(comparison *c, const int64_t *coords, bool *out_more) {
  c->now = (held_runs){0, 0, c->now.runs};
  if (c->size) append_run(&c->now, 0, c->size);
  for (int i = 0; i < c->cuts->count; i++) {
    const tsr_torch_cut *cut = &c->cuts->at[i];
    apply_cut(&c->now, cut, coords[cut->axis], &c->next);
    const held_runs swapped = c->now;
    c->now = c->next;
    c->next = swapped;
  }
  *out_more = c->now.count > 1;
  return c->now.count ? c->now.runs[0] : (index_run){0, 0};
}

static tsr_status compare_device(comparison *c, const int64_t *coords) {
  bool more = false;
  const index_run theirs = c->order ? nest_piece(c->order, coords, c->mesh, c->size)
                                    : chunks_side_by_side(c, coords, &more);
  const index_run ours = nest_piece(c->nest, coords, c->mesh, c->size);
  if (!more && theirs.length == ours.length && (!ours.length || theirs.start == ours.start))
    return NULL;
  return report(c, coords, theirs, more, ours);
}

// Every combination of coordinates on the axes that cut; the other axes do not matter.
static tsr_status compare_devices(comparison *c, const int *axes, int axis_count) {
  int64_t coords[TSR_MAX_AXES] = {0};
  for (int i = 0; i >= 0;) {
    TSR_TRY(compare_device(c, coords));
    for (i = axis_count; i-- > 0;) {
      if (++coords[axes[i]] < tsr_mesh_axis_at(c->mesh, axes[i])->size) break;
      coords[axes[i]] = 0;
    }
  }
  return NULL;
}

#define MAX_STEPS (INT64_C(1) << 28)

static tsr_status check_steps(int dim, int64_t runs, int64_t devices) {
  if (runs <= MAX_STEPS / devices) return NULL;
  return tsr_fail(TOO_LARGE, "dimension %d: %lld runs on each of %lld devices to compare", dim,
                  (long long)runs, (long long)devices);
}

tsr_status tsr_nest_compare(const tsr_nest *order, const tsr_nest *nest, const tsr_mesh *mesh,
                            int dim, int64_t size) {
  int axes[TSR_MAX_NEST];
  int64_t shards = 1;
  for (int i = 0; i < order->count; i++) {
    axes[i] = order->sub_axes[i].axis;
    shards *= order->sub_axes[i].size;
  }
  if (size % shards == 0) return NULL;
  TSR_TRY(check_steps(dim, 1, shards));
  comparison c = {.order = order, .nest = nest, .mesh = mesh, .dim = dim, .size = size};
  return compare_devices(&c, axes, order->count);
}

tsr_status tsr_torch_cuts_compare(const tsr_torch_cuts *cuts, const tsr_nest *nest,
                                  const tsr_mesh *mesh, int dim, int64_t size) {
  int axes[TSR_MAX_AXES];
  int64_t runs = 1, devices = 1;
  for (int i = 0; i < cuts->count; i++) {
    axes[i] = cuts->at[i].axis;
    runs += cuts->at[i].factor;
    devices *= cuts->at[i].size;
  }
  TSR_TRY(check_steps(dim, runs, devices));
  index_run *memory = malloc(2 * sizeof *memory * (size_t)runs);
  if (!memory) return tsr_fail(NO_MEMORY, "comparison of placements");
  comparison c = {.cuts = cuts,
                  .nest = nest,
                  .mesh = mesh,
                  .dim = dim,
                  .size = size,
                  .now = {0, 0, memory},
                  .next = {0, 0, memory + runs}};
  tsr_status status = compare_devices(&c, axes, cuts->count);
  free(memory);
  return status;
}
