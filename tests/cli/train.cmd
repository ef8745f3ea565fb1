# A training step of GPT-2 that JAX exported, on 8 devices: half of it on one mesh, half on another.
cp -r $DATA/../programs/gpt2_train_step_sgd gpt2; cp -r $DATA/../programs/add_sharded add; ls
tessera train gpt2 --steps 25 --save half
tessera inspect half --group | head -12
tessera train gpt2 -n 25 --load half --mesh data=4,model=2 | tail -3
tessera train gpt2 -n 50 | tail -1

# The state from the checkpoint, the batch from a file; one number for each step.
tessera train gpt2/program.mlir -n 2 --load half -i gpt2/inputs.safetensors --mesh data=2,model=1 --json | sed -E 's/(0[.][0-9]{3})[0-9]*/\1/'
# Bytecode has the names of the arguments; a checkpoint is read by them.
tessera train gpt2/program.mlirbc -n 1 -i gpt2/inputs.safetensors --save named | tail -1; tessera inspect named | grep wte; tessera train gpt2/program.mlirbc -n 1 -i gpt2/inputs.safetensors --load half
tessera train gpt2/program.mlir -n 1 --random 1 --report | cut -d' ' -f1 | head -6

# What is refused.
tessera train gpt2 --save half -n 1
tessera train gpt2 --mesh data=2
tessera train gpt2 --mesh data=3,model=2
tessera train gpt2/program.mlir
tessera train gpt2/program.mlir --load half
tessera train gpt2 --load add
tessera train add -n 2 --save nothing
tessera train gpt2 --random 1 --inputs gpt2/inputs.safetensors
tessera train gpt2 --max-memory 1K 2>&1 | head -1 | sed -E "s/[0-9]+ bytes.*/N bytes/"
printf 'func.func @main(%%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %%x : tensor<2xf32>\n}\n' > plain.mlir; tessera train plain.mlir --random 1; tessera train plain.mlir --random 1 --mesh x=2 -n 1
