# Shardings of programs: propagated, explained, asked what a constraint would change.
for p in mlp_megatron_fwd_bwd matmul_conflict_free_dims scan_layers_grad shard_map_tp_mlp_grad mesh_two_meshes; do cp $DATA/../programs/$p/program.mlirbc ${p%%_*}.mlirbc; done; cp $DATA/../programs/exported_unsharded_named_donated/exported.bin sgd.bin; ls
tessera propagate mlp.mlirbc
tessera propagate scan.mlirbc
tessera propagate matmul.mlirbc --all
tessera propagate matmul.mlirbc --mlir
tessera opt --sdy-propagation-pipeline mlp.mlirbc > a.mlir; tessera propagate mlp.mlirbc -o b.mlir; tessera propagate mlp.mlirbc --mlir | diff - a.mlir && cmp a.mlir b.mlir && echo the same
tessera propagate matmul.mlirbc --json
tessera propagate matmul.mlirbc --json --all | tail -9
tessera propagate - --mesh data=64,model=64 < mlp.mlirbc | tail -2
tessera propagate mlp.mlirbc --mesh data=1000,model=100 | tail -2
tessera propagate matmul.mlirbc --strategy basic | tail -3
tessera propagate $DATA/../programs/mlp_gspmd_annotations/program.mlir | tail -3

# Plans and rules for the arguments, by name.
printf 'w$ -> _, model\nb$ -> model\n^batch/ -> data\n.* -> ()\n' > my.rules
tessera plan sgd.bin --mesh data=2,model=3 --rules my.rules
tessera plan sgd.bin --mesh data=2,model=3 --rules my.rules --json -o plan.json; tessera propagate sgd.bin --plan plan.json
tessera propagate sgd.bin --mesh data=2,model=3 --rules my.rules --json | tail -8
tessera propagate sgd.bin --mesh data=2,model=3 --auto | head -7
tessera plan mlp.mlirbc; tessera plan mlp.mlirbc --json | head -20
printf '{"tensors": [{"path": "w", "dtype": "f32", "shape": [4, 3]}, {"path": "other", "dtype": "f32", "shape": [4]}]}' > part.json; tessera plan part.json --mesh data=2,model=3 --rules my.rules --json -o part-plan.json 2>/dev/null; tessera propagate sgd.bin --plan part-plan.json | tail -4
tessera explain sgd.bin "result[0]['w']" --plan plan.json

# Why.
tessera explain mlp.mlirbc %22
tessera explain mlp.mlirbc "p['w1']" --dim 1; tessera explain mlp.mlirbc p/w1 --dim 1 | head -2
tessera explain mlp.mlirbc 'jvp()/tanh' --dim 1
tessera explain matmul.mlirbc %0
tessera explain scan.mlirbc %2#2
tessera explain scan.mlirbc @closed_call:%0
tessera explain shard.mlirbc %1 -d 0
tessera explain matmul.mlirbc out0 --json
tessera explain matmul.mlirbc %0 --if '%0=_, y'
tessera explain matmul.mlirbc %0 --if '%arg0=_, _' --if '%arg1=x, y' --json --dim 1

# What is wrong.
tessera explain mlp.mlirbc %222
tessera explain mlp.mlirbc out9; tessera explain mlp.mlirbc "p['w3']"; tessera explain mlp.mlirbc @mian:%0; tessera explain mlp.mlirbc 'jvp()/dot_general'
tessera explain mlp.mlirbc %22 --dim 2
tessera explain mlp.mlirbc %22 --if '%22=dta, _'; tessera explain mlp.mlirbc %22 --if '%22=data, _, _'; tessera explain mlp.mlirbc %22 --if %22
tessera explain plan.json params/w --dim 1
tessera explain plan.json params/w | head -3
tessera propagate mlp.mlirbc --mesh dta=2,model=4
tessera propagate shard.mlirbc --mesh data=4,model=8 2>&1 | head -1
tessera propagate mesh.mlirbc --mesh a=2
tessera propagate mlp.mlirbc --plan plan.json
tessera propagate sgd.bin --rules my.rules
tessera propagate sgd.bin --plan plan.json --rules my.rules
tessera propagate sgd.bin --min-size 4
tessera propagate mlp.mlirbc --mlir --json
tessera propagate plan.json

# What a report suggests can be asked as it is; a folder of `tessera run` is a program; a number is no name.
tessera explain $DATA/../programs/mlp_megatron_fwd_bwd %38 --if '%38=[{"data"}, {"model"}]' | tail -5
tessera explain $DATA/../programs/mlp_megatron_fwd_bwd 38
tessera cost $DATA/../programs/flax_transformer_logical_rules --topology gpu:1x8 | grep ^time
