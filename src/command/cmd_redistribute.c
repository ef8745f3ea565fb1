// `tessera redistribute`: plans from one layout of a tensor to another, direct and by collectives.
#include <string.h>

#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sequence.h"
#include "transfer/transfer_internal.h"
#include "trial/trial.h"

// ---- reading ----

static tsr_status read_layout(const cli_args *args, const char *option, const tsr_mesh *mesh,
                              const tsr_shape *shape, tsr_policy policy, tsr_layout **out_layout) {
  const char *text = NULL;
  TSR_TRY(cli_required(args, option, &text));
  TSR_TRY_NOTE(cli_read_layout(text, NULL, mesh, shape, policy, out_layout), "--%s", option);
  return NULL;
}

// Both meshes belong to one machine. Without --to-mesh they are the same.
static tsr_status read_meshes(const cli_args *args, tsr_mesh **out_from, tsr_mesh **out_to) {
  const char *text = NULL, *machine = cli_value(args, "topology");
  const char *to_text = cli_value(args, "to-mesh");
  TSR_TRY(cli_required(args, "mesh", &text));
  tsr_topology *topology = NULL;
  if (machine) TSR_TRY(tsr_topology_open(machine, &topology));
  tsr_status status = cli_read_mesh(text, topology, out_from);
  if (!status && to_text) status = cli_read_mesh(to_text, topology, out_to);
  if (!status && !to_text) *out_to = tsr_mesh_retain(*out_from);
  tsr_topology_release(topology);
  return status;
}

// Prints to stderr what the policy dropped.
static void explain(const char *option, const tsr_layout *layout) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_layout_explain(layout, &text);
  for (const char *line = tsr_text_string(&text); *line;) {
    const size_t length = strcspn(line, "\n");
    cli_say("--%s: %.*s\n", option, (int)length, line);
    line += length + (line[length] == '\n');
  }
  tsr_text_deinit(&text);
}

static tsr_status read_change(const cli_args *args, tsr_redistribution *out) {
  const char *shape = NULL, *dtype = cli_value(args, "dtype");
  tsr_policy policy = TSR_POLICY_ERROR;
  tsr_mesh *from = NULL, *to = NULL;
  TSR_TRY(cli_required(args, "shape", &shape));
  TSR_TRY(tsr_shape_parse(shape, &out->shape));
  TSR_TRY(tsr_dtype_parse(dtype ? dtype : "f32", &out->dtype));
  if (cli_has(args, "policy")) TSR_TRY(tsr_policy_parse(cli_value(args, "policy"), &policy));
  tsr_status status = read_meshes(args, &from, &to);
  if (!status) status = read_layout(args, "from", from, &out->shape, policy, &out->from);
  if (!status) status = read_layout(args, "to", to, &out->shape, policy, &out->to);
  tsr_mesh_release(from);
  tsr_mesh_release(to);
  if (status) return status;
  if (tsr_layout_device_count(out->from) > CLI_MOST_DEVICES ||
      tsr_layout_device_count(out->to) > CLI_MOST_DEVICES)
    return tsr_fail(TOO_LARGE, "meshes of %lld and %lld devices, wanted at most %d",
                    (long long)tsr_layout_device_count(out->from),
                    (long long)tsr_layout_device_count(out->to), (int)CLI_MOST_DEVICES);
  return NULL;
}

// ---- both plans ----

// Turns a failure with this cause into text; other failures stay failures.
static tsr_status take_reason(tsr_status status, tsr_cause cause, tsr_text *out) {
  if (!status || tsr_status_cause(status) != cause) return status;
  tsr_text_add(out, tsr_status_text(status));
  tsr_status_free(status);
  return NULL;
}

static tsr_status find_direct(const cli_args *args, tsr_redistribution *out) {
  tsr_status status = tsr_copy_plan_create(out->from, out->to, NULL, &out->plan);
  TSR_TRY(take_reason(status, TSR_CAUSE_UNREDUCED_DIFFERS, &out->no_plan));
  if (!out->plan && cli_has(args, "relabel"))
    return tsr_fail(BAD_ARGUMENT, "--relabel needs a direct plan, but %s",
                    tsr_text_string(&out->no_plan));
  if (!out->plan) return NULL;
  TSR_TRY(tsr_copy_plan_certify(out->plan, out->dtype, &out->certificate));
  TSR_TRY(tsr_traffic_from_plan(out->plan, out->dtype, &out->certificate, &out->traffic));
  if (!cli_has(args, "relabel")) return NULL;
  TSR_TRY(tsr_relabel(out->plan, out->dtype, &out->relabelling));
  out->relabelled = true;
  return NULL;
}

static tsr_status find_sequence(tsr_redistribution *change, tsr_sequence_method method, int64_t cap,
                                tsr_text *reason, tsr_sequence **out) {
  const tsr_sequence_options options = {
      .size = sizeof options, .method = method, .memory_cap = cap};
  tsr_status status =
      tsr_sequence_create(tsr_layout_sharding(change->from), tsr_layout_sharding(change->to),
                          &change->shape, change->dtype, &options, out);
  status = take_reason(status, TSR_CAUSE_NO_SEQUENCE, reason);
  return take_reason(status, TSR_CAUSE_DOES_NOT_FIT, reason);
}

static tsr_status find_sequences(const cli_args *args, tsr_redistribution *out) {
  int64_t cap = 0;
  const char *method = cli_value(args, "sequence");
  const bool shardy = method && !strcmp(method, "shardy");
  if (cli_has(args, "memory-cap")) TSR_TRY(cli_bytes(args, "memory-cap", &cap));
  TSR_TRY(find_sequence(out, shardy ? TSR_SEQUENCE_SHARDY : TSR_SEQUENCE_BEST, cap,
                        &out->no_sequence, &out->sequence));
  tsr_text unused = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (!shardy) status = find_sequence(out, TSR_SEQUENCE_SHARDY, 0, &unused, &out->shardy);
  tsr_text_deinit(&unused);
  return status;
}

static tsr_status find_ways(const cli_args *args, tsr_redistribution *out) {
  TSR_TRY(find_direct(args, out));
  TSR_TRY(find_sequences(args, out));
  if (out->plan || out->sequence) return NULL;
  return tsr_fail(NO_SEQUENCE, "no direct plan: %s; no collectives: %s",
                  tsr_text_string(&out->no_plan), tsr_text_string(&out->no_sequence));
}

// ---- the command ----

static tsr_status write_picture(const tsr_redistribution *change, const char *path) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_redistribution_print_svg(change, &text);
  return cli_finish(status, &text, path);
}

static tsr_status print_plans(const cli_args *args, const tsr_redistribution *change,
                              const tsr_redistribution_run *run) {
  const char *svg = cli_value(args, "svg");
  explain("from", change->from);
  explain("to", change->to);
  if (svg) TSR_TRY(write_picture(change, svg));
  if (svg && !strcmp(svg, "-")) return NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (cli_has(args, "json")) {
    tsr_json_writer writer;
    tsr_json_begin_document(&writer, &text);
    status = tsr_redistribution_to_json(change, cli_has(args, "copies"), &writer);
    if (run) tsr_redistribution_run_to_json(run, &writer);
    tsr_json_end_document(&writer);
  } else {
    status = tsr_redistribution_print(change, cli_has(args, "copies"), &text);
    if (run) tsr_redistribution_run_print(run, &text);
  }
  return cli_finish(status, &text, NULL);
}

static int64_t device_bound(const tsr_layout *layout) {
  int64_t bound = 0;
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++)
    if (tsr_layout_device_at(layout, p) >= bound) bound = tsr_layout_device_at(layout, p) + 1;
  return bound;
}

// All ranks have the same plans and fail alike, so rank 0 prints.
static tsr_status run_and_print(cli_args *args, const tsr_redistribution *change) {
  const int64_t a = device_bound(change->from), b = device_bound(change->to);
  tsr_comm *comm = NULL;
  tsr_redistribution_run run;
  TSR_TRY(cli_open_comm(args, a > b ? a : b, &comm));
  tsr_status status = tsr_redistribution_try(change, comm, &run);
  if (!status && tsr_comm_rank(comm) == 0) status = print_plans(args, change, &run);
  status = cli_end_together(args, comm, status);
  tsr_comm_release(comm);
  return status;
}

static tsr_status check_options(const cli_args *args) {
  static const char *const of_run[] = {"engine", "workers", "timeout", NULL};
  const char *method = cli_value(args, "sequence"), *svg = cli_value(args, "svg");
  if (svg && !strcmp(svg, "-"))
    TSR_TRY(cli_check_one_of(args, (const char *const[]){"json", "svg", "run", NULL}));
  for (int i = 0; of_run[i] && !cli_has(args, "run"); i++)
    if (cli_has(args, of_run[i])) return tsr_fail(BAD_ARGUMENT, "--%s needs --run", of_run[i]);
  // --run uses the library's own choice, which knows neither option.
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"run", "memory-cap", NULL}));
  if (cli_has(args, "run") && method && !strcmp(method, "shardy"))
    return tsr_fail(BAD_ARGUMENT, "--run uses the best sequence: --sequence shardy has no effect");
  return NULL;
}

static tsr_status run_redistribute(cli_args *args) {
  tsr_redistribution change = {.certificate = TSR_CERTIFICATE, .relabelling = TSR_RELABELLING};
  tsr_status status = check_options(args);
  if (!status) status = read_change(args, &change);
  if (!status) status = find_ways(args, &change);
  if (!status)
    status = cli_has(args, "run") ? run_and_print(args, &change) : print_plans(args, &change, NULL);
  tsr_redistribution_deinit(&change);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"from", 'f', "SPEC", NULL, "spec of the source, in any notation"},
    {"to", 0, "SPEC", NULL, "spec of the target, in any notation"},
    CLI_OPTION_SHAPE,
    CLI_OPTION_MESH,
    {"to-mesh", 0, "MESH", NULL, "mesh of the target (default: --mesh)"},
    CLI_OPTION_TOPOLOGY,
    {"dtype", 0, "TYPE", NULL, "element type (default: f32)"},
    CLI_OPTION_POLICY('p', "error"),
    {"sequence", 0, "METHOD", "best|shardy", "how to choose the sequence of collectives (default: best)"},
    {"memory-cap", 0, "SIZE", NULL, "memory that a collective may take on a device, such as 16G"},
    {"relabel", 0, NULL, NULL, "show how much renumbering the target devices would save"},
    {"copies", 'c', NULL, NULL, "list every copy"},
    CLI_OPTION_SVG,
    CLI_OPTION_JSON,
    {"run", 'r', NULL, NULL, "run both plans, check every element, and time them"},
    CLI_OPTIONS_ENGINE,
    {0},
};
// clang-format on

const cli_command cli_cmd_redistribute = {
    .name = "redistribute",
    .summary = "plan, draw and run a change of layout",
    .usage = "--from SPEC --to SPEC --shape SHAPE --mesh MESH [options]",
    .options = options,
    .description =
        "There are two plans. The direct one copies from device to device and moves only what\n"
        "devices lack. The other is the cheapest sequence of collectives, by the links of\n"
        "--topology or, without one, by the bytes that move.\n\n"
        "--run makes elements from their index, moves them, and checks each one. Under mpirun,\n"
        "with --engine mpi, the devices are divided among the ranks.\n",
    .examples =
        "tessera redistribute --from 'x, _' --to '_, x' --shape 8,16 --mesh x=4\n"
        "tessera redistribute --from 'x, y' --to 'y, x' -s 4096,4096 -m x=2,y=4 -t gpu:1x8:h100\n"
        "tessera redistribute --from 'x, _' --to '_, x' -s 4096,4096 -m x=8 --svg moves.svg\n"
        "tessera redistribute --from x --to x -s 1024 -m x=4 --to-mesh x=8 --relabel --json\n"
        "tessera redistribute --from 'x, _' --to '_, x' -s 8192,8192 -m x=8 --run\n"
        "mpirun -n 2 tessera redistribute --from x --to '_, x' -s 64,64 -m x=4 --run --engine "
        "mpi\n",
    .run = run_redistribute,
};
