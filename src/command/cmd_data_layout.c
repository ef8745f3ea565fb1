// `tessera data-layout`: which rows of a batch each process reads.
#include "array/chunks_internal.h"
#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "partitioner/partitioner_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_chunks.h"

typedef struct data_layout_query {
  const tsr_partitioner *partitioner;
  const tsr_chunker *chunker;
  int64_t batch;
  bool has_data_axis, one_host;
  int64_t host;
} data_layout_query;

// ---- reading ----

static tsr_status read_query(const cli_args *args, data_layout_query *query) {
  const tsr_spec *spec = tsr_partitioner_data_partition_spec(query->partitioner);
  query->has_data_axis = tsr_spec_desc_of(spec)->dims[0].stage_count > 0;
  query->one_host = cli_has(args, "host-index");
  TSR_TRY(cli_int(args, "host-index", 0, &query->host));
  return cli_int(args, "batch", 0, &query->batch);
}

static tsr_status find_layout(const data_layout_query *query, int64_t process,
                              tsr_data_layout *out_layout) {
  const tsr_data_layout_options options = {.size = sizeof options,
                                           .host_index = query->one_host ? &process : NULL,
                                           .serve_host_index = true};
  return tsr_partitioner_data_layout(query->partitioner, process, query->batch, &options,
                                     out_layout);
}

typedef tsr_status row_function(const data_layout_query *query, int64_t process, void *out);

static tsr_status for_each_host(const data_layout_query *query, row_function *row, void *out) {
  if (query->one_host) return row(query, query->host, out);
  for (int64_t i = 0; i < tsr_chunker_process_count(query->chunker); i++)
    TSR_TRY(row(query, tsr_chunker_process_at(query->chunker, i), out));
  return NULL;
}

// ---- as a table ----

static tsr_status print_row(const data_layout_query *query, int64_t process, void *out) {
  tsr_data_layout layout;
  TSR_TRY(find_layout(query, process, &layout));
  const tsr_range rows = tsr_data_layout_rows(&layout);
  char shard[48], range[48] = "all";
  snprintf(shard, sizeof shard, "%lld/%lld", (long long)layout.shard_id,
           (long long)layout.num_shards);
  if (layout.batch_size)
    snprintf(range, sizeof range, "%lld:%lld", (long long)rows.lo, (long long)rows.hi);
  tsr_text_addf(out, " %7lld  %7s  %13s  %s\n", (long long)process, shard, range,
                layout.is_first_host_in_replica_set ? "yes" : "no");
  return NULL;
}

static tsr_status print_heading(const data_layout_query *query, tsr_text *out) {
  const tsr_mesh *mesh = tsr_partitioner_mesh(query->partitioner);
  int64_t batch = query->batch;
  if (!batch && query->has_data_axis)
    TSR_TRY(tsr_partitioner_data_mesh_size(query->partitioner, &batch));
  tsr_text_add(out, "mesh ");
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_text_addf(out, "%s%s=%lld", i ? "," : "", tsr_mesh_axis_at(mesh, i)->name,
                  (long long)tsr_mesh_axis_at(mesh, i)->size);
  if (batch) tsr_text_addf(out, "; a batch of %lld", (long long)batch);
  tsr_text_add(out, query->has_data_axis ? " over " : "; no axis cuts the data");
  if (query->has_data_axis)
    TSR_TRY(tsr_spec_print(tsr_partitioner_data_partition_spec(query->partitioner), TSR_FORM_SHORT,
                           out));
  tsr_text_addf(out, "\n\n %7s  %7s  %13s  %s\n", "process", "shard", "rows",
                "first of its replicas");
  return NULL;
}

static tsr_status print_table(const data_layout_query *query, tsr_text *out) {
  TSR_TRY(print_heading(query, out));
  return for_each_host(query, print_row, out);
}

// ---- as data ----

static tsr_status write_row(const data_layout_query *query, int64_t process, void *out) {
  tsr_json_writer *writer = out;
  tsr_data_layout layout;
  TSR_TRY(find_layout(query, process, &layout));
  const tsr_range rows = tsr_data_layout_rows(&layout);
  tsr_json_begin_object(writer);
  tsr_json_add_int(writer, "process", process);
  if (layout.batch_size)
    tsr_json_add_int(writer, "batch_size", layout.batch_size);
  else
    tsr_json_add_null(writer, "batch_size");
  tsr_json_add_int(writer, "shard_id", layout.shard_id);
  tsr_json_add_int(writer, "num_shards", layout.num_shards);
  tsr_json_add_bool(writer, "is_first_host_in_replica_set", layout.is_first_host_in_replica_set);
  if (layout.batch_size)
    tsr_json_add_ints(writer, "rows", (const int64_t[]){rows.lo, rows.hi}, 2);
  else
    tsr_json_add_null(writer, "rows");
  tsr_json_end_object(writer);
  return NULL;
}

static tsr_status print_json(const data_layout_query *query, tsr_text *out) {
  tsr_json_writer writer;
  int64_t size = 0;
  TSR_TRY(tsr_partitioner_data_mesh_size(query->partitioner, &size));
  tsr_json_begin_document(&writer, out);
  tsr_json_write_key(&writer, "mesh");
  tsr_mesh_to_json(tsr_partitioner_mesh(query->partitioner), &writer);
  tsr_json_write_key(&writer, "data_partition_spec");
  tsr_spec_to_json(tsr_partitioner_data_partition_spec(query->partitioner), &writer);
  tsr_json_add_int(&writer, "data_mesh_size", size);
  tsr_json_add_array(&writer, "processes");
  TSR_TRY(for_each_host(query, write_row, &writer));
  tsr_json_end_array(&writer);
  tsr_json_end_document(&writer);
  return NULL;
}

// ---- the command ----

static tsr_status run_query(cli_args *args, const tsr_partitioner *partitioner,
                            const tsr_chunker *chunker) {
  data_layout_query query = {.partitioner = partitioner, .chunker = chunker};
  TSR_TRY(read_query(args, &query));
  return cli_has(args, "json") ? print_json(&query, &args->out) : print_table(&query, &args->out);
}

static tsr_status run_data_layout(cli_args *args) {
  tsr_topology *topology = NULL;
  tsr_partitioner *partitioner = NULL;
  tsr_chunker *chunker = NULL;
  tsr_status status = tsr_topology_open(args->positional[0], &topology);
  if (!status) status = cli_open_partitioner(args, topology, &partitioner);
  if (!status) status = tsr_chunker_create(tsr_partitioner_mesh(partitioner), &chunker);
  if (!status) status = run_query(args, partitioner, chunker);
  tsr_chunker_release(chunker);
  tsr_partitioner_release(partitioner);
  tsr_topology_release(topology);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTIONS_T5X_MESH,
    {"rules", 'r', "FILE", NULL, "rules for logical axes; the axes of \"batch\" cut the data (default: t5x's rules)"},
    {"base", 0, NULL, NULL, "no rules: cut the data along axis data, with slices also along replica"},
    {"batch", 'b', "N", "1..", "rows of the global batch (default: one per device along the data axes)"},
    {"host-index", 0, "N", "0..", "show only this host (default: all)"},
    CLI_OPTION_JSON,
    {0},
};
// clang-format on

const cli_command cli_cmd_data_layout = {
    .name = "data-layout",
    .summary = "show which rows of a batch each process reads",
    .usage = "TOPOLOGY --partitions N|--submesh X,Y,Z,C [options]",
    .options = options,
    .description =
        "The mesh is t5x's for N partitions, or with --ici and --dcn one over several slices.\n"
        "Processes that differ only along axes that do not cut the data read the same shard;\n"
        "the first of them is marked.\n",
    .examples =
        "tessera data-layout gpu:4x8 --partitions 4 --batch 256\n"
        "tessera data-layout tpu-v4:4x4x4 --submesh 4,1,1,1 --batch 1024 --json\n"
        "tessera data-layout tpu-v4:2x2x4:slices=2 --ici 1,4,4 --dcn 2,1,1\n",
    .run = run_data_layout,
};
