// The bytes that the collectives of each recorded program move on one device, once it is
// partitioned, beside those of XLA (case.json). A program that moves more than limits.def allows
// fails, and so does one that has no limit.
//
//   test_corpus_bytes                     checks the limits
//   test_corpus_bytes --table [FOLDER]    prints all programs (tests/programs), ours and XLA's
//   test_corpus_bytes --record            prints limits.def anew
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combine/moved_bytes.h"
#include "program/program_internal.h"
#include "trial/trial.h"

enum { MOST_CASES = 400 };

typedef struct bytes_row {
  const char *name;
  int64_t ours;
  int64_t theirs;  // -1 = XLA has no partitioned program, or loops whose steps it does not say
  int64_t unknown_loops;
} bytes_row;

static const struct {
  const char *name;
  int64_t bytes;
} limits[] = {
#define LIMIT(name, bytes) {#name, bytes},
#include "limits.def"
#undef LIMIT
};

// ---- XLA ----

// The steps of loops are known before XLA optimises for programs without loops only; afterwards
// XLA says them for most.
static int64_t bytes_of_kind(const tsr_json *kind) {
  const tsr_json *runs = tsr_json_find(kind, "dynamic_operand_bytes");
  int64_t once = 0, operand = 0, result = 0;
  if (!runs || tsr_json_kind_of(runs) != TSR_JSON_NUMBER) return -1;
  if (tsr_json_get_int(runs, "bytes", &operand) ||
      tsr_json_get_int(tsr_json_find(kind, "operand_bytes"), "bytes", &once) ||
      tsr_json_get_int(tsr_json_find(kind, "result_bytes"), "bytes", &result))
    return -1;
  result = once ? result * (operand / once) : 0;
  if (tsr_json_key_is(kind, "all-reduce")) return 2 * operand;
  if (tsr_json_key_is(kind, "all-gather")) return result - operand;
  if (tsr_json_key_is(kind, "reduce-scatter")) return operand - result;
  return operand;
}

static int64_t bytes_of_xla(const tsr_trial_case *trial, const char *stage) {
  const tsr_json *root = trial->facts ? tsr_json_root(trial->facts) : NULL;
  const tsr_json *kinds = tsr_json_find(tsr_json_find(root, "xla"), stage);
  int64_t sum = 0;
  if (!kinds || tsr_json_kind_of(kinds) != TSR_JSON_OBJECT) return -1;
  for (const tsr_json *kind = tsr_json_first(kinds); kind; kind = tsr_json_next(kind)) {
    const int64_t bytes = bytes_of_kind(kind);
    if (bytes < 0) return -1;
    sum += bytes;
  }
  return sum;
}

// ---- ours ----

static tsr_status count_bytes(const tsr_program *program, bytes_row *row) {
  tsr_program *partitioned = NULL;
  tsr_moved_bytes moved;
  TSR_TRY(tsr_program_transform(program, "partition", &partitioned));
  tsr_ir *ir = tsr_program_copy_ir(partitioned);
  tsr_program_release(partitioned);
  if (!ir) return tsr_fail(NO_MEMORY, "copy of a program");
  tsr_status status = tsr_moved_bytes_count(ir, &moved);
  if (!status) {
    row->ours = moved.bytes;
    row->unknown_loops = moved.unknown_loops;
  }
  tsr_ir_destroy(ir);
  return status;
}

static tsr_status measure(const char *folder, bytes_row *row) {
  tsr_trial_case trial;
  tsr_program *program = NULL;
  TSR_TRY(tsr_trial_case_open(folder, false, &trial));
  row->theirs = bytes_of_xla(&trial, "collectives_after_spmd");
  tsr_status status = tsr_program_open(trial.program, NULL, &program);
  if (!status) status = count_bytes(program, row);
  tsr_program_release(program);
  tsr_trial_case_deinit(&trial);
  return status;
}

// ---- all programs ----

static int compare_names(const void *a, const void *b) {
  return strcmp(((const bytes_row *)a)->name, ((const bytes_row *)b)->name);
}

static int list_cases(const char *programs, bytes_row *rows) {
  int count = 0;
  DIR *listing = opendir(programs);
  for (const struct dirent *entry; listing && (entry = readdir(listing));) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/%s", programs, entry->d_name);
    if (entry->d_name[0] != '.' && count < MOST_CASES && tsr_trial_is_case(folder))
      rows[count++].name = strdup(entry->d_name);
  }
  if (listing) closedir(listing);
  qsort(rows, (size_t)count, sizeof *rows, compare_names);
  return count;
}

static int measure_all(const char *programs, bytes_row *rows, int count) {
  int failed = 0;
  for (int i = 0; i < count; i++) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s/%s", programs, rows[i].name);
    tsr_status status = measure(folder, &rows[i]);
    if (status) printf("FAIL %s: %s\n", rows[i].name, tsr_status_text(status));
    failed += status != NULL;
    tsr_status_free(status);
  }
  return failed;
}

static int64_t limit_of(const char *name) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
    if (!strcmp(limits[i].name, name)) return limits[i].bytes;
  return -1;
}

static int check_limits(const bytes_row *rows, int count) {
  int failed = 0;
  for (int i = 0; i < count; i++) {
    const int64_t limit = limit_of(rows[i].name);
    if (rows[i].ours <= limit) continue;
    printf("FAIL %s moves %" PRId64 " bytes on a device; limits.def allows %" PRId64 "\n",
           rows[i].name, rows[i].ours, limit);
    failed++;
  }
  return failed;
}

static void print_limits(const bytes_row *rows, int count) {
  puts(
      "// Bytes that collectives of each program may move on one device; made by\n"
      "//   build/tests/corpus_bytes/test_corpus_bytes --record > tests/corpus_bytes/limits.def\n"
      "// clang-format off");
  for (int i = 0; i < count; i++) printf("LIMIT(%s, %" PRId64 ")\n", rows[i].name, rows[i].ours);
  puts("// clang-format on");
}

static void print_table(const bytes_row *rows, int count) {
  int64_t ours = 0, theirs = 0;
  int compared = 0, less = 0, more = 0;
  for (int i = 0; i < count; i++) {
    const bytes_row *row = &rows[i];
    if (row->theirs < 0 || row->unknown_loops) {
      printf("%-40s %9" PRId64 "         -%s\n", row->name, row->ours,
             row->unknown_loops ? "  loops of unknown length" : "");
      continue;
    }
    printf("%-40s %9" PRId64 " %9" PRId64 " %+9" PRId64 "\n", row->name, row->ours, row->theirs,
           row->ours - row->theirs);
    ours += row->ours;
    theirs += row->theirs;
    less += row->ours < row->theirs;
    more += row->ours > row->theirs;
    compared++;
  }
  printf("%d programs: %" PRId64 " bytes, XLA %" PRId64 ", %.3f of it; less in %d, more in %d\n",
         compared, ours, theirs, (double)ours / (double)theirs, less, more);
}

int main(int argc, char **argv) {
  static bytes_row rows[MOST_CASES];
  const char *mode = argc > 1 ? argv[1] : "";
  const char *programs = argc > 2 ? argv[2] : "tests/programs";
  const int count = list_cases(programs, rows);
  int failed = measure_all(programs, rows, count);
  if (!strcmp(mode, "--table"))
    print_table(rows, count);
  else if (!strcmp(mode, "--record"))
    print_limits(rows, count);
  else
    failed += check_limits(rows, count);
  for (int i = 0; i < count; i++) free((char *)rows[i].name);
  if (!count) printf("FAIL no programs in %s\n", programs);
  return failed || !count ? 1 : 0;
}
