#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# posenc attend against attention written out in numpy (golden/make_attend.py), and what it refuses.
. "$2/tests/cli/lib.sh"
golden=$source/tests/golden/attend
plain=$golden/plain.npz

# gives NAME ARGUMENT...: attend with these arguments gives golden/NAME_is.npz, in f32 and in f64.
gives() {
	name=$1
	shift
	expect 0 attend "$@" --lse -o "$name.npz"
	if [ "$name" = one ]; then says 'f64 are rounded to f32; --core reference'; else silent; fi
	expect 0 compare "$name.npz" "$golden/${name}_is.npz" --tolerance 1e-5
	expect 0 attend "$@" --lse --core reference --dtype f64 -o "$name.npz"; silent
	expect 0 compare "$name.npz" "$golden/${name}_is.npz" --tolerance 1e-13
}

gives none "$plain"
gives none "$golden/plain.safetensors"
gives causal "$plain" --causal
gives offset "$plain" --causal --offset -1
gives window "$plain" --window 2,1
gives left "$plain" --window 1,inf
gives left "$plain" --window 1,-1
gives numbers "$plain" --scale 0.7 --softcap 1.5
gives alibi "$plain" --with alibi --causal
gives full "$golden/full.npz" --with alibi:max_bias=3 --causal
gives one "$golden/one.npz"

# Linear attention: of what it can have, and why not of the rest.
expect 0 attend "$plain" --core linear --causal --lse -o linear.npz; silent
expect 0 inspect linear.npz; prints 'attention: {"core":"linear","causal":true}'
expect 0 attend "$plain" --core linear --with rope:head_dim=8 -o linear.npz
expect 2 attend "$plain" --core linear --with alibi -o no.npz; says 'alibi: it acts at the site scores, on each pair'
expect 2 attend "$plain" --core linear --window 3,0 -o no.npz; says 'linear attention cannot have a window'

expect 0 inspect one.npz; prints 'out *f64 *(1, 4, 5, 6)'; prints 'lse *f64 *(1, 4, 5)'
prints 'attention: {"core":"reference","causal":false}'
expect 0 attend "$plain" --with alibi -o a.npz -v; says 'alibi: heads=4, from the shape of q'
expect 0 inspect a.npz; prints ': 1 array'; prints '"heads":"4"'
expect 0 attend "$plain" -o a.npy; silent
expect 0 inspect a.npy; prints '(2, 4, 5, 6)'
expect 0 attend "$plain" -o a/
"$posenc" attend "$plain" --dtype bf16 --format safetensors -o - >b.safetensors || fail 'to a pipe'
expect 0 compare a/ b.safetensors --tolerance 1e-2

# The report.
expect 0 attend "$plain" --with alibi --causal --window 3,0 --lse -o a.npz --json
prints '"input":{"kind":"attention","name":"[^"]*plain.npz","batch":2,"heads":4,"key_heads":2,"queries":5,"keys":7,"width":8,"value_width":6}'
prints '"attention":{"core":"tiled","causal":true,"window":\[3.0,0.0\]}'
prints '"arrays":\[{"name":"out","dtype":"f32","shape":\[2,4,5,6\]},{"name":"lse"'
prints '"encoders":\[{"name":"alibi","options":{"heads":"4"'
# The same bytes again, at any number of threads.
expect 0 attend "$plain" --with alibi --causal --window 3,0 --lse -o b.npz --threads 3
cmp -s a.npz b.npz || fail 'other bytes the second time'

# Weights: of --weights before those of the file, and saved.
expect 0 attend "$golden/full.npz" --with alibi -o a.npz --save-weights w.npz; silent
expect 0 inspect w.npz; prints 'slopes *f64 *(4)'
expect 0 attend "$golden/full.npz" --with alibi --weights w.npz -o b.npz
expect 0 compare a.npz b.npz --exact
expect 0 encode seq:4 --with alibi:heads=4 -o other.npz --save-weights other_w.npz
expect 0 attend "$golden/full.npz" --with alibi --weights other_w.npz -o b.npz
expect 1 compare a.npz b.npz
expect 0 attend "$golden/full.npz" -o b.npz; says 'the array slopes is not used'

# Weights in a folder beside q, k and v, of the names that PyTorch's modules give too.
expect 0 attend "$plain" -o out.npy
mkdir own
for name in q k v; do cp out.npy own/$name.npy; done
expect 0 attend own/ --with t5 -o a.npz --save-weights w/ --seed 7
says 't5: no weights given: begun as the authors do, from seed 7'
expect 0 attend own/ --with t5 -o b.npz --seed 7 -q; silent
expect 0 compare a.npz b.npz --exact
for name in relative_attention_bias relative_attention_bias.weight t5.relative_attention_bias.weight; do
	cp w/relative_attention_bias.npy own/$name.npy
	expect 0 attend own/ --with t5 -o b.npz; silent
	expect 0 compare a.npz b.npz --exact
	rm own/$name.npy
done
mkdir torch
cp w/relative_attention_bias.npy torch/relative_attention_bias.weight.npy
expect 0 attend own/ --with t5 --weights torch/ -o b.npz; silent
expect 0 compare a.npz b.npz --exact
# Misspelt ones are refused, and what only needs none is told.
cp w/relative_attention_bias.npy own/relative_bias.npy
expect 2 attend own/ --with t5 -o no.npz; says 'nothing takes the array relative_bias, and t5 has no weights'
expect 0 attend own/ --with alibi -o b.npz; says 'the array relative_bias is not used'
rm own/relative_bias.npy
cp w/relative_attention_bias.npy own/positions.npy
expect 2 attend own/ -o no.npz; says 'name it q_positions or k_positions'
rm own/positions.npy

# Sizes follow where they mean the same: shaw shares a table, pope counts heads of keys, and an encoder in
# another's place gets its sizes too.
expect 0 attend "$plain" --with shaw -o b.npz -v; says 'shaw: value_dim=6'
expect 0 inspect b.npz; prints '"heads":"0"'
expect 0 attend "$plain" --with pope -o b.npz -v; says 'pope: heads=2'
expect 0 attend "$plain" --with randomised:over=alibi -o b.npz; silent
expect 0 attend "$plain" --with randomised:over=rope -o b.npz
expect 0 attend own/ --with dape:over=alibi -o a.npz --save-weights dape/
for name in alibi.slopes dape.alibi.slopes; do
	cp dape/alibi.slopes.npy own/$name.npy
	expect 0 attend own/ --with dape:over=alibi -o b.npz; says 'dape: no mlp2.0.weight given'
	grep -q 'not used' "$err" && fail "$name is used"
	expect 0 compare a.npz b.npz --exact
	expect 0 attend own/ --with randomised:over=alibi -o c.npz
	expect 0 attend own/ --with dape:over=alibi --weights dape/ -o b.npz; silent
	rm own/$name.npy
done
expect 0 attend own/ --with dape:over=kerple -o a.npz --save-weights kerple/
cp kerple/*.npy own/
expect 0 attend own/ --with dape:over=kerple -o b.npz; silent
expect 0 compare a.npz b.npz --exact
expect 2 attend "$plain" --with dape:over=alibi:heads=3 -o no.npz; says 'alibi has 3 heads, and dape 4'

# Where tokens stand.
expect 0 attend "$golden/square.npz" -o b.npz --causal; says 'k_positions may be .* taken as (batch, length)'
expect 0 attend "$golden/grid.npz" --grid 4x4 --prefix 1 -o b.npz; silent
expect 0 attend "$golden/axes.npz" -o b.npz; silent
expect 2 attend "$golden/axes.npz" --with alibi -o no.npz; says 'one number a position, and these have 2'
# Queries pooled to a grid of their own.
pooled=$source/tests/golden/decomposed/mvit_mixed.npz
expect 0 attend "$pooled" --grid 4x5 --query-grid 6x2 --prefix 1 --with decomposed:head_dim=5 --core reference -o b.npz
expect 1 compare b.npz "$pooled" --tolerance 1e-5; prints '^alike *out '
expect 3 attend "$pooled" --grid 4x5 --query-grid 6x3 --prefix 1 -o no.npz; says 'has 19 tokens, and there are 13 queries'
expect 2 attend "$plain" --loops keep -o no.npz; says 'loops is of graphs, and .* is none'
expect 2 attend "$plain" --query-grid 7x1 -o no.npz; says 'query-grid is of a --grid'
expect 2 attend "$golden/axes.npz" --grid 4x4 --prefix 1 -o no.npz; says 'no need of a --grid'
expect 3 attend "$golden/grid.npz" --grid 4x4 -o no.npz; says 'has 16 tokens, and there are 17 keys'
expect 2 attend "$golden/grid.npz" --grid 4x4 --prefix 1 --with alibi -o no.npz; says 'does not take a grid'
printf '0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 10\n10 11\n11 12\n12 13\n13 14\n14 15\n15 16\n' >path.txt
expect 0 attend "$golden/grid.npz" --graph path.txt -q -o b.npz
expect 2 attend "$golden/grid.npz" --graph path.txt -q --with lap:k=2 -o no.npz; says 'lap: it acts on tokens'
expect 2 attend "$golden/full.npz" --offset 3 -o no.npz; says 'say the same'

# Every sequence encoder takes its sizes from q, or says that it acts on tokens.
for encoder in $("$posenc" list seq | awk '{print $2}'); do
	if [ "$encoder" = randomised ]; then # acts wherever the encoder does that it is over
		expect 2 attend "$source/datasets/qkv.safetensors" --with randomised -o no.npz; says 'sinusoidal: it acts on tokens'
		expect 0 attend "$source/datasets/qkv.safetensors" --with randomised:over=alibi:heads=2 --causal -o b.npz
	elif "$posenc" help "$encoder" | grep -qE '^Acts in attention at: (tokens|sequence)$'; then
		expect 2 attend "$source/datasets/qkv.safetensors" --with "$encoder" -o no.npz; says 'it acts on tokens'
	else
		expect 0 attend "$source/datasets/qkv.safetensors" --with "$encoder" --causal -o b.npz
	fi
done

# Refused before anything is written.
expect 2 attend; says 'attend takes one file'
expect 2 attend "$plain"; says 'needs -o'
expect 2 attend "$plain" --lse -o no.npy; says 'holds one array'
expect 2 attend "$plain" -o no.tsv; says 'text holds'
expect 2 attend "$plain" --with sinusoidal -o no.npz; says 'it acts on tokens, before attention'
expect 2 attend "$plain" --with alibi:heads=0 -o no.npz
expect 3 attend "$plain" --with alibi:heads=8 -o no.npz; says 'it has 8 heads, and attention 4'
expect 3 attend "$golden/wrong.npz" -o no.npz; says 'q is 8 wide, and k 4'
expect 3 attend "$golden/lacks.npz" -o no.npz; says 'there is no array v'
expect 3 attend "$golden/wrong.npz" -o no.npz; says 'wrong.npz: q is 8 wide'
# Text is no number: a folder whose mask or positions are of letters.
text() { printf '\223NUMPY\001\000\166\000%-117s\nA' "{'descr': '|S1', 'fortran_order': False, 'shape': (1,), }" >"$1"; }
expect 0 attend "$plain" -o text/
for name in q k v; do cp text/out.npy text/$name.npy; done
rm text/out.npy
for name in mask q_positions key_lengths; do
	expect 0 attend text/ -o b.npz
	text text/$name.npy
	expect 3 attend text/ -o no.npz; says "text/: $name holds text, not numbers"
	rm text/$name.npy
done
text letters.npy
expect 3 encode positions:letters.npy -o no.npz; says 'letters.npy: positions are numbers, not text'
expect 3 attend "$source/README.md" -o no.npz; says 'neither .npy'
expect 4 attend nothing.npz -o no.npz; says 'nothing.npz'
expect 2 attend "$plain" --window 3 -o no.npz; says 'not LEFT,RIGHT'
expect 2 attend "$plain" --window 3,x -o no.npz; says 'not LEFT,RIGHT'
expect 2 attend "$plain" --scale 0 -o no.npz; says 'not a number other than 0'
expect 2 attend "$plain" --softcap -1 -o no.npz; says 'not a number above 0'
expect 2 attend "$plain" --core fast -o no.npz; says 'not one of tiled'
expect 2 attend "$plain" --offset here -o no.npz; says 'not a position'
expect 2 attend "$plain" --prefix 1 -o no.npz; says 'is of a --grid'
expect 2 attend "$plain" --grid 7x1 --graph path.txt -o no.npz; says 'not on both'
expect 2 attend "$plain" --grid 7x1 --offset 1 -o no.npz; says 'of a sequence'
cp "$plain" mine.npz
expect 2 attend mine.npz -o mine.npz; says 'is the input itself'
expect 2 attend mine.npz --with alibi -o no.npz --save-weights mine.npz; says 'is a file that is read'
cmp -s "$plain" mine.npz || fail 'the input was touched'
expect 0 attend "$plain" --dtype f64 -o b.npz; says 'only --core reference computes in f64'
no_file no.npz
exit 0
