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
expect 2 convert "$from" --rope halves --head-dim 6 -o no.npz; says 'is not one of halves:interleaved, interleaved:halves'
expect 2 convert "$from" --rope halves:interleaved -o no.npz; says 'needs --head-dim'
expect 3 convert "$from" --rope halves:interleaved --head-dim 10 -o no.npz; says 'q_proj.weight: 24 rows are not heads of 10'
expect 2 convert "$from" --rope halves:interleaved --head-dim 6 --rotary-dim 3 -o no.npz; says 'do not make pairs'
expect 2 convert "$from" --rope halves:interleaved --head-dim 6 --tensors '*q_proj*,wk' -o no.npz; says 'matches "wk"'
expect 3 convert "$golden/fused.safetensors" --rope halves:interleaved --head-dim 6 -o no.npz; says '--tensors'
expect 3 convert "$golden/narrow.safetensors" --rope halves:interleaved --head-dim 6 -o no.npz; says 'would not be written as it is'
cp "$from" mine.safetensors
expect 2 convert mine.safetensors --rope halves:interleaved --head-dim 6 -o mine.safetensors; says 'is the input itself'
no_file no.npz

# Patch kernels against timm's resample_patch_embed (golden/make_patch_kernel.py).
kernels=$source/tests/golden/patch_kernel
from=$kernels/vit.safetensors
expect 0 convert "$from" --patch-kernel 4:6 --patch-order ph,pw,c -o p.safetensors -v; says 'visual.patch_embed.proj.weight$'
expect 0 compare p.safetensors "$kernels/large.safetensors" --tolerance 1e-7
prints '^alike .*vision_model.embeddings.patch_embedding.weight'; prints '^alike .*blocks.0.attn.proj.weight'
expect 0 convert "$from" --patch-kernel 4x4:6x6 --tensors 'patch_embed.proj.weight,visual.*' -o p.npz --json
prints '"patch_kernel":"4x4:6x6","tensors":5,"converted":2'
expect 1 compare p.npz "$kernels/large.safetensors" --tolerance 1e-7
prints '^different .*patch_embedding.weight'; prints '^alike .*visual.patch_embed.proj.weight'
expect 0 convert "$from" --patch-kernel 4:4 --tensors 'visual.*' -o same.safetensors
expect 0 compare same.safetensors "$from" --exact
expect 0 convert "$from" --patch-kernel 4:6 --tensors 'visual.*' --resize bilinear --no-antialias -o q.npz
expect 1 compare q.npz p.npz; prints '^different .*visual.patch_embed'

expect 0 convert "$kernels/flax.npz" --patch-kernel 4:6 -o f.npz; silent
expect 0 compare f.npz "$kernels/flax_large.npz" --tolerance 1e-6; prints '^alike .*params/head/kernel'
expect 0 convert "$kernels/flax.npz" --patch-kernel 4:6 -o f.safetensors
expect 0 compare f.npz f.safetensors --exact
expect 3 convert "$kernels/flax.npz" --patch-kernel 5:6 -o no.npz; says '(5, 5, channels, dim)'
expect 2 convert "$kernels/flax.npz" --patch-kernel 4:6 -o no/; says 'params/embedding/kernel is no name for a file'
expect 3 convert "$from" --patch-kernel 4:6 -o no.npz; says 'patch_embedding.weight: it is flat: --patch-order'
expect 3 convert "$from" --patch-kernel 5:6 -o no.npz; says 'no embedding of patches of 5 x 5'
expect 3 convert "$from" --patch-kernel 4:6 --tensors 'blocks*' --patch-order c,ph,pw -o no.npz; says 'rows of 4 are not made of patches'
expect 3 convert "$golden/fused.safetensors" --patch-kernel 4:6 -o no.npz; says 'no tensor.s name ends in a patch embedding'
for sides in 4 4: :6 4:0 4x:6 4:6x 4:999 4:6x6x6; do
	expect 2 convert "$from" --patch-kernel $sides -o no.npz; says 'is not of the form'
done
expect 2 convert "$from" --patch-kernel 4:6 --rope halves:interleaved -o no.npz; says 'two conversions'
expect 2 convert "$from" --patch-kernel 4:6 --head-dim 6 -o no.npz; says 'head-dim has no effect with --patch-kernel'
expect 2 convert "$from" --patch-kernel 4:6 --resize cubic -o no.npz; says 'not one of bicubic, bilinear'
expect 2 convert "$from" --patch-kernel 4:6 --patch-order c -o no.npz; says 'not one of c,ph,pw, ph,pw,c'
no_file no.npz
exit 0
