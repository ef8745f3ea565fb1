// The spec of a rule: its expressions computed, then axes dropped (one file works for fsdp, tp and
// fsdp+tp) and renamed.
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "spec/forms.h"
#include "spec/spec_builder.h"

static bool is_kept(const tsr_rules_options *options, const char *axis) {
  if (!options->keep_axes || !*axis) return true;
  for (int i = 0; i < options->keep_axis_count; i++)
    if (!strcmp(options->keep_axes[i], axis)) return true;
  return false;
}

const char *tsr_renamed_axis(const tsr_rules_options *options, const char *axis) {
  for (int i = 0; i < options->rename_axis_count; i++)
    if (!strcmp(options->rename_axes[2 * i], axis)) return options->rename_axes[2 * i + 1];
  return axis;
}

const char *tsr_rule_axis_kept(const tsr_rules_options *options, const char *axis) {
  return is_kept(options, axis) ? tsr_renamed_axis(options, axis) : NULL;
}

// The number of shards over the kept axes of a stage; 0 = unknown.
static int64_t count_shards(const tsr_rules_options *options, const tsr_stage *stage) {
  int64_t shards = 1;
  for (int i = 0; i < stage->axis_count; i++) {
    if (!is_kept(options, stage->axes[i].name)) continue;
    const int axis =
        tsr_mesh_axis_find(options->mesh, tsr_renamed_axis(options, stage->axes[i].name));
    if (axis < 0 || stage->axes[i].size) return 0;
    if (__builtin_mul_overflow(shards, tsr_mesh_axis_at(options->mesh, axis)->size, &shards))
      return 0;
  }
  return shards;
}

// Whether a parts(...) cut equals an even cut: one part without copies, cut between its grains.
static bool is_even_in_disguise(const tsr_rules_options *options, const tsr_stage *stage) {
  if (!options->mesh || stage->kind != TSR_STAGE_PARTS || stage->count != 1) return false;
  const tsr_part *part = &stage->parts[0];
  const int64_t shards = count_shards(options, stage);
  return part->copies == 1 && shards && part->size > 0 && part->size % part->grain == 0 &&
         part->size / part->grain % shards == 0;
}

static tsr_status adapt_stage(const tsr_stage *stage, const tsr_rules_options *options,
                              tsr_spec_builder *builder) {
  int kept = 0;
  for (int i = 0; i < stage->axis_count; i++) kept += is_kept(options, stage->axes[i].name);
  if (!kept) return NULL;
  TSR_TRY(tsr_spec_builder_stage(builder));
  for (int i = 0; i < stage->axis_count; i++) {
    tsr_axis_ref ref = stage->axes[i];
    if (!is_kept(options, ref.name)) continue;
    ref.name = tsr_renamed_axis(options, ref.name);
    TSR_TRY(tsr_spec_builder_axis(builder, &ref));
  }
  return is_even_in_disguise(options, stage) ? NULL : tsr_spec_builder_copy_cut(builder, stage);
}

static tsr_status adapt_dims(const tsr_spec_desc *desc, const tsr_rules_options *options,
                             tsr_spec_builder *builder) {
  for (int d = 0; d < desc->dim_count; d++) {
    TSR_TRY(tsr_spec_builder_dim(builder));
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      TSR_TRY(adapt_stage(&desc->dims[d].stages[s], options, builder));
    tsr_spec_builder_last_dim(builder)->open = desc->dims[d].open;
    tsr_spec_builder_last_dim(builder)->has_priority = desc->dims[d].has_priority;
    tsr_spec_builder_last_dim(builder)->priority = desc->dims[d].priority;
  }
  return NULL;
}

static tsr_status adapt_set(const tsr_axis_ref *refs, int count, tsr_spec_set set,
                            const tsr_rules_options *options, tsr_spec_builder *builder) {
  for (int i = 0; i < count; i++) {
    tsr_axis_ref ref = refs[i];
    if (!is_kept(options, ref.name)) continue;
    ref.name = tsr_renamed_axis(options, ref.name);
    TSR_TRY(tsr_spec_builder_member(builder, set, &ref));
  }
  return NULL;
}

static tsr_status adapt(const tsr_spec_desc *desc, const tsr_rules_options *options,
                        tsr_spec_builder *builder) {
  TSR_TRY(adapt_dims(desc, options, builder));
  TSR_TRY(adapt_set(desc->unreduced, desc->unreduced_count, TSR_SET_UNREDUCED, options, builder));
  TSR_TRY(adapt_set(desc->reduced, desc->reduced_count, TSR_SET_REDUCED, options, builder));
  TSR_TRY(
      adapt_set(desc->replicated, desc->replicated_count, TSR_SET_REPLICATED, options, builder));
  builder->reduction = desc->reduction;
  builder->mesh_name = desc->mesh_name;
  return NULL;
}

tsr_status tsr_rule_spec_adapt(const tsr_spec *spec, const tsr_rules_options *options,
                               tsr_spec **out_spec) {
  if (!options->keep_axes && !options->rename_axis_count && !options->mesh) {
    *out_spec = tsr_spec_retain(spec);
    return NULL;
  }
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_status status = adapt(tsr_spec_desc_of(spec), options, &builder);
  if (!status) status = tsr_spec_builder_finish(&builder, out_spec);
  tsr_spec_builder_deinit(&builder);
  return status;
}

// Whether the spec has numbers: cuts or sub-axes.
static bool has_numbers(const tsr_spec_desc *desc) {
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++) {
      const tsr_stage *stage = &desc->dims[d].stages[s];
      if (stage->kind != TSR_STAGE_EVEN) return true;
      for (int i = 0; i < stage->axis_count; i++)
        if (stage->axes[i].size) return true;
    }
  return false;
}

// A spec with unknown facts: valid if none of its kept axes needs a number. Names and sizes of the
// mesh do not matter here.
static tsr_status parse_without_facts(const char *text, const tsr_rules_options *options,
                                      tsr_status *missing, tsr_spec **out_spec) {
  tsr_rules_options without_mesh = *options;
  tsr_spec *whole = NULL, *kept = NULL;
  without_mesh.mesh = NULL;
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_ANY, &whole));
  tsr_status status = tsr_rule_spec_adapt(whole, &without_mesh, &kept);
  tsr_spec_release(whole);
  if (!status && has_numbers(tsr_spec_desc_of(kept))) {
    status = *missing;
    *missing = NULL;
    tsr_spec_release(kept);
  }
  if (!status) *out_spec = kept;
  return status;
}

static tsr_status parse_expanded(const char *text, const tsr_rules_options *options,
                                 tsr_status *missing, tsr_spec **out_spec) {
  if (*missing) return parse_without_facts(text, options, missing, out_spec);
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  tsr_status status = tsr_rule_spec_adapt(spec, options, out_spec);
  tsr_spec_release(spec);
  return status;
}

static tsr_status parse_one(const char *text, const tsr_rules_options *options,
                            tsr_spec **out_spec) {
  tsr_text expanded = TSR_TEXT_EMPTY;
  tsr_status missing = NULL, status = NULL;
  // Shardy's braces hold axes, not expressions.
  if (tsr_spec_looks_shardy(text)) {
    status = parse_expanded(text, options, &missing, out_spec);
  } else {
    status = tsr_facts_expand(text, options, &expanded, &missing);
    if (!status) status = parse_expanded(tsr_text_string(&expanded), options, &missing, out_spec);
  }
  tsr_status_free(missing);
  tsr_text_deinit(&expanded);
  return status;
}

bool tsr_rule_spec_is_computed(const char *text) {
  bool quoted = false;
  if (tsr_spec_looks_shardy(text)) return false;
  for (; *text; text++) {
    if (quoted && *text == '\\' && text[1])
      text++;
    else if (*text == '"')
      quoted = !quoted;
    else if (!quoted && *text == '{')
      return true;
  }
  return false;
}

static const char else_word[] = " else ";

// The " else " of a spec, outside quotes; NULL = none.
static const char *find_else(const char *text) {
  bool quoted = false;
  for (; *text; text++) {
    if (*text == '"') quoted = !quoted;
    if (!quoted && !strncmp(text, else_word, sizeof else_word - 1)) return text;
  }
  return NULL;
}

// Checks a spec that is not used and may lack facts.
static tsr_status check_unused(const char *text, const tsr_rules_options *options) {
  tsr_spec *spec = NULL;
  tsr_status status = parse_one(text, options, &spec);
  tsr_spec_release(spec);
  if (tsr_status_cause(status) != TSR_CAUSE_UNKNOWN_FACT) return status;
  tsr_status_free(status);
  return NULL;
}

tsr_status tsr_rule_spec_parse(tsr_rules_builder *builder, const char *text,
                               const tsr_rules_options *options, tsr_spec **out_spec) {
  const char *otherwise = find_else(text);
  if (!otherwise) return parse_one(text, options, out_spec);
  const char *fallback = otherwise + sizeof else_word - 1;
  TSR_TRY_NOTE(check_unused(fallback, options), "behind else");
  char *first = strndup(text, (size_t)(otherwise - text));
  if (!first) return tsr_fail(NO_MEMORY, "a rule");
  tsr_status status = parse_one(first, options, out_spec);
  free(first);
  if (tsr_status_cause(status) != TSR_CAUSE_UNKNOWN_FACT) return status;
  TSR_TRY(tsr_rules_builder_warn(builder, status));
  return parse_one(fallback, options, out_spec);
}
