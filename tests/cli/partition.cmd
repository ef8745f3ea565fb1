# A transform needs its dimension whole: it is gathered, and reported.
printf 'sdy.mesh @mesh = <["x"=2, "y"=2]>\nfunc.func @main(%%a: tensor<8xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<8xcomplex<f32>> {\n  %%0 = stablehlo.fft %%a, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>\n  return %%0 : tensor<8xcomplex<f32>>\n}\n' > wave.mlir
tessera partition wave.mlir --report
tessera partition wave.mlir --report --json
tessera run wave.mlir --random 1 --report
tessera run wave.mlir --random 1 --report --json | grep -A1 '"fallbacks"\|"collectives"'
tessera partition $DATA/../programs/scan_layers_grad/program.mlir --report
tessera partition $DATA/../programs/matmul_rows/program.mlir --report
# Mistakes.
tessera partition wave.mlir --json
tessera partition wave.mlir --report --lanes
tessera run wave.mlir --random 1 --single --report
