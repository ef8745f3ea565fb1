program $DATA/../tests/programs/add_sharded/program.mlirbc inline,fold
