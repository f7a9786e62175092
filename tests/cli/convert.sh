#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# posenc convert against the conversion scripts' reshape and transpose (golden/make_attend.py).
. "$2/tests/cli/lib.sh"
golden=$source/tests/golden/convert
from=$golden/interleaved.safetensors to=$golden/halves.safetensors

expect 0 convert "$from" --rope interleaved:halves --head-dim 6 -o a.safetensors; silent
expect 0 compare a.safetensors "$to" --exact
expect 0 inspect a.safetensors; prints 'k_proj.weight *f16'; prints 'format: pt'
expect 0 convert a.safetensors --rope halves:interleaved --head-dim 6 -o b.safetensors --json
prints '"tensors":8,"converted":4'
expect 0 compare b.safetensors "$from" --exact
expect 1 compare a.safetensors "$from" --exact; prints '^different .*q_norm.weight'; prints '^alike .*v_proj.weight'
prints '^alike .*seq_proj.weight'
expect 0 convert "$from" --rope interleaved:halves --head-dim 6 --rotary-dim 4 -o a.npz
expect 0 compare a.npz "$golden/partial.safetensors" --exact
expect 0 convert "$from" --rope interleaved:halves --head-dim 6 --tensors '*q_proj.weight,*.k_proj.*' -o c.npz -v
says 'q_proj.weight$'
expect 1 compare c.npz "$to" --exact; prints '^different .*q_proj.bias'; prints '^alike .*k_proj.weight'
expect 0 convert "$golden/fused.safetensors" --rope interleaved:halves --head-dim 6 --tensors '*wq' -o c.npz

expect 2 convert; says 'takes one file'
expect 2 convert "$from" --rope interleaved:halves --head-dim 6; says 'needs -o'
expect 2 convert "$from" --head-dim 6 -o no.npz; says 'needs --rope'
expect 2 convert "$from" --rope halves --head-dim 6 -o no.npz; says 'is neither halves:interleaved'
expect 2 convert "$from" --rope halves:interleaved -o no.npz; says 'needs --head-dim'
expect 3 convert "$from" --rope halves:interleaved --head-dim 10 -o no.npz; says 'q_proj.weight: 24 rows are not heads of 10'
expect 2 convert "$from" --rope halves:interleaved --head-dim 6 --rotary-dim 3 -o no.npz; says 'do not make pairs'
expect 2 convert "$from" --rope halves:interleaved --head-dim 6 --tensors '*q_proj*,wk' -o no.npz; says 'matches "wk"'
expect 3 convert "$golden/fused.safetensors" --rope halves:interleaved --head-dim 6 -o no.npz; says '--tensors'
expect 3 convert "$golden/narrow.safetensors" --rope halves:interleaved --head-dim 6 -o no.npz; says 'would not be written as it is'
cp "$from" mine.safetensors
expect 2 convert mine.safetensors --rope halves:interleaved --head-dim 6 -o mine.safetensors; says 'is the input itself'
no_file no.npz
exit 0
