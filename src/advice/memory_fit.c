// A plan that fits the memory of a device.
//
// Every pattern of tensors is an item of a knapsack, and every way to cut it an option with its
// bytes per device and its cost to gather. Cuts are even, so all devices hold the same bytes. Cuts
// of the start plan stay; their dimensions may be cut further where that is even.
#include "advice/memory_fit.h"

#include <math.h>
#include <stdlib.h>

#include "advice/knapsack.h"
#include "advice/ways.h"
#include "base/grow.h"
#include "base/room.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "mesh/mesh.h"
#include "plan/plan_internal.h"
#include "plan/tree_internal.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

static const double MOST_COPIES = 1e6;

// ---- shared with fit_each.c ----

int64_t tsr_elements_bytes(tsr_dtype dtype, int64_t elements) {
  int64_t bytes = INT64_MAX;
  tsr_status_free(tsr_dtype_bytes(dtype, elements, &bytes));
  return bytes;
}

int64_t tsr_choice_split(const tsr_choice *choice, const tsr_mesh *mesh) {
  int64_t split = 1;
  for (int axis = 0; axis < tsr_mesh_axis_count(mesh); axis++)
    if (choice->used >> axis & 1) split *= tsr_mesh_axis_at(mesh, axis)->size;
  return split;
}

tsr_status tsr_note_fit(tsr_plan_builder *builder, int64_t row, const tsr_choice *choice,
                        int64_t limit) {
  const tsr_mesh *mesh = builder->plan->mesh;
  for (int dim = 0; dim < choice->rank; dim++) {
    int64_t split = 1;
    for (int i = 0; i < choice->counts[dim]; i++)
      split *= tsr_mesh_axis_at(mesh, choice->axes[dim][i])->size;
    if (split == 1) continue;
    const char *axis = tsr_mesh_axis_at(mesh, choice->axes[dim][0])->name;
    const tsr_plan_note note = {
        .why = TSR_WHY_MEMORY, .dim = dim, .rule = -1, .argument = split, .axis = axis};
    TSR_TRY(tsr_plan_builder_note(builder, row, &note));
  }
  if (tsr_choice_split(choice, mesh) > 1) return NULL;
  return tsr_plan_builder_reason(builder, row, TSR_WHY_FITS, -1, limit);
}

// ---- the start plan ----

// A tensor as the start plan leaves it.
typedef struct uncut_rest {
  tsr_shape shape;   // sizes that may still be cut; 1 where they may not
  uint32_t used;     // axes in use
  int64_t elements;  // on a device
} uncut_rest;

typedef struct fit_job {
  const tsr_tree *tree;
  const tsr_mesh *mesh;
  const tsr_fit_options *options;
  double copies;  // of each tensor, in addition to itself
  tsr_ways ways;
  tsr_way_placer placer;
  tsr_tree_groups groups;
  tsr_item *items;  // one per group
  tsr_option *candidates;
  int64_t candidate_count, candidate_capacity;
  int *taken;  // per group, among its candidates
} fit_job;

static uint32_t axes_of(const tsr_sub_axis *axes, int count) {
  uint32_t used = 0;
  for (int i = 0; i < count; i++) used |= UINT32_C(1) << axes[i].axis;
  return used;
}

static bool is_even(const tsr_sharding_dim *dim, int64_t size) {
  for (int s = 0; s < dim->stage_count; s++)
    if (dim->stages[s].kind != TSR_STAGE_EVEN) return false;
  return size % dim->shards == 0;
}

// Axes that are taken though they cut nothing.
static uint32_t axes_of_sets(const tsr_sharding *sharding) {
  int count = 0;
  const tsr_sub_axis *axes = tsr_sharding_unreduced(sharding, &count);
  uint32_t used = axes_of(axes, count);
  axes = tsr_sharding_reduced(sharding, &count);
  used |= axes_of(axes, count);
  axes = tsr_sharding_replicated(sharding, &count);
  return used | axes_of(axes, count);
}

static void read_layout(const tsr_layout *layout, tsr_policy policy, uncut_rest *out) {
  const tsr_sharding *sharding = tsr_layout_sharding(layout);
  out->used = axes_of_sets(sharding);
  out->elements = tsr_layout_largest(layout);
  for (int d = 0; d < out->shape.rank; d++) {
    const tsr_sharding_dim *dim = tsr_sharding_dim_at(sharding, d);
    for (int s = 0; s < dim->stage_count; s++)
      out->used |= axes_of(dim->stages[s].axes, dim->stages[s].axis_count);
    const bool may_cut = policy != TSR_POLICY_TRIM && is_even(dim, out->shape.dims[d]);
    out->shape.dims[d] = may_cut ? out->shape.dims[d] / dim->shards : 1;
  }
}

static tsr_status read_uncut(const fit_job *job, int64_t row, uncut_rest *out) {
  const tsr_tensor *tensor = tsr_tree_at(job->tree, row);
  tsr_layout *layout = NULL;
  tsr_plan_row start;
  *out = (uncut_rest){.shape = tsr_tensor_shape(tensor), .elements = tsr_tensor_elements(tensor)};
  if (!job->options->start) return NULL;
  TSR_TRY_NOTE(tsr_plan_layout(job->options->start, row, &layout), "tensor \"%s\"", tensor->path);
  tsr_plan_row_read(job->options->start, row, &start);
  read_layout(layout, start.policy, out);
  tsr_layout_release(layout);
  return NULL;
}

// ---- candidates ----

// Bytes on a device of one tensor with its gradients and optimiser state.
static int64_t bytes_with_copies(const fit_job *job, int64_t bytes) {
  return bytes + (int64_t)ceil((double)bytes * job->copies);
}

static tsr_status add_candidate(fit_job *job, const tsr_option *candidate) {
  tsr_option *list = tsr_grow(job->candidates, job->candidate_count, &job->candidate_capacity,
                              sizeof *job->candidates);
  if (!list)
    return tsr_fail(NO_MEMORY, "%lld ways to cut tensors", (long long)job->candidate_count);
  job->candidates = list;
  job->candidates[job->candidate_count++] = *candidate;
  return NULL;
}

// Of equal options the lower tag survives: the one on fewer and larger dimensions.
static int tag_of(const tsr_way_placer *placer, int way) {
  return (int)placer->scores[way] * TSR_MAX_WAYS + way;
}

static tsr_status add_ways(fit_job *job, const tsr_tensor *tensor, const uncut_rest *rest,
                           int64_t count) {
  for (int way = 0; way < job->ways.count; way++) {
    if (job->placer.scores[way] == TSR_NO_WAY) continue;
    const tsr_way *own = &job->ways.items[way];
    const int64_t bytes = tsr_elements_bytes(tensor->dtype, rest->elements / own->split);
    const double gather = way ? own->alpha + own->beta * (double)bytes : 0;
    TSR_TRY(add_candidate(job, &(tsr_option){.bytes = count * bytes_with_copies(job, bytes),
                                             .cost = (double)count * gather,
                                             .tag = tag_of(&job->placer, way)}));
  }
  return NULL;
}

static tsr_status add_group(fit_job *job, int64_t index) {
  const tsr_tree_group *group = &job->groups.items[index];
  const tsr_tensor *tensor = tsr_tree_at(job->tree, group->members[0]);
  tsr_item *item = &job->items[index];
  uncut_rest rest;
  TSR_TRY(read_uncut(job, group->members[0], &rest));
  tsr_placer_run(&job->placer, &rest.shape, rest.used);
  item->first = job->candidate_count;
  TSR_TRY(add_ways(job, tensor, &rest, group->count));
  item->count =
      tsr_options_prune(&job->candidates[item->first], (int)(job->candidate_count - item->first));
  job->candidate_count = item->first + item->count;
  return NULL;
}

// The uncut model must fit 63 bits, so later sums cannot overflow. A tree does; with copies one bit
// is left for rounding.
static tsr_status check_total(const fit_job *job) {
  const double total = (double)tsr_tree_bytes(job->tree) * (1 + job->copies);
  if (job->copies == 0 || total + (double)tsr_tree_count(job->tree) < 0x1p62) return NULL;
  return tsr_fail(OVERFLOW, "%lld bytes and %g copies of them are more than 2^62 bytes",
                  (long long)tsr_tree_bytes(job->tree), job->copies);
}

static tsr_status make_groups(fit_job *job) {
  const tsr_plan *start = job->options->start;
  const int64_t count = tsr_tree_count(job->tree);
  uint64_t *keys = NULL;
  if (start) {
    keys = malloc(sizeof *keys * (size_t)(count + 1));
    if (!keys) return tsr_fail(NO_MEMORY, "%lld tensors", (long long)count);
    for (int64_t i = 0; i < count; i++) {
      tsr_plan_row row;
      tsr_plan_row_read(start, i, &row);
      keys[i] = (uint64_t)tsr_plan_final(start, i) * TSR_POLICY_COUNT + row.policy;
    }
  }
  const tsr_status status = tsr_tree_group_by(job->tree, keys, &job->groups);
  free(keys);
  return status;
}

static tsr_status make_candidates(fit_job *job) {
  TSR_TRY(check_total(job));
  TSR_TRY(make_groups(job));
  job->items = calloc((size_t)job->groups.count + 1, sizeof *job->items);
  job->taken = calloc((size_t)job->groups.count + 1, sizeof *job->taken);
  if (!job->items || !job->taken)
    return tsr_fail(NO_MEMORY, "%lld patterns of tensors", (long long)job->groups.count);
  for (int64_t i = 0; i < job->groups.count; i++) TSR_TRY(add_group(job, i));
  return NULL;
}

// ---- solving ----

static tsr_status fail_to_fit(const fit_job *job, int64_t smallest, int64_t largest_group,
                              int64_t largest) {
  tsr_text mesh = TSR_TEXT_EMPTY;
  tsr_mesh_describe(job->mesh, &mesh);
  return tsr_text_end(
      &mesh,
      tsr_fail(DOES_NOT_FIT,
               "the model takes at least %lld bytes per device on mesh %s, and the limit is %lld; "
               "\"%s\" takes %lld of them",
               (long long)smallest, tsr_text_string(&mesh), (long long)job->options->limit,
               job->groups.items[largest_group].pattern, (long long)largest));
}

static tsr_status check_smallest(const fit_job *job, int64_t *out_smallest) {
  int64_t smallest = 0, largest = -1, largest_group = 0;
  for (int64_t i = 0; i < job->groups.count; i++) {
    const tsr_item *item = &job->items[i];
    const int64_t bytes = job->candidates[item->first + item->count - 1].bytes;
    smallest += bytes;
    if (bytes <= largest) continue;
    largest = bytes;
    largest_group = i;
  }
  *out_smallest = smallest;
  if (smallest <= job->options->limit) return NULL;
  return fail_to_fit(job, smallest, largest_group, largest);
}

static tsr_status solve(fit_job *job, tsr_fit_report *out_report) {
  const tsr_knapsack knapsack = {.item_count = job->groups.count,
                                 .items = job->items,
                                 .options = job->candidates,
                                 .limit = job->options->limit};
  tsr_packing packing = {.taken = job->taken};
  int64_t smallest = 0;
  TSR_TRY(check_smallest(job, &smallest));
  TSR_TRY(tsr_knapsack_solve(&knapsack, &packing));
  *out_report = (tsr_fit_report){.bytes_per_device = packing.bytes,
                                 .smallest = smallest,
                                 .cost = packing.cost,
                                 .lower_bound = packing.lower_bound,
                                 .optimal = packing.optimal};
  return NULL;
}

// ---- the plan ----

// NULL = uncut.
static tsr_status make_spec(const fit_job *job, int64_t row, const tsr_choice *choice,
                            tsr_spec **out_spec) {
  tsr_plan_row start = {0};
  if (job->options->start) tsr_plan_row_read(job->options->start, row, &start);
  if (choice->used) return tsr_choice_spec(choice, job->mesh, start.final, out_spec);
  *out_spec = start.final ? tsr_spec_retain(start.final) : NULL;
  return NULL;
}

static tsr_status set_row(const fit_job *job, tsr_plan_builder *builder, int64_t row,
                          const tsr_spec *spec, const tsr_choice *choice) {
  tsr_plan_row fitted = {.wanted = spec, .policy = TSR_POLICY_ERROR};
  if (job->options->start) tsr_plan_row_read(job->options->start, row, &fitted);
  fitted.final = spec;
  TSR_TRY(tsr_plan_builder_copy(builder, row, &fitted));
  return tsr_note_fit(builder, row, choice, job->options->limit);
}

static tsr_status set_group(fit_job *job, tsr_plan_builder *builder, int64_t index) {
  const tsr_tree_group *group = &job->groups.items[index];
  const tsr_option *taken = &job->candidates[job->items[index].first + job->taken[index]];
  uncut_rest rest;
  tsr_choice choice;
  tsr_spec *spec = NULL;
  TSR_TRY(read_uncut(job, group->members[0], &rest));
  tsr_placer_run(&job->placer, &rest.shape, rest.used);
  tsr_placer_choice(&job->placer, taken->tag % TSR_MAX_WAYS, &choice);
  TSR_TRY(make_spec(job, group->members[0], &choice, &spec));
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < group->count; i++)
    status = set_row(job, builder, group->members[i], spec, &choice);
  tsr_spec_release(spec);
  return status;
}

static tsr_status make_plan(fit_job *job, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  TSR_TRY(tsr_plan_builder_init(&builder, job->tree, job->mesh));
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < job->groups.count; i++) status = set_group(job, &builder, i);
  return tsr_plan_builder_end(&builder, status, out_plan);
}

// ---- all of it ----

static bool is_count(double copies) { return copies >= 0 && copies <= MOST_COPIES; }

static tsr_status check_options(const tsr_fit_options *options, const tsr_tree *tree,
                                const tsr_mesh *mesh) {
  if (options->limit < 0)
    return tsr_fail(BAD_ARGUMENT, "limit of %lld bytes, wanted 0 or more",
                    (long long)options->limit);
  if (!is_count(options->gradient_copies) || !is_count(options->optimiser_copies))
    return tsr_fail(BAD_ARGUMENT, "%g gradient and %g optimiser copies, wanted 0 to %g",
                    options->gradient_copies, options->optimiser_copies, MOST_COPIES);
  TSR_TRY(tsr_list_check(options->names, options->name_count, "names"));
  const tsr_plan *start = options->start;
  if (start && !tsr_tree_equal(tsr_plan_tree(start), tree))
    return tsr_fail(TREE_MISMATCH, "the start plan is for another model");
  if (start && (!tsr_plan_mesh(start) || !tsr_mesh_equal(tsr_plan_mesh(start), mesh)))
    return tsr_fail(BAD_ARGUMENT, "the start plan is for another mesh");
  return NULL;
}

// Without a limit there is nothing to fit.
static tsr_status plan_freely(const tsr_tree *tree, const tsr_mesh *mesh,
                              const tsr_fit_options *options, tsr_plan **out_plan,
                              tsr_fit_report *out_report) {
  const tsr_auto_options as = {
      .size = sizeof as, .names = options->names, .name_count = options->name_count};
  tsr_plan *plan = options->start ? tsr_plan_retain(options->start) : NULL;
  if (!plan) TSR_TRY(tsr_plan_auto(tree, mesh, &as, &plan));
  *out_report = (tsr_fit_report){.bytes_per_device = tsr_plan_bytes_per_device(plan)};
  *out_plan = plan;
  return NULL;
}

static tsr_status run(fit_job *job, tsr_plan **out_plan, tsr_fit_report *out_report) {
  TSR_TRY(tsr_ways_init(&job->ways, job->mesh, job->options->names, job->options->name_count));
  TSR_TRY(tsr_placer_init(&job->placer, &job->ways));
  TSR_TRY(make_candidates(job));
  TSR_TRY(solve(job, out_report));
  return make_plan(job, out_plan);
}

tsr_status tsr_plan_fit(const tsr_tree *tree, const tsr_mesh *mesh, const tsr_fit_options *given,
                        tsr_plan **out_plan, tsr_fit_report *out_report) {
  tsr_fit_report report = {0};
  tsr_fit_options options;
  TSR_TRY(tsr_sized_read(tsr_fit_options, given, &options));
  TSR_TRY(tsr_sized_check(tsr_fit_report, out_report));
  TSR_TRY(tsr_mesh_or_current(mesh, &mesh));
  TSR_TRY(check_options(&options, tree, mesh));
  fit_job job = {.tree = tree,
                 .mesh = mesh,
                 .options = &options,
                 .copies = options.gradient_copies + options.optimiser_copies};
  const tsr_status status = options.limit ? run(&job, out_plan, &report)
                                          : plan_freely(tree, mesh, &options, out_plan, &report);
  tsr_placer_deinit(&job.placer);
  tsr_ways_deinit(&job.ways);
  tsr_tree_groups_deinit(&job.groups);
  free(job.items);
  free(job.candidates);
  free(job.taken);
  if (!status) tsr_sized_fill(tsr_fit_report, &report, out_report);
  return status;
}
