#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes tests/golden/arrays/: .npy, .npz and .safetensors files as other programs write them.

Made with numpy 1.24.2 and safetensors 0.8.0. Run: /usr/bin/python3 tests/golden/make_arrays.py
Element number i, in row-major order, is (i·37 mod 101) − 50; unsigned types have 50 more, floats a quarter of it,
bools are true where i is a multiple of 3. tests/unit/test_npy.c and its fellows compute the same.
"""
import io
import json
import os
import shutil
import struct
import zipfile

import numpy as np
import safetensors
import safetensors.numpy

assert np.__version__ == "1.24.2" and safetensors.__version__ == "0.8.0"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrays")
DATE = (1980, 1, 1, 0, 0, 0)


def path(name):
    return os.path.join(OUT, name)


def array(dtype, shape):
    dtype = np.dtype(dtype)
    i = np.arange(int(np.prod(shape)))
    value = i * 37 % 101 - 50
    if dtype.kind == "b":
        value = i % 3 == 0
    elif dtype.kind == "u":
        value = value + 50
    elif dtype.kind == "f":
        value = value * 0.25
    return value.astype(dtype).reshape(shape)


def npy(name, a, version=(1, 0)):
    with open(path(name + ".npy"), "wb") as f:
        np.lib.format.write_array(f, a, version=version)


def npy_bytes(a):
    f = io.BytesIO()
    np.lib.format.write_array(f, a)
    return f.getvalue()


class Pipe(io.RawIOBase):
    """A file that cannot seek, so that zipfile writes data descriptors."""

    def __init__(self, f):
        self.f = f

    def writable(self):
        return True

    def write(self, b):
        return self.f.write(b)


def archive(name, members, method=zipfile.ZIP_STORED, pipe=False, **extra):
    with open(path(name), "wb") as f:
        with zipfile.ZipFile(Pipe(f) if pipe else f, "w", method) as z:
            for key, a in members.items():
                info = zipfile.ZipInfo(key, DATE)
                info.compress_type = method
                with z.open(info, "w", **extra) as m:
                    m.write(a if isinstance(a, bytes) else npy_bytes(a))


def make_npy():
    for t in ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "b1"]:
        npy("little_" + t, array("<" + t, (3, 5)))
        npy("big_" + t, array(">" + t, (3, 5)))
    npy("version2", array("<f8", (7,)), (2, 0))
    npy("version3", array("<f4", (2, 3, 4)), (3, 0))
    npy("fortran", np.asfortranarray(array("<f8", (3, 5))))
    npy("fortran_big_i2", np.asfortranarray(array(">i2", (2, 3, 4))))
    npy("scalar", array("<f8", ()))
    npy("empty", array("<f4", (0, 5)))
    npy("six", array("<i4", (1, 2, 1, 3, 1, 2)))
    npy("bytes0", np.array(b"csr"))
    npy("bytes2", np.array([[b"ab", b"c"], [b"", b"defg"]]))
    npy("unicode", np.array(["ab", "cde"]))
    npy("fortran_bytes", np.asfortranarray(np.array([[b"ab", b"c"], [b"", b"de"]])))
    # refused
    npy("no_seven", array("<i4", (1,) * 7))
    npy("no_u8_large", np.array([2**63], "<u8"))
    npy("no_complex", np.array([1j]))
    npy("no_long_double", np.array([1], np.longdouble))
    npy("no_date", np.array(["2020-01-01"], "M8[D]"))
    npy("no_fields", np.zeros(2, [("a", "<f4"), ("b", "<i4")]))
    npy("no_unicode", np.array(["\u00e9"]))
    with open(path("no_objects.npy"), "wb") as f:
        np.lib.format.write_array(f, np.array([None, {}], object), allow_pickle=True)
    # as Python 2 and other programs have written headers
    body = array("<f8", (2, 3)).tobytes()
    for name, header in {
        "long_shape": "{'descr': '<f8', 'fortran_order': False, 'shape': (2L, 3L), }",
        "other_order": '{"shape": (2,3),"fortran_order":False, "descr": "<f8"}',
    }.items():
        text = header.encode() + b" " * 10 + b"\n"
        with open(path(name + ".npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body)


def make_npz():
    arrays = {"x": array("<f8", (3, 5)), "n": array("<i4", (4,)), "empty": array("<f4", (0, 5))}
    members = {k + ".npy": v for k, v in arrays.items()}
    np.savez(path("savez.npz"), **arrays)
    np.savez_compressed(path("savez_compressed.npz"), **arrays)
    archive("stored.npz", members)
    archive("deflated.npz", members, zipfile.ZIP_DEFLATED)
    archive("descriptors.npz", members, zipfile.ZIP_DEFLATED, pipe=True)
    archive("zip64.npz", members, force_zip64=True)
    archive("other_members.npz", {"readme.txt": b"not an array", **members})
    archive("metadata.npz", {**members, "metadata.npy": np.frombuffer(b'{"encoder":"lap","k":8}', np.uint8)})
    archive("plain_metadata.npz", {"metadata.npy": np.arange(3, dtype=np.uint8)})
    archive("no_torch.npz", {"archive/data.pkl": b"pickle", "archive/data/0": b"\0" * 8})
    archive("no_bzip2.npz", members, zipfile.ZIP_BZIP2)
    archive("no_twice.npz", {"x.npy": arrays["x"], "y.npy": arrays["x"]})
    data = open(path("no_twice.npz"), "rb").read().replace(b"y.npy", b"x.npy")
    open(path("no_twice.npz"), "wb").write(data)
    with open(path("commented.npz"), "wb") as f, zipfile.ZipFile(f, "w") as z:
        z.writestr(zipfile.ZipInfo("x.npy", DATE), npy_bytes(arrays["x"]))
        z.comment = b"written with a comment PK\5\6 in it"


def raw_safetensors(name, header, body):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(path(name + ".safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def make_safetensors():
    tensors = {t: array("<" + t, (3, 5)) for t in ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1"]}
    tensors["b1"] = array("b1", (3, 5))
    tensors["scalar"] = array("<f8", ())
    tensors["empty"] = array("<f4", (0, 5))
    safetensors.numpy.save_file(tensors, path("all.safetensors"), {"format": "np", "note": "\u00e9 \"x\"\n"})
    bf16 = (array("<f4", (3, 5)).view("<u4") >> 16).astype("<u2")
    one = {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]}
    raw_safetensors("bf16", {"x": one}, bf16.tobytes())
    f8 = {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}
    raw_safetensors("no_f8", {"x": f8}, b"\0" * 4)
    pair = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
    raw_safetensors("no_overlap", {"a": pair, "b": {**pair, "data_offsets": [2, 6]}}, b"\0" * 6)
    raw_safetensors("no_hole", {"a": pair, "b": {**pair, "data_offsets": [5, 9]}}, b"\0" * 9)
    raw_safetensors("no_rest", {"a": pair}, b"\0" * 5)
    raw_safetensors("no_outside", {"a": {**pair, "data_offsets": [0, 5]}}, b"\0" * 4)
    raw_safetensors("no_size", {"a": {**pair, "shape": [5]}}, b"\0" * 4)
    raw_safetensors("no_negative", {"a": {**pair, "shape": [-1, -4]}}, b"\0" * 4)
    raw_safetensors("no_overflow", {"a": {**pair, "shape": [2**62, 2**62, 16, 0]}}, b"\0" * 4)
    raw_safetensors("no_fraction", {"a": {**pair, "shape": [4.0]}}, b"\0" * 4)
    raw_safetensors("no_bignum", b'{"a":{"dtype":"U8","shape":[18446744073709551617],"data_offsets":[0,4]}}', b"\0" * 4)
    raw_safetensors("no_twice", b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":1}', b"")
    raw_safetensors("no_object", b"[1]", b"")
    raw_safetensors("no_metadata", {"__metadata__": 3}, b"")


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    make_npy()
    make_npz()
    make_safetensors()
    print(len(os.listdir(OUT)), "files")
