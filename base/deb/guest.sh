#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest of make deb-test as the last of each boot: one stage after another,
# each a test. Some end in another boot; where it was is in /var/lib/ftrace-test, and the
# next boot goes on. Results go to the second serial line, as KTAP.
#
# On the kernel command line: ftrace_test.stages=NAME,NAME... and ftrace_test.core=sets, or
# another if the kernel has not that core.

state=/var/lib/ftrace-test
tracing=/sys/kernel/tracing
log=/run/ftrace-test.log
exec 3>/dev/ttyS1
mkdir -p $state
touch $state/done

export HOME=/root
stages=$(sed -n 's/.*\bftrace_test\.stages=\([^ ]*\).*/\1/p' /proc/cmdline)
[ -n "$stages" ] || exit 0
sets=
! grep -qw ftrace_test.core=sets /proc/cmdline || sets=yes

say() { echo "# $*" >&3; }
result() { # STATUS STAGE
	local n
	n=$(($(wc -l <$state/done) + 1))
	echo "$2" >>$state/done
	sync
	if [ "$1" -eq 0 ]; then
		echo "ok $n $2" >&3
	else
		tail -n 25 $log | sed 's/^/# /' >&3
		echo "not ok $n $2" >&3
	fi
}
# Go on with the next stage after another boot.
leave() { # STAGE COMMAND...
	echo "$1" >$state/left
	sync
	# What ends this ends the shell with it, which must not come back to here.
	"${@:2}" && exec sleep 600
	rm $state/left
	return 1
}

# At most so many seconds, until a command succeeds.
settle() { # SECONDS COMMAND...
	local i
	for ((i = 0; i < $1 * 10; i++)); do
		"${@:2}" && return 0
		sleep .1
	done
	echo "not within $1 s: ${*:2}"
	return 1
}

# The trace has calls of at least this many functions. Tracing ends here: while it goes on, there
# is no end to reading a trace that has each vfs_read().
traced() { # NUMBER [INSTANCE]
	local n dir=$tracing/${2:+instances/$2/}
	echo 0 >"$dir/tracing_on"
	n=$(sed -n 's/^[^#].*: \([^ ]*\) <-.*/\1/p' "$dir/trace" | sort -u | wc -l)
	echo "$n functions in the trace"
	[ "$n" -ge "$1" ]
}

# A list has these functions, and none that the pattern does not match.
only() { # FILE PATTERN NAME...
	local name
	for name in "${@:3}"; do
		grep -x "$name" "$1" || return 1
	done
	! grep -Ev "$2" "$1"
}

# How many functions of the kernel itself are traced: modules come and go.
enabled() { awk '$2 ~ /^\(/ { n++ } END { print n + 0 }' $tracing/enabled_functions; }

# Nothing in the kernel's messages that should not be there, and no site set aside.
quiet() {
	[ -z "$sets" ] || grep -x 'bad: 0' $tracing/ftraced_stats || return 1
	dmesg >/run/dmesg || return 1
	! grep -E 'WARNING: |BUG: |Oops|ftrace bug|detected .*stall|blocked for more than' \
		/run/dmesg
}

all_traced() { trace-cmd start -p function >/dev/null && [ "$(enabled)" -gt 5000 ]; }

# All functions are traced while a command runs, and the same after it.
while_traced() { # COMMAND...
	local status=1 before
	all_traced && before=$(enabled) && "$@" &&
		echo >$tracing/trace && sleep 1 && traced 300 &&
		[ "$(enabled)" -eq "$before" ] && status=0
	trace-cmd stop
	trace-cmd reset
	return $status
}

# --- stages

# What is behind the login prompt waits for a name. Which function that is in depends on
# what the compiler has inlined.
agetty=
prompted() {
	local at
	[ -n "$agetty" ] || agetty=$(pgrep -t ttyS0 agetty) || return 1
	at=$(<"/proc/$agetty/wchan") || { agetty='' && return 1; }
	[[ $at =~ ^(poll_schedule_timeout|do_select|core_sys_select) ]]
}

up() {
	local how busy
	# It is the core that was to be tested.
	[ "${sets:-no}" = "$([ -e $tracing/ftraced_stats ] && echo yes || echo no)" ] || return 1
	settle 120 prompted || { cat "/proc/$agetty/wchan"; return 1; }
	busy=$(awk '/^cpu / { print ($2 + $3 + $4 + $7 + $8) * 10 }' /proc/stat)
	how=$(systemctl is-system-running --wait)
	say "boot: $(systemd-analyze time | head -n 1)"
	# Where instructions are the clock, this is how many millions.
	say "busy: $busy ms of CPUs until the login prompt"
	say "memory: $(awk '/^Mem[TA]|^Slab/ { printf "%s %d M  ", $1, $2 / 1024 }' /proc/meminfo)"
	systemctl --failed --no-legend
	[ "$how" = running ] && quiet
}

boot_tracer() {
	grep -qx function $tracing/current_tracer && [ "$(enabled)" -gt 5000 ] && traced 300 &&
		echo nop >$tracing/current_tracer
}

# How many functions there are depends on what was built. On Debian's kernel 77 of 100
# symbols of text have a call site, so that less than 75 is too few. With all of Debian's
# modules they are 60,000 and more; a driver for graphics stands for devices that this
# machine lacks. Older 6.12.y list weak functions that the linker has dropped.
equilibrium() {
	local functions symbols least=0
	if [ "$(wc -l <"/lib/modules/$(uname -r)/modules.dep")" -gt 1000 ]; then
		modprobe -a amdgpu btrfs xfs || return 1
		least=60000
	fi
	[ -z "$sets" ] || settle 300 grep -q '^equilibrium: yes' $tracing/ftraced_stats || return 1
	[ -z "$sets" ] || say "$(tr '\n' ',' <$tracing/ftraced_stats)"
	functions=$(grep -vc '^__ftrace_invalid_address' $tracing/available_filter_functions)
	symbols=$(awk '$2 ~ /[tT]/ && $3 !~ /^__pfx_|\.cold/' /proc/kallsyms | wc -l)
	say "functions: $functions, of $symbols symbols of text"
	[ "$functions" -ge $((symbols * 3 / 4)) ] && [ "$functions" -ge $least ]
}

# Those that udev found a device for.
modules() {
	say "modules: $(lsmod | tail -n +2 | wc -l)"
	ls /sys/class/net/e*/address && grep '^virtio_net' /proc/modules &&
		grep -m 1 '\[virtio_net\]$' $tracing/available_filter_functions
}

# What a command does that ends before trace-cmd's recorders begin is lost.
record() { # PLUGIN
	cd /run && trace-cmd record -p "$1" -l 'vfs_*' sh -c 'cat /proc/version; sleep 3' &&
		trace-cmd report | sed -n 's/.*: function: *\([^ ]*\).*/\1/p
			s/.*: funcgraph_entry: .*| *\([^ (]*\)(.*/\1/p' | sort -u >/run/functions &&
		only /run/functions '^vfs_' vfs_read
}
trace_cmd() { record function; }
trace_cmd_graph() { record function_graph; }

perf_ftrace() {
	perf ftrace -T vfs_read -- cat /proc/version | sed -n 's/^[^#].*: \([^ ]*\) <-.*/\1/p' |
		sort -u >/run/functions && only /run/functions '^vfs_read$' vfs_read
}
perf_probe() {
	perf probe -q vfs_open && perf stat -e probe:vfs_open -- cat /proc/version 2>&1 |
		grep -E '[1-9][0-9]* +probe:vfs_open'
	local status=$?
	perf probe -q -d vfs_open
	return $status
}

bpftrace_kprobes() {
	bpftrace -e 'kprobe:vfs_* { @[func] = count(); }' -c '/usr/bin/cat /proc/version' |
		sed -n 's/^@\[\(.*\)]: [1-9].*/\1/p' >/run/functions &&
		only /run/functions '^vfs_' vfs_open vfs_read
}
bpftrace_fentry() {
	bpftrace -e 'kfunc:vfs_read { @ = count(); }' -c '/usr/bin/cat /proc/version' | grep -E '@: [1-9]'
}

instances() {
	local status
	trace-cmd start -B one -p function -l vfs_read && trace-cmd start -B two -p function -l vfs_open &&
		cat /proc/version && traced 1 one && traced 1 two &&
		! grep -m 1 vfs_open $tracing/instances/one/trace &&
		! grep -m 1 vfs_read $tracing/instances/two/trace
	status=$?
	trace-cmd reset -B one -d -B two -d
	[ ! -e $tracing/instances/one ] && [ ! -e $tracing/instances/two ] && return $status
}

switch() {
	echo function >$tracing/current_tracer && echo nop >$tracing/current_tracer
}

# How late, in microseconds, a task with a deadline is at most in 20 seconds, while a
# command is run over and over: a figure, since an emulated CPU has no bound. How often it
# was run is in /run/times.
latency() { # COMMAND...
	local n=0
	cyclictest -q -m -p 95 -i 1000 -D 20 >/run/cyclictest &
	while [ $n -eq 0 ] || [ -n "$(jobs -r)" ]; do
		"$@" || { kill $!; return 1; }
		n=$((n + 1))
	done
	echo $n >/run/times
	wait $! && grep 'C: *[1-9]' /run/cyclictest | grep -o 'Max: *[0-9]*' | grep -o '[0-9]*$'
}

# What ftraced_stats has of stops that was not in it then.
stops_since() { # FILE
	awk 'FNR == NR { was[$1] = $2; next }
		$1 == "stops:" { n = $2 - was[$1] }
		$1 == "all_stops_ns:" { us = ($2 - was[$1]) / 1000 }
		$1 == "longest_stop_ns:" && $2 > was[$1] { longest = int($2 / 1000) " us" }
		/^stops_below_/ && $2 > was[$1] { class = "below " substr($1, 13) }
		END {
			sub(/us:/, " us", class)
			printf "%d, %d us together, the longest %s\n", n, us, longest ? longest : class
		}' "$1" $tracing/ftraced_stats
}

on_and_off() {
	echo function >$tracing/current_tracer && sleep 1 && traced 300 &&
		[ "$(enabled)" -gt 5000 ] && echo nop >$tracing/current_tracer &&
		echo 1 >$tracing/tracing_on && sleep 1 && ! grep -m 1 . $tracing/enabled_functions
}

# All sites change to and fro, as often as they can.
switching() {
	local idle busy begin
	on_and_off || return 1
	idle=$(latency sleep 1) || return 1
	[ -z "$sets" ] || cp $tracing/ftraced_stats /run/stats
	begin=$SECONDS
	busy=$(latency switch) || return 1
	say "switched: $(cat /run/times) times to and fro in $((SECONDS - begin)) s"
	say "cyclictest: $idle us late at most, $busy us under switching"
	[ -z "$sets" ] || say "stops: $(stops_since /run/stats)"
}

load() {
	while_traced stress-ng --quiet --timeout 15 --cpu 1 --fork 1 --pipe 1 --sock 1 \
		--vm 1 --vm-bytes 64M
}

pm_test() {
	local to status=0
	for to in freezer devices platform processors core; do
		echo $to >/sys/power/pm_test &&
			while_traced sh -c 'echo mem >/sys/power/state' || status=1
	done
	echo none >/sys/power/pm_test || return 1
	return $status
}
# The clock that wakes it runs while it falls asleep.
suspend() {
	local before
	grep -q '\[none\]' /sys/power/pm_test || return 1
	before=$(cat /sys/power/suspend_stats/success)
	while_traced rtcwake -m mem -s 40 || return 1
	[ "$(cat /sys/power/suspend_stats/success)" -eq $((before + 1)) ]
}
hibernate() {
	echo test_resume >/sys/power/disk || return 1
	while_traced sh -c 'echo disk >/sys/power/state'
}
messages() { quiet; }

kexec_away() {
	all_traced &&
		kexec -l /boot/vmlinuz-* --initrd="$(echo /boot/initrd.img-*)" --reuse-cmdline \
			--append=ftrace_test.kexec &&
		leave kexec_away systemctl kexec
}
kexec_back() { grep -q ftrace_test.kexec /proc/cmdline && quiet; }
reboot_away() { all_traced && leave reboot_away systemctl reboot; }
reboot_back() { ! grep -q ftrace_test.kexec /proc/cmdline && quiet; }
# The last: the emulator ends.
power_off() { all_traced && leave power_off systemctl poweroff; }

# Nothing that a stage left behind when it failed is to help, or to harm, the next.
begin_anew() {
	rm -f $state/left
	echo none >/sys/power/pm_test
	timeout -k 5 60 trace-cmd reset -a -d
	timeout -k 5 60 trace-cmd reset
}

# Each stage is a run of this script, so that one that hangs is found out.
if [ -n "${1:-}" ]; then
	set -o pipefail -x
	"$1"
	exit
fi

# A stage that left for another boot came as far as this.
if [ -e $state/left ]; then
	result 0 "$(cat $state/left)"
	rm -f $state/left $state/began
elif [ -e $state/began ]; then
	echo "another boot in the middle of it" >$log
	result 1 "$(cat $state/began)"
fi
for stage in ${stages//,/ }; do
	grep -qx "$stage" $state/done && continue
	echo "$stage" >$state/began
	sync
	timeout -k 10 400 "$0" "$stage" >$log 2>&1
	status=$?
	result $status "$stage"
	[ $status -eq 0 ] || begin_anew >/dev/null 2>&1
	rm $state/began
done
echo "@end" >&3
systemctl poweroff
