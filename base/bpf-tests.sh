#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the base's selftests of BPF, those that hook functions, with their
# programs and their module, for one kernel, in build/bpf.
#
# usage: bpf-tests.sh KERNEL TEST...
# TEST: a file of prog_tests, without its .c

set -euo pipefail
. "$(dirname "$0")/lib.sh"

kernel=$1
shift
case $kernel in
stock*)	src=$build/base ;;
*)	src=$build/linux ;;
esac
tree=$build/bpf
tests=$tree/tools/testing/selftests/bpf

# Without what follows from a file that is not there, its Makefile builds the rest.
only() { # FOLDER NAME...
	local folder=$1 f
	shift
	for f in "$folder"/*.c; do
		[[ " $* " == *" $(basename "$f" .c) "* ]] || rm "$f"
	done
}

say BUILD "BPF tests"
rm -rf "$tree"
cp -as "$src" "$tree"
only "$tests/prog_tests" "$@"
mapfile -t programs < <(
	grep -ohE '[a-z0-9_]+\.(l?skel\.h|bpf\.o)"' "$tests"/prog_tests/*.c |
		sed 's/\..*//' | sort -u)
only "$tests/progs" "${programs[@]}"
rm "$tests"/map_tests/*.c
light=()
for name in fentry_test fexit_test fexit_sleep; do
	[ ! -e "$tests/progs/$name.c" ] || light+=("$name.c")
done
# Below another make its Makefile expects to be told more.
if ! env -u MAKELEVEL -u MAKEFLAGS make -C "$tests" -j"${JOBS:-$(nproc)}" \
	test_progs KDIR="$build/$kernel" \
	VMLINUX_BTF="$build/$kernel/vmlinux" LSKELS="${light[*]}" LSKELS_EXTRA= LINKED_SKELS= \
	TRUNNER_EXTRA_FILES="$tests/bpf_testmod.ko" feature-llvm=0 \
	feature-clang-bpf-co-re=0 >"$tree/build.log" 2>&1; then
	tail -n 15 "$tree/build.log" >&2
	die "the BPF tests cannot be built"
fi
# Its debugging information is as large as all else, and would cross 9p.
strip -g -o "$tests/test_progs.stripped" "$tests/test_progs"
mv "$tests/test_progs.stripped" "$tests/test_progs"
