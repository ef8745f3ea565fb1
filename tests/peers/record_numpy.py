#!/usr/bin/env python3
"""Asks NumPy, ml_dtypes and safetensors for bytes: casts, .npy and .npz files, safetensors headers.

Casts from f64 and from integers of more than 24 bits to narrower floats are left out, because
ml_dtypes rounds them twice, and so are NaNs from and to f16 (docs/compatibility.md).
"""
import argparse
import ctypes
import io
import json
import random
import warnings

import ml_dtypes
import numpy as np
import safetensors
import safetensors._safetensors_rust as rust

warnings.filterwarnings("ignore")
np.seterr(all="ignore")

NUMPY = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "float32", "float64", "complex64", "complex128"]
FLOAT8 = ["float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz",
          "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
NARROW = ["bfloat16"] + FLOAT8 + ["float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]


def type_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def bits_of(name):
    return {"float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4}.get(name, type_of(name).itemsize * 8)


def packed(array, name):
    """The elements as we store them: those below a byte side by side, the first in the lowest bits."""
    bits = bits_of(name)
    if bits >= 8:
        return array.tobytes()
    codes = array.view(np.uint8)
    return np.packbits((codes[:, None] >> np.arange(bits)) & 1, bitorder="little").tobytes()


def random_codes(rng, name, count):
    bits = bits_of(name)
    values = [rng.getrandbits(bits) for _ in range(count)]
    if name == "float32" and rng.random() < 0.7:
        # Near the range of the small formats.
        return np.array([rng.gauss(0, 1) * 2.0 ** rng.randint(-20, 20) for _ in range(count)], np.float32)
    if name == "bool":
        values = [v & 1 for v in values]
    width = {4: np.uint8, 6: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits]
    return np.array(values, width).view(type_of(name))


def ask_convert(rng):
    source = rng.choice(NARROW + ["float16", "float32", "int8", "uint8", "int16", "bool"])
    target = rng.choice(NARROW + ["float16", "float32", "float64"])
    count = rng.randint(1, 40)
    array = random_codes(rng, source, count)
    if "float16" in (source, target):
        array = array[~np.isnan(array.astype(np.float32))]
    try:
        answer = array.astype(type_of(target))
    except TypeError:  # some of ml_dtypes' types do not know each other
        answer = array.astype(np.float32).astype(type_of(target))
    asked = {"from": source, "to": target, "count": len(array), "source": packed(array, source).hex()}
    return asked, {"output": packed(answer, target).hex()}


def random_array(rng, names):
    name = rng.choice(names)
    shape = tuple(rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randint(0, 3)))
    array = np.array([rng.randint(0, 100) for _ in range(int(np.prod(shape)))], np.int64)
    array = array.astype(type_of(name)).reshape(shape)
    if rng.random() < 0.3:
        array = np.asfortranarray(array)
    return name, array


def ask_npy_save(rng):
    name, array = random_array(rng, NUMPY + ["bfloat16"] + FLOAT8)
    file = io.BytesIO()
    np.save(file, array)
    header = file.getvalue()[:len(file.getvalue()) - array.nbytes]
    fortran = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
    return {"dtype": name, "shape": list(array.shape), "fortran": fortran}, {"output": header.hex()}


def facts_of(name, array):
    fortran = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
    native = array.astype(array.dtype.newbyteorder("="))
    known = name if name in NUMPY or name == "float8_e5m2" else None
    return {"dtype": known, "shape": list(array.shape), "fortran": fortran,
            "elements": native.tobytes(order="F" if fortran else "C").hex()}


def swapped(rng, name, array):
    if name in NUMPY and rng.random() < 0.3:
        return array.astype(array.dtype.newbyteorder(">"))
    return array


def ask_npy_load(rng):
    name, array = random_array(rng, NUMPY + ["bfloat16"] + FLOAT8)
    array = swapped(rng, name, array)
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=rng.choice([None, (1, 0), (2, 0), (3, 0)]))
    return {"file": file.getvalue().hex()}, {"output": facts_of(name, array)}


def ask_npz_load(rng):
    arrays, facts = {}, {}
    for key in rng.sample(["a", "b", "weight", "layer/0", "é", "", "x y"], rng.randint(0, 4)):
        name, array = random_array(rng, NUMPY + ["bfloat16"])
        arrays[key] = swapped(rng, name, array)
        facts[key] = facts_of(name, arrays[key])
    file = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(file, **arrays)
    return {"file": file.getvalue().hex()}, {"output": facts}


SAFETENSORS = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
               "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8,
               "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e8m0fnu": 1, "float8_e4m3fnuz": 1,
               "float8_e5m2fnuz": 1, "float4_e2m1fn": 0.5}


def ask_safetensors_save(rng):
    names = rng.sample(["a", "b", "B", "a.b", "a\"b", "back\\slash", "tab\t", "\x01", "é", "😀", "_", "z", "model/0"],
                       rng.randint(0, 8))
    tensors, specs, keep = [], {}, []
    for name in names:
        dtype = rng.choice(list(SAFETENSORS))
        shape = [rng.choice([0, 1, 2, 7]) for _ in range(rng.randint(0, 3))]
        stored = list(shape)
        if dtype == "float4_e2m1fn":
            stored = stored + [3]
            shape = shape + [6]
        size = int(np.prod(shape) * SAFETENSORS[dtype])
        keep.append(ctypes.create_string_buffer(size + 1))
        specs[name] = rust.TensorSpec(dtype=dtype + ("_x2" if "float4" in dtype else ""), shape=stored,
                                      data_ptr=ctypes.addressof(keep[-1]), data_len=size)
        tensors.append({"name": name, "dtype": dtype, "shape": shape})
    # More than one entry comes in an order that changes from run to run.
    metadata = {"format": rng.choice(["pt", "np", "é\n"])} if rng.random() < 0.5 else None
    file = bytes(safetensors.serialize(specs, metadata=metadata))
    header = file[:8 + int.from_bytes(file[:8], "little")]
    asked = {"tensors": tensors}
    for key, value in (metadata or {}).items():
        asked.update(key=key, value=value)
    return asked, {"output": header.hex()}


QUESTIONS = {name[4:]: function for name, function in list(globals().items()) if name.startswith("ask_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    cases = []
    for fn, question in QUESTIONS.items():
        for number in range(options.count):
            asked, answer = question(rng)
            cases.append(dict(id=f"{fn}/{number}", fn=fn, input=asked, **answer))
    versions = {"numpy": np.__version__, "ml_dtypes": ml_dtypes.__version__,
                "safetensors": safetensors.__version__}
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump({"formats": versions, "cases": cases}, out)


if __name__ == "__main__":
    main()
