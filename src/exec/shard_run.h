// Runs with the shards of devices, for engines: an executable of a partitioned program takes the
// piece of each device where it lies and writes pieces of results. No whole tensor is made.
#ifndef TESSERA_EXEC_SHARD_RUN_H
#define TESSERA_EXEC_SHARD_RUN_H

#include "exec/frame.h"
#include "exec/signature.h"

// The devices of a partitioned program (what pass `lanes` makes); 1 of any other program, whose
// shards are whole tensors.
int64_t tsr_executable_device_count(const tsr_executable *executable);
// The device at a position of the mesh, by its number: 0 to device_count - 1 in some order.
int64_t tsr_executable_device(const tsr_executable *executable, int64_t position);
// The box of an argument or result that the device at a position has: where it starts, and its
// size, in each dimension. That of an argument that nothing uses is all of it.
void tsr_executable_shard_box(const tsr_executable *executable, bool is_result, int64_t index,
                              int64_t position, int64_t *out_starts, int64_t *out_sizes);
// The bytes of a shard of an argument or result; 0 for an argument that is not used.
int64_t tsr_executable_argument_shard_bytes(const tsr_executable *executable, int64_t argument);
int64_t tsr_executable_result_shard_bytes(const tsr_executable *executable, int64_t result);
// The argument whose shard on each device may be the memory of the result's shard there; -1 = none.
int64_t tsr_executable_shard_donor(const tsr_executable *executable, int64_t result);

// Runs. `inputs` has the address of each shard, [argument * devices + device], `outputs` those of
// results; devices are in the order of the mesh's positions. Devices that hold the same piece may
// have one memory for it or a memory each: the first of them is read, all are written. Of an
// executable on several ranks it is collective, and addresses of devices elsewhere are not read.
TSR_MUST_USE tsr_status tsr_executable_run_shards(const tsr_executable *executable,
                                                  const void *const *inputs, void *const *outputs);

// ---- inside this room ----

// What one device would hold by itself: its shards, constants, and values that live at once.
int64_t tsr_executable_device_bytes(const tsr_executable *executable);

// Sets the addresses of a run on whole tensors; pieces with gaps between their rows are copied.
// `inputs` are the caller's, `sources` of the signature tell which are arguments of the program.
TSR_MUST_USE tsr_status tsr_bind_whole(const tsr_schedule_run *run, tsr_buffer_pool *buffers,
                                       const tsr_signature *signature, const void *const *inputs,
                                       void *const *outputs);
// After the run: copies pieces of results to their places.
TSR_MUST_USE tsr_status tsr_join_results(const tsr_schedule_run *run, void *const *outputs);

#endif
