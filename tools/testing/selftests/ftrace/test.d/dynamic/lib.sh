# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC3043,SC3045
# What the tests in this folder share; not a test itself.

TRACEFS=$PWD
DEBUGFS=/sys/kernel/debug
HELPER=$DEBUGFS/ftrace_test
MOD=$DEBUGFS/ftrace_test_mod
OPS=$DEBUGFS/ftrace_test_ops
SYSCTL=/proc/sys/kernel/ftrace_enabled
ALL="#### all functions enabled ####"

# Many times what it takes anywhere: a longer wait would never end.
LONG=${LONG:-300}

fail() { # message
	echo "FAIL: $*"
	exit_fail
}

# Leave nothing behind, however the test ends. What was never there cannot be
# taken away, so errors do not matter.
cleanup() {
	set +e
	cd "$TRACEFS" || return
	{
		# Not "$(jobs -p)": a subshell has no jobs.
		jobs -p > "$TMPDIR/jobs"
		# shellcheck disable=SC2046
		kill $(cat "$TMPDIR/jobs")
		wait
		echo nop > current_tracer
		echo > set_ftrace_filter
		echo > set_ftrace_notrace
		for i in instances/dynamic_*; do
			echo nop > "$i/current_tracer"
			rmdir "$i"
		done
		echo 1 > $SYSCTL
		echo 1 > ftraced_enabled
		echo restore > $HELPER/corrupt
		echo 0 > $HELPER/nmi
		rmmod ftrace_test_ring
		rmmod ftrace_test_nmi
		rmmod ftrace_test_ops
		rmmod ftrace_test_mod
		echo 1 > tracing_on
	} 2> /dev/null
}
trap cleanup EXIT

# Ask again each second until the answer is yes.
wait_for() { # command...
	local n=0

	until "$@"; do
		n=$((n + 1))
		[ $n -lt "$LONG" ] || return 1
		sleep 1
	done
}

# ---- ftraced

stat_of() { # name
	sed -n "s/^$1: //p" "$TRACEFS/ftraced_stats"
}

at_equilibrium() {
	[ "$(stat_of equilibrium)" = yes ]
}

settle() {
	wait_for at_equilibrium || fail "no equilibrium after $LONG s"
}

# Were call sites found when the kernel was built, and so are never noted?
has_table() {
	grep -q '^table: ' "$TRACEFS/ftraced_stats"
}

# ---- lines

# grep, where there may be nothing to find. All else that goes wrong is an error.
may_grep() { # grep-argument...
	local status=0

	grep "$@" || status=$?
	# In "$(...)" nobody sees the status.
	[ $status -le 1 ] || { echo "grep $*: status $status"; return $status; }
}

# How many lines a file has: of one that cannot be read, no number.
nr_lines() { # file
	wc -l < "$1" || echo "cannot be read: $1"
}

# There is no such line. "! grep" does not say so: under "set -e" nobody looks at
# the status of a command after a "!".
no_line() { # grep-argument...
	local status=0

	grep "$@" > "$TMPDIR/found" || status=$?
	[ $status = 1 ] || fail "grep $*: status $status, $(head "$TMPDIR/found")"
}

# ---- waiting

# How often a program waits for a grace period, of the kind that is named. The function
# tracer has to be on for that function.
waits_for() { # function program argument...
	local wait="$1"

	shift
	echo > trace
	"$@"
	may_grep -cE "^ *$1-[0-9]+ .*: $wait <-" trace
}

# ---- chance

# What random tests begin with: SEED of the environment, to see the same again,
# or any number. It is told after the result, whatever that is.
choose_seed() { # name-of-test
	SEED=${SEED:-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')}
	echo "$1: SEED=$SEED" | tee -a "${FTRACETEST_COUNTS:-/dev/null}"
}

# ---- files

# What is on stdin, written to the end of a file, is refused for that reason.
refused() { # message-of-errno file
	local status=0

	LC_ALL=C dd bs=65536 >> "$2" 2> "$TMPDIR/dd" || status=$?
	[ $status -ne 0 ] && grep "$1" "$TMPDIR/dd"
}

# So many of one character.
repeat() { # count character
	head -c "$1" /dev/zero | tr '\0' "$2"
}

# ---- the kernel's log

log_mark() {
	read -r log_at < /proc/sys/kernel/random/uuid
	echo "ftracetest: mark $log_at" > /dev/kmsg
}

# What was said since the last mark. Without that it is no answer.
log_since() {
	dmesg > "$TMPDIR/dmesg"
	grep -q "ftracetest: mark $log_at\$" "$TMPDIR/dmesg" ||
		echo "BUG or WARNING, call site or not: the log has lost the mark"
	sed "1,/ftracetest: mark $log_at\$/d" "$TMPDIR/dmesg"
}

log_is_quiet() { # [regex of what may be said]
	log_since > "$TMPDIR/log"
	[ -z "${1:-}" ] || sed -i "/$1/d" "$TMPDIR/log"
	# That a module is not signed is said of the first one, whichever it is.
	sed -i '/: module verification failed: /d' "$TMPDIR/log"
	if grep -iE 'ftrace|trac(e|ing)|BUG|WARN|call site' "$TMPDIR/log"; then
		return 1
	fi
}

# ---- what ran

# How often a function is in a trace.
traced() { # function [trace-file]
	grep -v '^#' "${2:-trace}" | may_grep -cE ": $1( \[[a-z_]+\])? <-"
}

# Names of functions in a trace, each once.
traced_names() { # [trace-file]
	sed -n 's/^[^#].*: \([^ ]*\)\( \[[a-z_]*\]\)\{0,1\} <-.*/\1/p' \
		"${1:-trace}" | sort -u
}

run() { # function count
	local dir=$HELPER

	case $1 in
	ftrace_test_mod_*|'*')	dir=$MOD ;;
	esac
	echo "$1 $2" > "$dir/run"
}

# ---- what the text says

# The bytes at call sites: "ADDRESS BYTES KIND [TARGET]" for each name or
# address on stdin.
text_of() {
	exec 3<> $HELPER/text
	cat >&3
	cat <&3
	exec 3>&-
}

# nop5, jmp, fentry, tracer, call or other
kind_of() { # name-or-address
	echo "$1" | text_of | cut -d' ' -f3
}

is_nop() { # name-or-address
	case $(kind_of "$1") in
	nop5|jmp)	return 0 ;;
	esac
	return 1
}

# As a function is before anybody has asked for it, while ftraced is held.
is_fresh() { # name-or-address
	if has_table; then
		is_nop "$1"
	else
		[ "$(kind_of "$1")" = fentry ]
	fi
}

# What enabled_functions says is what the text says, for every function there
# is: it is listed if and only if it calls a tracer; what is not listed has a
# nop. Nor does any function call a tracer that is not in the list of all. Prints
# how many are traced.
check_text() {
	cat "$TRACEFS/available_filter_functions_addrs" > "$TMPDIR/avail"
	cut -d' ' -f1 "$TMPDIR/avail" | text_of > "$TMPDIR/text"
	# What is called directly has a line of its own.
	sed '/^\t/d; s/ (.*//' "$TRACEFS/enabled_functions" > "$TMPDIR/listed"
	cat "$HELPER/calls" > "$TMPDIR/calls"
	# All of them are in order of addresses.
	awk -v text="$TMPDIR/text" -v listed="$TMPDIR/listed" \
	    -v calls="$TMPDIR/calls" '
		function bad(what) {
			print what > "/dev/stderr"
			if (++bads == 10)
				exit 1
		}
		{
			if ((getline line < text) <= 0 || index(line, $1 " ") != 1)
				bad("cannot be read: " $0)
			split(line, word, " ")
			if (word[3] == "tracer") {
				traced[$1] = 1
				nr++
				$1 = ""
				if ((getline line < listed) <= 0 || line != substr($0, 2))
					bad("enabled_functions has " line " where the text has" $0)
			} else if (word[3] != "nop5" && word[3] != "jmp")
				bad("neither nop nor traced: " $0 ": " line)
		}
		END {
			if ((getline line < listed) > 0)
				bad("enabled_functions has " line " and more")
			while ((getline line < calls) > 0) {
				split(line, word, " ")
				if (word[2] == "tracer" && !(word[1] in traced))
					bad("an unknown call site: " line)
			}
			print nr + 0
			exit (bads > 0)
		}' "$TMPDIR/avail" || fail "enabled_functions is not what the text says"
}

# ---- ops

ops() { # command...
	echo "$*" > $OPS/cmd
}

# The command is refused with that error number.
ops_refused() { # errno command...
	local errno="$1"

	shift
	if ops "$@"; then
		fail "'$*' was taken"
	fi
	[ "$(cat $OPS/result)" = "-$errno" ] ||
		fail "'$*' gave $(cat $OPS/result), not -$errno"
}

# How often an ops was called from a function.
seen() { # ops function
	awk -v ops="$1" -v fn="$2" \
		'$1 == ops && $2 == fn { n += $NF } END { print n + 0 }' $OPS/seen
}

# All that an ops was called from, on one line.
seen_by() { # ops
	awk -v ops="$1" '$1 == ops { printf "%s%s", sep, $2; sep = " " }' $OPS/seen
}

# ---- NMIs from outside, see README.sets

NMI_HOST=/run/guest-nmi

# From now on each CPU gets one NMI after the other.
nmi_host_begin() {
	sed -n 1p $NMI_HOST > $HELPER/nmi_ack
	echo 1 > $HELPER/nmi
	exec 8<> "$(sed -n 2p $NMI_HOST)"
	stty raw -echo <&8
	echo on >&8
}

# No more. Prints how many there were for each CPU; all that came are in.
nmi_host_end() {
	local word nr

	echo off >&8
	read -r word nr <&8
	exec 8>&-
	echo 0 > $HELPER/nmi
	[ "$word" = sent ] || fail "no answer from the sender of NMIs"
	echo "$nr"
}
