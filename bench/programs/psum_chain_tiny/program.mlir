module @jit_psum_chain_tiny attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=8]> {stablehlo.mesh = {axes = [{name = "x", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x64xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<1x64xf32>) {
      %1 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %3 = stablehlo.multiply %1, %2 : tensor<1x64xf32>
      %4 = stablehlo.add %3, %arg1 : tensor<1x64xf32>
      %5 = stablehlo.tanh %4 : tensor<1x64xf32>
      %6 = "stablehlo.all_reduce"(%5) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_0 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %8 = stablehlo.multiply %6, %7 : tensor<1x64xf32>
      %9 = stablehlo.add %8, %arg1 : tensor<1x64xf32>
      %10 = stablehlo.tanh %9 : tensor<1x64xf32>
      %11 = "stablehlo.all_reduce"(%10) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_1 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %13 = stablehlo.multiply %11, %12 : tensor<1x64xf32>
      %14 = stablehlo.add %13, %arg1 : tensor<1x64xf32>
      %15 = stablehlo.tanh %14 : tensor<1x64xf32>
      %16 = "stablehlo.all_reduce"(%15) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_2 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %18 = stablehlo.multiply %16, %17 : tensor<1x64xf32>
      %19 = stablehlo.add %18, %arg1 : tensor<1x64xf32>
      %20 = stablehlo.tanh %19 : tensor<1x64xf32>
      %21 = "stablehlo.all_reduce"(%20) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_3 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %23 = stablehlo.multiply %21, %22 : tensor<1x64xf32>
      %24 = stablehlo.add %23, %arg1 : tensor<1x64xf32>
      %25 = stablehlo.tanh %24 : tensor<1x64xf32>
      %26 = "stablehlo.all_reduce"(%25) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_4 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %28 = stablehlo.multiply %26, %27 : tensor<1x64xf32>
      %29 = stablehlo.add %28, %arg1 : tensor<1x64xf32>
      %30 = stablehlo.tanh %29 : tensor<1x64xf32>
      %31 = "stablehlo.all_reduce"(%30) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_5 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %32 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %33 = stablehlo.multiply %31, %32 : tensor<1x64xf32>
      %34 = stablehlo.add %33, %arg1 : tensor<1x64xf32>
      %35 = stablehlo.tanh %34 : tensor<1x64xf32>
      %36 = "stablehlo.all_reduce"(%35) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_6 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %37 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %38 = stablehlo.multiply %36, %37 : tensor<1x64xf32>
      %39 = stablehlo.add %38, %arg1 : tensor<1x64xf32>
      %40 = stablehlo.tanh %39 : tensor<1x64xf32>
      %41 = "stablehlo.all_reduce"(%40) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_7 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %42 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %43 = stablehlo.multiply %41, %42 : tensor<1x64xf32>
      %44 = stablehlo.add %43, %arg1 : tensor<1x64xf32>
      %45 = stablehlo.tanh %44 : tensor<1x64xf32>
      %46 = "stablehlo.all_reduce"(%45) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %51 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %51 : tensor<f32>
      }) : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %cst_8 = stablehlo.constant dense<1.250000e-01> : tensor<f32>
      %47 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<1x64xf32>
      %48 = stablehlo.multiply %46, %47 : tensor<1x64xf32>
      %49 = stablehlo.add %48, %arg1 : tensor<1x64xf32>
      %50 = stablehlo.tanh %49 : tensor<1x64xf32>
      sdy.return %50 : tensor<1x64xf32>
    } : (tensor<8x64xf32>) -> tensor<8x64xf32>
    return %0 : tensor<8x64xf32>
  }
}
