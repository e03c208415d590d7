#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Check the models with spin: what is right holds in all states there are, and each
# broken variant is refuted by the assertion that is named for it. Prints TAP.
#
# usage: model.sh [--small]
# --small: fewer CPUs, updates and NMIs, under a minute
# Exit status: 0: all is as it should be; 1: something is not.

set -uo pipefail
here=$(dirname "$(readlink -f "$0")")

small=
case ${1:-} in
--small) small=y ;;
"")	;;
*)	echo "usage: ${0##*/} [--small]" >&2; exit 2 ;;
esac

# model, settings of the whole check, settings of the small one and of the variants
configs() {
	cat <<-END
	stop	-DNCPU=3 -DNNMI=1	-DNCPU=2
	tramp	-DNUPDATE=3		-DNUPDATE=2
	notes	-DNRESIZE=2		-DNRESIZE=0
	order	-DBROKEN=0		-DBROKEN=0
	END
}

# model, variant, settings that it needs, what spin has to say (a fixed string)
variants() {
	cat <<-END
	stop	NO_SYNC_BREAK		-DNCPU=2	((f==4)||(f==t))
	stop	NO_SYNC_TAIL		-DNCPU=2	((f==4)||(f==t))
	stop	NO_SYNC_FIRST		-DNCPU=2	((nr!=0)||
	stop	NO_MEET_BEFORE_SYNC	-DNCPU=2	((f==4)||(f==t))
	stop	NO_LAST_MEET		-DNCPU=2	((nr!=0)||
	stop	NO_MEET_AFTER_SYNC	-DNCPU=2	((f==4)||(f==t))
	stop	PUBLISHED_INSIDE	-DNCPU=2	((nr!=0)||
	stop	UNPUBLISHED_AFTER	-DNCPU=2	(plan_state[entries]==1)
	stop	UNPUBLISHED_EARLY	-DNCPU=2	((nr!=0)||
	stop	CLEARS_ENTRIES		-DNCPU=2	(entries!=0)
	stop	NR_FIRST		-DNCPU=2	(plan_state[entries]==1)
	stop	ENTRIES_FIRST		-DNCPU=2	(plan_state[entries]==1)
	stop	TAIL_FIRST		-DNCPU=2	((f==4)||(f==t))
	tramp	NO_GRACE_PERIOD		-DNUPDATE=3	in_tree[t]
	tramp	NO_RUDE			-DNUPDATE=3	((inside[u]==0)||
	tramp	POKED_LATE		-DNUPDATE=3	((inside[u]==0)||
	tramp	FEW_POKED_LATE		-DNUPDATE=3	((inside[u]==0)||
	tramp	COMMIT_FAILED		-DNUPDATE=3	((site[0]!=j)&&(site[1]!=j))
	tramp	PUT_BEFORE_WRITE	-DNUPDATE=3	((site[0]!=j)&&(site[1]!=j))
	tramp	WRITES_GOOD_ONES	-DNUPDATE=3	((site[0]!=j)&&(site[1]!=j))
	tramp	ERASE_AT_PUT		-DNUPDATE=3	in_tree[t]
	tramp	FREE_AT_ONCE		-DNUPDATE=3	object[t]
	tramp	CLEAR_LATE		-DNUPDATE=3	((inside[u]==0)||
	tramp	NOT_KEPT		-DNUPDATE=2	((site[0]!=j)&&(site[1]!=j))
	tramp	NOT_KEPT		-DNUPDATE=2 -DUNCHECKED	((inside[u]==0)||
	tramp	NOT_DISARMED		-DNUPDATE=2	!(no_ops[
	tramp	DISARM_NO_RUDE		-DNUPDATE=2	!(no_ops[
	tramp	DISARM_LATE		-DNUPDATE=2	!(no_ops[
	notes	NO_CMPXCHG		-DNRESIZE=0	(notes[current].slot[0]!=0)||(
	notes	RESETS_PENDING		-DUNCOUNTED	invalid end state
	notes	NO_REGION		-DNRESIZE=0	((found[j]!=3)||has_text)
	notes	UNLOCKS			-DNRESIZE=0	((found[j]!=3)||has_text)
	notes	NO_GRACE_PERIOD		-DNRESIZE=1	.freed)
	notes	NO_DEDUP		-DNRESIZE=0	(nr_recs[found[j]]==1)
	notes	KEEPS_COUNT		-DNRESIZE=0	.nr_pending==(
	notes	ONE_COUNT		-DNRESIZE=1	(notes[current].slot[0]!=0)||(
	notes	ANY_GRACE_PERIOD	-DNRESIZE=2	.freed)
	order	NO_WMB			-DNONE		!(saw_nr)||saw_entries
	order	NO_SECOND_RMB		-DNONE		!(saw_nr)||saw_entries
	order	NO_ARRIVE		-DNONE		!(saw_passed)||saw_written
	order	NO_ACQUIRE		-DNONE		!(saw_passed)||saw_written
	order	NO_FIRST_RMB		-DNONE		!(hit)||saw_nr
	order	NO_RELEASE		-DNONE		!(saw_live)||saw_data
	order	NO_PROBE_RMB		-DNONE		!(saw_live)||saw_data
	order	COUNTED_FIRST		-DNONE		!(saw_counted)||saw_unlisted
	order	NO_COUNT_ACQUIRE	-DNONE		!(saw_counted)||saw_unlisted
	END
}

command -v spin >/dev/null || {
	echo "${0##*/}: missing: spin, needed by the models; make setup-model installs it" >&2
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nr=0
failed=0

result() {
	nr=$((nr + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $nr $2"
}

# Explain a failure: what was said, as diagnostic lines.
say_why() {
	head -n 30 "$1" | sed 's/^/# /'
}

# All of the states, or until the first error. What it prints is in $work/out.
run_spin() {
	local model=$1
	local -a defs=(-DSAFETY -DCOLLAPSE -DVECTORSZ=1024 -DMEMLIM=6000)

	shift
	# Partial orders do not go together with "provided".
	# To compile well takes longer than to find an error.
	[[ $* = *-DBROKEN=[1-9]* ]] || defs+=(-O2)
	! grep -q 'provided (' "$here/$model.pml" || defs+=(-DNOREDUCE)
	rm -rf "$work/run"
	mkdir "$work/run"
	(
		cd "$work/run" &&
			cp "$here/$model.pml" . &&
			spin "$@" -a "$model.pml" &&
			gcc "${defs[@]}" -o pan pan.c &&
			./pan -m1000000
	) >"$work/out" 2>&1
}

# Verified: the checker ran to its end, missed no state, and found nothing.
holds() {
	grep -q 'errors: 0$' "$work/out" &&
		grep -q '^pan: elapsed' "$work/out" &&
		! grep -q -i -E 'search not completed|too small|out of memory|reached -DMEMLIM' \
			"$work/out"
}

check_right() {
	local model=$1 states
	local -a settings

	read -ra settings <<<"$2"
	if run_spin "$model" "${settings[@]}" && holds; then
		states=$(awk '/states, stored/ { print $1 }' "$work/out")
		result ok "$model ${settings[*]}: holds in $states states"
	else
		say_why "$work/out"
		result "not ok" "$model ${settings[*]}: holds"
	fi
}

# BROKEN gets the value that the macro of the name of the variant has in the model.
check_broken() {
	local model=$1 variant=$2 expected=$4 value
	local -a settings

	read -ra settings <<<"$3"
	value=$(awk -v v="$variant" '$1 == "#define" && $2 == v { print $3 }' "$here/$model.pml")
	run_spin "$model" "${settings[@]}" "-DBROKEN=${value:-none}"
	if [ -n "$value" ] && grep -F "$expected" "$work/out" | grep -q '^pan:1: '; then
		result ok "$model $variant ${settings[*]}: is refuted"
	else
		say_why "$work/out"
		result "not ok" "$model $variant ${settings[*]}: is refuted by $expected"
	fi
}

mapfile -t right < <(configs)
mapfile -t broken < <(variants)
echo "TAP version 13"
echo "1..$((${#right[@]} + ${#broken[@]}))"
for line in "${right[@]}"; do
	IFS=$'\t' read -r model whole few <<<"$(tr -s '\t' <<<"$line")"
	[ -z "$small" ] || whole=$few
	check_right "$model" "$whole"
done
for line in "${broken[@]}"; do
	IFS=$'\t' read -r model variant settings expected <<<"$(tr -s '\t' <<<"$line")"
	check_broken "$model" "$variant" "$settings" "$expected"
done
echo "# $((nr - failed)) as they should be, $failed not"
[ "$failed" -eq 0 ]
