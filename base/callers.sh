#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build what callers.py runs on one kernel: the base's selftests of BPF for it in
# build/KERNEL/suites, and in build/suites what is the same for each kernel: perf, and
# the selftests of user events and of the ring buffer.
#
# usage: callers.sh [--some] KERNEL
# --some: without perf, BPF's bench and bpf-more, which take as long to build as all else

set -euo pipefail
. "$(dirname "$0")/lib.sh"

some=
if [ "$1" = --some ]; then
	some=yes
	shift
fi
kernel=$1
need_kernel "$kernel" "the suites of callers"
list=$top/base/qemu/callers.list
suites=$build/suites
cc=${CC:-ccache gcc}
# The newest in Debian 12 itself.
llvm=-19

# make_it WHAT ARGUMENTS...: make in the base, with a log of its own. Below another
# make some of its Makefiles expect to be told more.
make_it() {
	local log=$suites/$1.log

	say BUILD "$1"
	if ! env -u MAKELEVEL -u MAKEFLAGS make CC="$cc" HOSTCC="$cc" \
		-j"${JOBS:-$(nproc)}" "${@:2}" >"$log" 2>&1; then
		tail -n 15 "$log" >&2
		die "$1 cannot be built; the whole log is $log"
	fi
}

build_perf() {
	# What it can do without is left out: what it tells by itself is not asked here.
	make_it perf -C "$build/base/tools/perf" O="$suites/perf" BUILD_BPF_SKEL=0 NO_JEVENTS=1 \
		NO_JVMTI=1 NO_LIBBABELTRACE=1 NO_LIBPERL=1 NO_LIBPYTHON=1 NO_SHELLCHECK=1 NO_SLANG=1
	# Where it looks for them when it is run in its folder.
	mkdir -p "$suites/perf/tests"
	rsync -rlp --delete "$build/base/tools/perf/tests/shell" "$suites/perf/tests/"
}

mkdir -p "$suites"/{perf,user_events,ring-buffer,headers}
make_it headers -C "$build/base" O="$suites/headers" headers
for name in user_events ring-buffer; do
	make_it "$name" -C "$build/base/tools/testing/selftests/$name" \
		OUTPUT="$suites/$name" KHDR_INCLUDES="-isystem $suites/headers/usr/include"
done
gcc -shared -fPIC -O2 -Wall -isystem "$suites/headers/usr/include" \
	-o "$suites/user-events-wait.so" "${list%/*}/user-events-wait.c"

# The names of callers.list in a group of BPF tests
listed() { sed -n "s,^$1/\([a-z0-9_]*\).*,\1,p" "$list"; }

mapfile -t tests < <(listed bpf)
if [ -z "$some" ]; then
	build_perf
	mapfile -t -O "${#tests[@]}" tests < <(listed bpf-more)
	tests+=(bench)
fi
"$top/base/bpf-tests.sh" -o "$build/$kernel/suites/bpf" -l $llvm "$kernel" "${tests[@]}"
