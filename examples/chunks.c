// What the devices of one process hold together: four hosts with two devices each, and the rows and
// columns of a matrix that each host would read from a file or write to one.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/compat/t5x_chunks.h>
#include <tessera/tessera.h>

static tsr_status run(void) {
  TSR_OWN(topology, fleet);
  TSR_OWN(mesh, mesh);
  TSR_OWN(spec, spec);
  TSR_OWN(chunker, chunker);
  TSR_TRY(tsr_topology_parse("cpu:4x2", &fleet));
  TSR_TRY(tsr_mesh_parse("data=4,model=2", fleet, &mesh));
  TSR_TRY(tsr_spec_parse("data, model", TSR_FORM_ANY, &spec));
  TSR_TRY(tsr_chunker_create(mesh, &chunker));
  for (int process = 0; process < 4; process++) {
    tsr_chunk chunk;
    TSR_TRY(tsr_chunker_local_chunk(chunker, process, TSR_SHAPE(64, 512), spec, NULL, &chunk));
    printf("process %d: rows %" PRId64 " to %" PRId64 ", columns %" PRId64 " to %" PRId64 "%s\n",
           process, chunk.slice[0].lo, chunk.slice[0].hi, chunk.slice[1].lo, chunk.slice[1].hi,
           chunk.replica_id == 0 ? ", which it writes" : "");
  }
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
