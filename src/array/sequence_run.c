// Another layout by a sequence of collectives.
//
// After a step every device has a buffer of its own, as on real machines, except that members of a
// group with the same result share it. Replicas in other groups release theirs when the step is
// done.
#include <stdlib.h>

#include "array/array.h"
#include "array/sequence_run.h"
#include "element/copy_internal.h"
#include "element/shape_internal.h"
#include "sequence/sequence_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"

typedef struct step_run {
  const tsr_sequence *sequence;
  int64_t number;
  const tsr_sequence_step *step;
  tsr_array *in, *out;
  const tsr_array *targets;  // buffers of leaders for the result; NULL = none
  tsr_groups groups;         // owned; empty of a permute
  tsr_pair *pairs;           // owned; of a permute
  int64_t pair_count;
  tsr_lists lists;
} step_run;

// ---- buffers ----

static bool results_are_equal(tsr_step_kind kind) {
  return kind == TSR_STEP_ALL_GATHER || kind == TSR_STEP_REDUCE;
}

static void use_targets(step_run *s) {
  for (int64_t i = 0; s->targets && i < s->out->slot_count; i++)
    if (tsr_slot_is_leader(s->targets, &s->targets->slots[i]))
      tsr_slot_hold(&s->out->slots[i], &s->targets->slots[i]);
}

// A member of a group with a buffer; NULL if there is none.
static const tsr_array_slot *find_made(const step_run *s, const int64_t *members) {
  for (int64_t i = 0; i < s->groups.size; i++) {
    const int64_t index = tsr_array_local_find(s->out, members[i]);
    if (index >= 0 && s->out->slots[index].buffer) return &s->out->slots[index];
  }
  return NULL;
}

static tsr_status make_group(step_run *s, const int64_t *members) {
  const bool equal = results_are_equal(s->step->kind);
  const tsr_array_slot *first = equal ? find_made(s, members) : NULL;
  for (int64_t i = 0; i < s->groups.size; i++) {
    const int64_t index = tsr_array_local_find(s->out, members[i]);
    if (index < 0 || s->out->slots[index].buffer) continue;
    tsr_array_slot *slot = &s->out->slots[index];
    if (first && equal) {
      tsr_slot_hold(slot, first);
    } else {
      TSR_TRY(tsr_slot_make(s->out, slot));
      first = slot;
    }
  }
  return NULL;
}

static tsr_status make_buffers(step_run *s) {
  use_targets(s);
  for (int64_t g = 0; g < s->groups.count; g++)
    TSR_TRY(make_group(s, s->groups.members + g * s->groups.size));
  for (int64_t i = 0; i < s->out->slot_count; i++)
    if (!s->out->slots[i].buffer) TSR_TRY(tsr_slot_make(s->out, &s->out->slots[i]));
  for (int64_t i = 0; i < s->in->slot_count; i++) {
    const int64_t index = tsr_comm_local_index(s->in->comm, s->in->slots[i].device);
    s->lists.in[index] = s->in->slots[i].data;
    s->lists.out[index] = s->out->slots[i].data;
  }
  return NULL;
}

static tsr_status prepare(step_run *s) {
  const tsr_shape shape = tsr_layout_shape(s->in->layout);
  tsr_layout *layout = NULL;
  TSR_TRY(tsr_layout_create(s->step->sharding, &shape, TSR_POLICY_ERROR, &layout));
  tsr_status status = tsr_array_alloc(s->in->comm, layout, s->in->dtype, &s->out);
  tsr_layout_release(layout);
  if (!status && s->step->kind == TSR_STEP_PERMUTE)
    status = tsr_sequence_step_pairs(s->sequence, s->number, &s->pairs, &s->pair_count);
  else if (!status)
    status = tsr_sequence_step_groups(s->sequence, s->number, &s->groups);
  if (!status) status = tsr_lists_init(&s->lists, s->in->comm);
  return status ? status : make_buffers(s);
}

// ---- steps ----

// The product of the dimensions before `dim`, and from it on.
static int64_t before(const tsr_shape *shape, int dim) {
  int64_t count = 1;
  for (int d = 0; d < dim; d++) count *= shape->dims[d];
  return count;
}

static int64_t from_on(const tsr_shape *shape, int dim) {
  int64_t count = 1;
  for (int d = dim; d < shape->rank; d++) count *= shape->dims[d];
  return count;
}

// Piece i of the own buffer, for member i of each group.
static tsr_status slice(const step_run *s) {
  const int dim = s->step->split_dim;
  const int64_t outer = before(&s->step->in_shape, dim);
  const int64_t whole = from_on(&s->step->in_shape, dim), piece = from_on(&s->step->out_shape, dim);
  tsr_copy_vector copies = TSR_COPY_VECTOR_EMPTY;
  tsr_status status = NULL;
  for (int64_t m = 0; m < s->groups.count * s->groups.size && !status; m++) {
    const int64_t device = s->groups.members[m];
    if (tsr_comm_local_index(s->in->comm, device) < 0) continue;
    tsr_copy copy = {.source = device,
                     .target = device,
                     .from = m % s->groups.size * piece,
                     .length = piece,
                     .loop_count = 1,
                     .loops = {{outer, whole, piece}}};
    tsr_copy_simplify(&copy);
    status = tsr_copy_vector_add(&copies, &copy);
  }
  const tsr_exchange work = {copies.items, copies.count, s->in->bits, s->lists.in, s->lists.out};
  if (!status) status = tsr_engine_copy_here(s->in->comm, &work, 1);
  tsr_copy_vector_deinit(&copies);
  return status;
}

// Member 0 keeps its values; the others get zeros for sums, and keep theirs for max and min.
static tsr_status zero(const step_run *s) {
  const bool sum = tsr_sequence_reduction(s->sequence) == TSR_REDUCE_SUM;
  for (int64_t m = 0; m < s->groups.count * s->groups.size; m++) {
    const int64_t index = tsr_array_local_find(s->out, s->groups.members[m]);
    if (index < 0) continue;
    if (sum && m % s->groups.size != 0) {
      TSR_TRY(tsr_slot_clear(s->out, &s->out->slots[index]));
      continue;
    }
    tsr_slot_hold(&s->out->slots[index], &s->in->slots[index]);
  }
  return NULL;
}

static tsr_status carry_out(const step_run *s) {
  const tsr_sequence_step *step = s->step;
  const tsr_shape *in = &step->in_shape, *out = &step->out_shape;
  const tsr_reduction op = tsr_sequence_reduction(s->sequence);
  tsr_comm *comm = s->in->comm;
  const tsr_dtype dtype = s->in->dtype;
  switch (step->kind) {
    case TSR_STEP_SLICE:
      return slice(s);
    case TSR_STEP_ALL_GATHER:
      return tsr_comm_all_gather(comm, &s->groups, dtype, before(in, step->concat_dim),
                                 from_on(in, step->concat_dim), s->lists.in, s->lists.out);
    case TSR_STEP_ALL_TO_ALL:
      return tsr_comm_all_to_all(comm, &s->groups, dtype, in, step->split_dim, step->concat_dim,
                                 s->lists.in, s->lists.out);
    case TSR_STEP_PERMUTE:
      return tsr_comm_permute(comm, s->pairs, s->pair_count, dtype, from_on(in, 0), s->lists.in,
                              s->lists.out);
    case TSR_STEP_REDUCE:
      return tsr_comm_all_reduce(comm, &s->groups, dtype, op, from_on(in, 0), s->lists.in,
                                 s->lists.out);
    case TSR_STEP_REDUCE_SCATTER:
      return tsr_comm_reduce_scatter(comm, &s->groups, dtype, op, before(out, step->split_dim),
                                     from_on(out, step->split_dim), s->lists.in, s->lists.out);
    default:
      return zero(s);
  }
}

static tsr_status do_step(const tsr_sequence *sequence, int64_t number, tsr_array *in,
                          const tsr_array *targets, tsr_array **out_array) {
  step_run s = {.sequence = sequence,
                .number = number,
                .step = tsr_sequence_step_at(sequence, number),
                .in = in,
                .targets = targets};
  tsr_status status = tsr_array_agree(in->comm, tsr_step_kind_name(s.step->kind), prepare(&s));
  if (!status) status = carry_out(&s);
  tsr_lists_deinit(&s.lists);
  if (s.groups.members) tsr_groups_deinit(&s.groups);
  free(s.pairs);
  if (status)
    status = tsr_raised(tsr_note(status, "step %lld of the sequence", (long long)(number + 1)));
  else
    tsr_array_share_leaders(s.out);
  return tsr_array_give(status, s.out, out_array);
}

// ---- entry points ----

static tsr_status do_steps(const tsr_sequence *sequence, tsr_array *array, const tsr_array *targets,
                           tsr_array **out_array) {
  const int64_t count = tsr_sequence_step_count(sequence);
  tsr_array *now = tsr_array_retain(array);
  for (int64_t i = 0; i < count; i++) {
    tsr_array *next = NULL;
    tsr_status status = do_step(sequence, i, now, i == count - 1 ? targets : NULL, &next);
    tsr_array_release(now);
    if (status) return status;
    now = next;
  }
  *out_array = now;
  return NULL;
}

// The same buffers under the requested layout, which may be written differently.
static tsr_status with_layout(const tsr_array *array, const tsr_layout *layout,
                              tsr_array **out_array) {
  tsr_array *made = NULL;
  TSR_TRY(tsr_array_alloc(array->comm, layout, array->dtype, &made));
  for (int64_t i = 0; i < made->slot_count; i++) tsr_slot_hold(&made->slots[i], &array->slots[i]);
  *out_array = made;
  return NULL;
}

tsr_status tsr_array_by_sequence(tsr_array *array, const tsr_layout *layout,
                                 const tsr_array *targets, tsr_array **out_array) {
  const tsr_sharding *from = tsr_layout_sharding(array->layout), *to = tsr_layout_sharding(layout);
  const tsr_shape shape = tsr_layout_shape(array->layout), wanted = tsr_layout_shape(layout);
  if (!from || !to)
    return tsr_fail(NO_SEQUENCE, "boxes and flat ranges change by direct copies only");
  TSR_TRY(tsr_shapes_check("the array", &shape, "the layout has", &wanted));
  tsr_sequence *sequence = NULL;
  tsr_array *made = NULL;
  tsr_status status = tsr_sequence_create(from, to, &shape, array->dtype, NULL, &sequence);
  status = tsr_array_agree(array->comm, "sequence", status);
  if (!status) status = do_steps(sequence, array, targets, &made);
  tsr_array *result = NULL;
  if (!status)
    status = tsr_array_agree(array->comm, "sequence", with_layout(made, layout, &result));
  tsr_array_release(made);
  tsr_sequence_release(sequence);
  return tsr_array_give(status, result, out_array);
}
