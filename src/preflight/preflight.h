// A program with explicit collectives as flat lists of ops and values, and what was found in it.
// For the files of this room and for reports.
#ifndef TESSERA_PREFLIGHT_PREFLIGHT_H
#define TESSERA_PREFLIGHT_PREFLIGHT_H

#include <stdatomic.h>

#include "base/arena.h"
#include "factor/shardings.h"
#include "mesh/mesh_cost.h"
#include "tessera/engine/mesh.h"
#include "tessera/program/preflight.h"

// ---- the flat program ----

typedef struct tsr_flight_value {
  tsr_value *value;
  const tsr_tensor_sharding *sharding;  // NULL = whole on every device
  int64_t bytes;                        // on one device
  bool stored;                          // takes memory: is not made on the fly in a fused kernel
} tsr_flight_value;

typedef struct tsr_flight_op {
  tsr_op *op;
  int64_t parent;  // the op whose region it stands in; -1 for a function
  int64_t function;
  int64_t times;    // how often it runs, INT64_MAX at most; 0 = never
  int64_t trips;    // of a while: its steps; -1 = not known. Of other ops 1
  int64_t scope;    // in the tree of scopes
  bool uncertain;   // stands in a loop of unknown length
  int64_t reshard;  // that it is a collective of; -1 = none
  // Of one run on one device, without what its regions and callees do.
  double flops, traffic, seconds;
  int64_t moved;  // bytes of a collective
} tsr_flight_op;

// A folder of ops: a part of the name stack of JAX, a function that Python ran, a layer whose
// weights are used.
typedef struct tsr_flight_scope {
  const char *name;
  int64_t parent;             // -1: stands directly in its block
  int64_t block;              // the op (function, while) whose ops it holds
  int64_t next, first_child;  // -1 = none
} tsr_flight_scope;

// ---- collectives ----

// Collectives of one kind over the same axes.
typedef struct tsr_flight_sum {
  tsr_collective kind;
  const tsr_attr *mesh;  // NULL: device groups that are no axes of a mesh
  tsr_sdy_parts axes;
  int64_t group_size;
  int64_t count, bytes;
  double seconds;
  tsr_axis_cost *costs;  // of the axes; NULL without a topology
} tsr_flight_sum;

typedef enum tsr_flight_cause {
  TSR_FLIGHT_PARTIAL,  // sums of parts
  TSR_FLIGHT_OPERAND,  // an op takes it otherwise
  TSR_FLIGHT_RESULT,   // an op makes it otherwise
  TSR_FLIGHT_RETURN,   // of a function
  TSR_FLIGHT_LOOP,     // a value that a loop carries
  TSR_FLIGHT_CALL,     // an argument of a function
  TSR_FLIGHT_ASKED,    // a constraint of the user
  TSR_FLIGHT_MANUAL,   // written in a manual computation
  TSR_FLIGHT_BORDER    // an op exchanges data with its neighbours along a dim that is cut
} tsr_flight_cause;

typedef struct tsr_flight_reshard {
  int64_t first, last;  // ops
  int64_t source;       // the value before
  tsr_flight_cause cause;
  int64_t bytes, times;
  double seconds;
  bool uncertain;
  int64_t group;              // of those that are alike
  const char *asker;          // the word of the op that asks for it; "" = none
  tsr_preflight_reshard row;  // texts
} tsr_flight_reshard;

typedef struct tsr_flight_group {
  int64_t first;  // reshard
  int64_t number;
  tsr_preflight_reshard row;  // sums of all, texts of the first
} tsr_flight_group;

// What an op takes from its neighbours; `dim` is -1 where it takes nothing.
typedef struct tsr_flight_border {
  int dim;  // of the first operand
  const tsr_attr *mesh;
  tsr_sdy_parts axes;
  int64_t bytes;
} tsr_flight_border;

// ---- memory ----

typedef struct tsr_flight_live {
  int64_t value;
  int64_t bytes;
} tsr_flight_live;

// ---- all of it ----

// What a device can do.
typedef struct tsr_flight_device {
  const char *name;  // "NVIDIA H100"
  double flops[4];   // by bytes of an element: 1, 2, 4, 8
  double vector;     // of other ops than products
  double bandwidth;  // bytes in a second
  bool assumed;      // the kind is not known: the numbers are a guess
} tsr_flight_device;

struct tsr_preflight {
  atomic_int references;
  tsr_arena arena;
  tsr_program *program;  // with explicit collectives
  tsr_ir *ir;            // of `program`; marks are indices + 1
  tsr_sharding_table table;
  tsr_preflight_options options;
  tsr_topology *topology;  // or NULL
  tsr_flight_device device;
  struct tsr_flight_mesh *meshes;
  int64_t mesh_count;
  const struct tsr_flight_origin *origins;  // the ops of the given program, by tsr_op.origin - 1
  int64_t origin_count;
  tsr_flight_value *values;
  tsr_flight_op *ops;
  tsr_flight_scope *scopes;
  tsr_flight_sum *sums;
  tsr_flight_reshard *reshards;  // in the order of the program
  tsr_flight_group *groups;      // most bytes first
  tsr_flight_live *peak;         // what is held at the peak, largest first
  int64_t value_count, op_count, scope_count, sum_count, reshard_count, group_count, peak_count;
  int64_t entry;    // op; -1 = none
  int64_t peak_op;  // where most is held
  tsr_preflight_info info;
};

// An op as it stood in the program that was given.
typedef struct tsr_flight_origin {
  const char *name;  // "%26", "%values, %indices"; "" = none
  const char *op;    // "stablehlo.add"
  const char *func;  // the symbol of the function it stands in; "" = none
  uint32_t line;     // 0 = not known
} tsr_flight_origin;

typedef struct tsr_flight_mesh {
  const tsr_attr *attr;
  tsr_mesh *mesh;
} tsr_flight_mesh;

static inline int64_t tsr_flight_index(const tsr_op *op) { return (int64_t)op->mark - 1; }
static inline tsr_flight_value *tsr_flight_value_of(const tsr_preflight *flight,
                                                    const tsr_value *value) {
  return &flight->values[(int64_t)value->mark - 1];
}

// The steps, in this order.
TSR_MUST_USE tsr_status tsr_flight_origins_make(tsr_preflight *flight,
                                                const tsr_propagation *propagation);
TSR_MUST_USE tsr_status tsr_flight_flatten(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_count_times(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_find_scopes(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_find_collectives(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_find_border(const tsr_preflight *flight, tsr_arena *arena,
                                               const tsr_op *op, tsr_flight_border *out_border);
TSR_MUST_USE tsr_status tsr_flight_find_causes(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_group_reshards(tsr_preflight *flight);
void tsr_flight_count_work(tsr_preflight *flight);
TSR_MUST_USE tsr_status tsr_flight_find_peak(tsr_preflight *flight);

// ---- what they share ----

// The op in the given program that an op comes from; NULL = a pass made it.
const tsr_flight_origin *tsr_flight_origin_of(const tsr_preflight *flight, const tsr_op *op);
// "%26", "@closed_call:%arg1", "l['w1']", "carry 1 of while %20", "a result of add".
void tsr_flight_name(const tsr_preflight *flight, const tsr_value *value, tsr_text *out);
// "dot_general", without the dialect.
const char *tsr_flight_op_word(const tsr_op *op);
// "dot_general %26".
void tsr_flight_name_op(const tsr_preflight *flight, const tsr_op *op, tsr_text *out);
// The symbol that a function had in the given program.
const char *tsr_flight_function_name(const tsr_preflight *flight, const tsr_op *func);
// The name that JAX gave an op, or "line 26"; nothing if neither is known.
void tsr_flight_place(const tsr_preflight *flight, const tsr_op *op, tsr_text *out);
// [{"data"}, {}]; of NULL that of a whole value of this rank.
void tsr_flight_print_sharding(const tsr_tensor_sharding *sharding, int rank, tsr_text *out);
// data, model:(2)2
void tsr_flight_print_axes(const tsr_attr *mesh, const tsr_sdy_parts *axes, tsr_text *out);
// A text of the arena; `text` is freed.
TSR_MUST_USE tsr_status tsr_flight_keep(tsr_preflight *flight, tsr_text *text,
                                        const char **out_kept);
bool tsr_flight_is_collective(const tsr_op *op);  // of Shardy, slices included
int64_t tsr_flight_local_dim(const tsr_flight_value *value, int dim);
int64_t tsr_flight_local_count(const tsr_flight_value *value);  // elements on one device
// The mesh of an SDY_MESH, on the topology if there is one.
TSR_MUST_USE tsr_status tsr_flight_mesh_of(tsr_preflight *flight, const tsr_attr *attr,
                                           const tsr_mesh **out_mesh);
const char *tsr_flight_kind_name(tsr_collective kind);  // "all-gather"
TSR_MUST_USE tsr_status tsr_flight_device_of(const tsr_preflight_options *options,
                                             const tsr_topology *topology,
                                             tsr_flight_device *out_device);

#endif
