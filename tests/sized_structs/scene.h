// Something to call every function with that takes a sized struct: a small machine, a model on it
// and its checkpoint.
#ifndef TESSERA_TESTS_SIZED_STRUCTS_SCENE_H
#define TESSERA_TESTS_SIZED_STRUCTS_SCENE_H

#include "support/folder.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/sharding.h"
#include "tessera/program.h"
#include "tessera/tessera.h"

typedef struct scene {
  tsr_topology *topology;  // 8 CPUs
  tsr_mesh *mesh;          // of all of them: x=4, y=2
  tsr_comm *comm;
  tsr_shape shape;  // 8, 16
  tsr_spec *spec;   // x, y
  tsr_sharding *by_rows, *by_columns;
  tsr_layout *rows, *columns;
  tsr_copy_plan *copies;  // from rows to columns
  tsr_rules *rules;
  tsr_tree *tree;  // one tensor, "w"
  tsr_plan *plan;
  tsr_array *array;
  tsr_array_tree *state;
  tsr_map *map;
  tsr_partitioner *partitioner;
  test_folder folder;
  tsr_checkpoint *checkpoint;    // the state as it was saved
  tsr_program *program;          // negates its argument, which is cut
  tsr_executable *executable;    // of that program
  tsr_partitioned *partitioned;  // the same for its mesh
  tsr_compiled *compiled;
  tsr_partitioned *gathering;  // a program with a fallback
  tsr_propagation *propagation;
  tsr_preflight *preflight;
} scene;

void scene_make(scene *s);
void scene_free(scene *s);

// `bytes` of a struct at the end of a page after which nothing can be read or written.
typedef struct fenced {
  void *pages, *at;
} fenced;
fenced fence(size_t bytes);
void unfence(fenced f);

#endif
