// Notes on how shardings propagated, as attributes that Shardy's debug options write.
//
// An *edge* says at which step an axis went through an op, from which of its tensors to which
// others (sdy.propagation_edges). An *origin* says which sharding of a user an axis of a value
// comes from: an argument, a result, a constraint, a manual computation (sdy.sharding_origins).
// Values are known by their slots of a table of shardings.
#ifndef TESSERA_PROPAGATE_FLOW_NOTES_H
#define TESSERA_PROPAGATE_FLOW_NOTES_H

#include "factor/projection.h"

#define TSR_NOTE_EDGES "sdy.propagation_edges"
#define TSR_NOTE_ORIGINS "sdy.sharding_origins"

// A part of an axis, whatever the mesh: names are of tsr_ir_name, and `part.axis` is not compared.
typedef struct tsr_note_axis {
  const char *name;
  tsr_sdy_part part;
} tsr_note_axis;

typedef enum tsr_origin_kind {
  TSR_ORIGIN_INPUT,
  TSR_ORIGIN_OUTPUT,
  TSR_ORIGIN_CONSTRAINT,
  TSR_ORIGIN_MANUAL_INPUT,
  TSR_ORIGIN_MANUAL_OUTPUT
} tsr_origin_kind;

typedef struct tsr_origin {
  tsr_origin_kind kind;
  int64_t id;  // of the constraint or manual computation, from 0; 0 for functions
  int index;   // of the argument or result
} tsr_origin;

typedef struct tsr_note_origin {
  struct tsr_note_origin *next;  // came later to the same value
  tsr_note_axis axis;
  tsr_origin origin;
} tsr_note_origin;

// An axis of a sharding that a user wrote, before values have slots.
typedef struct tsr_first_origin {
  struct tsr_first_origin *next;
  const tsr_value *value;
  tsr_note_axis axis;
  tsr_origin origin;
} tsr_first_origin;

typedef struct tsr_note_edge {
  struct tsr_note_edge *next;  // came later to the same op
  tsr_note_axis axis;
  int source, target;  // tensors of the op: operands first, then results
  int operand_count;
  int64_t step;
} tsr_note_edge;

typedef struct tsr_flow_notes {
  tsr_ir *ir;
  bool with_origins, with_edges;
  tsr_arena arena;
  tsr_first_origin *first, **last;  // in the order in which they count
  tsr_note_origin **origins;        // by the slot of the value
  tsr_note_edge **edges;  // by the slot of the op's first result; 0 = results of the entry
  int64_t step;           // the next one
} tsr_flow_notes;

// Numbers the constraints and manual computations of a program and reads which axes are theirs.
TSR_MUST_USE tsr_status tsr_flow_notes_begin(tsr_flow_notes *notes, tsr_ir *ir, bool origins,
                                             bool edges);
// The values have the slots of a table of `slot_count` now, which they keep until the notes are
// written. Values made later have none, and no notes.
TSR_MUST_USE tsr_status tsr_flow_notes_number(tsr_flow_notes *notes, int64_t slot_count);
void tsr_flow_notes_deinit(tsr_flow_notes *notes);
// An op changed shardings of its tensors `values` from one projection to another one of the same
// rule. `scratch` is used until this returns.
TSR_MUST_USE tsr_status tsr_flow_notes_step(tsr_flow_notes *notes, const tsr_op *op,
                                            tsr_value *const *values, const tsr_projection *before,
                                            const tsr_projection *after, tsr_arena *scratch);
// Writes the attributes.
TSR_MUST_USE tsr_status tsr_flow_notes_write(tsr_flow_notes *notes);
// Gives a data-flow op the notes of its edges, which are about to go: of arguments of its blocks,
// or of its results.
TSR_MUST_USE tsr_status tsr_flow_notes_sink(tsr_ir *ir, tsr_op *op, tsr_value *const *owners,
                                            int count, bool arguments, bool origins, bool edges);

// ---- between the files of the notes ----

// Notes that a value has an axis from the beginning, or got it, unless that is known already.
TSR_MUST_USE tsr_status tsr_note_origin_add(tsr_flow_notes *notes, uint32_t slot,
                                            const tsr_note_axis *axis, tsr_origin origin);
TSR_MUST_USE tsr_status tsr_note_axis_of(tsr_ir *ir, const tsr_attr *mesh, tsr_sdy_part part,
                                         tsr_note_axis *out_axis);
bool tsr_note_axis_same(const tsr_note_axis *a, const tsr_note_axis *b);
TSR_MUST_USE tsr_status tsr_note_origins_read(tsr_flow_notes *notes);
TSR_MUST_USE tsr_status tsr_note_origins_write(tsr_flow_notes *notes);
TSR_MUST_USE tsr_status tsr_note_edges_read(tsr_flow_notes *notes);
TSR_MUST_USE tsr_status tsr_note_edges_write(tsr_flow_notes *notes);

#endif
