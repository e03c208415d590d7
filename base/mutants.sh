#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Proof that tests can fail: the core is broken in one place after another, and the
# test that is there for it has to notice. Prints TAP, and a table in the end.
#
# usage: mutants.sh [--check] [MUTANT...]
#
# A mutant is a patch in base/mutants, MUTANT its name without ".patch". Each is in the
# table of base/mutants/README, beside what it breaks; --check compares the two and
# leaves it at that. Above its first "---" a patch has a head, an empty line, and a
# sentence that says what is wrong now:
#
#   Kernel: NAME    which kernel of base/config it is built as
#   Tests: TEST...  which tests shall notice: paths below test.d, or kunit/SUITE
#   Append: WORDS   more of the kernel's command line
#   Cpus: N         CPUs of the guest (default: 2)
#   Stress: N       how often stress tests do what they do (default: 1/4)
#   Turns: no       CPUs of the guest run at the same time
#   Accel: NAME     how the guest is emulated, as run.py --accel takes it; with
#                   icount instructions are its clock
#   Alone: yes      what the test does to the guest is not for other tests
#
# A mutant is noticed if one of its tests fails, or if the kernel reports an error
# while one of them runs (for lost memory, after it). A guest that hangs, falls
# silent or never reaches its tests proves nothing.
#
# First each of these tests must pass on the unbroken kernel, with the same settings.
# Tests that can share a guest run in one.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

patches=$top/base/mutants
readme=$patches/README
qemu=$top/base/qemu
cases=$top/tools/testing/selftests/ftrace/test.d
linux=$build/linux # what the guest takes its tests from
logs=$build/run/mutants

head_of() { sed -n "/^---/q; s/^$2: //p" "$patches/$1.patch"; }

# ---- the table: promise | test | mutant --------------------------------------

# "MUTANT<tab>TESTS<tab>PROMISE" for each row.
rows() {
	awk -F'|' 'NF == 3 && !/^#/ {
		for (i = 1; i <= 3; i++)
			gsub(/^[ \t]+|[ \t]+$/, "", $i)
		print $3 "\t" $2 "\t" $1
	}' "$readme"
}

promise_of() { rows | awk -F'\t' -v m="$1" '$1 == m { print $3 }'; }

is_test() { # TEST
	case $1 in
	kunit/*)	grep -qrF "= \"${1#kunit/}\"," "$top/kernel/trace/ftrace/kunit" ;;
	*.tc)		[ -f "$cases/$1" ] ;;
	*)		false ;;
	esac
}

check_table() {
	local mutant tests promise test bad=0 seen=

	while IFS=$'\t' read -r mutant tests promise; do
		seen+=" $mutant "
		if [ ! -f "$patches/$mutant.patch" ]; then
			echo "# README: there is no mutant '$mutant'"
			bad=1
		elif [ "$(head_of "$mutant" Tests)" != "$tests" ]; then
			echo "# README: '$mutant' is for '$(head_of "$mutant" Tests)', not '$tests'"
			bad=1
		fi
		[ -n "$promise" ] || { echo "# README: '$mutant' breaks no promise"; bad=1; }
		for test in $tests; do
			is_test "$test" || { echo "# README: there is no test '$test'"; bad=1; }
		done
	done < <(rows)
	for mutant in "$patches"/*.patch; do
		mutant=$(basename "$mutant" .patch)
		case $(grep -oF " $mutant " <<<"$seen" | wc -l) in
		1)	;;
		0)	echo "# README: nothing is said of '$mutant'"; bad=1 ;;
		*)	echo "# README: '$mutant' is there more than once"; bad=1 ;;
		esac
		(cd "$top" && git apply --check "$patches/$mutant.patch") ||
			{ echo "# '$mutant' does not apply"; bad=1; }
	done
	return $bad
}

# ---- results -----------------------------------------------------------------

# Without a number, which summary gives it.
result() { # STATUS TEXT
	[ "$1" -eq 0 ] || printf 'not '
	printf 'ok - %s\n' "$2"
}

print_table() {
	local mutant sign

	echo "# promise | test | mutant | noticed by"
	for mutant in "${mutants[@]}"; do
		sign=$(cat "$logs/$mutant.sign" 2>/dev/null)
		printf '# %s | %s | %s | %s\n' "$(promise_of "$mutant")" \
			"$(head_of "$mutant" Tests)" "$mutant" "${sign:--}"
	done
}

# What all lanes print, with numbers; and how it went in all.
summary() {
	local line number=0 failed=0 acquitted=0 judged=0

	while IFS= read -r line; do
		case $line in
		'ok - '*': noticed by '* | 'not ok - '*': noticed by '*)
				judged=$((judged + 1)) ;;&
		'ok - '*)	line="ok $((number += 1))${line#ok}" ;;
		'not ok - '*)	line="not ok $((number += 1))${line#not ok}"
				failed=$((failed + 1)) ;;
		'# acquitted: '*)
				acquitted=$((acquitted + 1)) ;;
		esac
		echo "$line"
	done
	number=$((number + 1))
	if [ "$judged" -eq ${#mutants[@]} ]; then
		echo "ok $number - all $judged mutants were tried"
	else
		failed=$((failed + 1))
		echo "not ok $number - $judged of ${#mutants[@]} mutants were tried"
	fi
	print_table
	echo "# $((SECONDS / 60)) minutes for ${#mutants[@]} mutants"
	[ $acquitted -eq 0 ] ||
		echo "# the emulator failed $acquitted times; what it left was run again"
	echo "1..$number"
	echo "$((number - failed)) passed, $failed failed, 0 skipped"
	[ $failed -eq 0 ]
}

# ---- the source --------------------------------------------------------------

# Hard links: what is patched becomes a file of its own. What a mutant may have
# changed the last time is new, so that it is compiled again.
fresh_tree() {
	local file

	rm -rf "$BUILD/linux"
	cp -al "$linux" "$BUILD/linux"
	sed -n 's|^+++ b/||p' "$patches"/*.patch | sort -u | while IFS= read -r file; do
		cp --remove-destination "$linux/$file" "$BUILD/linux/$file"
	done
}

apply() { # git-apply-OPTION... MUTANT
	(cd "$BUILD/linux" && GIT_CEILING_DIRECTORIES=$BUILD \
		git apply "${@:1:$#-1}" "$patches/${!#}.patch")
}

built() { # KERNEL
	"$top/base/build.sh" "$1" </dev/null 2>&1 | sed -u 's/^/# /'
}

# The next mutant is built while the guest of this one runs: it gets what was built
# so far to itself. NAME is of a mutant, or of the kernel as it is.
keep_kernel() { # KERNEL NAME
	local to=$BUILD/guest-$2

	rm -rf "$to"
	mkdir -p "$to"
	cp "$BUILD/$1/arch/x86/boot/bzImage" "$to/bzImage"
	cp -a "$BUILD/$1/modules" "$to/modules"
}

# ---- guests ------------------------------------------------------------------

# What the kernel reports when it is broken, as run.py knows it. The mark: reports
# after this line in the log come from a test.
reports='Kernel panic|Oops[: ]|BUG: (?!KCSAN|soft lockup|workqueue lockup)|kernel BUG at |general protection fault|nable to handle|'
reports+='double fault|invalid opcode|\] int3: |WARNING: |ftrace bug|UBSAN: |'
reports+='possible recursive locking|suspicious RCU usage|'
reports+='W\+X mappings: FAILED|kmemleak: [0-9]+ new suspected'
mark='mutants: the tests begin'

# A guest that runs TESTS, all of them test cases or all of them KUnit suites, as the
# head of MUTANT says. Leaves the results in $logs/RUN.*.
guest() { # RUN NAME-OF-KERNEL MUTANT TESTS
	local run=$1 name=$2 append cpus stress accel runner script status tries

	append=$(head_of "$3" Append) cpus=$(head_of "$3" Cpus) stress=$(head_of "$3" Stress)
	accel=$(head_of "$3" Accel)
	runner=("$qemu/run.py" --kernel "$BUILD/guest-$name/bzImage" --modules "guest-$name"
		--cpus "${cpus:-2}" --mem 3G --silence 900 --limit 3600
		--append "kasan_multi_shot $append" --log "$logs/$run.log")
	[ "$(head_of "$3" Turns)" = no ] || runner+=(--turns)
	[ -z "$accel" ] || runner+=(--accel "$accel")
	if [[ $4 == kunit/* ]]; then
		runner+=(--append "kunit.enable=1 kunit.filter_glob=$(suites "$4")")
		script=(true)
	else
		# shellcheck disable=SC2206 # words of a list
		script=(env "STRESS=${stress:-1/4}" LONG=60 "$qemu/guest-boot.sh" "$linux" $4)
	fi
	# A guest whose emulator died is as good as none.
	for ((tries = 0; tries < 4; tries++)); do
		[ $tries -eq 0 ] || echo "# acquitted: the emulator failed, in the guest of $run"
		# shellcheck disable=SC2016 # for the guest
		"${runner[@]}" -- bash -c 'echo "$0" >/dev/kmsg; exec "$@"' "$mark" \
			"${script[@]}" </dev/null >"$logs/$run.out" 2>&1
		status=$?
		# Nobody waits for the other mutants any more.
		[ $status -ne 130 ] || exit $status
		[ $status -eq 124 ] || break
	done
	echo $status >"$logs/$run.status"
}

# One suite, or a glob for several.
suites() {
	local words
	read -ra words <<<"$1"
	[ ${#words[@]} -eq 1 ] && echo "${1#kunit/}" || echo 'ftrace*'
}

# "ok TEST", "not TEST WHAT" or "skip TEST" for each of TESTS that has ended; an
# unresolved one has not found out.
outcome() { # RUN TESTS
	if [[ $2 == kunit/* ]]; then
		sed -E 's/\r$//; s/^\[[ .0-9]+\] //' "$logs/$1.log" 2>/dev/null |
			awk '$1 == "not" && /^    not ok / { bad = bad ? bad : $4 }
			     /^(not )?ok [0-9]+ ftrace/ {
				print ($1 == "not" ? "not kunit/" $4 ": " bad :
				       /# SKIP/ ? "skip kunit/" $3 : "ok kunit/" $3)
				bad = ""
			     }'
		return
	fi
	# In the order in which they were asked for. After one that has failed comes its
	# log, which ends with the command that was the last, but for cleaning up.
	awk -v tests="$2" '
		function tell() {
			if (kind)
				print "not " test[nr] ": " (why ? why : last)
			kind = why = last = ""
		}
		BEGIN { split(tests, test) }
		/^(not )?ok [0-9]+ / {
			tell()
			nr++
			kind = / # (SKIP|UNRESOLVED)/ ? "skip" : $1 == "not" ? "not" : "ok"
			if (kind != "not") {
				print kind, test[nr]
				kind = ""
			}
			cleaning = 0
			next
		}
		/^# \+ cleanup$/	{ cleaning = 1 }
		!cleaning && /^# \+ /	{ last = substr($0, 3, 70) }
		/^# FAIL: / && !why	{ why = substr($0, 3, 70) }
		END { tell() }' "$logs/$1.out"
}

# The first report of the kernel while the tests ran.
report() { # RUN TESTS
	[[ $2 != kunit/* ]] || local mark='KTAP version 1'
	sed "1,/$mark/d" "$logs/$1.log" 2>/dev/null | grep -aPm1 "$reports" |
		sed -E 's/\r$//; s/^\[[ .0-9]+\] //' | cut -c1-90
}

show() { # RUN
	grep -aE '^(not )?ok |^run.py: |^# FAIL: ' "$logs/$1.out" | cut -c1-150 | sed 's/^/# /'
}

# Did a test notice? Says which, and by what.
sign_of() { # MUTANT
	local tests line why nr

	[ "$(cat "$logs/$1.status")" != 124 ] || return
	tests=$(head_of "$1" Tests)
	line=$(outcome "$1" "$tests" | awk -v tests=" $tests " '
		$1 == "not" && index(tests, " " substr($2, 1, length($2) - 1) " ")' | head -n 1)
	if [ -n "$line" ]; then
		echo "${line#not }"
		return
	fi
	why=$(report "$1" "$tests")
	[ -n "$why" ] || return
	# The one after those that have ended; with all of them at an end, the last.
	nr=$(outcome "$1" "$tests" | wc -l)
	read -ra tests <<<"$tests"
	[ "$nr" -lt ${#tests[@]} ] || nr=$((${#tests[@]} - 1))
	echo "${tests[nr]}: $why"
}

# Do its tests pass on the whole core?
is_sound() { # MUTANT
	local test

	for test in $(head_of "$1" Tests); do
		[ -n "${sound[$(place_of "$1") $test]:-}" ] || return
	done
}

try() { # KERNEL MUTANT TESTS
	local sign

	echo "# --- $2: $(sed -n '/^$/,/^---/{/^---/!p}' "$patches/$2.patch" | tr '\n' ' ')"
	if ! is_sound "$2"; then
		result 1 "$2: its tests pass on the whole core"
		return
	fi
	guest "$2" "$1" "$2" "$3"
	show "$2"
	sign=$(sign_of "$2")
	echo "$sign" >"$logs/$2.sign"
	[ -n "$sign" ]
	result $? "$2: noticed by ${sign:-nobody (status $(cat "$logs/$2.status"))}"
}

# ---- the whole core ----------------------------------------------------------

# Tests with the same place can share a boot.
place_of() { # MUTANT
	local tests what=tc
	tests=$(head_of "$1" Tests)
	[[ $tests != kunit/* ]] || what=kunit
	echo "$(head_of "$1" Kernel)|$what|$(head_of "$1" Append)|$(head_of "$1" Cpus)|$(
		head_of "$1" Stress)|$(head_of "$1" Turns)|$(head_of "$1" Accel)|$(
		head_of "$1" Alone)"
}

# The boots that the mutants of a kernel need, with their tests put together:
# "PLACE<tab>MUTANT<tab>TESTS", where MUTANT is any of that place.
boots() { # KERNEL
	local mutant at test
	local -A of=() tests=()

	for mutant in "${mutants[@]}"; do
		[ "$(head_of "$mutant" Kernel)" = "$1" ] || continue
		at=$(place_of "$mutant")
		of[$at]=$mutant
		for test in $(head_of "$mutant" Tests); do
			[[ "${tests[$at]:-} " == *" $test "* ]] || tests[$at]+=" $test"
		done
	done
	for at in "${!of[@]}"; do
		printf '%s\t%s\t%s\n' "$at" "${of[$at]}" "${tests[$at]# }"
	done
}

declare -A sound=()

judge_sound() { # RUN KERNEL MUTANT TESTS
	local word test ended append

	show "$1"
	append=$(head_of "$3" Append)
	ended=$(outcome "$1" "$4")
	for test in $4; do
		word=$(awk -v t="$test" '$2 == t { print $1 }' <<<"$ended" | sort -u)
		[ "$word" = ok ] && [ "$(cat "$logs/$1.status")" = 0 ] &&
			sound["$(place_of "$3") $test"]=y
		result $? "$test passes on $2 as it is${append:+ ($append)}"
	done
}

# ---- one after the other -----------------------------------------------------

# Kernels are built while the guests of those before run, two at a time. What shares
# a boot is in one lane. The builder tells it what there is to do: WHAT, KERNEL,
# MUTANT and TESTS.
lane=0
job() { (IFS=$'\t'; echo "$*" >&$((4 + lane))); }

# The kernel as it is, then its mutants, those first that share a boot.
build_kernel() { # KERNEL
	local at mutant any tests

	if ! built "$1" >&3; then
		job unbuilt "$1"
		return
	fi
	keep_kernel "$1" "$1"
	while IFS=$'\t' read -r at any tests; do
		lane=$((1 - lane))
		job sound "$1" "$any" "$tests"
		for mutant in "${mutants[@]}"; do
			[ "$(place_of "$mutant")" != "$at" ] || build_mutant "$mutant"
		done
	done < <(boots "$1")
}

build_mutant() { # MUTANT
	local kernel status
	kernel=$(head_of "$1" Kernel)

	if ! apply "$1" >&3 2>&1; then
		job unapplied "$1"
		return
	fi
	built "$kernel" >&3
	status=$?
	apply -R "$1" >&3 2>&1
	if [ $status -ne 0 ]; then
		job unbuilt "$1"
		return
	fi
	# The same source gives the same kernel, so it is another one.
	if cmp -s "$BUILD/$kernel/arch/x86/boot/bzImage" "$BUILD/guest-$kernel/bzImage"; then
		job unchanged "$1"
		return
	fi
	keep_kernel "$kernel" "$1"
	job mutant "$1" "$1" "$(head_of "$1" Tests)"
}

builder() {
	local kernel

	while read -r kernel; do
		build_kernel "$kernel"
	done < <(for m in "${mutants[@]}"; do head_of "$m" Kernel; done | sort -u)
}

do_job() { # WHAT KERNEL MUTANT TESTS
	case $1 in
	sound)
		guest "before-$3" "$2" "$3" "$4"
		judge_sound "before-$3" "$2" "$3" "$4" ;;
	mutant)
		try "$2" "$3" "$4"
		rm -rf "$BUILD/guest-$3" ;;
	unapplied)	result 1 "$2: the patch applies" ;;
	unbuilt)	result 1 "$2: it can be built" ;;
	unchanged)	result 1 "$2: the kernel is another one" ;;
	esac
}

runner() { # NUMBER
	local what kernel mutant tests

	while IFS=$'\t' read -r what kernel mutant tests; do
		# In one piece: the other lane prints, too.
		do_job "$what" "$kernel" "$mutant" "$tests" >"$logs/lane.$1"
		cat "$logs/lane.$1"
	done
}

if [ "${1:-}" = --check ]; then
	check_table
	exit
fi

mutants=("${@%.patch}")
[ $# -gt 0 ] || mapfile -t mutants < <(cd "$patches" && printf '%s\n' *.patch | sed 's/\.patch$//')
for mutant in "${mutants[@]}"; do
	[ -f "$patches/$mutant.patch" ] || die "no such mutant: $mutant"
done

[ -f "$linux/Makefile" ] || missing build/linux "the mutants" "run make prepare"
# All kernels below are made from a source tree of their own.
export BUILD=$build/mutants
# Nor do they count how often they were made.
export KBUILD_BUILD_VERSION=1
mkdir -p "$logs" "$BUILD"
exec 9>"$BUILD/.lock"
flock -n 9 || die "another run is going on"
rm -f "$logs"/*.sign "$BUILD"/jobs.*
ln -sfn ../qemu "$BUILD/qemu"
mkfifo "$BUILD/jobs.0" "$BUILD/jobs.1"
fresh_tree
{
	check_table
	result $? "the table of base/mutants/README says what there is"
	runner 0 <"$BUILD/jobs.0" &
	runner 1 <"$BUILD/jobs.1" &
	builder 3>&1 4>"$BUILD/jobs.0" 5>"$BUILD/jobs.1"
	wait
} | summary
