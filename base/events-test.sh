#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the function tracers write, on the unmodified base and on our kernel: the same
# workload with each option, compared line by line but for times. Prints TAP, a test for
# each section of guest-events.sh.
#
# usage: events-test.sh [KERNEL [KERNEL]]	(stock and recorder)

set -uo pipefail
. "$(dirname "$0")/lib.sh"

kernels=("${1:-stock}" "${2:-recorder}")
work=$build/events-test
rm -rf "$work"
for kernel in "${kernels[@]}"; do
	need_kernel "$kernel" "the events of both"
	mkdir -p "$work/$kernel"
	# One CPU whose clock is its instructions: what is pending when is the same each time.
	"$top/base/qemu/run.py" --kernel "$kernel" --cpus 1 --accel icount \
		--log "$work/$kernel/console.log" "$top/base/qemu/guest-events.sh" \
		>"$work/$kernel/said" || die "the guest with the $kernel kernel failed;" \
		"what it said is in $work/$kernel"
	(cd "$work/$kernel" && awk '
		/^== / { n++; name = sprintf("%03d", n); sub(/^== /, ""); print > (name ".title"); next }
		n { print > name }' said)
done

n=0 failed=0
judge() { # WHAT WRONG
	n=$((n + 1))
	[ -z "$2" ] || { failed=$((failed + 1)); echo "# ${2//$'\n'/$'\n'# }"; }
	echo "${2:+not }ok $n - events: $1"
}

# Where several ops are on a function, the stock core calls a function of its own that
# disables preemption and calls them. What it does is in the trace, too.
direct() {
	sed -E -e '/^ => arch_ftrace_ops_list_func$/d' -e 's/^ => ftrace_call$/ => [FTRACE TRAMPOLINE]/' \
		-e 's/^( TASK \[[0-9]+\] \S{3})1/\1./'
}

cd "$work" || exit 1
for title in "${kernels[0]}"/*.title; do
	name=$(basename "$title" .title)
	how='cat'
	[[ $(cat "$title") != several* ]] || how=direct
	wrong=$(diff -u <($how <"${kernels[0]}/$name") <($how <"${kernels[1]}/$name") 2>&1)
	# An option that is not known to either proves nothing.
	[[ $(cat "$title") = *refused ]] || ! grep -q 'write error' "${kernels[0]}/$name" ||
		wrong=$(cat "${kernels[0]}/$name")
	# Nor does a trace without a function.
	[[ $(cat "$title") = @(events/*|*refused) ]] ||
		grep -qE '__x64_sys_kill|vfs_write' "${kernels[0]}/$name" ||
		wrong="no function was traced"
	[ -s "${kernels[0]}/$name" ] || wrong="nothing was written"
	judge "$(cat "$title")" "$wrong"
done
judge "all of it was tried on both" "$(diff <(cat "${kernels[0]}"/*.title) \
	<(cat "${kernels[1]}"/*.title) 2>&1)"
echo "1..$n"
[ $failed -eq 0 ] && [ $n -gt 1 ]
