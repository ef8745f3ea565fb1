#include "cli/checkpoint_source.h"

#include "cli/plan_source.h"

// Says by which option the plan is given.
static tsr_status want_plan(tsr_status status) {
  if (tsr_status_cause(status) != TSR_CAUSE_PLAN_REQUIRED) return status;
  tsr_status better = tsr_fail(PLAN_REQUIRED, "%s: --from PLAN.json", tsr_status_text(status));
  tsr_status_free(status);
  return better;
}

tsr_status cli_open_checkpoint(const char *path, const char *plan,
                               tsr_checkpoint **out_checkpoint) {
  tsr_checkpoint_options options = {.size = sizeof options};
  tsr_plan *cut = NULL;
  if (plan) TSR_TRY(cli_open_plan(plan, &cut));
  options.plan = cut;
  tsr_status status = tsr_checkpoint_open(path, &options, out_checkpoint);
  tsr_plan_release(cut);
  if (status) return want_plan(status);
  cli_warn(path, tsr_checkpoint_warnings(*out_checkpoint));
  return NULL;
}
