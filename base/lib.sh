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

# Take what an object depends on from the compiler, which writes it down anyway: to
# have it preprocess each file twice takes a third of a build.
export CCACHE_DEPEND=1
