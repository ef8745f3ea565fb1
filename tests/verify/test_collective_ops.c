// Collectives: groups of processes, channels, pairs, and the types of results.
#include "op_cases.h"

static const body_case all_gather_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 2 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C1) all_gather_dim is 2, expected 0 or more and less than 2, the rank "
     "of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = -1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C1) all_gather_dim is -1, expected 0 or more and less than 2, the "
     "rank of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C2) replica id 0 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<0> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C2) replica id 0 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "2]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C4) replica id is 2, expected each id from 0 to 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1], [2, -1]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C4) replica id is -1, expected 0 or more"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[0, 1]> "
     ": tensor<2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (I3) replica_groups has rank 1, expected 2"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = "
     "#stablehlo.replica_group_mesh_axes<mesh = @nomesh, axes = [#stablehlo.axis_ref<name = "
     "\"x\">]>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (I3) replica_groups: mesh @nomesh is not in the module"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = "
     "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name "
     "= \"x\", size = 2>]>, axes = [#stablehlo.axis_ref<name = \"y\">]>}> : (tensor<2x4xf32>) -> "
     "tensor<2x8xf32>",
     "stablehlo.all_gather: (I3) replica_groups: axis \"y\" is not an axis of the mesh"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, channel_handle = "
     "#stablehlo.channel_handle<handle = -1, type = 0>, use_global_device_ids, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C5) channel_id is -1, expected 0 or more with use_global_device_ids"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, channel_handle = "
     "#stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids, replica_groups = "
     "dense<> : tensor<0x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     "stablehlo.all_gather: (C5) replica_groups is empty, expected groups with "
     "use_global_device_ids"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<3x8xf32>",
     "stablehlo.all_gather: (C6) result is tensor<3x8xf32>, expected the size of tensor<2x4xf32> "
     "at dimension 0"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x7xf32>",
     "stablehlo.all_gather: (C6) result is tensor<2x7xf32>, expected a multiple of 4 at dimension "
     "1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<16xf32>",
     "stablehlo.all_gather: (C6) result is tensor<16xf32>, expected the rank of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xi32>",
     "stablehlo.all_gather: (C6) result is tensor<2x8xi32>, expected the elements of "
     "tensor<2x4xf32>"},
    {"", "%a: tensor<2x0xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x0xf32>) -> tensor<2x0xf32>",
     "stablehlo.all_gather: (C6) operand is tensor<2x0xf32>, expected a size above 0 at dimension "
     "1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>",
     ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 1 : i64, replica_groups = "
     "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name "
     "= \"x\", size = 2>]>, axes = [#stablehlo.axis_ref<name = \"x\">]>}> : (tensor<2x4xf32>) -> "
     "tensor<2x8xf32>",
     ""},
};

static void all_gather_agrees_with_its_groups(void **state) {
  (void)state;
  check_body_cases(all_gather_cases, COUNT_OF(all_gather_cases));
}

static const body_case all_reduce_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1], [1, -1]]> : "
     "tensor<2x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_reduce: (C1) replica id 1 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 3]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_reduce: (C3) replica id is 3, expected each id from 0 to 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{use_global_device_ids, replica_groups = dense<[[0, 1]]> "
     ": tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_reduce: (C4) channel_id is 0, expected 1 or more with use_global_device_ids"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>):\n"
     " stablehlo.return %x : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_reduce: (C5) region 0 takes 1 arguments, expected 2"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
     " stablehlo.return %x : tensor<i32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_reduce: (C5) argument 1 of region 0 is tensor<i32>, to which elements of "
     "tensor<2x4xf32> cannot be promoted"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x5xf32>",
     "stablehlo.all_reduce: (C6) result 0 is tensor<2x5xf32>, expected tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf64>",
     "stablehlo.all_reduce: (C7) result 0 is tensor<2x4xf64>, expected tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1], [2, -1]]> : "
     "tensor<2x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     ""},
};

static void all_reduce_agrees_with_its_groups(void **state) {
  (void)state;
  check_body_cases(all_reduce_cases, COUNT_OF(all_reduce_cases));
}

static const body_case all_to_all_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 2 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C1) split_dimension is 2, expected 0 or more and less than 2, the "
     "rank of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 2 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C3) concat_dimension is 2, expected 0 or more and less than 2, the "
     "rank of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 3 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C2) operand is tensor<2x4xf32>, expected a multiple of split_count 3 "
     "at dimension 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C4) split_count is 0, expected more than 0"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[1, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C5) replica id 1 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 4]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C7) replica id is 4, expected each id from 0 to 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.all_to_all: (C8) replica_groups is tensor<2x1xi64>, expected groups of 2"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.all_to_all: (C9) result 0 is tensor<2x4xf32>, expected tensor<4x2xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.all_to_all\"(%a) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, "
     "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : "
     "(tensor<2x4xf32>) -> tensor<4x2xf32>",
     ""},
};

static void all_to_all_agrees_with_its_groups(void **state) {
  (void)state;
  check_body_cases(all_to_all_cases, COUNT_OF(all_to_all_cases));
}

static const body_case reduce_scatter_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 2 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     "stablehlo.reduce_scatter: (C2) scatter_dimension is 2, expected 0 or more and less than 2, "
     "the rank of tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 0]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     "stablehlo.reduce_scatter: (C3) replica id 0 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[1, 2]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     "stablehlo.reduce_scatter: (C5) replica id is 2, expected each id from 0 to 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, use_global_device_ids, "
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     "stablehlo.reduce_scatter: (C6) channel_id is 0, expected 1 or more with "
     "use_global_device_ids"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x3xf32>",
     "stablehlo.reduce_scatter: (C8) result is tensor<2x3xf32>, expected a divisor of 4 at "
     "dimension 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<3x2xf32>",
     "stablehlo.reduce_scatter: (C8) result is tensor<3x2xf32>, expected the size of "
     "tensor<2x4xf32> at dimension 0"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<4xf32>",
     "stablehlo.reduce_scatter: (C8) result is tensor<4xf32>, expected the rank of "
     "tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf64>",
     "stablehlo.reduce_scatter: (C9) result is tensor<2x2xf64>, expected elements of f32"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " stablehlo.return %x, %y : tensor<f32>, tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     "stablehlo.reduce_scatter: (C7) region 0 returns 2 values, expected 1"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 1 : i64, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     " %s = stablehlo.add %x, %y : tensor<f32>\n"
     " stablehlo.return %s : tensor<f32>\n"
     "}) : (tensor<2x4xf32>) -> tensor<2x2xf32>",
     ""},
};

static void reduce_scatter_agrees_with_its_groups(void **state) {
  (void)state;
  check_body_cases(reduce_scatter_cases, COUNT_OF(reduce_scatter_cases));
}

static const body_case collective_permute_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1, 2]]> : "
     "tensor<1x3xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (C1) source_target_pairs is tensor<1x3xi64>, expected pairs"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[0, 1]> : "
     "tensor<2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (I2) source_target_pairs has rank 1, expected 2"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1], [0, 2]]> : "
     "tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (C2) source 0 occurs twice in source_target_pairs"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : "
     "tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (C3) target 1 occurs twice in source_target_pairs"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[-1, 0]]> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (C4) source_target_pairs has -1, expected 0 or more"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<0> : "
     "tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_permute: (C2) source 0 occurs twice in source_target_pairs"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1]]> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<4x2xf32>",
     "stablehlo.collective_permute: (C5) result 0 is tensor<4x2xf32>, expected tensor<2x4xf32>"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : "
     "tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<> : "
     "tensor<0x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     ""},
};

static void collective_permute_has_unique_ends(void **state) {
  (void)state;
  check_body_cases(collective_permute_cases, COUNT_OF(collective_permute_cases));
}

static const body_case collective_broadcast_cases[] = {
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_broadcast\"(%a) <{replica_groups = dense<[[0, 0]]> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_broadcast: (C1) replica id 0 occurs twice in replica_groups"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_broadcast\"(%a) <{replica_groups = dense<[[-2, 0]]> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_broadcast: (C2) replica id is -2, expected 0 or more"},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_broadcast\"(%a) <{has_dynamic_root, replica_groups = dense<[[0, "
     "1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     "stablehlo.collective_broadcast: (C4) there are 1 operands, expected 2 or more"},
    {"", "%a: tensor<2x4xf32>, %i: tensor<2xi32>",
     "%r = \"stablehlo.collective_broadcast\"(%a, %i) <{has_dynamic_root, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>",
     "stablehlo.collective_broadcast: (C4) the roots are tensor<2xi32>, expected tensor<1xi32>"},
    {"", "%a: tensor<2x4xf32>, %i: tensor<1xi32>",
     "%r = \"stablehlo.collective_broadcast\"(%a, %i) <{has_dynamic_root, replica_groups = "
     "dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>, tensor<1xi32>) -> tensor<2x4xf32>",
     ""},
    {"", "%a: tensor<2x4xf32>",
     "%r = \"stablehlo.collective_broadcast\"(%a) <{replica_groups = dense<[[5, 9]]> : "
     "tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
     ""},
};

static void collective_broadcast_agrees_with_its_groups(void **state) {
  (void)state;
  check_body_cases(collective_broadcast_cases, COUNT_OF(collective_broadcast_cases));
}

// clang-format off
#define COLLECTIVE_REDUCE(operands, attributes, types) \
  "%r = \"stablehlo.collective_reduce\"(" operands ") <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>" attributes "}> " SUM("f32") " : " types

static const body_case collective_reduce_cases[] = {
    {"", "%a: tensor<4xf32>", COLLECTIVE_REDUCE("%a", "", "(tensor<4xf32>) -> tensor<4xf32>"), ""},
    {"", "%a: tensor<4xf32>", COLLECTIVE_REDUCE("%a", "", "(tensor<4xf32>) -> tensor<5xf32>"),
     "stablehlo.collective_reduce: (C3) result 0 is tensor<5xf32>, expected tensor<4xf32>"},
    {"", "%a: tensor<4xi32>", COLLECTIVE_REDUCE("%a", "", "(tensor<4xi32>) -> tensor<4xf32>"),
     "stablehlo.collective_reduce: (C4) argument 1 of region 0 is tensor<f32>, to which elements of tensor<4xi32> cannot be promoted"},
    {"", "%a: tensor<4xf32>, %i: tensor<1xi64>", COLLECTIVE_REDUCE("%a, %i", ", has_dynamic_root", "(tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>"),
     "stablehlo.collective_reduce: (C3) the roots are tensor<1xi64>, expected tensor<1xi32>"},
    {"", "%a: tensor<4xf32>, %i: tensor<1xi32>", COLLECTIVE_REDUCE("%a, %i", ", has_dynamic_root", "(tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>"), ""},
};
// clang-format on

static void collective_reductions_have_roots_and_one_computation(void **state) {
  (void)state;
  check_body_cases(collective_reduce_cases, COUNT_OF(collective_reduce_cases));
}

SUITE(collective_ops, TEST(all_gather_agrees_with_its_groups),
      TEST(all_reduce_agrees_with_its_groups), TEST(all_to_all_agrees_with_its_groups),
      TEST(reduce_scatter_agrees_with_its_groups), TEST(collective_permute_has_unique_ends),
      TEST(collective_broadcast_agrees_with_its_groups),
      TEST(collective_reductions_have_roots_and_one_computation))
