// `tessera topology`: a machine as a picture, a table of link costs, or JSON.
#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

static void print_costs(const tsr_topology *topology, tsr_text *out) {
  tsr_text_addf(out, "\n%-6s  %12s  %12s\n", "level", "alpha", "bandwidth");
  for (int level = TSR_LEVEL_CHIP; level < TSR_LEVEL_COUNT; level++) {
    const tsr_link *link = tsr_topology_link(topology, (tsr_level)level);
    tsr_text_addf(out, "%-6s  %9.2f us  %7.1f GB/s\n", tsr_level_name((tsr_level)level),
                  link->alpha * 1e6, link->beta > 0 ? 1e-9 / link->beta : 0.0);
  }
}

static tsr_status run_topology(cli_args *args) {
  tsr_topology *topology = NULL;
  TSR_TRY(tsr_topology_open(args->count ? args->positional[0] : "machine", &topology));
  tsr_status status = tsr_topology_check(topology);
  if (!status && cli_has(args, "json")) {
    tsr_json_writer writer;
    tsr_json_writer_init(&writer, &args->out, 2);
    tsr_topology_to_json(topology, &writer);
    tsr_text_add_char(&args->out, '\n');
  } else if (!status) {
    tsr_topology_print(topology, &args->out);
    if (cli_has(args, "links")) print_costs(topology, &args->out);
  }
  tsr_topology_release(topology);
  return status;
}

static const cli_option options[] = {
    {"json", 'j', NULL, NULL, "print JSON that --topology accepts as a file"},
    {"links", 'l', NULL, NULL, "show the cost of a message at each level"},
    {0},
};

const cli_command cli_cmd_topology = {
    .name = "topology",
    .summary = "show a machine: hosts, chips, devices and links",
    .usage = "[TOPOLOGY] [options]",
    .options = options,
    .description =
        "TOPOLOGY is a description (cpu:8, gpu:4x8:h100, tpu-v4:4x4x4, tpu-v5e:4x4:slices=2),\n"
        "`machine` (this one, the default), or a JSON file.\n",
    .examples =
        "tessera topology tpu-v4:2x2x2\n"
        "tessera topology gpu:2x8:h100 --links\n"
        "tessera topology --json > here.json\n",
    .run = run_topology,
};
