propagate $DATA/xor_step.bin data=2,model=4 $'params/b1 -> model\nparams/w1 -> _, model\nparams/w2 -> model\n^(x|y)$ -> data\n.* -> ()' "result[1]['w1']"
propagate $DATA/xor_step.bin data=2,model=4 $'.* -> ()' %999
