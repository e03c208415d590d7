#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Configure the tracing options at random, and what they meet, around a rest that is
# fixed; build what has to do with tracing of each; link and boot two of twenty.
# Every second one has our core, every fourth the base's; in the others it is random.
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
[ -f "$linux/Makefile" ] || missing build/linux "random configurations" "run make prepare"
mkdir -p "$dir"
# As the compiler prints it.
real=$(realpath "$linux")
cc=$(by_ccache "${CC:-gcc}")

# What is chosen at random: what these files offer, and what our code asks about.
{
	cd "$linux"
	sed -n 's/^\(menu\)\?config //p' kernel/trace/Kconfig kernel/trace/*/Kconfig \
		samples/Kconfig kernel/livepatch/Kconfig lib/kunit/Kconfig kernel/Kconfig.preempt
	printf '%s\n' BPF_JIT BPF_SYSCALL CC_OPTIMIZE_FOR_PERFORMANCE CC_OPTIMIZE_FOR_SIZE \
		CPU_MITIGATIONS DEBUG_FS FPROBE IA32_EMULATION JUMP_LABEL KALLSYMS_ALL KPROBES \
		MITIGATION_CALL_DEPTH_TRACKING MITIGATION_RETHUNK MITIGATION_RETPOLINE MODULES \
		MODULE_UNLOAD PROC_SYSCTL RANDOMIZE_BASE SMP UNWINDER_FRAME_POINTER \
		UNWINDER_GUESS UNWINDER_ORC X86_KERNEL_IBT
	cd "$OLDPWD"
} | sort -u >"$dir/random"

"$top/base/configure.sh" "$linux" "$dir/rest" "$top/base/config/small.config"
sed 's/.*/CONFIG_&/' "$dir/random" >"$dir/names"
awk 'FNR == NR { random[$1]; next }
     { name = $1 == "#" ? $2 : $1; sub(/=.*/, "", name) }
     name ~ /^CONFIG_/ && !(name in random)' "$dir/names" "$dir/rest/.config" >"$dir/fixed"
# A test of KUnit that ends in an Oops, which is what it is for.
echo '# CONFIG_KUNIT_FAULT_TEST is not set' >>"$dir/fixed"

# One of them; its last lines say what is wrong.
try() { # SEED
	local out=$dir/$1 goals=(kernel/trace/ arch/x86/kernel/) core=
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
	! grep -qx CONFIG_SAMPLES=y "$out/.config" || goals+=(samples/)
	# One of each core in twenty.
	case $(($1 % 20)) in 0 | 9) goals=(all) ;; esac
	make -C "$linux" O="$out" CC="$cc" HOSTCC="$cc" -j"${JOBS:-$(nproc)}" "${goals[@]}" ||
		return
	[ "${goals[0]}" = all ] || return 0
	"$top/base/qemu/run.py" --kernel "$out/arch/x86/boot/bzImage" --log "$out/boot.log" true
}

# Warnings, but for those that the base has in files that have nothing to do with tracing,
# where all of it is built.
warnings() { # LOG
	grep -i 'warning:' "$1" | grep -Ev "^$real/(block|crypto|drivers|fs/([^t]|t[^r])|net|sound)"
}

failed=0
declare -A cores=([sets]=0 [lists]=0 [none]=0)
for ((seed = first; seed < first + number; seed++)); do
	log=$dir/$seed.log
	if try "$seed" >"$log" 2>&1 && ! warnings "$log" >/dev/null; then
		core=none
		! grep -qx CONFIG_DYNAMIC_FTRACE=y "$dir/$seed/.config" || core=lists
		! grep -qx CONFIG_FTRACE_SETS=y "$dir/$seed/.config" || core=sets
		cores[$core]=$((cores[$core] + 1))
		say GOOD "$seed ($core)"
		rm -rf "${dir:?}/$seed" "$log"
	else
		{ warnings "$log"; grep -iE 'error:|\*\*\*|undefined reference' "$log"; } |
			head -n 5 || :
		say FAILED "$seed: see $log"
		failed=$((failed + 1))
	fi
done
echo "$((number - failed)) good (sets ${cores[sets]}, lists ${cores[lists]}, none ${cores[none]})," \
	"$failed failed"
[ "$failed" -eq 0 ]
