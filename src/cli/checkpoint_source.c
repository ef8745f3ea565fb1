// Checkpoints as commands open them: with the plan of --from and the dtype of --npy-dtype.
#include "cli/sources.h"

tsr_status cli_open_checkpoint(const cli_args *args, const char *path, const char *option,
                               tsr_checkpoint **out_checkpoint) {
  const char *plan = cli_value(args, option);
  const char *npy_dtype = cli_value(args, "npy-dtype");
  tsr_checkpoint_options options = {.size = sizeof options};
  tsr_plan *cut = NULL;
  if (npy_dtype) TSR_TRY(tsr_dtype_parse(npy_dtype, &options.fallback_dtype));
  if (plan) TSR_TRY(cli_open_plan(plan, &cut));
  options.plan = cut;
  tsr_status status = tsr_checkpoint_open(path, &options, out_checkpoint);
  tsr_plan_release(cut);
  if (status) return status;
  cli_warn(path, tsr_checkpoint_warnings(*out_checkpoint));
  return NULL;
}

tsr_status cli_read_limits(const cli_args *args, int64_t *out_memory, int *out_jobs) {
  int64_t jobs = 0;
  if (cli_has(args, "max-memory")) TSR_TRY(cli_bytes(args, "max-memory", out_memory));
  TSR_TRY(cli_int(args, "jobs", 0, &jobs));
  *out_jobs = (int)jobs;
  return NULL;
}
