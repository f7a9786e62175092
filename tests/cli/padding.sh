#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Grids with padding, and axial's presets, as a user would ask for them.
. "$2/tests/cli/lib.sh"

# mask FILE 'SHAPE' BYTES: a .npy of bools; bytes as printf takes them.
mask()
{
	{
		printf '\223NUMPY\001\000\166\000'
		printf '%-117s\n' "{'descr': '|b1', 'fortran_order': False, 'shape': ($2), }"
		printf "$3"
	} >"$1"
}

# The image fills 2 rows and 3 columns of a grid of 3 x 4.
mask m.npy '3, 4' '\0\0\0\1\0\0\0\1\1\1\1\1'
mask two.npy '2, 2, 2' '\0\0\0\0\0\1\0\1'
mask inverted.npy '2, 2' '\1\0\1\0'

expect 0 encode grid:3x4 --padding-mask m.npy --with axial:preset=detr,dim=8; silent
head -n 4 "$out" | tail -n +2 >rows
expect 0 encode grid:2x3 --with axial:preset=detr,dim=8; silent
head -n 4 "$out" | tail -n +2 >small
cmp -s rows small || fail 'the first row is not that of the image alone'
expect 0 encode grid:2x2 --padding-mask two.npy --with axial:preset=deformable_detr,dim=8 -o a.npz
expect 0 inspect a.npz; prints 'position_encoding *f32 *(2, 4, 8)'; prints 'padding_mask: two.npy'
expect 0 encode grid:2x2 --padding-mask inverted.npy --with axial:preset=detr,dim=8 -o a.npz
says 'the first place is padding and the last is not: 1 means padding here'
expect 0 encode "$source/tests/golden/patches/picture.ppm" --patch 4 -q --padding-mask m.npy --with axial -o a.npz

expect 2 encode grid:3x4 --padding-mask m.npy --with axial -o m.npy; says 'is the input itself'
expect 2 encode seq:4 --padding-mask m.npy; says 'seq:4 is no grid or picture'
expect 3 encode grid:4x3 --padding-mask m.npy; says 'the padding mask is (3, 4), but must be (4, 3)'
expect 3 encode grid:3x4 --padding-mask a.npz -o b.npz; says 'bool or'
expect 4 encode grid:3x4 --padding-mask nothing.npy -o b.npz
expect 3 encode grid:3x4 --padding-mask m.npy --with rope2d -o b.npz; says 'does not tell padding'

# Every preset on a grid or a video of its own.
for preset in mae moco jepa detr deformable_detr timm simple_vit diffusers xcit positional_encodings; do
	expect 0 encode grid:4x6 --with axial:preset=$preset,dim=16 -o a.npy; silent
	expect 0 inspect a.npy; prints '(24, 16)'
done
for preset in vjepa simple_vit_3d diffusers_3d videomae; do
	expect 0 encode grid:2x3x4 --prefix 1 --with axial:preset=$preset,dim=32 -o a.npy; silent
	expect 0 inspect a.npy; prints '(25, 32)'
done
expect 0 encode grid:2x3x4 -q -o a.npy
