#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Make build/series/*.patch: what build/linux differs in from the base, as a
# series for "git am", and a cover letter beside them.  base/series.list says what
# goes into which patch, and in which order; the messages stand there and in the
# patches of base/fixes and base/connections, the cover letter in base/cover-letter.
# The result of all is compared with build/linux.  See series-check.sh for the steps
# between.
#
# Author and Signed-off-by are those whom git knows: "git config user.name" and
# "git config user.email".

set -euo pipefail
. "$(dirname "$0")/lib.sh"

linux=$build/linux
base=$build/base
out=$build/series
list=$top/base/series.list
[ -f "$build/linux.differs" ] || missing build/linux "the series" "run make prepare"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
who() {
	git -C "$top" config "user.$1" || die "git does not know whose patches these are:" \
		"git config --global user.$1 ..."
}
name=$(who name)
mail=$(who email)
export GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail
export GIT_COMMITTER_NAME=$name GIT_COMMITTER_EMAIL=$mail
# The same input gives the same series.
date=$(git -C "$top" log -1 --format=%aI 2>/dev/null) || date=
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
	local makefile
	for makefile in "${growing[@]}"; do
		# shellcheck disable=SC2094 # it reads that of build/linux
		grow "$makefile" >"$makefile"
	done
	git add -A -f
	! git diff --cached --quiet || die "nothing in the patch \"$1\""
	git commit -q -m "$1" -m "$2"
}

# Is there what an object is made of, which may be several others?
has_source() { # DIRECTORY OBJECT MAKEFILE
	local part
	for part in "$2" $(sed -n "s|^${2%.o}-y := ||p" "$3"); do
		[ ! -f "$1/${part%.o}.c" ] && [ ! -f "$1/${part%.o}.S" ] || return 0
	done
	return 1
}

# Makefiles of ours that list, patch by patch, what is there of their folder.
growing=()
grow() { # MAKEFILE
	local dir line word objects
	dir=$(dirname "$1")
	# shellcheck disable=SC2094 # nobody writes it
	while IFS= read -r line; do
		if [[ $line != obj-*' += '* ]]; then
			printf '%s\n' "$line"
			continue
		fi
		objects=
		for word in ${line#* += }; do
			[ -d "$dir/$word" ] || has_source "$dir" "$word" "$linux/$1" || continue
			objects+=" $word"
		done
		[ -z "$objects" ] || printf '%s +=%s\n' "${line%% += *}" "$objects"
	done <"$linux/$1"
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

# Files of ours that are still to come; what a hook changes is not among them.
for f in "${differs[@]}"; do
	[ -e "$base/$f" ] || echo "$f"
done >"$work/todo"

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

# It becomes what build/linux has.
bring() {
	put "$linux" "$1"
	grep -vxF -- "$1" "$work/todo" >"$work/rest" || :
	mv "$work/rest" "$work/todo"
}

bring_growing() {
	bring "$1"
	growing+=("$1")
}

# Apply one of the patches to the base.
hook() { # FOLDER/NAME.patch
	grep -qxF -- "$1" "$work/hooks" || die "series.list: base/$1 is not there, or comes twice"
	sed -i "\\|^$1\$|d" "$work/hooks"
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
	'grow '*)	todo bring_growing "${words[@]:1}" ;;
	'files '*)	todo bring "${words[@]:1}" ;;
	'with '*)	hook "connections/${words[1]}.patch" ;;
	$'\t'*|'')	body+=${line#$'\t'}$'\n' ;;
	*)		die "series.list: what is \"$line\"?" ;;
	esac
done <"$list"
flush
set +f
[ ! -s "$work/todo" ] || die "series.list has no patch for $(head -n 1 "$work/todo")"
[ ! -s "$work/hooks" ] || die "series.list has no place for base/$(head -n 1 "$work/hooks")"

# The first paragraph of a branch's description is the subject of the cover letter.
git config branch.series.description "$(sed "s/@VERSION@/$(cat "$build/linux.stamp")/" \
	"$top/base/cover-letter")"
rm -rf "$out"
git format-patch -q -o "$out" --cover-letter --cover-from-description=subject \
	--signoff --no-renames --no-signature --zero-commit base..series
# "git am" takes no mail without a patch.
mv "$out/0000-cover-letter.patch" "$out/0000-cover-letter.txt"

# Proof: applied to the base they make what build/linux has.
git checkout -q -b proof base
git am -q "$out"/*.patch >"$work/am.log" 2>&1 ||
	die "the series does not apply: $(grep -m1 -iE 'error|fail' "$work/am.log")"
for f in "${differs[@]}"; do
	cmp -s "$linux/$f" "$f" || die "the series makes another $f than build/linux has"
	[ ! -x "$linux/$f" ] || [ -x "$f" ] || die "the series makes $f not executable"
done
say SERIES "$(git rev-list --count base..proof) patches in ${out#"$top"/}"
