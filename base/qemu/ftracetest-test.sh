#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What ftracetest.py makes of results: two cases, the second of them with a run in an
# instance. The guest is a script that says what $said holds.  Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/runner-check.sh"

sim=$work/sim
mkdir -p "$sim/qemu" "$sim/ftracetest" "$sim/base/tools/testing/selftests/ftrace/test.d"
cp "$here"/{ftracetest,cases,compare,places}.py "$sim/qemu/"
printf '# case | on stock | on ours | reason\n' >"$sim/qemu/ftracetest.list"
echo '# description: one' >"$sim/base/tools/testing/selftests/ftrace/test.d/a.tc"
printf '# description: two\n# flags: instance\n' >"$sim/base/tools/testing/selftests/ftrace/test.d/b.tc"
cat >"$sim/qemu/run.py" <<'RUN'
#!/usr/bin/env python3
import os
import re
import sys
import time
FATAL = WARN = re.compile("BUG: ")
ALARM = re.compile("left alone")
if __name__ == "__main__":
    # What guest-cases.sh looks for in the kernel's log.
    alarm = sys.argv[[os.path.basename(a) for a in sys.argv].index("guest-cases.sh") + 3]
    log = os.environ.get("log", "")
    warned = "@warned %s\\n@end" % log if log and re.search(alarm, log) else "@end"
    time.sleep(float(os.environ.get("nap", 0)))
    print(re.sub("@end", warned, os.environ["said"]), flush=True)
    sys.exit(int(os.environ["ended"]))
RUN
chmod +x "$sim/qemu/run.py"

# The table of these results on stock and on ours, of a.tc, b.tc and b.tc (instance);
# "-" is none, after a "!" is what the log said.
table() {
	local kernel result case cases=($'a.tc\t' $'b.tc\t' $'b.tc\t(instance)')

	rm -f "$sim"/ftracetest/*
	for kernel in stock recorder; do
		case=0
		for result in $1; do
			[ "$result" = - ] ||
				printf '%s\t%s\t1\t%s\n' "${cases[case]}" "${result%%!*}" \
					"${result#"${result%%!*}"}" \
					>>"$sim/ftracetest/$kernel.txt"
			case=$((case + 1))
		done
		shift
	done
	BUILD=$sim "$sim/qemu/ftracetest.py" --table | tail -n 1 >&2
}

# One run on $1 (the cases $4... or all) of a guest that says $2 and ends with $3.
said() {
	rm -f "$sim"/ftracetest/*
	BUILD=$sim said=$2 ended=$3 "$sim/qemu/ftracetest.py" --kernel "$1" "${@:4}" \
		>"$work/table"
	local status=$?
	grep -E '^(  [A-Z]+ .*: |no result|[0-9]+ tests are left|.* of .* worse)' "$work/table" >&2
	return $status
}

# What such a run says last of the case of which it last said anything.
last_row() {
	said "$@" 2>/dev/null
	grep -P '^b.tc\t\t' "$sim/ftracetest/recorder.txt" | tail -n 1 >&2
}

well='^0 of [23] worse than stock, 0 without a result, 0 wrong'
worse='^1 of 3 worse than stock'
check 'a table of what passes' "$well" 0 table 'PASS PASS PASS' 'PASS PASS PASS'
check 'a table of ours alone' "$well" 0 table '' 'PASS PASS PASS'
for result in UNSUPPORTED UNTESTED UNRESOLVED UNDEFINED XFAIL FAIL HANG CRASH; do
	check "PASS on stock, $result on ours" "$worse" 1 \
		table 'PASS PASS PASS' "$result PASS PASS"
	check "PASS on stock, $result on ours in an instance" "$worse" 1 \
		table 'PASS PASS PASS' "PASS PASS $result"
	check "$result on ours, stock not asked" "$worse" 1 table '' "$result PASS PASS"
	check "$result on both" "$well" 0 table "$result PASS PASS" "$result PASS PASS"
	check "$result on stock, PASS on ours" "$well" 0 table "$result PASS PASS" 'PASS PASS PASS'
done
check 'UNSUPPORTED on stock, UNRESOLVED on ours' "$worse" 1 \
	table 'UNSUPPORTED PASS PASS' 'UNRESOLVED PASS PASS'
check 'UNRESOLVED on stock, FAIL on ours' "$worse" 1 \
	table 'UNRESOLVED PASS PASS' 'FAIL PASS PASS'
check 'a warning on ours alone' "$worse" 1 table 'PASS PASS PASS' 'PASS!WARN PASS PASS'
check 'a warning on both' "$well" 0 table 'PASS!WARN:12 PASS PASS' 'PASS!WARN:34 PASS PASS'
check 'another warning than on stock' "$worse" 1 \
	table 'PASS!INFO PASS PASS' 'PASS!WARN PASS PASS'
check 'one warning more than on stock' "$worse" 1 \
	table 'PASS!WARN:1 PASS PASS' 'PASS!WARN:2;BUG PASS PASS'
check 'another end than on stock' "$well" 0 table 'PASS CRASH!OOPS -' 'PASS CRASH!BUG -'
lost=' 1 without a result, 0 wrong'
check 'a case without a result on ours' "$lost" 1 table 'PASS PASS PASS' '- PASS PASS'
check 'a case without a result on stock' "$lost" 1 table '- PASS PASS' 'PASS PASS PASS'
check 'a case without a result on both' ' 2 without a result' 1 \
	table '- PASS PASS' '- PASS PASS'
check 'a case without a result, stock not asked' "$lost" 1 table '' '- PASS PASS'
check 'an instance without a result on ours' "$lost" 1 table 'PASS PASS PASS' 'PASS PASS -'
check 'an instance without a result on stock' "$lost" 1 table 'PASS PASS -' 'PASS PASS PASS'
check 'a case that never comes to its instance, on both' "$well" 0 \
	table 'PASS HANG -' 'PASS HANG -'

echo 'a.tc | PASS | UNSUPPORTED | it has to be' >>"$sim/qemu/ftracetest.list"
check 'what is listed' "$well" 0 table 'PASS PASS PASS' 'UNSUPPORTED PASS PASS'
check 'what is listed, stock not asked' "$well" 0 table '' 'UNSUPPORTED PASS PASS'
check 'what is listed, and a warning' "$worse" 1 \
	table 'PASS PASS PASS' 'UNSUPPORTED!WARN PASS PASS'
check 'what is listed as something else' ' 1 wrong' 1 table 'PASS PASS PASS' 'FAIL PASS PASS'
check 'what is listed and passes' ' 1 wrong' 1 table 'PASS PASS PASS' 'PASS PASS PASS'
check 'what is listed and is so on stock' ' 1 wrong' 1 \
	table 'UNSUPPORTED PASS PASS' 'UNSUPPORTED PASS PASS'
sed -i 's/^a\.tc/none.tc/' "$sim/qemu/ftracetest.list"
check 'a list with a case that the base does not have' ' 1 wrong' 1 \
	table 'PASS PASS PASS' 'PASS PASS PASS'
sed -i '$d' "$sim/qemu/ftracetest.list"

a=$'@begin a.tc\n1..1\nok 1 one \n@end 0 a.tc\n'
b=$'@begin b.tc\n1..2\nok 1 two \nok 2 (instance) two \n@end 0 b.tc'
check 'a guest that runs all' "$well" 0 said recorder "$a$b" 0
check 'a guest that is asked for one case' '^0 of 1 worse .* 0 without' 0 \
	said recorder "${b/b.tc*$'\n@end 0 b.tc'/a.tc$'\n1..1\nok 1 one\n@end 0 a.tc'}" 0 a.tc
check 'ftracetest says nothing' '  UNDEFINED .*b\.tc: no plan' 1 \
	said recorder "$a"$'@begin b.tc\n@end 0 b.tc' 0
check 'ftracetest ends before its plan does' '  UNDEFINED .*b\.tc: 1 results of 2' 1 \
	said recorder "$a${b/$'\nok 2 (instance) two '}" 0
check 'ftracetest says a result twice' '  UNDEFINED .*b\.tc: several results' 1 \
	said recorder "$a${b/(instance)}" 0
check 'ftracetest fails with all results good' '  UNDEFINED .*b\.tc: ended with status 1' 1 \
	said recorder "$a${b/@end 0/@end 1}" 0
check 'ftracetest is killed after its results' '  UNDEFINED .*b\.tc: ended with status 143' 1 \
	said recorder "$a${b/@end 0/@end 143}" 0
check 'ftracetest succeeds with a bad result' '  UNDEFINED .*b\.tc: ended with status 0' 1 \
	said recorder "$a${b/ok 2/not ok 2}" 0
check 'a result of a kind that nobody knows' "$worse" 1 \
	said recorder "$a${b/two $'\n@end 0'/two # NEW$'\n@end 1'}" 0
check 'a log that overflowed' '  UNDEFINED .*b\.tc: the kernel.s log' 1 \
	said recorder "$a${b/@end 0/@lost}" 0
check 'a warning after the last case' '  PASS .*b\.tc: after it: BUG' 1 \
	said recorder "$a$b"$'\n@warned BUG: f\n@all' 0
check 'a warning after a case without a plan' $'^b.tc\t\tUNDEFINED\t.*after it: BUG' 0 \
	last_row recorder "$a"$'@begin b.tc\n@end 0 b.tc\n@warned BUG: f\n@all' 0
check 'a warning after a case that contradicts itself' $'^b.tc\t\tUNDEFINED\t.*after it: BUG' 0 \
	last_row recorder "$a${b/@end 0/@end 1}"$'\n@warned BUG: f\n@all' 0
check 'a second warning' $'^b.tc\t\tPASS\t.*BUG: f; BUG: g' 0 last_row recorder \
	"$a${b/@end 0/$'@warned BUG: f\n@warned BUG: g\n@warned BUG: f\n@end 0'}" 0
check 'a warning after one' $'^b.tc\t\tPASS\t.*BUG: f; after it: BUG: g' 0 last_row recorder \
	"$a${b/@end 0/$'@warned BUG: f\n@end 0'}"$'\n@warned BUG: g\n@all' 0
export log='nothing in particular'
check 'a line of no importance in the log' "$well" 0 said recorder "$a$b" 0
log='BUG: f'
check 'a warning in the log' '  PASS .*a\.tc: BUG' 1 said recorder "$a$b" 0
log='a call site is left alone'
check 'an alarm of the core in the log' '  PASS .*a\.tc: a call site' 1 said recorder "$a$b" 0
log=
check 'a guest that dies after its last case' '  CRASH .*b\.tc: after it: status 125' 1 \
	said recorder "$a$b" 125
said recorder '' 125 2>/dev/null
check 'a guest that dies before its first case' $'^a.tc\tbefore it\tCRASH\t.*status 125' 0 \
	aloud grep 'before it' "$sim/ftracetest/recorder.txt"
export nap=2
check 'a run whose time is over before all is done' '^[12] tests are left' 1 \
	said recorder "$a" 143 --for 1
check 'a run of stock whose time is over before all is done' '^[12] tests are left' 1 \
	said stock "$a" 143 --for 1
nap=0
check 'a guest of stock that runs all' '^$' 0 said stock "$a$b" 0

# What looks at all call sites of a guest, where some are called that it does not know.
part=$(sed -n '/^check_text() {/,/^}/p' "$here/../../tools/testing/selftests/ftrace/test.d/dynamic/lib.sh")
mkdir -p "$work/text/tmp"
echo 'ffffffff81000000 f' >"$work/text/available_filter_functions_addrs"
: >"$work/text/enabled_functions"
unknown_sites() { # NUMBER
	seq "$1" | sed 's/$/ tracer/' >"$work/text/calls"
	# shellcheck disable=SC2016 # for that shell
	TRACEFS=$work/text HELPER=$work/text TMPDIR=$work/text/tmp sh -euc "$part
		text_of() { sed 's/\$/ f nop5/'; }
		fail() { exit 1; }
		check_text"
}
check 'a guest whose call sites are all known' '^$' 0 unknown_sites 0
for many in 1 9 10 11 256; do
	check "a guest with $many call sites that are not known" '^an unknown call site: 1 tracer$' 1 \
		unknown_sites $many
done

echo "1..$n"
