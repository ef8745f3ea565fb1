// Pre-flight: what a sharded program would cost on a machine that nobody has to own.
//
// A propagation (tessera/program/propagation.h) has all shardings. Reshards and collectives are
// made explicit, and the program is walked: what every device sends, what it computes, what it
// holds at once. Nothing is stored for a device, so a mesh of 4096 devices takes as long as one of
// 8.
//
//   TSR_OWN(propagation, step);  // destroyed at the end of the block: tessera/own.h
//   TSR_OWN(preflight, preflight);
//   TSR_TRY(tsr_program_propagate(program, NULL, &step));
//   tsr_preflight_options options = TSR_PREFLIGHT_OPTIONS;
//   options.topology = topology;  // of "gpu:4x8:h100"
//   TSR_TRY(tsr_preflight_create(step, &options, &preflight));
//   tsr_preflight_reshard worst = TSR_PREFLIGHT_RESHARD;
//   TSR_TRY(tsr_preflight_reshard_at(preflight, 0, &worst));
//   printf("%s: %lld bytes, %s\n", worst.value, (long long)worst.bytes, worst.suggestion);
#ifndef TESSERA_PROGRAM_PREFLIGHT_H
#define TESSERA_PROGRAM_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/program/propagation.h"
#include "tessera/status.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

typedef struct tsr_preflight tsr_preflight;  // immutable, shared by any threads

typedef struct tsr_preflight_options {
  size_t size;  // sizeof(tsr_preflight_options)
  // The machine: links, and the speed of a device. It may have more devices than the mesh, which
  // takes the first of them. NULL = no times.
  const tsr_topology *topology;
  double flops;      // of one device in a second, for any type; 0 = what its kind has
  double bandwidth;  // bytes of a device's memory in a second; 0 = what its kind has
} tsr_preflight_options;
#define TSR_PREFLIGHT_OPTIONS TSR_SIZED(tsr_preflight_options)

// Fails for a topology with fewer devices than the mesh, and for a program without a mesh whose
// arguments have shardings of XLA's older form. `options` may be NULL. A program that has
// collectives of Shardy already is taken as it is. The propagation need not be kept.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_preflight_create(const tsr_propagation *propagation, const tsr_preflight_options *options,
                         tsr_preflight **out_preflight);
TSR_API TSR_NONNULL tsr_preflight *tsr_preflight_retain(const tsr_preflight *preflight);
TSR_API void tsr_preflight_release(const tsr_preflight *preflight);  // NULL is fine

// Of one device in one run of the entry function.
typedef struct tsr_preflight_info {
  size_t size;  // sizeof(tsr_preflight_info)
  int64_t device_count;
  int64_t reshard_count;     // rows of tsr_preflight_reshard_at
  int64_t collective_count;  // as often as they run
  int64_t bytes;             // moved by collectives, see tsr_preflight_reshard
  int64_t unknown_loops;     // loops whose number of steps is not in the program: counted once
  int64_t mixed_mesh_ops;    // ops with values on several meshes: what they move is not counted
  double flops;
  double traffic;  // bytes read from and written to memory
  int64_t argument_bytes, result_bytes;
  int64_t peak_bytes;                          // what is held at once, arguments included
  int64_t memory_bytes;                        // that a device has; 0 = not known
  double compute_seconds, collective_seconds;  // 0 without a topology
} tsr_preflight_info;
#define TSR_PREFLIGHT_INFO TSR_SIZED(tsr_preflight_info)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_preflight_describe(const tsr_preflight *preflight,
                                                                   tsr_preflight_info *out_info);

// A value that changes its sharding, by one collective or several after each other, and all others
// that do so alike (in other layers, say): sums of all, texts of the first. Bytes of one device: of
// an all-reduce twice its operand, of an all-gather the result without the operand, of a
// reduce-scatter the operand without the result, of others the operand.
typedef struct tsr_preflight_reshard {
  size_t size;              // sizeof(tsr_preflight_reshard)
  const char *value;        // "%26" as in the propagation, or the name of an argument
  const char *type;         // "tensor<8x16xf32>", of the whole value
  const char *from, *to;    // [{"data"}, {}]; "" = not in terms of a mesh
  const char *collectives;  // "all-gather model, all-to-all data"
  const char *where;        // the name JAX gave the op, or the line of the program; "" = neither
  const char *cause, *suggestion;  // sentences; a suggestion may be ""
  int64_t places;                  // in the program where it happens
  int64_t times;                   // how often it runs, in all places
  bool times_known;                // false: in a loop of unknown length, counted once
  int64_t bytes;                   // of all times
  double seconds;                  // of all times; 0 without a topology
} tsr_preflight_reshard;
#define TSR_PREFLIGHT_RESHARD TSR_SIZED(tsr_preflight_reshard)
// Those that move the most bytes first.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_preflight_reshard_at(
    const tsr_preflight *preflight, int64_t index, tsr_preflight_reshard *out_reshard);

TSR_END_DECLS

#endif
