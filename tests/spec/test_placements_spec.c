#include <string.h>

#include "base/text_internal.h"
#include "notation_random.h"
#include "spec/sharding_internal.h"
#include "support/test.h"
#include "tessera/compat/torch.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/text.h"

static tsr_mesh *parse_mesh(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

static tsr_placements parse_placements(const char *text) {
  tsr_placements placements;
  assert_ok(tsr_placements_parse(text, &placements));
  return placements;
}

static void assert_prints(const tsr_spec *spec, const char *expected) {
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_spec_print(spec, TSR_FORM_SHORT, &text));
  assert_string_equal(tsr_text_string(&text), expected);
  tsr_text_deinit(&text);
}

// ---- to specs ----

static const struct {
  const char *placements, *mesh;
  int rank;
  int64_t size;  // of dimension 0, the others are 8; -1 = no shape
  const char *spec;
} found[] = {
    {"[R, R]", "dp=2,tp=4", 2, -1, "_, _"},
    {"[S(0), S(1)]", "dp=2,tp=4", 2, -1, "dp, tp"},
    {"[S(-1), R]", "dp=2,tp=4", 2, -1, "_, dp"},
    {"[S(0), S(0)]", "dp=2,tp=4", 1, -1, "dp;tp"},
    {"[S(0), S(0)]", "dp=2,tp=4", 1, 16, "dp+tp"},
    {"[S(0), S(0)]", "dp=2,tp=4", 1, 10, "dp;tp"},
    {"[S(0), S(0)]", "dp=2,tp=4", 1, 0, "dp+tp"},
    {"[S(0), S(0)]", "dp=1,tp=4", 1, -1, "dp;tp"},
    {"[S(0), S(0)]", "dp=1,tp=4", 1, 10, "dp+tp"},
    {"[_S(0, 4), S(0)]", "dp=2,tp=4", 1, 16, "tp+dp"},
    {"[_S(0, 4), S(0)]", "dp=2,tp=4", 1, 20, "tp;dp"},
    {"[_S(0, 2), S(0), S(1)]", "dp=2,tp=2,sp=2", 2, 5, "tp;dp, sp"},
    {"[_S(0, 4), _S(0, 2), S(0)]", "a=2,b=2,c=2", 1, 16, "c+b+a"},
    {"[S(0), _S(0, 2), S(0)]", "a=2,b=2,c=2", 1, 16, "a+c+b"},
    {"[_S(0, 2), S(0), S(0)]", "a=2,b=2,c=2", 1, 16, "b+a+c"},
    {"[_S(0, 1), S(0)]", "dp=2,tp=4", 1, -1, "dp;tp"},
    {"[_S(0, 4), S(0)]", "dp=1,tp=4", 1, -1, "dp;tp"},
    // FSDP over TP, for every size: TP cuts first
    {"[_S(0, 4), S(0)]", "dp=4,tp=4", 1, -1, "tp;dp"},
    {"[_S(0, 4), S(0)]", "dp=4,tp=4", 1, 19, "tp;dp"},
    {"[_S(0, 2), S(0)]", "dp=4,tp=2", 2, 50257, "tp;dp, _"},
    {"[_S(0, 4), S(0), S(0)]", "dp=2,ep=2,tp=2", 2, 6, "ep;tp;dp, _"},
    {"[_S(0, 2), S(0), S(1)]", "dp=2,ep=2,tp=2", 2, -1, "ep;dp, tp"},
    {"[R, _S(0, 2), S(0)]", "r=2,dp=2,tp=2", 1, 5, "tp;dp"},
    {"[R, _S(0, 2), S(0)]", "r=2,dp=2,tp=2", 1, 7, "tp+dp"},
    {"[_S(0, 2), _S(0, 2), S(0)]", "a=4,b=3,c=2", 1, -1, "c;a;b"},
    {"[_S(0, 2), S(0), S(0)]", "a=2,b=2,c=2", 1, -1, "b;a;c"},
    // the order said in the text
    {"S(0)[1]S(0)[0]", "dp=2,tp=4", 1, -1, "tp;dp"},
    {"S(0)[2]S(0)[0]S(0)[1]", "a=2,b=3,c=2", 1, 7, "b;c;a"},
    {"S(0)[0]S(0)[1]", "dp=2,tp=4", 1, -1, "dp;tp"},
    {"S(0)[1]S(0)[0]", "dp=2,tp=4", 1, 16, "tp+dp"},
    // an axis larger than the gap fills it with its major part
    {"[_S(0, 2), S(0)]", "dp=2,tp=4", 1, 16, "tp:(1)2+dp+tp:(2)2"},
    // nobody fills the gap: blocks dealt in turn
    {"[_S(0, 4), R]", "dp=2,tp=4", 1, 16, "dp/cyclic(2)"},
};

static void placements_become_specs(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(found); i++) {
    tsr_mesh *mesh = parse_mesh(found[i].mesh);
    const tsr_placements placements = parse_placements(found[i].placements);
    const tsr_shape shape = {found[i].rank, {found[i].size, 8, 8}};
    tsr_spec *spec = NULL;
    assert_ok(tsr_placements_to_spec(&placements, mesh, found[i].rank,
                                     found[i].size < 0 ? NULL : &shape, &spec));
    assert_prints(spec, found[i].spec);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static void partial_results_become_unreduced_axes(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("dp=2,tp=4");
  tsr_placements placements = parse_placements("[Partial(max), Shard(1)]"), back;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_placements_to_spec(&placements, mesh, 2, NULL, &spec));
  const tsr_spec_desc *desc = tsr_spec_desc_of(spec);
  assert_int_equal(desc->reduction, TSR_REDUCE_MAX);
  assert_int_equal(desc->unreduced_count, 1);
  assert_string_equal(desc->unreduced[0].name, "dp");
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_placements_from_sharding(sharding, 2, NULL, &back));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_placements_print(&back, &text);
  assert_string_equal(tsr_text_string(&text), "[Partial('max'), Shard(dim=1)]");
  tsr_text_deinit(&text);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
}

static const struct {
  const char *placements, *mesh;
  int rank;
  int64_t size;
  tsr_cause cause;
  const char *message;
} not_found[] = {
    {"[R]", "dp=2,tp=4", 1, -1, TSR_CAUSE_MESH_RANK_MISMATCH,
     "1 placements for a mesh of 2 axes, wanted one for each axis"},
    {"[S(1)]", "dp=2", 1, -1, TSR_CAUSE_RANK_TOO_SMALL,
     "Shard(dim=1) of a tensor of rank 1, wanted a dim from -1 to 0"},
    {"[S(0)]", "dp=2", 0, -1, TSR_CAUSE_RANK_TOO_SMALL,
     "Shard(dim=0) of a scalar, wanted Replicate()"},
    {"[S(-2)]", "dp=2", 1, -1, TSR_CAUSE_RANK_TOO_SMALL,
     "Shard(dim=-2) of a tensor of rank 1, wanted a dim from -1 to 0"},
    {"[R]", "dp=2", 33, -1, TSR_CAUSE_TOO_LARGE, "rank 33, wanted 0 to 32"},
    {"[P(sum), P(max)]", "dp=2,tp=2", 1, -1, TSR_CAUSE_NOT_EXPRESSIBLE,
     "partial results combine in two ways, expected one"},
    {"[_S(0, 2), S(0)]", "dp=4,tp=4", 1, -1, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 2 of axis \"dp\" gives no order of cuts, wanted 1 or 4: the pieces "
     "depend on the size, which is not given"},
    {"[_S(0, 4), R]", "dp=2,tp=4", 1, 15, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 4 of axis \"dp\" gives no order of cuts, wanted 1: no later axes "
     "fill the gaps of the strided shard"},
    {"[_S(0, 3), S(0)]", "dp=2,tp=4", 1, 24, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 3 of axis \"dp\" gives no order of cuts, wanted 1 or 4: no later "
     "axes fill the gaps of the strided shard"},
    {"[_S(0, 2), S(0), S(0)]", "a=2,b=3,c=2", 1, 24, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 2 of axis \"a\" gives no order of cuts, wanted 1 or 3 or 6: no "
     "later axes fill the gaps of the strided shard"},
    // more blocks than can be counted
    {"[_S(0, 4)]", "dp=4611686018427387904 abstract", 1, 64, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 4 of axis \"dp\" gives no order of cuts, wanted 1: no later axes "
     "fill the gaps of the strided shard"},
    // 19 rows in 2 are 10 and 9; dp 0 has rows 0 to 2 and 10 to 12, and tp 1 two of these
    {"[_S(0, 2), S(0)]", "dp=4,tp=4", 1, 19, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0: split_factor 2 of axis \"dp\" gives no order of cuts, wanted 1 or 4: dimension "
     "0 of size 19: at mesh position 1 PyTorch has [2, 3) and more, the spec [2, 3)"},
};

static void placements_without_a_spec_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(not_found); i++) {
    tsr_mesh *mesh = parse_mesh(not_found[i].mesh);
    const tsr_placements placements = parse_placements(not_found[i].placements);
    const tsr_shape shape = {not_found[i].rank, {not_found[i].size}};
    tsr_spec *spec = NULL;
    test_assert_fails(tsr_placements_to_spec(&placements, mesh, not_found[i].rank,
                                             not_found[i].size < 0 ? NULL : &shape, &spec),
                      not_found[i].cause, not_found[i].message, __FILE__, __LINE__);
    tsr_mesh_release(mesh);
  }
}

static void the_shape_has_the_rank(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("dp=2");
  const tsr_placements placements = parse_placements("[R]");
  tsr_spec *spec = NULL;
  assert_fails(tsr_placements_to_spec(&placements, mesh, 2, TSR_SHAPE(8), &spec), BAD_ARGUMENT,
               "the shape has rank 1, expected 2");
  assert_fails_with(tsr_placements_to_spec(&placements, mesh, 1, TSR_SHAPE(-8), &spec),
                    BAD_ARGUMENT, "-8");
  tsr_mesh_release(mesh);
}

// ---- from shardings ----

static const struct {
  const char *mesh, *spec;
  int rank;
  int64_t size;
  const char *placements;  // or the message, when there are none
} given[] = {
    {"dp=2,tp=4", "dp, tp", 2, -1, "[Shard(dim=0), Shard(dim=1)]"},
    {"dp=2,tp=4", "_, dp", 2, -1, "[Shard(dim=1), Replicate()]"},
    {"dp=2,tp=4", "dp;tp", 1, -1, "[Shard(dim=0), Shard(dim=0)]"},
    {"dp=2,tp=4", "dp+tp", 1, 16, "[Shard(dim=0), Shard(dim=0)]"},
    {"dp=2,tp=4", "tp;dp", 1, -1, "[_StridedShard(dim=0, split_factor=4), Shard(dim=0)]"},
    {"dp=2,tp=4", "tp;dp", 1, 19, "[_StridedShard(dim=0, split_factor=4), Shard(dim=0)]"},
    {"dp=2,tp=4", "tp+dp", 1, 16, "[_StridedShard(dim=0, split_factor=4), Shard(dim=0)]"},
    {"a=2,b=2,c=2", "c;b;a", 1, 7,
     "[_StridedShard(dim=0, split_factor=4), _StridedShard(dim=0, split_factor=2), Shard(dim=0)]"},
    {"a=2,b=2,c=2", "b;a;c", 1, 8,
     "[_StridedShard(dim=0, split_factor=2), Shard(dim=0), Shard(dim=0)]"},
    {"a=2,b=2,c=2", "b+a;c", 1, 8,
     "[_StridedShard(dim=0, split_factor=2), Shard(dim=0), Shard(dim=0)]"},
    {"dp=1,tp=4", "tp;dp", 1, -1, "[Shard(dim=0), Shard(dim=0)]"},
    {"dp=2,tp=4", "dp/cyclic(2)", 1, 16, "[_StridedShard(dim=0, split_factor=4), Replicate()]"},
    {"dp=2,tp=4", "dp/cyclic(8)", 1, 16, "[Shard(dim=0), Replicate()]"},
    {"dp=2,tp=4", "tp+dp", 1, -1,
     "dimension 0: PyTorch cuts axis by axis, which agrees only for some sizes, and no size is "
     "given"},
    {"dp=65536,tp=65536 abstract", "tp;dp", 1, -1,
     "[_StridedShard(dim=0, split_factor=65536), Shard(dim=0)]"},
    {"dp=2,tp=4294967296 abstract", "tp;dp", 1, -1, "a split factor of 4294967296"},
    {"dp=2,tp=4", "dp+tp", 1, 10,
     "dimension 0 of size 10: at mesh position 2 PyTorch has [4, 5), the spec [4, 6)"},
    {"dp=2,tp=4", "tp:(1)2", 1, 16, "a sub-axis of \"tp\"; placements have whole axes only"},
    {"dp=2,tp=4", "dp/sizes(3,4)", 1, 7,
     "dimension 0 is not cut evenly; PyTorch has even cuts only"},
    {"dp=2,tp=4", "dp/cyclic(3)", 1, 16,
     "dimension 0: a cyclic cut is a strided shard only if its blocks divide the size"},
    {"dp=2,tp=4", "tp:(1)2/cyclic(2)", 1, 16,
     "a sub-axis of \"tp\"; placements have whole axes only"},
};

static void shardings_become_placements(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(given); i++) {
    tsr_mesh *mesh = parse_mesh(given[i].mesh);
    const tsr_shape shape = {given[i].rank, {given[i].size, 8}};
    tsr_spec *spec = NULL;
    tsr_sharding *sharding = NULL;
    tsr_placements placements;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_spec_parse(given[i].spec, TSR_FORM_SHORT, &spec));
    assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
    tsr_status status = tsr_placements_from_sharding(
        sharding, given[i].rank, given[i].size < 0 ? NULL : &shape, &placements);
    if (status)
      tsr_text_add(&text, tsr_status_text(status));
    else
      tsr_placements_print(&placements, &text);
    assert_string_equal(tsr_text_string(&text), given[i].placements);
    tsr_status_free(status);
    tsr_text_deinit(&text);
    tsr_sharding_release(sharding);
    tsr_spec_release(spec);
    tsr_mesh_release(mesh);
  }
}

static void a_spec_longer_than_the_rank_is_refused(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("dp=2");
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_placements placements;
  assert_ok(tsr_spec_parse("_, dp", TSR_FORM_SHORT, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_fails(tsr_placements_from_sharding(sharding, 1, NULL, &placements), RANK_TOO_SMALL,
               "the spec has 2 dimensions, the tensor 1");
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
}

// ---- random placements, with every element counted by hand ----

#define MOST 64

typedef struct elements {
  int count;
  int64_t at[MOST];
} elements;

static elements chunk_of(const elements *from, int64_t start, int64_t end, int64_t chunks,
                         int64_t index) {
  elements chunk = {0};
  const int64_t size = (end - start + chunks - 1) / chunks;
  for (int64_t i = start; i < end; i++)
    if (size && (i - start) / size == index) chunk.at[chunk.count++] = from->at[i];
  return chunk;
}

// torch.chunk over `factor`, again over the axis, and the chunks at `index` laid side by side.
static elements cut_as_pytorch(const elements *from, int64_t factor, int64_t size, int64_t index) {
  elements held = {0};
  const int64_t part = (from->count + factor - 1) / factor;
  for (int64_t start = 0; start < from->count; start += part) {
    const int64_t end = start + part < from->count ? start + part : from->count;
    const elements chunk = chunk_of(from, start, end, size, index);
    memcpy(held.at + held.count, chunk.at, sizeof *chunk.at * (size_t)chunk.count);
    held.count += chunk.count;
  }
  return held;
}

// The cuts of one dimension: axes in mesh order, and the factors of those with more than one
// device.
typedef struct cuts {
  int count;
  int axes[TSR_MAX_AXES];
  int64_t sizes[TSR_MAX_AXES], factors[TSR_MAX_AXES];
} cuts;

static cuts cuts_of(const tsr_placements *placements, const tsr_mesh *mesh, int rank, int dim) {
  cuts all = {0};
  for (int axis = 0; axis < placements->count; axis++) {
    const tsr_placement *p = &placements->items[axis];
    const bool strided = p->kind == TSR_PLACEMENT_STRIDED_SHARD;
    const int64_t size = tsr_mesh_axis_at(mesh, axis)->size;
    if (!strided && p->kind != TSR_PLACEMENT_SHARD) continue;
    if ((p->dim + rank) % rank != dim || size == 1) continue;
    all.axes[all.count] = axis;
    all.sizes[all.count] = size;
    all.factors[all.count++] = strided ? p->split_factor : 1;
  }
  return all;
}

// Whether cuts in this order have these factors: a factor is the size of what cut before and comes
// later in the mesh.
static bool has_factors(const cuts *c, const int *order) {
  for (int i = 0; i < c->count; i++) {
    int64_t factor = 1;
    for (int k = 0; k < i; k++)
      if (order[k] > order[i]) factor *= c->sizes[order[k]];
    if (factor != c->factors[order[i]]) return false;
  }
  return true;
}

// Tries every order of the cuts from `at` on.
static bool find_order(const cuts *c, int *order, int at) {
  if (at == c->count) return has_factors(c, order);
  for (int i = at; i < c->count; i++) {
    const int first = order[at];
    order[at] = order[i];
    order[i] = first;
    if (find_order(c, order, at + 1)) return true;
    order[i] = order[at];
    order[at] = first;
  }
  return false;
}

static elements held_in_pytorch(const tsr_placements *placements, const tsr_mesh *mesh, int rank,
                                int dim, int64_t size, const int64_t *coords) {
  const cuts c = cuts_of(placements, mesh, rank, dim);
  int order[TSR_MAX_AXES];
  elements held = {.count = (int)size};
  for (int i = 0; i < size; i++) held.at[i] = i;
  for (int i = 0; i < c.count; i++) order[i] = i;
  const bool ordered = find_order(&c, order, 0);
  for (int i = 0; i < c.count; i++) {
    const int at = ordered ? order[i] : i;
    held = cut_as_pytorch(&held, ordered ? 1 : c.factors[at], c.sizes[at], coords[c.axes[at]]);
  }
  return held;
}

static elements held_here(const tsr_sharding *sharding, int dim, int64_t size, int64_t position) {
  elements held = {.count = (int)size};
  for (int i = 0; i < size; i++) held.at[i] = i;
  const tsr_sharding_dim *at = tsr_sharding_dim_at(sharding, dim);
  for (int s = 0; s < at->stage_count; s++) {
    const int64_t index = tsr_sharding_stage_index(sharding, dim, s, position);
    if (at->stages[s].kind == TSR_STAGE_EVEN) {
      held = chunk_of(&held, 0, held.count, at->stages[s].shards, index);
      continue;
    }
    assert_int_equal(at->stages[s].kind, TSR_STAGE_CYCLIC);
    elements dealt = {0};
    for (int i = 0; i < held.count; i++)
      if (i / at->stages[s].cut->block % at->stages[s].shards == index)
        dealt.at[dealt.count++] = held.at[i];
    held = dealt;
  }
  return held;
}

static bool same_elements(const tsr_placements *placements, const tsr_sharding *sharding, int rank,
                          const tsr_shape *shape) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  for (int64_t position = 0; position < tsr_mesh_device_count(mesh); position++) {
    int64_t coords[TSR_MAX_AXES];
    tsr_mesh_coords(mesh, position, coords);
    for (int dim = 0; dim < rank; dim++) {
      const elements a = held_in_pytorch(placements, mesh, rank, dim, shape->dims[dim], coords);
      const elements b = held_here(sharding, dim, shape->dims[dim], position);
      if (a.count != b.count || memcmp(a.at, b.at, sizeof *a.at * (size_t)a.count)) return false;
    }
  }
  return true;
}

static tsr_placements random_placements(test_random *random, const tsr_mesh *mesh, int rank) {
  tsr_placements placements = {.count = tsr_mesh_axis_count(mesh)};
  for (int i = 0; i < placements.count; i++) {
    tsr_placement *p = &placements.items[i];
    p->kind = (tsr_placement_kind)test_random_range(random, TSR_PLACEMENT_REPLICATE,
                                                    TSR_PLACEMENT_STRIDED_SHARD);
    if (p->kind == TSR_PLACEMENT_REPLICATE) continue;
    p->dim = (int)test_random_range(random, -rank, rank - 1);
    if (p->kind != TSR_PLACEMENT_STRIDED_SHARD) continue;
    const int other = (int)test_random_range(random, 0, placements.count - 1);
    p->split_factor = tsr_mesh_axis_at(mesh, other)->size;
  }
  return placements;
}

static void random_shape(test_random *random, int rank, tsr_shape *shape) {
  shape->rank = rank;
  for (int d = 0; d < rank; d++) shape->dims[d] = test_random_range(random, 0, MOST);
}

static void random_placements_keep_every_element_in_place(void **state) {
  (void)state;
  test_random random = {99};
  int translated = 0, for_every_size = 0;
  for (int round = 0; round < 5000; round++) {
    const int rank = (int)test_random_range(&random, 1, 2);
    tsr_mesh *mesh = random_mesh(&random, 48);
    const tsr_placements placements = random_placements(&random, mesh, rank);
    tsr_shape shape;
    random_shape(&random, rank, &shape);
    for (int known = 0; known < 2; known++) {
      tsr_spec *spec = NULL;
      tsr_sharding *sharding = NULL;
      tsr_status status =
          tsr_placements_to_spec(&placements, mesh, rank, known ? &shape : NULL, &spec);
      if (status) {
        assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NOT_EXPRESSIBLE);
        tsr_status_free(status);
        continue;
      }
      assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
      assert_true(same_elements(&placements, sharding, rank, &shape));
      *(known ? &translated : &for_every_size) += 1;
      tsr_sharding_release(sharding);
      tsr_spec_release(spec);
    }
    tsr_mesh_release(mesh);
  }
  assert_true(translated > 2500);
  assert_true(for_every_size > 500);
}

static void random_shardings_keep_every_element_in_place(void **state) {
  (void)state;
  test_random random = {100};
  int translated = 0, refused = 0;
  for (int round = 0; round < 5000; round++) {
    const int rank = (int)test_random_range(&random, 1, 2);
    tsr_mesh *mesh = random_mesh(&random, 48);
    const bool nested = test_random_range(&random, 0, 1);
    tsr_sharding *sharding = random_sharding(&random, mesh, rank, false, nested, false);
    tsr_shape shape;
    random_shape(&random, rank, &shape);
    for (int known = 0; known < 2; known++) {
      tsr_placements placements;
      tsr_status status =
          tsr_placements_from_sharding(sharding, rank, known ? &shape : NULL, &placements);
      if (status) {
        assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NOT_EXPRESSIBLE);
        tsr_status_free(status);
        refused++;
        continue;
      }
      assert_true(same_elements(&placements, sharding, rank, &shape));
      translated++;
    }
    tsr_sharding_release(sharding);
    tsr_mesh_release(mesh);
  }
  assert_true(translated > 2500);
  assert_true(refused > 500);
}

// ---- memory and size ----

typedef struct sweep {
  const tsr_mesh *mesh;
  tsr_placements placements;
} sweep;

static tsr_status translate(void *context) {
  const sweep *s = context;
  tsr_spec *spec = NULL;
  tsr_status status = tsr_placements_to_spec(&s->placements, s->mesh, 2, TSR_SHAPE(16, 4), &spec);
  tsr_spec_release(spec);
  return status;
}

static void translations_survive_every_failed_allocation(void **state) {
  (void)state;
  static const char *const texts[] = {"[_S(0, 4), S(0), Partial()]", "[_S(0, 2), S(0), Partial()]"};
  sweep s = {.mesh = parse_mesh("dp=2,tp=4,pp=2")};
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    s.placements = parse_placements(texts[i]);
    test_allocation_sweep(translate, &s);
  }
  tsr_mesh_release(s.mesh);
}

static void meshes_and_sizes_may_be_huge(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("dp=1000,tp=100");
  tsr_placements placements = parse_placements("[_S(0, 100), S(0)]");
  tsr_spec *spec = NULL;
  assert_ok(tsr_placements_to_spec(&placements, mesh, 1, TSR_SHAPE(INT64_C(1) << 62), &spec));
  assert_prints(spec, "tp;dp");
  tsr_spec_release(spec);
  placements = parse_placements("[_S(0, 2147483647), R]");
  assert_fails(tsr_placements_to_spec(&placements, mesh, 1, TSR_SHAPE(INT64_C(1) << 62), &spec),
               NOT_EXPRESSIBLE,
               "dimension 0: split_factor 2147483647 of axis \"dp\" gives no order of cuts, wanted "
               "1: no later axes fill the gaps of the strided shard");
  tsr_mesh_release(mesh);
  mesh = parse_mesh("dp=20000,tp=20000");
  // too many devices to find out whether flat is the same
  placements = parse_placements("[_S(0, 20000), S(0)]");
  assert_ok(tsr_placements_to_spec(&placements, mesh, 1, TSR_SHAPE(7), &spec));
  assert_prints(spec, "tp;dp");
  tsr_spec_release(spec);
  placements = parse_placements("[_S(0, 10000), S(0)]");
  assert_fails(tsr_placements_to_spec(&placements, mesh, 1, TSR_SHAPE(7), &spec), TOO_LARGE,
               "dimension 0: split_factor 10000 of axis \"dp\" gives no order of cuts, wanted 1 or "
               "20000: dimension 0: 10002 runs on each of 400000000 devices to compare");
  tsr_mesh_release(mesh);
}

SUITE(placements_spec, TEST(placements_become_specs), TEST(partial_results_become_unreduced_axes),
      TEST(placements_without_a_spec_are_refused), TEST(the_shape_has_the_rank),
      TEST(shardings_become_placements), TEST(a_spec_longer_than_the_rank_is_refused),
      TEST(random_placements_keep_every_element_in_place),
      TEST(random_shardings_keep_every_element_in_place),
      TEST(translations_survive_every_failed_allocation), TEST(meshes_and_sizes_may_be_huge))
