#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest, on any kernel: what the function tracers write of one workload, with
# each of their options, to be compared between kernels. Times, durations and PIDs are
# left out; so are the formats whose whole lines depend on them (raw, hex, bin).
#
# Titles of sections in which several ops are on one function begin with "several".
#
# usage: guest-events.sh

set -u
cd /sys/kernel/tracing || exit 1
TRACED='ksys_write vfs_write write_null __x64_sys_kill __x64_sys_dup2 __x64_sys_chdir'
TRACED+=' set_fs_pwd path_put'

# Nothing but system calls of this shell.
work() { # folder of the trace
	echo 1 >"$1/tracing_on"
	kill -0 $$
	kill -0 $$
	kill -0 $$
	kill -0 $$
	echo something >/dev/null
	cd /proc && cd /sys/kernel/tracing || exit 1
	echo 0 >"$1/tracing_on"
}

timeless() {
	sed -E -e "s/([-: ])$$\\>/\\1PID/g" -e 's/ on [0-9]+\.[0-9]+\.[0-9]+-[^ ]*$//' \
		-e 's/<[0-9a-f]{16}>/<ADDRESS>/g' \
		-e 's/[0-9]+\.[0-9]{6}( \||:)/TIME\1/' -e 's/-[0-9]+( +[[(])/-PID\1/' \
		-e 's/\( *[0-9]+\)/(TGID)/' -e 's/last_ts: +[0-9.]+/last_ts: TIME/' \
		-e 's/[-+!#*@$ ] +[0-9]+\.[0-9]+ us/ DURATION/' \
		-e 's/(bash|guest-events\.sh|<\.\.\.>)-(PID|[0-9]+)/TASK/' \
		-e 's/ +[0-9]+(us|ms)([-+!#*@$ ]*):/ TIME :/' -e 's/[[:space:]]+/ /g'
}

# No pipe: that would be another process, which is not traced.
section() { # TITLE COMMAND...
	echo "== $1"
	"${@:2}" >/tmp/said 2>&1
	timeless </tmp/said
}

traced() { # TRACER OPTION... of the trace array in $where
	local option

	echo 0 >"$where/tracing_on"
	echo "$1" >"$where/current_tracer"
	for option in "${@:2}"; do
		echo "$option" >"$where/trace_options"
	done
	echo >"$where/trace"
	work "$where"
	"${show[@]}"
	for option in "${@:2}"; do
		case $option in
		no*)	echo "${option#no}" ;;
		*)	echo "no$option" ;;
		esac >"$where/trace_options"
	done
	echo nop >"$where/current_tracer"
}

where=.
show=(cat trace)
options() { # TRACER OPTION... : each alone, set and not
	local option

	for option in "${@:2}"; do
		section "$1, $option" traced "$1" "$option"
	done
}

for f in events/ftrace/*/format; do
	section "$f" cat "$f"
done
echo $$ >set_ftrace_pid
echo "$TRACED" >set_ftrace_filter
section function traced function
options function func_stack_trace func-no-repeats noirq-info nocontext-info sym-offset \
	sym-addr noprint-parent userstacktrace latency-format record-tgid noannotate \
	nooverwrite pause-on-trace event-fork function-fork
section "function, both of its own" traced function func_stack_trace func-no-repeats
show=(head -n 40 trace_pipe)
section "function, trace_pipe" traced function func_stack_trace
show=(cat trace)

# How often it was is told with the next call of another.
echo '__x64_sys_kill write_null' >set_ftrace_filter
section "function, one repeated" traced function func-no-repeats
section "function, one repeated, with its stack" traced function func-no-repeats \
	func_stack_trace
# A command is an ops of its own: several on one function.
command() { # COMMAND
	echo "__x64_sys_kill:$1" >>set_ftrace_filter
	section "several, function and command $1" traced function
	echo "!__x64_sys_kill:$1" >>set_ftrace_filter
	grep '^__x64_sys_kill:' set_ftrace_filter
}
command stacktrace
command traceoff:1
command traceoff
echo "$TRACED" >set_ftrace_filter

snapshot() { echo 1 >snapshot && cat snapshot trace; echo 0 >snapshot; }
show=(snapshot)
section "function, snapshot" traced function
show=(cat trace)

mkdir instances/events
where=instances/events
show=(cat "$where/trace")
echo $$ >$where/set_ftrace_pid
echo "$TRACED" >$where/set_ftrace_filter
section "function in an instance" traced function
options function func_stack_trace func-no-repeats
echo function >current_tracer
section "several, function beside another" traced function func_stack_trace
echo nop >current_tracer
where=.
show=(cat trace)
rmdir instances/events

section function_graph traced function_graph
options function_graph funcgraph-overrun nofuncgraph-cpu nofuncgraph-overhead \
	funcgraph-proc nofuncgraph-duration funcgraph-abstime nofuncgraph-irqs \
	funcgraph-tail funcgraph-retval nosleep-time nograph-time latency-format noirq-info
section "function_graph, return values in hex" traced function_graph funcgraph-retval \
	funcgraph-retval-hex
echo 1 >max_graph_depth
section "function_graph, one level" traced function_graph
echo 0 >max_graph_depth
echo vfs_write >set_graph_function
section "function_graph, of one function" traced function_graph
echo >set_graph_function
echo vfs_write >set_graph_notrace
section "function_graph, without one" traced function_graph
echo >set_graph_notrace

# What is refused, and how.
try() { # TEXT FILE
	if echo "$1" >"$2"; then
		echo "'$1' > $2: taken"
	else
		echo "'$1' > $2: refused"
	fi
}
refused() {
	local word

	for word in func_stack_trace nofunc-no-repeats funcgraph-retval nonsense; do
		try $word trace_options
	done
	echo function >current_tracer
	for word in func_stack_trac funcgraph-retval nonofunc_stack_trace ''; do
		try "$word" trace_options
	done
	for word in 2 -1 x ''; do
		try "$word" options/func_stack_trace
		try "$word" options/func-no-repeats
	done
	cat options/func_stack_trace options/func-no-repeats
	try functions current_tracer
	try 4194305 set_ftrace_pid
	try x set_ftrace_pid
	cat current_tracer set_ftrace_pid | sed "s/^$$\$/PID/"
	echo nop >current_tracer
}
section "what is refused" refused
