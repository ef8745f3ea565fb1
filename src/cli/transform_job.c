// A job that writes a checkpoint: its options, its source, and the run, which Ctrl-C stops between
// two windows.
#include "cli/transforms.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress_internal.h"
#include "format/format.h"
#include "tessera/checkpoint/progress.h"

typedef struct transform_job {
  cli_args *args;
  const char *from, *to;
  tsr_checkpoint *source;
  tsr_plan *plan;
  tsr_mapping *map;
  tsr_transform *transform;
  tsr_transform_options options;
  const char *include[CLI_MAX_GIVEN], *exclude[CLI_MAX_GIVEN];
  tsr_cast_rule casts[CLI_MAX_GIVEN];
  char *cast_patterns[CLI_MAX_GIVEN];  // owned
  uint64_t unused;                     // facts of --fact that nothing uses, as bits
} transform_job;

// ---- options ----

// "REGEX=bf16", split at the last equals sign, since patterns may contain others.
static tsr_status read_cast(transform_job *j, const char *text) {
  const char *equals = strrchr(text, '=');
  const int64_t index = j->options.cast_count;
  if (!equals || equals == text)
    return tsr_fail(BAD_ARGUMENT, "--cast is \"%s\", wanted REGEX=DTYPE, as 'norm=f32'", text);
  TSR_TRY_NOTE(tsr_dtype_parse(equals + 1, &j->casts[index].dtype), "--cast %s", text);
  j->cast_patterns[index] = strndup(text, (size_t)(equals - text));
  if (!j->cast_patterns[index]) return tsr_fail(NO_MEMORY, "a pattern");
  j->casts[index].pattern = j->cast_patterns[index];
  j->options.cast_count++;
  return NULL;
}

static tsr_status read_selection(transform_job *j) {
  const char *casts[CLI_MAX_GIVEN];
  const int count = cli_values(j->args, "cast", casts);
  j->options.include = j->include;
  j->options.exclude = j->exclude;
  j->options.casts = j->casts;
  j->options.include_count = cli_values(j->args, "include", j->include);
  j->options.exclude_count = cli_values(j->args, "exclude", j->exclude);
  for (int i = 0; i < count; i++) TSR_TRY(read_cast(j, casts[i]));
  if (!cli_has(j->args, "dtype")) return NULL;
  return tsr_note(tsr_dtype_parse(cli_value(j->args, "dtype"), &j->options.dtype), "--dtype");
}

static tsr_status read_limits(transform_job *j) {
  TSR_TRY(cli_read_limits(j->args, &j->options.max_memory, &j->options.jobs));
  if (!cli_has(j->args, "max-file-size")) return NULL;
  TSR_TRY(cli_bytes(j->args, "max-file-size", &j->options.max_file_size));
  if (j->options.max_file_size < 1)
    return tsr_fail(BAD_ARGUMENT, "--max-file-size is 0, wanted 1 or more");
  return NULL;
}

static tsr_status read_options(transform_job *j) {
  const cli_args *args = j->args;
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"resume", "force", NULL}));
  j->options.size = sizeof j->options;
  j->options.existing = cli_has(args, "resume")  ? TSR_EXISTING_RESUME
                        : cli_has(args, "force") ? TSR_EXISTING_REPLACE
                                                 : TSR_EXISTING_REFUSE;
  if (cli_has(args, "trust-replicas")) j->options.replicas = TSR_REPLICAS_TRUST;
  j->options.trust_source = cli_has(args, "trust-source");
  j->options.allow_overflow = cli_has(args, "allow-overflow");
  j->options.no_companions = cli_has(args, "no-companions");
  j->options.no_extras = cli_has(args, "no-extras");
  j->options.no_sync = cli_has(args, "no-sync");
  TSR_TRY(read_limits(j));
  return read_selection(j);
}

// ---- source and destination ----

static tsr_status open_source(transform_job *j) {
  const cli_transform_kind *kind = j->args->command->transform;
  TSR_TRY(cli_open_checkpoint(j->args, j->from, "from", &j->source));
  const bool cut = tsr_checkpoint_plan(j->source) != NULL;
  if (tsr_format_row(tsr_checkpoint_format_of(j->source))->nested) return NULL;  // one model each
  if (cut && !kind->cut_source)
    return tsr_fail(BAD_ARGUMENT,
                    "%s is cut; `tessera gather` makes it whole, `tessera reshard` cuts it another "
                    "way",
                    j->from);
  if (!cut && !kind->whole_source)
    return tsr_fail(BAD_ARGUMENT,
                    "%s is whole already; `tessera split` and `tessera merge` write its tensors to "
                    "other files",
                    j->from);
  return NULL;
}

// Refuses options that have no effect on this source or this destination.
static tsr_status check_effects(const transform_job *j) {
  const tsr_format_ops *source = tsr_format_row(tsr_checkpoint_format_of(j->source));
  const tsr_format_ops *made = tsr_format_row(j->options.format);
  if (cli_has(j->args, "npy-dtype") && !source->fallback_dtype)
    return tsr_fail(BAD_ARGUMENT, "--npy-dtype has no effect: %s has format %s and no NumPy arrays",
                    j->from, source->name);
  if (cli_has(j->args, "max-file-size") && made && (made->single_name || made->file_per_tensor))
    return tsr_fail(BAD_ARGUMENT, "--max-file-size has no effect: %s will be %s", j->to,
                    made->file_per_tensor ? "one file for each tensor" : "one file");
  return cli_check_facts(j->args, j->unused);
}

// ---- running ----

// The only kind of variable that a signal handler may write.
static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

static bool show_progress(void *context, const tsr_progress_report *report) {
  return tsr_progress_bar(context, report) && !interrupted;
}

// The first Ctrl-C stops the job between two windows; a second one ends the process.
static tsr_status run_interruptibly(tsr_transform *transform, double *out_seconds) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
  struct sigaction before_int, before_term;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
  const double began = tsr_now();
  tsr_status status = tsr_transform_run(transform);
  *out_seconds = tsr_now() - began;
  sigaction(SIGINT, &before_int, NULL);
  sigaction(SIGTERM, &before_term, NULL);
  return status;
}

static tsr_status run(transform_job *j) {
  TSR_TRY(read_options(j));
  TSR_TRY(open_source(j));
  TSR_TRY(cli_open_map(j->args, j->from, tsr_checkpoint_tree(j->source), &j->unused, &j->map));
  j->options.map = j->map;
  TSR_TRY(cli_choose_destination(j->args, j->source, &j->options, &j->unused, &j->plan));
  TSR_TRY(check_effects(j));
  j->options.progress = show_progress;
  j->options.progress_context = stderr;
  TSR_TRY(tsr_transform_create(j->source, j->to, &j->options, &j->transform));
  double seconds = 0;
  if (cli_has(j->args, "dry-run")) {
    cli_print_certificate(j->args, &j->options, j->transform);
    return NULL;
  }
  TSR_TRY(run_interruptibly(j->transform, &seconds));
  return cli_report_transform(j->args, &j->options, j->transform, seconds);
}

tsr_status cli_run_transform(cli_args *args) {
  transform_job j = {
      .args = args, .from = args->positional[0], .to = args->positional[1], .unused = UINT64_MAX};
  tsr_status status = run(&j);
  tsr_transform_destroy(j.transform);
  tsr_plan_release(j.plan);
  tsr_mapping_release(j.map);
  tsr_checkpoint_release(j.source);
  for (int i = 0; i < CLI_MAX_GIVEN; i++) free(j.cast_patterns[i]);
  return status;
}
