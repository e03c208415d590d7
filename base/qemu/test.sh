#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All tests, as TAP; the last line is "N passed, N failed, N skipped".
#
# usage: test.sh [--quick] [--kernel KERNEL] [SUITE...]
#
# Without SUITEs, the lanes below run in parallel, two for most kernels. A guest rarely
# keeps two CPUs busy; with three guests, NMIs arrive too late.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"

kernel=recorder
logs=$build/run
tests_of_ours=$top/tools/testing/selftests/ftrace/test.d
suites=()
while [ $# -gt 0 ]; do
	case $1 in
	--quick)	suites=(kunit dynamic); shift ;;
	--kernel)	kernel=$2; shift 2 ;;
	*)		suites=("$@"); break ;;
	esac
done

options=(--kernel "$kernel")
# How guests run where nothing depends on CPUs that run at the same time. Races
# are found only where they do.
turns=(--turns)
# STRESS may be a fraction: as text it is multiplied before it is divided.
# shellcheck disable=SC2004
limit() { echo $(($1 + $1 * $stress)); }
[ "$kernel" != kcsan ] || turns=()
lanes=("runner model kunit demo dynamic dynamic-jmp graph tracers livepatch base startup
	docs sizes others lint"
       "users stress boots callers mcount_loc")
if [ "$kernel" = recorder ]; then
	stress=${STRESS:-1/3}
	options+=(--silence 900 --limit "$(limit 5400)")
elif [[ $kernel == table* ]]; then
	logs=$build/run/$kernel
	stress=${STRESS:-1}
	options+=(--silence 900 --limit "$(limit 5400)")
	lanes=("table kunit dynamic docs" "users graph tracers table-boots")
else
	# Such a kernel watches itself: it is slow, and needs room for its notes. The
	# routing of PCI interrupts by ACPI takes it longer than ACPI allows a loop.
	logs=$build/run/$kernel
	stress=${STRESS:-1/5}
	options+=(--silence 1800 --limit "$(limit 14400)" --mem 4G
		  --append 'kasan_multi_shot acpi=noirq')
	lanes=("kunit dynamic users graph tracers" stress)
fi
mkdir -p "$logs"
# What random tests begin with.
export SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}

# The TAP of all lanes as one. A lane that does not come to its last line fails, and
# so does a result that was counted there and did not come here. What failed is said
# again at the end, with the last that its suite said of it, before the result or
# after it, and how often the emulator was to blame: those who read only the end of a
# log shall see it.
merge() {
	awk -v lanes=${#lanes[@]} -v context=60 '
		function close_failure(suite,	i) {
			if (suite in bad) {
				again = again "# " bad[suite] "\n"
				i = said[suite] > context ? said[suite] - context : 0
				for (; i < said[suite]; i++)
					again = again comment[suite, i] "\n"
				delete bad[suite]
				said[suite] = 0
			}
		}
		function result(line, good,	suite) {
			suite = line
			sub(/^[^-]*- /, "", suite)
			sub(/:.*/, "", suite)
			close_failure(suite)
			if (!good) failed++
			else if (line ~ / # SKIP/) skipped++
			else passed++
			sub(/[0-9]+/, passed + failed + skipped, line)
			print line
			if (good) said[suite] = 0
			else bad[suite] = line
		}
		/^ok [0-9]/	{ result($0, 1); fflush(); next }
		/^not ok [0-9]/	{ result($0, 0); fflush(); next }
		/^1\.\.[0-9]+$/	{ next }
		/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
			ended++
			counted += $1 + $3 + $5
			next
		}
		/^# the emulator failed / { next }
		/^# [^ ]+: acquitted: / { acquitted++ }
		/^# [^ ]+: /	{
			suite = substr($2, 1, length($2) - 1)
			comment[suite, said[suite]++] = $0
		}
				{ print; fflush() }
		END {
			if (ended != lanes)
				result("not ok 0 - the tests did not come to their end", 0)
			came = passed + failed + skipped - (ended != lanes)
			if (came != counted)
				result("not ok 0 - of " counted + 0 " results " came \
				       " have come", 0)
			for (suite in bad)
				close_failure(suite)
			if (acquitted)
				printf "# the emulator failed %d times; what it " \
				       "left was run again\n", acquitted
			if (failed)
				printf "# --- what failed\n%s", again
			print "1.." passed + failed + skipped
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed || !passed
		}'
}

if [ ${#suites[@]} -eq 0 ]; then
	echo "# SEED=$SEED"
	for lane in "${lanes[@]}"; do
		# shellcheck disable=SC2086
		"$0" --kernel "$kernel" $lane &
	done | merge
	exit "${PIPESTATUS[1]}"
fi

passed=0 failed=0 skipped=0 ran=0 acquitted=0
pass() { passed=$((passed + 1)) ran=$((ran + 1)); echo "ok $((passed + failed + skipped)) - $*"; }
fail() { failed=$((failed + 1)) ran=$((ran + 1)); echo "not ok $((passed + failed + skipped)) - $*"; }
skip() { skipped=$((skipped + 1)); echo "ok $((passed + failed + skipped)) - $*"; }

# judge SUITE JUDGE.PY-ARGUMENTS...: what judge.py says of a suite, numbered. It
# tells at its end how many results it gave, so that none is lost on the way.
judge() {
	local line told=0 said=''

	while IFS= read -r line; do
		case $line in
		'ok - '*' # SKIP '*)	skip "${line#ok - }" ;;
		'ok - '*)		pass "${line#ok - }" ;;
		'not ok - '*)		fail "${line#not ok - }" ;;
		'judged '*)		said=${line#judged } ; continue ;;
		*)
			[[ $line != "# $1: acquitted: "* ]] || acquitted=$((acquitted + 1))
			echo "$line"
			continue ;;
		esac
		told=$((told + 1))
	done < <("$here/judge.py" --suite "$1" --kernel "$kernel" \
		--out "$logs/$1$round.out" "${@:2}")
	[ "$said" = "$told" ] || fail "$1: $told results came, ${said:-an unknown number} were given"
}

# guest SUITE CASES RUN.PY-ARGUMENTS...: results of test cases in a guest. With
# "nmi" in $with NMIs are sent to it, with "frozen" its CPUs are held now and then, with
# "turns" they take turns.
with=
guest() {
	local runner=run args=()

	case $with in
	turns)	args=("${turns[@]}") ;;
	nmi|frozen)	runner=$with ;;
	'')	;;
	*)	fail "$1: no such way to run a guest: $with"; return ;;
	esac
	judge "$1" --cases "$2" -- "$here/$runner.py" "${options[@]}" --log "$logs/$1$round.log" \
		"${args[@]}" "${@:3}" env "STRESS=$stress" "SEED=$SEED" \
		"$here/guest-boot.sh" "$build/linux"
	races "$1" "$kernel" "$logs/$1$round.log"
}

# races SUITE KERNEL LOG: what KCSAN found in the guests of a suite, if KERNEL has it.
races() {
	if grep -q '^CONFIG_KCSAN=y' "$build/$2/.config"; then
		judge "$1-races" -- "$here/races.sh" "$3"*
	fi
}

# kunit SUITE KERNEL RUN.PY-ARGUMENTS...: the KUnit suites that are built, as kunit.list has
# them, each of which has to answer.
kunit() {
	local name option built='' config=$build/$2/.config log=$logs/$1$round.log

	while IFS='|' read -r name option; do
		option=${option// /}
		if [ -z "$option" ] || grep -qx "CONFIG_$option=y" "$config"; then
			built+=" $name"
		fi
	done < <(sed '/^#/d' "$here/kunit.list")
	judge "$1" --kunit "$log" --suites "$built" -- "$here/run.py" "${options[@]}" \
		--kernel "$2" --log "$log" "${@:3}" \
		--append 'kunit.enable=1 kunit.filter_glob=ftrace*' true
	races "$1" "$2" "$log"
}

suite_kunit() { kunit kunit "$kernel"; }

# The test cases below test.d in the folders given, as paths below test.d.
cases() {
	(cd "$tests_of_ours" && find "$@" -name '*.tc' 2>/dev/null | sort)
}

# Guests as the rows of a list say: all of them, or the one of that name.
boots() { # LIST PREFIX [NAME]
	local name append cpus tests mem t list rows=0

	while IFS='|' read -r name append cpus tests with mem; do
		name=${name// /} with=${with// /} cpus=${cpus// /} mem=${mem// /}
		[ -z "${3:-}" ] || [ "$3" = "$name" ] || continue
		rows=$((rows + 1))
		list=
		for t in $tests; do
			case $t in
			@*)	t=$(sed '/^#/d' "$here/${t#@}") ;;
			*)	t=$(cases "$t") ;;
			esac
			[ -n "$t" ] || fail "$2$name: no test case where the list has one"
			list+=" $t"
		done
		guest "$2$name" "$list" --cpus "$cpus" ${mem:+--mem "$mem"} --append "$append"
	done < <(sed '/^#/d' "$here/$1")
	with=
	[ $rows -gt 0 ] || fail "$1: no such row"
}

# Guests in which function tracing does not start, one for each step that can fail.
# ftracetest begins by what is refused there, and the kernel warns: so the script tests
# by itself, and reads the log.
dead_boots() {
	local step steps=6

	for ((step = 1; step <= steps; step++)); do
		judge "boot-dead-$step" -- "$here/run.py" "${options[@]}" \
			--log "$logs/boot-dead-$step$round.log" --cpus 2 "${turns[@]}" \
			--allow-warn --append "ftrace_fail_start=$step" \
			"$here/guest-dead.sh" "$step" "$steps"
	done
}

suite_boots() { boots boots.list boot-; dead_boots; }
suite_fallback() { boots fallback.list boot-; }
suite_table-boots() { boots table-boots.list boot-; }

# The base's own tests of livepatch.
suite_livepatch() {
	if ! "$top/base/livepatch-tests.sh" "$kernel" 2>&1 | sed -u 's/^/# livepatch: /'; then
		fail "livepatch: its tests can be built"
		return
	fi
	judge livepatch -- "$here/run.py" "${options[@]}" --log "$logs/livepatch$round.log" \
		--cpus 2 "${turns[@]}" "$here/guest-livepatch.sh" "$build/livepatch"
}

# Those of "make callers" that are quick to build and to run, and always pass. Those of
# user events do not wait for the works by which the base frees an event, and failed
# here once in spite of user-events-wait.c.
suite_callers() {
	if ! "$top/base/callers.sh" --some "$kernel" 2>&1 | sed -u 's/^/# callers: /'; then
		fail "callers: their tests can be built"
		return
	fi
	judge callers -- "$here/callers.py" --tap --kernel "$kernel" --hang 600 \
		'bpf/*' 'fail_function/*' 'kunit/*' 'ring-buffer/*' 'samples/*'
}

# The kernels of the matrix, one after the other: how it went is in NAME.built.
build_matrix() {
	local name

	while IFS='|' read -r name _; do
		name=${name// /}
		"$top/base/build.sh" "$name" </dev/null 2>&1 | sed -u 's/^/# matrix: /'
		echo "${PIPESTATUS[0]}" >"$logs/$name.built~"
		mv "$logs/$name.built~" "$logs/$name.built"
	done < <(sed '/^#/d' "$here/matrix.list")
}

# Small kernels, each with one thing other than in the kernel under test. A guest needs
# one CPU, so the next kernel is built meanwhile.
suite_matrix() {
	local name cpus tests append under=$kernel builder

	rm -f "$logs"/*.sites "$logs"/small*.built
	# In a process group of its own, which can be ended with all that it runs.
	set -m
	build_matrix & builder=$!
	set +m
	trap 'kill -- -'"$builder"' 2>/dev/null' EXIT
	while IFS='|' read -r name cpus tests append; do
		name=${name// /} cpus=${cpus// /}
		while [ ! -e "$logs/$name.built" ] && kill -0 "$builder" 2>/dev/null; do sleep 1; done
		if [ "$(cat "$logs/$name.built" 2>/dev/null)" != 0 ]; then
			fail "matrix-$name: it can be built"
			continue
		fi
		kernel=$name
		# KUnit tests leave their marks in the figures that a boot begins with.
		if grep -q '^CONFIG_FTRACE_KUNIT_TEST=y' "$build/$name/.config"; then
			kunit "matrix-$name-kunit" "$name" --cpus "$cpus" --append "$append"
		fi
		with=turns guest "matrix-$name" "$tests" --kernel "$name" --cpus "$cpus" \
			--append "$append"
		kernel=$under
		if grep -q '^CONFIG_FTRACE_MCOUNT_RECORD=y' "$build/$name/.config"; then
			whole_table "$name"
		fi
	done < <(sed '/^#/d' "$here/matrix.list")
	trap - EXIT
	same_tables small-table small-mcount-loc small-objtool
}

# What is in the table, and has a name, has become a record.
whole_table() { # KERNEL
	local there taken

	if ! "$here/table-sites.py" "$build/$1/vmlinux" >"$logs/$1.sites"; then
		fail "matrix: the table of $1 can be read"
		return
	fi
	there=$(wc -l <"$logs/$1.sites")
	taken=$(sed -n 's/.* ftrace: \([0-9]*\) call sites in the table.*/\1/p' \
		"$logs/matrix-$1$round.log")
	if [ "$taken" = "$there" ]; then
		pass "matrix: the $there functions in the table of $1 are known at boot"
	else
		fail "matrix: of $there functions in the table of $1 '$taken' are known"
	fi
}

# Whoever makes the table, it has the same functions.
same_tables() { # KERNEL KERNEL...
	local name first=$1

	[ -s "$logs/$first.sites" ] || { fail "matrix: there is a table of $first"; return; }
	echo "# matrix: $(wc -l <"$logs/$first.sites") functions in the table of $first"
	for name in "${@:2}"; do
		if diff "$logs/$first.sites" "$logs/$name.sites" | sed 's/^/# matrix: /'; then
			pass "matrix: the tables of $first and $name are the same"
		else
			fail "matrix: the tables of $first and $name are the same"
		fi
	done
}

# A little of everything on machines of all sizes, and under lockdown.
suite_sizes() { boots sizes.list size-; }

# What people would do on a Debian 12 system: on our package, on the stock core of the
# same configuration, and (no figures of it) on Debian's own. A guest for each of what may
# take it down.
suite_deb() {
	local name

	exec 6>"$build/.deb-test.lock"
	flock -n 6 || { fail "deb: no other make deb-test is running"; return; }
	rm -f "$logs"/deb-*.out
	if ! "$top/base/deb/check.sh" 2>&1 | sed -u 's/^/# deb: /'; then
		fail "deb: there are packages to test, and there is room"
		return
	fi
	for name in sets stock debian; do
		if ! "$top/base/deb/images.sh" "$name" 2>&1 | sed -u 's/^/# deb: /'; then
			fail "deb-$name: the system can be made"
			continue
		fi
		deb "$name-boot" up,boot_tracer,power_off --append ftrace=function
		deb "$name-count" up,power_off --icount
		deb "$name" up,modules,equilibrium,trace_cmd,trace_cmd_graph,perf_ftrace,perf_probe,bpftrace_kprobes,bpftrace_fentry,instances,messages,power_off
		deb "$name-busy" up,switching,load,messages,power_off --turns
		deb "$name-power" up,pm_test,suspend,hibernate,messages,kexec_away,kexec_back,reboot_away,reboot_back,power_off
	done
	judge deb-figures -- "$top/base/deb/figures.sh" "$logs"
}

deb() { # SUITE STAGES TEST.PY-ARGUMENTS...
	judge "deb-$1" --suites "${2//,/ }" -- "$top/base/deb/test.py" \
		"$build/debian/${1%%-*}" "$2" "${@:3}" --append "ftrace_test.core=${1%%-*}" \
		--log "$logs/deb-$1.log"
}

# NMIs, faults, and all at once: long, and hard on an emulator.
suite_stress() { boots stress.list boot-; }

suite_demo() {
	local tries status=124 out=$logs/demo.out

	: >"$out"
	for ((tries = 0; status == 124 && tries < 4; tries++)); do
		if [ $tries -gt 0 ]; then
			echo "# demo: acquitted: the emulator failed"
			acquitted=$((acquitted + 1))
		fi
		rm -rf "$logs/demo-kept"
		"$here/run.py" --log "$logs/demo.log" --keep "$logs/demo-kept" \
			"$here/demo.sh" 2>&1 | tee -a "$out" | sed -u 's/^/# demo: /'
		status=${PIPESTATUS[0]}
	done
	# What was wrong before an emulator failed was wrong.
	if [ "$status" -eq 0 ] && ! grep -q '^!! ' "$out"; then
		pass "demo: make run shows what it should"
	else
		fail "demo: make run shows what it should"
	fi
	# Where the kernel was built tells which folder a function is from.
	if "$here/report.py" "$logs/demo-kept" "$build/$kernel" "$logs/demo.html" 2>&1 |
		sed 's/^/# demo: /' && [ "$(grep -o '<svg' "$logs/demo.html" | wc -l)" -ge 4 ] &&
		grep -q '<title>kernel/sched: ' "$logs/demo.html"; then
		pass "demo: the report has its pictures"
	else
		fail "demo: the report has its pictures"
	fi
	# To build that kernel as well would take too long here.
	if "$top/base/configure.sh" "$build/linux" "$build/run/demo-config" \
		"$top/base/config/small.config" "$top/base/config/demo.config" 2>&1 |
		sed 's/^/# demo: /'; then
		pass "demo: the kernel of make run can be configured"
	else
		fail "demo: the kernel of make run can be configured"
	fi
}

# The tests of the base that run while its kernel boots. They mostly sleep, which
# takes no time where instructions are the clock, and they switch jump labels by
# the thousand, which QEMU does not bear with a thread for each CPU.
suite_startup() {
	judge startup -- "$here/run.py" "${options[@]}" --log "$logs/startup$round.log" \
		--kernel startup --accel icount "$here/guest-startup.sh"
}

suite_lint() {
	local check
	for check in sparse arrows checkpatch kernel-doc scripts lengths hosts assertions docs; do
		if "$top/base/lint.sh" "$check" 2>&1 | sed -u 's/^/# lint: /'; then
			pass "lint: $check"
		else
			fail "lint: $check"
		fi
	done
}

# The program that makes the table of call sites, against gcc and a fuzzer.
suite_mcount_loc() {
	judge mcount_loc -- "$top/base/mcount_loc/test.py"
}

# Those who do not choose our core; for other architectures there is "make others".
suite_others() {
	if "$top/base/others.sh" x86_64 2>&1 | sed -u 's/^/# others: /'; then
		pass "others: x86_64 without FTRACE_SETS is as it was"
	else
		fail "others: x86_64 without FTRACE_SETS is as it was"
	fi
}

suite_runner() {
	local test

	for test in runner-test.sh ftracetest-test.sh callers-test.sh callers-guest-test.sh \
		deb-guest-test.sh {judge,guest-end,report,plot}-test.py arrows-test.sh; do
		judge runner -- "$here/$test"
	done
	judge runner -- "$here/shell-test.py" "$kernel"
}

# The models, in small settings; all states are searched.
suite_model() { judge model -- "$top/base/model/model.sh" --small; }

is_row() { # NAME
	grep -qE "^$1 *\|" "$here/suites.list"
}

declare -A rounds=()
for suite in "${suites[@]}"; do
	declare -F "suite_$suite" >/dev/null || is_row "$suite" || die "no such suite: $suite"
	rounds[$suite]=$((${rounds[$suite]:-0} + 1))
	round=""
	begin=$SECONDS
	[ "${rounds[$suite]}" -eq 1 ] || round=-${rounds[$suite]}
	echo "# --- $suite$round"
	ran=0
	if is_row "$suite"; then
		boots suites.list '' "$suite"
	else
		"suite_$suite"
	fi
	[ $ran -gt 0 ] || fail "$suite: not one test was run"
	echo "# --- $suite$round took $((SECONDS - begin)) s"
done

[ $acquitted -eq 0 ] ||
	echo "# the emulator failed $acquitted times; what it left was run again"
echo "1..$((passed + failed + skipped))"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
