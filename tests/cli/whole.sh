#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files appear whole or not at all: a full disk, a closed pipe, a folder that is not there.
. "$2/tests/cli/lib.sh"

echo before >old.npz
expect 4 encode seq:100 -o nowhere/x.npz -q; says 'nowhere'
expect 2 encode seq:100 --with sinusoidal:dim=0 -o old.npz -q
grep -qx before old.npz || fail 'a failed run has touched the old file'

# What cannot be written is refused before anything is computed: at -v, lap tells what it has computed.
graphs=$source/datasets/csl.g6
computes_nothing() {
	if grep -q 'largest residual' "$err"; then fail "$command: computed before it failed"; fi
}
expect 0 encode "$graphs" --with lap:k=3 -v; says 'largest residual'
expect 4 encode "$graphs" --with lap:k=3 -v -o nowhere/x.npz; says 'nowhere'; computes_nothing
expect 4 encode "$graphs" --with lap:k=3 -v -o nowhere/x/; says 'nowhere'; computes_nothing
expect 4 encode "$graphs" --with lap:k=3 -v -o old.npz/x.npz; says 'old.npz'; computes_nothing
mkdir full.npz && touch full.npz/mine
expect 4 encode "$graphs" --with lap:k=3 -v -o full.npz; says 'full.npz'; computes_nothing
expect 4 encode "$graphs" --with lap:k=3 -v -o full.npz/; says 'other files'; computes_nothing
rm -r full.npz
if [ "$(id -u)" != 0 ]; then
	mkdir locked && chmod a-w locked
	expect 4 encode "$graphs" --with lap:k=3 -v -o locked/x.npz; says 'locked'; computes_nothing
	rmdir locked
fi
expect 4 encode "$graphs" --with lap:k=3 -v -o /proc/x.npz; says '/proc/x.npz'; computes_nothing
expect 2 encode "$graphs" --with lap:k=3,as=a/../b -v -o x.npz; says "'/'"; computes_nothing
expect 2 encode "$graphs" --with lap:k=3,as=a/b -v -o x/; says 'no name for a file'; computes_nothing
expect 2 encode "$graphs" --with lap:k=3,as=.a -v -o x/; says 'no name for a file'; computes_nothing
expect 0 encode seq:5 --with sinusoidal:dim=4 -o short.npy
expect 2 encode seq:6 --with sinusoidal:dim=4 --tokens short.npy -o nowhere/x.npz; says '6 tokens'
expect 0 encode "$graphs" --with rwse -q --arrays ptr -o integers.npy
expect 2 encode seq:151 --with sinusoidal:dim=4 --tokens integers.npy -o nowhere/x.npz; says 'float type'
rm short.npy integers.npy

"$posenc" encode seq:2000 -q --with sinusoidal:dim=64 >/dev/full 2>"$err"
[ $? = 4 ] || fail 'writing to a full device must end with 4'
"$posenc" encode seq:20000 -q --with sinusoidal:dim=64 --format npz -o - 2>"$err" | head -c 10 >/dev/null
"$posenc" list >/dev/full 2>"$err"
[ $? = 4 ] || fail 'list to a full device must end with 4'

# A disk of 64 KiB, where one may mount it.
mkdir disk
if mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
	echo before >disk/x.npz
	expect 4 encode seq:20000 -q --with sinusoidal:dim=64 -o disk/x.npz; says 'No space left'
	grep -qx before disk/x.npz || fail 'a full disk has cost the old file'
	expect 4 encode seq:20000 -q --with sinusoidal:dim=64 -o disk/y/; says 'No space left'
	expect 4 encode "$graphs" -q -o disk/x.npz; says 'No space left' # written as it is computed
	grep -qx before disk/x.npz || fail 'a full disk has cost the old file'
	left=$(ls -A disk)
	umount disk
	[ "$left" = x.npz ] || fail "a full disk left behind: $left"
fi
rmdir disk
only_files old.npz
