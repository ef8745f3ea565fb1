// Opens t5x's partitioner by the options of a command.
#include "cli/sources.h"
#include "partitioner/partitioner_internal.h"
#include "tessera/compat/t5x_mesh.h"

// The options, and the numbers they point to.
typedef struct partitioner_source {
  tsr_partitioner_options options;
  tsr_hardware_mesh submesh;
  int64_t ici[TSR_MAX_AXES], dcn[TSR_MAX_AXES];
  tsr_logical_rules *rules;
} partitioner_source;

static tsr_status read_sizes(const char *what, const char *text, int64_t *sizes,
                             const int64_t **out_sizes, int *out_rank) {
  if (!text) return NULL;
  TSR_TRY(cli_ints(what, text, TSR_MAX_AXES, sizes, out_rank));
  *out_sizes = sizes;
  return NULL;
}

static tsr_status read_source(const cli_args *args, partitioner_source *out) {
  tsr_partitioner_options *options = &out->options;
  options->size = sizeof *options;
  options->base = cli_has(args, "base");
  TSR_TRY(cli_int(args, "partitions", 0, &options->num_partitions));
  if (cli_has(args, "submesh")) {
    TSR_TRY(cli_ints("--submesh", cli_value(args, "submesh"), 4, out->submesh.dims,
                     &out->submesh.count));
    options->model_parallel_submesh = &out->submesh;
  }
  TSR_TRY(read_sizes("--ici", cli_value(args, "ici"), out->ici, &options->ici_mesh_shape,
                     &options->ici_rank));
  TSR_TRY(read_sizes("--dcn", cli_value(args, "dcn"), out->dcn, &options->dcn_mesh_shape,
                     &options->dcn_rank));
  if (cli_has(args, "rules"))
    TSR_TRY(tsr_logical_rules_read(cli_value(args, "rules"), &out->rules));
  options->logical_axis_rules = out->rules;
  return NULL;
}

// t5x needs a number of partitions even if the shapes of the mesh decide.
static tsr_status complete(tsr_partitioner_options *options) {
  if (options->num_partitions || options->model_parallel_submesh) return NULL;
  if (!options->ici_mesh_shape || !options->dcn_mesh_shape)
    return tsr_fail(BAD_ARGUMENT,
                    "--partitions or --submesh is needed, or --ici and --dcn for several slices");
  options->num_partitions = 1;
  return NULL;
}

tsr_status cli_open_partitioner(const cli_args *args, const tsr_topology *topology,
                                tsr_partitioner **out_partitioner) {
  partitioner_source from = {0};
  TSR_TRY(cli_check_one_of(args, (const char *const[]){"rules", "base", NULL}));
  tsr_status status = read_source(args, &from);
  if (!status) status = complete(&from.options);
  if (!status) status = tsr_partitioner_create(topology, &from.options, out_partitioner);
  tsr_logical_rules_release(from.rules);
  if (!status) fputs(tsr_partitioner_warnings(*out_partitioner), stderr);
  return status;
}
