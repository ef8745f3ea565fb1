module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32>, %arg1: tensor<8x4xf32>) -> (tensor<10x2x2xf32> {jax.result_info = "result"}) {
    %0 = call @_wrapped_jax_export_main(%arg0, %arg1) : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<10x2x2xf32>
    return %0 : tensor<10x2x2xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<2x4xf32>, %arg1: tensor<8x4xf32>) -> (tensor<10x2x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<10x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<10x4xf32>) -> tensor<10x2x2xf32>
    return %1 : tensor<10x2x2xf32>
  }
}
