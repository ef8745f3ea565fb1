"""Round trips of random models beside the reference safetensors library and NumPy.

usage: check_safetensors.py --tessera COMMAND [--seed N] [--count N]

Models of all types that the library has, with odd names, empty, scalar, uneven, fused, interleaved, tied
and sub-byte tensors, are written by the library, cut by `tessera shard`, cut anew by `reshard`, and made
whole by `gather`, as every format. The library must read from the result what it wrote, bit for bit; a
file must be its own, byte for byte; NumPy must read our archives and arrays as it reads its own, and we
its own, whatever their order.
"""
import ctypes
import json
import struct

import ml_dtypes
import numpy
import safetensors

import cases

# What the library calls a type, and its bits; those it reads and cannot write are written by hand.
BITS = {"bool": 8, "uint8": 8, "int8": 8, "uint16": 16, "int16": 16, "float16": 16, "bfloat16": 16,
        "uint32": 32, "int32": 32, "float32": 32, "uint64": 64, "int64": 64, "float64": 64,
        "complex64": 64, "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8,
        "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8, "float4_e2m1fn_x2": 4}
BY_HAND = {"F6_E2M3": 6, "F6_E3M2": 6}
NAMES = ["w", "a.b.weight", "naïve", "日本", "with space", "quote\"d", "back\\slash", "tab\there", "x/y",
         "very." * 30 + "long", "longer." * 60 + "still", "__metadata", "0", "{brace}", "émoji 🙂", "it's",
         "per%2Fcent", "~tilde", "-dash", ".hidden", "a/../b.weight"]
CUTS = ["", "x", "_, x", "x, y", "y+x", "_, y", "y, x", "_, _, x"]
# Rules that come first: whole bytes stay whole, and fused tensors are cut by their parts.
FIRST = """^sub/ -> x
^fused\\.qkv -> x/parts(q:24, k:12, v:12), _
^fused\\.heads -> x/parts(q:48/4, k:24/2), y
^fused\\.groups -> _, x/cyclic(2)
"""
FUSED = {"fused.qkv": [48, 3], "fused.heads": [72, 4], "fused.groups": [2, 24], "fused.kv": [4, 5]}
# Two heads of keys over so many ranks: with four of them, neighbours share one.
SHARED = {1: "x/parts(k:4/2), _", 2: "x/parts(k:4/2), _", 3: "_, _", 4: "x/parts(k:4/2*2), _"}
NUMPYS = {"bool", "uint8", "int8", "uint16", "int16", "float16", "uint32", "int32", "float32", "uint64",
          "int64", "float64", "complex64"}


def make(rng, dtype, shape):
    bits = BITS.get(dtype) or BY_HAND[dtype]
    size = bits
    for dim in shape:
        size *= dim
    data = bytes(rng.randrange(2) for _ in range(size // 8)) if dtype == "bool" else rng.randbytes(size // 8)
    return {"dtype": dtype, "shape": shape, "data": data}


def random_model(rng):
    model = {}
    whole = [dtype for dtype in BITS if BITS[dtype] >= 8]
    for name in rng.sample(NAMES, rng.choice([0, 1, rng.randint(1, len(NAMES)), len(NAMES)])):
        shape = [rng.choice([0, 1, 2, 3, 4, 7, 8, 12, 16]) for _ in range(rng.randint(0, 3))]
        model[name] = make(rng, rng.choice(whole), shape)
    if model and rng.random() < 0.5:
        model["tied"] = model[rng.choice(list(model))]
    for name, shape in FUSED.items():
        if rng.random() < 0.5:
            model[name] = make(rng, rng.choice(whole), shape)
    for number in range(rng.choice([0, 0, 2])):
        shape = [rng.choice([1, 4, 6])] * rng.randint(0, 1) + [rng.choice([2, 3]), rng.choice([0, 8, 16])]
        model["sub/%d" % number] = make(rng, rng.choice(["float4_e2m1fn_x2", *BY_HAND]), shape)
    return model


def write(model, path, metadata):
    """By the library, which counts pairs of 4-bit elements; a file with others by hand, in its layout."""
    if any(t["dtype"] in BY_HAND for t in model.values()):
        return write_by_hand(model, path, metadata)
    buffers = {name: ctypes.create_string_buffer(t["data"], len(t["data"]) + 1) for name, t in model.items()}
    specs = {}
    for name, t in model.items():
        shape = t["shape"][:-1] + [t["shape"][-1] // 2] if BITS[t["dtype"]] == 4 else t["shape"]
        specs[name] = safetensors.TensorSpec(dtype=t["dtype"], shape=shape, data_len=len(t["data"]),
                                             data_ptr=ctypes.addressof(buffers[name]))
    safetensors.serialize_file(specs, str(path), metadata)


def write_by_hand(model, path, metadata):
    """The library's order: larger types first, by its own list of them, then by name."""
    order = ["BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0",
             "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64",
             "I64", "U64"]
    short = {"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
             "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0", "float4_e2m1fn_x2": "F4",
             "bool": "BOOL", "bfloat16": "BF16", "complex64": "C64"}

    def word(dtype):
        letters = {"uint": "U", "int": "I", "float": "F"}
        kind = dtype.rstrip("0123456789")
        return dtype if dtype in BY_HAND else short.get(dtype) or letters[kind] + dtype[len(kind):]

    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name in sorted(model, key=lambda n: (-order.index(word(model[n]["dtype"])), n.encode())):
        tensor = model[name]
        header[name] = {"dtype": word(tensor["dtype"]), "shape": tensor["shape"],
                        "data_offsets": [len(data), len(data) + len(tensor["data"])]}
        data += tensor["data"]
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    return {name: (t["dtype"], list(t["shape"]), bytes(t["data"]))
            for name, t in safetensors.deserialize(path.read_bytes())}


def random_cut(rng, folder, name):
    """Options for one way to cut: every tensor by one of a few rules, sizes that do not divide uneven."""
    rules = folder / (name + ".rules")
    x = rng.choice([1, 2, 3, 4])
    first = FIRST + "^fused\\.kv -> %s\n" % SHARED[x]
    rules.write_text(first + "".join("%s -> %s\n" % (rng.choice("abeinotwxy0_"), rng.choice(CUTS) or "()")
                                     for _ in range(4)) + ". -> %s\n" % (rng.choice(CUTS) or "()"))
    mesh = "x=%d,y=%d" % (x, rng.choice([1, 2, 4]))
    return ["--rules", str(rules), "--mesh", mesh, "--policy", rng.choice(["error", "uneven", "pad"]),
            "--format", rng.choice(["ranks", "tessera"]), "--no-sync"]


def same(found, wanted, what):
    if found != wanted:
        names = sorted(n for n in {*found, *wanted} if found.get(n) != wanted.get(n))
        raise SystemExit("%s: tensors differ: %s" % (what, names))


def check_whole(run, rng, folder, source, wanted):
    """Gathered into every format of whole tensors, and back into the library's own file."""
    run("gather", folder / "b", folder / "back.safetensors", "--no-sync")
    run("gather", folder / "a", folder / "c", "--max-file-size", rng.choice([1, 50, 1000]), "--no-sync")
    run("merge", folder / "c", folder / "d.safetensors", "--no-sync")
    for result in (folder / "back.safetensors", folder / "d.safetensors"):
        same(read(result), wanted, result.name)
        if result.read_bytes() != source.read_bytes():
            raise SystemExit("%s: the file is not the library's own" % result.name)
    parts = {}
    for part in (folder / "c").glob("*.safetensors"):
        parts.update(read(part))
    same(parts, wanted, "the folder")


def check_arrays(run, model, metadata, folder):
    """Through NumPy's formats. It has no elements smaller than a byte, and archives no names that climb."""
    kept = {n: t for n, t in model.items() if not n.startswith("sub/")}
    flat = {n: t for n, t in kept.items() if ".." not in n}
    for name, tensors, result in (("kept", kept, "f"), ("flat", flat, "e.npz")):
        there, back = folder / (name + ".safetensors"), folder / (name + ".back.safetensors")
        write(tensors, there, metadata if tensors else None)
        run("merge", there, folder / result, "--no-sync", "--format", "npy" if result == "f" else "npz")
        run("fsck", folder / result, "--deep")
        run("verify", there, folder / result)
        run("merge", folder / result, back, "--no-sync")
        if back.read_bytes() != there.read_bytes():
            raise SystemExit("%s: the file is not the library's own" % back.name)
    index = json.loads((folder / "f" / "tessera-npy.json").read_text())["tensors"]
    with numpy.load(folder / "e.npz") as archive:
        for name, t in kept.items():
            if t["dtype"] == "float8_e5m2":
                continue  # NumPy writes it and cannot read it
            arrays = [archive[name]] if name in flat else []
            for array in arrays + [numpy.load(folder / "f" / index[name]["file"])]:
                if array.tobytes() != t["data"] or list(array.shape) != t["shape"]:
                    raise SystemExit("%s: NumPy reads something else" % name)
                if t["dtype"] in NUMPYS and array.dtype != numpy.dtype(t["dtype"]):
                    raise SystemExit("%s: NumPy reads %s" % (name, array.dtype))


def check_numpys_own(run, rng, model, folder):
    """NumPy's own files in any order, cut and whole again, as the library reads them."""
    kept = {n: t for n, t in model.items() if t["dtype"] in NUMPYS | {"bfloat16"}}
    arrays = {}
    for name, t in kept.items():
        dtype = numpy.dtype(ml_dtypes.bfloat16 if t["dtype"] == "bfloat16" else t["dtype"])
        array = numpy.frombuffer(t["data"], dtype).reshape(t["shape"])
        if rng.random() < 0.5 and t["dtype"] != "bfloat16":
            array = array.astype(dtype.newbyteorder(">"))
        arrays[name] = numpy.asfortranarray(array) if rng.random() < 0.5 and t["shape"] else array
    save = rng.choice([numpy.savez, numpy.savez_compressed])
    save(folder / "h.npz", **arrays)
    run("shard", folder / "h.npz", folder / "i", *random_cut(rng, folder, "i"))
    run("gather", folder / "i", folder / "j.safetensors", "--no-sync")
    run("verify", folder / "h.npz", folder / "j.safetensors")
    write(kept, folder / "k.safetensors", None)
    if (folder / "j.safetensors").read_bytes() != (folder / "k.safetensors").read_bytes():
        raise SystemExit("j.safetensors: the file is not the library's own")


def check(run, rng, folder):
    model = random_model(rng)
    metadata = rng.choice([None, {"format": "pt"}, {"n\u00f6te": "\"\n\u00e9" * rng.choice([1, 40000])}])
    source = folder / "in.safetensors"
    write(model, source, metadata)
    run("shard", source, folder / "a", *random_cut(rng, folder, "a"))
    run("reshard", folder / "a", folder / "b", *random_cut(rng, folder, "b"))
    run("verify", folder / "a", folder / "b")
    check_whole(run, rng, folder, source, read(source))
    check_arrays(run, model, metadata, folder)
    check_numpys_own(run, rng, model, folder)


if __name__ == "__main__":
    cases.run(check, "safetensors: %d models went round and came back the same")
