run_export $DATA/xor.bin
