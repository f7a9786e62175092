#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Who may include whom (ARCHITECTURE.md), who may name which library, and that file names are unique.
cd "$1" || exit 1
failed=0

complain() {
	echo "$1"
	failed=1
}

# forbid FOLDER PATTERN WHY: no #include in FOLDER may match PATTERN.
forbid() {
	found=$(grep -rnE "^#include ($2)" "$1" --include='*.[ch]') && complain "$3:
$found"
}

forbid lib/kernels '"(\.\./)?(context|tensor|pool|posenc|encoder|memory|options)' 'kernels depend on nothing else'
for folder in lib seq vision; do
	headers=$(find graph -name '*.h' -exec basename {} \; | paste -sd'|')
	forbid "$folder" "\"($headers)\"" "$folder may not include graph/"
done
for folder in seq vision; do forbid "$folder" '"(io|linalg)/' "$folder needs neither io nor linalg"; done
headers=$(find apps -name '*.h' -exec basename {} \; | paste -sd'|')
found=$(grep -rnE '^#include "' apps --include='*.[ch]' | grep -vE "\"(posenc\.h|(show/)?($headers))\"") &&
	complain "apps use posenc.h alone:
$found"
found=$(grep -rlE '#include [<"](suitesparse/|lapack|cblas|arpack)' lib graph seq vision --include='*.[ch]' |
	grep -v '^lib/linalg/') && complain "only lib/linalg names LAPACK, ARPACK and CHOLMOD: $found"
found=$(grep -rlE '#include <cairo' lib graph seq vision apps --include='*.[ch]' | grep -v '^apps/show/canvas_cairo.c$') &&
	complain "only apps/show/canvas_cairo.c names Cairo: $found"
found=$(find lib graph seq vision apps tests datasets -type f -not -name meson.build -not -path '*/corpus/*' \
	-not -path '*/golden/*' -exec basename {} \; | sort | uniq -d)
[ -z "$found" ] || complain "file names must be unique: $found"
found=$(grep '^X(' lib/encoders.def)
[ "$found" = "$(echo "$found" | LC_ALL=C sort)" ] || complain 'lib/encoders.def is not sorted'
exit $failed
