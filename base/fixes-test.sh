#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What base/fixes mends: each patch that does more than save time has a test that fails
# on the stock kernel and passes on a kernel with the stock core and the patch (lists).
# Prints TAP.
#
# Not tested: that recording names has ended when the function tracer (43) has failed; in
# which order the graph tracer ends it (47); the stack tracer that the command line asks
# for (56); resets of one CPU's buffer, and of those of CPUs that are offline (62); that
# a static call in init text is written at once (80).
#
# usage: fixes-test.sh [FIX]...
# FIXED=KERNEL: not lists but this kernel, made with base/fixes, too

set -uo pipefail
. "$(dirname "$0")/lib.sh"

run=$top/base/qemu/run.py
work=$build/fixes-test
cc=$(by_ccache "${CC:-gcc}")
stock=stock fixed=${FIXED:-lists}
for kernel in "$stock" "$fixed"; do
	need_kernel "$kernel" "the tests of base/fixes"
done

# fix | what the stock kernel shows, as a regular expression; where the guest dies, what
# run.py says. What 53 mends is freed twice, and the kernel may die of that first.
fixes() {
	cat <<-'FIXES'
	43-function-tracer-error | the tracer that failed is function
	47-graph-tracer-order | [1-9][0-9]* calls that record names
	48-fgraph-error | it never works again
	51-graph-tracer-interrupts | interrupts were disabled [1-9][0-9]* times
	53-event-probes | the event's module has -1 users|trace_buffered_event_disable\+
	54-module-async | fixes_async_traced
	55-latency-tracers-error | irqsoff was selected without functions
	56-stack-tracer-error | it was enabled
	58-sorttable-short-names | 0 of 1 entries left
	60-sample-ops-count | nothing was said
	62-trace-reset-wait | [0-9]+ grace periods for 8 resets
	66-graph-return-size | a call takes [0-9]+ bytes
	68-ring-buffer-discard-time | an event is [0-9]+ ns early
	71-tprobe-module | NULL pointer dereference, address: 0*2e
	77-instance-graph-ops | an instance was made without them
	78-module-params | fixes_param_traced
	80-static-call-queue | text was written [3-9] times, [3-9] times, and [0-9]+ times for a module
	FIXES
}

modules() { # KERNEL
	local src
	src=$(source_of "$1")
	rm -rf "${work:?}/$1"
	mkdir -p "$work/$1"
	cp "$top"/base/fixes/test/* "$work/$1/"
	make -C "$src" O="$build/$1" CC="$cc" HOSTCC="$cc" M="$work/$1" modules \
		>"$work/$1.log" 2>&1 ||
		{ tail "$work/$1.log" >&2; die "the modules for $1 cannot be built"; }
}

# A table that has lost an entry of the kernel, since names without a size, short ones and
# labels that look like functions, are beside it.
sorttable() { # KERNEL
	local image=$work/$1/vmlinux names=$work/$1/names function=vfs_read sites
	cp "$build/$1/vmlinux" "$image"
	nm -S "$image" | grep -v ' i$' |
		awk -v f="$function" '$NF == f {
				print "0000000000000200 a i"
				print
				for (i = 0; i < 8; i++)
					print $1 " t t" i
				next
			} { print }' >"$names"
	"$build/$1/scripts/sorttable" -s "$names" "$image" >/dev/null || return 2
	sites=$("$top/base/qemu/table-sites.py" "$image") || return 2
	sites=$(grep -cx "$function" <<<"$sites")
	[ "$sites" -eq 1 ] || { echo "58-sorttable-short-names: $sites of 1 entries left"; return 1; }
}

try() { # FIX KERNEL
	local warn=()
	case $1 in
	58-*)	sorttable "$2" ;;
	*)	# What is wrong may make the kernel warn. The sample does when an ops goes
		# that was never there.
		[ "$2" = "$fixed" ] && [[ $1 != 60-* ]] || warn=(--allow-warn)
		"$run" --kernel "$2" "${warn[@]}" --turns --log "$work/$2/$1.log" \
			"$top/base/qemu/guest-fixes.sh" "$1" "$work/$2" ;;
	esac
}

rm -rf "$work"
for kernel in "$stock" "$fixed"; do
	modules "$kernel"
done
n=0 failed=0
result() { # ok|"not ok" WHAT
	n=$((n + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $n - $2"
}

# What a guest said: all of it if that is not what it should be.
judged() { # WHAT SAID COMMAND...
	if "${@:3}"; then
		echo "# ${2%%$'\n'*}"
		result ok "$1"
	else
		echo "# ${2//$'\n'/$'\n'# }"
		result 'not ok' "$1"
	fi
}
shows() { # STATUS SAID WHAT
	[ "$1" -ne 0 ] && [ "$1" -ne 2 ] && grep -qE "$3" <<<"$2"
}

while IFS='|' read -r fix shown; do
	fix=${fix// /} shown=${shown# }
	[ $# -eq 0 ] || [[ " $* " = *" $fix "* ]] || continue
	said=$(try "$fix" "$stock" 2>&1 </dev/null)
	judged "$fix: $stock shows what is wrong" "$said" shows $? "$said" "$shown"
	said=$(try "$fix" "$fixed" 2>&1 </dev/null)
	judged "$fix: $fixed does not" "$said" [ $? -eq 0 ]
done < <(fixes)

# Each patch has its test. One that only saves time has rows in the benchmark; 79 is half
# of what the test of 80 asks for; 69 is for kernels without dynamic ftrace, and make
# matrix has one (snapshot_events.tc).
elsewhere=' 63-context-level 64-ring-buffer-short 65-function-event 67-graph-task-var
	69-boot-snapshot 70-function-stack 72-ring-buffer-clock 73-ring-buffer-wakeups
	74-ring-buffer-copy 75-ring-buffer-commit 76-instance-wait 79-text-poke-order '
elsewhere=${elsewhere//[[:space:]]/ }
for fix in $(plain "$top/base/fixes/series"); do
	[[ $elsewhere != *" ${fix%.patch} "* ]] || continue
	fixes | grep -q "^${fix%.patch} " || result 'not ok' "${fix%.patch}: there is a test"
done
echo "1..$n"
[ $n -gt 0 ] && [ $failed -eq 0 ]
