#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What callers.py makes of the results of tests: whatever is wrong with a test, or with
# how it is run, must be told.  Its tests have whatever results they say that they have.
# Prints TAP.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/runner-check.sh"

sim=$work/sim
results=$sim/callers-results
mkdir -p "$sim/qemu" "$results"
cp "$here"/{callers,cases,compare,places}.py "$sim/qemu/"
echo '# test result | on stock | on ours | reason' >"$sim/qemu/callers-differ.list"
printf '# test | argument | why not\n\na/one\na/two | with that\na/no | | too slow\n' \
	>"$sim/qemu/callers.list"
printf 'a/one | 1\na/two | 1\n' >"$sim/qemu/callers-counts.list"
# The guest is a script that says what $said holds.
cat >"$sim/qemu/run.py" <<'RUN'
#!/usr/bin/env python3
import os
import re
import sys
FATAL = WARN = ALARM = re.compile("BUG: |Oops: ")
if __name__ == "__main__":
    log, kernel = (sys.argv[sys.argv.index(o) + 1] for o in ("--log", "--kernel"))
    way = "icount" if "icount" in sys.argv else "kunit" if "kunit" in " ".join(sys.argv) else ""
    with open(os.environ["booted"], "a", encoding="utf-8") as f:
        f.write("%s by %s: %s\n" % (kernel, way, " ".join(
            a for a in sys.argv if a.startswith(("a/", "startup/")))))
    with open(log, "w", encoding="utf-8") as f:
        f.write("the log of a guest\n" + os.environ.get("logged", ""))
    said, ended = os.environ["said"], os.environ["ended"]
    # The first guest may say something else, and end otherwise.
    if log.endswith(".1") and os.environ.get("first"):
        ended, _, said = os.environ["first"].partition(" ")
    print(said, flush=True)
    sys.exit(int(ended))
RUN
chmod +x "$sim/qemu/run.py"
export booted=$work/booted

# The table of these rows on stock and on ours: TEST RESULT WHAT, one in a line. After a
# "!" is what the log said.
callers() {
	local kernel test result what

	rm -f "$results"/*
	for kernel in stock recorder; do
		while read -r test result what; do
			[ -z "$test" ] || printf 'a/%s\t%s\t%s\t1\t%s\n' "$test" "$what" \
				"${result%!*}" "${result#"${result%!*}"}" \
				>>"$results/$kernel.txt"
		done <<<"$1"
		shift
	done
	BUILD=$sim "$sim/qemu/callers.py" --table >"$work/table" || {
		tail -n 1 "$work/table" >&2
		return 1
	}
	tail -n 1 "$work/table" >&2
}

a=$'one PASS x\none PASS y\ntwo PASS x'
check 'callers: all is well' '^0 of 3 worse than stock, 0 without' 0 callers "$a" "$a"
check 'callers: all is well, stock not asked' '^0 of 3 worse than stock, 0 without' 0 callers '' "$a"
check 'callers: one fails on ours' '^1 of 3 worse' 1 callers "$a" "${a/PASS x/FAIL x}"
check 'callers: one fails on stock' '^0 of 3 worse' 0 callers "${a/PASS x/FAIL x}" "$a"
for result in FAIL UNRESOLVED UNDEFINED HANG CRASH; do
	check "callers: $result on both" '^1 of 3 worse' 1 \
		callers "${a/PASS x/$result x}" "${a/PASS x/$result x}"
done
check 'callers: skipped on both' '^1 of 3 worse' 1 \
	callers "${a/PASS x/UNSUPPORTED x}" "${a/PASS x/UNSUPPORTED x}"
check 'callers: fails on stock, skipped on ours' '^1 of 3 worse' 1 \
	callers "${a/PASS x/FAIL x}" "${a/PASS x/UNSUPPORTED x}"
check 'callers: skipped on stock alone' '^0 of 3 worse' 0 callers "${a/PASS x/UNSUPPORTED x}" "$a"
check 'callers: a warning on both' '^1 of 3 worse' 1 \
	callers "${a/PASS x/PASS!WARN x}" "${a/PASS x/PASS!WARN x}"
check 'callers: a result that only stock gives' '^0 of 3 worse than stock, 1 without' 1 \
	callers "$a" "${a/$'one PASS y\n'}"
check 'callers: a result that only stock gives, where it broke off later' \
	'^0 of 4 worse than stock, 1 without' 1 \
	callers "${a/one PASS y/$'one PASS y\none UNDEFINED'}" "${a/$'one PASS y\n'}"
check 'callers: stock broke off, ours did not' '^0 of 4 worse than stock, 0 without' 0 \
	callers "${a/one PASS y/$'one PASS y\none UNDEFINED'}" "$a"
check 'callers: a result that only ours gives' '^0 of 3 worse than stock, 1 without' 1 \
	callers "${a/$'one PASS y\n'}" "$a"
check 'callers: a test that ours did not run' '^0 of 3 worse than stock, 1 without' 1 \
	callers "$a" "${a%$'\n'*}"
check 'callers: a test that nobody ran' ' 2 without' 1 callers "${a%$'\n'*}" "${a%$'\n'*}"
check 'callers: ours dies where stock goes on' '^1 of 4 worse than stock, 0 without' 1 \
	callers "$a" "${a/PASS y/CRASH}"
check 'callers: what is left of a test that is gone' '^0 of 3 worse than stock, 0 without' 0 \
	callers "$a" "$a"$'\ngone FAIL x'
callers "$a"$'\ngone FAIL x' "$a"$'\ngone FAIL x' 2>/dev/null
check 'callers: a test that is gone took no time' '^the 2 tests that both ran' 0 \
	aloud grep 'that both ran' "$work/table"
check 'callers: a table of nothing but tests that are gone' ' 2 without' 1 \
	callers '' 'gone FAIL x'
echo 'a/one y | PASS | FAIL | it has to be' >>"$sim/qemu/callers-differ.list"
check 'callers: what is listed' '^0 of 3 worse .* 0 wrong' 0 callers "$a" "${a/PASS y/FAIL y}"
check 'callers: what is listed and passes' ' 1 wrong' 1 callers "$a" "$a"
sed -i '$s/ PASS | FAIL / PASS\/FAIL | PASS\/FAIL /' "$sim/qemu/callers-differ.list"
for result in PASS FAIL; do
	check "callers: what is listed with two results: $result" '^0 of 3 worse .* 0 wrong' 0 \
		callers "${a/PASS y/$result y}" "${a/PASS y/$result y}"
done
check 'callers: what is listed with two results, and has a third' ' 1 wrong' 1 \
	callers "$a" "${a/PASS y/HANG y}"
sed -i '$d' "$sim/qemu/callers-differ.list"
echo 'a/one y | - | PASS | only ours has it' >>"$sim/qemu/callers-differ.list"
check 'callers: a result that only ours can give' '^0 of 3 worse .* 0 without .* 0 wrong' 0 \
	callers "${a/$'one PASS y\n'}" "$a"
check 'callers: ours does not give it' ' 1 wrong' 1 callers "${a/$'one PASS y\n'}" "${a/PASS y/FAIL y}"
check 'callers: stock gives it, too' ' 1 wrong' 1 callers "$a" "$a"
sed -i '$d' "$sim/qemu/callers-differ.list"

# One run on $1 (the tests $4... or all) of a guest that says $2 and ends with $3.
said() {
	BUILD=$sim said=$2 ended=$3 "$sim/qemu/callers.py" --kernel "$1" "${@:4}" >"$work/table"
	local status=$?
	grep -E '^(no result|broken|NOTE:|.* of .* worse)' "$work/table" >&2
	return $status
}
kept() { cat "$results/$1" >&2; }
# The same with nothing kept from before, and a first guest that ends with $1 and says $2.
first() { # STATUS TEXT ARGUMENTS...
	rm -f "$results"/* "$booted"
	first="$1 $2" said "${@:3}"
}
table() { BUILD=$sim "$sim/qemu/callers.py" --table "$@" | tail -n 1 >&2; }
# The row of $1 that such runs have written last.
row_of() { grep -P "^$1\t" "$results/recorder.txt" | tail -n 1 >&2; }

rm -f "$results"/*
one=$'@begin a/one\n1..1\nok 1 x\n@end 0 a/one\n'
two=$'@begin a/two\n1..1\nok 1 x\n@end 0 a/two\n'
check 'callers: a guest that runs all' '^0 of 2 worse' 0 said recorder "$one$two" 0
check 'callers: a guest of stock that runs all' '^$' 0 said stock "$one$two" 0
check 'callers: a test that breaks off on stock' '^broken on stock: a/two: .*no plan' 1 \
	said stock "$one${two/1..1}" 0
check 'callers: a guest of another kernel' '^$' 0 said other "$one$two" 0
check 'callers: a test that breaks off on another kernel' '^broken on other: a/two' 1 \
	said other "$one${two/1..1}" 0
rm -f "$results"/*
said recorder "$one${two/ok 1 x/$'# skipped: x: for want of it\nok 1 x # SKIP'}" 0 2>/dev/null
check 'callers: why a test was skipped is kept' '^# skipped: x: for want of it' 0 \
	aloud grep '^# skipped' "$results/recorder.log"
said recorder "$one${two/@end 0 a\/two/run.py: it died}" 125 2>/dev/null
check 'callers: what a guest said that died is kept' '^the log of a guest' 0 \
	kept recorder.console.1
said recorder "$one" 0 a/one 2>/dev/null
check 'callers: also when others have run since' '^=== a/two .*: recorder.console.1\)$' 0 \
	aloud grep '^=== a/two' "$results/recorder.log"
check 'callers: which have logs of their own' '^the log of a guest' 0 kept recorder.console.2
said recorder "$one$two" 0 2>/dev/null
check 'callers: when all is run again the old logs go' '^recorder.console.1$' 0 \
	eval "cd '$results' && ls | grep console >&2; [ ! -e recorder.console.2 ]"
said recorder "$one$two"$'run.py: it died of f()\n    | its log' 125 2>/dev/null
check 'callers: what a guest died of after the last test is kept' 'its log' 0 \
	aloud grep 'its log' "$results/recorder.log"
check 'callers: a guest that dies after the last test' '^1 of 3 worse' 1 \
	said recorder "$one$two"$'run.py: it died' 125

died=$'run.py: it died of f()\n    | its log'
check 'callers: no guest comes to a test' 'no guest comes as far as a/one' 1 \
	first 125 '' recorder "$died" 125
check 'callers: then that is kept' $'^a/one\tbefore it\tCRASH\t.*it died of f' 0 row_of a/one
check 'callers: and its log' 'its log' 0 aloud grep 'its log' "$results/recorder.log"
check 'callers: a guest dies before it comes to a test' '^1 of 3 worse .* 0 without' 1 \
	first 125 "$died" recorder "$one$two" 0
check 'callers: a guest of stock that does' '^broken on stock: a/one before it: CRASH: .*it died' 1 \
	first 125 "$died" stock "$one$two" 0
first 125 "$died" recorder "$one" 0 a/one 2>/dev/null
sed -i '/^a.one\t[^b]/d' "$results/recorder.txt"
check 'callers: a test that no guest came to did not run' '^1 of 1 worse .* 2 without' 1 table
check 'callers: it runs when the rest does' '^1 of 3 worse .* 0 without' 1 \
	said recorder "$one$two" 0 --continue

# An emulator that fails, or a guest that is stopped, takes nothing back.
bad=$'@begin a/one\n1..2\nnot ok 1 x\n'
check 'callers: the emulator fails' '^0 of 2 worse' 0 \
	first 124 "${one%ok 1*}" recorder "$one$two" 0
check 'callers: that is told' '^acquitted: ' 0 aloud grep '^acquitted' "$work/table"
check 'callers: the emulator fails after a test has' '^2 of 3 worse' 1 \
	first 124 "$bad" recorder "$two" 0
check 'callers: the emulator fails each time' '^callers.py: the emulator failed 4 times' 1 \
	first 124 '' recorder '' 124
check 'callers: a script ends as if it was stopped, after a test has failed' '^2 of 3 worse' 1 \
	first 143 "$bad" recorder "$two" 0
check 'callers: a script ends as if it was stopped' '^1 of 2 worse' 1 \
	first 143 "${one%ok 1*}" recorder "$two" 0
export logged=$'[ 1.0] BUG: f\n[ 2.0] Oops: int3: 0000\n[ 2.0] BUG: g\n'
check 'callers: the kernel warns, then the emulator fails' '^1 of 2 worse' 1 \
	first 124 "${one%ok 1*}" recorder "$two" 0
check 'callers: it is told of what' $'CRASH\t.*status 124' 0 row_of a/one
first 124 "$one" recorder "$two" 0 2>/dev/null
check 'callers: the kernel warns after a test, then the emulator fails' \
	$'\tPASS\t[0-9]*\tafter it: .*BUG: f\t' 0 row_of a/one
check 'callers: the kernel warns before a test, then the emulator fails' \
	'^1 of 3 worse' 1 first 124 '' recorder "$one$two" 0
first 124 "${one/@end/$'@warned [ 3.0] BUG: f\n@end'}" recorder "$two" 0 2>/dev/null
check 'callers: what was told is not told again' $'\tPASS\t[0-9]*\t[^;]*BUG: f\t' 0 row_of a/one
logged=

mkdir -p "$sim/recorder/arch/x86/boot"
echo some >"$sim/recorder/arch/x86/boot/bzImage"
check 'callers: results of this build' '^0 of 2 worse' 0 said recorder "$one$two" 0
echo other >"$sim/recorder/arch/x86/boot/bzImage"
check 'callers: results of another build, too' '^NOTE: of another build of recorder .*: a/two$' 0 \
	said recorder "$one" 0 a/one
check 'callers: if they are all that there is of a test it has none' '^NOTE: of another build .*: a/two$' 1 \
	said recorder "$one" 0 --continue
rm -f "$results"/*
said recorder "$one$two" 0 2>/dev/null
mkdir -p "$sim/recorder/modules/lib"
echo some >"$sim/recorder/modules/lib/a.ko"
check 'callers: results with other modules' '^NOTE: of another build .*: a/one a/two$' 1 said recorder '' 0 --continue
# It links back to what was built.
said recorder "$one$two" 0 2>/dev/null
ln -s "$sim/recorder" "$sim/recorder/modules/lib/build"
check 'callers: a link to the build is no module' '^0 of 2 worse' 0 said recorder '' 0 --continue
echo some >"$sim/recorder/some.ko"
check 'callers: nor is what is there' '^0 of 2 worse' 0 said recorder '' 0 --continue
rm -r "$sim/recorder"
check 'callers: results of a kernel that is gone' '^0 of 2 worse .* 0 without' 0 \
	said recorder '' 0 --continue

# As make test runs it, and where stock was not asked: no other kernel says what there
# should be.
tap() {
	rm -f "$results"/*
	BUILD=$sim said=$1 ended=0 "$sim/qemu/callers.py" --tap "${@:2}" >"$work/tap"
	local status=$?
	grep '^not ok' "$work/tap" | paste -sd '|' >&2
	return $status
}
check 'callers: TAP of what passes' '^$' 0 tap "$one$two"
check 'callers: TAP of what fails' '^not ok 2 - a/two x$' 1 \
	tap "$one${two/$'ok 1 x\n@end 0'/$'not ok 1 x\n@end 1'}"
check 'callers: TAP without a test' '^not ok 2 - a/two did not answer$' 1 tap "$one"
more=${two/$'1..1\nok 1 x'/$'1..2\nok 1 x\nok 2 y'}
check 'callers: TAP with more results than there were' '^$' 0 tap "$one$more"
sed -i 's,a/two | 1,a/two | 2,' "$sim/qemu/callers-counts.list"
check 'callers: TAP with fewer results than there should be' \
	'^not ok 3 - a/two \(1 results of 2\)$' 1 tap "$one$two"
check 'callers: fewer results than there should be, stock not asked' '^no result of recorder: a/two' 1 \
	said recorder "$one$two" 0
check 'callers: fewer results than there should be, of stock' '^no result of stock: a/two' 1 \
	said stock "$one$two" 0
check 'callers: fewer, but as many as on stock' '^0 of 2 worse .* 0 without' 0 table
sed -i '/two/d' "$sim/qemu/callers-counts.list"
check 'callers: nobody knows how many results there should be' \
	'^not ok 3 - a/two \(1 results of \?\)$' 1 tap "$one$two"
echo 'a/two | 1' >>"$sim/qemu/callers-counts.list"
check 'callers: a pattern that names no test' 'no such test in callers.list: b/\*$' 1 \
	said recorder "$one" 0 'a/one' 'b/*'
check 'callers: a pattern of nothing but what is not run' 'no such test .*: a/n\*$' 1 \
	said recorder "$one" 0 'a/n*'

# What is tested as a kernel boots has a kernel of its own.
echo startup/it >>"$sim/qemu/callers.list"
echo 'startup/it | 1' >>"$sim/qemu/callers-counts.list"
it=$'@begin startup/it\n1..1\nok 1 x\n@end 0 startup/it\n'
check 'callers: tests of start-up' '^0 of 3 worse .* 0 without' 0 first 0 "$one$two" recorder "$it" 0
check 'callers: they have a kernel of their own' \
	'^recorder by kunit: a/one a/two\|startup by icount: startup/it$' 0 \
	eval "paste -sd '|' '$booted' >&2"
check 'callers: a guest of theirs dies' '^1 of 3 worse .* 0 without' 1 \
	first 0 "$one$two" recorder $'@begin startup/it\nrun.py: it died' 125
first 0 "$one$two" recorder '' 0 'a/*' 2>/dev/null
check 'callers: they were not asked' '^0 of 2 worse .* 1 without' 1 table
check 'callers: tests of start-up on stock' '^$' 0 first 0 "$one$two" stock "$it" 0
check 'callers: which has one, too' '^stock-startup by icount: startup/it$' 0 \
	eval "tail -n 1 '$booted' >&2"
check 'callers: other kernels have none' '^$' 0 first 0 "$one$two" other '' 0
check 'callers: and cannot be asked' 'no such test in callers.list: startup/it$' 1 \
	said other "$it" 0 startup/it
for kernel in recorder startup; do
	mkdir -p "$sim/$kernel/arch/x86/boot"
	echo some >"$sim/$kernel/arch/x86/boot/bzImage"
done
check 'callers: results of both builds' '^0 of 3 worse' 0 first 0 "$one$two" recorder "$it" 0
echo other >"$sim/startup/arch/x86/boot/bzImage"
check 'callers: results of another build for start-up' \
	'^NOTE: of another build of startup .*: startup/it$' 1 said recorder '' 0 --continue
rm -r "$sim/recorder" "$sim/startup"

echo "1..$n"
