# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC3043
# What the tests in this folder share; not a test itself.
#
# STRESS, 1 if not set, multiplies how often they do what they do; 1/5 is less.

# shellcheck source=/dev/null
. "$FTRACETEST_ROOT/test.d/dynamic/lib.sh"

# For the names of tasks each tracer that comes or goes has a static branch and a
# static call in __schedule() patched, where QEMU 7.2 now and then runs an int3
# that memory does not have any more. With two others on these tracepoints they
# stay as they are.
for i in s1 s2; do
	mkdir "instances/dynamic_$i"
	echo 0 > "instances/dynamic_$i/tracing_on"
	for event in sched_switch sched_wakeup sched_wakeup_new; do
		echo 1 > "instances/dynamic_$i/events/sched/$event/enable"
	done
done

STRESS=${STRESS:-1}
IMAGE=$HELPER/image

# Never less than once.
scaled() { # times
	local n

	# shellcheck disable=SC2004 # a fraction is none before it stands there
	n=$(($1 * $STRESS))
	[ $n -gt 0 ] || n=1
	echo $n
}

# What a test counted, for its runner to show.
counts() { # words...
	echo "counts: $*" | tee -a "${FTRACETEST_COUNTS:-/dev/null}"
}

# A program from its sources in this folder: their names begin with its own.
build() { # name
	gcc -O2 -o "$TMPDIR/$1" "$FTRACETEST_ROOT/test.d/dynamic-stress/$1"*.c
}

# A module where loading it depends on nothing else.
fetch_module() { # name
	cp "$(modinfo -n "$1")" "$TMPDIR/$1.ko"
}

# The text of the kernel when nothing is traced and no call site is new.
keep_image() {
	cat "$TRACEFS/available_filter_functions" > /dev/null
	settle
	[ "$(nr_lines "$TRACEFS/enabled_functions")" = 0 ] || fail "something is traced"
	cat "$IMAGE" > "$TMPDIR/image"
	[ "$(wc -c < "$TMPDIR/image")" -gt 1000000 ] || fail "that is no image"
}

# Nothing is traced, and the text is what it was, byte by byte.
check_image() {
	cat "$TRACEFS/available_filter_functions" > /dev/null
	settle
	[ "$(check_text)" = 0 ] || fail "something is still traced"
	# Not from the file itself: cmp would believe its size, which is 0.
	# shellcheck disable=SC2002
	cat "$IMAGE" | cmp "$TMPDIR/image" - || fail "the text is not what it was"
}

# What the kernel has for itself, in kB, and cannot give back. What CPUs keep in
# lists of their own, as they do the more the more they free, is free.
kernel_memory() {
	echo 3 > /proc/sys/vm/drop_caches
	[ ! -e /proc/sys/vm/compact_memory ] || echo 1 > /proc/sys/vm/compact_memory
	awk '/^MemTotal:/ { kb += $2 }
	     /^(MemFree|Buffers|Cached|SwapCached|AnonPages|SReclaimable):/ { kb -= $2 }
	     /^ +count: / { kb -= 4 * $2 }
	     END { print kb }' /proc/meminfo /proc/zoneinfo
}

# ---- without permission

# All the files that the core serves, and that there are.
core_files() { # directory
	local f

	for f in available_filter_functions available_filter_functions_addrs \
		 enabled_functions touched_functions dyn_ftrace_total_info \
		 set_ftrace_filter set_ftrace_notrace set_ftrace_pid \
		 set_ftrace_notrace_pid set_graph_function set_graph_notrace \
		 function_profile_enabled stack_trace_filter ftraced_enabled \
		 ftraced_stats function_tracers; do
		[ ! -e "$1/$f" ] || echo "$1/$f"
	done
}

# Each file is refused, however it is opened, for that reason. Prints how many
# times. A command before the last two makes somebody else of whoever opens it.
no_open() { # message-of-errno files [command...]
	local message="$1" files="$2" n

	shift 2
	# shellcheck disable=SC2016,SC2086
	"$@" sh -c '
		for f; do
			if true < "$f"; then echo "reads $f"; fi
			if true >> "$f"; then echo "appends to $f"; fi
			if true > "$f"; then echo "writes $f"; fi
			if true 0<> "$f"; then echo "reads and writes $f"; fi
		done' sh $files > "$TMPDIR/could" 2> "$TMPDIR/could_not"
	if [ -s "$TMPDIR/could" ]; then
		fail "$(cat "$TMPDIR/could")" >&2
	fi
	if grep -v ": $message\$" "$TMPDIR/could_not" >&2; then
		fail "another reason than '$message'" >&2
	fi
	n=$(wc -l < "$TMPDIR/could_not")
	[ "$n" = $((4 * $(echo "$files" | wc -w))) ] || fail "$n tries" >&2
	echo "$n"
}
