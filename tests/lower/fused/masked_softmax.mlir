module @jit_masked attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x64x64xf32>) -> (tensor<4x64x64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<64xi32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<64xi32>) -> tensor<1x64xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<64x1xi32>) -> tensor<64x64xi32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x64xi32>) -> tensor<64x64xi32>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %7 = stablehlo.multiply %arg0, %6 : tensor<4x64x64xf32>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %8 = call @_where(%5, %7, %cst_0) : (tensor<64x64xi1>, tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64x64xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
    %11 = stablehlo.maximum %10, %9 : tensor<4x64xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x64xf32>
    %14 = stablehlo.subtract %8, %13 : tensor<4x64x64xf32>
    %15 = stablehlo.exponential %14 : tensor<4x64x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.add across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x1xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<4x64x1xf32>) -> tensor<4x64x64xf32>
    %19 = stablehlo.divide %15, %18 : tensor<4x64x64xf32>
    return %19 : tensor<4x64x64xf32>
  }
  func.func private @_where(%arg0: tensor<64x64xi1>, %arg1: tensor<4x64x64xf32>, %arg2: tensor<f32>) -> tensor<4x64x64xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<64x64xi1>) -> tensor<4x64x64xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x64x64xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<4x64x64xi1>, tensor<4x64x64xf32>
    return %3 : tensor<4x64x64xf32>
  }
}
