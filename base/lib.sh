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

# The patches to files of the base that stay, in the order in which they are applied, as
# fixes/NAME.patch or connections/NAME.patch below base/.  Each folder is a quilt series.
hooks() {
	local folder name series
	for folder in fixes connections; do
		[ -f "$top/base/$folder/series" ] || die "base/$folder has no file \"series\""
		mapfile -t series < <(sed '/^#/d; /^$/d' "$top/base/$folder/series")
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
checkpatch_ignore_host=CAMELCASE,PREFER_DEFINED_ATTRIBUTE_MACRO
