#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the base's selftests of livepatch, with their modules, for one kernel, in
# build/livepatch.
#
# usage: livepatch-tests.sh KERNEL

set -euo pipefail
. "$(dirname "$0")/lib.sh"

kernel=$1
tests=$build/livepatch
need_kernel "$kernel" "the livepatch tests"
src=$(source_of "$kernel")

say BUILD "livepatch tests"
rm -rf "$tests"
cp -r "$src/tools/testing/selftests/livepatch" "$tests"
cc=${CC:-gcc}
if ! {
	make -C "$src" O="$build/$kernel" CC="$cc" HOSTCC="$cc" M="$tests/test_modules" modules &&
	"$cc" -O2 -o "$tests/test_klp-call_getpid" "$tests/test_klp-call_getpid.c"
} >"$tests/build.log" 2>&1; then
	tail -n 15 "$tests/build.log" >&2
	die "the livepatch tests cannot be built"
fi
