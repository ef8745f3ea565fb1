// Collectives made fewer and smaller: programs partitioned with and without the passes of the room
// give the results of the whole program, and move the bytes that are written here. Then chains of
// random ops with random shardings, drawn by a seed.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "combine/moved_bytes.h"
#include "program/program_internal.h"
#include "random_chains.h"
#include "trial/trial.h"

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\n"

// ---- runs ----

static tsr_status run(const tsr_program *program, tsr_trial_values *outputs,
                      tsr_executable **executable) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  tsr_trial_values inputs = {0};
  options.workers = 1;
  TSR_TRY(tsr_executable_compile(program, &options, executable));
  tsr_status status = tsr_trial_values_create(*executable, false, &inputs);
  if (!status) status = tsr_trial_values_random(&inputs, 3);
  if (!status) status = tsr_trial_values_create(*executable, true, outputs);
  if (!status) status = tsr_trial_run(*executable, &inputs, outputs);
  tsr_trial_values_deinit(&inputs);
  return status;
}

static tsr_status compare(const tsr_program *whole, const tsr_program *cut,
                          const tsr_trial_tolerance *tolerance) {
  tsr_executable *first = NULL, *second = NULL;
  tsr_trial_values want = {0}, got = {0};
  tsr_trial_verdict verdict = {0};
  tsr_text differences = TSR_TEXT_EMPTY;
  tsr_status status = tsr_note(run(whole, &want, &first), "whole");
  if (!status) status = tsr_note(run(cut, &got, &second), "partitioned");
  if (!status) status = tsr_trial_compare_values(&got, &want, tolerance, &differences, &verdict);
  if (!status && (verdict.differing || !verdict.elements))
    status = tsr_fail(CHECK_FAILED, "%s", tsr_text_string(&differences));
  tsr_text_deinit(&differences);
  tsr_trial_values_deinit(&want);
  tsr_trial_values_deinit(&got);
  tsr_executable_release(first);
  tsr_executable_release(second);
  return status;
}

static tsr_status count_bytes(const tsr_program *device, int64_t *out_bytes) {
  tsr_moved_bytes moved;
  tsr_ir *ir = tsr_program_copy_ir(device);
  if (!ir) return tsr_fail(NO_MEMORY, "copy of a program");
  tsr_status status = tsr_moved_bytes_count(ir, &moved);
  if (!status) *out_bytes = moved.bytes;
  tsr_ir_destroy(ir);
  return status;
}

// Partitions by a list of passes, runs, compares, and counts the bytes of collectives.
static tsr_status check_list(const tsr_program *whole, const char *list,
                             const tsr_trial_tolerance *tolerance, int64_t *out_bytes) {
  tsr_program *device = NULL, *lanes = NULL;
  TSR_TRY(tsr_program_transform(whole, list, &device));
  tsr_status status = tsr_program_transform(device, "lanes", &lanes);
  if (!status) status = count_bytes(device, out_bytes);
  if (!status) status = compare(whole, lanes, tolerance);
  tsr_program_release(device);
  tsr_program_release(lanes);
  return tsr_note(status, "%s", list);
}

static tsr_status read_program(const char *text, tsr_program **out_program) {
  tsr_text all = TSR_TEXT_EMPTY;
  tsr_text_addf(&all, "%s%s", MESH, text);
  tsr_status status = tsr_text_check(&all);
  if (!status) status = tsr_program_read("case", all.data, all.length, NULL, out_program);
  tsr_text_deinit(&all);
  return status;
}

// ---- programs ----

static const struct {
  const char *name;
  int64_t plain, combined;  // bytes on one device
  const char *text;
} programs[] = {
#define PROGRAM(name, plain, combined, text) {name, plain, combined, text},
#include "programs.def"
#undef PROGRAM
};

static tsr_status check_program(size_t index) {
  const tsr_trial_tolerance tolerance = TSR_TRIAL_TOLERANCE;
  tsr_program *whole = NULL;
  int64_t plain = -1, combined = -1;
  TSR_TRY(read_program(programs[index].text, &whole));
  tsr_status status = check_list(whole, "partition{combine=false}", &tolerance, &plain);
  if (!status) status = check_list(whole, "partition", &tolerance, &combined);
  if (!status && (plain != programs[index].plain || combined != programs[index].combined))
    status = tsr_fail(CHECK_FAILED,
                      "%" PRId64 " bytes become %" PRId64 ", expected %" PRId64 " and %" PRId64,
                      plain, combined, programs[index].plain, programs[index].combined);
  tsr_program_release(whole);
  return status;
}

// ---- texts ----

static const struct {
  const char *name, *passes, *before, *after;  // `after` is NULL: nothing changes
} texts[] = {
#define TEXT(name, passes, before, after) {name, passes, before, after},
#include "texts.def"
#undef TEXT
};

static tsr_status print(const tsr_program *program, tsr_text *out) {
  tsr_program_print_options options = TSR_PROGRAM_PRINT_OPTIONS;
  TSR_TRY(tsr_program_print(program, &options, out));
  return tsr_text_check(out);
}

static tsr_status check_text(size_t index) {
  tsr_program *before = NULL, *after = NULL, *wanted = NULL;
  tsr_text got = TSR_TEXT_EMPTY, want = TSR_TEXT_EMPTY;
  const char *expected = texts[index].after ? texts[index].after : texts[index].before;
  tsr_status status = read_program(texts[index].before, &before);
  if (!status) status = tsr_program_transform(before, texts[index].passes, &after);
  if (!status) status = tsr_note(read_program(expected, &wanted), "expected text");
  if (!status) status = print(after, &got);
  if (!status) status = print(wanted, &want);
  if (!status && strcmp(got.data, want.data) != 0)
    status = tsr_fail(CHECK_FAILED, "found\n%s\nexpected\n%s", got.data, want.data);
  tsr_text_deinit(&got);
  tsr_text_deinit(&want);
  tsr_program_release(before);
  tsr_program_release(after);
  tsr_program_release(wanted);
  return status;
}

// ---- random chains ----

// Sums of floats may be added in any order; f64 leaves room for that after a dozen products.
static tsr_status check_chain(uint64_t seed, int64_t *saved) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_program *whole = NULL;
  int64_t plain = 0, combined = 0;
  const bool floats = random_chain_write(seed, &text);
  const tsr_trial_tolerance tolerance = {floats ? 1e-6 : 0, floats ? 1e-6 : 0, !floats, false};
  tsr_status status = tsr_text_check(&text);
  if (!status) status = tsr_program_read("chain", text.data, text.length, NULL, &whole);
  if (!status) status = check_list(whole, "partition{combine=false}", &tolerance, &plain);
  if (!status) status = check_list(whole, "partition", &tolerance, &combined);
  if (!status && combined > plain)
    status = tsr_fail(CHECK_FAILED, "%" PRId64 " bytes become %" PRId64, plain, combined);
  if (status) printf("%s\n", text.data);
  *saved += plain - combined;
  tsr_program_release(whole);
  tsr_text_deinit(&text);
  return status;
}

// ---- all ----

static int report(tsr_status status, const char *name) {
  if (status) printf("FAIL %s: %s\n", name, tsr_status_text(status));
  const int failed = status != NULL;
  tsr_status_free(status);
  return failed;
}

static int64_t argument(int argc, char **argv, const char *name, int64_t otherwise) {
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], name)) return strtoll(argv[i + 1], NULL, 10);
  return otherwise;
}

int main(int argc, char **argv) {
  const int64_t chains = argument(argc, argv, "--programs", 300);
  const int64_t seed = argument(argc, argv, "--seed", 1);
  int64_t saved = 0;
  int failed = 0;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    failed += report(check_program(i), programs[i].name);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    failed += report(check_text(i), texts[i].name);
  for (int64_t i = 0; i < chains; i++) {
    char name[64];
    snprintf(name, sizeof name, "chain %" PRId64, seed + i);
    failed += report(check_chain((uint64_t)(seed + i), &saved), name);
  }
  if (chains && !saved) failed += report(tsr_fail(CHECK_FAILED, "no bytes were saved"), "chains");
  printf("%d failed; %" PRId64 " chains of random ops move %" PRId64 " bytes less\n", failed,
         chains, saved);
  return failed != 0;
}
