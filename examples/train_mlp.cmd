train_mlp $DATA/xor_step.bin
