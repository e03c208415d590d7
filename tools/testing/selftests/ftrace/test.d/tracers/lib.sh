# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034
# What the tests of named tracers share, besides ../dynamic/lib.sh; not a test
# itself.

F=ftrace_test_mod_f
STACK=/proc/sys/kernel/stack_tracer_enabled

leave() {
	set +e
	cd "$TRACEFS" || return
	{
		echo 0 > function_profile_enabled
		echo 0 > $STACK
		echo > stack_trace_filter
		echo '!*:traceon' >> set_ftrace_filter
		echo '!*:traceoff' >> set_ftrace_filter
		# Names or not, all have one filter again: nobody has looked.
		echo function > current_tracer
		echo 1 > function_profile_enabled
		echo > set_ftrace_filter
		echo > set_ftrace_notrace
		echo 0 > function_profile_enabled
	} 2> /dev/null
	cleanup
}
trap leave EXIT

# What a file says is what is on stdin.
says() { # file
	cat > "$TMPDIR/expected"
	cat "$1" > "$TMPDIR/says"
	diff "$TMPDIR/expected" "$TMPDIR/says" || fail "$1 is not as it should be"
}

default_is() { # name
	[ "$(sed -n 's/^\*//p' "${2:-function_tracers}")" = "$1" ] ||
		fail "$1 is not the default of $(cat "${2:-function_tracers}")"
}
