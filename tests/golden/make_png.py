# SPDX-License-Identifier: BSD-2-Clause
# Golden values for pictures: what the files of PngSuite hold at their own depth, by a decoder written here
# from ISO/IEC 15948 with Python's zlib alone (3.11); Pillow 9.4.0 confirms those of 8 bits.
#   /usr/bin/python3 make_png.py FOLDER-OF-PNGSUITE > png/suite.txt
# A line a file: name, height, width, channels, bits in the file, CRC-32 of the samples row by row: a byte
# each, or two, the higher first, of 16-bit files; grey below 8 bits scaled to 255, palettes expanded, tRNS
# as alpha.
import pathlib
import struct
import sys
import zlib

import numpy as np
from PIL import Image

PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunks(data):
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += 12 + length


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(raw, height, row, step):
    lines, above, at = [], bytearray(row), 0
    for _ in range(height):
        kind, line = raw[at], bytearray(raw[at + 1 : at + 1 + row])
        assert len(line) == row
        for i in range(row):
            a = line[i - step] if i >= step else 0
            c = above[i - step] if i >= step else 0
            b = above[i]
            line[i] = (line[i] + [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]) & 255
        lines.append(line)
        above, at = line, at + 1 + row
    return lines, at


def samples(line, count, bits):
    if bits == 16:
        return np.frombuffer(bytes(line), ">u2")[:count].astype(np.int64)
    if bits == 8:
        return np.frombuffer(bytes(line), np.uint8)[:count].astype(np.int64)
    flat = np.unpackbits(np.frombuffer(bytes(line), np.uint8)).reshape(-1, bits)
    return (flat @ (1 << np.arange(bits)[::-1])).astype(np.int64)[:count]


def decode(data):
    parts, stream = {}, b""
    for name, body in chunks(data):
        stream += body if name == b"IDAT" else b""
        parts.setdefault(name, body)
    width, height, bits, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    stored = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    raw, at = zlib.decompress(stream), 0
    out = np.zeros((height, width, stored), np.int64)
    for x0, y0, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        w, h = -(-(width - x0) // dx), -(-(height - y0) // dy)
        if w <= 0 or h <= 0:
            continue
        lines, used = unfilter(raw[at:], h, (w * stored * bits + 7) // 8, max(1, stored * bits // 8))
        at += used
        for i, line in enumerate(lines):
            out[y0 + i * dy, x0::dx] = samples(line, w * stored, bits).reshape(w, stored)
    assert at == len(raw)
    trns = parts.get(b"tRNS")
    if kind == 3:
        palette = np.frombuffer(parts[b"PLTE"], np.uint8).reshape(-1, 3).astype(np.int64)
        colour = palette[out[..., 0]]
        if trns is None:
            return colour, bits
        alpha = np.full(len(palette), 255, np.int64)
        alpha[: len(trns)] = np.frombuffer(trns, np.uint8)
        return np.concatenate([colour, alpha[out]], axis=2), bits
    top = 65535 if bits == 16 else 255
    scaled = out * (top // ((1 << bits) - 1))
    if trns is not None:
        key = np.frombuffer(trns, ">u2").astype(np.int64)
        alpha = np.where((out == key).all(axis=2, keepdims=True), 0, top)
        scaled = np.concatenate([scaled, alpha], axis=2)
    return scaled, bits


for path in sorted(pathlib.Path(sys.argv[1]).glob("*.png")):
    values, bits = decode(path.read_bytes())
    if bits <= 8:
        picture = Image.open(path).convert({1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[values.shape[2]])
        if values.shape[2] in (1, 3, 4):
            np.testing.assert_array_equal(np.asarray(picture).reshape(values.shape), values)
    body = values.astype(">u2" if bits == 16 else np.uint8).tobytes()
    print(path.name, *values.shape, bits, zlib.crc32(body))
