#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Sequences and grids, every output format, and what is said about them.
. "$2/tests/cli/lib.sh"

expect 0 encode seq:3 --with sinusoidal:dim=4
silent
[ "$(grep -vc '^#' "$out")" = 3 ] || fail 'three rows expected'
prints '^#'
grep -v '^#' "$out" | head -1 | grep -qE '^0	1	0	1$' || fail 'position 0 is 0 1 0 1'

expect 0 encode seq:3; says 'no --with given: sinusoidal'
expect 0 encode seq:3 -q; silent

for format in npy npz safetensors tsv; do
	expect 0 encode grid:4x6 --with axial:dim=16 -o "a.$format"
	silent
	[ -s "a.$format" ] || fail "no a.$format"
	expect 0 encode grid:4x6 --with axial:dim=16 -o "b.$format"
	cmp -s "a.$format" "b.$format" || fail "equal input gives different a.$format"
done
expect 0 encode grid:4x6 --with axial:dim=16 -o a/
{ [ -s a/position_encoding.npy ] && [ -s a/metadata.json ]; } || fail 'the folder is not complete'
expect 0 compare a.npz a.safetensors; prints '^alike'
expect 0 compare a.npz a/
expect 0 encode grid:4x6 --with axial:dim=16,axes=xy -o c.npz
expect 1 compare a.npz c.npz; prints '^different'
expect 0 inspect a.npz; prints 'position_encoding'; prints '(24, 16)'
expect 0 encode grid:4x6 --with axial:dim=16 --with axial:dim=8,as=small -o two.npz
expect 0 inspect two.npz; prints 'small.position_encoding'

expect 0 encode seq:5 --with sinusoidal:dim=4 -o x.npy --json; prints '"name":"position_encoding"'
expect 0 encode seq:5 --with sinusoidal:dim=4 --tokens x.npy -o y.npz
expect 0 inspect y.npz; prints 'tokens'
expect 0 encode seq:5 --with sinusoidal:dim=4 --tokens x.npy -o t.npy; says 'tokens is left out'
expect 0 encode seq:5 --with sinusoidal:dim=4 --tokens x.npy --arrays tokens -o t.npy; silent
expect 0 encode seq:5 --with sinusoidal:dim=4,merge=concat,as=a --with sinusoidal:dim=8,as=b --tokens x.npy -o y.npz
expect 0 inspect y.npz; prints 'tokens *f32 *(5, 8)'
expect 2 encode seq:5 --with sinusoidal:dim=4,merge=concat,as=a --with sinusoidal:dim=4,as=b --tokens x.npy -o z.npz
says '8 wide'
expect 2 encode seq:5 --with sinusoidal:dim=4 --tokens x.npy --arrays failed -o z.npz; says 'no array "failed"'
expect 2 encode seq:5 --with sinusoidal:dim=4 --arrays tokens -o z.npz; says 'no array "tokens"'
expect 2 encode seq:4 --with alibi --tokens x.npy -o z.npz; says 'acts on tokens'
expect 2 encode seq:6 --with sinusoidal:dim=4 --tokens x.npy -o z.npz; says '6 tokens'
no_file z.npz

expect 0 list; prints '^seq *sinusoidal'; prints '^vision *axial'
expect 0 list --json; prints '"family":"vision"'
expect 0 help; expect 0 help encode; expect 0 encode --help; prints 'usage: posenc encode'
tr -s ' \n' ' ' <"$out" >words; mv words "$out"; prints 'OGB and TU datasets are never taken by auto'
expect 0 help sinusoidal; prints 'preset=tensor2tensor'
expect 0 --version; prints '^posenc [0-9]'
expect 0 help --man; prints '^\.Sh ENCODERS'
for shell in bash zsh fish; do expect 0 completion $shell; [ -s "$out" ] || fail "no script for $shell"; done
expect 0 completion words -- encode x --with; prints '^axial:preset=mae'
expect 0 completion words -- encode; prints '^--edge-weights'
expect 0 completion words -- encode x --with; prints '^rope:layout=halves$'
expect 0 completion words -- encode --edges; prints '^undirected$'
expect 0 completion words -- encode --patch-order; prints '^ph,pw,c$'
expect 0 completion words -- list; prints '^vision$'
# Every option that takes fixed words offers those, and they are taken; no flags where a value is due.
words() {
	last=$1 wanted=$2
	shift 2
	expect 0 completion words -- "$@" "$last"
	[ "$(tr '\n' ' ' <"$out")" = "$wanted " ] || fail "$last is completed by: $(tr '\n' ' ' <"$out")"
}
words --dtype 'f32 f64 f16 bf16' encode x
words --format 'npy npz safetensors tsv dir' attend x
words --format 'npz safetensors dir' convert x
words --core 'tiled reference linear' attend
words --plot 'sheet similarity matrix profile spectrum table bias query distance nodes eigenvalues curves effect' show x
words --rope 'halves:interleaved interleaved:halves' convert x
words --resize 'bicubic bilinear' convert x
words --normalize 'none imagenet inception clip' show x
words --antialias '0 1' inspect x
words --edge-weights 'auto none' encode x
words --from 'edgelist matrix-market metis graph6 graphml gml pajek dimacs node-link scipy-npz edge-index ogb tu' inspect
words --cpu "$("$posenc" completion words -- list --cpu | tr '\n' ' ' | sed 's/ $//')" bench
prints '^scalar$'
for cpu in $("$posenc" completion words -- list --cpu); do expect 0 encode seq:2 -q --cpu "$cpu"; done
for option in --tokens --weights -o --threads; do
	expect 0 completion words -- encode $option; [ ! -s "$out" ] || fail "$option: flags where a value is due"
done
expect 0 completion words -- encode --json; prints '^--dtype'
expect 0 completion words -- encode x --with; prints '^axial:normalize=1$'

# completes LINE REPLY: what bash, which cuts words at : and =, puts in the place of the last.
completes() {
	bash -c 'posenc() { "$0" "$@"; }; eval "$(posenc completion bash)"; COMP_WORDBREAKS=":= "
		COMP_LINE=$1 COMP_POINT=${#1}; _posenc; printf "%s\n" "${COMPREPLY[@]}"' "$posenc" "$1" >"$out" 2>"$err"
	command="completion of $1"
	prints "^$2\$"
}
if command -v bash >/dev/null; then
	completes 'posenc sho' show
	completes 'posenc encode --with rope:pre' preset=llama3
	completes 'posenc encode --with rope:preset=lla' llama3
	completes 'posenc encode --with rope:preset=hf,layout=ha' halves
	completes 'posenc encode --with rope:preset=hf,lay' hf,layout=
	completes 'posenc attend x --core lin' linear
	completes 'posenc attend x --core=lin' linear
	completes 'posenc encode x --antialias=' 0
fi
if command -v fish >/dev/null; then
	for line in 'posenc attend x --core lin' 'posenc attend x --core=lin'; do
		command="fish: $line"
		HOME=$scratch fish --no-config -c "function posenc; '$posenc' \$argv; end; posenc completion fish | source
			complete -C '$line'" >"$out" 2>"$err"
		prints '^linear\|^--core=linear'
	done
fi

# A folder with files that cannot be read: they are empty graphs that failed, or fail the whole.
mkdir -p graphs/deeper
printf 'Bw\n' >graphs/a.g6
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n9 1\n' >graphs/b.mtx
printf 'Bw\nA_\n' >graphs/c.g6
expect 1 encode graphs --with rwse:steps=2 -q -o g.npz; says '^posenc: graphs/b.mtx:3: .*; graph 1 is left empty'
expect 0 encode graphs/a.g6 --with rwse:steps=2 -q -o one.npz
expect 1 encode graphs --with lap:k=1,zero=keep,pad=nan -q --arrays failed,laplacian_eigenvalues -o g.tsv
grep -q '^# failed	1$' g.tsv || fail 'graph 1 is not named'
grep -q '^# laplacian_eigenvalues\[1\]	nan$' g.tsv || fail 'graph 1 is not filled as pad says'
expect 1 encode graphs --with rwse:steps=2 -o g.npz --json; says 'graphs: 1 sub-folder was left out'
prints '"failed":1'
expect 0 inspect g.npz; prints 'failed *i64 *(1)'; prints 'random_walk_pe *f32 *(8, 2)'; prints 'ptr *i64 *(5)'
# Which graphs are of which file.
files='\[{"file":"a.g6","first":0,"graphs":1},{"file":"b.mtx","first":1,"graphs":1},{"file":"c.g6","first":2,"graphs":2}\]'
prints "^  files: $files\$"
for to in g.safetensors g/; do
	expect 1 encode graphs --with rwse:steps=2 -q -o $to --json; prints "\"files\":$files"
	expect 0 inspect $to; prints "^  files: $files\$"
done
expect 1 inspect graphs -q --json; prints "\"files\":$files"
mkdir odd
cp graphs/a.g6 "$(printf 'odd/\377.g6')"
expect 0 encode odd --with rwse:steps=2 -q -o odd.npz
expect 0 inspect odd.npz; prints '^  files: \[{"file":"?.g6"'
expect 1 inspect graphs; prints 'failed *1'
expect 3 encode graphs --with rwse:steps=2 --fail-fast -o f.npz; says '^posenc: graphs/b.mtx:3: '
no_file f.npz
expect 3 encode graphs --with rwse:steps=2 --unreadable fail -o f.npz; says '^posenc: graphs/b.mtx:3: '
no_file f.npz
rm graphs/[ac].g6
expect 3 encode graphs --with rwse:steps=2 -o f.npz; says '^posenc: graphs/b.mtx:3: '
no_file f.npz

printf 'Ada Bob\nBob Cleo\n' >names.txt
expect 0 encode names.txt -q --with rwse:steps=2; prints '^# random_walk_pe_0	random_walk_pe_1	node_names$'
prints '^0	0.5	Ada$'

# The example of every encoder's help runs as it stands, where there is the folder datasets.
[ -e "$scratch/datasets" ] || ln -s "$source/datasets" "$scratch/datasets"
"$posenc" list | awk '{print $2}' >"$scratch/names"
while read -r name; do
	example=$("$posenc" help "$name" | tail -1)
	# shellcheck disable=SC2086 # words
	(cd "$scratch" && "$posenc" ${example#*posenc } -q >"$out" 2>"$err") || fail "the example of $name: $example"
	[ -s "$out" ] || [ -s "$scratch/${example#*-o }" ] || fail "the example of $name gives nothing"
done <"$scratch/names"

# help and list name the arrays that encode writes, and their shapes.
while read -r name; do
	family=$("$posenc" list | awk -v n="$name" '$2 == n {print $1}')
	case $family in
		seq) input=seq:9 tokens=9 rows=0 columns=0 ;;
		vision) input=grid:3x5 tokens=15 rows=3 columns=5 ;;
		graph) input=$source/datasets/csl.g6 tokens=6150 rows=0 columns=0 ;;
	esac
	expect 0 help "$name"
	sed -n '/^Arrays that/,/^$/p' "$out" | sed '/^with preset/,$d; /^Arrays/d; /^$/d; /--tokens/d; /^  none$/d' |
		sed "s/2 tokens - 1/$((2 * tokens - 1))/g; s/2 rows - 1/$((2 * rows - 1))/g; s/2 columns - 1/$((2 * columns - 1))/g
			s/\\btokens\\b/$tokens/g; s/\\bnodes\\b/$tokens/g; s/\\bgraphs\\b/150/g; s/, i32\$//" | sort >"$scratch/said"
	"$posenc" encode "$input" -q --with "$name" -o "$scratch/array.npz" 2>"$err" ||
		grep -q 'nothing to write\|yields no' "$err" || fail "encode $input --with $name"
	: >"$out"
	[ ! -e "$scratch/array.npz" ] || expect 0 inspect "$scratch/array.npz"
	sed -n 's/^  \([^ ]*\)  *[a-z0-9]* *\((.*)\)$/  \1 \2/p' "$out" | grep -v '^  ptr ' | sort >"$scratch/written"
	cmp -s "$scratch/said" "$scratch/written" || fail "the arrays of $name: $(cat "$scratch/said"; cat "$scratch/written")"
	rm -f "$scratch/array.npz"
done <"$scratch/names"
expect 0 help lap; prints '^with preset=graphgps$'; prints '^  EigVals (nodes, 10, 1)$'
expect 0 help axial; prints '^  tokens, with --tokens'
expect 0 list --json; prints '"arrays":\[{"name":"bias","dtype":"float","shape":\[8,"tokens","tokens"\]}'
prints '{"name":"laplacian_groups","dtype":"i32","shape":\["graphs",8\]}'
expect 0 help --man; prints '^  random_walk_pe (nodes, 20)$'

# JSON, one object whatever the number of inputs, and whatever their names.
cd "$scratch" || exit 1
expect 0 inspect --json a.npz b.npz; prints '^{"inputs":\['
[ "$(wc -l <"$out")" = 1 ] || fail 'one object expected'
odd=$(printf 'odd\377.txt')
printf '0 1\n' >"$odd"
expect 0 encode "$odd" -q --with rwse:steps=2 --json -o odd.npz --seed 007; prints '"name":"odd?.txt"'
expect 0 inspect odd.npz; prints 'seed: 7'
