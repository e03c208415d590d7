#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Run the shell examples of a document, in the current directory, and compare
# what they print with what the document shows.
#
# An example is a run of indented lines that begins with "tracing# COMMAND". Such
# lines are commands, the others what the command before them prints. All of it,
# but for empty lines, has to be there and in that order, where
#
#   ...			on a line of its own is any number of lines,
#   ...			within a line is any text,
#   a number		of three digits or more, or with a point in it, is any, but
#			what is more than none must not be none; the number of a task,
#			between a dash and " [", may be that of the idle task,
#   blanks		are any blanks, and none at both ends of a line.
#
# A command that prints nothing has to succeed. The commands of a document are run by one
# shell, one after the other.
#
# usage: examples.sh DOCUMENT [EXAMPLE-LINE]...
# With line numbers only the examples whose first command is there are run.

doc=$1
shift
name=${doc##*/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "LINE COMMAND" for each command; what follows it is in LINE.shown.
awk -v work="$work" -v only=" $* " '
	function indent(line) {
		match(line, /^[ \t]*/)
		return RLENGTH
	}
	/^[ \t]+tracing# / {
		if (!inside)
			begin = NR
		inside = 1
		depth = indent($0)
		file = ""
		if (only != "  " && !index(only, " " begin " "))
			next
		file = work "/" NR ".shown"
		printf "" > file
		print NR, substr($0, depth + 10)
		next
	}
	/^[ \t]*$/		{ next }
	inside && indent($0) < depth	{ inside = 0; file = "" }
	inside && file != ""	{ print > file }' "$doc" > "$work/commands"

# Does what was printed look like what is shown?
matches() { # shown printed
	awk '
	function trim(line) {
		gsub(/[ \t]+/, " ", line)
		sub(/^ /, "", line)
		sub(/ $/, "", line)
		return line
	}
	# The regular expression that a line stands for.
	function pattern(line,	re, token, task) {
		re = "^"
		while (line != "") {
			task = token == "-" && line ~ /^[0-9]+ *\[/
			if (match(line, /^\.\.\./)) {
				re = re ".*"
				token = ""
			} else if (match(line, /^[0-9]+(\.[0-9]+)?/)) {
				token = substr(line, 1, RLENGTH)
				if (length(token) <= 2)
					re = re token
				else if (token ~ /[.]/ || token ~ /^0+$/ || task)
					re = re "[0-9]+([.][0-9]+)?"
				else
					re = re "0*[1-9][0-9]*([.][0-9]+)?"
				line = substr(line, length(token) + 1)
				continue
			} else {
				match(line, /^./)
				token = substr(line, 1, 1)
				if (token ~ /[A-Za-z_ ]/)
					re = re token
				else if (token == "^" || token == "\\")
					re = re "\\" token
				else
					re = re "[" token "]"
			}
			line = substr(line, RLENGTH + 1)
		}
		return re "$"
	}
	/^[ \t]*$/	{ next }
	NR == FNR	{
		line = trim($0)
		shown[++n] = line == "..." ? "..." : pattern(line)
		next
	}
			{ printed[++m] = trim($0) }
	END {
		i = j = 1
		star = 0
		while (j <= m) {
			if (i <= n && shown[i] == "...") {
				star = i++
				from = j
			} else if (i <= n && printed[j] ~ shown[i]) {
				i++
				j++
			} else if (star) {
				i = star + 1
				j = ++from
			} else {
				exit 1
			}
		}
		while (i <= n && shown[i] == "...")
			i++
		exit i <= n
	}' "$1" "$2"
}

commands=0
bad=0
_before=
# Names that no example uses.
while read -r _at _example <&3; do
	commands=$((commands + 1))
	eval "$_example" > "$work/out" 2>&1 3<&-
	_status=$?
	sed 's/^[^ ]*: line [0-9]*: /bash: /' "$work/out" > "$work/printed"
	if matches "$work/$_at.shown" "$work/printed" &&
		{ [ $_status -eq 0 ] || [ -s "$work/printed" ]; }; then
		_before=$_example
		continue
	fi
	bad=$((bad + 1))
	echo "$name:$_at: $_example (exit status $_status)"
	echo "shown:"
	cat "$work/$_at.shown"
	echo "printed:"
	head -n 40 "$work/printed"
	# What an example hides may be why it fails, or the next one does.
	for _hides in "$_before" "$_example"; do
		[[ $_hides != *'> /dev/null'* ]] || {
			echo "once more, with what it hides: $_hides"
			eval "${_hides//> \/dev\/null/}" > "$work/hidden" 2>&1 3<&- || :
			tail -n 20 "$work/hidden"
		}
	done
done 3< "$work/commands"

echo "$name: $((commands - bad)) of $commands commands print what is shown"
[ "$commands" -gt 0 ] && [ "$bad" -eq 0 ]
