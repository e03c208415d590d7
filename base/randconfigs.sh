#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Configure the tracing options at random, and what they meet, around a rest that is
# fixed; build what has to do with tracing of each; link two of twenty, boot them and
# trace all functions. Every second one has our core, every fourth the base's; in the
# others it is random. What needs BTF or block devices is never there: on those hangs too
# much that has nothing to do with tracing.
#
# usage: randconfigs.sh [FIRST-SEED [N]]
#
# What fails is left in build/randconfigs/SEED, and belongs in matrix.list once it is
# understood.  The same seed gives the same configuration of the same tree.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

first=${1:-1} number=${2:-20}
linux=$build/linux
dir=$build/randconfigs
[ "$number" -gt 0 ] || die "no configuration is none to try"
[ -f "$linux/Makefile" ] || missing build/linux "random configurations" "run make prepare"
mkdir -p "$dir"
cc=$(by_ccache "${CC:-gcc}")

# What is chosen at random: what these files offer, and what our code asks about.
{
	cd "$linux"
	sed -n 's/^\(menu\)\?config //p' kernel/trace/Kconfig kernel/trace/*/Kconfig \
		samples/Kconfig kernel/livepatch/Kconfig lib/kunit/Kconfig kernel/Kconfig.preempt
	printf '%s\n' BPF_JIT BPF_SYSCALL CC_OPTIMIZE_FOR_PERFORMANCE \
		CC_OPTIMIZE_FOR_SIZE CPU_MITIGATIONS DEBUG_FS DEBUG_PREEMPT FPROBE \
		FPROBE_SANITY_TEST FUNCTION_ERROR_INJECTION IA32_EMULATION JUMP_LABEL \
		KALLSYMS_ALL KPROBES KPROBES_SANITY_TEST \
		MITIGATION_CALL_DEPTH_TRACKING MITIGATION_RETHUNK MITIGATION_RETPOLINE \
		MITIGATION_SLS MODULES MODULE_UNLOAD PROC_SYSCTL RANDOMIZE_BASE SMP \
		UNWINDER_FRAME_POINTER UNWINDER_GUESS UNWINDER_ORC X86_KERNEL_IBT
	cd "$OLDPWD"
} | sort -u >"$dir/random"

"$top/base/configure.sh" "$linux" "$dir/rest" "$top/base/config/small.config"
sed 's/.*/CONFIG_&/' "$dir/random" >"$dir/names"
awk 'FNR == NR { random[$1]; next }
     { name = $1 == "#" ? $2 : $1; sub(/=.*/, "", name) }
     name ~ /^CONFIG_/ && !(name in random)' "$dir/names" "$dir/rest/.config" >"$dir/fixed"
# A test of KUnit that ends in an Oops, which is what it is for.
echo '# CONFIG_KUNIT_FAULT_TEST is not set' >>"$dir/fixed"

is_chosen() { grep -qx "CONFIG_$2=y" "$dir/$1/.config"; } # SEED OPTION

# Two of twenty, one of each core.
is_booted() { # SEED
	case $(($1 % 20)) in 0 | 9) ;; *) return 1 ;; esac
}

# A guest in which all functions are traced, and then none. A sample may have some of its
# own traced all the time.
trace_all() { # SEED
	"$top/base/qemu/run.py" --kernel "$dir/$1/arch/x86/boot/bzImage" \
		--log "$dir/$1/boot.log" "cd /sys/kernel/tracing &&
			known=\$(wc -l <available_filter_functions) &&
			echo function >current_tracer && grep -q -- '<-' trace &&
			traced=\$(wc -l <enabled_functions) && echo nop >current_tracer &&
			[ \$traced -gt \$((known * 9 / 10)) ] &&
			[ \$(wc -l <enabled_functions) -lt \$((traced / 10)) ]"
}

# It can trace, with either core, and no test that ran as it came up failed.
boot() { # SEED
	local tries status=124
	# What an emulator ended is run again.
	for ((tries = 0; status == 124 && tries < 4; tries++)); do
		trace_all "$1"
		status=$?
	done
	[ $status -eq 0 ] ||
		{ echo "error: the guest did not come up, or does not trace"; return 1; }
	! grep -E '\bnot ok [0-9]+ (ftrace-|fprobe_test|kprobes_test)|error (en|dis)abling' \
		"$dir/$1/boot.log"
}

# One of them; its last lines say what is wrong.
try() { # SEED
	local out=$dir/$1 core=
	local goals=(kernel/trace/ arch/x86/kernel/ kernel/events/core.o kernel/rcu/update.o)
	rm -rf "$out"
	mkdir -p "$out"
	case $(($1 % 4)) in
	0 | 2)	core=FTRACE_SETS ;;
	1)	core=FTRACE_LISTS ;;
	esac
	: >"$out/chosen"
	[ -z "$core" ] || printf 'CONFIG_%s=y\n' FTRACE FUNCTION_TRACER DYNAMIC_FTRACE "$core" \
		>"$out/chosen"
	cat "$dir/fixed" "$out/chosen" >"$out/fixed"
	make -C "$linux" O="$out" CC="$cc" HOSTCC="$cc" KCONFIG_SEED="$1" \
		KCONFIG_ALLCONFIG="$out/fixed" randconfig || return
	# Of the rest, what depends on a random option is random, too.
	grep -vxFf "$out/.config" "$out/chosen" >"$out/lost" || :
	[ ! -s "$out/lost" ] || { echo "error: not as chosen:"; cat "$out/lost"; return 1; }
	! is_chosen "$1" SAMPLES || goals+=(samples/)
	! is_chosen "$1" KALLSYMS || goals+=(kernel/kallsyms.o)
	! is_chosen "$1" KPROBES || goals+=(kernel/kprobes.o)
	! is_chosen "$1" LIVEPATCH || goals+=(kernel/livepatch/)
	! is_chosen "$1" MODULES || goals+=(kernel/module/)
	! is_booted "$1" || goals=(all)
	# With PROFILE_ALL_BRANCHES gcc 12 has a function of overlayfs, which a guest's root
	# is, jump to a cold part that is empty, with the base alone, too.
	goals+=(CFLAGS_copy_up.o=-DDISABLE_BRANCH_PROFILING)
	make -C "$linux" O="$out" CC="$cc" HOSTCC="$cc" -j"${JOBS:-$(nproc)}" "${goals[@]}" ||
		return
	! is_booted "$1" || boot "$1"
}

# Warnings, but for those that the base has in files that have nothing to do with tracing,
# where all of it is built.
warnings() { # LOG
	# ccache may have it by another path to the same tree.
	grep -i 'warning:' "$1" |
		grep -Ev "^[^ :]*/linux/((block|crypto|drivers|lib|net|sound)/|fs/([^t]|t[^r]))"
}

# The core of a configuration, and how it finds call sites.
kind_of() { # SEED
	local way=
	if is_chosen "$1" FTRACE_SETS; then
		way=$(sed -n 's/^CONFIG_FTRACE_\(RECORDER\|TABLE_[A-Z_]*\)=y$/\1/p' \
			"$dir/$1/.config")
		echo "sets, ${way,,}"
	elif is_chosen "$1" DYNAMIC_FTRACE; then
		echo "lists"
	else
		echo "none"
	fi
}

wrong='error:|\*\*\*|undefined reference|not ok|run\.py:|error (en|dis)abling'
failed=0 booted=0
declare -A cores=([sets]=0 [lists]=0 [none]=0)
for ((seed = first; seed < first + number; seed++)); do
	log=$dir/$seed.log
	if try "$seed" >"$log" 2>&1 && ! warnings "$log" >/dev/null; then
		kind=$(kind_of "$seed")
		core=${kind%%,*}
		cores[$core]=$((cores[$core] + 1))
		if is_booted "$seed"; then
			kind+=", booted"
			booted=$((booted + 1))
		fi
		say GOOD "$seed ($kind)"
		rm -rf "${dir:?}/$seed" "$log"
	else
		{ warnings "$log"; grep -iE "$wrong" "$log"; } | head -n 5 || :
		say FAILED "$seed: see $log"
		failed=$((failed + 1))
	fi
done
echo "$((number - failed)) good (sets ${cores[sets]}, lists ${cores[lists]}, none ${cores[none]};" \
	"$booted booted), $failed failed"
[ "$failed" -eq 0 ]
