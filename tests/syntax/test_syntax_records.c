// Records and enums of stablehlo, chlo and sdy.
#include <string.h>

#include "round_trip.h"
#include "support/test.h"
#include "syntax/syntax.h"

static void stablehlo_attributes_are_printed_as_mlir_prints_them(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"#stablehlo<precision HIGHEST>", NULL},
      {"#chlo<comparison_direction NE>", NULL},
      {"#stablehlo.result_accuracy_mode<HIGHEST>", NULL},
      {"#stablehlo.gather<>", NULL},
      {"#stablehlo<gather<offset_dims = [1]>>", "#stablehlo.gather<offset_dims = [1]>"},
      {"#stablehlo.gather<index_vector_dim = 1, offset_dims=[2,3],>",
       "#stablehlo.gather<offset_dims = [2, 3], index_vector_dim = 1>"},
      {"#stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [1, 2]>", NULL},
      {"#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_batching_dimensions = [0]>",
       "#stablehlo.dot<rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1]>"},
      {"#chlo.ragged_dot<lhs_ragged_dimensions = [2], rhs_group_dimensions = []>",
       "#chlo.ragged_dot<lhs_ragged_dimensions = [2]>"},
      {"#stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, "
       "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
       "num_primitive_operations = 1, allow_imprecise_accumulation = false>",
       NULL},
      {"#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[f, 1, b, 0]>", NULL},
      {"#stablehlo.conv<[b,f]x[i,o]->[b,f]>", "#stablehlo.conv<[b, f]x[i, o]->[b, f]>"},
      {"#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 2, "
       "input_spatial_dimensions = [1], kernel_output_feature_dimension = 1, "
       "kernel_spatial_dimensions = [2], output_batch_dimension = 0, output_feature_dimension = 1, "
       "output_spatial_dimensions = [2]>",
       "#stablehlo.conv<[b, 0, f]x[i, o, 0]->[b, f, 0]>"},
      {"#stablehlo.conv<raw input_batch_dimension = -1, input_feature_dimension = 3, "
       "input_spatial_dimensions = [0, 0], kernel_output_feature_dimension = 1>",
       "#stablehlo.conv<raw input_batch_dimension = -1, input_feature_dimension = 3, "
       "input_spatial_dimensions = [0, 0], kernel_input_feature_dimension = 0, "
       "kernel_output_feature_dimension = 1, kernel_spatial_dimensions = [], "
       "output_batch_dimension = 0, output_feature_dimension = 0, output_spatial_dimensions = []>"},
      {"#stablehlo.channel_handle<type = 2, handle=1>",
       "#stablehlo.channel_handle<handle = 1, type = 2>"},
      {"#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, "
       "operand_tuple_indices = [1]>",
       NULL},
      {"#stablehlo.bounds<3, ?>", NULL},
      {"#stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 1, mode = "
       "#stablehlo.result_accuracy_mode<TOLERANCE>>",
       "#stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = "
       "#stablehlo.result_accuracy_mode<TOLERANCE>>"},
      {"#stablehlo.result_accuracy<rtol = 1234567.0, mode = "
       "#stablehlo.result_accuracy_mode<TOLERANCE>>",
       "#stablehlo.result_accuracy<rtol = 0x4132D68700000000, mode = "
       "#stablehlo.result_accuracy_mode<TOLERANCE>>"},
      {"#stablehlo.axis_ref<name = \"x\", sub_axis_info = (1)2>", NULL},
      {"#stablehlo<sub_axis_info(1)2>", NULL},
      {"#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>], device_ids = "
       "dense<[1, 0]> : tensor<2xi64>>",
       "#stablehlo.mesh<axes=[<name = \"x\", size = 2>], device_ids=dense<[1, 0]> : "
       "tensor<2xi64>>"},
      {"#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "
       "\"x\">]>",
       NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void sdy_attributes_are_printed_as_shardy_prints_them(void **state) {
  (void)state;
  static const printed_case cases[] = {
      {"#sdy.mesh<[\"a\"=2, \"b\"=3]>", NULL},
      {"#sdy.mesh<[\"a\"=2], device_ids=[0, 1]>", "#sdy.mesh<[\"a\"=2]>"},
      {"#sdy.mesh<[\"a\"=2], device_ids=[1, 0]>", NULL},
      {"#sdy.mesh<[], device_ids=[0]>", NULL},
      {"#sdy.mesh<[]>", NULL},
      {"#sdy.sharding<@mesh, [{\"x\", ?}p1, {\"y\":(1)2}, {?}, {}], replicated={\"z\"}, "
       "unreduced=max{\"w\"}>",
       NULL},
      {"#sdy.sharding<@mesh, [], unreduced=sum{\"w\"}, replicated={\"z\"}>",
       "#sdy.sharding<@mesh, [], replicated={\"z\"}, unreduced={\"w\"}>"},
      {"#sdy.sharding<mesh<[\"a\"=2]>, [{?}]>", NULL},
      {"#sdy.sharding_per_value<[<@mesh, [{}]>, <@\"my mesh\", []>]>", NULL},
      {"#sdy.sharding_per_value<[]>", NULL},
      {"#sdy<manual_axes{\"a\", \"b\"}>", NULL},
      {"#sdy<mesh_axis\"a\"=2>", NULL},
      {"#sdy<axis_ref \"a\":(1)2>", "#sdy<axis_ref\"a\":(1)2>"},
      {"#sdy<dimension_sharding{\"a\"}>", NULL},
      {"#sdy<axis_ref_list{\"a\"}>", NULL},
      {"#sdy<list_of_axis_ref_lists[{\"a\"}, {}]>", NULL},
      {"#sdy<all_to_all_param_list[{\"a\"}: 0->1, {\"b\", \"c\"}: 2->3]>", NULL},
      {"#sdy<tensor_mapping[i, jk]>", NULL},
      {"#sdy<dim_mapping ij>", NULL},
      {"#sdy.op_sharding_rule<([i, j], [])->([i, zz_1z_12]) {i=8, j=16} reduction={j} "
       "need_replication={i} permutation={j} blocked_propagation={i, j}, custom>",
       NULL},
      {"#sdy.op_sharding_rule<([])->([])>", NULL},
  };
  test_printed_attrs(cases, COUNT_OF(cases));
}

static void absent_lists_are_empty_and_fields_are_known(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  const tsr_attr *attr = NULL;
  const char *text = "#stablehlo.conv<[b, 1, 0, f]x[i, 0, o, 1]->[0, b, f, 1]>";
  assert_ok(tsr_syntax_read_attr(ir, text, strlen(text), &attr));
  assert_int_equal(tsr_attr_field(attr, TSR_CONV_INPUT_FEATURE)->integer, 3);
  assert_int_equal(tsr_attr_int_at(tsr_attr_field(attr, TSR_CONV_INPUT_SPATIAL), 0), 2);
  assert_int_equal(tsr_attr_int_at(tsr_attr_field(attr, TSR_CONV_KERNEL_SPATIAL), 1), 3);
  assert_int_equal(tsr_attr_field(attr, TSR_CONV_OUTPUT_BATCH)->integer, 1);
  text = "#stablehlo.gather<>";
  assert_ok(tsr_syntax_read_attr(ir, text, strlen(text), &attr));
  assert_int_equal(tsr_attr_int_count(tsr_attr_field(attr, TSR_GATHER_START_INDEX_MAP)), 0);
  assert_int_equal(tsr_attr_field(attr, TSR_GATHER_INDEX_VECTOR_DIM)->integer, 0);
  tsr_ir_destroy(ir);
}

static void malformed_records_are_refused(void **state) {
  (void)state;
  static const refused_case cases[] = {
      {"#stablehlo.foo<1>", "attribute: column 1: stablehlo has no attribute \"foo\""},
      {"#stablehlo<precision LOW>",
       "attribute: column 22: expected one of DEFAULT HIGH HIGHEST, found \"LOW\""},
      {"#stablehlo.precision<HIGH>",
       "attribute: column 21: expected one of DEFAULT HIGH HIGHEST, found \"<\""},
      {"#stablehlo.dot<foo = [1]>",
       "attribute: column 16: expected one of lhs_batching_dimensions rhs_batching_dimensions "
       "lhs_contracting_dimensions rhs_contracting_dimensions, found \"foo\""},
      {"#stablehlo.gather<offset_dims = [1], offset_dims = []>",
       "attribute: column 38: \"offset_dims\" is given twice"},
      {"#stablehlo.channel_handle<handle = 1>", "attribute: column 37: \"type\" is missing"},
      {"#stablehlo.output_operand_alias<operand_index = 0, output_tuple_indices = [], "
       "operand_tuple_indices = []>",
       "attribute: column 52: \"output_tuple_indices\" stands too late, the fields of "
       "#stablehlo.output_operand_alias have an order"},
      {"#stablehlo.conv<[b, 0]x[i, o]->[b, f]>", "attribute: column 17: dimension f is missing"},
      {"#stablehlo.conv<[b, f, 1]x[i, o]->[b, f]>",
       "attribute: column 17: spatial dimension 0 is missing"},
      {"#stablehlo.conv<[b, f, b]x[i, o]->[b, f]>",
       "attribute: column 24: expected a number or one of b f, found \"b\""},
      {"#stablehlo.conv<[b, f, 0, 0]x[i, o]->[b, f]>",
       "attribute: column 27: spatial dimension 0 is given twice"},
      {"#stablehlo.conv<[b, f, 99999999]x[i, o]->[b, f]>",
       "attribute: column 24: spatial dimension 99999999 is not from 0 to 1023"},
      {"#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [1]>",
       "attribute: column 54: \"axes\" holds something else than #stablehlo.axis_ref"},
      {"#sdy.sharding<@mesh, [{\"a\"}p01]>",
       "attribute: column 28: expected a priority such as p0 or p12, found \"p01\""},
      {"#sdy.sharding<@mesh, [{\"a\" \"b\"}]>",
       "attribute: column 28: expected \",\" or \"}\", found \"b\""},
      {"#sdy.sharding<mesh, []>", "attribute: column 19: expected \"<\", found \",\""},
      {"#sdy.sharding<@mesh, [], replicated={\"a\"}, replicated={\"b\"}>",
       "attribute: column 44: expected one of replicated unreduced, each once, found "
       "\"replicated\""},
      {"#sdy.op_sharding_rule<([a])->([i])>",
       "attribute: column 25: expected factors: letters from i to z, or z_1, z_2, ..., found "
       "\"a\""},
      {"#sdy.op_sharding_rule<([i])->([i]) {j=2}>",
       "attribute: column 37: the sizes of factors are given in order from i on, one each"},
      {"#sdy.op_sharding_rule<([i])->([i]) {i=2} reduction={ij}>",
       "attribute: column 53: expected one factor, found several"},
      {"#sdy.foo", "attribute: column 1: sdy has no attribute \"foo\""},
  };
  test_refused_attrs(cases, COUNT_OF(cases));
}

SUITE(syntax_records, TEST(stablehlo_attributes_are_printed_as_mlir_prints_them),
      TEST(sdy_attributes_are_printed_as_shardy_prints_them),
      TEST(absent_lists_are_empty_and_fields_are_known), TEST(malformed_records_are_refused))
