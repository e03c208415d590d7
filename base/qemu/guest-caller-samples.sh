# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # its variables
# Sourced by guest-caller.sh: the modules of the base's samples/, loaded, used, unloaded.

tracing=/sys/kernel/tracing
patches=/sys/kernel/livepatch
cmdline=/proc/cmdline

load() { listen && modprobe "$@"; }
# A livepatch goes when no task needs it any more.
unload() { eventually modprobe -r "$1" 2>/dev/null; }
# A child is made, and waited for.
fork() { (exit 0); }
traced() { grep -q -- "$1" $tracing/trace; }

# What a call of kernel_clone(), and then of kernel_wait4(), makes MODULE log as
# PATTERNs is there while it is loaded, and only then.
logs_calls() { # MODULE PARAMETERS PATTERN...
	local module=$1 parameters=$2 pattern
	shift 2
	# shellcheck disable=SC2086 # words
	try "it is loaded: $parameters" load "$module" $parameters
	listen
	fork
	for pattern; do
		try "it sees a call: $parameters: $pattern" eventually said "$pattern"
	done
	try "it is unloaded: $parameters" unload "$module"
	listen
	fork
	for pattern; do
		try "it sees none after that: $parameters: $pattern" not said "$pattern"
	done
}

refused() { not modprobe "$@" 2>/dev/null; }

sample_kprobe_example() {
	logs_calls kprobe_example symbol=kernel_clone \
		'<kernel_clone> p->addr = 0x[^,]*, ip = ' \
		'<kernel_clone> p->addr = 0x[^,]*, flags = '
	try 'a function that does not exist is refused' \
		refused kprobe_example symbol=no_such_function
}

sample_kretprobe_example() {
	logs_calls kretprobe_example func=kernel_clone \
		'kernel_clone returned [0-9]* and took [0-9]* ns'
	load kretprobe_example func=kernel_clone
	fork
	unload kretprobe_example
	try 'none was missed' said 'Missed probing 0 instances of kernel_clone'
}

# That of the exit handler comes after the trampoline of the function.
dumped_at_entry() {
	dmesg | sed "1,/$mark/d" |
		awk '/Enter <kernel_clone/ { inside = 1 }
		     /Return from </ { inside = 0 }
		     inside' |
		grep -q ' __do_sys_\(clone\|vfork\|fork\)\| __x64_sys_clone'
}

sample_fprobe_example() {
	local symbol

	for symbol in kernel_clone 'kernel_clon*'; do
		logs_calls fprobe_example "symbol=$symbol stackdump=0" \
			'Enter <kernel_clone' 'Return from <kernel_clone'
	done
	logs_calls fprobe_example "symbol=kernel_clone,kernel_wait4 stackdump=0" \
		'Enter <kernel_clone' 'Return from <kernel_clone' \
		'Enter <kernel_wait4' 'Return from <kernel_wait4'
	try 'it is loaded to dump stacks' load fprobe_example stackdump=1
	fork
	try 'it dumps them at the entry' eventually dumped_at_entry
	try 'it dumps them at the return' eventually said 'Return from <kernel_clone'
	try 'it is unloaded' unload fprobe_example
	try 'it has counted' said 'unregistered\. [1-9][0-9]* times hit, 0 times missed'
	try 'a function that does not exist is refused' \
		refused fprobe_example symbol=no_such_function
}

# PATTERN with the address of a function, of at least that many of them
traced_at() { # NUMBER PATTERN
	[ "$(grep -o -- "$2[0-9a-f]*" $tracing/trace | sort -u | wc -l)" -ge "$1" ]
}

# In the trace, one of the direct functions was called three times in a row from a place,
# and so was the other one, of at least that many places.
in_a_row() { # NUMBER
	awk -v places="$1" '
		match($0, /my direct func[12]/) {
			func_ = substr($0, RSTART, RLENGTH)
			place = substr($0, RSTART + RLENGTH)
			run[place] = last[place] == func_ ? run[place] + 1 : 1
			last[place] = func_
			if (run[place] == 3)
				seen[func_, place] = 1
		}
		END {
			for (i in seen)
				n++
			exit n < 2 * places
		}' $tracing/trace
}

# One direct function takes the place of the other, again and again: it is called, and
# the other one no longer.
replaced() { # NUMBER-OF-PLACES
	local func

	for func in 2 1 2; do
		echo >$tracing/trace
		eventually traced "my direct func$func" || return
	done
	echo >$tracing/trace
	eventually in_a_row "$1"
}

# What MODULE calls directly writes PATTERNs into the trace while it is loaded, and
# only then. One that ends in "ip " is written by the calls of two functions, each
# with its address. Where the name of the module's function stands before the colon
# of the first, there is only its address when the module is gone.
traces_calls() { # MODULE PATTERN...
	local module=$1 pattern
	shift
	echo >$tracing/trace
	try 'it is loaded' load "$module"
	for pattern; do
		case $pattern in
		*'ip ')	try "it sees calls of both: $pattern" eventually traced_at 2 "$pattern" ;;
		*)	try "it sees calls: $pattern" eventually traced "$pattern" ;;
		esac
	done
	case $module in
	*-multi-modify)	try 'each replaces the other' replaced 2 ;;
	*-modify)	try 'each replaces the other' replaced 1 ;;
	esac
	try 'it is unloaded' unload "$module"
	echo >$tracing/trace
	fork
	sleep 1
	for pattern; do
		pattern=${pattern#my_direct_func}
		try "it sees none after that: $pattern" not traced "$pattern"
	done
}

sample_ftrace-direct() { traces_calls ftrace-direct 'my_direct_func: waking up '; }
sample_ftrace-direct-too() { traces_calls ftrace-direct-too 'my_direct_func: handle mm fault vma='; }
sample_ftrace-direct-multi() { traces_calls ftrace-direct-multi 'my_direct_func: ip '; }
sample_ftrace-direct-modify() {
	traces_calls ftrace-direct-modify 'my direct func1' 'my direct func2'
}
sample_ftrace-direct-multi-modify() {
	traces_calls ftrace-direct-multi-modify 'my direct func1 ip ' 'my direct func2 ip '
}

# It measures as it is loaded, and then fails to load on purpose; it tells of a wrong
# count in the log.
counted() { said 'Attempted 1000 calls to' && not said 'Counter called'; }

sample_ftrace-ops() {
	local options module=ftrace-ops

	for options in '' save_regs=1 'assist_recursion=1 assist_rcu=1' \
		       'nr_ops_relevant=10 nr_ops_irrelevant=10' \
		       'nr_ops_relevant=0 nr_ops_irrelevant=10'; do
		listen
		# shellcheck disable=SC2086 # words
		try "it does not stay: $options" \
			refused $module nr_function_calls=1000 check_count=1 $options
		try "it has counted right: $options" counted
	done
	try 'it stays when asked to' load $module nr_function_calls=1000 check_count=1 persist=1
	try 'it has counted right' counted
	try 'it is unloaded' unload $module
}

sample_sample-trace-array() {
	local instance=$tracing/instances/sample-instance

	try 'it is loaded' load sample-trace-array
	try 'there is an instance' [ -d $instance ]
	try 'it is written to' eventually grep -q 'trace_array_printk: count=' $instance/trace
	echo schedule >$instance/set_ftrace_filter
	echo function >$instance/current_tracer
	try 'functions are traced in it' eventually grep -q 'schedule <-' $instance/trace
	try 'it is unloaded while they are' unload sample-trace-array
	try 'there is no instance' [ ! -d $instance ]
}

sample_trace-printk() {
	echo >$tracing/trace
	try 'it is loaded' load trace-printk
	try 'a static string' eventually traced 'This is a static string that will use trace_bputs'
	try 'a dynamic string' eventually traced 'that will use trace_bprintk'
	try 'a static string from an interrupt' eventually traced '(irq) This is a static string'
	try 'it is unloaded' unload trace-printk
	try 'its strings are still there' traced 'This is a static string that will use trace_bputs'
}

disable_patch() {
	echo 0 >"$patches/$1/enabled" && eventually [ ! -e "$patches/$1" ]
}
in_transition() { [ "$(cat "$patches/$1/transition")" = 1 ]; }
enabled() { [ "$(cat "$patches/$1/enabled")" = 1 ] && ! in_transition "$1"; }

sample_livepatch-sample() {
	local was
	was=$(cat $cmdline)

	try 'it is loaded' load livepatch-sample
	try 'it is enabled' eventually enabled livepatch_sample
	try 'the function is patched' grep -qx 'this has been live patched' $cmdline
	try 'it is disabled' disable_patch livepatch_sample
	try 'the function is as it was' [ "$(cat $cmdline)" = "$was" ]
	try 'it is unloaded' unload livepatch-sample
}

sample_livepatch-callbacks() {
	local demo=livepatch_callbacks_demo

	# First what is patched, then the patch.
	try 'a module is loaded' load livepatch-callbacks-mod
	try 'a patch is loaded' load livepatch-callbacks-demo
	try 'it is enabled' eventually enabled $demo
	try 'it is told before' said 'pre_patch_callback: livepatch_callbacks_mod ->'
	try 'it is told after' said ' post_patch_callback: livepatch_callbacks_mod ->'
	try 'it is disabled' disable_patch $demo
	try 'it is told of that before' said 'pre_unpatch_callback: livepatch_callbacks_mod ->'
	try 'it is told of that after' said 'post_unpatch_callback: livepatch_callbacks_mod ->'
	try 'the patch is unloaded' unload livepatch-callbacks-demo
	try 'the module is unloaded' unload livepatch-callbacks-mod

	# First the patch, then what is patched.
	try 'a patch is loaded first' load livepatch-callbacks-demo
	try 'that is enabled' eventually enabled $demo
	try 'a module with a function to patch comes' load livepatch-callbacks-busymod sleep_secs=1
	try 'it is told before it comes' \
		said ': pre_patch_callback: livepatch_callbacks_busymod -> .*COMING'
	try 'it is told after it has come' \
		said ': post_patch_callback: livepatch_callbacks_busymod -> .*COMING'
	try 'its function is patched' eventually said 'patched_work_func'
	try 'its own is not called' not said busymod_work_func
	try 'it goes' unload livepatch-callbacks-busymod
	try 'it is told before it goes' \
		said ': pre_unpatch_callback: livepatch_callbacks_busymod -> .*GOING'
	try 'it is told after it has gone' \
		said ': post_unpatch_callback: livepatch_callbacks_busymod -> .*GOING'
	try 'the patch is disabled' disable_patch $demo
	try 'the patch goes' unload livepatch-callbacks-demo

	# A patch that says no.
	modprobe livepatch-callbacks-mod
	try 'a patch that refuses is not loaded' refused livepatch-callbacks-demo pre_patch_ret=-19
	modprobe -r livepatch-callbacks-mod
	try 'nothing is left of it' [ ! -e $patches/$demo ]
}

sample_livepatch-shadow() {
	try 'a module that leaks is loaded' load livepatch-shadow-mod
	try 'it works' eventually said '\] dummy_alloc: dummy @'
	try 'a patch of it is loaded' load livepatch-shadow-fix1
	try 'it is enabled' eventually enabled livepatch_shadow_fix1
	try 'it works, too' eventually said 'livepatch_fix1_dummy_alloc: dummy @'
	try 'it stops the leak' eventually said 'livepatch_fix1_dummy_leak_dtor: .* prevented leak'
	try 'a second patch is loaded' load livepatch-shadow-fix2
	try 'that is enabled' eventually enabled livepatch_shadow_fix2
	try 'both stop the leak' eventually said 'livepatch_fix2_dummy_free: .* check counter ='
	try 'the second is disabled' disable_patch livepatch_shadow_fix2
	try 'it is unloaded' unload livepatch-shadow-fix2
	listen
	try 'the first does it again' eventually said 'livepatch_fix1_dummy_leak_dtor: .* prevented leak'
	try 'the second does not' not said livepatch_fix2_
	try 'the first is disabled' disable_patch livepatch_shadow_fix1
	try 'that is unloaded' unload livepatch-shadow-fix1
	listen
	try 'the module does it as before' eventually said '\] dummy_alloc: dummy @'
	try 'the first does not' not said livepatch_fix1_
	try 'the module is unloaded' unload livepatch-shadow-mod
}

group_samples() { "sample_$name"; }
