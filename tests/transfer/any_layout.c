#include "transfer/any_layout.h"

#include <stdio.h>
#include <string.h>

#include "tessera/engine/layout.h"

static tsr_layout *grid_of(test_random *random, const test_layout *made) {
  tsr_layout *layout = NULL;
  const tsr_policy policy = test_random_range(random, 0, 2) ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD;
  assert_ok(tsr_layout_create(made->sharding, &made->shape, policy, &layout));
  return layout;
}

// No mesh, an abstract one, or one of other devices.
static tsr_mesh *random_mesh(test_random *random, int64_t devices) {
  char text[512];
  const int64_t kind = test_random_range(random, 0, 2);
  if (kind == 0) return NULL;
  int at = snprintf(text, sizeof text, "d=%lld%s", (long long)devices,
                    kind == 1 ? " abstract" : " devices=[");
  const int64_t step = test_random_range(random, 1, 3), first = test_random_range(random, 0, 5);
  for (int64_t i = 0; kind == 2 && i < devices; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%lld%s",
                   (long long)(first + (devices - i) * step), i + 1 < devices ? "," : "]");
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

// Cuts ranges until there are so many, at places that need not be in order.
static tsr_layout *flat_of(test_random *random, const tsr_shape *shape) {
  tsr_range ranges[24];
  int64_t total = 0, shards = test_random_range(random, 1, 6), at = 0;
  assert_ok(tsr_shape_count(shape, &total));
  for (int64_t s = 0; s < shards; s++) {
    const int64_t end = s + 1 == shards ? total : test_random_range(random, at, total);
    ranges[s] = (tsr_range){at, end};
    at = end;
  }
  for (int64_t s = 0; s < shards; s++) {
    const int64_t other = test_random_range(random, 0, shards - 1);
    const tsr_range kept = ranges[s];
    ranges[s] = ranges[other];
    ranges[other] = kept;
  }
  for (int64_t copies = test_random_range(random, 0, 4); copies > 0; copies--, shards++)
    ranges[shards] = ranges[test_random_range(random, 0, shards - 1)];
  tsr_layout *layout = NULL;
  tsr_mesh *mesh = random_mesh(random, shards * test_random_range(random, 1, 3));
  assert_ok(tsr_layout_from_flat(mesh, shape, shards, ranges, &layout));
  tsr_mesh_release(mesh);
  return layout;
}

enum { MAX_BOXES = 24 };

// Splits boxes at random planes; some are held twice, by another shard or the same.
static int random_boxes(test_random *random, const tsr_shape *shape, tsr_range (*boxes)[MAX_DIMS]) {
  int count = 1;
  for (int d = 0; d < shape->rank; d++) boxes[0][d] = (tsr_range){0, shape->dims[d]};
  for (int64_t cuts = test_random_range(random, 0, 10); cuts > 0; cuts--) {
    const int64_t box = test_random_range(random, 0, count - 1);
    const int64_t dim = test_random_range(random, 0, shape->rank - 1);
    const int64_t at = test_random_range(random, boxes[box][dim].lo, boxes[box][dim].hi);
    memcpy(boxes[count], boxes[box], sizeof boxes[box]);
    boxes[box][dim].hi = boxes[count++][dim].lo = at;
  }
  for (int64_t copies = test_random_range(random, 0, 6); copies > 0; copies--, count++)
    memcpy(boxes[count], boxes[test_random_range(random, 0, count - 1)], sizeof *boxes);
  return count;
}

static tsr_layout *boxes_of(test_random *random, const tsr_shape *shape) {
  tsr_range boxes[MAX_BOXES][MAX_DIMS], listed[MAX_BOXES * MAX_DIMS];
  int owners[MAX_BOXES], at = 0;
  int64_t counts[8] = {0};
  const int count = random_boxes(random, shape, boxes);
  const int64_t shards = test_random_range(random, 1, 7);
  for (int b = 0; b < count; b++) owners[b] = (int)test_random_range(random, 0, shards - 1);
  for (int s = 0; s < shards; s++)
    for (int b = 0; b < count; b++) {
      if (owners[b] != s) continue;
      for (int d = 0; d < shape->rank; d++) listed[at++] = boxes[b][d];
      counts[s]++;
    }
  tsr_layout *layout = NULL;
  tsr_mesh *mesh = random_mesh(random, shards * test_random_range(random, 1, 3));
  assert_ok(tsr_layout_from_boxes(mesh, shape, shards, counts, listed, &layout));
  tsr_mesh_release(mesh);
  return layout;
}

tsr_layout *test_layout_any(test_random *random, const test_layout *made) {
  const int64_t kind = test_random_range(random, 0, 3);
  if (kind == 0) return flat_of(random, &made->shape);
  if (kind == 1) return boxes_of(random, &made->shape);
  return grid_of(random, made);
}
