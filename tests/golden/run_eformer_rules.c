// eformer's rules: match_partition_rules and the mini-language.
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "rules/rules_internal.h"
#include "spec/spec_internal.h"

// ---- match_partition_rules ----

typedef struct match_arguments {
  tsr_rules *rules;
  int64_t min_size;
  bool raw;
} match_arguments;

// An absent minimum is 0, null is the environment's.
static tsr_status read_min_size(const golden_case *c, int64_t *out) {
  const tsr_json *value = golden_get(c, "min_size");
  *out = 0;
  if (!value) return NULL;
  return golden_is_null(value) ? tsr_min_sharding_size(out) : golden_int(c, "min_size", out);
}

static tsr_status read_arguments(const golden_case *c, match_arguments *out) {
  bool strict = true;
  if (golden_get(c, "strict")) TSR_TRY(golden_bool(c, "strict", &strict));
  out->raw = !strict;
  TSR_TRY(read_min_size(c, &out->min_size));
  return tsr_rules_from_json(golden_get(c, "rules"), NULL, &out->rules);
}

static tsr_status read_leaf(const golden_case *c, const tsr_json *leaf, const char **out_path,
                            tsr_shape *shape, bool *out_has_shape) {
  const tsr_json *dims = tsr_json_find(leaf, "shape");
  golden_ints sizes;
  TSR_TRY(golden_read_string(c, tsr_json_find(leaf, "path"), "path", out_path));
  *out_has_shape = dims != NULL;
  if (!dims) return NULL;
  TSR_TRY(golden_read_ints(c, dims, "shape", &sizes));
  return tsr_shape_init(shape, sizes.items, sizes.count);
}

static tsr_status match_leaf(const golden_case *c, const match_arguments *with,
                             const tsr_json *leaf, tsr_json_writer *out) {
  const char *path = NULL;
  tsr_shape shape;
  bool has_shape = false;
  tsr_rule_decision decision;
  TSR_TRY(read_leaf(c, leaf, &path, &shape, &has_shape));
  TSR_TRY(tsr_rules_decide(with->rules, path, has_shape ? &shape : NULL, with->min_size, with->raw,
                           &decision));
  if (decision.kind == TSR_DECIDED_NO_RULE) return tsr_rules_no_rule(with->rules, path);
  tsr_json_begin_inline_array(out);
  tsr_json_write_string(out, path);
  tsr_spec_to_json(decision.spec, out);
  tsr_json_end_array(out);
  tsr_spec_release(decision.spec);
  return NULL;
}

tsr_status golden_match_partition_rules(const golden_case *c, const golden_answer *answer) {
  const tsr_json *leaves = tsr_json_find(c->json, "leaves");
  match_arguments with = {NULL, 0, false};
  // A dict with keys of several kinds; a tree of ours is a list of paths and cannot be one.
  if (!leaves) return tsr_fail(KEYS_CANNOT_BE_SORTED, "a dict with keys of several kinds");
  tsr_status status = read_arguments(c, &with);
  if (!status) tsr_json_begin_array(answer->out);
  for (const tsr_json *leaf = tsr_json_first(leaves); leaf && !status; leaf = tsr_json_next(leaf))
    status = match_leaf(c, &with, leaf, answer->out);
  if (!status) tsr_json_end_array(answer->out);
  tsr_rules_release(with.rules);
  return status;
}

// ---- create_pattern_based_partition_spec ----

static tsr_status write_name(const tsr_rules *rules, const char *name, const tsr_json *otherwise,
                             tsr_json_writer *out) {
  int64_t rule = -1;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_rules_match(rules, name, &rule));
  if (rule >= 0)
    spec = tsr_spec_retain(tsr_rules_at(rules, rule)->spec);
  else if (!golden_is_null(otherwise))
    TSR_TRY(tsr_spec_from_json(otherwise, &spec));
  else
    TSR_TRY(tsr_spec_parse("()", TSR_FORM_SHORT, &spec));
  tsr_json_begin_array(out);
  tsr_json_write_string(out, name);
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "spec");
  tsr_spec_to_json(spec, out);
  tsr_json_end_object(out);
  tsr_json_end_array(out);
  tsr_spec_release(spec);
  return NULL;
}

// eformer asks for a mesh, although it makes no use of it.
static tsr_status require_mesh(const golden_case *c) {
  if (!golden_is_null(tsr_json_find(c->json, "mesh"))) return NULL;
  const tsr_mesh *mesh = NULL;
  return tsr_mesh_require(&mesh);
}

tsr_status golden_create_pattern_based_partition_spec(const golden_case *c,
                                                      const golden_answer *answer) {
  const char *pattern = NULL;
  golden_names names;
  tsr_rules *rules = NULL;
  TSR_TRY(require_mesh(c));
  TSR_TRY(golden_read_string(c, golden_get(c, "pattern"), "pattern", &pattern));
  TSR_TRY(golden_read_names(c, golden_get(c, "names"), "names", &names));
  TSR_TRY(tsr_rules_from_pattern_literal(pattern, &rules));
  tsr_status status = NULL;
  tsr_json_begin_array(answer->out);
  for (int i = 0; i < names.count && !status; i++)
    status = write_name(rules, names.items[i], golden_get(c, "default_spec"), answer->out);
  if (!status) tsr_json_end_array(answer->out);
  tsr_rules_release(rules);
  return status;
}
