// Reductions by any body. Accumulators are vectors: of results beside each other, or, where there
// are few of them, of parts of one result.
#include "reduce/reduce_region.h"

#include <string.h>

enum {
  PARTS = 128,       // of one result, a power of two
  FEW_RESULTS = 32,  // fewer are reduced in parts
  LONG = 2048        // elements of a reduction that is worth parts
};

typedef struct reduce_run {
  const tsr_reduce_region *reduce;
  const tsr_kernel_call *call;
  int64_t results;
} reduce_run;

// The memory of one task.
typedef struct reduce_space {
  tsr_region_space region;
  int64_t *offsets;  // of the elements of one step, from the first of the reduced ones
} reduce_space;

static int64_t element_count(const tsr_reduce_dims *dims) {
  int64_t count = 1;
  for (int d = 0; d < dims->rank; d++) count *= dims->dims[d];
  return count;
}

static int64_t cut_space(const tsr_reduce_region *reduce, char *memory, reduce_space *out) {
  const int64_t own = tsr_region_space_bytes(&reduce->region);
  out->offsets = memory ? (int64_t *)(void *)(memory + own) : NULL;
  return own + reduce->region.most * (int64_t)sizeof *out->offsets;
}

int64_t tsr_reduce_region_scratch_bytes(const tsr_reduce_region *reduce) {
  reduce_space none;
  return cut_space(reduce, NULL, &none);
}

void tsr_reduce_region_destroy(void *description) {
  const tsr_reduce_region *reduce = description;
  tsr_tile_destroy(reduce->region.program);
}

// ---- indices ----

// An index of some dims and its offset, moved on in row-major order.
typedef struct dims_walk {
  const tsr_reduce_dims *dims;
  int64_t index[TSR_REDUCE_RANK], offset;
} dims_walk;

static void walk_to(dims_walk *walk, int64_t position) {
  walk->offset = 0;
  for (int d = walk->dims->rank - 1; d >= 0; d--) {
    walk->index[d] = position % walk->dims->dims[d];
    position /= walk->dims->dims[d];
    walk->offset += walk->index[d] * walk->dims->strides[d];
  }
}

static void walk_on(dims_walk *walk) {
  for (int d = walk->dims->rank - 1; d >= 0; d--) {
    walk->offset += walk->dims->strides[d];
    if (++walk->index[d] < walk->dims->dims[d]) return;
    walk->offset -= walk->dims->dims[d] * walk->dims->strides[d];
    walk->index[d] = 0;
  }
}

// ---- steps ----

static bool side_by_side(const int64_t *offsets, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (offsets[i] != offsets[0] + i) return false;
  return true;
}

// Takes the elements at `offset` from each of `offsets`: in place, or copied together.
static void take_elements(const reduce_run *r, reduce_space *space, int64_t offset, int64_t count,
                          bool in_place) {
  const tsr_region_call *region = &r->reduce->region;
  for (int k = 0; k < region->count; k++) {
    const int bytes = region->element_bytes[k];
    const char *from = r->call->inputs[k] + offset * bytes;
    space->region.elements[k] =
        in_place ? from + space->offsets[0] * bytes : space->region.buffers[k];
    if (!in_place)
      tsr_elements_gather(space->region.buffers[k], from, space->offsets, bytes, count);
  }
}

static void set_to_initial(const reduce_run *r, const reduce_space *space, int64_t count) {
  const tsr_region_call *region = &r->reduce->region;
  for (int k = 0; k < region->count; k++)
    tsr_elements_fill(space->region.accumulators[k], r->call->inputs[region->count + k],
                      region->element_bytes[k], count);
}

static void store(const reduce_run *r, const reduce_space *space, int64_t at, int64_t count) {
  const tsr_region_call *region = &r->reduce->region;
  for (int k = 0; k < region->count; k++) {
    const int64_t bytes = region->element_bytes[k];
    memcpy(r->call->outputs[k] + at * bytes, space->region.accumulators[k],
           (size_t)(count * bytes));
  }
}

// Results `first` on, beside each other.
static void reduce_beside(const reduce_run *r, reduce_space *space, int64_t first, int64_t count) {
  dims_walk kept = {.dims = &r->reduce->kept}, reduced = {.dims = &r->reduce->reduced};
  const int64_t length = element_count(&r->reduce->reduced);
  walk_to(&kept, first);
  for (int64_t i = 0; i < count; i++, walk_on(&kept)) space->offsets[i] = kept.offset;
  const bool in_place = side_by_side(space->offsets, count);
  set_to_initial(r, space, count);
  for (int64_t i = 0; i < length; i++, walk_on(&reduced)) {
    take_elements(r, space, reduced.offset, count, in_place);
    tsr_region_apply(&r->reduce->region, &space->region, count);
  }
  store(r, space, first, count);
}

// Puts neighbouring accumulators together, the even ones first.
static void halve(const tsr_region_call *region, tsr_region_space *space, int64_t count) {
  for (int k = 0; k < region->count; k++) {
    const int bytes = region->element_bytes[k];
    tsr_elements_copy(space->buffers[k], 1, space->accumulators[k] + bytes, 2, bytes, count / 2);
    for (int64_t i = 1; i < count / 2; i++)
      memcpy(space->accumulators[k] + i * bytes, space->accumulators[k] + 2 * i * bytes,
             (size_t)bytes);
    space->elements[k] = space->buffers[k];
  }
  tsr_region_apply(region, space, count / 2);
}

// One result over one long dim, in PARTS that lie behind each other; the rest follows one by one.
static void reduce_in_parts(const reduce_run *r, reduce_space *space, int64_t result) {
  const tsr_region_call *region = &r->reduce->region;
  const int64_t length = r->reduce->reduced.dims[0], stride = r->reduce->reduced.strides[0];
  const int64_t each = length / PARTS;
  dims_walk kept = {.dims = &r->reduce->kept};
  walk_to(&kept, result);
  for (int64_t i = 0; i < PARTS; i++) space->offsets[i] = kept.offset + i * each * stride;
  take_elements(r, space, 0, PARTS, false);
  for (int k = 0; k < region->count; k++)
    memcpy(space->region.accumulators[k], space->region.buffers[k],
           (size_t)(PARTS * region->element_bytes[k]));
  for (int64_t i = 1; i < each; i++) {
    take_elements(r, space, i * stride, PARTS, false);
    tsr_region_apply(region, &space->region, PARTS);
  }
  for (int64_t count = PARTS; count > 1; count /= 2) halve(region, &space->region, count);
  for (int k = 0; k < region->count; k++)
    memcpy(space->region.buffers[k], space->region.accumulators[k],
           (size_t)region->element_bytes[k]);
  set_to_initial(r, space, 1);
  tsr_region_apply(region, &space->region, 1);
  space->offsets[0] = kept.offset;
  for (int64_t i = PARTS * each; i < length; i++) {
    take_elements(r, space, i * stride, 1, true);
    tsr_region_apply(region, &space->region, 1);
  }
  store(r, space, result, 1);
}

// ---- tasks ----

static bool in_parts(const tsr_reduce_region *reduce, int64_t results) {
  return results < FEW_RESULTS && reduce->reduced.rank == 1 && reduce->reduced.dims[0] >= LONG &&
         reduce->region.most >= PARTS;
}

static tsr_status reduce_some(void *context, int64_t task, int worker) {
  const reduce_run *r = context;
  const tsr_region_call *region = &r->reduce->region;
  char *memory = tsr_kernel_scratch(r->call, worker);
  reduce_space space;
  cut_space(r->reduce, memory, &space);
  tsr_region_space_init(region, memory, r->call->inputs + 2 * region->count, &space.region);
  if (in_parts(r->reduce, r->results)) {
    reduce_in_parts(r, &space, task);
    return NULL;
  }
  const int64_t first = task * region->most, left = r->results - first;
  reduce_beside(r, &space, first, left < region->most ? left : region->most);
  return NULL;
}

tsr_status tsr_reduce_region_run(const void *description, const tsr_kernel_call *call) {
  const tsr_reduce_region *reduce = description;
  reduce_run r = {reduce, call, element_count(&reduce->kept)};
  const int64_t each = in_parts(reduce, r.results) ? 1 : reduce->region.most;
  if (!r.results) return NULL;
  return tsr_pool_run(call->pool, (r.results + each - 1) / each, reduce_some, &r);
}
