# What .placements prints, in every release.
tessera show 4,4 '(Shard(dim=0), Replicate())' --mesh dp=2,tp=2
tessera spec convert '(Shard(dim=0), Replicate())' --mesh dp=2,tp=2 --rank 2 --to short; tessera spec convert 'dp, _' --mesh dp=2,tp=2 --rank 2 --to torch
tessera spec convert 'placements=(Shard(dim=0), Partial(sum))' --mesh dp=2,tp=2 --rank 2 --to short
tessera spec convert '(torch.distributed.tensor.placement_types.Shard(dim=1), torch.distributed.tensor.Replicate())' --mesh dp=2,tp=2 --rank 2 --to short
tessera redistribute --from '(Shard(dim=0),)' --to 'S(1)' -s 4,4 -m '(x=2)' | head -2

# A DTensor: its mesh is used where no other is given.
tessera show 4,4 $'DTensor(local_tensor=tensor([[0., 1., 2., 3.],\n        [4., 5., 6., 7.]]), device_mesh=DeviceMesh([[0, 2], [1, 3]], mesh_dim_names=(\'dp\', \'tp\')), placements=(Shard(dim=0), Replicate()))'
tessera show 4,4 "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1)), placements=(Shard(dim=0), Replicate()))" --device 2
tessera show 4,4 "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh((dp=2, tp=2), device: 'cpu', stride: (2, 1)), placements=(Shard(dim=0), Replicate()))" --mesh dp=2,tp=2 --device 2
tessera show 4,4 "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1)), placements=(Shard(dim=0), Replicate()))" -t cpu:2x2 --device 2

# Its spec, as a value and as a string, which have the shape too.
tessera spec parse 'DTensorSpec(mesh=DeviceMesh((dp=2, tp=4), device: "cpu", stride: (4, 1)), placements=(Shard(dim=0), Shard(dim=0)), tensor_meta=TensorMeta(shape=torch.Size([16, 4]), stride=(4, 1), dtype=torch.float32))'
tessera spec parse 'Spec((Shard(dim=0), Replicate()) on (8, 8))' --mesh dp=2,tp=2
tessera spec convert 'Spec(f32[8, 8](S(0)R))' --mesh dp=2,tp=2 --to jax
tessera spec convert 'Spec(f32[9, 8](S(0)[1]S(0)[0]))' --mesh dp=2,tp=2 --to short
tessera spec convert 'S(0)R' --mesh dp=2,tp=2 --rank 2 --to jax
tessera spec convert R --mesh dp=2 --rank 2 --to jax --from dtensor
tessera show 4,4 R --mesh dp=2 --from dtensor | head -1
tessera show 4,4 R --mesh R=2 | head -1

# Meshes.
tessera mesh "DeviceMesh('cuda', [[3, 1], [0, 2]], mesh_dim_names=('a', 'b'))" --text
tessera mesh "DeviceMesh([[0, 1], [2, 3]])" --text
tessera mesh "DeviceMesh((dp=2), device: 'cuda', stride: (4,))" --text
tessera mesh "DeviceMesh((dp=2, tp=4), 'cuda', stride=(4, 1))" --text
tessera mesh '(dp=2, tp=2)' --text

# FSDP2 over TP: TP cuts first, for every size.
tessera show 50257,8 '[_StridedShard(dim=0, sf=2), Shard(dim=0)]' -m dp=4,tp=2 -p uneven | tail -9
tessera show 6,2 '(_StridedShard(dim=0, sf=4), Shard(dim=0), Shard(dim=0))' -m dp=2,ep=2,tp=2 -p uneven | tail -9
tessera spec convert '(_StridedShard(dim=0, sf=2), Shard(dim=0))' -m dp=4,tp=2 --rank 2 --to short
tessera spec convert 'tp;dp' -m dp=4,tp=2 --rank 2 --to dtensor
tessera spec convert 'dp | unreduced=max(tp)' -m dp=4,tp=2 --rank 2 --to dtensor

# Mistakes.
tessera show 8,9 'Spec(f32[8, 8](S(0)R))' --mesh dp=2,tp=2
tessera show 8,8 "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1)), placements=(Shard(dim=0), Replicate()))" --mesh dp=2,tp=4
tessera show 8,8 "DTensor(local_tensor=tensor([0.]), device_mesh=DeviceMesh([[0, 2], [1, 3]], mesh_dim_names=('dp', 'tp')), placements=(Shard(dim=0), Replicate()))" --mesh dp=2,tp=2
tessera show 8,8 '(Shard(dim=0), Replicate())'
tessera spec parse 'S(0)R' --mesh dp=2,tp=2
tessera spec parse '(_StridedShard(dim=0, sf=3), Shard(dim=0))' -m dp=4,tp=2 --shape 24
tessera spec parse '(_StridedShard(dim=0, sf=3), Shard(dim=0))' -m dp=4,tp=2 --rank 1
tessera spec parse 'S(0)P(avg)' -m dp=4,tp=2 --rank 1
tessera mesh "DeviceMesh((ac=4), 'cuda', stride=((4, 1),))"
tessera show 8,8 x --mesh x=2 --from numpy
