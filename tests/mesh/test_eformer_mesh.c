#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "mesh/machines.h"
#include "mesh/mesh_build_internal.h"
#include "mesh/mesh_internal.h"
#include "tessera/compat/eformer_mesh.h"
#include "tessera/engine/topology.h"

enum { MAX_RANK = 5 };

static const char *const letters[] = {"a", "b", "c", "d", "e"};

// A request with sizes and, where not NULL, dcn sizes; zeros end the lists.
typedef struct request {
  const char *machine;
  int64_t dims[MAX_RANK], dcn[MAX_RANK];
} request;

static int count_of(const int64_t *list) {
  int count = 0;
  while (count < MAX_RANK && list[count]) count++;
  return count;
}

static tsr_status create(const request *asked, const tsr_eformer_mesh_options *more,
                         tsr_mesh **out_mesh) {
  tsr_topology *topology = parsed_topology(asked->machine);
  tsr_eformer_mesh_options options = {.size = sizeof options};
  if (more) options = *more;
  options.axis_dims = asked->dims;
  options.axis_dim_count = options.axis_name_count = count_of(asked->dims);
  if (!options.axis_names) options.axis_names = letters;
  if (count_of(asked->dcn)) options.dcn_mesh_dims = asked->dcn;
  options.dcn_mesh_dim_count = count_of(asked->dcn);
  const tsr_status status = tsr_eformer_create_mesh(topology, &options, out_mesh);
  tsr_topology_release(topology);
  return status;
}

static void dcn_sizes_keep_the_asked_shape(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    request asked;
    const char *mesh;
  } cases[] = {
      {{"cpu:8", {2, 4}, {0}}, "a=2,b=4"},
      {{"cpu:8", {2, -1}, {1, -1}}, "a=2,b=4"},
      {{"cpu:2x4", {2, 4}, {0}}, "a=2,b=4"},
      {{"cpu:2x4", {2, 4}, {1, 2}}, "a=2,b=4 devices=[0,1,4,5,2,3,6,7]"},
      {{"cpu:2x4", {2, 2, 2}, {1, 1, 2}}, "a=2,b=2,c=2 devices=[0,4,1,5,2,6,3,7]"},
      {{"cpu:2x4", {2, 4}, {-1, 1}}, "a=2,b=4"},
      // Three hosts do not divide the first axis, so the second goes over them.
      {{"cpu:3x4", {4, 3}, {0}}, "a=4,b=3 devices=[0,4,8,1,5,9,2,6,10,3,7,11]"},
      // No axis is a multiple of 4 slices, but the user says how they go over two.
      {{"tpu-v4:2x1x1:slices=4", {2, 2, 2}, {2, 2, 1}}, "a=2,b=2,c=2"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    assert_ok(create(&cases[i].asked, NULL, &mesh));
    assert_mesh_prints(mesh, cases[i].mesh);
    tsr_mesh_release(mesh);
  }
}

static void faults_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    request asked;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {{"cpu:8", {-2, 4}, {0}}, TSR_CAUSE_BAD_AXIS_SIZE,
       "axis 0 has size -2, wanted 1 or more, or -1 for the rest"},
      {{"cpu:8", {3, -1}, {0}}, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT,
       "{3, -1} does not make 8 devices; {8, 1}, {4, 2} or {2, 4} would fit"},
      {{"cpu:8", {2, 4}, {5, 7}}, TSR_CAUSE_DCN_PRODUCT_WRONG,
       "dcn sizes (5, 7) make 35, wanted 1"},
      {{"cpu:2x4", {2, 4}, {2, 2}}, TSR_CAUSE_DCN_PRODUCT_WRONG,
       "dcn sizes (2, 2) make 4, wanted 2"},
      {{"cpu:2x4", {2, 4}, {-1, -1}}, TSR_CAUSE_DCN_MORE_THAN_ONE_UNKNOWN,
       "dcn sizes (-1, -1) have more than one -1"},
      {{"cpu:2x4", {2, 4}, {-3, 2}}, TSR_CAUSE_DCN_ENTRY_NOT_POSITIVE,
       "dcn sizes (-3, 2): -3, wanted 1 or more, or -1"},
      {{"cpu:2x4", {2, 4}, {3, -1}}, TSR_CAUSE_DCN_DOES_NOT_DIVIDE,
       "dcn sizes (3, -1) do not divide 2"},
      {{"cpu:2x4", {1, 8}, {2, 1}}, TSR_CAUSE_DCN_DOES_NOT_DIVIDE,
       "dcn size 2 does not divide the 1 of axis 0"},
      {{"cpu:2x4", {2, 4}, {2}}, TSR_CAUSE_MESH_RANK_MISMATCH, "1 dcn sizes for 2 axes"},
      {{"tpu-v4:2x1x1:slices=3", {2, 3}, {1, 1}}, TSR_CAUSE_DCN_PRODUCT_WRONG,
       "dcn sizes (1, 1) make 1, wanted 3"},
      {{"tpu-v4:2x1x1:slices=4", {2, 2, 2}, {0}}, TSR_CAUSE_NO_AXIS_DIVISIBLE_BY_SLICES,
       "no axis of mesh (2, 2, 2) is a multiple of 4 slices"},
      {{"tpu-v4:2x1x1:slices=4", {2, 2, 2}, {4, 1, 1}}, TSR_CAUSE_NO_AXIS_DIVISIBLE_BY_SLICES,
       "no axis of mesh (2, 2, 2) is a multiple of 4 slices"},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    test_assert_fails(create(&cases[i].asked, NULL, &mesh), cases[i].cause, cases[i].message,
                      __FILE__, __LINE__);
    assert_null(mesh);
  }
}

static void names_and_types_are_checked(void **state) {
  (void)state;
  const request asked = {"cpu:8", {2, 4}, {0}};
  const tsr_axis_type types[] = {TSR_AXIS_MANUAL, TSR_AXIS_EXPLICIT, TSR_AXIS_AUTO};
  const char *const same[] = {"x", "x"};
  tsr_eformer_mesh_options options = {
      .size = sizeof options, .axis_types = types, .axis_type_count = 2};
  tsr_mesh *mesh = NULL;
  assert_ok(create(&asked, &options, &mesh));
  assert_mesh_prints(mesh, "a=2:manual,b=4:explicit");
  tsr_mesh_release(mesh);
  mesh = NULL;
  options.axis_type_count = 1;
  assert_ok(create(&asked, &options, &mesh));
  assert_mesh_prints(mesh, "a=2:manual,b=4:manual");
  tsr_mesh_release(mesh);
  mesh = NULL;
  options.axis_type_count = 3;
  assert_fails(create(&asked, &options, &mesh), MESH_AXIS_TYPES_MISMATCH,
               "3 axis types for 2 axis names");
  options = (tsr_eformer_mesh_options){.size = sizeof options, .axis_names = same};
  assert_fails(create(&asked, &options, &mesh), DUPLICATE_AXIS_NAME,
               "axis name \"x\" is given twice, to axes 0 and 1");
  options = (tsr_eformer_mesh_options){.size = sizeof options, .use_jax = true};
  assert_ok(create(&asked, &options, &mesh));
  assert_mesh_prints(mesh, "a=2:explicit,b=4:explicit");
  tsr_mesh_release(mesh);
  // Several processes are no case for make_mesh, whose axes are explicit.
  assert_ok(create(&(request){"cpu:2x4", {2, 4}, {0}}, &options, &mesh));
  assert_mesh_prints(mesh, "a=2,b=4");
  tsr_mesh_release(mesh);
}

static void everything_has_a_default(void **state) {
  (void)state;
  tsr_topology *topology = parsed_topology("cpu:8");
  const tsr_eformer_mesh_options short_names = {
      .size = sizeof short_names, .axis_names = letters, .axis_name_count = 2};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_eformer_create_mesh(topology, NULL, &mesh));
  assert_mesh_prints(mesh, "dp=1,fsdp=8,ep=1,tp=1,sp=1");
  tsr_mesh_release(mesh);
  mesh = NULL;
  assert_fails(tsr_eformer_create_mesh(topology, &short_names, &mesh), MESH_RANK_MISMATCH,
               "2 axis names for 5 axis sizes");
  assert_fails_with(
      tsr_eformer_create_mesh(topology, &(tsr_eformer_mesh_options){.size = 7}, &mesh),
      BAD_ARGUMENT, "tsr_eformer_mesh_options has size 7");
  tsr_topology_release(topology);
}

static void slices_come_from_devices_then_from_the_environment(void **state) {
  (void)state;
  tsr_mesh *mesh = NULL;
  const request asked = {"tpu-v4:2x2x1:slices=2", {2, 4}, {0}}, one = {"cpu:8", {2, 4}, {0}};
  assert_ok(create(&asked, NULL, &mesh));
  for (int64_t i = 0; i < 4; i++) {
    const int64_t first =
        tsr_topology_device_find(tsr_mesh_topology(mesh), tsr_mesh_device_at(mesh, i));
    assert_int_equal(tsr_topology_devices(tsr_mesh_topology(mesh))[first].slice, 0);
  }
  tsr_mesh_release(mesh);
  mesh = NULL;
  setenv("MEGASCALE_NUM_SLICES", " 2 ", 1);
  assert_fails_with(create(&one, NULL, &mesh), MISSING_GRANULE_ATTRIBUTE, "slice");
  setenv("MEGASCALE_NUM_SLICES", "two", 1);
  assert_fails(create(&one, NULL, &mesh), NOT_AN_INTEGER,
               "MEGASCALE_NUM_SLICES: \"two\" is not an integer");
  const tsr_eformer_mesh_options told = {.size = sizeof told, .num_slices = 1};
  assert_ok(create(&one, &told, &mesh));
  tsr_mesh_release(mesh);
  unsetenv("MEGASCALE_NUM_SLICES");
}

static void hosts_take_outer_axes_first(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    int64_t global[MAX_RANK], devices, hosts, host[MAX_RANK];
  } cases[] = {
      {{2, 4}, 4, 2, {1, 4}},
      {{2, 4}, 2, 4, {1, 2}},
      {{8}, 2, 4, {2}},
      {{4, 4}, 16, 1, {4, 4}},
      // What rounding down misses.
      {{6, 2}, 3, 4, {3, 1}},
      {{3, 2}, 3, 2, {3, 1}},
      {{4, 3}, 2, 6, {2, 1}},
      {{2, 3, 4}, 6, 4, {1, 3, 2}},
      // What rounding down answers is kept, though 2 does not divide 5.
      {{2, 5}, 2, 5, {1, 2}},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int64_t shape[MAX_RANK] = {0};
    assert_ok(tsr_eformer_host_mesh_shape(cases[i].global, count_of(cases[i].global),
                                          cases[i].devices, cases[i].hosts, shape));
    assert_memory_equal(shape, cases[i].host, sizeof shape);
  }
  int64_t shape[2];
  assert_fails(tsr_eformer_host_mesh_shape((int64_t[]){2, 4}, 2, 4, 4, shape),
               MESH_SIZE_DOES_NOT_MATCH_DEVICES,
               "mesh (2, 4) does not make the 16 devices of 4 hosts with 4 each");
  assert_fails(tsr_eformer_host_mesh_shape((int64_t[]){-2, -4}, 2, 4, 2, shape),
               MESH_SIZE_DOES_NOT_MATCH_DEVICES,
               "mesh (-2, -4) does not make the 8 devices of 2 hosts with 4 each");
  assert_fails(tsr_eformer_host_mesh_shape((int64_t[]){2, 4}, 2, 0, 4, shape), BAD_ARGUMENT,
               "0 devices on each of 4 hosts");
  assert_fails_with(tsr_eformer_host_mesh_shape(shape, 17, 1, 1, shape), TOO_LARGE, "17");
}

// Whatever the shape, the parts divide it and make the devices of a host.
static void created_meshes_have_the_asked_shape(void **state) {
  (void)state;
  test_random random = {8};
  for (int round = 0; round < 100; round++) {
    request asked = {.machine = NULL, .dims = {1, 1, 1, 1}};
    int64_t hosts = 1, devices = 1;
    for (int i = 0; i < 4; i++) {
      const int64_t prime = (int64_t[]){2, 2, 3, 5}[test_random_range(&random, 0, 3)];
      asked.dims[test_random_range(&random, 0, 3)] *= prime;
      *(test_random_range(&random, 0, 1) ? &hosts : &devices) *= prime;
    }
    tsr_text machine = TSR_TEXT_EMPTY;
    tsr_text_addf(&machine, "cpu:%dx%d", (int)hosts, (int)devices);
    asked.machine = tsr_text_string(&machine);
    tsr_mesh *mesh = NULL;
    assert_ok(create(&asked, NULL, &mesh));
    for (int i = 0; i < 4; i++) assert_int_equal(tsr_mesh_axis_at(mesh, i)->size, asked.dims[i]);
    for (int64_t process = 0; process < hosts; process++) {
      int64_t low[4], sizes[4];
      assert_ok(tsr_mesh_local_box(mesh, process, low, sizes));
    }
    tsr_mesh_release(mesh);
    tsr_text_deinit(&machine);
  }
}

// ---- text ----

static void numbers_are_read_as_python_reads_them(void **state) {
  (void)state;
  // clang-format off
  static const struct { const char *text; bool valid; int64_t value; } cases[] = {
      {"2", true, 2},       {" 2\t", true, 2},    {"+2", true, 2},     {"-1", true, -1},
      {"0_2", true, 2},     {"1_000", true, 1000}, {"007", true, 7},    {"\x1f""3\n", true, 3},
      {"", false, 0},       {" ", false, 0},      {"+", false, 0},     {"_2", false, 0},
      {"2_", false, 0},     {"2__0", false, 0},   {"+ 2", false, 0},   {"2.0", false, 0},
      {"0x2", false, 0},    {"--2", false, 0},    {"2 3", false, 0},   {"-_2", false, 0},
      {"9223372036854775807", true, INT64_MAX},   {"99999999999999999999999", true, INT64_MAX},
      {"-99999999999999999999999", true, -INT64_MAX},
  };
  // clang-format on
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    int64_t value = 0;
    tsr_status status = tsr_python_int(cases[i].text, strlen(cases[i].text), &value);
    assert_int_equal(tsr_status_cause(status),
                     cases[i].valid ? TSR_CAUSE_NONE : TSR_CAUSE_NOT_AN_INTEGER);
    tsr_status_free(status);
    assert_int_equal(value, cases[i].value);
  }
}

static void mesh_texts_are_named_or_positional(void **state) {
  (void)state;
  // clang-format off
  static const struct {
    const char *text;
    int names;
    const char *mesh;  // NULL = fails
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"a:2,b:4", 2, "a=2,b=4", TSR_CAUSE_NONE, ""},
      {"b:4,a:2", 2, "b=4,a=2", TSR_CAUSE_NONE, ""},
      {"a: 2 ,b:-1", 2, "a=2,b=4", TSR_CAUSE_NONE, ""},
      {"2,4", 2, "a=2,b=4", TSR_CAUSE_NONE, ""},
      {"0_8", 1, "a=8", TSR_CAUSE_NONE, ""},
      {"a:2", 2, NULL, TSR_CAUSE_NAME_MISSING, "mesh \"a:2\": axis name \"b\" is not used"},
      {"a:2,z:4", 2, NULL, TSR_CAUSE_NAME_NOT_ALLOWED,
       "mesh: column 5: axis name \"z\" is not among those allowed"},
      {" a:2,b:4", 2, NULL, TSR_CAUSE_NAME_NOT_ALLOWED,
       "mesh: column 1: axis name \" a\" is not among those allowed"},
      {"a:2:3,b:4", 2, NULL, TSR_CAUSE_SYNTAX, "mesh: column 1: \"a:2:3\" is not name:size"},
      {"a:2,4", 2, NULL, TSR_CAUSE_SYNTAX, "mesh: column 5: \"4\" is not name:size"},
      {"a:x,b:2", 2, NULL, TSR_CAUSE_NOT_AN_INTEGER, "mesh: column 1: \"x\" is not an integer"},
      {"", 1, NULL, TSR_CAUSE_NOT_AN_INTEGER, "mesh: column 1: \"\" is not an integer"},
      {"2,4,", 2, NULL, TSR_CAUSE_NOT_AN_INTEGER, "mesh: column 5: \"\" is not an integer"},
      {"2,4", 1, NULL, TSR_CAUSE_MESH_RANK_MISMATCH,
       "mesh \"2,4\": 2 axis sizes for 1 axis names"},
      {"a:2,a:4", 1, NULL, TSR_CAUSE_MESH_RANK_MISMATCH,
       "mesh \"a:2,a:4\": 2 axis sizes for 1 axis names"},
      {"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8", 1, NULL, TSR_CAUSE_MESH_RANK_MISMATCH,
       "mesh \"1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,8\": 17 axis sizes for 1 axis names"},
      {"99999999999999999999", 1, NULL, TSR_CAUSE_DIMS_DO_NOT_MATCH_DEVICE_COUNT,
       "{9223372036854775807} does not make 8 devices; {8} would fit"},
  };
  // clang-format on
  tsr_topology *topology = parsed_topology("cpu:8");
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_mesh *mesh = NULL;
    tsr_status status =
        tsr_eformer_parse_mesh(topology, cases[i].text, letters, cases[i].names, &mesh);
    if (cases[i].mesh) {
      assert_ok(status);
      assert_mesh_prints(mesh, cases[i].mesh);
    } else {
      test_assert_fails(status, cases[i].cause, cases[i].message, __FILE__, __LINE__);
      assert_null(mesh);
    }
    tsr_mesh_release(mesh);
  }
  tsr_topology_release(topology);
}

static tsr_status make_eformer_meshes(void *context) {
  const int64_t dims[] = {2, 4};
  const tsr_eformer_mesh_options options = {.size = sizeof options,
                                            .axis_dims = dims,
                                            .axis_dim_count = 2,
                                            .axis_names = letters,
                                            .axis_name_count = 2};
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_eformer_create_mesh(context, &options, &mesh));
  tsr_mesh_release(mesh);
  TSR_TRY(tsr_eformer_parse_mesh(context, "a:2,b:4", letters, 2, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void eformer_survives_running_out_of_memory(void **state) {
  (void)state;
  static const char *const machines[] = {"cpu:8", "cpu:2x4", "tpu-v4:2x2x1:slices=2"};
  for (size_t i = 0; i < COUNT_OF(machines); i++) {
    tsr_topology *topology = parsed_topology(machines[i]);
    test_allocation_sweep(make_eformer_meshes, topology);
    tsr_topology_release(topology);
  }
}

SUITE(eformer_mesh, TEST(dcn_sizes_keep_the_asked_shape), TEST(faults_are_refused),
      TEST(names_and_types_are_checked), TEST(everything_has_a_default),
      TEST(slices_come_from_devices_then_from_the_environment), TEST(hosts_take_outer_axes_first),
      TEST(created_meshes_have_the_asked_shape), TEST(numbers_are_read_as_python_reads_them),
      TEST(mesh_texts_are_named_or_positional), TEST(eformer_survives_running_out_of_memory))
