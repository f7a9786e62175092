#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Which source file includes which header, one "FILE HEADER" a line: a real graph with text ids.
set -eu
cd "$(dirname "$0")/.."
echo '# posenc: FILE includes HEADER'
git ls-files 'lib/*.[ch]' 'graph/*.[ch]' 'seq/*.c' 'vision/*.c' 'apps/*.[ch]' | sort | while read -r file; do
	sed -n 's/^#include "\(.*\)"$/\1/p' "$file" | while read -r header; do
		echo "$(basename "$file") $(basename "$header")"
	done | sort -u
done
