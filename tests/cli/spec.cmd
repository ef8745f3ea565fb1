tessera spec parse "P('data', None, ('fsdp', 'tp'))"
tessera spec parse "P('data', ('fsdp', 'tp'))" --mesh data=2,fsdp=2,tp=2
tessera spec parse 'tp/cyclic(64), dp;tp'
tessera spec normalise 'one+x, _, y' --mesh one=1,x=2,y=2
tessera spec normalise 'x:(1)2+x:(2)2' --mesh x=4 --to shardy

# Translations, proved on the device map.
tessera spec convert '{devices=[2,1,4]<=[8]}' --mesh dp=2,tp=4 --to jax
tessera spec convert '{devices=[4,2]<=[2,4]T(1,0)}' --mesh dp=2,tp=4 --to short
tessera spec convert '{devices=[2,4]0,2,1,3,4,6,5,7}' --mesh dp=2,tp=4 --to short
tessera spec convert '[Shard(0), Replicate()]' --mesh dp=2,tp=4 --shape 8,8 --to xla
tessera spec convert '[Shard(0), Shard(0)]' --mesh dp=2,tp=4 --rank 2 --to short
tessera spec convert '[Shard(0), Shard(0)]' --mesh dp=2,tp=4 --shape 8,8 --to jax
tessera spec convert '[Shard(0), Shard(0)]' --mesh dp=2,tp=4 --rank 1 --to jax
tessera spec convert 'dp+tp' --mesh dp=2,tp=4 --to dtensor --shape 16
tessera spec convert 'tp/cyclic(64)' --mesh tp=4 --to xla

tessera spec compare 'dp+tp' 'dp;tp' --mesh dp=2,tp=4 --shape 8
tessera spec compare 'dp+tp' 'dp;tp' --mesh dp=2,tp=4 --shape 10
tessera spec compare 'x' 'y' --mesh x=2,y=2
tessera spec compare 'x+one' 'x' --mesh one=1,x=2

# The spec is data, the reasons are talk.
tessera spec correct 'data, fsdp+tp' --mesh data=2,tp=4 --shape 8,10
tessera spec correct 'data, tp, x' --mesh data=2,tp=4 --shape 8,10 --json
tessera spec correct 'data, tp' --mesh data=2,tp=4 --shape 8,10 --strict
tessera spec correct 'fsdp+data' --mesh data=2,tp=4 --shape 8 --keep-members

# Mistakes.
tessera spec parse 'data,,x'
tessera spec parse "P('data'"
tessera spec parse '#sdy.sharding<@mesh, [{"x"]>'
tessera spec convert 'data' --mesh data=2
tessera spec convert '{devices=[2,3]<=[6]}' --mesh x=2,y=2 --to jax
tessera spec convert '{devices=[2,1]<=[8]}' --mesh x=2,y=4 --to jax
tessera spec convert '[Shard(0)]' --mesh x=2,y=2 --rank 1 --to jax
tessera spec frobnicate x
tessera spec compare x --mesh x=2
tessera spec correct x --mesh x=2

# Answers as data.
tessera spec parse "P('data', ('fsdp', 'tp'))" --mesh data=2,fsdp=2,tp=2 --json
tessera spec compare 'dp+tp' 'dp;tp' --mesh dp=2,tp=4 --json
tessera spec convert x --mesh x=2 --rank 2 --shape 8 --to xla
tessera spec compare x x --mesh 'x=4611686018427387904 abstract' --shape 8
