#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs the README's `$ posenc …` lines and compares what they print: readme.sh POSENC SOURCE
# With --update as third word it writes what they print into README.md.
set -u
posenc=$(readlink -f "$1") source=$(readlink -f "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${MESON_EXE_WRAPPER-}" "$posenc" >"$scratch/bin/posenc"
chmod +x "$scratch/bin/posenc"
PATH=$scratch/bin:$PATH
ln -s "$source/datasets" "$scratch/datasets"
cd "$scratch" || exit 1
inside=0
while IFS= read -r line; do
	case $line in
	'```'*)
		inside=0
		printf '%s\n' "$line"
		;;
	'$ posenc'*)
		inside=1
		printf '%s\n' "$line"
		sh -c "${line#\$ }" 2>&1
		;;
	*) [ "$inside" = 1 ] || printf '%s\n' "$line" ;;
	esac
done <"$source/README.md" >new
if [ "${3-}" = --update ]; then
	cat new >"$source/README.md"
else
	# The last digits of errors are the machine's own.
	for file in "$source/README.md" new; do
		sed -E 's/[0-9.]+e-[0-9]+/TINY/g; s/difference [^ ]+ at \([^)]*\)/difference/' "$file" >"$(basename "$file").masked"
	done
	diff README.md.masked new.masked
fi
