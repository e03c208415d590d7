# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # its variables
# Sourced by guest-caller.sh: functions that fail because FAIL_FUNCTION was asked for it.

inject=/sys/kernel/debug/fail_function

# Each time it is called, from now on.
fail_always() { # FUNCTION RETURN-VALUE
	echo "$1" >$inject/inject || return
	echo "$2" >"$inject/$1/retval" || return
	echo 100 >$inject/probability
	echo 0 >$inject/verbose
	echo -1 >$inject/times
}

fails_with() { # MESSAGE COMMAND...
	local message=$1
	shift
	! "$@" 2>/tmp/message && grep -q ": $message\$" /tmp/message
}

succeeds_for_all() { # FOLDER...
	mkdir "$@" && rmdir "$@"
}

# A system call: its caller sees the error.
fail_mkdir() {
	local call=__x64_sys_mkdir tracing=/sys/kernel/tracing

	try 'the function is taken' fail_always $call 0xfffffffffffffffb
	try 'it is listed' grep -q "^$call" $inject/inject
	try 'it is not taken twice' \
		fails_with 'Device or resource busy' bash -c "echo $call >$inject/inject"
	try 'it fails as asked' fails_with 'Input/output error' mkdir /tmp/a
	try 'nothing was made' [ ! -e /tmp/a ]
	echo 0xfffffffffffffff4 >$inject/$call/retval
	try 'it fails otherwise when asked' fails_with 'Cannot allocate memory' mkdir /tmp/a
	try 'a value that is no error is refused' \
		fails_with 'Invalid argument' bash -c "echo 7 >$inject/$call/retval"
	echo 1 >$inject/times
	try 'it fails for the last time' fails_with 'Cannot allocate memory' mkdir /tmp/a
	try 'then it does not fail' succeeds_for_all /tmp/a

	# Whoever else hooks it sees the calls, too.
	echo -1 >$inject/times
	echo $call >$tracing/set_ftrace_filter
	echo function >$tracing/current_tracer
	echo >$tracing/trace
	try 'it fails where it is traced' fails_with 'Cannot allocate memory' mkdir /tmp/a
	try 'it is traced where it fails' grep -q "$call <-" $tracing/trace
	echo nop >$tracing/current_tracer
	try 'it fails when it is no longer traced' \
		fails_with 'Cannot allocate memory' mkdir /tmp/a
	echo >$tracing/set_ftrace_filter

	try 'it is given back' bash -c "echo '!$call' >$inject/inject"
	try 'it no longer fails' succeeds_for_all /tmp/a
}

# A function in the middle of the kernel, and two at a time.
fail_bio() {
	local dev read

	dd if=/dev/zero of=/tmp/disk bs=4096 count=4 2>/dev/null
	dev=$(losetup -f --show /tmp/disk) || { bad 'a loop device'; return; }
	read="dd if=$dev of=/dev/null bs=4096 count=1 iflag=direct"
	# shellcheck disable=SC2086
	try 'it can be read' $read status=none
	try 'the function is taken' fail_always should_fail_bio 0xfffffffffffffffb
	try 'another one is taken' fail_always __x64_sys_mkdir 0xffffffffffffffe4
	# shellcheck disable=SC2086
	try 'it cannot be read' fails_with 'Input/output error' $read
	try 'the other one fails' fails_with 'No space left on device' mkdir /tmp/a
	try 'one is given back' bash -c "echo '!should_fail_bio' >$inject/inject"
	# shellcheck disable=SC2086
	try 'it can be read again' $read status=none
	try 'the other one still fails' fails_with 'No space left on device' mkdir /tmp/a
	try 'all are given back' bash -c "echo >$inject/inject"
	try 'the other one no longer fails' succeeds_for_all /tmp/a
	losetup -d "$dev"
}

fail_refused() {
	try 'a function that may not fail' \
		fails_with 'Numerical result out of range' bash -c "echo vfs_read >$inject/inject"
	try 'a function that does not exist' \
		fails_with 'Invalid argument' bash -c "echo no_such_function >$inject/inject"
	try 'one that is not there to be given back' \
		fails_with 'No such file or directory' bash -c "echo '!vfs_read' >$inject/inject"
	try 'nothing is listed' [ -z "$(cat $inject/inject)" ]
}

group_fail_function() { "fail_$name"; }
