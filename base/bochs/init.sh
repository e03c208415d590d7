#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash disable=SC3043
# First and only program of the guest of ibt.py: all kinds of users on the same two
# functions, one after the other and together.  Each line of the plan is one case.
#
# The emulated CPU is slow, so this is busybox and nothing else.

/bin/busybox mkdir -p /proc /sys
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sysfs /sys
/bin/busybox --install -s /bin
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing || exit

D=/sys/kernel/debug
F=ftrace_test_mod_f00
K=ftrace_test_victim0
insmod /ftrace_test_mod.ko
insmod /ftrace_test_ops.ko

nr=0
failed=
result() { # name
	nr=$((nr + 1))
	if [ -z "$failed" ]; then
		echo "ok $nr $1"
	else
		echo "not ok $nr $1"
	fi
	failed=
}

is() { # what number number
	[ "$2" = "$3" ] || { echo "# $1: $2, not $3"; failed=1; }
}

run() {
	echo > trace
	for i in 0 1 2; do
		echo "zero $i" > $D/ftrace_test_ops/cmd 2> /dev/null
	done
	echo "$F 3" > $D/ftrace_test_mod/run
	echo "$K 2" > $D/ftrace_test/run
}

ops() { # command...
	echo "$*" > $D/ftrace_test_ops/cmd || { echo "# ops $*: refused"; failed=1; }
}

# An ops, registered for both functions.
user() { # ops flag...
	local i=$1 f

	shift
	for f; do
		ops flag "$i" "$f"
	done
	ops filter "$i" $F
	ops filter "$i" $K add
	ops register "$i"
}

seen_by() { # ops number-for-F number-for-K
	local n

	n=$(awk -v i="$1" -v f=$F '$1 == i && $2 == f { n += $NF } END { print n + 0 }' \
		$D/ftrace_test_ops/seen)
	is "$F seen by $1" "$n" "$2"
	n=$(awk -v i="$1" -v f=$K '$1 == i && $2 == f { n += $NF } END { print n + 0 }' \
		$D/ftrace_test_ops/seen)
	is "$K seen by $1" "$n" "$3"
}

in_trace() { # pattern number
	is "'$1' in the trace" "$(grep -c "$1" trace)" "$2"
}

tracer() { # name
	echo "$1" > current_tracer || failed=1
}

probes() { # on-or-off
	if [ "$1" = 1 ]; then
		{
			echo "p:ibt/kp $F"
			echo "r:ibt/kr $F"
			echo "f:ibt/fp $K"
			echo "f:ibt/fr $K%return"
		} > dynamic_events
		echo 1 > events/ibt/enable || failed=1
	else
		echo 0 > events/ibt/enable
		echo > dynamic_events
	fi
}

probes_hit() {
	in_trace ' kp: (' 3
	in_trace ' kr: (' 3
	in_trace ' fp: (' 2
	in_trace ' fr: (' 2
}

echo "$F $K" > set_ftrace_filter
echo "$F $K" > set_graph_function
echo 1..10

tracer function
run
in_trace ": $F .*<-" 3
in_trace ": $K <-" 2
result "function tracer"

tracer function_graph
run
in_trace "$F" 3
in_trace "$K" 2
result "graph tracer"

tracer nop
probes 1
run
probes_hit
result "probes at entries and returns"

tracer function
run
probes_hit
in_trace ": $F .*<-" 3
in_trace ": $K <-" 2
result "the same beside the function tracer"

tracer function_graph
run
probes_hit
result "the same beside the graph tracer"
tracer nop
probes 0

user 0 regs
user 1
run
seen_by 0 3 2
seen_by 1 3 2
result "ops with registers and without"

ops drop 1
user 1 ipmodify redirect
run
seen_by 0 3 2
seen_by 1 3 2
result "functions sent elsewhere"
ops drop 0
ops drop 1

user 2 direct
run
seen_by 2 3 2
result "a direct call"

# Code that begins with no ENDBR, so it may be reached by no indirect branch.
user 0
tracer function
tramps=$(grep -c 'ftrace_trampoline.*\[__builtin__ftrace\]$' /proc/kallsyms)
if grep -qw ftrace_trampolines=0 /proc/cmdline; then
	is trampolines "$tramps" 0
else
	[ "$tramps" -gt 0 ] || { echo "# no trampolines"; failed=1; }
fi
run
seen_by 0 3 2
seen_by 2 3 2
in_trace ": $F .*<-" 3
result "a direct call beside tracers"

ops flag 1 regs
user 1
probes 1
run
probes_hit
seen_by 0 3 2
seen_by 1 3 2
seen_by 2 3 2
result "all of them"
probes 0
tracer nop
for i in 0 1 2; do
	ops drop $i
done

# The log goes to the same place; what Bochs writes comes in blocks.
echo "@done"
dd if=/dev/zero bs=1024 count=16 2> /dev/null | tr '\0' ' '
echo
while :; do
	sleep 1000
done
