#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kill -9 at any moment leaves the target as it was, or complete; what else is left has a name of its own.
. "$2/tests/cli/lib.sh"

input=seq:150000 old=--with=sinusoidal:dim=32 new=--with=sinusoidal:dim=64
mkdir ref work
begin=$(date +%s%N)
expect 0 encode $input $new --json -o ref/new.npz
span=$(($(date +%s%N) - begin)) # nanoseconds of a whole run, and of its writing
writing=$(sed 's/.*"write": *\([0-9.e-]*\).*/\1/' "$out" | awk '{printf "%d", $1 * 1e9}')
expect 0 encode $input $old -o ref/old.npz
for kind in old new; do
	eval "with=\$$kind"
	expect 0 encode $input "$with" -o ref/$kind.safetensors
	expect 0 encode $input "$with" -o ref/$kind.dir/
done

# Waits from 0 to $1 nanoseconds, at random.
random=$(date +%s)
wait_random() {
	random=$(((random * 1103515245 + 12345) % 2147483648))
	nanoseconds=$(($1 / 1000 * (random / 65536) / 32768 * 1000))
	sleep "$(printf '%d.%09d' $((nanoseconds / 1000000000)) $((nanoseconds % 1000000000)))"
}

same() { diff -rq "$1" "$2" >/dev/null 2>&1; }

# The temporary file or folder next to the target is there.
is_writing() {
	for name in work/.*.posenc-*; do [ -e "$name" ] && return; done
	return 1
}

# kill_one TARGET aimed|blind: a run that is killed, while it is writing if aimed.
kill_one() {
	"$posenc" encode $input $new -q -o "$1" >"$out" 2>"$err" </dev/null &
	pid=$!
	if [ "$2" = aimed ]; then
		tries=0 # some seconds: a run whose writing was missed
		while [ $tries -lt 100000 ] && ! is_writing; do tries=$((tries + 1)); done
		wait_random $((writing / 2))
	else
		wait_random $span
	fi
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
}

# trial NAME REFERENCE aimed|blind before|absent
trial() {
	command="kill -9, $*"
	rm -rf work
	mkdir work
	if [ "$4" = before ]; then cp -r "ref/old.$2" "work/${1%/}"; fi
	kill_one "work/$1" "$3"
	for name in work/* work/.[!.]*; do
		case $name in
		work/\* | work/.\[!.\]\* | "work/${1%/}") ;;
		"work/.${1%/}.posenc-"????????) interrupted=$((interrupted + 1)) ;;
		*) fail "left $name" ;;
		esac
	done
	if [ -e "work/${1%/}" ]; then
		same "work/${1%/}" "ref/new.$2" || { [ "$4" = before ] && same "work/${1%/}" "ref/old.$2"; } ||
			fail "$1 is partial"
	else
		[ "$4" = absent ] || fail "$1 is gone"
	fi
}

for target in x.npz:npz x.safetensors:safetensors x/:dir; do
	interrupted=0
	for round in 1 2 3 4; do
		for state in before absent; do
			trial "${target%:*}" "${target#*:}" aimed $state
			trial "${target%:*}" "${target#*:}" blind $state
		done
	done
	more=0
	while [ $interrupted = 0 ] && [ $more -lt 20 ]; do
		more=$((more + 1))
		trial "${target%:*}" "${target#*:}" aimed absent
	done
	[ $interrupted -gt 0 ] || fail "no run was interrupted while writing ${target%:*}"
	expect 0 encode $input $new -q -o "work/${target%:*}"
	same "work/${target%:*}" "ref/new.${target#*:}" || fail "a later run does not give ${target%:*}"
done
