module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x8x9xf32>, %arg1: tensor<5x3x3x3xf32>) -> (tensor<2x5x8x9xf32> {jax.result_info = "result"}) {
    %0 = call @_wrapped_jax_export_main(%arg0, %arg1) : (tensor<2x3x8x9xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x8x9xf32>
    return %0 : tensor<2x5x8x9xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<2x3x8x9xf32>, %arg1: tensor<5x3x3x3xf32>) -> (tensor<2x5x8x9xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x8x9xf32>, tensor<5x3x3x3xf32>) -> tensor<2x5x8x9xf32>
    return %0 : tensor<2x5x8x9xf32>
  }
}
