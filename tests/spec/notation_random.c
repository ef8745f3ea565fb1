#include "notation_random.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"

tsr_mesh *random_mesh(test_random *random, int64_t most) {
  static const char *const names[] = {"a", "b", "c", "d"};
  tsr_axis axes[4];
  const int count = (int)test_random_range(random, 1, 4);
  int64_t devices = 1;
  for (int i = 0; i < count; i++) {
    const int64_t limit = most / devices < 6 ? most / devices : 6;
    axes[i] = (tsr_axis){names[i], test_random_range(random, 1, limit), TSR_AXIS_AUTO};
    devices *= axes[i].size;
  }
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(
      &(tsr_mesh_desc){.size = sizeof(tsr_mesh_desc), .axis_count = count, .axes = axes}, &mesh));
  return mesh;
}

static void shuffle(test_random *random, tsr_axis_ref *refs, int count) {
  for (int i = count; i-- > 1;) {
    const int j = (int)test_random_range(random, 0, i);
    const tsr_axis_ref swapped = refs[i];
    refs[i] = refs[j];
    refs[j] = swapped;
  }
}

// All axes, whole or in two parts, in random order.
static int random_refs(test_random *random, const tsr_mesh *mesh, bool parts, tsr_axis_ref *refs) {
  int count = 0;
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, i);
    const bool split =
        parts && axis->size > 2 && axis->size % 2 == 0 && test_random_range(random, 0, 1);
    if (split) refs[count++] = (tsr_axis_ref){axis->name, 1, 2};
    if (split)
      refs[count++] = (tsr_axis_ref){axis->name, 2, axis->size / 2};
    else
      refs[count++] = (tsr_axis_ref){axis->name, 1, 0};
  }
  shuffle(random, refs, count);
  return count;
}

tsr_sharding *random_sharding(test_random *random, const tsr_mesh *mesh, int rank, bool parts,
                              bool nested, bool unreduced) {
  tsr_axis_ref refs[8], rest[8];
  tsr_stage stages[8];
  tsr_spec_dim dims[8];
  const int count = random_refs(random, mesh, parts, refs);
  int next = 0, stage = 0, rest_count = 0;
  for (int d = 0; d < rank; d++) {
    const int used = (int)test_random_range(random, 0, count - next < 3 ? count - next : 3);
    dims[d] = (tsr_spec_dim){.stages = stages + stage};
    for (int i = 0; i < used; i++) {
      if (i == 0 || nested) {
        stages[stage++] = (tsr_stage){.kind = TSR_STAGE_EVEN, .axes = refs + next};
        dims[d].stage_count++;
      }
      stages[stage - 1].axis_count++;
      next++;
    }
  }
  for (; next < count && unreduced; next++)
    if (test_random_range(random, 0, 1)) rest[rest_count++] = refs[next];
  const tsr_spec_desc desc = {.size = sizeof desc,
                              .dim_count = rank,
                              .dims = dims,
                              .unreduced = rest,
                              .unreduced_count = rest_count};
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_spec_create(&desc, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_spec_release(spec);
  return sharding;
}
