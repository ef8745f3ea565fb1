train_step $DATA/gpt2_step.bin $DATA/gpt2_start.safetensors
