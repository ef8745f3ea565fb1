// Case folders: a program, inputs for it, and what it gives. Three kinds, by what they hold:
//
//   program.mlir, program.mlirbc, inputs.safetensors, outputs.safetensors, case.json with
//   tolerances exported.bin (jax.export), inputs.safetensors, outputs.safetensors program.mlir,
//   case.json with a formula for inputs, and sums and samples of the results
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "trial/trial_internal.h"

static bool is_there(const char *path) { return !access(path, F_OK); }

// The path of a file in the folder; NULL if there is none.
static tsr_status find_file(const char *folder, const char *name, char **out_path) {
  tsr_text path = TSR_TEXT_EMPTY;
  char *taken = NULL;
  tsr_text_addf(&path, "%s/%s", folder, name);
  TSR_TRY(tsr_text_take(&path, &taken));
  if (!is_there(taken)) {
    free(taken);
    taken = NULL;
  }
  *out_path = taken;
  return NULL;
}

static tsr_status find_program(const char *folder, bool artifact, char **out_path) {
  TSR_TRY(find_file(folder, artifact ? "program.mlirbc" : "program.mlir", out_path));
  return *out_path ? NULL : find_file(folder, "exported.bin", out_path);
}

bool tsr_trial_is_case(const char *path) {
  struct stat about;
  char *found[2] = {NULL, NULL};
  if (stat(path, &about) || !S_ISDIR(about.st_mode)) return false;
  for (int i = 0; i < 2; i++) tsr_status_free(find_program(path, i == 1, &found[i]));
  const bool is = found[0] || found[1];
  free(found[0]);
  free(found[1]);
  return is;
}

static tsr_status read_tolerance(const tsr_json *tolerance, tsr_trial_tolerance *out) {
  if (!tolerance || !tsr_json_find(tolerance, "atol")) return NULL;
  TSR_TRY(tsr_json_get_double(tsr_json_find(tolerance, "atol"), "atol", &out->absolute));
  TSR_TRY(tsr_json_get_double(tsr_json_find(tolerance, "rtol"), "rtol", &out->relative));
  if (!tsr_json_find(tolerance, "bit_exact")) return NULL;
  return tsr_json_get_bool(tsr_json_find(tolerance, "bit_exact"), "bit_exact", &out->exact);
}

static tsr_status read_facts(const char *folder, tsr_trial_case *trial) {
  char *path = NULL;
  TSR_TRY(find_file(folder, "case.json", &path));
  if (!path) return NULL;
  tsr_status status = tsr_json_read_file(path, &trial->facts);
  if (!status) {
    const tsr_json *root = tsr_json_root(trial->facts);
    trial->generated = tsr_json_find(root, "generator") != NULL;
    status = read_tolerance(tsr_json_find(root, "tolerance"), &trial->tolerance);
  }
  if (status) status = tsr_note(status, "%s", path);
  free(path);
  return status;
}

static tsr_status find_all(const char *folder, bool artifact, tsr_trial_case *trial) {
  TSR_TRY(find_program(folder, artifact, &trial->program));
  if (!trial->program)
    return tsr_fail(NOT_FOUND, "%s: no %s and no exported.bin", folder,
                    artifact ? "program.mlirbc" : "program.mlir");
  TSR_TRY(find_file(folder, "inputs.safetensors", &trial->inputs));
  TSR_TRY(find_file(folder, "outputs.safetensors", &trial->wanted));
  return read_facts(folder, trial);
}

tsr_status tsr_trial_case_open(const char *folder, bool artifact, tsr_trial_case *out_case) {
  tsr_trial_case trial = {.tolerance = TSR_TRIAL_TOLERANCE};
  tsr_status status = find_all(folder, artifact, &trial);
  if (status)
    tsr_trial_case_deinit(&trial);
  else
    *out_case = trial;
  return status;
}

void tsr_trial_case_deinit(tsr_trial_case *trial) {
  free(trial->program);
  free(trial->inputs);
  free(trial->wanted);
  tsr_json_destroy(trial->facts);
  *trial = (tsr_trial_case){0};
}

tsr_status tsr_trial_case_fill(const tsr_trial_case *trial, tsr_trial_values *inputs) {
  if (trial->inputs) return tsr_trial_values_read(inputs, trial->inputs);
  if (trial->generated) return tsr_trial_values_generate(inputs, trial);
  if (!inputs->count) return NULL;
  return tsr_fail(NOT_FOUND, "the case has no inputs, and the program %lld arguments",
                  (long long)inputs->count);
}

tsr_status tsr_trial_case_compare(const tsr_trial_case *trial, const tsr_trial_values *got,
                                  tsr_text *out, tsr_trial_verdict *out_verdict) {
  if (trial->wanted)
    return tsr_trial_compare(got, trial->wanted, &trial->tolerance, out, out_verdict);
  if (trial->generated) return tsr_trial_compare_sums(got, trial, out, out_verdict);
  *out_verdict = (tsr_trial_verdict){0};
  return NULL;
}
