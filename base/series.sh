#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make build/series/*.patch: what build/linux differs in from the base, as a
# series for "git am".  The first patch takes the stock core out (function
# tracing cannot be selected any more) and brings our headers; the next ones add
# our files, then the hooks; the last one makes function tracing selectable.
# Every step builds.  The result of all is compared with build/linux.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
base=$build/base
out=$build/series
kconfig=arch/x86/Kconfig
headers=(include/linux/ftrace.h include/linux/ftrace_graph.h arch/x86/include/asm/ftrace.h)
[ -f "$build/linux.differs" ] || die "no build/linux: run make prepare"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The author of the patches is the one of our last commit.
name=$(git -C "$top" log -1 --format=%an 2>/dev/null) || name=
mail=$(git -C "$top" log -1 --format=%ae 2>/dev/null) || mail=
export GIT_AUTHOR_NAME=${name:-nobody} GIT_AUTHOR_EMAIL=${mail:-nobody@localhost}
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

# A repository with those files only that differ, as the base has them.
repo=$work/repo
git init -q "$repo"
cd "$repo"
put() { # FROM-TREE FILE...
	local from=$1 f
	shift
	for f; do
		mkdir -p "$(dirname "$f")"
		cp -P "$from/$f" "$f"
	done
}
commit() {
	git add -A -f
	git diff --cached --quiet || git commit -q -m "$1" -m "${2:-}"
}

mapfile -t differs <"$build/linux.differs"
for f in "${differs[@]}"; do
	[ ! -e "$base/$f" ] || put "$base" "$f"
done
commit base
git tag base

# 1: the stock core goes
ours=() # files of ours that are still to come
for f in "${differs[@]}"; do
	if [ ! -e "$linux/$f" ] || grep -qxF -- "$f" "$top/base/replaced"; then rm -f "$f"; fi
	if [ -e "$linux/$f" ] && [ ! -e "$f" ]; then ours+=("$f"); fi
done
put "$linux" "${headers[@]}"
sed -i '/^\tselect HAVE_FUNCTION_TRACER\b/d' "$kconfig"
commit 'ftrace: Take the dynamic tracing core out' \
	'Another one takes its place. Until it is there, no function tracer can be
selected; only the declarations for its callers are present.'

# 2...: ours, part by part
set -f # patterns are for our own matching
while IFS= read -r line; do
	rest=()
	for f in "${ours[@]}"; do
		into=
		for pattern in ${line##* : }; do
			# shellcheck disable=SC2053 # a pattern it is
			[[ $f != $pattern ]] || into=yes
		done
		if [ -n "$into" ]; then put "$linux" "$f"; else rest+=("$f"); fi
	done
	ours=("${rest[@]}")
	commit "${line% : *}" 'Nothing selects it yet.'
done < <(sed '/^#/d' "$top/base/series.list")
set +f
[ ${#ours[@]} -eq 0 ] || put "$linux" "${ours[@]}"
commit 'ftrace: The rest of the new core' 'Nothing selects it yet.'

# then the hooks, but for the one that makes it all selectable
for hook in "$top"/base/hooks/*.patch; do
	if grep -qxF "+++ b/$kconfig" "$hook"; then continue; fi
	patch -p1 --fuzz=0 --no-backup-if-mismatch --batch --silent <"$hook" ||
		die "${hook#"$top"/} does not apply on its own"
	why=$(sed -n '1s/^Why: *//p' "$hook")
	subject=$(basename "$hook" .patch)
	commit "ftrace: Hook: ${subject#*-}" "${why:-}"
done
for f in "${differs[@]}"; do
	if [ -e "$linux/$f" ]; then put "$linux" "$f"; else rm -f "$f"; fi
done
commit 'ftrace: Make function tracing selectable again' 'The new core is complete.'

rm -rf "$out"
git format-patch -q -o "$out" --no-signature --zero-commit base

# Proof: applied to the base they make what build/linux has.
git checkout -q -b proof base
git am -q "$out"/*.patch >"$work/am.log" 2>&1 ||
	die "the series does not apply: $(grep -m1 -iE 'error|fail' "$work/am.log")"
for f in "${differs[@]}"; do
	if [ -e "$linux/$f" ]; then
		cmp -s "$linux/$f" "$f" || die "the series makes another $f than build/linux has"
	else
		[ ! -e "$f" ] || die "the series leaves $f behind"
	fi
done
say SERIES "$(find "$out" -name '*.patch' | wc -l) patches in ${out#"$top"/}"
