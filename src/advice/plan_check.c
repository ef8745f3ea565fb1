// Checking: every problem of a plan in one pass.
//
// Each pair of spec and shape is checked once, dimension by dimension, so one problem does not hide
// another.
#include <stdlib.h>
#include <string.h>

#include "advice/model_blocks.h"
#include "base/grow.h"
#include "base/room.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "plan/plan_internal.h"
#include "plan/spec_entry.h"
#include "rules/rules_internal.h"
#include "tessera/engine/sharding.h"
#include "topology/topology_internal.h"

enum {
  SMALL_ELEMENTS = 1024,
  MOST_DEVICES = 1 << 24  // beyond, devices are not counted one by one
};

typedef struct finding_list {
  tsr_finding *items;  // owned
  int64_t count, capacity;
} finding_list;

// The findings of one spec on one shape, in `known`.
typedef struct known_range {
  int64_t first, end;
} known_range;

typedef struct check_job {
  const tsr_plan *plan;
  tsr_check_options options;
  tsr_shape_table table;  // known_range, by wanted, final and policy
  finding_list known, found;
  tsr_model_blocks blocks;
} check_job;

static const bool is_error[TSR_FINDING_COUNT] = {
#define X(id, error, word, text) [TSR_FINDING_##id] = (error),
    TSR_FINDINGS(X)
#undef X
};

static tsr_status add(finding_list *to, tsr_finding finding) {
  tsr_finding *items = tsr_grow(to->items, to->count, &to->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "findings of a plan");
  to->items = items;
  items[to->count++] = finding;
  return NULL;
}

// ---- one spec on one shape ----

// The check of a row's wanted spec.
typedef struct spec_check {
  check_job *work;
  const tsr_plan_row *row;
  const tsr_spec_desc *wanted;
  bool solved;  // correction made another spec of it
} spec_check;

static tsr_status report(const spec_check *of, tsr_finding_kind kind, int dim, const char *axis,
                         int64_t found, int64_t wanted) {
  const bool error = is_error[kind] && (!of->solved || of->work->options.corrected_is_error);
  return add(&of->work->known, (tsr_finding){kind, error, 0, dim, axis, found, wanted});
}

static tsr_status check_axes(const spec_check *of, int d) {
  const tsr_mesh *mesh = of->work->plan->mesh;
  const tsr_spec_dim *dim = &of->wanted->dims[d];
  for (int s = 0; s < dim->stage_count; s++)
    for (int i = 0; i < dim->stages[s].axis_count; i++) {
      const tsr_axis_ref *ref = &dim->stages[s].axes[i];
      if (mesh && tsr_mesh_axis_find(mesh, ref->name) < 0)
        TSR_TRY(report(of, TSR_FINDING_UNKNOWN_AXIS, d, ref->name, 0, 0));
      else if (tsr_spec_is_repeated(of->wanted, ref))
        TSR_TRY(report(of, TSR_FINDING_DUPLICATE_AXIS, d, ref->name, 0, 0));
    }
  return NULL;
}

static tsr_status report_change(const spec_check *of, int d, const tsr_change *change) {
  switch (change->kind) {
    case TSR_CHANGE_INDIVISIBLE:
      return report(of, TSR_FINDING_INDIVISIBLE, d, change->axis, change->size, change->product);
    case TSR_CHANGE_CUT_MISFIT:
    case TSR_CHANGE_SUB_AXIS_MISFIT:
      return report(of, TSR_FINDING_BAD_CUT, d, change->axis, change->size, change->product);
    default:
      return NULL;
  }
}

// The name in the wanted spec, which lives as long as the plan.
static const char *kept_name(const tsr_spec_dim *dim, const char *name) {
  for (int s = 0; name && s < dim->stage_count; s++)
    for (int i = 0; i < dim->stages[s].axis_count; i++)
      if (!strcmp(dim->stages[s].axes[i].name, name)) return dim->stages[s].axes[i].name;
  return NULL;
}

// The policy that applied to an entry. A dimension that stayed whole, with its group for instance,
// did not use a policy that allows uneven shards.
static tsr_policy policy_of(const spec_check *of, int d) {
  const tsr_spec_desc *final = tsr_spec_desc_of(of->row->final);
  const bool cut = d < final->dim_count && final->dims[d].stage_count > 0;
  return cut ? of->row->policy : TSR_POLICY_ERROR;
}

// Correction keeps blocks and parts, which may be uneven where the policy forbids it.
static tsr_status check_evenness(const spec_check *of, int d) {
  const int64_t size = of->row->tensor->dims[d];
  bool fits = true;
  TSR_TRY(tsr_spec_entry_fits(&of->wanted->dims[d], of->work->plan->mesh, size, policy_of(of, d),
                              &fits));
  return fits ? NULL : report(of, TSR_FINDING_BAD_CUT, d, NULL, size, 0);
}

// Corrects the entry as the spec of a tensor with this one dimension.
static tsr_status check_fit(const spec_check *of, int d) {
  const tsr_spec_dim *dim = &of->wanted->dims[d];
  const tsr_spec_desc desc = {.size = sizeof desc, .dim_count = 1, .dims = dim};
  const tsr_correct_options options = {.size = sizeof options,
                                       .uneven = policy_of(of, d) != TSR_POLICY_ERROR};
  const tsr_mesh *mesh = of->work->plan->mesh;
  tsr_spec *alone = NULL, *corrected = NULL;
  tsr_changes changes = {0};
  if (!mesh || !dim->stage_count) return NULL;
  TSR_TRY(tsr_spec_create(&desc, &alone));
  tsr_status status = tsr_spec_correct(alone, mesh, TSR_SHAPE(of->row->tensor->dims[d]), &options,
                                       &corrected, &changes);
  if (tsr_status_cause(status) == TSR_CAUSE_DUPLICATE_MESH_AXIS) {  // reported already
    tsr_status_free(status);
    status = NULL;
  }
  for (int64_t i = 0; i < changes.count && !status; i++) {
    changes.items[i].axis = kept_name(dim, changes.items[i].axis);
    status = report_change(of, d, &changes.items[i]);
  }
  if (!status && corrected && !changes.count) status = check_evenness(of, d);
  tsr_changes_deinit(&changes);
  tsr_spec_release(corrected);
  tsr_spec_release(alone);
  return status;
}

static bool is_cut(const spec_check *of) {
  if (of->work->options.empty_entries_cut) return of->wanted->dim_count > 0;
  return tsr_spec_is_cut(of->wanted, of->wanted->dim_count);
}

static tsr_status check_spec(check_job *work, const tsr_plan_row *row) {
  const spec_check of = {work, row, tsr_spec_desc_of(row->wanted), row->wanted != row->final};
  const int rank = row->tensor->rank, length = of.wanted->dim_count;
  const int64_t elements = tsr_tensor_elements(row->tensor);
  if (length > rank) TSR_TRY(report(&of, TSR_FINDING_TOO_LONG, -1, NULL, length, rank));
  for (int d = 0; d < length; d++) {
    TSR_TRY(check_axes(&of, d));
    if (d < rank) TSR_TRY(check_fit(&of, d));
  }
  if (elements >= work->options.small_elements || !is_cut(&of)) return NULL;
  return report(&of, TSR_FINDING_SMALL, -1, NULL, elements, work->options.small_elements);
}

// ---- all rows ----

// Whether a row is cut with others of its group, however small it is.
static bool is_grouped(const tsr_plan *plan, const tsr_plan_row *row) {
  const int64_t index = tsr_plan_row_rule(row);
  const tsr_rule *rule = plan->rules && index >= 0 ? tsr_rules_at(plan->rules, index) : NULL;
  return rule && rule->together;
}

static tsr_status check_row(check_job *work, int64_t index) {
  const tsr_stored_row *stored = &work->plan->rows[index];
  tsr_plan_row row;
  tsr_plan_row_read(work->plan, index, &row);
  const uint64_t key = (uint64_t)stored->wanted << 34 | (uint64_t)stored->final << 4 | row.policy;
  bool is_new = false;
  known_range *range = tsr_shape_table_value(&work->table, key, row.tensor, &is_new);
  if (!range) return tsr_fail(NO_MEMORY, "findings of a plan");
  if (is_new) {
    range->first = work->known.count;
    TSR_TRY(check_spec(work, &row));
    range->end = work->known.count;
  }
  for (int64_t i = range->first; i < range->end; i++) {
    tsr_finding finding = work->known.items[i];
    if (finding.kind == TSR_FINDING_SMALL && is_grouped(work->plan, &row)) continue;
    finding.row = index;
    TSR_TRY(add(&work->found, finding));
  }
  return NULL;
}

// Problems of a row in its block, which do not follow from spec and shape alone.
static tsr_status check_block(check_job *work, int64_t row) {
  const char *axis = NULL;
  int64_t other = -1, piece = 0;
  int dim = -1;
  TSR_TRY(tsr_model_blocks_find_split(&work->blocks, row, &piece, &dim));
  if (piece)
    TSR_TRY(add(&work->found, (tsr_finding){TSR_FINDING_SPLIT_HEADS, false, row, dim, NULL, piece,
                                            work->blocks.head_dim}));
  TSR_TRY(tsr_model_blocks_find_apart(&work->blocks, row, &axis, &other));
  if (!axis) return NULL;
  return add(&work->found, (tsr_finding){TSR_FINDING_APART, false, row, -1, axis, other, 0});
}

static tsr_status open_blocks(check_job *work) {
  const tsr_check_options *options = &work->options;
  if (options->fact_count || !work->plan->rules)
    return tsr_model_blocks_init(&work->blocks, work->plan, options->facts, options->fact_count);
  int64_t count = 0;
  const tsr_fact *facts = tsr_rules_facts(work->plan->rules, &count);
  return tsr_model_blocks_init(&work->blocks, work->plan, facts, count);
}

// ---- the plan as a whole ----

static tsr_status add_whole(check_job *work, tsr_finding_kind kind, int64_t found, int64_t wanted) {
  return add(&work->found, (tsr_finding){kind, is_error[kind], -1, -1, NULL, found, wanted});
}

static tsr_status check_limit(check_job *work, int64_t most) {
  const tsr_mesh *mesh = work->plan->mesh;
  int64_t limit = work->options.memory_limit;
  if (!limit && mesh && tsr_mesh_topology(mesh))
    limit = tsr_topology_memory_per_device(tsr_mesh_topology(mesh));
  if (limit <= 0 || most <= limit) return NULL;
  return add_whole(work, TSR_FINDING_OVER_LIMIT, most, limit);
}

static tsr_status check_devices(check_job *work) {
  const int64_t devices = work->plan->mesh ? tsr_mesh_device_count(work->plan->mesh) : 1;
  if (devices > MOST_DEVICES) return check_limit(work, work->plan->bytes_per_device);
  tsr_device_load load;
  TSR_TRY(tsr_plan_device_load(work->plan, &load));
  const double mean = load.total / (double)devices;
  if (mean < work->options.balance_limit * (double)load.max)
    TSR_TRY(add_whole(work, TSR_FINDING_IMBALANCE, load.max, (int64_t)mean));
  return check_limit(work, load.max);
}

static tsr_status read_options(const tsr_check_options *options, check_job *work) {
  tsr_check_options *read = &work->options;
  TSR_TRY(tsr_sized_read(tsr_check_options, options, read));
  TSR_TRY(tsr_list_check(read->facts, read->fact_count, "facts"));
  if (!read->small_elements) read->small_elements = SMALL_ELEMENTS;
  if (!(read->balance_limit > 0)) read->balance_limit = 0.5;
  return NULL;
}

static void count_levels(tsr_findings *findings) {
  for (int64_t i = 0; i < findings->count; i++)
    *(findings->items[i].error ? &findings->errors : &findings->warnings) += 1;
}

tsr_status tsr_plan_check(const tsr_plan *plan, const tsr_check_options *options,
                          tsr_findings *out_findings) {
  check_job work = {.plan = plan, .table = TSR_SHAPE_TABLE(known_range)};
  tsr_status status = read_options(options, &work);
  if (!status) status = open_blocks(&work);
  for (int64_t i = 0; i < tsr_plan_count(plan) && !status; i++) {
    status = check_row(&work, i);
    if (!status) status = check_block(&work, i);
  }
  if (!status) status = check_devices(&work);
  tsr_shape_table_deinit(&work.table);
  tsr_model_blocks_deinit(&work.blocks);
  free(work.known.items);
  if (status) {
    free(work.found.items);
    return status;
  }
  *out_findings = (tsr_findings){.count = work.found.count, .items = work.found.items};
  count_levels(out_findings);
  return NULL;
}

void tsr_findings_deinit(tsr_findings *findings) {
  if (!findings) return;
  free(findings->items);
  *findings = (tsr_findings){0};
}
