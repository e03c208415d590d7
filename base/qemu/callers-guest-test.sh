#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What guest-caller.sh makes of what programs say, and of what the kernel's log says:
# whatever is wrong must be told.  Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/runner-check.sh"

sim=$work/sim
mkdir -p "$sim/qemu"
cp "$here"/guest-caller*.sh "$sim/qemu/"
: >"$sim/qemu/callers.list"
# It is the last that guest-caller.sh takes in.
cat >"$sim/qemu/guest-caller-sim.sh" <<'SIM'
tracing=$sim/tracing loaded=
inject=$sim/inject patches=$sim/patches cmdline=$sim/cmdline stats=$sim/stats
group_run() { run "$tools/program"; }
quietly() { "$@" >/dev/null; }
group_eventually() { try it real_eventually quietly "$tools/program"; }
group_fails() { try it fails_with 'Input/output error' "$tools/program"; }
runs_of() { echo "$ran"; }
stopped() { :; }
group_enabled() { try it enabled "$name"; }
eval "real_$(declare -f eventually)"
# What the kernel does meanwhile: it traces, and a patch that is no longer enabled goes.
eventually() {
	[ ! $loaded ] || echo "${traced:-}" >$tracing/trace
	if [ "$(command cat $patches/livepatch_sample/enabled 2>/dev/null)" = 0 ]; then
		rm -r $patches/livepatch_sample
		[ "${stays:-}" ] || echo as it was >$cmdline
	fi
	"$@"
}
sleep() { :; }
# What is refused, with the error of $errors that has its turn.
bash() {
	echo "bash: line 1: echo: write error: ${errors%%|*}" >&2
	errors=${errors#*|}
	return 1
}
# What the log has to say of a module while it is loaded, and when it is gone.
listen() { mark=MARK; }
dmesg() {
	echo boot
	if [ $loaded ]; then echo "MARK${log:-}"; else echo "MARK${log_after:-}"; fi
}
# So it is with what is traced.
modprobe() {
	# The sample of ops stays only when it is asked to.
	[[ ($* != ftrace-ops* || $* == *persist=1*) && $* != *no_such_function* ]] || return
	if [ "$1" = -r ]; then
		loaded=
		[ "${stays:-}" ] || rm -rf $tracing/instances/sample-instance
	else
		loaded=yes
		case $1 in
		sample-trace-array)
			mkdir -p $tracing/instances/sample-instance
			echo "${traced:-}" >$tracing/instances/sample-instance/trace ;;
		livepatch-sample)
			mkdir -p $patches/livepatch_sample
			echo "${enabled:-1}" >$patches/livepatch_sample/enabled
			echo 0 >$patches/livepatch_sample/transition
			echo "${patched:-}" >$cmdline ;;
		esac
		echo "${traced:-}" >$tracing/trace
	fi
}
fork() { [ $loaded ] || echo "${traced_after:-}" >$tracing/trace; }
SIM
bpf=$sim/kernel/bpf/tools/testing/selftests/bpf
mkdir -p "$sim/tools/perf" "$bpf" "$sim/tracing" "$sim/inject"
printf '# test result | why\nrun/it slow | it is slow\n' >"$sim/qemu/callers-again.list"
export sim log traced log_after traced_after

# A test in the guest: what is bad, or skipped, and why
guest() {
	bash "$sim/qemu/guest-caller.sh" "$sim/kernel" "$sim/tools" "$1" >"$work/ktap" 2>&1
	local status=$?
	grep -E '^(not ok|# skipped)' "$work/ktap" | paste -sd '|' >&2
	return $status
}
# A test where program PATH says TEXT and ends with STATUS
guest_with() { # TEST PATH TEXT STATUS
	printf '#!/bin/sh\ncat <<"TEXT"\n%s\nTEXT\nexit %s\n' "$3" "$4" >"$2"
	chmod +x "$2"
	guest "$1"
}
program() { guest_with run/it "$sim/tools/program" "$@"; }
perf() { guest_with perf/it "$sim/tools/perf/perf" "$1" "${2:-0}"; }
# Bench says HITS and ends with STATUS, while the kernel counts the RUNS of its driver and
# the CALLS of what it has attached.
bench() { # HITS STATUS RUNS CALLS
	printf '#!/bin/sh\necho "%s"\nexit %s\n' "Summary: hits $1 +- 0.012M/s" "$2" >"$bpf/bench"
	chmod +x "$bpf/bench"
	ran="$3 $4" guest bench/it
}
# A test where program ends with each STATUS in turn, and with the last one from then on.
guest_in_turn() { # TEST STATUS...
	printf '%s\n' "${@:2}" >"$work/turns"
	cat >"$sim/tools/program" <<-TEXT
		#!/bin/sh
		status=\$(head -n 1 $work/turns)
		[ \$(wc -l <$work/turns) = 1 ] || sed -i 1d $work/turns
		[ \$status = 0 ] || not='not '
		echo "\${not}ok 1 \${result-}"
		exit \$status
	TEXT
	chmod +x "$sim/tools/program"
	guest "$1"
}

check 'guest: all is well' '^$' 0 program $'1..2\nok 1 a\nok 2 b' 0
check 'guest: a result is bad' '^not ok 2 b$' 1 program $'1..2\nok 1 a\nnot ok 2 b' 1
check 'guest: a result of the plan is lost' '^not ok 3 it: 2 results of 3$' 1 \
	program $'1..3\nok 1 a\nok 2 b' 0
check 'guest: nothing is said' '^not ok 1 it: status 0$' 1 program '' 0
check 'guest: a program fails with all results good' '^not ok 2 it: status 1$' 1 program 'ok 1 a' 1
check 'guest: a program dies' '^not ok 2 it: status 139$' 1 program 'ok 1 a' 139
check 'guest: a program dies after a bad result' '^not ok 1 a\|not ok 2 it: status 139$' 1 \
	program 'not ok 1 a' 139
check 'guest: why a test is skipped' '^# skipped: a:  for want of it$' 0 \
	program 'ok 1 a # SKIP for want of it' 4
check 'guest: why one of BPF is skipped' '^# skipped: a: for want of it$' 0 \
	program $'# test_a:SKIP:for want of it\nok 1 a # SKIP' 0
check 'guest: the reason of one is not that of the next' \
	'^# skipped: a: for want of it\|# skipped: b: no reason$' 0 \
	program $'# test_a:SKIP:for want of it\nok 1 a # SKIP\nok 2 b # SKIP' 0

check 'guest: perf passes' '^$' 0 perf $' 5: Some test:\n 5: Some test   : Ok'
check 'guest: perf fails' '^not ok 1 Some test$' 1 perf ' 5: Some test   : FAILED!'
check 'guest: perf skips' '^# skipped: Some test: Skip \(no gcc\)$' 0 \
	perf ' 5: Some test   : Skip (no gcc)'
check 'guest: perf has not read what it should' '^# skipped: Some test: no vmlinux$' 0 \
	perf $'no vmlinux\n---- end(0) ----\n 5: Some test   : Ok'
check 'guest: a script of perf fails, as it says' '^not ok 2 b :: some$' 1 \
	perf $'-- [ PASS ] -- t :: b :: any\n-- [ FAIL ] -- t :: b :: some (command exitcode)\n 5: T : Ok'
check 'guest: a script of perf skips, as it says' '^# skipped: b: testcase skipped$' 0 \
	perf $'## [ SKIP ] ## t :: b :: testcase skipped\n 5: T : Ok'

check 'guest: perf gives no verdict' '^not ok 2 it: no verdict$' 1 \
	perf '-- [ PASS ] -- t :: b :: any'
check 'guest: perf dies after a verdict' '^not ok 2 it: status 139$' 1 \
	perf ' 5: Some test   : Ok' 139
check 'guest: perf fails after a good verdict' '^not ok 2 it: status 1$' 1 \
	perf ' 5: Some test   : Ok' 1
check 'guest: perf fails in a line that others began' '^not ok 1 Some test$' 1 \
	perf ' 5: Some test   : Running (1 active) 5: Some test   : FAILED!'

check 'guest: a bench whose program is called' '^$' 0 bench 0.135 0 200 20000
check 'guest: a bench whose program is not called' '^not ok 2 each call is seen\|not ok 4 hits$' 1 \
	bench 0.000 0 200 0
check 'guest: a bench whose program misses a call' '^not ok 2 each call is seen$' 1 \
	bench 0.135 0 200 19999
check 'guest: a bench that does not count its hits' '^not ok 4 hits$' 1 bench '' 0 200 20000
check 'guest: a bench that calls nothing' '^not ok 1 its driver runs\|not ok 4 hits$' 1 bench 0.000 0 0 0
check 'guest: a bench that fails' '^not ok 3 it ends well$' 1 bench 0.135 1 200 20000

# The log of a boot in which tracers test themselves, after "sed SCRIPT"
starts() {
	sed "$1" >"$work/log" <<-'TEXT'
		[    0.1] Testing tracer nop: PASSED
		[    0.2] Testing tracer function: [    0.3] something else
		[    0.4] PASSED
		[    0.5] Testing dynamic ftrace ops #1: (1 0 1 0 0) (1 1 2 0 0) PASSED
		[    1.0] Running ring buffer tests...
		[    1.1] Ring buffer PASSED!
		[    1.2] Testing event sched_switch: OK
		[    1.3] Testing event system sched: OK
		[    1.4] Testing all events: OK
		[    1.5] Running tests again, along with the function tracer
		[    1.6] Testing event sched_switch: OK
		[    1.7] Testing event system sched: OK
		[    1.8] Testing all events: OK
		[    1.9] kprobe: Testing kprobe tracing: OK
	TEXT
	"$here/guest-startup.sh" "$work/log" 'blk function nop' >"$work/ktap"
	local status=$?
	grep '^not ok' "$work/ktap" | sed 's/ [0-9]* - / /' | paste -sd '|' >&2
	return $status
}
check 'guest: tests of start-up' '^$' 0 starts ''
given='^tracer nop\|tracer function\|dynamic ftrace ops 1\|ring buffer\|all events'
given+='\|all events with the function tracer\|kprobe tracing'
given+='\|event systems with the function tracer\|events with the function tracer'
given+='\|event systems\|events$'
check 'guest: their results' "$given" 0 \
	eval "sed -n 's/^ok [0-9]* - //p' '$work/ktap' | paste -sd '|' >&2"
check 'guest: a tracer fails its test' '^not ok tracer nop$' 0 starts '1s/PASSED/.. no entries found ..FAILED!/'
check 'guest: a tracer fails it later' '^not ok tracer function$' 0 starts '3s/PASSED/FAILED!/'
check 'guest: a test comes to no end' '^not ok dynamic ftrace ops 1$' 0 starts '4s/PASSED//'
check 'guest: a tracer is not tested' '^not ok tracer nop was not tested$' 0 starts 1d
check 'guest: the ring buffer is not tested' '^not ok the ring buffer was not tested$' 0 starts 5,6d
check 'guest: the ring buffer comes to no end' '^not ok ring buffer$' 0 starts 6d
check 'guest: an event fails its test' '^not ok event sched_switch\|not ok events$' 0 \
	starts '7s/OK/Enabled event during self test!/'
check 'guest: a system of events fails its test' '^not ok event system sched\|not ok event systems$' 0 \
	starts '8s/OK/error enabling system/'
check 'guest: no event is tested' '^not ok events$' 0 starts 7d
check 'guest: all events are not tested' '^not ok all events were not tested$' 0 starts 9d
check 'guest: an event fails its test with the function tracer' \
	'^not ok event sched_switch with the function tracer\|not ok events with the function tracer$' 0 \
	starts '11s/OK/Enabled event during self test!/'
check 'guest: no event is tested with it' \
	'^not ok events with the function tracer$' 0 starts 11d
given='^not ok all events with the function tracer were not tested\|.*'
given+='\|not ok events with the function tracer$'
check 'guest: events are not tested again' "$given" 0 \
	starts 10,13d
check 'guest: kprobes fail their test' '^not ok kprobe tracing$' 0 starts '14s/OK/NG: Some tests are failed. Please check them./'

check 'guest: what comes in time' '^$' 0 guest_in_turn eventually/it 1 1 0
check 'guest: what never comes' '^not ok 1 it$' 1 guest_in_turn eventually/it 1
export result=slow
check 'guest: what may fail once' '^$' 0 guest_in_turn run/it 1 0
check 'guest: it is told' '^# again: try 1: slow$' 0 aloud grep again "$work/ktap"
check 'guest: what may fail twice' '^$' 0 guest_in_turn run/it 1 1 0
check 'guest: what may not fail three times' '^not ok 1 slow$' 1 guest_in_turn run/it 1 1 1 0
result=other
check 'guest: what may not fail once' '^not ok 1 other$' 1 guest_in_turn run/it 1 0
result=slow
check 'guest: what may fail dies' '^not ok 1 slow\|not ok 2 it: status 139$' 1 \
	guest_in_turn run/it 139 0

fails() { guest_with fails/it "$sim/tools/program" "$(printf '\nTEXT\ncat >&2 <<"TEXT"\n%s' "$1")" "$2"; }
check 'guest: it fails as asked' '^$' 0 fails 'mkdir: a: Input/output error' 1
check 'guest: it fails otherwise' '^not ok 1 it$' 1 fails 'mkdir: a: Cannot allocate memory' 1
check 'guest: it does not fail' '^not ok 1 it$' 1 fails 'mkdir: a: Input/output error' 0
: >"$sim/inject/inject"
refuses() { errors=$1 guest fail_function/refused; }
export errors='Numerical result out of range|Invalid argument|No such file or directory'
check 'guest: errors are as they should be' '^$' 0 guest fail_function/refused
check 'guest: an error is not' '^not ok 2 a function that does not exist$' 1 \
	refuses "${errors/Invalid argument/Input\/output error}"
echo vfs_read >"$sim/inject/inject"
check 'guest: what was refused is listed' '^not ok 4 nothing is listed$' 1 guest fail_function/refused

# ENABLED and TRANSITION of a patch
patch() {
	mkdir -p "$sim/patches/it"
	echo "$1" >"$sim/patches/it/enabled"
	echo "$2" >"$sim/patches/it/transition"
	guest enabled/it
}
check 'guest: a patch is enabled' '^$' 0 patch 1 0
check 'guest: a patch is not enabled' '^not ok 1 it$' 1 patch 0 0
check 'guest: a patch is on its way' '^not ok 1 it$' 1 patch 1 1
# Text of /proc/cmdline with a patch, whether it is enabled, whether it stays when it is not
patched() {
	echo as it was >"$sim/cmdline"
	patched=$1 enabled=$2 stays=$3 guest samples/livepatch-sample
}
export patched enabled stays
check 'guest: a livepatch' '^$' 0 patched 'this has been live patched' 1 ''
check 'guest: a livepatch that does nothing' '^not ok 3 the function is patched$' 1 \
	patched 'as it was' 1 ''
check 'guest: a livepatch that is not enabled' '^not ok 2 it is enabled\|' 1 \
	patched 'this has been live patched' 0 ''
check 'guest: a livepatch that stays' '^not ok 5 the function is as it was$' 1 \
	patched 'this has been live patched' 1 yes

# What the log or the trace has while the module is there, and after that.
with_log() {
	log=$'\n'$1 log_after=$'\n'$2 guest "samples/$3"
}
with_trace() {
	traced=$1 traced_after=$2 guest "samples/$3"
}

calls='Attempted 1000 calls to f'
check 'guest: ops that are called as often as they should' '^$' 0 with_log "$calls" "$calls" ftrace-ops
check 'guest: ops that are not' '^not ok 2 it has counted right: ' 1 \
	with_log "$calls" $'Counter called 5 times (expected 1000)\n'"$calls" ftrace-ops
check 'guest: ops that are not, and stay' '^not ok 12 it has counted right$' 1 \
	with_log $'Counter called 5 times (expected 1000)\n'"$calls" "$calls" ftrace-ops
check 'guest: ops that come to no end' '^not ok 2 it has counted right: ' 1 with_log '' '' ftrace-ops

one=' f: my_direct_func: ip ff01' two=$'\n f: my_direct_func: ip ff02'
check 'guest: direct calls from two functions' '^$' 0 with_trace "$one$two" '' ftrace-direct-multi
check 'guest: direct calls from one of two' '^not ok 2 it sees calls of both' 1 \
	with_trace "$one"$'\n'"$one" '' ftrace-direct-multi
in_turn() { # NUMBER LINE...
	for ((i = 0; i < $1; i++)); do
		printf '%s\n' "${@:2}"
	done
}
func1=$'my direct func1 ip ff01\nmy direct func1 ip ff02'
func2=$'my direct func2 ip ff01\nmy direct func2 ip ff02'
both=$(in_turn 3 "$func1"; in_turn 3 "$func2")
check 'guest: changed direct calls from two functions' '^$' 0 \
	with_trace "$both" '' ftrace-direct-multi-modify
check 'guest: changed direct calls from one of two' '^not ok 3 it sees calls of both' 1 \
	with_trace "$(in_turn 3 "$func1"; in_turn 6 "${func2%$'\n'*}")" '' ftrace-direct-multi-modify
check 'guest: changed direct calls, and the old ones' '^not ok 4 each replaces the other$' 1 \
	with_trace "$(in_turn 6 "$func1" "$func2")" '' ftrace-direct-multi-modify
check 'guest: changed direct calls, and the old ones of one place' '^not ok 4 each replaces' 1 \
	with_trace "$(in_turn 3 "$func1"; in_turn 3 "${func2%$'\n'*}" "${func1#*$'\n'}" "${func2#*$'\n'}")" \
		'' ftrace-direct-multi-modify
check 'guest: a changed direct call' '^$' 0 with_trace \
	"$(in_turn 3 'my direct func1'; in_turn 3 'my direct func2')" '' ftrace-direct-modify
check 'guest: a changed direct call, and the old one' '^not ok 4 each replaces the other$' 1 \
	with_trace "$(in_turn 6 'my direct func1' 'my direct func2')" '' ftrace-direct-modify
for sample in 'ftrace-direct waking up x' 'ftrace-direct-too handle mm fault vma=' \
	      'ftrace-direct-multi ip ff02'; do
	says=${sample#* }
	check "guest: a direct call when ${sample%% *} is gone" 'it sees none after that' 1 \
		with_trace "my_direct_func: $says"$'\n'"$one" " 0xffffffff81: $says" "${sample%% *}"
done

entered=$'Enter <kernel_clone+0x0> ip\nEnter <kernel_wait4+0x0> ip' stack=$' __do_sys_clone+0x1/0x2'
returned=$'Return from <kernel_clone+0x0> ip\nReturn from <kernel_wait4+0x0> ip'
ended='unregistered. 2 times hit, 0 times missed'
with_fprobe() { with_log "$1" "$ended" fprobe_example; }
check 'guest: fprobe sees all' '^$' 0 \
	with_fprobe "$entered"$'\n'"$stack"$'\n'"$returned"
check 'guest: fprobe sees one of two functions' 'it sees a call: .*: Enter <kernel_wait4' 1 \
	with_fprobe "${entered%$'\n'*}"$'\n'"$stack"$'\n'"$returned"
check 'guest: fprobe can unwind only at the return' '^not ok 24 it dumps them at the entry$' 1 \
	with_fprobe "$entered"$'\n'"$returned"$'\n'"$stack"

seen=$'<kernel_clone> p->addr = 0x1, ip = 1\n<kernel_clone> p->addr = 0x1, flags = 1'
check 'guest: a kprobe' '^$' 0 with_log "$seen" '' kprobe_example
check 'guest: a kprobe that is not run after the function' '^not ok 3 it sees a call: .*flags' 1 \
	with_log "${seen%$'\n'*}" '' kprobe_example
check 'guest: a kprobe that stays' 'it sees none after that' 1 with_log "$seen" "$seen" kprobe_example
seen='kernel_clone returned 7 and took 3 ns' none='Missed probing 0 instances of kernel_clone'
check 'guest: a kretprobe' '^$' 0 with_log "$seen" "$none" kretprobe_example
check 'guest: a kretprobe that sees nothing' '^not ok 2 it sees a call' 1 \
	with_log '' "$none" kretprobe_example
check 'guest: a kretprobe that misses calls' '^not ok 5 none was missed$' 1 \
	with_log "$seen" "${none/0/5}" kretprobe_example

written=$'trace_array_printk: count=7\nschedule <-f'
check 'guest: an instance' '^$' 0 with_trace "$written" '' sample-trace-array
check 'guest: an instance without functions' '^not ok 4 functions are traced in it$' 1 \
	with_trace "${written%$'\n'*}" '' sample-trace-array
stays=yes
check 'guest: an instance that stays' '^not ok 6 there is no instance$' 1 \
	with_trace "$written" '' sample-trace-array
stays=

# What ring_buffer_benchmark said of two rounds, after "sed SCRIPT"
hammers() { # SED-SCRIPT HOW-IT-READ
	sed "$1" >"$work/trace" <<-'TEXT'
		# tracer: nop
		rb_producer-9 [0] ..... 1.0: ring_buffer_producer: Read:     70  (by events)
		rb_producer-9 [0] ..... 1.1: ring_buffer_producer: Entries:  10
		rb_producer-9 [0] ..... 1.2: ring_buffer_producer: Total:    100
		rb_producer-9 [0] ..... 1.3: ring_buffer_producer: Missed:   3
		rb_producer-9 [0] ..... 1.4: ring_buffer_producer: Hit:      100
		rb_producer-9 [0] ..... 2.0: ring_buffer_producer: Read:     50  (by pages)
		rb_producer-9 [0] ..... 2.2: ring_buffer_producer: Total:    200
		rb_producer-9 [0] ..... 2.4: ring_buffer_producer: Hit:      200
	TEXT
	(
		# shellcheck source=base/qemu/guest-caller-ring.sh
		. "$here/guest-caller-ring.sh"
		# shellcheck disable=SC2030 # for what was sourced
		tracing=$work
		round "$2"
	)
}
check 'guest: a round by events' '^$' 0 hammers '' events
check 'guest: a round by pages' '^$' 0 hammers '' pages
check 'guest: a round that lost an event' '^$' fails hammers '6s/100/101/' events
check 'guest: another round that lost one' '^$' fails hammers '8s/200/199/' pages
check 'guest: a round that wrote nothing' '^$' fails hammers 's/100/0/' events
check 'guest: a round that is not there' '^$' fails hammers 7,8d pages
check 'guest: a round that found an error' '^$' fails hammers \
	'2i rb_producer-9 [0] ..... 0.9: ring_buffer_producer: ERROR!' events

echo "1..$n"
