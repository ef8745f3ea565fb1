// The groups of a step, and the pairs of a permute: devices that give a box away are matched with
// devices that need it.
#include <stdlib.h>

#include "sequence/sequence.h"
#include "sequence/sequence_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"

static tsr_status check_step(const tsr_sequence *sequence, int64_t step) {
  if (step >= 0 && step < tsr_sequence_step_count(sequence)) return NULL;
  return tsr_fail(INDEX_OUT_OF_RANGE, "step %lld of a sequence of %lld", (long long)step,
                  (long long)tsr_sequence_step_count(sequence));
}

tsr_status tsr_sequence_step_groups(const tsr_sequence *sequence, int64_t step,
                                    tsr_groups *out_groups) {
  TSR_TRY(check_step(sequence, step));
  const tsr_sequence_step *at = tsr_sequence_step_at(sequence, step);
  if (at->kind == TSR_STEP_PERMUTE)
    return tsr_fail(BAD_ARGUMENT, "step %lld is a permute, which has pairs and no groups",
                    (long long)step);
  return tsr_sub_axis_groups(tsr_sharding_mesh(at->sharding), at->axes, at->axis_count, out_groups);
}

// ---- permutes ----

// A device that gives its buffer away, or needs another: the box (and partial result), and the
// device's position on all axes along which nothing moves.
typedef struct claim {
  int64_t still, box, position;
} claim;

static int compare_claims(const void *a, const void *b) {
  const claim *x = a, *y = b;
  if (x->still != y->still) return x->still < y->still ? -1 : 1;
  if (x->box != y->box) return x->box < y->box ? -1 : 1;
  return x->position < y->position ? -1 : x->position > y->position;
}

typedef struct permute_claims {
  tsr_space space;
  tsr_digit digits[TSR_MAX_SUB_AXES];  // of the atoms
  uint64_t moved;
  claim *gives, *needs;
  int64_t count;
} permute_claims;

static void add_claims(permute_claims *e, int64_t position) {
  int64_t digits[TSR_MAX_SUB_AXES], still = position, before, after;
  for (int a = 0; a < e->space.atom_count; a++) {
    digits[a] = position / e->digits[a].stride % e->digits[a].size;
    if (e->moved >> a & 1) still -= digits[a] * e->digits[a].stride;
  }
  tsr_space_boxes(&e->space, &e->space.from, &e->space.to, digits, &before, &after);
  if (before == after) return;
  e->gives[e->count] = (claim){still, before, position};
  e->needs[e->count++] = (claim){still, after, position};
}

// Every box is given as often as it is needed, also among devices with equal positions on the axes
// along which nothing moves. So sorted alike, givers and takers line up.
static void match(permute_claims *e, const tsr_mesh *mesh, tsr_pair *pairs) {
  const int64_t devices = tsr_mesh_device_count(mesh);
  for (int64_t p = 0; p < devices; p++) {
    const int64_t device = tsr_mesh_device_at(mesh, p);
    pairs[p] = (tsr_pair){device, device};
    add_claims(e, p);
  }
  if (e->count) {
    qsort(e->gives, (size_t)e->count, sizeof *e->gives, compare_claims);
    qsort(e->needs, (size_t)e->count, sizeof *e->needs, compare_claims);
  }
  for (int64_t i = 0; i < e->count; i++)
    pairs[e->needs[i].position].source = tsr_mesh_device_at(mesh, e->gives[i].position);
}

static tsr_status claims_init(permute_claims *e, const tsr_sequence *sequence, int64_t step) {
  const tsr_sharding *from =
      step ? tsr_sequence_step_at(sequence, step - 1)->sharding : tsr_sequence_from(sequence);
  const tsr_sharding *to = tsr_sequence_step_at(sequence, step)->sharding;
  const tsr_mesh *mesh = tsr_sharding_mesh(to);
  const tsr_shape shape = tsr_sequence_shape(sequence);
  tsr_spread before, after;
  TSR_TRY(tsr_spread_init(&before, from, &shape));
  TSR_TRY(tsr_spread_init(&after, to, &shape));
  TSR_TRY(tsr_space_init(&e->space, mesh, &before, &after, &shape, 0, 0));
  e->moved = tsr_space_moved(&e->space, &e->space.from, &e->space.to);
  for (int a = 0; a < e->space.atom_count; a++)
    e->digits[a] = tsr_sub_axis_digit(mesh, &e->space.atoms[a]);
  return NULL;
}

tsr_status tsr_sequence_step_pairs(const tsr_sequence *sequence, int64_t step, tsr_pair **out_pairs,
                                   int64_t *out_count) {
  TSR_TRY(check_step(sequence, step));
  if (tsr_sequence_step_at(sequence, step)->kind != TSR_STEP_PERMUTE)
    return tsr_fail(BAD_ARGUMENT, "step %lld is no permute: it has groups and no pairs",
                    (long long)step);
  const tsr_mesh *mesh = tsr_sharding_mesh(tsr_sequence_to(sequence));
  const size_t devices = (size_t)tsr_mesh_device_count(mesh);
  permute_claims e = {.count = 0};
  TSR_TRY(claims_init(&e, sequence, step));
  tsr_pair *pairs = malloc(devices * sizeof *pairs);
  e.gives = malloc(devices * sizeof *e.gives);
  e.needs = malloc(devices * sizeof *e.needs);
  tsr_status status = NULL;
  if (pairs && e.gives && e.needs)
    match(&e, mesh, pairs);
  else
    status = tsr_fail(NO_MEMORY, "a permute of %zu devices", devices);
  free(e.gives);
  free(e.needs);
  if (status) {
    free(pairs);
    return status;
  }
  *out_pairs = pairs;
  *out_count = (int64_t)devices;
  return NULL;
}
