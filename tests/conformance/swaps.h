// What every collective must do when one rank asks for something else: fail alike on all ranks, at
// once, in words that name the rank, and leave the comm usable.
//
// Each collective is a row: its name, the arguments that are swapped, and a function that calls it
// with one of them swapped, or with none and then looks at the data. tests/conformance/listed
// compares the rows with what the headers call collective.
#ifndef TESSERA_TESTS_SWAPS_H
#define TESSERA_TESTS_SWAPS_H

#include "conformance/conformance.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/tessera.h"

enum { DEVICES_PER_RANK = 2, MOST_SWAP_DEVICES = 16, MOST_SWAP_RANKS = 8 };

// Devices are numbered 0 to n - 1, two on each rank; tensors are (2n, 2n) of i32.
typedef struct scene {
  tsr_comm *comm;
  int rank, ranks;
  int64_t n;
  tsr_shape shape;
  char folder[64];          // all ranks see it
  tsr_mesh *mesh, *turned;  // data=ranks, model=2; the same with devices in reverse
  tsr_layout *rows, *columns, *turned_rows;
  int32_t *tensors[2];    // in host memory
  tsr_array *arrays[2];   // the tensors, by rows
  tsr_array *of_floats;   // the first by rows, said to be f32
  tsr_array *by_columns;  // the first
} scene;

typedef struct collective {
  const char *function;
  const char *arguments;  // to swap, in words; after "!" what the rank itself refuses
  // Argument `swapped` is another one, counted from 1; 0 = none.
  tsr_status (*call)(scene *s, int swapped);
} collective;

extern const collective comm_collectives[], array_collectives[], place_collectives[],
    file_collectives[], program_collectives[];  // each ends with an empty row

// ---- for the rows ----

TSR_MUST_USE tsr_status swap_layout(const scene *s, const tsr_mesh *mesh, const char *spec,
                                    tsr_layout **out_layout);
// Whether every part that is here holds what it should of a tensor.
TSR_MUST_USE tsr_status swap_check(const scene *s, const tsr_array *array, int tensor);
// Leaves "a" and "b", which are the arrays, and "h", a tensor in host memory. With a difference:
// other order, path, dtype or number of leaves, or "b" in host memory too.
typedef enum tree_kind { PLAIN, REORDERED, RENAMED, RETYPED, SHORTER, HOSTED } tree_kind;
TSR_MUST_USE tsr_status swap_tree(const scene *s, tree_kind kind, tsr_array_tree **out_tree);
// Releases the tree, which holds the tensors as arrays or in host memory. Of a failure nothing.
TSR_MUST_USE tsr_status swap_check_tree(const scene *s, tsr_array_tree *tree, tsr_status status);
// A plan for the leaves, by rules, the renamed one as number 4; and a partitioner for the devices,
// which may leave parameters in host memory or have no mesh.
TSR_MUST_USE tsr_status swap_plan(const scene *s, const tsr_mesh *mesh, const char *rules,
                                  int count, tsr_plan **out_plan);
TSR_MUST_USE tsr_status swap_partitioner(const scene *s, bool on_host, bool empty,
                                         tsr_partitioner **out_partitioner);

#endif
