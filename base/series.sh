#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make build/series/*.patch: what build/linux differs in from the base, as a
# series for "git am", and a cover letter beside them.  What goes into which patch,
# in which order, says base/series.list; the messages stand there and in the patches
# of base/fixes and base/connections, the cover letter in base/cover-letter.  The
# result of all is compared with build/linux.  See series-check.sh for the steps
# between.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
base=$build/base
out=$build/series
list=$top/base/series.list
kconfig=arch/x86/Kconfig
[ -f "$build/linux.differs" ] || missing build/linux "the series" "run make prepare"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The author of the patches is the one of our last commit, and so is the date: the
# same input gives the same series.
last() { git -C "$top" log -1 --format="$1" 2>/dev/null || :; }
name=$(last %an) mail=$(last %ae) date=$(last %aI)
export GIT_AUTHOR_NAME=${name:-nobody} GIT_AUTHOR_EMAIL=${mail:-nobody@localhost}
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
[ -z "$date" ] || export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null

# A repository with those files only that differ, as the base has them.
repo=$work/repo
git init -q -b series "$repo"
cd "$repo"
put() { # FROM-TREE FILE
	mkdir -p "$(dirname "$2")"
	cp -P "$1/$2" "$2"
}
commit() { # SUBJECT BODY
	git add -A -f
	! git diff --cached --quiet || die "nothing in the patch \"$1\""
	git commit -q -m "$1" -m "$2"
}

mapfile -t differs <"$build/linux.differs"
for f in "${differs[@]}"; do
	[ ! -e "$base/$f" ] || put "$base" "$f"
done
commit base ''
git tag base

# Those of the paths on stdin that match.
match() { # PATTERN
	local f
	while IFS= read -r f; do
		# shellcheck disable=SC2053 # a pattern it is
		if [[ $f == $1 ]]; then echo "$f"; fi
	done
}

# Files of ours that are still to come, and those of the base that ours replace;
# what a hook changes is not among them.
{
	plain "$top/base/replaced"
	for f in "${differs[@]}"; do
		[ -e "$base/$f" ] || echo "$f"
	done
} | sort -u >"$work/todo"

# Call a function for each of them that matches one of the patterns.
todo() { # FUNCTION PATTERN...
	local each=$1 pattern f
	shift
	for pattern; do
		match "$pattern" <"$work/todo" >"$work/match"
		[ -s "$work/match" ] || die "series.list: no file is left for $pattern"
		while IFS= read -r f; do "$each" "$f"; done <"$work/match"
	done
}
settled() {
	grep -vxF -- "$1" "$work/todo" >"$work/rest" || :
	mv "$work/rest" "$work/todo"
}

# It becomes what build/linux has.
bring() {
	if [ -e "$linux/$1" ]; then put "$linux" "$1"; else rm -f "$1"; fi
	settled "$1"
}

# It goes, for good or until ours comes.
drop() {
	rm "$1" 2>/dev/null || die "series.list: the base has no $1 to drop"
	[ -e "$linux/$1" ] || settled "$1"
}

# Apply one of the patches to the base.
hook() { # FOLDER/NAME.patch
	grep -qxF -- "$1" "$work/hooks" || die "series.list: base/$1 is not there, or comes twice"
	sed -i "\\|^$1\$|d" "$work/hooks"
	# The one that makes function tracing selectable finds what the base has.
	! changed_by "$top/base/$1" | grep -xF "$kconfig" >/dev/null || put "$base" "$kconfig"
	patch -p1 --fuzz=0 --no-backup-if-mismatch --batch --silent <"$top/base/$1" ||
		die "base/$1 does not apply where series.list has it"
}

# What it says ahead of the patch: "Subject: ...", then why.
says() { sed '/^--- a\//,$d' "$top/base/$1"; }

subject='' body=''
flush() {
	[ -z "$subject" ] || commit "$subject" "$body"
	subject='' body=''
}

# One of them as a patch of its own.
whole_hook() { # FOLDER/NAME.patch
	flush
	hook "$1"
	subject=$(says "$1" | sed -n 's/^Subject: //p')
	[ -n "$subject" ] || die "base/$1 has no line \"Subject: ...\""
	body=$(says "$1" | sed '/^Subject: /d')
}

set -f # patterns are for our own matching
hooks >"$work/hooks" # those that are still to come
while IFS= read -r line; do
	read -ra words <<<"$line"
	case $line in
	'#'*)		;;
	'patch '*)	flush; subject=${line#patch } ;;
	fixes)
		mapfile -t fixes < <(grep '^fixes/' "$work/hooks")
		for fix in "${fixes[@]}"; do whole_hook "$fix"; done
		;;
	'hook '*)	whole_hook "connections/${words[1]}.patch" ;;
	'drop '*)	todo drop "${words[@]:1}" ;;
	'files '*)	todo bring "${words[@]:1}" ;;
	'with '*)	hook "connections/${words[1]}.patch" ;;
	'without '*)	sed -i "/^\tselect ${words[1]}\b/d" "$kconfig" ;;
	$'\t'*|'')	body+=${line#$'\t'}$'\n' ;;
	*)		die "series.list: what is \"$line\"?" ;;
	esac
done <"$list"
flush
set +f
[ ! -s "$work/todo" ] || die "series.list has no patch for $(head -n 1 "$work/todo")"
[ ! -s "$work/hooks" ] || die "series.list has no place for base/$(head -n 1 "$work/hooks")"

# The first paragraph of a branch's description is the subject of the cover letter.
git config branch.series.description "$(cat "$top/base/cover-letter")"
rm -rf "$out"
git format-patch -q -o "$out" --cover-letter --cover-from-description=subject \
	--signoff --no-renames --break-rewrites --no-signature --zero-commit base..series
# "git am" takes no mail without a patch.
mv "$out/0000-cover-letter.patch" "$out/0000-cover-letter.txt"

# Proof: applied to the base they make what build/linux has.
git checkout -q -b proof base
git am -q "$out"/*.patch >"$work/am.log" 2>&1 ||
	die "the series does not apply: $(grep -m1 -iE 'error|fail' "$work/am.log")"
for f in "${differs[@]}"; do
	if [ -e "$linux/$f" ]; then
		cmp -s "$linux/$f" "$f" || die "the series makes another $f than build/linux has"
		[ ! -x "$linux/$f" ] || [ -x "$f" ] || die "the series makes $f not executable"
	else
		[ ! -e "$f" ] || die "the series leaves $f behind"
	fi
done
say SERIES "$(git rev-list --count base..proof) patches in ${out#"$top"/}"
