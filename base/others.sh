#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prove that whoever has another architecture, or does not choose FTRACE_SETS, gets what
# was there before.  Compile what the series touches, as base/others.list has it, twice:
# from the base with the patches of base/fixes, and from build/linux.  The objects have
# to disassemble to the same instructions, with the same relocations, and to have the
# same data, tables, sections and symbols; and compiler and Kconfig have to warn of the
# same.
#
# usage: others.sh [NAME]...

set -euo pipefail
. "$(dirname "$0")/lib.sh"

list=$top/base/others.list
dir=$build/others
linux=$build/linux
[ -f "$linux/Makefile" ] || missing build/linux "the comparison" "run make prepare"
[ $# -gt 0 ] || mapfile -t names < <(plain "$list" | cut -d'|' -f1 | tr -d ' ')
[ $# -eq 0 ] || names=("$@")
mkdir -p "$dir"

# What the series touches on each architecture, besides kernel/trace/ and kernel/module/,
# and who uses the headers that it changes.
everywhere=(kernel/kallsyms.o kernel/events/core.o kernel/rcu/update.o)
everywhere+=(kernel/kprobes.o kernel/bpf/trampoline.o)

# The objects of what the series changes. A header is seen where they include it.
patches=$(hooks | sed -n "s|^connections/|$top/base/&|p")
[ -n "$patches" ] || die "no patch in base/connections/series"
mapfile -t patches <<<"$patches"
changed=$(changed_by "${patches[@]}" | sed -n -e 's|^kernel/rcu/tasks\.h$|kernel/rcu/update.o|p' \
	-e 's/\.[cS]$/.o/p')

# Each of them is compared: on all architectures, or with those of its own.
check_list() {
	local object compared

	compared=$({ plain "$list" | cut -d'|' -f7; echo "${everywhere[@]}"; } | tr ' ' '\n')
	for object in $changed; do
		case $object in kernel/trace/* | kernel/module/*) continue ;; esac
		grep -qxF -e "$object" -e "${object%/*}/" <<<"$compared" ||
			die "base/others.list has no $object, which the series changes"
	done
}
check_list

fixed=$dir/linux
"$top/base/fixed-base.sh" "$fixed"
"$top/base/same_lines.py" "$fixed" "$linux"

compile() { # TREE OUT GOAL...
	local out=$2 tree=$1
	shift 2
	make -C "$tree" O="$out" ARCH="$arch" CROSS_COMPILE="$cross" CC="$cc" HOSTCC="$hostcc" \
		-j"${JOBS:-$(nproc)}" "$@"
}

# What is asked for, over the defconfig.
fragments=("$top/base/config/others.config")
lost() { # OUT
	sed -n 's/^CONFIG_\([^=]*\)=y$/\1/p' "${fragments[0]}" | while IFS= read -r option; do
		grep -qx "CONFIG_$option=y" "$1/.config" || echo "$option"
	done
}

# All objects of one tree.
build_all() { # TREE OUT
	compile "$1" "$2" allnoconfig >"$2.nothing" 2>&1 || { cat "$2.nothing"; return 1; }
	compile "$1" "$2" "$defconfig" &&
		"$1/scripts/kconfig/merge_config.sh" -m -Q -O "$2" "$2/.config" \
			"${fragments[@]}" &&
		compile "$1" "$2" olddefconfig &&
		compile "$1" "$2" kernel/trace/ kernel/module/ "${objects[@]}"
}

# What Kconfig says where hardly anything is chosen, and a select asks for too much; and
# what is said of the objects.
warnings() { # TREE OUT
	grep -iA9 warning "$2.nothing" | grep -v '^make' || :
	grep -i 'warning:' "$2.log" | sed "s|$(realpath "$1")/||g" | LC_ALL=C sort || :
}
options() { grep -E '^CONFIG_' "$1/.config"; }

list_of() { # OUT
	(cd "$1" && find kernel/trace kernel/module "${objects[@]%/}" -name '*.o' \
		! -name built-in.o) | LC_ALL=C sort -u
}

# Instructions, data and what they refer to, sections, and what others can link with. The
# first lines have the name of the file.
contents() { # OBJECT
	"${cross}objdump" -dr "$1" | sed '1,3d' &&
		"${cross}objdump" -sr "$1" | awk '
			/^(Contents of section|RELOCATION RECORDS FOR) / {
				on = !/[ [][.](text|comment)/
			}
			on' &&
		"${cross}objdump" -h "$1" | awk 'NR > 4 { $4 = $5 = $6 = ""; print }' &&
		"${cross}nm" -p --format=posix "$1" |
		awk '$2 ~ /[A-Z]/ { print $1, $2, $4 }' | LC_ALL=C sort
}

compare() { # NAME
	local name=$1 which tree log f nr differ=0
	for which in without with; do
		tree=$fixed
		[ "$which" = without ] || tree=$linux
		log=$dir/$name/$which.log
		rm -rf "${dir:?}/$name/$which"
		mkdir -p "$dir/$name/$which"
		build_all "$tree" "$dir/$name/$which" >"$log" 2>&1 ||
			{ tail "$log"; echo "$name: see $log"; return 1; }
	done
	cd "$dir/$name" || return
	diff <(warnings "$fixed" without) <(warnings "$linux" with) ||
		{ echo "$name: other warnings"; return 1; }
	diff <(options without) \
		<(options with | grep -vE '^CONFIG_(HAVE_FTRACE_SETS|FTRACE_LISTS)=') ||
		{ echo "$name: other options"; return 1; }
	diff <(tr -s ' ' '\n' <<<"$lacks" | sed '/^$/d' | LC_ALL=C sort) \
		<(lost with | LC_ALL=C sort) ||
		{ echo "$name: asked for and not there (>), or there all the same (<)"; return 1; }
	if ! list_of without >a.list || ! list_of with >b.list || ! diff a.list b.list; then
		echo "$name: other objects"
		return 1
	fi
	for f in $changed; do
		case $f in
		kernel/trace/* | kernel/module/*)
			[ "$name" != x86_64 ] || grep -qxF "$f" a.list ||
				{ echo "$name: no $f, which the series changes"; return 1; } ;;
		esac
	done
	nr=$(wc -l <a.list)
	[ "$nr" -gt 40 ] || { echo "$name: no more than $nr objects"; return 1; }
	while IFS= read -r f; do
		if ! contents "without/$f" >a.s || ! contents "with/$f" >b.s; then
			echo "$name: cannot disassemble $f"
			return 1
		fi
		if ! cmp -s a.s b.s; then
			echo "$name: $f differs"
			diff a.s b.s | head -n 20 || :
			differ=$((differ + 1))
		fi
	done <a.list
	[ "$differ" -eq 0 ] || return
	say SAME "$name: $nr objects"
}

status=0
for name in "${names[@]}"; do
	line=$(plain "$list" | grep "^$name *|") || die "no line for $name in base/others.list"
	IFS='|' read -r _ arch defconfig cross package lacks objects <<<"$line"
	read -r arch <<<"$arch"
	read -r defconfig <<<"$defconfig"
	read -r cross <<<"$cross"
	read -r package <<<"$package"
	read -ra objects <<<"$objects"
	objects+=("${everywhere[@]}")
	fragments=("$top/base/config/others.config")
	[ "${name%-events}" = "$name" ] || fragments+=("$top/base/config/others-events.config")
	command -v "${cross}gcc" >/dev/null || missing "${cross}gcc" "base/others.sh $name" \
		"make setup-others installs $package"
	cc=$(by_ccache "${cross}gcc")
	hostcc=$(by_ccache gcc)
	(compare "$name") || status=1
done
exit $status
