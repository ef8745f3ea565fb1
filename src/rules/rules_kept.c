// The options of rules. A spec with expressions is computed for one model and one mesh. Its facts
// are kept with the rules and written into plans, so that a plan for another mesh can compute the
// spec again instead of guessing where heads begin.
#include <stdlib.h>
#include <string.h>

#include "json/json_read.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"

// ---- keeping ----

static const char *keep_text(tsr_arena *arena, const char *text) {
  return tsr_arena_copy(arena, text, strlen(text));
}

static bool has_fact(const tsr_fact *facts, int64_t count, const char *name) {
  for (int64_t i = 0; i < count; i++)
    if (!strcmp(facts[i].name, name)) return true;
  return false;
}

// Of facts with the same name the first counts.
static tsr_status keep_facts(tsr_arena *arena, const tsr_rules_options *from,
                             tsr_rules_options *to) {
  tsr_fact *facts = tsr_arena_zeros(arena, (size_t)from->fact_count + 1, sizeof *facts);
  if (!facts) return tsr_fail(NO_MEMORY, "facts");
  for (int64_t i = 0; from->facts && i < from->fact_count; i++) {
    if (has_fact(facts, to->fact_count, from->facts[i].name)) continue;
    tsr_fact *own = &facts[to->fact_count];
    *own = (tsr_fact){keep_text(arena, from->facts[i].name), from->facts[i].value};
    if (!own->name) return tsr_fail(NO_MEMORY, "facts");
    to->fact_count++;
  }
  to->facts = facts;
  return NULL;
}

static tsr_status keep_names(tsr_arena *arena, const char *const *names, int count,
                             const char *const **out_names) {
  const char **own = tsr_arena_zeros(arena, (size_t)count + 1, sizeof *own);
  if (!own) return tsr_fail(NO_MEMORY, "axes of rules");
  for (int i = 0; i < count; i++)
    if (!(own[i] = keep_text(arena, names[i]))) return tsr_fail(NO_MEMORY, "axes of rules");
  *out_names = own;
  return NULL;
}

tsr_status tsr_rules_builder_keep(tsr_rules_builder *builder, const tsr_rules_options *options) {
  tsr_rules_options kept = {.size = sizeof kept,
                            .keep_axis_count = options->keep_axis_count,
                            .rename_axis_count = options->rename_axis_count};
  tsr_arena *arena = &builder->arena;
  TSR_TRY(keep_facts(arena, options, &kept));
  if (options->keep_axes)
    TSR_TRY(keep_names(arena, options->keep_axes, kept.keep_axis_count, &kept.keep_axes));
  if (kept.rename_axis_count)
    TSR_TRY(keep_names(arena, options->rename_axes, 2 * kept.rename_axis_count, &kept.rename_axes));
  builder->kept = kept;
  return NULL;
}

bool tsr_rules_have_expressions(const tsr_rules *rules) {
  for (int64_t i = 0; i < tsr_rules_count(rules); i++)
    if (tsr_rules_at(rules, i)->written) return true;
  return false;
}

// ---- for another mesh ----

// Pairs of names, with room for those of the rules and one per mesh axis.
typedef struct axis_names {
  const char **pairs;  // owned
  int count;
} axis_names;

static const char *find_name(const char *const *pairs, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (!strcmp(pairs[2 * i], name)) return pairs[2 * i + 1];
  return NULL;
}

static void add_pair(axis_names *names, const char *from, const char *to) {
  names->pairs[2 * names->count] = from;
  names->pairs[2 * names->count++ + 1] = to;
}

// Maps the rules' names of axes to those of the new mesh, through the names of the old mesh.
static tsr_status compose(const tsr_rules_options *kept, const char *const *renames, int count,
                          axis_names *out) {
  const size_t room = (size_t)(kept->rename_axis_count + count);
  out->pairs = calloc(2 * room + 1, sizeof *out->pairs);
  if (!out->pairs) return tsr_fail(NO_MEMORY, "axes of rules");
  for (int i = 0; i < kept->rename_axis_count; i++) {
    const char *old = kept->rename_axes[2 * i + 1], *next = find_name(renames, count, old);
    add_pair(out, kept->rename_axes[2 * i], next ? next : old);
  }
  for (int i = 0; i < count; i++)
    if (!find_name(kept->rename_axes, kept->rename_axis_count, renames[2 * i]))
      add_pair(out, renames[2 * i], renames[2 * i + 1]);
  return NULL;
}

static tsr_status add_again(tsr_rules_builder *builder, const tsr_rule *rule,
                            const tsr_rules_options *computed, const tsr_rules_options *renamed) {
  tsr_rule own = *rule;
  tsr_spec *spec = NULL;
  TSR_TRY(rule->written ? tsr_rule_spec_parse(builder, rule->written, computed, &spec)
                        : tsr_rule_spec_adapt(rule->spec, renamed, &spec));
  own.spec = spec;
  tsr_status status = tsr_rules_builder_together(builder, rule->together, rule->over, renamed);
  if (!status) status = tsr_rules_builder_add(builder, &own, strlen(rule->pattern));
  tsr_spec_release(spec);
  return status;
}

static tsr_status add_all_again(tsr_rules_builder *builder, const tsr_rules *rules,
                                const tsr_rules_options *computed,
                                const tsr_rules_options *renamed) {
  TSR_TRY(tsr_rules_builder_keep(builder, computed));
  for (int64_t i = 0; i < tsr_rules_count(rules); i++)
    TSR_TRY_NOTE(add_again(builder, tsr_rules_at(rules, i), computed, renamed), "rule %lld",
                 (long long)i);
  return NULL;
}

tsr_status tsr_rules_for_mesh(const tsr_rules *rules, const tsr_mesh *mesh,
                              const char *const *renames, int rename_count, tsr_rules **out_rules) {
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  tsr_rules_options computed = *tsr_rules_kept(rules);
  tsr_rules_options renamed = {
      .size = sizeof renamed, .rename_axes = renames, .rename_axis_count = rename_count};
  axis_names names = {0};
  TSR_TRY(compose(&computed, renames, rename_count, &names));
  computed.size = sizeof computed;
  computed.mesh = mesh;
  computed.rename_axes = names.pairs;
  computed.rename_axis_count = names.count;
  tsr_status status = add_all_again(&builder, rules, &computed, &renamed);
  status = tsr_rules_builder_finish(&builder, status, out_rules);
  free(names.pairs);
  return status;
}

// ---- JSON ----

static void write_names(const char *key, const char *const *names, int count,
                        tsr_json_writer *writer) {
  tsr_json_add_inline_array(writer, key);
  for (int i = 0; i < count; i++) tsr_json_write_string(writer, names[i]);
  tsr_json_end_array(writer);
}

static void write_renames(const tsr_rules_options *kept, tsr_json_writer *writer) {
  tsr_json_add_inline_array(writer, "rename_axes");
  for (int i = 0; i < kept->rename_axis_count; i++) {
    tsr_json_begin_inline_array(writer);
    tsr_json_write_string(writer, kept->rename_axes[2 * i]);
    tsr_json_write_string(writer, kept->rename_axes[2 * i + 1]);
    tsr_json_end_array(writer);
  }
  tsr_json_end_array(writer);
}

void tsr_rules_kept_to_json(const tsr_rules *rules, tsr_json_writer *writer) {
  const tsr_rules_options *kept = tsr_rules_kept(rules);
  tsr_json_begin_object(writer);
  tsr_json_write_key(writer, "facts");
  tsr_json_begin_inline_object(writer);
  for (int64_t i = 0; i < kept->fact_count; i++)
    tsr_json_add_int(writer, kept->facts[i].name, kept->facts[i].value);
  tsr_json_end_object(writer);
  if (kept->keep_axes) write_names("keep_axes", kept->keep_axes, kept->keep_axis_count, writer);
  if (kept->rename_axis_count) write_renames(kept, writer);
  tsr_json_end_object(writer);
}

// A list of names in the arena.
static tsr_status read_names(const tsr_json *list, const char *what, tsr_arena *arena,
                             const char ***out_names, int *out_count) {
  TSR_TRY(tsr_json_want_array(list, what));
  const char **names = tsr_arena_zeros(arena, tsr_json_count(list) + 1, sizeof *names);
  if (!names) return tsr_fail(NO_MEMORY, "%s", what);
  int count = 0;
  for (const tsr_json *item = tsr_json_first(list); item; item = tsr_json_next(item))
    TSR_TRY(tsr_json_copy_string(item, what, arena, &names[count++]));
  *out_names = names;
  *out_count = count;
  return NULL;
}

static tsr_status read_facts(const tsr_json *object, tsr_arena *arena, tsr_rules_options *out) {
  if (!object) return NULL;
  if (tsr_json_kind_of(object) != TSR_JSON_OBJECT)
    return tsr_json_wrong_kind(object, "facts", "an object of whole numbers");
  tsr_fact *facts = tsr_arena_zeros(arena, tsr_json_count(object) + 1, sizeof *facts);
  if (!facts) return tsr_fail(NO_MEMORY, "facts");
  for (const tsr_json *item = tsr_json_first(object); item; item = tsr_json_next(item)) {
    size_t length = 0;
    const char *key = tsr_json_key(item, &length);
    tsr_fact *fact = &facts[out->fact_count++];
    if (memchr(key, '\0', length)) return tsr_fail(SYNTAX, "a fact with a zero byte");
    fact->name = tsr_arena_copy(arena, key, length);
    if (!fact->name) return tsr_fail(NO_MEMORY, "facts");
    TSR_TRY(tsr_json_get_int(item, fact->name, &fact->value));
  }
  out->facts = facts;
  return NULL;
}

static tsr_status read_renames(const tsr_json *list, tsr_arena *arena, tsr_rules_options *out) {
  if (!list) return NULL;
  TSR_TRY(tsr_json_want_array(list, "rename_axes"));
  const char **pairs = tsr_arena_zeros(arena, 2 * tsr_json_count(list) + 1, sizeof *pairs);
  if (!pairs) return tsr_fail(NO_MEMORY, "rename_axes");
  for (const tsr_json *item = tsr_json_first(list); item; item = tsr_json_next(item)) {
    const char **pair = NULL;
    int count = 0;
    TSR_TRY(read_names(item, "rename_axes", arena, &pair, &count));
    if (count != 2)
      return tsr_fail(JSON_KIND, "rename_axes: wanted [old, new], found %d names", count);
    memcpy(&pairs[2 * out->rename_axis_count++], pair, 2 * sizeof *pair);
  }
  out->rename_axes = pairs;
  return NULL;
}

static tsr_status read_kept(const tsr_json *value, tsr_arena *arena, tsr_rules_options *out) {
  static const char *const keys[] = {"facts", "keep_axes", "rename_axes", NULL};
  const char **names = NULL;
  *out = (tsr_rules_options){.size = sizeof *out};
  if (!value) return NULL;
  TSR_TRY(tsr_json_check_keys(value, keys));
  TSR_TRY(read_facts(tsr_json_find(value, "facts"), arena, out));
  TSR_TRY(read_renames(tsr_json_find(value, "rename_axes"), arena, out));
  if (!tsr_json_find(value, "keep_axes")) return NULL;
  TSR_TRY(read_names(tsr_json_find(value, "keep_axes"), "keep_axes", arena, &names,
                     &out->keep_axis_count));
  out->keep_axes = names;
  return NULL;
}

tsr_status tsr_rules_from_json(const tsr_json *rules, const tsr_json *options,
                               tsr_rules **out_rules) {
  static const tsr_rules_options none = {.size = sizeof none};
  tsr_rules_builder builder = TSR_RULES_BUILDER_EMPTY;
  tsr_rules_options kept;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = read_kept(options, &arena, &kept);
  if (status) status = tsr_note(status, "rules_options");
  if (!status) status = tsr_rules_builder_keep(&builder, &kept);
  if (!status) status = tsr_rules_add_json(&builder, rules, "", &none);
  status = tsr_rules_builder_finish(&builder, status, out_rules);
  tsr_arena_deinit(&arena);
  return status;
}
