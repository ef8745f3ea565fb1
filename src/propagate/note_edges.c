// At which step each axis went through an op, as the text of an attribute.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "propagate/edits.h"
#include "propagate/flow_notes.h"

// ---- before ----

// Steps go on after those that an earlier pass noted. Names in quotes are no steps.
static tsr_status find_last_step(tsr_op *op, void *context) {
  tsr_flow_notes *notes = context;
  const tsr_attr *attr = tsr_op_attr(op, TSR_NOTE_EDGES);
  if (!attr || attr->kind != TSR_ATTR_OPAQUE) return NULL;
  bool quoted = false;
  for (const char *at = attr->bytes; *at; at++) {
    quoted ^= *at == '"';
    if (quoted || strncmp(at, "{step-", 6) != 0) continue;
    const long long step = strtoll(at + 6, NULL, 10);
    if (step >= notes->step && step < INT64_MAX) notes->step = step + 1;
  }
  return NULL;
}

tsr_status tsr_note_edges_read(tsr_flow_notes *notes) {
  return tsr_op_walk(notes->ir->module, find_last_step, notes);
}

// ---- after ----

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_axes(const tsr_note_axis *a, const tsr_note_axis *b) {
  const int names = strcmp(a->name, b->name);
  if (names) return names;
  const int starts = compare_numbers(a->part.pre, b->part.pre);
  return starts ? starts : compare_numbers(a->part.size, b->part.size);
}

static int by_place(const void *left, const void *right) {
  const tsr_note_edge *const *x = left, *const *y = right;
  const tsr_note_edge *a = *x, *b = *y;
  if (a->step != b->step) return compare_numbers(a->step, b->step);
  const int axes = compare_axes(&a->axis, &b->axis);
  if (axes) return axes;
  return a->source != b->source ? compare_numbers(a->source, b->source)
                                : compare_numbers(a->target, b->target);
}

static void print_tensor(const tsr_note_edge *edge, int tensor, tsr_text *out) {
  const bool operand = tensor < edge->operand_count;
  tsr_text_addf(out, "%s-%d", operand ? "operand" : "result",
                operand ? tensor : tensor - edge->operand_count);
}

// One axis of one source, with all targets. Gives where the next begins.
static int64_t print_way(tsr_note_edge *const *edges, int64_t from, int64_t count, tsr_text *out) {
  const tsr_note_edge *first = edges[from];
  tsr_text_addf(out, "{\"%s\"", first->axis.name);
  if (!first->axis.part.whole)
    tsr_text_addf(out, ":(%lld)%lld", (long long)first->axis.part.pre,
                  (long long)first->axis.part.size);
  tsr_text_add(out, " = ");
  print_tensor(first, first->source, out);
  tsr_text_add(out, " -> [");
  int64_t i = from;
  for (; i < count && edges[i]->step == first->step && edges[i]->source == first->source &&
         tsr_note_axis_same(&edges[i]->axis, &first->axis);
       i++) {
    if (i > from) tsr_text_add(out, ", ");
    print_tensor(edges[i], edges[i]->target, out);
  }
  tsr_text_add(out, "]}");
  return i;
}

static void print_edges(tsr_note_edge *const *edges, int64_t count, tsr_text *out) {
  tsr_text_addf(out, "#%s<[", TSR_NOTE_EDGES);
  for (int64_t i = 0; i < count;) {
    const int64_t step = edges[i]->step;
    tsr_text_addf(out, "%s{step-%lld = [", i ? ", " : "", (long long)step);
    for (bool first = true; i < count && edges[i]->step == step; first = false) {
      if (!first) tsr_text_add(out, ", ");
      i = print_way(edges, i, count, out);
    }
    tsr_text_add(out, "]}");
  }
  tsr_text_add(out, "]>");
}

static tsr_status edges_attr(tsr_flow_notes *notes, tsr_note_edge *list,
                             const tsr_attr **out_attr) {
  int64_t count = 0;
  for (const tsr_note_edge *edge = list; edge; edge = edge->next) count++;
  tsr_note_edge **edges =
      tsr_arena_alloc(&notes->arena, (size_t)(count + 1) * sizeof(tsr_note_edge *));
  tsr_text text = TSR_TEXT_EMPTY;
  TSR_NEED(edges);
  count = 0;
  for (tsr_note_edge *edge = list; edge; edge = edge->next) edges[count++] = edge;
  qsort(edges, (size_t)count, sizeof *edges, by_place);
  print_edges(edges, count, &text);
  tsr_status status = tsr_text_check(&text);
  *out_attr = status ? NULL : tsr_attr_opaque(notes->ir, tsr_text_string(&text), text.length);
  tsr_text_deinit(&text);
  TSR_TRY(status);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status write_edges(tsr_op *op, void *context) {
  tsr_flow_notes *notes = context;
  tsr_value *first = op->result_count ? tsr_op_result(op, 0) : NULL;
  const uint32_t slot = first && tsr_shardable(first) == first ? tsr_sharding_slot_of(first) : 0;
  const tsr_attr *attr = NULL;
  if (!slot || !notes->edges[slot]) return NULL;
  TSR_TRY(edges_attr(notes, notes->edges[slot], &attr));
  return tsr_op_attr_set(notes->ir, op, TSR_NOTE_EDGES, attr);
}

// Results of the entry propagate one by one, each as result 0 of an op: Shardy notes them all at
// the first one.
static tsr_status write_result_edges(tsr_flow_notes *notes) {
  tsr_op *func = tsr_ir_entry(notes->ir);
  const tsr_attr *attr = NULL;
  if (!func || !notes->edges[0]) return NULL;
  TSR_TRY(edges_attr(notes, notes->edges[0], &attr));
  return tsr_func_dict_set(notes->ir, func, "res_attrs", 0, TSR_NOTE_EDGES, attr);
}

tsr_status tsr_note_edges_write(tsr_flow_notes *notes) {
  TSR_TRY(tsr_op_walk(notes->ir->module, write_edges, notes));
  return write_result_edges(notes);
}
