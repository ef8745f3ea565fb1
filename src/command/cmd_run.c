// `tessera run`: compiles a program and runs it on values from files, random ones, or those of a
// case, compares what comes out, and measures it.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "array/array.h"
#include "base/text_internal.h"
#include "command/command.h"
#include "report/partition_report.h"
#include "tessera/program/executable.h"
#include "trial/trial.h"

enum { MOST_STEPS_SHOWN = 30 };

typedef struct run_job {
  cli_args *args;
  const char *path;
  bool of_case;  // the path is a case folder
  tsr_trial_case trial;
  int64_t devices;              // that it is partitioned for; 1 = it is not
  tsr_program *whole;           // with --compare-single: as it was; else NULL
  tsr_program *local;           // with --report: of one device; else NULL
  tsr_partition_report report;  // of it
  tsr_executable *executable;
  tsr_executable_info info;
  tsr_trial_values inputs, outputs;
  tsr_comm *comm;                    // of several ranks; NULL = this process runs all devices
  tsr_trial_shards from_here, here;  // over several ranks: inputs and outputs on this one
  bool compared;
  const char *wanted;  // what results were compared with
  tsr_trial_verdict verdict;
  tsr_text differences;
  tsr_trial_times times;  // runs = 0: not timed
  bool profiled;
  tsr_trial_profile profile;
} run_job;

// ---- options ----

static tsr_status read_number(const cli_args *args, const char *option, double *out_number) {
  const char *text = cli_value(args, option);
  char *end = NULL;
  if (!text) return NULL;
  const double number = strtod(text, &end);
  if (end == text || *end || !(number >= 0))
    return tsr_fail(BAD_ARGUMENT, "--%s is \"%s\", wanted a number of 0 or more such as 1e-5",
                    option, text);
  *out_number = number;
  return NULL;
}

static tsr_status check_options(const run_job *job) {
  const cli_args *args = job->args;
  static const char *const sources[] = {"inputs", "random", NULL};
  TSR_TRY(cli_check_one_of(args, sources));
  if (cli_has(args, "bytecode") && !job->of_case)
    return tsr_fail(BAD_ARGUMENT, "--bytecode is for case folders, and %s is none", job->path);
  static const char *const ways[] = {"single", "compare-single", NULL};
  if (cli_has(args, "single") && cli_has_mesh(args))
    return tsr_fail(BAD_ARGUMENT, "--single runs on one device, so it takes no mesh");
  TSR_TRY(cli_check_one_of(args, ways));
  static const char *const reports[] = {"single", "report", NULL};
  TSR_TRY(cli_check_one_of(args, reports));
  static const char *const wanted[] = {"expect", "compare-single", NULL};
  TSR_TRY(cli_check_one_of(args, wanted));
  if (cli_has(args, "fast") && strcmp(cli_engine_of(args), "mpi") != 0)
    return tsr_fail(BAD_ARGUMENT, "--fast is for --engine mpi");
  const bool tolerance = cli_has(args, "rtol") || cli_has(args, "atol");
  if (tolerance && !cli_has(args, "expect") && !cli_has(args, "compare-single") && !job->of_case)
    return tsr_fail(BAD_ARGUMENT,
                    "--rtol and --atol are for --expect, --compare-single and case folders");
  return NULL;
}

static tsr_status read_compile_options(const cli_args *args, tsr_compile_options *options) {
  int64_t workers = 0;
  TSR_TRY(cli_int(args, "workers", 0, &workers));
  options->workers = (int)workers;
  return cli_has(args, "max-memory") ? cli_bytes(args, "max-memory", &options->max_memory) : NULL;
}

// ---- compiling and filling ----

// Unknown sizes are those of the inputs.
static tsr_status open_static(const run_job *job, const char *path, tsr_program **out_program) {
  const char *inputs = cli_value(job->args, "inputs");
  tsr_program *program = NULL;
  if (!inputs) inputs = job->trial.inputs;
  if (!inputs) return cli_open_program(path, false, out_program);
  TSR_TRY(cli_open_program(path, false, &program));
  tsr_status status = tsr_trial_refine(program, inputs, out_program);
  tsr_program_release(program);
  return status;
}

// The program for all devices of its mesh, in place of the whole one.
static tsr_status partition(run_job *job, tsr_program **program) {
  tsr_program *partitioned = NULL;
  job->devices = 1;
  if (cli_has(job->args, "single")) return NULL;
  TSR_TRY(cli_put_on_mesh(job->args, program));
  job->devices = cli_device_count(*program);
  if (job->devices < 2) return NULL;
  if (cli_has(job->args, "report")) {
    TSR_TRY(tsr_program_transform(*program, "partition", &job->local));
    TSR_TRY(tsr_partition_report_fill(job->local, job->devices, &job->report));
    TSR_TRY(tsr_program_transform(job->local, "lanes", &partitioned));
  } else {
    TSR_TRY(tsr_program_transform(*program, "partition,lanes", &partitioned));
  }
  tsr_program_release(*program);
  *program = partitioned;
  return NULL;
}

// A comm, if there are several ranks.
static tsr_status open_ranks(run_job *job) {
  if (strcmp(cli_engine_of(job->args), "mpi") != 0) return NULL;
  TSR_TRY(cli_open_engine(job->args, "mpi", job->devices, &job->comm));
  if (tsr_comm_rank_count(job->comm) > 1) return NULL;
  tsr_comm_release(job->comm);
  job->comm = NULL;
  return NULL;
}

static bool is_spread(const run_job *job) { return job->comm && job->devices > 1; }

// Whether this process is the one that prints, and runs what is for one device.
static bool speaks(const run_job *job) { return !job->comm || tsr_comm_rank(job->comm) == 0; }

static tsr_status compile_program(run_job *job, tsr_program *program) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  TSR_TRY(read_compile_options(job->args, &options));
  if (is_spread(job)) options.comm = job->comm;
  return tsr_executable_compile(program, &options, &job->executable);
}

static tsr_status compile(run_job *job) {
  tsr_program *program = NULL;
  const char *path = job->of_case ? job->trial.program : job->path;
  TSR_TRY(open_static(job, path, &program));
  if (cli_has(job->args, "compare-single")) job->whole = tsr_program_retain(program);
  tsr_status status = partition(job, &program);
  if (!status) status = open_ranks(job);
  if (!status && (is_spread(job) || speaks(job))) status = compile_program(job, program);
  tsr_program_release(program);
  if (status) return tsr_note(status, "%s", cli_program_name(path));
  if (!job->executable) return NULL;
  job->info.size = sizeof job->info;
  return tsr_executable_describe(job->executable, &job->info);
}

static tsr_status no_inputs(const run_job *job, const tsr_trial_values *values) {
  const tsr_trial_value *first = &values->items[0];
  tsr_text type = TSR_TEXT_EMPTY;
  tsr_trial_type_print(first, &type);
  tsr_status status = tsr_fail(
      BAD_ARGUMENT,
      "%s takes %lld argument%s, the first \"%s\" of type %s; --inputs FILE or --random SEED gives "
      "their values",
      job->path, (long long)values->count, values->count == 1 ? "" : "s", first->name,
      tsr_text_string(&type));
  tsr_text_deinit(&type);
  return status;
}

// A tensor that no argument takes is often one with a wrong name, and never an error: the inputs of
// several programs may be in one file. Of several ranks and devices the first warns.
static tsr_status read_inputs(const run_job *job, tsr_trial_values *values, const char *path) {
  tsr_text unused = TSR_TEXT_EMPTY;
  TSR_TRY(tsr_trial_values_read(values, path));
  if (!speaks(job) || (is_spread(job) && values != job->from_here.lists)) return NULL;
  tsr_status status = tsr_trial_values_unused(values, path, &unused);
  if (!status) cli_warn(path, tsr_text_string(&unused));
  tsr_text_deinit(&unused);
  return status;
}

static tsr_status fill_values(run_job *job, tsr_trial_values *values) {
  const cli_args *args = job->args;
  int64_t seed = 0;
  if (cli_has(args, "inputs")) return read_inputs(job, values, cli_value(args, "inputs"));
  if (cli_has(args, "random")) {
    TSR_TRY(cli_int(args, "random", 0, &seed));
    return tsr_trial_values_random(values, (uint64_t)seed);
  }
  if (job->of_case) return tsr_trial_case_fill(&job->trial, values);
  return values->count ? no_inputs(job, values) : NULL;
}

static tsr_status fill(run_job *job) {
  TSR_TRY(tsr_trial_values_create(job->executable, false, &job->inputs));
  TSR_TRY(tsr_trial_values_create(job->executable, true, &job->outputs));
  return fill_values(job, &job->inputs);
}

// ---- several ranks ----

// The results of a case belong to its own inputs.
static bool compares_case(const run_job *job) {
  return job->of_case && !cli_has(job->args, "inputs") && !cli_has(job->args, "random") &&
         (job->trial.wanted || job->trial.generated);
}

// Whole results are on the rank that prints, if something is done with them.
static tsr_status create_whole(run_job *job) {
  const cli_args *args = job->args;
  const bool measured = cli_has(args, "time");
  if (measured && !cli_has(args, "outputs") && !cli_has(args, "expect") && !job->whole &&
      !compares_case(job))
    return NULL;
  return (speaks(job) ? tsr_trial_values_create : tsr_trial_values_describe)(job->executable, true,
                                                                             &job->outputs);
}

static tsr_status fill_here(run_job *job) {
  TSR_TRY(tsr_trial_shards_create(job->executable, job->comm, false, &job->from_here));
  TSR_TRY(tsr_trial_shards_create(job->executable, job->comm, true, &job->here));
  for (int64_t i = 0; i < job->from_here.count; i++)
    TSR_TRY(fill_values(job, &job->from_here.lists[i]));
  return create_whole(job);
}

// Every rank fills and runs its devices.
static tsr_status run_spread(run_job *job) {
  int64_t runs = 0;
  if (cli_has(job->args, "profile"))
    return tsr_fail(UNSUPPORTED, "--profile measures the steps of one process, and there are %d",
                    tsr_comm_rank_count(job->comm));
  TSR_TRY(tsr_array_agree(job->comm, "run", fill_here(job)));
  TSR_TRY(tsr_trial_shards_run(job->executable, &job->from_here, &job->here));
  if (job->outputs.count)
    TSR_TRY(tsr_trial_shards_gather(job->executable, &job->here, &job->outputs));
  TSR_TRY(cli_int(job->args, "time", 0, &runs));
  if (!runs) return NULL;
  return tsr_trial_shards_time(job->executable, &job->from_here, &job->here, runs, &job->times);
}

// ---- comparing ----

static tsr_status compare(run_job *job) {
  const char *path = cli_value(job->args, "expect");
  tsr_trial_tolerance tolerance = TSR_TRIAL_TOLERANCE;
  if (!path && !compares_case(job)) return NULL;
  job->compared = true;
  if (!path) tolerance = job->trial.tolerance;
  if (cli_has(job->args, "rtol") || cli_has(job->args, "atol")) tolerance.exact = false;
  TSR_TRY(read_number(job->args, "rtol", &tolerance.relative));
  TSR_TRY(read_number(job->args, "atol", &tolerance.absolute));
  job->trial.tolerance = tolerance;
  job->wanted = path ? path : job->trial.wanted ? job->trial.wanted : "the sums of case.json";
  if (path)
    return tsr_trial_compare(&job->outputs, path, &tolerance, &job->differences, &job->verdict);
  return tsr_trial_case_compare(&job->trial, &job->outputs, &job->differences, &job->verdict);
}

// The results of the whole program, from the same inputs.
static tsr_status compare_single(run_job *job) {
  tsr_trial_tolerance tolerance = TSR_TRIAL_TOLERANCE;
  if (!job->whole) return NULL;
  run_job single = {
      .args = job->args, .path = job->path, .of_case = job->of_case, .trial = job->trial};
  if (job->of_case) tolerance = job->trial.tolerance;
  tolerance.scaled = true;
  TSR_TRY(read_number(job->args, "rtol", &tolerance.relative));
  TSR_TRY(read_number(job->args, "atol", &tolerance.absolute));
  tsr_status status = compile_program(&single, job->whole);
  if (!status) status = fill(&single);
  if (!status) status = tsr_trial_run(single.executable, &single.inputs, &single.outputs);
  if (!status)
    status = tsr_trial_compare_values(&job->outputs, &single.outputs, &tolerance, &job->differences,
                                      &job->verdict);
  job->compared = !status;
  job->wanted = "the unpartitioned run";
  tsr_trial_values_deinit(&single.inputs);
  tsr_trial_values_deinit(&single.outputs);
  tsr_executable_release(single.executable);
  return status;
}

// ---- measuring ----

static tsr_status write_trace(const tsr_trial_profile *profile, const char *path) {
  tsr_text text = TSR_TEXT_EMPTY;
  return cli_finish(tsr_trial_profile_trace(profile, &text), &text, path);
}

static tsr_status measure(run_job *job) {
  const cli_args *args = job->args;
  const char *trace = cli_value(args, "profile");
  int64_t runs = 0;
  if (is_spread(job)) return NULL;  // all ranks have taken their times
  if (trace) {
    TSR_TRY(tsr_trial_profile_run(job->executable, &job->inputs, &job->outputs, &job->profile));
    job->profiled = true;
    TSR_TRY(write_trace(&job->profile, *trace ? trace : "tessera-trace.json"));
  }
  TSR_TRY(cli_int(args, "time", 0, &runs));
  if (!runs) return NULL;
  return tsr_trial_time(job->executable, &job->inputs, &job->outputs, runs, &job->times);
}

// ---- printing ----

static void print_verdict(const run_job *job, tsr_text *out) {
  const tsr_trial_verdict *v = &job->verdict;
  tsr_text_add(out, tsr_text_string(&job->differences));
  tsr_text_addf(out, "%s %s: ", v->differing ? "differs from" : "equals", job->wanted);
  if (v->differing) tsr_text_addf(out, "%lld of ", (long long)v->differing_values);
  tsr_text_addf(
      out, "%lld result%s, %lld %s; largest error %.3g (relative %.3g)\n", (long long)v->values,
      v->values == 1 ? "" : "s", (long long)v->elements,
      job->trial.generated && !cli_has(job->args, "expect") ? "sums and samples" : "elements",
      v->absolute, v->relative);
}

static void print_costs(const run_job *job, tsr_text *out) {
  const tsr_executable_info *info = &job->info;
  if (job->devices > 1) tsr_text_addf(out, "%lld devices: ", (long long)job->devices);
  tsr_text_addf(out, "%lld op%s in %lld step%s, compiled in %s", (long long)info->op_count,
                info->op_count == 1 ? "" : "s", (long long)info->step_count,
                info->step_count == 1 ? "" : "s", tsr_format_seconds(info->compile_seconds).text);
  tsr_text_addf(out, "; peak memory %s", tsr_format_bytes(info->peak_bytes).text);
  if (info->device_count > 1)
    tsr_text_addf(out, " (%s for one device)", tsr_format_bytes(info->device_bytes).text);
  tsr_text_addf(out, ", temporary %s; ", tsr_format_bytes(info->temporary_bytes).text);
  tsr_text_addf(out, "%.3g GFLOP\n", (double)info->flops * 1e-9);
}

static tsr_status print_text(run_job *job, tsr_text *out) {
  const cli_args *args = job->args;
  const bool measured = job->profiled || job->times.runs;
  if (!job->compared && !measured && !cli_has(args, "outputs"))
    TSR_TRY(tsr_trial_values_print(&job->outputs, out));
  if (job->compared) print_verdict(job, out);
  if (job->local) TSR_TRY(tsr_partition_report_print(&job->report, out));
  if (!job->local && cli_has(args, "report"))
    tsr_text_add(out, "not partitioned: no sharding names a mesh of several devices\n");
  if (measured) print_costs(job, out);
  if (job->profiled) TSR_TRY(tsr_trial_profile_print(&job->profile, MOST_STEPS_SHOWN, out));
  if (job->times.runs) tsr_trial_times_print(&job->times, &job->info, out);
  return NULL;
}

static void costs_to_json(const tsr_executable_info *info, tsr_json_writer *json) {
  tsr_json_add_double(json, "compile_seconds", info->compile_seconds);
  tsr_json_add_int(json, "ops", info->op_count);
  tsr_json_add_int(json, "steps", info->step_count);
  tsr_json_add_int(json, "flops", info->flops);
  tsr_json_add_int(json, "bytes_moved", info->bytes_moved);
  tsr_json_add_int(json, "argument_bytes", info->argument_bytes);
  tsr_json_add_int(json, "result_bytes", info->result_bytes);
  tsr_json_add_int(json, "constant_bytes", info->constant_bytes);
  tsr_json_add_int(json, "temporary_bytes", info->temporary_bytes);
  tsr_json_add_int(json, "work_bytes", info->work_bytes);
  tsr_json_add_int(json, "piece_bytes", info->piece_bytes);
  tsr_json_add_int(json, "device_count", info->device_count);
  tsr_json_add_int(json, "device_bytes", info->device_bytes);
  tsr_json_add_int(json, "peak_bytes", info->peak_bytes);
}

static void verdict_to_json(const run_job *job, tsr_json_writer *json) {
  const tsr_trial_verdict *v = &job->verdict;
  tsr_json_add_object(json, "comparison");
  tsr_json_add_bool(json, "equal", !v->differing);
  tsr_json_add_int(json, "differing_results", v->differing_values);
  tsr_json_add_int(json, "differing", v->differing);
  tsr_json_add_int(json, "compared", v->elements);
  tsr_json_add_double(json, "largest_error", v->absolute);
  tsr_json_add_double(json, "largest_relative_error", v->relative);
  tsr_json_add_string(json, "differences", tsr_text_string(&job->differences));
  tsr_json_end_object(json);
}

// Statistics of results are left out after timing: donated memory is gone then.
static tsr_status print_json(run_job *job, tsr_text *out) {
  tsr_json_writer json;
  tsr_status status = NULL;
  tsr_json_begin_document(&json, out);
  tsr_json_add_int(&json, "devices", job->devices);
  costs_to_json(&job->info, &json);
  if (job->local) tsr_partition_report_to_json(&job->report, &json);
  if (!job->times.runs) status = tsr_trial_values_to_json(&job->outputs, &json);
  if (job->compared) verdict_to_json(job, &json);
  if (job->profiled) tsr_trial_profile_to_json(&job->profile, &json);
  if (job->times.runs) tsr_trial_times_to_json(&job->times, &job->info, &json);
  tsr_json_end_document(&json);
  return status;
}

// ---- the job ----

static tsr_status run_steps(run_job *job) {
  const cli_args *args = job->args;
  TSR_TRY(check_options(job));
  if (job->of_case) TSR_TRY(tsr_trial_case_open(job->path, cli_has(args, "bytecode"), &job->trial));
  TSR_TRY(compile(job));
  if (is_spread(job)) TSR_TRY(run_spread(job));
  if (!speaks(job)) return NULL;
  if (!is_spread(job)) {
    TSR_TRY(fill(job));
    TSR_TRY(tsr_trial_run(job->executable, &job->inputs, &job->outputs));
  }
  if (cli_has(args, "outputs"))
    TSR_TRY(tsr_trial_values_write(&job->outputs, cli_value(args, "outputs")));
  TSR_TRY(job->whole ? compare_single(job) : compare(job));
  TSR_TRY(measure(job));
  return (cli_has(args, "json") ? print_json : print_text)(job, &job->args->out);
}

static void job_deinit(run_job *job) {
  tsr_trial_profile_deinit(&job->profile);
  tsr_trial_values_deinit(&job->inputs);
  tsr_trial_values_deinit(&job->outputs);
  tsr_trial_shards_deinit(&job->from_here);
  tsr_trial_shards_deinit(&job->here);
  tsr_text_deinit(&job->differences);
  tsr_executable_release(job->executable);
  tsr_program_release(job->whole);
  tsr_program_release(job->local);
  tsr_trial_case_deinit(&job->trial);
  tsr_comm_release(job->comm);
}

static bool is_folder(const char *path) {
  struct stat about;
  return !stat(path, &about) && S_ISDIR(about.st_mode);
}

// A check inside the program that fails is an answer, not a failure of the command.
static tsr_status run_run(cli_args *args) {
  run_job job = {.args = args, .path = args->positional[0]};
  job.of_case = is_folder(job.path);
  tsr_status status = run_steps(&job);
  if (job.comm) status = cli_end_together(args, job.comm, status);
  if (!status && job.verdict.differing) args->exit_code = EXIT_CHECK_FAILED;
  if (tsr_status_cause(status) == TSR_CAUSE_CHECK_FAILED) {
    cli_report(args, status);
    status = NULL;
    args->exit_code = EXIT_CHECK_FAILED;
  }
  job_deinit(&job);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"inputs", 'i', "FILE", NULL, "values of the arguments: arg0, arg1, ..., their names or paths, in a safetensors or .npz file"},
    {"random", 'r', "SEED", NULL, "random values instead: normal floats, small integers"},
    {"outputs", 'o', "FILE", NULL, "write the results to a safetensors file, as out0, out1, ..."},
    {"expect", 'e', "FILE", NULL, "compare the results with out0, out1, ... of this file"},
    {"rtol", 0, "NUMBER", NULL, "allowed error relative to the wanted value (default: by the type)"},
    {"atol", 0, "NUMBER", NULL, "allowed absolute error (default: by the type)"},
    CLI_OPTIONS_AXES, CLI_OPTION_MESH,
    {"single", 0, NULL, NULL, "run whole, as on one device, ignoring shardings"},
    {"compare-single", 0, NULL, NULL, "run partitioned and whole, and compare the results"},
    {"report", 0, NULL, NULL, "also print what each device moves and holds, and the fallbacks of partitioning"},
    {"bytecode", 0, NULL, NULL, "of a case folder, take program.mlirbc instead of program.mlir"},
    {"time", 't', "N", "1..1000000", "run N times more and print how long it takes"},
    {"profile", 0, "[=FILE]", NULL, "print the time of every step; write a trace to FILE (default: tessera-trace.json)"},
    {"max-memory", 0, "SIZE", NULL, "refuse a program that needs more memory, such as 4G"},
    CLI_OPTIONS_DEVICES,
    CLI_OPTION_JSON,
    {0},
};
// clang-format on

const cli_command cli_cmd_run = {
    .name = "run",
    .summary = "run a program on this machine",
    .usage = "PROGRAM [options]",
    .options = options,
    .description =
        "PROGRAM is MLIR text, a portable artifact or a file of jax.export, recognised by\n"
        "content; - is standard input. Its entry function runs once. Results are printed as\n"
        "short summaries, or written to a file. Sizes that the program leaves open are those of\n"
        "the inputs.\n"
        "\n"
        "A program whose shardings name a mesh is partitioned for the devices of it, or of\n"
        "--mesh, which must have the axes that they name (see tessera-partition(1)). The devices\n"
        "are virtual: this process runs what all of them do.\n"
        "Inputs and results are whole tensors. With --single it runs as on one device.\n"
        "Under mpirun each rank runs a block of the devices and reads what they need of the\n"
        "inputs; one rank collects the results and prints. They are the same bytes for any\n"
        "number of ranks, unless --fast is given.\n"
        "\n"
        "PROGRAM may also be a case folder with program.mlir or exported.bin. Then inputs come\n"
        "from inputs.safetensors, and results are compared with outputs.safetensors within the\n"
        "tolerances of case.json.\n"
        "\n"
        "The exit code is 1 if results differ from those expected, or if a check in the program\n"
        "(check.expect_eq and the like) fails. Integers and bools must be equal; of floats,\n"
        "|got - want| may be ATOL + RTOL * |want|; without --atol, --compare-single allows errors "
        "of the\n"
        "largest number of a result, since sums are made in another order.\n"
        "\n"
        "A trace of --profile opens in Chrome (chrome://tracing) and in https://ui.perfetto.dev.\n",
    .examples =
        "tessera run step.bin --inputs batch.safetensors --outputs out.safetensors\n"
        "tessera run step.mlir --random 1 --time 20\n"
        "tessera run step.mlir --random 1 --profile=step-trace.json\n"
        "tessera run step.bin -i batch.safetensors --expect out.safetensors --rtol 1e-4\n"
        "tessera run sharded.mlir --random 1 --compare-single\n"
        "tessera run sharded.mlir --random 1 --mesh data=2,model=2 --report\n"
        "mpirun -n 4 tessera run sharded.mlir -i batch.safetensors -o out.safetensors\n"
        "tessera run checks.mlir\n",
    .run = run_run,
};
