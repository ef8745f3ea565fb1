#include "mesh/machines.h"

// What PyTorch 2.4.1, 2.5 to 2.8, 2.9.1 and 2.10 to 2.15 print.
static void every_text_of_a_device_mesh_is_read(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"DeviceMesh([[0, 1, 2, 3], [4, 5, 6, 7]], mesh_dim_names=('dp', 'tp'))", "dp=2,tp=4"},
      {"DeviceMesh([[0, 1, 2, 3], [4, 5, 6, 7]])", "dim_0=2,dim_1=4"},
      {"DeviceMesh([0, 4], mesh_dim_names=('dp',))", "dp=2 devices=[0,4]"},
      {"DeviceMesh('cuda', [[3, 1], [0, 2]], mesh_dim_names=('a', 'b'))",
       "a=2,b=2 devices=[3,1,0,2]"},
      {"DeviceMesh('cpu', [0, 3, 5], mesh_dim_names=None)", "dim_0=3 devices=[0,3,5]"},
      {"DeviceMesh('cpu', [[[0], [1]], [[2], [3]]])", "dim_0=2,dim_1=2,dim_2=1"},
      {"DeviceMesh(device_type='cpu', mesh=[0, 1], mesh_dim_names=(\"x\",))", "x=2"},
      {"DeviceMesh:([[0, 1], [2, 3]])", "dim_0=2,dim_1=2"},
      {"DeviceMesh((dp=2, tp=4), device: 'cpu', stride: (4, 1))", "dp=2,tp=4"},
      {"DeviceMesh((2, 4), device: 'cpu', stride: (4, 1))", "dim_0=2,dim_1=4"},
      {"DeviceMesh((8,), device: 'cpu', stride: (1,))", "dim_0=8"},
      {"DeviceMesh((dp=2), device: 'cpu', stride: (4,))", "dp=2 devices=[0,4]"},
      {"DeviceMesh((a=4, b=2), device: 'cpu', stride: (1, 4))",
       "a=4,b=2 devices=[0,4,1,5,2,6,3,7]"},
      {"DeviceMesh((a=2, b=2), device: 'cpu', stride: (2, 1), Mesh: [[3, 1], [0, 2]])",
       "a=2,b=2 devices=[3,1,0,2]"},
      {"DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1))", "dp=2,tp=4"},
      {"DeviceMesh((a=2, c=2), 'cpu', stride=(4, 1))", "a=2,c=2 devices=[0,1,4,5]"},
      {"DeviceMesh((ac=4), 'cpu', stride=((4, 1),), Mesh: [0, 1, 4, 5])", "ac=4 devices=[0,1,4,5]"},
      {"DeviceMesh((a=1, b=2), 'cpu', stride=(7, 1))", "a=1,b=2"},
      {"DeviceMesh((dp=1, tp=2, pp=1), 'cpu', stride=((), 1, ()))", "dp=1,tp=2,pp=1"},
      {"DeviceMesh((dp=1, tp=2), 'cpu', stride=((), 4))", "dp=1,tp=2 devices=[0,4]"},
      {"torch.distributed.device_mesh.DeviceMesh((dp=2), 'cpu', stride=(1,))", "dp=2"},
      {"(dp=2, tp=2)", "dp=2,tp=2"},
      {" ( dp-1 = 2 , )", "dp-1=2"},
      {"(2, 4)", "dim_0=2,dim_1=4"},
      {"()", ""},
      // an axis of ours that is called so
      {"DeviceMesh=2", "DeviceMesh=2"},
  };
  assert_meshes_print(texts, COUNT_OF(texts));
}

static void a_topology_gives_devices_where_none_are_listed(void **state) {
  (void)state;
  const int64_t shuffled[] = {4, 0, 2, 6};
  tsr_topology *topology = listed_topology(shuffled, 4);
  tsr_mesh *mesh = parsed_mesh("DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1))", topology);
  assert_mesh_prints(mesh, "dp=2,tp=2 devices=[4,0,2,6]");
  tsr_mesh_release(mesh);
  mesh = parsed_mesh("DeviceMesh([6, 2])", topology);
  assert_mesh_prints(mesh, "dim_0=2 devices=[6,2]");
  tsr_mesh_release(mesh);
  mesh = NULL;
  assert_fails_with(tsr_mesh_parse("DeviceMesh([6, 1])", topology, &mesh), UNKNOWN_DEVICE, "1");
  tsr_topology_release(topology);
}

typedef struct broken_text {
  const char *text;
  tsr_cause cause;
  const char *message;
} broken_text;

static void assert_refused(const broken_text *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tsr_mesh *mesh = NULL;
    test_assert_fails_with(tsr_mesh_parse(cases[i].text, NULL, &mesh), cases[i].cause,
                           cases[i].message, __FILE__, __LINE__);
    assert_null(mesh);
  }
}

static void syntax_errors_of_a_device_mesh_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const broken_text cases[] = {
      {"DeviceMesh(", TSR_CAUSE_SYNTAX,
       "mesh: column 12: expected axes, devices, device, stride, Mesh or mesh_dim_names, found the end"},
      {"DeviceMesh()", TSR_CAUSE_SYNTAX, "mesh: column 13: expected axes or a list of devices, found the end"},
      {"DeviceMesh('cpu)", TSR_CAUSE_SYNTAX,
       "mesh: column 12: expected a string without escapes, and its end, found \"'\""},
      {"DeviceMesh('a\\'b', [0])", TSR_CAUSE_SYNTAX,
       "mesh: column 12: expected a string without escapes, and its end, found \"'\""},
      {"DeviceMesh(colour='red')", TSR_CAUSE_SYNTAX,
       "mesh: column 12: expected axes, devices, device, stride, Mesh or mesh_dim_names, found \"colour\""},
      {"DeviceMesh(device 'cpu')", TSR_CAUSE_SYNTAX, "mesh: column 19: expected \"=\", found \"'\""},
      {"DeviceMesh(device: cpu)", TSR_CAUSE_SYNTAX,
       "mesh: column 20: expected a string in quotes, found \"cpu\""},
      {"DeviceMesh([0] 'cpu')", TSR_CAUSE_SYNTAX, "mesh: column 16: expected \",\" or \")\", found \"'\""},
      {"DeviceMesh([0]) x", TSR_CAUSE_SYNTAX, "mesh: column 17: expected the end, found \"x\""},
      {"DeviceMesh([0, 1)", TSR_CAUSE_SYNTAX, "mesh: column 17: expected \",\" or \"]\", found \")\""},
      {"DeviceMesh([[0, 1], [2]])", TSR_CAUSE_SYNTAX, "a list of 1 devices or lists, wanted 2"},
      {"DeviceMesh([[0], 1])", TSR_CAUSE_SYNTAX, "mesh: column 18: expected \"[\", found \"1\""},
      {"DeviceMesh([[0, [1]]])", TSR_CAUSE_SYNTAX, "mesh: column 17: expected a device, found \"[\""},
      {"DeviceMesh([])", TSR_CAUSE_SYNTAX, "an empty list of devices, wanted one or more"},
      {"DeviceMesh([0], [1])", TSR_CAUSE_SYNTAX, "mesh: column 17: expected one list of devices, found \"[\""},
      {"DeviceMesh([0], mesh_dim_names=('a',))(", TSR_CAUSE_SYNTAX, "mesh: column 39: expected the end, found \"(\""},
      {"(a)", TSR_CAUSE_SYNTAX, "mesh: column 3: expected \"=\", found \")\""},
      {"(=2)", TSR_CAUSE_SYNTAX, "mesh: column 2: expected an axis or a size, found \"=\""},
      {"(a=2 b=2)", TSR_CAUSE_SYNTAX, "mesh: column 6: expected \",\" or \")\", found \"b\""},
      {"DeviceMesh((a=2), (a=2))", TSR_CAUSE_SYNTAX, "mesh: column 19: expected one tuple of axes, found \"(\""},
  };
  // clang-format on
  assert_refused(cases, COUNT_OF(cases));
}

static void impossible_device_meshes_are_refused(void **state) {
  (void)state;
  // clang-format off
  static const broken_text cases[] = {
      {"DeviceMesh([-1])", TSR_CAUSE_UNKNOWN_DEVICE, "device -1; ids are 0 to 2147483647"},
      {"DeviceMesh([1, 1])", TSR_CAUSE_DUPLICATE_DEVICE, "device 1"},
      {"DeviceMesh([[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]])", TSR_CAUSE_TOO_LARGE, "more than 16 axes"},
      {"(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)", TSR_CAUSE_TOO_LARGE, "more than 16 axes"},
      {"DeviceMesh([0], mesh_dim_names=('a', 'b'))", TSR_CAUSE_MESH_RANK_MISMATCH,
       "2 axis names for 1 axes"},
      {"(a=2, 2)", TSR_CAUSE_MESH_RANK_MISMATCH, "1 axis names for 2 axes"},
      {"(a=0)", TSR_CAUSE_BAD_AXIS_SIZE, "axis \"a\" has size 0"},
      {"(a=2, a=2)", TSR_CAUSE_DUPLICATE_AXIS_NAME, "axis name \"a\" is given twice"},
      {"DeviceMesh((a=2), stride=(1, 1))", TSR_CAUSE_MESH_RANK_MISMATCH, "2 strides for 1 axes"},
      {"DeviceMesh((a=2), stride=(0,))", TSR_CAUSE_DUPLICATE_DEVICE, "device 0"},
      {"DeviceMesh((a=2), stride=(-1,))", TSR_CAUSE_BAD_AXIS_SIZE,
       "axis 0 has size 2 and stride -1, wanted 1 or more and 0 or more"},
      {"DeviceMesh((a=2), stride=(2147483648,))", TSR_CAUSE_UNKNOWN_DEVICE,
       "strides that go past device 2147483647"},
      {"DeviceMesh((a=20000000), stride=(2,))", TSR_CAUSE_TOO_LARGE,
       "strides over more than 16777216 devices"},
      {"DeviceMesh((ac=4), 'cpu', stride=((4, 1),))", TSR_CAUSE_UNSUPPORTED,
       "axis 0 has several strides, and nothing says their sizes; wanted the list of devices too, "
       "which PyTorch prints with TORCH_DISTRIBUTED_DEBUG=DETAIL"},
      {"DeviceMesh((a=4), stride=(1,), Mesh: [[0, 1], [2, 3]])", TSR_CAUSE_MESH_RANK_MISMATCH,
       "the list of devices has sizes (2, 2), the axes have (4,)"},
  };
  // clang-format on
  assert_refused(cases, COUNT_OF(cases));
}

static tsr_status parse_once(void *context) {
  tsr_mesh *mesh = NULL;
  TSR_TRY(tsr_mesh_parse(context, NULL, &mesh));
  tsr_mesh_release(mesh);
  return NULL;
}

static void reading_survives_every_failed_allocation(void **state) {
  (void)state;
  static const char *const texts[] = {
      "DeviceMesh('cuda', [[3, 1], [0, 2]], mesh_dim_names=('a', 'b'))",
      "DeviceMesh((a=4, b=2), device: 'cpu', stride: (1, 4))",
      "(2, 4)",
  };
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    test_allocation_sweep(parse_once, (void *)(uintptr_t)texts[i]);
}

SUITE(torch_mesh, TEST(every_text_of_a_device_mesh_is_read),
      TEST(a_topology_gives_devices_where_none_are_listed),
      TEST(syntax_errors_of_a_device_mesh_are_refused), TEST(impossible_device_meshes_are_refused),
      TEST(reading_survives_every_failed_allocation))
