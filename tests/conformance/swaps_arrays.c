// The collectives of tessera/array.h with an argument swapped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "conformance/swaps.h"
#include "tessera/checkpoint/npy.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"

// Another type, or another layout.
static tsr_array *array_of(const scene *s, int swapped) {
  return swapped == 1 ? s->of_floats : swapped == 2 ? s->by_columns : s->arrays[0];
}

static tsr_status check_replicas(scene *s, int swapped) {
  return tsr_array_check_replicas(array_of(s, swapped));
}

static tsr_status gather(scene *s, int swapped) {
  const size_t bytes = sizeof(int32_t) * (size_t)(4 * s->n * s->n);
  static const int64_t far[] = {INT64_MAX, 1};
  tsr_host_options options = TSR_HOST_OPTIONS;
  void *host = calloc(1, bytes);
  options.to_root = swapped != 3;
  options.root = swapped == 4 ? 1 : 0;
  if (swapped == 5) options.size = 1;
  if (swapped == 6) options.root = s->ranks;
  if (swapped == 7) options.strides = far;
  tsr_status status = tsr_array_gather(array_of(s, swapped), host, (int64_t)bytes, &options);
  if (!status && s->rank == 0 && memcmp(host, s->tensors[0], bytes) != 0)
    status = tsr_fail(REPLICAS_DIFFER, "the gathered tensor is wrong");
  free(host);
  return status;
}

static tsr_status save_npy(scene *s, int swapped) {
  char path[128];
  tsr_array *read = NULL;
  snprintf(path, sizeof path, "%s/%s.npy", s->folder, swapped == 3 ? "other" : "array");
  TSR_TRY(tsr_array_save_npy(array_of(s, swapped), path));
  TSR_TRY(tsr_array_load_npy(s->comm, s->columns, path, TSR_I32, &read));
  tsr_status status = swap_check(s, read, 0);
  tsr_array_release(read);
  TSR_TRY(tsr_comm_barrier(s->comm));  // nobody writes while others read
  return status;
}

static tsr_reshard_options options_of(int swapped) {
  return (tsr_reshard_options){.size = swapped == 6 ? 1 : sizeof(tsr_reshard_options),
                               .method = swapped == 1 ? TSR_RESHARD_SEQUENCE : TSR_RESHARD_DIRECT,
                               .donate = swapped == 2,
                               .unshare = swapped == 3,
                               .relabel = swapped == 4,
                               .max_memory = swapped == 5   ? 4096
                                             : swapped == 7 ? -1
                                                            : 0};
}

static tsr_status reshard(scene *s, int swapped) {
  const tsr_reshard_options options = options_of(swapped < 5 ? 0 : swapped - 4);
  tsr_array *moved = NULL;
  TSR_TRY(tsr_array_reshard(array_of(s, swapped),
                            swapped == 3   ? s->rows
                            : swapped == 4 ? s->turned_rows
                                           : s->columns,
                            &options, &moved));
  tsr_status status = swap_check(s, moved, 0);
  tsr_array_release(moved);
  return status;
}

static tsr_status reshard_to(scene *s, int swapped) {
  tsr_array *moved = NULL;
  TSR_TRY(tsr_array_reshard_to(array_of(s, swapped),
                               swapped == 3   ? "_, data"
                               : swapped == 4 ? "nothing, _"
                                              : "_, data+model",
                               &moved));
  tsr_status status = swap_check(s, moved, 0);
  tsr_array_release(moved);
  return status;
}

static tsr_status reshard_all(scene *s, int swapped) {
  const tsr_reshard_options options = options_of(swapped < 6 ? 0 : swapped - 5);
  tsr_array *arrays[] = {s->arrays[0], s->arrays[1]}, *moved[2] = {NULL, NULL};
  const tsr_layout *layouts[] = {s->columns, s->turned_rows};
  if (swapped == 1) arrays[0] = s->by_columns;
  if (swapped == 2) layouts[0] = s->turned_rows, layouts[1] = s->columns;
  if (swapped == 3) layouts[1] = s->columns;
  if (swapped == 4) arrays[1] = s->of_floats;
  TSR_TRY(tsr_array_reshard_all(arrays, layouts, swapped == 5 ? 1 : 2, &options, moved));
  tsr_status status = swap_check(s, moved[0], 0);
  if (!status) status = swap_check(s, moved[1], 1);
  tsr_array_release(moved[0]);
  tsr_array_release(moved[1]);
  return status;
}

// Into an array of the type and layout that the source's swap wants.
static tsr_status reshard_into(scene *s, int swapped) {
  static const int option_of[] = {0, 0, 0, 0, 0, 1, 2, 3, 5, 6, 4, 0};
  const tsr_reshard_options options = options_of(option_of[swapped]);
  tsr_array *target = NULL;
  TSR_TRY(tsr_array_zeros(s->comm,
                          swapped == 3   ? s->rows
                          : swapped == 4 ? s->turned_rows
                                         : s->columns,
                          swapped == 1 ? TSR_F32 : TSR_I32, &target));
  tsr_array *const source = array_of(s, swapped);
  tsr_status status = tsr_array_reshard_into(source, swapped == 11 ? source : target, &options);
  if (!status) status = swap_check(s, target, 0);
  tsr_array_release(target);
  return status;
}

#define RESHARD_OPTIONS "method donate unshare relabel max_memory ! options.size max_memory"
const collective array_collectives[] = {
    {"tsr_array_check_replicas", "dtype layout", check_replicas},
    {"tsr_array_gather", "dtype layout root root ! options.size root strides", gather},
    {"tsr_array_save_npy", "dtype layout path", save_npy},
    {"tsr_array_reshard", "dtype array layout devices " RESHARD_OPTIONS, reshard},
    {"tsr_array_reshard_into",
     "dtype array layout devices method donate unshare max_memory ! options.size relabel target",
     reshard_into},
    {"tsr_array_reshard_to", "dtype array spec ! spec", reshard_to},
    {"tsr_array_reshard_all", "array order layout dtype count " RESHARD_OPTIONS, reshard_all},
    {0}};
