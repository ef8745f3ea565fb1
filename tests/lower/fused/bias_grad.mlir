module @jit_bias_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32x128xf32>, %arg1: tensor<4x32x128xf32>) -> (tensor<4x32x128xf32> {jax.result_info = "result[0]"}, tensor<128xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x32x128xf32>
    %1 = stablehlo.compare GT, %arg0, %0, FLOAT : (tensor<4x32x128xf32>, tensor<4x32x128xf32>) -> tensor<4x32x128xi1>
    %2 = stablehlo.convert %1 : (tensor<4x32x128xi1>) -> tensor<4x32x128xf32>
    %3 = stablehlo.multiply %arg1, %2 : tensor<4x32x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x32x128xf32>, tensor<f32>) -> tensor<128xf32>
    return %3, %4 : tensor<4x32x128xf32>, tensor<128xf32>
  }
}
