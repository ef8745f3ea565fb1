// in_shardings and out_shardings: the specs of the options become one for each value.
#include <string.h>

#include "base/room.h"
#include "base/text_internal.h"
#include "ir/ir.h"
#include "partitioned/partitioned.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/own.h"

typedef struct spec_list {
  tsr_arena *arena;
  tsr_value_constraint *items;
  int64_t count;
} spec_list;

static tsr_status keep(tsr_arena *arena, const tsr_text *text, const char **out_text) {
  TSR_TRY(tsr_text_check(text));
  *out_text = tsr_arena_copy(arena, tsr_text_string(text), text->length);
  TSR_NEED(*out_text);
  return NULL;
}

static tsr_status add(spec_list *list, const char *value, const char *spec) {
  tsr_value_constraint *grown =
      tsr_arena_grow(list->arena, list->items, list->count, sizeof *grown);
  TSR_NEED(grown);
  list->items = grown;
  grown[list->count++] = (tsr_value_constraint){value, spec};
  return NULL;
}

static tsr_status add_numbered(spec_list *list, const char *start, int64_t number,
                               const char *spec) {
  TSR_OWN(text, name);
  const char *kept = NULL;
  tsr_text_addf(&name, "%s%lld", start, (long long)number);
  TSR_TRY(keep(list->arena, &name, &kept));
  return add(list, kept, spec);
}

// Names of logical axes become a spec.
static tsr_status map_names(spec_list *list, const char *names, const char **out_spec) {
  TSR_OWN(text, spec);
  if (!tsr_logical_current())
    return tsr_fail(BAD_ARGUMENT,
                    "\"%s\" names logical axes, but no logical rules are in scope "
                    "(tsr_logical_enter)",
                    names);
  TSR_TRY(tsr_logical_to_spec_text(names, NULL, &spec));
  return keep(list->arena, &spec, out_spec);
}

// Other names are those of values inside, or mistakes: who adds the constraint finds out.
static tsr_status add_spec(spec_list *list, const tsr_program *program,
                           const tsr_value_constraint *given, bool logical) {
  tsr_value_choice choice;
  const char *spec = given->spec;
  if (!given->value || !spec)
    return tsr_fail(BAD_ARGUMENT, "a spec has no %s", given->value ? "text" : "value");
  if (logical) TSR_TRY(map_names(list, given->spec, &spec));
  TSR_TRY(tsr_value_choice_init(program, list->arena, &choice));
  TSR_TRY(tsr_value_choose(program, given->value, &choice));
  if (!choice.count) return add(list, given->value, spec);
  for (int64_t i = 0; i < choice.argument_count; i++)
    if (choice.arguments[i]) TSR_TRY(add_numbered(list, "%arg", i, spec));
  for (int64_t i = 0; i < choice.result_count; i++)
    if (choice.results[i]) TSR_TRY(add_numbered(list, "out", i, spec));
  return NULL;
}

tsr_status tsr_partition_specs(const tsr_program *program, const tsr_partition_options *options,
                               tsr_arena *arena, tsr_propagate_options *out_options) {
  spec_list list = {.arena = arena};
  TSR_TRY(tsr_list_check(options->specs, options->spec_count, "specs"));
  for (int64_t i = 0; i < options->spec_count; i++) {
    const tsr_value_constraint *given = &options->specs[i];
    TSR_TRY_NOTE(add_spec(&list, program, given, options->logical), "the spec of %s",
                 given->value ? given->value : "no value");
  }
  *out_options = TSR_PROPAGATE_OPTIONS;
  out_options->mesh = options->mesh;
  out_options->plan = options->plan;
  out_options->constraints = list.items;
  out_options->constraint_count = list.count;
  return NULL;
}
