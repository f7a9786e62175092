#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Pictures: every kind, known colours at known places, equal bytes, and what is refused.
. "$2/tests/cli/lib.sh"
sbm=$source/datasets/sbm.txt csl=$source/datasets/csl.g6
top='0.9922 0.9059 0.1451' bottom='0.2667 0.0039 0.3294' # the ends of viridis, 0xfde725 and 0x440154
red='0.5137 0.1059 0.0863' blue='0.0314 0.2667 0.5686' middle='0.9608 0.9608 0.9608' # of the diverging map
grey='0.7059 0.7059 0.7059' white='1.0000 1.0000 1.0000'

expect 0 show seq:2 -o x.png -q
expect 0 show seq:2 -o x.png
labelled=yes
grep -q 'built without Cairo' "$err" && labelled=
rm x.png

# pixels FILE: makes its pixels readable by pixel, which reads the picture by the program's own decoder.
pixels() {
	expect 0 encode "$1" --patch 1 --with axial:dim=4,merge=concat --tokens patches --arrays tokens -q -o pixels.npy
	header=$(od -An -tu2 -j8 -N2 pixels.npy)
	expect 0 inspect "$1" --patch 1
	columns=$(sed -n 's/.* patches: [0-9]* x \([0-9]*\) .*/\1/p; s/.*: png, \([0-9]*\) x .*/\1/p' "$out" | head -1)
}
# pixel X Y COLOUR: what stands there must be this colour.
pixel() {
	at=$((header + 10 + 28 * ($2 * columns + $1)))
	found=$(od -An -tf4 -j$at -N12 pixels.npy | awk '{printf "%.4f %.4f %.4f", $1, $2, $3}')
	[ "$found" = "$3" ] || fail "$shown: pixel $1 $2 is $found, not $3"
}
# first NAME [N]: the first or Nth number of this name in the report.
first() { grep -o "\"$1\":[0-9.e-]*" "$out" | sed -n "${2-1}p" | cut -d: -f2; }

# draws KIND ARGUMENT…: the kind, labelled and plain, as PNG and SVG; the size is what the report says.
draws() {
	kind=$1
	shift
	shown="show $*"
	expect 0 show "$@" --plot "$kind" -q --json -o x.png; silent
	prints "\"plots\":\\[\"$kind\""
	size=$(grep -o '"figure":{"width":[0-9]*,"height":[0-9]*' "$out" | tr -dc '0-9,')
	width=${size%,*} height=${size#*,}
	expect 0 inspect x.png; prints "^x.png: png, $width x $height pixels, RGB, 8 bits"
	expect 0 show "$@" --plot "$kind" -q --plain -o y.png; silent
	expect 0 inspect y.png; prints 'png, .* pixels, RGB'
	expect 0 show "$@" --plot "$kind" -q -o z.png --threads 1
	cmp -s x.png z.png || fail "$shown: equal input gives different pictures"
	if [ "$labelled" ]; then
		expect 0 show "$@" --plot "$kind" -q -o x.svg
		head -c 100 x.svg | grep -q '<?xml' || fail "$shown: no SVG"
	fi
	rm -f ./*.png ./*.svg
}

draws sheet grid:3x4 --with axial:dim=16
draws sheet grid:2x3x4 --with mrope --token 1,0,0
draws similarity grid:4x5 --with axial:dim=16 --token 1,2
draws similarity grid:4x5 --with rope2d --prefix 2 --token 1
draws similarity seq:20@-3.5 --with sinusoidal
draws matrix seq:33 --with rope
draws profile grid:4x5 --with axial:dim=16
draws spectrum seq:30 --with sinusoidal
draws spectrum grid:6x7 --with axial:dim=16
draws table seq:20 --with xpos
draws table seq:20 --with t5 --array buckets
draws bias seq:16 --with alibi --with t5
draws query grid:4x5 --with swin:heads=2 --token 7
draws distance seq:16 --with alibi:heads=12
draws nodes "$sbm" --with lap:k=3 --with rwse:steps=2
draws nodes "$csl" --with lap --item 149 --panels 0,2-3
draws eigenvalues "$sbm" --with lap:k=30
draws curves "$sbm" --with rwse
draws effect "$source/tests/golden/patches/picture.ppm" --patch 4 --fit crop --with peg --tokens patches
# What is drawn without --plot.
usual() {
	expect 0 show "$@" -q --json -o x.png
	prints "\"plots\":\\[$plots\\]"
	rm x.png
}
plots='"sheet"' usual grid:3x3
plots='"table"' usual seq:5
plots='"nodes","curves"' usual "$sbm"
plots='"bias"' usual seq:5 --with fire
plots='"query"' usual grid:3x3 --with beit
plots='"table"' usual seq:5 --with rope
plots='"similarity"' usual grid:3x3 --token 0,2
plots='"effect"' usual "$source/tests/golden/patches/picture.ppm" --patch 4 --tokens patches

# A token is like itself; the picture is nothing but the map.
shown='show similarity'
expect 0 show grid:4x4 --with axial:dim=16 --plot similarity --token 1,2 --plain --json -o x.png; silent
[ "$(first width) $(first height)" = '640 640' ] || fail "$shown: the map is $(first width) x $(first height)"
pixels x.png
pixel 321 161 "$top"; pixel 479 319 "$top"
[ "$(od -An -tx1 -j$((header + 10 + 28 * (80 * 640 + 400))) -N12 pixels.npy)" != \
	"$(od -An -tx1 -j$((header + 10 + 28 * (240 * 640 + 400))) -N12 pixels.npy)" ] || fail "$shown: all tokens are alike"
expect 0 show seq:10 --with sinusoidal --plot matrix --plain -o x.png
shown='show matrix'
pixels x.png
pixel 0 0 "$top"; pixel 300 300 "$top"; pixel 639 639 "$top"
# ALiBi's one head: 0 on the diagonal, least in the far corners.
shown='show bias'
expect 0 show seq:64 --with alibi:heads=1 --plot bias --plain -o x.png
pixels x.png
pixel 5 5 "$top"; pixel 639 639 "$top"; pixel 639 0 "$bottom"; pixel 0 639 "$bottom"
# The first row of a sinusoidal table is sin 0, cos 0, …
shown='show table'
expect 0 show seq:3 --with sinusoidal:dim=4 --plot table --plain -o x.png --range=-1,1
pixels x.png
pixel 5 5 "$middle"; pixel 69 5 "$red"
expect 0 show seq:4 --with rope:head_dim=2,base=1 --plot table --plain -o x.png --range=-0.5,0.5
pixels x.png
pixel 5 5 "$red"; pixel 5 200 "$blue" # cos 3 is near -1
# What is -inf is grey: [[0, -inf], [1, 2]].
shown='show -inf'
printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }" >m.npy
printf '\000\000\000\000\000\000\200\377\000\000\200\077\000\000\000\100' >>m.npy
expect 0 show m.npy --plain --json -o x.png; prints 'grey: −∞'
width=$(first width) height=$(first height)
pixels x.png
pixel 5 5 "$bottom"; pixel $((width - 5)) 5 "$grey"; pixel $((width - 5)) $((height - 5)) "$top"

# One number is no row, table or spectrum of a Laplacian.
printf '\111\000\000\000\000\000\000\000%s12345678' \
	'{"laplacian_eigenvalues":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}' >one.safetensors
expect 2 show one.safetensors --plot eigenvalues -o no.png; says 'yields no eigenvalues'
expect 2 show one.safetensors --plot table --array laplacian_eigenvalues -o no.png; says 'no array that could be drawn'
rm one.safetensors

# --range is what the colours span, to the number, of whatever is drawn.
ranged() {
	shown="show $*"
	expect 0 show "$@" --range 0.125,0.75 --json -q -o x.png
	[ "$(first low) $(first high)" = '0.125 0.75' ] || fail "$shown: $(first low) to $(first high)"
	rm x.png
}
ranged seq:4 --plot table
ranged "$sbm" --with lap:k=2
ranged "$source/tests/golden/patches/picture.ppm" --patch 4 --fit crop --with peg --tokens patches
# Names need not be UTF-8.
cp m.npy "$(printf 'm\377').npy"
expect 0 show "$(printf 'm\377').npy" --json -o x.png; prints '"title":"m?'
rm -f ./m*.npy

# More cells than pixels: means.
expect 0 show seq:5000 --with sinusoidal:dim=8 --plot table --plain --json -o x.png
[ "$(first height)" -le 860 ] && [ "$(first rows)" = 5000 ] || fail 'a long table is not drawn smaller'

if [ "$labelled" ]; then
	# The data of a labelled picture are the same, on a white page.
	shown='show labelled'
	expect 0 show seq:64 --with alibi:heads=1 --plot bias --json -o x.png
	left=$(first left) upper=$(first top) right=$(($(first left) + $(first width 2) - 1))
	pixels x.png
	pixel 2 2 "$white"
	pixel $((left + 2)) $((upper + 2)) "$top"; pixel "$right" "$upper" "$bottom"
	pixel $((left - 1)) $((upper + 5)) '0.1333 0.1333 0.1333' # the frame
	expect 0 show seq:64 --with alibi -o x.svg
	expect 0 show seq:64 --with alibi -o y.svg --threads 1
	cmp -s x.svg y.svg || fail 'equal input gives different SVG'
	grep -c '<symbol' x.svg >"$out" && [ "$(cat "$out")" -gt 20 ] || fail 'an SVG without text'
	grep -qiE 'date|20[0-9][0-9]-' x.svg && fail 'an SVG with a date'
	# What is beyond the range is not drawn: eigenvalues from 0.17 on, in the first of the colours of lines.
	# Three norms and two similarities on two colour bars: what was before is not what came after.
	expect 0 show "$source/tests/golden/patches/picture.ppm" --patch 4 --tokens patches -q -o x.svg
	[ "$(grep -o 'base64,[^"]*' x.svg | sort -u | wc -l)" = 7 ] || fail 'show: panels of patches are alike'
	expect 0 show "$sbm" --with lap:k=3 -q --plot eigenvalues -o x.svg
	grep -q 'fill:rgb(0%, *44' x.svg || fail 'show eigenvalues: no dots'
	expect 0 show "$sbm" --with lap:k=3 -q --plot eigenvalues --range=-1,0.1 -o x.svg
	grep -q 'fill:rgb(0%, *44' x.svg && fail 'show eigenvalues: dots stand outside the range'
	# Where no font is installed there are letters all the same.
	printf '<fontconfig><dir>/nowhere</dir></fontconfig>' >fonts.conf
	FONTCONFIG_FILE=$scratch/fonts.conf expect 0 show "$sbm" -q -o fontless.png
	expect 0 show "$sbm" -q -o font.png
	cmp -s font.png fontless.png && fail 'the fonts of the test are there'
	rm fonts.conf font.png fontless.png
fi

# Files of arrays.
expect 0 encode grid:3x4 --with axial:dim=16 -q -o a.npz --dtype f64
expect 0 show a.npz --grid 3x4 --plain -o x.png; silent
expect 0 show grid:3x4 --with axial:dim=16 --plain -o y.png
cmp -s x.png y.png || fail 'an array from a file looks different'
expect 0 encode "$csl" --with lap:k=3 --with rwse:steps=4 -q -o b.safetensors --dtype f64
expect 0 show b.safetensors --graph "$csl" --item 7 --array laplacian_eigenvector_pe --plain -o x.png
expect 0 show "$csl" --item 7 --with lap:k=3 --plain -o y.png
cmp -s x.png y.png || fail 'a graph from a file looks different'
sed -n 8p "$csl" >one.g6
expect 0 show one.g6 --with lap:k=3 --plain -o x.png
cmp -s x.png y.png || fail 'a graph of many looks different alone'
rm one.g6
expect 0 show b.safetensors --item 7 -v -o x.png; says 'plot curves'
expect 0 encode seq:8 --with alibi -q --arrays bias -o c.npy
expect 0 show c.npy --plot bias -o x.png
printf '0 1\n1 2\n4 4\n3 2\n' >parts.tsv # two components and a loop
expect 0 show parts.tsv --with lap:k=2 -q -o x.png
expect 0 show parts.tsv --edges directed --with rwse:steps=3 --plot nodes -q -o x.png
# Columns one after the other, as Fortran has them, are the same table.
printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }" >m.npy
printf '\001\002\003\004\005\006' >>m.npy
expect 0 show m.npy --plain -o x.png
printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }" >m.npy
printf '\001\004\002\005\003\006' >>m.npy
expect 0 show m.npy --plain -o y.png
cmp -s x.png y.png || fail 'the order of the file changes the picture'
# A number alone is no table.
printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (), }" >m.npy
printf '\001' >>m.npy
expect 2 show m.npy --array array -o z.png; says 'no array that could be drawn'
# Only a sin of the shape of cos belongs to it.
mkdir parts
expect 0 encode seq:12 --with rope --arrays cos -q -o parts/cos.npy
expect 0 show parts/ --plain --plot similarity -o x.png
expect 0 encode seq:3 --with rope --arrays sin -q -o parts/sin.npy
for kind in similarity table; do
	expect 0 show parts/cos.npy --plain --plot $kind -o x.png
	expect 0 show parts/ --plain --plot $kind -o y.png
	cmp -s x.png y.png || fail "$kind: sin of another shape is drawn"
done
rm -r parts
rm -f ./*.npz ./*.npy ./*.safetensors ./*.png ./*.svg

# refused CODE WORDS ARGUMENT…: leaves no picture, and one that is there as it was.
refused() {
	code=$1 words=$2
	shift 2
	expect "$code" show "$@" -o no.png; says "$words"; no_file no.png
	echo picture >old.png
	expect "$code" show "$@" -o old.png; says "$words"
	[ "$(cat old.png)" = picture ] || fail "$command: the old picture is gone"
	rm old.png
}
refused 2 'nothing to show: none yields no array' seq:4 --with none
refused 2 'peg acts on features.*--tokens' grid:4x4 --with peg
refused 2 'nothing to show: conv' seq:4 --with conv
refused 2 'plot bias: axial yields no array bias' grid:4x4 --plot bias
refused 2 'plot sheet: sinusoidal stands on no grid' seq:4 --plot sheet
refused 2 'plot nodes: sinusoidal stands on no graph' seq:4 --plot nodes
refused 2 'plot eigenvalues: rwse yields no eigenvalues' "$sbm" --with rwse -q --plot eigenvalues
refused 2 'plot distance: fire yields no bias_table' seq:4 --with fire --plot distance
refused 2 'plot effect: there are no features' seq:4 --plot effect
refused 2 'plot similarity: alibi yields no row' seq:4 --with alibi --plot similarity
refused 2 'plot spectrum: the nodes\|plot spectrum: lap: the nodes' "$sbm" -q --with lap --plot spectrum
refused 2 'plot pie: expected sheet, ' seq:4 --plot pie
refused 2 'token 4,0: expected Y,X' grid:4x4 --token 4,0
refused 2 'token 1,x: expected' grid:4x4 --token 1,x
refused 2 'token 9: expected a number from 0 to 3' seq:4 --plot similarity --token 9
refused 2 'a prefix token' grid:4x4 --with rope2d --prefix 1 --plot profile --token 0
refused 2 'panels 8: expected numbers of heads from 0 to 7' seq:4 --with alibi --panels 8
refused 2 'range 1,1: expected' seq:4 --range 1,1
refused 2 'array: sinusoidal has no array "x"' seq:4 --array x
refused 2 'item' "$csl" -q --item 150
refused 2 'item is of graphs' seq:4 --item 0
refused 2 'grid says what a file of arrays' seq:4 --grid 2x2
refused 2 'takes one input' seq:4 seq:5
refused 2 'there is no encoder' seq:4 --with nothing
refused 4 'No such file' none.txt
expect 2 show seq:4; says 'show needs -o'
expect 2 show seq:4 -o x.gif; says 'pictures are .png or .svg'
expect 2 show seq:4 --plain -o x.svg; says 'there is no SVG\|built without Cairo'
expect 4 show seq:4 -o nowhere/x.png; says 'nowhere/x.png'
expect 0 encode seq:4 -q -o a.npy
refused 2 'the array has 4 tokens, the grid 6' a.npy --grid 2x3
refused 2 'a file of arrays' a.npy --tokens a.npy
cp "$source/tests/golden/patches/picture.ppm" p.png
expect 2 show p.png -o p.png; says 'is the input itself'

expect 0 help show; prints 'similarity.*one token'; prints '--plot KIND'; prints '--patch'
expect 0 help --man; prints 'posenc show'
expect 0 completion words -- show; prints '^--plain'; prints '^--edges'
only_files a.npy p.png parts.tsv
