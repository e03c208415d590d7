# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC3043
# What the tests in this folder share, besides ../dynamic/lib.sh and
# ../users/lib.sh; not a test itself.

NOBODY="#### no functions disabled ####"

graph_cleanup() {
	set +e
	cd "$TRACEFS" || return
	{
		echo nop > current_tracer
		echo > set_ftrace_pid
		echo > set_ftrace_notrace_pid
		echo 0 > options/function-fork
		echo > set_graph_function
		echo > set_graph_notrace
		echo 0 > max_graph_depth
		echo 0 > options/funcgraph-tail
		echo 0 > options/funcgraph-proc
		echo 0 > options/funcgraph-retval
	} 2> /dev/null
	users_cleanup
}
trap graph_cleanup EXIT

# With them each line of a graph says whose it is, and of which function. They
# are for all instances.
echo 1 > options/funcgraph-tail
echo 1 > options/funcgraph-proc

# In the order of events, also if a task goes to another CPU.
in_order() { # directory...
	local dir

	for dir; do
		echo counter > "$dir/trace_clock"
	done
}

# A graph, one line for each entry and each exit in the order they were in:
# "PID DEPTH enter|leave FUNCTION".
graph_of() { # trace-file
	awk -F'|' '
		/^#/ || NF < 3 { next }
		{
			pid = $1
			gsub(/ /, "", pid)
			sub(/.*-/, "", pid)
			name = $NF
			match(name, /^ */)
			at = pid " " (RLENGTH - 2) / 2
			name = substr(name, RLENGTH + 1)
		}
		name ~ /^[^ ]+( \[[^ ]+\])?\(\);/ {
			sub(/[ (].*/, "", name)
			print at, "enter", name
			print at, "leave", name
		}
		name ~ /^[^ ]+( \[[^ ]+\])?\(\) [{]/ {
			sub(/[ (].*/, "", name)
			print at, "enter", name
		}
		name ~ /^[}] \/[*] / {
			sub(/^[}] \/[*] /, "", name)
			sub(/ .*/, "", name)
			print at, "leave", name
		}' "$1"
}

# A graph has these functions, each entered so often, and no other. Each that
# was entered was left, inner ones first.
#
# The first of all graph users sees the returns of what any of them traces. Where
# there are several, exits of functions that it does not trace mean nothing.
graph_is() { # trace-file [function count]...
	local file="$1"

	shift
	: > "$TMPDIR/want"
	[ $# = 0 ] || printf '%s %s\n' "$@" | grep -v ' 0$' | sort > "$TMPDIR/want"
	graph_of "$file" > "$TMPDIR/graph"
	awk '$3 == "enter" { n[$4]++ } END { for (f in n) print f, n[f] }' \
		"$TMPDIR/graph" | sort > "$TMPDIR/entered"
	diff "$TMPDIR/want" "$TMPDIR/entered" >&2 ||
		fail "$file: not entered (<), or not to be entered (>)"
	awk -v shared="$SHARED" '
		FILENAME ~ /want$/ { want[$1] = 1; next }
		$3 == "enter" {
			if (top[$1] && $2 <= depth[$1, top[$1]])
				print "not deeper than what it is called from: " $0
			depth[$1, ++top[$1]] = $2
			name[$1, top[$1]] = $4
		}
		$3 == "leave" {
			if (shared && !($4 in want))
				next
			if (!top[$1] || name[$1, top[$1]] != $4 || depth[$1, top[$1]] != $2)
				print "not what was entered last: " $0
			if (top[$1])
				top[$1]--
		}
		END {
			for (pid in top)
				if (top[pid])
					print "never left: " pid " " name[pid, top[pid]]
		}' "$TMPDIR/want" "$TMPDIR/graph" > "$TMPDIR/odd"
	[ ! -s "$TMPDIR/odd" ] || fail "$file: $(head "$TMPDIR/odd")"
}
SHARED=

# How often a function was entered, or left.
entered() { # function [trace-file]
	graph_of "${2:-trace}" | may_grep -c " enter $1\$"
}

left() { # function [trace-file]
	graph_of "${2:-trace}" | may_grep -c " leave $1\$"
}

# Where in a graph functions are: "DEPTH FUNCTION" of each entry, on one line.
depths() { # trace-file
	graph_of "$1" | awk '$3 == "enter" { printf "%s%s %s", sep, $2, $4; sep = ", " }'
}

holds() { # file line...
	local file="$1"

	shift
	printf '%s\n' "$@" > "$TMPDIR/want"
	diff "$TMPDIR/want" "$file" >&2 || fail "$file is not what was asked for"
}

# Call a function as often as that by a write whose caller looks at what it
# returns. It is full_proxy_write() that calls run_write() that calls it.
call() { # function count
	local dir="$HELPER"

	case $1 in
	ftrace_test_mod_*)	dir="$MOD" ;;
	esac
	printf '%s %s' "$1" "$2" > "$TMPDIR/line"
	LC_ALL=C dd if="$TMPDIR/line" of="$dir/run" bs=256 conv=notrunc 2> "$TMPDIR/dd"
	grep -q "^$(wc -c < "$TMPDIR/line") bytes" "$TMPDIR/dd" ||
		fail "a write returned $(cat "$TMPDIR/dd")"
}
