# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC3043
# What the tests in this folder share, besides ../dynamic/lib.sh; not a test
# itself.

F=ftrace_test_mod_f
KPROBES=$DEBUGFS/kprobes/list
LIVEPATCH=/sys/kernel/livepatch/livepatch_sample

# How many trampolines there may be; empty: as many as anybody needs.
TRAMPS=$(tr ' ' '\n' < /proc/cmdline | sed -n 's/^ftrace_trampolines=//p')

users_cleanup() {
	set +e
	cd "$TRACEFS" || return
	{
		echo nop > current_tracer
		echo 0 > /proc/sys/kernel/stack_tracer_enabled
		echo > stack_trace_filter
		echo local > trace_clock
		echo 0 > events/users/enable
		echo > dynamic_events
		echo 0 > $LIVEPATCH/enabled
		wait_for sample_is_idle
		rmmod livepatch_sample
		rmmod kprobe_example
		rmmod ftrace_direct_multi_modify
		rmmod ftrace_direct_modify
		rmmod ftrace_direct_multi
		rmmod ftrace_direct_too
		rmmod ftrace_direct
		rmmod ftrace_ops
		rm -r $BPFFS/users_*
	} 2> /dev/null
	cleanup
}
trap users_cleanup EXIT

# ---- who traces a function, as enabled_functions says

enabled() { # function
	sed -nE "/^$1( \[[^]]*\])? \(/p" "$TRACEFS/enabled_functions" ||
		echo "enabled_functions cannot be read"
}

nr_ops() { # function
	enabled "$1" | sed -E 's/^[^(]*\(([0-9]+)\).*/\1/' | grep . || echo 0
}

has_flag() { # function letter
	enabled "$1" | sed -E 's/^[^(]*\([0-9]+\)(.{10}).*/\1/' | grep -q "$2"
}

# What is called directly for it, without the offset.
direct_of() { # function
	sed -nE "/^$1( \[[^]]*\])? \(/,/^[^\t]/ s/^\tdirect-->([^ +]*).*/\1/p" \
		"$TRACEFS/enabled_functions"
}

# What its call site calls, without the offset.
target_of() { # function
	enabled "$1" | sed -nE 's/.*call site -> ([^ +]*).*/\1/p'
}

# Its call site calls code that calls the tracers: a trampoline or, if there may
# be too few, the one of those that are always there that saves enough. The text
# says the same as the file.
calls_tracers() { # function args|regs
	local target

	target=$(target_of "$1")
	case $target in
	ftrace_trampoline)	[ "$TRAMPS" != 0 ] ;;
	ftrace_caller)		[ -n "$TRAMPS" ] && [ "$2" = args ] ;;
	ftrace_regs_caller)	[ -n "$TRAMPS" ] && [ "$2" = regs ] ;;
	*)			false ;;
	esac || fail "$1 calls ${target:-nobody}"
	[ "$(kind_of "$1")" = tracer ] || fail "$1 calls no tracer"
	echo "$1" | text_of > "$TMPDIR/site"
	# A round of ftraced may have given it a trampoline meanwhile.
	if [ -n "$TRAMPS" ] && [ "$(target_of "$1")" != "$target" ]; then
		calls_tracers "$@"
		return
	fi
	[ "$(cut -d' ' -f4 "$TMPDIR/site")" = "$target" ] ||
		fail "$1 calls not $target: $(cat "$TMPDIR/site")"
}

# Nobody traces it, and its text says so, too.
not_traced() { # function
	[ -z "$(enabled "$1")" ] || fail "$1 is traced: $(enabled "$1")"
	is_nop "$1" || fail "the call site of $1 is no nop"
}

# The same as a question. What BPF has detached goes when nobody is in it.
not_traced_now() { # function
	[ -z "$(enabled "$1")" ] && is_nop "$1"
}

nr_tramps() {
	may_grep -c '[[:space:]]ftrace_trampoline[[:space:]]\[__builtin__ftrace\]$' \
		/proc/kallsyms
}

# ---- probes

# How often a kprobe event was hit. A miss is a call that was not seen.
hits() { # event
	awk -v event="$1" '$1 == event { print $3 ? "missed" : $2 }' \
		"$TRACEFS/kprobe_profile"
}

# How often an event is in a trace.
events() { # event [trace-file]
	may_grep -c ": $1: (" "${2:-trace}"
}

probe_at() { # function letter-of-kind flag
	grep -qE " $2  $1\+0x[04]  .*\[$3\]" "$KPROBES"
}

# The offset of the instruction after the call site.
after_site() { # function
	local site start

	site=$(awk -v f="$1" '$2 == f { print $1 }' available_filter_functions_addrs)
	start=$(awk -v f="$1" '$3 == f { print $1 }' /proc/kallsyms)
	# The lower half is enough, and what every shell can work with.
	echo $((0x${site#????????} - 0x${start#????????} + 5))
}

# ---- stacks of a thread of ftrace_test_mod, as NMIs see them

# The stacks of the busy threads in the log since the mark, each on a line: where
# the thread was, and what the unwinder is sure of.
busy_stacks() {
	log_since | sed -E 's/^\[[ .0-9]*\] //' | awk '
		/Comm: / { busy = / Comm: ftrace_test/ }
		/^RIP: 0010:/ {
			at = $2
			sub(/^0010:/, "", at)
			sub(/\+.*/, "", at)
			# Below an interrupt.
			if (on)
				line = line at " "
			next
		}
		/Call Trace:/ { on = busy; line = " " at " "; next }
		/<\/TASK>/ && on { print line; on = 0 }
		on && /\+0x/ && !/^ \? / { sub(/\+.*/, "", $1); line = line $1 " " }'
}

# Code in the function, or that comes from its call, was called by the thread. Frame
# pointers do not say so where the function itself was interrupted and has no
# frame, at its first and last instructions.
check_busy() { # file
	grep ' ftrace_test_mod_busy ' "$1" > "$TMPDIR/in_busy"
	if ! grep -q ' unwind_module_init$' /proc/kallsyms; then
		sed -i '/^ ftrace_test_mod_busy kthread ret_from_fork ret_from_fork_asm $/d' \
			"$TMPDIR/in_busy"
	fi
	if grep -v ' ftrace_test_mod_busy busy_thread kthread ret_from_fork ret_from_fork_asm $' \
			"$TMPDIR/in_busy"; then
		fail "stacks that are not complete"
	fi
}

# ---- BPF programs that count, by names of the test's own

BPFFS=/sys/fs/bpf

bpf_build() {
	grep -q " $BPFFS bpf " /proc/mounts || mount -t bpf bpf $BPFFS
	gcc -O2 -o "$TMPDIR/bpf_count" "$FTRACETEST_ROOT/test.d/users/bpf_count.c" -lbpf
}

bpf_attach() { # fentry|fexit|fmod_ret function name [value]
	"$TMPDIR/bpf_count" attach "$1" "$2" "$BPFFS/users_$3" ${4:+"$4"}
}

bpf_detach() { # name
	rm "$BPFFS/users_$1/link" "$BPFFS/users_$1/prog" "$BPFFS/users_$1/map"
	rmdir "$BPFFS/users_$1"
}

bpf_count() { # name
	"$TMPDIR/bpf_count" count "$BPFFS/users_$1"
}

# Have the kernel call the functions it has for testing programs.
bpf_call() { # name
	"$TMPDIR/bpf_count" call "$BPFFS/users_$1"
}

# ---- the samples

livepatched() {
	grep -qx 'this has been live patched' /proc/cmdline
}

# No task is on the way from or to the patched function.
sample_is_idle() {
	[ ! -e $LIVEPATCH ] || [ "$(cat $LIVEPATCH/transition)" = 0 ]
}

livepatch_load() {
	modprobe livepatch-sample
	wait_for sample_is_idle || fail "the transition does not end"
}

sample_is_gone() {
	[ ! -e $LIVEPATCH ]
}

livepatch_unload() {
	echo 0 > $LIVEPATCH/enabled
	wait_for sample_is_gone || fail "the transition does not end"
	rmmod livepatch_sample
}

# A module that cannot be loaded, for that reason.
load_refused() { # message-of-errno module [parameter...]
	local message="$1"

	shift
	if LC_ALL=C modprobe "$@" 2> "$TMPDIR/modprobe"; then
		fail "$1 could be loaded"
	fi
	grep -q "$message" "$TMPDIR/modprobe" ||
		fail "$(cat "$TMPDIR/modprobe"), not $message"
}
