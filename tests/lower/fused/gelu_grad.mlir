module @jit_gelu_grad attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128xf32>, %arg1: tensor<128xf32>, %arg2: tensor<64x128xf32>) -> (tensor<64x128xf32> {jax.result_info = "result[0]"}, tensor<128xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<128xf32>) -> tensor<1x128xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<64x128xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<64x128xf32>
    %4 = stablehlo.multiply %3, %2 : tensor<64x128xf32>
    %5 = stablehlo.multiply %2, %2 : tensor<64x128xf32>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %7 = stablehlo.multiply %6, %5 : tensor<64x128xf32>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %9 = stablehlo.multiply %8, %4 : tensor<64x128xf32>
    %10 = stablehlo.add %2, %9 : tensor<64x128xf32>
    %cst_1 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %12 = stablehlo.multiply %11, %10 : tensor<64x128xf32>
    %13 = stablehlo.tanh %12 : tensor<64x128xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %15 = stablehlo.subtract %14, %13 : tensor<64x128xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %17 = stablehlo.add %16, %13 : tensor<64x128xf32>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %19 = stablehlo.multiply %18, %17 : tensor<64x128xf32>
    %20 = stablehlo.multiply %2, %arg2 : tensor<64x128xf32>
    %21 = stablehlo.multiply %arg2, %19 : tensor<64x128xf32>
    %cst_5 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %23 = stablehlo.multiply %22, %20 : tensor<64x128xf32>
    %24 = stablehlo.multiply %23, %15 : tensor<64x128xf32>
    %25 = stablehlo.multiply %24, %13 : tensor<64x128xf32>
    %26 = stablehlo.add %24, %25 : tensor<64x128xf32>
    %cst_6 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %28 = stablehlo.multiply %27, %26 : tensor<64x128xf32>
    %29 = stablehlo.add %21, %28 : tensor<64x128xf32>
    %cst_7 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<64x128xf32>
    %31 = stablehlo.multiply %30, %28 : tensor<64x128xf32>
    %32 = stablehlo.multiply %31, %7 : tensor<64x128xf32>
    %33 = stablehlo.add %29, %32 : tensor<64x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_8) applies stablehlo.add across dimensions = [0] : (tensor<64x128xf32>, tensor<f32>) -> tensor<128xf32>
    %35 = stablehlo.reshape %34 : (tensor<128xf32>) -> tensor<1x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%35 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<1x128xf32>, tensor<f32>) -> tensor<128xf32>
    return %33, %36 : tensor<64x128xf32>, tensor<128xf32>
  }
}
