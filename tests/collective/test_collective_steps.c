// Sequences of collectives, carried out: each device must end with its shard.
#include "collective/collective_steps.h"
#include "support/test.h"
#include "verify/sdy_axes.h"

enum { RANK_MOST = 3, DEVICES_MOST = 64, AXES_MOST = 3 };

// ---- what a device holds ----

// The coordinate of a device along a part of an axis.
static int64_t coordinate(const tsr_attr *mesh, int64_t device, const tsr_sdy_part *part) {
  const int axes = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  int64_t below = 1;
  for (int i = part->axis + 1; i < axes; i++) below *= tsr_sdy_axis_size(mesh, i);
  const int64_t on_axis = device / below % tsr_sdy_axis_size(mesh, part->axis);
  return on_axis / (tsr_sdy_axis_size(mesh, part->axis) / tsr_sdy_end(part)) % part->size;
}

// Which block of a dim a device holds, and how many there are.
static int64_t block_of(const tsr_tensor_sharding *sharding, int dim, int64_t device,
                        int64_t *out_count) {
  const tsr_sdy_parts *axes = &sharding->dims[dim].axes;
  int64_t block = 0;
  *out_count = 1;
  for (int64_t i = 0; i < axes->count; i++) {
    block = block * axes->items[i].size + coordinate(sharding->mesh, device, &axes->items[i]);
    *out_count *= axes->items[i].size;
  }
  return block;
}

static bool holds(const tsr_tensor_sharding *sharding, const int64_t *sizes, int64_t device,
                  int64_t element) {
  for (int d = sharding->rank - 1; d >= 0; d--) {
    int64_t count = 1;
    const int64_t block = block_of(sharding, d, device, &count);
    if (element % sizes[d] / (sizes[d] / count) != block) return false;
    element /= sizes[d];
  }
  return true;
}

// ---- what each collective may read ----

static bool same_group(const tsr_attr *mesh, const tsr_collective_step *step, int lists, int64_t a,
                       int64_t b) {
  const int axes = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  for (int axis = 0; axis < axes; axis++)
    for (int64_t pre = 1, size = tsr_sdy_axis_size(mesh, axis); pre < size; pre++) {
      // Every digit of the axis, seen as finely as the parts cut it, is equal but for the parts
      // that take part.
      if (size % pre) continue;
      for (int64_t digit = 2; pre * digit <= size; digit++) {
        const tsr_sdy_part part = {axis, false, pre, digit};
        bool inside = false;
        if (size % (pre * digit)) continue;
        for (int i = 0; i < lists; i++)
          for (int64_t k = 0; k < step->axes[i].count; k++)
            inside |= tsr_sdy_overlap(&step->axes[i].items[k], &part) ||
                      !tsr_part_can_coexist(&step->axes[i].items[k], &part);
        if (!inside && coordinate(mesh, a, &part) != coordinate(mesh, b, &part)) return false;
      }
    }
  return true;
}

// A device gets an element that it did not hold from another one: of its group in a gather or an
// all-to-all, of any in a permute; a slice only drops elements.
static bool may_get(const tsr_tensor_sharding *before, const tsr_collective_step *step,
                    const int64_t *sizes, int64_t devices, int64_t device, int64_t element) {
  if (holds(before, sizes, device, element)) return true;
  if (step->op == TSR_OP_SDY_ALL_SLICE) return false;
  const int lists = step->op == TSR_OP_SDY_ALL_GATHER ? before->rank : 1;
  for (int64_t other = 0; other < devices; other++) {
    if (!holds(before, sizes, other, element)) continue;
    if (step->op == TSR_OP_SDY_COLLECTIVE_PERMUTE) return true;
    if (same_group(before->mesh, step, lists, device, other)) return true;
  }
  return false;
}

static int64_t held(const tsr_tensor_sharding *sharding, const int64_t *sizes) {
  int64_t elements = 1;
  for (int d = 0; d < sharding->rank; d++)
    elements *= sizes[d] / tsr_parts_size(&sharding->dims[d].axes);
  return elements;
}

// ---- one sequence ----

static void assert_step(const tsr_tensor_sharding *before, const tsr_collective_step *step,
                        const int64_t *sizes, int64_t devices) {
  int64_t elements = 1;
  for (int d = 0; d < before->rank; d++) elements *= sizes[d];
  const int64_t had = held(before, sizes), has = held(step->sharding, sizes);
  if (step->op == TSR_OP_SDY_ALL_GATHER) assert_true(has >= had);
  if (step->op == TSR_OP_SDY_ALL_SLICE) assert_true(has <= had);
  if (step->op == TSR_OP_SDY_ALL_TO_ALL || step->op == TSR_OP_SDY_COLLECTIVE_PERMUTE)
    assert_int_equal(has, had);
  for (int64_t device = 0; device < devices; device++)
    for (int64_t element = 0; element < elements; element++)
      if (holds(step->sharding, sizes, device, element))
        assert_true(may_get(before, step, sizes, devices, device, element));
}

static void assert_reached(const tsr_tensor_sharding *found, const tsr_tensor_sharding *wanted,
                           const int64_t *sizes, int64_t devices) {
  int64_t elements = 1;
  for (int d = 0; d < found->rank; d++) elements *= sizes[d];
  for (int64_t device = 0; device < devices; device++)
    for (int64_t element = 0; element < elements; element++)
      assert_int_equal(holds(found, sizes, device, element), holds(wanted, sizes, device, element));
}

static void assert_sequence(const tsr_tensor_sharding *from, const tsr_tensor_sharding *to,
                            const int64_t *sizes, int64_t devices) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_collective_step *step = NULL;
  const tsr_tensor_sharding *at = from;
  assert_ok(tsr_collective_steps(&arena, from, to, sizes, &step));
  for (; step; step = step->next) {
    assert_step(at, step, sizes, devices);
    at = step->sharding;
  }
  assert_reached(at, to, sizes, devices);
  tsr_arena_deinit(&arena);
}

// ---- random ones ----

static const tsr_attr *random_mesh(tsr_ir *ir, test_random *random, int64_t *devices) {
  static const int64_t sizes[] = {2, 2, 3, 4, 6};
  static const char *const names[AXES_MOST] = {"x", "y", "z"};
  const tsr_attr *axes[AXES_MOST];
  int count = 0;
  *devices = 1;
  for (; count < AXES_MOST; count++) {
    const int64_t size = sizes[test_random_range(random, 0, 4)];
    if (*devices * size > DEVICES_MOST) break;
    const tsr_attr *const fields[] = {tsr_attr_string(ir, names[count], 1), tsr_attr_i64(ir, size)};
    axes[count] = tsr_attr_record(ir, TSR_RECORD_SDY_MESH_AXIS, fields);
    *devices *= size;
  }
  const tsr_attr *const fields[] = {tsr_attr_array(ir, axes, count), tsr_attr_ints(ir, NULL, 0)};
  return tsr_attr_record(ir, TSR_RECORD_SDY_MESH, fields);
}

// Axes, some of them in two parts, dealt out to the dims.
static tsr_tensor_sharding *random_sharding(tsr_arena *arena, test_random *random,
                                            const tsr_attr *mesh, int rank) {
  tsr_tensor_sharding *sharding = tsr_sharding_empty(arena, mesh, mesh, rank, true);
  tsr_dim_sharding *dims = tsr_arena_zeros(arena, RANK_MOST, sizeof *dims);
  const int axes = (int)tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->count;
  for (int d = 0; d < rank; d++)
    dims[d] = (tsr_dim_sharding){
        {tsr_arena_zeros(arena, 4 * AXES_MOST, sizeof(tsr_sdy_part)), 0}, true, -1};
  const int first = (int)test_random_range(random, 0, 2);
  for (int i = 0; i < axes; i++) {
    const int axis = (i + first) % axes;
    const int64_t size = tsr_sdy_axis_size(mesh, axis);
    const int64_t cut = size % 2 == 0 && size > 2 && test_random_range(random, 0, 1) ? 2 : size;
    const bool turned = test_random_range(random, 0, 1);
    for (int part = 0; part < 2; part++) {
      const bool minor = (part == 1) != turned;
      if (minor && cut == size) continue;
      if (!test_random_range(random, 0, 3)) continue;  // not used
      tsr_sdy_parts_append(mesh, &dims[test_random_range(random, 0, rank - 1)].axes,
                           tsr_part_of(mesh, axis, minor ? cut : 1, minor ? size / cut : cut));
    }
  }
  sharding->dims = dims;
  return sharding;
}

static bool divides(const tsr_tensor_sharding *sharding, const int64_t *sizes) {
  for (int d = 0; d < sharding->rank; d++)
    if (sizes[d] % tsr_parts_size(&sharding->dims[d].axes)) return false;
  return true;
}

// Shards that are padded are left aside: what they hold is not said by blocks alone.
static bool is_even(const tsr_tensor_sharding *from, const tsr_tensor_sharding *to,
                    const int64_t *sizes) {
  tsr_arena arena = TSR_ARENA_EMPTY;
  const tsr_collective_step *step = NULL;
  assert_ok(tsr_collective_steps(&arena, from, to, sizes, &step));
  bool even = divides(from, sizes) && divides(to, sizes);
  for (; step; step = step->next) even &= divides(step->sharding, sizes);
  tsr_arena_deinit(&arena);
  return even;
}

static void every_device_ends_with_its_shard(void **state) {
  test_random random = {20};
  int tried = 0;
  (void)state;
  for (int round = 0; round < 400; round++) {
    tsr_arena arena = TSR_ARENA_EMPTY;
    tsr_ir *ir = tsr_ir_create();
    int64_t devices = 1, sizes[RANK_MOST];
    const tsr_attr *mesh = random_mesh(ir, &random, &devices);
    const int rank = (int)test_random_range(&random, 1, RANK_MOST);
    const tsr_tensor_sharding *from = random_sharding(&arena, &random, mesh, rank);
    const tsr_tensor_sharding *to = random_sharding(&arena, &random, mesh, rank);
    for (int d = 0; d < rank; d++) sizes[d] = rank > 2 ? 12 : rank > 1 ? 24 : 72;
    if (is_even(from, to, sizes)) {
      assert_sequence(from, to, sizes, devices);
      tried++;
    }
    tsr_ir_destroy(ir);
    tsr_arena_deinit(&arena);
  }
  assert_true(tried > 200);
}

// ---- memory ----

typedef struct sharding_pair {
  const tsr_tensor_sharding *from, *to;
} sharding_pair;

static tsr_status search(void *context) {
  static const int64_t sizes[RANK_MOST] = {72, 72, 72};
  const sharding_pair *pair = context;
  const tsr_collective_step *first = NULL;
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = tsr_collective_steps(&arena, pair->from, pair->to, sizes, &first);
  tsr_arena_deinit(&arena);
  return status;
}

static void a_search_survives_every_failed_allocation(void **state) {
  test_random random = {20};
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_ir *ir = tsr_ir_create();
  (void)state;
  for (int round = 0; round < 5; round++) {
    int64_t devices = 1;
    const tsr_attr *mesh = random_mesh(ir, &random, &devices);
    sharding_pair pair = {random_sharding(&arena, &random, mesh, 3),
                          random_sharding(&arena, &random, mesh, 3)};
    test_allocation_sweep(search, &pair);
  }
  tsr_ir_destroy(ir);
  tsr_arena_deinit(&arena);
}

SUITE(collective_steps, TEST(every_device_ends_with_its_shard),
      TEST(a_search_survives_every_failed_allocation))
