# A transform needs its dimension whole: it is gathered, and reported.
printf 'sdy.mesh @mesh = <["x"=2, "y"=2]>\nfunc.func @main(%%a: tensor<8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<8xcomplex<f32>> {\n  %%0 = stablehlo.fft %%a, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>\n  return %%0 : tensor<8xcomplex<f32>>\n}\n' > wave.mlir
tessera partition wave.mlir --report
tessera partition wave.mlir --report --json
tessera run wave.mlir --random 1 --report
tessera run wave.mlir --random 1 --report --json | grep -A1 '"fallbacks"\|"collectives"'
tessera partition $DATA/../programs/conv_spatial_sharded/program.mlir --report
tessera partition $DATA/../programs/matmul_rows/program.mlir --report
tessera partition $DATA/../programs/mlp_gspmd_annotations/program.mlir --report  # shardings in the older form of XLA
# Another mesh with the same axes.
cp -r $DATA/../programs/matmul_rows rows; tessera partition rows/program.mlir --mesh x=2,y=2 | grep 'func.func' | cut -c1-80
tessera run rows --mesh x=4,y=1 --compare-single | sed 's/; largest.*//'
tessera run rows --mesh x=3 --compare-single; tessera partition wave.mlir --mesh z=2
tessera run rows --mesh x=2 --single
# Nothing to partition, and shardings that no mesh has in common.
printf 'func.func @main(%%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %%a : tensor<4xf32>\n}\n' > plain.mlir; tessera run plain.mlir --random 1 --report
printf 'module attributes {mhlo.num_partitions = 6 : i32} {\nfunc.func @main(%%a: tensor<6xf32> {mhlo.sharding = "{devices=[2,3]<=[6] last_tile_dim_replicate}"}, %%b: tensor<6xf32> {mhlo.sharding = "{devices=[3,2]<=[6] last_tile_dim_replicate}"}) -> tensor<6xf32> {\n  %%0 = stablehlo.add %%a, %%b : tensor<6xf32>\n  return %%0 : tensor<6xf32>\n}\n}\n' > both.mlir; tessera run both.mlir --random 1; tessera run both.mlir --random 1 --single | wc -l
# Mistakes.
tessera partition wave.mlir --json
tessera partition wave.mlir --report --lanes
tessera run wave.mlir --random 1 --single --report
