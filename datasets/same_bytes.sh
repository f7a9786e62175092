#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# same_bytes.sh GENERATE KIND FILE: is FILE what the generator writes?
# shellcheck disable=SC2086 # words
${MESON_EXE_WRAPPER-} "$1" "$2" | cmp - "$3"
