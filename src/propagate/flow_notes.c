// What one op did at one step, and who has an axis from whom.
#include "propagate/flow_notes.h"

#include <stdlib.h>

#include "propagate/edits.h"

// ---- axes ----

tsr_status tsr_note_axis_of(tsr_ir *ir, const tsr_attr *mesh, tsr_sdy_part part,
                            tsr_note_axis *out_axis) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *name = tsr_attr_field(axes->items[part.axis], TSR_SDY_MESH_AXIS_NAME);
  *out_axis = (tsr_note_axis){tsr_ir_name(ir, name->bytes, name->length), part};
  TSR_NEED(out_axis->name);
  return NULL;
}

bool tsr_note_axis_same(const tsr_note_axis *a, const tsr_note_axis *b) {
  if (a->name != b->name || a->part.whole != b->part.whole) return false;
  return a->part.whole || (a->part.pre == b->part.pre && a->part.size == b->part.size);
}

static bool contains(const tsr_note_axis *a, const tsr_note_axis *b) {
  if (a->name != b->name) return false;
  if (a->part.whole || b->part.whole) return a->part.whole;
  return a->part.pre <= b->part.pre && tsr_sdy_end(&b->part) <= tsr_sdy_end(&a->part);
}

// ---- lists ----

tsr_status tsr_note_origin_add(tsr_flow_notes *notes, uint32_t slot, const tsr_note_axis *axis,
                               tsr_origin origin) {
  if (!slot) return NULL;
  tsr_note_origin **end = &notes->origins[slot];
  for (; *end; end = &(*end)->next)
    if (tsr_note_axis_same(&(*end)->axis, axis)) return NULL;
  *end = tsr_arena_alloc(&notes->arena, sizeof **end);
  TSR_NEED(*end);
  **end = (tsr_note_origin){NULL, *axis, origin};
  return NULL;
}

// Where a value has an axis from. One that was split or merged on the way has the origin of the
// first part that it has in common with another one; NULL = no user gave it, such as an axis on an
// op that was there before.
static const tsr_note_origin *find_origin(const tsr_flow_notes *notes, uint32_t slot,
                                          const tsr_note_axis *axis) {
  const tsr_note_origin *near = NULL;
  for (const tsr_note_origin *o = notes->origins[slot]; o; o = o->next) {
    if (tsr_note_axis_same(&o->axis, axis)) return o;
    if (!near && (contains(&o->axis, axis) || contains(axis, &o->axis))) near = o;
  }
  return near;
}

// The first time that an axis goes a way is noted.
static tsr_status add_edge(tsr_flow_notes *notes, uint32_t slot, tsr_note_edge edge) {
  tsr_note_edge **end = &notes->edges[slot];
  for (; *end; end = &(*end)->next)
    if (tsr_note_axis_same(&(*end)->axis, &edge.axis) && (*end)->source == edge.source &&
        (*end)->target == edge.target)
      return NULL;
  *end = tsr_arena_alloc(&notes->arena, sizeof **end);
  TSR_NEED(*end);
  **end = edge;
  return NULL;
}

// ---- one step ----

typedef struct new_axis {
  tsr_sdy_part part;
  int source;  // tensor that had it before
} new_axis;

typedef struct step_view {
  const tsr_projection *before, *after;
  new_axis *axes;  // of one tensor
  int count;
} step_view;

// The first tensor that had all of the axes along a factor; -1 if none had.
static int source_of(const tsr_projection *before, int factor, const tsr_sdy_parts *axes) {
  const tsr_op_rule *rule = before->rule;
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_factor_sharding *place = &before->places[rule->uses[i]];
    if (place->present && tsr_parts_prefix(axes, &place->axes) != TSR_PREFIX_NOT)
      return rule->places[rule->uses[i]].tensor;
  }
  return -1;
}

static void add_axis(step_view *s, tsr_sdy_part part, int source) {
  for (int i = 0; i < s->count; i++)
    if (tsr_sdy_same(&s->axes[i].part, &part)) return;
  s->axes[s->count++] = (new_axis){part, source};
}

static void drop_axis(step_view *s, const tsr_sdy_part *part) {
  int kept = 0;
  for (int i = 0; i < s->count; i++)
    if (!tsr_sdy_same(&s->axes[i].part, part)) s->axes[kept++] = s->axes[i];
  s->count = kept;
}

// The axes that a factor has now and had not; its last one may be a longer part than before.
// `last` replaces it: parts at the end of a factor and of the next one are one axis of the dim.
static void add_factor(step_view *s, int place, const tsr_sdy_part *last) {
  const tsr_sdy_parts *old = &s->before->places[place].axes, *now = &s->after->places[place].axes;
  const int source = source_of(s->before, s->before->rule->places[place].factor, now);
  if (source < 0) return;
  for (int64_t i = old->count ? old->count - 1 : 0; i < now->count; i++) {
    const tsr_sdy_part part = i == now->count - 1 ? *last : now->items[i];
    if (i >= old->count || !tsr_sdy_same(&old->items[i], &part)) add_axis(s, part, source);
  }
}

static void visit_dim(step_view *s, int tensor, int dim) {
  const tsr_op_rule *rule = s->before->rule;
  const tsr_sdy_part *previous = NULL;
  for (int i = tsr_rule_dim(rule, tensor, dim); i < tsr_rule_dim(rule, tensor, dim + 1); i++) {
    const tsr_sdy_parts *now = &s->after->places[i].axes;
    if (!now->count || tsr_sdy_parts_equal(&s->before->places[i].axes, now)) continue;
    const tsr_sdy_part *end = &now->items[now->count - 1];
    tsr_sdy_part last = *end;
    if (previous && tsr_sdy_can_join(previous, end)) {
      drop_axis(s, previous);
      last = tsr_part_of(s->before->mesh, end->axis, previous->pre, previous->size * end->size);
    }
    previous = end;
    add_factor(s, i, &last);
  }
}

static tsr_status note_axis(tsr_flow_notes *notes, const tsr_op *op, tsr_value *const *values,
                            const step_view *s, int tensor, const new_axis *axis) {
  const bool is_func = tsr_op_is(op, TSR_OP_FUNC);
  tsr_note_edge edge = {.source = axis->source,
                        .target = tensor,
                        .operand_count = s->before->rule->operand_count,
                        .step = notes->step};
  TSR_TRY(tsr_note_axis_of(notes->ir, s->before->mesh, axis->part, &edge.axis));
  if (notes->with_edges)
    TSR_TRY(add_edge(notes, is_func ? 0 : tsr_sharding_slot_of(tsr_op_result(op, 0)), edge));
  if (!notes->with_origins) return NULL;
  const tsr_note_origin *from =
      find_origin(notes, tsr_sharding_slot_of(values[axis->source]), &edge.axis);
  if (!from) return NULL;
  return tsr_note_origin_add(notes, tsr_sharding_slot_of(values[tensor]), &edge.axis, from->origin);
}

static tsr_status note_tensor(tsr_flow_notes *notes, const tsr_op *op, tsr_value *const *values,
                              step_view *s, int tensor) {
  s->count = 0;
  for (int dim = 0; dim < tsr_rule_rank(s->before->rule, tensor); dim++) visit_dim(s, tensor, dim);
  for (int i = 0; i < s->count; i++) TSR_TRY(note_axis(notes, op, values, s, tensor, &s->axes[i]));
  return NULL;
}

tsr_status tsr_flow_notes_step(tsr_flow_notes *notes, const tsr_op *op, tsr_value *const *values,
                               const tsr_projection *before, const tsr_projection *after,
                               tsr_arena *scratch) {
  const tsr_op_rule *rule = before->rule;
  step_view s = {.before = before, .after = after};
  int64_t most = 1;
  for (int i = 0; i < rule->place_count; i++) most += after->places[i].axes.count;
  s.axes = tsr_arena_alloc(scratch, (size_t)most * sizeof *s.axes);
  TSR_NEED(s.axes);
  for (int i = 0; i < rule->tensor_count; i++) TSR_TRY(note_tensor(notes, op, values, &s, i));
  notes->step++;
  return NULL;
}

// ---- all steps ----

tsr_status tsr_flow_notes_begin(tsr_flow_notes *notes, tsr_ir *ir, bool origins, bool edges) {
  *notes = (tsr_flow_notes){.ir = ir, .with_origins = origins, .with_edges = edges};
  notes->last = &notes->first;
  tsr_status status = tsr_note_edges_read(notes);
  if (!status && origins) status = tsr_note_origins_read(notes);
  if (status) tsr_flow_notes_deinit(notes);
  return status;
}

tsr_status tsr_flow_notes_number(tsr_flow_notes *notes, int64_t slot_count) {
  const size_t count = (size_t)slot_count + 1;
  notes->origins = tsr_arena_zeros(&notes->arena, count, sizeof(tsr_note_origin *));
  notes->edges = tsr_arena_zeros(&notes->arena, count, sizeof(tsr_note_edge *));
  TSR_NEED(notes->origins && notes->edges);
  for (const tsr_first_origin *first = notes->first; first; first = first->next)
    TSR_TRY(tsr_note_origin_add(notes, tsr_sharding_slot_of(first->value), &first->axis,
                                first->origin));
  return NULL;
}

void tsr_flow_notes_deinit(tsr_flow_notes *notes) {
  tsr_arena_deinit(&notes->arena);
  *notes = (tsr_flow_notes){0};
}

tsr_status tsr_flow_notes_write(tsr_flow_notes *notes) {
  if (notes->with_origins) TSR_TRY(tsr_note_origins_write(notes));
  return notes->with_edges ? tsr_note_edges_write(notes) : NULL;
}

// ---- edges of data flow go ----

// Notes of the edges that have some: an edge without is left out, as Shardy does.
static tsr_status sink_notes(tsr_ir *ir, tsr_op *op, tsr_value *const *owners, int count,
                             const char *from, const char *to) {
  const tsr_attr **list = calloc((size_t)count + 1, sizeof(const tsr_attr *));
  int64_t found = 0;
  TSR_NEED(list);
  for (int i = 0; i < count; i++) {
    const tsr_op *edge = tsr_edge_of(owners[i]);
    const tsr_attr *attr = edge ? tsr_op_attr(edge, from) : NULL;
    if (attr) list[found++] = attr;
  }
  const tsr_attr *array = tsr_attr_array(ir, list, found);
  free(list);
  TSR_NEED(array);
  return tsr_op_attr_set(ir, op, to, array);
}

tsr_status tsr_flow_notes_sink(tsr_ir *ir, tsr_op *op, tsr_value *const *owners, int count,
                               bool arguments, bool origins, bool edges) {
  if (origins)
    TSR_TRY(
        sink_notes(ir, op, owners, count, TSR_NOTE_ORIGINS,
                   arguments ? "sdy.block_arg_sharding_origins" : "sdy.result_sharding_origins"));
  if (!edges) return NULL;
  return sink_notes(ir, op, owners, count, TSR_NOTE_EDGES,
                    arguments ? "sdy.block_arg_propagation_edges" : "sdy.result_propagation_edges");
}
