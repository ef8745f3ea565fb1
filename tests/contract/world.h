// One of everything that functions take an index into, and memory for outputs that shows whether
// anything was written to it.
#ifndef TESSERA_TESTS_CONTRACT_WORLD_H
#define TESSERA_TESTS_CONTRACT_WORLD_H

#include "file/npy_internal.h"
#include "support/folder.h"
#include "tessera/array.h"
#include "tessera/checkpoint.h"
#include "tessera/comm.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/dlpack.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/logical.h"
#include "tessera/mesh.h"
#include "tessera/place.h"
#include "tessera/plan.h"
#include "tessera/program.h"
#include "tessera/rules.h"
#include "tessera/spec.h"
#include "tessera/topology.h"
#include "tessera/tree.h"
#include "transfer/transfer_internal.h"

enum { OUT_BYTES = 1 << 14, OUT_PLACES = 4 };

typedef struct world {
  test_folder folder;
  tsr_topology *topology;
  tsr_mesh *mesh;  // data=2, model=4
  tsr_spec *spec, *other_spec;
  tsr_sharding *sharding, *other_sharding;
  tsr_layout *layout, *padded, *boxes, *other;  // of (8, 16); `padded` of (7, 5)
  tsr_comm *comm;
  tsr_array *array;
  tsr_array_tree *arrays;  // "a" is an array, "b" a tensor in host memory
  tsr_tree *tree;          // "a" (8, 16), "b" (4)
  tsr_rules *rules;
  tsr_logical_rules *logical;
  tsr_plan *plan;
  tsr_mapping *mapping;
  tsr_checkpoint *checkpoint;
  tsr_fsck *fsck;
  tsr_verification *verification;
  tsr_transform *transform;
  tsr_chunker *chunker;
  tsr_sequence *sequence;
  tsr_copy_plan *copy_plan;
  tsr_axes *axes;
  tsr_axis_registry *registry;
  tsr_npz *npz;
  tsr_placer *placer;
  tsr_partitioner *partitioner;
  tsr_executable *executable;    // of `program`
  tsr_partitioned *partitioned;  // of `program`, for its mesh
  tsr_compiled *compiled;
  tsr_preflight *preflight;  // of a program that reshards one value
  tsr_program *program;      // one function of one argument and one result, one mesh
  float host[128];
  // Outputs of calls that fail.
  _Alignas(max_align_t) unsigned char out[OUT_BYTES];
  size_t sized[OUT_PLACES];  // what stands first in a place, where it is a sized struct; else 0
} world;

int world_set_up(void **state);
int world_tear_down(void **state);

// A place for an output; places 0 to 3 do not overlap.
void *world_out(world *w, int place);
// The same for a sized struct, which opens with its size.
void *world_sized_out(world *w, int place, size_t size);
bool world_is_untouched(world *w);  // since it was last asked

// Says what is wrong with one call of many; gives 1, for a count of these.
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Whether a call with a wrong value was refused as invalid and wrote nothing: the number of
// complaints. Frees the status.
int world_judge(world *w, const char *name, int64_t value, tsr_status status);

// Numbers as they are for parameters of type int: the ends stay ends.
int world_int(int64_t number);

#endif
