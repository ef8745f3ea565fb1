// Lives of slots, sharing, and offsets.
//
// Steps are numbered in the order in which they stand, those of lists inside their step. A slot
// lives from the first step that touches it to the last. One that a loop reads from outside lives
// to the end of the loop, and a carry all through it. Then, in order:
//
// 1. An output that may be written over an input takes its memory if no later step reads that. For
//    a carry "later" ends with the body: the next round reads what the body made. A result that can
//    take the memory of a donated argument leaves other memory alone.
// 2. What the body makes and what it carries change addresses after each round; so all of them live
//    as long as the one that lives longest. Loops that carry the same slot, one after the other,
//    have one spare memory for it.
// 3. A result is made in the caller's memory if all of its slot is memory of the run.
// 4. The rest is placed in one arena, the largest first, each in the smallest gap between slots
//    that live at the same time. What steps need for their work comes after all values: it fills
//    gaps between them.
#include "exec/memory_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"

enum { ALIGNMENT = 64, MOST_PEAK = 10 };

static int64_t rounded(int64_t bytes) {
  return bytes > INT64_MAX - ALIGNMENT ? INT64_MAX
                                       : (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

typedef struct open_loop {
  struct open_loop *outer;
  const tsr_schedule_step *step;
  int64_t start;
  int64_t touch_start;  // of the touches inside
  bool in_body;
} open_loop;

typedef struct placing {
  tsr_schedule *schedule;
  tsr_memory_plan *out;
  int64_t position;
  open_loop *loops;  // the innermost first
  // Per slot: the loop that carries it, or NULL; the last position of the body that touches it;
  // whether its address changes.
  const tsr_schedule_step **carried_by;
  int64_t *body_last;
  bool *rotated;
  bool *is_even;  // roots whose memory must have even distances from class to class
  const tsr_schedule_step **made_by;  // the first step that writes it
  int *donor_of;  // the argument whose memory it is meant for as a result: its slot plus 1, or 0
  int *touches;
  int64_t touch_count;
} placing;

static void *get(placing *p, int64_t count, size_t size) {
  return tsr_arena_zeros(&p->schedule->arena, (size_t)count + 1, size);
}

static bool is_run_memory(const placing *p, int root) {
  return p->schedule->slots[root].kind == TSR_SLOT_ARENA;
}

// The slot behind views.
static int base_of(const placing *p, int slot) {
  const tsr_slot *slots = p->schedule->slots;
  while (slots[slot].kind == TSR_SLOT_VIEW) slot = slots[slot].base;
  return slot;
}

static int64_t shift_of(const placing *p, int slot) {
  const tsr_slot *slots = p->schedule->slots;
  int64_t shift = 0;
  for (; slots[slot].kind == TSR_SLOT_VIEW; slot = slots[slot].base) shift += slots[slot].offset;
  return shift;
}

// Whether a slot or what it is a view of lies elsewhere for each class.
static bool is_scattered(const placing *p, int slot) {
  const tsr_slot *slots = p->schedule->slots;
  for (; slots[slot].kind == TSR_SLOT_VIEW; slot = slots[slot].base)
    if (slots[slot].class_offsets) return true;
  return false;
}

static int root_of(const placing *p, int slot) {
  slot = base_of(p, slot);
  while (p->out->places[slot].root != slot) slot = p->out->places[slot].root;
  return slot;
}

// ---- lives ----

static tsr_status touch(placing *p, int slot) {
  slot = base_of(p, slot);
  tsr_slot_place *place = &p->out->places[slot];
  if (place->first < 0) place->first = p->position;
  place->last = p->position;
  for (const open_loop *l = p->loops; l; l = l->outer)
    if (l->in_body && p->carried_by[slot] == l->step) p->body_last[slot] = p->position;
  int *touches = tsr_arena_grow(&p->schedule->arena, p->touches, p->touch_count, sizeof *touches);
  TSR_NEED(touches);
  p->touches = touches;
  touches[p->touch_count++] = slot;
  return NULL;
}

static tsr_status touch_all(placing *p, const int *slots, int count) {
  for (int i = 0; i < count; i++) TSR_TRY(touch(p, slots[i]));
  return NULL;
}

static tsr_status live_list(placing *p, const tsr_step_list *list);

// What the loop reads from outside, and its carries, live to its end.
static void end_loop(placing *p, const open_loop *l) {
  for (int64_t i = l->touch_start; p->touches && i < p->touch_count; i++) {
    tsr_slot_place *place = &p->out->places[p->touches[i]];
    if (place->first <= l->start) place->last = p->position;
  }
}

static tsr_status live_loop(placing *p, const tsr_schedule_step *step) {
  open_loop *here = get(p, 1, sizeof *here);
  TSR_NEED(here);
  *here = (open_loop){
      .outer = p->loops, .step = step, .start = p->position, .touch_start = p->touch_count};
  TSR_TRY(touch_all(p, step->outputs, step->output_count));
  for (int i = 0; i < step->output_count; i++) {
    p->carried_by[step->outputs[i]] = step;
    p->body_last[step->outputs[i]] = p->position;
  }
  p->loops = here;
  p->position++;
  TSR_TRY(live_list(p, &step->lists[0]));
  TSR_TRY(touch(p, step->condition));
  here->in_body = true;
  TSR_TRY(live_list(p, &step->lists[1]));
  for (int i = 0; i < step->output_count; i++) TSR_TRY(touch(p, step->moves[i].from));
  p->loops = here->outer;
  p->position++;
  end_loop(p, here);
  p->out->loop_count++;
  return NULL;
}

static tsr_status live_step(placing *p, const tsr_schedule_step *step) {
  // Rounded, so that the memory of every worker is aligned.
  const int64_t scratch = rounded(step->scratch_bytes);
  if (scratch > p->out->scratch_bytes) p->out->scratch_bytes = scratch;
  TSR_TRY(touch_all(p, step->inputs, step->input_count));
  if (step->kind == TSR_STEP_WHILE) return live_loop(p, step);
  for (int i = 0; i < step->output_count; i++) {
    const int slot = base_of(p, step->outputs[i]);
    if (!p->made_by[slot]) p->made_by[slot] = step;
    TSR_TRY(touch(p, slot));
  }
  if (step->temp_slot >= 0) {
    p->out->work[step->temp_slot] = true;
    TSR_TRY(touch(p, step->temp_slot));
  }
  p->position++;
  for (int i = 0; i < step->list_count; i++) TSR_TRY(live_list(p, &step->lists[i]));
  if (step->kind == TSR_STEP_CASE) {
    TSR_TRY(touch_all(p, step->outputs, step->output_count));
    p->position++;
  }
  return NULL;
}

static tsr_status live_list(placing *p, const tsr_step_list *list) {
  for (const tsr_schedule_step *step = list->first; step; step = step->next)
    TSR_TRY(live_step(p, step));
  return NULL;
}

// ---- writing over inputs ----

static bool dies_here(const placing *p, int base) {
  const open_loop *l = p->loops;
  if (l && l->in_body && p->carried_by[base] == l->step) return p->body_last[base] == p->position;
  return p->out->places[base].last == p->position;
}

// Whether exactly one input has this memory.
static bool is_read_once(const placing *p, const tsr_schedule_step *step, int root) {
  int count = 0;
  for (int i = 0; i < step->input_count; i++) count += root_of(p, step->inputs[i]) == root;
  return count == 1;
}

static void merge(placing *p, int root, int slot) {
  tsr_slot_place *places = p->out->places;
  places[slot].root = root;
  if (places[slot].first < places[root].first) places[root].first = places[slot].first;
  if (places[slot].last > places[root].last) places[root].last = places[slot].last;
}

// Whether an output can take the memory of an input, which no other output has taken.
static bool can_overwrite(const placing *p, const tsr_schedule_step *step, int output, int input) {
  const tsr_slot *slots = p->schedule->slots;
  const int slot = step->outputs[output];
  const int base = base_of(p, step->inputs[input]), root = root_of(p, base);
  if (!is_run_memory(p, root) || root == slot || shift_of(p, step->inputs[input]) ||
      is_scattered(p, step->inputs[input]))
    return false;
  if (slots[root].bytes != slots[slot].bytes || slots[root].classes != slots[slot].classes)
    return false;
  for (int i = 0; i < output; i++)
    if (root_of(p, step->outputs[i]) == root) return false;
  return dies_here(p, base) && is_read_once(p, step, root);
}

// Whether the step that makes a root writes it over all of an argument, which it reads once.
static bool is_written_over(const placing *p, int root, int argument) {
  const tsr_schedule_step *step = p->made_by[root];
  if (!step || step->kind == TSR_STEP_CASE || !is_read_once(p, step, argument)) return false;
  for (int i = 0; i < step->output_count; i++) {
    if (root_of(p, step->outputs[i]) != root) continue;
    for (int k = 0; k < step->input_count; k++)
      if (step->overwrites[i] & TSR_INPUT(k) && base_of(p, step->inputs[k]) == argument)
        return !shift_of(p, step->inputs[k]) && !is_scattered(p, step->inputs[k]);
    return false;
  }
  return false;
}

// Whether a result in the memory of a root may be written to that of an argument, which is not read
// once the root is written.
static bool comes_after(const placing *p, int root, int argument) {
  const tsr_slot_place *places = p->out->places;
  return places[argument].last < places[root].first ||
         (places[argument].last == places[root].first && is_written_over(p, root, argument));
}

// The memory of an input that an output takes; -1 = none. A result that is meant for the memory of
// an argument takes none that was written while the argument was still read.
static int memory_for(const placing *p, const tsr_schedule_step *step, int output) {
  const int slot = step->outputs[output], donor = p->donor_of[slot] - 1;
  const bool is_donated = donor >= 0 && comes_after(p, slot, donor);
  for (int i = 0; i < step->input_count; i++) {
    const int root = root_of(p, step->inputs[i]);
    if (step->overwrites[output] & TSR_INPUT(i) && can_overwrite(p, step, output, i) &&
        (!is_donated || comes_after(p, root, donor)))
      return root;
  }
  return -1;
}

static void share_output(placing *p, const tsr_schedule_step *step, int output) {
  const int slot = step->outputs[output];
  if (p->schedule->slots[slot].kind != TSR_SLOT_ARENA || p->out->places[slot].root != slot) return;
  const int root = memory_for(p, step, output);
  if (root >= 0) merge(p, root, slot);
}

static void share_list(placing *p, const tsr_step_list *list);

static void share_step(placing *p, const tsr_schedule_step *step) {
  for (int i = 0; i < step->output_count; i++) share_output(p, step, i);
  p->position++;
  if (step->kind == TSR_STEP_WHILE) {
    open_loop here = {.outer = p->loops, .step = step};
    p->loops = &here;  // cppcheck-suppress autoVariables ; taken back below
    share_list(p, &step->lists[0]);
    here.in_body = true;
    share_list(p, &step->lists[1]);
    p->loops = here.outer;
    p->position++;
    return;
  }
  for (int i = 0; i < step->list_count; i++) share_list(p, &step->lists[i]);
  if (step->kind == TSR_STEP_CASE) p->position++;
}

static void share_list(placing *p, const tsr_step_list *list) {
  for (const tsr_schedule_step *step = list->first; step; step = step->next) share_step(p, step);
}

// ---- rotations ----

// The carry at the end of a chain of carries that take each other's values, which starts with the
// one that takes the value of `from`: its memory is left for `from`. -1 for a cycle.
static int end_of_chain(const placing *p, const tsr_schedule_step *step, int from) {
  for (int rounds = 0, at = from; rounds <= step->output_count; rounds++) {
    int next = -1;
    for (int i = 0; i < step->output_count; i++)
      if (root_of(p, step->moves[i].from) == at && root_of(p, step->moves[i].to) != at)
        next = root_of(p, step->moves[i].to);
    if (next < 0) return at;
    at = next;
  }
  return -1;
}

static bool is_target(const placing *p, const tsr_schedule_step *step, int root) {
  for (int i = 0; i < step->output_count; i++)
    if (root_of(p, step->moves[i].to) == root) return true;
  return false;
}

// Those that change addresses live equally long.
static void live_together(placing *p, int a, int b) {
  tsr_slot_place *places = p->out->places;
  const int64_t first = tsr_least(places[a].first, places[b].first);
  const int64_t last = places[a].last > places[b].last ? places[a].last : places[b].last;
  places[a].first = places[b].first = first;
  places[a].last = places[b].last = last;
  p->rotated[a] = p->rotated[b] = true;
}

static void add_rotation(placing *p, tsr_loop_plan *plan, int from, int to) {
  plan->rotations[plan->rotation_count++] = (tsr_rotation){from, to};
  live_together(p, from, to);
}

static tsr_status plan_loop(placing *p, tsr_schedule_step *step) {
  step->loop = p->out->loop_count;
  tsr_loop_plan *plan = &p->out->loops[p->out->loop_count++];
  plan->rotations = get(p, 2 * (int64_t)step->output_count, sizeof *plan->rotations);
  TSR_NEED(plan->rotations);
  for (int i = 0; i < step->output_count; i++) {
    const int from = root_of(p, step->moves[i].from), to = root_of(p, step->moves[i].to);
    if (from == to) continue;
    add_rotation(p, plan, from, to);
    if (is_target(p, step, from)) continue;
    const int last = end_of_chain(p, step, from);
    if (last >= 0 && last != from) add_rotation(p, plan, last, from);
  }
  return NULL;
}

static tsr_status plan_list(placing *p, const tsr_step_list *list) {
  for (tsr_schedule_step *step = list->first; step; step = step->next) {
    if (step->kind == TSR_STEP_WHILE) TSR_TRY(plan_loop(p, step));
    for (int i = 0; i < step->list_count; i++) TSR_TRY(plan_list(p, &step->lists[i]));
  }
  return NULL;
}

// Lives of rotated slots may grow by those of slots they are rotated with in another loop.
static void settle_rotations(placing *p) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < p->out->loop_count; i++)
      for (int k = 0; k < p->out->loops[i].rotation_count; k++) {
        const tsr_rotation *r = &p->out->loops[i].rotations[k];
        const tsr_slot_place *a = &p->out->places[r->from], *b = &p->out->places[r->to];
        if (a->first == b->first && a->last == b->last) continue;
        live_together(p, r->from, r->to);
        changed = true;
      }
  }
}

// ---- spare memory ----

// While rotations are shared: how often each root is rotated, in all loops and in one; the spare
// memory of each carry; the lives of slots before they were rotated.
typedef struct spares {
  int *uses, *uses_here, *spare_of;
  tsr_slot_place *own;
} spares;

static void count_rotations(const tsr_loop_plan *plan, int by, int *counts) {
  for (int k = 0; k < plan->rotation_count; k++) {
    counts[plan->rotations[k].from] += by;
    counts[plan->rotations[k].to] += by;
  }
}

// Whether rotation k and the next one exchange a carry with what the body makes for it, both of
// which the loop rotates no other way.
static bool is_exchange(const tsr_loop_plan *plan, int k, const spares *s) {
  const tsr_rotation *r = &plan->rotations[k];
  return k + 1 < plan->rotation_count && r[1].from == r->to && r[1].to == r->from &&
         s->uses_here[r->from] == 2 && s->uses_here[r->to] == 2 && s->uses[r->from] == 2;
}

static bool can_be_one(const placing *p, const spares *s, int a, int b) {
  const tsr_slot *slots = p->schedule->slots;
  return slots[a].kind == TSR_SLOT_ARENA && slots[b].kind == TSR_SLOT_ARENA &&
         slots[a].bytes == slots[b].bytes && slots[a].classes == slots[b].classes &&
         (s->own[a].last < s->own[b].first || s->own[b].last < s->own[a].first);
}

static void share_spare(placing *p, spares *s, tsr_rotation *r) {
  const int carry = r->to, spare = s->spare_of[carry] - 1, own = r->from;
  if (spare < 0) {
    s->spare_of[carry] = own + 1;
  } else if (can_be_one(p, s, spare, own)) {
    merge(p, spare, own);
    s->own[spare].first = tsr_least(s->own[spare].first, s->own[own].first);
    if (s->own[own].last > s->own[spare].last) s->own[spare].last = s->own[own].last;
    r[0].from = r[1].to = spare;
  }
}

// A carry and its spare memory take turns in a loop. A later loop that carries the same slot finds
// the two in one order or the other, and can take turns with the same two.
static tsr_status share_spares(placing *p, tsr_slot_place *own) {
  const int64_t count = p->schedule->slot_count;
  spares s = {.uses = get(p, count, sizeof(int)),
              .uses_here = get(p, count, sizeof(int)),
              .spare_of = get(p, count, sizeof(int)),  // plus 1
              .own = own};
  TSR_NEED(s.uses && s.uses_here && s.spare_of ? p : NULL);
  for (int i = 0; i < p->out->loop_count; i++) count_rotations(&p->out->loops[i], 1, s.uses);
  for (int i = 0; i < p->out->loop_count; i++) {
    tsr_loop_plan *plan = &p->out->loops[i];
    count_rotations(plan, 1, s.uses_here);
    for (int k = 0; k < plan->rotation_count; k++)
      if (is_exchange(plan, k, &s)) share_spare(p, &s, &plan->rotations[k++]);
    memset(s.uses_here, 0, (size_t)count * sizeof(int));
  }
  return NULL;
}

// ---- results ----

static const tsr_lane_classes *classes_of(const tsr_shards *shards, int index) {
  return shards ? shards[index].classes : NULL;
}

static bool takes_result(const placing *p, int result, int root) {
  const tsr_slot *slots = p->schedule->slots;
  const int slot = p->schedule->results[result];
  return is_run_memory(p, root) && !p->rotated[root] && !p->is_even[root] && !shift_of(p, slot) &&
         slots[root].bytes == slots[slot].bytes && !is_scattered(p, slot) &&
         slots[root].classes == classes_of(p->schedule->result_shards, result);
}

static void mark_even(placing *p) {
  for (int i = 0; i < p->schedule->slot_count; i++)
    if (p->schedule->slots[i].from_first) p->is_even[root_of(p, i)] = true;
}

static void place_results(placing *p) {
  tsr_schedule *schedule = p->schedule;
  for (int i = 0; i < schedule->result_count; i++) {
    p->out->result_roots[i] = -1;
    if (schedule->results[i] < 0) continue;
    const int root = root_of(p, schedule->results[i]);
    if (!takes_result(p, i, root)) continue;
    schedule->slots[root].kind = TSR_SLOT_RESULT;
    schedule->slots[root].index = i;
    p->out->result_roots[i] = root;
  }
}

static bool is_copied_at_end(const placing *p, int argument_root) {
  const tsr_schedule *schedule = p->schedule;
  for (int i = 0; i < schedule->result_count; i++)
    if (schedule->results[i] >= 0 && root_of(p, schedule->results[i]) == argument_root) return true;
  return false;
}

// Whether devices hold an argument and a result at the same places.
static bool has_same_shards(const tsr_schedule *schedule, int argument, int64_t result) {
  if (!schedule->devices) return true;
  const tsr_shards *a = &schedule->argument_shards[argument];
  const tsr_shards *r = &schedule->result_shards[result];
  return a->classes == r->classes &&
         !memcmp(a->starts, r->starts, sizeof *a->starts * (size_t)tsr_class_count(a->classes));
}

// Whether the memory of an argument could be that of a result, whenever both are needed.
static bool can_donate(const placing *p, int argument, int64_t result) {
  const tsr_schedule *schedule = p->schedule;
  if (result < 0 || result >= schedule->result_count || schedule->arguments[argument] < 0 ||
      schedule->results[result] < 0)
    return false;
  const int slot = schedule->arguments[argument];
  return schedule->slots[schedule->results[result]].bytes == schedule->slots[slot].bytes &&
         !is_copied_at_end(p, slot) && has_same_shards(schedule, argument, result);
}

// Tells the slots of results the arguments whose memory they are meant for.
static void expect_donors(placing *p, const int64_t *aliased) {
  const tsr_schedule *schedule = p->schedule;
  for (int i = 0; aliased && i < schedule->argument_count; i++) {
    if (!can_donate(p, i, aliased[i])) continue;
    const int slot = base_of(p, schedule->results[aliased[i]]);
    if (takes_result(p, (int)aliased[i], slot) && !p->donor_of[slot])
      p->donor_of[slot] = schedule->arguments[i] + 1;
  }
}

// A result may take the memory of its argument if that is not read once the result is written.
static void find_donors(placing *p, const int64_t *aliased) {
  const tsr_schedule *schedule = p->schedule;
  for (int i = 0; i < schedule->result_count; i++) p->out->donors[i] = -1;
  for (int i = 0; aliased && i < schedule->argument_count; i++) {
    if (!can_donate(p, i, aliased[i])) continue;
    const int root = p->out->result_roots[aliased[i]];
    if (root < 0 || comes_after(p, root, schedule->arguments[i])) p->out->donors[aliased[i]] = i;
  }
}

// ---- offsets ----

typedef struct arena_claim {
  int root;
  int64_t bytes, first, last, offset;
  bool work;
} arena_claim;

static int larger_first(const void *a, const void *b) {
  const arena_claim *x = a, *y = b;
  if (x->work != y->work) return x->work ? 1 : -1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return (x->root > y->root) - (x->root < y->root);
}

// `placed` is in the order of offsets.
static int64_t best_gap(const arena_claim *const *placed, int count, const arena_claim *c) {
  int64_t best = -1, best_size = INT64_MAX, end = 0;
  for (int i = 0; i < count; i++) {
    const arena_claim *other = placed[i];
    if (other->last < c->first || other->first > c->last) continue;
    const int64_t gap = other->offset - end;
    if (gap >= c->bytes && gap < best_size) best = end, best_size = gap;
    if (other->offset + other->bytes > end) end = other->offset + other->bytes;
  }
  return best >= 0 ? best : end;
}

static tsr_status place_claims(placing *p, arena_claim *claims, int count) {
  const arena_claim **placed = get(p, count, sizeof *placed);
  TSR_NEED(placed);
  qsort(claims, (size_t)count, sizeof *claims, larger_first);
  for (int i = 0; i < count; i++) {
    arena_claim *c = &claims[i];
    c->offset = best_gap(placed, i, c);
    if (c->offset > INT64_MAX - c->bytes)
      return tsr_fail(TOO_LARGE, "the program needs more than 2^63 bytes of memory");
    int at = i;
    for (; at > 0 && placed[at - 1]->offset > c->offset; at--) placed[at] = placed[at - 1];
    placed[at] = c;
    p->out->places[c->root].offset = c->offset;
    if (c->offset + c->bytes > p->out->arena_bytes) p->out->arena_bytes = c->offset + c->bytes;
    if (!c->work) p->out->value_bytes = p->out->arena_bytes;
  }
  return NULL;
}

// ---- where most is needed ----

typedef struct change {
  int64_t position, bytes;
} change;

static int by_position(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->position != y->position) return x->position < y->position ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

typedef struct living {
  int root;
  int64_t bytes;
} living;

static int more_bytes_first(const void *a, const void *b) {
  const living *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->root > y->root) - (x->root < y->root);
}

// The largest of what lives at a position: memory of the arena, and what lives all along.
static tsr_status list_peak(placing *p, const arena_claim *claims, int count, int64_t where) {
  const tsr_schedule *schedule = p->schedule;
  living *all = get(p, (int64_t)count + schedule->slot_count, sizeof *all);
  int found = 0;
  TSR_NEED(all);
  for (int i = 0; i < count; i++)
    if (claims[i].first <= where && where <= claims[i].last)
      all[found++] = (living){claims[i].root, p->out->bytes[claims[i].root]};
  for (int i = 0; i < schedule->slot_count; i++) {
    const tsr_slot_kind kind = schedule->slots[i].kind;
    const bool outside =
        kind == TSR_SLOT_ARGUMENT || kind == TSR_SLOT_RESULT || kind == TSR_SLOT_CONSTANT;
    if (outside && p->out->bytes[i] > 0) all[found++] = (living){i, p->out->bytes[i]};
  }
  qsort(all, (size_t)found, sizeof *all, more_bytes_first);
  for (int i = 0; i < found && i < MOST_PEAK; i++) p->out->peak[p->out->peak_count++] = all[i].root;
  return NULL;
}

// What one device alone would hold at once, of values; `changes` is room.
static int64_t device_peak(const placing *p, const arena_claim *claims, int count,
                           change *changes) {
  int used = 0;
  for (int i = 0; i < count; i++) {
    const int64_t bytes = p->schedule->slots[claims[i].root].bytes;
    if (claims[i].work) continue;
    changes[used++] = (change){claims[i].first, bytes};
    changes[used++] = (change){claims[i].last + 1, -bytes};
  }
  qsort(changes, (size_t)used, sizeof *changes, by_position);
  int64_t now = 0, most = 0;
  for (int i = 0; i < used; i++) {
    now += changes[i].bytes;
    if (now > most) most = now;
  }
  return most;
}

static tsr_status find_peak(placing *p, const arena_claim *claims, int count) {
  change *changes = get(p, 2 * (int64_t)count, sizeof *changes);
  p->out->peak = get(p, MOST_PEAK, sizeof *p->out->peak);
  TSR_NEED(changes && p->out->peak ? p : NULL);
  for (int i = 0; i < count; i++) {
    changes[2 * i] = (change){claims[i].first, claims[i].bytes};
    changes[2 * i + 1] = (change){claims[i].last + 1, -claims[i].bytes};
  }
  qsort(changes, 2 * (size_t)count, sizeof *changes, by_position);
  int64_t now = 0, most = 0, where = 0;
  for (int i = 0; i < 2 * count; i++) {
    now += changes[i].bytes;
    if (now > most) most = now, where = changes[i].position;
  }
  TSR_TRY(list_peak(p, claims, count, where));
  p->out->device_bytes = device_peak(p, claims, count, changes);
  return NULL;
}

static tsr_status place_arena(placing *p) {
  const tsr_schedule *schedule = p->schedule;
  arena_claim *claims = get(p, schedule->slot_count, sizeof *claims);
  TSR_NEED(claims);
  int count = 0;
  for (int i = 0; i < schedule->slot_count; i++) {
    const tsr_slot_place *place = &p->out->places[i];
    if (schedule->slots[i].kind != TSR_SLOT_ARENA || place->root != i || place->first < 0) continue;
    claims[count++] = (arena_claim){.root = i,
                                    .bytes = rounded(p->out->bytes[i]),
                                    .first = place->first,
                                    .last = place->last,
                                    .work = p->out->work[i]};
  }
  TSR_TRY(place_claims(p, claims, count));
  return find_peak(p, claims, count);
}

// ---- all ----

static int classes_here(const placing *p, int slot) {
  const tsr_lane_classes *classes = p->schedule->slots[slot].classes;
  const tsr_rank_plan *ranks = p->out->ranks;
  const bool all = !ranks || !classes || p->schedule->slots[slot].kind == TSR_SLOT_CONSTANT;
  return all ? tsr_class_count(classes) : ranks->slots[slot]->here_count;
}

static tsr_status open_places(placing *p) {
  const tsr_schedule *schedule = p->schedule;
  const int count = schedule->slot_count;
  tsr_memory_plan *out = p->out;
  out->places = get(p, count, sizeof *out->places);
  out->bytes = get(p, count, sizeof *out->bytes);
  p->carried_by = get(p, count, sizeof *p->carried_by);
  p->body_last = get(p, count, sizeof *p->body_last);
  p->rotated = get(p, count, sizeof *p->rotated);
  p->is_even = get(p, count, sizeof *p->is_even);
  out->work = get(p, count, sizeof *out->work);
  p->made_by = get(p, count, sizeof *p->made_by);
  p->donor_of = get(p, count, sizeof *p->donor_of);
  out->result_roots = get(p, schedule->result_count, sizeof *out->result_roots);
  out->donors = get(p, schedule->result_count, sizeof *out->donors);
  TSR_NEED(out->places && out->bytes && p->carried_by && p->body_last && p->rotated && p->is_even &&
                   out->work && p->made_by && p->donor_of && out->result_roots && out->donors
               ? p
               : NULL);
  for (int i = 0; i < count; i++) {
    const tsr_slot *slot = &schedule->slots[i];
    out->places[i] = (tsr_slot_place){.root = i, .offset = -1, .first = -1, .last = -1};
    out->bytes[i] = tsr_saturated_multiply(slot->bytes, classes_here(p, i));
  }
  return NULL;
}

// Where a view lies for each class, if it is a view of such a view.
static tsr_status add_offsets(placing *p, tsr_slot_place *place, const tsr_slot *view) {
  const int count = tsr_class_count(place->classes);
  int64_t *sums = get(p, count, sizeof *sums);
  TSR_NEED(sums);
  for (int i = 0; i < count; i++)
    sums[i] = place->class_offsets[i] +
              view->class_offsets[tsr_class_of(view->classes, tsr_class_lane(place->classes, i))];
  place->class_offsets = sums;
  return NULL;
}

static tsr_status close_place(placing *p, int slot) {
  tsr_slot_place *place = &p->out->places[slot];
  const tsr_slot *at = &p->schedule->slots[slot];
  bool from_first = false;
  place->shift = shift_of(p, slot);
  for (; at->kind == TSR_SLOT_VIEW; at = &p->schedule->slots[at->base]) {
    from_first = from_first || at->from_first;
    if (!at->class_offsets) continue;
    if (place->class_offsets) {
      TSR_TRY(add_offsets(p, place, at));
    } else {
      place->classes = at->classes;
      place->class_offsets = at->class_offsets;
    }
  }
  place->root_classes = from_first ? NULL : at->classes;
  place->stride = at->bytes;
  place->root = root_of(p, slot);
  if (p->out->ranks && place->root_classes && at->kind != TSR_SLOT_CONSTANT)
    place->here = p->out->ranks->slots[at - p->schedule->slots]->here;
  return NULL;
}

// Every slot knows its root and its shift from there, in every lane.
static tsr_status close_places(placing *p) {
  for (int i = 0; i < p->schedule->slot_count; i++) TSR_TRY(close_place(p, i));
  return NULL;
}

// Which slots loops exchange, and how long those live then.
static tsr_status plan_loops(placing *p) {
  const int64_t count = p->schedule->slot_count;
  p->out->loops = get(p, p->out->loop_count, sizeof *p->out->loops);
  tsr_slot_place *own = get(p, count, sizeof *own);
  TSR_NEED(p->out->loops && own ? p : NULL);
  memcpy(own, p->out->places, (size_t)count * sizeof *own);
  p->out->loop_count = 0;
  TSR_TRY(plan_list(p, &p->schedule->steps));
  TSR_TRY(share_spares(p, own));
  settle_rotations(p);
  return NULL;
}

static tsr_status count_addresses(placing *p, const tsr_shards *shards, int count,
                                  int64_t **out_firsts) {
  int64_t *firsts = get(p, count, sizeof *firsts), *pieces = &p->out->piece_bytes;
  TSR_NEED(firsts);
  for (int i = 0; i < count; i++) {
    const int classes = tsr_class_count(classes_of(shards, i));
    firsts[i + 1] = firsts[i] + classes;
    if (shards && shards[i].is_copied)
      *pieces =
          tsr_saturated_add(*pieces, tsr_saturated_multiply(rounded(shards[i].bytes), classes));
  }
  *out_firsts = firsts;
  return NULL;
}

// The memory that callers give, for each class.
static tsr_status plan_callers(placing *p) {
  const tsr_schedule *schedule = p->schedule;
  TSR_TRY(count_addresses(p, schedule->argument_shards, schedule->argument_count,
                          &p->out->argument_addresses));
  return count_addresses(p, schedule->result_shards, schedule->result_count,
                         &p->out->result_addresses);
}

tsr_status tsr_plan_memory(tsr_schedule *schedule, const int64_t *aliased,
                           const tsr_rank_plan *ranks, tsr_memory_plan *out_plan) {
  *out_plan = (tsr_memory_plan){.ranks = ranks};
  placing p = {.schedule = schedule, .out = out_plan};
  TSR_TRY(open_places(&p));
  TSR_TRY(plan_callers(&p));
  TSR_TRY(live_list(&p, &schedule->steps));
  for (int i = 0; i < schedule->result_count; i++)
    if (schedule->results[i] >= 0) TSR_TRY(touch(&p, schedule->results[i]));
  p.position = 0;
  expect_donors(&p, aliased);
  share_list(&p, &schedule->steps);
  TSR_TRY(plan_loops(&p));
  mark_even(&p);
  place_results(&p);
  find_donors(&p, aliased);
  TSR_TRY(place_arena(&p));
  return close_places(&p);
}
