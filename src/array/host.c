// From host memory to shards and back, without communication: every process reads and writes what
// its own devices hold.
//
// A shard that is contiguous in the caller's memory may be used in place. All such shards share one
// buffer, so the last of them releases the memory.
#include <stdlib.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "base/room.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"

tsr_status tsr_host_strides_check(const tsr_shape *shape, const tsr_range *ranges,
                                  const int64_t *strides) {
  int64_t reach = 0;
  for (int d = 0; strides && d < shape->rank; d++) {
    const int64_t size = ranges ? ranges[d].hi - ranges[d].lo : shape->dims[d];
    int64_t way = 0;
    if (strides[d] < -INT64_MAX || __builtin_mul_overflow(llabs(strides[d]), size, &way) ||
        __builtin_add_overflow(reach, way, &reach) || reach > INT64_MAX / 128)
      return tsr_fail(OVERFLOW, "stride %lld of dimension %d of size %lld overflows",
                      (long long)strides[d], d, (long long)size);
  }
  return NULL;
}

// Bytes from the lowest element to the end of the highest. Checked strides cannot overflow here.
static int64_t strided_bytes(const tsr_shape *box, const int64_t *strides, int bits) {
  int64_t below = 0, above = 1;
  for (int d = 0; d < box->rank; d++) {
    if (box->dims[d] == 0) return 0;
    const int64_t way = (box->dims[d] - 1) * strides[d];
    if (way < 0)
      below -= way;
    else
      above += way;
  }
  return (below * bits + 7) / 8 + (above * bits + 7) / 8;
}

tsr_status tsr_host_room_check(const tsr_array *array, const tsr_range *ranges,
                               const int64_t *strides, const void *host, int64_t host_bytes) {
  tsr_shape box = tsr_layout_shape(array->layout);
  int64_t needed = 0;
  for (int d = 0; ranges && d < box.rank; d++) box.dims[d] = ranges[d].hi - ranges[d].lo;
  if (strides)
    needed = strided_bytes(&box, strides, array->bits);
  else
    TSR_TRY(tsr_shape_bytes(&box, array->dtype, &needed));
  return tsr_room_check(host, host_bytes, needed);
}

// ---- borrowing ----

// Calls the caller's function only on success.
typedef struct loan {
  tsr_release_fn *release;
  void *context, *host;
  bool armed;
} loan;

static void end_loan(void *context, void *data) {
  loan *l = context;
  (void)data;
  if (l->armed && l->release) l->release(l->context, l->host);
  free(l);
}

// `base` is the address of offset 0; the memory is never written to.
static tsr_status begin_loan(void *base, const void *host, const tsr_host_options *options,
                             loan **out_loan, tsr_buffer **out_buffer) {
  loan *l = malloc(sizeof *l);
  if (!l) return tsr_fail(NO_MEMORY, "borrowed memory");
  *l = (loan){options->release, options->release_context, (void *)(uintptr_t)host, false};
  tsr_status status = tsr_buffer_wrap(base, 0, false, end_loan, l, out_buffer);
  if (status)
    free(l);
  else
    *out_loan = l;
  return status;
}

static int64_t natural_alignment(int bits) {
  if (bits <= 8) return 1;
  return bits >= 64 ? 8 : bits / 8;
}

// Whether a shard can be used in place: one run, all of its buffer, in whole bytes, aligned.
static bool may_stay(const tsr_array *array, const tsr_array_slot *slot, const tsr_copy *copies,
                     int64_t count, const char *host) {
  if (count != 1) return false;
  const tsr_copy *copy = copies;
  const int64_t elements = tsr_layout_buffer_elements(array->layout, slot->shard);
  if (copy->loop_count > 0 || copy->to != 0 || copy->length != elements) return false;
  if (copy->from * array->bits % 8 != 0 || elements * array->bits % 8 != 0) return false;
  const uintptr_t address = (uintptr_t)host + (uintptr_t)(copy->from * array->bits / 8);
  return address % (uintptr_t)natural_alignment(array->bits) == 0;
}

// ---- into shards ----

typedef struct sharding_job {
  tsr_array *array;
  char *host;  // address of offset 0 of the view
  tsr_host_view view;
  tsr_buffer *borrowed;  // NULL: nothing may be borrowed
  tsr_copy_vector copies;
  tsr_lists lists;
} sharding_job;

// Terms of a sum other than the first are zero; for max and min all have the value.
static bool is_zero_term(const tsr_array *array, const tsr_array_slot *slot) {
  return slot->term > 0 && tsr_layout_reduction(array->layout) == TSR_REDUCE_SUM;
}

static tsr_status plan_slot(sharding_job *job, tsr_array_slot *slot) {
  tsr_array *array = job->array;
  const int64_t before = job->copies.count;
  if (is_zero_term(array, slot)) {
    TSR_TRY(tsr_slot_make(array, slot));
    return tsr_slot_clear(array, slot);
  }
  TSR_TRY(tsr_shard_copies(array->layout, slot->shard, &job->view, TSR_TO_SHARD, slot->device,
                           &job->copies));
  const tsr_copy *own = job->copies.count > before ? job->copies.items + before : NULL;
  if (job->borrowed && may_stay(array, slot, own, job->copies.count - before, job->host)) {
    tsr_slot_set(slot, tsr_buffer_retain(job->borrowed), own->from * array->bits / 8);
    job->copies.count = before;
    return NULL;
  }
  TSR_TRY(tsr_slot_make(array, slot));
  const int64_t index = tsr_comm_local_index(array->comm, slot->device);
  job->lists.in[index] = job->host;
  job->lists.out[index] = slot->data;
  return NULL;
}

static tsr_status run_job(sharding_job *job) {
  tsr_array *array = job->array;
  TSR_TRY(tsr_lists_init(&job->lists, array->comm));
  for (int64_t i = 0; i < array->slot_count; i++)
    if (tsr_slot_is_leader(array, &array->slots[i])) TSR_TRY(plan_slot(job, &array->slots[i]));
  const tsr_exchange exchange = {job->copies.items, job->copies.count, array->bits, job->lists.in,
                                 job->lists.out};
  TSR_TRY(tsr_engine_copy_here(array->comm, &exchange, 1));
  tsr_array_share(array);
  return NULL;
}

// Memory may be NULL only if no element of it is needed.
static tsr_status check_memory(const tsr_array *array, const void *host) {
  for (int64_t i = 0; !host && i < array->slot_count; i++)
    if (tsr_layout_shard_elements(array->layout, array->slots[i].shard))
      return tsr_fail(BAD_ARGUMENT, "host memory is NULL, but device %lld holds %lld elements",
                      (long long)array->slots[i].device,
                      (long long)tsr_layout_shard_elements(array->layout, array->slots[i].shard));
  return NULL;
}

static tsr_status shard_box(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                            const void *host, const tsr_range *ranges,
                            const tsr_host_options *options, tsr_array **out_array) {
  const tsr_shape shape = tsr_layout_shape(layout);
  sharding_job job = {.copies = TSR_COPY_VECTOR_EMPTY};
  loan *terms = NULL;
  TSR_TRY(tsr_host_strides_check(&shape, ranges, options->strides));
  TSR_TRY(tsr_array_alloc(comm, layout, dtype, &job.array));
  tsr_host_view_init(&job.view, &shape, ranges, options->strides);
  job.host = tsr_host_view_base(&job.view, host, job.array->bits);
  tsr_status status = check_memory(job.array, host);
  if (!status && options->borrow)
    status = begin_loan(job.host, host, options, &terms, &job.borrowed);
  if (!status) status = run_job(&job);
  tsr_copy_vector_deinit(&job.copies);
  tsr_lists_deinit(&job.lists);
  if (!status && terms) terms->armed = true;
  if (status) tsr_array_release(job.array);
  tsr_buffer_release(job.borrowed);
  if (status) return status;
  if (!options->borrow && options->release)
    options->release(options->release_context, (void *)(uintptr_t)host);
  *out_array = job.array;
  return NULL;
}

tsr_status tsr_array_shard(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           const void *host, const tsr_host_options *options,
                           tsr_array **out_array) {
  tsr_host_options checked;
  TSR_TRY(tsr_sized_read(tsr_host_options, options, &checked));
  return shard_box(comm, layout, dtype, host, NULL, &checked, out_array);
}

// ---- out of shards ----

typedef struct host_gather {
  const tsr_array *array;
  tsr_host_view view;
  tsr_copy_vector copies;
  tsr_lists lists;
} host_gather;

static tsr_status copy_out(host_gather *g) {
  const tsr_exchange exchange = {g->copies.items, g->copies.count, g->array->bits, g->lists.in,
                                 g->lists.out};
  tsr_status status = tsr_engine_copy_here(g->array->comm, &exchange, 1);
  g->copies.count = 0;
  return status;
}

// Whether a shard holds elements that a lower one holds too.
static tsr_status has_foreign(host_gather *g, const tsr_array_slot *slot, bool *out_foreign) {
  const int64_t count = g->copies.count;
  int64_t all = 0, own = 0;
  TSR_TRY(tsr_shard_copies(g->array->layout, slot->shard, &g->view, TSR_FROM_SHARD, slot->device,
                           &g->copies));
  for (int64_t i = count; i < g->copies.count; i++) all += tsr_copy_elements(&g->copies.items[i]);
  g->copies.count = count;
  TSR_TRY(tsr_shard_copies(g->array->layout, slot->shard, &g->view, TSR_FROM_OWNER, slot->device,
                           &g->copies));
  for (int64_t i = count; i < g->copies.count; i++) own += tsr_copy_elements(&g->copies.items[i]);
  g->copies.count = count;
  *out_foreign = own < all;
  return NULL;
}

// If all shards are local, owners write. Otherwise the owner may be elsewhere, so all shards write;
// overlapping ones one after the other, since two workers must not write to one place.
static tsr_status gather_slot(host_gather *g, const tsr_array_slot *slot, void *host) {
  const bool whole = tsr_array_is_fully_addressable(g->array);
  bool foreign = false;
  if (!whole) TSR_TRY(has_foreign(g, slot, &foreign));
  if (foreign) TSR_TRY(copy_out(g));
  const int64_t index = tsr_comm_local_index(g->array->comm, slot->device);
  g->lists.in[index] = slot->data;
  g->lists.out[index] = host;
  TSR_TRY(tsr_shard_copies(g->array->layout, slot->shard, &g->view,
                           whole ? TSR_FROM_OWNER : TSR_FROM_SHARD, slot->device, &g->copies));
  return foreign ? copy_out(g) : NULL;
}

tsr_status tsr_array_gather_here(const tsr_array *array, void *host, const tsr_range *ranges,
                                 const int64_t *strides) {
  const tsr_shape shape = tsr_layout_shape(array->layout);
  host_gather g = {.array = array, .copies = TSR_COPY_VECTOR_EMPTY};
  TSR_TRY(tsr_host_strides_check(&shape, ranges, strides));
  TSR_TRY(check_memory(array, host));
  TSR_TRY(tsr_lists_init(&g.lists, array->comm));
  tsr_host_view_init(&g.view, &shape, ranges, strides);
  host = tsr_host_view_base(&g.view, host, array->bits);
  tsr_status status = NULL;
  for (int64_t i = 0; i < array->slot_count && !status; i++)
    if (tsr_slot_is_leader(array, &array->slots[i]))
      status = gather_slot(&g, &array->slots[i], host);
  if (!status) status = copy_out(&g);
  tsr_copy_vector_deinit(&g.copies);
  tsr_lists_deinit(&g.lists);
  return status;
}

// ---- the process's box ----

static tsr_status local_shards(const tsr_comm *comm, const tsr_layout *layout, int64_t **out_shards,
                               int64_t *out_count) {
  const int64_t devices = tsr_comm_local_count(comm);
  const int64_t first = tsr_comm_first_device(comm, tsr_comm_rank(comm));
  int64_t *shards = malloc(sizeof *shards * ((size_t)devices + 1)), count = 0;
  if (!shards) return tsr_fail(NO_MEMORY, "the shards of %lld devices", (long long)devices);
  for (int64_t i = 0; i < devices; i++) {
    const int64_t position = tsr_layout_device_find(layout, first + i);
    if (position >= 0) shards[count++] = tsr_layout_shard(layout, position);
  }
  *out_shards = shards;
  *out_count = count;
  return NULL;
}

static void print_box(const tsr_range *ranges, int rank, tsr_text *out) {
  tsr_text_add(out, "[");
  for (int d = 0; d < rank; d++)
    tsr_text_addf(out, "%s%lld:%lld", d ? ", " : "", (long long)ranges[d].lo,
                  (long long)ranges[d].hi);
  tsr_text_add(out, "]");
}

static tsr_status name_hole(const tsr_comm *comm, const tsr_layout *layout, const int64_t *shards,
                            int64_t count, tsr_range *hull) {
  const int rank = tsr_layout_rank(layout);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "the devices of rank %d do not fill the box ", tsr_comm_rank(comm));
  print_box(hull, rank, &text);
  tsr_text_add(&text, " around what they hold: element (");
  tsr_status status = tsr_layout_find_hole(layout, shards, count, hull);
  for (int d = 0; d < rank; d++)
    tsr_text_addf(&text, "%s%lld", d ? ", " : "", (long long)hull[d].lo);
  tsr_text_add(&text, ") is on none of them");
  if (!status) return tsr_fail_text(TSR_CAUSE_NOT_FILLED, &text);
  tsr_text_deinit(&text);
  return status;
}

tsr_status tsr_array_host_local(const tsr_comm *comm, const tsr_layout *layout,
                                tsr_range *out_ranges) {
  int64_t *shards = NULL, count = 0;
  tsr_range hull[TSR_MAX_RANK];
  bool filled = false;
  TSR_TRY(tsr_list_check(out_ranges, tsr_layout_rank(layout), "ranges"));
  TSR_TRY(local_shards(comm, layout, &shards, &count));
  tsr_status status = tsr_layout_hull(layout, shards, count, hull, &filled);
  if (!status && !filled) status = name_hole(comm, layout, shards, count, hull);
  free(shards);
  for (int d = 0; d < tsr_layout_rank(layout) && !status; d++) out_ranges[d] = hull[d];
  return status;
}

tsr_status tsr_array_from_host_local(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                                     const void *host, const tsr_host_options *options,
                                     tsr_array **out_array) {
  tsr_host_options checked;
  tsr_range hull[TSR_MAX_RANK];
  TSR_TRY(tsr_sized_read(tsr_host_options, options, &checked));
  TSR_TRY(tsr_array_host_local(comm, layout, hull));
  return shard_box(comm, layout, dtype, host, hull, &checked, out_array);
}

tsr_status tsr_array_to_host_local(const tsr_array *array, void *host, int64_t host_bytes,
                                   const tsr_host_options *options) {
  const tsr_shape shape = tsr_layout_shape(array->layout);
  tsr_host_options checked;
  tsr_range hull[TSR_MAX_RANK];
  TSR_TRY(tsr_sized_read(tsr_host_options, options, &checked));
  TSR_TRY(tsr_array_check_alive(array));
  TSR_TRY(tsr_array_check_reduced(array));
  TSR_TRY(tsr_array_host_local(array->comm, array->layout, hull));
  TSR_TRY(tsr_host_strides_check(&shape, hull, checked.strides));
  TSR_TRY(tsr_host_room_check(array, hull, checked.strides, host, host_bytes));
  return tsr_array_gather_here(array, host, hull, checked.strides);
}
