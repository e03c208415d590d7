#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Proof that tests can fail: the core is broken in one place after another, and the
# tests that are there for it have to notice. Prints TAP.
#
# usage: mutants.sh [MUTANT...]
#
# A mutant is a patch in base/mutants, MUTANT its name without ".patch". Its head says
# which kernel of base/config it is built as, which tests shall notice (paths below
# test.d) and with what STRESS, if not 1. Before that, each of these tests has to
# pass on this kernel as it is.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

patches=$top/base/mutants
qemu=$top/tools/testing/selftests/ftrace/qemu
linux=$build/linux # what the guest takes its tests from
logs=$build/run/mutants
# All kernels below are made from a source tree of their own.
export BUILD=$build/mutants
mkdir -p "$logs" "$BUILD"
ln -sfn ../qemu "$BUILD/qemu"

mutants=("$@")
[ $# -gt 0 ] || mapfile -t mutants < <(cd "$patches" && printf '%s\n' *.patch)
number=0 failed=0
declare -A sound=()

head_of() { sed -n "/^---/q; s/^$2: //p" "$patches/$1.patch"; }

result() { # STATUS TEXT
	number=$((number + 1))
	[ "$1" -eq 0 ] || failed=$((failed + 1))
	[ "$1" -eq 0 ] || printf 'not '
	printf 'ok %d - %s\n' "$number" "$2"
}

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

# The tests of a mutant on the kernel as it is now. Returns 0 if all pass, 1 if one
# of them fails, and 2 if there is no telling. A guest that dies or hangs, and a
# report in its log, are what a test can cause.
run_tests() { # MUTANT NAME
	local kernel tests stress status tries out=$logs/$2.out runner

	kernel=$(head_of "$1" Kernel) tests=$(head_of "$1" Tests) stress=$(head_of "$1" Stress)
	runner=("$qemu/run.py" --kernel "$kernel" --cpus 2 --mem 3G --silence 600 --limit 7200
		--append kasan_multi_shot --log "$logs/$2.log")
	[[ $tests == *nmi* || $tests == *churn* ]] || runner+=(--turns)
	for ((tries = 0; tries < 4; tries++)); do
		# shellcheck disable=SC2086 # words of a list
		"${runner[@]}" env "STRESS=${stress:-1}" "$qemu/guest-boot.sh" \
			"$linux" $tests >"$out" 2>&1
		status=$?
		[ $status -eq 124 ] || break
	done
	sed 's/^/# /' "$out" | grep -E '^# (not )?ok |^# run.py: |^# # counts|FAIL' | cut -c1-160
	# Nor does a guest tell anything that never came to its tests.
	if grep -qE '^ok .* # SKIP' "$out" || [ $status -eq 124 ] ||
	   ! grep -q '^TAP version' "$out"; then
		return 2
	fi
	if grep -q '^not ok ' "$out" || [ $status -ne 0 ]; then
		return 1
	fi
	grep -q '^ok ' "$out" || return 2
}

# Once for each set of tests.
is_sound() { # MUTANT KERNEL
	local key status

	key="$2: $(head_of "$1" Tests) $(head_of "$1" Stress)"
	if [ -z "${sound[$key]:-}" ]; then
		built "$2" && run_tests "$1" "before-$1"
		status=$?
		sound[$key]=$status
		result $status "before $1: passes on $key"
	fi
	[ "${sound[$key]}" -eq 0 ]
}

try() { # MUTANT
	local kernel status

	kernel=$(head_of "$1" Kernel)
	echo "# --- $1: $(sed -n '/^$/,/^---/{/^---/!p}' "$patches/$1.patch" | tr '\n' ' ')"
	is_sound "$1" "$kernel" || return
	apply "$1" || { result 1 "$1: the patch applies"; return; }
	if built "$kernel"; then
		run_tests "$1" "$1"
		status=$?
		[ $status -eq 1 ]
		result $? "$1: it is noticed"
	else
		result 1 "$1: the patched kernel can be built"
	fi
	apply -R "$1"
}

fresh_tree
for mutant in "${mutants[@]}"; do
	try "${mutant%.patch}"
done
echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ $failed -eq 0 ] && [ $number -gt 0 ]
