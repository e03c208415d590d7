#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boot kernels of other architectures, made from the base with the patches of base/fixes
# and from build/linux. What they find as they test their tracers has to be the same.
#
# usage: others-boot.sh [i386|arm64]...

set -euo pipefail
. "$(dirname "$0")/lib.sh"

dir=$build/others
linux=$build/linux
[ -f "$linux/Makefile" ] || missing build/linux "the comparison" "run make prepare"
[ $# -gt 0 ] || set -- i386 arm64
mkdir -p "$dir"
"$top/base/fixed-base.sh" "$dir/linux-boot"

# What they need to speak.
options() {
	printf 'CONFIG_%s=y\n' "${consoles[@]}"
}

build_one() { # TREE OUT
	local make=(make -C "$1" O="$2" ARCH="$arch" CROSS_COMPILE="$cross" CC="$cc"
		HOSTCC="$hostcc" -j"${JOBS:-$(nproc)}")
	mkdir -p "$2"
	"${make[@]}" tinyconfig &&
		options >"$2/consoles" &&
		"$1/scripts/kconfig/merge_config.sh" -m -Q -O "$2" "$2/.config" \
			"$top/base/config/others-boot.config" "$2/consoles" &&
		"${make[@]}" olddefconfig &&
		{ ! cat "$top/base/config/others-boot.config" "$2/consoles" | grep '^CONFIG_' |
			grep -vxFf "$2/.config" || { echo "error: not chosen"; false; }; } &&
		"${make[@]}" "${image##*/}"
}

# It ends by a panic for want of an init, after which it would boot again. Instructions are
# its clock: on a host that is late, tests of latencies fail whatever the kernel.
boot() { # OUT
	timeout 1200 "${qemu[@]}" -accel tcg,thread=single -icount shift=3,sleep=off \
		-nodefaults -display none -no-reboot -m 512 -smp 2 -kernel "$1/$image" \
		-append "$append panic=-1" -serial "file:$1/console" </dev/null
	tr -d '\r' <"$1/console" | sed 's/^\[ *[0-9.]*\] //' >"$1/said"
	grep -q 'Kernel panic - not syncing: No working init found' "$1/said" ||
		{ tail -n 5 "$1/said"; echo "it did not come to its end"; return 1; }
}

# There is an event x86_fpu_xstate_check_failed.
bad='FAILED|\<failed|no entries|WARNING|BUG|Oops|Internal error|Unable to handle'
# How many of the tracers' tests there are, and how they ended. Times, and how often a
# function was called meanwhile, differ from one boot to the next.
tests() { # OUT
	sed 's/^([0-9 ]*) *//' "$1/said" | grep -aE "^Testing |PASSED|$bad"
}

try() { # NAME
	local which tree log
	for which in without with; do
		tree=$dir/linux-boot
		[ "$which" = without ] || tree=$linux
		log=$dir/$1-boot.$which.log
		rm -rf "${dir:?}/$1-boot/$which"
		say BUILD "$1 $which"
		build_one "$tree" "$dir/$1-boot/$which" >"$log" 2>&1 ||
			{ grep -m 5 'error' "$log" || tail "$log"; echo "$1: see $log"; return 1; }
		say BOOT "$1 $which"
		boot "$dir/$1-boot/$which" || return
		tests "$dir/$1-boot/$which" >"$dir/$1-boot/$which.tests"
	done
	cd "$dir/$1-boot" || return
	diff without.tests with.tests || { echo "$1: other results"; return 1; }
	! grep -E "$bad" with.tests || { echo "$1: tests fail"; return 1; }
	if [ "$(grep -cE '^Testing tracer function(_graph)?: PASSED' with.tests)" -ne 2 ]; then
		echo "$1: the tests of the tracers are not there"
		return 1
	fi
	say SAME "$1: $(wc -l <with.tests) tests"
}

status=0
for name; do
	cross=''
	case $name in
	i386)
		arch=i386 image=arch/x86/boot/bzImage append=console=ttyS0
		consoles=(SERIAL_8250 SERIAL_8250_CONSOLE X86_MPPARSE)
		qemu=(qemu-system-i386 -M pc -cpu max) ;;
	arm64)
		arch=arm64 image=arch/arm64/boot/Image append=console=ttyAMA0
		consoles=(SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE)
		cross=aarch64-linux-gnu- qemu=(qemu-system-aarch64 -M virt -cpu cortex-a57) ;;
	*)
		die "no such architecture: $name" ;;
	esac
	for program in "${cross}gcc" "${qemu[0]}"; do
		command -v "$program" >/dev/null ||
			missing "$program" "base/others-boot.sh $name" "make setup-others-boot installs it"
	done
	cc=$(by_ccache "${cross}gcc") hostcc=$(by_ccache gcc)
	(try "$name") || status=1
done
exit $status
