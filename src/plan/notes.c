// Notes as text. A plan keeps them as numbers; each reason has a printer.
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan_internal.h"
#include "plan/stand_ins.h"
#include "rules/entry.h"
#include "rules/logical_internal.h"
#include "tessera/compat/flax_rules.h"

void tsr_spec_add(const tsr_spec *spec, tsr_text *out) {
  const tsr_status status = tsr_spec_print(spec, TSR_FORM_SHORT, out);
  if (status) out->failed = true;  // the short form can express all specs, so memory is out
  tsr_status_free(status);
}

static void print_place(int64_t index, const char *file, int64_t line, tsr_text *out) {
  tsr_text_addf(out, "rule %lld", (long long)index);
  if (!file || !*file) return;
  tsr_text_addf(out, line ? " (%s:%lld)" : " (%s)", file, (long long)line);
}

void tsr_rules_print_name(const tsr_rules *rules, int64_t index, tsr_text *out) {
  const tsr_rule *rule = tsr_rules_at(rules, index);
  print_place(index, rule->file, rule->line, out);
  tsr_text_addf(out, " \"%s\"", rule->pattern);
}

// A note with its row.
typedef struct note_view {
  const tsr_plan *plan;
  int64_t index;
  tsr_plan_row row;
  const tsr_plan_note *note;
} note_view;

static void print_plain(const note_view *view, tsr_text *out) {
  tsr_text_add(out, tsr_why_text(view->note->why));
  if (view->note->axis) tsr_text_addf(out, ": axis \"%s\"", view->note->axis);
}

// ---- rules ----

static void print_rule(const note_view *view, tsr_text *out) {
  const tsr_rules *rules = view->plan->rules;
  const tsr_rule *rule = rules ? tsr_rules_at(rules, view->note->rule) : NULL;
  if (!rule) {
    tsr_text_addf(out, "rule %lld", (long long)view->note->rule);
    return;
  }
  tsr_rules_print_name(rules, view->note->rule, out);
  tsr_text_add(out, " -> ");
  tsr_spec_add(rule->spec, out);
}

static void print_logical(const note_view *view, tsr_text *out) {
  const tsr_logical_rules *rules = view->plan->logical_rules;
  const int64_t index = view->note->rule;
  if (index >= tsr_logical_rules_count(rules)) {
    tsr_text_addf(out, "rule %lld", (long long)index);
    return;
  }
  const tsr_logical_rule *rule = tsr_logical_rules_at(rules, index);
  print_place(index, rule->file, rule->line, out);
  tsr_text_addf(out, " %s -> ", rule->name);
  tsr_entry_print(&rule->entry, out);
}

static void print_logical_blocked(const note_view *view, tsr_text *out) {
  print_logical(view, out);
  tsr_text_addf(out, " is skipped: dimension %lld already uses its axis",
                (long long)view->note->argument);
}

static void print_small(const note_view *view, tsr_text *out) {
  tsr_text_addf(out, "%lld elements are fewer than the minimum of %lld, so it is not cut",
                (long long)tsr_tensor_elements(view->row.tensor), (long long)view->note->argument);
}

// ---- corrections ----

static void print_duplicate(const note_view *view, tsr_text *out) {
  tsr_text_addf(out, "axis \"%s\" is used before, so it is dropped here",
                view->note->axis ? view->note->axis : "");
}

// Whether the change left other axes in its dimension.
static bool is_alone(const note_view *view) {
  const tsr_spec_desc *final = tsr_spec_desc_of(view->row.final);
  const tsr_plan_note *note = view->note;
  return note->axis && note->dim >= 0 && note->dim < final->dim_count &&
         final->dims[note->dim].stage_count > 0;
}

// In the words of the correction itself.
static void print_change(const note_view *view, tsr_text *out) {
  const tsr_plan_note *note = view->note;
  const tsr_tensor *tensor = view->row.tensor;
  const tsr_change_kind kind = tsr_why_change(note->why);
  const bool whole = note->dim < 0 || note->dim >= tensor->rank;
  const bool sub_axis = kind == TSR_CHANGE_SUB_AXIS_MISFIT;
  tsr_change change = {.kind = kind,
                       .dim = note->dim,
                       .axis = note->axis,
                       .size = whole ? tensor->rank : tensor->dims[note->dim],
                       .product = note->argument,
                       .alone = is_alone(view)};
  if (sub_axis) change.size = note->argument;
  if ((sub_axis || kind == TSR_CHANGE_AXIS_MISSING) && !change.axis) change.axis = "";
  tsr_changes_print(&(tsr_changes){1, &change}, out);
  if (out->length && !out->failed) out->data[--out->length] = '\0';  // the end of the line
}

static void print_dim(const tsr_plan_note *note, tsr_text *out) {
  if (note->dim >= 0) tsr_text_addf(out, "dimension %d: ", note->dim);
}

// ---- automatic plans ----

static void print_memory(const note_view *view, tsr_text *out) {
  tsr_text_addf(out, "cut in %lld to fit the memory", (long long)view->note->argument);
}

static void print_converted(const note_view *view, tsr_text *out) {
  if (view->note->dim < 0)
    tsr_text_add(out, "not cut on the other mesh");
  else
    tsr_text_addf(out, "cut in %lld on the other mesh%s", (long long)view->note->argument,
                  view->note->axis ? "" : ", but not here");
}

// ---- companions ----

// The names say what it goes with, which may not be in this tree: plans are filtered.
static void print_companion(const note_view *view, tsr_text *out) {
  const tsr_tree *tree = view->plan->tree;
  const long long blocks = (long long)view->note->argument;
  if (view->note->dim >= 0) {
    tsr_text_addf(out, blocks > 1 ? "cut with it, by blocks of %lld" : "cut with it", blocks);
    return;
  }
  tsr_stand_in weight;
  const tsr_companion found = tsr_companion_find(tree, view->index);
  if (tsr_stand_in_find(tree, view->index, &weight))
    tsr_text_addf(out, "stands for \"%s\"", weight.path);
  else if (found.of >= 0)
    tsr_text_addf(out, "goes with \"%s\"", tsr_tree_at(tree, found.of)->path);
  else
    print_plain(view, out);
}

static void print_whole(const note_view *view, tsr_text *out) {
  const tsr_companion found = tsr_companion_find(view->plan->tree, view->index);
  if (found.why)
    tsr_text_addf(out, "kept whole, as %s", found.why);
  else
    print_plain(view, out);
}

// ---- parts ----

// The part of a dimension whose pieces, each to stay whole, the shards do not divide; NULL = none.
static const tsr_part *find_indivisible(const tsr_spec *spec, int dim, int64_t shards) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  if (dim < 0 || dim >= desc->dim_count) return NULL;
  for (int s = 0; s < desc->dims[dim].stage_count; s++) {
    const tsr_stage *stage = &desc->dims[dim].stages[s];
    for (int64_t i = 0; stage->kind == TSR_STAGE_PARTS && i < stage->count; i++) {
      const tsr_part *part = &stage->parts[i];
      if (part->grain == 1 || part->size % part->grain != 0) continue;
      if (part->size / part->grain * part->copies % shards != 0) return part;
    }
  }
  return NULL;
}

// "14 pieces of 64 are not divisible by 4", or of q, where the part has a name.
static void print_pieces(const tsr_part *part, int64_t shards, tsr_text *out) {
  tsr_text_addf(out, "%lld pieces of %lld", (long long)(part->size / part->grain),
                (long long)part->grain);
  if (*part->name) tsr_text_addf(out, " in %s", part->name);
  if (part->copies > 1) tsr_text_addf(out, ", each for %lld shards,", (long long)part->copies);
  tsr_text_addf(out, " are not divisible by %lld", (long long)shards);
}

static void print_misfit(const note_view *view, tsr_text *out) {
  const tsr_plan_note *note = view->note;
  const tsr_part *part =
      note->argument < 1 ? NULL : find_indivisible(view->row.wanted, note->dim, note->argument);
  if (!part) {
    print_change(view, out);
    return;
  }
  print_dim(note, out);
  print_pieces(part, note->argument, out);
  tsr_text_add(out, ", so it is not cut");
}

static void print_together(const note_view *view, tsr_text *out) {
  const tsr_plan_note *note = view->note;
  const tsr_rules *rules = view->plan->rules;
  const tsr_rule *rule = rules ? tsr_rules_at(rules, note->rule) : NULL;
  if (!rule || !rule->together) {
    print_plain(view, out);
    return;
  }
  const int64_t shards = note->argument < 1 ? 1 : note->argument;
  const tsr_part *part = NULL;
  tsr_text_addf(out, "not cut, as %s is cut over %s together or not at all, and ", rule->together,
                note->axis ? note->axis : "");
  tsr_rules_print_name(rules, note->rule, out);
  tsr_text_add(out, " cannot be");
  for (int d = 0; d < tsr_spec_desc_of(rule->spec)->dim_count && !part; d++)
    part = find_indivisible(rule->spec, d, shards);
  if (!part) return;
  tsr_text_add(out, ": ");
  print_pieces(part, shards, out);
}

// ---- all ----

// Reasons without a printer are printed as their text. `no_dim`: no "dimension 1: " before it.
static const struct {
  void (*print)(const note_view *view, tsr_text *out);
  bool no_dim;
} printers[TSR_WHY_COUNT] = {
    [TSR_WHY_RULE] = {print_rule, true},
    [TSR_WHY_SMALL] = {print_small, true},
    [TSR_WHY_LOGICAL] = {print_logical, false},
    [TSR_WHY_LOGICAL_BLOCKED] = {print_logical_blocked, false},
    [TSR_WHY_DUPLICATE_AXIS] = {print_duplicate, false},
    [TSR_WHY_MEMORY] = {print_memory, false},
    [TSR_WHY_CONVERTED] = {print_converted, false},
    [TSR_WHY_COMPANION] = {print_companion, false},
    [TSR_WHY_WHOLE] = {print_whole, true},
    [TSR_WHY_CUT_TO_RANK] = {print_change, true},
    [TSR_WHY_AXIS_MISSING] = {print_change, true},
    [TSR_WHY_SUB_AXIS_MISFIT] = {print_change, true},
    [TSR_WHY_INDIVISIBLE] = {print_change, true},
    [TSR_WHY_CUT_MISFIT] = {print_misfit, true},
    [TSR_WHY_TOGETHER] = {print_together, false},
    [TSR_WHY_UNCONSTRAINED] = {print_change, true},
};

void tsr_plan_note_print(const tsr_plan *plan, int64_t index, const tsr_plan_note *note,
                         tsr_text *out) {
  note_view view = {.plan = plan, .index = index, .note = note};
  if (!tsr_plan_row_read(plan, index, &view.row)) return;
  const bool known = (unsigned)note->why < TSR_WHY_COUNT && printers[note->why].print;
  if (!known || !printers[note->why].no_dim) print_dim(note, out);
  if (known)
    printers[note->why].print(&view, out);
  else
    print_plain(&view, out);
}
