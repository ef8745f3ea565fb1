// A job that writes a checkpoint, from its command line to its summary: options, source, the
// certificate of a dry run, progress, and the result as text or JSON.
#include "command/transform_job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text_internal.h"
#include "cli/fact_source.h"
#include "cli/map_source.h"
#include "command/transform_talk.h"
#include "format/format.h"
#include "job/transform_internal.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "plan/plan_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"

typedef struct transform_job {
  const cli_args *args;
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
  double seconds;                      // that writing took
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

// ---- reports ----

static void print_certificate(const transform_job *j, tsr_text *out) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(j->transform);
  tsr_text_addf(out, "%s -> %s, format %s: %lld tensor%s in %lld window%s\n", j->from, j->to,
                tsr_checkpoint_format_name(j->options.format), (long long)c->tensors,
                c->tensors == 1 ? "" : "s", (long long)c->windows, c->windows == 1 ? "" : "s");
  tsr_text_addf(out, "read     %12lld bytes (%s) of %lld file%s%s; lower bound: %lld\n",
                (long long)c->bytes_read, tsr_format_bytes(c->bytes_read).text,
                (long long)c->source_files, c->source_files == 1 ? "" : "s",
                j->map ? ", small gaps not counted" : "", (long long)c->least_read);
  tsr_text_addf(out, "written  %12lld bytes (%s); lower bound: %lld\n", (long long)c->bytes_written,
                tsr_format_bytes(c->bytes_written).text, (long long)c->least_written);
  tsr_text_addf(out, "memory   %12lld bytes (%s) at most, for tables and %d thread%s\n",
                (long long)c->peak_memory, tsr_format_bytes(c->peak_memory).text, c->workers,
                c->workers == 1 ? "" : "s");
  if (c->bytes_free >= 0)
    tsr_text_addf(out, "disk     %12lld bytes (%s) are free\n", (long long)c->bytes_free,
                  tsr_format_bytes(c->bytes_free).text);
  tsr_text_addf(out, "files    %12lld\n", (long long)c->files);
  for (int i = 0; i < c->files; i++)
    tsr_text_addf(out, "  %-40s %12lld\n", tsr_transform_file_at(j->transform, i),
                  (long long)tsr_transform_file_bytes(j->transform, i));
  int64_t index_bytes = 0;
  const char *index = tsr_transform_index(j->transform, &index_bytes);
  if (index) tsr_text_addf(out, "  %-40s %12lld\n", index, (long long)index_bytes);
  for (int i = 0; i < c->extras; i++)
    tsr_text_addf(out, "  %-40s %12s\n", tsr_transform_extra_at(j->transform, i), "copied along");
}

static void write_index(const transform_job *j, tsr_json_writer *json) {
  int64_t bytes = 0;
  const char *name = tsr_transform_index(j->transform, &bytes);
  tsr_json_write_key(json, "index");
  if (!name) {
    tsr_json_write_null(json);
    return;
  }
  tsr_json_begin_object(json);
  tsr_json_add_string(json, "name", name);
  tsr_json_add_int(json, "bytes", bytes);
  tsr_json_end_object(json);
}

static void write_files(const transform_job *j, tsr_json_writer *json) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(j->transform);
  tsr_json_add_array(json, "files");
  for (int i = 0; i < c->files; i++) {
    tsr_json_begin_object(json);
    tsr_json_add_string(json, "name", tsr_transform_file_at(j->transform, i));
    tsr_json_add_int(json, "bytes", tsr_transform_file_bytes(j->transform, i));
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
  write_index(j, json);
  tsr_json_add_array(json, "extras");
  for (int i = 0; i < c->extras; i++)
    tsr_json_write_string(json, tsr_transform_extra_at(j->transform, i));
  tsr_json_end_array(json);
}

// Not from getrusage, whose peak includes the process before exec.
static int64_t peak_memory(void) {
  FILE *file = fopen("/proc/self/status", "re");
  char line[256];
  long long kib = 0;
  while (file && !kib && fgets(line, sizeof line, file)) (void)sscanf(line, "VmHWM: %lld", &kib);
  if (file) fclose(file);
  return kib * 1024;
}

static const tsr_json_field certificate_fields[] =
    TSR_JSON_FIELDS(tsr_transform_certificate, tensors, windows, workers, source_files, bytes_read,
                    least_read, bytes_written, least_written, extra_bytes, table_memory);

static void print_json(const transform_job *j, bool done, tsr_text *out) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(j->transform);
  tsr_json_writer json;
  tsr_json_begin_document(&json, out);
  tsr_json_add_string(&json, "source", j->from);
  tsr_json_add_string(&json, "destination", j->to);
  tsr_json_add_string(&json, "format", tsr_checkpoint_format_name(j->options.format));
  tsr_json_add_fields(&json, certificate_fields, c);
  tsr_json_add_int(&json, "buffer_memory", c->peak_memory - c->table_memory);
  tsr_json_add_int(&json, "bytes_free", c->bytes_free);
  write_files(j, &json);
  if (done) {
    cli_write_transform_report(tsr_transform_report_of(j->transform), &json);
    tsr_json_add_double(&json, "seconds", j->seconds);
    tsr_json_add_int(&json, "peak_memory", peak_memory());
  }
  tsr_json_end_document(&json);
}

static tsr_status print_result(const transform_job *j, bool done) {
  const bool json = cli_has(j->args, "json");
  tsr_text text = TSR_TEXT_EMPTY;
  if (json)
    print_json(j, done, &text);
  else if (!done)
    print_certificate(j, &text);
  tsr_status status = cli_output(&text, NULL);
  tsr_text_deinit(&text);
  return status;
}

static void summarise(const transform_job *j) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(j->transform);
  const double rate = j->seconds > 0 ? (double)c->bytes_written / j->seconds : 0;
  cli_say("%s: %lld tensor%s in %lld file%s, %s in %.1f s, %s/s, peak memory %s\n", j->to,
          (long long)c->tensors, c->tensors == 1 ? "" : "s", (long long)c->files,
          c->files == 1 ? "" : "s", tsr_format_bytes(c->bytes_written).text, j->seconds,
          tsr_format_bytes((int64_t)rate).text, tsr_format_bytes(peak_memory()).text);
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

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The first Ctrl-C stops the job between two windows; a second one ends the process.
static tsr_status run_interruptibly(transform_job *j) {
  struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
  struct sigaction before_int, before_term;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
  const double began = now();
  tsr_status status = tsr_transform_run(j->transform);
  j->seconds = now() - began;
  sigaction(SIGINT, &before_int, NULL);
  sigaction(SIGTERM, &before_term, NULL);
  return status;
}

static tsr_status finish(transform_job *j) {
  tsr_status status = run_interruptibly(j);
  if (status) return status;
  summarise(j);
  TSR_TRY(cli_say_transform_report(tsr_transform_report_of(j->transform), j->from, j->to));
  if (j->options.dtype && !j->options.no_extras) cli_warn_of_config(j->to, j->options.dtype);
  return print_result(j, true);
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
  return cli_has(j->args, "dry-run") ? print_result(j, false) : finish(j);
}

tsr_status cli_run_transform(const cli_args *args, int *out_exit) {
  (void)out_exit;
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
