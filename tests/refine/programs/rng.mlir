module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui32>, %arg1: tensor<?xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg1, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %1 = stablehlo.compare GE, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%1, %0) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'.", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
    %2 = call @_wrapped_jax_export_main(%0, %arg0, %arg1) : (tensor<i32>, tensor<2xui32>, tensor<?xf32>) -> tensor<?xf32>
    return %2 : tensor<?xf32>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>, %arg2: tensor<?xf32>) -> (tensor<?xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %arg1, %cst, %cst_0) : (tensor<i32>, tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func private @_uniform(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<2xui32>, %arg2: tensor<f32>, %arg3: tensor<f32>) -> tensor<?xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1065353216> : tensor<ui32>
    %c_0 = stablehlo.constant dense<9> : tensor<ui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %c_2 = stablehlo.constant dense<1> : tensor<ui64>
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.convert %arg3 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %4 = stablehlo.slice %arg1 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg1 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.dynamic_iota %8, dim = 0 : (tensor<1xi32>) -> tensor<?xui64>
    %10 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %c_2, %10, dims = [] : (tensor<ui64>, tensor<1xi32>) -> tensor<?xui64>
    %12 = stablehlo.multiply %11, %9 : tensor<?xui64>
    %13 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %c_1, %13, dims = [] : (tensor<ui64>, tensor<1xi32>) -> tensor<?xui64>
    %15 = stablehlo.shift_right_logical %12, %14 : tensor<?xui64>
    %16 = stablehlo.convert %12 : (tensor<?xui64>) -> tensor<?xui32>
    %17 = stablehlo.convert %15 : (tensor<?xui64>) -> tensor<?xui32>
    %18:2 = call @threefry2x32(%arg0, %5, %7, %17, %16) : (tensor<i32>, tensor<ui32>, tensor<ui32>, tensor<?xui32>, tensor<?xui32>) -> (tensor<?xui32>, tensor<?xui32>)
    %19 = stablehlo.xor %18#0, %18#1 : tensor<?xui32>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %c_0, %20, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %22 = stablehlo.shift_right_logical %19, %21 : tensor<?xui32>
    %23 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %c, %23, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %25 = stablehlo.or %22, %24 : tensor<?xui32>
    %26 = stablehlo.bitcast_convert %25 : (tensor<?xui32>) -> tensor<?xf32>
    %27 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.dynamic_broadcast_in_dim %cst, %27, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %29 = stablehlo.subtract %26, %28 : tensor<?xf32>
    %30 = stablehlo.subtract %3, %2 : tensor<1xf32>
    %31 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.dynamic_broadcast_in_dim %30, %31, dims = [0] : (tensor<1xf32>, tensor<1xi32>) -> tensor<?xf32>
    %33 = stablehlo.multiply %29, %32 : tensor<?xf32>
    %34 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %2, %34, dims = [0] : (tensor<1xf32>, tensor<1xi32>) -> tensor<?xf32>
    %36 = stablehlo.add %33, %35 : tensor<?xf32>
    %37 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %38 = stablehlo.dynamic_broadcast_in_dim %2, %37, dims = [0] : (tensor<1xf32>, tensor<1xi32>) -> tensor<?xf32>
    %39 = stablehlo.maximum %38, %36 : tensor<?xf32>
    return %39 : tensor<?xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<i32>, %arg1: tensor<ui32>, %arg2: tensor<ui32>, %arg3: tensor<?xui32>, %arg4: tensor<?xui32>) -> (tensor<?xui32>, tensor<?xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<466688986> : tensor<ui32>
    %c_3 = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_4 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg1, %arg2 : tensor<ui32>
    %1 = stablehlo.xor %0, %c_2 : tensor<ui32>
    %2 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %arg1, %2, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %4 = stablehlo.add %arg3, %3 : tensor<?xui32>
    %5 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %arg2, %5, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %7 = stablehlo.add %arg4, %6 : tensor<?xui32>
    %8:9 = stablehlo.while(%iterArg = %c_1, %iterArg_5 = %c_1, %iterArg_6 = %4, %iterArg_7 = %7, %iterArg_8 = %arg2, %iterArg_9 = %1, %iterArg_10 = %arg1, %iterArg_11 = %c_3, %iterArg_12 = %c_4) : tensor<i32>, tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %9 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9:8 = func.call @closed_call(%arg0, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12) : (tensor<i32>, tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %10 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %10, %9#0, %9#1, %9#2, %9#3, %9#4, %9#5, %9#6, %9#7 : tensor<i32>, tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %8#2, %8#3 : tensor<?xui32>, tensor<?xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32> {jax.global_constant = "b"}, %arg1: tensor<i32>, %arg2: tensor<?xui32>, %arg3: tensor<?xui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<ui32>, %arg7: tensor<4xui32>, %arg8: tensor<4xui32>) -> (tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %1 = stablehlo.slice %arg7 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg2, %arg3 : tensor<?xui32>
    %4 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %2, %4, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %6 = stablehlo.shift_left %arg3, %5 : tensor<?xui32>
    %7 = stablehlo.subtract %c, %2 : tensor<ui32>
    %8 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %7, %8, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %10 = stablehlo.shift_right_logical %arg3, %9 : tensor<?xui32>
    %11 = stablehlo.or %6, %10 : tensor<?xui32>
    %12 = stablehlo.xor %3, %11 : tensor<?xui32>
    %13 = stablehlo.slice %arg7 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %14 = stablehlo.reshape %13 : (tensor<1xui32>) -> tensor<ui32>
    %15 = stablehlo.add %3, %12 : tensor<?xui32>
    %16 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %14, %16, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %18 = stablehlo.shift_left %12, %17 : tensor<?xui32>
    %19 = stablehlo.subtract %c, %14 : tensor<ui32>
    %20 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %19, %20, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %22 = stablehlo.shift_right_logical %12, %21 : tensor<?xui32>
    %23 = stablehlo.or %18, %22 : tensor<?xui32>
    %24 = stablehlo.xor %15, %23 : tensor<?xui32>
    %25 = stablehlo.slice %arg7 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %26 = stablehlo.reshape %25 : (tensor<1xui32>) -> tensor<ui32>
    %27 = stablehlo.add %15, %24 : tensor<?xui32>
    %28 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %29 = stablehlo.dynamic_broadcast_in_dim %26, %28, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %30 = stablehlo.shift_left %24, %29 : tensor<?xui32>
    %31 = stablehlo.subtract %c, %26 : tensor<ui32>
    %32 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %33 = stablehlo.dynamic_broadcast_in_dim %31, %32, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %34 = stablehlo.shift_right_logical %24, %33 : tensor<?xui32>
    %35 = stablehlo.or %30, %34 : tensor<?xui32>
    %36 = stablehlo.xor %27, %35 : tensor<?xui32>
    %37 = stablehlo.slice %arg7 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %38 = stablehlo.reshape %37 : (tensor<1xui32>) -> tensor<ui32>
    %39 = stablehlo.add %27, %36 : tensor<?xui32>
    %40 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %41 = stablehlo.dynamic_broadcast_in_dim %38, %40, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %42 = stablehlo.shift_left %36, %41 : tensor<?xui32>
    %43 = stablehlo.subtract %c, %38 : tensor<ui32>
    %44 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %43, %44, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %46 = stablehlo.shift_right_logical %36, %45 : tensor<?xui32>
    %47 = stablehlo.or %42, %46 : tensor<?xui32>
    %48 = stablehlo.xor %39, %47 : tensor<?xui32>
    %49 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.dynamic_broadcast_in_dim %arg4, %49, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %51 = stablehlo.add %39, %50 : tensor<?xui32>
    %52 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %53 = stablehlo.dynamic_broadcast_in_dim %arg5, %52, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %54 = stablehlo.add %48, %53 : tensor<?xui32>
    %55 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %56 = stablehlo.convert %55 : (tensor<i32>) -> tensor<ui32>
    %57 = stablehlo.reshape %arg0 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.dynamic_broadcast_in_dim %56, %57, dims = [] : (tensor<ui32>, tensor<1xi32>) -> tensor<?xui32>
    %59 = stablehlo.add %54, %58 : tensor<?xui32>
    return %0, %51, %59, %arg5, %arg6, %arg4, %arg8, %arg7 : tensor<i32>, tensor<?xui32>, tensor<?xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
}
