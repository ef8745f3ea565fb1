// Whatever mesh, spec, shape and policy (a line each): no crash, and a layout that can be made
// tiles its tensor. Its shards have as many elements as their pieces, and positions, shards and
// replicas lead to one another.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/layout.h"
#include "tessera/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_RUNS = 64, MOST_PIECES = 512 };

static const char *const meshes[] = {"x=1",     "x=4",         "x=2,y=4",      "x=3,y=5",
                                     "x=8,y=1", "x=2,y=3,z=2", "x=12,y=2,z=3", "x=64"};

// Whether the runs of the first shards are few, so that looking at all takes no time.
static bool is_small(const tsr_layout *layout) {
  for (int d = 0; d < tsr_layout_rank(layout); d++) {
    tsr_run *runs = NULL;
    int64_t count = 0;
    tsr_status status = tsr_layout_runs(layout, d, 0, &runs, &count);
    const bool small = !status && count <= MOST_RUNS;
    tsr_status_free(status);
    free(runs);
    if (!small) return false;
  }
  return true;
}

static void check_pieces(const tsr_layout *layout, int64_t shard) {
  tsr_pieces pieces;
  tsr_status status = tsr_pieces_init(&pieces, layout, shard);
  assert(!status);
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t elements = 0;
  int count = 0;
  tsr_piece piece;
  while (count <= MOST_PIECES && tsr_pieces_next(&pieces, &piece)) {
    int64_t volume = 1, last = piece.offset;
    for (int d = 0; d < shape.rank; d++) {
      const tsr_range range = piece.ranges[d];
      assert(range.lo >= 0 && range.lo < range.hi && range.hi <= shape.dims[d]);
      volume *= range.hi - range.lo;
      last += (range.hi - range.lo - 1) * piece.strides[d];
    }
    assert(piece.offset >= 0 && last < tsr_layout_buffer_elements(layout, shard));
    elements += volume;
    count++;
  }
  tsr_pieces_deinit(&pieces);
  assert(count > MOST_PIECES || elements == tsr_layout_shard_elements(layout, shard));
}

static void check_layout(const tsr_layout *layout) {
  tsr_status status = tsr_layout_check(layout);
  assert(!status || tsr_status_cause(status) == TSR_CAUSE_TOO_LARGE);
  tsr_status_free(status);
  for (int64_t s = 0; s < tsr_layout_shard_count(layout); s++) check_pieces(layout, s);
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
    const int64_t shard = tsr_layout_shard(layout, p);
    assert(tsr_layout_replica_at(layout, shard, tsr_layout_replica_id(layout, p)) == p);
  }
  bool same = false;
  status = tsr_layout_equivalent(layout, layout, &same);
  assert(status || same);
  tsr_status_free(status);
}

static tsr_status make(const char *mesh_text, char *const *lines, tsr_layout **out_layout) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shape shape;
  tsr_policy policy = TSR_POLICY_UNEVEN;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_spec_parse(lines[0], TSR_FORM_ANY, &spec);
  if (!status) status = tsr_shape_parse(lines[1], &shape);
  if (!status) status = tsr_policy_parse(lines[2], &policy);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, policy, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const char *mesh = meshes[data[0] % (sizeof meshes / sizeof *meshes)];
  char *text = malloc(size);
  if (!text) return 0;
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  char *lines[3] = {"", "", "uneven"}, *rest = text;
  for (int i = 0; i < 3 && rest; i++) lines[i] = strsep(&rest, "\n");
  tsr_layout *layout = NULL;
  tsr_status status = make(mesh, lines, &layout);
  if (!status && is_small(layout)) check_layout(layout);
  tsr_status_free(status);
  tsr_layout_release(layout);
  free(text);
  return 0;
}
