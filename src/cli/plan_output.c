// Writes a plan, and warns if it does not fit the topology.
#include <unistd.h>

#include "base/text_internal.h"
#include "cli/sources.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "report/report.h"
#include "tessera/compat/eformer_plan.h"
#include "topology/topology_internal.h"

static tsr_status warn_of_memory(const tsr_plan *plan) {
  const tsr_topology *machine = tsr_plan_mesh(plan) ? tsr_mesh_topology(tsr_plan_mesh(plan)) : NULL;
  const int64_t limit = machine ? tsr_topology_memory_per_device(machine) : 0;
  if (limit <= 0 || tsr_plan_bytes_per_device(plan) <= limit) return NULL;
  tsr_analysis sums = TSR_ANALYSIS;
  TSR_TRY(tsr_plan_analyze(plan, NULL, 0, &sums));
  if (sums.device_max > limit)
    cli_say("warning: the fullest device holds %s, a device of the topology has %s\n",
            tsr_format_bytes(sums.device_max).text, tsr_format_bytes(limit).text);
  tsr_analysis_deinit(&sums);
  return NULL;
}

tsr_status cli_plan_output(const cli_args *args, const tsr_plan *plan) {
  const bool terminal = isatty(STDOUT_FILENO) && !cli_has(args, "output");
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (cli_has(args, "json")) {
    tsr_json_writer writer;
    tsr_json_writer_init(&writer, &text, 2);
    tsr_plan_to_json(plan, &writer);
    tsr_text_add_char(&text, '\n');
  } else {
    status = tsr_plan_print_table(plan, args->positional[0], terminal ? cli_width() : 0, &text);
  }
  if (!status) status = cli_output(&text, cli_value(args, "output"));
  if (!status) status = warn_of_memory(plan);
  tsr_text_deinit(&text);
  return status;
}
