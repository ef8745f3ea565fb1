
#include "mesh/machines.h"
#include "spec/sharding_internal.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"

static void assert_members(const tsr_groups *groups, int64_t count, int64_t size,
                           const int64_t *members) {
  assert_int_equal(groups->count, count);
  assert_int_equal(groups->size, size);
  for (int64_t i = 0; i < count * size; i++) assert_int_equal(groups->members[i], members[i]);
}

static const struct {
  const char *axes[3];
  int axis_count;
  int64_t count, size;
  int64_t members[6];
} cases[] = {
    {{"x"}, 1, 3, 2, {0, 3, 1, 4, 2, 5}},      {{"y"}, 1, 2, 3, {0, 1, 2, 3, 4, 5}},
    {{"x", "y"}, 2, 1, 6, {0, 1, 2, 3, 4, 5}}, {{"y", "x"}, 2, 1, 6, {0, 3, 1, 4, 2, 5}},
    {{NULL}, 0, 6, 1, {0, 1, 2, 3, 4, 5}},
};

static void members_count_along_the_axes(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("x=2,y=3", NULL);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_groups groups;
    assert_ok(tsr_mesh_groups(mesh, cases[i].axes, cases[i].axis_count, &groups));
    assert_members(&groups, cases[i].count, cases[i].size, cases[i].members);
    tsr_groups_deinit(&groups);
    assert_null(groups.members);
  }
  tsr_mesh_release(mesh);
}

static void members_are_devices(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("x=2,y=2 devices=[3,1,0,2]", NULL);
  tsr_groups groups;
  assert_ok(tsr_mesh_groups(mesh, (const char *const[]){"x"}, 1, &groups));
  assert_members(&groups, 2, 2, (const int64_t[]){3, 0, 1, 2});
  tsr_groups_deinit(&groups);
  tsr_mesh_release(mesh);
}

static void parts_of_axes_have_groups_too(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("x=4,y=2", NULL);
  const tsr_sub_axis parts[] = {{0, 2, 2}, {1, 1, 2}, {0, 1, 1}};
  tsr_groups groups;
  assert_ok(tsr_sub_axis_groups(mesh, parts, 3, &groups));
  assert_members(&groups, 2, 4, (const int64_t[]){0, 1, 2, 3, 4, 5, 6, 7});
  tsr_groups_deinit(&groups);
  const tsr_sub_axis turned[] = {{0, 2, 2}, {0, 1, 2}};
  assert_ok(tsr_sub_axis_groups(mesh, turned, 2, &groups));
  assert_members(&groups, 2, 4, (const int64_t[]){0, 4, 2, 6, 1, 5, 3, 7});
  tsr_groups_deinit(&groups);
  tsr_mesh_release(mesh);
}

static void what_is_no_part_is_refused(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("x=6,y=2", NULL);
  tsr_groups groups;
  assert_fails(tsr_mesh_groups(mesh, (const char *const[]){"x", "x"}, 2, &groups),
               DUPLICATE_MESH_AXIS, "axis \"x\" is given twice");
  assert_fails_with(tsr_mesh_groups(mesh, (const char *const[]){"z"}, 1, &groups),
                    UNKNOWN_MESH_AXIS, "\"z\"");
  assert_fails(tsr_sub_axis_groups(mesh, &(tsr_sub_axis){2, 1, 2}, 1, &groups), BAD_SUB_AXIS,
               "a sub-axis of axis 2, but the mesh has 2 axes");
  assert_fails(tsr_sub_axis_groups(mesh, &(tsr_sub_axis){0, 1, 4}, 1, &groups), BAD_SUB_AXIS,
               "(1)4 is not a sub-axis of \"x\" of size 6");
  assert_fails(tsr_sub_axis_groups(mesh, &(tsr_sub_axis){0, INT64_MAX, 2}, 1, &groups),
               BAD_SUB_AXIS, "(9223372036854775807)2 is not a sub-axis of \"x\" of size 6");
  const tsr_sub_axis twice[] = {{0, 1, 6}, {0, 2, 3}};
  assert_fails(tsr_sub_axis_groups(mesh, twice, 2, &groups), BAD_SUB_AXIS,
               "sub-axes (1)6 and (2)3 of axis \"x\" overlap");
  tsr_mesh_release(mesh);
}

static tsr_status make_groups(void *context) {
  tsr_groups groups = {0};
  tsr_status status = tsr_mesh_groups(context, (const char *const[]){"y"}, 1, &groups);
  tsr_groups_deinit(&groups);
  return status;
}

static void nothing_leaks_without_memory(void **state) {
  (void)state;
  tsr_mesh *mesh = parsed_mesh("x=2,y=3", NULL);
  test_allocation_sweep(make_groups, mesh);
  tsr_mesh_release(mesh);
}

SUITE(groups, TEST(members_count_along_the_axes), TEST(members_are_devices),
      TEST(parts_of_axes_have_groups_too), TEST(what_is_no_part_is_refused),
      TEST(nothing_leaks_without_memory))
