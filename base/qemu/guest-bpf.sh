#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: the base's selftests of BPF, from the folder $1 where they
# have been built, as TAP. The other arguments are tests as test_progs knows them.

# If test_progs dies, that is how this ends.
set -o pipefail
cd "$1" || exit
shift
# Some pin what they make where they expect to find it.
grep -q ' /sys/fs/bpf bpf ' /proc/mounts || mount -t bpf bpf /sys/fs/bpf || exit
n=0 seen=" "
tests=$(IFS=,; echo "$*")
# A line for each part of a test, "#1/2  test/part:OK", then one for all of it. At the
# end, what failed is said again with its log.
./test_progs -a "$tests" 2>&1 | {
again=
while IFS= read -r line; do
	[ "$line" != 'All error logs:' ] || again=yes
	if [[ ! $again && $line =~ ^#[0-9/]+\ +(.*):(OK|FAIL|SKIP)( .*)?$ ]]; then
		n=$((n + 1)) seen="$seen${BASH_REMATCH[1]} "
		case ${BASH_REMATCH[2]} in
		OK)	echo "ok $n - ${BASH_REMATCH[1]}" ;;
		SKIP)	echo "ok $n - ${BASH_REMATCH[1]} # SKIP${BASH_REMATCH[3]}" ;;
		FAIL)	echo "not ok $n - ${BASH_REMATCH[1]}" ;;
		esac
	else
		echo "# $line"
	fi
done
for t; do
	[[ $seen == *" $t "* ]] || echo "not ok $((n += 1)) - $t: not run"
done
echo "1..$n"
}
