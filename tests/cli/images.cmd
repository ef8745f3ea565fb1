# The pictures in the documents are what the command draws.
tessera show 4096,1024 'data, model' --mesh data=2,model=4 --dtype bf16 --svg - | cmp - "$DATA/../../docs/images/show.svg" && echo same
tessera redistribute --from 'x, y' --to 'y, x' --shape 4096,4096 --mesh x=2,y=4 --svg - | cmp - "$DATA/../../docs/images/redistribute.svg" && echo same
