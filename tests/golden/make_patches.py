# SPDX-License-Identifier: BSD-2-Clause
# Golden values for patches, by torch 2.13.0 and numpy: interpolation, normalisation, padding and torch's own
# unfold; nothing of posenc.
#   python3 make_patches.py patches/    (any Python with torch and numpy)
# Writes picture.ppm (RGB, 8 bits), picture16.pam (RGB and alpha, 16 bits) and patches.npz: of case NAME the
# tokens, and settings of the table "image" in settings.txt, a line a case: NAME, file, rows, columns, settings.
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

out = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(11)
rgb = rng.integers(0, 256, (13, 18, 3), dtype=np.uint8)
rgba = rng.integers(0, 65536, (9, 11, 4), dtype=np.uint16)
(out / "picture.ppm").write_bytes(b"P6\n18 13\n255\n" + rgb.tobytes())
(out / "picture16.pam").write_bytes(
    b"P7\nWIDTH 11\nHEIGHT 9\nDEPTH 4\nMAXVAL 65535\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + rgba.astype(">u2").tobytes())
MEAN = {"imagenet": ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]), "inception": ([0.5] * 3, [0.5] * 3),
        "clip": ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])}


def picture(name, alpha):
    x = torch.from_numpy(rgb / 255 if name == "picture.ppm" else rgba / 65535).permute(2, 0, 1)
    if name == "picture.ppm" or alpha == "drop":
        return x[:3]
    return x[:3] * x[3:] + (1 - x[3:] if alpha == "white" else 0)


def tokens(name, patch=4, size=None, fit="crop", anchor="corner", interpolation="bicubic", antialias=1,
           channels="rgb", alpha="refuse", normalize="none", patch_order="c,ph,pw"):
    x = picture(name, alpha)
    if channels == "gray":
        x = (0.299 * x[0] + 0.587 * x[1] + 0.114 * x[2])[None]
    h, w = x.shape[1:]
    if fit == "resize":
        x = F.interpolate(x[None], size=size, mode=interpolation, antialias=bool(antialias), align_corners=False)[0]
    if normalize in MEAN:
        mean, std = (torch.tensor(v, dtype=torch.float64)[: len(x), None, None] for v in MEAN[normalize])
        x = (x - mean) / std
    if fit != "resize":
        height, width = size or ((h // patch * patch, w // patch * patch) if fit == "crop" else
                                 (-(-h // patch) * patch, -(-w // patch) * patch))
        top, left = ((abs(h - height) // 2, abs(w - width) // 2) if anchor == "centre" else (0, 0))
        if fit == "crop":
            x = x[:, top : top + height, left : left + width]
        else:
            x = F.pad(x, (left, width - w - left, top, height - h - top))
    rows, columns = x.shape[1] // patch, x.shape[2] // patch
    t = F.unfold(x[None], patch, stride=patch)[0].T  # (tokens, c·ph·pw)
    if patch_order == "ph,pw,c":
        t = t.reshape(-1, len(x), patch, patch).permute(0, 2, 3, 1).reshape(t.shape)
    return np.ascontiguousarray(t.numpy(), np.float32), rows, columns


cases = [("picture.ppm", {}), ("picture.ppm", dict(patch_order="ph,pw,c", normalize="imagenet")),
         ("picture.ppm", dict(fit="pad", normalize="clip")),
         ("picture.ppm", dict(fit="pad", anchor="centre", patch=5, size=(25, 35), normalize="inception")),
         ("picture.ppm", dict(fit="pad", anchor="centre", channels="gray", size=(28, 20))),
         ("picture.ppm", dict(anchor="centre", size=(8, 12))), ("picture.ppm", dict(channels="gray", normalize="inception")),
         ("picture.ppm", dict(fit="resize", size=(8, 8))),
         ("picture.ppm", dict(fit="resize", size=(24, 20), antialias=0, normalize="imagenet", patch_order="ph,pw,c")),
         ("picture.ppm", dict(fit="resize", size=(8, 24), interpolation="bilinear", channels="gray")),
         ("picture.ppm", dict(fit="resize", size=(4, 4), interpolation="bilinear", antialias=0)),
         ("picture16.pam", dict(alpha="drop")), ("picture16.pam", dict(alpha="drop", fit="pad", anchor="centre")),
         ("picture16.pam", dict(alpha="white", normalize="imagenet")), ("picture16.pam", dict(alpha="black")),
         ("picture16.pam", dict(alpha="white", fit="resize", size=(8, 16))),
         ("picture16.pam", dict(alpha="white", channels="gray", patch_order="ph,pw,c"))]
arrays, lines = {}, []
for number, (name, how) in enumerate(cases):
    arrays[f"case{number}"], rows, columns = tokens(name, **how)
    how = {"patch": 4, **how}
    text = " ".join(f"{k}={'x'.join(map(str, v)) if k == 'size' else v}" for k, v in how.items())
    lines.append(f"case{number} {name} {rows} {columns} {text}\n")
np.savez_compressed(out / "patches.npz", **arrays)
(out / "settings.txt").write_text("".join(lines))
