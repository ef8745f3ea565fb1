#include <string.h>

#include "mesh/machines.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"

static void texts_round_trip(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "data=4,model=2",
      "data=4:explicit,model=2:manual",
      "x=4 devices=[3,1,0,2]",
      "x=4,y=1 abstract",
      "abstract",
      "devices=[3]",
      "devices=4",
      "abstract=2,devices=4 devices=[7,6,5,4,3,2,1,0]",
      "fsdp_1-a.b/c=2",
      "\"a b\"=2,\"=\"=2,\"q\\\"\\\\\"=3",
      "\"a\\nb\\tc\\rd\\x1b\\x7f\"=2",
      "\xc3\xa4xis=2",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    tsr_mesh *mesh = parsed_mesh(texts[i], NULL);
    assert_mesh_prints(mesh, texts[i]);
    tsr_mesh_release(mesh);
  }
}

static void spaces_and_spelt_out_defaults_are_understood(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {" data = 4 , model=2 ", "data=4,model=2"},
      {"data=4:auto", "data=4"},
      {"x=4  devices=[ 0, 1 ,2,3 ] ", "x=4"},
      {"x=4\tabstract ", "x=4 abstract"},
      {"\"data\"=4", "data=4"},
  };
  assert_meshes_print(texts, COUNT_OF(texts));
}

static void broken_texts_say_where(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *text;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"data", TSR_CAUSE_SYNTAX, "mesh: column 5: expected \"=\" and a size, found the end"},
      {"data=", TSR_CAUSE_SYNTAX, "mesh: column 6: expected an integer, found the end"},
      {"data=4,", TSR_CAUSE_SYNTAX,
       "mesh: column 8: expected an axis name, found the end"},
      {"=4", TSR_CAUSE_SYNTAX, "mesh: column 1: expected an axis name, found \"=\""},
      {"data=x", TSR_CAUSE_SYNTAX, "mesh: column 6: expected an integer, found \"x\""},
      {"data=4 model=2", TSR_CAUSE_SYNTAX,
       "mesh: column 8: expected the end, found \"model\""},
      {"data=4:best", TSR_CAUSE_SYNTAX,
       "mesh: column 8: expected auto, explicit or manual, found \"best\""},
      {"a=99999999999999999999", TSR_CAUSE_SYNTAX,
       "mesh: column 3: expected an integer of 64 bits, found \"99999999999999999999\""},
      {"\"a=4", TSR_CAUSE_SYNTAX,
       "mesh: column 1: the string has no closing quote"},
      {"\"a\\", TSR_CAUSE_SYNTAX,
       "mesh: column 3: expected one of the escapes \\\" \\\\ \\n \\t \\r \\xHH"},
      {"\"\"=4", TSR_CAUSE_MESH_AXIS_NAME_NONE,
       "mesh \"\"\"=4\": axis 0 of the mesh has an empty name"},
      {"a=2 devices=[0,1", TSR_CAUSE_SYNTAX,
       "mesh: column 17: expected \",\" or \"]\", found the end"},
      {"a=2 devices=[0,-1]", TSR_CAUSE_UNKNOWN_DEVICE,
       "mesh \"a=2 devices=[0,-1]\": device -1; ids are 0 to 2147483647"},
      {"a=2 devices=[]", TSR_CAUSE_SYNTAX,
       "mesh: column 14: expected an integer, found \"]\""},
      {"a=2,a=4", TSR_CAUSE_DUPLICATE_AXIS_NAME,
       "mesh \"a=2,a=4\": axis name \"a\" is given twice, to axes 0 and 1"},
      {"a=-1", TSR_CAUSE_BAD_AXIS_SIZE,
       "mesh \"a=-1\": axis \"a\" has size -1, but the number of devices is not known"},
      {"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1", TSR_CAUSE_TOO_LARGE,
       "mesh \"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,...\": more than 16 axes"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    test_assert_fails(tsr_mesh_parse(cases[i].text, NULL, &mesh), cases[i].cause, cases[i].message,
                      __FILE__, __LINE__);
    assert_null(mesh);
  }
}

static void a_topology_gives_devices_in_list_order(void **state) {
  (void)state;
  const int64_t shuffled[] = {4, 0, 2, 6};
  tsr_topology *topology = listed_topology(shuffled, 4);
  tsr_mesh *mesh = parsed_mesh("x=2,y=-1", topology);
  assert_mesh_prints(mesh, "x=2,y=2 devices=[4,0,2,6]");
  tsr_mesh_release(mesh);
  mesh = parsed_mesh("x=3", topology);
  assert_mesh_prints(mesh, "x=3 devices=[4,0,2]");
  tsr_mesh_release(mesh);
  mesh = NULL;
  assert_fails(tsr_mesh_parse("x=2,y=4", topology, &mesh), TOO_FEW_DEVICES,
               "mesh \"x=2,y=4\": the mesh needs 8 devices, but the topology has 4");
  assert_fails(
      tsr_mesh_parse("x=8589934592,y=8589934592", topology, &mesh), TOO_FEW_DEVICES,
      "mesh \"x=8589934592,y=8589934592\": the mesh needs 9223372036854775807 devices, but "
      "the topology has 4");
  assert_fails(tsr_mesh_parse("x=3,y=-1", topology, &mesh), DIMS_DO_NOT_MATCH_DEVICE_COUNT,
               "mesh \"x=3,y=-1\": {x=3, y=-1} does not make 4 devices; {x=4, y=1}, {x=2, y=2} or "
               "{x=1, y=4} would fit");
  mesh = parsed_mesh("x=8 abstract", topology);
  assert_mesh_prints(mesh, "x=8 abstract");
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

// Devices 0, 1, 2, ... are spelt out when the topology would have given others.
static void texts_mean_the_same_with_and_without_the_topology(void **state) {
  (void)state;
  const int64_t shuffled[] = {1, 0, 3, 2};
  tsr_topology *topology = listed_topology(shuffled, 4);
  tsr_mesh *mesh = parsed_mesh("x=4 devices=[0,1,2,3]", topology);
  assert_null(tsr_mesh_device_list(mesh));
  assert_mesh_prints(mesh, "x=4 devices=[0,1,2,3]");
  tsr_mesh_release(mesh);
  tsr_topology_release(topology);
}

static void random_texts_round_trip(void **state) {
  (void)state;
  test_random random = {2};
  for (int round = 0; round < 10000; round++) {
    tsr_mesh *mesh = random_mesh(&random, 8, 200), *again = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_mesh_print(mesh, &text);
    assert_ok(tsr_mesh_parse(tsr_text_string(&text), NULL, &again));
    assert_true(tsr_mesh_equal(mesh, again));
    tsr_text_deinit(&text);
    tsr_mesh_release(mesh);
    tsr_mesh_release(again);
  }
}

static void types_are_read_without_case_or_margins(void **state) {
  (void)state;
  tsr_axis_type type = TSR_AXIS_AUTO;
  assert_ok(tsr_axis_type_parse(" Manual\t", &type));
  assert_int_equal(type, TSR_AXIS_MANUAL);
  assert_ok(tsr_axis_type_parse("EXPLICIT", &type));
  assert_int_equal(type, TSR_AXIS_EXPLICIT);
  assert_ok(tsr_axis_type_parse("auto", &type));
  assert_int_equal(type, TSR_AXIS_AUTO);
  assert_fails(tsr_axis_type_parse("aut", &type), UNKNOWN_AXIS_TYPE,
               "axis type \"aut\" is not auto, explicit or manual");
  assert_null(tsr_axis_type_name((tsr_axis_type)9));
}

static void lists_are_zipped_to_axes(void **state) {
  (void)state;
  const char *const names[] = {"x", "y", NULL};
  const int64_t sizes[] = {2, 4, 8};
  const tsr_axis_type types[] = {TSR_AXIS_EXPLICIT, TSR_AXIS_MANUAL};
  tsr_axis axes[TSR_MAX_AXES];
  assert_ok(tsr_axes_zip(names, 2, sizes, 2, types, 2, axes));
  assert_string_equal(axes[1].name, "y");
  assert_int_equal(axes[1].size, 4);
  assert_int_equal(axes[1].type, TSR_AXIS_MANUAL);
  assert_ok(tsr_axes_zip(names, 2, sizes, 2, NULL, 0, axes));
  assert_int_equal(axes[0].type, TSR_AXIS_AUTO);
  assert_fails(tsr_axes_zip(names, 2, sizes, 1, NULL, 0, axes), MESH_RANK_MISMATCH,
               "2 axis names for 1 axis sizes");
  assert_fails(tsr_axes_zip(names, 2, sizes, 2, types, 1, axes), MESH_AXIS_TYPES_MISMATCH,
               "1 axis types for 2 axes");
  assert_fails(tsr_axes_zip(names, 3, sizes, 3, NULL, 0, axes), MESH_AXIS_NAME_NONE,
               "axis 2 of the mesh has no name");
  assert_fails(tsr_axes_zip(names, 17, sizes, 17, NULL, 0, axes), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
}

static void unknown_sizes_are_completed(void **state) {
  (void)state;
  int64_t sizes[] = {2, -1, 3};
  assert_ok(tsr_sizes_complete(sizes, 3, 24));
  assert_int_equal(sizes[1], 4);
  assert_ok(tsr_sizes_complete(NULL, 0, 1));
  // clang-format off
  const struct {
    int64_t sizes[3], devices;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{-1, 2, -1}, 8, TSR_CAUSE_MORE_THAN_ONE_UNKNOWN_DIM,
       "axes 0 and 2 both have size -1; one may"},
      {{-2, 2, 2}, 8, TSR_CAUSE_BAD_AXIS_SIZE,
       "axis 0 has size -2, wanted 1 or more, or -1 for the rest"},
      {{0, -1, 2}, 8, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT,
       "{0, -1, 2} does not make 8 devices; {2, 2, 2}, {1, 4, 2} or {4, 1, 2} would fit"},
      {{3, 5, 7}, 8, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT, "{3, 5, 7} does not make 8 devices"},
      {{INT64_MAX, INT64_MAX, 1}, 8, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT,
       "{9223372036854775807, 9223372036854775807, 1} does not make 8 devices"},
      {{1, 1, 1}, 0, TSR_CAUSE_BAD_ARGUMENT, "a mesh of 0 devices, wanted 1 or more"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int64_t wrong[3];
    memcpy(wrong, cases[i].sizes, sizeof wrong);
    test_assert_fails_with(tsr_sizes_complete(wrong, 3, cases[i].devices), cases[i].cause,
                           cases[i].message, __FILE__, __LINE__);
    assert_memory_equal(wrong, cases[i].sizes, sizeof wrong);
  }
  assert_fails(tsr_sizes_complete(sizes, 17, 8), TOO_LARGE,
               "a mesh of 17 axes; at most 16 are possible");
}

static tsr_status parse_some(void *context) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_parse("\"a b\"=2,c=2 devices=[3,1,0,2]", NULL, &mesh));
  tsr_mesh_release(mesh);
  TSR_TRY(tsr_mesh_parse("a=-1", context, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void parsing_survives_running_out_of_memory(void **state) {
  (void)state;
  const int64_t ids[] = {1, 0, 3, 2};
  tsr_topology *topology = listed_topology(ids, 4);
  test_allocation_sweep(parse_some, topology);
  tsr_topology_release(topology);
}

SUITE(mesh_text, TEST(texts_round_trip), TEST(spaces_and_spelt_out_defaults_are_understood),
      TEST(broken_texts_say_where), TEST(a_topology_gives_devices_in_list_order),
      TEST(texts_mean_the_same_with_and_without_the_topology), TEST(random_texts_round_trip),
      TEST(types_are_read_without_case_or_margins), TEST(lists_are_zipped_to_axes),
      TEST(unknown_sizes_are_completed), TEST(parsing_survives_running_out_of_memory))
