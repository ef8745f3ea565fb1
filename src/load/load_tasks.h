// Tasks: what a rank reads, as windows in file order.
#ifndef TESSERA_LOAD_LOAD_TASKS_H
#define TESSERA_LOAD_LOAD_TASKS_H

#include "load/load.h"
#include "tessera/checkpoint/load.h"

// The windows of a tensor: the bounding box of what is read, cut along one dimension and at each
// index of the dimensions before it.
typedef struct tsr_load_windows {
  int64_t tensor;
  tsr_range hull[TSR_MAX_RANK];
  int dim;
  int64_t rows;   // of a window
  int64_t along;  // windows along the dimension
  int64_t count;
  int64_t bytes;  // read in all of them
  int64_t runs;   // in each, estimated
} tsr_load_windows;
void tsr_load_window(const tsr_load_windows *windows, int rank, int64_t index, tsr_range *out_box);

// Windows first .. first+count-1 of a tensor, read by one worker.
typedef struct tsr_load_task {
  int64_t windows;  // number in the list
  int64_t first, count;
  int file;
  int64_t offset;  // of their first byte
  int64_t bytes;
} tsr_load_task;

typedef struct tsr_load_tasks {
  tsr_load_windows *windows;  // owned
  int64_t window_count;
  tsr_load_task *items;  // owned
  int64_t count, capacity;
  // Job j of a worker is tasks firsts[j] to firsts[j + 1] - 1.
  int64_t *firsts;  // owned
  int64_t job_count;
} tsr_load_tasks;
// A piece as a copy: from a dense box, or between buffers of equal shape.
tsr_copy tsr_load_piece_copy(const tsr_piece *piece, int rank, bool dense);
TSR_MUST_USE tsr_status tsr_load_tasks_init(tsr_load_tasks *tasks, const tsr_load *load,
                                            const int64_t *tensors, int64_t count);
void tsr_load_tasks_deinit(tsr_load_tasks *tasks);

#endif
