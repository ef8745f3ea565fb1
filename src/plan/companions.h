// Which tensors go with another one, by name: companions.def lists the names.
#ifndef TESSERA_PLAN_COMPANIONS_H
#define TESSERA_PLAN_COMPANIONS_H

#include "base/arena.h"
#include "tessera/engine/sharding.h"
#include "tessera/spec.h"
#include "tessera/tree.h"

typedef enum tsr_companion_kind {
  TSR_COMPANION_NONE,
  TSR_COMPANION_STATE,      // of an optimiser: of the parameter's shape, or a single number
  TSR_COMPANION_FACTOR,     // of an optimiser: the parameter's shape without one dimension
  TSR_COMPANION_OF_WEIGHT,  // of a weight in several tensors: dimensions by letters
  TSR_COMPANION_WHOLE       // never cut
} tsr_companion_kind;

// A tensor that goes with another one, and how.
typedef struct tsr_companion {
  tsr_companion_kind kind;
  int64_t of;                  // the tensor it goes with; -1 = none in the tree
  int lacks;                   // a factor: the dimension of the parameter that it lacks
  const char *axes, *of_axes;  // of a weight: the letters of its dimensions and of the other's
  bool indexed;                // of a weight: a tensor lists the group of every input
  bool along;                  // of a weight: the other's values do not depend on it
  bool state;                  // of an optimiser
  bool scales;                 // of an optimiser: scales of its 8-bit states
  const char *why;             // whole: the reason
} tsr_companion;

tsr_companion tsr_companion_find(const tsr_tree *tree, int64_t index);

enum { TSR_COMPANION_NAME = 1024 };  // longer names have no companions
// As optimiser state (companion_states.c), and by the end of a name (companion_weights.c).
tsr_companion tsr_companion_find_state(const tsr_tree *tree, int64_t index);
tsr_companion tsr_companion_find_part(const tsr_tree *tree, int64_t index);
// Whether it is a one-element tensor of a layer, such as input_scale; and the layer's weight, -1 =
// none.
bool tsr_companion_is_number(const tsr_tree *tree, int64_t index, int64_t *out_weight);
// The length of a path without its end; 0 if it ends otherwise. A final "*" in `end` is any last
// word.
size_t tsr_companion_stem(const char *path, const char *end);
// The tensor whose name has the first `stem` characters of `path` and another end; -1 = none.
int64_t tsr_companion_find_beside(const tsr_tree *tree, const char *path, size_t stem,
                                  const char *end);
// The name of the parameter of a state whose parameter is not in the tree: the path before the
// state's word. The word must come last.
bool tsr_companion_parameter(const tsr_tree *tree, int64_t index, char *out_path, size_t size);

// One dimension of a companion beside that of its weight.
typedef struct tsr_companion_dim {
  const tsr_tensor *scale, *weight;
  int dim, of;         // of the companion, and of the weight; -1 = none
  int64_t unit, step;  // `unit` elements of the weight go with `step` of the companion
  tsr_arena *arena;
} tsr_companion_dim;

// Turns the weight's cut in that dimension, `inout_dim`, into the companion's: the same in other
// units, in the arena's memory. Sets unit and step. A cut through a block fails (bad_cut).
TSR_MUST_USE tsr_status tsr_companion_dim_cut(tsr_companion_dim *b, const tsr_sharding_dim *bound,
                                              tsr_spec_dim *inout_dim);

#endif
