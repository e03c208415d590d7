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
mkdir -p "$tracing" "$root"/{dev,proc/7,run,var/lib,sys/power}
echo ftrace_test.stages=all >"$root/proc/cmdline"
# What stands in for programs and the kernel. Nobody waits: meanwhile the kernel does
# something.
cat >"$work/sim.sh" <<'SIM'
uname() { echo "6.12.1-${core:-ftrace-sets}"; }
dmesg() { echo boot; }
pgrep() { echo 7; }
systemctl() { [[ $* != is-system-running* ]] || echo running; }
systemd-analyze() { echo some time; }
sleep() { kernel; }
# It ends by itself, and might be ended before it began.
kill() { :; }
cyclictest() {
	echo "T: 0 (    7) P:95 I:1000 C:  10000 Min:      5 Avg:   12 Max:     345"
	awk '/^(stops|all_stops_ns|stops_below_512us):/ { $2 += $2 } { print }' \
		"$tracing/ftraced_stats" >"$tracing/new"
	mv "$tracing/new" "$tracing/ftraced_stats"
}
SIM
# All absolute paths are below the root of the simulation.
sed -E -e "2i . $work/sim.sh" -e "s#(^|[ =<>\"])/(sys|proc|run|var|dev)\\b#\\1$root/\\2#g" \
	"$deb/guest.sh" >"$work/guest.sh"
export root tracing

stage() { # NAME
	cp "$work/stats" "$tracing/ftraced_stats"
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
	echo poll_schedule_timeout.constprop.0 >"$root/proc/7/wchan"
	systemctl() {
		echo 'cpu 999999 0 0 0 0 0 0' >"$root/proc/stat"
		echo running
	}
}
check 'how busy the CPUs were is that until the prompt' '^# busy: 31290 ms of CPUs until the' 0 \
	figure up busy

kernel() { :; }
check 'how late a task is, with switching and without' \
	'^# cyclictest: 345 us late at most, 345 us under switching$' 0 figure switching cyclic
check 'of the stops those of the stage' \
	'^# stops: 20, 4000 us together, the longest below 512 us$' 0 figure switching stops
check 'each core switches as often' '^# switched: 5 times to and fro in ' 0 figure switching switched

# Its boots, in millions of instructions.
limit() { # OURS STOCK
	echo "# busy: $1 ms of CPUs until the login prompt" >"$work/deb-sets-count.out"
	echo "# busy: $2 ms of CPUs until the login prompt" >"$work/deb-stock-count.out"
	"$deb/figures.sh" "$work" | grep -E '^# m' >&2
}
check 'a boot that takes as much as it may' ': 1100, stock 1000; 1\.100 times as many$' 0 limit 1100 1000
check 'a boot that takes more' ': 1101, stock 1000; 1\.101 times as many$' 1 limit 1101 1000
check 'a boot of which there is no figure' ': \?, stock 1000$' 1 limit '' 1000

echo "1..$n"
