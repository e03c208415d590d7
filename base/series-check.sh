#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check what "make series" has made, patch by patch.
#
# usage: series-check.sh [checkpatch|apply|build]...
#
# checkpatch	each patch goes through checkpatch --strict
# apply		each applies to a copy of the base, which in the end is the same as
#		build/linux; the base stays as it was
# build		the same, and a small kernel is built of the copy: after the first
#		patch, before and after each that touches arch/x86/Kconfig, after
#		each that touches another Kconfig file or a Makefile, and after the
#		last; with STEPS=all after each patch
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
	local patch ignore bad=0
	cd "$dir"
	for patch in "${patches[@]}"; do
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

# What the copy has now. The stock core traces functions until it goes.
configure() { # LAST
	local fragments=("$config/small.config")
	{
		echo '# SPDX-License-Identifier: GPL-2.0'
		if grep -q '^config SCHED_SWITCH_TRACER' "$tree/kernel/trace/Kconfig"; then
			echo CONFIG_SCHED_SWITCH_TRACER=y
		fi
		if [ -z "$1" ] && grep -q 'select HAVE_FUNCTION_TRACER' "$tree/arch/x86/Kconfig"; then
			printf 'CONFIG_%s=y\n' FUNCTION_TRACER DYNAMIC_FTRACE \
				FUNCTION_GRAPH_TRACER FUNCTION_PROFILER
		fi
	} >"$dir/step.config"
	[ -n "$1" ] || fragments+=("$config/small-no-tracer.config")
	fragments+=("$config/series.config" "$dir/step.config")
	"$top/base/configure.sh" "$tree" "$out" "${fragments[@]}"
}

build_step() { # NAME LAST
	local log=$dir/$1.log cc
	cc=$(by_ccache "${CC:-gcc}")
	say BUILD "$1"
	configure "$2" || return
	if ! make -C "$tree" O="$out" CC="$cc" HOSTCC="$cc" -j"${JOBS:-$(nproc)}" all \
		>"$log" 2>&1; then
		grep -E 'error:|Error [0-9]|undefined reference|\*\*\*' "$log" | head -n 20
		echo "$1 does not build; the whole log is $log"
		return 1
	fi
	! grep -E 'warning:' "$log" || { echo "$1 builds with warnings"; return 1; }
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
	rm -rf "$tree" "$out"
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
			build_step "$name" "$([ -n "${patches[i + 1]:-}" ] || echo last)" || return
		fi
	done
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
