#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pictures: encode, inspect, what is said and what is refused.
. "$2/tests/cli/lib.sh"
seeds=$source/tests/fuzz/corpus/png
cp "$source/tests/golden/patches/picture.ppm" "$source/tests/golden/patches/picture16.pam" "$seeds/type4_16_0.png" .
mv type4_16_0.png small.png # 7 columns, 5 rows

expect 0 inspect picture.ppm --patch 4; silent
prints '^picture.ppm: ppm, 18 x 13 pixels, RGB, 8 bits$'
prints 'patches: 3 x 4 of side 4, 48 numbers each; cut off: 1 row at the bottom, 2 columns on the right$'
expect 0 inspect picture.ppm; prints 'patches: none: a picture of 13 rows and 18 columns cannot be cropped to 16x16'
expect 0 inspect small.png "$seeds/type3_2_1.png"; prints 'small.png: png, 7 x 5 pixels, grey and alpha, 16 bits'
prints '2 bits by palette, interlaced'
expect 0 inspect --json picture16.pam --patch 3; prints '"height":9,"width":11,"channels":4,"bits":16,"alpha":true'
prints '"rows":3,"columns":3'

# A grid like any other, and its patches.
expect 0 encode picture.ppm --patch 4 -o a.npz; says 'no --with given: axial'
says 'of 13 rows and 18 columns, cut off: 1 row at the bottom, 2 columns on the right'
expect 0 encode grid:3x4 -q -o b.npz
expect 0 compare a.npz b.npz
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches -q -o a.npz
silent
expect 0 inspect a.npz; prints 'tokens *f32 *(12, 48)'; prints 'position_encoding *f32 *(12, 48)'
prints 'image: .*"patch":"4".*"cropped":{"top":0,"left":0,"bottom":1,"right":2}'
digest=$(b2sum -l 256 picture.ppm | cut -d' ' -f1); prints "input_blake2b: $digest"
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches -q -o b.npz
cmp -s a.npz b.npz || fail 'equal input gives different files'
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches -o b.npz --json -q; prints '"kind":"image"'
prints '"cropped":{"top":0,"left":0,"bottom":1,"right":2}'
expect 0 encode picture.ppm --patch 4 --tokens patches --with axial:dim=8,merge=concat -q -o c.npz
expect 0 inspect c.npz; prints 'tokens *f32 *(12, 56)'
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches --prefix 2 --dtype f64 -o c.npz
says 'the 2 prefix tokens have no pixels'
expect 0 inspect c.npz; prints 'tokens *f64 *(14, 48)'

# What acts in attention leaves the patches as they are.
expect 0 encode picture.ppm --patch 4 --with rope2d:head_dim=8 --tokens patches --arrays tokens -q -o p.npy
expect 0 encode grid:3x4 --with axial --tokens p.npy -q -o b.npz
expect 0 compare --exact a.npz b.npz

# The numbers of torch: what axial adds is taken from features of zeros.
gzip -n -k picture.ppm
"$posenc" encode - --patch 4 --with axial --tokens patches -q -o b.npz <picture.ppm || fail 'standard input'
expect 0 compare a.npz b.npz
"$posenc" encode - --patch 4 --with axial --tokens patches -q -o b.npz <picture.ppm.gz || fail 'gzip by standard input'
expect 0 compare a.npz b.npz
expect 0 encode picture.ppm.gz --patch 4 --with axial --tokens patches -q -o b.npz
expect 0 compare a.npz b.npz
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches --normalize imagenet -q -o b.npz
expect 1 compare a.npz b.npz; prints 'different *tokens'; prints 'alike *position_encoding'
expect 0 encode picture.ppm --patch 4 --with axial --tokens patches --patch-order ph,pw,c -q -o b.npz
expect 1 compare a.npz b.npz

# Every option.
expect 0 encode picture.ppm --patch 4 --size 8x12 --fit resize --interpolation bilinear --antialias 0 --with axial \
	--tokens patches -o b.npz
says 'resampled to 8 rows, 12 columns'
expect 0 inspect b.npz; prints 'tokens *f32 *(6, 48)'; prints '"resized":\[8,12\]'
expect 0 encode picture.ppm --patch 4 --fit pad --anchor centre --channels gray --with axial --tokens patches -o b.npz
says 'added: 1 row at the top, 2 rows at the bottom, 1 column on the left, 1 column on the right'
expect 0 inspect b.npz; prints 'tokens *f32 *(20, 16)'
expect 0 encode picture16.pam --patch 4 --alpha white --with axial --tokens patches -q -o w.npz
expect 0 encode picture16.pam --patch 4 --alpha black --with axial --tokens patches -q -o b.npz
expect 1 compare w.npz b.npz
expect 0 encode picture16.pam --patch 4 -q -o b.npz # positions ask for no colours

refused() { expect "$@" --with axial -o no.npz; no_file no.npz; }
refused 3 encode picture16.pam --patch 4 --tokens patches; says 'transparent in places: choose alpha=white'
refused 2 encode picture.ppm --patch 4 --size 10x12; says 'no multiple of patch=4'
refused 2 encode picture.ppm --patch 4 --size 16x16; says 'cannot be cropped to 16x16'
refused 2 encode picture.ppm --patch 4 --fit stretch; says 'fit'
refused 2 encode picture.ppm --patch 0; says 'patch'
refused 2 encode picture.ppm --patch 4 --channels gray --normalize clip --tokens patches; says 'normalize=clip is of three'
refused 2 encode grid:3x4 --tokens patches; says 'grid:3x4 is no picture'
refused 3 encode picture.ppm --max-pixels 100 --patch 4; says 'more than the limit of 100'
expect 2 encode picture.ppm --patch 4 --with alibi --tokens patches -o no.npz
expect 3 inspect picture.ppm --from gml

# What an input has no use for.
unused() { expect "$@"; [ ! -s "$out" ] || fail "$command: standard output is not empty"; }
unused 2 inspect c.npz --patch 8; says '^posenc: --patch is of pictures, and c.npz is none'
unused 2 inspect c.npz --lenient; says 'lenient is of pictures'
unused 2 inspect picture.ppm --loops keep; says '^posenc: --loops is of graphs, and picture.ppm is none'
unused 2 inspect seq:4 --duplicates sum; says 'duplicates is of graphs'
# Options of graphs have arrays read as one.
unused 3 inspect c.npz --loops keep; says '^posenc: c.npz: there is no array edge_index'
graph=$source/tests/golden/graphs/plain.npz
expect 0 inspect "$graph"; prints ': 1 array$'
expect 0 inspect "$graph" --loops keep; prints 'edge-index, 1 graph'
expect 0 inspect "$graph" --from edge-index; prints 'edge-index, 1 graph'

# Damage.
size=$(wc -c <small.png)
head -c $((size - 20)) small.png >cut.png
refused 3 encode cut.png --patch 1; says '^posenc: cut.png: the file ends in chunk I'
expect 0 inspect cut.png --lenient --patch 1; says 'warning: cut.png: the file ends'
expect 0 encode cut.png --lenient --alpha drop --patch 2 --with axial --tokens patches -q -o cut.npz
{ cat small.png; echo more; } >long.png
refused 3 encode long.png --patch 1; says "there are more data behind the end, at byte $size"
expect 0 encode long.png --lenient --alpha drop --patch 2 --with axial --tokens patches -o long.npz; says 'more data behind the end'
gzip -n -c cut.png >packed
refused 3 encode packed --patch 1; says '^posenc: packed: the file ends in chunk I'
code=0; "$posenc" encode - --patch 1 -o no.npz <packed 2>"$err" || code=$?
[ $code = 3 ] || fail "exit code $code of a damaged picture in gzip"
says '^posenc: standard input: the file ends in chunk I'; no_file no.npz
printf 'P5 16384 16384 255\n' >huge.pgm
refused 3 encode huge.pgm --lenient; says 'huge.pgm: 16384 x 16384 pixels are more than a lenient reader takes from 19 bytes'
printf 'GIF89a' >x.png
refused 3 encode x.png; says 'x.png: this is a GIF file, and this build reads pictures from PNG, PNM.*; convert it'
printf 'nothing' >y.png
refused 3 encode y.png; says 'y.png: this is no picture'
expect 4 encode none.png; says 'none.png: No such file'

expect 0 help encode; prints '--patch-order c,ph,pw'; prints '--lenient'
expect 0 help --man; prints 'Reading pictures'
expect 0 completion words -- encode; prints '^--patch-order'; prints '^--lenient'

# JPEG and WebP, where the build has their libraries.
photos=$source/tests/golden/photos
if "$posenc" inspect "$photos/full.jpg" >/dev/null 2>&1; then
	expect 0 inspect "$photos/halved.jpg"; prints 'jpeg, 37 x 29 pixels, RGB, 8 bits'
	expect 0 encode "$photos/progressive.jpg" --patch 4 --tokens patches --with axial -q -o jpeg.npz
	expect 0 inspect jpeg.npz; prints 'tokens *f32 *(63, 48)'
	head -c 1200 "$photos/full.jpg" >cut.jpg
	refused 3 encode cut.jpg --patch 4; says 'cut.jpg: JPEG: Premature end of JPEG file, near byte'
	expect 0 encode cut.jpg --patch 4 --lenient --tokens patches --with axial -o cut.npz; says 'warning: cut.jpg: JPEG:'
	{ cat "$photos/full.jpg"; echo more; } >long.jpg
	expect 0 inspect long.jpg; says 'long.jpg: JPEG: 5 bytes after the picture are not read'
	refused 3 encode "$photos/inks.jpg" --patch 4; says 'CMYK'
else
	refused 3 encode "$photos/full.jpg"; says 'this is a JPEG file'
fi
if "$posenc" inspect "$photos/lossy.webp" >/dev/null 2>&1; then
	refused 3 encode "$photos/alpha.webp" --patch 4 --tokens patches --with axial; says 'alpha'
	expect 0 encode "$photos/alpha.webp" --patch 4 --alpha white --tokens patches --with axial -q -o webp.npz
	head -c 300 "$photos/lossy.webp" >cut.webp
	refused 3 encode cut.webp --patch 4; says 'cut.webp: WebP: the data end too early'
	{ cat "$photos/lossy.webp"; echo more; } >long.webp
	expect 0 inspect long.webp; says 'long.webp: WebP: 5 bytes after the picture are not read'
	refused 3 encode "$photos/moving.webp" --patch 4; says 'animation'
else
	refused 3 encode "$photos/lossy.webp"; says 'this is a WebP file'
fi
