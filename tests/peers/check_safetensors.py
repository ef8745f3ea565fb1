"""Round trips of random models beside the reference safetensors library.

usage: check_safetensors.py --tessera COMMAND [--seed N] [--count N]

Models of all types that it has, with odd names, empty, scalar and uneven tensors, are written by
the library, cut by `tessera shard`, cut anew by `reshard`, and made whole by `gather`. The library
must read from the result what it wrote, bit for bit; the file itself must be its own, byte for byte.
"""
import argparse
import ctypes
import pathlib
import random
import subprocess
import tempfile

import safetensors

BYTES = {"bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "float16": 2, "bfloat16": 2,
         "uint32": 4, "int32": 4, "float32": 4, "uint64": 8, "int64": 8, "float64": 8,
         "complex64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1}
NAMES = ["w", "a.b.weight", "naïve", "日本", "with space", "quote\"d", "back\\slash", "tab\there", "x/y",
         "very." * 30 + "long", "__metadata", "0", "{brace}", "émoji 🙂"]
CUTS = ["", "x", "_, x", "x, y", "y+x", "_, y", "y, x", "_, _, x"]


def random_model(rng):
    model = {}
    for name in rng.sample(NAMES, rng.randint(1, len(NAMES))):
        dtype = rng.choice(list(BYTES))
        shape = [rng.choice([0, 1, 2, 3, 4, 7, 8, 12, 16]) for _ in range(rng.randint(0, 3))]
        size = BYTES[dtype]
        for dim in shape:
            size *= dim
        data = bytes(rng.randrange(2) for _ in range(size)) if dtype == "bool" else rng.randbytes(size)
        model[name] = {"dtype": dtype, "shape": shape, "data": data}
    return model


def write(model, path, metadata):
    buffers = {name: ctypes.create_string_buffer(t["data"], len(t["data"]) + 1) for name, t in model.items()}
    specs = {name: safetensors.TensorSpec(dtype=t["dtype"], shape=t["shape"], data_len=len(t["data"]),
                                          data_ptr=ctypes.addressof(buffers[name]))
             for name, t in model.items()}
    safetensors.serialize_file(specs, str(path), metadata)


def read(path):
    return {name: (t["dtype"], list(t["shape"]), bytes(t["data"]))
            for name, t in safetensors.deserialize(path.read_bytes())}


def random_cut(rng, folder, name):
    """Options for one way to cut: every tensor by one of a few rules, sizes that do not divide uneven."""
    rules = folder / (name + ".rules")
    rules.write_text("".join("%s -> %s\n" % (rng.choice("abeinotwxy0_"), rng.choice(CUTS) or "()")
                             for _ in range(4)) + ". -> %s\n" % (rng.choice(CUTS) or "()"))
    mesh = "x=%d,y=%d" % (rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 4]))
    return ["--rules", str(rules), "--mesh", mesh, "--policy", rng.choice(["error", "uneven", "pad"]),
            "--format", rng.choice(["ranks", "tessera"]), "--no-sync"]


def check(tessera, rng):
    def run(*arguments):
        done = subprocess.run([tessera, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit("tessera %s\n%s" % (" ".join(map(str, arguments)), done.stderr))

    model = random_model(rng)
    metadata = rng.choice([None, {"format": "pt"}])
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        source, back = folder / "in.safetensors", folder / "back.safetensors"
        write(model, source, metadata)
        run("shard", source, folder / "a", *random_cut(rng, folder, "a"))
        run("reshard", folder / "a", folder / "b", *random_cut(rng, folder, "b"))
        run("gather", folder / "b", back, "--no-sync")
        run("gather", folder / "a", folder / "c", "--max-file-size", rng.choice([1, 50, 1000]), "--no-sync")
        run("merge", folder / "c", folder / "d.safetensors", "--no-sync")
        wanted = read(source)
        for result in (back, folder / "d.safetensors"):
            if read(result) != wanted:
                raise SystemExit("%s: tensors differ" % result.name)
            if result.read_bytes() != source.read_bytes():
                raise SystemExit("%s: the file is not the library's own" % result.name)
        parts = {}
        for part in (folder / "c").glob("*.safetensors"):
            parts.update(read(part))
        if parts != wanted:
            raise SystemExit("the folder's tensors differ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tessera", default="tessera")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    for case in range(arguments.count):
        try:
            check(arguments.tessera, random.Random(arguments.seed * 1000003 + case))
        except SystemExit as failure:
            raise SystemExit("case %d of seed %d: %s" % (case, arguments.seed, failure)) from None
    print("safetensors: %d models went round and came back the same" % arguments.count)


if __name__ == "__main__":
    main()
