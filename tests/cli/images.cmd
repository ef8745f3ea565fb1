# The pictures in the documents are what the command draws.
tessera show 4096,1024 'data, model' --mesh data=2,model=4 --dtype bf16 --svg - | cmp - "$DATA/../../docs/images/show.svg" && echo same
