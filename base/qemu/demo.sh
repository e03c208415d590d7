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

# The same once the output is as TEST wants it, but for a minute at most: the session goes
# on where somebody would have typed it again.
typed_until() { # TEST COMMAND
	local i
	for ((i = 0; i < 60; i++)); do
		out=$(eval "$2" 2>&1)
		"$1" && break
		sleep 1
	done
	echo "# $2"
	echo "$out"
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
	at_rest() { has '^equilibrium: yes'; }
	at_equilibrium() { grep -q '^equilibrium: yes' ftraced_stats; }
}

# Follow ftraced until it has had nothing to do for three seconds, but not forever. What
# is done here is what comes next, so that it has run before.
follow() {
	local i quiet=0
	for ((i = 0; i < 400 && quiet < 15; i++)); do
		out=$(cat /proc/uptime ftraced_stats 2>&1)
		echo "$out" >>/run/samples
		quiet=$((quiet + 1))
		at_rest || quiet=0
		sleep .2
	done
}

# For the report; of a trace as much as it can make use of.
keep() { # FILE NAME
	[ ! -d /keep ] || head -n 20000 "$1" >"/keep/$2"
}

typed 'uname -r'

# The kernel finds its functions as they run, and patches them.
typed 'cat ftraced_enabled'
expect 'ftraced at work' has '^1$'
follow
typed_until at_rest 'cat ftraced_stats'
expect 'equilibrium' at_rest
keep /run/samples samples

typed 'cat available_tracers'
expect 'the function tracer among them' has '\bfunction\b'

typed 'echo function > current_tracer'; status=$?
expect 'no error' status_ok
typed 'cat current_tracer'
expect 'function' has '^function$'
typed 'head -20 trace'
expect 'the trace of the function tracer' has '^# tracer: function'
expect 'calls with their callers' has ' [0-9.]+: [A-Za-z0-9_.]+ <-[A-Za-z0-9_.]+'
echo 0 >tracing_on
keep trace function.trace
echo 1 >tracing_on

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

typed 'echo vfs_read > set_graph_function; echo function_graph > current_tracer'; status=$?
expect 'no error' status_ok
# One task: the shell that waits for it calls vfs_read(), too.
typed 'sh -c "echo \$\$ > set_ftrace_pid; exec cat /proc/version"; echo 0 > tracing_on'
typed "grep -A 9 -m 1 ' vfs_read() {' trace"
expect 'what vfs_read() calls, and how long it takes' has '\|    [A-Za-z0-9_.]+\(\)'
keep trace graph.trace
typed 'echo nop > current_tracer; echo > set_graph_function; echo > set_ftrace_pid'; status=$?
expect 'no error' status_ok

echo 1 >tracing_on
settle at_equilibrium
typed 'cat dyn_ftrace_total_info'
expect 'thousands of functions' has '^[1-9][0-9]{3,}'
keep ftraced_stats stats
[ ! -d /keep ] || uname -rv >/keep/kernel

exit $bad
