# Programs that run: on values of a file, random ones, and those of a case folder.
for p in donated_sgd_update add_sharded dtype_converts; do cp -r $DATA/../programs/$p $p; done; cp $DATA/../programs/exported_multi_platform/exported.bin many.bin; cp $DATA/../programs/exported_unsharded_named_donated/exported.bin step.bin; ls
tessera run add_sharded
tessera run --single add_sharded --bytecode
tessera run add_sharded/program.mlir --inputs add_sharded/inputs.safetensors
tessera run add_sharded/program.mlirbc -i add_sharded/inputs.safetensors -o out.safetensors --expect add_sharded/outputs.safetensors; tessera inspect out.safetensors
cat add_sharded/program.mlir | tessera run - --random 1
tessera run add_sharded/program.mlir --random 1 -w 1 -o one.safetensors && tessera run add_sharded/program.mlir --random 1 -w 5 --expect one.safetensors --rtol 0 --atol 0
tessera run add_sharded/program.mlir --random 2 --expect one.safetensors | sed 's/by at most .*//; s/; largest.*//'
tessera run dtype_converts/program.mlir -i dtype_converts/inputs.safetensors | head -8
tessera run many.bin --random 3 | head -1
tessera run step.bin --random 3 | cut -c1-28

# A result that differs is shown: which, where, what.
printf 'func.func @main(%%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {\n  %%0 = stablehlo.add %%x, %%x : tensor<2x3xf32>\n  %%1 = stablehlo.constant dense<7> : tensor<i32>\n  return %%0, %%1 : tensor<2x3xf32>, tensor<i32>\n}\n' > twice.mlir; sed 's/add %x, %x/multiply %x, %x/; s/<7>/<8>/' twice.mlir > square.mlir
tessera run twice.mlir --random 1 -o twice.safetensors; tessera run square.mlir --random 1 --expect twice.safetensors
tessera run square.mlir --random 1 --expect twice.safetensors --atol 100
tessera run square.mlir --random 1 -w 2 --expect twice.safetensors --json | grep -v compile_seconds

# Programs that check themselves need no inputs.
printf 'func.func @main() {\n  %%0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n  %%1 = stablehlo.add %%0, %%0 : tensor<2xi32>\n  check.expect_eq_const %%1, dense<[2, 4]> : tensor<2xi32>\n  return\n}\n' > right.mlir; sed 's/\[2, 4\]/[2, 5]/' right.mlir > wrong.mlir
tessera run right.mlir
tessera run wrong.mlir

# Times, a profile and its trace.
tessera run twice.mlir --random 1 -w 2 --time 3 | sed 's/[0-9.e+-]\+ \(s\|ms\|us\|ns\)\b/TIME/g; s/[0-9.e+-]\+ \(GFLOP\|GB\)/N \1/g'
tessera run twice.mlir --random 1 --time 2 --json | grep -c '"runs": 2\|median_seconds\|cpu_seconds'
tessera run twice.mlir --random 1 --profile=trace.json | sed -n 2p | tr -s ' '; python3 -c 'import json; t = json.load(open("trace.json")); print(t["displayTimeUnit"], {e["ph"] for e in t["traceEvents"]})'

# What is refused.
tessera run twice.mlir
tessera run twice.mlir --inputs twice.safetensors
tessera run twice.mlir --random 1 --inputs x.safetensors
tessera run twice.mlir --random many
tessera run twice.mlir --random 1 --rtol 0.1
tessera run twice.mlir --random 1 --expect twice.safetensors --rtol=-1
tessera run twice.mlir --bytecode --random 1
tessera run twice.mlir --random 1 --time 0
tessera run add_sharded/program.mlir --random 1 -w 2 --max-memory 100
tessera run nowhere.mlir
mkdir empty; tessera run empty
tessera run add_sharded --inputs nowhere.safetensors
printf 'func.func @main(%%t: !stablehlo.token) -> !stablehlo.token {\n  %%0:2 = "stablehlo.infeed"(%%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)\n  return %%0#1 : !stablehlo.token\n}\n' > feed.mlir; tessera run feed.mlir
printf 'func.func @main(%%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %%x : tensor<?xf32>\n}\n' > open.mlir; tessera run open.mlir --random 1
printf 'func.func @main(%%arg0: tensor<?x3xf32>) -> tensor<?x3xf32> {\n  %%0 = stablehlo.add %%arg0, %%arg0 : tensor<?x3xf32>\n  return %%0 : tensor<?x3xf32>\n}\n' > rows.mlir; tessera run rows.mlir --inputs add_sharded/inputs.safetensors; tessera run rows.mlir --inputs add_sharded/outputs.safetensors
# Tensors that no argument takes are warned of.
tessera run twice.mlir --inputs add_sharded/inputs.safetensors; printf 'func.func @main(%%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n  return %%arg0 : tensor<8x8xf32>\n}\n' > same.mlir; tessera run same.mlir --inputs add_sharded/inputs.safetensors | cut -c1-22
# Sizes that a program leaves open are those of its inputs.
sed -i 's/?x3/?x8/g' rows.mlir; tessera run rows.mlir --inputs add_sharded/inputs.safetensors | cut -c1-22
# Programs whose shardings name a mesh are partitioned.
tessera partition add_sharded/program.mlir; tessera partition add_sharded/program.mlir --lanes | grep -A2 'manual_computation\|@device_main('; tessera partition twice.mlir
tessera run add_sharded --compare-single | sed 's/; largest.*//'; tessera run add_sharded/program.mlir --random 1 --compare-single --single; tessera run add_sharded --compare-single --expect one.safetensors
