# Numbers of collectives and bytes depend on the passes that make them.
train_gpt2 $DATA/../tests/programs/gpt2_train_step_sgd/program.mlir $DATA/../tests/programs/gpt2_train_step_sgd/inputs.safetensors | sed -E 's/(runs|moves|needs) [0-9]+/\1 N/g'
