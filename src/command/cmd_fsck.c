// `tessera fsck`: every fault of a checkpoint on disk, and what to do about each kind.
#include "base/text_internal.h"
#include "command/command.h"
#include "format/fsck_report.h"
#include "json/json.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/progress.h"

#define INDEX_REMEDY "when all files are present and whole, --repair rewrites the index"

// What to do about each kind of fault.
static const char *const remedies[TSR_FAULT_COUNT] = {
    [TSR_FAULT_UNREADABLE] = "check the permissions of the file and the health of the disk",
    [TSR_FAULT_HEADER] = "fetch or copy the file again",
    [TSR_FAULT_SIZE] = "fetch or copy the file again",
    [TSR_FAULT_TRUNCATED] = "fetch or copy the file again; the copy was not finished",
    [TSR_FAULT_BAD_INDEX] = INDEX_REMEDY,
    [TSR_FAULT_NO_INDEX] = INDEX_REMEDY,
    [TSR_FAULT_NOT_IN_INDEX] = INDEX_REMEDY,
    [TSR_FAULT_TOTAL_SIZE] = INDEX_REMEDY,
    [TSR_FAULT_OUTSIDE] = "move the file into the folder before copying the folder",
    [TSR_FAULT_FILE_MISSING] = "restore or fetch the file",
    [TSR_FAULT_FILE_SURPLUS] = "remove the file, or add it to the index",
    [TSR_FAULT_NOT_IN_FILE] = "restore the file that holds the tensor",
    [TSR_FAULT_TWICE] = "remove the file that does not belong to the model",
    [TSR_FAULT_TIED] = "nothing; loaders use the embedding",
    [TSR_FAULT_LEFT_OVER] = "run the same command with --resume, or remove it",
    [TSR_FAULT_NO_PLAN] = "give the plan of the ranks with --from",
    [TSR_FAULT_BAD_MANIFEST] = "restore the file from a copy of the checkpoint",
    [TSR_FAULT_SLICE] = "restore the file that was written with this plan",
    [TSR_FAULT_NOT_IN_PLAN] = "restore the file that was written with this plan",
    [TSR_FAULT_LOST] = "restore the files that hold the rest of the tensor",
    [TSR_FAULT_DISAGREES] = "restore files that were written together",
    [TSR_FAULT_HASH] = "fetch or copy the files of the tensor again",
    [TSR_FAULT_COPIES] = "find out which replica is right, and copy it over the other",
};

static void write_fault(const tsr_fault *fault, tsr_json_writer *w) {
  tsr_json_begin_object(w);
  tsr_json_add_string(w, "fault", tsr_fault_name(fault->kind));
  tsr_json_add_string(w, "severity", tsr_severity_name(fault->severity));
  tsr_json_add_string(w, "file", fault->file);
  tsr_json_add_string(w, "tensor", fault->tensor);
  tsr_json_add_string(w, "message", fault->message);
  tsr_json_add_string(w, "remedy", remedies[fault->kind]);
  tsr_json_add_bool(w, "repairable", fault->repairable);
  tsr_json_end_object(w);
}

static void write_report(const tsr_fsck *fsck, tsr_text *out) {
  tsr_json_writer w;
  tsr_json_begin_document(&w, out);
  tsr_json_add_int(&w, "files", tsr_fsck_files(fsck));
  tsr_json_add_int(&w, "tensors", tsr_fsck_tensors(fsck));
  tsr_json_add_bool(&w, "repaired", tsr_fsck_repaired(fsck));
  tsr_json_add_array(&w, "faults");
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) write_fault(tsr_fsck_at(fsck, i), &w);
  tsr_json_end_array(&w);
  tsr_json_end_document(&w);
}

// Once for each kind of fault that --repair does not fix.
static void print_remedies(const tsr_fsck *fsck, tsr_text *out) {
  bool printed[TSR_FAULT_COUNT] = {0}, any = false;
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) {
    const tsr_fault *fault = tsr_fsck_at(fsck, i);
    if (printed[fault->kind] || fault->repairable) continue;
    printed[fault->kind] = true;
    tsr_text_addf(out, "%s  %s: %s\n", any ? "" : "what to do about\n", tsr_fault_name(fault->kind),
                  remedies[fault->kind]);
    any = true;
  }
}

static void print_count(int64_t count, const char *what, const char *then, tsr_text *out) {
  tsr_text_addf(out, "%lld %s%s%s", (long long)count, what, count == 1 ? "" : "s", then);
}

static bool had_index(const tsr_fsck *fsck) {
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++)
    if (tsr_fsck_at(fsck, i)->kind == TSR_FAULT_NO_INDEX) return false;
  return true;
}

static void print_report(const tsr_fsck *fsck, tsr_text *out) {
  const bool repaired = tsr_fsck_repaired(fsck);
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) {
    const tsr_fault *fault = tsr_fsck_at(fsck, i);
    const char *state = !fault->repairable ? "" : repaired ? " (fixed)" : " (--repair fixes it)";
    tsr_text_addf(out, "%s: %s%s\n", tsr_severity_name(fault->severity), fault->message, state);
  }
  print_count(tsr_fsck_files(fsck), "file", ", ", out);
  print_count(tsr_fsck_tensors(fsck), "tensor", ": ", out);
  print_count(tsr_fsck_total(fsck, TSR_SEVERITY_ERROR), "error", ", ", out);
  print_count(tsr_fsck_total(fsck, TSR_SEVERITY_WARNING), "warning", "\n", out);
  if (repaired)
    tsr_text_add(out, had_index(fsck) ? "the index was rewritten; the old one ends in .bak\n"
                                      : "the index was written\n");
  print_remedies(fsck, out);
}

// Whether no error remains.
static bool is_sound(const tsr_fsck *fsck) {
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) {
    const tsr_fault *fault = tsr_fsck_at(fsck, i);
    if (fault->severity == TSR_SEVERITY_ERROR && !(fault->repairable && tsr_fsck_repaired(fsck)))
      return false;
  }
  return true;
}

static tsr_status run_fsck(cli_args *args) {
  tsr_fsck_options options = {.size = sizeof options,
                              .deep = cli_has(args, "deep"),
                              .repair = cli_has(args, "repair"),
                              .progress = tsr_progress_bar,
                              .progress_context = stderr};
  tsr_plan *plan = NULL;
  tsr_fsck *fsck = NULL;
  TSR_TRY(cli_read_limits(args, &options.max_memory, &options.jobs));
  if (cli_has(args, "from")) TSR_TRY(cli_open_plan(cli_value(args, "from"), &plan));
  options.plan = plan;
  tsr_status status = tsr_fsck_run(args->positional[0], &options, &fsck);
  if (!status) {
    (cli_has(args, "json") ? write_report : print_report)(fsck, &args->out);
    if (!is_sound(fsck)) args->exit_code = EXIT_CHECK_FAILED;
  }
  tsr_fsck_destroy(fsck);
  tsr_plan_release(plan);
  return status;
}

static const cli_option fsck_options[] = {
    {"deep", 0, NULL, NULL, "read all elements: check stored hashes and replicas"},
    {"repair", 0, NULL, NULL, "rewrite the index from the file headers, if that fixes a fault"},
    CLI_OPTION_FROM,
    CLI_OPTIONS_LIMITS,
    CLI_OPTION_JSON,
    {0},
};

const cli_command cli_cmd_fsck = {
    .name = "fsck",
    .summary = "check a checkpoint on disk and name every fault",
    .usage = "PATH [options]",
    .options = fsck_options,
    .description =
        "Compares index, headers and files, names every fault, and says for each kind of fault\n"
        "what to do. PATH is a file or folder of any format, or the index, manifest or plan in\n"
        "a folder. Exit code 1 if an error remains; warnings and notes do not count.\n",
    .examples =
        "tessera fsck Llama-3-8B\n"
        "tessera fsck cut --deep\n"
        "tessera fsck Llama-3-8B --repair\n",
    .run = run_fsck,
};
