#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in a guest whose function tracing did not start, since one step of it has
# failed (ftrace_fail_start=STEP on its command line): all else works, and whoever asks
# for tracing is refused. Prints TAP.
#
# usage: guest-dead.sh STEP STEPS

step=$1 steps=$2

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

# What failed is what was to fail, and the kernel knows of no other steps.
said() {
	dmesg | grep -q "ftrace: step $step of $steps fails, as ftrace_fail_start= says" &&
		dmesg | grep -q 'ftrace: no function tracing: start-up failed (-12)'
}
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
# Nor does anybody look, and the recorder takes no note.
nothing_known() {
	local name

	for name in records rounds stops notes pending skipped discovered; do
		grep -qx "$name: 0" ftraced_stats ||
			{ grep "^$name:" ftraced_stats | sed 's/^/# /'; return 1; }
	done
}
# A probe is hit, or nobody is told that it is set.
probe() { # place
	local result=0

	echo "p:dead $1" 2>/dev/null >kprobe_events || return 2
	if echo 1 2>/dev/null >events/kprobes/dead/enable; then
		echo >trace
		cat /proc/version >/dev/null
		grep -q ' dead: (' trace || result=1
		echo 0 >events/kprobes/dead/enable || result=1
	else
		result=2
	fi
	echo >kprobe_events && return "$result"
}
probe_at_site() {
	probe version_proc_show
	[ $? -ne 1 ]
}
# Its first instruction after the call site, if there is an endbr64 or not. Where not even
# the kernel's text is known, the base takes any function for one that must not be traced.
probe_elsewhere() {
	probe version_proc_show+9 || probe version_proc_show+5 ||
		{ [ $? -eq 2 ] && [ "$step" -eq 1 ]; }
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
echo "1..16"
check 'the log says so' said
check 'there is no thread' no_thread
check 'files can be read' can_be_read
check 'no function is known' nothing_known
check 'no filter' refuses into set_ftrace_filter vfs_read
check 'no function tracer' refuses into current_tracer function
check 'no graph tracer' refuses into current_tracer function_graph
check 'nor is it switched' refuses into /proc/sys/kernel/ftrace_enabled 0
check 'an instance comes' mkdir instances/dead
check 'no tracer in it' refuses into instances/dead/current_tracer function
check 'it goes' rmdir instances/dead
check 'a probe at a call site is hit or refused' probe_at_site
check 'a probe elsewhere is hit' probe_elsewhere
check 'modules come and go' modules
check 'events are traced' events
check 'and nothing else was said' no_splat
exit $((failed != 0))
