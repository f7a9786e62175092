#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files appear whole or not at all: a full disk, a closed pipe, a folder that is not there.
. "$2/tests/cli/lib.sh"

echo before >old.npz
expect 4 encode seq:100 -o nowhere/x.npz -q; says 'nowhere'
expect 2 encode seq:100 --with sinusoidal:dim=0 -o old.npz -q
grep -qx before old.npz || fail 'a failed run has touched the old file'

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
	left=$(ls -A disk)
	umount disk
	[ "$left" = x.npz ] || fail "a full disk left behind: $left"
fi
rmdir disk
only_files old.npz
