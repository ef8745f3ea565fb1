module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = call @_wrapped_jax_export_main(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.composite "chlo.erf" %arg0 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @chlo.erf.impl(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<-0.0142647391> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-0.00737332925> : tensor<f32>
    %cst_3 = stablehlo.constant dense<-0.00168282702> : tensor<f32>
    %cst_4 = stablehlo.constant dense<-2.13374049E-4> : tensor<f32>
    %cst_5 = stablehlo.constant dense<-1.45660715E-5> : tensor<f32>
    %cst_6 = stablehlo.constant dense<-0.0160960332> : tensor<f32>
    %cst_7 = stablehlo.constant dense<-2.954600e-03> : tensor<f32>
    %cst_8 = stablehlo.constant dense<-7.34990637E-4> : tensor<f32>
    %cst_9 = stablehlo.constant dense<-5.69250624E-5> : tensor<f32>
    %cst_10 = stablehlo.constant dense<-2.10102394E-6> : tensor<f32>
    %cst_11 = stablehlo.constant dense<2.77068146E-8> : tensor<f32>
    %cst_12 = stablehlo.constant dense<-2.72614237E-10> : tensor<f32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %cst_14 = stablehlo.constant dense<-4.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %2 = stablehlo.clamp %0, %arg0, %1 : tensor<4x3xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<4x3xf32>
    %4 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %5 = stablehlo.multiply %4, %3 : tensor<4x3xf32>
    %6 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %7 = stablehlo.add %5, %6 : tensor<4x3xf32>
    %8 = stablehlo.multiply %7, %3 : tensor<4x3xf32>
    %9 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %10 = stablehlo.add %8, %9 : tensor<4x3xf32>
    %11 = stablehlo.multiply %10, %3 : tensor<4x3xf32>
    %12 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %13 = stablehlo.add %11, %12 : tensor<4x3xf32>
    %14 = stablehlo.multiply %13, %3 : tensor<4x3xf32>
    %15 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %16 = stablehlo.add %14, %15 : tensor<4x3xf32>
    %17 = stablehlo.multiply %16, %3 : tensor<4x3xf32>
    %18 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %19 = stablehlo.add %17, %18 : tensor<4x3xf32>
    %20 = stablehlo.multiply %19, %3 : tensor<4x3xf32>
    %21 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %22 = stablehlo.add %20, %21 : tensor<4x3xf32>
    %23 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %24 = stablehlo.multiply %23, %3 : tensor<4x3xf32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %26 = stablehlo.add %24, %25 : tensor<4x3xf32>
    %27 = stablehlo.multiply %26, %3 : tensor<4x3xf32>
    %28 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %29 = stablehlo.add %27, %28 : tensor<4x3xf32>
    %30 = stablehlo.multiply %29, %3 : tensor<4x3xf32>
    %31 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %32 = stablehlo.add %30, %31 : tensor<4x3xf32>
    %33 = stablehlo.multiply %32, %3 : tensor<4x3xf32>
    %34 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %35 = stablehlo.add %33, %34 : tensor<4x3xf32>
    %36 = stablehlo.multiply %2, %22 : tensor<4x3xf32>
    %37 = stablehlo.divide %36, %35 : tensor<4x3xf32>
    %38 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %39 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %40 = stablehlo.clamp %38, %37, %39 : tensor<4x3xf32>
    return %40 : tensor<4x3xf32>
  }
}
