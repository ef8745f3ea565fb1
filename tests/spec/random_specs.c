#include "spec/random_specs.h"

#include "spec/spec_builder.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

static bool chance(test_random *random, int64_t in) {
  return test_random_range(random, 1, in) == 1;
}

// ---- anything that can be written ----

static const char *const names[] = {"x",   "y",        "data",  "fsdp",       "tp",
                                    "_",   "None",     "my ax", "a'b\"c\\d",  "1st",
                                    "sum", "\xC3\xA9", "P",     "\n\t\r\x01", "\xE2\x80\x8B"};
enum { SET_NAMES = 3 };  // names at the end of the list are left to the sets

static tsr_axis_ref random_ref(test_random *random, int64_t first, int64_t last) {
  tsr_axis_ref ref = {names[test_random_range(random, first, last)], 1, 0};
  if (chance(random, 6)) {
    ref.pre = test_random_range(random, 1, 4);
    ref.size = test_random_range(random, 1, 8);
  }
  return ref;
}

static tsr_status add_cut(test_random *random, tsr_spec_builder *builder) {
  const tsr_stage_kind kind = (tsr_stage_kind)test_random_range(random, 0, 3);
  const int64_t count = test_random_range(random, 1, 3);
  tsr_spec_builder_last_stage(builder)->kind = kind;
  if (kind == TSR_STAGE_CYCLIC)
    tsr_spec_builder_last_stage(builder)->block = test_random_range(random, 1, INT64_MAX);
  for (int64_t i = 0; kind == TSR_STAGE_SIZES && i < count; i++)
    TSR_TRY(tsr_spec_builder_size(builder, test_random_range(random, 0, INT32_MAX)));
  for (int64_t i = 0; kind == TSR_STAGE_PARTS && i < count; i++)
    TSR_TRY(tsr_spec_builder_part(
        builder,
        &(tsr_part){.name = chance(random, 2) ? "" : names[test_random_range(random, 0, 9)],
                    .size = test_random_range(random, 0, 100),
                    .grain = test_random_range(random, 1, 3),
                    .copies = test_random_range(random, 1, 3)}));
  return NULL;
}

static tsr_status add_stage(test_random *random, tsr_spec_builder *builder, bool plain) {
  const int64_t last = (int64_t)COUNT_OF(names) - 1 - SET_NAMES;
  TSR_TRY(tsr_spec_builder_stage(builder));
  for (int64_t i = test_random_range(random, 1, 3); i > 0; i--) {
    tsr_axis_ref ref = random_ref(random, 0, last);
    if (plain) ref = (tsr_axis_ref){ref.name, 1, 0};
    TSR_TRY(tsr_spec_builder_axis(builder, &ref));
  }
  if (chance(random, 10)) TSR_TRY(tsr_spec_builder_axis(builder, &(tsr_axis_ref){"", 1, 0}));
  return plain || chance(random, 2) ? NULL : add_cut(random, builder);
}

static tsr_status fill(test_random *random, tsr_spec_builder *builder) {
  const bool plain = chance(random, 2);
  for (int64_t d = test_random_range(random, 0, 4); d > 0; d--) {
    TSR_TRY(tsr_spec_builder_dim(builder));
    int64_t stages = test_random_range(random, 0, plain ? 1 : 2);
    tsr_spec_builder_last_dim(builder)->open = chance(random, 4) && !(plain && stages);
    if (!plain && chance(random, 4)) {
      tsr_spec_builder_last_dim(builder)->has_priority = true;
      tsr_spec_builder_last_dim(builder)->priority = (int)test_random_range(random, 0, 20);
    }
    for (; stages > 0; stages--) TSR_TRY(add_stage(random, builder, plain));
  }
  for (int set = 0; set < TSR_SET_COUNT; set++) {
    const int64_t name = (int64_t)COUNT_OF(names) - 1 - set;
    const tsr_axis_ref ref = random_ref(random, name, name);
    if (chance(random, 4)) TSR_TRY(tsr_spec_builder_member(builder, (tsr_spec_set)set, &ref));
  }
  builder->reduction = (tsr_reduction)test_random_range(random, 0, 2);
  if (chance(random, 8)) builder->mesh_name = names[test_random_range(random, 0, 12)];
  return NULL;
}

tsr_spec *test_random_spec(test_random *random) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  tsr_spec *spec = NULL;
  assert_ok(fill(random, &builder));
  assert_ok(tsr_spec_builder_finish(&builder, &spec));
  tsr_spec_builder_deinit(&builder);
  return spec;
}

// ---- on a mesh ----

static int64_t random_divisor(test_random *random, int64_t n) {
  int64_t divisor = test_random_range(random, 1, n);
  while (n % divisor != 0) divisor--;
  return divisor;
}

tsr_mesh *test_random_mesh(test_random *random, int64_t device_count) {
  static const char *const axis_names[] = {"a", "b", "c", "d"};
  tsr_axis axes[4];
  const int count = (int)test_random_range(random, 1, 4);
  int64_t left = device_count;
  for (int i = 0; i < count; i++) {
    axes[i] = (tsr_axis){axis_names[i], i + 1 < count ? random_divisor(random, left) : left, 0};
    left /= axes[i].size;
  }
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(
      &(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc), .axis_count = count, .axes = axes}, &mesh));
  return mesh;
}

typedef struct ref_list {
  int count;
  tsr_axis_ref refs[16];
} ref_list;

// All axes in random order, each whole or in up to three parts.
static ref_list random_parts(test_random *random, const tsr_mesh *mesh) {
  ref_list list = {0};
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, i);
    if (chance(random, 2)) {
      list.refs[list.count++] = (tsr_axis_ref){axis->name, 1, 0};
      continue;
    }
    int64_t pre = 1;
    for (int p = 0; p < 3; p++) {
      const int64_t left = axis->size / pre;
      const int64_t size = p < 2 ? random_divisor(random, left) : left;
      list.refs[list.count++] = (tsr_axis_ref){axis->name, pre, size};
      pre *= size;
    }
  }
  for (int i = list.count - 1; i > 0; i--) {
    const int64_t j = test_random_range(random, 0, i);
    const tsr_axis_ref swapped = list.refs[i];
    list.refs[i] = list.refs[j];
    list.refs[j] = swapped;
  }
  return list;
}

static tsr_status spread(test_random *random, const ref_list *parts, int max_rank,
                         tsr_spec_builder *builder) {
  int next = 0;
  for (int64_t d = test_random_range(random, 0, max_rank); d > 0; d--) {
    TSR_TRY(tsr_spec_builder_dim(builder));
    for (int64_t s = test_random_range(random, 0, 2); s > 0; s--) {
      const int64_t count = test_random_range(random, 0, 2);
      if (next + count > parts->count || !count) continue;
      TSR_TRY(tsr_spec_builder_stage(builder));
      for (int64_t i = 0; i < count; i++)
        TSR_TRY(tsr_spec_builder_axis(builder, &parts->refs[next++]));
      if (chance(random, 3)) {
        tsr_spec_builder_last_stage(builder)->kind = TSR_STAGE_CYCLIC;
        tsr_spec_builder_last_stage(builder)->block = test_random_range(random, 1, 2);
      }
    }
  }
  for (; next < parts->count; next++)
    if (chance(random, 4))
      TSR_TRY(tsr_spec_builder_member(builder, TSR_SET_UNREDUCED, &parts->refs[next]));
  return NULL;
}

tsr_sharding *test_random_sharding(test_random *random, const tsr_mesh *mesh, int max_rank) {
  tsr_spec_builder builder = TSR_SPEC_BUILDER_EMPTY;
  const ref_list parts = random_parts(random, mesh);
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(spread(random, &parts, max_rank, &builder));
  assert_ok(tsr_spec_builder_finish(&builder, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_spec_release(spec);
  tsr_spec_builder_deinit(&builder);
  return sharding;
}
