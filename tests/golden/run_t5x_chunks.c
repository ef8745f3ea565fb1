// t5x's LocalChunker, for every process of a fleet.
#include "array/chunks_internal.h"
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_build_internal.h"
#include "spec/spec_internal.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_mesh.h"
#include "topology/topology_internal.h"

// The mesh of a case: given, or made by get_mesh on a fleet; to be released.
static tsr_status read_chunked_mesh(const golden_case *c, tsr_mesh **out) {
  const tsr_json *given = golden_get(c, "mesh");
  if (!golden_is_null(given)) return golden_read_mesh(c, given, out);
  tsr_hardware_mesh submesh;
  bool tile = true;
  tsr_topology *topology = NULL;
  TSR_TRY(golden_read_submesh(c, c->input, &submesh));
  TSR_TRY(golden_bool(c, "tile_by_host_if_needed", &tile));
  TSR_TRY(golden_machine(c, "fleet", &topology));
  tsr_status status = tsr_t5x_get_mesh(topology, &submesh, 0, tile, out);
  tsr_topology_release(topology);
  return status;
}

static void write_per_axis(tsr_json_writer *out, const char *key, const tsr_mesh *mesh,
                           const int64_t *numbers) {
  tsr_json_write_key(out, key);
  tsr_json_begin_object(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    tsr_json_write_key(out, tsr_mesh_axis_at(mesh, i)->name);
    tsr_json_write_int(out, numbers[i]);
  }
  tsr_json_end_object(out);
}

// ---- requests: [shape, axes] ----

static void write_chunk(tsr_json_writer *out, const tsr_chunk *chunk) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "slice");
  tsr_json_begin_array(out);
  for (int d = 0; d < chunk->rank; d++) {
    if (chunk->cut[d])
      tsr_json_write_ints(out, (const int64_t[]){chunk->slice[d].lo, chunk->slice[d].hi}, 2);
    else
      tsr_json_write_null(out);
  }
  tsr_json_end_array(out);
  tsr_json_write_key(out, "replica_id");
  tsr_json_write_int(out, chunk->replica_id);
  tsr_json_end_object(out);
}

// A failure of one request is part of the answer; the exception's class is for Python alone.
static void write_failure(tsr_json_writer *out, tsr_status status) {
  const bool tuple = tsr_status_cause(status) == TSR_CAUSE_TUPLE_AXIS_UNSUPPORTED;
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "error");
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "kind");
  tsr_json_write_string(out, tsr_cause_slug(tsr_status_cause(status)));
  tsr_json_write_key(out, "type");
  tsr_json_write_string(out, tuple ? "NotImplementedError" : "KeyError");
  tsr_json_end_object(out);
  tsr_json_end_object(out);
  tsr_status_free(status);
}

static tsr_status write_request(const golden_case *c, const tsr_chunker *chunker, int64_t process,
                                const tsr_json *request, tsr_json_writer *out) {
  golden_ints dims;
  tsr_shape shape;
  tsr_spec *axes = NULL;
  tsr_chunk chunk;
  const tsr_json *sizes = tsr_json_first(request);
  TSR_TRY(golden_read_ints(c, sizes, "shape", &dims));
  TSR_TRY(tsr_shape_init(&shape, dims.items, dims.count));
  TSR_TRY(tsr_spec_from_json(tsr_json_next(sizes), &axes));
  tsr_status status = tsr_chunker_local_chunk(chunker, process, &shape, axes, NULL, &chunk);
  tsr_spec_release(axes);
  if (status)
    write_failure(out, status);
  else
    write_chunk(out, &chunk);
  return NULL;
}

// ---- processes ----

typedef tsr_status id_function(const tsr_chunker *, int64_t, const char *const *, int, int64_t *);

static tsr_status write_ids(const golden_case *c, const tsr_chunker *chunker, int64_t process,
                            const char *key, id_function *function, tsr_json_writer *out) {
  tsr_json_write_key(out, key);
  tsr_json_begin_array(out);
  const tsr_json *set = tsr_json_first(golden_get(c, "axis_sets"));
  for (; set; set = tsr_json_next(set)) {
    golden_names axes;
    int64_t id = 0;
    TSR_TRY(golden_read_names(c, set, "axis_sets", &axes));
    TSR_TRY(function(chunker, process, axes.items, axes.count, &id));
    tsr_json_write_int(out, id);
  }
  tsr_json_end_array(out);
  return NULL;
}

static tsr_status write_process(const golden_case *c, const tsr_chunker *chunker, int64_t process,
                                tsr_json_writer *out) {
  tsr_process_chunks chunks;
  TSR_TRY(tsr_chunker_chunks(chunker, process, &chunks));
  golden_write_process_key(out, process);
  tsr_json_begin_object(out);
  write_per_axis(out, "num_chunks", tsr_chunker_mesh(chunker), chunks.num_chunks);
  write_per_axis(out, "chunk_ids", tsr_chunker_mesh(chunker), chunks.chunk_ids);
  tsr_json_write_key(out, "chunks");
  tsr_json_begin_array(out);
  const tsr_json *request = tsr_json_first(golden_get(c, "requests"));
  for (; request; request = tsr_json_next(request))
    TSR_TRY(write_request(c, chunker, process, request, out));
  tsr_json_end_array(out);
  TSR_TRY(write_ids(c, chunker, process, "shard_ids", tsr_chunker_shard_id, out));
  TSR_TRY(write_ids(c, chunker, process, "replica_ids", tsr_chunker_replica_id, out));
  tsr_json_end_object(out);
  return NULL;
}

static tsr_status write_processes(const golden_case *c, const tsr_chunker *chunker,
                                  tsr_json_writer *out) {
  const tsr_topology *topology = tsr_mesh_topology(tsr_chunker_mesh(chunker));
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "processes");
  tsr_json_begin_object(out);
  for (int64_t process = 0; process < tsr_topology_process_count(topology); process++)
    TSR_TRY(write_process(c, chunker, process, out));
  tsr_json_end_object(out);
  tsr_json_end_object(out);
  return NULL;
}

tsr_status golden_local_chunker(const golden_case *c, const golden_answer *answer) {
  tsr_mesh *mesh = NULL;
  tsr_chunker *chunker = NULL;
  tsr_status status = read_chunked_mesh(c, &mesh);
  if (!status) status = tsr_chunker_create(mesh, &chunker);
  if (!status) status = write_processes(c, chunker, answer->out);
  tsr_chunker_release(chunker);
  tsr_mesh_release(mesh);
  return status;
}
