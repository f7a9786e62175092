#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# show: which kind of picture takes which option, one graph of many, and files of arrays.
. "$2/tests/cli/lib.sh"
sbm=$source/datasets/sbm.txt csl=$source/datasets/csl.g6 ppm=$source/tests/golden/patches/picture.ppm

# Every kind with every option that not all take: a kind takes it, or it is refused with the kinds that do.
takes_token=' similarity profile query effect ' takes_panels=' table bias query distance nodes '
takes_array=' sheet similarity matrix profile spectrum table bias query distance nodes eigenvalues curves '
# every KIND ARRAY ARGUMENT...
every() {
	kind=$1 array=$2
	shift 2
	for option in token panels array; do
		eval "takes=\$takes_$option"
		case $option in
			token) value=1 ;;
			panels) value=0 ;;
			array) value=$array ;;
		esac
		case $takes in
			*" $kind "*)
				expect 0 show "$@" --plot "$kind" "--$option" "$value" -q --plain -o x.png; silent; rm x.png ;;
			*)
				expect 2 show "$@" --plot "$kind" "--$option" "$value" -q --plain -o x.png; no_file x.png
				says "^posenc: --$option: --plot $kind does not take it, but "
				for other in $takes; do says "[ ,]$other\b"; done ;;
		esac
	done
}
every sheet position_encoding grid:3x4 --with axial:dim=16
every similarity position_encoding seq:6
every matrix position_encoding seq:6
every profile position_encoding grid:3x4 --with axial:dim=16
every spectrum position_encoding seq:6
every table cos seq:6 --with rope
every bias bias seq:6 --with alibi
every query bias grid:3x4 --with swin:heads=2
every distance bias_table seq:6 --with alibi
every nodes random_walk_pe "$sbm" --with rwse:steps=3
every eigenvalues laplacian_eigenvalues "$sbm" --with lap:k=3
every curves random_walk_pe "$sbm" --with rwse:steps=3
every effect weight "$ppm" --patch 4 --fit crop --with peg --tokens patches
# A sheet takes a token for its frame, where there are several.
expect 0 show grid:2x3x4 --with mrope --plot sheet --token 1,0,0 -o x.png
expect 2 show grid:3x4 --plot sheet --token 1 -q -o no.png; says 'similarity, profile, query or effect$'
# Without --plot it is a kind that takes what is given.
chosen() {
	plot=$1
	shift
	expect 0 show "$@" -q --json -o x.png; prints "\"plots\":\\[$plot\\]"
}
chosen '"similarity"' seq:5 --token 2
chosen '"similarity"' "$sbm" --with rwse --token 2
chosen '"similarity"' seq:5 --with rope --token 2
chosen '"nodes"' "$sbm" --with rwse --panels 2
chosen '"bias"' grid:3x4 --with swin:heads=2 --plot bias --panels 1
chosen '"nodes","nodes"' "$sbm" --panels 0
expect 2 show grid:3x4 -q --panels 0 -o no.png; says 'panels: --plot sheet does not take it, but table, bias'
expect 2 show seq:5 --with alibi --array slopes --panels 0 --token 1 -o no.png; no_file no.png
# What is of another kind of input.
expect 2 show seq:4 --edges directed -o no.png; says 'edges is of graphs, and seq:4 is none'
expect 2 show grid:3x4 --edge-weights=none -o no.png; says 'edge-weights is of graphs'
expect 2 show "$sbm" --patch 4 -o no.png; says 'patch is of pictures, and .*sbm.txt is none'
expect 2 show "$sbm" --lenient -o no.png; says 'lenient is of pictures'
expect 2 show seq:4 --prefix 1 -o no.png; says 'prefix is of grids and pictures'
expect 2 encode seq:4 --prefix 1; says 'prefix is of grids and pictures'
expect 2 encode grid:2x2 --loops keep; says 'loops is of graphs'
no_file no.png

# One graph of many is what it is among the others: its signs too, and the features of its nodes.
expect 0 encode "$csl" --with lap:k=3,sign=random --seed 5 -o many.npz --dtype f64 -q
for item in 0 7 149; do
	expect 0 show many.npz --graph "$csl" --item $item --plain -o x.png -q
	expect 0 show "$csl" --item $item --with lap:k=3,sign=random --seed 5 --plain -o y.png -q; silent
	cmp -s x.png y.png || fail "graph $item of many looks different"
done
expect 0 encode "$csl" --with rwse:steps=4 --arrays random_walk_pe -o features.npy -q
expect 0 show "$csl" --item 7 --with lap:k=3 --tokens features.npy --plain --plot effect -o x.png
sed -n 8p "$csl" >one.g6
expect 0 encode one.g6 --with rwse:steps=4 --arrays random_walk_pe -o feature.npy -q
expect 0 show one.g6 --with lap:k=3 --tokens feature.npy --plain --plot effect -o y.png
cmp -s x.png y.png || fail 'the features are those of other nodes'
# Only that one is computed: at -v, lap tells of how many graphs.
expect 0 show "$csl" --item 7 --with lap:k=3 -v -o x.png; says '1 of 1 graphs certified'
mkdir graphs
printf 'Bw\n' >graphs/a.g6
printf 'Bw\nCr\n' >graphs/b.g6
expect 0 show graphs --item 2 --with rwse:steps=2 --json -o x.png
prints 'graphs: graph 2 of 3, of b.g6, 4 nodes, 4 edges'
prints '"files":\[{"file":"b.g6","first":0,"graphs":1}\]'

# A file of encode names the grid its tokens stand on.
expect 0 encode grid:3x4 --with axial:preset=mae,dim=16 --prefix 2 -q -o a.npz --dtype f64
expect 0 inspect a.npz; prints 'grid: 3x4$'; prints 'prefix: 2$'
expect 0 show a.npz --plain --json -o x.png; prints '"plots":\["sheet"\]'
expect 0 show grid:3x4 --with axial:preset=mae,dim=16 --prefix 2 --plain -o y.png
cmp -s x.png y.png || fail 'the grid of the file is not that of its tokens'
expect 0 show a.npz --token 2,3 -v -o x.png; says 'plot similarity'
expect 0 show a.npz --grid 3x4 --plain --json -o z.png; prints '"tokens":14}'
cmp -s z.png y.png || fail '--grid leaves out the prefix of the file'
expect 0 show a.npz --grid 2x6 --json -o x.png; prints 'a.npz on grid:2x6 after 2 prefix tokens'
expect 2 show a.npz --grid 7x2 -o no.png; says 'has 14 tokens, the grid 14 and 2 before it'
expect 0 show a.npz --grid 7x2 --prefix 0 --json -o x.png; prints 'grid of 7 x 2 tokens'
expect 2 show a.npz --prefix 0 -o no.png; says 'has 14 tokens, the grid 12 and 0 before it'
expect 0 encode grid:2x3x4 --with mrope -q -o a/
expect 0 inspect a/; prints 'grid: 2x3x4$'
expect 0 show a/ --plot sheet --json -o x.png; prints 'frame 1 of 2'
expect 0 encode "$ppm" --patch 4 --with axial -q -o a.safetensors
expect 0 inspect a.safetensors; prints 'grid: 3x4$'
expect 0 show a.safetensors --json -o x.png; prints '"plots":\["sheet"\]'
expect 0 encode grid:3x4 --with decomposed -q -o d.npz
expect 0 show d.npz --json -o x.png; prints '"plots":\["table"\]'; prints 'rel_pos_h'
expect 2 show d.npz --plot sheet -o no.png; says 'rel_pos_h (5, 64), rel_pos_w (7, 64); choose by --array'

# --grid and --graph of a file are refused where nothing stands on them.
for kind in table matrix curves; do
	expect 2 show a.npz --grid 7x2 --plot $kind -o no.png
	says "grid: --plot $kind does not take it, but sheet, similarity, profile, spectrum or query$"
done
expect 0 show a.npz --grid 7x2 --prefix 0 --plot profile -o x.png
expect 0 encode "$sbm" --with lap:k=3 -q -o l.npz
expect 2 show l.npz --graph "$sbm" --plot eigenvalues -q -o no.png; says 'graph: --plot eigenvalues does not take it, but nodes$'
expect 2 show l.npz --loops drop -o no.png; says 'loops is of graphs, and l.npz is none'
expect 2 show l.npz --patch 3 -o no.png; says 'patch is of pictures'
expect 2 show l.npz --prefix 3 -o no.png; says 'prefix is of grids'
no_file no.png

# A prefix that no grid could have is not one.
for prefix in 9223372036854775807 -1; do
	expect 0 encode grid:3x4 --with axial:dim=8 -q -o p/
	sed "s/^{/{\"prefix\":\"$prefix\",/" p/metadata.json >changed.json
	mv changed.json p/metadata.json
	expect 0 show p/ --json -o x.png; prints '"plots":\["sheet"\]'
done

# Arrays of others are recognised by name and shape, or must be chosen.
expect 0 encode seq:6 --with t5:heads=2 --save-weights w/ -q -o b.npz
expect 0 show w/ -v -o x.png; says 'plot table'
rm w/metadata.json
expect 2 show w/ -o no.png
says 'nothing to show: w/ holds no array that is known by name and shape: there is relative_attention_bias (32, 2); choose by --array'
expect 0 show w/ --array relative_attention_bias -v -o x.png; says 'plot table'
expect 2 show w/ --array nothing -o no.png; says 'no array "nothing", but relative_attention_bias (32, 2)'
expect 2 show w/ --plot bias -o no.png; says 'holds no array bias'
expect 2 show w/ --plot matrix -o no.png; says 'holds no row of numbers a token .*choose by --array'
expect 0 show b.npz -v -o x.png; says 'plot bias'
# A weight that is called like a bias of a layer, with three dimensions.
printf '\200\000\000\000\000\000\000\000%-128s' \
	'{"layer.bias":{"dtype":"U8","shape":[2,2,2],"data_offsets":[0,8]},"cos":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}}' |
	head -c 136 >u.safetensors
printf '123456789' >>u.safetensors
expect 2 show u.safetensors -o no.png; says 'there is layer.bias (2, 2, 2), cos (1); choose by --array'
expect 0 show u.safetensors --array layer.bias -v -o x.png; says 'plot table'
expect 0 show u.safetensors --array layer.bias --plot bias -o x.png
# An array without a name is a table; what else it is must be said.
expect 0 encode seq:8 --with alibi -q --arrays bias -o c.npy
expect 0 show c.npy -v -o x.png; says 'plot table'
expect 0 show c.npy --plot bias --panels 3 --plain -o x.png
expect 0 show seq:8 --with alibi --plot bias --panels 3 --plain -o y.png
cmp -s x.png y.png || fail 'the bias of a file looks different'
no_file no.png
