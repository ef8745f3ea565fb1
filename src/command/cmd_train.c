// `tessera train`: runs a training step many times on the devices of a mesh, from values or from a
// checkpoint, and saves what it has learnt.
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "command/command.h"
#include "report/partition_report.h"
#include "trial/trial_training.h"

enum { STEPS = 10, LINES = 11 };  // by default; printed of many steps

typedef struct train_job {
  cli_args *args;
  const char *path;
  bool of_case;  // the path is a case folder
  tsr_trial_case trial;
  int64_t steps;
  tsr_comm *comm;
  tsr_trial_training training;
  tsr_trial_values inputs;
  int64_t loaded, saved;  // tensors
  double *numbers;        // [step * results + result]
} train_job;

// ---- opening ----

static tsr_status open_program(const train_job *job, tsr_program **out_program) {
  const char *path = job->of_case ? job->trial.program : job->path;
  const char *inputs = cli_value(job->args, "inputs");
  tsr_program *program = NULL;
  if (!inputs) inputs = job->trial.inputs;
  TSR_TRY(cli_open_program(path, false, &program));
  if (!inputs) {
    *out_program = program;
    return NULL;
  }
  tsr_status status = tsr_trial_refine(program, inputs, out_program);
  tsr_program_release(program);
  return status;
}

// A comm has an entry for every device id of the mesh.
static int64_t device_bound(const tsr_mesh *mesh) {
  int64_t most = 0;
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_device_at(mesh, i) > most) most = tsr_mesh_device_at(mesh, i);
  return most + 1;
}

static tsr_status open_comm(train_job *job, const tsr_program *program, const tsr_mesh *mesh) {
  TSR_OWN(mesh, own);
  if (!mesh) TSR_TRY(cli_program_mesh(program, job->path, &own));
  return cli_open_engine(job->args, cli_engine_of(job->args), device_bound(mesh ? mesh : own),
                         &job->comm);
}

static tsr_status open_on(train_job *job, const tsr_program *program, const tsr_mesh *mesh) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  if (cli_has(job->args, "max-memory"))
    TSR_TRY(cli_bytes(job->args, "max-memory", &options.max_memory));
  TSR_TRY(open_comm(job, program, mesh));
  return tsr_trial_training_open(program, mesh, job->comm, &options, &job->training);
}

static tsr_status open_step(train_job *job) {
  TSR_OWN(program, program);
  TSR_OWN(mesh, mesh);
  TSR_TRY(open_program(job, &program));
  if (cli_has_mesh(job->args)) TSR_TRY(cli_open_mesh(job->args, &mesh));
  return tsr_note(open_on(job, program, mesh), "%s", cli_program_name(job->path));
}

// ---- arguments ----

// With a checkpoint the inputs need not have the train state.
static tsr_status fill(train_job *job) {
  const cli_args *args = job->args;
  const char *inputs = cli_value(args, "inputs");
  int64_t seed = 0;
  if (!inputs && job->of_case) inputs = job->trial.inputs;
  if (cli_has(args, "random")) {
    TSR_TRY(cli_int(args, "random", 0, &seed));
    return tsr_trial_values_random(&job->inputs, (uint64_t)seed);
  }
  if (inputs)
    return (cli_has(args, "load") ? tsr_trial_values_read_some : tsr_trial_values_read)(
        &job->inputs, inputs);
  if (job->of_case && job->trial.generated)
    return tsr_trial_values_generate(&job->inputs, &job->trial);
  for (int64_t i = 0; i < job->inputs.count; i++) job->inputs.items[i].missing = true;
  return NULL;
}

// What cannot be saved is refused before the first step.
static tsr_status check_destination(const train_job *job) {
  const char *to = cli_value(job->args, "save");
  struct stat about;
  TSR_OWN(plan, state);
  if (!to) return NULL;
  if (!stat(to, &about)) return tsr_fail(ALREADY_THERE, "%s: already exists", to);
  return tsr_partitioned_state_plan(job->training.step, &state);
}

static tsr_status place(train_job *job) {
  const char *from = cli_value(job->args, "load");
  if (from) TSR_TRY(tsr_trial_training_load(&job->training, from, &job->loaded));
  TSR_TRY(tsr_trial_values_create(tsr_compiled_executable(job->training.run), false, &job->inputs));
  tsr_status status = fill(job);
  if (!status) status = tsr_trial_training_place(&job->training, &job->inputs);
  tsr_trial_values_deinit(&job->inputs);
  job->inputs = (tsr_trial_values){0};
  return status;
}

// ---- steps ----

static tsr_status read_numbers(train_job *job, int64_t step) {
  const int64_t results = job->training.info.result_count;
  for (int64_t i = 0; i < results; i++)
    if (tsr_trial_training_is_number(&job->training, i))
      TSR_TRY(tsr_trial_training_number(&job->training, i, &job->numbers[step * results + i]));
  return NULL;
}

// The first, the last, and about ten between.
static bool is_shown(const train_job *job, int64_t step) {
  const int64_t every = (job->steps + LINES - 2) / (LINES - 1);
  return step == 0 || step == job->steps - 1 || (step + 1) % every == 0;
}

static void print_numbers(const train_job *job, int64_t step, tsr_text *out) {
  const int64_t results = job->training.info.result_count;
  const char *separator = ": ";
  tsr_text_addf(out, "step %lld", (long long)step + 1);
  for (int64_t i = 0; i < results; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    if (!tsr_trial_training_is_number(&job->training, i)) continue;
    tsr_status_free(tsr_partitioned_result(job->training.step, i, &value));
    tsr_text_addf(out, "%s%s = %#.3g", separator, value.name, job->numbers[step * results + i]);
    separator = ", ";
  }
  tsr_text_add(out, "\n");
}

// Lines appear as the run goes on.
static tsr_status show(const train_job *job, int64_t step) {
  TSR_OWN(text, line);
  if (cli_has(job->args, "json") || tsr_comm_rank(job->comm) || !is_shown(job, step)) return NULL;
  print_numbers(job, step, &line);
  return cli_output(&line, NULL);
}

static tsr_status train(train_job *job) {
  const size_t room = (size_t)(job->training.info.result_count + 1);
  job->numbers = calloc((size_t)job->steps * room, sizeof *job->numbers);
  if (!job->numbers) return tsr_fail(NO_MEMORY, "results of %lld steps", (long long)job->steps);
  for (int64_t i = 0; i < job->steps; i++) {
    TSR_TRY_NOTE(tsr_trial_training_step(&job->training), "step %lld", (long long)i + 1);
    TSR_TRY(read_numbers(job, i));
    TSR_TRY(show(job, i));
  }
  const char *to = cli_value(job->args, "save");
  return to ? tsr_trial_training_save(&job->training, to, &job->saved) : NULL;
}

// ---- printing ----

static tsr_status fill_report(const train_job *job, tsr_partition_report *out_report) {
  return tsr_partition_report_fill(tsr_partitioned_lower(job->training.step, TSR_LOWERED_DEVICE),
                                   job->training.info.device_count, out_report);
}

static tsr_status print_start(const train_job *job, tsr_text *out) {
  tsr_partition_report report;
  tsr_text_add(out, "mesh {");
  tsr_mesh_print(job->training.info.mesh, out);
  tsr_text_addf(out, "}, %lld devices", (long long)job->training.info.device_count);
  if (job->loaded)
    tsr_text_addf(out, "; %lld tensors loaded from %s", (long long)job->loaded,
                  cli_value(job->args, "load"));
  tsr_text_add(out, "\n");
  if (!cli_has(job->args, "report")) return NULL;
  TSR_TRY(fill_report(job, &report));
  return tsr_partition_report_print(&report, out);
}

static void numbers_to_json(const train_job *job, tsr_json_writer *json) {
  const int64_t results = job->training.info.result_count;
  tsr_json_add_object(json, "results");
  for (int64_t i = 0; i < results; i++) {
    tsr_partitioned_value value = TSR_PARTITIONED_VALUE;
    if (!tsr_trial_training_is_number(&job->training, i)) continue;
    tsr_status_free(tsr_partitioned_result(job->training.step, i, &value));
    tsr_json_add_array(json, value.name);
    for (int64_t k = 0; k < job->steps; k++)
      tsr_json_write_double(json, job->numbers[k * results + i]);
    tsr_json_end_array(json);
  }
  tsr_json_end_object(json);
}

static tsr_status print_json(const train_job *job, tsr_text *out) {
  tsr_partition_report report;
  tsr_json_writer json;
  TSR_OWN(text, mesh);
  TSR_TRY(fill_report(job, &report));
  tsr_mesh_print(job->training.info.mesh, &mesh);
  tsr_json_begin_document(&json, out);
  tsr_json_add_string(&json, "mesh", tsr_text_string(&mesh));
  tsr_json_add_int(&json, "steps", job->steps);
  tsr_json_add_int(&json, "loaded", job->loaded);
  tsr_json_add_int(&json, "saved", job->saved);
  numbers_to_json(job, &json);
  if (cli_has(job->args, "report")) tsr_partition_report_to_json(&report, &json);
  tsr_json_end_document(&json);
  return NULL;
}

static tsr_status print_end(const train_job *job, tsr_text *out) {
  if (cli_has(job->args, "json")) return print_json(job, out);
  if (job->saved)
    tsr_text_addf(out, "%lld tensors saved to %s\n", (long long)job->saved,
                  cli_value(job->args, "save"));
  return NULL;
}

// ---- the job ----

static tsr_status begin(const train_job *job) {
  TSR_OWN(text, text);
  if (cli_has(job->args, "json") || tsr_comm_rank(job->comm)) return NULL;
  TSR_TRY(print_start(job, &text));
  return cli_output(&text, NULL);
}

static tsr_status run_job(train_job *job) {
  static const char *const sources[] = {"inputs", "random", NULL};
  TSR_TRY(cli_check_one_of(job->args, sources));
  TSR_TRY(cli_int(job->args, "steps", STEPS, &job->steps));
  if (job->of_case) TSR_TRY(tsr_trial_case_open(job->path, false, &job->trial));
  TSR_TRY(open_step(job));
  TSR_TRY(check_destination(job));
  TSR_TRY(place(job));
  TSR_TRY(begin(job));
  TSR_TRY(train(job));
  return tsr_comm_rank(job->comm) ? NULL : print_end(job, &job->args->out);
}

static tsr_status run_train(cli_args *args) {
  train_job job = {.args = args, .path = args->positional[0]};
  struct stat about;
  job.of_case = !stat(job.path, &about) && S_ISDIR(about.st_mode);
  tsr_status status = run_job(&job);
  if (job.comm) status = cli_end_together(args, job.comm, status);
  tsr_trial_training_deinit(&job.training);
  tsr_comm_release(job.comm);
  tsr_trial_case_deinit(&job.trial);
  free(job.numbers);
  return status;
}

// clang-format off
static const cli_option options[] = {
    {"steps", 'n', "N", "1..1000000000", "number of steps (default: 10)"},
    {"inputs", 'i', "FILE", NULL, "values of the arguments: arg0, arg1, ..., their names or paths, in a safetensors or .npz file"},
    {"random", 'r', "SEED", NULL, "random values instead: normal floats, small integers"},
    {"load", 0, "CHECKPOINT", NULL, "go on from a checkpoint: the arguments that results replace, by their paths"},
    {"save", 0, "FOLDER", NULL, "write these arguments after the last step, a shard for each device"},
    CLI_OPTIONS_AXES, CLI_OPTION_MESH,
    {"report", 0, NULL, NULL, "also print what each device moves and holds, and the fallbacks of partitioning"},
    {"max-memory", 0, "SIZE", NULL, "refuse a program that needs more memory, such as 4G"},
    CLI_OPTIONS_DEVICES,
    CLI_OPTION_JSON,
    {0},
};
// clang-format on

const cli_command cli_cmd_train = {
    .name = "train",
    .summary = "run a training step many times on a mesh",
    .usage = "PROGRAM [options]",
    .options = options,
    .description =
        "PROGRAM is a training step: MLIR text, a portable artifact or a file of jax.export, or a\n"
        "case folder as of tessera-run(1). It is partitioned for the devices of its mesh, or of\n"
        "--mesh, which must have the axes that its shardings name. The devices are virtual: this\n"
        "process runs what all of them do; under mpirun they are divided over the ranks.\n"
        "\n"
        "Arguments that the program donates (donate_argnums in JAX) are the train state: the\n"
        "results in their place are the arguments of the next step. Other arguments, such as the\n"
        "batch, are the same in every step. Results that are numbers, such as the loss, are\n"
        "printed; with --json all of them.\n"
        "\n"
        "--save writes the train state as a checkpoint of shards, --load reads one of any format\n"
        "and layout. So training goes on on another mesh than the one it was saved on.\n",
    .examples =
        "tessera train step.bin --inputs start.safetensors --steps 50 --save half\n"
        "tessera train step.bin -i batch.safetensors --load half --mesh data=4,model=2 -n 50\n"
        "tessera train step.bin --random 1 --report\n"
        "mpirun -n 4 tessera train step.bin -i start.safetensors\n",
    .run = run_train,
};
