#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Build one kernel and its modules, showing how far it is.  The whole output
# goes to build/WHICH/build.log; on failure the errors are shown.
#
# usage: build.sh KERNEL
#
# recorder is the kernel made from our tree, stock the one from the base, small one
# of our tree with hardly anything in it, demo that with what a demonstration wants. Any
# other NAME of base/config is recorder with that fragment over it, stock-NAME is stock
# with it, small-NAME is small with small-NAME.config; deb and stock-deb are made as Debian
# packages, over the whole configuration in $UNDER. With a line "#: LLVM=-N" in a
# fragment, clang-N makes it; what follows "#: FLAGS=" is for files of the core.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

which=$1
config=$top/base/config
src=$(source_of "$which")
fragments=("$config/common.config")
goal=all
case $which in
deb|stock-deb)
	[ -n "${UNDER:-}" ] || die "base/deb/packages.sh builds that"
	under=$which fragments=() goal=bindeb-pkg ;;
stock*)	under=stock ;;
small*|demo)	under=small fragments=() ;;
*)	under=recorder ;;
esac
out=$build/$which
log=$out/build.log
fragments+=("$config/$under.config")
if [ "$which" != "$under" ]; then
	fragments+=("$config/${which#stock-}.config")
fi
[ -f "${fragments[-1]}" ] || die "no such kernel: $which (see base/config)"

# One build at a time in one place.
mkdir -p "$out"
exec 9>"$out/.lock"
flock -n 9 || { say WAIT "for another build of $which"; flock 9; }

cc=${CC:-gcc}
llvm=$(sed -n 's/^#: LLVM=//p' "${fragments[@]}")
if [ -n "$llvm" ]; then
	# The base's Makefile takes all its tools from it.
	export LLVM=$llvm
	cc=clang$llvm
fi
# For cc.sh.
FTRACE_FLAGS=$(sed -n 's/^#: FLAGS=//p' "${fragments[@]}")
export FTRACE_FLAGS
# Few files see what these have over another kernel, with the same compiler and flags.
like=
case $which in
startup)	like=recorder ;;
stock-startup)	like=stock ;;
small-ways)	like=small ;;
small-call-depth) like=small-mcount-loc ;;
esac
[ -e "$build/$like/vmlinux" ] || like=
if [ -n "$like" ] && [ ! -e "$out/.config" ]; then
	say COPY "build/$like to build/$which"
	flock -s "$build/$like/.lock" cp -a --reflink=auto "$build/$like/." "$out/" ||
		{ rm -f "$out/.config"; die "cannot copy build/$like"; }
	rm -rf "$out/modules" "$out/suites" "$out/.config.state" "$out/vmlinux" \
		"$out/arch/x86/boot/bzImage"
	# The commands that made objtool name its place; made again, it would have
	# every object made again.
	find "$out/tools" "$out/arch/x86" -name '.*.cmd' -exec sed -i \
		-e "s|$build/$like/|$out/|g" -e "s|\.\./$like/|../$which/|g" {} +
	# Nor does kbuild see other FTRACE_FLAGS.
	[ -z "$FTRACE_FLAGS" ] ||
		rm -rf "$out/kernel/trace/ftrace" "$out/arch/x86/kernel/ftrace"
fi
"$top/base/configure.sh" "$src" "$out" "${fragments[@]}"
cc=$(by_ccache "$cc")

# What runs in a guest tells by this whose kernel it is.
case $which in
stock-*)	export LOCALVERSION=-stock ;;
esac

# The same input gives the same kernel, whoever builds it and when.
export KBUILD_BUILD_TIMESTAMP='2024-11-17' KBUILD_BUILD_USER=ftrace KBUILD_BUILD_HOST=build
# The package with all debug information is as large as all others.
export KDEB_SOURCENAME=linux-ftrace-sets KDEB_CHANGELOG_DIST=bookworm
export DEB_BUILD_PROFILES=pkg.linux-ftrace-sets.nokerneldbg

kmake() {
	make -C "$src" O="$out" CC="$cc" HOSTCC="$cc" -j"$jobs" "$@"
}

# One line every so many objects; all lines go to the log.
progress() {
	awk -v log_="$log" -v which="$which" '
		{ print >> log_ }
		/^  (CC|AS|LD|AR|HOSTCC|KSYMS|OBJCOPY|DEPMOD|INSTALL|STRIP)/ {
			n++
			if (n % 250 == 0) { print "  BUILD    " which ": " n " steps, now " $NF; fflush() }
		}
		/^  (BUILD |Kernel:|KSYMS|LD +(\[M\] +)?vmlinux|LD .*vmlinux)/ {
			print "  BUILD    " which ": " $1 " " $2; fflush()
		}
		/^Kernel: / { print "  BUILD    " which ": " $0; fflush() }'
}

# Whoever waits for a whole kernel should know for how long, about.
jobs=${JOBS:-$(nproc)}
cost=40
[ "$under" != small ] || cost=10
[ -e "$out/vmlinux" ] || [ -n "$like" ] || [ $goal != all ] ||
	say NOTE "a first build; some $((cost / jobs + 1)) minutes with $jobs CPUs"
: >"$log"
say BUILD "$which (log: ${log#"$top"/})"
if ! kmake $goal 2>&1 | progress; then
	grep -nE 'error:|Error [0-9]|undefined reference|\*\*\*|objtool:.*(error|warning)' "$log" | head -n 40 >&2 || :
	tail -n 15 "$log" >&2
	! grep -q 'No space left on device' "$log" || die "no space is left in $out; make room"
	die "building the $which kernel failed; the whole log is $log"
fi
if [ $goal = all ] && ! kmake modules_install INSTALL_MOD_PATH="$out/modules" INSTALL_MOD_STRIP=1 2>&1 | progress; then
	tail -n 15 "$log" >&2
	die "installing the modules of the $which kernel failed; the whole log is $log"
fi
grep -nE 'warning:' "$log" | head -n 20 || :
say READY "build/$which/arch/x86/boot/bzImage"
