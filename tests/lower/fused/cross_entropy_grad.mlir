module @jit_xent attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x128xf32>, %arg1: tensor<32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<32x128xf32> {jax.result_info = "result[1]"}) {
    %0:3 = call @log_softmax(%arg0) : (tensor<32x128xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x1xf32>)
    %1 = call @_one_hot(%arg1) : (tensor<32xi32>) -> tensor<32x128xf32>
    %2 = stablehlo.multiply %0#0, %1 : tensor<32x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %5 = stablehlo.divide %4, %cst_1 : tensor<f32>
    %6 = stablehlo.negate %5 : tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.negate %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %8 = stablehlo.divide %7, %cst_3 : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<32xf32>) -> tensor<32x128xf32>
    %11 = stablehlo.multiply %10, %1 : tensor<32x128xf32>
    %12 = call @log_softmax_0(%0#1, %0#2, %11) : (tensor<32x128xf32>, tensor<32x1xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    return %6, %12 : tensor<f32>, tensor<32x128xf32>
  }
  func.func private @log_softmax(%arg0: tensor<32x128xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x128xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<32x128xf32>
    %6 = stablehlo.exponential %5 : tensor<32x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %9 = stablehlo.log %8 : tensor<32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x128xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<32x128xf32>
    return %11, %6, %8 : tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<32xi32>) -> tensor<32x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x128xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<32x1xi32>) -> tensor<32x128xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x128xi32>) -> tensor<32x128xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<32x128xi32>, tensor<32x128xi32>) -> tensor<32x128xi1>
    %5 = stablehlo.convert %4 : (tensor<32x128xi1>) -> tensor<32x128xf32>
    return %5 : tensor<32x128xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<32x128xf32>, %arg1: tensor<32x1xf32>, %arg2: tensor<32x128xf32>) -> tensor<32x128xf32> {
    %0 = stablehlo.negate %arg2 : tensor<32x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<32xf32>) -> tensor<32x128xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<32x128xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<32x128xf32>
    return %7 : tensor<32x128xf32>
  }
}
