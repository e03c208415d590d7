#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check what "make series" has made, patch by patch.
#
# usage: series-check.sh [checkpatch|apply|build]...
#
# checkpatch	each patch goes through checkpatch --strict, and is short enough to be
#		read at a time
# apply		each applies to a copy of the base, which in the end is the same as
#		build/linux; the base stays as it was
# build		the same, and a small kernel is built of the copy and booted: after
#		the first patch, before and after each that touches arch/x86/Kconfig,
#		after each that touches another Kconfig file or a Makefile, and after
#		the last, where the core of the base is built, too; with STEPS=all
#		after each patch. Until FTRACE_SETS can be chosen, what each patch
#		brings of it is compiled as if it could, and what has to do with a
#		table of call sites with one, too. With STEPS=all, what has to do with
#		tracing is compiled after the first patch, the middle one and the last
#		with all options there are.
#
# Without arguments: checkpatch and build.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
base=$build/base
dir=$build/series-check
tree=$dir/linux # the copy of the base
out=$dir/out
config=$top/base/config
mapfile -t patches < <(find "$build/series" -name '*.patch' 2>/dev/null | sort)
[ ${#patches[@]} -gt 0 ] || missing build/series "the check of the series" "run make series"
mkdir -p "$dir"

# Does a patch touch a path that matches?
touches() { # PATCH REGEX
	grep -qE "^($2)\$" <<<"$(sed -n 's/^diff --git a\/\([^ ]*\) b\/.*/\1/p' "$1")"
}

check_checkpatch() {
	local patch ignore lines bad=0
	cd "$dir"
	for patch in "${patches[@]}"; do
		lines=$(wc -l <"$patch")
		[ "$lines" -le 1500 ] || { echo "$(basename "$patch"): $lines lines"; bad=1; }
		# MAINTAINERS gets the paths of all patches by one of them.
		ignore=$checkpatch_ignore,FILE_PATH_CHANGES
		# "mount -t proc proc" is no slip of the pen.
		! touches "$patch" '(scripts|tools)/.*' ||
			ignore+=,$checkpatch_ignore_host,REPEATED_WORD
		checkpatch "$ignore" "$patch" || bad=1
	done
	rm -f .checkpatch-camelcase.*
	return "$bad"
}

# Does the kernel have to be built after patch $1, when $2 is the next?
is_step() {
	[ "${STEPS:-}" != all ] || return 0
	[ "$1" != "${patches[0]}" ] || return 0
	[ -n "$2" ] || return 0
	! touches "$1" '(.*/)?(Kconfig|Makefile)[^/]*' || return 0
	touches "$2" 'arch/x86/Kconfig'
}

# Does it bring a part of what cannot be chosen yet?
is_part() { # PATCH
	! offered || return 1
	[ -f "$tree/kernel/trace/ftrace/Makefile" ] || return 1
	touches "$1" '((kernel/trace|arch/x86/kernel)/ftrace|scripts/mcount_loc)/.*'
}

# Does it bring what only a table of call sites has compiled, once it can be chosen?
is_table() { # PATCH
	offered && touches "$1" '(.*/table[^/]*\.[ch]|scripts/mcount_loc/.*)'
}

# Has it to do with a table of call sites?
has_table() { # PATCH
	touches "$1" '(.*/table[^/]*|scripts/mcount_loc/.*)' ||
		touches "$1" 'kernel/trace/ftrace/((boot|module|ftraced)\.c|sites/recorder\.h)' ||
		touches "$1" 'arch/x86/kernel/ftrace/(site|caller|entry_64)\..*'
}

offered() { grep -q 'select HAVE_FTRACE_SETS' "$tree/arch/x86/Kconfig"; }

# Configure $1 for what the copy has now, with the options in $more; with the core of the
# base if $lists says so.
more=() lists=
configure() { # OUTPUT-DIR
	local fragments=("$config/small.config")
	{
		echo '# SPDX-License-Identifier: GPL-2.0'
		if [ -n "$lists" ] || ! offered; then
			printf '# CONFIG_%s is not set\n' FTRACE_SETS FTRACE_KSELFTEST \
				FTRACE_TEST_MODULES FTRACE_KUNIT_TEST
		elif grep -q '^config SCHED_SWITCH_TRACER' "$tree/kernel/trace/Kconfig"; then
			echo CONFIG_SCHED_SWITCH_TRACER=y
		fi
		[ ${#more[@]} -eq 0 ] || printf 'CONFIG_%s=y\n' "${more[@]}"
	} >"$dir/step.config"
	fragments+=("$config/series.config" "$dir/step.config")
	"$top/base/configure.sh" "$tree" "$1" "${fragments[@]}"
}

compile() { # NAME OUTPUT-DIR GOAL...
	local log=$dir/$1.log name=$1 o=$2 cc
	shift 2
	cc=$(by_ccache "${CC:-gcc}")
	configure "$o" || return
	if ! make -C "$tree" O="$o" CC="$cc" HOSTCC="$cc" -j"${JOBS:-$(nproc)}" "$@" \
		>"$log" 2>&1; then
		grep -E 'error:|Error [0-9]|undefined reference|\*\*\*' "$log" | head -n 20
		echo "$name does not build; the whole log is $log"
		return 1
	fi
	! grep -i 'warning:' "$log" || { echo "$name builds with warnings"; return 1; }
}

build_step() { # NAME
	say BUILD "$1"
	compile "$1" "$out" all || return
	"$top/base/qemu/run.py" --kernel "$out/arch/x86/boot/bzImage" --log "$dir/$1.boot.log" \
		true || { echo "$1 does not boot"; return 1; }
}

build_lists() { # NAME
	say BUILD "$1, with the core of the base"
	lists=yes compile "$1-lists" "$out-lists" all
}

build_table() { # NAME
	local folders=(kernel/trace/ftrace/ arch/x86/kernel/ftrace/)
	say COMPILE "$1, with a table"
	more=(FTRACE_TABLE FTRACE_TABLE_MCOUNT_LOC)
	compile "$1-table" "$out-table" "${folders[@]}" || return
	more=()
}

# All options there are; of what has to do with tracing.
build_everything() { # NAME
	local log=$dir/$1-everything.log cc o=$out-everything
	cc=$(by_ccache "${CC:-gcc}")
	say COMPILE "$1, with all options"
	mkdir -p "$o"
	: >"$dir/everything.config"
	! offered || echo CONFIG_FTRACE_SETS=y >"$dir/everything.config"
	if ! make -C "$tree" O="$o" CC="$cc" HOSTCC="$cc" \
		KCONFIG_ALLCONFIG="$dir/everything.config" allmodconfig >"$log" 2>&1 ||
		! make -C "$tree" O="$o" CC="$cc" HOSTCC="$cc" -j"${JOBS:-$(nproc)}" \
			kernel/trace/ arch/x86/kernel/ samples/ >>"$log" 2>&1; then
		grep -E 'error:|Error [0-9]|\*\*\*' "$log" | head -n 20
		echo "$1 does not compile with all options; the whole log is $log"
		return 1
	fi
	! grep -i 'warning:' "$log" || { echo "$1 compiles with warnings"; return 1; }
	! offered || grep -qx CONFIG_FTRACE_SETS=y "$o/.config"
}

# What there is of the core, while nobody can choose it.
build_part() { # NAME PATCH
	local kconfig=$tree/arch/x86/Kconfig folders=(kernel/trace/ftrace/) status=0
	[ ! -d "$tree/arch/x86/kernel/ftrace" ] || folders+=(arch/x86/kernel/ftrace/)
	say COMPILE "$1"
	cp -p "$kconfig" "$dir/Kconfig"
	sed 's/^\tselect HAVE_FTRACE_MCOUNT_RECORD$/&\n\tselect HAVE_FTRACE_SETS if X86_64/' \
		"$dir/Kconfig" >"$dir/Kconfig.sets"
	# Not through the link to the base.
	mv "$dir/Kconfig.sets" "$kconfig"
	if ! offered || ! compile "$1-part" "$out-sets" "${folders[@]}" ||
		! grep -qx CONFIG_FTRACE_SETS=y "$out-sets/.config"; then
		status=1
	elif has_table "$2"; then
		more=(FTRACE_TABLE)
		[ ! -f "$tree/scripts/mcount_loc/mcount_loc.c" ] || more+=(FTRACE_TABLE_MCOUNT_LOC)
		compile "$1-table" "$out-table" "${folders[@]}" || status=1
		more=()
	fi
	mv "$dir/Kconfig" "$kconfig"
	return "$status"
}

# A file written through one of the links would show here.
state_of_base() {
	cd "$base"
	find . -type f -printf '%p %i %m %s %T@\n' | sort
	while IFS= read -r f; do
		[ ! -f "$f" ] || sha256sum "$f"
	done <"$build/linux.differs"
}

apply() { # BUILD
	local i patch name
	# Objects would be newer than what the base has of their sources.
	rm -rf "$tree" "$out" "$out"-{sets,table,lists,everything}
	state_of_base >"$dir/base.before"
	mkdir -p "$tree"
	cp -al "$base/." "$tree/"
	cd "$tree"
	for i in "${!patches[@]}"; do
		patch=${patches[i]}
		name=$(basename "$patch" .patch)
		# What "git am" does of it, which finds no repository here.
		GIT_CEILING_DIRECTORIES=$(realpath "$dir") git apply --whitespace=nowarn "$patch" ||
			{ echo "$name does not apply"; return 1; }
		if [ -n "$1" ] && is_step "$patch" "${patches[i + 1]:-}"; then
			build_step "$name" || return
		fi
		if [ -n "$1" ] && is_part "$patch"; then
			build_part "$name" "$patch" || return
		fi
		if [ -n "$1" ] && is_table "$patch"; then
			build_table "$name" || return
		fi
		[ -z "$1" ] || [ "${STEPS:-}" != all ] || case $i in
		0 | $((${#patches[@]} / 2)) | $((${#patches[@]} - 1)))
			build_everything "$name" || return ;;
		esac
	done
	[ -z "$1" ] || build_lists "$name" || return
	state_of_base >"$dir/base.after"
	cmp "$dir/base.before" "$dir/base.after" || return
	# Less what Python, Sphinx and checkpatch leave where they are run.
	diff -rq --no-dereference -x __pycache__ -x netlink_spec \
		-x '.checkpatch-camelcase.*' "$linux" "$tree"
}

check_apply() { apply ''; }
check_build() { apply build; }

[ $# -gt 0 ] || set -- checkpatch build
status=0
for check; do
	if (check_"$check"); then
		say CLEAN "series: $check"
	else
		say FOUND "series: $check: see above"
		status=1
	fi
done
exit $status
