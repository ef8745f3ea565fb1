// The shortest route, by A*.
//
// A state is a spot; its moves are the collectives possible there (expand). The heuristic is the
// lower bound on what must be sent, at the speed of the fastest link. Costs are seconds, or
// elements if the mesh has no topology; of routes with equal cost the one with fewer moves wins.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "mesh/mesh_cost.h"
#include "sequence/sequence.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"

enum {
  MOST_ATOMS = 6,       // beyond, axes are not split and unnamed ones not included
  MOST_FREE_ATOMS = 5,  // up to it permutes are free; beyond, only towards the target
  MOST_LISTS = 8,       // dimensions considered, and the unreduced list
  SPARE_DIMS = 2,
  MOST_PERMUTES = 128,  // followed from one state
  EDGES_PER_STATE = 16  // on average, before the search is given up
};
static const double COUNT_LIMIT = 4096;  // devices enumerated for one comparison
static const double ROUNDING = 1 + 1e-12;

typedef struct route_node {
  tsr_spot spot;
  double cost, rest;  // so far; bound on what is left
  int moves;
  int parent;  // -1 = the start
  tsr_step_kind kind;
  int8_t split, concat;  // lists; -1 = none
  uint64_t atoms;        // that are involved
  bool done;
} route_node;

// An entry of the open list: the node's priority when it was added.
typedef struct promise {
  double total;
  int moves;
  int32_t node;
} promise;

typedef struct route_search {
  const tsr_change_job *job;
  const tsr_space *space;
  int64_t capacity[TSR_MAX_LISTS];  // what the products of a list must divide
  uint64_t may_reduce;              // atoms that may be unreduced
  tsr_axis_cost *links;  // of neighbouring atoms i .. j: [i * atom_count + j]; NULL without
  double fastest;        // seconds per byte and device
  double bound;
  route_node *nodes;
  int64_t node_count, node_capacity, edge_count;
  int32_t *table;  // of nodes by hash of their spot; -1 = free
  size_t table_mask;
  promise *heap;  // cheapest first; an improved node is in it twice
  int64_t heap_count, heap_capacity;
} route_search;

// ---- the open list ----

static bool before(const promise *a, const promise *b) {
  if (a->total < b->total || a->total > b->total) return a->total < b->total;
  return a->moves != b->moves ? a->moves < b->moves : a->node < b->node;
}

static tsr_status heap_push(route_search *s, int32_t item) {
  promise *larger = tsr_grow(s->heap, s->heap_count, &s->heap_capacity, sizeof *s->heap);
  if (!larger) return tsr_fail(NO_MEMORY, "a search over %lld states", (long long)s->node_count);
  s->heap = larger;
  const route_node *pushed = &s->nodes[item];
  const promise made = {pushed->cost + pushed->rest, pushed->moves, item};
  int64_t at = s->heap_count++;
  for (; at && before(&made, &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
    s->heap[at] = s->heap[(at - 1) / 2];
  s->heap[at] = made;
  return NULL;
}

static int32_t heap_pop(route_search *s) {
  const int32_t top = s->heap[0].node;
  const promise item = s->heap[--s->heap_count];
  int64_t at = 0;
  for (int64_t child = 1; child < s->heap_count; child = 2 * at + 1) {
    if (child + 1 < s->heap_count && before(&s->heap[child + 1], &s->heap[child])) child++;
    if (!before(&s->heap[child], &item)) break;
    s->heap[at] = s->heap[child];
    at = child;
  }
  s->heap[at] = item;
  return top;
}

// ---- known states ----

// The slot of a spot: its node's, or the free one where it belongs.
static size_t find_slot(const route_search *s, const tsr_spot *spot) {
  size_t slot = (size_t)tsr_hash64(spot, sizeof *spot, 0) & s->table_mask;
  while (s->table[slot] >= 0 && memcmp(&s->nodes[s->table[slot]].spot, spot, sizeof *spot) != 0)
    slot = (slot + 1) & s->table_mask;
  return slot;
}

static tsr_status grow_table(route_search *s) {
  const size_t size = s->table ? 2 * (s->table_mask + 1) : 256;
  int32_t *table = malloc(size * sizeof *table);
  if (!table) return tsr_fail(NO_MEMORY, "a search over %lld states", (long long)s->node_count);
  memset(table, -1, size * sizeof *table);
  free(s->table);
  s->table = table;
  s->table_mask = size - 1;
  for (int64_t i = 0; i < s->node_count; i++)
    s->table[find_slot(s, &s->nodes[i].spot)] = (int32_t)i;
  return NULL;
}

static tsr_status add_node(route_search *s, const route_node *found, size_t slot) {
  route_node *larger = tsr_grow(s->nodes, s->node_count, &s->node_capacity, sizeof *s->nodes);
  if (!larger) return tsr_fail(NO_MEMORY, "a search over %lld states", (long long)s->node_count);
  s->nodes = larger;
  s->table[slot] = (int32_t)s->node_count;
  s->nodes[s->node_count++] = *found;
  return NULL;
}

static double bound_rest(const route_search *s, const tsr_spot *spot) {
  const double left =
      tsr_space_lower_bound(s->space, spot, &s->space->to, (double)s->job->elements, COUNT_LIMIT);
  return s->links ? tsr_job_bytes(s->job, left) / s->space->devices * s->fastest : left;
}

// Costs that differ only in rounding are equal; otherwise states would be expanded repeatedly.
static bool is_better(const route_node *found, const route_node *known) {
  if (found->cost * ROUNDING < known->cost) return true;
  return found->cost <= known->cost * ROUNDING && found->moves < known->moves;
}

// Adds a state, or improves a known one.
static tsr_status reach(route_search *s, route_node *found) {
  if ((size_t)s->node_count * 2 >= s->table_mask) TSR_TRY(grow_table(s));
  assert(s->table);  // an empty search grows one at once
  const size_t slot = find_slot(s, &found->spot);
  int32_t known = s->table[slot];
  if (known < 0) {
    found->rest = bound_rest(s, &found->spot);
    if (found->cost + found->rest > s->bound) return NULL;
    TSR_TRY(add_node(s, found, slot));
    known = s->table[slot];
  } else {
    assert(s->nodes);
    route_node *old = &s->nodes[known];
    if (!is_better(found, old)) return NULL;
    found->rest = old->rest;
    *old = *found;
  }
  return heap_push(s, known);
}

// ---- cost of a move ----

// The links of a collective over these atoms; adjacent atoms of one axis count as one.
static int collect_links(const route_search *s, uint64_t atoms, tsr_axis_cost *costs,
                         int64_t *sizes) {
  const tsr_space *space = s->space;
  int count = 0;
  for (int i = 0; i < space->atom_count; i++) {
    if (!(atoms >> i & 1)) continue;
    int j = i;
    int64_t size = tsr_space_size(space, i);
    for (; j + 1 < space->atom_count && atoms >> (j + 1) & 1 &&
           tsr_sub_axis_continues(&space->atoms[j], &space->atoms[j + 1]);
         j++)
      size *= tsr_space_size(space, j + 1);
    costs[count] = s->links[i * space->atom_count + j];
    sizes[count++] = size;
    i = j;
  }
  return count;
}

static double move_cost(const route_search *s, const route_node *to, double local, double n,
                        double share) {
  if (tsr_step_is_local(to->kind)) return 0;
  if (!s->links) return s->space->devices * tsr_step_elements(to->kind, local, n, share);
  tsr_axis_cost costs[TSR_MAX_SUB_AXES];
  int64_t sizes[TSR_MAX_SUB_AXES];
  const int count = collect_links(s, to->atoms, costs, sizes);
  return tsr_collective_over(tsr_step_collective(to->kind), costs, sizes, count,
                             tsr_job_bytes(s->job, local));
}

// ---- moves ----

// The state being expanded, unpacked.
typedef struct expansion {
  int32_t from;
  tsr_spot spot;
  int start[TSR_MAX_LISTS + 1];
  int64_t product[TSR_MAX_LISTS];
  uint64_t unreduced, free;
  double local;  // elements on a device
} expansion;

static uint64_t bit(int atom) { return UINT64_C(1) << atom; }

static uint64_t mask_of(const uint8_t *atoms, int count) {
  uint64_t mask = 0;
  for (int i = 0; i < count; i++) mask |= bit(atoms[i]);
  return mask;
}

static int64_t size_of_mask(const tsr_space *space, uint64_t atoms) {
  int64_t size = 1;
  for (int a = 0; a < space->atom_count; a++)
    if (atoms >> a & 1) size *= tsr_space_size(space, a);
  return size;
}

static void expansion_init(expansion *h, const route_search *s, int32_t from) {
  const tsr_space *space = s->space;
  *h = (expansion){.from = from, .spot = s->nodes[from].spot, .local = (double)s->job->elements};
  uint64_t used = 0;
  for (int l = 0; l < space->list_count; l++) {
    const uint8_t *atoms = h->spot.atoms + h->start[l];
    h->start[l + 1] = h->start[l] + h->spot.count[l];
    h->product[l] = 1;
    for (int i = 0; i < h->spot.count[l]; i++) h->product[l] *= tsr_space_size(space, atoms[i]);
    used |= mask_of(atoms, h->spot.count[l]);
    if (l + 1 < space->list_count) h->local /= (double)h->product[l];
  }
  const int last = space->list_count - 1;
  h->unreduced = mask_of(h->spot.atoms + h->start[last], h->spot.count[last]);
  h->free = (bit(space->atom_count) - 1) & ~used;
}

static void write_set(tsr_spot *spot, int list, int at, uint64_t atoms) {
  for (int a = 0; atoms >> a; a++)
    if (atoms >> a & 1) {
      spot->atoms[at++] = (uint8_t)a;
      spot->count[list]++;
    }
}

// The lists of the expanded state without the last `removed` atoms of list `from`, with `added` at
// the end of list `to`, and with another unreduced set.
static tsr_spot compose(const route_search *s, const expansion *h, int from, int removed, int to,
                        const uint8_t *added, int added_count, uint64_t unreduced) {
  tsr_spot spot = {0};
  int at = 0;
  for (int l = 0; l + 1 < s->space->list_count; l++) {
    const int kept = h->spot.count[l] - (l == from ? removed : 0);
    memcpy(spot.atoms + at, h->spot.atoms + h->start[l], (size_t)kept);
    at += kept;
    spot.count[l] = (uint8_t)kept;
    if (!added || l != to) continue;
    memcpy(spot.atoms + at, added, (size_t)added_count);
    at += added_count;
    spot.count[l] = (uint8_t)(kept + added_count);
  }
  write_set(&spot, s->space->list_count - 1, at, unreduced);
  return spot;
}

// Follows one move. `after` is the number of elements on a device afterwards.
static tsr_status follow(route_search *s, const expansion *h, route_node *to, double n,
                         double share, double after) {
  s->edge_count++;
  if (s->job->memory_cap && tsr_job_bytes(s->job, h->local + after) > (double)s->job->memory_cap)
    return NULL;
  const route_node *from = &s->nodes[h->from];
  to->parent = h->from;
  to->moves = from->moves + 1;
  to->cost = from->cost + move_cost(s, to, h->local, n, share);
  to->done = false;
  return to->cost > s->bound ? NULL : reach(s, to);
}

static bool has_room(const route_search *s, const expansion *h, int list, int64_t n) {
  return s->capacity[list] % (h->product[list] * n) == 0;
}

static tsr_status try_gather(route_search *s, const expansion *h, int list, int count, double n,
                             uint64_t atoms) {
  route_node to = {
      .kind = TSR_STEP_ALL_GATHER, .split = -1, .concat = (int8_t)list, .atoms = atoms};
  to.spot = compose(s, h, list, count, -1, NULL, 0, h->unreduced);
  return follow(s, h, &to, n, 0, h->local * n);
}

static tsr_status try_exchange(route_search *s, const expansion *h, int list, int count, int64_t n,
                               uint64_t atoms) {
  const uint8_t *suffix = h->spot.atoms + h->start[list + 1] - count;
  for (int l = 0; l + 1 < s->space->list_count; l++) {
    if (l == list || !has_room(s, h, l, n)) continue;
    route_node to = {
        .kind = TSR_STEP_ALL_TO_ALL, .split = (int8_t)l, .concat = (int8_t)list, .atoms = atoms};
    to.spot = compose(s, h, list, count, l, suffix, count, h->unreduced);
    TSR_TRY(follow(s, h, &to, (double)n, 0, h->local));
  }
  return NULL;
}

// Every suffix of a list can be gathered, or move to the end of another list.
static tsr_status expand_suffixes(route_search *s, const expansion *h, int list) {
  int64_t n = 1;
  uint64_t atoms = 0;
  for (int count = 1; count <= h->spot.count[list]; count++) {
    const int atom = h->spot.atoms[h->start[list + 1] - count];
    n *= tsr_space_size(s->space, atom);
    atoms |= bit(atom);
    TSR_TRY(try_gather(s, h, list, count, (double)n, atoms));
    TSR_TRY(try_exchange(s, h, list, count, n, atoms));
  }
  return NULL;
}

// Cuts a list with atoms of one set. One at a time suffices without a memory cap; with one, the
// intermediate state may be too large.
static tsr_status cut_more(route_search *s, const expansion *h, int list, uint64_t set,
                           uint8_t *added, int count, int64_t n) {
  const uint64_t taken = mask_of(added, count);
  for (int a = 0; a < s->space->atom_count; a++) {
    const int64_t size = n * tsr_space_size(s->space, a);
    if (!(set & ~taken & bit(a)) || !has_room(s, h, list, size)) continue;
    added[count] = (uint8_t)a;
    route_node to = {.kind = set == h->free ? TSR_STEP_SLICE : TSR_STEP_REDUCE_SCATTER,
                     .split = (int8_t)list,
                     .concat = -1,
                     .atoms = taken | bit(a)};
    to.spot = compose(s, h, -1, 0, list, added, count + 1, h->unreduced & ~to.atoms);
    TSR_TRY(follow(s, h, &to, (double)size, 0, h->local / (double)size));
    if (s->job->memory_cap) TSR_TRY(cut_more(s, h, list, set, added, count + 1, size));
  }
  return NULL;
}

// Free atoms can cut a list; unreduced ones can by a reduce-scatter.
static tsr_status expand_cuts(route_search *s, const expansion *h, int list) {
  uint8_t added[TSR_MAX_SUB_AXES];
  if (h->free) TSR_TRY(cut_more(s, h, list, h->free, added, 0, 1));
  return h->unreduced ? cut_more(s, h, list, h->unreduced, added, 0, 1) : NULL;
}

// Every set of unreduced atoms can be reduced, and free atoms can become unreduced.
static tsr_status expand_partials(route_search *s, const expansion *h) {
  for (uint64_t set = h->unreduced; set; set = (set - 1) & h->unreduced) {
    route_node to = {.kind = TSR_STEP_REDUCE, .split = -1, .concat = -1, .atoms = set};
    to.spot = compose(s, h, -1, 0, -1, NULL, 0, h->unreduced & ~set);
    TSR_TRY(follow(s, h, &to, (double)size_of_mask(s->space, set), 0, h->local));
  }
  for (int a = 0; a < s->space->atom_count; a++) {
    if (!(h->free & s->may_reduce & bit(a))) continue;
    route_node to = {.kind = TSR_STEP_ZERO, .split = -1, .concat = -1, .atoms = bit(a)};
    to.spot = compose(s, h, -1, 0, -1, NULL, 0, h->unreduced | bit(a));
    TSR_TRY(follow(s, h, &to, (double)tsr_space_size(s->space, a), 0, h->local));
  }
  return NULL;
}

// ---- permutes ----

typedef struct permuting {
  route_search *s;
  const expansion *h;
  bool towards;  // every list starts like the target's
  int left;      // how many more may be followed
  tsr_spot spot;
} permuting;

static tsr_status permute_follow(permuting *p) {
  const tsr_space *space = p->s->space;
  p->left--;
  if (!memcmp(&p->spot, &p->h->spot, sizeof p->spot)) return NULL;
  tsr_agreement agreement;
  if (!tsr_space_agree(space, &p->h->spot, &p->spot, COUNT_LIMIT, &agreement)) return NULL;
  route_node to = {.kind = TSR_STEP_PERMUTE, .split = -1, .concat = -1, .spot = p->spot};
  to.atoms = tsr_space_moved(space, &p->h->spot, &p->spot);
  return follow(p->s, p->h, &to, 1, 1 - agreement.same, p->h->local);
}

// The atoms that may come next in a list.
static uint64_t permute_choice(const permuting *p, int list, int at, int64_t left, uint64_t free) {
  const tsr_space *space = p->s->space;
  const int begun = p->spot.count[list];
  if (list + 1 == space->list_count) {
    // A set: ascending, so that each is tried once.
    const uint64_t passed = begun ? bit(p->spot.atoms[at - 1] + 1) - 1 : 0;
    return free & p->s->may_reduce & ~passed;
  }
  if (!p->towards || begun >= space->to.count[list]) return free;
  const uint8_t *wanted = space->to.atoms;
  for (int l = 0; l < list; l++) wanted += space->to.count[l];
  const bool fits = !memcmp(wanted, p->spot.atoms + at - begun, (size_t)begun) &&
                    free & bit(wanted[begun]) && left % tsr_space_size(space, wanted[begun]) == 0;
  return fits ? bit(wanted[begun]) : free;
}

// Fills the lists from `list` on with atoms of `free`; the product of `list` still lacks `left`.
static tsr_status permute_fill(permuting *p, int list, int at, int64_t left, uint64_t free) {
  const tsr_space *space = p->s->space;
  const int last = space->list_count - 1;
  if (left == 1) {
    if (list == last) return permute_follow(p);
    return permute_fill(p, list + 1, at, p->h->product[list + 1], free);
  }
  const uint64_t choice = permute_choice(p, list, at, left, free);
  for (int a = 0; a < space->atom_count && p->left; a++) {
    if (!(choice & bit(a)) || left % tsr_space_size(space, a)) continue;
    p->spot.atoms[at] = (uint8_t)a;
    p->spot.count[list]++;
    TSR_TRY(permute_fill(p, list, at + 1, left / tsr_space_size(space, a), free & ~bit(a)));
    p->spot.count[list]--;
    p->spot.atoms[at] = 0;
  }
  return NULL;
}

static tsr_status expand(route_search *s, int32_t from) {
  expansion h;
  expansion_init(&h, s, from);
  for (int l = 0; l + 1 < s->space->list_count; l++) {
    TSR_TRY(expand_suffixes(s, &h, l));
    TSR_TRY(expand_cuts(s, &h, l));
  }
  TSR_TRY(expand_partials(s, &h));
  permuting p = {
      .s = s, .h = &h, .towards = s->space->atom_count > MOST_FREE_ATOMS, .left = MOST_PERMUTES};
  return permute_fill(&p, 0, 0, h.product[0], bit(s->space->atom_count) - 1);
}

// ---- the search ----

static tsr_status measure_links(route_search *s) {
  const tsr_space *space = s->space;
  const int n = space->atom_count;
  if (!tsr_mesh_topology(s->job->mesh) || !n) return NULL;
  int64_t strides[MOST_LISTS * TSR_MAX_SUB_AXES], sizes[MOST_LISTS * TSR_MAX_SUB_AXES];
  int slots[MOST_LISTS * TSR_MAX_SUB_AXES], count = 0;
  for (int i = 0; i < n; i++) {
    tsr_sub_axis joined = space->atoms[i];
    for (int j = i; j < n && count < MOST_LISTS * TSR_MAX_SUB_AXES; j++) {
      if (j > i && !tsr_sub_axis_continues(&joined, &space->atoms[j])) break;
      if (j > i) joined = tsr_sub_axis_join(&joined, &space->atoms[j]);
      const tsr_digit digit = tsr_sub_axis_digit(space->mesh, &joined);
      strides[count] = digit.stride;
      sizes[count] = digit.size;
      slots[count++] = i * n + j;
    }
  }
  tsr_axis_cost found[MOST_LISTS * TSR_MAX_SUB_AXES];
  TSR_TRY(tsr_mesh_digit_costs(space->mesh, strides, sizes, count, found));
  s->links = calloc((size_t)n * (size_t)n, sizeof *s->links);
  if (!s->links) return tsr_fail(NO_MEMORY, "costs of %d atoms", n);
  for (int i = 0; i < count; i++) {
    s->links[slots[i]] = found[i];
    if (i == 0 || found[i].link.beta < s->fastest) s->fastest = found[i].link.beta;
  }
  return NULL;
}

// Partial results may move to any axis, except for the rule of binding: once an axis is typed, only
// explicit ones hold them.
static bool may_be_unreduced(const tsr_change_job *job, int axis) {
  if (tsr_mesh_axis_at(job->mesh, axis)->type == TSR_AXIS_EXPLICIT) return true;
  for (int i = 0; i < tsr_mesh_axis_count(job->mesh); i++)
    if (tsr_mesh_axis_at(job->mesh, i)->type != TSR_AXIS_AUTO) return false;
  return true;
}

static tsr_status start(route_search *s) {
  const tsr_space *space = s->space;
  const int last = space->list_count - 1;
  for (int l = 0; l < last; l++) s->capacity[l] = s->job->shape.dims[space->dims[l]];
  if (space->from.count[last] || space->to.count[last])
    for (int a = 0; a < space->atom_count; a++)
      if (may_be_unreduced(s->job, space->atoms[a].axis)) s->may_reduce |= bit(a);
  TSR_TRY(measure_links(s));
  route_node first = {.spot = space->from, .parent = -1};
  return reach(s, &first);
}

// Expands states until the target is next; `*out_goal` is -1 if it is never reached.
static tsr_status run(route_search *s, int64_t *out_expansions, int32_t *out_goal) {
  int64_t expansions = 0;
  *out_goal = -1;
  while (s->heap_count) {
    const int32_t next = heap_pop(s);
    if (s->nodes[next].done) continue;
    if (!memcmp(&s->nodes[next].spot, &s->space->to, sizeof s->space->to)) {
      *out_goal = next;
      break;
    }
    if (expansions == s->job->expansion_cap ||
        s->edge_count > EDGES_PER_STATE * s->job->expansion_cap)
      break;
    expansions++;
    s->nodes[next].done = true;
    TSR_TRY(expand(s, next));
  }
  *out_expansions = expansions;
  return NULL;
}

// ---- tracing the route ----

static int dim_of(const tsr_space *space, int list) { return list < 0 ? -1 : space->dims[list]; }

// Atoms of a move in the order of its group: as in the list they leave or join.
static void move_axes(const route_search *s, const route_node *from, const route_node *to,
                      tsr_sequence_move *move) {
  const tsr_space *space = s->space;
  const bool listed = to->split >= 0 || to->concat >= 0;
  const route_node *side = to->split >= 0 ? to : from;
  const int list = to->split >= 0 ? to->split : to->concat;
  int at = 0;
  for (int l = 0; listed && l < list; l++) at += side->spot.count[l];
  for (int i = 0; listed && i < side->spot.count[list]; i++) {
    const int atom = side->spot.atoms[at + i];
    if (to->atoms & bit(atom)) move->axes[move->axis_count++] = space->atoms[atom];
  }
  for (int a = 0; !listed && a < space->atom_count; a++)
    if (to->atoms & bit(a)) move->axes[move->axis_count++] = space->atoms[a];
  move->axis_count = tsr_sub_axes_join(move->axes, move->axis_count);
}

static tsr_status trace(const route_search *s, int32_t goal, tsr_route *route) {
  const route_node *to = &s->nodes[goal];
  if (to->parent < 0) return NULL;
  TSR_TRY(trace(s, to->parent, route));
  tsr_sequence_move move = {.kind = to->kind,
                            .split_dim = dim_of(s->space, to->split),
                            .concat_dim = dim_of(s->space, to->concat)};
  move_axes(s, &s->nodes[to->parent], to, &move);
  tsr_spot_spread(s->space, &to->spot, s->job->shape.rank, &move.after);
  return tsr_route_add(route, &move);
}

static tsr_status search_space(route_search *s, tsr_route *route, bool *out_found) {
  int32_t goal;
  TSR_TRY(start(s));
  TSR_TRY(run(s, &route->expansions, &goal));
  *out_found = goal >= 0;
  route->optimal = goal >= 0 && s->space->fine && s->space->atom_count <= MOST_FREE_ATOMS;
  return goal < 0 ? NULL : trace(s, goal, route);
}

tsr_status tsr_route_search(const tsr_change_job *job, double bound, tsr_route *out_route,
                            bool *out_found) {
  tsr_space space;
  TSR_TRY(
      tsr_space_init(&space, job->mesh, &job->from, &job->to, &job->shape, MOST_ATOMS, SPARE_DIMS));
  *out_found = false;
  if (space.list_count > MOST_LISTS) return NULL;
  route_search s = {.job = job, .space = &space, .bound = bound * ROUNDING};
  tsr_status status = search_space(&s, out_route, out_found);
  free(s.links);
  free(s.nodes);
  free(s.table);
  free(s.heap);
  return status;
}
