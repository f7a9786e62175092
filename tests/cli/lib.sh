# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of this folder. $1 is the program, $2 the source folder, $3 the real data.
set -u
posenc=$(readlink -f "$1") source=$2 data=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
out=$scratch/.out err=$scratch/.err
if [ -n "${MESON_EXE_WRAPPER-}" ]; then # a cross build
	printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$MESON_EXE_WRAPPER" "$posenc" >.posenc
	chmod +x .posenc
	posenc=$scratch/.posenc
fi

fail() {
	echo "FAILED: $*"
	echo "--- standard output"; head -c 2000 "$out"
	echo "--- standard error"; head -c 2000 "$err"
	exit 1
}

# expect CODE ARGUMENT...: runs posenc, which must end with CODE.
expect() {
	code=$1
	shift
	command="posenc $*"
	"$posenc" "$@" >"$out" 2>"$err" </dev/null
	got=$?
	[ "$got" = "$code" ] || fail "$command: exit code $got, expected $code"
}

says() { grep -q -- "$1" "$err" || fail "$command: standard error lacks: $1"; }
prints() { grep -q -- "$1" "$out" || fail "$command: standard output lacks: $1"; }
silent() { [ ! -s "$err" ] || fail "$command: standard error is not empty"; }
no_file() { [ ! -e "$1" ] || fail "$command: left $1 behind"; }
# Nothing but the named files is in the scratch folder.
only_files() {
	left=$(ls -A | grep -v -x -e .out -e .err -e .posenc | sort | tr '\n' ' ')
	wanted=
	for name; do wanted="$wanted$name "; done
	[ "$left" = "$wanted" ] || fail "$command: files are $left, expected $*"
}
# The test needs real data: 77 tells Meson that it is skipped.
need() { [ -e "$data/$1" ] || { echo "skipped: there is no $data/$1"; exit 77; }; }
