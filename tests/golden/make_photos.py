# SPDX-License-Identifier: BSD-2-Clause
# Small JPEG and WebP files, and what they hold, by Pillow 13.0.0 (libjpeg-turbo 3.2.0, libwebp 1.6.0), which
# decodes JPEG by the accurate integer transform.
#   python3 make_photos.py photos
# A line a file in photos/suite.txt: name, height, width, channels, CRC-32 of the samples row by row.
import pathlib
import sys
import zlib

import numpy as np
from PIL import Image

HEIGHT, WIDTH = 29, 37


def picture():
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    red = 128 + 100 * np.sin(x / 5) * np.cos(y / 7)
    green = 255 * x / (WIDTH - 1)
    blue = 255 * y / (HEIGHT - 1)
    alpha = 255 * ((x - 18) ** 2 + (y - 14) ** 2 < 150)
    noisy = np.stack([red, green, blue], -1) + rng.normal(0, 12, (HEIGHT, WIDTH, 3))
    return np.concatenate([noisy.clip(0, 255), alpha[..., None]], -1).astype(np.uint8)


def main():
    folder = pathlib.Path(sys.argv[1])
    whole = Image.fromarray(picture(), "RGBA")
    colour, grey = whole.convert("RGB"), whole.convert("L")
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: not applied
    colour.save(folder / "full.jpg", quality=90, subsampling=0)
    colour.save(folder / "halved.jpg", quality=75, subsampling=2, exif=exif)
    colour.save(folder / "progressive.jpg", quality=80, progressive=True)
    colour.save(folder / "restarts.jpg", quality=80, restart_marker_blocks=2)
    grey.save(folder / "grey.jpg", quality=85)
    colour.convert("CMYK").save(folder / "inks.jpg")
    colour.save(folder / "lossy.webp", quality=80)
    colour.save(folder / "lossless.webp", lossless=True)
    whole.save(folder / "alpha.webp", quality=70)
    whole.save(folder / "exact.webp", lossless=True, exact=True, icc_profile=b"profile")
    colour.save(folder / "moving.webp", save_all=True, append_images=[colour.rotate(90)], duration=100)
    with open(folder / "suite.txt", "w") as out:
        for path in sorted(folder.glob("*.jpg")) + sorted(folder.glob("*.webp")):
            image = Image.open(path)
            if path.stem in ("inks", "moving"):
                continue
            samples = np.asarray(image)
            channels = 1 if samples.ndim == 2 else samples.shape[2]
            crc = zlib.crc32(samples.tobytes())
            print(path.name, samples.shape[0], samples.shape[1], channels, f"{crc:08x}", file=out)


main()
