// t5x's LocalChunker: the box of each process in a mesh, found in one pass over its devices.
// Queries about a process are arithmetic on its box.
#include <stdlib.h>
#include <string.h>

#include "array/array_chunks.h"
#include "array/chunks_internal.h"
#include "base/compare.h"
#include "base/room.h"
#include "base/text_internal.h"
#include "mesh/mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/engine/mesh.h"

// One allocation: the struct, the boxes' corners, then the processes.
struct tsr_chunker {
  tsr_mesh *mesh;
  int rank;
  int64_t count;
  int64_t *members;    // devices of each process
  int64_t *low;        // corners, `rank` numbers for each process
  int64_t *high;       // both included
  int64_t *processes;  // ascending
};

// ---- making ----

// The distinct processes of the mesh's devices, ascending, to free().
static tsr_status list_processes(const tsr_mesh *mesh, int64_t **out_list, int64_t *out_count) {
  const int64_t devices = tsr_mesh_topology(mesh) ? tsr_mesh_device_count(mesh) : 1;
  int64_t *list = malloc(sizeof *list * (size_t)devices);
  if (!list) return tsr_fail(NO_MEMORY, "processes of %lld devices", (long long)devices);
  for (int64_t i = 0; i < devices; i++) list[i] = tsr_mesh_process(mesh, i);
  *out_list = list;
  *out_count = tsr_sort_distinct(list, devices);
  return NULL;
}

static int64_t find_process(const tsr_chunker *chunker, int64_t process) {
  const int64_t *found = bsearch(&process, chunker->processes, (size_t)chunker->count,
                                 sizeof process, tsr_compare_int64);
  return found ? found - chunker->processes : -1;
}

static void widen(tsr_chunker *chunker, int64_t index, const int64_t *coords) {
  int64_t *low = chunker->low + (size_t)index * (size_t)chunker->rank;
  int64_t *high = chunker->high + (size_t)index * (size_t)chunker->rank;
  const bool first = !chunker->members[index]++;
  for (int i = 0; i < chunker->rank; i++) {
    if (first || coords[i] < low[i]) low[i] = coords[i];
    if (first || coords[i] > high[i]) high[i] = coords[i];
  }
}

// Neighbours are mostly of one process, so the last one found is tried first.
static void find_boxes(tsr_chunker *chunker) {
  const tsr_mesh *mesh = chunker->mesh;
  int64_t coords[TSR_MAX_AXES] = {0};
  int64_t index = 0;
  for (int64_t position = 0; position < tsr_mesh_device_count(mesh); position++) {
    const int64_t process = tsr_mesh_process(mesh, position);
    if (chunker->processes[index] != process) index = find_process(chunker, process);
    widen(chunker, index, coords);
    for (int i = chunker->rank - 1; i >= 0 && ++coords[i] == tsr_mesh_axis_at(mesh, i)->size; i--)
      coords[i] = 0;
  }
}

// Without a topology all devices belong to process 0.
static void take_all(tsr_chunker *chunker) {
  chunker->members[0] = tsr_mesh_device_count(chunker->mesh);
  for (int i = 0; i < chunker->rank; i++) {
    chunker->low[i] = 0;
    chunker->high[i] = tsr_mesh_axis_at(chunker->mesh, i)->size - 1;
  }
}

static tsr_chunker *allocate(const tsr_mesh *mesh, int64_t count) {
  const size_t rank = (size_t)tsr_mesh_axis_count(mesh), processes = (size_t)count;
  const size_t numbers = processes * (1 + 2 * rank);
  tsr_chunker *chunker = calloc(
      1, sizeof *chunker + numbers * sizeof(int64_t) + processes * sizeof *chunker->processes);
  if (!chunker) return NULL;
  chunker->mesh = tsr_mesh_retain(mesh);
  chunker->rank = (int)rank;
  chunker->count = count;
  chunker->members = (int64_t *)(chunker + 1);
  chunker->low = chunker->members + processes;
  chunker->high = chunker->low + processes * rank;
  chunker->processes = chunker->high + processes * rank;
  return chunker;
}

tsr_status tsr_chunker_create(const tsr_mesh *mesh, tsr_chunker **out_chunker) {
  int64_t *processes = NULL;
  int64_t count = 0;
  TSR_TRY(list_processes(mesh, &processes, &count));
  tsr_chunker *chunker = allocate(mesh, count);
  if (chunker) memcpy(chunker->processes, processes, sizeof *processes * (size_t)count);
  free(processes);
  if (!chunker) return tsr_fail(NO_MEMORY, "boxes of %lld processes", (long long)count);
  if (tsr_mesh_topology(mesh))
    find_boxes(chunker);
  else
    take_all(chunker);
  *out_chunker = chunker;
  return NULL;
}

void tsr_chunker_release(const tsr_chunker *chunker) {
  if (!chunker) return;
  tsr_mesh_release(chunker->mesh);
  free((void *)(uintptr_t)chunker);
}

const tsr_mesh *tsr_chunker_mesh(const tsr_chunker *chunker) { return chunker->mesh; }

int64_t tsr_chunker_process_count(const tsr_chunker *chunker) { return chunker->count; }

int64_t tsr_chunker_process_at(const tsr_chunker *chunker, int64_t index) {
  return index >= 0 && index < tsr_chunker_process_count(chunker) ? chunker->processes[index] : -1;
}

// ---- the box of a process ----

static tsr_status fail_absent(const tsr_chunker *chunker, int64_t process) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "process %lld has no device in mesh ", (long long)process);
  tsr_mesh_describe(chunker->mesh, &text);
  tsr_text_addf(&text, ", whose devices belong to processes %lld to %lld",
                (long long)chunker->processes[0],
                (long long)chunker->processes[chunker->count - 1]);
  return tsr_fail_text(TSR_CAUSE_PROCESS_NOT_IN_MESH, &text);
}

tsr_status tsr_chunker_box(const tsr_chunker *chunker, int64_t process, tsr_process_box *out_box) {
  const int64_t index = find_process(chunker, process);
  if (index < 0) return fail_absent(chunker, process);
  const size_t row = (size_t)index * (size_t)chunker->rank;
  int64_t volume = 1;
  for (int i = 0; i < chunker->rank; i++) {
    out_box->low[i] = chunker->low[row + (size_t)i];
    out_box->sizes[i] = chunker->high[row + (size_t)i] - out_box->low[i] + 1;
    volume *= out_box->sizes[i];
  }
  if (volume != chunker->members[index])
    return tsr_fail(LOCAL_DEVICES_NOT_A_SUBCUBE,
                    "process %lld drives %lld devices, but the smallest box around them holds %lld",
                    (long long)process, (long long)chunker->members[index], (long long)volume);
  return NULL;
}

tsr_status tsr_chunker_chunks(const tsr_chunker *chunker, int64_t process,
                              tsr_process_chunks *out_chunks) {
  tsr_process_box box;
  TSR_TRY(tsr_chunker_box(chunker, process, &box));
  for (int i = 0; i < chunker->rank; i++) {
    out_chunks->num_chunks[i] = tsr_mesh_axis_at(chunker->mesh, i)->size / box.sizes[i];
    out_chunks->chunk_ids[i] = box.low[i] / box.sizes[i];
  }
  return NULL;
}

// ---- numbers along axes ----

// Appends a digit to a number in a mixed radix.
static tsr_status add_digit(int64_t *number, int64_t radix, int64_t digit) {
  if (__builtin_mul_overflow(*number, radix, number) ||
      __builtin_add_overflow(*number, digit, number))
    return tsr_fail(OVERFLOW, "the number of a chunk does not fit 63 bits");
  return NULL;
}

tsr_status tsr_chunker_shard_id(const tsr_chunker *chunker, int64_t process,
                                const char *const *axes, int axis_count, int64_t *out_id) {
  tsr_process_chunks chunks;
  TSR_TRY(tsr_list_check(axes, axis_count, "axes"));
  TSR_TRY(tsr_chunker_chunks(chunker, process, &chunks));
  int64_t id = 0;
  for (int i = 0; i < axis_count; i++) {
    int axis = 0;
    TSR_TRY(tsr_mesh_need_axis(chunker->mesh, axes[i], &axis));
    TSR_TRY(add_digit(&id, chunks.num_chunks[axis], chunks.chunk_ids[axis]));
  }
  *out_id = id;
  return NULL;
}

int64_t tsr_chunks_replica_id(const tsr_chunker *chunker, const tsr_process_chunks *chunks,
                              const bool *used) {
  int64_t id = 0;  // at most the number of devices
  for (int i = 0; i < chunker->rank; i++)
    if (!used[i]) id = id * chunks->num_chunks[i] + chunks->chunk_ids[i];
  return id;
}

tsr_status tsr_chunker_replica_id(const tsr_chunker *chunker, int64_t process,
                                  const char *const *axes, int axis_count, int64_t *out_id) {
  tsr_process_chunks chunks;
  TSR_TRY(tsr_list_check(axes, axis_count, "axes"));
  TSR_TRY(tsr_chunker_chunks(chunker, process, &chunks));
  bool used[TSR_MAX_AXES] = {false};
  for (int i = 0; i < axis_count; i++) {
    if (!axes[i]) return tsr_fail(BAD_ARGUMENT, "an axis without a name");
    const int axis = tsr_mesh_axis_find(chunker->mesh, axes[i]);
    if (axis >= 0) used[axis] = true;
  }
  *out_id = tsr_chunks_replica_id(chunker, &chunks, used);
  return NULL;
}
