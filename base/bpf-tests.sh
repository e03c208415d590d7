#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build the base's selftests of BPF, those that hook functions, with their
# programs and their modules, for one kernel, in build/bpf or FOLDER.
#
# usage: bpf-tests.sh [-o FOLDER] [-l LLVM] KERNEL TEST...
# LLVM: what the names of LLVM's programs end in, as -19
# TEST: a file of prog_tests, without its .c; or bench

set -euo pipefail
. "$(dirname "$0")/lib.sh"

tree=$build/bpf llvm=
while getopts o:l: option; do
	case $option in
	o)	tree=$OPTARG ;;
	l)	llvm=$OPTARG ;;
	*)	exit 2 ;;
	esac
done
shift $((OPTIND - 1))
kernel=$1
shift
need_kernel "$kernel" "the BPF tests"
src=$(source_of "$kernel")
# Its Makefile names things by what the folder is called without links.
tree=$(realpath -m "$tree")
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
mkdir -p "$(dirname "$tree")"
cp -as "$src" "$tree"
sources=("$tests/prog_tests") targets=(test_progs) names=() extra=("$tests/bpf_testmod.ko")
for name; do
	case $name in
	bench)	sources+=("$tests/benchs") targets+=(bench) ;;
	*)	names+=("$name") ;;
	esac
	# What these have beside themselves.
	case $name in
	bpf_cookie)		names+=(uprobe_multi_test) ;;
	stacktrace_build_id*)	extra+=("$tests/urandom_read" "$tests/liburandom_read.so") ;;
	test_struct_ops_no_cfi)	extra+=("$tests/bpf_test_no_cfi.ko") ;;
	esac
done
only "$tests/prog_tests" "${names[@]}"
# The programs that the files of these folders take in, as PROGRAM.ENDING
programs() { # ENDINGS
	grep -RohE "[a-z0-9_]+\.($1)\"" "${sources[@]}" | sed 's/\..*//' | sort -u
}
mapfile -t programs < <(programs 'l?skel\.h|bpf\.o')
only "$tests/progs" "${programs[@]}"
rm "$tests"/map_tests/*.c
mapfile -t light < <(programs 'lskel\.h' | sed 's/$/.c/')
# Below another make its Makefile expects to be told more.
if ! env -u MAKELEVEL -u MAKEFLAGS make -C "$tests" -j"${JOBS:-$(nproc)}" \
	"${targets[@]}" KDIR="$build/$kernel" CLANG="clang$llvm" LLVM_STRIP="llvm-strip$llvm" \
	VMLINUX_BTF="$build/$kernel/vmlinux" LSKELS="${light[*]}" LSKELS_EXTRA= LINKED_SKELS= \
	TRUNNER_EXTRA_FILES="${extra[*]}" feature-llvm=0 \
	feature-clang-bpf-co-re=0 >"$tree/build.log" 2>&1; then
	tail -n 15 "$tree/build.log" >&2
	die "the BPF tests cannot be built"
fi
# Its debugging information is as large as all else, and would cross 9p.
strip -g -o "$tests/test_progs.stripped" "$tests/test_progs"
mv "$tests/test_progs.stripped" "$tests/test_progs"
