// Groups of rules, compared layer by layer. Correction sees one tensor at a time, so it may leave
// 14 query heads whole on 4 ranks and cut the 2 key heads beside them with replicas. Each is right
// alone, but the attention is broken.
//
// A group agrees if all its tensors are cut over the axis, evenly. A policy that allows uneven
// shards allows them here if all tensors have equally many pieces: with 14 heads everywhere, ranks
// get the same heads. (Trimming uses fewer axes for each tensor alone, so it allows none.)
//
// A layer is a path up to its last number. Names are compared only where an axis was dropped, so a
// model that agrees costs one look at each spec.
#include "plan/together.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "plan/spec_entry.h"
#include "plan/tree.h"

void tsr_together_init(tsr_together *groups, const tsr_rules *rules, const tsr_mesh *mesh) {
  *groups = (tsr_together)TSR_TOGETHER_EMPTY;
  groups->rules = rules;
  groups->mesh = mesh;
  for (int64_t i = 0; mesh && i < tsr_rules_count(rules); i++)
    groups->any_group |= tsr_rules_at(rules, i)->together != NULL;
}

void tsr_together_deinit(tsr_together *groups) {
  tsr_name_index_deinit(&groups->names);
  tsr_arena_deinit(&groups->arena);
  tsr_text_deinit(&groups->key);
  free(groups->layers);
  *groups = (tsr_together)TSR_TOGETHER_EMPTY;
}

// ---- layers ----

static tsr_status make_key(tsr_together *groups, const tsr_rule *rule, const char *path) {
  tsr_text_clear(&groups->key);
  tsr_text_add(&groups->key, rule->together);
  tsr_text_add_char(&groups->key, ' ');
  tsr_text_add(&groups->key, rule->over);
  tsr_text_add_char(&groups->key, ' ');
  tsr_text_add_bytes(&groups->key, path, tsr_path_layer(path));
  return tsr_text_check(&groups->key);
}

static tsr_status find_layer(tsr_together *groups, const tsr_rule *rule, const char *path,
                             tsr_together_layer **out_layer) {
  TSR_TRY(make_key(groups, rule, path));
  const int64_t known = tsr_name_index_find(&groups->names, tsr_text_string(&groups->key));
  *out_layer = known < 0 ? NULL : &groups->layers[known];
  return NULL;
}

static tsr_status add_layer(tsr_together *groups, const tsr_rule *rule, const char *path,
                            tsr_together_layer **out_layer) {
  TSR_TRY(find_layer(groups, rule, path, out_layer));
  if (*out_layer) return NULL;
  int64_t existing = -1;
  tsr_together_layer *layers =
      tsr_grow(groups->layers, groups->count, &groups->capacity, sizeof *layers);
  if (layers) groups->layers = layers;
  const char *name = tsr_arena_copy(&groups->arena, groups->key.data, groups->key.length);
  if (!layers || !name) return tsr_fail(NO_MEMORY, "groups of rules");
  TSR_TRY(tsr_name_index_add(&groups->names, name, groups->count, &existing));
  layers[groups->count] = (tsr_together_layer){.rule = -1, .uneven_rule = -1};
  *out_layer = &layers[groups->count++];
  return NULL;
}

static void mark_broken(tsr_together *groups, tsr_together_layer *layer, int64_t rule,
                        int64_t shards) {
  if (layer->rule >= 0) return;
  layer->rule = rule;
  layer->shards = shards;
  groups->broken++;
}

// ---- minimum sizes ----

tsr_status tsr_together_add_large(tsr_together *groups, int64_t rule_index, const char *path) {
  const tsr_rule *rule = tsr_rules_at(groups->rules, rule_index);
  tsr_together_layer *layer = NULL;
  if (!rule || !rule->together) return NULL;
  TSR_TRY(add_layer(groups, rule, path, &layer));
  layer->large = true;
  return NULL;
}

tsr_status tsr_together_find_large(tsr_together *groups, int64_t rule_index, const char *path,
                                   bool *out_large) {
  const tsr_rule *rule = tsr_rules_at(groups->rules, rule_index);
  tsr_together_layer *layer = NULL;
  *out_large = false;
  if (!rule || !rule->together) return NULL;
  TSR_TRY(find_layer(groups, rule, path, &layer));
  *out_large = layer && layer->large;
  return NULL;
}

// ---- checking ----

// The pieces that a stage distributes, and the replicas of each. False if its parts differ in them.
static bool count_pieces(const tsr_stage *stage, int64_t size, int64_t *pieces, int64_t *copies) {
  *pieces = size;
  *copies = 1;
  if (stage->kind != TSR_STAGE_PARTS) return stage->kind == TSR_STAGE_EVEN;
  for (int64_t i = 0; i < stage->count; i++) {
    const tsr_part *part = &stage->parts[i];
    const int64_t own = part->size / part->grain;
    if (i && (own != *pieces || part->copies != *copies)) return false;
    *pieces = own;
    *copies = part->copies;
  }
  return true;
}

// Compares a cut with the earlier ones of its layer.
static void compare(tsr_together *groups, tsr_together_layer *layer, int64_t rule,
                    const tsr_stage *stage, int64_t size, bool evenly, int64_t shards) {
  int64_t pieces = 0, copies = 0;
  const bool one = count_pieces(stage, size, &pieces, &copies);
  if (!layer->copies) {
    layer->pieces = pieces;
    layer->copies = copies;
  }
  layer->mixed |= !one || pieces != layer->pieces || copies != layer->copies;
  if (!evenly && layer->uneven_rule < 0) layer->uneven_rule = rule;
  if (layer->uneven_rule >= 0 && layer->mixed)
    mark_broken(groups, layer, layer->uneven_rule, shards);
}

static int64_t axis_size(const tsr_together *groups, const char *axis) {
  const int found = tsr_mesh_axis_find(groups->mesh, axis);
  return found < 0 ? 1 : tsr_mesh_axis_at(groups->mesh, found)->size;
}

bool tsr_together_may_break(const tsr_together *groups, const tsr_plan_builder *builder,
                            int64_t row, int64_t rule_index) {
  const tsr_rule *rule = tsr_rules_at(groups->rules, rule_index);
  const tsr_stored_row *stored = &builder->plan->rows[row];
  if (!rule || !rule->together) return false;
  return stored->policy != TSR_POLICY_ERROR || stored->wanted != stored->final;
}

tsr_status tsr_together_check_row(tsr_together *groups, const tsr_plan_builder *builder,
                                  int64_t row, int64_t rule_index, bool whole) {
  const tsr_rule *rule = tsr_rules_at(groups->rules, rule_index);
  if (!groups->any_group || !rule || !rule->together) return NULL;
  const tsr_stored_row *stored = &builder->plan->rows[row];
  const bool strict = stored->policy == TSR_POLICY_ERROR;
  const tsr_tensor *tensor = tsr_tree_at(builder->plan->tree, row);
  const tsr_spec_desc *wanted = tsr_spec_desc_of(builder->plan->specs[stored->wanted]);
  const tsr_spec_desc *final = tsr_spec_desc_of(builder->plan->specs[stored->final]);
  const int dim = tsr_spec_find_axis(wanted, rule->over);
  const int64_t shards = axis_size(groups, rule->over);
  if (dim < 0 || dim >= tensor->rank || shards == 1) return NULL;
  tsr_together_layer *layer = NULL;
  bool evenly = true;
  const bool uncut = whole || tsr_spec_find_axis(final, rule->over) < 0;
  if (strict && !uncut) return NULL;
  TSR_TRY(add_layer(groups, rule, tensor->path, &layer));
  if (uncut) {
    mark_broken(groups, layer, rule_index, shards);
    return NULL;
  }
  const int64_t size = tensor->dims[dim];
  TSR_TRY(tsr_spec_entry_fits(&wanted->dims[dim], groups->mesh, size, TSR_POLICY_ERROR, &evenly));
  layer->mixed |= stored->policy == TSR_POLICY_TRIM;
  compare(groups, layer, rule_index, tsr_spec_dim_find_stage(&wanted->dims[dim], rule->over), size,
          evenly, shards);
  return NULL;
}

// ---- applying ----

// The spec without the entries that contain an axis.
static tsr_status drop_axis(const tsr_spec *spec, const char *axis, tsr_spec **out_spec) {
  tsr_spec_desc desc = *tsr_spec_desc_of(spec);
  tsr_spec_dim dims[TSR_MAX_RANK];
  bool cut = false;
  for (int d = 0; d < desc.dim_count; d++) {
    dims[d] = desc.dims[d];
    if (tsr_spec_dim_find_stage(&dims[d], axis)) dims[d].stage_count = 0;
    cut |= dims[d].stage_count > 0;
  }
  desc.dims = dims;
  if (!cut) desc.dim_count = 0;
  return tsr_spec_create(&desc, out_spec);
}

static tsr_status note_drops(const tsr_spec *spec, const tsr_together_layer *layer,
                             const char *axis, tsr_plan_builder *builder, int64_t row) {
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  for (int d = 0; d < desc->dim_count; d++) {
    if (!tsr_spec_dim_find_stage(&desc->dims[d], axis)) continue;
    const tsr_plan_note note = {.why = TSR_WHY_TOGETHER,
                                .dim = d,
                                .rule = layer->rule,
                                .argument = layer->shards,
                                .axis = axis};
    TSR_TRY(tsr_plan_builder_note(builder, row, &note));
  }
  return NULL;
}

tsr_status tsr_together_apply(tsr_together *groups, tsr_plan_builder *builder, int64_t row,
                              int64_t rule_index) {
  const tsr_rule *rule = tsr_rules_at(groups->rules, rule_index);
  if (!groups->broken || !rule || !rule->together) return NULL;
  tsr_stored_row *stored = &builder->plan->rows[row];
  const tsr_spec *final = builder->plan->specs[stored->final];
  tsr_together_layer *layer = NULL;
  tsr_spec *without = NULL;
  if (tsr_spec_find_axis(tsr_spec_desc_of(final), rule->over) < 0) return NULL;
  TSR_TRY(find_layer(groups, rule, tsr_tree_at(builder->plan->tree, row)->path, &layer));
  if (!layer || layer->rule < 0) return NULL;
  TSR_TRY(note_drops(final, layer, rule->over, builder, row));
  TSR_TRY(drop_axis(final, rule->over, &without));
  const tsr_status status = tsr_plan_builder_intern(builder, without, &stored->final);
  tsr_spec_release(without);
  return status;
}
