# Programs: MLIR text, portable artifacts and files of jax.export. What they hold.
for p in donated_sgd_update cond_switch captured_constants; do cp $DATA/../programs/$p/program.mlir $p.mlir; cp $DATA/../programs/$p/program.mlirbc $p.mlirbc; done; cp $DATA/../programs/exported_sharded_2x4_donated/exported.bin step.bin; ls
tessera inspect donated_sgd_update.mlir
tessera inspect donated_sgd_update.mlirbc | head -3
tessera inspect step.bin
tessera inspect captured_constants.mlir
tessera inspect cond_switch.mlir --full | tail -31
tessera inspect captured_constants.mlir --function _where
cat donated_sgd_update.mlir | tessera inspect - | head -2
# The same as data.
tessera inspect step.bin --json
tessera inspect captured_constants.mlirbc --json --function _where | tail -12
tessera inspect captured_constants.mlirbc --json | tail -14
# Functions that are only declared, names that are no plain text, and a program without functions.
printf 'module @"a\\1B[2J" { func.func private @"x\\1B[31m"(tensor<?x4xf32>) -> (tensor<2xf32>) }' > odd.mlir; tessera inspect odd.mlir; tessera inspect odd.mlir --json | grep -a '"module"\|"name"\|shape'
echo 'module {}' | tessera inspect -; echo 'module {}' | tessera inspect - --json
# Options that do not fit, and functions that are not there.
tessera inspect donated_sgd_update.mlir --function mian
tessera inspect donated_sgd_update.mlir --function frobnicate
tessera inspect donated_sgd_update.mlir --json --function mian
tessera inspect donated_sgd_update.mlir --stats
tessera inspect step.bin -t w --json
printf '{}' > x.json; tessera inspect x.json --function main

# Passes, as a list, as options, and with options of their own.
printf 'func.func @main(%%a: tensor<2xf32>) -> tensor<2xf32> {\n  %%0 = call @twice(%%a) : (tensor<2xf32>) -> tensor<2xf32>\n  %%1 = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf32>\n  %%2 = stablehlo.add %%1, %%1 : tensor<2xf32>\n  %%3 = stablehlo.multiply %%0, %%2 : tensor<2xf32> loc("mul"("model.py":7:3))\n  return %%3 : tensor<2xf32>\n}\nfunc.func private @twice(%%x: tensor<2xf32>) -> tensor<2xf32> {\n  %%0 = stablehlo.add %%x, %%x : tensor<2xf32>\n  return %%0 : tensor<2xf32>\n}\n' > sum.mlir
tessera opt sum.mlir
tessera opt inline,fold,cse,dce sum.mlir
tessera opt --inline --fold --cse --dce sum.mlir -o small.mlir; cat small.mlir; tessera opt 'inline{all},fold{elements=64},cse,dce' sum.mlir | diff - small.mlir; tessera opt --inline=all --fold=elements=64 --cse --dce - < sum.mlir | diff - small.mlir
tessera opt fold{elements=1},dce sum.mlir | grep -c add
# Reshards and all-reduces where shardings do not fit together.
printf 'sdy.mesh @mesh = <["x"=2, "y"=4]>\nfunc.func @main(%%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %%b: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> tensor<8x8xf32> {\n  %%0 = stablehlo.dot %%a, %%b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>\n  return %%0 : tensor<8x8xf32>\n}\n' > product.mlir; tessera opt --sdy-insert-explicit-reshards=enable-full-version=true product.mlir
tessera opt --sdy-verify-unreduced-axes --sdy-insert-explicit-reshards product.mlir | diff - <(tessera opt product.mlir)
# How it is printed.
tessera opt sum.mlir --generic | head -7
tessera opt sum.mlir --locations | grep loc
tessera opt sum.mlir --elide 1 | grep dense
tessera opt captured_constants.mlir --elide 16 | grep dense
# Several programs in one file; those that fail leave their place empty.
printf 'func.func @a() { return }\n// -----\nfunc.func @b() {\n  retrun\n}\n// -----\nfunc.func @c() { return }\n// ----- the end\nfunc.func @d(' > several.mlir; tessera opt several.mlir --split-input-file
tessera opt several.mlir
# What is refused.
tessera opt frobnicate sum.mlir
tessera opt inline,flod sum.mlir
tessera opt inline,,fold sum.mlir
tessera opt 'fold{elements=many}' sum.mlir
tessera opt 'fold{size=4}' sum.mlir
tessera opt 'fold{elements=4' sum.mlir
tessera opt inline sum.mlir --fold
tessera opt --elide=-3 sum.mlir
tessera opt nowhere.mlir
tessera opt
tessera opt --flod sum.mlir
# Programs with mistakes: each is shown, with its line.
printf 'func.func @main(%%a: tensor<2xf32>, %%b: tensor<3xf32>) -> tensor<2xf32> {\n  %%0 = stablehlo.add %%a, %%c : tensor<2xf32>\n  %%1 = stablehlo.ad %%a, %%a : tensor<2xf32>\n  %%2 = stablehlo.multiply %%a %%a : tensor<2xf32>\n  return %%0 : tensor<2xf32>\n}\n' > wrong.mlir; tessera opt wrong.mlir
printf 'func.func @main(%%a: tensor<2x3xf32>, %%b: tensor<3xf32>) -> tensor<2xf32> {\n  %%0 = stablehlo.transpose %%a, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n  %%1 = stablehlo.reshape %%a : (tensor<2x3xf32>) -> tensor<5xf32>\n  %%2 = stablehlo.dot_general %%a, %%b, contracting_dims = [0] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>\n  return %%b : tensor<3xf32>\n}\n' > untrue.mlir; tessera opt untrue.mlir
head -c 300 step.bin > cut.bin; tessera opt cut.bin; head -c 500 donated_sgd_update.mlirbc > cut.mlirbc; tessera opt cut.mlirbc; printf 'ML\357R' | tessera opt -; tessera opt /dev/null; tessera inspect cut.mlirbc

# From text to artifact and back.
tessera translate sum.mlir sum.mlirbc && tessera translate sum.mlirbc back.mlir && tessera opt sum.mlir | diff - back.mlir; head -c 4 sum.mlirbc | od -An -tx1
tessera translate sum.mlirbc --locations | grep 'model.py'
tessera translate sum.mlir sum.old --version 1.9.0; tessera translate sum.old | diff - back.mlir; grep -ac 'StableHLO_v1.9.0' sum.old
tessera translate step.bin step.mlirbc; tessera translate step.bin | diff - <(tessera translate step.mlirbc)
tessera translate sum.mlir --generic --to text | head -2; tessera translate sum.mlir text --to text; cmp text back.mlir; cat sum.mlir | tessera translate - - | diff - back.mlir
tessera translate untrue.mlir --unchecked | head -3; tessera translate untrue.mlir 2>&1 | head -1
# What is refused.
tessera translate sum.mlir x.mlirbc --version 9.0.0
tessera translate sum.mlir x.mlirbc --version 0.1.0
tessera translate sum.mlir x.mlirbc --version newest
tessera translate sum.mlir --version 1.9.0
tessera translate sum.mlir x.mlirbc --generic
tessera translate sum.mlir x.mlirbc --locations
tessera translate sum.mlir --to artifact
tessera translate sum.mlir x.mlir --to artifact
tessera translate sum.mlir x.mlirbc --to bytecode
tessera translate sum.mlir nowhere/x.mlirbc 2>&1 | sed 's/[0-9]*.part/N.part/'
tessera translate nowhere.mlir x.mlirbc; ls x.* 2>/dev/null
printf '#loc = loc("x")\nmodule { func.func @f(%%a: tensor<2xf32>) -> tensor<2xf32> {\n %%0 = "my.op"(%%a) : (tensor<2xf32>) -> tensor<2xf32>\n return %%0 : tensor<2xf32> } }' | tessera translate - x.mlirbc

# What there is for each op.
tessera ops | sed -n '1,8p;/chlo.top_k/p;/sdy.mesh/p;/all_reduce/p;/while/p'
tessera ops --json | sed -n 1,5p; tessera ops --json | tail -3
tessera ops | awk 'NR > 1 {n++; for (i = 2; i <= 5; i++) has[i] += $i == "yes"} END {print n, has[2], has[3], has[4], has[5]}'
tessera ops x
tessera help opt
tessera help translate
# Sizes that were unknown at export are filled in from the shapes of the arguments.
printf 'func.func public @main(%%x: tensor<?x4xf32>, %%y: tensor<?xf32>) -> tensor<?x4xf32> {\n  %%0 = stablehlo.add %%x, %%x : tensor<?x4xf32>\n  return %%0 : tensor<?x4xf32>\n}\n' > poly.mlir; tessera opt poly.mlir --shapes '8,4;8'
tessera opt poly.mlir --shapes '8,5;8'
tessera opt poly.mlir --shapes '8,4'
tessera opt poly.mlir --shapes '8,4;x'
