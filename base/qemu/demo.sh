#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: the main job as a terminal session.  Each step shows a
# command and what it prints, and is checked; the exit status is 0 only if
# everything was as it should be.

cd /sys/kernel/tracing || exit 1
bad=0

# Run a command as if typed; what it printed is in $out, its status in $?.
typed() {
	echo "# $1"
	out=$(eval "$1" 2>&1)
	local status=$?
	[ -z "$out" ] || echo "$out"
	return $status
}

# expect WHAT TEST...: complain unless the test holds
expect() {
	local what=$1
	shift
	if ! "$@"; then
		echo "!! expected: $what"
		bad=1
	fi
}

# The same question again, until it is answered as hoped or 60 s are over.
settle() {
	local _
	for _ in $(seq 60); do
		"$@" && return 0
		sleep 1
	done
	return 1
}

# The tests that expect and settle are given.
# shellcheck disable=SC2317
{
	has() { grep -qE -- "$1" <<<"$out"; }
	hasnt() { ! has "$1"; }
	status_ok() { [ "$status" -eq 0 ]; }
	at_equilibrium() { grep -q '^equilibrium: yes' ftraced_stats; }
}

typed 'uname -r'

typed 'cat available_tracers'
expect 'the function tracer among them' has '\bfunction\b'

typed 'echo function > current_tracer'; status=$?
expect 'no error' status_ok
typed 'cat current_tracer'
expect 'function' has '^function$'
typed 'head -20 trace'
expect 'the trace of the function tracer' has '^# tracer: function'
expect 'calls with their callers' has ' [0-9.]+: [A-Za-z0-9_.]+ <-[A-Za-z0-9_.]+'

typed "echo 'vfs_*' > set_ftrace_filter"; status=$?
expect 'no error' status_ok
typed 'head -5 set_ftrace_filter'
expect 'functions that begin so' has '^vfs_'
typed 'wc -l < enabled_functions'
expect 'more than one function' has '^([2-9]|[1-9][0-9]+)$'
typed 'echo > trace; cat /proc/version > /dev/null; echo 0 > tracing_on'
typed 'grep "cat-" trace | tail'
expect 'vfs_read() traced' has ': vfs_read <-'
expect 'nothing but what the filter names' hasnt ': ([^v]|v[^f]|vf[^s])[A-Za-z0-9_.]* <-'

typed 'echo 1 > tracing_on; echo nop > current_tracer'; status=$?
expect 'no error' status_ok
typed 'wc -l < enabled_functions'
expect 'no function traced any more' has '^0$'
typed 'echo > set_ftrace_filter'; status=$?
expect 'no error' status_ok

typed 'cat ftraced_enabled'
expect 'ftraced at work' has '^1$'
settle at_equilibrium
typed 'cat ftraced_stats'
expect 'equilibrium' has '^equilibrium: yes'
typed 'cat dyn_ftrace_total_info'
expect 'thousands of functions' has '^[1-9][0-9]{3,}'

exit $bad
