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

# start INPUT WITH: a run in the background, until its temporary file is there.
start() {
	echo before >work/x.npz
	"$posenc" encode "$1" --with "$2" -q -o work/x.npz >"$out" 2>"$err" </dev/null &
	pid=$! wait_for=100000
	while [ $wait_for -gt 0 ] && [ -z "$(ls work/.x.npz.posenc-* 2>/dev/null)" ]; do wait_for=$((wait_for - 1)); done
}

hit=
tries=0
while [ -z "$hit" ] && [ $tries -lt 30 ]; do
	tries=$((tries + 1))
	start many.g6 rwse:steps=200
	kill -TERM $pid 2>/dev/null
	wait $pid
	code=$?
	[ "$(ls -A work)" = x.npz ] || fail "an interrupt has left $(ls -A work)"
	[ $code = 143 ] || [ $code = 0 ] || fail "after an interrupt the exit code is $code"
	[ $code = 143 ] && grep -qx before work/x.npz && hit=yes
	[ "$hit" ] || expect 0 inspect work/x.npz # it came in the last moment
done
[ "$hit" ] || fail 'no run was interrupted'

# Nor does it wait for a graph that takes minutes.
awk 'BEGIN {
	n = 60000; x = 1
	print "%%MatrixMarket matrix coordinate pattern symmetric\n" n, n, 4 * n
	for (i = 0; i < 4 * n; i++) { x = (x * 69069 + 1) % 4294967296; print i % n + 1, int(x / 4294967296 * n) + 1 }
}' >large.mtx
mkdir graphs
mv large.mtx graphs
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1\n3 2 1\n' >graphs/small.mtx
start graphs lap:k=30,engine=block,tolerance=1e-13
kill -TERM $pid
wait_for=600
while kill -0 $pid 2>/dev/null && [ $wait_for -gt 0 ]; do sleep 0.02; wait_for=$((wait_for - 1)); done
[ $wait_for -gt 0 ] || { kill -9 $pid; fail 'an interrupt has to wait for a large graph'; }
wait $pid
[ $? = 143 ] || fail 'a run with a large graph was not interrupted'
[ "$(ls -A work)" = x.npz ] || fail "an interrupt has left $(ls -A work)"
grep -qx before work/x.npz || fail 'an interrupted run has touched the old file'

# Where there is no room for the file, that is said before graphs are computed: none has failed yet.
if unshare -rm true 2>/dev/null; then
	cp "$csl" graphs/csl.g6
	rm graphs/large.mtx
	cat >full.sh <<-END
	mount -t tmpfs -o size=256k none work || exit 77
	"$posenc" encode graphs --with lap:k=41,pad=error --with rwse:steps=200 -q \
		--arrays laplacian_groups,random_walk_pe -o work/x.npz
	echo \$?
	END
	unshare -rm sh full.sh >"$out" 2>"$err"
	code=$?
	if [ $code != 77 ]; then
		command='posenc to a full disk'
		prints '^4$'; says 'No space left'
		! grep -q 'graph 0' "$err" || fail 'graphs were computed before there was room for them'
	fi
fi
