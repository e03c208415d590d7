#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# base/arrows.py on small trees in which something is wrong, and base/ways.py on what
# QEMU could have written. Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
. "$here/runner-check.sh"

core=kernel/trace/ftrace
src=$work/src

# A file of the core, from stdin.
file() {
	mkdir -p "$(dirname "$src/$core/$1")"
	cat >"$src/$core/$1"
}

# A tree in which everything is as it should be: two rooms, and tests above them.
fresh() {
	rm -rf "$src" "$work/obj"
	mkdir -p "$src/base"
	cat >"$src/base/rooms.list" <<-END
		tests: $core/kunit/
		# above
		high: $core/high/
		low: $core/low/
		linux: include/linux/ ftrace*.h
	END
	mkdir -p "$src/include/linux"
	cat >"$src/include/linux/ftrace.h" <<-END
		#pragma once
		int high(void);
		static inline int for_all(void) { return high(); }
	END
	file low/low.h <<-END
		#pragma once
		#include <linux/ftrace.h>
		struct low { int (*func)(void); };
		int low(void);
		extern int low_data, deep_data;
		static inline int lower(void) { return low_data; }
	END
	file low/low.c <<-END
		#include "low.h"
		int low_data;
		int low(void) { return deep_data; }
	END
	file low/deep.c <<-END
		#include "low.h"
		int deep_data;
	END
	file high/high.h <<-END
		#pragma once
		#include "../low/low.h"
		#define HIGH low()
	END
	file high/high.c <<-END
		#include "high.h"
		int high(void) { return HIGH + lower(); }
	END
	file kunit/test.c <<-END
		#include "../high/high.h"
		#include "../low/low.h"
		struct low test = { high };
	END
}

# Compile what is there, with the headers as they are, and look at it.
arrows() {
	local f

	for f in "$src/$core"/*/*.c; do
		f=${f#"$src/"}
		mkdir -p "$work/obj/$(dirname "$f")"
		gcc -w -O2 -fno-pic -I "$src/include" -c -o "$work/obj/${f%.c}.o" "$src/$f" || return
	done
	"$top/base/arrows.py" --source "$src" "$@" "$work/obj"
}

fresh
check 'arrows: a tree that is as it should be' '^$' 0 arrows
arrows --rooms >"$work/counts"
check 'arrows: room to room, in numbers' '^high +\. +[1-9]' 0 aloud grep '^high' "$work/counts"
arrows --dot >"$work/dot"
check 'arrows: a graph for graphviz' '"kernel/trace/ftrace/high/high.c" -> .*low/low.c' 0 \
	aloud grep 'high.c" -> .*low.c"' "$work/dot"

fresh
sed -i '2i #include "../high/high.h"' "$src/$core/low/low.h"
sed -i 2d "$src/$core/high/high.h"
check 'arrows: an include turned round' 'low/low.h \(low\) goes up to .*high.h \(high\): #include' \
	1 arrows

fresh
printf '%s\n' '#ifdef A' 'static inline int a(int x) {' '#else' 'static inline int a(void) {' \
	'#endif' 'return 0; }' | file low/more.h
check 'arrows: one function with two heads' 'the braces of .*more.h do not pair' 2 arrows

fresh
echo '#include "../high/high.h"' | file low/more.h
check 'arrows: an include that goes up, in a header that nobody uses' 'more.h \(low\) goes up' \
	1 arrows

fresh
echo 'struct low pointer = { high };' >>"$src/$core/low/deep.c"
check 'arrows: a function pointer that goes up' 'deep.c \(low\) goes up to .*high.c \(high\): high$' \
	1 arrows

fresh
echo 'int *data = &low_data;' >>"$src/$core/low/deep.c"
check 'arrows: a circle through data' \
	'^circle: .*deep.c -> .*low.c \(low_data\) -> .*deep.c \(deep_data\)$' 1 arrows

fresh
sed -i 's/int deep_data/int deep_data(void) { return lower(); }\nint deep_data_of/' \
	"$src/$core/low/deep.c"
sed -i 's/, deep_data;/, deep_data(void);/' "$src/$core/low/low.h"
sed -i 's/return deep_data/return deep_data()/' "$src/$core/low/low.c"
check 'arrows: a circle through an inline function' \
	'^circle: .*deep.c -> .*low.c \(low_data\) -> .*deep.c \(deep_data\)$' 1 arrows

fresh
echo '#include "b.h"' | file low/a.h
echo '#include "a.h"' | file low/b.h
check 'arrows: a circle of headers' '^circle: .*a.h -> .*b.h \(#include\) -> .*a.h' 1 arrows

fresh
echo 'static inline int up(void) { return high(); }' >>"$src/$core/low/low.h"
check 'arrows: an inline function that goes up, though nobody uses it' \
	'low.h \(low\) goes up to .*high.c \(high\): high$' 1 arrows

fresh
echo '#define UP (1 + high())' >>"$src/$core/low/low.h"
check 'arrows: a macro that goes up' 'low.h \(low\) goes up to .*high.c' 1 arrows

fresh
echo 'extern struct low test; struct low *of_test = &test;' >>"$src/$core/high/high.c"
check 'arrows: what only tests have' 'high.c \(high\) goes up to .*test.c \(tests\)' 1 arrows

fresh
echo 'int nobody;' | file new/new.c
check 'arrows: a file in no room' 'new/new.c is in no room' 1 arrows

fresh
echo "high: $core/low/ deep.*" >"$work/more"
sed -i "/^high/r $work/more" "$src/base/rooms.list"
check 'arrows: a file in two rooms' 'deep.c is in rooms high and low' 1 arrows

fresh
echo 'struct low pointer = { high };' >>"$src/$core/low/deep.c"
echo "up $core/low/deep.c high" >>"$src/base/rooms.list"
check 'arrows: what is allowed to go up' '^$' 0 arrows

fresh
echo "up $core/low/deep.c high" >>"$src/base/rooms.list"
check 'arrows: what is allowed to go up and does not' 'deep.c does not refer to high' 1 arrows

fresh
echo 'high low' >>"$src/base/rooms.list"
check 'arrows: a list that cannot be read' 'rooms.list:[0-9]+: not "ROOM:' 2 arrows

fresh
check 'arrows: no object' '^arrows\.py: missing: objects of ours below ' 2 \
	"$top/base/arrows.py" --source "$src" "$work/nothing"

# What ways.py reads of such a log: FUNCTION STACK-POINTER..., "stop" after what was not run.
trace() {
	local name sp

	while read -r name sp; do
		if [ "$name" = stop ]; then
			echo 'Stopped execution of TB chain before 0x1 [1]'
			continue
		fi
		printf 'Trace 0: 0x7f00 [00000000/%016x/00000000/ff000000] %s\n' \
			"$((0x1000 + $(printf '%d' "'$name")))" "$name"
		printf 'RAX=0000000000000000 RBX=0\nRSI=0 RDI=0 RBP=0 RSP=%016x\n' "$((sp))"
	done
}

# The way that a log is: functions a, b in one file, c, d in another, r __fentry__.
way() { # [RECORDER]
	trace <"$work/steps" >"$work/log"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/base python3 - "$work/log" "${1:-}" >&2 <<-'END'
		import sys, ways
		found = {0x1000 + ord(c): (c, "one.c" if c in "ab" else "two.c") for c in "abcd"}
		found[0x1000 + ord("r")] = (ways.RECORDER, "entry.S")
		found[0x1000 + ord("n")] = (ways.RECORDS[0], "one.c")
		went = ways.steps(sys.argv[1], found, sys.argv[2] == "recorder")
		print(" ".join("%s%s%s%d" % ("<" if back else "", s.task, s.name, s.depth)
		               for s, back in zip(went, ways.returns(went))))
	END
}
sees() { # WHAT WAY [RECORDER], steps from stdin
	cat >"$work/steps"
	check "ways: $1" "^$2\$" 0 way "${3:-}"
}

sees 'depth is told from the stack' 'aa0 ac1 <ab2 aa0' <<-END
	a 0x13f00
	c 0x13e00
	b 0x13d00
	a 0x13f00
END
sees 'each task has its own' 'aa0 bc0 <ab1' <<-END
	a 0x13f00
	c 0x23e00
	b 0x13d00
END
sees 'a loop counts once' 'aa0 ac1 <ab1 <ad1' <<-END
	a 0x13f00
	c 0x13e00
	c 0x13e00
	b 0x13e00
	c 0x13e00
	b 0x13e00
	d 0x13e00
END
sees 'an entry that was stopped comes once' 'aa0 ac0 <aa0' <<-END
	a 0x13f00
	stop
	a 0x13f00
	c 0x13f00
	a 0x13f00
	stop
	a 0x13f00
END
sees 'what the recorder does is left out' 'aa0 ac0' <<-END
	a 0x13f00
	r 0x13e00
	n 0x13d00
	c 0x13f00
END
sees 'what the recorder does is what is asked for' \
	'aa0 a__fentry__1 <aftrace_note2 ac0' recorder <<-END
	a 0x13f00
	r 0x13e00
	n 0x13d00
	c 0x13f00
END
sees 'the recorder has returned before what its caller calls' 'aa0 ac1 ad2 <ab0' <<-END
	a 0x13f00
	r 0x13ef8
	c 0x13ed0
	d 0x13ec0
	b 0x13f00
END

before='way site: 9 functions, 3 files, 3 times back
way function: 30 functions, 9 files, 10 times back, 28 functions until ftrace_update_ops()'
compare() { # TEXT OF AFTER
	echo "$before" >"$work/before"
	echo "$1" >"$work/after"
	aloud "$top/base/ways.py" --compare "$work/before" "$work/after"
}
bad() { compare "$1" 2>&1 | grep '^BAD' >&2; return "${PIPESTATUS[0]}"; }
function='way function: 20 functions, 9 files, 5 times back, 12 functions until ftrace_update_ops()'
site='way site: 9 functions, 3 files, 1 times back'

check 'ways: half as often back' '^ok   site: 1 times' 0 compare "$site"$'\n'"$function"
check 'ways: more than half' '^BAD  site: 2 times' 1 bad "${site/1 times/2 times}"$'\n'"$function"
check 'ways: 13 functions until the update' '^BAD  function: 13 functions' 1 \
	bad "$site"$'\n'"${function/12/13}"
check 'ways: no update' '^BAD  function: no end' 1 bad "$site"$'\n'"${function%, 12*}"
check 'ways: a way that is no more' '^BAD  site: it is no more' 1 bad "$function"
check 'ways: a way that was not before' '^BAD  module: there is nothing' 1 \
	bad "$site"$'\n'"$function"$'\n'"${site/site/module}"
check 'ways: a line that cannot be read' 'this says nothing of a way: way site:' 2 \
	compare "${site/1 times/one time}"$'\n'"$function"
before=nothing
check 'ways: nothing to compare with' 'there is no way in' 2 compare "$site"

echo "1..$n"
