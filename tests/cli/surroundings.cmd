# What surrounds a job and is not as it should be. A small model, cut for 32 ranks and in a folder of ours.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --files 2; echo '.* -> x' > rows
tessera shard model ranks --mesh x=32 --rules rows --format ranks --no-sync 2>/dev/null; tessera shard model cut --mesh x=64 --rules rows --no-sync 2>/dev/null; ls ranks cut | wc -l
# Fewer files may be open than there are: of what is read, of what is written, and of both.
(ulimit -n 24; tessera verify ranks cut --quiet; tessera reshard ranks again --mesh x=64 --rules rows --no-sync --jobs 2 2>/dev/null; tessera reshard cut all --mesh x=32 --rules rows --format ranks --no-sync --jobs 2 2>/dev/null); diff -r cut again; diff -r ranks all
