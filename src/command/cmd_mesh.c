// `tessera mesh`: show a mesh, or build one that fits a machine.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/t5x_mesh.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/topology.h"

// ---- axes on the command line ----

typedef struct axis_numbers {
  char buffer[1024];
  int count;
  const char *names[TSR_MAX_AXES];
  int64_t sizes[TSR_MAX_AXES];
  tsr_axis axes[TSR_MAX_AXES];
} axis_numbers;

// Splits "data=4,model=2" into names and sizes. `what` names the option in messages.
static tsr_status read_axes(const char *what, const char *text, axis_numbers *out) {
  const char *items[TSR_MAX_AXES];
  TSR_TRY(cli_names(what, text, TSR_MAX_AXES, out->buffer, sizeof out->buffer, items, &out->count));
  for (int i = 0; i < out->count; i++) {
    char *equals = strchr((char *)(uintptr_t)items[i], '=');
    if (!equals)
      return tsr_fail(SYNTAX, "%s: \"%s\" has no number, wanted axis=number", what, items[i]);
    *equals = '\0';
    int one = 0;
    TSR_TRY_NOTE(cli_ints(items[i], equals + 1, 1, &out->sizes[i], &one), "%s", what);
    out->names[i] = items[i];
    out->axes[i] = (tsr_axis){.name = items[i], .size = out->sizes[i]};
  }
  return NULL;
}

static tsr_status name_array(const tsr_topology *topology, tsr_device_array *array,
                             const axis_numbers *wanted, tsr_mesh **out_mesh) {
  tsr_status status = tsr_mesh_from_array(topology, array, wanted->names, out_mesh);
  tsr_device_array_deinit(array);
  return status;
}

// ---- builders ----

// `wanted` are the axes of MESH; t5x has none.
typedef tsr_status builder_fn(const cli_args *args, const tsr_topology *topology,
                              axis_numbers *wanted, tsr_mesh **out_mesh);

static tsr_jax_mesh_options jax_options(const cli_args *args) {
  return (tsr_jax_mesh_options){.size = sizeof(tsr_jax_mesh_options),
                                .contiguous_submeshes = cli_has(args, "contiguous"),
                                .allow_split_physical_axes = cli_has(args, "split"),
                                .process_is_granule = cli_has(args, "process-granules")};
}

static tsr_status build_device(const cli_args *args, const tsr_topology *topology,
                               axis_numbers *wanted, tsr_mesh **out_mesh) {
  TSR_TRY(tsr_sizes_complete(wanted->sizes, wanted->count, tsr_topology_device_count(topology)));
  const tsr_jax_mesh_options options = jax_options(args);
  tsr_device_array array;
  TSR_TRY(
      tsr_jax_create_device_mesh(topology, wanted->sizes, wanted->count, &options, &array, NULL));
  return name_array(topology, &array, wanted, out_mesh);
}

static tsr_status build_hybrid(const cli_args *args, const tsr_topology *topology,
                               axis_numbers *wanted, tsr_mesh **out_mesh) {
  const char *text = NULL;
  TSR_TRY(cli_required(args, "dcn", &text));
  int64_t dcn[TSR_MAX_AXES];
  int count = 0;
  TSR_TRY(cli_ints("--dcn", text, TSR_MAX_AXES, dcn, &count));
  if (count != wanted->count)
    return tsr_fail(BAD_ARGUMENT, "--dcn has %d numbers, wanted one for each of the %d axes", count,
                    wanted->count);
  const tsr_jax_mesh_options options = jax_options(args);
  tsr_device_array array;
  TSR_TRY(tsr_jax_create_hybrid_device_mesh(topology, wanted->sizes, dcn, wanted->count, &options,
                                            &array));
  return name_array(topology, &array, wanted, out_mesh);
}

static tsr_status build_make(const cli_args *args, const tsr_topology *topology,
                             axis_numbers *wanted, tsr_mesh **out_mesh) {
  (void)args;
  return tsr_jax_make_mesh(topology, wanted->axes, wanted->count, false, out_mesh);
}

static tsr_status build_t5x(const cli_args *args, const tsr_topology *topology,
                            axis_numbers *wanted, tsr_mesh **out_mesh) {
  (void)wanted;
  tsr_t5x_mesh_options options = {.size = sizeof options};
  tsr_hardware_mesh submesh;
  TSR_TRY(cli_int(args, "partitions", 1, &options.num_partitions));
  if (cli_has(args, "submesh")) {
    TSR_TRY(cli_ints("--submesh", cli_value(args, "submesh"), 4, submesh.dims, &submesh.count));
    options.model_parallel_submesh = &submesh;
  }
  return tsr_t5x_default_mesh(topology, &options, out_mesh);
}

static tsr_status build_eformer(const cli_args *args, const tsr_topology *topology,
                                axis_numbers *wanted, tsr_mesh **out_mesh) {
  int64_t dcn[TSR_MAX_AXES];
  tsr_eformer_mesh_options options = {.size = sizeof options,
                                      .axis_dims = wanted->sizes,
                                      .axis_dim_count = wanted->count,
                                      .axis_names = wanted->names,
                                      .axis_name_count = wanted->count};
  if (cli_has(args, "dcn")) {
    TSR_TRY(
        cli_ints("--dcn", cli_value(args, "dcn"), TSR_MAX_AXES, dcn, &options.dcn_mesh_dim_count));
    options.dcn_mesh_dims = dcn;
  }
  return tsr_eformer_create_mesh(topology, &options, out_mesh);
}

// --traffic gives bytes of all-reduces for each axis: "data=1000000000,model=5000000".
static tsr_status build_search(const cli_args *args, const tsr_topology *topology,
                               axis_numbers *wanted, tsr_mesh **out_mesh) {
  axis_numbers traffic;
  const char *text = NULL;
  TSR_TRY(cli_required(args, "traffic", &text));
  TSR_TRY(read_axes("--traffic", text, &traffic));
  tsr_axis_traffic bytes[TSR_MAX_AXES] = {0};
  for (int i = 0; i < traffic.count; i++) {
    int axis = wanted->count - 1;
    while (axis >= 0 && strcmp(wanted->names[axis], traffic.names[i]) != 0) axis--;
    if (axis < 0)
      return tsr_fail(UNKNOWN_MESH_AXIS, "--traffic names axis \"%s\", which the mesh lacks",
                      traffic.names[i]);
    bytes[axis].bytes[TSR_COLLECTIVE_ALL_REDUCE] = traffic.sizes[i];
  }
  double seconds = 0;
  TSR_TRY(tsr_mesh_search(topology, wanted->axes, wanted->count, bytes, out_mesh, &seconds));
  fprintf(stderr, "communication takes %.3g ms a step by the link model\n", seconds * 1e3);
  return NULL;
}

// An option that only other builders use is an error.
static tsr_status check_builder(const cli_args *args, const char *name) {
  static const struct {
    const char *option, *builders;
  } uses[] = {{"split", "device, hybrid"}, {"contiguous", "device, hybrid"},
              {"dcn", "hybrid, eformer"},  {"process-granules", "hybrid"},
              {"partitions", "t5x"},       {"submesh", "t5x"},
              {"traffic", "search"}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (cli_has(args, uses[i].option) && !strstr(uses[i].builders, name))
      return tsr_fail(BAD_ARGUMENT, "--%s has no effect with --builder %s; it is for %s",
                      uses[i].option, name, uses[i].builders);
  const bool t5x = !strcmp(name, "t5x");
  if (t5x && args->count)
    return tsr_fail(BAD_ARGUMENT, "--builder t5x chooses its own axes: leave out \"%s\"",
                    args->positional[0]);
  if (!t5x && !args->count)
    return tsr_fail(BAD_ARGUMENT, "a mesh is needed, such as data=2,model=4");
  return NULL;
}

static tsr_status build(const cli_args *args, const tsr_topology *topology, tsr_mesh **out_mesh) {
  static const struct {
    const char *name;
    builder_fn *run;
  } builders[] = {{"device", build_device}, {"hybrid", build_hybrid},   {"make", build_make},
                  {"t5x", build_t5x},       {"eformer", build_eformer}, {"search", build_search}};
  const char *name = cli_has(args, "builder") ? cli_value(args, "builder") : "plain";
  TSR_TRY(check_builder(args, name));
  if (!strcmp(name, "plain")) return cli_read_mesh(args->positional[0], topology, out_mesh);
  if (!topology) return tsr_fail(BAD_ARGUMENT, "--builder %s needs --topology", name);
  size_t i = 0;
  while (strcmp(builders[i].name, name) != 0) i++;
  axis_numbers wanted = {0};
  if (args->count) TSR_TRY(read_axes("mesh", args->positional[0], &wanted));
  return builders[i].run(args, topology, &wanted, out_mesh);
}

// ---- changing ----

static void replace(tsr_mesh **mesh, tsr_mesh *changed) {
  tsr_mesh_release(*mesh);
  *mesh = changed;
}

static tsr_status change_slice(const char *text, tsr_mesh **mesh) {
  axis_numbers wanted;
  tsr_mesh *changed = NULL;
  TSR_TRY(read_axes("--slice", text, &wanted));
  for (int i = 0; i < wanted.count; i++) {
    const int axis = tsr_mesh_axis_find(*mesh, wanted.names[i]);
    if (axis >= 0 && wanted.sizes[i] >= tsr_mesh_axis_at(*mesh, axis)->size)
      return tsr_fail(BAD_ARGUMENT, "index %lld of axis \"%s\", whose size is %lld",
                      (long long)wanted.sizes[i], wanted.names[i],
                      (long long)tsr_mesh_axis_at(*mesh, axis)->size);
    TSR_TRY(tsr_mesh_slice(*mesh, wanted.names[i], wanted.sizes[i], &changed));
    replace(mesh, changed);
  }
  return NULL;
}

static tsr_status change_flatten(const char *text, tsr_mesh **mesh) {
  char buffer[1024];
  const char *axes[TSR_MAX_AXES];
  int count = 0;
  const char *equals = strchr(text, '=');
  if (!equals)
    return tsr_fail(BAD_ARGUMENT, "--flatten is \"%s\", wanted axes and a name: data,fsdp=batch",
                    text);
  char list[sizeof buffer];
  if ((size_t)(equals - text) >= sizeof list) return tsr_fail(TOO_LARGE, "--flatten: too long");
  snprintf(list, sizeof list, "%.*s", (int)(equals - text), text);
  TSR_TRY(cli_names("--flatten", list, TSR_MAX_AXES, buffer, sizeof buffer, axes, &count));
  tsr_mesh *changed = NULL;
  TSR_TRY(tsr_mesh_flatten(*mesh, axes, count, equals + 1, &changed));
  replace(mesh, changed);
  return NULL;
}

static tsr_status change_transpose(const char *text, tsr_mesh **mesh) {
  char buffer[1024];
  const char *axes[TSR_MAX_AXES];
  int count = 0;
  TSR_TRY(cli_names("--transpose", text, TSR_MAX_AXES, buffer, sizeof buffer, axes, &count));
  tsr_mesh *changed = NULL;
  TSR_TRY(tsr_mesh_transpose(*mesh, axes, count, &changed));
  replace(mesh, changed);
  return NULL;
}

static tsr_status change_local(const char *text, tsr_mesh **mesh) {
  int64_t process = 0;
  int one = 0;
  TSR_TRY(cli_ints("--local", text, 1, &process, &one));
  if (process < 0 || process > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "--local is %lld, wanted a process from 0 on",
                    (long long)process);
  tsr_mesh *changed = NULL;
  TSR_TRY(tsr_mesh_local(*mesh, process, &changed));
  replace(mesh, changed);
  return NULL;
}

static tsr_status change(const cli_args *args, tsr_mesh **mesh) {
  static const struct {
    const char *option;
    tsr_status (*run)(const char *, tsr_mesh **);
  } changes[] = {{"slice", change_slice},
                 {"flatten", change_flatten},
                 {"transpose", change_transpose},
                 {"local", change_local}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (cli_has(args, changes[i].option))
      TSR_TRY(changes[i].run(cli_value(args, changes[i].option), mesh));
  return NULL;
}

// ---- showing ----

static tsr_status print_costs(const tsr_mesh *mesh, tsr_text *out) {
  if (!tsr_mesh_topology(mesh)) return NULL;
  tsr_text_addf(out, "\n %-12s  %6s  %-5s  %-4s  %9s  %11s  %s\n", "axis", "size", "level", "ring",
                "alpha", "bandwidth", "all-reduce of 1 GB");
  for (int a = 0; a < tsr_mesh_axis_count(mesh); a++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, a);
    tsr_axis_cost cost;
    double seconds = 0;
    TSR_TRY(tsr_mesh_axis_cost(mesh, a, &cost));
    TSR_TRY(tsr_mesh_collective_cost(mesh, TSR_COLLECTIVE_ALL_REDUCE, &axis->name, 1, 1000000000,
                                     &seconds));
    tsr_text_addf(out, " %-12s  %6lld  %-5s  %-4s  %6.2f us  %6.1f GB/s  %.3g ms\n", axis->name,
                  (long long)axis->size, tsr_level_name(cost.level), cost.ring ? "yes" : "no",
                  cost.link.alpha * 1e6, cost.link.beta > 0 ? 1e-9 / cost.link.beta : 0.0,
                  seconds * 1e3);
  }
  return NULL;
}

static tsr_status print_picture(const cli_args *args, const tsr_mesh *mesh, tsr_text *out) {
  const char *svg = cli_value(args, "svg");
  if (tsr_mesh_device_count(mesh) > CLI_MOST_DEVICES)
    return tsr_fail(TOO_LARGE,
                    "%lld devices are too many to draw; --text and --json print the mesh",
                    (long long)tsr_mesh_device_count(mesh));
  const tsr_figure_limits limits =
      svg ? (tsr_figure_limits){64, 64, 24} : (tsr_figure_limits){24, cli_width() / 6, 8};
  tsr_figure figure = {0};
  TSR_TRY(tsr_figure_from_mesh(mesh, limits, &figure));
  tsr_status status = NULL;
  if (svg) {
    tsr_figure_print_svg(&figure, out);
  } else {
    tsr_figure_print_text(&figure, cli_use_color(args), cli_width(), out);
    status = print_costs(mesh, out);
  }
  tsr_figure_deinit(&figure);
  return status;
}

static tsr_status show_mesh(const cli_args *args, const tsr_mesh *mesh) {
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"json", "text", "svg", NULL}));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (cli_has(args, "json")) {
    tsr_json_writer writer;
    tsr_json_writer_init(&writer, &text, 2);
    tsr_mesh_to_json(mesh, &writer);
    tsr_text_add_char(&text, '\n');
  } else if (cli_has(args, "text")) {
    tsr_mesh_print(mesh, &text);
    tsr_text_add_char(&text, '\n');
  } else {
    status = print_picture(args, mesh, &text);
  }
  if (!status) status = cli_output_figure(&text, cli_value(args, "svg"));
  tsr_text_deinit(&text);
  return status;
}

static tsr_status run_mesh(cli_args *args) {
  tsr_topology *topology = NULL;
  tsr_mesh *mesh = NULL;
  tsr_status status = NULL;
  if (cli_has(args, "topology")) status = tsr_topology_open(cli_value(args, "topology"), &topology);
  if (!status) status = build(args, topology, &mesh);
  if (!status) status = change(args, &mesh);
  if (!status) status = show_mesh(args, mesh);
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTION_TOPOLOGY,
    {"builder", 'b', "BUILDER", "plain|device|hybrid|make|t5x|eformer|search", "how to lay the axes on the machine (default: plain)"},
    {"split", 0, NULL, NULL, "device, hybrid: allow splitting physical axes"},
    {"contiguous", 0, NULL, NULL, "device, hybrid: use contiguous submeshes"},
    {"dcn", 0, "N,N,...", NULL, "hybrid, eformer: sizes across slices or hosts, one per axis"},
    {"process-granules", 0, NULL, NULL, "hybrid: granules are processes, not slices"},
    {"partitions", 0, "N", NULL, "t5x: number of model partitions"},
    {"submesh", 0, "X,Y,Z,C", NULL, "t5x: model parallel submesh"},
    {"traffic", 0, "AXIS=BYTES,...", NULL, "search: bytes all-reduced over each axis per step"},
    {"slice", 0, "AXIS=INDEX", NULL, "keep one coordinate of an axis"},
    {"flatten", 0, "AXES=NAME", NULL, "join neighbouring axes into one"},
    {"transpose", 0, "AXES", NULL, "put the axes in this order"},
    {"local", 0, "PROCESS", NULL, "keep the devices of one process"},
    CLI_OPTION_JSON,
    {"text", 0, NULL, NULL, "print one line that --mesh accepts"},
    CLI_OPTION_SVG,
    CLI_OPTION_COLOR,
    {0},
};
// clang-format on

const cli_command cli_cmd_mesh = {
    .name = "mesh",
    .summary = "show a device mesh, or build one that fits a machine",
    .usage = "[MESH] [--topology TOPOLOGY] [options]",
    .options = options,
    .description =
        "MESH is a list of axes with their sizes, or a .json file from --json.\n\n"
        "Builders: plain takes devices in list order; device, hybrid and make are JAX's\n"
        "create_device_mesh, create_hybrid_device_mesh and make_mesh; t5x and eformer follow\n"
        "those libraries; search tries the arrangements of the axes and keeps the cheapest for\n"
        "--traffic.\n",
    .examples =
        "tessera mesh data=2,model=4\n"
        "tessera mesh data=4,model=16 --topology tpu-v4:4x4x4 --builder device\n"
        "tessera mesh replica=1,data=8,model=2 -t tpu-v4:2x2x4:slices=2 -b hybrid --dcn 2,1,1\n"
        "tessera mesh -t tpu-v3:4x4 --builder t5x --partitions 4\n",
    .run = run_mesh,
};
