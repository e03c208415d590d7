#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest, on any kernel: what one patch of base/fixes mends. Succeeds if it
# is mended; fails, with a line that says what was seen, if it is not.
#
# usage: guest-fixes.sh FIX FOLDER-OF-MODULES

fix=$1 modules=$2
cd /sys/kernel/tracing || exit 2

die() { echo "$fix: $*"; exit 1; }
# Something is not as the test needs it: on no kernel is that what is looked for.
unable() { echo "$fix: cannot be tested: $*"; exit 2; }

# Have calls of a function fail, until mend.
fail() { # function [skip=N] [times=N] [ret=N]
	from=$(($(dmesg | wc -l) + 1))
	insmod "$modules/fixes_fail.ko" func="$1" "${@:2}" || unable "no probe at $1"
}
failed() {
	dmesg | tail -n "+$from" | grep -q 'fixes_fail: .* returns' || unable "nothing failed"
}
mend() {
	failed
	rmmod fixes_fail
}

# Write to a file; true if that is refused.
refused() { # what file
	! { echo "$1" >"$2"; } 2>/dev/null
}

# How often a function was called since the probe at it.
calls_of() { # function
	awk -v f="$1" '$1 == f { print $2 }' kprobe_profile
}

# Have this shell, not a child of it, call vfs_read(); is it in the trace?
traced_read() {
	local line
	echo >trace
	read -r line </proc/version
	[ -n "$line" ] && grep -q 'vfs_read()' trace
}

case $fix in
43-function-tracer-error)
	fail register_ftrace_function
	refused function current_tracer || { failed; die "the tracer that failed is $(cat current_tracer)"; }
	mend
	[ "$(cat current_tracer)" = nop ] || die "current_tracer is $(cat current_tracer)"
	refused function current_tracer && die "it never works again"
	echo nop >current_tracer
	;;
47-graph-tracer-order)
	echo 'tracepoint_* vfs_read' >set_ftrace_filter || unable "no such functions"
	echo function_graph >current_tracer || unable "no graph tracer"
	read -r _ </proc/version
	echo 0 >tracing_on
	grep -q vfs_read trace || unable "nothing was traced"
	seen=$(grep -c tracepoint_ trace)
	echo nop >current_tracer
	[ "$seen" -eq 0 ] || die "$seen calls that record names"
	;;
48-fgraph-error)
	echo vfs_read >set_ftrace_filter
	# Its callback is called by one that looks at the PID.
	echo $$ >set_ftrace_pid
	fail ftrace_startup_subops
	refused function_graph current_tracer || unable "it did not fail"
	mend
	refused function_graph current_tracer && die "it never works again"
	traced_read || die "it works and traces nothing"
	# A second user does not get its functions; the first keeps them.
	mkdir instances/a
	fail ftrace_startup_subops
	refused function_graph instances/a/current_tracer || unable "the second did not fail"
	mend
	traced_read || die "the first user traces nothing any more"
	refused function_graph instances/a/current_tracer && die "the second never works again"
	echo nop >instances/a/current_tracer
	rmdir instances/a
	echo nop >current_tracer
	;;
51-graph-tracer-interrupts)
	event=events/preemptirq/irq_disable
	[ -e $event/enable ] || unable "no $event"
	echo vfs_read >set_ftrace_filter
	echo function_graph >current_tracer || unable "no graph tracer"
	echo 1 >$event/enable
	cat /proc/version >/dev/null
	echo 0 >$event/enable
	# To read the trace takes calls of vfs_read().
	echo 0 >tracing_on
	grep -q 'vfs_read()' trace || unable "vfs_read was not traced"
	grep -q irq_disable: trace || unable "no interrupts were disabled at all"
	seen=$(grep -cE 'irq_disable: caller=trace_graph_(entry|return)' trace)
	echo nop >current_tracer
	[ "$seen" -eq 0 ] || die "interrupts were disabled $seen times"
	;;
53-event-probes)
	modprobe trace-events-sample || unable "no module with an event"
	fail ftrace_hash_move_and_update_ops
	refused 'vfs_s*:enable_event:sample-trace:foo_bar' set_ftrace_filter ||
		unable "it did not fail"
	mend
	users=$(cat /sys/module/trace_events_sample/refcnt)
	[ "$users" = 0 ] || die "the event's module has $users users"
	;;
54-module-async)
	insmod "$modules/fixes_async.ko" || unable "no module"
	mkdir instances/a
	echo fixes_async_traced >instances/a/set_ftrace_filter || unable "no such function"
	echo function >instances/a/current_tracer || unable "no tracer"
	rmmod fixes_async &
	until grep -q '^fixes_async .* Unloading ' /proc/modules; do
		sleep 0.1
	done
	sleep 1
	# Its trampoline goes.
	echo nop >instances/a/current_tracer
	rmdir instances/a
	wait $!
	dmesg | grep -q 'fixes_async: done' || unable "it was not done"
	;;
55-latency-tracers-error)
	for tracer in irqsoff wakeup; do
		echo 1 >options/function-trace
		before=$(cat trace_options)
		fail register_ftrace_function
		refused $tracer current_tracer || { failed; die "$tracer was selected without functions"; }
		mend
		if [ $tracer = wakeup ]; then
			fail tracepoint_probe_register
			refused $tracer current_tracer || { failed; die "$tracer was selected without events"; }
			mend
		fi
		[ "$(cat trace_options)" = "$before" ] || die "$tracer left other options"
		refused $tracer current_tracer && die "$tracer never works again"
		echo nop >current_tracer

		echo 0 >options/function-trace
		echo $tracer >current_tracer || unable "no $tracer"
		fail register_ftrace_function
		refused 1 options/function-trace || { failed; die "$tracer let the option be set"; }
		mend
		# It goes on with what it had, and measures.
		echo 1 >options/function-trace
		fail register_ftrace_graph
		refused 1 options/display-graph || { failed; die "$tracer let the graph be chosen"; }
		mend
		echo 0 >tracing_max_latency
		for ((i = 0; i < 20; i++)); do
			chrt -f 5 sleep 0.1
			[ "$(cat tracing_max_latency)" = 0 ] || break
		done
		[ "$(cat tracing_max_latency)" != 0 ] || die "$tracer measures nothing any more"
		[ "$(wc -l <enabled_functions)" -gt 1000 ] ||
			die "$tracer traces no functions any more"
		echo nop >current_tracer
	done
	;;
56-stack-tracer-error)
	enabled=/proc/sys/kernel/stack_tracer_enabled
	fail register_ftrace_function
	refused 1 $enabled || { failed; die "it was enabled"; }
	mend
	[ "$(cat $enabled)" = 0 ] || die "it is enabled"
	refused 1 $enabled && die "it never works again"
	echo 0 >$enabled
	;;
60-sample-ops-count)
	# The second of two is told that it is registered.
	fail register_ftrace_function skip=1 ret=0
	modprobe ftrace-ops nr_ops_relevant=2 check_count=1 nr_function_calls=10 \
		2>/dev/null
	mend
	case $(dmesg | grep -c 'Counter called 0 times (expected 10)') in
	0)	die "nothing was said" ;;
	1)	;;
	*)	unable "the first was not called" ;;
	esac
	;;
62-trace-reset-wait)
	for f in synchronize_rcu synchronize_rcu_expedited; do
		echo "p:fixes/$f $f" >>kprobe_events || unable "no probe at $f"
		echo 1 >events/fixes/$f/enable || unable "$f is not probed"
	done
	plain=$(calls_of synchronize_rcu) quick=$(calls_of synchronize_rcu_expedited)
	for ((i = 0; i < 8; i++)); do
		echo >trace || unable "the buffer is not reset"
	done
	plain=$(($(calls_of synchronize_rcu) - plain))
	quick=$(($(calls_of synchronize_rcu_expedited) - quick))
	echo 0 >events/fixes/enable
	[ $((plain + quick)) -ge 8 ] || unable "8 resets wait for $((plain + quick)) grace periods"
	[ $((plain + quick)) -lt 16 ] || die "$((plain + quick)) grace periods for 8 resets"
	[ $plain -lt 8 ] || die "$plain grace periods for 8 resets are not expedited"
	;;
66-graph-return-size)
	# What an event of each kind holds, by its format, and the header of the event.
	size_of() { # event
		sed -n 's/.*offset:\([0-9]*\);\tsize:\([0-9]*\);.*/\1 \2/p' \
			"events/ftrace/$1/format" | awk '{ end = $1 + $2 } END { print end + 4 }'
	}
	fields=$(($(size_of funcgraph_entry) + $(size_of funcgraph_exit)))
	echo vfs_read >set_ftrace_filter
	echo function_graph >current_tracer || unable "no graph tracer"
	for ((i = 0; i < 1000; i++)); do
		read -r _ </proc/version
	done
	echo 0 >tracing_on
	# Two events for a call. A few bytes are full times.
	bytes=$(awk '/^entries:/ { n += $2 } /^bytes:/ { b += $2 }
		END { print n < 1000 ? 0 : int(2 * b / n) }' per_cpu/cpu*/stats)
	echo nop >current_tracer
	[ "$bytes" -ge "$fields" ] || unable "too little was traced"
	[ "$bytes" -lt $((fields + 8)) ] ||
		die "a call takes $bytes bytes, and $fields are in their fields"
	;;
68-ring-buffer-discard-time)
	insmod "$modules/fixes_ring.ko" || unable "no module"
	rmmod fixes_ring
	early=$(dmesg | sed -n 's/.*fixes_ring: [a-z]*: \([0-9]*\) ns early$/\1/p')
	[ "$(wc -w <<<"$early")" = 2 ] || unable "$(dmesg | grep fixes_ring)"
	for ns in $early; do
		[ "$ns" = 0 ] || die "an event is $ns ns early"
	done
	;;
71-tprobe-module)
	modprobe trace-events-sample || unable "no module with tracepoints"
	echo 't:fixes/gone foo_bar' >>dynamic_events || unable "no probe"
	echo 't:fixes/back foo_bar_with_cond' >>dynamic_events || unable "no second probe"
	rmmod trace-events-sample
	grep -q fixes/gone dynamic_events || unable "it went with the module"
	# The unmended kernel dies here.
	echo '-:fixes/gone' >>dynamic_events || die "it cannot be removed"
	grep -q fixes/gone dynamic_events && die "it is still there"
	# The other one comes back, twice.
	for ((i = 0; i < 2; i++)); do
		echo >trace
		modprobe trace-events-sample
		echo 1 >events/fixes/back/enable
		# The sample calls its tracepoints once a second, this one each tenth time.
		for ((j = 0; j < 600; j++)); do
			grep -q ' back: (' trace && break
			sleep 0.1
		done
		grep -q ' back: (' trace || die "the other one does not come back"
		echo 0 >events/fixes/back/enable
		rmmod trace-events-sample
	done
	echo '-:fixes/back' >>dynamic_events || die "the other one cannot be removed"
	;;
77-instance-graph-ops)
	fail allocate_fgraph_ops
	if mkdir instances/a 2>/dev/null; then
		failed
		die "an instance was made without them"
	fi
	mend
	[ ! -e instances/a ] || die "something of it is there"
	mkdir instances/a || die "it never works again"
	echo vfs_read >instances/a/set_ftrace_filter
	for tracer in function function_graph; do
		echo $tracer >instances/a/current_tracer || unable "no tracer $tracer"
		cat /proc/version >/dev/null
		grep -q vfs_read instances/a/trace || die "$tracer traces nothing"
	done
	rmdir instances/a || die "the instance does not go"
	;;
78-module-params)
	insmod "$modules/fixes_param.ko" || unable "no module"
	mkdir instances/a
	echo fixes_param_traced >instances/a/set_ftrace_filter || unable "no such function"
	echo function >instances/a/current_tracer || unable "no tracer"
	# Once: it is gone when that is done.
	dd if=/sys/module/fixes_param/parameters/slow of=/tmp/slow bs=4096 count=1 status=none &
	reader=$!
	sleep 1
	rmmod fixes_param &
	until grep -q '^fixes_param .* Unloading ' /proc/modules; do
		sleep 0.1
	done
	sleep 1
	# Its trampoline goes, and the function is called once more without it.
	echo nop >instances/a/current_tracer
	rmdir instances/a
	sleep 1
	kill -USR1 $reader
	wait $! || die "the module does not go"
	wait $reader || unable "the parameter cannot be read"
	grep -qx "done" /tmp/slow || unable "the parameter is $(cat /tmp/slow)"
	;;
80-static-call-queue)
	# How many places a batch has, and the first eight, as struct text_poke_loc has them.
	at=$(for ((i = 0; i < 8; i++)); do printf ' at%d=+%d(%%di):s32' $i $((16 * i)); done)
	echo "p:fixes/write text_poke_bp_batch nr=%si:s32$at" >>dynamic_events || unable "no probe"
	echo 1 >events/fixes/write/enable
	[ ! -e ftraced_enabled ] || echo 0 >ftraced_enabled
	# How often text is written meanwhile.
	writes_of() { # COMMAND...
		local before
		before=$(calls_of write)
		"$@" || unable "cannot: $*"
		writes=$(($(calls_of write) - before))
		[ $writes -gt 0 ] || unable "nothing was counted: $*"
	}
	set_event() { echo "$1" >events/sched/sched_waking/enable; }
	wakings() {
		sleep 0.1
		grep -c ' sched_waking: ' trace
	}
	# The static call of the event, with two callers, and its key.
	writes_of set_event 1
	on=$writes
	[ "$(wakings)" -gt 0 ] || die "the event does not come"
	writes_of set_event 0
	off=$writes
	was=$(wakings)
	[ "$(wakings)" -eq "$was" ] || die "the event goes on"
	# The module has eight static calls.
	writes_of modprobe trace-events-sample
	if [ "$on" -gt 2 ] || [ "$off" -gt 2 ] || [ $writes -gt 2 ]; then
		die "text was written $on times, $off times, and $writes times for a module"
	fi
	# Whoever runs into a breakpoint meanwhile finds it by bisection.
	sed -n 's/.* write: .* nr=/nr=/p' trace | sed 's/[a-z]*[0-9]*=//g' >/tmp/batches
	awk '{
			for (i = 3; i <= $1 + 1 && i <= NF; i++)
				bad += $(i - 1) >= $i
			large += $1 >= 3
		} END { exit bad ? 1 : large ? 0 : 2 }' /tmp/batches
	case $? in
	1)	die "out of order: $(cat /tmp/batches)" ;;
	2)	unable "none is large: $(cat /tmp/batches)" ;;
	esac
	;;
*)
	unable "no such test"
	;;
esac
echo "$fix: mended"
