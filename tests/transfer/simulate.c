#include "transfer/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "element/dtype_internal.h"
#include "layout/layout_internal.h"
#include "sequence/sequence_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/reduction.h"

typedef struct machine {
  const tsr_sequence *sequence;
  const tsr_mesh *mesh;
  int64_t devices;
  int64_t **buffers;  // by position
} machine;

static int64_t count_of(const tsr_shape *shape) {
  int64_t count = 0;
  assert_ok(tsr_shape_count(shape, &count));
  return count;
}

static int64_t index_of(const tsr_shape *shape, const int64_t *coords) {
  int64_t index = 0;
  for (int d = 0; d < shape->rank; d++) index = index * shape->dims[d] + coords[d];
  return index;
}

static void coords_of(const tsr_shape *shape, int64_t index, int64_t *coords) {
  for (int d = shape->rank; d-- > 0; index /= shape->dims[d]) coords[d] = index % shape->dims[d];
}

// ---- what devices hold under a sharding ----

// Which of the partial results a position holds, and how many there are.
static int64_t term_of(const tsr_sharding *sharding, int64_t position, int64_t *out_terms) {
  int count = 0;
  const tsr_sub_axis *parts = tsr_sharding_unreduced(sharding, &count);
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  int64_t coords[TSR_MAX_AXES], term = 0, terms = 1;
  tsr_mesh_coords(mesh, position, coords);
  for (int i = 0; i < count; i++) {
    const int64_t minor =
        tsr_mesh_axis_at(mesh, parts[i].axis)->size / (parts[i].pre * parts[i].size);
    term = term * parts[i].size + coords[parts[i].axis] / minor % parts[i].size;
    terms *= parts[i].size;
  }
  *out_terms = terms;
  return term;
}

static int64_t combine(tsr_reduction reduction, int64_t a, int64_t b) {
  if (reduction == TSR_REDUCE_SUM) return a + b;
  return (reduction == TSR_REDUCE_MAX) == (a > b) ? a : b;
}

// Term `term` of what combines to `value`.
static int64_t share_of(tsr_reduction reduction, int64_t value, int64_t term, int64_t terms) {
  if (terms == 1) return value;
  if (reduction != TSR_REDUCE_SUM) {
    const bool mine = value % terms == term;
    return mine ? value : reduction == TSR_REDUCE_MAX ? value - 1 - term : value + 1 + term;
  }
  if (term + 1 < terms) return value * (term + 3) + term;
  int64_t rest = value;
  for (int64_t t = 0; t + 1 < terms; t++) rest -= value * (t + 3) + t;
  return rest;
}

// The value that the whole tensor has at a place of a position's buffer.
static int64_t value_at(const tsr_layout *layout, const tsr_range *box, const tsr_shape *local,
                        int64_t index) {
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t coords[TSR_MAX_RANK];
  coords_of(local, index, coords);
  for (int d = 0; d < shape.rank; d++) coords[d] += box[d].lo;
  return 10 + index_of(&shape, coords);
}

static tsr_shape box_shape(const tsr_range *box, int rank) {
  tsr_shape shape = {.rank = rank};
  for (int d = 0; d < rank; d++) shape.dims[d] = box[d].hi - box[d].lo;
  return shape;
}

static tsr_layout *layout_of(const machine *m, const tsr_sharding *sharding) {
  const tsr_shape shape = tsr_sequence_shape(m->sequence);
  tsr_layout *layout = NULL;
  assert_ok(tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, &layout));
  return layout;
}

static void load(machine *m) {
  const tsr_sharding *from = tsr_sequence_from(m->sequence);
  tsr_layout *layout = layout_of(m, from);
  for (int64_t p = 0; p < m->devices; p++) {
    tsr_range box[TSR_MAX_RANK];
    assert_ok(tsr_layout_box(layout, tsr_layout_shard(layout, p), box));
    const tsr_shape local = box_shape(box, tsr_layout_rank(layout));
    int64_t terms;
    const int64_t term = term_of(from, p, &terms), count = count_of(&local);
    m->buffers[p] = malloc(sizeof(int64_t) * (size_t)count);
    assert_non_null(m->buffers[p]);
    for (int64_t i = 0; i < count; i++)
      m->buffers[p][i] = share_of(tsr_sequence_reduction(m->sequence),
                                  value_at(layout, box, &local, i), term, terms);
  }
  tsr_layout_release(layout);
}

// ---- steps ----

// What member `me` of a group holds after a step, pulled element by element from the others.
static int64_t *pull(const machine *m, const tsr_sequence_step *step, const int64_t *positions,
                     int64_t size, int64_t me) {
  const bool reduces = step->kind == TSR_STEP_REDUCE || step->kind == TSR_STEP_REDUCE_SCATTER;
  const tsr_reduction reduction = tsr_sequence_reduction(m->sequence);
  const int64_t count = count_of(&step->out_shape);
  int64_t *made = malloc(sizeof *made * (size_t)count);
  assert_non_null(made);
  for (int64_t i = 0; i < count; i++) {
    int64_t coords[TSR_MAX_RANK], sender = me;
    coords_of(&step->out_shape, i, coords);
    if (step->concat_dim >= 0) {
      const int64_t length = step->in_shape.dims[step->concat_dim];
      sender = coords[step->concat_dim] / length;
      coords[step->concat_dim] %= length;
    }
    if (step->split_dim >= 0) coords[step->split_dim] += me * step->out_shape.dims[step->split_dim];
    const int64_t index = index_of(&step->in_shape, coords);
    made[i] = m->buffers[positions[reduces ? 0 : sender]][index];
    for (int64_t j = 1; reduces && j < size; j++)
      made[i] = combine(reduction, made[i], m->buffers[positions[j]][index]);
    if (step->kind == TSR_STEP_ZERO && me > 0 && reduction == TSR_REDUCE_SUM) made[i] = 0;
  }
  return made;
}

static void replace(machine *m, int64_t **made) {
  for (int64_t p = 0; p < m->devices; p++) {
    free(m->buffers[p]);
    m->buffers[p] = made[p];
  }
  free(made);
}

static void work_in_groups(machine *m, int number) {
  const tsr_sequence_step *step = tsr_sequence_step_at(m->sequence, number);
  int64_t **made = calloc((size_t)m->devices, sizeof *made);
  tsr_groups groups;
  assert_ok(tsr_sequence_step_groups(m->sequence, number, &groups));
  assert_int_equal(groups.size, step->group_size);
  for (int64_t g = 0; g < groups.count; g++) {
    int64_t positions[64];
    for (int64_t i = 0; i < groups.size; i++)
      positions[i] = tsr_mesh_device_find(m->mesh, groups.members[g * groups.size + i]);
    for (int64_t i = 0; i < groups.size; i++)
      made[positions[i]] = pull(m, step, positions, groups.size, i);
  }
  tsr_groups_deinit(&groups);
  replace(m, made);
}

static void permute(machine *m, int number) {
  const tsr_sequence_step *step = tsr_sequence_step_at(m->sequence, number);
  const int64_t count = count_of(&step->out_shape);
  int64_t **made = calloc((size_t)m->devices, sizeof *made);
  bool *given = calloc((size_t)m->devices, sizeof *given);
  tsr_pair *pairs;
  int64_t pair_count, moved = 0;
  assert_ok(tsr_sequence_step_pairs(m->sequence, number, &pairs, &pair_count));
  assert_int_equal(pair_count, m->devices);
  for (int64_t i = 0; i < pair_count; i++) {
    const int64_t source = tsr_mesh_device_find(m->mesh, pairs[i].source);
    const int64_t target = tsr_mesh_device_find(m->mesh, pairs[i].target);
    assert_true(source >= 0 && target == i && !given[source]);
    given[source] = true;
    moved += source != target;
    made[target] = malloc(sizeof(int64_t) * (size_t)count);
    memcpy(made[target], m->buffers[source], sizeof(int64_t) * (size_t)count);
  }
  int64_t bytes = 0;
  assert_ok(tsr_dtype_bytes(tsr_sequence_dtype(m->sequence), moved * count, &bytes));
  assert_int_equal(step->bytes, bytes);
  free(pairs);
  free(given);
  replace(m, made);
}

// ---- the result ----

// What the members of a position's partial results combine to, at one place of their buffers.
static int64_t result_at(const machine *m, const tsr_groups *groups, int64_t group, int64_t index) {
  int64_t result = 0;
  for (int64_t i = 0; i < groups->size; i++) {
    const int64_t p = tsr_mesh_device_find(m->mesh, groups->members[group * groups->size + i]);
    const int64_t value = m->buffers[p][index];
    result = i ? combine(tsr_sequence_reduction(m->sequence), result, value) : value;
  }
  return result;
}

static bool is_right(const machine *m) {
  const tsr_sharding *to = tsr_sequence_to(m->sequence);
  tsr_layout *layout = layout_of(m, to);
  tsr_groups groups;
  int count = 0;
  const tsr_sub_axis *parts = tsr_sharding_unreduced(to, &count);
  assert_ok(tsr_sub_axis_groups(m->mesh, parts, count, &groups));
  bool right = true;
  for (int64_t g = 0; g < groups.count; g++) {
    const int64_t p = tsr_mesh_device_find(m->mesh, groups.members[g * groups.size]);
    tsr_range box[TSR_MAX_RANK];
    assert_ok(tsr_layout_box(layout, tsr_layout_shard(layout, p), box));
    const tsr_shape local = box_shape(box, tsr_layout_rank(layout));
    for (int64_t i = 0; i < count_of(&local); i++)
      right = right && result_at(m, &groups, g, i) == value_at(layout, box, &local, i);
  }
  tsr_groups_deinit(&groups);
  tsr_layout_release(layout);
  return right;
}

bool test_sequence_right(const tsr_sequence *sequence) {
  machine m = {.sequence = sequence, .mesh = tsr_sharding_mesh(tsr_sequence_from(sequence))};
  m.devices = tsr_mesh_device_count(m.mesh);
  m.buffers = calloc((size_t)m.devices, sizeof *m.buffers);
  assert_non_null(m.buffers);
  load(&m);
  for (int i = 0; i < tsr_sequence_step_count(sequence); i++)
    if (tsr_sequence_step_at(sequence, i)->kind == TSR_STEP_PERMUTE)
      permute(&m, i);
    else
      work_in_groups(&m, i);
  const bool right = is_right(&m);
  for (int64_t p = 0; p < m.devices; p++) free(m.buffers[p]);
  free(m.buffers);
  return right;
}
