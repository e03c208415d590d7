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
#   Alone: yes      what the test does to the guest is not for other tests
#
# Noticed means that one of these tests has failed, or that the kernel has reported an
# error of its own while one of them ran (or, of memory that is lost, behind it). A
# guest that hangs, that falls silent, or that never comes to its tests proves nothing.
#
# Before that, each of these tests has to pass on the kernel as it is, in the same
# circumstances: all that a guest can run, in one.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

patches=$top/base/mutants
readme=$patches/README
qemu=$top/tools/testing/selftests/ftrace/qemu
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
	done
	return $bad
}

# ---- results -----------------------------------------------------------------

number=0 failed=0
declare -A noticed=()

result() { # STATUS TEXT
	number=$((number + 1))
	[ "$1" -eq 0 ] || failed=$((failed + 1))
	[ "$1" -eq 0 ] || printf 'not '
	printf 'ok %d - %s\n' "$number" "$2"
}

print_table() {
	local mutant

	echo "# promise | test | mutant | noticed by"
	for mutant in "${mutants[@]}"; do
		printf '# %s | %s | %s | %s\n' "$(promise_of "$mutant")" \
			"$(head_of "$mutant" Tests)" "$mutant" "${noticed[$mutant]:--}"
	done
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

# What the kernel says of itself when it is broken, as run.py knows it; and the line
# behind which that is the doing of a test.
reports='Kernel panic|Oops[: ]|BUG: |kernel BUG at |general protection fault|nable to handle|'
reports+='double fault|invalid opcode|\] int3: |WARNING: |ftrace bug|UBSAN: |'
reports+='possible recursive locking|suspicious RCU usage|'
reports+='W\+X mappings: FAILED|kmemleak: [0-9]+ new suspected'
mark='mutants: the tests begin'

# A guest that runs TESTS, all of them test cases or all of them KUnit suites, as the
# head of MUTANT says. Leaves the results in $logs/RUN.*.
guest() { # RUN NAME-OF-KERNEL MUTANT TESTS
	local run=$1 name=$2 append cpus stress runner script status tries

	append=$(head_of "$3" Append) cpus=$(head_of "$3" Cpus) stress=$(head_of "$3" Stress)
	runner=("$qemu/run.py" --kernel "$BUILD/guest-$name/bzImage" --modules "guest-$name"
		--cpus "${cpus:-2}" --mem 3G --silence 900 --limit 3600
		--append "kasan_multi_shot $append" --log "$logs/$run.log")
	[ "$(head_of "$3" Turns)" = no ] || runner+=(--turns)
	if [[ $4 == kunit/* ]]; then
		runner+=(--append "kunit.enable=1 kunit.filter_glob=$(suites "$4")")
		script=("$qemu/guest-end.sh")
	else
		# shellcheck disable=SC2206 # words of a list
		script=(env "STRESS=${stress:-1/4}" LONG=60 "$qemu/guest-boot.sh" "$linux" $4)
	fi
	# A guest whose emulator died is as good as none.
	for ((tries = 0; tries < 4; tries++)); do
		# shellcheck disable=SC2016 # for the guest
		"${runner[@]}" -- bash -c 'echo "$0" >/dev/kmsg; exec "$@"' "$mark" \
			"${script[@]}" </dev/null >"$logs/$run.out" 2>&1
		status=$?
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

# "ok TEST", "not TEST WHAT" or "skip TEST" for each of TESTS that has ended.
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
	# In the order in which they were asked for. Behind one that has failed is its log,
	# which ends with the command that was the last, but for cleaning up.
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
			kind = $1 == "not" ? "not" : / # SKIP/ ? "skip" : "ok"
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
	sed "1,/$mark/d" "$logs/$1.log" 2>/dev/null | grep -aEm1 "$reports" |
		sed -E 's/\r$//; s/^\[[ .0-9]+\] //' | cut -c1-90
}

show() { # RUN
	grep -aE '^(not )?ok |^run.py: |^# FAIL: ' "$logs/$1.out" | cut -c1-150 | sed 's/^/# /'
}

# Did a test notice? Says which, and by what.
sign_of() { # MUTANT
	local tests line why nr

	tests=$(head_of "$1" Tests)
	line=$(outcome "$1" "$tests" | grep -m1 '^not ')
	if [ -n "$line" ]; then
		echo "${line#not }"
		return
	fi
	why=$(report "$1" "$tests")
	[ -n "$why" ] || return
	# The one behind those that have ended; with all of them at an end, the last.
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
	noticed[$2]=$sign
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
		head_of "$1" Stress)|$(head_of "$1" Turns)|$(head_of "$1" Alone)"
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

# Two lines of work: kernels are built while the guests of those before run. The
# builder prints what the other has to do: WHAT, KERNEL, MUTANT and TESTS.
job() { (IFS=$'\t'; echo "$*"); }

# The kernel as it is, then its mutants, those first that share a boot.
build_kernel() { # KERNEL
	local at mutant any tests

	if ! built "$1" >&3; then
		job unbuilt "$1"
		return
	fi
	keep_kernel "$1" "$1"
	while IFS=$'\t' read -r at any tests; do
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

runner() {
	local what kernel mutant tests judged=0

	while IFS=$'\t' read -r what kernel mutant tests; do
		case $what in
		sound)
			guest "before-$mutant" "$kernel" "$mutant" "$tests"
			judge_sound "before-$mutant" "$kernel" "$mutant" "$tests" ;;
		mutant)
			try "$kernel" "$mutant" "$tests"
			judged=$((judged + 1))
			rm -rf "$BUILD/guest-$mutant" ;;
		unapplied)	result 1 "$kernel: the patch applies" ;;
		unbuilt)	result 1 "$kernel: it can be built" ;;
		unchanged)	result 1 "$kernel: the kernel is another one" ;;
		esac
	done
	[ $judged -eq ${#mutants[@]} ]
	result $? "$judged of ${#mutants[@]} mutants were tried"
	print_table
	echo "# $((SECONDS / 60)) minutes for ${#mutants[@]} mutants"
	echo "1..$number"
	echo "$((number - failed)) passed, $failed failed, 0 skipped"
	[ $failed -eq 0 ] && [ $number -gt 1 ]
}

check_table
result $? "the table of base/mutants/README says what there is"
if [ "${1:-}" = --check ]; then
	exit $failed
fi

mutants=("${@%.patch}")
[ $# -gt 0 ] || mapfile -t mutants < <(cd "$patches" && printf '%s\n' *.patch | sed 's/\.patch$//')
for mutant in "${mutants[@]}"; do
	[ -f "$patches/$mutant.patch" ] || die "no such mutant: $mutant"
done

# All kernels below are made from a source tree of their own.
export BUILD=$build/mutants
# Nor do they count how often they were made.
export KBUILD_BUILD_VERSION=1
mkdir -p "$logs" "$BUILD"
ln -sfn ../qemu "$BUILD/qemu"
fresh_tree
exec 3>&1
builder | runner
