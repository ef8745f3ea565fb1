#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "spec/notation_internal.h"
#include "support/test.h"
#include "tessera/compat/torch.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/text.h"

// What PyTorch 2.4.1, 2.9.1 and 2.15.0 print, and what users write.
static const struct {
  const char *text, *printed;
} texts[] = {
    {"[]", "[]"},
    {"()", "[]"},
    {"[Shard(0), Replicate(), Partial()]", "[Shard(dim=0), Replicate(), Partial('sum')]"},
    {"(Shard(dim=0), Replicate(), Partial(sum))", "[Shard(dim=0), Replicate(), Partial('sum')]"},
    {"(Shard(dim=-1),)", "[Shard(dim=-1)]"},
    {"[S(1), R, P]", "[Shard(dim=1), Replicate(), Partial('sum')]"},
    {" [ S( 1 ) , R ( ) , P(max) , ] ", "[Shard(dim=1), Replicate(), Partial('max')]"},
    {"[Partial('sum'), Partial(\"max\"), Partial(reduce_op='min')]",
     "[Partial('sum'), Partial('max'), Partial('min')]"},
    {"[_StridedShard(dim=0, sf=2), Shard(0)]",
     "[_StridedShard(dim=0, split_factor=2), Shard(dim=0)]"},
    {"[_StridedShard(dim=0, split_factor=2)]", "[_StridedShard(dim=0, split_factor=2)]"},
    {"[_StridedShard(0, split_factor=4), _S(1, 3)]",
     "[_StridedShard(dim=0, split_factor=4), _StridedShard(dim=1, split_factor=3)]"},
    {"[_StridedShard(2)]", "[_StridedShard(dim=2, split_factor=1)]"},
    // qualified names, and one placement alone
    {"[torch.distributed.tensor.placement_types.Shard(dim=0), dt.Replicate()]",
     "[Shard(dim=0), Replicate()]"},
    {"Shard(0)", "[Shard(dim=0)]"},
    {"torch.distributed.tensor.Partial('max')", "[Partial('max')]"},
    {"placements=(Shard(dim=0), Replicate())", "[Shard(dim=0), Replicate()]"},
    {"placements = [Shard(0)]", "[Shard(dim=0)]"},
    // rows
    {"S(0)R", "[Shard(dim=0), Replicate()]"},
    {"RRS(1)", "[Replicate(), Replicate(), Shard(dim=1)]"},
    {"P(sum)S(0)P", "[Partial('sum'), Shard(dim=0), Partial('sum')]"},
    {"_S(0, 2)S(0)", "[_StridedShard(dim=0, split_factor=2), Shard(dim=0)]"},
    {"S(0)[0]S(0)[1]R", "[Shard(dim=0), Shard(dim=0), Replicate()]"},
    {"S(0)[1]S(0)[0]R", "S(0)[1]S(0)[0]R"},
    {"P(max)S(1)[2]_S(0, 2)S(1)[0]RS(1)[1]", "P(max)S(1)[2]_S(0, 2)S(1)[0]RS(1)[1]"},
    // specs
    {"Spec((Shard(dim=0), Replicate()) on (8, 8))", "[Shard(dim=0), Replicate()]"},
    {"Spec(S(0) on (16,))", "[Shard(dim=0)]"},
    {"Spec(P on ())", "[Partial('sum')]"},
    {"Spec((Partial(max), Replicate()) on unknown shape)", "[Partial('max'), Replicate()]"},
    {"Spec(f32[8, 8](S(0)R))", "[Shard(dim=0), Replicate()]"},
    {"Spec(bf16[](P(max)R))", "[Partial('max'), Replicate()]"},
    {"Spec(unknown dtypeunknown shape(S(0)[1]S(0)[0]))", "S(0)[1]S(0)[0]"},
    {"Spec(f32[4]())", "[]"},
    {"DTensorSpec(mesh=DeviceMesh((dp=2, tp=4), 'cpu', stride=(4, 1)), placements=(Shard(dim=0), "
     "Shard(dim=0)), tensor_meta=TensorMeta(shape=torch.Size([4, 4]), stride=(4, 1), "
     "dtype=torch.float32), shard_order=(ShardOrderEntry(tensor_dim=0, mesh_dims=(1, 0)),), "
     "use_strided_shard_as_shard_order=False)",
     "S(0)[1]S(0)[0]"},
    {"DTensorSpec(mesh=DeviceMesh([0, 1]), placements=(_StridedShard(dim=0, sf=2),), "
     "tensor_meta=None, shard_order=None, use_strided_shard_as_shard_order=True)",
     "[_StridedShard(dim=0, split_factor=2)]"},
    // tensors, with what is skipped
    {"DTensor(local_tensor=tensor([[0., 1.],\n        [4., 5.]], dtype=torch.bfloat16), "
     "device_mesh=DeviceMesh([[0, 1, 2, 3], [4, 5, 6, 7]], mesh_dim_names=('dp', 'tp')), "
     "placements=(Shard(dim=0), Replicate()))",
     "[Shard(dim=0), Replicate()]"},
    {"DTensor(local_tensor=tensor(..., device='meta', size=(2, 4)), device_mesh=DeviceMesh((2, 4), "
     "device: 'cpu', stride: (4, 1)), placements=(Shard(dim=0),))",
     "[Shard(dim=0)]"},
    {"DTensor(local_tensor={\")]\": 'it\\'s, ('}, placements=[R])", "[Replicate()]"},
    {"DTensor(local_tensor='a''b', placements=[R])", "[Replicate()]"},
};

static void every_form_that_pytorch_prints_is_read(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    tsr_placements placements;
    assert_ok(tsr_placements_parse(texts[i].text, &placements));
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_placements_print(&placements, &text);
    assert_string_equal(tsr_text_string(&text), texts[i].printed);
    assert_ok(tsr_placements_parse(texts[i].printed, &placements));
    tsr_text_clear(&text);
    tsr_placements_print(&placements, &text);
    assert_string_equal(tsr_text_string(&text), texts[i].printed);
    tsr_text_deinit(&text);
  }
}

static const struct {
  const char *text;
  tsr_cause cause;
  const char *message;
} refused[] = {
    {"", TSR_CAUSE_SYNTAX,
     "placements: column 1: expected Shard, Replicate, Partial or _StridedShard, found the end"},
    {"torch.Shrad(0)", TSR_CAUSE_SYNTAX,
     "placements: column 1: expected Shard, Replicate, Partial or _StridedShard, found \"torch\""},
    {"S(0), R", TSR_CAUSE_SYNTAX, "placements: column 5: expected the end, found \",\""},
    {"S(0)[", TSR_CAUSE_SYNTAX, "placements: column 6: expected an integer, found the end"},
    {"S(0)[1", TSR_CAUSE_SYNTAX, "placements: column 7: expected \"]\", found the end"},
    {"S(0)[16]", TSR_CAUSE_SYNTAX, "placements: column 8: shard order 16, expected 0 to 15"},
    {"RR[0]", TSR_CAUSE_SYNTAX,
     "placements: column 5: shard order 0 of a placement that is not a shard"},
    {"S(0)[1]S(0)[1]", TSR_CAUSE_SYNTAX, "the shards of dimension 0 are not numbered 0 to 1"},
    {"S(0)[0]S(0)", TSR_CAUSE_SYNTAX, "the shards of dimension 0 are not numbered 0 to 1"},
    {"S(0)[1]", TSR_CAUSE_SYNTAX, "the shards of dimension 0 are not numbered 0 to 0"},
    {"_S(0, 2)[0]S(0)[1]", TSR_CAUSE_UNSUPPORTED,
     "dimension 0 has a strided shard and an order of shards"},
    {"RRRRRRRRRRRRRRRRR", TSR_CAUSE_TOO_LARGE, "placements: column 17: more than 16 placements"},
    {"Spec((Shard(0)) in (8,))", TSR_CAUSE_SYNTAX,
     "placements: column 17: expected \"on\" and a shape, found \"in\""},
    {"Spec((Shard(0)) on 8)", TSR_CAUSE_SYNTAX,
     "placements: column 20: expected \"(\", found \"8\""},
    {"Spec((Shard(0)) on (8 8))", TSR_CAUSE_SYNTAX,
     "placements: column 23: expected \")\", found \"8\""},
    {"Spec((Shard(0)) on unknown size)", TSR_CAUSE_SYNTAX,
     "placements: column 28: expected shape, found \"size\""},
    {"Spec((Shard(0)) on (-8,))", TSR_CAUSE_BAD_ARGUMENT, NULL},
    {"Spec(S(0) on (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1))",
     TSR_CAUSE_TOO_LARGE, "placements: column 79: a shape of more than 32 dimensions"},
    {"Spec(f32(S(0)R))", TSR_CAUSE_SYNTAX,
     "placements: column 9: expected a shape in brackets, found \"(\""},
    {"Spec(f32[s0](S(0)R))", TSR_CAUSE_SYNTAX,
     "placements: column 10: expected an integer, found \"s0\""},
    {"Spec(f32[8](S(0)R)", TSR_CAUSE_SYNTAX,
     "placements: column 19: expected \")\", found the end"},
    {"Spec(f32[8]S(0)R)", TSR_CAUSE_SYNTAX, "placements: column 12: expected \"(\", found \"S\""},
    {"Spec(unknown dtype(S(0)R))", TSR_CAUSE_SYNTAX,
     "placements: column 14: expected a shape in brackets, found \"dtype\""},
    {"DTensor(local_tensor=tensor([0., 1.])", TSR_CAUSE_SYNTAX,
     "placements: column 38: expected a closing bracket, found the end"},
    {"DTensor(local_tensor=tensor([0., 1.)", TSR_CAUSE_SYNTAX,
     "placements: column 37: expected a closing bracket, found the end"},
    {"DTensor(local_tensor='x)", TSR_CAUSE_SYNTAX,
     "placements: column 22: expected a closing quote, found \"'\""},
    {"DTensor(local_tensor=1)", TSR_CAUSE_SYNTAX,
     "placements: column 23: expected placements=, found \")\""},
    {"DTensor(local_tensor)", TSR_CAUSE_SYNTAX,
     "placements: column 21: expected \"=\", found \")\""},
    {"DTensor(placements=(R,), placements=(R,))", TSR_CAUSE_SYNTAX,
     "placements: column 37: placements are given twice"},
    {"DTensorSpec(placements=(R,), shard_order=(x))", TSR_CAUSE_SYNTAX,
     "placements: column 43: expected ShardOrderEntry(tensor_dim=, found \"x\""},
    {"DTensorSpec(placements=(R,), shard_order=(ShardOrderEntry(tensor_dim=0, dims=(1,)),))",
     TSR_CAUSE_SYNTAX, "placements: column 73: expected mesh_dims=, found \"dims\""},
    {"DTensorSpec(placements=(R,), shard_order=(ShardOrderEntry(tensor_dim=0, mesh_dims=(1,)),))",
     TSR_CAUSE_SYNTAX,
     "placements: column 85: the order of shards has mesh dimension 1, expected 0 to 0"},
    {"DTensorSpec(placements=(R,), shard_order=(ShardOrderEntry(tensor_dim=0, mesh_dims=(0,)),))",
     TSR_CAUSE_SYNTAX,
     "placements: column 85: the order of shards has mesh dimension 0, whose placement is no shard "
     "of dimension 0"},
    {"DTensorSpec(placements=(S(0), S(0)), "
     "shard_order=(ShardOrderEntry(tensor_dim=1, mesh_dims=(1, 0)),))",
     TSR_CAUSE_SYNTAX,
     "placements: column 93: the order of shards has mesh dimension 1, whose placement is no shard "
     "of dimension 1"},
    {"DTensorSpec(placements=(S(0),), shard_order=(ShardOrderEntry(tensor_dim=0, "
     "mesh_dims=(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),))",
     TSR_CAUSE_TOO_LARGE, "placements: column 136: an order of more than 16 shards"},
    {"DTensorSpec(shard_order=(ShardOrderEntry(tensor_dim=0, mesh_dims=(0,)),), "
     "placements=(S(0),))",
     TSR_CAUSE_SYNTAX, "placements: column 25: shard_order before placements"},
    {"DTensorSpec(placements=(S(0),), tensor_meta=TensorMeta(shape=torch.Size([8)))",
     TSR_CAUSE_SYNTAX, "placements: column 75: expected \"]\", found \")\""},
    {"[Shard(0)", TSR_CAUSE_SYNTAX, "placements: column 10: expected \"]\", found the end"},
    {"[Shard(0))", TSR_CAUSE_SYNTAX, "placements: column 10: expected \"]\", found \")\""},
    {"[Shard(0)] x", TSR_CAUSE_SYNTAX, "placements: column 12: expected the end, found \"x\""},
    {"[,]", TSR_CAUSE_SYNTAX,
     "placements: column 2: expected Shard, Replicate, Partial or _StridedShard, found \",\""},
    {"[Replicate(), Shrad(0)]", TSR_CAUSE_SYNTAX,
     "placements: column 15: expected Shard, Replicate, Partial or _StridedShard, found \"Shrad\""},
    {"[Shard()]", TSR_CAUSE_SYNTAX, "placements: column 8: expected an integer, found \")\""},
    {"[Shard(axis=0)]", TSR_CAUSE_SYNTAX,
     "placements: column 8: expected an integer, found \"axis\""},
    {"[Shard(32)]", TSR_CAUSE_SYNTAX, "placements: column 8: dim is 32, expected -32 to 31"},
    {"[_S(0, 0)]", TSR_CAUSE_SYNTAX,
     "placements: column 8: split_factor is 0, expected 1 to 2147483647"},
    {"[Partial(avg)]", TSR_CAUSE_UNSUPPORTED,
     "placements: column 2: partial results combine by \"avg\", expected sum, max or min"},
    {"[Partial('sum)]", TSR_CAUSE_SYNTAX, "placements: column 14: expected \"'\", found \")\""},
    {"[Partial(=)]", TSR_CAUSE_SYNTAX, "placements: column 10: expected a reduction, found \"=\""},
    {"[_MaskPartial(reduce_op=sum)]", TSR_CAUSE_UNSUPPORTED,
     "placements: column 2: masked partial results are not supported"},
    {"S(0)MaskP(sum, (8,), 0)", TSR_CAUSE_UNSUPPORTED,
     "placements: column 5: masked partial results are not supported"},
    {"[R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R,R]", TSR_CAUSE_TOO_LARGE,
     "placements: column 34: more than 16 placements"},
};

static void other_texts_are_refused_with_a_reason(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    tsr_placements placements = {.count = 7};
    tsr_status status = tsr_placements_parse(refused[i].text, &placements);
    if (refused[i].message) assert_message(status, refused[i].message);
    assert_int_equal(tsr_status_cause(status), refused[i].cause);
    tsr_status_free(status);
    assert_int_equal(placements.count, 7);
  }
}

// ---- which notation a text is in ----

static void placements_are_recognised_among_specs(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool dtensor;
  } cases[] = {
      {"[Shard(0)]", true},
      {"[", true},
      {"(Shard(dim=0), Replicate())", true},
      {" ( R, )", true},
      {"()", false},
      {"( )", false},
      {"(x)", false},
      {"('x', None)", false},
      {"(torch.distributed.tensor.Partial(sum),)", true},
      {"S(0)R", true},
      {"S(0)", true},
      {"P(sum)", true},
      {"P(sum)R", true},
      {"S(0)P(avg)", true},  // refused by name, not read as axes
      {"S(0)MaskP(sum, (8,), 0)", true},
      {"_MaskPartial(reduce_op=sum, offset_shape=None, offset_dim=0)", true},
      {"S(0)[1]S(0)[0]R", true},
      {"S(0", false},
      {"S(0(", false},
      {"S(0)[1", true},
      {"P(x)", false},
      {"P(UNCONSTRAINED)", false},
      {"Shard(0)", true},
      {"placements=()", true},
      {"placements", false},
      {"Spec(f32[8](R))", true},
      {"Spec", false},
      {"DTensor, tp", false},
      {"torch.distributed.tensor.DTensor(", true},
      {"R", false},
      {"S, R", false},
      {"RR", false},
      {"P()", false},
      {"P('x')", false},
      {"P(None)", false},
      {"P(None, 'x')", false},
      {"PartitionSpec('x', None)", false},
      {"S:(2)4", false},
      {"S/cyclic(2)", false},
      {"R/sizes(3,4), S", false},
      {"{devices=[2]<=[2]}", false},
      {"#sdy.sharding<@mesh, []>", false},
      {"", false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    if (tsr_dtensor_looks_like(cases[i].text) != cases[i].dtensor)
      fail_msg("\"%s\" is%s a DTensor's text", cases[i].text, cases[i].dtensor ? "" : " not");
}

// In one pass: a look ahead over the rest of the text at each word would take hours here.
static void long_rows_are_recognised_at_once(void **state) {
  (void)state;
  static const char word[] = "S(0)";
  const size_t length = strlen(word), count = (size_t)1 << 20;
  char *text = malloc(count * length + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; i++) memcpy(text + i * length, word, length + 1);
  assert_true(tsr_dtensor_looks_like(text));
  free(text);
}

// ---- meshes and shapes in the text ----

static tsr_mesh *parse_mesh(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

static const char listed[] =
    "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh([[3, 1], [0, 2]], "
    "mesh_dim_names=('dp', 'tp')), placements=(Shard(dim=0), Replicate()))";
static const char unnamed[] =
    "DTensorSpec(mesh=DeviceMesh((2, 2), 'cpu', stride=(2, 1)), placements=(Shard(dim=0), "
    "Replicate()), tensor_meta=TensorMeta(shape=torch.Size([8, 4]), stride=(4, 1), "
    "dtype=torch.float32))";

static void meshes_and_shapes_are_found(void **state) {
  (void)state;
  tsr_dtensor dtensor;
  assert_ok(tsr_dtensor_parse(listed, NULL, &dtensor));
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_mesh_print(dtensor.mesh, &text);
  assert_string_equal(tsr_text_string(&text), "dp=2,tp=2 devices=[3,1,0,2]");
  assert_true(dtensor.lists_devices);
  assert_false(dtensor.has_shape);
  tsr_dtensor_deinit(&dtensor);
  assert_null(dtensor.mesh);
  assert_ok(tsr_dtensor_parse(unnamed, NULL, &dtensor));
  tsr_text_clear(&text);
  tsr_mesh_print(dtensor.mesh, &text);
  assert_string_equal(tsr_text_string(&text), "dim_0=2,dim_1=2");
  assert_false(dtensor.lists_devices);
  assert_true(dtensor.has_shape);
  assert_true(tsr_shape_equal(&dtensor.shape, TSR_SHAPE(8, 4)));
  tsr_dtensor_deinit(&dtensor);
  tsr_text_deinit(&text);
}

static void a_text_is_held_against_mesh_and_shape(void **state) {
  (void)state;
  static const struct {
    const char *text, *mesh;
    int64_t rows;
    const char *message;
  } cases[] = {
      {listed, "dp=2,tp=2 devices=[3,1,0,2]", 8, ""},
      {listed, "dp=2,tp=2 abstract", 8, ""},
      {listed, "dp=2,tp=2", 8, "the text has device 3 at mesh position 0, wanted 0"},
      {listed, "dp=2,tp=4", 8, "the text has mesh {dp=2, tp=2}, expected {dp=2, tp=4}"},
      {listed, "x=2,tp=2", 8, "the text has mesh {dp=2, tp=2}, expected {x=2, tp=2}"},
      {listed, "dp=2", 8, "the text has mesh {dp=2, tp=2}, expected {dp=2}"},
      {unnamed, "x=2,y=2", 8, ""},
      {unnamed, "x=2,y=2 devices=[4,5,6,7]", 8, ""},
      {unnamed, "x=2,y=2", 9, "the text has shape (8, 4), expected (9, 4)"},
      {"(Shard(0),)", "x=2,y=2", 9, ""},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_dtensor dtensor;
    tsr_mesh *mesh = parse_mesh(cases[i].mesh);
    assert_ok(tsr_dtensor_parse(cases[i].text, NULL, &dtensor));
    tsr_status status = tsr_dtensor_check(&dtensor, mesh, TSR_SHAPE(cases[i].rows, 4));
    assert_message(status, cases[i].message);
    tsr_status_free(status);
    assert_ok(tsr_dtensor_check(&dtensor, NULL, NULL));
    tsr_dtensor_deinit(&dtensor);
    tsr_mesh_release(mesh);
  }
}

static void broken_meshes_in_a_text_are_reported(void **state) {
  (void)state;
  tsr_dtensor dtensor;
  assert_fails_with(
      tsr_dtensor_parse("DTensor(device_mesh=DeviceMesh([0, 0]), placements=[R])", NULL, &dtensor),
      DUPLICATE_DEVICE, "DeviceMesh([0, 0])");
  assert_fails(
      tsr_dtensor_parse("DTensor(mesh=(a=2), device_mesh=(a=2), placements=[R])", NULL, &dtensor),
      SYNTAX, "placements: column 38: a second mesh, expected one");
  assert_fails(
      tsr_dtensor_parse("DTensor(mesh=(a=2), placements=[X])", NULL, &dtensor), SYNTAX,
      "placements: column 33: expected Shard, Replicate, Partial or _StridedShard, found \"X\"");
}

static tsr_status parse_once(void *context) {
  tsr_dtensor dtensor;
  TSR_TRY(tsr_dtensor_parse(context, NULL, &dtensor));
  tsr_dtensor_deinit(&dtensor);
  return NULL;
}

static void texts_survive_every_failed_allocation(void **state) {
  (void)state;
  test_allocation_sweep(parse_once, (void *)(uintptr_t)listed);
  test_allocation_sweep(parse_once, (void *)(uintptr_t)unnamed);
}

SUITE(placements, TEST(every_form_that_pytorch_prints_is_read),
      TEST(other_texts_are_refused_with_a_reason), TEST(placements_are_recognised_among_specs),
      TEST(long_rows_are_recognised_at_once), TEST(meshes_and_shapes_are_found),
      TEST(a_text_is_held_against_mesh_and_shape), TEST(broken_meshes_in_a_text_are_reported),
      TEST(texts_survive_every_failed_allocation))
