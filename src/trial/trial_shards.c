// Arguments and results as the shards of the devices of this process: only these are filled, and a
// shard that several devices have is one memory.
#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "exec/shard_run.h"
#include "tessera/engine/collectives.h"
#include "trial/trial_internal.h"

static void box_of(const tsr_executable *executable, bool is_result, int64_t index,
                   int64_t position, int rank, tsr_range *out_box) {
  int64_t starts[TSR_MAX_RANK] = {0}, sizes[TSR_MAX_RANK] = {0};
  tsr_executable_shard_box(executable, is_result, index, position, starts, sizes);
  for (int d = 0; d < rank; d++) out_box[d] = (tsr_range){starts[d], starts[d] + sizes[d]};
}

// ---- making ----

static bool is_same_box(const tsr_trial_value *a, const tsr_trial_value *b) {
  return !memcmp(a->box, b->box, (size_t)a->shape.rank * sizeof *a->box);
}

// The value of the first list before `list` that has the same box; NULL = none.
static const tsr_trial_value *find_alike(const tsr_trial_shards *shards, int64_t list,
                                         int64_t index) {
  const tsr_trial_value *value = &shards->lists[list].items[index];
  for (int64_t i = 0; i < list; i++)
    if (is_same_box(&shards->lists[i].items[index], value)) return &shards->lists[i].items[index];
  return NULL;
}

static tsr_status cut_value(const tsr_executable *executable, tsr_trial_shards *shards,
                            int64_t list, int64_t index) {
  tsr_trial_values *values = &shards->lists[list];
  tsr_trial_value *value = &values->items[index];
  const int64_t width = value->count ? value->bytes / value->count : 1;
  value->box = calloc((size_t)value->shape.rank + 1, sizeof *value->box);
  TSR_NEED(value->box);
  box_of(executable, values->results, index, shards->positions[list], value->shape.rank,
         value->box);
  value->count = 1;
  for (int d = 0; d < value->shape.rank; d++) value->count *= value->box[d].hi - value->box[d].lo;
  value->bytes = value->count * width;
  const tsr_trial_value *alike = find_alike(shards, list, index);
  if (!alike) return tsr_buffer_create(NULL, value->bytes, &value->data);
  value->filled = true;
  value->data = tsr_buffer_retain(alike->data);
  return NULL;
}

static tsr_status cut_list(const tsr_executable *executable, tsr_trial_shards *shards, bool results,
                           int64_t list) {
  tsr_trial_values *values = &shards->lists[list];
  TSR_TRY(tsr_trial_values_describe(executable, results, values));
  for (int64_t i = 0; i < values->count; i++) TSR_TRY(cut_value(executable, shards, list, i));
  return NULL;
}

// The positions whose devices are here.
static tsr_status find_positions(const tsr_executable *executable, tsr_trial_shards *shards) {
  const int64_t devices = tsr_executable_device_count(executable);
  shards->positions = calloc((size_t)devices + 1, sizeof *shards->positions);
  shards->lists = calloc((size_t)devices + 1, sizeof *shards->lists);
  TSR_NEED(shards->positions);
  TSR_NEED(shards->lists);
  for (int64_t i = 0; i < devices; i++)
    if (tsr_comm_local_index(shards->comm, tsr_executable_device(executable, i)) >= 0)
      shards->positions[shards->count++] = i;
  return NULL;
}

static tsr_status fill_shards(const tsr_executable *executable, bool results,
                              tsr_trial_shards *shards) {
  TSR_TRY(find_positions(executable, shards));
  for (int64_t i = 0; i < shards->count; i++) TSR_TRY(cut_list(executable, shards, results, i));
  return NULL;
}

tsr_status tsr_trial_shards_create(const tsr_executable *executable, tsr_comm *comm, bool results,
                                   tsr_trial_shards *out_shards) {
  tsr_trial_shards shards = {.comm = comm, .results = results};
  const tsr_status status = fill_shards(executable, results, &shards);
  if (status)
    tsr_trial_shards_deinit(&shards);
  else
    *out_shards = shards;
  return status;
}

void tsr_trial_shards_deinit(tsr_trial_shards *shards) {
  for (int64_t i = 0; i < shards->count && shards->lists; i++)
    tsr_trial_values_deinit(&shards->lists[i]);
  free(shards->lists);
  free(shards->positions);
  *shards = (tsr_trial_shards){0};
}

// ---- running ----

// Addresses for each value and device; NULL for devices of other processes.
static void **addresses_of(const tsr_executable *executable, const tsr_trial_shards *shards) {
  const int64_t devices = tsr_executable_device_count(executable);
  tsr_executable_info info = TSR_EXECUTABLE_INFO;
  tsr_status_free(tsr_executable_describe(executable, &info));
  const int64_t values = shards->results ? info.result_count : info.argument_count;
  void **addresses = calloc((size_t)(values * devices) + 1, sizeof *addresses);
  for (int64_t i = 0; addresses && i < shards->count; i++)
    for (int64_t k = 0; k < values; k++)
      addresses[k * devices + shards->positions[i]] =
          tsr_buffer_data(shards->lists[i].items[k].data);
  return addresses;
}

tsr_status tsr_trial_shards_run(const tsr_executable *executable, const tsr_trial_shards *inputs,
                                const tsr_trial_shards *outputs) {
  void **from = addresses_of(executable, inputs), **to = addresses_of(executable, outputs);
  const tsr_status status =
      from && to ? tsr_executable_run_shards(executable, (const void *const *)from, to)
                 : tsr_fail(NO_MEMORY, "addresses of shards");
  free(from);
  free(to);
  return status;
}

// ---- whole results ----

typedef struct shard_gathering {
  const tsr_executable *executable;
  const tsr_trial_shards *shards;
  tsr_comm *comm;
  int64_t devices;
  tsr_range *boxes;  // of one value on all devices, rank by rank
  tsr_copy *copies;
  const void **in;  // of local devices
  void **out;
} shard_gathering;

static void box_to_copy(const tsr_shape *shape, const tsr_range *box, tsr_copy *out) {
  int64_t stride = 1, length = 1;
  *out = (tsr_copy){.length = 1};
  out->loop_count = shape->rank > 1 ? shape->rank - 1 : 0;
  for (int d = shape->rank - 1; d >= 0; d--) {
    const int64_t size = box[d].hi - box[d].lo;
    out->to += box[d].lo * stride;
    if (d == shape->rank - 1)
      out->length = size;
    else
      out->loops[d] = (tsr_copy_loop){.count = size, .from = length, .to = stride};
    length *= size;
    stride *= shape->dims[d];
  }
}

// Whether a device before this one has the same box.
static bool is_repeated(const shard_gathering *g, int rank, int64_t device) {
  const size_t bytes = (size_t)rank * sizeof *g->boxes;
  for (int64_t i = 0; i < device; i++)
    if (!memcmp(g->boxes + i * rank, g->boxes + device * rank, bytes)) return true;
  return false;
}

// The copies of one value to device 0, of those that this process has a part in.
static tsr_status list_copies(shard_gathering *g, const tsr_trial_value *whole, int64_t index,
                              int64_t *out_count) {
  const int rank = whole->shape.rank;
  *out_count = 0;
  for (int64_t i = 0; i < g->devices; i++)
    box_of(g->executable, true, index, i, rank, g->boxes + i * rank);
  for (int64_t i = 0; i < g->devices; i++) {
    const int64_t device = tsr_executable_device(g->executable, i);
    const bool is_here = tsr_comm_local_index(g->comm, device) >= 0;
    if (is_repeated(g, rank, i) || (!is_here && tsr_comm_local_index(g->comm, 0) < 0)) continue;
    tsr_copy *copy = &g->copies[(*out_count)++];
    box_to_copy(&whole->shape, g->boxes + i * rank, copy);
    copy->source = device;
    copy->target = 0;
  }
  return NULL;
}

static tsr_status gather_value(shard_gathering *g, const tsr_trial_values *whole, int64_t index) {
  const tsr_trial_value *value = &whole->items[index];
  int64_t count = 0;
  const tsr_status status = list_copies(g, value, index, &count);
  for (int64_t i = 0; i < g->shards->count; i++) {
    const int64_t device = tsr_executable_device(g->executable, g->shards->positions[i]);
    const int64_t local = tsr_comm_local_index(g->comm, device);
    g->in[local] = tsr_buffer_data(g->shards->lists[i].items[index].data);
    g->out[local] = device == 0 ? tsr_buffer_data(value->data) : NULL;
  }
  const int bits = value->count ? (int)(value->bytes / value->count) * 8 : 8;
  const tsr_exchange exchange = {.copies = g->copies,
                                 .copy_count = status ? 0 : count,
                                 .bits = bits,
                                 .in = g->in,
                                 .out = g->out};
  if (status) return status;
  return tsr_comm_exchange(g->comm, &exchange, 1);
}

static tsr_status gather_all(shard_gathering *g, const tsr_trial_values *whole) {
  const size_t devices = (size_t)g->devices + 1;
  g->boxes = calloc(devices * TSR_MAX_RANK, sizeof *g->boxes);
  g->copies = calloc(devices, sizeof *g->copies);
  g->in = calloc(devices, sizeof *g->in);
  g->out = calloc(devices, sizeof *g->out);
  if (!g->boxes || !g->copies || !g->in || !g->out)
    return tsr_fail(NO_MEMORY, "results of %lld devices", (long long)g->devices);
  for (int64_t i = 0; i < whole->count; i++) TSR_TRY(gather_value(g, whole, i));
  return NULL;
}

tsr_status tsr_trial_shards_gather(const tsr_executable *executable, const tsr_trial_shards *shards,
                                   const tsr_trial_values *whole) {
  shard_gathering g = {.executable = executable,
                       .shards = shards,
                       .comm = shards->comm,
                       .devices = tsr_executable_device_count(executable)};
  const tsr_status status = gather_all(&g, whole);
  free(g.boxes);
  free(g.copies);
  free(g.in);
  free(g.out);
  return status;
}
