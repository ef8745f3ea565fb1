// Whether two shardings put the same shards on the same devices, for tensors of any size.
//
// Every stage numbers its shards by digits of the mesh position. Drop digits of one member and join
// neighbours that continue each other. Then two lists of digits, perhaps of different meshes, give
// the same number for every position exactly if they are equal: the first position with a number
// other than 0 shows the stride and weight of the lowest digit, the first break in counting shows
// its size, and so on upwards. So devices are walked only to compare their order.
#include "mesh/mesh_internal.h"
#include "spec/normal.h"
#include "spec/sharding.h"
#include "spec/sharding_internal.h"
#include "spec/spec.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

typedef struct number {
  int count;
  tsr_digit digits[TSR_MAX_SUB_AXES];  // major to minor
} number;

static bool continues(const tsr_digit *major, const tsr_digit *minor) {
  return major->stride == minor->stride * minor->size;
}

static void number_add(number *to, tsr_digit digit) {
  if (digit.size == 1) return;
  tsr_digit *last = to->count ? &to->digits[to->count - 1] : NULL;
  if (last && continues(last, &digit))
    *last = (tsr_digit){digit.stride, last->size * digit.size};
  else
    to->digits[to->count++] = digit;
}

static number number_of(const tsr_mesh *mesh, const tsr_sub_axis *sub_axes, int count) {
  number made = {0};
  for (int i = 0; i < count; i++) number_add(&made, tsr_sub_axis_digit(mesh, &sub_axes[i]));
  return made;
}

static bool numbers_equal(const number *a, const number *b) {
  if (a->count != b->count) return false;
  for (int i = 0; i < a->count; i++)
    if (a->digits[i].stride != b->digits[i].stride || a->digits[i].size != b->digits[i].size)
      return false;
  return true;
}

static bool dims_equivalent(const tsr_sharding *a, const tsr_sharding *b, int dim) {
  tsr_normal_dim x, y;
  tsr_normal_dim_init(&x, tsr_sharding_dim_at(a, dim));
  tsr_normal_dim_init(&y, tsr_sharding_dim_at(b, dim));
  if (x.stage_count != y.stage_count) return false;
  for (int s = 0; s < x.stage_count; s++) {
    const tsr_normal_stage *p = &x.stages[s], *q = &y.stages[s];
    if (!tsr_stage_cut_equal(p->cut, q->cut)) return false;
    const number i = number_of(tsr_sharding_mesh(a), x.sub_axes + p->first, p->count);
    const number j = number_of(tsr_sharding_mesh(b), y.sub_axes + q->first, q->count);
    if (!numbers_equal(&i, &j)) return false;
  }
  return true;
}

// The partial result that a position holds.
static number unreduced_number(const tsr_sharding *sharding) {
  int count = 0;
  tsr_sub_axis normal[TSR_MAX_SUB_AXES];
  const tsr_sub_axis *sub_axes = tsr_sharding_unreduced(sharding, &count);
  return number_of(tsr_sharding_mesh(sharding), normal,
                   tsr_sub_axes_normal_set(sub_axes, count, normal));
}

// The number of a position's manual coordinates: positions with different ones share no tensor.
static number manual_number(const tsr_mesh *mesh) {
  number made = {0};
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(mesh, i);
    if (axis->type == TSR_AXIS_MANUAL)
      number_add(&made, tsr_sub_axis_digit(mesh, &(tsr_sub_axis){i, 1, axis->size}));
  }
  return made;
}

static bool partials_equivalent(const tsr_sharding *a, const tsr_sharding *b) {
  const number x = unreduced_number(a), y = unreduced_number(b);
  const tsr_reduction p = tsr_spec_desc_of(tsr_sharding_spec(a))->reduction;
  const tsr_reduction q = tsr_spec_desc_of(tsr_sharding_spec(b))->reduction;
  return numbers_equal(&x, &y) && (p == q || x.count == 0);
}

static bool devices_equal(const tsr_mesh *a, const tsr_mesh *b) {
  const int64_t count = tsr_mesh_device_count(a);
  if (count != tsr_mesh_device_count(b) || tsr_mesh_is_abstract(a) != tsr_mesh_is_abstract(b))
    return false;
  if (tsr_mesh_is_abstract(a) || tsr_mesh_device_list(a) == tsr_mesh_device_list(b)) return true;
  for (int64_t p = 0; p < count; p++)
    if (tsr_mesh_device_at(a, p) != tsr_mesh_device_at(b, p)) return false;
  return true;
}

tsr_status tsr_sharding_equivalent(const tsr_sharding *a, const tsr_sharding *b, int rank,
                                   bool *out_equivalent) {
  const int dims = tsr_sharding_dim_count(a) > tsr_sharding_dim_count(b)
                       ? tsr_sharding_dim_count(a)
                       : tsr_sharding_dim_count(b);
  if (dims > rank)
    return tsr_fail(RANK_TOO_SMALL, "a spec of %d entries for tensors of rank %d", dims, rank);
  const tsr_mesh *x = tsr_sharding_mesh(a), *y = tsr_sharding_mesh(b);
  const number i = manual_number(x), j = manual_number(y);
  bool same = devices_equal(x, y) && numbers_equal(&i, &j) && partials_equivalent(a, b);
  for (int d = 0; same && d < dims; d++) same = dims_equivalent(a, b, d);
  *out_equivalent = same;
  return NULL;
}
