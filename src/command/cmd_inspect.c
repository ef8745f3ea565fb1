// `tessera inspect`: what a checkpoint holds, and where.
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "inspect/verify_internal.h"
#include "plan/tree_internal.h"
#include "report/program_report.h"
#include "tessera/checkpoint/progress.h"

// ---- options ----

static tsr_status check_options(const cli_args *args) {
  static const char *const apart[][3] = {{"tensor", "group", NULL},   {"tensor", "by", NULL},
                                         {"tensor", "include", NULL}, {"tensor", "exclude", NULL},
                                         {"tensor", "sort", NULL},    {"group", "by", NULL},
                                         {"group", "hash", NULL},     {"by", "stats", NULL},
                                         {"by", "hash", NULL},        {"by", "sort", NULL}};
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
    TSR_TRY(cli_check_one_of(args, apart[i]));
  if (cli_has(args, "slice") && !cli_has(args, "tensor"))
    return tsr_fail(BAD_ARGUMENT, "--slice \"%s\" needs --tensor NAME", cli_value(args, "slice"));
  return NULL;
}

// The argument parser has checked that --by is one of the words.
static void read_share(const cli_args *args, tsr_inspect_report *job) {
  static const char *const words[TSR_SHARE_KIND_COUNT] = {
#define X(id, word) [TSR_SHARE_BY_##id] = (word),
      TSR_SHARES(X)
#undef X
  };
  job->by_word = cli_value(args, "by");
  for (int i = 0; job->by_word && i < TSR_SHARE_KIND_COUNT; i++)
    if (!strcmp(job->by_word, words[i])) job->by = (tsr_share_kind)i;
}

static tsr_status find_tensor(const cli_args *args, tsr_inspect_report *job) {
  const char *name = cli_value(args, "tensor");
  const tsr_tree *tree = tsr_checkpoint_tree(job->checkpoint);
  job->tensor = -1;
  if (!name) return NULL;
  job->tensor = tsr_tree_find(tree, name);
  if (job->tensor >= 0) return NULL;
  const char *nearest = tsr_tree_nearest(tree, name);
  return nearest ? tsr_fail(NOT_FOUND, "%s has no tensor \"%s\"; did you mean \"%s\"?", job->path,
                            name, nearest)
                 : tsr_fail(NOT_FOUND, "%s has no tensor \"%s\" among its %lld", job->path, name,
                            (long long)tsr_tree_count(tree));
}

static tsr_status read_slice(const cli_args *args, tsr_inspect_report *job) {
  const char *text = cli_value(args, "slice");
  int jobs = 0;
  if (!text) return NULL;
  const tsr_tensor *tensor = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), job->tensor);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  TSR_TRY_NOTE(tsr_slice_parse(text, &shape, &job->slice), "tensor \"%s\"", tensor->path);
  job->sliced = true;
  job->values = (tsr_values_options){
      .size = sizeof job->values, .most = job->full ? INT64_MAX : 0, .width = cli_width()};
  return cli_read_limits(args, &job->values.max_memory, &jobs);
}

// ---- gathering ----

static tsr_status list(const cli_args *args, tsr_inspect_report *job) {
  const char *include[CLI_MAX_GIVEN], *exclude[CLI_MAX_GIVEN];
  tsr_inspect_options options = {.size = sizeof options, .group = job->grouped};
  options.filter = (tsr_tree_filter){.include = include,
                                     .exclude = exclude,
                                     .include_count = cli_values(args, "include", include),
                                     .exclude_count = cli_values(args, "exclude", exclude)};
  if (cli_has(args, "sort"))
    TSR_TRY(tsr_inspect_order_parse(cli_value(args, "sort"), &options.order));
  TSR_TRY(tsr_inspection_create(job->checkpoint, &options, &job->listing));
  return job->by_word
             ? tsr_inspection_shares(job->listing, job->by, &job->shares, &job->share_count)
             : NULL;
}

static tsr_status read_tensors(const cli_args *args, const tsr_inspect_report *job,
                               const int64_t *tensors, int64_t count, tsr_survey_row *rows) {
  tsr_verify_options options = {.size = sizeof options,
                                .stats = job->stats,
                                .hashes = job->hashes,
                                .replicas = TSR_REPLICAS_TRUST,
                                .progress = tsr_progress_bar,
                                .progress_context = stderr};
  TSR_TRY(cli_read_limits(args, &options.max_memory, &options.jobs));
  return tsr_checkpoint_survey(job->checkpoint, tensors, count, &options, rows);
}

// Reads the tensors of all rows together, then joins the results of each row.
static tsr_status survey_rows(const cli_args *args, tsr_inspect_report *job, int64_t *tensors,
                              tsr_survey_row *rows) {
  const int64_t row_count = tsr_inspection_count(job->listing);
  int64_t count = 0;
  for (int64_t i = 0; i < row_count; i++) {
    const tsr_inspect_row *row = tsr_inspection_row(job->listing, i);
    memcpy(&tensors[count], row->tensors, sizeof *tensors * (size_t)row->count);
    count += row->count;
  }
  TSR_TRY(read_tensors(args, job, tensors, count, rows));
  for (int64_t i = 0; i < row_count; i++) {
    job->survey[i] = *rows++;
    for (int64_t k = 1; k < tsr_inspection_row(job->listing, i)->count; k++)
      tsr_tensor_stats_join(&job->survey[i].stats, &rows++->stats);
  }
  return NULL;
}

static tsr_status survey(const cli_args *args, tsr_inspect_report *job) {
  const int64_t count =
      job->listing ? tsr_inspection_sums(job->listing, TSR_DTYPE_NONE).tensors : 1;
  if (!job->stats && !job->hashes) return NULL;
  job->survey = calloc((size_t)count + 1, sizeof *job->survey);
  if (!job->survey) return tsr_fail(NO_MEMORY, "a list of tensors");
  if (!job->listing) return read_tensors(args, job, &job->tensor, 1, job->survey);
  int64_t *tensors = calloc((size_t)count + 1, sizeof *tensors);
  tsr_survey_row *rows = calloc((size_t)count + 1, sizeof *rows);
  tsr_status status = tensors && rows ? survey_rows(args, job, tensors, rows)
                                      : tsr_fail(NO_MEMORY, "a list of tensors");
  free(tensors);
  free(rows);
  return status;
}

static bool all_agree(const tsr_inspect_report *job) {
  if (!job->survey) return true;
  if (!job->listing) return !tsr_inspect_report_disagrees(job, job->tensor, job->survey);
  for (int64_t i = 0; i < tsr_inspection_count(job->listing); i++)
    if (tsr_inspect_report_disagrees(job, tsr_inspection_row(job->listing, i)->tensors[0],
                                     &job->survey[i]))
      return false;
  return true;
}

// ---- the command ----

static tsr_status inspect(cli_args *args, tsr_inspect_report *job) {
  TSR_TRY(check_options(args));
  TSR_TRY(cli_open_checkpoint(args, job->path, "from", &job->checkpoint));
  TSR_TRY(find_tensor(args, job));
  TSR_TRY(read_slice(args, job));
  if (job->tensor < 0) TSR_TRY(list(args, job));
  TSR_TRY(survey(args, job));
  return cli_has(args, "json") ? tsr_inspect_report_to_json(job, &args->out)
                               : tsr_inspect_report_print(job, &args->out);
}

// ---- programs ----

// Options about tensors mean nothing for a program.
static tsr_status check_program_options(const cli_args *args) {
  for (int i = 0; i < args->given_count; i++) {
    const char *name = args->command->options[args->given[i].option].name;
    if (strcmp(name, "json") != 0 && strcmp(name, "function") != 0 && strcmp(name, "full") != 0)
      return tsr_fail(BAD_ARGUMENT, "--%s is for checkpoints, and %s is a program", name,
                      args->positional[0]);
  }
  return NULL;
}

static tsr_status inspect_program(cli_args *args) {
  tsr_program *program = NULL;
  TSR_TRY(check_program_options(args));
  TSR_TRY(cli_open_program(args->positional[0], false, &program));
  const tsr_program_report report = {.program = program,
                                     .path = cli_program_name(args->positional[0]),
                                     .function = cli_value(args, "function"),
                                     .full = cli_has(args, "full")};
  tsr_status status = cli_has(args, "json") ? tsr_program_report_to_json(&report, &args->out)
                                            : tsr_program_report_print(&report, &args->out);
  tsr_program_release(program);
  return status;
}

static tsr_status inspect_checkpoint(cli_args *args) {
  tsr_inspect_report job = {.path = args->positional[0],
                            .grouped = cli_has(args, "group"),
                            .full = cli_has(args, "full"),
                            .stats = cli_has(args, "stats"),
                            .hashes = cli_has(args, "hash"),
                            .tensor = -1};
  read_share(args, &job);
  tsr_status status = inspect(args, &job);
  if (!status && !all_agree(&job)) args->exit_code = EXIT_CHECK_FAILED;
  free(job.survey);
  free(job.shares);
  tsr_inspection_destroy(job.listing);
  tsr_checkpoint_release(job.checkpoint);
  return status;
}

static tsr_status run_inspect(cli_args *args) {
  if (cli_is_program(args->positional[0])) return inspect_program(args);
  if (cli_has(args, "function"))
    return tsr_fail(BAD_ARGUMENT, "--function is for programs, and %s is none",
                    args->positional[0]);
  return inspect_checkpoint(args);
}

static const cli_option inspect_options[] = {
    {"group", 'g', NULL, NULL, "one line for tensors whose names differ only in numbers"},
    {"by", 'b', "WHAT", "file|rank|device",
     "list what each file, rank or device holds, instead of tensors"},
    CLI_OPTION_INCLUDE,
    CLI_OPTION_EXCLUDE,
    {"sort", 0, "ORDER", "tree|name|bytes|file",
     "order of the tensors (default: tree, as in the checkpoint)"},
    {"tensor", 't', "NAME", NULL, "show one tensor: its cut and the place of each shard"},
    {"slice", 's', "SLICE", NULL,
     "with --tensor: print elements, in Python's notation: '0:4, -1, ::2'"},
    {"function", 0, "NAME", NULL, "of a program: show this function (default: the entry)"},
    {"full", 0, NULL, NULL, "print long lists in full: shards, elements, ops, constants"},
    CLI_OPTION_STATS,
    CLI_OPTION_HASH,
    CLI_OPTION_FROM,
    CLI_OPTIONS_LIMITS,
    CLI_OPTION_JSON,
    {0},
};

const cli_command cli_cmd_inspect = {
    .name = "inspect",
    .summary = "show what a checkpoint or a program holds",
    .usage = "PATH [options]",
    .options = inspect_options,
    .description =
        "PATH is a checkpoint of any format: a safetensors file, a Hugging Face folder or its\n"
        "index, a folder with files for each rank, a folder that tessera wrote, NumPy arrays.\n"
        "Only headers are read, unless --slice, --stats or --hash need elements. A slice reads\n"
        "only the elements that it shows, in any layout.\n\n"
        "PATH may also be a program: MLIR text, a portable artifact or a file of jax.export,\n"
        "recognised by content; - is standard input. Then functions, arguments with their\n"
        "shardings and donation, counts of ops, large constants and meshes are shown.\n\n"
        "Exit code 1 if --hash finds a tensor that differs from its stored hash.\n",
    .examples =
        "tessera inspect Llama-3-8B --group\n"
        "tessera inspect cut --by device\n"
        "tessera inspect cut --tensor lm_head.weight --slice '0:4, :8'\n"
        "tessera inspect cut --include norm --stats --json\n",
    .run = run_inspect,
};
