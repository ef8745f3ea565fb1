// Arrays over ranks: every change of layout, by direct copies and by collectives, must give each
// device what it gets when the tensor is cut anew from host memory, which needs no messages.
#include <stdlib.h>
#include <string.h>

#include "array/array_internal.h"
#include "cases.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tessera.h"

enum { ROWS = 12, COLUMNS = 24, DEVICES = 12, BYTES = ROWS * COLUMNS * 4 };

static const char *const specs[] = {"x, _",
                                    "_, x",
                                    "x, y",
                                    "y+x, _",
                                    "_, x+y",
                                    "_, _",
                                    "y, _",
                                    "x, _ | unreduced=y",
                                    "_, _ | unreduced=x+y"};
enum { SPECS = sizeof specs / sizeof *specs };

static tsr_status make_layout(const tsr_mesh *mesh, const char *text, tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_spec_parse(text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status)
    status = tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

static bool same_parts(const tsr_array *a, const tsr_array *b) {
  for (int64_t i = 0; i < tsr_array_local_count(a); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    if (tsr_array_local_at(a, i, &part)) return false;
    if (memcmp(part.data, tsr_array_data(b, i), (size_t)part.bytes) != 0) return false;
  }
  return true;
}

static void check_pair(tsr_array *from, tsr_array *wanted, tsr_reshard_method method,
                       const int32_t *host) {
  const tsr_reshard_options options = {.size = sizeof options, .method = method};
  tsr_host_options to_last = TSR_HOST_OPTIONS;
  tsr_array *moved = NULL;
  int32_t back[ROWS][COLUMNS];
  if (!check_ok("reshard", tsr_array_reshard(from, tsr_array_layout(wanted), &options, &moved)))
    return;
  check_that("every device holds what it should", same_parts(moved, wanted));
  check_ok("replicas", tsr_array_check_replicas(moved));
  if (check_ok("gather", tsr_array_gather(moved, back, sizeof back, NULL)))
    check_that("gathered the tensor", memcmp(back, host, BYTES) == 0);
  memset(back, 0, sizeof back);
  const tsr_host_options zeroed = {.size = sizeof zeroed};
  if (check_ok("gather by zeroed options", tsr_array_gather(moved, back, sizeof back, &zeroed)))
    check_that("gathered it on every rank", memcmp(back, host, BYTES) == 0);
  to_last.to_root = true;
  to_last.root = check_size() - 1;
  memset(back, 0, sizeof back);
  if (check_ok("gather to one", tsr_array_gather(moved, back, sizeof back, &to_last)))
    check_that("gathered it there alone",
               (memcmp(back, host, BYTES) == 0) == (check_rank() == to_last.root));
  tsr_array_release(moved);
}

// Into an array that is there, twice, in the memory that it has.
static void check_into(tsr_comm *comm, tsr_array *from, tsr_array *wanted,
                       tsr_reshard_method method) {
  const tsr_reshard_options options = {.size = sizeof options, .method = method};
  tsr_array *target = NULL;
  if (!check_ok("target", tsr_array_zeros(comm, tsr_array_layout(wanted), TSR_I32, &target)))
    return;
  const int64_t before = tsr_buffer_pool_in_use(tsr_comm_buffers(comm));
  for (int turn = 0; turn < 2; turn++) {
    check_ok("reshard into", tsr_array_reshard_into(from, target, &options));
    check_that("the array holds what it should", same_parts(target, wanted));
    check_that("in the memory that it had",
               tsr_buffer_pool_in_use(tsr_comm_buffers(comm)) == before);
  }
  tsr_array_release(target);
}

static void check_all(tsr_comm *comm, const tsr_mesh *mesh) {
  int32_t host[ROWS * COLUMNS];
  tsr_array *arrays[SPECS] = {NULL};
  for (int i = 0; i < ROWS * COLUMNS; i++) host[i] = 7 * i + 1;
  for (int i = 0; i < SPECS; i++) {
    tsr_layout *layout = NULL;
    if (!check_ok("layout", make_layout(mesh, specs[i], &layout))) return;
    check_ok("shard", tsr_array_shard(comm, layout, TSR_I32, host, NULL, &arrays[i]));
    tsr_layout_release(layout);
    if (!arrays[i]) return;
  }
  for (int i = 0; i < SPECS; i++)
    for (int k = 0; k < SPECS; k++) {
      check_pair(arrays[i], arrays[k], TSR_RESHARD_DIRECT, host);
      check_pair(arrays[i], arrays[k], TSR_RESHARD_SEQUENCE, host);
      check_into(comm, arrays[i], arrays[k], TSR_RESHARD_DIRECT);
      check_into(comm, arrays[i], arrays[k], TSR_RESHARD_SEQUENCE);
    }
  for (int i = 0; i < SPECS; i++) tsr_array_release(arrays[i]);
}

// Writing all shards at once, each rank its own.
static tsr_status negate(void *context, const tsr_local_shard *part, void *data) {
  (void)context;
  int32_t *values = data;
  for (int64_t i = 0; i < part->bytes / 4; i++) values[i] = -values[i];
  return NULL;
}

static void check_writing(tsr_comm *comm, const tsr_mesh *mesh) {
  int32_t host[ROWS * COLUMNS], negative[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) negative[i] = -(host[i] = 7 * i + 1);
  for (int i = 0; i < SPECS; i++) {
    tsr_array *array = NULL, *wanted = NULL;
    if (!check_ok("put", tsr_array_put(comm, mesh, specs[i], TSR_SHAPE(ROWS, COLUMNS), TSR_I32,
                                       host, &array)) ||
        !check_ok("put negative", tsr_array_put(comm, mesh, specs[i], TSR_SHAPE(ROWS, COLUMNS),
                                                TSR_I32, negative, &wanted)))
      return;
    check_ok("write all", tsr_array_write_all(array, negate, NULL));
    check_that("every device has what was written", same_parts(array, wanted));
    check_that("memory stays", tsr_array_memory(array) == tsr_array_memory(wanted));
    check_ok("replicas", tsr_array_check_replicas(array));
    tsr_array_release(array);
    array = NULL;
    check_ok("reshard to text", tsr_array_reshard_to(wanted, "_, y", &array));
    tsr_array_release(array);
    tsr_array_release(wanted);
  }
}

int case_arrays(void) {
  tsr_comm *comm = NULL;
  tsr_mesh *mesh = NULL;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  const int64_t rank = check_rank(), size = check_size();
  const int64_t local = DEVICES * (rank + 1) / size - DEVICES * rank / size;
  if (check_ok("comm", tsr_comm_create_mpi(MPI_COMM_WORLD, local, &options, &comm)) &&
      check_ok("mesh",
               tsr_mesh_parse("x=3,y=4 devices=[5,1,2,3,4,0,6,11,8,9,10,7]", NULL, &mesh))) {
    check_all(comm, mesh);
    check_writing(comm, mesh);
  }
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
  return check_failures > 0;
}
