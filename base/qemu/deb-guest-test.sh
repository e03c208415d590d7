#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What the stages of base/deb/guest.sh make of what programs and the kernel say, and what
# is made of their figures.  Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
deb=$here/../deb
. "$here/runner-check.sh"

root=$work/root
tracing=$root/sys/kernel/tracing
mkdir -p "$tracing" "$root"/{dev,proc/7,run,var/lib,lib/modules/6.12.1-here,sys/power/suspend_stats}
# So many functions are traced, and called, unless there are fewer CALLS or all to the SAME.
cat >"$work/trace.sh" <<'SIM'
trace() { # NUMBER
	seq "$1" | sed 's/.*/f& (1)/' >"$tracing/enabled_functions"
	seq "${calls:-$1}" | sed "s/.*/ cat-1     [000] ...1.     1.5: ${same:-f&} <-ksys/" >"$tracing/trace"
}
SIM
# What stands in for programs and the kernel. Nobody waits: meanwhile the kernel does
# something.
cp "$work/trace.sh" "$work/sim.sh"
cat >>"$work/sim.sh" <<'SIM'
uname() { echo 6.12.1-here; }
dmesg() { echo boot; }
pgrep() { echo 7; }
systemctl() { [[ $* != is-system-running* ]] || echo running; }
systemd-analyze() { echo some time; }
sleep() { kernel; }
# What programs print, and what is traced meanwhile.
trace-cmd() {
	case $1 in
	report)	echo "$said" ;;
	start)	trace ${on:-6000} ;;
	esac
}
perf() { echo "$said"; }
bpftrace() { echo "$said"; }
rtcwake() { echo 1 >"$root/sys/power/suspend_stats/success"; }
modprobe() { loaded=yes; }
cyclictest() {
	echo "T: 0 (    7) P:95 I:1000 C:  ${measured:-10000} Min:      5 Avg:   12 Max:     345"
	awk '/^(stops|all_stops_ns|stops_below_512us):/ { $2 += $2 } { print }' \
		"$tracing/ftraced_stats" >"$tracing/new"
	mv "$tracing/new" "$tracing/ftraced_stats"
}
SIM
# All absolute paths are below the root of the simulation.
sed -E -e "2i . $work/sim.sh" -e "s#(^|[ =<>\"])/(sys|proc|run|var|dev|lib)\\b#\\1$root/\\2#g" \
	"$deb/guest.sh" >"$work/guest.sh"
export root tracing

stage() { # NAME
	cp "$work/stats" "$tracing/ftraced_stats"
	[ -z "${no_stats:-}" ] || rm "$tracing/ftraced_stats"
	echo "ftrace_test.stages=all ftrace_test.core=${core:-sets}" >"$root/proc/cmdline"
	timeout 100 bash "$work/guest.sh" "$1" >"$work/log" 2>&1
}
# What a stage said that has this in it.
figure() { # STAGE PATTERN
	stage "$1"
	grep "$2" "$root/dev/ttyS1" >&2
}

cat >"$work/stats" <<'STATS'
bad: 0
stops: 10
longest_stop_ns: 900000
all_stops_ns: 2000000
stops_below_512us: 6
stops_below_1024us: 4
STATS
echo 'cpu  100 20 3000 99999 99999 4 5 0 0 0' >"$root/proc/stat"
echo 'MemTotal: 2048 kB' >"$root/proc/meminfo"
echo hrtimer_nanosleep >"$root/proc/7/wchan"
kernel() { :; }
export -f kernel
check 'a system that never has a prompt' '^$' 1 stage up
# The prompt comes while the guest waits for it, and the CPUs are busy after that.
kernel() {
	printf '%s' "$waits" >"$root/proc/7/wchan"
	systemctl() {
		echo 'cpu 999999 0 0 0 0 0 0' >"$root/proc/stat"
		echo running
	}
}
export waits
for waits in do_select poll_schedule_timeout.constprop.0; do
	echo 'cpu  100 20 3000 99999 99999 4 5 0 0 0' >"$root/proc/stat"
	echo hrtimer_nanosleep >"$root/proc/7/wchan"
	check "how busy the CPUs were is that until the prompt, in $waits" \
		'^# busy: 31290 ms of CPUs until the' 0 figure up busy
	: >"$root/dev/ttyS1"
done
core=stock check 'ours where it was to be stock' '^$' 1 stage up
no_stats=yes check 'stock where it was to be ours' '^$' 1 stage up
core=stock no_stats=yes check 'stock where it was to be stock' '^$' 0 stage up

# shellcheck source=/dev/null
. "$work/trace.sh"
echo function >"$tracing/current_tracer"
trace 6000
check 'the boot was traced' '^$' 0 stage boot_tracer
echo function >"$tracing/current_tracer"
same=f trace 6000
check 'one function of the boot was traced' '^$' 1 stage boot_tracer
echo function >"$tracing/current_tracer"
calls=6000 trace 4000
check 'hardly any function is traced any more' '^$' 1 stage boot_tracer

# All is traced while function is the tracer, and nothing else.
kernel() {
	case $(cat "$tracing/current_tracer") in
	function)	trace "${on:-6000}" ;;
	nop)		trace "${off:-0}" ;;
	esac
}
check 'how late a task is, with switching and without' \
	'^# cyclictest: 345 us late at most, 345 us under switching$' 0 figure switching cyclic
check 'of the stops those of the stage' \
	'^# stops: 20, 4000 us together, the longest below 512 us$' 0 figure switching stops
check 'how often it switched' '^# switched: [1-9][0-9]* times to and fro in ' 0 figure switching switched
measured=0 check 'it measured nothing' '^$' 1 stage switching
on=100 check 'switching on leaves most of them out' '^$' 1 stage switching
off=1 check 'switching off leaves one' '^$' 1 stage switching

# What trace-cmd, perf and bpftrace have is what they were asked for.
recorded() { # NAME...
	printf ' cat-1 [000]  1.5: function:             %s\n' "$@"
}
graphed() { # NAME...
	printf ' cat-1 [000]  1.5: funcgraph_entry:        1.2 us   |  %s();\n' "$@"
	echo ' cat-1 [000]  1.6: funcgraph_entry:                   |    vfs_open() {'
	echo ' cat-1 [000]  1.7: funcgraph_exit:         2.1 us   |    }'
}
ftraced() { printf '# tracer: function\n#\n'; printf ' cat-1  [000]  1.5: %s <-ksys\n' "$@"; }
counted() { printf 'Attaching 60 probes...\n\n'; printf '@[%s]: 3\n' "$@"; }
export said
for row in 'trace_cmd recorded vfs_read vfs_open' 'trace_cmd_graph graphed vfs_read vfs_statx' \
	'perf_ftrace ftraced vfs_read vfs_read' 'bpftrace_kprobes counted vfs_read vfs_open'; do
	read -r name how first second <<<"$row"
	said=$($how "$first" "$second")
	check "$name: what it was asked for" '^$' 0 stage "$name"
	said=$($how "$first" "$second" do_sys_open)
	check "$name: a function besides" '^$' 1 stage "$name"
	said=$($how "$second")
	[ "$first" != "$second" ] || said=
	check "$name: one of them is not there" '^$' 1 stage "$name"
done
said=$(counted vfs_read)
check 'bpftrace_kprobes: another is not there' '^$' 1 stage bpftrace_kprobes

# As many functions are traced after it as before.
echo '[none] core' >"$root/sys/power/pm_test"
kernel() { trace "${after:-0}"; }
suspend() { # BEFORE AFTER
	echo 0 >"$root/sys/power/suspend_stats/success"
	on=$1 after=$2 stage suspend
}
check 'suspend: all are traced after it' '^$' 0 suspend 6000 6000
check 'suspend: one is not traced after it' '^$' 1 suspend 6000 5999
check 'suspend: hardly any were before' '^$' 1 suspend 1500 1500
calls=200 check 'suspend: they say that they are' '^$' 1 suspend 6000 6000
same=f check 'suspend: of all of them one is' '^$' 1 suspend 6000 6000

check 'no call site was set aside' '^$' 0 stage messages
sed -i 's/^bad: 0/bad: 1/' "$work/stats"
check 'a call site was set aside' '^$' 1 stage messages
core=stock check 'the stock core does not say' '^$' 0 stage messages
sed -i 's/^bad: 1/bad: 0\nequilibrium: yes/' "$work/stats"

# Functions, of 100,000 symbols, with MODULES in the kernel's package.
there() { # FUNCTIONS MODULES
	seq "$1" >"$tracing/available_filter_functions"
	seq "$2" >"$root/lib/modules/6.12.1-here/modules.dep"
	stage equilibrium
}
seq 200000 | awk '{ print "0", NR % 2 ? "t" : "d", "f" NR; print "0 t __pfx_f" NR }' \
	>"$root/proc/kallsyms"
check 'equilibrium: functions, some modules' '^$' 0 there 75000 100
check 'equilibrium: too few for what was built' '^$' 1 there 74999 100
sed -i 1,100000d "$root/proc/kallsyms"
check 'equilibrium: functions, a list of modules' '^$' 0 there 59999 1000
check 'equilibrium: functions, all modules' '^$' 0 there 60000 4000
check 'equilibrium: too few for all modules' '^$' 1 there 59999 4000

# Its boots, in millions of instructions, and how many functions there are.
figures() { # OURS STOCK FUNCTIONS STOCKS-FUNCTIONS
	echo "# busy: $1 ms of CPUs until the login prompt" >"$work/deb-sets-count.out"
	echo "# busy: $2 ms of CPUs until the login prompt" >"$work/deb-stock-count.out"
	echo "# functions: $3, of 9000 symbols of text" >"$work/deb-sets.out"
	echo "# functions: $4, of 9000 symbols of text" >"$work/deb-stock.out"
	"$deb/figures.sh" "$work" >"$work/figures"
	local status=$?
	paste -sd '|' "$work/figures" >&2
	return $status
}
check 'a boot that takes as much as it may' ': 1300, stock 1000\|ok 1 .*\|ok 2 ' 0 figures 1300 1000 7920 8000
check 'a boot that takes more' '\|not ok 1 .*\|ok 2 ' 1 figures 1301 1000 7920 8000
check 'a boot of which there is no figure' ': \?, stock 1000\|not ok 1 ' 1 figures '' 1000 7920 8000
check 'functions are missing' '\|ok 1 .*\|not ok 2 ' 1 figures 1000 1000 7919 8000
check 'there is no number of functions' '\|ok 1 .*\|not ok 2 ' 1 figures 1000 1000 '' 8000

echo "1..$n"
