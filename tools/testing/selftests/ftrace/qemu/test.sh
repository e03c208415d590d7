#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All tests, as TAP; the last line is "N passed, N failed, N skipped".
#
# usage: test.sh [--quick] [--kernel KERNEL] [SUITE...]
#
# Without SUITEs, two of them run at a time: a guest rarely keeps two CPUs busy,
# and three make NMIs come too late.

set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../../../../base/lib.sh"

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
[ "$kernel" != kcsan ] || turns=()
lanes=("runner kunit demo dynamic dynamic-jmp graph tracers livepatch bpf base
	startup docs sizes recordmcount lint"
       "users stress boots")
if [ "$kernel" = recorder ]; then
	stress=${STRESS:-1/3}
	options+=(--silence 900 --limit $((5400 + 5400 * stress)))
elif [[ $kernel == table* ]]; then
	logs=$build/run/$kernel
	stress=${STRESS:-1}
	options+=(--silence 900 --limit $((5400 + 5400 * stress)))
	lanes=("table kunit dynamic docs" "users graph tracers table-boots")
else
	# Such a kernel watches itself: it is slow, and needs room for its notes. The
	# routing of PCI interrupts by ACPI takes it longer than ACPI allows a loop.
	logs=$build/run/$kernel
	stress=${STRESS:-1/5}
	options+=(--silence 1800 --limit $((14400 + 14400 * stress)) --mem 4G
		  --append 'kasan_multi_shot acpi=noirq')
	lanes=("kunit dynamic users graph tracers" stress)
fi
mkdir -p "$logs"

# The TAP of all lanes as one. A lane that does not come to its last line fails.
# What failed is said again at the end, with the last that its suite said of it,
# before the result or behind it: who reads only the end of a log shall see it.
merge() {
	awk -v lanes=${#lanes[@]} -v context=12 '
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
		/^[0-9]+ passed, /	{ ended++; next }
		/^# [^ ]+: /	{
			suite = substr($2, 1, length($2) - 1)
			comment[suite, said[suite]++] = $0
		}
				{ print; fflush() }
		END {
			if (ended != lanes)
				result("not ok 0 - the tests did not come to their end", 0)
			for (suite in bad)
				close_failure(suite)
			if (failed)
				printf "# --- what failed\n%s", again
			print "1.." passed + failed + skipped
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed || !passed
		}'
}

if [ ${#suites[@]} -eq 0 ]; then
	for lane in "${lanes[@]}"; do
		# shellcheck disable=SC2086
		"$0" --kernel "$kernel" $lane &
	done | merge
	exit "${PIPESTATUS[1]}"
fi

passed=0 failed=0 skipped=0 ran=0
pass() { passed=$((passed + 1)) ran=$((ran + 1)); echo "ok $((passed + failed + skipped)) - $*"; }
fail() {
	failed=$((failed + 1)) ran=$((ran + 1))
	echo "not ok $((passed + failed + skipped)) - $*"
}
skip() { skipped=$((skipped + 1)); echo "ok $((passed + failed + skipped)) - $1 # SKIP ${*:2}"; }

# Turn the KTAP result lines on stdin into ours; other lines are comments.
# $2, the policy, says what a test counts as that was not resolved or is not
# supported: "lax", both are skipped; "fair", only what is not supported is;
# "strict", neither. How long a test took is told if it is worth telling.
results() {
	local suite=$1 policy=$2 line name of='' since=$SECONDS
	while IFS= read -r line; do
		if [[ $line =~ ^(not\ )?ok\ [0-9]+\ +(-\ )?(.*)$ ]]; then
			name=$of${BASH_REMATCH[3]}
			case ${BASH_REMATCH[1]}$name in
			*'# SKIP'*)
				if [ "$policy" = strict ]; then
					fail "$suite: ${name%% # *} (not supported)"
				else
					skip "$suite: ${name%% # *}" "${name#*# SKIP}"
				fi ;;
			'not '*'# UNRESOLVED')
				if [ "$policy" = lax ]; then
					skip "$suite: ${name%% # *}" unresolved
				else
					fail "$suite: ${name% # *} (unresolved)"
				fi ;;
			'not '*)	fail "$suite: $name" ;;
			*)		pass "$suite: $name" ;;
			esac
			[ $((SECONDS - since)) -lt 5 ] ||
				echo "# $suite: $((SECONDS - since)) s"
			since=$SECONDS
		elif [[ $line == '# Subtest: '* ]]; then
			of="${line#*: }: "
		elif [[ -n $line && ! $line =~ ^(1\.\.|K?TAP\ version) ]]; then
			echo "# $suite: ${line#\# }"
		fi
	done
}

# guest SUITE POLICY RUN.PY-ARGUMENTS...: results of a script in a guest, and
# one failure if the guest itself went wrong. If it is the emulator that failed,
# another guest takes over at the test case where it did, or begins again where
# there is no list of test cases.
runner=$here/run.py
guest() {
	local suite=$1 policy=$2 status before args=() tests=() tries=0 listed=
	local log=$logs/$suite$round.log
	shift 2
	while [ $# -gt 0 ]; do
		args+=("$1")
		shift
		[ "${args[-1]}" != "$build/linux" ] || { tests=("$@") listed=y; break; }
	done

	while :; do
		before=$((passed + failed + skipped))
		results "$suite" "$policy" < <(
			"$runner" "${options[@]}" --log "$log" "${args[@]}" "${tests[@]}" 2>&1
			echo $? >"$logs/$suite.status"
		)
		status=$(cat "$logs/$suite.status")
		tests=("${tests[@]:$((passed + failed + skipped - before))}")
		[ "$kernel" != kcsan ] ||
			results "$suite" strict < <("$here/races.sh" "$log" 2>&1)
		tries=$((tries + 1))
		[ "$status" -eq 124 ] || break
		[ $tries -lt 4 ] || break
		[ -z "$listed" ] || [ ${#tests[@]} -gt 0 ] || break
		echo "# a bug of QEMU, not of the kernel: going on in another guest"
	done
	[ "$status" -eq 0 ] ||
		fail "$suite: the guest ended with status $status (see ${log#"$top"/})"
}

# The test cases below test.d in the folders given, as paths below test.d.
cases() {
	(cd "$1" && find "${@:2}" -name '*.tc' 2>/dev/null | sort)
}

kunit() { # SUITE POLICY RUN.PY-ARGUMENTS...
	# A test case is indented by one level; suites and parameters are not it.
	guest "$@" --append 'kunit.enable=1 kunit.filter_glob=ftrace*' \
		--show '^(?:\[ *[0-9.]+\] )?    ((?:not )?ok .*|# .*)' "$here/guest-leaks.sh"
}

suite_kunit() { kunit kunit fair; }

dynamic() { # SUITE RUN.PY-ARGUMENTS...
	local list
	mapfile -t list < <(cases "$tests_of_ours" dynamic)
	[ ${#list[@]} -gt 0 ] || { fail "$1: no test case"; return; }
	guest "$1" fair "${@:2}" "$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

suite_dynamic() { dynamic dynamic --cpus 2; }

# The other nop, for the tests that look at bytes.
suite_dynamic-jmp() {
	guest dynamic-jmp fair --cpus 2 "${turns[@]}" --append ftrace_nop=jmp \
		"$here/guest-ftracetest.sh" "$build/linux" \
		dynamic/nop.tc dynamic/text.tc dynamic/corrupt.tc dynamic/sysctl.tc
}

# Those who hook functions: probes, patches, direct calls, tools.
suite_users() {
	local list policy=strict
	mapfile -t list < <(cases "$tests_of_ours" users)
	[ ${#list[@]} -gt 0 ] || { fail "users: no test case"; return; }
	# Who loads BPF programs by BTF cannot do so without it.
	[[ $kernel == recorder || $kernel == table* ]] || policy=fair
	guest users $policy --cpus 2 "${turns[@]}" \
		"$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

# What the documents show is what the kernel does.
suite_docs() {
	local list
	mapfile -t list < <(cases "$tests_of_ours" docs)
	[ ${#list[@]} -gt 0 ] || { fail "docs: no test case"; return; }
	guest docs strict --cpus 2 "${turns[@]}" \
		"$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

# Functions seen to return, and how often they are called.
suite_graph() {
	local list
	mapfile -t list < <(cases "$tests_of_ours" graph)
	[ ${#list[@]} -gt 0 ] || { fail "graph: no test case"; return; }
	guest graph strict --cpus 2 "${turns[@]}" \
		"$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

# Several tracers at once, by their names. The tools are not on every kernel.
suite_tracers() {
	local list policy=strict
	mapfile -t list < <(cases "$tests_of_ours" tracers)
	[ ${#list[@]} -gt 0 ] || { fail "tracers: no test case"; return; }
	[[ $kernel == recorder || $kernel == table* ]] || policy=fair
	guest tracers $policy --cpus 2 "${turns[@]}" \
		"$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

# What a table of call sites promises; for kernels that have one.
suite_table() {
	local list
	mapfile -t list < <(cases "$tests_of_ours" table)
	[ ${#list[@]} -gt 0 ] || { fail "table: no test case"; return; }
	guest table strict --cpus 2 "$here/guest-boot.sh" "$build/linux" "${list[@]}"
}

# The base's own tests of livepatch.
suite_livepatch() {
	if ! "$top/base/livepatch-tests.sh" "$kernel" 2>&1 | sed -u 's/^/# livepatch: /'; then
		fail "livepatch: its tests can be built"
		return
	fi
	guest livepatch strict --cpus 2 "${turns[@]}" "$here/guest-livepatch.sh" "$build/livepatch"
}

# The base's own tests of BPF, those that hook functions.
suite_bpf() {
	local tests=(attach_probe fentry_fexit fentry_test fexit_sleep
		     fexit_stress fexit_test get_func_args_test get_func_ip_test
		     kprobe_multi_bench_attach kprobe_multi_test
		     kprobe_multi_testmod_test modify_return module_attach
		     module_fentry_shadow recursion tracing_failure
		     tracing_struct trampoline_count)

	if ! "$top/base/bpf-tests.sh" "$kernel" "${tests[@]}" 2>&1 | sed -u 's/^/# bpf: /'; then
		fail "bpf: its tests can be built"
		return
	fi
	guest bpf strict --cpus 2 "${turns[@]}" "$here/guest-bpf.sh" \
		"$build/bpf/tools/testing/selftests/bpf" "${tests[@]}"
}

# Boots made for some tests, as a list says.
boots() { # WHAT LIST
	local name append cpus tests with mem t list mode
	while IFS='|' read -r name append cpus tests with mem; do
		list=()
		for t in $tests; do
			mapfile -t -O "${#list[@]}" list < <(cases "$tests_of_ours" "$t")
		done
		name=${name// /} with=${with// /} cpus=${cpus// /} mem=${mem// /}
		[ ${#list[@]} -gt 0 ] || { fail "$1 $name: no test case"; continue; }
		mode=()
		[ "$with" != turns ] || { mode=("${turns[@]}") with=; }
		runner=$here/${with:-run}.py
		guest "$1-$name" strict --cpus "$cpus" "${mode[@]}" \
			${mem:+--mem "$mem"} --append "$append" \
			env "STRESS=$stress" "$here/guest-boot.sh" "$build/linux" "${list[@]}"
		runner=$here/run.py
	done < <(sed '/^#/d' "$here/$2")
}

suite_boots() { boots boot boots.list; }
suite_table-boots() { boots boot table-boots.list; }

# Small kernels, each with one thing other than in the kernel under test.
suite_matrix() {
	local name cpus tests append

	while IFS='|' read -r name cpus tests append; do
		name=${name// /} cpus=${cpus// /}
		if ! "$top/base/build.sh" "$name" </dev/null 2>&1 | sed -u 's/^/# matrix: /'; then
			fail "matrix-$name: it can be built"
			continue
		fi
		# KUnit tests leave their marks in the figures that a boot begins with.
		if grep -q '^CONFIG_FTRACE_KUNIT_TEST=y' "$build/$name/.config"; then
			kunit "matrix-$name-kunit" strict --kernel "$name" --cpus "$cpus" \
				--append "$append"
		fi
		# shellcheck disable=SC2086 # words of the list
		guest "matrix-$name" strict --kernel "$name" --cpus "$cpus" "${turns[@]}" \
			--append "$append" \
			"$here/guest-boot.sh" "$build/linux" $tests
		if grep -q '^CONFIG_FTRACE_MCOUNT_RECORD=y' "$build/$name/.config"; then
			whole_table "$name"
		fi
	done < <(sed '/^#/d' "$here/matrix.list")
	same_tables small-table small-recordmcount small-objtool
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
		"$logs/matrix-$1.log")
	if [ "$taken" = "$there" ]; then
		pass "matrix: the $there functions in the table of $1 are known at boot"
	else
		fail "matrix: of $there functions in the table of $1 '$taken' are known"
	fi
}

# Whoever makes the table, it has the same functions.
same_tables() { # KERNEL KERNEL...
	local name first=$1

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
suite_sizes() { boots size sizes.list; }

# NMIs, faults, and all at once: long, and hard on an emulator.
suite_stress() { boots stress stress.list; }

# The base's own tests, those of them that base-tests.list names.
suite_base() {
	local list
	mapfile -t list < <(sed '/^#/d' "$here/base-tests.list")
	guest base lax "${turns[@]}" "$here/guest-ftracetest.sh" "$build/linux" "${list[@]}"
}

suite_demo() {
	local tries status=124

	for ((tries = 0; status == 124 && tries < 4; tries++)); do
		"$here/run.py" --log "$logs/demo.log" "$here/demo.sh" 2>&1 |
			sed -u 's/^/# demo: /'
		status=${PIPESTATUS[0]}
	done
	if [ "$status" -eq 0 ]; then
		pass "demo: make run shows what it should"
	else
		fail "demo: make run shows what it should"
	fi
}

# The tests of the base that run while its kernel boots. They mostly sleep, which
# takes no time where instructions are the clock, and they switch jump labels by
# the thousand, which QEMU does not bear with a thread for each CPU.
suite_startup() {
	guest startup strict --kernel startup --accel icount "$here/guest-startup.sh"
}

suite_lint() {
	local check
	for check in sparse checkpatch kernel-doc scripts docs; do
		if "$top/base/lint.sh" "$check" 2>&1 | sed -u 's/^/# lint: /'; then
			pass "lint: $check"
		else
			fail "lint: $check"
		fi
	done
}

# The program that makes the table of call sites, against gcc and a fuzzer.
suite_recordmcount() {
	results recordmcount strict < <(
		"$top/tools/testing/selftests/ftrace/recordmcount/test.py" 2>&1
		status=$?
		[ $status -le 1 ] || echo "not ok 0 - ended with status $status"
	)
}

suite_runner() { results runner strict < <("$here/runner-test.sh" 2>&1); }

declare -A rounds=()
for suite in "${suites[@]}"; do
	declare -F "suite_$suite" >/dev/null || die "no such suite: $suite"
	rounds[$suite]=$((${rounds[$suite]:-0} + 1))
	round=""
	begin=$SECONDS
	[ "${rounds[$suite]}" -eq 1 ] || round=-${rounds[$suite]}
	echo "# --- $suite$round"
	ran=0
	"suite_$suite"
	[ $ran -gt 0 ] || fail "$suite: not one test was run"
	echo "# --- $suite$round took $((SECONDS - begin)) s"
done

echo "1..$((passed + failed + skipped))"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
