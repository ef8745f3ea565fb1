// Where meshes come from: --mesh, or one option for each axis that presets know, on the devices of
// --topology.
#include <string.h>

#include "cli/cli.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"

tsr_status cli_read_mesh(const char *text, const tsr_topology *topology, tsr_mesh **out_mesh) {
  const size_t length = strlen(text);
  if (length < 5 || strcmp(text + length - 5, ".json") != 0)
    return tsr_mesh_parse(text, topology, out_mesh);
  tsr_json_doc *doc = NULL;
  TSR_TRY(tsr_json_read_file(text, &doc));
  tsr_status status = tsr_mesh_from_json(tsr_json_root(doc), topology, out_mesh);
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", text);
}

// Outermost first. The axis with the most traffic is innermost, where devices are neighbours.
static const char *const axis_options[] = {"dp", "fsdp", "ep", "tp"};
enum { AXIS_OPTION_COUNT = sizeof axis_options / sizeof *axis_options };

bool cli_has_mesh(const cli_args *args) {
  for (int i = 0; i < (int)AXIS_OPTION_COUNT; i++)
    if (cli_has(args, axis_options[i])) return true;
  return cli_has(args, "mesh");
}

// "dp=2,tp=8" for --dp 2 --tp 8; "dp=2,tp=1" for --dp 2; "" if there are none.
static tsr_status write_axes(const cli_args *args, char *out, size_t size) {
  size_t length = 0;
  out[0] = '\0';
  for (int i = 0; i < (int)AXIS_OPTION_COUNT; i++) {
    int64_t count = 0;
    if (!cli_has(args, axis_options[i])) continue;
    TSR_TRY(cli_check_one_of(args, (const char *const[]){"mesh", axis_options[i], NULL}));
    TSR_TRY(cli_int(args, axis_options[i], 1, &count));
    length += (size_t)snprintf(out + length, size - length, "%s%s=%lld", length ? "," : "",
                               axis_options[i], (long long)count);
  }
  // Only replicas are wanted, but presets need one of their own axes.
  if (!strncmp(out, "dp=", 3) && !strchr(out, ',')) snprintf(out + length, size - length, ",tp=1");
  return NULL;
}

static void warn_of_idle_devices(const tsr_mesh *mesh, const tsr_topology *topology,
                                 const char *machine) {
  const int64_t used = tsr_mesh_device_count(mesh), all = tsr_topology_device_count(topology);
  if (used < all)
    cli_say("warning: the mesh has %lld of the %lld devices of --topology %s; %lld are unused\n",
            (long long)used, (long long)all, machine, (long long)(all - used));
}

tsr_status cli_open_mesh(const cli_args *args, tsr_mesh **out_mesh) {
  const char *text = NULL, *machine = cli_value(args, "topology");
  char axes[128];
  TSR_TRY(write_axes(args, axes, sizeof axes));
  text = axes;
  if (!cli_has_mesh(args) && cli_takes(args, "tp"))
    return tsr_fail(BAD_ARGUMENT, "no mesh is given; give --tp N (or --fsdp, --ep, --dp)%s",
                    cli_takes(args, "plan") ? ", --mesh MESH or --plan PLAN" : " or --mesh MESH");
  if (!*axes) TSR_TRY(cli_required(args, "mesh", &text));
  tsr_topology *topology = NULL;
  if (machine) TSR_TRY(tsr_topology_open(machine, &topology));
  tsr_status status = cli_read_mesh(text, topology, out_mesh);
  if (!status && machine) warn_of_idle_devices(*out_mesh, topology, machine);
  tsr_topology_release(topology);
  return status;
}
