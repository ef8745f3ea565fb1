// `tessera spec`: read, normalise, convert, compare and correct specs.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "spec/sharding_internal.h"
#include "spec/spec_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// The tensor and the mesh of the options; each may be missing.
typedef struct setting {
  tsr_mesh *mesh;
  tsr_shape shape;
  bool has_shape;
  int rank;  // -1 = not known
} setting;

static const tsr_shape *shape_of(const setting *s) { return s->has_shape ? &s->shape : NULL; }

// Takes the mesh and shape that are missing from the first spec, if it is a DTensor's text.
static tsr_status complete_setting(const cli_args *args, setting *s) {
  if (args->count < 2) return NULL;
  const bool ranked = s->rank >= 0;
  bool known = s->has_shape || ranked;
  TSR_TRY(cli_find_context(args->positional[1], cli_value(args, "from"),
                           s->mesh ? tsr_mesh_topology(s->mesh) : NULL, &s->mesh, &s->shape,
                           &known));
  if (ranked || !known) return NULL;
  s->has_shape = true;
  s->rank = s->shape.rank;
  return NULL;
}

static tsr_status read_setting(const cli_args *args, setting *out) {
  *out = (setting){.rank = -1};
  int64_t rank = -1;
  TSR_TRY(cli_int(args, "rank", -1, &rank));
  if (rank > TSR_MAX_RANK || (cli_has(args, "rank") && rank < 0))
    return tsr_fail(BAD_ARGUMENT, "--rank is %lld, wanted 0 to %d", (long long)rank, TSR_MAX_RANK);
  out->rank = (int)rank;
  if (cli_has(args, "shape")) {
    TSR_TRY(tsr_shape_parse(cli_value(args, "shape"), &out->shape));
    if (rank >= 0 && rank != out->shape.rank)
      return tsr_fail(BAD_ARGUMENT, "--rank is %lld, but --shape has %d dimensions",
                      (long long)rank, out->shape.rank);
    out->has_shape = true;
    out->rank = out->shape.rank;
  }
  if (cli_has(args, "mesh")) TSR_TRY(cli_open_mesh(args, &out->mesh));
  return complete_setting(args, out);
}

static tsr_status need_mesh(const cli_args *args, const setting *s) {
  const char *unused = NULL;
  return s->mesh ? NULL : cli_required(args, "mesh", &unused);
}

static tsr_status read_spec(const cli_args *args, int index, const setting *s,
                            tsr_spec **out_spec) {
  return cli_read_spec(args->positional[index], cli_value(args, "from"), s->mesh, s->rank,
                       shape_of(s), out_spec);
}

static tsr_status bind_spec(const cli_args *args, int index, const setting *s,
                            tsr_sharding **out_sharding) {
  if (!s->mesh) return tsr_raised(need_mesh(args, s));
  tsr_spec *spec = NULL;
  TSR_TRY(read_spec(args, index, s, &spec));
  tsr_status status = tsr_sharding_bind(s->mesh, spec, false, out_sharding);
  tsr_spec_release(spec);
  return status;
}

// ---- parse: the value in every notation ----

// One notation as a line or a JSON member. If it cannot express the spec: the reason in brackets,
// or null.
static void add_notation(const char *name, const tsr_sharding *sharding, const tsr_spec *spec,
                         const setting *s, tsr_json_writer *json, tsr_text *out) {
  tsr_text value = TSR_TEXT_EMPTY;
  tsr_status status = sharding ? cli_write_spec(sharding, name, s->rank, shape_of(s), &value)
                               : cli_print_spec(spec, name, &value);
  if (json)
    tsr_json_add_string(json, name, status ? NULL : tsr_text_string(&value));
  else
    tsr_text_addf(out, status ? "%-8s (%s)\n" : "%-8s %s\n", name,
                  status ? tsr_status_text(status) : tsr_text_string(&value));
  tsr_status_free(status);
  tsr_text_deinit(&value);
}

static tsr_status run_parse(cli_args *args, const setting *s) {
  tsr_text *out = &args->out;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  TSR_TRY(read_spec(args, 1, s, &spec));
  tsr_status status = s->mesh ? tsr_sharding_bind(s->mesh, spec, false, &sharding) : NULL;
  tsr_json_writer writer, *json = cli_has(args, "json") ? &writer : NULL;
  if (json) tsr_json_begin_document(json, out);
  add_notation("short", NULL, spec, s, json, out);
  add_notation("jax", NULL, spec, s, json, out);
  add_notation("shardy", NULL, spec, s, json, out);
  if (sharding) {
    add_notation("xla", sharding, spec, s, json, out);
    add_notation("dtensor", sharding, spec, s, json, out);
  }
  if (json) tsr_json_end_document(json);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

// ---- normalise, convert ----

static tsr_status run_normalise(cli_args *args, const setting *s) {
  tsr_text *out = &args->out;
  tsr_sharding *sharding = NULL, *normal = NULL;
  TSR_TRY(bind_spec(args, 1, s, &sharding));
  tsr_status status = tsr_sharding_normalise(sharding, &normal);
  const char *to = cli_has(args, "to") ? cli_value(args, "to") : "short";
  if (!status) status = cli_write_spec(normal, to, s->rank, shape_of(s), out);
  tsr_text_add_char(out, '\n');
  tsr_sharding_release(normal);
  tsr_sharding_release(sharding);
  return status;
}

static tsr_status run_convert(cli_args *args, const setting *s) {
  tsr_text *out = &args->out;
  const char *to = NULL;
  TSR_TRY(cli_required(args, "to", &to));
  tsr_sharding *sharding = NULL;
  TSR_TRY(bind_spec(args, 1, s, &sharding));
  tsr_status status = cli_write_spec(sharding, to, s->rank, shape_of(s), out);
  tsr_text_add_char(out, '\n');
  tsr_sharding_release(sharding);
  return status;
}

// ---- compare ----

static tsr_status same_layout(const tsr_sharding *a, const tsr_sharding *b, const tsr_shape *shape,
                              tsr_policy policy, bool *out_same) {
  tsr_layout *first = NULL, *second = NULL;
  tsr_status status = tsr_layout_create(a, shape, policy, &first);
  if (!status) status = tsr_layout_create(b, shape, policy, &second);
  if (!status) status = tsr_layout_equivalent(first, second, out_same);
  tsr_layout_release(first);
  tsr_layout_release(second);
  return status;
}

static void report_comparison(const cli_args *args, bool equal, bool equivalent, bool one_shape,
                              tsr_text *out) {
  if (cli_has(args, "json"))
    tsr_text_addf(out, "{\"equal\": %s, \"equivalent\": %s}\n", equal ? "true" : "false",
                  equivalent ? "true" : "false");
  else if (equivalent)
    tsr_text_addf(out, "%s for %s\n", equal ? "equal" : "equivalent",
                  one_shape ? "this shape" : "every shape of this rank");
  else
    tsr_text_addf(out, "different%s\n", one_shape ? " for this shape" : "");
}

static tsr_status run_compare(cli_args *args, const setting *s) {
  tsr_text *out = &args->out;
  if (args->count < 3) return tsr_fail(BAD_ARGUMENT, "compare wants two specs");
  setting other = *s;
  other.mesh = NULL;
  tsr_sharding *a = NULL, *b = NULL;
  tsr_status status = bind_spec(args, 1, s, &a);
  if (!status && cli_has(args, "other-mesh"))
    status = cli_read_mesh(cli_value(args, "other-mesh"), tsr_mesh_topology(s->mesh), &other.mesh);
  if (!other.mesh && s->mesh) other.mesh = tsr_mesh_retain(s->mesh);
  if (!status) status = bind_spec(args, 2, &other, &b);
  bool same = false;
  const bool equal = !status && tsr_sharding_equal(a, b);
  int rank = s->rank;
  if (!status && rank < 0) {
    const int first = tsr_sharding_dim_count(a), second = tsr_sharding_dim_count(b);
    rank = first > second ? first : second;
  }
  if (!status && s->has_shape)
    status = same_layout(a, b, &s->shape, TSR_POLICY_UNEVEN, &same);
  else if (!status)
    status = tsr_sharding_equivalent(a, b, rank, &same);
  if (!status) {
    report_comparison(args, equal, equal || same, s->has_shape, out);
    args->exit_code = equal || same ? EXIT_OK : EXIT_CHECK_FAILED;
  }
  tsr_sharding_release(a);
  tsr_sharding_release(b);
  tsr_mesh_release(other.mesh);
  return status;
}

// ---- correct ----

static void write_changes(const tsr_spec *corrected, const tsr_changes *changes, tsr_text *out) {
  static const tsr_json_field fields[] = TSR_JSON_FIELDS(tsr_change, dim, axis, size, product);
  tsr_json_writer writer;
  tsr_json_begin_document(&writer, out);
  tsr_json_write_key(&writer, "spec");
  tsr_spec_to_json(corrected, &writer);
  tsr_json_add_array(&writer, "changes");
  for (int64_t i = 0; i < changes->count; i++) {
    const tsr_change *change = &changes->items[i];
    tsr_json_begin_object(&writer);
    tsr_json_add_string(&writer, "reason", tsr_change_text(change->kind));
    tsr_json_add_fields(&writer, fields, change);
    tsr_json_end_object(&writer);
  }
  tsr_json_end_array(&writer);
  tsr_json_end_document(&writer);
}

static tsr_status run_correct(cli_args *args, const setting *s) {
  tsr_text *out = &args->out;
  const char *unused = NULL;
  TSR_TRY(cli_required(args, "shape", &unused));
  TSR_TRY(need_mesh(args, s));
  tsr_spec *spec = NULL, *corrected = NULL;
  tsr_changes changes = {0};
  TSR_TRY(read_spec(args, 1, s, &spec));
  const tsr_correct_options options = {.size = sizeof options,
                                       .strict = cli_has(args, "strict"),
                                       .keep_group_members = cli_has(args, "keep-members")};
  tsr_status status = tsr_spec_correct(spec, s->mesh, &s->shape, &options, &corrected, &changes);
  if (!status && cli_has(args, "json")) {
    write_changes(corrected, &changes, out);
  } else if (!status) {
    // Reasons go to stderr, so that $(tessera spec correct ...) is just the spec.
    tsr_text reasons = TSR_TEXT_EMPTY;
    tsr_changes_print(&changes, &reasons);
    fputs(tsr_text_string(&reasons), stderr);
    tsr_text_deinit(&reasons);
    status = tsr_spec_print(corrected, TSR_FORM_SHORT, out);
    tsr_text_add_char(out, '\n');
  }
  tsr_changes_deinit(&changes);
  tsr_spec_release(corrected);
  tsr_spec_release(spec);
  return status;
}

static tsr_status run_spec(cli_args *args) {
  static const struct {
    const char *name;
    tsr_status (*run)(cli_args *, const setting *);
  } actions[] = {{"parse", run_parse},         {"normalise", run_normalise},
                 {"normalize", run_normalise}, {"convert", run_convert},
                 {"compare", run_compare},     {"correct", run_correct}};
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(args->positional[0], actions[i].name) != 0) continue;
    if (args->count > 2 && actions[i].run != run_compare)
      return tsr_fail(BAD_ARGUMENT, "%s wants one spec: quote it", actions[i].name);
    setting s;
    tsr_status status = read_setting(args, &s);
    if (!status) status = actions[i].run(args, &s);
    tsr_mesh_release(s.mesh);
    return status;
  }
  return tsr_fail(BAD_ARGUMENT,
                  "no action \"%s\": wanted parse, normalise, convert, compare or correct",
                  args->positional[0]);
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTION_MESH,
    CLI_OPTION_TOPOLOGY,
    CLI_OPTION_SHAPE,
    {"rank", 'r', "N", NULL, "rank of the tensor, if --shape is not given"},
    CLI_OPTION_NOTATION,
    {"to", 0, "NOTATION", CLI_NOTATIONS, "notation of the output"},
    {"other-mesh", 0, "MESH", NULL, "compare: mesh of the second spec (default: --mesh)"},
    {"strict", 0, NULL, NULL, "correct: fail instead of changing the spec"},
    {"keep-members", 0, NULL, NULL, "correct: of a group of axes, drop only those that do not fit"},
    {"json", 'j', NULL, NULL, "parse, compare, correct: print JSON instead of text"},
    {0},
};
// clang-format on

const cli_command cli_cmd_spec = {
    .name = "spec",
    .summary = "read, normalise, convert, compare and correct specs",
    .usage = "parse|normalise|convert|compare|correct SPEC [SPEC] [options]",
    .options = options,
    .description =
        "  parse      shows a spec in every notation that can express it\n"
        "  normalise  drops size-1 axes and merges neighbouring cuts\n"
        "  convert    translates to another notation, or says why the device maps would differ\n"
        "  compare    says whether two specs are equal or equivalent; exit code 1 if they are not\n"
        "  correct    makes a spec fit the mesh and shape; the reasons go to standard error\n",
    .examples =
        "tessera spec parse \"P('data', None, ('fsdp', 'tp'))\"\n"
        "tessera spec convert '{devices=[2,1,4]<=[8]}' --mesh dp=2,tp=4 --to jax\n"
        "tessera spec convert '[Shard(0), Replicate()]' -m dp=2,tp=4 -s 8,8 --to xla\n"
        "tessera spec correct 'dp, tp' --mesh dp=2,tp=4 --shape 8,10\n",
    .run = run_spec,
};
