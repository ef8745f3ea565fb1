// `tessera diff`: what changes from one plan to another.
#include "command/command.h"
#include "json/json.h"
#include "json/json_fields.h"
#include "advice/advice_internal.h"
#include "plan/plan_internal.h"
#include "spec/spec_internal.h"

static void write_spec(const tsr_plan *plan, int64_t row, const char *key, tsr_json_writer *w) {
  tsr_json_write_key(w, key);
  if (row < 0)
    tsr_json_write_null(w);
  else
    tsr_spec_to_json(tsr_plan_spec_at(plan, tsr_plan_final(plan, row)), w);
}

static void write_change(const tsr_plan *before, const tsr_plan *after,
                         const tsr_plan_change *change, tsr_json_writer *w) {
  const tsr_tree *tree = tsr_plan_tree(change->before < 0 ? after : before);
  const int64_t row = change->before < 0 ? change->after : change->before;
  tsr_json_begin_object(w);
  tsr_json_add_string(w, "path", tsr_tree_at(tree, row)->path);
  write_spec(before, change->before, "before", w);
  write_spec(after, change->after, "after", w);
  tsr_json_add_int(w, "moved_bytes", change->moved_bytes);
  tsr_json_end_object(w);
}

static void write_diff(const tsr_plan *before, const tsr_plan *after, const tsr_plan_diff *diff,
                       tsr_text *out) {
  static const tsr_json_field fields[] =
      TSR_JSON_FIELDS(tsr_plan_diff, same, changed, added, removed, moved_bytes,
                      bytes_per_device_before, bytes_per_device_after);
  tsr_json_writer w;
  tsr_json_begin_document(&w, out);
  tsr_json_add_fields(&w, fields, diff);
  tsr_json_add_array(&w, "changes");
  for (int64_t i = 0; i < diff->count; i++) write_change(before, after, &diff->items[i], &w);
  tsr_json_end_array(&w);
  tsr_json_end_document(&w);
}

static tsr_status run_diff(cli_args *args) {
  tsr_plan *before = NULL, *after = NULL;
  tsr_plan_diff diff = TSR_PLAN_DIFF;
  tsr_status status = cli_open_plan(args->positional[0], &before);
  if (!status) status = cli_open_plan(args->positional[1], &after);
  if (!status) status = tsr_plan_diff_create(before, after, &diff);
  if (!status && cli_has(args, "json"))
    write_diff(before, after, &diff, &args->out);
  else if (!status)
    tsr_plan_diff_print(&diff, before, after, &args->out);
  if (diff.count) args->exit_code = EXIT_CHECK_FAILED;
  tsr_plan_diff_deinit(&diff);
  tsr_plan_release(before);
  tsr_plan_release(after);
  return status;
}

static const cli_option diff_options[] = {
    CLI_OPTION_JSON,
    {0},
};

const cli_command cli_cmd_diff = {
    .name = "diff",
    .summary = "show what changes from one plan to another, and the bytes that move",
    .usage = "BEFORE AFTER [options]",
    .options = diff_options,
    .description = "Exit code 1 when the plans differ, as with diff(1).\n",
    .examples = "tessera diff before.json after.json\n",
    .run = run_diff,
};
