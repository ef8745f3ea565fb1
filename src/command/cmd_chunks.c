// `tessera chunks`: which chunk of a tensor each process holds.
#include <string.h>

#include "array/chunks_internal.h"
#include "base/text_internal.h"
#include "command/command.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_chunks.h"

typedef struct chunks_query {
  const tsr_chunker *chunker;
  const tsr_mesh *mesh;
  int64_t first, end;  // processes of the chunker
  bool has_tensor;
  tsr_shape shape;
  tsr_spec *spec;  // owned
  tsr_chunk_options options;
} chunks_query;

// ---- reading ----

static tsr_status open_mesh(const cli_args *args, tsr_mesh **out_mesh) {
  static const char *const t5x[] = {"partitions", "submesh", "ici", "dcn", NULL};
  tsr_topology *topology = NULL;
  tsr_partitioner *partitioner = NULL;
  const char *mesh = cli_value(args, "mesh");
  bool by_t5x = false;
  for (int i = 0; t5x[i]; i++) {
    TSR_TRY(cli_check_one_of(args, (const char *const[]){"mesh", t5x[i], NULL}));
    by_t5x = by_t5x || cli_has(args, t5x[i]);
  }
  if (!mesh && !by_t5x)
    return tsr_fail(BAD_ARGUMENT,
                    "a mesh is needed: --mesh, or t5x's by --partitions or --submesh");
  TSR_TRY(tsr_topology_open(args->positional[0], &topology));
  tsr_status status = mesh ? cli_read_mesh(mesh, topology, out_mesh)
                           : cli_open_partitioner(args, topology, &partitioner);
  if (!status && partitioner) *out_mesh = tsr_mesh_retain(tsr_partitioner_mesh(partitioner));
  tsr_partitioner_release(partitioner);
  tsr_topology_release(topology);
  return status;
}

// All processes, or that of --process, even if it has no devices.
static tsr_status choose_processes(const cli_args *args, chunks_query *query) {
  const char *text = cli_value(args, "process");
  int64_t process = 0;
  query->end = tsr_chunker_process_count(query->chunker);
  if (!text || !strcmp(text, "all")) return NULL;
  TSR_TRY(cli_int(args, "process", 0, &process));
  if (process < 0 || process > INT32_MAX)
    return tsr_fail(BAD_ARGUMENT, "--process is %lld, wanted a process from 0 on, or all",
                    (long long)process);
  tsr_process_chunks chunks;
  TSR_TRY(tsr_chunker_chunks(query->chunker, process, &chunks));
  while (tsr_chunker_process_at(query->chunker, query->first) != process) query->first++;
  query->end = query->first + 1;
  return NULL;
}

static tsr_status read_tensor(const cli_args *args, chunks_query *query) {
  const char *shape = cli_value(args, "shape"), *spec = cli_value(args, "spec");
  query->options = (tsr_chunk_options){.size = sizeof query->options,
                                       .tuple_axes = cli_has(args, "tuples"),
                                       .uneven = cli_has(args, "uneven"),
                                       .strict = cli_has(args, "strict")};
  if (!shape != !spec)
    return tsr_fail(BAD_ARGUMENT, "--shape and --spec go together: --%s is missing",
                    shape ? "spec" : "shape");
  if (!shape && (query->options.tuple_axes || query->options.uneven || query->options.strict))
    return tsr_fail(BAD_ARGUMENT, "--tuples, --uneven and --strict need --shape and --spec");
  if (!shape) return NULL;
  TSR_TRY(tsr_shape_parse(shape, &query->shape));
  query->has_tensor = true;
  return cli_read_spec(spec, NULL, query->mesh, query->shape.rank, &query->shape, &query->spec);
}

// ---- as a table ----

static void add_slice(const tsr_chunk *chunk, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int d = 0; d < chunk->rank; d++) {
    if (d) tsr_text_add(out, ", ");
    if (chunk->cut[d])
      tsr_text_addf(out, "%lld:%lld", (long long)chunk->slice[d].lo, (long long)chunk->slice[d].hi);
    else
      tsr_text_add_char(out, ':');
  }
  tsr_text_add_char(out, ']');
}

static int column_width(const char *name) {
  const int length = (int)strlen(name);
  return length < 7 ? 7 : length;
}

static void print_heading(const chunks_query *query, tsr_text *out) {
  tsr_text_addf(out, " %7s", "process");
  for (int i = 0; i < tsr_mesh_axis_count(query->mesh); i++) {
    const char *name = tsr_mesh_axis_at(query->mesh, i)->name;
    tsr_text_addf(out, "  %*s", column_width(name), name);
  }
  tsr_text_add(out, query->has_tensor ? "  replica_id  holds\n" : "\n");
}

static tsr_status print_row(const chunks_query *query, int64_t process, tsr_text *out) {
  tsr_process_chunks chunks;
  TSR_TRY(tsr_chunker_chunks(query->chunker, process, &chunks));
  tsr_text_addf(out, " %7lld", (long long)process);
  for (int i = 0; i < tsr_mesh_axis_count(query->mesh); i++) {
    char cell[48];
    snprintf(cell, sizeof cell, "%lld/%lld", (long long)chunks.chunk_ids[i],
             (long long)chunks.num_chunks[i]);
    tsr_text_addf(out, "  %*s", column_width(tsr_mesh_axis_at(query->mesh, i)->name), cell);
  }
  if (query->has_tensor) {
    tsr_chunk chunk;
    TSR_TRY(tsr_chunker_local_chunk(query->chunker, process, &query->shape, query->spec,
                                    &query->options, &chunk));
    tsr_text_addf(out, "  %10lld  ", (long long)chunk.replica_id);
    add_slice(&chunk, out);
  }
  tsr_text_add_char(out, '\n');
  return NULL;
}

static tsr_status print_table(const chunks_query *query, tsr_text *out) {
  print_heading(query, out);
  for (int64_t i = query->first; i < query->end; i++)
    TSR_TRY(print_row(query, tsr_chunker_process_at(query->chunker, i), out));
  return NULL;
}

// ---- as data ----

static void write_per_axis(tsr_json_writer *writer, const char *key, const tsr_mesh *mesh,
                           const int64_t *numbers) {
  tsr_json_add_object(writer, key);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_add_int(writer, tsr_mesh_axis_at(mesh, i)->name, numbers[i]);
  tsr_json_end_object(writer);
}

static tsr_status write_chunk(const chunks_query *query, int64_t process, tsr_json_writer *writer) {
  tsr_chunk chunk;
  TSR_TRY(tsr_chunker_local_chunk(query->chunker, process, &query->shape, query->spec,
                                  &query->options, &chunk));
  tsr_json_add_inline_array(writer, "slice");
  for (int d = 0; d < chunk.rank; d++)
    tsr_json_write_ints(writer, (const int64_t[]){chunk.slice[d].lo, chunk.slice[d].hi}, 2);
  tsr_json_end_array(writer);
  tsr_json_add_int(writer, "replica_id", chunk.replica_id);
  return NULL;
}

static tsr_status write_process(const chunks_query *query, int64_t process,
                                tsr_json_writer *writer) {
  tsr_process_chunks chunks;
  TSR_TRY(tsr_chunker_chunks(query->chunker, process, &chunks));
  tsr_json_begin_object(writer);
  tsr_json_add_int(writer, "process", process);
  write_per_axis(writer, "num_chunks", query->mesh, chunks.num_chunks);
  write_per_axis(writer, "chunk_ids", query->mesh, chunks.chunk_ids);
  if (query->has_tensor) TSR_TRY(write_chunk(query, process, writer));
  tsr_json_end_object(writer);
  return NULL;
}

static tsr_status print_json(const chunks_query *query, tsr_text *out) {
  tsr_json_writer writer;
  tsr_json_begin_document(&writer, out);
  tsr_json_write_key(&writer, "mesh");
  tsr_mesh_to_json(query->mesh, &writer);
  if (query->has_tensor) {
    tsr_json_add_ints(&writer, "shape", query->shape.dims, (size_t)query->shape.rank);
    tsr_json_write_key(&writer, "spec");
    tsr_spec_to_json(query->spec, &writer);
  }
  tsr_json_add_array(&writer, "processes");
  for (int64_t i = query->first; i < query->end; i++)
    TSR_TRY(write_process(query, tsr_chunker_process_at(query->chunker, i), &writer));
  tsr_json_end_array(&writer);
  tsr_json_end_document(&writer);
  return NULL;
}

// ---- the command ----

static tsr_status run_query(cli_args *args, const tsr_chunker *chunker) {
  chunks_query query = {.chunker = chunker, .mesh = tsr_chunker_mesh(chunker)};
  tsr_status status = choose_processes(args, &query);
  if (!status) status = read_tensor(args, &query);
  if (!status)
    status =
        cli_has(args, "json") ? print_json(&query, &args->out) : print_table(&query, &args->out);
  tsr_spec_release(query.spec);
  return status;
}

static tsr_status run_chunks(cli_args *args) {
  tsr_mesh *mesh = NULL;
  tsr_chunker *chunker = NULL;
  tsr_status status = open_mesh(args, &mesh);
  if (!status) status = tsr_chunker_create(mesh, &chunker);
  if (!status) status = run_query(args, chunker);
  tsr_chunker_release(chunker);
  tsr_mesh_release(mesh);
  return status;
}

// clang-format off
static const cli_option options[] = {
    CLI_OPTION_MESH,
    CLI_OPTIONS_T5X_MESH,
    CLI_OPTION_SHAPE,
    {"spec", 0, "SPEC", NULL, "spec of the tensor, in any notation"},
    {"process", 'p', "N", NULL, "show only this process (default: all)"},
    {"tuples", 0, NULL, NULL, "allow several axes on one dimension"},
    {"uneven", 0, NULL, NULL, "allow sizes that do not divide; show what the devices really hold"},
    {"strict", 0, NULL, NULL, "refuse what t5x ignores silently"},
    CLI_OPTION_JSON,
    {0},
};
// clang-format on

const cli_command cli_cmd_chunks = {
    .name = "chunks",
    .summary = "show which chunk of a tensor each process holds",
    .usage = "TOPOLOGY --mesh MESH [--shape SHAPE --spec SPEC] [options]",
    .options = options,
    .description =
        "The devices of a process fill a box of the mesh; along each axis it is one of several\n"
        "chunks. 1/4 under an axis means chunk 1 of 4. Of the processes that hold the same\n"
        "chunk, replica 0 is the one to write it.\n\n"
        "The answers are those of t5x's LocalChunker, which gives the rest of a size that does\n"
        "not divide to no process; --uneven gives it to the devices that really hold it.\n",
    .examples =
        "tessera chunks gpu:4x8 --mesh data=8,model=4 --shape 64,512 --spec 'data, model'\n"
        "tessera chunks tpu-v4:4x4x4 --partitions 8 --shape 1024,4096 --spec '_, model'\n"
        "tessera chunks gpu:4x8 -m data=32 -s 1000 --spec data --uneven --json\n",
    .run = run_chunks,
};
