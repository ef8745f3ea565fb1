// Opens the map of --map, a file or a built-in one, and applies it with the facts of the model.
#include "cli/sources.h"

#include <string.h>
#include <unistd.h>

#include "map/map_internal.h"

static tsr_status read_map(const char *name, tsr_map **out_map) {
  const bool preset = access(name, F_OK) && !strpbrk(name, "./");
  return preset ? tsr_map_preset(name, out_map) : tsr_map_read(name, out_map);
}

// Whether a map uses a fact: without it, it cannot be applied.
static bool uses_fact(const tsr_map *map, const tsr_tree *tree, const cli_facts *facts, int fact) {
  tsr_fact others[CLI_MAX_FACTS];
  tsr_mapping *without = NULL;
  const tsr_map_options options = {.size = sizeof options,
                                   .facts = others,
                                   .fact_count = cli_facts_without(facts, fact, others)};
  tsr_status status = tsr_map_apply(map, tree, &options, &without);
  const bool used = status != NULL;
  tsr_status_free(status);
  tsr_mapping_release(without);
  return used;
}

tsr_status cli_open_map(const cli_args *args, const char *model, const tsr_tree *tree,
                        uint64_t *inout_unused, tsr_mapping **out_mapping) {
  cli_facts facts = {0};
  tsr_map *map = NULL;
  if (!cli_has(args, "map")) return NULL;
  tsr_status status = cli_collect_facts(args, model, &facts);
  const tsr_map_options options = {
      .size = sizeof options, .facts = facts.items, .fact_count = facts.count};
  if (!status) status = read_map(cli_value(args, "map"), &map);
  if (!status) status = tsr_map_apply(map, tree, &options, out_mapping);
  if (!status) cli_warn(model, tsr_mapping_warnings(*out_mapping));
  for (int i = 0; i < facts.given_count && !status; i++)
    if (uses_fact(map, tree, &facts, i)) *inout_unused &= ~(UINT64_C(1) << i);
  tsr_map_release(map);
  cli_facts_deinit(&facts);
  return status;
}

// A model without config.json takes the facts of the other, since both should be the same model.
static tsr_status apply_to_either(const cli_args *args, const tsr_map *map,
                                  const char *const paths[2], const tsr_tree *const trees[2],
                                  int64_t *out_which, tsr_mapping **out_mapping) {
  cli_facts facts[2];
  tsr_map_options options[2] = {TSR_MAP_OPTIONS, TSR_MAP_OPTIONS};
  memset(facts, 0, sizeof facts);
  tsr_status status = NULL;
  for (int w = 0; w < 2 && !status; w++) status = cli_collect_facts(args, paths[w], &facts[w]);
  for (int w = 0; w < 2; w++) {
    const cli_facts *list = &facts[facts[w].config.count ? w : !w];
    options[w].facts = list->items;
    options[w].fact_count = list->count;
  }
  const tsr_map_options *const both[2] = {&options[0], &options[1]};
  const char *of = cli_value(args, "map-of");
  if (of) *out_which = !strcmp(of, "b");
  if (!status)
    status = of ? tsr_map_apply(map, trees[*out_which], &options[*out_which], out_mapping)
                : tsr_map_apply_to_either(map, trees, both, out_which, out_mapping);
  for (int w = 0; w < 2; w++) cli_facts_deinit(&facts[w]);
  return status;
}

tsr_status cli_open_map_of_either(const cli_args *args, const char *const paths[2],
                                  const tsr_tree *const trees[2], int64_t *out_which,
                                  tsr_mapping **out_mapping) {
  const char *name = cli_value(args, "map");
  tsr_map *map = NULL;
  if (!name) return NULL;
  TSR_TRY(read_map(name, &map));
  tsr_status status = apply_to_either(args, map, paths, trees, out_which, out_mapping);
  tsr_map_release(map);
  if (status) return tsr_note(status, "--map %s", name);
  cli_warn(paths[*out_which], tsr_mapping_warnings(*out_mapping));
  cli_say("%s is applied to %s, and the result compared with %s\n", name, paths[*out_which],
          paths[!*out_which]);
  return NULL;
}
