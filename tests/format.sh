#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# format.sh CLANG_FORMAT FOLDER: is every source file as .clang-format has it?
set -eu
cd "$2"
find apps graph lib seq tests vision -name '*.[ch]' -o -name '*.cpp' | xargs "$1" --dry-run -Werror
