#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in a guest whose function tracing did not start (ftrace_fail_start on its
# command line): all else works, and who asks for tracing is refused. Prints TAP.

cd /sys/kernel/tracing || exit 1
nr=0
failed=0
check() { # name command...
	local name=$1 result=ok

	shift
	nr=$((nr + 1))
	"$@" || { result='not ok'; failed=$((failed + 1)); }
	echo "$result $nr $name"
}

said() { dmesg | grep -q 'ftrace: no function tracing: start-up failed (-12)'; }
no_thread() {
	local comm

	for comm in /proc/[0-9]*/comm; do
		[ "$(cat "$comm" 2>/dev/null)" != ftraced ] || return
	done
}
no_splat() {
	local status=0

	dmesg | grep -E 'WARNING|BUG|Oops|Call Trace' || status=$?
	[ "$status" -eq 1 ]
}
# A command, or a file that is opened: all of them give that error.
refuses() { # command...
	local out

	if out=$(LC_ALL=C "$@" 2>&1); then
		return 1
	fi
	[[ $out == *'No such device'* ]] || { echo "# $out"; return 1; }
}
into() { echo "$2" >"$1"; } # file what

# Each of them can be read, or says that there is no such thing.
can_be_read() {
	local f out

	for f in enabled_functions touched_functions available_filter_functions \
		 available_filter_functions_addrs set_ftrace_filter set_ftrace_notrace \
		 set_graph_function function_tracers dyn_ftrace_total_info \
		 ftraced_enabled ftraced_stats; do
		[ -e "$f" ] || continue
		out=$(LC_ALL=C cat "$f" 2>&1 >/dev/null) || [[ $out == *'No such device'* ]] ||
			{ echo "# $f: $out"; return 1; }
	done
}
nothing_known() {
	grep -qx 'records: 0' ftraced_stats && grep -qx 'rounds: 0' ftraced_stats &&
		grep -qx 'stops: 0' ftraced_stats
}
# Modules are text that comes and goes.
modules() {
	modprobe ftrace_test_mod && echo '* 3' >/sys/kernel/debug/ftrace_test_mod/run &&
		grep -qx 'ftrace_test_mod_f00 3' /sys/kernel/debug/ftrace_test_mod/counts &&
		rmmod ftrace_test_mod
}
events() {
	echo 1 >events/sched/sched_switch/enable &&
		echo 'said by guest-dead' >trace_marker &&
		sleep 0.1 &&
		echo 0 >events/sched/sched_switch/enable &&
		grep -q 'said by guest-dead' trace && grep -q ' sched_switch: ' trace
}

echo "TAP version 13"
echo "1..11"
check 'the log says so' said
check 'there is no thread' no_thread
check 'files can be read' can_be_read
check 'no function is known' nothing_known
check 'no filter' refuses into set_ftrace_filter vfs_read
check 'no function tracer' refuses into current_tracer function
check 'no graph tracer' refuses into current_tracer function_graph
check 'nor is it switched' refuses into /proc/sys/kernel/ftrace_enabled 0
check 'modules come and go' modules
check 'events are traced' events
check 'and nothing else was said' no_splat
exit $((failed != 0))
