# Which part of a tensor each process holds.
tessera chunks gpu:4x8 --mesh data=8,model=4 --shape 64,512 --spec 'data, model'
tessera chunks gpu:4x2 --mesh data=2,model=4 --shape 64,512 --spec "P('data', None)"
tessera chunks gpu:4x2 --mesh data=2,model=4 --process 2
tessera chunks tpu-v4:4x4x2 --partitions 4 --shape 1024,4096 --spec '_, model' --process all
tessera chunks tpu-v4:2x2x2:slices=2 --ici 1,2,4 --dcn 2,1,1
tessera chunks gpu:2x2 -m data=4 -s 12 --spec data --json

# A tail that does not divide belongs to nobody in t5x; what the devices really hold tiles it.
tessera chunks gpu:4x1 -m data=4 -s 10 --spec data
tessera chunks gpu:4x1 -m data=4 -s 10 --spec data --uneven
tessera chunks gpu:4x1 -m data=4 -s 10 --spec data --strict
tessera chunks gpu:4x1 -m replica=2,data=2 -s 16,3 --spec 'replica+data'
tessera chunks gpu:4x1 -m replica=2,data=2 -s 16,3 --spec 'replica+data' --tuples

# Mistakes.
tessera chunks
tessera chunks gpu:4x1
tessera chunks gpu:4x1 -m data=4 --partitions 2
tessera chunks gpu:4x1 -m data=4 -s 10
tessera chunks gpu:4x1 -m data=4 --uneven
tessera chunks gpu:4x1 -m data=4 -s 10 --spec dta
tessera chunks gpu:4x1 -m data=2 --process 3
tessera chunks gpu:4x1 -m data=4 --process -1
tessera chunks gpu:4x1 -m data=4 --process first
tessera chunks gpu:2x2 -m 'a=2,b=2 devices=[0,2,3,1]'
tessera chunks gpu:4x4 --ici 1,2,2
tessera chunks none.json -m data=4

tessera chunks --help
