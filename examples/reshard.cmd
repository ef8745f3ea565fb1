reshard
