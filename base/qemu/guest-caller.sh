#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs in the guest: one test of those who hook functions, as KTAP with its plan at
# the end. base/callers.sh has built what is needed.
#
# usage: guest-caller.sh FOLDER TOOLS TEST
# FOLDER: what was built for this kernel; TOOLS: what was built for all
# TEST: GROUP/NAME of callers.list; a function group_GROUP of this file or of
# guest-caller-*.sh runs it

here=$(cd "$(dirname "$0")" && pwd)
folder=$1 tools=$2 group=${3%%/*} name=${3#*/}
argument=$(sed -n "s,^$3 *| *\([^|]*[^| ]\).*,\1,p" "$here/callers.list")
n=0 failed=0

# What a result is called: without a "#", which ends a name in KTAP, and with a number
# where there has been one of that name.
declare -A times=()
call() {
	called=${1//#/}
	times[$called]=$((${times[$called]:-0} + 1))
	[ "${times[$called]}" -eq 1 ] || called+=" (${times[$called]})"
}

# good NAME, bad NAME, skipped NAME [WHY]: a result.
good() {
	call "$1"
	echo "ok $((n += 1)) $called"
}
bad() {
	call "$1"
	failed=1
	echo "not ok $((n += 1)) $called"
}
skipped() {
	call "$1"
	echo "# skipped: $called: ${2:-no reason}"
	echo "ok $((n += 1)) $called # SKIP"
}

# try NAME COMMAND...: the result is whether COMMAND succeeds.
try() {
	local what=$1
	shift
	if "$@"; then good "$what"; else bad "$what"; fi
}

not() { ! "$@"; }

# The log of the kernel from here on is what said PATTERN is asked of.
mark=
listen() {
	mark=$(cat /proc/sys/kernel/random/uuid)
	echo "$mark" >/dev/kmsg
}
said() { dmesg | sed "1,/$mark/d" | grep -q -- "$1"; }

# eventually COMMAND...: it succeeds within two minutes; a guest can be slow.
eventually() {
	local tries

	for ((tries = 0; tries < 240; tries++)); do
		! "$@" || return 0
		sleep 0.5
	done
	return 1
}

# KTAP of others: results numbered anew, reasons told apart. As many have to come as
# they planned, if they planned any.
ktap() {
	local line reason='' why before=$n plan=''

	while IFS= read -r line; do
		if [[ $line =~ ^(not )?ok\ [0-9]+\ +(-\ )?([^#]*[^# ])(\ *#\ *(.*))?$ ]]; then
			# A name may have a # in it, too.
			why=${BASH_REMATCH[5]}
			case ${BASH_REMATCH[1]}$why in
			not*)
				bad "${BASH_REMATCH[3]}" ;;
			*[Ss][Kk][Ii][Pp]*)
				why=${why#*[Ss][Kk][Ii][Pp]}
				skipped "${BASH_REMATCH[3]}" "${why:-$reason}" ;;
			*)
				good "${BASH_REMATCH[3]}" ;;
			esac
			reason=
		elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
			plan=${BASH_REMATCH[1]}
		elif [[ ! $line =~ ^K?TAP\ version ]]; then
			# BPF's tell it before the result.
			[[ $line != *SKIP:* ]] || reason=${line##*SKIP:}
			echo "# ${line#\# }"
		fi
	done
	[ "${plan:-$((n - before))}" -eq $((n - before)) ] ||
		bad "$name: $((n - before)) results of $plan"
}

# run COMMAND...: a program that prints KTAP. It ends as it should: without an error, with
# 1 if a result is bad, or with 4 if all was skipped; and is not silent.
run() {
	local before=$n was_bad=$failed status
	"$@" >/tmp/ktap 2>&1
	status=$?
	failed=0
	ktap </tmp/ktap
	if [ "$n" -eq "$before" ] || [[ $status != [014] ]] || [ "$failed$status" = 01 ]; then
		bad "$name: status $status"
	fi
	failed=$((failed | was_bad))
}

group_bpf() {
	# shellcheck disable=SC2086 # words
	run "$here/guest-bpf.sh" "$folder/bpf/tools/testing/selftests/bpf" ${argument:-$name}
}

group_bpf-more() { group_bpf; }

# How often the driver of a bench has run, and how often what the bench has attached.
runs_of() { # PID
	# The driver is made for a raw tracepoint, and run without one. Files may go meanwhile.
	cat "/proc/$1/fdinfo"/* 2>/dev/null | awk '
		/^prog_type:/ { driver = $2 == 17 }
		/^run_cnt:/ { if (driver) runs += $2; else calls += $2 }
		END { print runs + 0, calls + 0 }'
}
driven() { [ "$(runs_of "$1" | cut -d ' ' -f 1)" -ge 100 ]; }
stopped() { ! grep -h '^State:' "/proc/$1/task"/*/status | grep -qv 'T (stopped)'; }

# What is asked is whether the program is called each time: how often in a second, on an
# emulator, says nothing. Each run of the driver makes a hundred calls, and when bench is
# stopped none is on its way.
stats=/proc/sys/kernel/bpf_stats_enabled
group_bench() {
	local pid counts runs calls hits
	cd "$folder/bpf/tools/testing/selftests/bpf" || exit
	echo 1 >$stats
	./bench -w1 -d10 -a -p1 "$name" >/tmp/bench 2>&1 &
	pid=$!
	try 'its driver runs' eventually driven $pid
	kill -STOP $pid
	eventually stopped $pid
	counts=$(runs_of $pid)
	runs=${counts% *} calls=${counts#* }
	kill -CONT $pid
	echo "# $runs runs of the driver, $calls calls"
	try 'each call is seen' [ $((100 * runs)) -eq "$calls" ]
	wait $pid
	try 'it ends well' [ $? -eq 0 ]
	echo 0 >$stats
	sed 's/^/# /' /tmp/bench
	hits=$(sed -n 's/^Summary: hits *\([0-9.]*\) .*/\1/p' /tmp/bench)
	try hits awk -v hits="${hits:-0}" 'BEGIN { exit !(hits > 0) }'
}

# They want to be traced, and whoever was before them may have turned that off. The base
# gives up an event a grace period after its last user has gone, and they do not wait.
no_user_event() { ! grep -q '^u:' /sys/kernel/tracing/dynamic_events; }
group_user_events() {
	echo 1 >/sys/kernel/tracing/tracing_on
	try 'no event is left of others' eventually no_user_event
	run env LD_PRELOAD="$tools/user-events-wait.so" "$tools/user_events/$name"
}

# Tests of the base that ran as it booted; what they said is in the log.
group_kunit() {
	dmesg | sed 's/^\[ *[0-9.]*\] //' >/tmp/log
	run awk -v suite="$name" '
		$0 == "    # Subtest: " suite { inside = 1; next }
		inside && /^(not )?ok / { inside = 0 }
		inside { sub(/^    /, ""); print }' /tmp/log
}

# What perf test -vv printed before it ended with STATUS: its results, those that its
# scripts tell of, and what is no result although it is called one. It ends with 0 also
# when a test has failed.
perf_results() { # STATUS
	local line what why='' verdicts=0

	while IFS= read -r line; do
		# Others may have begun its line.
		if [[ $line =~ ^(.*[^0-9.])?[0-9.]+:\ (.*[^ ])\ *:\ (Ok|FAILED!|Skip.*)$ ]]; then
			verdicts=$((verdicts + 1))
			what=${BASH_REMATCH[2]}
			case ${BASH_REMATCH[3]}$why in
			Ok)	good "$what" ;;
			Ok*)	skipped "$what" "$why" ;;
			Skip*)	skipped "$what" "${BASH_REMATCH[3]}" ;;
			*)	bad "$what" ;;
			esac
			why=
		elif [[ $line =~ ^(--|##)\ \[\ (PASS|FAIL|SKIP)\ \]\ (--|##)\ (.*)$ ]]; then
			# What it failed of, and how often, is no part of its name.
			what=${BASH_REMATCH[4]#* :: }
			what=${what% (command exitcode*)}
			what=${what% (output regexp parsing)}
			what=${what%% :: [0-9]* failures found}
			case ${BASH_REMATCH[2]} in
			PASS)	good "$what" ;;
			SKIP)	skipped "${what% :: testcase skipped}" "testcase skipped" ;;
			*)	bad "$what" ;;
			esac
			echo "# $line"
		else
			case $line in
			'no vmlinux'|'no kcore'|'no access'|'no kernel obj') why=$line ;;
			esac
			echo "# $line"
		fi
	done
	[ $verdicts -gt 0 ] || bad "$name: no verdict"
	[ "$1" -eq 0 ] || bad "$name: status $1"
}

group_perf() {
	export PATH=$tools/perf:$PATH
	# It writes where it is, and finds its scripts beside itself.
	cd "$(mktemp -d)" || exit
	perf test -vv "$argument" 2>&1 | sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r//g' >/tmp/perf
	perf_results "${PIPESTATUS[0]}" </tmp/perf
}

for file in "$here"/guest-caller-*.sh; do
	# shellcheck source=/dev/null
	. "$file"
done

once() (
	"group_$group"
	echo "1..$n"
	exit "$failed"
)

# Does what failed, as KTAP has it, fail of a slow machine as well? The list says so.
may_be_slow() { # TEST KTAP
	local result bad
	bad=$(sed -n 's/^not ok [0-9]* //p' "$2")
	[ -n "$bad" ] || return
	while IFS= read -r result; do
		grep -qF "$1 $result | " "$here/callers-again.list" || return
	done <<<"$bad"
}

# These get two tries more.
if grep -q "^$3 " "$here/callers-again.list"; then
	for tries in 1 2 3; do
		once >/tmp/once
		status=$?
		if [ $tries -eq 3 ] || ! may_be_slow "$3" /tmp/once; then
			break
		fi
		sed 's/^/# /' /tmp/once
		echo "# again: try $tries: $(sed -n 's/^not ok [0-9]* //p' /tmp/once | paste -sd ',')"
	done
	cat /tmp/once
	exit "$status"
fi
once
