// eformer's optimize_sharding_for_memory: each tensor by itself against the limit. Only comparisons
// with eformer need it (tests/golden); tsr_plan_fit does better.
//
// eformer's spec is used if its shards fit. Where they do not, eformer says nothing; here the
// tensor is cut in as few shards as fit, with several axes on a dimension if needed.
#include "advice/auto.h"
#include "advice/memory_fit.h"
#include "advice/plan_auto_internal.h"
#include "advice/ways.h"
#include "element/shape_internal.h"

typedef struct each_fit {
  tsr_chooser chooser;
  tsr_ways ways;
  tsr_way_placer placer;
  int64_t limit;
} each_fit;

static int64_t shard_bytes(const tsr_tensor *tensor, int64_t split) {
  return tsr_elements_bytes(tensor->dtype, tsr_tensor_elements(tensor) / split);
}

// The way with the fewest shards that fits, or -1; `*out_smallest` = bytes of the smallest shard.
static int find_way(const each_fit *fit, const tsr_tensor *tensor, int64_t *out_smallest) {
  int best = -1;
  *out_smallest = tsr_tensor_bytes(tensor);
  for (int way = 0; way < fit->ways.count; way++) {
    if (fit->placer.scores[way] == TSR_NO_WAY) continue;
    const int64_t bytes = shard_bytes(tensor, fit->ways.items[way].split);
    if (bytes < *out_smallest) *out_smallest = bytes;
    if (bytes > fit->limit) continue;
    if (best < 0 || fit->ways.items[way].split < fit->ways.items[best].split ||
        (fit->ways.items[way].split == fit->ways.items[best].split &&
         fit->placer.scores[way] < fit->placer.scores[best]))
      best = way;
  }
  return best;
}

static tsr_status cut_more(each_fit *fit, const tsr_tensor *tensor, const tsr_shape *shape,
                           tsr_choice *out_choice) {
  int64_t smallest = 0;
  tsr_placer_run(&fit->placer, shape, 0);
  const int way = find_way(fit, tensor, &smallest);
  if (way < 0)
    return tsr_fail(DOES_NOT_FIT,
                    "tensor \"%s\" takes at least %lld bytes per device, and the limit is %lld",
                    tensor->path, (long long)smallest, (long long)fit->limit);
  tsr_placer_choice(&fit->placer, way, out_choice);
  return NULL;
}

static tsr_status choose(each_fit *fit, const tsr_tensor *tensor, tsr_choice *out_choice) {
  const tsr_shape shape = tsr_tensor_shape(tensor);
  *out_choice = (tsr_choice){.rank = 0};
  if (tsr_tensor_bytes(tensor) < fit->limit) return NULL;
  tsr_chooser_choose(&fit->chooser, &shape, out_choice);
  const int64_t split = tsr_choice_split(out_choice, fit->chooser.mesh);
  if (shard_bytes(tensor, split) <= fit->limit) return NULL;
  return cut_more(fit, tensor, &shape, out_choice);
}

static tsr_status plan_row(each_fit *fit, tsr_plan_builder *builder, int64_t row,
                           const tsr_tensor *tensor) {
  tsr_choice choice;
  tsr_spec *spec = NULL;
  TSR_TRY(choose(fit, tensor, &choice));
  TSR_TRY(tsr_choice_spec(&choice, fit->chooser.mesh, NULL, &spec));
  tsr_status status = tsr_plan_builder_set(builder, row, spec, spec, TSR_POLICY_ERROR);
  if (!status) status = tsr_note_fit(builder, row, &choice, fit->limit);
  tsr_spec_release(spec);
  return status;
}

static tsr_status plan_all(each_fit *fit, const tsr_tree *tree, tsr_plan **out_plan) {
  tsr_plan_builder builder;
  TSR_TRY(tsr_plan_builder_init(&builder, tree, fit->chooser.mesh));
  tsr_status status = NULL;
  for (int64_t i = 0; !status && i < tsr_tree_count(tree); i++)
    status = plan_row(fit, &builder, i, tsr_tree_at(tree, i));
  return tsr_plan_builder_end(&builder, status, out_plan);
}

tsr_status tsr_plan_fit_each(const tsr_tree *tree, const tsr_mesh *mesh, int64_t limit,
                             const char *const *names, int name_count, tsr_plan **out_plan) {
  const tsr_auto_options options = {
      .size = sizeof options, .names = names, .name_count = name_count};
  each_fit fit = {.limit = limit};
  if (limit < 0)
    return tsr_fail(BAD_ARGUMENT, "limit of %lld bytes, wanted 0 or more", (long long)limit);
  if (!limit) return tsr_plan_auto(tree, mesh, &options, out_plan);
  TSR_TRY(tsr_chooser_init(&fit.chooser, mesh, &options));
  if (!names) tsr_units_in_order(fit.chooser.mesh, &fit.chooser.units);
  tsr_status status = tsr_ways_init(&fit.ways, fit.chooser.mesh, names, name_count);
  if (!status) status = tsr_placer_init(&fit.placer, &fit.ways);
  if (!status) status = plan_all(&fit, tree, out_plan);
  tsr_placer_deinit(&fit.placer);
  tsr_ways_deinit(&fit.ways);
  return status;
}
