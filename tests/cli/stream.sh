#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Encodings of many graphs go to .npz as they are computed: the same bytes as all at once, which a pipe gets, and
# nothing of a file that is not finished.
. "$2/tests/cli/lib.sh"

# same_as_piped CODE INPUT ARGUMENT...
same_as_piped() {
	wanted=$1
	shift
	for threads in 1 2 5; do expect "$wanted" encode "$@" --threads $threads -q -o $threads.npz; done
	expect "$wanted" encode "$@" -q --format npz -o -
	for threads in 1 2 5; do cmp $threads.npz "$out" || fail "$command: other bytes by $threads threads"; done
	rm ./*.npz
}

csl=$source/datasets/csl.g6
same_as_piped 0 "$csl"
same_as_piped 0 "$csl" --with lap:k=3,preset=graphgps --dtype f64
same_as_piped 0 "$csl" --with lap:k=2 --with rwse:steps=3 --arrays laplacian_groups,random_walk_pe,failed,ptr
same_as_piped 0 "$csl" --with lap:k=2 --arrays failed

# Graphs that fail are known only in the end.
mkdir graphs
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -1\n3 2 1\n' >graphs/a.mtx
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1\n' >graphs/b.mtx
printf 'no graph\n' >graphs/c.mtx
same_as_piped 1 graphs --with lap:k=2
expect 1 encode graphs --with lap:k=2 --unreadable empty -q -o f.npz
expect 0 inspect f.npz; prints 'failed'
echo before >f.npz
expect 1 encode graphs --with lap:k=2 --unreadable empty --fail-fast -o f.npz; says 'graph 0'
grep -qx before f.npz || fail 'a failed run has touched the old file'
rm -r graphs f.npz
only_files

# An interrupt leaves nothing behind. 30,000 graphs, over and over, until one hits.
i=0
while [ $i -lt 200 ]; do
	cat "$csl"
	i=$((i + 1))
done >many.g6
mkdir work
hit=
tries=0
while [ -z "$hit" ] && [ $tries -lt 30 ]; do
	tries=$((tries + 1))
	echo before >work/x.npz
	"$posenc" encode many.g6 --with rwse:steps=200 -q -o work/x.npz >"$out" 2>"$err" </dev/null &
	pid=$!
	wait_for=100000
	while [ $wait_for -gt 0 ] && [ -z "$(ls work/.x.npz.posenc-* 2>/dev/null)" ]; do wait_for=$((wait_for - 1)); done
	kill -TERM $pid 2>/dev/null
	wait $pid
	code=$?
	[ "$(ls -A work)" = x.npz ] || fail "an interrupt has left $(ls -A work)"
	[ $code != 143 ] || hit=yes
	[ $code = 143 ] || [ $code = 0 ] || fail "after an interrupt the exit code is $code"
	[ $code = 0 ] || grep -qx before work/x.npz || fail 'an interrupted run has touched the old file'
done
[ "$hit" ] || fail 'no run was interrupted'
