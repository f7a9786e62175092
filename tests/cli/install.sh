#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs, and builds the examples against what is installed, shared and static.
# $4 is the build folder, $5 ninja, $6 the flags that the build itself needs (sanitizers).
. "$2/tests/cli/lib.sh"
build=$4 ninja=$5 flags=${6-}
[ -z "${MESON_EXE_WRAPPER-}" ] || { echo 'skipped: what is installed is for another machine'; exit 77; }

DESTDIR=$scratch/root "$ninja" -C "$build" install >"$out" 2>"$err" || fail "ninja install"
pc=$(find root -name posenc.pc) && [ -n "$pc" ] || fail 'no posenc.pc'
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR=$scratch/root
libdir=$(dirname "$(dirname "$scratch/$pc")")
export LD_LIBRARY_PATH=$libdir
command="the installed library"

# shellcheck disable=SC2046,SC2086 # words
cc $flags "$source/tests/examples/gnn.c" $(pkg-config --cflags --libs posenc) -o gnn >"$out" 2>"$err" ||
	fail 'gnn.c does not build'
./gnn >"$out" 2>"$err" || fail 'gnn failed'
prints 'lap: largest residual below 1e-10: yes'
prints 'node 8:  0.0000 .*| 0.0000 1.0000 0.0000 1.0000' || fail 'the middle of a path of three'
# shellcheck disable=SC2046
[ "$(echo $(pkg-config --cflags posenc))" = "-I$(dirname "$(find "$scratch/root" -name posenc.h)")" ] ||
	fail "other libraries' include folders are in --cflags: $(pkg-config --cflags posenc)"
# Where there is no shared posenc, -lposenc is the static one; the libraries it needs are shared.
mkdir static && cp "$libdir/libposenc.a" static
# shellcheck disable=SC2046,SC2086
cc $flags "$source/tests/examples/gnn.c" -Lstatic $(pkg-config --static --cflags --libs posenc | sed 's/-L[^ ]*root[^ ]*//') \
	-o gnn-static >"$out" 2>"$err" || fail 'gnn.c does not build with the static library'
LD_LIBRARY_PATH= ./gnn-static >"$out" 2>"$err" || fail 'gnn with the static library failed'
prints 'lap: largest residual below 1e-10: yes'
# Everything static, but for METIS and Fortran, whose static libraries Debian has not, or in other packages;
# nothing of theirs is called.
static_gnn() {
	# shellcheck disable=SC2046
	cc -static "$@" "$source/tests/examples/gnn.c" $(pkg-config --static --cflags --libs posenc | sed 's/-lmetis//') \
		-o gnn-whole >"$out" 2>"$err"
}
if [ -z "$flags" ] && ! static_gnn; then
	grep -E 'undefined reference|cannot find' "$err" | grep -vE '\W(METIS_|_gfortran_)' >"$out" &&
		fail 'pkg-config --static leaves out libraries'
	static_gnn -Wl,--unresolved-symbols=ignore-all || fail 'gnn.c does not build static as a whole'
fi
if [ -z "$flags" ]; then
	./gnn-whole >"$out" 2>"$err" || fail 'gnn, static as a whole, failed'
	prints 'lap: largest residual below 1e-10: yes'
fi
# shellcheck disable=SC2046,SC2086
cc $flags "$source/tests/examples/transformer.c" $(pkg-config --cflags --libs posenc) -lm -o transformer \
	>"$out" 2>"$err" || fail 'transformer.c does not build'
./transformer >"$out" 2>"$err" || fail 'transformer failed'
prints '^rope: 48 tokens at once and one by one agree within 1e-5: yes$'
prints '^alibi: 48 tokens at once and one by one agree within 1e-5: yes$'
if command -v c++ >/dev/null; then
	for example in table vit; do
		# shellcheck disable=SC2046,SC2086
		c++ -std=c++17 -Wall -Wextra $flags "$source/tests/examples/$example.cpp" \
			$(pkg-config --cflags --libs posenc) -o $example >"$out" 2>"$err" ||
			fail "$example.cpp does not build"
	done
	./table >"$out" 2>"$err" || fail 'table failed'
	prints 'token 0: 0, token 2: 0.841471 0.540302'
	./vit >"$out" 2>"$err" || fail 'vit failed'
	prints '^peg leaves the class token alone: yes$'
	prints '^the block agrees with attention in double within 1e-4: yes$'
fi

# Only pe_* leaves the library, and nothing that exits or prints comes in.
nm -D --defined-only "$libdir/libposenc.so" | awk '$2 != "A" {print $3}' | grep -vE '^(pe_|__asan|__ubsan|__odr)' >"$out" &&
	fail 'the library exports more than pe_*'
nm -D --undefined-only "$libdir/libposenc.so" | awk '{print $2}' | sed 's/@.*//' |
	grep -xE 'exit|abort|_exit|printf|puts|putchar|stdout|stderr|rand|srand|getenv' >"$out" &&
	fail 'the library may exit, print, or read the environment'
[ -s "$(find root -name posenc.1)" ] || fail 'no man page'
exit 0
