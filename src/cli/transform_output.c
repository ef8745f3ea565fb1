// What a job prints: the certificate of a dry run, and at its end a summary, warnings and, with
// --json, both as JSON. Warnings are about values that a cast lost, tensors that were not checked
// against hashes, and a config.json that does not match the new dtype.
#include "cli/transforms.h"

#include <limits.h>

#include "base/text_internal.h"
#include "job/transform_internal.h"
#include "json/json.h"
#include "json/json_fields.h"

// Not from getrusage, whose peak includes the process before exec.
static int64_t peak_memory(void) {
  FILE *file = fopen("/proc/self/status", "re");
  char line[256];
  long long kib = 0;
  while (file && !kib && fgets(line, sizeof line, file)) (void)sscanf(line, "VmHWM: %lld", &kib);
  if (file) fclose(file);
  return kib * 1024;
}

static void print_text(const cli_args *args, const tsr_transform_options *options,
                       const tsr_transform *transform, tsr_text *out) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(transform);
  tsr_text_addf(out, "%s -> %s, format %s: %lld tensor%s in %lld window%s\n", args->positional[0],
                args->positional[1], tsr_checkpoint_format_name(options->format),
                (long long)c->tensors, c->tensors == 1 ? "" : "s", (long long)c->windows,
                c->windows == 1 ? "" : "s");
  tsr_text_addf(out, "read     %12lld bytes (%s) of %lld file%s%s; lower bound: %lld\n",
                (long long)c->bytes_read, tsr_format_bytes(c->bytes_read).text,
                (long long)c->source_files, c->source_files == 1 ? "" : "s",
                options->map ? ", small gaps not counted" : "", (long long)c->least_read);
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
    tsr_text_addf(out, "  %-40s %12lld\n", tsr_transform_file_at(transform, i),
                  (long long)tsr_transform_file_bytes(transform, i));
  int64_t index_bytes = 0;
  const char *index = tsr_transform_index(transform, &index_bytes);
  if (index) tsr_text_addf(out, "  %-40s %12lld\n", index, (long long)index_bytes);
  for (int i = 0; i < c->extras; i++)
    tsr_text_addf(out, "  %-40s %12s\n", tsr_transform_extra_at(transform, i), "copied along");
}

// ---- as JSON ----

static void write_index(const tsr_transform *transform, tsr_json_writer *json) {
  int64_t bytes = 0;
  const char *name = tsr_transform_index(transform, &bytes);
  if (!name) {
    tsr_json_add_null(json, "index");
    return;
  }
  tsr_json_add_object(json, "index");
  tsr_json_add_string(json, "name", name);
  tsr_json_add_int(json, "bytes", bytes);
  tsr_json_end_object(json);
}

static void write_files(const tsr_transform *transform, tsr_json_writer *json) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(transform);
  tsr_json_add_array(json, "files");
  for (int i = 0; i < c->files; i++) {
    tsr_json_begin_object(json);
    tsr_json_add_string(json, "name", tsr_transform_file_at(transform, i));
    tsr_json_add_int(json, "bytes", tsr_transform_file_bytes(transform, i));
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
  write_index(transform, json);
  tsr_json_add_array(json, "extras");
  for (int i = 0; i < c->extras; i++)
    tsr_json_write_string(json, tsr_transform_extra_at(transform, i));
  tsr_json_end_array(json);
}

static void write_losses(const tsr_transform_report *report, tsr_json_writer *json) {
  tsr_json_add_int(json, "tensors_checked", report->checked);
  tsr_json_add_int(json, "tensors_unchecked", report->unchecked);
  tsr_json_add_int(json, "elements_lost", report->lost_elements);
  tsr_json_add_array(json, "lost");
  for (int64_t i = 0; i < report->loss_count; i++) {
    tsr_json_begin_inline_object(json);
    tsr_json_add_string(json, "tensor", report->losses[i].tensor);
    tsr_json_add_int(json, "elements", report->losses[i].elements);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}

static const tsr_json_field certificate_fields[] =
    TSR_JSON_FIELDS(tsr_transform_certificate, tensors, windows, workers, source_files, bytes_read,
                    least_read, bytes_written, least_written, extra_bytes, table_memory);

// `seconds` is what the job took; negative = it did not run.
static void write_json(cli_args *args, const tsr_transform_options *options,
                       const tsr_transform *transform, double seconds) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(transform);
  tsr_json_writer json;
  tsr_json_begin_document(&json, &args->out);
  tsr_json_add_string(&json, "source", args->positional[0]);
  tsr_json_add_string(&json, "destination", args->positional[1]);
  tsr_json_add_string(&json, "format", tsr_checkpoint_format_name(options->format));
  tsr_json_add_fields(&json, certificate_fields, c);
  tsr_json_add_int(&json, "buffer_memory", c->peak_memory - c->table_memory);
  tsr_json_add_int(&json, "bytes_free", c->bytes_free);
  write_files(transform, &json);
  if (seconds >= 0) {
    write_losses(tsr_transform_report_of(transform), &json);
    tsr_json_add_double(&json, "seconds", seconds);
    tsr_json_add_int(&json, "peak_memory", peak_memory());
  }
  tsr_json_end_document(&json);
}

void cli_print_certificate(cli_args *args, const tsr_transform_options *options,
                           const tsr_transform *transform) {
  if (cli_has(args, "json"))
    write_json(args, options, transform, -1);
  else
    print_text(args, options, transform, &args->out);
}

// ---- the end of a job ----

static void summarise(const tsr_transform *transform, const char *to, double seconds) {
  const tsr_transform_certificate *c = tsr_transform_certificate_of(transform);
  const double rate = seconds > 0 ? (double)c->bytes_written / seconds : 0;
  cli_say("%s: %lld tensor%s in %lld file%s, %s in %.1f s, %s/s, peak memory %s\n", to,
          (long long)c->tensors, c->tensors == 1 ? "" : "s", (long long)c->files,
          c->files == 1 ? "" : "s", tsr_format_bytes(c->bytes_written).text, seconds,
          tsr_format_bytes((int64_t)rate).text, tsr_format_bytes(peak_memory()).text);
}

// Values that a cast lost, the worst tensors first.
static tsr_status say_losses(const tsr_transform_report *report, const char *to) {
  enum { SHOWN = 3 };
  const long long elements = report->lost_elements, tensors = report->loss_count;
  tsr_text names = TSR_TEXT_EMPTY;
  for (int64_t i = 0; i < tensors && i < SHOWN; i++)
    tsr_text_addf(&names, "%s%s: %lld", i ? ", " : "", report->losses[i].tensor,
                  (long long)report->losses[i].elements);
  if (tensors > SHOWN) tsr_text_add(&names, ", ...");
  tsr_status status = tsr_text_check(&names);
  if (!status)
    cli_say(
        "warning: %s: %s%lld element%s of %lld tensor%s did not fit the dtype of the cast and "
        "became inf, nan or the largest number (%s)\n",
        to, report->resumed ? "since the job was resumed, " : "", elements,
        elements == 1 ? "" : "s", tensors, tensors == 1 ? "" : "s", tsr_text_string(&names));
  tsr_text_deinit(&names);
  return status;
}

static tsr_status warn_of_losses(const tsr_transform_report *report, const char *from,
                                 const char *to) {
  if (report->unchecked)
    cli_say(
        "note: %lld of %lld tensors were read incompletely or in another order and not compared "
        "with "
        "the hashes of %s; `tessera fsck --deep` compares all\n",
        (long long)report->unchecked, (long long)(report->checked + report->unchecked), from);
  return report->loss_count ? say_losses(report, to) : NULL;
}

// The dtype that a member names; NONE if it is missing or not a dtype.
static tsr_dtype dtype_in(const tsr_json *config, const char *key, char name[32]) {
  const char *bytes = NULL;
  size_t length = 0;
  tsr_dtype dtype = TSR_DTYPE_NONE;
  tsr_status status = tsr_json_get_string(tsr_json_find(config, key), key, &bytes, &length);
  if (!status) snprintf(name, 32, "%.*s", length < 32 ? (int)length : 31, bytes);
  if (!status) status = tsr_dtype_parse(name, &dtype);
  tsr_status_free(status);
  return dtype;
}

static void warn_of_config(const char *folder, tsr_dtype cast) {
  static const char *const keys[] = {"torch_dtype", "dtype"};
  char path[PATH_MAX], name[32];
  tsr_json_doc *doc = NULL;
  snprintf(path, sizeof path, "%s/config.json", folder);
  tsr_status_free(tsr_json_read_file(path, &doc));  // the file is optional
  for (int i = 0; i < 2 && doc; i++) {
    const tsr_dtype said = dtype_in(tsr_json_root(doc), keys[i], name);
    if (said == TSR_DTYPE_NONE || said == cast) continue;
    cli_say("warning: %s was copied unchanged: its %s is \"%s\", but tensors were cast to %s\n",
            path, keys[i], name, tsr_dtype_name(cast, TSR_NAMES_OWN));
  }
  tsr_json_destroy(doc);
}

tsr_status cli_report_transform(cli_args *args, const tsr_transform_options *options,
                                const tsr_transform *transform, double seconds) {
  const char *from = args->positional[0], *to = args->positional[1];
  summarise(transform, to, seconds);
  TSR_TRY(warn_of_losses(tsr_transform_report_of(transform), from, to));
  if (options->dtype && !options->no_extras) warn_of_config(to, options->dtype);
  if (cli_has(args, "json")) write_json(args, options, transform, seconds);
  return NULL;
}
