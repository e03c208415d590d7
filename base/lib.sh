# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the scripts beside it: where things are, and how to fail.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034 # used by the scripts that source this
build=${BUILD:-$top/build}

say() { printf '  %-8s %s\n' "$1" "${*:2}"; }

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# End for want of something: what it is, what needs it, and how to get it.
missing() { # WHAT NEEDED-BY HOW...
	die "missing: $1, needed by $2; ${*:3}"
}

# The source of a kernel, which has to be there.
source_of() { # KERNEL
	local tree=linux

	[[ $1 != stock* ]] || tree=base
	[ -f "$build/$tree/Makefile" ] || missing "build/$tree" "the $1 kernel" "run make prepare"
	echo "$build/$tree"
}

# End if a kernel is not built.
need_kernel() { # KERNEL NEEDED-BY
	[ -e "$build/$1/vmlinux" ] || missing "build/$1/vmlinux" "$2" "run base/build.sh $1"
}

# A compiler, by way of ccache where that is there.
by_ccache() { # COMPILER
	if command -v ccache >/dev/null && [ "${1#ccache }" = "$1" ]; then
		echo "$top/base/cc.sh $1"
	else
		echo "$1"
	fi
}

# git, in the clone of somebody else, too, where root may be at work.
in_git() { git -c safe.directory="$(pwd -P)" "$@"; }

# The files of this repository, as paths below its top.
our_files() (
	cd "$top" || exit
	if [ -e .git ]; then
		in_git ls-files -co --exclude-standard
	else
		find . -path ./build -prune -o -type f -printf '%P\n'
	fi | while IFS= read -r f; do
		# What is deleted may not be committed yet.
		if [ -f "$f" ]; then echo "$f"; fi
	done | sort -u
)

# The lines of a list, without comments.
plain() { sed 's/[[:space:]]*#.*//; /^[[:space:]]*$/d' "$1"; }

# The patches to files of the base that stay, in the order in which they are applied, as
# fixes/NAME.patch or connections/NAME.patch below base/.  Each folder is a quilt series.
hooks() {
	local folder name series
	for folder in fixes connections; do
		[ -f "$top/base/$folder/series" ] || die "base/$folder has no file \"series\""
		mapfile -t series < <(plain "$top/base/$folder/series")
		for name in "${series[@]}"; do
			[ -f "$top/base/$folder/$name" ] ||
				die "base/$folder/series names $name, which is not there"
			echo "$folder/$name"
		done
		for name in "$top/base/$folder"/*.patch; do
			name=${name##*/}
			[[ " ${series[*]} " == *" $name "* || $name == '*.patch' ]] ||
				die "base/$folder/$name is in no series;" \
					"its series file has to name it"
		done
	done
}

# The files that patches change.
changed_by() { # PATCH...
	sed -n 's/^+++ b\/\([^[:space:]]*\).*/\1/p' "$@" | sort -u
}

# A script in front of Debian's python3, which looks for the version that is wanted, takes
# longer than most of what python3 is started for.
if read -r -n 2 first <"$(command -v python3)" && [ "$first" = '#!' ] &&
	[ -x /usr/bin/python3 ] && mkdir -p "$build/bin" &&
	ln -sf /usr/bin/python3 "$build/bin/"; then
	PATH=$build/bin:$PATH
fi 2>/dev/null

# Take what an object depends on from the compiler, which writes it down anyway: to
# have it preprocess each file twice takes a third of a build. See cc.sh, too.
export CCACHE_DEPEND=1

# checkpatch --strict, on files after -f or on patches.  No git for it: it would
# look for commits of the kernel in our repository.
checkpatch() { # IGNORED-TYPES ARGUMENT...
	GIT_DIR=/nonexistent perl "$build/linux/scripts/checkpatch.pl" --root="$build/linux" \
		--strict --terse --no-summary --show-types --ignore "$1" "${@:2}"
}

# How an architecture tells the tracer of system calls what it has is ARCH_HAS_...;
# the parameters that __setup() takes are in the base's list already, where
# checkpatch does not look; <linux/nmi.h> has what is in <asm/nmi.h> only with ACPI.
# shellcheck disable=SC2034
checkpatch_ignore=DEFINE_ARCH_HAS,UNDOCUMENTED_SETUP,INCLUDE_LINUX
# Programs of the host have the names of <elf.h>, and no compiler_attributes.h.
# shellcheck disable=SC2034
checkpatch_ignore_host=CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO,PREFER_KERNEL_TYPES
