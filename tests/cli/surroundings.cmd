# What surrounds a job and is not as it should be. A small model, cut for 32 ranks and in a folder of ours.
python3 $DATA/../../tools/make_model model --hidden 64 --inner 96 --vocab 128 --files 2; echo '.* -> x' > rows
tessera shard model ranks --mesh x=32 --rules rows --format ranks --no-sync 2>/dev/null; tessera shard model cut --mesh x=64 --rules rows --no-sync 2>/dev/null; ls ranks cut | wc -l
# Fewer files may be open than there are: of what is read, of what is written, and of both.
(ulimit -n 24; tessera verify ranks cut --quiet; tessera reshard ranks again --mesh x=64 --rules rows --no-sync --jobs 2 2>/dev/null; tessera reshard cut all --mesh x=32 --rules rows --format ranks --no-sync --jobs 2 2>/dev/null); diff -r cut again; diff -r ranks all
# Names are shown, not obeyed, whatever they hold; as data they are what they are.
python3 -c 'import json, struct; h = json.dumps({"w\x1b[31m": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}, "x\u009b2J\u202e\n\x7f": {"dtype": "U8", "shape": [2], "data_offsets": [4, 6]}}).encode(); open("odd\x1b]0;.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + bytes(6))'
tessera inspect odd*; tessera verify model odd* | tail -4; tessera verify odd* odd* --hash; tessera plan odd* --mesh x=2 --auto; tessera inspect odd* --json | grep '"name"'; tessera inspect odd* --json | python3 -c 'import json, sys; print([t["name"] for t in json.load(sys.stdin)["tensors"]])'
tessera merge odd* "$(printf 'new\033[2J')" --format folder 2>&1 | sed 's/in [0-9.]* s.*//'; tessera "$(printf '\033[2J')"; tessera fsck "$(printf 'latin\351')"
# Pipes are not waited for, and devices have no end.
mkfifo pipe.safetensors pipe.npz pipe; for f in pipe.safetensors pipe.npz pipe /dev/zero /dev/null; do tessera inspect $f; done; tessera fsck pipe.safetensors | head -1
# A destination has a name.
for to in . .. model/.. ./. / // ...; do tessera merge model $to --dry-run 2>&1 | head -1; done
# Files may not grow as they should: what is there stays, and nothing is left beside it.
python3 $DATA/../../tools/make_model large --hidden 256 --inner 384 --vocab 512 --files 2; (ulimit -f 200; tessera merge large one.safetensors; tessera split large cut --force --max-file-size 400kB --no-sync 2>&1 | sed 's/model-[0-9]*/model-N/'); ls -d one* cut*; tessera verify cut model --quiet
