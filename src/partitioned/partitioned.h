// Shared by the files of this room, and by the partitioner.
#ifndef TESSERA_PARTITIONED_PARTITIONED_H
#define TESSERA_PARTITIONED_PARTITIONED_H

#include <stdatomic.h>

#include "base/arena.h"
#include "tessera/compat/scope.h"
#include "tessera/logical.h"
#include "tessera/program/partitioned.h"

struct tsr_partitioned {
  atomic_int references;
  tsr_arena arena;                 // values and their texts
  tsr_program *whole, *device;     // before and after
  tsr_program *entry;              // `device` on lanes: what is compiled
  tsr_program *named_values;       // whose memory the names of values are
  tsr_mesh *mesh;                  // of the lanes
  const tsr_logical_rules *rules;  // entered with the mesh by compiling and calling; or NULL
  bool scoped;                     // the mesh and the rules are entered
  tsr_partitioned_value *arguments, *results;
  tsr_partitioned_info info;
};

tsr_partitioned *tsr_partitioned_retain(const tsr_partitioned *partitioned);
// Enters the mesh, and rules (NULL = none): as PjittedFnWithContext does around each call.
TSR_MUST_USE tsr_status tsr_scopes_enter(const tsr_mesh *mesh, const tsr_logical_rules *rules,
                                         tsr_scope *out_scope);
// Those of a partitioned program; nothing if it has none, then the scope is 0.
TSR_MUST_USE tsr_status tsr_partitioned_enter(const tsr_partitioned *partitioned,
                                              tsr_scope *out_scope);
// Programs of `partitioned` enter its mesh and these rules from now on. For who has just made it.
void tsr_partitioned_set_scope(tsr_partitioned *partitioned, const tsr_logical_rules *rules);

// ---- names of arguments and results (value_choice.c) ----

typedef struct tsr_value_choice {
  bool *arguments, *results;  // of the entry
  int64_t argument_count, result_count;
  int64_t count;  // chosen ones
} tsr_value_choice;
TSR_MUST_USE tsr_status tsr_value_choice_init(const tsr_program *program, tsr_arena *arena,
                                              tsr_value_choice *out_choice);
// Chooses the values that a name means: one, or all below it. Choosing none is no failure.
TSR_MUST_USE tsr_status tsr_value_choose(const tsr_program *program, const char *name,
                                         tsr_value_choice *choice);
// The same for arguments alone. Fails with not_found, naming the nearest name.
TSR_MUST_USE tsr_status tsr_argument_choose(const tsr_program *program, const char *name,
                                            const char *what, tsr_value_choice *choice);

// ---- what the caller gives (partition_specs.c, static_values.c, value_layouts.c) ----

// The specs of the options for single values: names that begin others stand for all of those,
// logical names are mapped.
TSR_MUST_USE tsr_status tsr_partition_specs(const tsr_program *program,
                                            const tsr_partition_options *options, tsr_arena *arena,
                                            tsr_propagate_options *out_options);
// The named program with static arguments bound and folded, and donated ones marked. `origin` is
// the program as the caller gave it.
TSR_MUST_USE tsr_status tsr_partition_bind(const tsr_program *named, const tsr_program *origin,
                                           const tsr_partition_options *options,
                                           tsr_program **out_program);
// Fills the values of `entry`, and the mesh. Aliases whose layouts differ are dropped, and donated
// arguments without a result get one of their layout; `entry` is written anew.
TSR_MUST_USE tsr_status tsr_partitioned_read(tsr_partitioned *partitioned, const tsr_mesh *given);
// Fails by name where the size of an argument or a result is not divided by the axes of its spec.
TSR_MUST_USE tsr_status tsr_partition_check(const tsr_program *whole);

#endif
