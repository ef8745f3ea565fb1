# What a program costs before it runs: reshards with their causes, memory, time. No devices are needed.
for p in mlp_constraints_inside scan_layers_grad while_newton conv_spatial_sharded mlp_gspmd_annotations shard_map_psum; do cp $DATA/../programs/$p/program.mlir $p.mlir; done; cp $DATA/../programs/transformer_block_fwd_bwd/program_debug.mlir block.mlir; ls
tessera cost mlp_constraints_inside.mlir
tessera cost scan_layers_grad.mlir --topology gpu:1x8:h100 --top 2
tessera cost scan_layers_grad.mlir --topology gpu:1x8:h100 --top 1 --tflops 100 --bandwidth 1000 | tail -3
tessera cost block.mlir --top 1 | grep -A8 largest
tessera cost conv_spatial_sharded.mlir | grep -A6 largest
tessera cost shard_map_psum.mlir | grep -A4 largest
# A loop whose length is not in the program is said to be counted once.
tessera cost while_newton.mlir | grep note
# Any number of devices.
tessera cost block.mlir --mesh data=512,model=8 --topology tpu-v5p:16x16x16 --top 1
# As data.
tessera cost mlp_constraints_inside.mlir --json --top 1
# A page with the program as a graph: one file, nothing from outside.
tessera cost block.mlir --html page.html; head -c 15 page.html; grep -c 'src=\|href=' page.html; grep -o 'class="row" data-r="[0-9]*"' page.html | head -2
# What does not fit is refused.
tessera cost block.mlir --topology gpu:1x4:h100
tessera cost mlp_gspmd_annotations.mlir
tessera cost block.mlir --mesh data=2
tessera cost block.mlir --tflops 0
tessera cost nothing.mlir
