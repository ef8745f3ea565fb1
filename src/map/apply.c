// Applies a map to a tree: each rule finds its sources by name and makes destination tensors of
// them. Tensors that no rule mentions go over unchanged, unless the map says `only`.
#include <stdlib.h>
#include <string.h>

#include "base/name_index.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"

enum { MOST_GROUPS = 128 };

typedef struct map_run {
  const tsr_map *map;
  tsr_map_world world;
  tsr_mapping *mapping;
  tsr_name_index index;  // of destination names
  tsr_map_hiddens hiddens;
  bool any, required;  // a line matched; a line must match
  const tsr_map_rule *rule;
  // Of a split or unstack: the whole tensor, how many sections were taken, and the next one's name.
  const tsr_made *whole;
  const int64_t *sizes;
  int64_t section, first;
  const tsr_map_name *target;
  int dim;
  int64_t section_count;  // while they are counted
} map_run;

static tsr_status note_line(const map_run *a, int line, tsr_status status) {
  return tsr_note(status, "%s:%d", a->map->name, line);
}

static tsr_status add_tensor(map_run *a, const char *name, int line, int64_t order,
                             const tsr_made *made) {
  int64_t before = -1;
  TSR_TRY(tsr_mapping_add(a->mapping, name, line, order, made));
  const int64_t index = a->mapping->count - 1;
  TSR_TRY(tsr_name_index_add(&a->index, a->mapping->items[index].name, index, &before));
  if (before < 0) return NULL;
  const int other = a->mapping->items[before].line;
  if (!line)
    return note_line(
        a, other,
        tsr_fail(DUPLICATE_PATH,
                 "tensor \"%s\" is made here, but the source has one of that name that "
                 "goes over unchanged; drop it or rename it",
                 name));
  return tsr_fail(DUPLICATE_PATH, "tensor \"%s\" is made in line %d already", name, other);
}

// ---- targets ----

static tsr_status add_target(map_run *a, const tsr_map_scope *scope, const tsr_map_name *target,
                             const tsr_made *made) {
  tsr_text name = TSR_TEXT_EMPTY;
  tsr_status status = tsr_map_name_fill(scope, target, &name);
  if (!status)
    status = add_tensor(a, tsr_text_string(&name), a->rule->line, a->world.first_source, made);
  return tsr_text_end(&name, status);
}

// One turn of the loops left of the '=' makes one tensor.
static tsr_status make_one(void *context, tsr_map_scope *scope) {
  map_run *a = context;
  tsr_made made = {0};
  a->world.first_source = -1;
  tsr_status status = tsr_map_evaluate(&a->world, a->rule->value, &made);
  if (!status) status = add_target(a, scope, &a->rule->targets->name, &made);
  tsr_map_pieces_deinit(&made.pieces);
  return status;
}

static tsr_status count_part(void *context, tsr_map_scope *scope) {
  map_run *a = context;
  (void)scope;
  a->section_count++;
  return NULL;
}

static tsr_status make_part(void *context, tsr_map_scope *scope) {
  map_run *a = context;
  tsr_made section = {0};
  const bool unstack = a->rule->value->op == TSR_MAP_UNSTACK;
  const int64_t size = a->sizes[a->section];
  tsr_status status = tsr_map_section(a->whole, a->dim, a->first, size, unstack, &section);
  if (!status) status = add_target(a, scope, a->target, &section);
  a->section++;
  a->first += size;
  tsr_map_pieces_deinit(&section.pieces);
  return status;
}

static tsr_status each_target(map_run *a, tsr_map_turn_fn *make) {
  for (int i = 0; i < a->rule->target_count; i++) {
    const tsr_map_item *item = &a->rule->targets[i];
    a->target = &item->name;
    TSR_TRY(tsr_map_loops_run(&a->world.scope, item->loops, item->loop_count, make, a));
  }
  return NULL;
}

static tsr_status take_sections(map_run *a, const tsr_made *whole) {
  a->section_count = a->section = a->first = 0;
  TSR_TRY(each_target(a, count_part));
  if (a->section_count == 0) return tsr_fail(SYNTAX, "no tensors left of the '='");
  int64_t *sizes = malloc(sizeof *sizes * (size_t)a->section_count);
  if (!sizes) return tsr_fail(NO_MEMORY, "sections of a tensor");
  a->whole = whole;
  a->sizes = sizes;
  tsr_status status =
      tsr_map_section_sizes(&a->world, a->rule->value, whole, a->section_count, sizes, &a->dim);
  if (!status) status = each_target(a, make_part);
  free(sizes);
  return status;
}

static tsr_status make_sections(map_run *a) {
  tsr_made whole = {0};
  a->world.first_source = -1;
  tsr_status status = tsr_map_evaluate(&a->world, a->rule->value, &whole);
  if (!status) status = take_sections(a, &whole);
  tsr_map_pieces_deinit(&whole.pieces);
  return status;
}

static tsr_status make_targets(map_run *a) {
  const tsr_map_rule *rule = a->rule;
  if (rule->value->op == TSR_MAP_SPLIT || rule->value->op == TSR_MAP_UNSTACK)
    return make_sections(a);
  return tsr_map_loops_run(&a->world.scope, rule->targets->loops, rule->targets->loop_count,
                           make_one, a);
}

// ---- finding sources ----

// The value of a capture: its text, and its number if it is one.
static tsr_map_word word_of(const char *word, const char *text) {
  tsr_map_word result = {.word = word, .text = text};
  const size_t length = strlen(text);
  result.is_number = length > 0 && length < 19 && strspn(text, "0123456789") == length;
  if (result.is_number) result.value = strtoll(text, NULL, 10);
  return result;
}

static void drop(map_run *a, int64_t source) {
  if (!a->world.used[source]) a->world.used[source] = TSR_SOURCE_DROPPED;
}

static tsr_status use_match(map_run *a, const char *path, const tsr_regex_group *groups,
                            int64_t source) {
  const tsr_map_rule *rule = a->rule;
  const int before = a->world.scope.count;
  tsr_arena texts = TSR_ARENA_EMPTY;
  tsr_status status = NULL;
  for (int i = 0; i < rule->capture_count && !status; i++) {
    const tsr_regex_group *group = &groups[rule->groups[i] - 1];
    const char *text = tsr_arena_copy(&texts, path + group->start, group->length);
    status = text ? tsr_map_scope_push(&a->world.scope, word_of(rule->captures[i], text))
                  : tsr_fail(NO_MEMORY, "captures");
  }
  if (!status && rule->drop)
    drop(a, source);
  else if (!status)
    status = tsr_note(make_targets(a), "tensor \"%s\"", path);
  a->world.scope.count = before;
  tsr_arena_deinit(&texts);
  return status;
}

// Weights that the line names but that the source has only in another form.
static tsr_status match_hidden(map_run *a, const tsr_regex *pattern, int groups) {
  tsr_regex_group found[MOST_GROUPS];
  for (int64_t i = 0; i < a->hiddens.count; i++) {
    tsr_map_hidden *hidden = &a->hiddens.items[i];
    bool matches = false;
    TSR_TRY(tsr_regex_capture(a->map->engine, pattern, hidden->path, strlen(hidden->path), &matches,
                              found, groups));
    if (matches && !hidden->line) hidden->line = a->rule->line;
  }
  return NULL;
}

static tsr_status match_all(map_run *a, const tsr_regex *pattern, bool *out_any) {
  const int64_t count = tsr_tree_count(a->world.source);
  const int groups = tsr_regex_group_count(pattern);
  tsr_regex_group found[MOST_GROUPS];
  if (groups > MOST_GROUPS) return tsr_fail(TOO_LARGE, "more than %d groups", MOST_GROUPS);
  for (int64_t i = 0; i < count; i++) {
    const char *path = tsr_tree_at(a->world.source, i)->path;
    bool matches = false;
    TSR_TRY(
        tsr_regex_capture(a->map->engine, pattern, path, strlen(path), &matches, found, groups));
    if (!matches) continue;
    *out_any = true;
    TSR_TRY(use_match(a, path, found, i));
  }
  return a->rule->drop ? NULL : match_hidden(a, pattern, groups);
}

static tsr_status push_loops(tsr_map_scope *scope, const tsr_map_item *item) {
  for (int i = 0; i < item->loop_count; i++) {
    tsr_map_word word = {.word = item->loops[i].variable, .is_number = true};
    TSR_TRY(tsr_map_number(scope, item->loops[i].from, &word.value));
    TSR_TRY(tsr_map_scope_push(scope, word));
  }
  return NULL;
}

// While a rule searches, the loops around its first name stand at their first turn.
static tsr_status push_first_turns(map_run *a) {
  const tsr_map_expr *expr = a->rule->value;
  const bool several = expr->op == TSR_MAP_SPLIT || expr->op == TSR_MAP_UNSTACK;
  if (a->rule->target_count && !several) TSR_TRY(push_loops(&a->world.scope, a->rule->targets));
  for (; expr->op != TSR_MAP_NAME; expr = expr->items[0].expr)
    TSR_TRY(push_loops(&a->world.scope, &expr->items[0]));
  return NULL;
}

// A name with numbers that are known only now, as {e} for e in 0..8.
static tsr_status match_computed(map_run *a, bool *out_any) {
  const int before = a->world.scope.count;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_regex pattern = {0};
  tsr_status status = push_first_turns(a);
  if (!status) status = tsr_map_rule_pattern(a->rule, &a->world.scope, &text);
  a->world.scope.count = before;
  if (!status)
    status = tsr_regex_compile_capturing(a->map->engine, tsr_text_string(&text), &pattern);
  if (!status) status = match_all(a, &pattern, out_any);
  tsr_regex_deinit(&pattern);
  tsr_text_deinit(&text);
  return status;
}

// A rule without captures runs once, if its first source exists.
static tsr_status match_plain(map_run *a, bool *out_any) {
  const int before = a->world.scope.count;
  tsr_text path = TSR_TEXT_EMPTY;
  int64_t source = -1;
  tsr_status status = push_first_turns(a);
  if (!status) status = tsr_map_name_fill(&a->world.scope, a->rule->first, &path);
  if (!status) source = tsr_tree_find(a->world.source, tsr_text_string(&path));
  for (int64_t i = 0; i < a->hiddens.count && !status && !a->rule->drop; i++)
    if (!strcmp(a->hiddens.items[i].path, tsr_text_string(&path)))
      a->hiddens.items[i].line = a->rule->line;
  a->world.scope.count = before;
  *out_any = source >= 0;
  if (*out_any && a->rule->drop)
    drop(a, source);
  else if (*out_any)
    status = make_targets(a);
  tsr_text_deinit(&path);
  return status;
}

static tsr_status apply_rule(map_run *a) {
  const tsr_map_rule *rule = a->rule;
  bool any = false;
  TSR_TRY(!rule->has_pattern ? match_plain(a, &any)
          : rule->computed   ? match_computed(a, &any)
                             : match_all(a, &rule->pattern, &any));
  a->any = a->any || any;
  a->required = a->required || !rule->optional;
  if (any || rule->optional) return NULL;
  tsr_text *warnings = &a->mapping->warnings;
  tsr_text_addf(warnings, "%s:%d: no tensor of the source matches ", a->map->name, rule->line);
  tsr_map_name_print(rule->first, warnings);
  tsr_text_add_char(warnings, '\n');
  return NULL;
}

// ---- the rest ----

// Under `only`: one warning for all tensors left out, with the first names.
static void report_unused(map_run *a) {
  enum { SHOWN = 3 };
  tsr_text *warnings = &a->mapping->warnings;
  const int64_t count = tsr_tree_count(a->world.source);
  int64_t unused = 0, shown = 0;
  for (int64_t i = 0; i < count; i++) unused += !a->world.used[i];
  if (!unused) return;
  tsr_text_addf(warnings, "%s: no line uses %lld of %lld tensors:", a->map->name, (long long)unused,
                (long long)count);
  for (int64_t i = 0; i < count && shown < SHOWN; i++)
    if (!a->world.used[i])
      tsr_text_addf(warnings, "%s \"%s\"", shown++ ? "," : "",
                    tsr_tree_at(a->world.source, i)->path);
  tsr_text_addf(warnings, "%s\n", unused > shown ? ", ..." : "");
}

static tsr_status pass_over(map_run *a) {
  const int64_t count = tsr_tree_count(a->world.source);
  for (int64_t i = 0; i < count; i++) {
    const tsr_tensor *tensor = tsr_tree_at(a->world.source, i);
    if (a->world.used[i]) continue;
    tsr_made made = {.dtype = tensor->dtype, .shape = tsr_tensor_shape(tensor)};
    tsr_status status = tsr_map_pieces_whole(&made.pieces, i, tsr_tensor_elements(tensor));
    if (!status) status = add_tensor(a, tensor->path, 0, i, &made);
    tsr_map_pieces_deinit(&made.pieces);
    if (status) return status;
  }
  return NULL;
}

// Facts of the caller, then those of the map's `let` that the caller does not give.
static tsr_status push_facts(map_run *a, const tsr_map_options *options) {
  tsr_map_scope *scope = &a->world.scope;
  for (int64_t i = 0; i < options->fact_count; i++)
    TSR_TRY(tsr_map_scope_push(scope, (tsr_map_word){.word = options->facts[i].name,
                                                     .value = options->facts[i].value,
                                                     .is_number = true}));
  for (int i = 0; i < a->map->let_count; i++) {
    const tsr_map_let *let = &a->map->lets[i];
    tsr_map_word word = {.word = let->word, .is_number = true};
    bool given = false;
    for (int64_t f = 0; f < options->fact_count; f++)
      given |= !strcmp(options->facts[f].name, let->word);
    if (given) continue;
    tsr_status status = tsr_map_number(scope, let->number, &word.value);
    if (status) return note_line(a, let->line, status);
    TSR_TRY(tsr_map_scope_push(scope, word));
  }
  return NULL;
}

static tsr_status apply_all(map_run *a, const tsr_map_options *options) {
  TSR_TRY(push_facts(a, options));
  for (int i = 0; i < a->map->rule_count; i++) {
    a->rule = &a->map->rules[i];
    tsr_status status = apply_rule(a);
    if (status) return note_line(a, a->rule->line, status);
  }
  if (a->map->only)
    report_unused(a);
  else
    TSR_TRY(pass_over(a));
  a->mapping->idle = a->required && !a->any;
  TSR_TRY(tsr_text_check(&a->mapping->warnings));
  TSR_TRY(tsr_mapping_find_apart(a->mapping, a->map, a->world.used, &a->hiddens));
  return tsr_mapping_finish(a->mapping);
}

tsr_status tsr_map_apply(const tsr_map *map, const tsr_tree *source, const tsr_map_options *options,
                         tsr_mapping **out_mapping) {
  map_run a = {.map = map, .world = {.source = source}};
  tsr_map_options read;
  TSR_TRY(tsr_sized_read(tsr_map_options, options, &read));
  if (read.fact_count < 0)
    return tsr_fail(BAD_ARGUMENT, "%lld facts, wanted 0 or more", (long long)read.fact_count);
  TSR_TRY(tsr_mapping_create(source, &a.mapping));
  a.world.mapping = a.mapping;
  a.world.used = calloc((size_t)tsr_tree_count(source) + 1, 1);
  tsr_status status =
      a.world.used ? tsr_map_hiddens_init(&a.hiddens, source) : tsr_fail(NO_MEMORY, "a mapping");
  if (!status) status = apply_all(&a, &read);
  free(a.world.used);
  tsr_map_hiddens_deinit(&a.hiddens);
  tsr_map_scope_deinit(&a.world.scope);
  tsr_name_index_deinit(&a.index);
  if (status)
    tsr_mapping_release(a.mapping);
  else
    *out_mapping = a.mapping;
  return status;
}
